"""The cases: inputs, the formula, and its meaning in NumPy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np

from . import formulas
from .formulas import Names

Arrays = tuple[np.ndarray, ...]


@dataclass(frozen=True)
class Case:
    """One computation to measure: `inputs()` makes the arguments of `formula(xp, *arguments)`.

    `gradients`: so many of the leading arguments are differentiated; the result is the value and the gradients.
    Training steps (`trains`) take all but the first two arguments as parameters and carry them from call to call; only
    their first loss is compared.
    """

    name: str
    formula: Callable[..., Any]
    inputs: Callable[[], Arrays]
    reference: Callable[..., Any] | None = None
    """The NumPy meaning, where it is not the formula itself: gradients by hand."""
    gradients: int = 0
    trains: bool = False
    rtol: float = 1e-5
    bytes: int = 0
    """Bytes that must move between memory and processor at the least; 0: not bound by memory."""
    flops: int = 0

    def expected(self, *arrays: np.ndarray) -> Any:
        """The result in NumPy."""
        return self.reference(*arrays) if self.reference else self.formula(NUMPY, *arrays)


def _softmax(x: np.ndarray) -> np.ndarray:
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def _logsumexp(x: np.ndarray) -> np.ndarray:
    top = x.max(-1, keepdims=True)
    return np.log(np.exp(x - top).sum(-1)) + top[..., 0]


def _erf(x: np.ndarray) -> np.ndarray:
    """By SciPy where it is installed, else one number at a time."""
    try:
        from scipy.special import erf
    except ImportError:
        import math

        erf = np.vectorize(math.erf)
    return erf(x)


def _scatter_add(x: np.ndarray, i: np.ndarray, v: np.ndarray) -> np.ndarray:
    result = x.copy()
    np.add.at(result, i, v)
    return result


NUMPY: Names = SimpleNamespace(
    exp=np.exp, log=np.log, sin=np.sin, tanh=np.tanh, sqrt=np.sqrt, abs=np.abs, erf=_erf,
    softplus=lambda x: np.logaddexp(x.dtype.type(0), x),
    relu=lambda x: np.maximum(x, x.dtype.type(0)),
    softmax=_softmax,
    log_softmax=lambda x: x - _logsumexp(x)[..., None],
    logsumexp=_logsumexp,
    pick=lambda x, y: x[np.arange(len(x)), y],
    scatter_add=_scatter_add,
)  # fmt: skip


def _cross_entropy_with_gradient(logits: np.ndarray, labels: np.ndarray) -> tuple[Any, np.ndarray]:
    p = _softmax(logits)
    rows = np.arange(len(p))
    loss = -np.log(p[rows, labels]).mean()
    p[rows, labels] -= 1
    p /= p.dtype.type(len(p))
    return loss, p


def _hierarchical_with_gradient(slopes: Any, levels: Any, scales: Any, x: Any, y: Any, group: Any) -> tuple[Any, ...]:
    level_scale, slope_scale, precision = np.exp(scales[1]), np.exp(scales[3]), np.exp(-scales[4])
    level, slope = scales[0] + level_scale * levels, scales[2] + slope_scale * slopes
    error = (y - level[group] - slope[group] * x) * precision
    value = -0.5 * (error @ error) - len(y) * scales[4]
    value -= 0.5 * (slopes @ slopes + levels @ levels + scales @ scales)
    d_level = np.bincount(group, error * precision, len(levels))
    d_slope = np.bincount(group, error * precision * x, len(slopes))
    d_scales = np.array([
        d_level.sum(), (d_level * levels).sum() * level_scale,
        d_slope.sum(), (d_slope * slopes).sum() * slope_scale,
        error @ error - len(y),
    ])  # fmt: skip
    return value, d_slope * slope_scale - slopes, d_level * level_scale - levels, d_scales - scales


def _normal(*shapes: tuple[int, ...], dtype: str) -> Callable[[], Arrays]:
    """Standard normal arrays, always the same."""

    def inputs() -> Arrays:
        rng = np.random.default_rng(0)
        return tuple(rng.standard_normal(shape).astype(dtype) for shape in shapes)

    return inputs


def _options() -> Arrays:
    rng = np.random.default_rng(0)
    return rng.uniform(10, 50, 10**6), rng.uniform(10, 50, 10**6), rng.uniform(0.5, 2, 10**6)


def _labelled() -> Arrays:
    rng = np.random.default_rng(0)
    return rng.standard_normal((2048, 1000)).astype("float32"), rng.integers(0, 1000, 2048)


def _edges() -> Arrays:
    """A table of 100,000 rows of 8, and a million edges."""
    rng = np.random.default_rng(0)
    table = rng.standard_normal((100_000, 8)).astype("float32")
    return table, rng.integers(0, 100_000, 10**6), rng.integers(0, 100_000, 10**6)


def _moments() -> Arrays:
    rng = np.random.default_rng(0)
    p, g, m = (rng.standard_normal(10**6).astype("float32") for _ in range(3))
    return p, g, m, rng.uniform(0.1, 1, 10**6).astype("float32")


def _radon() -> Arrays:
    """85 groups, 919 rows."""
    rng = np.random.default_rng(0)
    x, y = rng.integers(0, 2, 919).astype("float64"), rng.standard_normal(919) + 1
    return (
        rng.standard_normal(85),
        rng.standard_normal(85),
        0.3 * rng.standard_normal(5),
        x,
        y,
        rng.integers(0, 85, 919),
    )


def logistic_inputs() -> Arrays:
    """400 examples of 784 features, labels 0/1, weights, bias: logistic regression (Theano's tutorial), float64."""
    rng = np.random.default_rng(0)
    data, labels = rng.standard_normal((400, 784)), rng.integers(0, 2, 400).astype("float64")
    return data, labels, rng.standard_normal(784), np.zeros(())


def mlp_inputs() -> Arrays:
    """A batch of 128 images of 784 pixels with labels, and the parameters of 784-512-10 (tanh), float32."""
    rng = np.random.default_rng(0)
    f = "float32"
    return (
        rng.standard_normal((128, 784)).astype(f), rng.integers(0, 10, 128),
        (0.03 * rng.standard_normal((784, 512))).astype(f), np.zeros(512, f),
        (0.04 * rng.standard_normal((512, 10))).astype(f), np.zeros(10, f),
    )  # fmt: skip


def _elementwise(n: int, dtype: str) -> Case:
    size = f"{n:.0e}".replace("e+0", "e")
    return Case(
        f"exp(x)*y+sin(x)-y/3, {size}, {dtype}",
        formulas.chain,
        _normal((n,), (n,), dtype=dtype),
        rtol=2e-5 if dtype == "float32" else 1e-12,
        bytes=3 * n * np.dtype(dtype).itemsize,
    )


def _relu_product(n: int, dtype: str) -> Case:
    return Case(
        f"relu(a@b+c), {n}, {dtype}",
        formulas.relu_product,
        _normal((n, n), (n, n), (n,), dtype=dtype),
        rtol=1e-3 if dtype == "float32" else 1e-9,
        flops=2 * n**3,
    )


CASES = {
    case.name: case
    for case in [
        Case("x+1, 3 elements", formulas.plus_one, lambda: (np.arange(3.0),), bytes=48),
        _elementwise(1_000, "float64"),
        _elementwise(1_000, "float32"),
        _elementwise(4_000_000, "float64"),
        _elementwise(4_000_000, "float32"),
        Case("2.5*x+y, 1e7, float64", formulas.axpy, _normal((10**7,), (10**7,), dtype="float64"), bytes=24 * 10**7),
        Case("chain of 200, 1e6, float32", formulas.long_chain, _normal((10**6,), (10**6,), dtype="float32")),
        Case("Black-Scholes, 1e6, float64", formulas.black_scholes, _options, rtol=1e-9),
        Case("Adam, 1e6, float32", formulas.adam, _moments, bytes=28 * 10**6),
        Case("softmax, 2048x1000, float32", formulas.softmax, _normal((2048, 1000), dtype="float32"),
             bytes=2 * 4 * 2_048_000),
        Case("logsumexp, 2048x1000, float32", formulas.logsumexp, _normal((2048, 1000), dtype="float32"),
             bytes=4 * 2_048_000),
        Case("logsumexp, 2048x1000, float64", formulas.logsumexp, _normal((2048, 1000), dtype="float64"),
             bytes=8 * 2_048_000),
        Case("layer norm, 2048x768, float32", formulas.layer_norm,
             _normal((2048, 768), (768,), (768,), dtype="float32"), rtol=1e-4, bytes=2 * 4 * 2048 * 768),
        Case("cross-entropy and gradient, 2048x1000, float32", formulas.cross_entropy, _labelled,
             _cross_entropy_with_gradient, gradients=1, bytes=2 * 4 * 2_048_000),
        Case("(x*x).sum(1), 3000x3000, float64", formulas.row_sums, _normal((3000, 3000), dtype="float64"),
             bytes=8 * 9_000_000),
        Case("(x*x).sum(0), 3000x3000, float64", formulas.column_sums, _normal((3000, 3000), dtype="float64"),
             bytes=8 * 9_000_000),
        Case("stencil, 1500x1500, float64", formulas.stencil, _normal((1500, 1500), dtype="float64"),
             rtol=1e-9, bytes=2 * 8 * 1500**2),
        Case("gather and scatter, 1e6 rows of 8, float32", formulas.gather_scatter, _edges, rtol=1e-3),
        _relu_product(32, "float32"),
        _relu_product(64, "float32"),
        _relu_product(256, "float32"),
        _relu_product(1024, "float32"),
        _relu_product(1024, "float64"),
        Case("hierarchical regression with gradient", formulas.hierarchical, _radon, _hierarchical_with_gradient,
             gradients=3, rtol=1e-9),
        Case("logistic regression step, 400x784", formulas.logistic_loss, logistic_inputs, trains=True, rtol=1e-8),
        Case("MLP step, 128x784-512-10, float32", formulas.mlp_loss, mlp_inputs, trains=True, rtol=1e-4,
             flops=6 * 128 * 512 * 794),
    ]
}  # fmt: skip
