"""Costly functions of the last elements of a row, which fill no vector, in one overlapping vector.

    for (i = bulk; i < stop; i++) { v = x[i]; w = exp(v); total = total + w; y[i] = w; }
    -->
    if (bulk < stop) {
        first = start < bulk ? stop - 8 : start;
        T w_r[8];
        #pragma omp simd
        for (lane = 0; lane < stop - first; lane++) { i = first + lane; v = x[i]; w = exp(v); w_r[lane] = w; }
        for (i = bulk; i < stop; i++) { v = x[i]; w = w_r[i - first]; total = total + w; y[i] = w; }
    }

The vector also computes elements before `bulk`, whose values nobody reads: `y` may be `x`.  Sums keep their order.  An
element has the same bits in a vector and alone, so nothing else changes.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from ..ir import loops as ir
from ..ir.walk import names_in
from .strips import is_costly_value


def in_one_vector(loop: ir.For, start: ir.Expr, taken: int, lanes: int | None) -> ir.Body:
    """Return the loop over the elements of a remainder, its costly values computed by a vector loop before it.

    Args:
        loop: the remainder; it begins where the last whole step ends.
        start: where the row begins.
        taken: the elements of a step.
        lanes: as of `ir.For`, of the vector loop.
    """
    costly = [s for s in loop.body if isinstance(s, ir.Let) and is_costly_value(s.value)]
    if not costly or not _is_hoistable(before := _needed(loop.body, costly)):
        return (loop,)
    first, lane = ir.index(f"first_{loop.index}"), ir.index("lane")
    kept = {s.name: f"{s.name}_r" for s in costly}
    body: list[ir.Statement] = [ir.Let(loop.index, ir.plus(first, lane))]
    for s in before:
        body.append(s)
        if s.name in kept:
            body.append(ir.Store(kept[s.name], lane, ir.Local(s.value.dtype, s.name)))
    place = ir.minus(ir.index(loop.index), first)
    others = tuple(
        replace(s, value=ir.Load(s.value.dtype, kept[s.name], place)) if isinstance(s, ir.Let) and s.name in kept else s
        for s in loop.body
    )
    overlapping = ir.ScalarOp(
        "switch", "int64", (ir.less(start, loop.start), ir.minus(loop.stop, ir.number(taken)), start)
    )
    statements: ir.Body = (
        ir.Let(first.name, overlapping),
        *(ir.Declare(kept[s.name], s.value.dtype, taken) for s in costly),
        ir.For(lane.name, ir.ZERO, ir.minus(loop.stop, first), tuple(body), simd=True, lanes=lanes),
        replace(loop, body=others),
    )
    return (ir.If(ir.less(loop.start, loop.stop), statements),)


def _needed(body: Iterable[ir.Statement], costly: Iterable[ir.Let]) -> tuple[ir.Let, ...]:
    """Return the values among `body` that the costly ones are made of, with these, in their order."""
    needed = {s.name for s in costly}
    found: list[ir.Let] = []
    for s in reversed([s for s in body if isinstance(s, ir.Let)]):
        if s.name in needed:
            found.append(s)
            needed.update(names_in(s.value))
    return tuple(reversed(found))


def _is_hoistable(values: tuple[ir.Let, ...]) -> bool:
    """Whether the values can be computed before the loop: no position of a load among them is a value itself."""
    names = {s.name for s in values}
    return not any(names.intersection(names_in(load.index)) for s in values for load in _loads(s.value))


def _loads(expr: ir.Expr) -> Iterable[ir.Load]:
    if isinstance(expr, ir.Load):
        yield expr
    for argument in expr.args if isinstance(expr, ir.ScalarOp) else ():
        yield from _loads(argument)
