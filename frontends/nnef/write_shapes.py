"""The NNEF lines of reductions, shapes, slices and products."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...graph import Apply, Constant, Variable, dims_of
from ...ops.linalg.assumptions import Assume
from ...ops.linalg.blas import BlasOp, Dot, MatMul
from ...ops.networks.phases import ByPhase
from ...ops.reductions.reduce import ArgReduce, Reduce
from ...ops.shapes.advanced_indexing import AdvancedSubtensor
from ...ops.shapes.conditions import Check
from ...ops.shapes.creation import Alloc
from ...ops.shapes.indexing import Subtensor, entries
from ...ops.shapes.joining import Join
from ...ops.shapes.lengths import tensor_to_dim
from ...ops.shapes.shape import BroadcastTo, DimShuffle, Reshape
from ...ops.shapes.specify import CheckLengths, MaskedShape, SpecifyShape
from .convert_shapes import REDUCTIONS
from .write_elementwise import broadcast_value
from .writing import CannotWrite, Writer, first_input, writes

# --- reductions


@writes(Reduce)
def reduce(w: Writer, node: Apply) -> str:
    (x,), op, axes = node.inputs, node.op, list(node.op.axis)  # type: ignore[attr-defined]
    name = f"{op.name}_reduce"
    if name not in REDUCTIONS:
        raise CannotWrite(op.name)
    if x.dtype != node.out.dtype or (x.dtype == "bool") != (op.name in ("any", "all")):
        raise CannotWrite(f"{op.name} of {x.dtype}")
    found = w.value(x)
    return w.op("squeeze", w.op(name, found, axes=axes), axes=axes) if axes else found


@writes(ArgReduce)
def arg_reduce(w: Writer, node: Apply) -> str:
    axis, x = node.op.axis, w.value(node.inputs[0])  # type: ignore[attr-defined]
    if axis is None:
        axis, x = 0, w.op("reshape", x, shape=[-1])
    return w.op("squeeze", w.op(f"{node.op.name}_reduce", x, axes=[axis]), axes=[axis])


# --- shapes


@writes(SpecifyShape, MaskedShape, CheckLengths, Check, Assume, ByPhase, reads=first_input)
def promised(w: Writer, node: Apply) -> str:
    return w.value(node.inputs[0])


@writes(DimShuffle)
def dimshuffle(w: Writer, node: Apply) -> str:
    (x,), order = node.inputs, node.op.order  # type: ignore[attr-defined]
    name, dropped = w.value(x), node.op.dropped(x.ndim)  # type: ignore[attr-defined]
    kept = [o for o in order if o != "x"]
    if dropped:
        name = w.op("squeeze", name, axes=list(dropped))
        kept = [o - sum(d < o for d in dropped) for o in kept]
    if kept != sorted(kept):
        name = w.op("transpose", name, axes=kept)
    added = [k for k, o in enumerate(order) if o == "x"]
    return w.op("unsqueeze", name, axes=added) if added else name


@writes(Reshape, reads=first_input)
def reshape(w: Writer, node: Apply) -> str:
    """Reshape to known lengths; 0 keeps the length of the same axis, -1 stands for one unknown length."""
    x, *lengths = node.inputs
    own, shape = dims_of(x), []
    for axis, (length, dim) in enumerate(zip(lengths, dims_of(node.out), strict=True)):
        known = _known(length) if _known(length) is not None else dim if isinstance(dim, int) else None
        same = axis < len(own) and tensor_to_dim(length) == own[axis]
        shape.append(known if known is not None else 0 if same else -1)
    if shape.count(-1) > 1:
        raise CannotWrite("reshape to several computed lengths")
    return w.op("reshape", w.value(x), shape=shape)


@writes(BroadcastTo, Alloc, reads=first_input)
def broadcast(w: Writer, node: Apply) -> str:
    value, *lengths = node.inputs
    return broadcast_value(w, node, value, [tensor_to_dim(length) for length in lengths])


def _known(length: Variable) -> int | None:
    return int(length.data) if isinstance(length, Constant) else None


# --- parts


@writes(Join)
def join(w: Writer, node: Apply) -> str:
    parts = ", ".join(w.value(v) for v in node.inputs)
    return w.op("concat", f"[{parts}]", axis=node.op.axis)  # type: ignore[attr-defined]


@writes(Subtensor, reads=first_input)
def part(w: Writer, node: Apply) -> str:
    """A slice, with the axes of integer indices squeezed."""
    x, *inputs = node.inputs
    found: dict[str, list[int]] = {"axes": [], "begin": [], "end": [], "stride": []}
    single = []
    for axis, index in enumerate(entries(node.op.spec, inputs)):  # type: ignore[attr-defined]
        if isinstance(index, slice) and index == slice(None):
            continue
        if not isinstance(index, slice):
            single.append(axis)
        for key, number in zip(found, (axis, *_bounds(node, index, axis)), strict=True):
            found[key].append(number)
    steps = found.pop("stride")
    more = {"stride": steps} if set(steps) - {1} else {}
    name = w.op("slice", w.value(x), **found, **more) if found["axes"] else w.value(x)
    return w.op("squeeze", name, axes=single) if single else name


def _bounds(node: Apply, index: Any, axis: int) -> tuple[int, int, int]:
    """Begin, end (0: that of an axis of unknown length) and step of a slice or a position."""
    length = dims_of(node.inputs[0])[axis]
    last = length if isinstance(length, int) else 0
    if not isinstance(index, slice):
        at = _position(index, length)
        return at, at + 1, 1
    step = 1 if index.step is None else _known(index.step)
    start = 0 if index.start is None else _position(index.start, length)
    to_end = index.stop is None or tensor_to_dim(index.stop) == length
    stop = last if to_end else _position(index.stop, length)
    stop = min(stop, last) if last else stop
    if step is None or step < 1 or (stop <= start and not (to_end and not last)):
        raise CannotWrite(f"{node.op.name} with such bounds or steps (axis {axis})")
    return start, stop, step


def _position(index: Variable, length: Any) -> int:
    """A constant index, counted from the beginning."""
    known = _known(index)
    if known is None or (known < 0 and not isinstance(length, int)):
        raise CannotWrite("subtensor at positions that only the call tells")
    return max(known + length, 0) if known < 0 else known


@writes(AdvancedSubtensor)
def gather(w: Writer, node: Apply) -> str:
    """Rows by number, along one axis."""
    x, *inputs = node.inputs
    spec: Sequence[str] = node.op.spec  # type: ignore[attr-defined]
    if list(spec).count("a") != 1 or set(spec) - {"a", "s000"} or inputs[-1].dtype != "int64":
        raise CannotWrite("advanced_subtensor but of numbers along one axis")
    return w.op("gather", w.value(x), w.value(inputs[0]), axis=list(spec).index("a"))


# --- products


@writes(Dot, MatMul)
def product(w: Writer, node: Apply) -> str:
    """A product of matrices; vectors get an axis of length 1, squeezed afterwards."""
    a, b = node.inputs
    if node.out.dtype != "float32":
        raise CannotWrite(f"{node.op.name} of {node.out.dtype}")
    left, right = w.value(a), w.value(b)
    rank = max(a.ndim, b.ndim, 2)
    if isinstance(node.op, MatMul):
        left, right = (
            w.op("unsqueeze", name, axes=list(range(rank - v.ndim))) if v.ndim < rank else name
            for name, v in ((left, a), (right, b))
        )
        return w.op("matmul", left, right)
    left = w.op("unsqueeze", left, axes=[0]) if a.ndim == 1 else left
    right = w.op("unsqueeze", right, axes=[1]) if b.ndim == 1 else right
    found = w.op("matmul", left, right)
    single = [axis for axis, v in ((0, a), (1, b)) if v.ndim == 1]
    return w.op("squeeze", found, axes=single) if single else found


@writes(BlasOp)
def blas(w: Writer, node: Apply) -> str:
    op: Any = node.op
    return w.value(op.meaning(*node.inputs))
