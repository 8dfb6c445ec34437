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

Bools beside costly functions, or in searches of an extremum, are copied whatever their stride is, each to a number
as wide as those of the loop.  As bytes they make gcc take 64 elements at a time, or 32, and compute the rest one by
one: in rows of 16 all of them.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TypeGuard

from ...graph.types import numpy_dtype
from ...ops.elementwise.records import by_symbol
from ...record import record
from ...targets.current import current
from ..ir import loops as ir
from ..ir.loops import index
from ..ir.walk import names_in, substitute
from .chains import jammed
from .nest import sizes_of, specialized, strides_along


def is_costly(loop: ir.For) -> bool:
    """Return whether the innermost loop computes a costly function of floats."""
    return any(isinstance(s, ir.Let) and is_costly_value(s.value) for s in loop.body)


def is_costly_value(value: ir.Expr) -> bool:
    """Return whether a value is a costly function of floats."""
    if not isinstance(value, ir.ScalarOp) or not value.dtype.startswith("float"):
        return False
    op = by_symbol(value.name)
    return op is not None and current().costs.is_kept(value.name, op.cost, value.dtype)


def finds_masked_extrema(loop: ir.For) -> bool:
    """Return whether the innermost loop finds extrema of wider numbers than the bools that it reads."""
    signs = {sign for sign, _ in loop.reductions}
    return not signs.isdisjoint(("max", "min")) and max(sizes_of(loop)) > 1 and _reads_bools(loop)


def _reads_bools(loop: ir.For) -> bool:
    return any(a.is_bool for a in _accesses(loop).values())


def _widens_bools(loop: ir.For) -> bool:
    """Return whether the bools that a loop reads are copied to numbers as wide as the others."""
    return is_costly(loop) or finds_masked_extrema(loop)


def costly_in_strips(general: ir.For) -> ir.Body:
    """Strip-mine the loop if it is costly or long and strided; otherwise specialize it for strides of 1."""
    strides, limits = strides_along(general), current().limits.tiles
    if not (strides and (_widens_bools(general) or len(general.body) >= limits.long_body)):
        return (specialized(in_wide_vectors(general)),)
    return _strip_mined(general)


def with_wide_bools(general: ir.For) -> ir.Body:
    """Strip-mine a costly loop, or one for extrema, whose bools alone are copied: its strides are to become 1.

    Other costly loops take the target's vectors.
    """
    if not _reads_bools(general) or not _widens_bools(general):
        return (in_wide_vectors(general),)
    return _strip_mined(general, bools_alone=True)


def _strip_mined(general: ir.For, bools_alone: bool = False) -> ir.Body:
    copied = [a for a in _accesses(general).values() if a.is_bool or not bools_alone]
    sizes = [numpy_dtype(_wide(general) if a.is_bool else a.dtype).itemsize for a in copied]
    length = 1 << (current().limits.tiles.strip_bytes // sum(sizes)).bit_length() - 1
    begin, end = index("run"), index("run_end")
    bound = ir.Let(end.name, ir.smaller(ir.plus(begin, ir.number(length)), general.stop))
    body = (bound, *strip_of(replace(general, start=begin, stop=end), length, bools_alone))
    return (ir.For(begin.name, general.start, general.stop, body, step=length),)


_FLOAT_AND_INTEGER = (["f", "i"], ["f", "u"])


def converts_bytes(loop: ir.For) -> bool:
    """Return whether a loop makes floats of integers of 8 bits, or the reverse."""
    values = (s.value for s in loop.body if isinstance(s, ir.Let))
    pairs = ([numpy_dtype(d) for d in (v.dtype, v.args[0].dtype)] for v in values if _is_cast(v))
    return any(min(d.itemsize for d in p) == 1 and sorted(d.kind for d in p) in _FLOAT_AND_INTEGER for p in pairs)


def _is_cast(value: ir.Expr) -> TypeGuard[ir.ScalarOp]:
    return isinstance(value, ir.ScalarOp) and value.name == "cast"


def in_wide_vectors(loop: ir.For) -> ir.For:
    """Return a loop that is costly or converts bytes in the target's vectors; gcc prefers half as long ones for Intel.

    Of loops over float64 gcc makes a form for what is left over, in 5 % more time; they take 0.65 to 0.86 of theirs.
    Loops over float16 compute in float32; gcc counts the lanes of the shorter ones.  They take 0.7 of their time.
    Bytes that become floats, or are made of them, pass through several widths: such loops take 0.6 to 0.95 of theirs.
    """
    if not loop.simd or loop.lanes is not None:
        return loop
    if converts_bytes(loop):
        return replace(loop, lanes=current().vector)
    if not is_costly(loop):
        return loop
    sizes = sizes_of(loop) - {1}
    if len(sizes) > 1 and sizes != {2, 4}:
        return loop
    return replace(loop, lanes=current().vector // min(sizes))


def _wide(loop: ir.For) -> str:
    """Return the dtype of copies of bools: as wide as the numbers of a loop that widens them."""
    return f"uint{8 * min(max(sizes_of(loop)), 8)}" if _widens_bools(loop) else "bool"


def strip_of(general: ir.For, length: int, bools_alone: bool = False) -> ir.Body:
    """Return a loop of at most so many elements whose strided operands are copied to contiguous ones.

    `bools_alone`: everything else has stride 1.
    """
    accesses, wide = _accesses(general), _wide(general)
    count = ir.minus(general.stop, general.start)
    here = ir.minus(index(general.index), general.start)
    opening: list[ir.Statement] = []
    body: list[ir.Statement] = []
    closing: list[ir.Statement] = []
    for k, s in enumerate(general.body):
        access = accesses.get(k)
        if access is None or (bools_alone and not access.is_bool):
            body.append(s)
            continue
        dtype, at = wide if access.is_bool else access.dtype, f"{access.name}_at"
        first = substitute(access.index, {general.index: general.start})
        place, copy = (
            (ir.Local(access.dtype, access.array), first, access.stride),
            ir.Local(dtype, f"{access.name}_run"),
        )
        opening.append(ir.Declare(copy.name, dtype, length))
        if isinstance(s, ir.Let):
            way = "run_in" if dtype == access.dtype else "widened_in"
            opening.append(ir.ElementPointer(at, dtype, ir.ScalarOp(way, dtype, (*place, count, copy)), ir.ZERO))
            element = ir.Load(dtype, at, here)
            truth = ir.ScalarOp("ne", "bool", (element, ir.Const(dtype, 0)))
            body.append(ir.Let(s.name, element if dtype == access.dtype else truth))
        else:
            assert isinstance(s, ir.Store)
            opening.append(
                ir.ElementPointer(at, dtype, ir.ScalarOp("tile_out", dtype, (*place, copy)), ir.ZERO, const=False)
            )
            body.append(replace(s, array=at, index=here))
            back = ir.Do(ir.ScalarOp("run_back", dtype, (*place, count, copy)))
            closing.append(ir.If(ir.ScalarOp("ne", "bool", (access.stride, ir.ONE)), (back,)))
    loop = in_wide_vectors(replace(general, body=tuple(body)))
    return (*opening, *((loop,) if is_costly(general) else jammed(loop)), *closing)


@record
class _Access:
    """A read of the array `array` by a stride along a loop, or a write.  `name`: of the value read, or of the array."""

    name: str
    array: str
    dtype: str
    index: ir.Expr
    stride: ir.Local
    is_bool: bool
    """Whether it reads bools."""


def _accesses(general: ir.For) -> dict[int, _Access]:
    """Return the statements of a loop, by position, that read or write by one of the strides along it."""
    strides = strides_along(general)
    found = {}
    for k, s in enumerate(general.body):
        if isinstance(s, ir.Let) and isinstance(s.value, ir.Load):
            name, array, where, dtype = s.name, s.value.array, s.value.index, s.value.dtype
        elif isinstance(s, ir.Store):
            name, array, where, dtype = s.array, s.array, s.index, s.value.dtype
        else:
            continue
        along = [n for n in names_in(where) if n in strides]
        if along:
            (stride,) = along
            found[k] = _Access(name, array, dtype, where, index(stride), isinstance(s, ir.Let) and dtype == "bool")
    return found
