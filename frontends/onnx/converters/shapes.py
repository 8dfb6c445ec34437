"""Shapes: lengths, reshapes, transposes, joins, parts, repetition, padding, ranges."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from .... import ops as T
from ....graph import Constant, Variable
from ....ops.core.tensor import as_tensor, constant
from ....ops.networks.patches import to_channels, to_positions
from ..reading.alternatives import Choice
from ..reading.computed_axes import by_axes, number_along
from ..reading.node import Node
from ..reading.table import converter
from ..reading.values import dtype_of, elements, known_array, lengths, own_lengths, scalar, shape_vector, vector
from .elementwise import like


@converter("Constant")
def constant_of(node: Node) -> Any:
    plain = {"value_float": "float32", "value_floats": "float32", "value_int": "int64", "value_ints": "int64"}
    for name, dtype in plain.items():
        value = node.attr(name)
        if value is not None:
            return constant(np.array(value, dtype))
    if node.attr("sparse_value") is not None or "sparse_value" in node.attributes:
        raise node.error("sparse constants are not supported")
    return constant(node.need("value"))


@converter("ConstantOfShape")
def constant_of_shape(node: Node, shape: Any) -> Any:
    value = node.attr("value")
    value = np.zeros(1, "float32") if value is None else value
    return T.full(lengths(shape, node.error, "the shape"), constant(value.reshape(())))


@converter("Shape")
def shape(node: Node, x: Any) -> Any:
    return shape_vector(x, node.attr("start"), node.attr("end"))


@converter("Reshape")
def reshape(node: Node, x: Any, shape: Any = None) -> Any:
    """0 is the length that x has there, -1 the one that is left."""
    wanted = node.attr("shape") if shape is None else lengths(shape, node.error, "the shape")
    own = own_lengths(x)
    if not node.attr("allowzero", 0):
        wanted = [own[k] if isinstance(n, int) and n == 0 else n for k, n in enumerate(wanted)]
    computed = [k for k, n in enumerate(wanted) if not isinstance(n, int) and not _is_length(n)]
    if computed and elements(shape) is None:
        wanted = _decided(x, wanted, own, bool(node.attr("allowzero", 0)))
    return T.reshape(x, wanted) if wanted else T.reshape(x, ())


def _decided(x: Any, wanted: Sequence[Any], own: Sequence[Any], allow_zero: bool) -> list[Any]:
    """The lengths of a computed shape, in which a 0 and a -1 may stand."""
    if not allow_zero:
        wanted = [n if k >= x.ndim else T.where(T.eq(n, 0), own[k], n) for k, n in enumerate(wanted)]
    others: Any = 1
    for n in wanted:
        others = others * T.where(T.eq(n, -1), 1, n)
    missing = T.floor_div(T.size(x), T.maximum(others, 1))
    return [T.where(T.eq(n, -1), missing, n) for n in wanted]


def _is_length(n: Any) -> bool:
    """Whether a scalar is the length of an axis, which is meant as it is."""
    return isinstance(n, Constant) or (isinstance(n, Variable) and n.owner is not None and n.owner.op.name == "shape_i")


@converter("Flatten")
def flatten(node: Node, x: Any) -> Any:
    axis = node.attr("axis", 1)
    axis = axis + x.ndim if axis < 0 else axis
    own = own_lengths(x)
    front = own[:axis]
    rows: Any = math.prod(int(n.data) for n in front) if all(isinstance(n, Constant) for n in front) else None
    if rows is None:
        rows = T.prod(T.stack(front))
    if rows == 0 or any(isinstance(n, Constant) and n.data == 0 for n in own):
        return T.reshape(x, (rows, T.prod(T.stack(own[axis:])) if axis < x.ndim else 1))
    return T.reshape(x, (rows, -1))


@converter("Squeeze")
def squeeze(node: Node, x: Any, axes: Any = None) -> Any:
    """Without axes all of length 1 go; of an axis whose length is open the run decides."""
    found = elements(x)
    if found is not None and x.ndim == 1 and len(found) == 1:
        return scalar(found[0], x.dtype)
    if axes is None and node.attr("axes") is None:
        return _squeezed(x, x.ndim - 1)
    axes = constant(np.array(node.attr("axes"))) if axes is None else axes
    return by_axes(node, axes, x.ndim, lambda wanted: T.squeeze(x, wanted) if wanted else x)


def _squeezed(x: Any, axis: int) -> Any:
    """x without the axes of length 1 up to this one."""
    for k in range(axis, -1, -1):
        if x.type.shape[k] == 1:
            x = T.squeeze(x, k)
        elif x.type.shape[k] is None:
            return Choice(T.eq(own_lengths(x)[k], 1), _squeezed(T.squeeze(x, k), k - 1), _squeezed(x, k - 1))
    return x


@converter("Unsqueeze")
def unsqueeze(node: Node, x: Any, axes: Any = None) -> Any:
    axes = constant(np.array(node.attr("axes"))) if axes is None else axes
    count = 1 if axes.ndim == 0 else axes.type.shape[0]
    if count is None:
        raise node.error("the number of axes must be known; it is computed when the model runs")
    found = elements(x)
    if found is not None and x.ndim == 0 and count == 1:
        return vector(found, x.dtype)
    return by_axes(node, axes, x.ndim + count, lambda wanted: T.expand_dims(x, wanted))


@converter("Concat")
def concat(node: Node, *operands: Any) -> Any:
    found = [elements(o) for o in operands]
    if all(f is not None for f in found) and operands[0].ndim == 1:
        return vector([item for f in found for item in f], operands[0].dtype)  # type: ignore[union-attr]
    axis = node.attr("axis", 1)
    return operands[0] if len(operands) == 1 else T.concatenate(list(operands), axis=axis)


@converter("Split")
def split(node: Node, x: Any, sizes: Any = None) -> Any:
    axis = node.attr("axis", 0) % x.ndim
    wanted = node.attr("split") if sizes is None else lengths(sizes, node.error, "the vector of sizes")
    count = node.attr("num_outputs") or len(node.wanted)
    if count != len(node.wanted):
        raise node.error(f"num_outputs is {count}, expected {len(node.wanted)}, the number of its outputs")
    if wanted is None:
        length = own_lengths(x)[axis]
        known = isinstance(length, Constant)
        each = -(-int(length.data) // count) if known else T.floor_div(length + (count - 1), count)
        wanted = [each] * (count - 1)
        bounds: list[Any] = [0]
        for n in wanted:
            bounds.append(bounds[-1] + n)
        bounds.append(None)
    else:
        bounds = [0]
        for n in wanted:
            bounds.append(bounds[-1] + n)
    front = (slice(None),) * axis
    return tuple(x[(*front, slice(a, b))] for a, b in pairwise(bounds))


@converter("Slice")
def slice_(node: Node, x: Any, starts: Any = None, ends: Any = None, axes: Any = None, steps: Any = None) -> Any:
    first = node.attr("starts") if starts is None else lengths(starts, node.error, "starts")
    last = node.attr("ends") if ends is None else lengths(ends, node.error, "ends")
    by = [1] * len(first) if steps is None else lengths(steps, node.error, "the vector of steps")
    along = node.attr("axes") if axes is None else elements(axes)
    if axes is not None and (along is None or not all(isinstance(a, int) for a in along)):
        first, last, by = _placed(x, axes, (first, last, by))
        along = None
    along = list(range(len(first))) if along is None else along
    found = elements(x)
    if found is not None and x.ndim == 1 and all(isinstance(n, int) for n in (*first, *last, *by)):
        return vector(found[slice(first[0], _end(last[0], by[0]), by[0])], x.dtype)
    place: list[Any] = [slice(None)] * x.ndim
    for axis, a, b, step in zip(along, first, last, by, strict=True):
        place[axis] = slice(_bound(a), _end(_bound(b), step), step)
    return x[tuple(place)]


def _placed(x: Any, axes: Any, given: Sequence[Sequence[Any]]) -> list[list[Any]]:
    """Starts, ends and steps of all axes, where the run says to which ones the given vectors belong."""
    defaults = 0, 2**62, 1
    vectors = [T.stack([scalar(n) for n in numbers]) for numbers in given]
    return [[number_along(axes, k, x.ndim, v, d) for k in range(x.ndim)] for v, d in zip(vectors, defaults)]


def _bound(n: Any) -> Any:
    return max(-(2**62), min(n, 2**62)) if isinstance(n, int) else T.cast(n, "int64")


def _end(n: Any, step: Any) -> Any:
    """The end of a slice; one that lies far before the beginning is none for a negative step."""
    return None if isinstance(step, int) and step < 0 and isinstance(n, int) and n <= -(2**31) + 1 else n


@converter("Expand")
def expand(node: Node, x: Any, shape: Any) -> Any:
    """Broadcast both ways: a 1 of the shape keeps the length of x."""
    wanted = lengths(shape, node.error, "the shape")
    own = [1] * (len(wanted) - x.ndim) + list(own_lengths(x))
    wanted = [1] * (x.ndim - len(wanted)) + wanted
    return T.broadcast_to(x, [_joint(a, b) for a, b in zip(own, wanted, strict=True)])


def _joint(own: Any, wanted: Any) -> Any:
    own = int(own.data) if isinstance(own, Constant) else own
    if isinstance(wanted, int) and wanted == 1:
        return own
    if isinstance(own, int) and own == 1:
        return wanted
    return wanted if isinstance(wanted, int) else (own if isinstance(own, int) else T.maximum(own, wanted))


@converter("Pad")
def pad(node: Node, x: Any, pads: Any = None, value: Any = None, axes: Any = None) -> Any:
    amounts = node.attr("pads") if pads is None else lengths(pads, node.error, "the vector of pads")
    mode = node.attr("mode", "constant")
    widths = _widths(node, x, amounts, axes)
    for axis, (before, after) in enumerate(widths):  # negative amounts cut
        start, beyond = _cut(before), _cut(after)
        if isinstance(start, Variable) or isinstance(beyond, Variable) or start or beyond:
            x = x[(*(slice(None),) * axis, slice(start, T.maximum(own_lengths(x)[axis] - beyond, 0)))]
            widths[axis] = before + start, after + beyond
    number = node.attr("value", 0.0) if value is None else value
    if mode == "constant":
        number = like(number, x) if not isinstance(number, Variable) else T.reshape(number, ())
        return T.pad(x, tuple(widths), constant_values=number)
    return T.pad(x, tuple(widths), mode={"reflect": "reflect", "edge": "edge", "wrap": "wrap"}[mode])


def _widths(node: Node, x: Any, amounts: Sequence[Any], axes: Any) -> list[Any]:
    """Amounts of padding before and after each axis."""
    along = list(range(x.ndim)) if axes is None else elements(axes)
    if along is not None and all(isinstance(a, int) for a in along):
        pairs = dict(zip([a % x.ndim for a in along], zip(amounts, amounts[len(along) :])))
        return [pairs.get(k, (0, 0)) for k in range(x.ndim)]
    count = len(amounts) // 2
    parts = [T.stack([scalar(n) for n in part]) for part in (amounts[:count], amounts[count:])]
    return [tuple(number_along(axes, k, x.ndim, part, 0) for part in parts) for k in range(x.ndim)]


def _cut(n: Any) -> Any:
    """How many elements a negative amount of padding cuts."""
    return max(-n, 0) if isinstance(n, int) else T.maximum(-n, 0)


@converter("Range")
def range_(node: Node, start: Any, limit: Any, delta: Any) -> Any:
    start, limit, delta = (v if v.ndim == 0 else T.reshape(v, ()) for v in (start, limit, delta))
    known = [known_array(v) for v in (start, limit, delta)]
    if all(k is not None for k in known):
        return constant(np.arange(*(k.item() for k in known), dtype=start.dtype))  # type: ignore[union-attr]
    if start.type.kind in "iu":
        return T.cast(T.arange(start, limit, delta), start.dtype)
    count = T.maximum(T.cast(T.ceil((limit - start) / delta), "int64"), 0)
    return start + T.cast(T.arange(count), start.dtype) * delta


@converter("EyeLike")
def eye_like(node: Node, x: Any) -> Any:
    dtype = dtype_of(node.attr("dtype"), node.error) if node.attr("dtype") else x.dtype
    rows, columns = own_lengths(x)
    return T.eye(rows, columns, k=node.attr("k", 0), dtype=dtype)


@converter("Trilu")
def trilu(node: Node, x: Any, k: Any = None) -> Any:
    known = [0] if k is None else elements(k)
    if known is not None and isinstance(known[0], int):
        return (T.triu if node.attr("upper", 1) else T.tril)(x, known[0])
    rows, columns = own_lengths(x)[-2:]
    beyond = T.arange(columns) - T.expand_dims(T.arange(rows), 1) - T.reshape(k, ())
    return T.where(T.ge(beyond, 0) if node.attr("upper", 1) else T.le(beyond, 0), x, like(0, x))


@converter("OneHot")
def one_hot(node: Node, indices: Any, depth: Any, values: Any) -> Any:
    axis = node.attr("axis", -1)
    axis = axis + indices.ndim + 1 if axis < 0 else axis
    depth = T.cast(T.reshape(depth, ()), "int64")
    places = T.cast(indices, "int64")
    places = T.where(T.lt(places, 0), places + depth, places)
    form = [1] * (indices.ndim + 1)
    form[axis] = -1
    counted = T.reshape(T.arange(depth), form)
    return T.where(T.eq(T.expand_dims(places, axis), counted), values[1], values[0])


@converter("Dropout")
def dropout(node: Node, x: Any, ratio: Any = None, training: Any = None) -> Any:
    """Dropout in inference, the only use of models that are read: the input itself."""
    known = None if training is None else known_array(training)
    if training is not None and (known is None or bool(known)) and not _is_zero(ratio):
        raise node.error("drops elements in training mode; only inference is supported")
    return x, T.ones_like(x, dtype="bool")


def _is_zero(ratio: Any) -> bool:
    known = None if ratio is None else known_array(ratio)
    return known is not None and float(known) == 0.0


@converter("ReverseSequence")
def reverse_sequence(node: Node, x: Any, lens: Any) -> Any:
    batch, time = node.attr("batch_axis", 1), node.attr("time_axis", 0)
    y = T.moveaxis(x, (batch, time), (0, 1))
    steps = T.arange(T.shape(y)[1])
    count = T.expand_dims(as_tensor(lens), 1)
    places = T.where(T.lt(steps, count), count - 1 - steps, steps)
    rows = T.expand_dims(T.arange(T.shape(y)[0]), 1)
    return T.moveaxis(y[rows, places], (0, 1), (batch, time))


@converter("CenterCropPad")
def center_crop_pad(node: Node, x: Any, shape: Any) -> Any:
    axes = node.attr("axes") or list(range(x.ndim))
    for axis, wanted in zip(axes, lengths(shape, node.error, "the shape"), strict=True):
        axis %= x.ndim
        own = x.type.shape[axis]
        if own is None or not isinstance(wanted, int):
            own = own_lengths(x)[axis]
            more, less = T.maximum(wanted - own, 0), T.maximum(own - wanted, 0)
        else:
            more, less = max(wanted - own, 0), max(own - wanted, 0)
        start, before = less // 2, more // 2
        if not isinstance(less, int) or less:
            x = x[(*(slice(None),) * axis, slice(start, start + wanted))]
        if not isinstance(more, int) or more:
            x = T.pad(x, tuple((before, more - before) if a == axis else (0, 0) for a in range(x.ndim)))
    return x


converter("Identity")(lambda node, x: x)
converter("Size")(lambda node, x: T.size(x))
converter("Transpose")(lambda node, x: T.transpose(x, node.attr("perm") or tuple(range(x.ndim))[::-1]))
converter("Tile")(lambda node, x, repeats: T.tile(x, tuple(lengths(repeats, node.error, "repeats")), ndim=x.ndim))
converter("SpaceToDepth")(lambda node, x: to_channels(x, node.need("blocksize"), node.attr("mode", "DCR") != "DCR"))
converter("DepthToSpace")(lambda node, x: to_positions(x, node.need("blocksize"), node.attr("mode", "DCR") != "DCR"))
