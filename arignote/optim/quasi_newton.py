"""Quasi-Newton steps: L-BFGS on all parameters as one vector."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import ops as T
from ..ops.core.checks import shown
from ..ops.core.shared import SharedVariable, shared
from ..ops.shapes.lengths import lengths_of
from .common import Gradients, Parameters, Updates, pairs_of

LEAST_CURVATURE = 1e-10
"""Least product of a step and its change of gradient for which the pair is remembered."""


def lbfgs(
    parameters: Parameters, gradients: Gradients, learning_rate: Any = 1.0, history_size: int = 10
) -> Updates:
    """One step along -H g, H the inverse Hessian that the last `history_size` steps tell  (Nocedal 1980)

    The first step is min(1, 1 / sum |g|) * rate along -g.  Gradients are to be of the whole loss, not of batches.  The
    steps are those of PyTorch with `max_iter=1` and no line search; for one, give `ag.value_and_grad` to
    `scipy.optimize.minimize`.  Raises TypeError for parameters of different dtypes, ValueError for a history below 1.
    """
    if isinstance(history_size, bool) or not isinstance(history_size, int) or history_size < 1:
        raise ValueError(f"lbfgs: history_size must be an integer that is 1 or more, got {shown(history_size)}")
    found = list(pairs_of(parameters, gradients, "lbfgs", learning_rate=learning_rate))
    if not found:
        return []
    if len({p.dtype for p, _, _ in found}) > 1:
        raise TypeError("lbfgs: all parameters must be of one dtype, for they are one vector")
    dtype, sizes = found[0][0].dtype, [int(p.get_value(borrow=True).size) for p, _, _ in found]
    rate = found[0][2][0]
    g = T.concatenate([T.reshape(T.broadcast_to(g, lengths_of(p)), (-1,)) for p, g, _ in found])
    before, last = (_zeros((sum(sizes),), dtype) for _ in range(2))  # the gradient and the step of the last call
    steps, changes = (_zeros((history_size, sum(sizes)), dtype) for _ in range(2))
    weights, scale, count = _zeros((history_size,), dtype), _zeros((), dtype), _zeros((), "int64")
    is_first = T.eq(count, 0)
    change = g - before
    curvature = T.dot(change, last)
    remembers = T.logical_and(T.logical_not(is_first), T.gt(curvature, LEAST_CURVATURE))
    joined = [T.concatenate([kept[1:], T.expand_dims(new, 0)]) for kept, new in ((steps, last), (changes, change))]
    safe = T.switch(remembers, curvature, T.ones_like(curvature))
    new_weights = T.concatenate([weights[1:], T.expand_dims(1 / safe, 0)])
    s, y = (T.switch(remembers, new, old) for new, old in zip(joined, (steps, changes), strict=True))
    w = T.switch(remembers, new_weights, weights)
    square = T.switch(remembers, T.dot(change, change), T.ones_like(curvature))
    h = T.switch(is_first, T.ones_like(scale), T.switch(remembers, safe / square, scale))
    direction = _direction(g, s, y, w, h, history_size)
    length = T.switch(is_first, T.minimum(1, 1 / T.sum(T.abs(g))), T.ones_like(scale)) * rate
    step = direction * length
    updates: Updates = [
        (before, g), (last, step), (steps, s), (changes, y), (weights, w), (scale, h), (count, count + 1),
    ]  # fmt: skip
    first = 0
    for (p, _, _), size in zip(found, sizes, strict=True):
        updates.append((p, p + T.reshape(step[first : first + size], lengths_of(p))))
        first += size
    return updates


def _direction(g: Any, s: Any, y: Any, w: Any, h: Any, count: int) -> Any:
    """-H g by the two loops over remembered pairs; a weight of 0 stands for none."""
    q, shares = -g, {}
    for k in reversed(range(count)):
        shares[k] = w[k] * T.dot(s[k], q)
        q = q - shares[k] * y[k]
    d = q * h
    for k in range(count):
        d = d + s[k] * (shares[k] - w[k] * T.dot(y[k], d))
    return d


def _zeros(shape: tuple[int, ...], dtype: str) -> SharedVariable:
    return shared(np.zeros(shape, dtype), shape=shape)
