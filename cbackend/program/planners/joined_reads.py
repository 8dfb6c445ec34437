"""Elementwise work that reads joins through their parts: the loops are split where a part begins, nothing is joined.

    join(x[k:], x[:k]) + y   -->   k_add(v, x + k * s, y); k_add(v + m, x, y + m)

The pieces of a loop are known in the call: the boundaries of all operands are sorted there, and each piece selects the
part that each operand has at its beginning.  So one kernel serves all pieces, in any order of the boundaries; a piece
may be empty.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from ....graph import Apply, Dim, Variable, dims, dims_of
from ....ops.shapes.indexing import entries
from ....ops.shapes.joining import Join
from ....ops.shapes.lengths import tensor_to_dim
from ....ops.shapes.slices import at_most, cut_off, difference, greater, lesser, total
from ....record import record
from ...ir.kernel import Kernel
from ..outcome import Outcome
from ..planner import Planner, whole_outputs
from ..program import Array, Lengths, Quantity
from .creation import joined_lengths
from .views import sliced


@record
class Place:
    """A position along an axis, and what is known of it when the program is planned; None if that is nothing."""

    at: Quantity
    known: Dim | None = None


@record
class Part:
    """An array whose element i is at position i + offset of each axis."""

    array: Array
    offsets: Lengths


@record
class Parts:
    """Parts one after the other along `axis`: `ends` has the position behind each of them but the last."""

    axis: int
    ends: tuple[Place, ...]
    parts: tuple[Reading, ...]


Reading = Part | Parts
"""The places of an operand's elements."""


def plan_joined_reads(p: Planner, node: Apply, nodes: Sequence[Apply]) -> None:
    """Plan the last of `nodes` piece by piece; node by node if a result might be shorter than its loops."""
    *views, reader = nodes
    kernel = p.kernel(reader)
    if not all(whole_outputs(reader, kernel)):
        p.expand(node, reader.outputs)
        return
    readings: dict[Variable, Reading] = {}
    for inner in views:
        p.put(inner.out, _placeholder(p, inner))
        readings[inner.out] = _reading(p, inner, readings)
    inputs = [p.arrays[reader.inputs[operand.source]] for operand in kernel.inputs]
    extents = p.extents(kernel, inputs)
    results = [
        p.result(node.outputs[o.source], tuple(1 if loop is None else extents[loop] for loop in o.axes))
        for o in kernel.outputs
    ]
    if not any(o in p.needed for o in node.outputs):
        return
    operands = []
    for operand, array in zip(kernel.inputs, inputs, strict=True):
        found = readings.get(reader.inputs[operand.source])
        operands.append(_broadcast(p, array, operand.axes, extents) if found is None else found)
        for axis, loop in enumerate(operand.axes if found is not None else ()):
            extent = 1 if loop is None else extents[loop]
            p.guard("equal", array.lengths[axis], extent, failure=Outcome.LENGTHS, axis=axis)
    known = {
        loop: length
        for o in kernel.outputs
        for loop, length in zip(o.axes, dims_of(reader.outputs[o.source]), strict=True)
    }
    loops = [Place(extent, known.get(loop)) for loop, extent in enumerate(extents)]
    _launch_pieces(p, kernel, loops, results, operands)


def _placeholder(p: Planner, node: Apply) -> Array:
    """Return the lengths of a view that has no memory."""
    if isinstance(node.op, Join):
        lengths = joined_lengths(p, node)
    else:
        _, lengths, _ = sliced(p, p.arrays[node.inputs[0]], node, node.inputs[1:])
    p.keep_promises(node.out, lengths)
    return p.dense("", node.out.dtype, lengths)


def _reading(p: Planner, node: Apply, readings: Mapping[Variable, Reading]) -> Reading:
    """Return the places of the elements of a join, or of a slice of one."""
    found = [readings.get(i) or _whole(p.arrays[i]) for i in node.inputs[: None if isinstance(node.op, Join) else 1]]
    if not isinstance(node.op, Join):
        (reading,) = found
        firsts, _, _ = sliced(p, p.arrays[node.inputs[0]], node, node.inputs[1:])
        cuts = entries(node.op.spec, node.inputs[1:])  # type: ignore[attr-defined]
        for axis, (first, cut, length) in enumerate(zip(firsts, cuts, dims_of(node.inputs[0]))):
            known = 0 if cut.start is None else cut_off(tensor_to_dim(cut.start), length)
            by = Place(p.product((-1, first)), None if known is None else difference(0, known))
            reading = _moved(p, reading, axis, by)
        return reading
    axis, ends = node.op.axis, [Place(0, 0)]
    for x in node.inputs:
        ends.append(_plus(p, ends[-1], Place(p.arrays[x].lengths[axis], dims_of(x)[axis])))
    moved = tuple(_moved(p, part, axis, end) for part, end in zip(found, ends[:-1], strict=True))
    return Parts(axis, tuple(ends[1:-1]), moved)


def _whole(array: Array) -> Part:
    return Part(array, (0,) * len(array.lengths))


def _broadcast(p: Planner, array: Array, axes: Sequence[int | None], extents: Lengths) -> Part:
    """Return an array of which axes may be broadcast."""
    strides = tuple(
        stride if loop is None else p.along(length, extents[loop], stride)
        for loop, length, stride in zip(axes, array.lengths, array.strides, strict=True)
    )
    return _whole(replace(array, strides=strides))


def _moved(p: Planner, reading: Reading, axis: int, by: Place) -> Reading:
    """Return a reading whose positions along `axis` are greater by `by`."""
    if by.at == 0:
        return reading
    if isinstance(reading, Part):
        offset = p.sum((reading.offsets[axis], p.product((-1, by.at))))
        return Part(reading.array, (*reading.offsets[:axis], offset, *reading.offsets[axis + 1 :]))
    ends = tuple(_plus(p, end, by) for end in reading.ends) if axis == reading.axis else reading.ends
    return Parts(reading.axis, ends, tuple(_moved(p, part, axis, by) for part in reading.parts))


# --- pieces


def _launch_pieces(
    p: Planner, kernel: Kernel, loops: Sequence[Place], results: Sequence[Array], operands: Sequence[Reading]
) -> None:
    """Launch a kernel over each box of the loops in which no operand changes its part."""
    fixed = tuple(
        _along_none(p, reading, operand.axes) for reading, operand in zip(operands, kernel.inputs, strict=True)
    )
    boxes: list[tuple[Lengths, Lengths, tuple[Reading, ...]]] = [((), (), fixed)]
    for loop, extent in enumerate(loops):
        axes = [o.axes.index(loop) if loop in o.axes else None for o in kernel.inputs]
        split = []
        for starts, lengths, found in boxes:
            ends = _sorted(p, [e for r, axis in zip(found, axes, strict=True) for e in _ends(r, axis)], extent)
            for start, end in zip((Place(0, 0), *ends), (*ends, extent), strict=True):
                here = tuple(_at(p, r, axis, start) for r, axis in zip(found, axes, strict=True))
                length = p.sum((end.at, p.product((-1, start.at))))
                split.append(((*starts, start.at), (*lengths, length), here))
        boxes = split
    for starts, lengths, found in boxes:
        outputs = [_window(p, _whole(r), o.axes, starts, lengths) for r, o in zip(results, kernel.outputs, strict=True)]
        inputs = [_window(p, r, o.axes, starts, lengths) for r, o in zip(found, kernel.inputs, strict=True)]
        p.launch(kernel, lengths, outputs, inputs)


def _along_none(p: Planner, reading: Reading, axes: Sequence[int | None]) -> Reading:
    """Return a reading at the only position of the axes that run along no loop."""
    for axis, loop in enumerate(axes):
        reading = _at(p, reading, axis, Place(0, 0)) if loop is None else reading
    return reading


def _window(p: Planner, reading: Reading, axes: Sequence[int | None], starts: Lengths, lengths: Lengths) -> Array:
    """Return the elements of a part that a box of the loops reads or writes."""
    assert isinstance(reading, Part)
    array, loops = reading.array, [(0, 1) if loop is None else (starts[loop], lengths[loop]) for loop in axes]
    places = (p.sum((start, offset)) for (start, _), offset in zip(loops, reading.offsets, strict=True))
    offset = p.sum(p.product((place, stride)) for place, stride in zip(places, array.strides, strict=True))
    return p.view(array, tuple(length for _, length in loops), array.strides, offset)


def _ends(reading: Reading, axis: int | None) -> list[Place]:
    """Return where parts begin along an axis."""
    found: list[Place] = []
    waiting = [reading]
    while waiting and axis is not None:
        current = waiting.pop()
        if isinstance(current, Parts):
            found += current.ends if current.axis == axis else ()
            waiting += current.parts
    return found


def _at(p: Planner, reading: Reading, axis: int | None, start: Place) -> Reading:
    """Return the part in which a position of an axis lies."""
    if isinstance(reading, Part) or axis is None:
        return reading
    parts = [_at(p, part, axis, start) for part in reading.parts]
    if reading.axis != axis:
        return Parts(reading.axis, reading.ends, tuple(parts))
    found = parts[-1]
    for part, end in zip(parts[-2::-1], reading.ends[::-1], strict=True):
        found = _select(p, _is_before(p, start, end), part, found)
    return found


def _select(p: Planner, flag: Quantity, first: Reading, second: Reading) -> Reading:
    """Return the first reading if the flag is not 0, else the second."""
    if isinstance(flag, int) or first == second:
        return first if flag else second
    if isinstance(first, Part) and isinstance(second, Part):
        same = first.array == second.array
        array = first.array if same else p.select(flag, first.array, second.array)
        offsets = zip(first.offsets, second.offsets, strict=True)
        return Part(array, tuple(_choose(p, flag, a, b) for a, b in offsets))
    assert isinstance(first, Parts) and isinstance(second, Parts) and first.axis == second.axis
    pairs = zip(first.ends, second.ends, strict=True)
    ends = tuple(a if a == b else Place(_choose(p, flag, a.at, b.at)) for a, b in pairs)
    parts = zip(first.parts, second.parts, strict=True)
    return Parts(first.axis, ends, tuple(_select(p, flag, a, b) for a, b in parts))


# --- places; what is certain is decided at once


def _sorted(p: Planner, ends: Sequence[Place], extent: Place) -> list[Place]:
    """Return distinct positions in order, none at the ends of the loop for certain or beyond them."""
    found: list[Place] = []
    for end in dict.fromkeys(ends):
        if _is_at_most(end, Place(0, 0)) or _is_at_most(extent, end) or end in found:
            continue
        rest = _extreme(p, "minimum", _extreme(p, "maximum", end, Place(0, 0)), extent)
        for place, other in enumerate(found):
            found[place], rest = _extreme(p, "minimum", other, rest), _extreme(p, "maximum", other, rest)
        if rest not in found:
            found.append(rest)
    return found


def _is_at_most(a: Place, b: Place) -> bool:
    """Whether a <= b for certain."""
    return a.at == b.at or (a.known is not None and b.known is not None and at_most(a.known, b.known))


def _plus(p: Planner, a: Place, b: Place) -> Place:
    known = None if a.known is None or b.known is None else total(a.known, b.known)
    return Place(p.sum((a.at, b.at)), known)


def _extreme(p: Planner, kind: str, a: Place, b: Place) -> Place:
    """Return the "minimum" or the "maximum" of two positions."""
    if _is_at_most(a, b):
        return a if kind == "minimum" else b
    if _is_at_most(b, a):
        return b if kind == "minimum" else a
    known = None if a.known is None or b.known is None else _EXTREMES[kind](a.known, b.known)
    return Place(p.let(kind, a.at, b.at), known)


_EXTREMES = {"minimum": lesser, "maximum": greater}


def _choose(p: Planner, flag: Quantity, a: Quantity, b: Quantity) -> Quantity:
    return a if a == b else p.let("choose", flag, a, b)


def _is_before(p: Planner, a: Place, b: Place) -> Quantity:
    """Return 1 if a < b, else 0."""
    if _is_at_most(b, a):
        return 0
    if a.known is not None and b.known is not None and at_most(dims.add(a.known, 1), b.known):
        return 1
    return p.let("differ", p.let("minimum", a.at, b.at), b.at)
