"""Gathers, scatters, selections, sorting."""

from __future__ import annotations

from typing import Any

import numpy as np

from .... import ops as T
from ....graph import Variable
from ....ops.core.tensor import constant
from ....ops.networks.places import positive, scattered
from ....ops.networks.suppression import NonMaxSuppression
from ..reading.node import Node
from ..reading.table import converter
from ..reading.values import elements, known_array, lengths, own_lengths, scalar, vector


@converter("Gather")
def gather(node: Node, x: Any, indices: Any) -> Any:
    axis = node.attr("axis", 0) % x.ndim
    found, places = elements(x), known_array(indices)
    if found is not None and x.ndim == 1 and places is not None and places.size <= 64:
        picked = [found[int(k)] for k in places.reshape(-1)]
        return scalar(picked[0], x.dtype) if places.ndim == 0 else _reshaped(vector(picked, x.dtype), places)
    return x[(*(slice(None),) * axis, T.cast(indices, "int64"))]


def _reshaped(found: Any, places: np.ndarray) -> Any:
    return found if places.ndim == 1 else T.reshape(found, places.shape)


@converter("GatherElements")
def gather_elements(node: Node, x: Any, indices: Any) -> Any:
    axis = node.attr("axis", 0) % x.ndim
    return x[_places(indices, x, axis)]


def _places(indices: Any, x: Variable, axis: int) -> tuple[Any, ...]:
    """For each axis the positions of the elements that `indices` names along one."""
    own = own_lengths(indices)
    along: list[Any] = []
    for k in range(x.ndim):
        form = [1] * x.ndim
        form[k] = -1
        along.append(positive(indices, own_lengths(x)[axis]) if k == axis else T.reshape(T.arange(own[k]), form))
    return tuple(along)


@converter("GatherND")
def gather_nd(node: Node, x: Any, indices: Any) -> Any:
    if indices.type.shape[-1] is None:
        raise node.error("the last length of indices must be known")
    return T.nn.gather_nd(x, indices, node.attr("batch_dims", 0))


@converter("ScatterElements", "Scatter")
def scatter_elements(node: Node, x: Any, indices: Any, updates: Any) -> Any:
    axis = node.attr("axis", 0) % x.ndim
    return scattered("ScatterElements", x, _places(indices, x, axis), updates, node.attr("reduction", "none"))


@converter("ScatterND")
def scatter_nd(node: Node, x: Any, indices: Any, updates: Any) -> Any:
    if indices.type.shape[-1] is None:
        raise node.error("the last length of indices must be known")
    return T.nn.scatter_nd(x, indices, updates, node.attr("reduction", "none"))


@converter("TensorScatter")
def tensor_scatter(node: Node, past: Any, update: Any, start: Any = None) -> Any:
    """Rows of a cache written from each example's first position on."""
    axis = node.attr("axis", -2) % past.ndim
    own, new = own_lengths(past)[axis], own_lengths(update)[axis]
    first = T.zeros((own_lengths(past)[0],), "int64") if start is None else T.cast(start, "int64")
    along = T.expand_dims(first, 1) + T.expand_dims(T.arange(new), 0)
    if node.attr("mode", "linear") == "circular":
        along = along % own
    y, new_rows = T.moveaxis(past, axis, 1), T.moveaxis(update, axis, 1)
    rows = T.expand_dims(T.arange(T.shape(y)[0]), 1)
    return T.moveaxis(T.set_subtensor(y[rows, along], new_rows), 1, axis)


@converter("NonZero")
def non_zero(node: Node, x: Any) -> Any:
    return T.stack(list(T.nonzero(x))) if x.ndim else T.nonzero(T.reshape(x, (1,)))[0][None, :][:0]


@converter("Compress")
def compress(node: Node, x: Any, condition: Any) -> Any:
    axis = node.attr("axis")
    places = T.nonzero(condition)[0]
    return T.ravel(x)[places] if axis is None else x[(*(slice(None),) * (axis % x.ndim), places)]


@converter("TopK")
def top_k(node: Node, x: Any, k: Any = None) -> Any:
    count = node.attr("k") if k is None else lengths(T.reshape(k, (1,)) if k.ndim == 0 else k, node.error, "k")[0]
    axis = node.attr("axis", -1) % x.ndim
    largest = node.attr("largest", 1)
    # Of equal ones the first comes first: the order is stable, so the largest are the smallest of the negated ones.
    keys = x if not largest else (T.bitwise_not(x) if x.type.kind in "iu" else -x)
    order = T.argsort(keys, axis=axis)[(*(slice(None),) * axis, slice(0, count))]
    return T.take_along_axis(x, order, axis=axis), order


@converter("Unique")
def unique(node: Node, x: Any) -> Any:
    axis = node.attr("axis")
    values, first, inverse, counts = T.unique(x, return_index=True, return_inverse=True, return_counts=True, axis=axis)
    inverse = T.ravel(inverse)
    if not node.attr("sorted", 1):
        order = T.argsort(first)
        rank = T.argsort(order)
        part = (slice(None),) * (axis or 0)
        values, first, counts, inverse = values[(*part, order)], first[order], counts[order], rank[inverse]
    return values, first, inverse, counts


@converter("NonMaxSuppression")
def non_max_suppression(
    node: Node, boxes: Any, scores: Any, most: Any = None, overlap: Any = None, least: Any = None
) -> Any:
    def number(value: Any, default: Any) -> Any:
        given = constant(np.array(default)) if value is None else T.reshape(value, ())
        return T.cast(given, np.array(default).dtype.name)

    op = NonMaxSuppression(bool(node.attr("center_point_box", 0)))
    return op(boxes, scores, number(most, 0), number(overlap, 0.0), number(least, -np.inf))
