"""Ops that move no data: each is a new array over the memory of its input; lengths are values."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ....graph import Apply, Constant, Variable
from ....ops.control.composed import After
from ....ops.lowered.assumed import AssumeEqual, CheckAssumed
from ....ops.lowered.fused import unmarked
from ....ops.shapes.conditions import Check
from ....ops.shapes.indexing import Subtensor
from ....ops.shapes.lengths import MakeVector, Shape, ShapeI
from ....ops.shapes.shape import BroadcastTo, DimShuffle, Reshape
from ....ops.shapes.sliding import Strided
from ....ops.shapes.specify import CheckLengths, MaskedShape, SpecifyShape
from ..outcome import Outcome
from ..planner import Planner
from ..program import Array, Lengths, Quantity


def plan_dimshuffle(p: Planner, node: Apply) -> None:
    """Plan lengths and strides in another order; a dropped axis must have length 1."""
    order: tuple[int | str, ...] = node.op.order  # type: ignore[attr-defined]
    x = p.arrays[node.inputs[0]]
    for axis, length in enumerate(x.lengths):
        if axis not in order:
            p.guard("equal", length, 1, failure=Outcome.LENGTHS, axis=axis)
    lengths = tuple(x.lengths[o] if isinstance(o, int) else 1 for o in order)
    strides = tuple(x.strides[o] if isinstance(o, int) else 0 for o in order)
    kept = [o for o in order if isinstance(o, int)]
    p.keep_promises(node.out, lengths)
    p.put(node.out, p.view(x, lengths, strides, dense=x.dense and kept == sorted(kept)))


def plan_reshape(p: Planner, node: Apply) -> None:
    """Plan the same elements with other lengths; an array that is not C-contiguous is copied first."""
    x = p.arrays[node.inputs[0]]
    lengths = p.lengths(node.inputs[1:])
    p.guard("equal", p.product(x.lengths), p.product(lengths), failure=Outcome.RESHAPE)
    p.keep_promises(node.out, lengths)
    p.put(node.out, p.view(p.packed(x), lengths, p.strides(lengths), dense=True))


def plan_broadcast_to(p: Planner, node: Apply) -> None:
    """Plan axes of length 1 as broadcast by a stride of 0."""
    x = p.arrays[node.inputs[0]]
    lengths = p.lengths(node.inputs[1:])
    p.keep_promises(node.out, lengths)
    p.put(node.out, broadcast(p, x, lengths))


def broadcast(p: Planner, x: Array, lengths: Lengths) -> Array:
    """Return `x` broadcast to `lengths` as a view.  Fails where it does not fit."""
    added = len(lengths) - len(x.lengths)
    strides: list[Quantity] = [0] * added
    for axis, (have, want, stride) in enumerate(zip(x.lengths, lengths[added:], x.strides, strict=True), start=added):
        if have not in (1, want):
            p.guard("fits", have, want, failure=Outcome.LENGTHS, axis=axis)
        strides.append(p.along(have, want, stride))
    return p.view(x, lengths, tuple(strides), dense=x.dense and x.lengths == lengths)


def plan_strided(p: Planner, node: Apply) -> None:
    """Plan axes that all step along the last axis of the operand."""
    x, numbers = p.arrays[node.inputs[0]], p.lengths(node.inputs[1:])
    lengths, steps = numbers[: len(numbers) // 2], numbers[len(numbers) // 2 :]
    needed = p.sum((1, *(p.product((p.sum((n, -1)), s)) for n, s in zip(lengths, steps, strict=True))))
    size = p.product(lengths)
    needed = needed if isinstance(size, int) and size else p.product((p.let("minimum", size, 1), needed))
    p.guard("reaches", x.lengths[-1], needed, failure=Outcome.PROMISED)
    p.keep_promises(node.out, (*x.lengths[:-1], *lengths))
    strides = (*x.strides[:-1], *(p.product((s, x.strides[-1])) for s in steps))
    p.put(node.out, p.view(x, (*x.lengths[:-1], *lengths), strides))


def plan_specify_shape(p: Planner, node: Apply) -> None:
    """Plan the array itself after a check of the promised lengths."""
    x = p.arrays[node.inputs[0]]
    lengths: list[Quantity] = []
    for axis, (have, wanted) in enumerate(zip(x.lengths, node.inputs[1:], strict=True)):
        want = _promised(p, wanted)
        p.guard("equal", have, want, failure=Outcome.PROMISED, axis=axis)
        lengths.append(1 if want == 1 else have)
    p.keep_promises(node.out, tuple(lengths))
    p.put(node.out, p.view(x, tuple(lengths), x.strides, dense=x.dense))


def plan_check_lengths(p: Planner, node: Apply) -> None:
    """Plan the array itself after a check that all pairs of lengths are equal."""
    x, *lengths = node.inputs
    for pair, (have, want) in enumerate(zip(lengths[::2], lengths[1::2], strict=True)):
        p.guard("equal", p.read(have), _promised(p, want), failure=Outcome.PROMISED, axis=pair)
    found = p.arrays[x]
    p.put(node.out, p.view(found, found.lengths, found.strides, dense=found.dense))


def plan_assume_equal(p: Planner, node: Apply) -> None:
    """Plan the arrays themselves, with the lengths that they are taken to have, after a check of these."""
    op: AssumeEqual = node.op  # type: ignore[assignment]
    tensors, wanted = op.parts(node.inputs)
    known = [list(p.arrays[x].lengths) for x in tensors]
    for place, ((number, axis), length) in enumerate(zip(op.axes, wanted, strict=True)):
        want = _promised(p, length)
        p.guard("equal", known[number][axis], want, failure=Outcome.PROMISED, axis=place)
        known[number][axis] = want
    for x, output, lengths in zip(tensors, node.outputs, known, strict=True):
        found = p.arrays[x]
        p.put(output, p.view(found, tuple(lengths), found.strides, dense=found.dense))


def plan_check(p: Planner, node: Apply) -> None:
    """Plan the array itself after the check of the condition; the numbers of the message are noted as 64 bits."""
    x, ok, *got = node.inputs
    noted = [p.load(replace(p.arrays[number], dtype="int64")) for number in got]
    p.guard("holds", p.read(ok), *noted, failure=Outcome.REFUSED)
    found = p.arrays[x]
    p.put(node.out, p.view(found, found.lengths, found.strides, dense=found.dense))


def plan_first(p: Planner, node: Apply) -> None:
    """Plan the first operand itself."""
    found = p.arrays[node.inputs[0]]
    p.put(node.out, p.view(found, found.lengths, found.strides, dense=found.dense))


def _promised(p: Planner, length: Variable) -> Quantity:
    """Return the value of a length; a number if it is certainly 1."""
    return 1 if isinstance(length, Constant) and length.data == 1 else p.read(length)


def plan_subtensor(p: Planner, node: Apply) -> None:
    p.put(node.out, window(p, p.arrays[node.inputs[0]], node, node.inputs[1:]))
    p.keep_promises(node.out, p.arrays[node.out].lengths)


def window(p: Planner, x: Array, node: Apply, scalars: Any) -> Array:
    """Return `x` under the basic parts of the spec of `node`; axes indexed by arrays ("a") are kept whole."""
    firsts, lengths, strides = sliced(p, x, node, scalars)
    offset = p.sum(p.product(pair) for pair in zip(firsts, x.strides, strict=True))
    return p.view(x, lengths, strides, offset, dense=x.dense and _keeps_dense(unmarked(node.op).spec))


def sliced(p: Planner, x: Array, node: Apply, scalars: Any) -> tuple[Lengths, Lengths, Lengths]:
    """Return where the part of `x` under the spec of `node` begins on each axis; its lengths and strides."""
    values = iter(scalars)
    lengths: list[Quantity] = []
    strides: list[Quantity] = []
    firsts: list[Quantity] = []
    spec: tuple[str, ...] = unmarked(node.op).spec
    for axis, (length, stride) in enumerate(zip(x.lengths, x.strides, strict=True)):
        entry = spec[axis] if axis < len(spec) else "s000"
        if entry == "i":
            place = p.let("index", p.read(next(values)), length, failure=Outcome.INDEX, axis=axis)
            firsts.append(place)
        elif entry == "a":
            next(values)
            firsts.append(0)
            lengths.append(length)
            strides.append(stride)
        else:
            start, stop, step = (p.read(next(values)) if flag == "1" else None for flag in entry[1:])
            first, count, step = slice_of(p, length, start, stop, step, axis)
            firsts.append(first)
            lengths.append(count)
            strides.append(p.product((step, stride)))
    return tuple(firsts), tuple(lengths), tuple(strides)


def _keeps_dense(spec: tuple[str, ...]) -> bool:
    """Whether the part of a C-contiguous array is C-contiguous.

    It is for integers first, then one slice without step, then whole axes.
    """
    rest = [entry for k, entry in enumerate(spec) if any(e != "i" for e in spec[: k + 1])]
    return not rest or (rest[0][0] == "s" and rest[0][3] == "0" and all(entry in ("s000", "a") for entry in rest[1:]))


def slice_of(
    p: Planner, length: Quantity, start: Quantity | None, stop: Quantity | None, step: Quantity | None, axis: int
) -> tuple[Quantity, Quantity, Quantity]:
    """Return (first, count, step) of `start:stop:step` along an axis, by Python's rules.  A step of 0 fails."""
    if start is None and stop is None and step is None:
        return 0, length, 1
    given = (start is not None) + 2 * (stop is not None)
    bounds = (length, given, start or 0, stop or 0, 1 if step is None else step)
    count = p.let("slice_count", *bounds, failure=Outcome.ZERO_STEP, axis=axis)
    return p.let("slice_first", *bounds), count, bounds[-1]


# --- lengths as values


def plan_shape(p: Planner, node: Apply) -> None:
    p.put(node.out, p.fill(p.arrays[node.inputs[0]].lengths))


def plan_shape_i(p: Planner, node: Apply) -> None:
    length = p.arrays[node.inputs[0]].lengths[node.op.axis]  # type: ignore[attr-defined]
    vector = p.fill((length,))
    p.put(node.out, p.view(vector, (), (), dense=True))
    p.knows(node.out, length)


def plan_make_vector(p: Planner, node: Apply) -> None:
    vector = p.on_stack(node.out.dtype, (len(node.inputs),))
    p.put(node.out, vector)
    for k, i in enumerate(node.inputs):
        p.copy(p.view(vector, (), (), offset=k), p.arrays[i])


PLANNERS = {
    DimShuffle: plan_dimshuffle,
    Reshape: plan_reshape,
    BroadcastTo: plan_broadcast_to,
    Strided: plan_strided,
    Subtensor: plan_subtensor,
    After: plan_first,
    SpecifyShape: plan_specify_shape,
    MaskedShape: plan_specify_shape,
    CheckLengths: plan_check_lengths,
    AssumeEqual: plan_assume_equal,
    CheckAssumed: plan_check_lengths,
    Check: plan_check,
    Shape: plan_shape,
    ShapeI: plan_shape_i,
    MakeVector: plan_make_vector,
}
