"""Indexing as ONNX: slices, integers and arrays, read and written.

A write is one ScatterElements on the flat tensor: the positions to write are those that a read of the positions
0, 1, 2, ... gives.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ....graph import Apply, Constant, Variable
from ....ops.networks.places import COMBINING
from ....ops.shapes.advanced_indexing import AdvancedIncSubtensor, AdvancedSubtensor
from ....ops.shapes.combining import AdvancedCombine
from ....ops.shapes.indexing import IncSubtensor, Spec, Subtensor, entries, joint_position
from .elementwise import WIDE
from .writer import CannotWrite, Writer, writes

LAST = (1 << 63) - 1
"""Stands for the end of an axis; its negative for the place before the first element."""

ADDED_AS = {**WIDE, "float16": "float32"}
"""The dtypes in which additions to elements are computed."""


@writes(Subtensor, AdvancedSubtensor)
def read(w: Writer, node: Apply) -> str:
    x, *indices = node.inputs
    return _read(w, w.value(x), x.ndim, node.op.spec, indices)  # type: ignore[attr-defined]


_COMBINED = {ours: onnx for onnx, ours in COMBINING.items()}
"""The reductions of ScatterElements by our names."""


@writes(IncSubtensor, AdvancedIncSubtensor)
def written(w: Writer, node: Apply) -> str:
    return _scattered(w, node, "none" if node.op.set else "add")  # type: ignore[attr-defined]


@writes(AdvancedCombine)
def combined(w: Writer, node: Apply) -> str:
    return _scattered(w, node, _COMBINED[node.op.scalar.name])  # type: ignore[attr-defined]


def _scattered(w: Writer, node: Apply, reduction: str) -> str:
    x, y, *indices = node.inputs
    op: Any = node.op
    name, flat = w.value(x), w.const([-1])
    shape = w.shape(name)
    count = w.op("ReduceProd", shape, keepdims=0)
    numbers = w.op("Reshape", w.op("Range", w.const(0), count, w.const(1)), shape, allowzero=1)
    places = _read(w, numbers, x.ndim, op.spec, indices)
    values = w.op("Expand", w.value(y), w.shape(places))
    work = x.dtype if reduction == "none" else ADDED_AS.get(x.dtype, x.dtype)
    operands = [w.cast(name, x.dtype, work), places, w.cast(values, y.dtype, work)]
    operands = [w.op("Reshape", v, flat) for v in operands]
    result = w.op("ScatterElements", *operands, axis=0, reduction=reduction)
    return w.cast(w.op("Reshape", result, shape, allowzero=1), work, x.dtype)


def _read(w: Writer, name: str, ndim: int, spec: Spec, indices: Sequence[Variable]) -> str:
    """x[...]: slices first, then single integers, or all arrays and integers together."""
    places = entries(spec, indices)
    name = _sliced(w, name, places)
    pointed = [k for k, place in enumerate(places) if not isinstance(place, slice)]
    if not pointed:
        return name
    if "a" not in spec:
        for axis in reversed(pointed):
            name = w.op("Gather", name, w.value(places[axis]), axis=axis)
        return name
    if len(pointed) == 1:
        return w.op("Gather", name, w.value(places[pointed[0]]), axis=pointed[0])
    return _gathered(w, name, ndim, spec, {k: places[k] for k in pointed})


def _gathered(w: Writer, name: str, ndim: int, spec: Spec, pointers: dict[int, Variable]) -> str:
    """Several index arrays: move their axes to the front, GatherND, move the joint axes as NumPy does."""
    rest = [k for k in range(ndim) if k not in pointers]
    front = w.op("Transpose", name, perm=[*pointers, *rest])
    joint = max(v.ndim for v in pointers.values())
    shapes = [w.op("Shape", w.value(v)) for v in pointers.values() if v.ndim]
    wide = w.op("Expand", w.const(0), shapes[0])
    for v in pointers.values():
        wide = w.op("Add", wide, w.op("Mul", w.value(v), w.const(0)))
    wide = w.shape(wide)
    last = w.const([joint])
    columns = [w.op("Unsqueeze", w.op("Expand", w.value(v), wide), last) for v in pointers.values()]
    found = w.op("GatherND", front, w.op("Concat", *columns, axis=joint))
    before = joint_position(spec)
    order = [*range(joint, joint + before), *range(joint), *range(joint + before, joint + len(rest))]
    return found if order == sorted(order) else w.op("Transpose", found, perm=order)


def _sliced(w: Writer, name: str, places: Sequence[Any]) -> str:
    """The slices of an index; other axes stay whole."""
    cut = [(k, p) for k, p in enumerate(places) if isinstance(p, slice) and p != slice(None)]
    if not cut:
        return name
    starts, ends, steps = [], [], []
    for _, place in cut:
        step = 1 if place.step is None else place.step
        known = int(step.data) if isinstance(step, Constant) else step
        if not isinstance(known, int) and (place.start is None or place.stop is None):
            raise CannotWrite("slice with a step that is computed and an open end")
        back = isinstance(known, int) and known < 0
        starts.append((LAST if back else 0) if place.start is None else place.start)
        ends.append((-LAST if back else LAST) if place.stop is None else place.stop)
        steps.append(known)
    axes = w.const([k for k, _ in cut])
    return w.op("Slice", name, w.vector(starts), w.vector(ends), axes, w.vector(steps))
