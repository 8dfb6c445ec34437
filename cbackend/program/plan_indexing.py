"""Reading and writing parts of arrays: basic parts are views, integer arrays become kernels that gather or scatter.

A gather is a nest over the axes of the result.  As soon as the loops that an index array moves along are open, the
index is read, checked and turned into an address; the loops inside run on plain pointers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from ...graph import Apply, TensorType, Variable
from ...graph.types import numpy_dtype
from ...ops.advanced_indexing import joint_position
from ...ops.elementwise import add, logical_or
from ...ops.fused import unmarked
from ...ops.tensor import TensorVariable
from ...record import record
from ..ctext.helper import storage_type
from ..ctext.preamble import used
from ..ir.kernel import Argument as Part
from ..ir.kernel import Cutting, Extent, Extra, Kernel, Operand, Pointer, Report, Status, Stride, named
from .plan_views import window
from .planner import Planner
from .program import Argument, Array, Lengths, Outcome, Said


def plan_inc_subtensor(p: Planner, node: Apply) -> None:
    """`x` (copied unless it may be overwritten) with a view of it set or added to."""
    value = p.arrays[node.inputs[1]]
    part = window(p, p.modifiable(node, 0), node, node.inputs[2:])
    fits(p, value, part.lengths)
    if unmarked(node.op).set:
        p.copy(part, value)
        return
    operands = [TensorVariable(TensorType(part.dtype, (None,) * len(a.lengths))) for a in (part, value)]
    plus = logical_or if part.dtype == "bool" else add
    kernel = p.kernel(plus(*operands).owner, ((0, 0),))
    p.launch(kernel, part.lengths, (part,), tuple((part, value)[o.source] for o in kernel.inputs))


def fits(p: Planner, value: Array, lengths: Lengths) -> None:
    """Make sure that `value` broadcasts to `lengths`."""
    added = len(lengths) - len(value.lengths)
    for axis, (have, want) in enumerate(zip(value.lengths, lengths[added:], strict=True), start=added):
        if have not in (1, want):
            p.guard("fits", have, want, failure=Outcome.LENGTHS, axis=axis)


def plan_gather(p: Planner, node: Apply) -> None:
    access = _access(p, p.arrays[node.inputs[0]], node, node.inputs[1:])
    result = p.result(node.out, access.extents)
    _launch(p, access, "gather", result.dtype, result, writes=result, reads=access.x)


def gather_kernel(
    p: Planner, node: Apply, result: Callable[[Lengths], Array]
) -> tuple[Kernel, Lengths, Sequence[Argument]]:
    """The kernel that gathers into an array, made by `result` of its lengths, with the extents and all arguments."""
    access = _access(p, p.arrays[node.inputs[0]], node, node.inputs[1:])
    kernel, arguments = _called(p, access, "gather", node.out.dtype, result(access.extents))
    return kernel, access.extents, arguments


def plan_scatter(p: Planner, node: Apply) -> None:
    value = p.arrays[node.inputs[1]]
    access = _access(p, p.modifiable(node, 0), node, node.inputs[2:])
    fits(p, value, access.extents)
    how = "set" if unmarked(node.op).set else "add"
    _launch(p, access, how, value.dtype, value, writes=access.x, reads=value)


# --- what is accessed


@record
class _Access:
    """Part of an array `x` under a nest of loops.  Each axis of `x` follows a loop, or an index array by its number."""

    x: Array
    follows: tuple[tuple[str, int], ...]  # for each axis of x: ("loop", l) or ("array", k)
    arrays: tuple[Array, ...]
    array_loops: tuple[tuple[int, ...], ...]  # for each index array the loops that its axes follow
    array_axes: tuple[int, ...]  # for each index array the axis of the whole array, for messages
    extents: Lengths


def _access(p: Planner, whole: Array, node: Apply, indices: Sequence[Variable]) -> _Access:
    spec: tuple[str, ...] = unmarked(node.op).spec
    x = window(p, whole, node, indices)
    arrays = tuple(p.arrays[i] for i in _index_arrays(spec, indices))
    joint_rank = max(len(a.lengths) for a in arrays)
    joint = tuple(
        p.join([a.lengths[k - joint_rank] for a in arrays if len(a.lengths) >= joint_rank - k], k)
        for k in range(joint_rank)
    )
    kept = [entry for entry in spec if entry != "i"] + ["s000"] * (len(whole.lengths) - len(spec))
    before = joint_position(spec)
    numbers = iter(range(len(arrays)))
    sliced = [n for n, entry in zip(x.lengths, kept, strict=True) if entry != "a"]
    extents = [*sliced[:before], *joint, *sliced[before:]]
    loops = iter([*range(before), *range(before + joint_rank, len(extents))])
    follows = [("array", next(numbers)) if entry == "a" else ("loop", next(loops)) for entry in kept]
    array_loops = tuple(tuple(range(before + joint_rank - len(a.lengths), before + joint_rank)) for a in arrays)
    axes = tuple(axis for axis, entry in enumerate(spec) if entry == "a")
    return _Access(x, tuple(follows), arrays, array_loops, axes, tuple(extents))


def _index_arrays(spec: tuple[str, ...], indices: Sequence[Variable]) -> Iterator[Variable]:
    values = iter(indices)
    for entry in spec:
        taken = [next(values) for _ in range(entry[1:].count("1") if entry[0] == "s" else 1)]
        if entry == "a":
            yield taken[0]


# --- the kernel


def _launch(p: Planner, access: _Access, how: str, dtype: str, other: Array, writes: Array, reads: Array) -> None:
    """Run the nest between `access.x` and `other`, which has the shape of the nest or broadcasts to it."""
    kernel, arguments = _called(p, access, how, dtype, other)
    p.kernels.setdefault(kernel.name, kernel)
    p.call(kernel.name, arguments, (writes,), (reads, *access.arrays), fallible=True, kernel=True)


def _called(p: Planner, access: _Access, how: str, dtype: str, other: Array) -> tuple[Kernel, list[Argument]]:
    rank, added = len(access.extents), len(access.extents) - len(other.lengths)
    kernel = _kernel(how, dtype, access, tuple(range(added, rank)))
    arguments: list[Argument] = [*access.extents, other]
    arguments += [
        p.along(n, access.extents[added + k], s)
        for k, (n, s) in enumerate(zip(other.lengths, other.strides, strict=True))
    ]
    arguments.append(access.x)
    arguments += [s for s, (kind, _) in zip(access.x.strides, access.follows, strict=True) if kind == "loop"]
    followed = {k: axis for axis, (kind, k) in enumerate(access.follows) if kind == "array"}
    for k, (array, loops) in enumerate(zip(access.arrays, access.array_loops, strict=True)):
        arguments += [access.x.lengths[followed[k]], access.x.strides[followed[k]], array]
        arguments += [
            p.along(n, access.extents[loop], s) for n, s, loop in zip(array.lengths, array.strides, loops, strict=True)
        ]
    return kernel, [*arguments, Said()]


_PICOSECONDS_A_BYTE, _PICOSECONDS_A_JUMP = 40, 1200
"""What a gather or a scatter is estimated at: bytes read and written, and a place in memory that nobody foresaw."""
_MOVED_AS = {1: "u8", 2: "u16", 4: "u32", 8: "u64", 16: "c128"}
_ADD = {
    "bool": "{0} = {0} || {1};",
    "float16": "{0} = ag_f16_from_f32(ag_f32_from_f16({0}) + ag_f32_from_f16({1}));",
}


def _kernel(how: str, dtype: str, access: _Access, y_loops: tuple[int, ...]) -> Kernel:
    """The C function: `how` is "gather" (y from x), "set" or "add" (y into x)."""
    moved = storage_type(dtype) if how == "add" else _MOVED_AS[numpy_dtype(dtype).itemsize]
    x_loops = tuple(loop for kind, loop in access.follows if kind == "loop")
    form = {"gather": "{1} = {0};", "set": "{0} = {1};", "add": _ADD.get(dtype, "{0} += {1};")}[how]
    head = ", ".join(_parameters(how, moved, access, y_loops, x_loops))
    body = "\n".join(_nest(access, x_loops, y_loops, form))
    code = f"static i32 k_({head})\n{{\n{body}\n    return 0;\n}}\n"
    name, text = named(f"/* {how} */\n{code}")
    whole = Kernel(name, text, used(code), len(access.extents), (), (), True)
    return _in_parts(whole, how, access, dtype, y_loops, x_loops)


def _in_parts(
    kernel: Kernel, how: str, access: _Access, dtype: str, y_loops: tuple[int, ...], x_loops: tuple[int, ...]
) -> Kernel:
    """The kernel with what a launch must know.

    Any part of the result of a gather may be computed alone.  A scatter may meet an element of `x` again along the
    loops of the index arrays: they are not shared out among threads, and their parts run in turn.
    """
    loops = tuple(range(kernel.rank))
    x, y = Operand(dtype, x_loops, 0), Operand(dtype, y_loops, 0)
    written, read, of_x, of_y = (y, x, 1, 0) if how == "gather" else (x, y, 0, 1)
    arrays = tuple(Operand("int64", loops, 1 + k) for k, loops in enumerate(access.array_loops))
    signature: list[Part] = [*map(Extent, loops), *_along(of_y, y_loops), *_along(of_x, x_loops)]
    for k, along in enumerate(access.array_loops):
        signature += [Extra(2 * k), Extra(2 * k + 1), *_along(2 + k, along)]
    in_rows = kernel.rank > 0 and x_loops[-1:] == loops[-1:]
    cost = numpy_dtype(dtype).itemsize * _PICOSECONDS_A_BYTE + (0 if in_rows else _PICOSECONDS_A_JUMP)
    cutting = Cutting(written.loops, (), (None,), cost, in_turn=how != "gather")
    return replace(
        kernel, outputs=(written,), inputs=(read, *arrays), cutting=cutting, signature=(*signature, Report())
    )


def _along(operand: int, loops: Sequence[int]) -> Iterator[Part]:
    yield Pointer(operand)
    yield from (Stride(operand, loop) for loop in loops)


def _parameters(how: str, moved: str, access: _Access, y_loops: Sequence[int], x_loops: Sequence[int]) -> Iterator[str]:
    yield from (f"i64 n{loop}" for loop in range(len(access.extents)))
    yield f"{moved} *restrict y" if how == "gather" else f"const {moved} *y"
    yield from (f"i64 y_s{loop}" for loop in y_loops)
    yield f"const {moved} *x" if how == "gather" else f"{moved} *x"
    yield from (f"i64 x_s{loop}" for loop in x_loops)
    for k, loops in enumerate(access.array_loops):
        yield from (f"i64 m{k}", f"i64 x_m{k}", f"const i64 *a{k}")
        yield from (f"i64 a{k}_s{loop}" for loop in loops)
    yield "i64 *said"


def _nest(access: _Access, x_loops: tuple[int, ...], y_loops: tuple[int, ...], form: str) -> Iterator[str]:
    """The loops.  An index is read where its last loop is open; an inner loop over whole rows has a form for contiguous
    ones.
    """
    rank = len(access.extents)
    indices = [f"j{k} * x_m{k}" for k in range(len(access.arrays))]
    rows = rank > 0 and rank - 1 in x_loops and rank - 1 in y_loops

    def statement(unit: int | None = None) -> str:
        x = " + ".join([*indices, *(_term("x", loop, unit) for loop in x_loops)])
        y = " + ".join(_term("y", loop, unit) for loop in y_loops)
        return form.format(f"x[{x}]", f"y[{y or '0'}]")

    yield from _indices(access, -1)
    for loop in range(rank - rows):
        yield "    " * (loop + 1) + _for(loop)
        yield from _indices(access, loop)
    pad = "    " * (rank - rows + 1)
    if rows:
        yield f"{pad}if (x_s{rank - 1} == 1 && y_s{rank - 1} == 1)"
        yield f"{pad}    {_for(rank - 1)} {statement(rank - 1)} }}"
        yield f"{pad}else"
        yield f"{pad}    {_for(rank - 1)} {statement()} }}"
    else:
        yield pad + statement()
    yield from ("    " * (loop + 1) + "}" for loop in reversed(range(rank - rows)))


def _for(loop: int) -> str:
    return f"for (i64 i{loop} = 0; i{loop} < n{loop}; i{loop}++) {{"


def _term(name: str, loop: int, unit: int | None) -> str:
    return f"i{loop}" if loop == unit else f"i{loop} * {name}_s{loop}"


def _indices(access: _Access, opened: int) -> Iterator[str]:
    """The indices whose last loop is `opened` (-1: none), checked and counted from the front."""
    pad = "    " * (opened + 2)
    for k, loops in enumerate(access.array_loops):
        if (loops[-1] if loops else -1) != opened:
            continue
        place = " + ".join(_term(f"a{k}", loop, None) for loop in loops) or "0"
        yield f"{pad}i64 j{k} = a{k}[{place}];"
        yield f"{pad}if (j{k} < -m{k} || j{k} >= m{k}) {{"
        yield f"{pad}    said[0] = 3, said[1] = j{k}, said[2] = m{k}, said[3] = {access.array_axes[k]};"
        yield f"{pad}    return {int(Status.INDEX)};"
        yield f"{pad}}}"
        yield f"{pad}j{k} += j{k} < 0 ? m{k} : 0;"
