"""Loops whose gradients keep few states: `ag.scan(..., checkpoint_every=k)`.

    n steps   -->   n // k steps of a loop of k steps, then a loop of the n % k others

The gradient of the outer loop keeps the states at the begin of each inner one, and runs that again.  So n states
become n / k + k.  Source: Griewank and Walther, Evaluating Derivatives, section 12.2; Chen et al., "Training deep nets
with sublinear memory cost", 2016.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from .. import ops as T
from ..graph import Variable
from ..ops.control.composed import with_last
from ..ops.control.scan_ops import Scan, looped
from ..ops.core.checks import shown
from ..ops.core.tensor import TensorVariable
from ..ops.shapes.lengths import known_length, lengths_of

SLACK = 2
"""How much shorter than the root of the steps a part may be, if then no steps are left over."""


def every(given: Any, steps: Any, stops: bool, truncate: int) -> Any:
    """Return the number of steps of a part, an int64 scalar.

    Raises ValueError for a loop that cannot be divided, and for a value that is no number of steps.
    """
    if stops:
        raise ValueError("scan: checkpoint_every needs a fixed number of steps, and fn ends by until(...)")
    if truncate >= 0:
        raise ValueError("scan: checkpoint_every and truncate_gradient are given; expected one of them")
    if given == "sqrt":
        known = known_length(steps)
        return T.constant(_near_root(known), "int64") if known is not None else T.maximum(_root(steps), 1)
    if isinstance(given, bool) or not isinstance(given, int) or given < 1:
        raise ValueError(f'scan: checkpoint_every is {shown(given)}; expected a number of steps from 1 on, or "sqrt"')
    known = known_length(steps)
    return T.constant(given if known is None else min(given, max(known, 1)), "int64")


def _root(steps: Any) -> Any:
    return T.cast(T.ceil(T.sqrt(T.cast(steps, "float64"))), "int64")


def _near_root(steps: int) -> int:
    """Return a divisor of the number of steps near its root; the root, rounded up, if there is none."""
    root = max(1, math.isqrt(max(steps, 1) - 1) + 1)
    divisors = (k for k in range(root, root // SLACK, -1) if steps and steps % k == 0)
    return next(divisors, root)


def segmented(
    steps: Any, k: Any, sequences: Sequence[Any], slices: Sequence[Variable], firsts: Sequence[Any],
    states: Sequence[Variable], new: Sequence[Variable], values: Sequence[Variable], traced: tuple[bool, ...],
) -> tuple[Any, ...]:  # fmt: skip
    """The results of the loop in parts of `k` steps: arguments and results are those of `looped`."""
    n, size = known_length(steps), known_length(k)
    count = T.floor_div(steps, k) if n is None or size is None else T.constant(n // size, "int64")
    covered = T.mul(count, k) if n is None or size is None else T.constant(n // size * size, "int64")
    rows = [T.reshape(s[:covered], (count, k, *lengths_of(s)[1:])) for s in sequences]
    parts: list[Variable] = [TensorVariable(r.type.with_shape(r.type.shape[1:])) for r in rows]
    begins: list[Variable] = [TensorVariable(f.type, name=s.name) for f, s in zip(firsts, states, strict=True)]
    inner = looped(Scan, k, parts, slices, begins, states, new, values, traced=traced)
    ends = [o[-1] if t else o for o, t in zip(inner, traced, strict=False)]
    kept = [o for o, t in zip(inner, (*traced, *(True for _ in values)), strict=True) if t]
    outer = looped(Scan, count, rows, parts, firsts, begins, ends, kept, traced=(True,) * len(firsts))
    fixed = n is not None and size is not None
    lasts = [
        o[-1] if fixed and n >= size else T.concatenate([T.expand_dims(f, 0), o])[-1]  # type: ignore[operator]
        for f, o in zip(firsts, outer, strict=False)
    ]
    stacked = [T.reshape(o, (covered, *lengths_of(o)[2:])) for o in outer[len(firsts) :]]
    if not fixed or n % size:  # type: ignore[operator]
        left = [s[covered:steps] for s in sequences]
        rest = looped(Scan, T.sub(steps, covered), left, slices, lasts, states, new, values, traced=traced)
        tails = [o for o, t in zip(rest, (*traced, *(True for _ in values)), strict=True) if t]
        stacked = [T.concatenate([a, b]) for a, b in zip(stacked, tails, strict=True)]
        lasts = [T.concatenate([T.expand_dims(f, 0), o])[-1] if t else o
                 for f, o, t in zip(lasts, rest, traced, strict=False)]  # fmt: skip
    places = iter(stacked)
    found = [with_last(next(places), last) if t else last for last, t in zip(lasts, traced, strict=True)]
    return (*found, *places)
