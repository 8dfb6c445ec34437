"""Schedules: rates as scalar expressions of a step, for the rules of `ag.optim`.

    step, counts = ag.optim.counter()
    rate = ag.optim.cosine(step, 1e-3, 10_000) * ag.optim.warmup(step, 500)
    train = ag.function([x, y], loss, updates=ag.optim.adamw(weights, slopes, rate) + counts)

A step is a number, or a scalar expression of integers or floats; the first one is 0.  All schedules are float64, and
rules cast them to the dtype of each parameter.  Numbers of steps and rates may be scalar expressions as well.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import ops as T
from ..ops.core.checks import describe, shown
from ..ops.core.operands import with_dtype
from ..ops.core.shared import SharedVariable, shared
from ..ops.core.tensor import as_tensor
from .common import Updates


def counter(first: int = 0) -> tuple[SharedVariable, Updates]:
    """A shared int64 scalar that counts steps, and the updates that add 1 to it in each call."""
    step = shared(np.array(first, "int64"), name="step")
    return step, [(step, step + 1)]


def _scalar(name: str, role: str, value: Any) -> Any:
    """The value as a float64 scalar.  Raises TypeError for anything else."""
    found = as_tensor(value)
    if found.ndim or found.type.kind not in "iuf":
        raise TypeError(f"{name}: {role} must be a number or a scalar expression, got {describe(found)}")
    return with_dtype(found, "float64")


def _share(name: str, step: Any, total: Any) -> Any:
    """How much of `total` steps is over, from 0 to 1."""
    t, n = _scalar(name, "step", step), _scalar(name, "total", total)
    return T.minimum(T.maximum(t / T.maximum(n, 1), 0), 1)


def _between(start: Any, end: Any, share: Any) -> Any:
    return start + (end - start) * share


def _cosine_between(start: Any, end: Any, share: Any) -> Any:
    return end + (start - end) * (1 + T.cos(math.pi * share)) / 2


def cosine(step: Any, rate: Any, total: Any, final: Any = 0.0) -> Any:
    """From `rate` to `final` along half a cosine, within `total` steps; `final` after them.

    Source: I. Loshchilov and F. Hutter, "SGDR", 2017.
    """
    start, end = _scalar("cosine", "rate", rate), _scalar("cosine", "final", final)
    return _cosine_between(start, end, _share("cosine", step, total))


def cosine_restarts(step: Any, rate: Any, period: int, factor: int = 1, final: Any = 0.0) -> Any:
    """`cosine` again and again, with periods that become `factor` times as long.

    Raises ValueError for a period or factor below 1.
    """
    for role, n in (("period", period), ("factor", factor)):
        if isinstance(n, bool) or not isinstance(n, int) or n < 1:
            raise ValueError(f"cosine_restarts: {role} must be an integer that is 1 or more, got {shown(n)}")
    start, end = _scalar("cosine_restarts", "rate", rate), _scalar("cosine_restarts", "final", final)
    t = _scalar("cosine_restarts", "step", step)
    if factor == 1:
        return _cosine_between(start, end, T.mod(t, period) / period)
    # The period of step t is the last one that begins by then; half a step guards the logarithm's rounding.
    number = T.floor(T.log((t + 0.5) * (factor - 1) / period + 1) / math.log(factor))
    begin, length = period * (float(factor) ** number - 1) / (factor - 1), period * float(factor) ** number
    return _cosine_between(start, end, (t - begin) / length)


def linear(step: Any, rate: Any, total: Any, final: Any = 0.0) -> Any:
    """From `rate` to `final` along a line, within `total` steps; `final` after them."""
    start, end = _scalar("linear", "rate", rate), _scalar("linear", "final", final)
    return _between(start, end, _share("linear", step, total))


def polynomial(step: Any, rate: Any, total: Any, power: Any = 1.0, final: Any = 0.0) -> Any:
    """final + (rate - final) * (1 - step / total)^power; `final` after `total` steps."""
    start, end = _scalar("polynomial", "rate", rate), _scalar("polynomial", "final", final)
    return end + (start - end) * (1 - _share("polynomial", step, total)) ** _scalar("polynomial", "power", power)


def warmup(step: Any, steps: Any, start: Any = 0.0) -> Any:
    """A factor that rises from `start` to 1 along a line within `steps` steps: multiply another schedule by it."""
    return _between(_scalar("warmup", "start", start), 1.0, _share("warmup", step, steps))


def exponential(step: Any, rate: Any, factor: Any) -> Any:
    """rate * factor^step"""
    return _scalar("exponential", "rate", rate) * _scalar("exponential", "factor", factor) ** _scalar(
        "exponential", "step", step
    )


def staircase(step: Any, rate: Any, every: Any, factor: Any = 0.1) -> Any:
    """rate * factor^(step // every)"""
    t, n = _scalar("staircase", "step", step), _scalar("staircase", "every", every)
    return _scalar("staircase", "rate", rate) * _scalar("staircase", "factor", factor) ** T.floor(t / n)


def piecewise(step: Any, rates: Sequence[Any], milestones: Sequence[int]) -> Any:
    """rates[k], k the number of `milestones` that `step` has reached.

    Raises ValueError unless there is one rate more than milestones, which rise.
    """
    if len(rates) != len(milestones) + 1 or list(milestones) != sorted(milestones):
        raise ValueError(f"piecewise: expected rising milestones and one rate more, got {shown(milestones)} and "
                         f"{shown(rates)}")  # fmt: skip
    t = _scalar("piecewise", "step", step)
    found = _scalar("piecewise", "rates", rates[0])
    for milestone, rate in zip(milestones, rates[1:], strict=True):
        found = T.switch(T.ge(t, milestone), _scalar("piecewise", "rates", rate), found)
    return found


def one_cycle(
    step: Any, rate: Any, total: Any, rising: float = 0.3, start_factor: float = 25.0, end_factor: float = 1e4
) -> Any:
    """Along cosines from rate / start_factor up to `rate`, and down to that first rate / end_factor.

    It rises in the share `rising` of `total` steps, of which the last one is total - 1.  Source: L. N. Smith and N.
    Topin, "Super-convergence", 2018, in PyTorch's form.
    """
    t, n = _scalar("one_cycle", "step", step), _scalar("one_cycle", "total", total)
    top = _scalar("one_cycle", "rate", rate)
    low = top / start_factor
    peak, last = rising * n - 1, n - 1
    up = _cosine_between(low, top, T.minimum(T.maximum(t / peak, 0), 1))
    down = _cosine_between(top, low / end_factor, T.minimum(T.maximum((t - peak) / (last - peak), 0), 1))
    return T.switch(T.le(t, peak), up, down)
