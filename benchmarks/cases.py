"""The cases: inputs, and what they mean in NumPy.  Each peer writes each case in its own words (folder peers/)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

Arrays = tuple[np.ndarray, ...]


@dataclass(frozen=True)
class Case:
    """One thing to compute: `inputs()` makes the arguments, `expected` is the NumPy meaning of the result.

    Training steps (`trains`) carry their parameters from call to call; only their first loss is compared.
    """

    name: str
    inputs: Callable[[], Arrays]
    expected: Callable[..., Any]
    trains: bool = False
    rtol: float = 1e-5
    bytes: int = 0
    """Bytes that must move between memory and processor at the least; 0: not bound by memory."""
    flops: int = 0


def _rng() -> np.random.Generator:
    return np.random.default_rng(0)


def _elementwise(n: int, dtype: str) -> Case:
    def inputs() -> Arrays:
        rng = _rng()
        return rng.standard_normal(n).astype(dtype), rng.standard_normal(n).astype(dtype)

    size = f"{n:.0e}".replace("e+0", "e")
    return Case(
        f"exp(x)*y+sin(x)-y/3, {size}, {dtype}",
        inputs,
        lambda x, y: np.exp(x) * y + np.sin(x) - y / 3,
        rtol=2e-5 if dtype == "float32" else 1e-12,
        bytes=3 * n * np.dtype(dtype).itemsize,
    )


def softmax(x: np.ndarray) -> np.ndarray:
    e = np.exp(x - x.max(1, keepdims=True))
    return e / e.sum(1, keepdims=True)


def _matrices(n: int) -> Arrays:
    rng = _rng()
    return tuple(rng.standard_normal(s).astype("float32") for s in ((n, n), (n, n), (n,)))


def logistic_inputs() -> Arrays:
    """400 examples of 784 features, labels 0/1, weights, bias: logistic regression (Theano's tutorial), float64."""
    rng = _rng()
    data, labels = rng.standard_normal((400, 784)), rng.integers(0, 2, 400).astype("float64")
    return data, labels, rng.standard_normal(784), np.zeros(())


def logistic_loss(x: np.ndarray, y: np.ndarray, w: np.ndarray, b: np.ndarray) -> Any:
    z = x @ w + b
    return (np.logaddexp(0, z) - y * z).mean() + 0.01 * (w * w).sum()


def mlp_inputs() -> Arrays:
    """A batch of 128 images of 784 pixels with labels, and the parameters of 784-512-10 (tanh), float32."""
    rng = _rng()
    f = "float32"
    return (
        rng.standard_normal((128, 784)).astype(f), rng.integers(0, 10, 128),
        (0.03 * rng.standard_normal((784, 512))).astype(f), np.zeros(512, f),
        (0.04 * rng.standard_normal((512, 10))).astype(f), np.zeros(10, f),
    )  # fmt: skip


def mlp_loss(x: np.ndarray, y: np.ndarray, w1: np.ndarray, b1: np.ndarray, w2: np.ndarray, b2: np.ndarray) -> Any:
    p = softmax(np.tanh(x @ w1 + b1) @ w2 + b2)
    return -np.log(p[np.arange(len(y)), y]).mean()


CASES = {
    case.name: case
    for case in [
        Case("x+1, 3 elements", lambda: (np.arange(3.0),), lambda x: x + 1, bytes=48),
        _elementwise(1_000, "float64"),
        _elementwise(1_000, "float32"),
        _elementwise(4_000_000, "float64"),
        _elementwise(4_000_000, "float32"),
        Case(
            "2.5*x+y, 1e7, float64",
            lambda: (_rng().standard_normal(10_000_000), _rng().standard_normal(10_000_000)),
            lambda x, y: 2.5 * x + y,
            bytes=3 * 8 * 10_000_000,
        ),
        Case(
            "softmax, 2048x1000, float32",
            lambda: (_rng().standard_normal((2048, 1000)).astype("float32"),),
            softmax,
            bytes=2 * 4 * 2_048_000,
        ),
        Case(
            "(x*x).sum(1), 3000x3000, float64",
            lambda: (_rng().standard_normal((3000, 3000)),),
            lambda x: (x * x).sum(1),
            bytes=8 * 9_000_000,
        ),
        Case(
            "relu(a@b+c), 1024, float32",
            lambda: _matrices(1024),
            lambda a, b, c: np.maximum(a @ b + c, 0),
            rtol=1e-3,
            flops=2 * 1024**3,
        ),
        Case("logistic regression step, 400x784", logistic_inputs, logistic_loss, trains=True, rtol=1e-8),
        Case("MLP step, 128x784-512-10, float32", mlp_inputs, mlp_loss, trains=True, rtol=1e-4,
             flops=6 * 128 * 512 * 794),
    ]
}  # fmt: skip

RATE = 0.1
"""The learning rate of the training steps."""
