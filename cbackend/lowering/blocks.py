"""Blocked accumulation: a sum of floats along the innermost loop is the more exact sum of block sums.

A block is added up in the dtype of the elements, by vectors.  Sums of blocks are combined in float64, and in pairs
where they are float64 themselves: the error is no larger than that of NumPy's pairwise summation.  The order of
additions depends on the lengths alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ...record import record
from ..ir import loops as ir
from .accumulate import Lane, cast
from .lanes import is_rounded
from .multiple_accumulators import with_accumulators
from .nest import specialized
from .strips import costly_in_strips, finds_masked_extrema, is_costly, strip_of

BLOCK = 128
"""Elements of a block of a sum: NumPy's number, so sums are as exact as NumPy's.

Blocks of products are as long, so that a product has the same bits in a loop of its own and beside sums.
"""


@record
class Slot:
    """An accumulator in use: its names in C, and the expression that feeds it at the current indices."""

    lane: Lane
    part: str
    total: str
    fed: ir.Expr

    @property
    def pairwise(self) -> bool:
        return self.lane.blocked and self.lane.dtype == "float64"

    @property
    def total_dtype(self) -> str:
        """Return the dtype of the total; sums of blocks are combined in float64."""
        return "float64" if self.lane.blocked else self.lane.dtype


def register(slot: Slot) -> str:
    """Return the name of the local that the innermost loop accumulates in."""
    return slot.part if slot.lane.blocked else slot.total


def started(slot: Slot) -> ir.Body:
    """Return the statements that initialize the total."""
    if slot.pairwise:
        return (ir.Declare(slot.total, "pairwise"), ir.Do(_pairwise("start", slot)))
    return (ir.Var(slot.total, start(slot)),)


def start(slot: Slot) -> ir.Const:
    """Return the initial total."""
    return ir.Const(slot.total_dtype, slot.lane.start.value)


def _pairwise(what: str, slot: Slot, *args: ir.Expr) -> ir.Expr:
    return ir.ScalarOp(f"pairwise_{what}", "float64", (ir.Local("pairwise", slot.total), *args))


def total(slot: Slot) -> ir.Expr:
    """Return the total, of dtype `slot.total_dtype`."""
    return _pairwise("total", slot) if slot.pairwise else ir.Local(slot.total_dtype, slot.total)


def in_blocks(general: ir.For, slots: Sequence[Slot], elements: int = BLOCK) -> ir.Body:
    """Return the innermost loop, split into blocks of so many elements if it accumulates sums or products of floats.

    A block of strided operands is copied, so that it is added up in the order in which vectors add up one of stride 1.
    """
    blocked = [s for s in slots if s.lane.blocked]
    if not blocked and not any(is_rounded(s.lane.sign, s.lane.dtype) for s in slots):
        if finds_masked_extrema(general):
            return costly_in_strips(general)
        return with_accumulators(general, [(s.lane, s.total, s.fed) for s in slots])
    block = replace(general, start=ir.index("block"), stop=ir.index("block_end"))
    plain, copied = specialized(block), _block_loop(general, blocked, strip_of(block, elements), elements)
    if not isinstance(plain, ir.If) or is_costly(general):
        return (copied,)
    return (replace(plain, body=(_block_loop(general, blocked, plain.body, elements),), orelse=(copied,)),)


def _block_loop(general: ir.For, blocked: Sequence[Slot], inner: ir.Body, elements: int) -> ir.For:
    """Return the loop over blocks; `inner` accumulates one block."""
    begin, end = ir.index("block"), ir.index("block_end")
    body = (
        ir.Let(end.name, ir.smaller(ir.plus(begin, ir.number(elements)), general.stop)),
        *(ir.Var(s.part, s.lane.start) for s in blocked),
        *inner,
        *(_combined(s) for s in blocked),
    )
    return ir.For(begin.name, ir.ZERO, general.stop, body, step=elements)


def _combined(slot: Slot) -> ir.Statement:
    part = ir.Local(slot.lane.dtype, slot.part)
    if slot.pairwise:
        return ir.Do(_pairwise("add", slot, part))
    return ir.Assign(slot.total, slot.lane.step(ir.Local("float64", slot.total), cast(part, "float64")))
