"""Apply a schedule to lowered loops: tiling, unroll-and-jam, vectors.

Both leave each element what it was, and each accumulator the order in which elements are added to it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from ..ir.loops import (
    ZERO,
    Assign,
    Body,
    Declare,
    Do,
    ElementPointer,
    Expr,
    For,
    If,
    Let,
    Load,
    Local,
    Outlined,
    ScalarOp,
    Statement,
    Store,
    Var,
    index,
    minus,
    number,
    plus,
    smaller,
)
from ..ir.schedule import Schedule
from ..ir.walk import substitute

_Made = Let | Var | Declare | ElementPointer


def arranged(body: Body, order: Sequence[int], schedule: Schedule) -> Body:
    """Return a nest over loops in this order with its schedule applied; loops that are tiled already stay so."""
    body = in_tiles(body, [(loop, size) for loop, size in schedule.tiles if _runs_whole(body, f"i{loop}")])
    return unrolled(body, f"i{order[-2]}", schedule.unroll) if schedule.unroll > 1 else body


def _runs_whole(body: Body, name: str) -> bool:
    """Whether a loop with this index begins at 0."""
    return any(
        (isinstance(s, For) and ((s.index == name and s.start == ZERO) or _runs_whole(s.body, name)))
        or (isinstance(s, If) and (_runs_whole(s.body, name) or _runs_whole(s.orelse, name)))
        for s in body
    )


def in_tiles(body: Body, tiles: Iterable[tuple[int, int]]) -> Body:
    """Return the nest with some of its loops tiled.

    for (i0) for (i1) s;
    -->
    for (tile0 = 0; tile0 < n0; tile0 += 32) { for (i0 from tile0 to tile0_end) for (i1) s; }
    """
    for loop, size in sorted(tiles, reverse=True):
        begin, end, extent = index(f"tile{loop}"), index(f"tile{loop}_end"), index(f"n{loop}")
        inside = _between(body, f"i{loop}", begin, end)
        bound = Let(end.name, smaller(plus(begin, number(size)), extent))
        body = (For(begin.name, ZERO, extent, (bound, *inside), size),)
    return body


def _between(body: Body, name: str, begin: Expr, end: Expr) -> Body:
    """Return `body` with loops over a whole extent that have this index limited to the range from `begin` to `end`."""
    found: list[Statement] = []
    for s in body:
        if isinstance(s, For):
            s = replace(s, body=_between(s.body, name, begin, end))
            if s.index == name and s.start == ZERO:
                s = replace(s, start=begin, stop=end)
        elif isinstance(s, If):
            s = replace(s, body=_between(s.body, name, begin, end), orelse=_between(s.orelse, name, begin, end))
        found.append(s)
    return tuple(found)


def unrolled(body: Body, name: str, copies: int) -> Body:
    """Return `body` with unroll-and-jam of the loops with this index that contain no other loop with it.

    for (i0) { a(i0); for (i1) b(i0, i1); }
    -->
    for (i0 = 0; i0 < even; i0 += 2) { a(i0); a(i0 + 1); for (i1) { b(i0, i1); b(i0 + 1, i1); } }
    for (i0 = even; i0 < n0; i0++) { a(i0); for (i1) b(i0, i1); }
    """
    found: list[Statement] = []
    for s in body:
        if isinstance(s, If):
            found.append(replace(s, body=unrolled(s.body, name, copies), orelse=unrolled(s.orelse, name, copies)))
        elif isinstance(s, For) and s.index == name:
            steps = s.stop if s.start == ZERO else minus(s.stop, s.start)
            even = plus(s.start, ScalarOp("bitwise_and", "int64", (steps, number(-copies))))
            found += [replace(s, stop=even, step=copies, body=_together(s.body, name, copies)), replace(s, start=even)]
        elif isinstance(s, For):
            found.append(replace(s, body=unrolled(s.body, name, copies)))
        else:
            found.append(s)
    return tuple(found)


def _together(body: Body, name: str, copies: int) -> Body:
    """Return the body for several steps of a loop, with inner loops merged."""
    return side_by_side(body, [{}, *({name: plus(index(name), number(c))} for c in range(1, copies))])


def side_by_side(body: Body, steps: list[dict[str, Expr]]) -> Body:
    """Return the body merged for several steps; each maps some locals to expressions, the first maps none."""
    return _jammed(body, steps, [{} for _ in steps])


def _jammed(body: Body, steps: Sequence[dict[str, Expr]], arrays: Sequence[dict[str, str]]) -> Body:
    """Return the merged body; `steps` and `arrays` map locals and arrays of each copy, and gain those it declares."""
    found: list[Statement] = []
    for s in body:
        if isinstance(s, For):
            inside = _jammed(s.body, steps, arrays)
            sums = tuple(dict.fromkeys((sign, _name(v, step)) for step in steps for sign, v in s.reductions))
            found.append(replace(s, body=inside, reductions=sums))
        elif isinstance(s, If):
            found.append(replace(s, body=_jammed(s.body, steps, arrays), orelse=_jammed(s.orelse, steps, arrays)))
        else:
            found += _copies(s, steps, arrays)
    return tuple(found)


def _copies(s: Statement, steps: Sequence[dict[str, Expr]], arrays: Sequence[dict[str, str]]) -> list[Statement]:
    """Return the statement for each step; a statement that is equal for all steps appears once."""
    found = [s]
    for position, (step, other) in enumerate(zip(steps[1:], arrays[1:], strict=True), start=1):
        copy = _rewritten(s, step, other)
        if isinstance(copy, _Made):
            if copy == s and isinstance(s, (Let, ElementPointer)):
                continue
            assert isinstance(s, _Made)
            name = f"{s.name}_u{position}"
            copy = replace(copy, name=name)
            other[s.name] = name
            if isinstance(s, (Let, Var, Declare)):
                dtype = s.dtype if isinstance(s, Declare) else s.value.dtype
                step[s.name] = Local(dtype, name)
        found.append(copy)
    return found


def _rewritten(s: Statement, step: Mapping[str, Expr], arrays: Mapping[str, str]) -> Statement:
    def seen(expr: Expr) -> Expr:
        return _from(substitute(expr, step), arrays)

    if isinstance(s, Assign):
        return Assign(_name(s.name, step), seen(s.value))
    if isinstance(s, Store):
        return Store(arrays.get(s.array, s.array), seen(s.index), seen(s.value))
    if isinstance(s, ElementPointer):
        if not isinstance(s.array, str):  # a call, which makes one
            array = seen(s.array)
            assert isinstance(array, ScalarOp)
            return replace(s, array=array, offset=seen(s.offset))
        return replace(s, array=arrays.get(s.array, s.array), offset=seen(s.offset))
    if isinstance(s, (Let, Var, Do)):
        return replace(s, value=seen(s.value))
    return s


def _from(expr: Expr, arrays: Mapping[str, str]) -> Expr:
    if isinstance(expr, Load):
        return replace(expr, array=arrays.get(expr.array, expr.array), index=_from(expr.index, arrays))
    if isinstance(expr, Local):  # a pointer that a helper is given
        return replace(expr, name=arrays.get(expr.name, expr.name))
    return replace(expr, args=tuple(_from(a, arrays) for a in expr.args)) if isinstance(expr, ScalarOp) else expr


def _name(name: str, step: Mapping[str, Expr]) -> str:
    found = step.get(name)
    return found.name if isinstance(found, Local) else name


def in_vectors(body: Body, numbers: int | None) -> Body:
    """Return `body` with vector loops of this vector length; 1: none; None: unchanged."""
    if numbers is None:
        return body
    found: list[Statement] = []
    for s in body:
        if isinstance(s, For):
            s = replace(s, body=in_vectors(s.body, numbers))
            if s.simd:
                s = replace(s, simd=False, reductions=()) if numbers == 1 else replace(s, lanes=numbers)
        elif isinstance(s, If):
            s = replace(s, body=in_vectors(s.body, numbers), orelse=in_vectors(s.orelse, numbers))
        elif isinstance(s, Outlined):
            s = replace(s, body=in_vectors(s.body, numbers))
        found.append(s)
    return tuple(found)
