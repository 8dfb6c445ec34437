"""A convolutional network trained on handwritten digits, with times and export: `python -m arignote demo cnn`.

A LeNet (LeCun et al. 1998) of two convolutions and two dense layers is trained by minibatch SGD with momentum.  Its
training images are distorted anew in each epoch.  The demonstration prints the loss as it goes and as a curve, the
accuracy on images that were held back, the profiles, and the time of a step beside the same step written in NumPy.
The trained network is then exported as ONNX and, where it is installed, run by ONNX Runtime.
"""

from __future__ import annotations

import math
import tempfile
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from .. import ops as T
from ..function.function import function
from ..record import lazy
from . import digits as demo
from .digits import BATCH, CLASSES, DTYPE, MOMENTUM, TEST_IMAGES, Digits, Model, Trained, parameter

onnxruntime, onnx_front_end = lazy.module("onnxruntime"), lazy.module("..frontends.onnx", __package__)
EPOCHS, LEARNING_RATE = 80, 0.07
ENOUGH = 0.97
"""The accuracy that the network must reach."""
BRIGHTNESS = np.float32(0.25)
"""Factor from the pixels of an image, 0 to 4, to the inputs of the network, 0 to 1."""
SHEAR, SHIFT = 0.15, 0.7
"""Size of a distortion: entries of its matrix beside the identity, and pixels along each axis."""
MARGIN = 2
"""Empty pixels around an image before it is distorted."""


class Form(NamedTuple):
    """Lengths of a LeNet: images of side x side, square kernels, padding, channels and hidden units."""

    side: int
    kernel: int
    padding: int
    channels: tuple[int, int]
    hidden: int

    @property
    def shapes(self) -> list[tuple[int, ...]]:
        """Return the shapes of kernels and weights, each followed by its bias."""
        (few, many), k, side = self.channels, self.kernel, self.side
        for _ in range(2):
            side = (side + 2 * self.padding - k + 1) // 2
        weights = [(few, 1, k, k), (many, few, k, k), (many * side * side, self.hidden), (self.hidden, CLASSES)]
        return [shape for w in weights for shape in (w, (w[0] if len(w) == 4 else w[1],))]


DIGITS = Form(side=8, kernel=3, padding=1, channels=(32, 64), hidden=64)
"""The network for the digits of the package."""


def initial(form: Form) -> list[np.ndarray]:
    """Random weights (He et al. 2015) and zero biases."""
    rng = np.random.default_rng(0)
    scales = [math.sqrt(2 / math.prod(s[1:] if len(s) == 4 else s[:1])) for s in form.shapes]
    return [
        (scale * rng.standard_normal(s) if len(s) > 1 else np.zeros(s)).astype(DTYPE)
        for s, scale in zip(form.shapes, scales, strict=True)
    ]


def lenet(form: Form = DIGITS, epochs: int = EPOCHS) -> Model:
    """The network as a model of the demonstration: rows of pixels in, logits out."""
    names = ("K1", "c1", "K2", "c2", "W1", "b1", "W2", "b2")
    own = [parameter(value, name) for value, name in zip(initial(form), names, strict=True)]
    return Model("convolutional network", own, lambda x: logits(form, own, x), LEARNING_RATE, epochs)


def logits(form: Form, parameters: list[Any], x: Any) -> Any:
    """The logits of images that are given as rows."""
    K1, c1, K2, c2, W1, b1, W2, b2 = parameters
    n, side = T.shape(x)[0], form.side
    y = T.reshape(x * BRIGHTNESS, (n, 1, side, side))
    for kernels, bias in ((K1, c1), (K2, c2)):
        y = T.relu(T.nn.conv2d(y, kernels, padding=form.padding) + T.dimshuffle(bias, "x", 0, "x", "x"))
        y = T.nn.max_pool2d(y, 2)
    return T.relu(T.reshape(y, (n, form.shapes[4][0])) @ W1 + b1) @ W2 + b2


def distorted(images: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return the images, each under a random affine map (bilinear, with zeros at the border)."""
    n, side, margin = len(images), 8, ((0, 0), (MARGIN, MARGIN), (MARGIN, MARGIN))
    padded = np.pad(images.reshape(-1, side, side), margin)
    matrix = np.eye(2) + rng.uniform(-SHEAR, SHEAR, (n, 2, 2))
    grid = np.mgrid[:side, :side].reshape(2, -1) - (side - 1) / 2
    places = matrix @ grid + rng.uniform(-SHIFT, SHIFT, (n, 2, 1)) + (padded.shape[1] - 1) / 2
    places = np.clip(places, 0, padded.shape[1] - 1.001)
    corner = places.astype(int)
    after = (places - corner).astype(DTYPE)
    image = np.arange(n)[:, None]
    found = np.zeros(images.shape, DTYPE)
    for down, right in ((0, 0), (0, 1), (1, 0), (1, 1)):
        share = (after[:, 0] if down else 1 - after[:, 0]) * (after[:, 1] if right else 1 - after[:, 1])
        found += share * padded[image, corner[:, 0] + down, corner[:, 1] + right]
    return found


class NumpyLenet:
    """The network's step in hand-written NumPy, for comparison.

    Convolutions are products with the windows of an image (im2col); the gradient of a pool goes to each position that
    is largest, in equal shares.
    """

    def __init__(self, form: Form) -> None:
        self.form, self.parameters = form, initial(form)
        self.velocities = [np.zeros_like(p) for p in self.parameters]

    def step(self, x: np.ndarray, y: np.ndarray, rate: np.float32) -> float:
        """One step of SGD with momentum; returns the loss before it."""
        K1, c1, K2, c2, W1, b1, W2, b2 = self.parameters
        image = (x * BRIGHTNESS).reshape(-1, 1, self.form.side, self.form.side)
        first, after_first = self._layer(image, K1, c1)
        second, after_second = self._layer(first, K2, c2)
        flat = second.reshape(len(x), -1)
        hidden = np.maximum(flat @ W1 + b1, 0)
        loss, error = _cross_entropy(hidden @ W2 + b2, y)
        back = (error @ W2.T) * (hidden > 0)
        of_K2, of_c2, of_first = after_second((back @ W1.T).reshape(second.shape))
        of_K1, of_c1, _ = after_first(of_first)
        products = [flat.T @ back, back.sum(axis=0), hidden.T @ error, error.sum(axis=0)]
        gradients = [of_K1, of_c1, of_K2, of_c2, *products]
        for p, v, g in zip(self.parameters, self.velocities, gradients, strict=True):
            v *= MOMENTUM
            v -= rate * g
            p += v
        return loss

    def _layer(self, x: np.ndarray, kernels: np.ndarray, bias: np.ndarray) -> tuple[np.ndarray, Callable[..., Any]]:
        """Convolution, ReLU and pool; and the function from the result's gradient to those of kernels, bias and x."""
        p, k = self.form.padding, self.form.kernel
        padded = np.pad(x, ((0, 0), (0, 0), (p, p), (p, p)))
        windows = np.lib.stride_tricks.sliding_window_view(padded, (k, k), axis=(2, 3))
        columns = windows.transpose(0, 2, 3, 1, 4, 5).reshape(-1, kernels[0].size)
        n, height, width = len(x), *windows.shape[2:4]
        flat = kernels.reshape(len(kernels), -1)
        y = np.maximum((columns @ flat.T + bias).reshape(n, height, width, -1).transpose(0, 3, 1, 2), 0)
        apart = y.reshape(n, len(kernels), height // 2, 2, width // 2, 2)
        largest = apart.max(axis=(3, 5), keepdims=True)

        def back(g: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
            reached = (apart == largest).astype(DTYPE)
            shares = reached * (g.reshape(largest.shape) / reached.sum(axis=(3, 5), keepdims=True))
            rows = (shares.reshape(y.shape) * (y > 0)).transpose(0, 2, 3, 1).reshape(-1, len(kernels))
            parts = (rows @ flat).reshape(n, height, width, -1, k, k)
            whole = np.zeros_like(padded)
            for i in range(k):
                for j in range(k):
                    whole[:, :, i : i + height, j : j + width] += parts[..., i, j].transpose(0, 3, 1, 2)
            inside = whole[:, :, p : p + x.shape[2], p : p + x.shape[3]]
            return (rows.T @ columns).reshape(kernels.shape), rows.sum(axis=0), inside

        return largest.reshape(*largest.shape[:3], -1), back


def _cross_entropy(values: np.ndarray, y: np.ndarray) -> tuple[float, np.ndarray]:
    """The mean loss of logits, and its gradient."""
    error = np.exp(values - values.max(axis=1, keepdims=True))
    error /= error.sum(axis=1, keepdims=True)
    rows = np.arange(len(y))
    loss = float(-np.log(error[rows, y]).mean())
    error[rows, y] -= 1
    return loss, error / np.float32(len(y))


def export(model: Model, path: Path, digits: Digits) -> bool:
    """Write the trained network as ONNX and compare its digits with ONNX Runtime's; False if they differ."""
    if find_spec("onnx") is None:
        print("   no export: the package onnx is not installed; pip install 'arignote[onnx]' installs it")
        return True
    x = T.matrix("images", DTYPE)
    predict = function([x], {"digits": T.argmax(model.logits(x), axis=1)}, name="lenet")
    try:
        onnx_front_end.to_onnx(predict, path, optimized=True)
    except OSError as error:
        print(f"   no export: {error}")
        return True
    print(f"   trained network: {path}")
    if find_spec("onnxruntime") is None:
        print("   not compared with ONNX Runtime: pip install onnxruntime installs it")
        return True
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    (theirs,) = session.run(None, {"images": digits.test_images})
    same = np.count_nonzero(theirs == predict(digits.test_images)["digits"])
    print(f"   ONNX Runtime gives {same} of {TEST_IMAGES} images the same digit")
    return bool(same == TEST_IMAGES)


def main(full: bool = False, picture: Path | None = None, onnx: Path | None = None, epochs: int = EPOCHS) -> int:
    """The whole demonstration; the exit code is 1 for an accuracy below 0.97, or if ONNX Runtime gives other digits.

    `picture`: the SVG file for the losses; `onnx`: the file for the trained network; both by default in the folder
    for temporary files.
    """
    digits, model, folder = demo.load_digits(), lenet(epochs=epochs), Path(tempfile.gettempdir())
    n_train, n_test = len(digits.train_images), len(digits.test_images)
    print(f"{n_train} training images, {n_test} held back, minibatches of {BATCH}, {DTYPE}")
    trained: Trained = demo.train(model, digits, distorted)
    demo.draw({model.name: trained.losses}, picture or folder / "arignote-demo-cnn.svg")
    print(f"\n== the C of the step: {trained.step.c_path}")
    print(demo.profiles(trained.step, full, "convolutional network", "demo cnn"))
    print("\n== export")
    same = export(model, onnx or folder / "arignote-demo-cnn.onnx", digits)
    print("\n== time")
    demo.compare_with_numpy(lenet(), digits, NumpyLenet(DIGITS))
    print(f"\naccuracy of the convolutional network: {trained.accuracy:.3f}")
    return 0 if trained.accuracy >= ENOUGH and same else 1
