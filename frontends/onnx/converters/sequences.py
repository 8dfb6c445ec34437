"""Sequences and optional values: lists of values that are known when the model is read."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np

from .... import ops as T
from ....ops.core.tensor import constant
from ..reading.alternatives import Choice
from ..reading.node import Node
from ..reading.table import converter
from ..reading.values import elements, known_array


def _at_place(node: Node, index: Any, length: int, function: Callable[[int], Any], inserts: bool = False) -> Any:
    """The function's value for a position in a sequence; where the run computes it, a choice among all positions."""
    known = elements(index)
    if known is None or not isinstance(known[0], int):
        return _chosen(T.reshape(index, ()), length, [function(k) for k in range(length + inserts)])
    return function(_place(node, known[0], length, inserts))


def _chosen(index: Any, length: int, values: list[Any]) -> Any:
    """The value of a computed position."""
    place = T.where(T.lt(index, 0), index + length, index)
    most = len(values)
    place = T.arange(most)[T.where(T.lt(place, 0), place - most, place)]  # the gather checks it when it runs
    found = values[-1]
    for k in range(len(values) - 2, -1, -1):
        found = Choice(T.eq(place, k), values[k], found)
    return found


def _place(node: Node, known: int, length: int, inserts: bool) -> int:
    if not -length <= known < length + inserts:
        raise node.error(f"position {known} is not within a sequence of {length}")
    return known % length if known < 0 else known


@converter("SequenceInsert")
def insert(node: Node, values: list[Any], value: Any, index: Any = None) -> Any:
    if index is None:
        return [*values, value]
    return _at_place(node, index, len(values), lambda k: [*values[:k], value, *values[k:]], inserts=True)


@converter("SequenceErase")
def erase(node: Node, values: list[Any], index: Any = None) -> Any:
    if index is None:
        return values[:-1]
    return _at_place(node, index, len(values), lambda k: [*values[:k], *values[k + 1 :]])


@converter("SequenceLength")
def length(node: Node, values: list[Any]) -> Any:
    return constant(np.array(len(values), "int64"))


@converter("ConcatFromSequence")
def concat_from_sequence(node: Node, values: list[Any]) -> Any:
    axis = node.need("axis")
    return T.stack(values, axis=axis) if node.attr("new_axis", 0) else T.concatenate(values, axis=axis)


@converter("SplitToSequence")
def split_to_sequence(node: Node, x: Any, sizes: Any = None) -> Any:
    axis = node.attr("axis", 0) % x.ndim
    total = x.type.shape[axis]
    if total is None:
        raise node.error(f"the length of axis {axis} must be known")
    if sizes is None:
        parts = [1] * total
    else:
        known = known_array(sizes)
        if known is None:
            raise node.error("the sizes must be constants")
        each = int(known) if known.ndim == 0 else None
        parts = [min(each, total - k) for k in range(0, total, each)] if each else [int(n) for n in known]
    bounds = np.cumsum([0, *parts]).tolist()
    front = (slice(None),) * axis
    found = [x[(*front, slice(a, b))] for a, b in pairwise(bounds)]
    if sizes is None and not node.attr("keepdims", 1):
        return [T.squeeze(f, axis) for f in found]
    return found


@converter("SequenceMap")
def sequence_map(node: Node, values: Any, *others: Any) -> Any:
    count = len(values)
    rows = [
        node.body("body", [values[k], *(o[k] if isinstance(o, list) else o for o in others)]) for k in range(count)
    ]
    return tuple([row[n] for row in rows] for n in range(len(node.wanted)))


converter("SequenceConstruct")(lambda node, *values: list(values))
converter("SequenceEmpty")(lambda node: [])
converter("SequenceAt")(lambda node, values, index: _at_place(node, index, len(values), values.__getitem__))
converter("Optional")(lambda node, value=None: (value,))
converter("OptionalHasElement")(lambda node, value=None: constant(np.array(value is not None)))
converter("OptionalGetElement")(lambda node, value: (value,))
