"""Losses as people write them where exponentials overflow and probabilities underflow: which results are right.

    python -m benchmarks.stability

A value or a gradient is right if it is within 1e-6 of the true one, which mpmath computes from the same formula with
900 digits.  The peers are those that are installed; all compute in float64.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np

Z = np.array([-800.0, 800.0, 0.3, -40.0, 39.0])
X = np.array([[1000.0, 0, -3], [0, -1000, 2], [1, 2, 3], [-500, -800, -700], [40, 0, -40]])
LABELS = np.array([1.0, 0.0, 1.0, 0.0, 1.0])
ONE_HOT = np.eye(3)[[0, 1, 2, 0, 1]]
WEIGHTS = np.array([0.2, 0.3, 0.5])


def shares(m: Any, x: Any) -> Any:
    """Return a softmax along rows, as its definition reads."""
    return m.exp(x) / m.rows(m.exp(x))[:, None]


def logistic(m: Any, z: Any) -> Any:
    return 1 / (1 + m.exp(-z))


LOSSES: dict[str, tuple[np.ndarray, Callable[[Any, Any], Any]]] = {
    "binary cross-entropy": (
        Z, lambda m, z: -(m.array(LABELS) * m.log(logistic(m, z)) + (1 - m.array(LABELS)) * m.log(1 - logistic(m, z)))),
    "softplus": (Z, lambda m, z: m.log(1 + m.exp(z))),
    "square of softplus": (Z, lambda m, z: m.log(1 + m.exp(z)) ** 2),
    "margin loss": (Z, lambda m, z: m.log(1 + m.exp(-(2 * m.array(LABELS) - 1) * z))),
    "focal loss": (Z, lambda m, z: -((1 - logistic(m, z)) ** 2) * m.log(logistic(m, z))),
    "log of a square": (Z, lambda m, z: m.log(logistic(m, z) ** 2)),
    "log of cosh": (Z, lambda m, z: m.log(m.cosh(z))),
    "log of 1 - tanh^2": (Z, lambda m, z: m.log(1 - m.tanh(z) ** 2)),
    "tanh by exponentials": (Z, lambda m, z: (m.exp(z) - m.exp(-z)) / (m.exp(z) + m.exp(-z))),
    "swish": (Z, lambda m, z: z * logistic(m, z)),
    "mish": (Z, lambda m, z: z * m.tanh(m.log(1 + m.exp(z)))),
    "log of two exponentials": (Z, lambda m, z: m.log(m.exp(z) + m.exp(2 * z + 1))),
    "share of two": (Z, lambda m, z: m.exp(z) / (m.exp(z) + m.exp(0.5 * z))),
    "normal log density": (Z, lambda m, z: m.log(m.exp(-0.5 * z * z) / (2 * np.pi) ** 0.5)),
    "mixture of two normals": (Z, lambda m, z: m.log(0.3 * m.exp(-0.5 * z * z) + 0.7 * m.exp(-0.5 * (z - 2) ** 2))),
    "logistic log density": (Z, lambda m, z: m.log(m.exp(-z) / (1 + m.exp(-z)) ** 2)),
    "Laplace log density": (Z, lambda m, z: m.log(0.5 * m.exp(-abs(z)))),
    "hyperbolic secant": (Z, lambda m, z: 1 / m.cosh(z)),
    "Fermi's distribution": (Z, lambda m, z: 1 / (m.exp((z - 1) / 2) + 1)),
    "Bose's distribution": (Z, lambda m, z: z / (m.exp(z) - 1)),
    "Hill's saturation": (Z, lambda m, z: m.exp(3 * z) / (2.5 + m.exp(3 * z))),
    "Gompertz's growth": (Z, lambda m, z: m.exp(-m.exp(z))),
    "generalized logistic": (Z, lambda m, z: 5 / (1 + m.exp(-z)) ** 0.5),
    "square of a share": (Z, lambda m, z: 1 / (1 + m.exp(z)) ** 2),
    "cross-entropy": (X, lambda m, x: -m.array(ONE_HOT) * m.log(shares(m, x))),
    "smoothed labels": (X, lambda m, x: -(0.9 * m.array(ONE_HOT) + 0.1 / 3) * m.log(shares(m, x))),
    "temperature": (X, lambda m, x: -m.array(ONE_HOT) * m.log(shares(m, x / 0.1))),
    "log of a sum": (X, lambda m, x: m.log(m.rows(m.exp(x)))),
    "log of a mean": (X, lambda m, x: m.log(m.rows(m.exp(x)) / 3)),
    "Brier score": (X, lambda m, x: (shares(m, x) - m.array(ONE_HOT)) ** 2),
    "weighted sum": (X, lambda m, x: m.log(m.rows(m.array(WEIGHTS) * m.exp(-0.5 * x * x)))),
    "contrastive loss": (X, lambda m, x: -m.log(m.exp(x[:, 0]) / (m.exp(x[:, 0]) + m.exp(x[:, 1]) + m.exp(x[:, 2])))),
}  # fmt: skip
"""Name -> values and the loss of a namespace `m` and an array; its elements are added up."""

Result = tuple[Any, Any]


class Exact:
    """The namespace of arrays of mpmath's numbers."""

    def __getattr__(self, name: str) -> Any:
        return np.vectorize(getattr(importlib.import_module("mpmath"), name), otypes=[object])

    def rows(self, x: Any) -> Any:
        return np.sum(x, axis=1)

    def array(self, x: Any) -> Any:
        return x


def exact(values: np.ndarray, loss: Callable[[Any, Any], Any]) -> Result:
    """Return the true value and gradient, the latter by central differences of 1e-30."""
    mp: Any = importlib.import_module("mpmath")
    mp.mp.dps = 900
    at, step = np.vectorize(mp.mpf, otypes=[object])(values), mp.mpf(10) ** -30
    slope = np.empty(values.shape)
    for k in np.ndindex(values.shape):
        ends = []
        for sign in (1, -1):
            moved = at.copy()
            moved[k] += sign * step
            ends.append(np.sum(loss(Exact(), moved)))
        slope[k] = float((ends[0] - ends[1]) / (2 * step))
    return float(np.sum(loss(Exact(), at))), slope


def ours(values: np.ndarray, loss: Callable[[Any, Any], Any]) -> Result:
    import arignote as ag
    from arignote import ops as T

    x = T.tensor("x", shape=(None,) * values.ndim)
    total = T.sum(loss(_Namespace(T, lambda v: T.sum(v, axis=1)), x))
    value, slope = ag.function([x], [total, ag.grad(total, x)])(values)
    return value, slope


def pytensor(values: np.ndarray, loss: Callable[[Any, Any], Any]) -> Result:
    import pytensor
    import pytensor.tensor as pt

    x = pt.tensor("x", shape=(None,) * values.ndim, dtype="float64")
    total = pt.sum(loss(_Namespace(pt, lambda v: pt.sum(v, axis=1)), x))
    value, slope = pytensor.function([x], [total, pytensor.grad(total, x)])(values)
    return value, slope


def jax(values: np.ndarray, loss: Callable[[Any, Any], Any]) -> Result:
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_enable_x64", True)
    namespace = _Namespace(jnp, lambda v: jnp.sum(v, axis=1))
    value, slope = jax.jit(jax.value_and_grad(lambda x: jnp.sum(loss(namespace, x))))(values)
    return float(value), np.asarray(slope)


def torch(values: np.ndarray, loss: Callable[[Any, Any], Any]) -> Result:
    import torch

    x = torch.tensor(values, requires_grad=True)
    total = loss(_Namespace(torch, lambda v: torch.sum(v, dim=1), torch.tensor), x).sum()
    total.backward()
    return total.item(), x.grad.numpy()


class _Namespace:
    """Functions of a library, with sums of rows, and constants made by `array`."""

    def __init__(self, library: Any, rows: Callable[[Any], Any], array: Callable[[Any], Any] = np.asarray) -> None:
        self.library, self.rows, self.array = library, rows, array

    def __getattr__(self, name: str) -> Any:
        return getattr(self.library, name)


PEERS = {"arignote": ours, "pytensor": pytensor, "jax": jax, "torch": torch}


def is_right(found: Any, true: Any) -> bool:
    return bool(np.allclose(found, true, rtol=1e-6, atol=1e-12))


def main() -> None:
    """Print for each loss which values (v) and gradients (g) are right, and the counts."""
    rows, counts = [], dict.fromkeys(PEERS, (0, 0))
    for name, (values, loss) in LOSSES.items():
        true = exact(values, loss)
        row = [name]
        for peer, run in PEERS.items():
            try:
                with np.errstate(all="ignore"):
                    found = run(values, loss)
            except ImportError:
                row.append("-")
                continue
            right = [is_right(f, t) for f, t in zip(found, true, strict=True)]
            counts[peer] = (counts[peer][0] + right[0], counts[peer][1] + right[1])
            row.append("".join(mark if holds else "." for mark, holds in zip("vg", right, strict=True)))
        rows.append(row)
    rows.append(["right values, gradients", *(f"{v}, {g}" for v, g in counts.values())])
    print(f"{'':26}" + "".join(f"{peer:>12}" for peer in PEERS))
    for name, *cells in rows:
        print(f"{name:26}" + "".join(f"{cell:>12}" for cell in cells))


if __name__ == "__main__":
    main()
