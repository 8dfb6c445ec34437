"""The NNEF lines of padding, convolutions and pooling; padding becomes an attribute of the windows that read it."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from ...graph import Apply, Constant, Variable, dims_of
from ...ops.networks.convolution import Convolution
from ...ops.networks.pooling import MaxPool, SumPool
from ...ops.shapes.creation import Alloc
from ...ops.shapes.indexing import IncSubtensor, entries
from ...ops.shapes.shape import BroadcastTo
from .writing import CannotWrite, Writer, writes

Pairs = list[tuple[int, int]]
"""Positions before and behind each axis."""


class Padded(NamedTuple):
    """A value with a number around it."""

    inner: Variable
    pairs: Pairs
    number: float


def padded(x: Variable) -> Padded | None:
    """The padding that made x: a value written into an array of one number.  None if its position is unknown."""
    node = x.owner
    if node is None or not isinstance(node.op, IncSubtensor) or not node.op.set:
        return None
    number, y = _number_everywhere(node.inputs[0]), node.inputs[1]
    if number is None or y.ndim != x.ndim:
        return None
    places = entries(node.op.spec, node.inputs[2:])
    places += [slice(None)] * (x.ndim - len(places))
    pairs: Pairs = []
    for place, total, own in zip(places, dims_of(x), dims_of(y), strict=True):
        start = 0 if place.start is None else getattr(place.start, "data", None) if isinstance(place, slice) else None
        if start is None or getattr(place, "step", None) is not None:
            return None
        if total == own and int(start) == 0:
            pairs.append((0, 0))
        elif isinstance(total, int) and isinstance(own, int):
            pairs.append((int(start), total - own - int(start)))
        else:
            return None
    return Padded(y, pairs, number)


def _number_everywhere(x: Variable) -> Any:
    """The one number that every element of x is; None if there is none."""
    value = x.owner.inputs[0] if x.owner is not None and isinstance(x.owner.op, (Alloc, BroadcastTo)) else x
    if not isinstance(value, Constant) or value.data.size == 0:
        return None
    first = value.data.flat[0]
    return first.item() if np.array_equal(value.data, np.full_like(value.data, first)) else None


def _value_alone(node: Apply) -> Iterable[Variable]:
    found = padded(node.out)
    return node.inputs if found is None else [found.inner]


@writes(IncSubtensor, reads=_value_alone)
def pad(w: Writer, node: Apply) -> str:
    found = padded(node.out)
    if found is None or not math.isfinite(found.number):
        raise CannotWrite("inc_subtensor, but for padding")
    return w.op("pad", w.value(found.inner), padding=found.pairs, border="constant", value=float(found.number))


def _within(x: Variable, number: float, front: int = 0) -> tuple[Variable, Pairs]:
    """A value and its padding, if it pads with this number and only axes from `front` on."""
    found = padded(x)
    if found is None or found.number != number or any(map(any, found.pairs[:front])):
        return x, [(0, 0)] * x.ndim
    return found.inner, found.pairs


def _inner(number: float, front: int = 0) -> Any:
    return lambda node: [_within(node.inputs[0], number, front)[0], *node.inputs[1:]]


@writes(Convolution, reads=_inner(0, 2))
def convolution(w: Writer, node: Apply) -> str:
    op: Any = node.op
    x, pairs = _within(node.inputs[0], 0, 2)
    numbers = {"stride": list(op.stride), "dilation": list(op.dilation), "groups": op.groups}
    return w.op("conv", w.value(x), w.value(node.inputs[1]), border="constant", padding=pairs[2:], **numbers)


@writes(MaxPool, reads=_inner(-math.inf))
def max_pool(w: Writer, node: Apply) -> str:
    x, pairs = _within(node.inputs[0], -math.inf)
    return w.op("max_pool", w.value(x), border="ignore", padding=pairs, **_windows(node))


@writes(SumPool, reads=_inner(0))
def sum_pool(w: Writer, node: Apply) -> str:
    x, pairs = _within(node.inputs[0], 0)
    return w.op("box", w.value(x), border="constant", padding=pairs, normalize=False, **_windows(node))


def _windows(node: Apply) -> dict[str, list[int]]:
    """The window parameters, one number for each axis."""
    op: Any = node.op
    if node.out.dtype != "float32":
        raise CannotWrite(f"{op.name} of {node.out.dtype}")
    front = [1] * (node.out.ndim - len(op.kernel))
    return {"size": [*front, *op.kernel], "stride": [*front, *op.stride], "dilation": [*front, *op.dilation]}
