"""The mapping of a reduction to groups of work items, from extents and strides.

    split_of(outputs, count)      lanes and parts: the order of additions, from the extents alone
    row_split(count)              the same for rows that are read more than once
    groups_of(...)                which items compute which lanes: changes no bits

Contiguous operands along the reduced loop: the items of an output are adjacent, and short rows share a group.
Contiguous operands along the kept loop: adjacent items reduce adjacent outputs.  Few outputs: groups reduce parts of
the elements, and another launch reduces their results.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from ....ops.elementwise.records import by_symbol
from ....record import record
from ....targets.current import current
from ...ir.loops import Let, ScalarOp, Statement
from ...ir.work_items import HELD_STEP, Groups, WorkItems

ITEMS = 1 << 20
"""Lanes of all outputs for which a reduction is split: enough items to fill the largest device several times."""
LANES = 256
"""Most lanes of an output."""
ROW_LANES = 1024
"""Most lanes of a row that is read more than once."""
LEAST_LANES = 32
"""Lanes of an output below which the elements are too few for more, or the outputs alone fill the device."""
HELD = 16
"""Most elements of an item that stay in registers between the passes over a row."""
PART = 16
"""Least elements of a lane of a part."""
_NARROW = (1 << 31) - (1 << 20)
"""Positions that fit into 31 bits, a step beyond the end included."""


@record
class Split:
    """The order of a reduction: `lanes` an output, and `parts` of `part` elements each, but for the last one."""

    lanes: int
    parts: int
    part: int


def split_of(outputs: int, count: int) -> Split:
    """Return the order in which `count` elements of each output are reduced."""
    lanes = min(LANES, max(LEAST_LANES, _power(ITEMS // outputs)), _power(count // 4))
    parts = max(1, min(ITEMS // (outputs * lanes), count // (lanes * PART)))
    part = -(-count // (parts * lanes)) * lanes
    return Split(lanes, -(-count // part), part)


def row_split(count: int) -> Split:
    """Return the order in which rows of `count` elements are reduced: in registers, if they fit."""
    few = _power_above(-(-count // 4))
    many = _power_above(-(-count // HELD))
    return Split(min(few, max(LEAST_LANES, min(many, ROW_LANES))), 1, count)


def reciprocal(divisor: int) -> tuple[int, int]:
    """Return (factor, shift) for divisions of 31-bit numbers: n // divisor == (n * factor >> 32) >> shift.

    The divisor is 2 or more (T. Granlund and P. Montgomery, "Division by invariant integers using multiplication").
    """
    bits = (divisor - 1).bit_length()
    return -(-(1 << (31 + bits)) // divisor), bits - 1


def _power(count: int) -> int:
    """Return the largest power of two up to `count`, and 1 for 0."""
    return 1 << max(count.bit_length() - 1, 0)


def _power_above(count: int) -> int:
    """Return the smallest power of two from `count` on."""
    return 1 << (count - 1).bit_length()


def groups_of(
    found: WorkItems,
    split: Split,
    extents: Sequence[int],
    strides: Sequence[Mapping[int, int]],
    items: int,
    most: int,
) -> Groups:
    """Return the groups of a kernel.  `strides`: of the inputs; `items`, `most`: usual and largest size of a group."""
    kept = [l for l in found.kept if extents[l] > 1] or list(found.kept[-1:])
    loops = tuple(l for l in found.reduced if extents[l] > 1)
    length = _power_above(extents[kept[-1]]) if kept else 1
    limits, adjacent = current().limits.devices, bool(kept and loops) and _is_adjacent(strides, kept[-1], loops[-1])
    if adjacent:
        across = min(limits.adjacent_outputs, length, most)
        sums = max(1, limits.item_sums // max(len(p.folds) for p in found.passes))
        along = min(split.lanes, max(8, split.lanes // sums), most // across)
    else:
        along = min(split.lanes, most)
        across = min(max(items // along, 1), length)
    sums, visits = split.lanes // along, -(-split.part // split.lanes)
    return Groups(
        split.lanes, along, across, adjacent,
        kept=(*(l for l in found.kept if l not in kept[-1:]), *kept[-1:]),
        loops=loops,
        unroll=sums * _rounds(found, sums, visits),
        held=_held(found, along * across, sums, visits),
        is_split=split.parts > 1,
        is_narrow=math.prod(extents[l] for l in loops) < _NARROW,
    )  # fmt: skip


def _is_adjacent(strides: Sequence[Mapping[int, int]], kept: int, reduced: int) -> bool:
    """Whether more operands are contiguous along the kept loop than along the reduced one."""
    along, across = ([s for o in strides if (s := abs(o.get(loop, 0)))] for loop in (reduced, kept))
    return sum(s > 1 for s in along) - sum(s > 1 for s in across) > 0


def _rounds(found: WorkItems, sums: int, visits: int) -> int:
    """Return the elements of a lane that are read at a time: so many that reads overlap."""
    reads = max(len(found.kernel.inputs), 1)
    limits = current().limits.devices
    most = min(limits.item_reads // (sums * reads), limits.unrolled_operations[0] // (sums * _operations(found)))
    return min(_power(max(most, 1)), _power_above(visits))


def _held(found: WorkItems, items: int, sums: int, visits: int) -> int:
    """Return the elements that an item holds in registers; 0 if there are none, or too many."""
    count = -(-sums * visits // HELD_STEP) * HELD_STEP
    limits = current().limits.devices
    words, fewer, usual = limits.item_words
    fits = count <= HELD and found.words * count <= (words if items <= usual else fewer)
    fits = fits and _operations(found) * count <= limits.unrolled_operations[1]
    return count if found.held and fits else 0


def _operations(found: WorkItems) -> int:
    """Return the operations for an element in the longest pass, in units of an addition."""
    return max(sum(map(_cost, p.body)) for p in found.passes)


def _cost(s: Statement) -> int:
    value = s.value if isinstance(s, Let) else None
    op = by_symbol(value.name) if isinstance(value, ScalarOp) else None
    return 1 if op is None else op.cost


def may_hold(found: WorkItems) -> bool:
    """Whether registers can hold the elements of an item of some rows."""
    return 0 < found.words * HELD_STEP <= current().limits.devices.item_words[0]
