"""Apply a schedule to lowered loops: tiling, unroll-and-jam, vectors.

Both leave each element what it was, and each accumulator the order in which elements are added to it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from ..ir import loops as ir
from ..ir.schedule import Schedule
from ..ir.walk import substitute

_Made = ir.Let | ir.Var | ir.Declare | ir.ElementPointer


def arranged(body: ir.Body, order: Sequence[int], schedule: Schedule) -> ir.Body:
    """Return a nest over loops in this order with its schedule applied; loops that are tiled already stay so."""
    body = in_tiles(body, [(loop, size) for loop, size in schedule.tiles if _runs_whole(body, f"i{loop}")])
    return unrolled(body, f"i{order[-2]}", schedule.unroll) if schedule.unroll > 1 else body


def _runs_whole(body: ir.Body, name: str) -> bool:
    """Whether a loop with this index begins at 0."""
    return any(
        (isinstance(s, ir.For) and ((s.index == name and s.start == ir.ZERO) or _runs_whole(s.body, name)))
        or (isinstance(s, ir.If) and (_runs_whole(s.body, name) or _runs_whole(s.orelse, name)))
        for s in body
    )


def in_tiles(body: ir.Body, tiles: Iterable[tuple[int, int]]) -> ir.Body:
    """Return the nest with some of its loops tiled.

    for (i0) for (i1) s;
    -->
    for (tile0 = 0; tile0 < n0; tile0 += 32) { for (i0 from tile0 to tile0_end) for (i1) s; }
    """
    for loop, size in sorted(tiles, reverse=True):
        begin, end, extent = ir.index(f"tile{loop}"), ir.index(f"tile{loop}_end"), ir.index(f"n{loop}")
        inside = _between(body, f"i{loop}", begin, end)
        bound = ir.Let(end.name, ir.smaller(ir.plus(begin, ir.number(size)), extent))
        body = (ir.For(begin.name, ir.ZERO, extent, (bound, *inside), size),)
    return body


def _between(body: ir.Body, name: str, begin: ir.Expr, end: ir.Expr) -> ir.Body:
    """Return `body` with loops over a whole extent that have this index limited to the range from `begin` to `end`."""
    found: list[ir.Statement] = []
    for s in body:
        if isinstance(s, ir.For):
            s = replace(s, body=_between(s.body, name, begin, end))
            if s.index == name and s.start == ir.ZERO:
                s = replace(s, start=begin, stop=end)
        elif isinstance(s, ir.If):
            s = replace(s, body=_between(s.body, name, begin, end), orelse=_between(s.orelse, name, begin, end))
        found.append(s)
    return tuple(found)


def unrolled(body: ir.Body, name: str, copies: int) -> ir.Body:
    """Return `body` with unroll-and-jam of the loops with this index that contain no other loop with it.

    for (i0) { a(i0); for (i1) b(i0, i1); }
    -->
    for (i0 = 0; i0 < even; i0 += 2) { a(i0); a(i0 + 1); for (i1) { b(i0, i1); b(i0 + 1, i1); } }
    for (i0 = even; i0 < n0; i0++) { a(i0); for (i1) b(i0, i1); }
    """
    found: list[ir.Statement] = []
    for s in body:
        if isinstance(s, ir.If):
            found.append(replace(s, body=unrolled(s.body, name, copies), orelse=unrolled(s.orelse, name, copies)))
        elif isinstance(s, ir.For) and s.index == name:
            steps = s.stop if s.start == ir.ZERO else ir.minus(s.stop, s.start)
            even = ir.plus(s.start, ir.ScalarOp("bitwise_and", "int64", (steps, ir.number(-copies))))
            found += [replace(s, stop=even, step=copies, body=_together(s.body, name, copies)), replace(s, start=even)]
        elif isinstance(s, ir.For):
            found.append(replace(s, body=unrolled(s.body, name, copies)))
        else:
            found.append(s)
    return tuple(found)


def _together(body: ir.Body, name: str, copies: int) -> ir.Body:
    """Return the body for several steps of a loop, with inner loops merged."""
    return side_by_side(body, [{}, *({name: ir.plus(ir.index(name), ir.number(c))} for c in range(1, copies))])


def side_by_side(body: ir.Body, steps: list[dict[str, ir.Expr]]) -> ir.Body:
    """Return the body merged for several steps; each maps some locals to expressions, the first maps none."""
    return _jammed(body, steps, [{} for _ in steps])


def _jammed(body: ir.Body, steps: Sequence[dict[str, ir.Expr]], arrays: Sequence[dict[str, str]]) -> ir.Body:
    """Return the merged body; `steps` and `arrays` map locals and arrays of each copy, and gain those it declares."""
    found: list[ir.Statement] = []
    for s in body:
        if isinstance(s, ir.For):
            inside = _jammed(s.body, steps, arrays)
            sums = tuple(dict.fromkeys((sign, _name(v, step)) for step in steps for sign, v in s.reductions))
            found.append(replace(s, body=inside, reductions=sums))
        elif isinstance(s, ir.If):
            found.append(replace(s, body=_jammed(s.body, steps, arrays), orelse=_jammed(s.orelse, steps, arrays)))
        else:
            found += _copies(s, steps, arrays)
    return tuple(found)


def _copies(
    s: ir.Statement, steps: Sequence[dict[str, ir.Expr]], arrays: Sequence[dict[str, str]]
) -> list[ir.Statement]:
    """Return the statement for each step; a statement that is equal for all steps appears once."""
    found = [s]
    for position, (step, other) in enumerate(zip(steps[1:], arrays[1:], strict=True), start=1):
        copy = _rewritten(s, step, other)
        if isinstance(copy, _Made):
            if copy == s and isinstance(s, (ir.Let, ir.ElementPointer)):
                continue
            assert isinstance(s, _Made)
            name = f"{s.name}_u{position}"
            copy = replace(copy, name=name)
            other[s.name] = name
            if isinstance(s, (ir.Let, ir.Var, ir.Declare)):
                dtype = s.dtype if isinstance(s, ir.Declare) else s.value.dtype
                step[s.name] = ir.Local(dtype, name)
        found.append(copy)
    return found


def _rewritten(s: ir.Statement, step: Mapping[str, ir.Expr], arrays: Mapping[str, str]) -> ir.Statement:
    def seen(expr: ir.Expr) -> ir.Expr:
        return _from(substitute(expr, step), arrays)

    if isinstance(s, ir.Assign):
        return ir.Assign(_name(s.name, step), seen(s.value))
    if isinstance(s, ir.Store):
        return ir.Store(arrays.get(s.array, s.array), seen(s.index), seen(s.value))
    if isinstance(s, ir.ElementPointer):
        if not isinstance(s.array, str):  # a call, which makes one
            array = seen(s.array)
            assert isinstance(array, ir.ScalarOp)
            return replace(s, array=array, offset=seen(s.offset))
        return replace(s, array=arrays.get(s.array, s.array), offset=seen(s.offset))
    if isinstance(s, (ir.Let, ir.Var, ir.Do)):
        return replace(s, value=seen(s.value))
    return s


def _from(expr: ir.Expr, arrays: Mapping[str, str]) -> ir.Expr:
    if isinstance(expr, ir.Load):
        return replace(expr, array=arrays.get(expr.array, expr.array), index=_from(expr.index, arrays))
    if isinstance(expr, ir.Local):  # a pointer that a helper is given
        return replace(expr, name=arrays.get(expr.name, expr.name))
    return replace(expr, args=tuple(_from(a, arrays) for a in expr.args)) if isinstance(expr, ir.ScalarOp) else expr


def _name(name: str, step: Mapping[str, ir.Expr]) -> str:
    found = step.get(name)
    return found.name if isinstance(found, ir.Local) else name


def in_vectors(body: ir.Body, numbers: int | None) -> ir.Body:
    """Return `body` with vector loops of this vector length; 1: none; None: unchanged."""
    if numbers is None:
        return body
    found: list[ir.Statement] = []
    for s in body:
        if isinstance(s, ir.For):
            s = replace(s, body=in_vectors(s.body, numbers))
            if s.simd:
                s = replace(s, simd=False, reductions=()) if numbers == 1 else replace(s, lanes=numbers)
        elif isinstance(s, ir.If):
            s = replace(s, body=in_vectors(s.body, numbers), orelse=in_vectors(s.orelse, numbers))
        elif isinstance(s, ir.Outlined):
            s = replace(s, body=in_vectors(s.body, numbers))
        found.append(s)
    return tuple(found)
