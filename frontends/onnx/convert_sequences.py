"""Sequences and optional values: lists of values that are known when the model is read."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from ... import ops as T
from ...ops.tensor import constant
from .node import Node
from .table import converter
from .values import known_array, known_ints


def _place(node: Node, index: Any, length: int) -> int:
    known = known_ints(index, node.error, "the position")[0]
    if not -length <= known <= length:
        raise node.error(f"position {known} is not within a sequence of {length}")
    return known % length if known < 0 else known


@converter("SequenceConstruct")
def construct(node: Node, *values: Any) -> Any:
    return list(values)


@converter("SequenceEmpty")
def empty(node: Node) -> Any:
    return []


@converter("SequenceAt")
def at(node: Node, values: list[Any], index: Any) -> Any:
    return values[_place(node, index, len(values))]


@converter("SequenceInsert")
def insert(node: Node, values: list[Any], value: Any, index: Any = None) -> Any:
    at = len(values) if index is None else _place(node, index, len(values))
    return [*values[:at], value, *values[at:]]


@converter("SequenceErase")
def erase(node: Node, values: list[Any], index: Any = None) -> Any:
    at = len(values) - 1 if index is None else _place(node, index, len(values))
    return [*values[:at], *values[at + 1 :]]


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


@converter("Optional")
def optional(node: Node, value: Any = None) -> Any:
    return (value,)


@converter("OptionalHasElement")
def has_element(node: Node, value: Any = None) -> Any:
    return constant(np.array(value is not None))


@converter("OptionalGetElement")
def get_element(node: Node, value: Any) -> Any:
    return (value,)

