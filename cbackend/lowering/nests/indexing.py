"""Kernels of gather and scatter: loops over the result of an indexing by integer arrays.

    y[i, j] = x[a[i], j]
    -->
    for i0:  j0 = a[i0], checked and counted from the front
        for i1:  y0[...] = x0[j0 * x0_m0 + ...]

As soon as the loops that an index array follows are open, the index is read, checked and converted to a position: one
comparison of unsigned numbers if it counts from the front.  The inner loop has a form for contiguous operands.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from ....graph.types import numpy_dtype
from ....record import record
from ....targets.current import current
from ...ir import loops as ir
from ...ir.kernel import Kernel, Status
from ...ir.loops import loop, number
from ...ir.operands import Argument, Extent, Extra, Operand, Pointer, Report, Splits, Stride, operand_name, stride_name
from ...ir.walk import substituted
from ..nest import specialized, strides_along

GATHER, SET, ADD = "gather", "set", "add"
STRIP = 1024
"""Indices that are checked together: they stay in the first-level cache until they are used."""
COMBINED = {"add": "either", "mul": "both", "maximum": "either", "minimum": "both"}
"""The scalar operations by which a scatter combines values with elements, each with the one of bools."""
_MOVED_AS = {1: "uint8", 2: "uint16", 4: "uint32", 8: "uint64", 16: "complex128"}
"""Dtype by item size under which elements are moved: dtypes of one size share a kernel."""


@record
class Indexing:
    """The loops of an indexing by integer arrays.

    `follows`: for each axis of the indexed array ("loop", its loop) or ("array", the number of its index array).
    `loops_of`: for each index array the loops that its axes follow; `axes`: for each the axis of the whole array that
    it indexes, for messages.
    """

    rank: int
    follows: tuple[tuple[str, int], ...]
    loops_of: tuple[tuple[int, ...], ...]
    axes: tuple[int, ...]

    @property
    def joint(self) -> tuple[int, ...]:
        """The loops that index arrays follow."""
        return tuple(sorted({loop for own in self.loops_of for loop in own}))

    @property
    def sliced(self) -> tuple[int, ...]:
        """The loops that sliced axes of the indexed array follow."""
        return tuple(number for kind, number in self.follows if kind == "loop")


def indexing_kernel(
    how: str, dtype: str, indexing: Indexing, other: tuple[int, ...], indices: Sequence[str] = (), strips: bool = False
) -> Kernel:
    """Return the kernel of a gather (the result is the output), or of a scatter (the indexed array is).

    `other`: the loops that the axes of the result, or of the value, follow.  `indices`: the dtypes of the index arrays;
    int64 if left out.  The indices are checked: a Status.  `strips`: those of an inner loop are checked many at once.

    Any part of the result of a gather may be computed alone.  A scatter may meet an element again along the loops of
    the index arrays: they are not shared out among threads, and their parts run in turn.
    """
    moved = dtype if how in COMBINED else _MOVED_AS[numpy_dtype(dtype).itemsize]
    indexed, plain = Operand(moved, indexing.sliced, 0), Operand(moved, other, 0)
    output, read = (plain, indexed) if how == GATHER else (indexed, plain)
    indices = tuple(indices) or ("int64",) * len(indexing.loops_of)
    arrays = tuple(
        Operand(of, loops, 1 + k) for k, (of, loops) in enumerate(zip(indices, indexing.loops_of, strict=True))
    )
    target = int(how == GATHER)  # the number of the indexed array among the operands
    signature: list[Argument] = [*map(Extent, range(indexing.rank))]
    signature += [*_along(1 - target, other), *_along(target, indexing.sliced)]
    for k, loops in enumerate(indexing.loops_of):
        signature += [Extra(2 * k, f"m{k}"), Extra(2 * k + 1, f"{operand_name(target, 1)}_m{k}"), *_along(2 + k, loops)]
    in_rows = indexing.rank > 0 and indexing.rank - 1 in indexing.sliced
    cost = current().costs.gathered(numpy_dtype(dtype).itemsize, in_rows)
    return Kernel(
        how,
        indexing.rank,
        (output,),
        (read, *arrays),
        (*_nest(how, moved, indexing, other, indices, strips), ir.Return(ir.Const("int32", int(Status.OK)))),
        fallible=True,
        shared=frozenset() if how == GATHER else frozenset((0,)),
        splits=Splits(output.loops, (), (None,), cost, sequential=how != GATHER),
        signature=(*signature, Report()),
    )


def _along(operand: int, loops: Sequence[int]) -> Iterator[Argument]:
    yield Pointer(operand)
    yield from (Stride(operand, loop) for loop in loops)


def _nest(
    how: str, dtype: str, indexing: Indexing, other: tuple[int, ...], indices: Sequence[str], strips: bool
) -> ir.Body:
    """Return the loops; each begins with the indices that are known there."""
    inside: ir.Body = (_access(how, dtype, indexing, other),)
    last = indexing.rank - 1
    for l in reversed(range(indexing.rank)):
        positions = tuple(_positions(indexing, indices, l))
        general = loop(l, (*positions, *inside), simd=not positions and l == last)
        if l != last or l not in other:
            inside = (general,)
        elif strips and sum(isinstance(s, ir.Var) for s in positions) == 1:
            inside = (_in_strips(general, how, indexing, indices),)
        else:
            inside = (specialized(general),)
    return (*_positions(indexing, indices, -1), *inside)


def _in_strips(general: ir.For, how: str, indexing: Indexing, indices: Sequence[str]) -> ir.Statement:
    """Return the inner loop with a form for contiguous arrays, in strips whose indices are checked first, in vectors.

    A strip without an index that is negative or out of range needs no further check; any other runs the loop as it is.
    """
    kind, number_of_array = indexing.follows[-1]
    steps = [f"{'x0' if how == GATHER else 'y0'}_m{number_of_array}"] if kind == "array" else []
    names = [*sorted(strides_along(general)), *steps]
    unit: Any
    (unit,) = substituted((general,), dict.fromkeys(names, ir.ONE))
    strip, end = ir.index("strip"), ir.index("end")
    part = replace(unit, start=strip, stop=end, simd=False)
    (read,) = (s for s in part.body if isinstance(s, ir.Var))
    k = next(k for k, loops in enumerate(indexing.loops_of) if loops and loops[-1] == indexing.rank - 1)
    began, looks, fails = _looked_through(part, read, ir.index(f"m{k}"), indices[k])
    bare = replace(part, body=tuple(s for s in part.body if not isinstance(s, ir.If)))
    first = ir.Let("end", ir.smaller(ir.plus(strip, number(STRIP)), unit.stop))
    strips = ir.For("strip", unit.start, unit.stop, (first, began, looks, ir.If(fails, (part,), (bare,))), step=STRIP)
    return ir.If(ir.every([ir.equal(ir.index(name), ir.ONE) for name in names]), (strips,), (general,))


def _looked_through(part: ir.For, read: ir.Var, length: ir.Expr, dtype: str) -> tuple[ir.Var, ir.For, ir.Expr]:
    """Return a local, the loop that sets it from the indices of a strip, and whether one of them is not from the front.

    Of narrow numbers without a sign the local is the largest, in their own dtype; of others it is a flag.
    """
    if dtype.startswith("u"):
        most, value = ir.Local(dtype, "most"), read.value
        assert isinstance(value, ir.ScalarOp)
        larger = ir.Assign("most", ir.ScalarOp("maximum", dtype, (most, value.args[0])))
        looks = replace(part, body=(larger,), simd=True, reductions=(("max", "most"),))
        fails = ir.ScalarOp("ge", "bool", (ir.ScalarOp("cast", "int64", (most,)), length))
        return ir.Var("most", ir.Const(dtype, 0)), looks, fails
    outside, position = ir.index("outside"), ir.index(read.name)
    flag = ir.ScalarOp("switch", "int64", (_is_not_from_front(position, length), ir.ONE, ir.ZERO))
    check = ir.Assign("outside", ir.ScalarOp("bitwise_or", "int64", (outside, flag)))
    looks = replace(part, body=(read, check), simd=True, reductions=(("|", "outside"),))
    return ir.Var("outside", ir.ZERO), looks, ir.ScalarOp("ne", "bool", (outside, ir.ZERO))


def _is_not_from_front(position: ir.Expr, length: ir.Expr) -> ir.Expr:
    """Return whether an index is negative or out of range, in one comparison."""
    unsigned = tuple(ir.ScalarOp("cast", "uint64", (x,)) for x in (position, length))
    return ir.ScalarOp("ge", "bool", unsigned)


def _access(how: str, dtype: str, indexing: Indexing, other: tuple[int, ...]) -> ir.Statement:
    """Return the statement of the innermost loop."""
    indexed, plain = ("x0", "y0") if how == GATHER else ("y0", "x0")
    arrays = [ir.times(ir.index(f"j{k}"), ir.index(f"{indexed}_m{k}")) for k in range(len(indexing.loops_of))]
    at = _sum([*arrays, *(_step(indexed, l) for l in indexing.sliced)])
    here = _sum([_step(plain, l) for l in other])
    if how == GATHER:
        return ir.Store(plain, here, ir.Load(dtype, indexed, at))
    value: ir.Expr = ir.Load(dtype, plain, here)
    return ir.Store(indexed, at, value if how == SET else _combined(how, ir.Load(dtype, indexed, at), value))


def _combined(how: str, a: ir.Expr, b: ir.Expr) -> ir.Expr:
    if a.dtype == "bool":
        return ir.ScalarOp(COMBINED[how], "bool", (a, b))
    if a.dtype == "float16":
        wide = ir.ScalarOp(how, "float32", tuple(ir.ScalarOp("cast", "float32", (e,)) for e in (a, b)))
        return ir.ScalarOp("cast", "float16", (wide,))
    return ir.ScalarOp(how, a.dtype, (a, b))


def _sum(terms: Sequence[ir.Expr]) -> ir.Expr:
    total: ir.Expr = ir.ZERO
    for term in terms:
        total = ir.plus(total, term)
    return total


def _step(array: str, l: int) -> ir.Expr:
    return ir.times(ir.index(f"i{l}"), ir.index(stride_name(array, l)))


def _positions(indexing: Indexing, indices: Sequence[str], opened: int) -> Iterator[ir.Statement]:
    """Yield the indices that depend on loop `opened` (-1: on none) as the last one, checked and made non-negative."""
    for k, loops in enumerate(indexing.loops_of):
        if (loops[-1] if loops else -1) != opened:
            continue
        array, position, length = operand_name(2 + k, 1), ir.index(f"j{k}"), ir.index(f"m{k}")
        read: ir.Expr = ir.Load(indices[k], array, _sum([_step(array, l) for l in loops]))
        if indices[k] != "int64":
            read = ir.ScalarOp("cast", "int64", (read,))
        yield ir.Var(position.name, read)
        below = ir.less(position, ir.ScalarOp("neg", "int64", (length,)))
        outside = ir.some((below, ir.ScalarOp("ge", "bool", (position, length))))
        message: tuple[ir.Expr, ...] = (number(3), position, length, number(indexing.axes[k]))
        reported = (ir.Store("detail", number(at), value) for at, value in enumerate(message))
        report: ir.Body = (*reported, ir.Return(ir.Const("int32", int(Status.INDEX))))
        if indices[k].startswith("u"):
            yield ir.If(ir.ScalarOp("ge", "bool", (position, length)), report)
            continue
        counted = ir.Assign(position.name, ir.plus(position, length))
        yield ir.If(_is_not_from_front(position, length), (ir.If(outside, report), counted))
