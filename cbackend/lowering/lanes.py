"""Reductions in vector loops as arrays of accumulators, for compilers that keep the order of floating-point additions.

    #pragma omp simd reduction(+:total)
    for (i) { v = x[i]; total = total + v; }
    -->
    T total_l0[16] = all 0;
    for (at = 0; at < bulk; at += 16)
        #pragma omp simd
        for (lane = 0; lane < 16; lane++) { i = at + lane; v = x[i]; total_l0[lane] = total_l0[lane] + v; }
    for (lane) total = total + total_l0[lane];
    for (i = bulk; ...) { v = x[i]; total = total + v; }

The C backend leaves this to `omp simd`; OpenCL C has no such pragma.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import replace

from ..ir import loops as ir
from ..ir.walk import substituted

LANES = 16
"""Partial sums of a reduction."""
_COMBINED = {"+": "add", "*": "mul", "|": "bitwise_or", "&": "bitwise_and"}
_COMPARED = {"max": "gt", "min": "lt"}
_START = {"+": 0, "*": 1}


def in_lanes(body: Iterable[ir.Statement], numbers: Iterator[int] | None = None) -> ir.Body:
    """Return `body` with its reducing vector loops over arrays of accumulators."""
    counted = itertools.count() if numbers is None else numbers
    return tuple(found for s in body for found in _in_lanes(s, counted))


def _in_lanes(s: ir.Statement, numbers: Iterator[int]) -> Iterator[ir.Statement]:
    if isinstance(s, ir.For):
        if s.simd and s.reductions and _is_plain(s):
            yield from _split(s, next(numbers))
        else:
            yield replace(s, body=in_lanes(s.body, numbers))
    elif isinstance(s, ir.If):
        yield replace(s, body=in_lanes(s.body, numbers), orelse=in_lanes(s.orelse, numbers))
    elif isinstance(s, ir.Outlined):
        yield replace(s, body=in_lanes(s.body, numbers))
    else:
        yield s


def _is_plain(s: ir.For) -> bool:
    """Whether the loop contains only values, stores and accumulators that are combined."""
    names = {name: sign for sign, name in s.reductions}
    known = all(sign in _COMBINED or sign in _COMPARED for sign in names.values())
    allowed = all(
        isinstance(b, (ir.Let, ir.Store, ir.ElementPointer)) or (isinstance(b, ir.Assign) and b.name in names)
        for b in s.body
    )
    return known and allowed and s.step == 1 and set(names) <= {b.name for b in s.body if isinstance(b, ir.Assign)}


def _split(s: ir.For, count: int) -> Iterator[ir.Statement]:
    signs = {name: sign for sign, name in s.reductions}
    dtypes = {b.name: b.value.dtype for b in s.body if isinstance(b, ir.Assign)}
    lane, at, bulk = ir.index("lane"), ir.index(f"at{count}"), ir.index(f"bulk{count}")
    arrays = {name: f"{name}_l{count}" for name in signs}

    def element(name: str) -> ir.Load:
        return ir.Load(dtypes[name], arrays[name], lane)

    whole = ir.ScalarOp("bitwise_and", "int64", (ir.minus(s.stop, s.start), ir.number(-LANES)))
    yield ir.Let(bulk.name, ir.plus(s.start, whole))
    for name, sign in signs.items():
        start: ir.Expr = ir.Const(dtypes[name], _START[sign]) if sign in _START else ir.Local(dtypes[name], name)
        yield ir.Declare(arrays[name], dtypes[name], LANES)
        yield _over_lanes((ir.Store(arrays[name], lane, start),))
    inside = (
        ir.Let(s.index, ir.plus(at, lane)),
        *_stored(s.body, arrays, {name: element(name) for name in signs}, lane),
    )
    yield ir.For(at.name, s.start, bulk, (_over_lanes(inside),), step=LANES)
    for name, sign in signs.items():
        joined = ir.Assign(name, _joined(sign, ir.Local(dtypes[name], name), element(name)))
        yield ir.For(lane.name, ir.ZERO, ir.number(LANES), (joined,))
    yield replace(s, start=bulk, simd=False, reductions=(), lanes=None)


def _over_lanes(body: ir.Body) -> ir.For:
    return ir.For("lane", ir.ZERO, ir.number(LANES), body, simd=True)


def _stored(
    body: ir.Body, arrays: dict[str, str], elements: dict[str, ir.Load], lane: ir.Local
) -> Iterator[ir.Statement]:
    """Yield the statements that store into the accumulators of this lane."""
    for s in substituted(body, elements):
        yield ir.Store(arrays[s.name], lane, s.value) if isinstance(s, ir.Assign) else s


def _joined(sign: str, total: ir.Local, other: ir.Expr) -> ir.Expr:
    if sign in _COMPARED:
        return ir.ScalarOp("switch", total.dtype, (ir.ScalarOp(_COMPARED[sign], "bool", (other, total)), other, total))
    return ir.ScalarOp(_COMBINED[sign], total.dtype, (total, other))
