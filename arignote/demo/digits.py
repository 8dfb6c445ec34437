"""The demonstration: two classifiers of handwritten digits trained by generated C, with times.

`python -m arignote demo` trains multinomial logistic regression and then a multilayer perceptron by minibatch SGD on
the data in `data/digits.npz`, shows the loss as it goes and as a curve, the accuracy on images that were held back,
where the C lies, the compile time, the first screen of the optimizer profile and of the run profile (`--full`: all of
them), and the time of a step beside the same step written in NumPy.

The images held back were written by other people than the training images.  Networks as small as these learn the
writers by heart and then reach 0.91; each epoch therefore moves every training image by a random fraction of a pixel,
which takes the perceptron above 0.95.
"""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np

from .. import ops as T
from .. import optim, pages
from ..calculus.calculus import grad
from ..explain.progress import curve, progress
from ..function.compiled import Function
from ..function.function import function
from ..ops.core.shared import SharedVariable, shared

BATCH, HIDDEN, CLASSES = 100, 256, 10
TEST_IMAGES = 360
DTYPE = "float32"
PIXEL = np.float32(0.25)
"""Value of one of the 16 levels of a pixel: images are rows of values from 0 to 4."""
MOMENTUM = np.float32(0.9)
MOVES = 0.7
"""Largest shift of an image in an epoch, in pixels, along each axis."""


class Digits(NamedTuple):
    """Images as rows of 64 values in [0, 4] (float32) with their digits (int64)."""

    train_images: np.ndarray
    train_labels: np.ndarray
    test_images: np.ndarray
    test_labels: np.ndarray


def load_digits() -> Digits:
    """Return the digits that come with the package; the last 360 are the test set."""
    with np.load(Path(__file__).parent / "data" / "digits.npz") as file:
        images, labels = file["images"].astype(DTYPE) * PIXEL, file["labels"].astype("int64")
    return Digits(images[:-TEST_IMAGES], labels[:-TEST_IMAGES], images[-TEST_IMAGES:], labels[-TEST_IMAGES:])


def moved(images: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return the images, each shifted by a random fraction of a pixel (bilinear, with zeros at the border)."""
    padded = np.pad(images.reshape(-1, 8, 8), ((0, 0), (1, 1), (1, 1)))
    for axis in (1, 2):
        way = rng.uniform(-MOVES, MOVES, (len(images), 1, 1)).astype(DTYPE)
        there, back = np.roll(padded, 1, axis), np.roll(padded, -1, axis)
        padded = padded * (1 - np.abs(way)) + there * np.maximum(way, 0) + back * np.maximum(-way, 0)
    return np.ascontiguousarray(padded[:, 1:9, 1:9].reshape(images.shape))


@dataclass(frozen=True)
class Model:
    """A classifier: its parameters, and the expression of its logits."""

    name: str
    parameters: list[SharedVariable]
    logits: Callable[[Any], Any]
    learning_rate: float
    epochs: int

    def train_step(self, images: SharedVariable, labels: SharedVariable) -> Function:
        """`step(i, rate)`: one step of SGD with momentum on minibatch i; returns the loss before the step."""
        x, y, i, rate = T.matrix("x", DTYPE), T.lvector("y"), T.lscalar("i"), T.fscalar("rate")
        loss = T.nn.categorical_crossentropy(T.nn.softmax(self.logits(x)), y).mean()
        updates = optim.momentum(self.parameters, grad(loss, self.parameters), rate, MOMENTUM)
        batch = slice(i * BATCH, (i + 1) * BATCH)
        givens = {x: images[batch], y: labels[batch]}
        return function([i, rate], loss, updates=updates, givens=givens, name=f"{self.name} step", profile=True)

    def predict(self) -> Function:
        """`predict(images)`: the most likely digit of each row."""
        x = T.matrix("x", DTYPE)
        return function([x], T.argmax(self.logits(x), axis=1), name=f"{self.name} predict")


def parameter(value: np.ndarray, name: str) -> SharedVariable:
    """Return a shared variable of constant lengths: shapes are then proved equal, and updates are in place."""
    return shared(value.astype(DTYPE), name=name, shape=value.shape)


def _weights(rng: np.random.Generator, rows: int, columns: int) -> np.ndarray:
    return math.sqrt(1.0 / rows) * rng.standard_normal((rows, columns))


def logistic_regression() -> Model:
    """softmax(x @ W + b)"""
    W, b = parameter(np.zeros((64, CLASSES)), "W"), parameter(np.zeros(CLASSES), "b")
    return Model("logistic regression", [W, b], lambda x: x @ W + b, learning_rate=0.02, epochs=50)


def perceptron() -> Model:
    """softmax(tanh(x @ W1 + b1) @ W2 + b2), 256 hidden units"""
    rng = np.random.default_rng(0)
    W1, b1 = parameter(_weights(rng, 64, HIDDEN), "W1"), parameter(np.zeros(HIDDEN), "b1")
    W2, b2 = parameter(_weights(rng, HIDDEN, CLASSES), "W2"), parameter(np.zeros(CLASSES), "b2")
    return Model(
        "multilayer perceptron",
        [W1, b1, W2, b2],
        lambda x: T.tanh(x @ W1 + b1) @ W2 + b2,
        learning_rate=0.1,
        epochs=400,
    )


def shared_digits(digits: Digits) -> tuple[SharedVariable, SharedVariable]:
    """The training set as shared variables, which minibatches are cut from."""
    return shared(digits.train_images, name="images"), shared(digits.train_labels, name="labels")


class Trained(NamedTuple):
    """The step function, the accuracy on the test images, and the mean loss of each epoch."""

    step: Function
    accuracy: float
    losses: list[float]


def train(
    model: Model, digits: Digits, distort: Callable[[np.ndarray, np.random.Generator], np.ndarray] = moved
) -> Trained:
    """Train a model on the digits, distorted anew in each epoch, with its progress in the terminal."""
    rng = np.random.default_rng(1)
    images, labels = shared_digits(digits)
    start = time.perf_counter()
    step, predict = model.train_step(images, labels), model.predict()
    print(f"\n== {model.name}: compiled in {time.perf_counter() - start:.3f} s")
    losses: list[float] = []
    for epoch in (bar := progress(range(model.epochs), f"   training {model.name}")):
        order = rng.permutation(len(digits.train_images))
        images.set_value(distort(digits.train_images[order], rng))
        labels.set_value(digits.train_labels[order])
        rate = np.float32(model.learning_rate * (1 - epoch / model.epochs))
        losses.append(float(np.mean([step(i, rate) for i in range(len(order) // BATCH)])))
        bar.note(loss=losses[-1], curve=curve(np.log(losses), 30))
    print(f"   loss {losses[0]:.4f} {curve(np.log(losses))} {losses[-1]:.4f} after {model.epochs} epochs")
    accuracy = float(np.mean(predict(digits.test_images) == digits.test_labels))
    print(f"   accuracy on {TEST_IMAGES} images held back: {accuracy:.3f}")
    return Trained(step, accuracy, losses)


class NumpyPerceptron:
    """The perceptron's step in hand-written NumPy, for comparison."""

    def __init__(self, model: Model) -> None:
        self.parameters = [p.get_value() for p in model.parameters]
        self.velocities = [np.zeros_like(p) for p in self.parameters]

    def step(self, x: np.ndarray, y: np.ndarray, rate: np.float32) -> float:
        W1, b1, W2, b2 = self.parameters
        hidden = np.tanh(x @ W1 + b1)
        logits = hidden @ W2 + b2
        logits -= logits.max(axis=1, keepdims=True)
        error = np.exp(logits)
        error /= error.sum(axis=1, keepdims=True)
        rows = np.arange(len(y))
        loss = -np.log(error[rows, y]).mean()
        error[rows, y] -= 1
        error /= np.float32(len(y))
        back = (error @ W2.T) * (1 - hidden * hidden)
        gradients = [x.T @ back, back.sum(axis=0), hidden.T @ error, error.sum(axis=0)]
        for p, v, g in zip(self.parameters, self.velocities, gradients, strict=True):
            v *= MOMENTUM
            v -= rate * g
            p += v
        return float(loss)


def seconds_per_call(call: Callable[[], Any], calls: int = 100) -> float:
    """The mean time of a call, in seconds."""
    start = time.perf_counter()
    for _ in range(calls):
        call()
    return (time.perf_counter() - start) / calls


class ByHand(Protocol):
    """A model's step in NumPy: an update by the images and labels at a rate; returns the loss before it."""

    def step(self, x: np.ndarray, y: np.ndarray, rate: np.float32) -> float: ...


def compare_with_numpy(model: Model, digits: Digits, by_hand: ByHand) -> float:
    """Print and return our time per step over NumPy's, measured alternately."""
    step, rate = model.train_step(*shared_digits(digits)), np.float32(0.01)
    x, y = digits.train_images[:BATCH], digits.train_labels[:BATCH]
    first, expected = float(step(0, rate)), by_hand.step(x, y, rate)
    if not np.isclose(first, expected, rtol=1e-4):
        raise AssertionError(f"the generated step gives loss {first}, NumPy {expected}")
    rounds = [
        (seconds_per_call(lambda: step(0, rate)), seconds_per_call(lambda: by_hand.step(x, y, rate))) for _ in range(7)
    ]
    ours, numpys = min(ours for ours, _ in rounds), min(numpys for _, numpys in rounds)
    print(
        f"   one step on {BATCH} images: {ours * 1e6:.0f} us; by hand in NumPy {numpys * 1e6:.0f} us; "
        f"ratio {ours / numpys:.2f}"
    )
    return ours / numpys


_COMPILE_ALONE = """
import json, time
start = time.perf_counter()
import numpy
from arignote import demo
imported = time.perf_counter()
digits, model = demo.load_digits(), demo.perceptron()
built = time.perf_counter()
step = model.train_step(*demo.shared_digits(digits))
print(json.dumps({"import": imported - start, "compile": time.perf_counter() - built}))
"""


def compile_times() -> dict[str, float]:
    """Return seconds to compile the perceptron's step in a new process: with an empty cache, and with a full one."""
    times: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as cache:
        environment = {**os.environ, "ARIGNOTE_CACHE": cache}
        for name in ("cold", "warm"):
            output = subprocess.run(
                [sys.executable, "-c", _COMPILE_ALONE], env=environment, check=True, capture_output=True, text=True
            ).stdout
            times[name] = json.loads(output.splitlines()[-1])["compile"]
    return times


def profiles(step: Function, full: bool = False, model: str = "perceptron", command: str = "demo") -> str:
    """Return the profiles of optimization and of runs: two screens, or all of it."""
    optimizer, run = step.optimizer_profile, step.profile
    more = "" if full else f"\n\n(the whole profiles, Theano's text among them: python -m arignote {command} --full)"
    return (
        f"\n== optimizer profile of the {model}'s step\n\n{optimizer if full else optimizer.summary()}\n"
        f"\n== run profile of the {model}'s step\n\n{run if full else run.summary()}{more}"
    )


def draw(losses: dict[str, list[float]], path: Path) -> None:
    """Write the losses as a picture; print a message if that fails."""
    try:
        path.write_text(pages.curves.curves(losses, "training on the digits", "epoch", "mean loss"))
    except OSError as error:
        print(f"   no picture of the losses: {error}")
    else:
        print(f"   picture of the losses: {path}")


def main(full: bool = False, picture: Path | None = None) -> int:
    """The whole demonstration; the exit code is 1 if the perceptron does not reach an accuracy of 0.95.

    `picture`: the SVG file for the losses, by default `arignote-demo.svg` in the folder for temporary files.
    """
    digits = load_digits()
    n_train, n_test = len(digits.train_images), len(digits.test_images)
    print(f"{n_train} training images, {n_test} held back, minibatches of {BATCH}, {DTYPE}")
    first, model = logistic_regression(), perceptron()
    losses = {first.name: train(first, digits).losses}
    step, accuracy, losses[model.name] = train(model, digits)
    draw(losses, picture or Path(tempfile.gettempdir(), "arignote-demo.svg"))
    times = compile_times()
    print(f"\n== the C of the perceptron's step: {step.c_path}")
    cold, warm = times["cold"], times["warm"]
    print(f"   compiling it in a new process: {cold:.3f} s cold, {warm:.3f} s from the cache on disk")
    print(profiles(step, full))
    print("\n== time")
    compare_with_numpy(model, digits, NumpyPerceptron(model))
    print(f"\naccuracy of the perceptron: {accuracy:.3f}")
    return 0 if accuracy >= 0.95 else 1
