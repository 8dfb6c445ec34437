"""The learned cost model of `ag.tune`: from features of a kernel to its time, relative to the default schedule.

A row has the features of a form of the kernel, and their differences from those of its default form.  The model is a
small network, an Arignote graph compiled by Arignote: several members are trained at once as one batch of products, and
their mean ranks the candidates.  Training starts from the same numbers each time, so equal records give equal ranks.

Sources: Chen et al., Learning to Optimize Tensor Programs (NeurIPS 2018) for the loop features and the rounds;
Lakshminarayanan et al., Simple and Scalable Predictive Uncertainty Estimation using Deep Ensembles (NeurIPS 2017).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, Protocol

import numpy as np

from .. import ops
from ..calculus.calculus import grad
from ..function.function import function
from ..ops.core.shared import shared as shared_variable

MEMBERS, HIDDEN = 4, 24
STEPS, RATE, DECAY = 250, 0.01, 1e-3
_FEWEST = 6
"""Rows below which nothing is learned."""
_MOST = 2000
"""Rows of a training: the newest ones."""
_CLIP = 4.0
"""Largest standardized feature that counts: beyond it a kernel is unlike all that are known."""


class CostModel(Protocol):
    """A regression from rows of features to log2 of relative times."""

    def fit(self, rows: np.ndarray, targets: np.ndarray) -> None:
        """Learn from rows [records, features] and targets [records]."""

    def predict(self, rows: np.ndarray) -> np.ndarray:
        """Return a prediction for each row."""


def row_of(features: np.ndarray, base: np.ndarray) -> np.ndarray:
    """Return the row of a form whose kernel has the features `base` under the default schedule."""
    return np.concatenate([features, features - base])


class Network:
    """An ensemble of networks with one hidden layer, trained by Adam on all rows at once."""

    def __init__(self) -> None:
        self._weights: list[np.ndarray] | None = None
        self._mean = self._scale = np.zeros(0)

    def fit(self, rows: np.ndarray, targets: np.ndarray) -> None:
        """Learn from the newest rows; of fewer than six rows nothing is learned."""
        rows, targets = rows[-_MOST:], targets[-_MOST:]
        if len(rows) < _FEWEST:
            self._weights = None
            return
        self._mean, self._scale = rows.mean(0), np.maximum(rows.std(0), 1e-3)
        step, parameters = _training(rows.shape[1])
        for parameter, first in zip(parameters, _first(rows.shape[1]), strict=True):
            parameter.set_value(first)
        x, y = self._standard(rows), np.clip(targets, -3.0, 3.0).astype(np.float32)
        for at in range(1, STEPS + 1):
            step(x, y, np.float32(RATE * (1 - (at - 1) / STEPS)), np.float32(1 - 0.9**at), np.float32(1 - 0.999**at))
        self._weights = [p.get_value() for p in parameters[:4]]

    def predict(self, rows: np.ndarray) -> np.ndarray:
        """Return the mean of the members; zeros before anything is learned."""
        if self._weights is None:
            return np.zeros(len(rows))
        w, b, v, c = self._weights
        hidden = np.tanh(np.einsum("nf,mfh->mnh", self._standard(rows), w) + b)
        return np.asarray(((hidden * v).sum(-1) + c).mean(0), np.float64)

    def _standard(self, rows: np.ndarray) -> np.ndarray:
        return np.asarray(np.clip((rows - self._mean) / self._scale, -_CLIP, _CLIP), np.float32)


def _first(features: int) -> list[np.ndarray]:
    """Return the first values of the parameters, and zeros for the moments of Adam."""
    rng = np.random.default_rng(0)
    shapes = ((MEMBERS, features, HIDDEN), (MEMBERS, 1, HIDDEN), (MEMBERS, 1, HIDDEN), (MEMBERS, 1))
    scales = (features**-0.5, 0.0, HIDDEN**-0.5, 0.0)
    values = [(s * rng.standard_normal(shape)).astype(np.float32) for shape, s in zip(shapes, scales, strict=True)]
    return values + [np.zeros(shape, np.float32) for shape in (*shapes, *shapes)]


@cache
def _training(features: int) -> tuple[Any, Sequence[Any]]:
    """Return a step of Adam as a compiled function, and the shared variables that it changes."""
    shared = [shared_variable(value, name=f"p{k}", shape=value.shape) for k, value in enumerate(_first(features))]
    w, b, v, c = parameters = shared[:4]
    x = ops.tensor("rows", dtype="float32", shape=(None, features))
    y = ops.fvector("targets")
    rate, first, second = (ops.tensor(name, dtype="float32", shape=()) for name in ("rate", "first", "second"))
    hidden = ops.tanh(x @ w + b)
    found = (hidden * v).sum(2) + c
    loss = ops.square(found - y[None, :]).mean() * MEMBERS + DECAY * (ops.square(w).sum() + ops.square(v).sum())
    updates = []
    for p, m, s, g in zip(parameters, shared[4:8], shared[8:], grad(loss, parameters), strict=True):
        mean, square = 0.9 * m + 0.1 * g, 0.999 * s + 0.001 * ops.square(g)
        updates += [(m, mean), (s, square), (p, p - rate * (mean / first) / (ops.sqrt(square / second) + 1e-8))]
    return function([x, y, rate, first, second], [], updates=updates, name="cost model", threads=1), shared


def rank_correlation(first: Sequence[float] | np.ndarray, second: Sequence[float] | np.ndarray) -> float:
    """Return Spearman's correlation of two sequences; 0.0 if one is constant or not finite."""
    a, b = np.asarray(first, np.float64), np.asarray(second, np.float64)
    if len(a) < 2 or not (np.isfinite(a).all() and np.isfinite(b).all()):
        return 0.0
    ranks = [_ranks(v) - (len(v) - 1) / 2 for v in (a, b)]
    spread = float(np.sqrt((ranks[0] ** 2).sum() * (ranks[1] ** 2).sum()))
    return float((ranks[0] * ranks[1]).sum()) / spread if spread else 0.0


def _ranks(values: np.ndarray) -> np.ndarray:
    """Return the place of each value; equal ones share the mean of their places."""
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return (last - (counts + 1) / 2)[inverse]
