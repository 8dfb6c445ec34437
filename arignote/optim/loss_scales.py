"""Training in float16: a loss is multiplied so that its small gradients have numbers of the format."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .. import ops as T
from .. import tree
from ..calculus.calculus import grad
from ..ops.core.checks import shown
from ..ops.core.operands import with_dtype
from ..ops.core.shared import shared
from ..ops.core.tensor import as_tensor
from .common import Parameters, Updates


def with_loss_scale(
    rule: Callable[..., Updates], loss: Any, parameters: Parameters, *, initial: float = 2.0**15, interval: int = 2000,
    **options: Any,
) -> Updates:  # fmt: skip
    """The updates of `rule` for gradients of scale * loss, divided by the scale again.

        updates = ag.optim.with_loss_scale(ag.optim.adam, loss, parameters, learning_rate=1e-3)
        step = ag.function([x, t], loss, updates=updates, mode=ag.Mode().including("float16"))

    The scale, a shared float32 scalar named "loss_scale", is the first of the updates.  If all gradients are finite,
    the rule's updates hold, and after `interval` such steps in a row the scale doubles, to 2^24 at most.  Otherwise
    nothing else changes, and the scale is halved, to 1 at least.  `initial` is a power of two from 1 to 2^24, so that
    no scale rounds a gradient; `options` go to the rule.  Raises TypeError or ValueError for other arguments.

    Source: P. Micikevicius et al., "Mixed precision training", 2018.
    """
    if not isinstance(initial, (int, float)) or initial not in _SCALES:
        raise ValueError(f"with_loss_scale: initial is {shown(initial)}; expected a power of two from 1 to 2**24")
    if not isinstance(interval, int) or isinstance(interval, bool) or interval < 1:
        raise ValueError(f"with_loss_scale: interval is {shown(interval)}; expected a positive number of steps")
    loss = as_tensor(loss)
    if loss.ndim or loss.type.kind != "f":
        raise TypeError(f"with_loss_scale: loss is {loss.type}; expected a floating-point scalar")
    scale = shared(np.float32(initial), name="loss_scale")
    good = shared(np.int64(0), name="steps_at_scale")
    found: list[Any] = []
    form = tree.flat(parameters if tree.is_tree(parameters) else list(parameters), found)
    slopes = [s / with_dtype(scale, s.dtype) for s in grad(loss * with_dtype(scale, loss.dtype), found)]
    finite = T.all(T.stack([T.all(T.isfinite(s)) for s in slopes]))
    steps = T.where(finite, good + 1, 0)
    is_due = T.ge(steps, interval)
    higher, lower = T.minimum(scale * 2, _SCALES[-1]), T.maximum(scale / 2, 1)
    kept = [(p, T.where(finite, new, p)) for p, new in rule(parameters, tree.unflat(form, iter(slopes)), **options)]
    new_scale = T.where(finite, T.where(is_due, higher, scale), lower)
    return [(scale, with_dtype(new_scale, "float32")), (good, T.where(is_due, 0, steps)), *kept]


_SCALES = [2.0**k for k in range(25)]
"""All scales: as powers of two they change no significand."""
