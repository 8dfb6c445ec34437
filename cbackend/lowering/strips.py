"""Strip-mining of costly and of long loops over operands of any stride: strided operands are copied strip by strip.

    for (i) y[i * s] = exp(x[i * t]);
    -->
    for each strip of the loop:
        x_at = x + strip if t is 1, else a copy of those elements
        y_at = y + strip if s is 1, else a buffer
        for (i in strip) y_at[i - strip] = exp(x_at[i - strip]);        (vectorized)
        copy the buffer to y

One copy of the loop serves all strides.  exp of a transposed 1000x1000 float64 takes 2.1 ms (4.9 ms by the
scalar form, 0.8 ms where all is contiguous).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ...graph.types import numpy_dtype
from ...ops.elementwise import by_symbol
from ...targets.current import current
from ..ir.loops import (
    ONE,
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
    ScalarOp,
    Statement,
    Store,
    index,
    minus,
    number,
    plus,
    smaller,
)
from ..ir.walk import names_in, substitute
from .nest import specialized, strides_along


def is_costly(loop: For) -> bool:
    """Return whether the innermost loop computes a costly function of floats."""
    costs = current().costs
    values = (s.value for s in loop.body if isinstance(s, Let) and isinstance(s.value, ScalarOp))
    floats = ((v, by_symbol(v.name)) for v in values if v.dtype.startswith("float"))
    return any(op is not None and costs.is_kept(v.name, op.cost, v.dtype) for v, op in floats)


def costly_in_strips(general: For) -> Body:
    """Strip-mine the loop if it is costly or long and strided; otherwise specialize it for strides of 1."""
    strides, limits = strides_along(general), current().limits
    if not (strides and (is_costly(general) or len(general.body) >= limits.long_body)):
        return (specialized(in_wide_vectors(general)),)
    sizes = [numpy_dtype(dtype).itemsize for _, dtype in _runs(general.body, strides)]
    length = 1 << (limits.strip_bytes // sum(sizes)).bit_length() - 1
    begin, end = index("run"), index("run_end")
    bound = Let(end.name, smaller(plus(begin, number(length)), general.stop))
    body = (bound, *strip_of(replace(general, start=begin, stop=end), length))
    return (For(begin.name, general.start, general.stop, body, step=length),)


def in_wide_vectors(loop: For) -> For:
    """Return a costly loop in the target's vectors; gcc prefers half as long ones on Intel's processors.

    Of loops over float64 gcc makes a form for what is left over, in 5 % more time; they take 0.65 to 0.86 of theirs.
    """
    if not loop.simd or loop.lanes is not None or not is_costly(loop):
        return loop
    sizes = {numpy_dtype(s.value.dtype).itemsize for s in loop.body if isinstance(s, (Let, Store, Assign))}
    if len(sizes - {1}) > 1:
        return loop
    return replace(loop, lanes=current().vector // max(sizes))


def strip_of(general: For, length: int) -> Body:
    """Return a loop of at most so many elements whose strided operands are copied to contiguous ones."""
    strides = strides_along(general)
    count = minus(general.stop, general.start)
    here = minus(index(general.index), general.start)
    opening: list[Statement] = []
    body: list[Statement] = []
    closing: list[Statement] = []
    for s in general.body:
        access = _access(s, strides)
        if access is None:
            body.append(s)
            continue
        name, array, dtype, where = access
        (stride,) = (index(n) for n in names_in(where) if n in strides)
        first = substitute(where, {general.index: general.start})
        place, at = (Local(dtype, array), first, stride), f"{name}_at"
        copy = Local(dtype, f"{name}_run")
        opening.append(Declare(copy.name, dtype, length))
        if isinstance(s, Let):
            opening.append(ElementPointer(at, dtype, ScalarOp("run_in", dtype, (*place, count, copy)), ZERO))
            body.append(Let(s.name, Load(dtype, at, here)))
        else:
            assert isinstance(s, Store)
            opening.append(ElementPointer(at, dtype, ScalarOp("tile_out", dtype, (*place, copy)), ZERO, const=False))
            body.append(replace(s, array=at, index=here))
            back = Do(ScalarOp("run_back", dtype, (*place, count, copy)))
            closing.append(If(ScalarOp("ne", "bool", (stride, ONE)), (back,)))
    return (*opening, in_wide_vectors(replace(general, body=tuple(body))), *closing)


def _runs(body: Body, strides: frozenset[str]) -> Iterator[tuple[str, str]]:
    """Return name and dtype of each strided access that the statements need."""
    return ((access[0], access[2]) for s in body if (access := _access(s, strides)) is not None)


def _access(s: Statement, strides: frozenset[str]) -> tuple[str, str, str, Expr] | None:
    """Return name, array, dtype and index of an access by one of these strides."""
    if isinstance(s, Let) and isinstance(s.value, Load) and not strides.isdisjoint(names_in(s.value.index)):
        return s.name, s.value.array, s.value.dtype, s.value.index
    if isinstance(s, Store) and not strides.isdisjoint(names_in(s.index)):
        return s.array, s.array, s.value.dtype, s.index
    return None
