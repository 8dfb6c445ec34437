"""The main job: two classifiers of handwritten digits trained by generated C, and what that cost.

`python -m arignote demo` trains multinomial logistic regression and then a multilayer perceptron by minibatch SGD on the
data in `data/digits.npz`, prints the loss as it goes, the accuracy on images that were held back, where the C lies, the
optimizer profile, the run profile, the compile time, and the time of a step beside the same step written in NumPy.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from . import ops as T
from .calculus import grad
from .compiled import Function
from .function import function
from .ops.shared import SharedVariable, shared

BATCH, HIDDEN, CLASSES = 100, 256, 10
TEST_IMAGES = 360
DTYPE = "float32"


class Digits(NamedTuple):
    """Images as rows of 64 values in [0, 1] (float32) with their digits (int64)."""

    train_images: np.ndarray
    train_labels: np.ndarray
    test_images: np.ndarray
    test_labels: np.ndarray


def load_digits() -> Digits:
    """The digits that come with the package; the last 360 are the test set."""
    with np.load(Path(__file__).parent / "data" / "digits.npz") as file:
        images, labels = file["images"].astype(DTYPE) / np.float32(16), file["labels"].astype("int64")
    return Digits(images[:-TEST_IMAGES], labels[:-TEST_IMAGES], images[-TEST_IMAGES:], labels[-TEST_IMAGES:])


@dataclass(frozen=True)
class Model:
    """A classifier: its parameters, and the expression of its logits."""

    name: str
    parameters: list[SharedVariable]
    logits: Callable[[Any], Any]
    learning_rate: float
    epochs: int

    def train_step(self, digits: Digits) -> Function:
        """`step(i)`: one SGD step on minibatch i of the training set; returns the loss before the step."""
        x, y, i = T.matrix("x", DTYPE), T.lvector("y"), T.lscalar("i")
        images, labels = shared(digits.train_images, name="images"), shared(digits.train_labels, name="labels")
        loss = T.nn.categorical_crossentropy(T.nn.softmax(self.logits(x)), y).mean()
        rate = np.float32(self.learning_rate)
        updates = [(p, p - rate * g) for p, g in zip(self.parameters, grad(loss, self.parameters), strict=True)]
        batch = slice(i * BATCH, (i + 1) * BATCH)
        return function(
            [i], loss, updates=updates, givens={x: images[batch], y: labels[batch]}, name=f"{self.name} step", profile=True
        )

    def predict(self) -> Function:
        """`predict(images)`: the most likely digit of each row."""
        x = T.matrix("x", DTYPE)
        return function([x], T.argmax(self.logits(x), axis=1), name=f"{self.name} predict")


def _weights(rng: np.random.Generator, rows: int, columns: int, name: str) -> SharedVariable:
    scale = np.sqrt(1.0 / rows)
    return shared((scale * rng.standard_normal((rows, columns))).astype(DTYPE), name=name)


def logistic_regression() -> Model:
    """softmax(x @ W + b)"""
    W, b = shared(np.zeros((64, CLASSES), DTYPE), name="W"), shared(np.zeros(CLASSES, DTYPE), name="b")
    return Model("logistic regression", [W, b], lambda x: x @ W + b, learning_rate=0.5, epochs=20)


def perceptron() -> Model:
    """softmax(tanh(x @ W1 + b1) @ W2 + b2), 256 hidden units"""
    rng = np.random.default_rng(0)
    W1, b1 = _weights(rng, 64, HIDDEN, "W1"), shared(np.zeros(HIDDEN, DTYPE), name="b1")
    W2, b2 = _weights(rng, HIDDEN, CLASSES, "W2"), shared(np.zeros(CLASSES, DTYPE), name="b2")
    return Model(
        "multilayer perceptron",
        [W1, b1, W2, b2],
        lambda x: T.tanh(x @ W1 + b1) @ W2 + b2,
        learning_rate=0.3,
        epochs=40,
    )


def train(model: Model, digits: Digits) -> tuple[Function, float]:
    """The step function after training `model`, and the accuracy on the test images."""
    start = time.perf_counter()
    step, predict = model.train_step(digits), model.predict()
    print(f"\n== {model.name}: compiled in {time.perf_counter() - start:.3f} s")
    batches = len(digits.train_images) // BATCH
    for epoch in range(model.epochs):
        loss = np.mean([step(i) for i in range(batches)])
        if epoch % (model.epochs // 5) == 0 or epoch == model.epochs - 1:
            print(f"   epoch {epoch:3d}  loss {loss:.4f}")
    accuracy = float(np.mean(predict(digits.test_images) == digits.test_labels))
    print(f"   accuracy on {TEST_IMAGES} images held back: {accuracy:.3f}")
    return step, accuracy


class NumpyPerceptron:
    """The perceptron's step by hand, as one would write it in NumPy: the yardstick."""

    def __init__(self, model: Model) -> None:
        self.parameters = [p.get_value() for p in model.parameters]
        self.rate = np.float32(model.learning_rate)

    def step(self, x: np.ndarray, y: np.ndarray) -> float:
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
        W2 -= self.rate * (hidden.T @ error)
        b2 -= self.rate * error.sum(axis=0)
        W1 -= self.rate * (x.T @ back)
        b1 -= self.rate * back.sum(axis=0)
        return float(loss)


def seconds_per_call(call: Callable[[], Any], repeats: int = 7, calls: int = 100) -> float:
    """The least mean time of `calls` calls in `repeats` runs, in seconds."""
    call()
    best = float("inf")
    for _ in range(repeats):
        start = time.perf_counter()
        for _ in range(calls):
            call()
        best = min(best, (time.perf_counter() - start) / calls)
    return best


def compare_with_numpy(model: Model, digits: Digits) -> float:
    """Our time per step over NumPy's, printed with both."""
    step = model.train_step(digits)
    by_hand = NumpyPerceptron(model)
    x, y = digits.train_images[:BATCH], digits.train_labels[:BATCH]
    first, expected = float(step(0)), by_hand.step(x, y)
    if not np.isclose(first, expected, rtol=1e-4):
        raise AssertionError(f"the generated step gives loss {first}, NumPy {expected}")
    ours, numpys = seconds_per_call(lambda: step(0)), seconds_per_call(lambda: by_hand.step(x, y))
    print(f"   one step on {BATCH} images: {ours * 1e6:.0f} us; by hand in NumPy {numpys * 1e6:.0f} us; ratio {ours / numpys:.2f}")
    return ours / numpys


_COMPILE_ALONE = """
import json, time
start = time.perf_counter()
import numpy
from arignote import demo
imported = time.perf_counter()
digits, model = demo.load_digits(), demo.perceptron()
built = time.perf_counter()
step = model.train_step(digits)
print(json.dumps({"import": imported - start, "compile": time.perf_counter() - built}))
"""


def compile_times() -> dict[str, float]:
    """Seconds to compile the perceptron's step in a new process: with an empty cache, and again with the entry on disk."""
    times = {}
    with tempfile.TemporaryDirectory() as cache:
        environment = {**os.environ, "ARIGNOTE_CACHE": cache}
        for name in ("cold", "warm"):
            output = subprocess.run(
                [sys.executable, "-c", _COMPILE_ALONE], env=environment, check=True, capture_output=True, text=True
            ).stdout
            times[name] = json.loads(output.splitlines()[-1])["compile"]
    return times


def main() -> int:
    """The whole demonstration; the exit code is 1 if the perceptron does not reach an accuracy of 0.95."""
    digits = load_digits()
    print(f"{len(digits.train_images)} training images, {len(digits.test_images)} held back, minibatches of {BATCH}, {DTYPE}")
    train(logistic_regression(), digits)
    model = perceptron()
    step, accuracy = train(model, digits)
    print("\n== optimizer profile of the perceptron's step\n")
    print(step.optimizer_profile)
    print("\n== run profile of the perceptron's step\n")
    print(step.profile)
    print(f"\n== the C of the perceptron's step: {step.c_path}")
    times = compile_times()
    print("\n== time")
    print(f"   compiling the step in a new process: {times['cold']:.3f} s cold, {times['warm']:.3f} s from the cache on disk")
    compare_with_numpy(model, digits)
    print(f"\naccuracy of the perceptron: {accuracy:.3f}")
    return 0 if accuracy >= 0.95 else 1
