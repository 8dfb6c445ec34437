"""Windows of arrays, for the planners of convolutions and pools: their number, their strides, views of them."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

from ....graph import Apply, TensorType, Variable
from ....ops.core.tensor import TensorVariable
from ..outcome import Outcome
from ..planner import Planner
from ..program import Array, Lengths
from .views import slice_of


def window_counts(p: Planner, op: Any, lengths: Lengths, kernel: Lengths, front: int = 2) -> Lengths:
    """Return the numbers of windows along each axis.  A kernel that does not fit fails."""
    counts = []
    for k, (length, positions) in enumerate(zip(lengths, kernel, strict=True)):
        stride, dilation = op.stride[k], op.dilation[k]
        if isinstance(positions, str):
            p.guard("positive", positions, failure=Outcome.WINDOW, axis=front + k)
        p.guard("has_room", positions, length, dilation, failure=Outcome.WINDOW, axis=front + k)
        starts = p.sum((length, p.product((-dilation, positions)), dilation))
        counts.append(starts if stride == 1 else slice_of(p, length, None, starts, stride, front + k)[1])
    return tuple(counts)


def steps_of(p: Planner, op: Any, x: Array) -> tuple[Lengths, Lengths]:
    """Return strides between positions of a window, and between windows, along each axis."""
    along = x.strides[len(x.strides) - len(op.stride) :]
    within = tuple(p.product((d, s)) for d, s in zip(op.dilation, along, strict=True))
    return within, tuple(p.product((d, s)) for d, s in zip(op.stride, along, strict=True))


def views_of_windows(
    p: Planner, op: Any, x: Array, counts: Lengths, kernel: Sequence[int], kind: TensorType
) -> list[Variable]:
    """Return the views of x, one per position of a window."""
    front = len(x.lengths) - len(kernel)
    within, between = steps_of(p, op, x)
    lengths, strides = (*x.lengths[:front], *counts), (*x.strides[:front], *between)
    found: list[Variable] = []
    for position in itertools.product(*map(range, kernel)):
        offset = p.sum(p.product(pair) for pair in zip(position, within, strict=True))
        found.append(TensorVariable(kind))
        p.put(found[-1], p.view(x, lengths, strides, offset))
    return found


def plan_as(p: Planner, node: Apply, values: Sequence[Variable]) -> None:
    """Plan `values` as the results of the node, in the memory of outputs where the node's results belong there."""
    for mine, other in zip(node.outputs, values, strict=True):
        if mine in p.direct and other.owner is not None:
            p.direct[other] = p.direct[mine]
    p.expand(node, values)
