"""Additions to parts of one array, one after the other, as the derivatives of differences of slices have them.

    inc_subtensor(inc_subtensor(x[1:], y)[:-1], z)   -->   x[1:-1] = x[1:-1] + y[:-1] + z[1:], then both ends
    inc_subtensor(set_subtensor(zeros[1:], f(x[1:], x[:-1])), g(x[1:], x[:-1]), [:-1])
    -->   switch(first, f(x, join(x[:1], x[:-1])), 0) + switch(last, g(join(x[1:], x[-1:]), x), 0)

Additions to zeros become one elementwise sum if their values are cheap work on slices of arrays as long.  The work is
computed where it is read.  Its operands are read through joins of slices, which fused loops read piece by piece and
never store.  Masks along single axes leave out the positions that a part does not have.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import reduce
from typing import Any

from ....graph import Variable, dims_of, same_shape
from ....ops.core.tensor import constant
from ....ops.elementwise.costs import additions
from ....ops.elementwise.pointwise import Pointwise
from ....ops.elementwise.records import add, logical_and, maximum, minimum, sub, switch
from ....ops.shapes.advanced_indexing import AdvancedSubtensor
from ....ops.shapes.creation import Alloc
from ....ops.shapes.indexing import IncSubtensor, Subtensor, entries
from ....ops.shapes.joining import Join
from ....ops.shapes.lengths import dim_to_tensor
from ....ops.shapes.shape import DimShuffle
from ....targets.current import current
from ...contract import relaxes
from ...patterns import Users, same_value
from ...rule import Rule, node_rule
from ..facts import Node, Value, constant_int, producer
from . import slicing
from .covering import fits
from .slicing import is_whole, number
from .writing import WRITES, is_zero, names_each_once, positions, same_positions

MOST_ALONE = 4
"""Most positions at a border that are added to apart from those that several additions share."""
MOST_ADDITIONS = 32
"""Most additions to zeros that become one sum."""
MOST_WORK = 4
"""Most work on an element of a part that is done again for each part, counted in additions."""


def inc_of_inc(node: Node, users: Users) -> Value | None:
    """Rewrite additions to one part, one after the other, to a write of one sum."""
    chain = _additions(node, users, same_positions)
    if len(chain) < 2 or not names_each_once(node):
        return None
    x, at = chain[0].inputs[0], positions(node)
    part = (Subtensor if isinstance(node.op, IncSubtensor) else AdvancedSubtensor)(node.op.spec)(x, *at)
    return replace(node.op, set=True)(x, add(part, *(write.inputs[1] for write in chain)), *at)


def inc_of_neighbours(node: Node, users: Users) -> Value | None:
    """Rewrite additions to parts that differ in a few positions at the ends of an axis.

    What all parts share is written once, as a sum in the order of the additions.  The positions at the ends follow.
    Additions to zeros that become a sum over the whole array are left alone.
    """
    chain = _additions(node, users, are_neighbours)
    if len(chain) > 1 and _moved(additions_to_zeros(node)):
        return None
    shifts = [shift for write in chain if (shift := _shift(write)) is not None and fits(write, chain[0].inputs[0])]
    if len(chain) < 2 or len(shifts) < len(chain) or shifts[0] is None:
        return None
    axis = shifts[0][0]
    x, first, last = chain[0].inputs[0], max(s[1] for s in shifts), max(s[2] for s in shifts)
    index = entries(node.op.spec, positions(node))
    along = sum(isinstance(place, slice) for place in index[:axis])

    def place(cut: slice) -> list[Any]:
        return [*index[:axis], cut, *index[axis + 1 :]]

    def value(write: Node, cut: slice) -> Value:
        return _part(write.inputs[1], [*[slice(None)] * along, cut])

    def written(to: Variable, y: Value, cut: slice, is_set: bool) -> Value:
        spec, bounds = slicing.spec_of(place(cut))
        return IncSubtensor(spec, set=is_set)(to, y, *bounds)

    shared = _cut(first, last)
    pairs = list(zip(chain, shifts, strict=True))
    parts = [value(write, _cut(first - start, last - stop)) for write, (_, start, stop) in pairs]
    out = written(x, add(slicing.read(x, place(shared)), *parts), shared, True)
    length = dim_to_tensor(dims_of(x)[axis])
    ends = maximum(sub(length, number(last)), number(first))
    for write, (_, start, stop) in pairs:
        if start < first:
            end = minimum(number(first), maximum(sub(length, number(stop)), number(0))) if stop else number(first)
            out = written(out, value(write, slice(None, number(first - start))), slice(number(start), end), False)
        if stop < last:
            here = slice(ends, number(-stop) if stop else None)
            out = written(out, value(write, slice(sub(ends, number(start)), None)), here, False)
    return out


def _part(value: Variable, within: Sequence[slice], work: float = MOST_WORK) -> Value:
    """Return a part of a value.

    Cheap work on one array and scalars is done again for each part, on that part of the array: it is never stored.
    """
    node = producer(value, Pointwise)
    left = -1.0 if node is None or node.op.fallible else work - additions(node)
    arrays = [] if node is None or left < 0 else [i for i in node.inputs if not _is_single(i)]
    if node is None or len(arrays) != 1 or not same_shape(arrays[0], value):
        return slicing.read(value, within)
    return node.op(*(i if _is_single(i) else _part(i, within, left) for i in node.inputs))


def _is_single(v: Variable) -> bool:
    return all(n == 1 for n in v.type.shape)


def _additions(node: Node, users: Users, fit: Callable[[Node, Node], bool]) -> list[Node]:
    """Return additions to parts of an array, first to last, of which `node` is the last one; none if it is not.

    Nothing reads the arrays between, and any two neighbours fit.
    """
    readers = users(node.out)
    if node.op.set or node.out.dtype == "bool" or (len(readers) == 1 and _continues(*readers[0], node, fit)):
        return []
    chain = [node]
    while True:
        x = chain[0].inputs[0]
        write = producer(x, type(node.op))
        if write is None or len(users(x)) > 1 or write.op.set or not fit(write, node):
            return chain
        chain.insert(0, write)


def _continues(later: Node | None, place: int, write: Node, fit: Callable[[Node, Node], bool]) -> bool:
    """Whether the reader of what a write makes, at a place among its inputs, adds to a part that fits."""
    adds = later is not None and place == 0 and type(later.op) is type(write.op) and not later.op.set
    return later is not None and adds and fit(write, later)


def are_neighbours(a: Node, b: Node) -> bool:
    """Whether two parts have bounds that are numbers along one axis, and are the same along all others."""
    mine, other = _shift(a), _shift(b)
    if mine is None or other is None or mine[0] != other[0]:
        return False
    pairs = zip(entries(a.op.spec, positions(a)), entries(b.op.spec, positions(b)), strict=True)
    return all(axis == mine[0] or _same_place(*pair) for axis, pair in enumerate(pairs))


def _same_place(a: Any, b: Any) -> bool:
    if not (isinstance(a, slice) and isinstance(b, slice)):
        return not isinstance(a, slice) and not isinstance(b, slice) and bool(same_value(a, b))
    bounds = ((a.start, b.start), (a.stop, b.stop), (a.step, b.step))
    return all(p is q or (None not in (p, q) and bool(same_value(p, q))) for p, q in bounds)


def _shift(write: Node) -> tuple[int, int, int] | None:
    """Return the last axis that a write cuts at its ends, and how many positions it leaves out there."""
    index = entries(write.op.spec, positions(write))
    for axis in reversed(range(len(index))):
        ends = None if is_whole(index[axis]) else _ends_left(index[axis])
        if ends is not None:
            return axis, *ends
    return None


def _ends_left(place: Any) -> tuple[int, int] | None:
    """Return how many positions a slice leaves out at each end of an axis; None unless these are few for certain."""
    if not isinstance(place, slice) or place.step is not None:
        return None
    start = 0 if place.start is None else constant_int(place.start)
    stop = 0 if place.stop is None else constant_int(place.stop)
    few = start is not None and stop is not None and 0 <= start <= MOST_ALONE and -MOST_ALONE <= stop <= 0
    return (start, -stop) if few and (place.stop is None or stop) else None  # type: ignore[return-value,operator]


Window = tuple[tuple[int, int], ...]
"""How many positions of each axis a part leaves out at the front and at the end."""


def window_of(write: Node) -> Window | None:
    """Return the part that a write changes; None unless it is the whole array but for a few positions at the ends."""
    index = entries(write.op.spec, positions(write))
    ends = [_ends_left(place) for place in index]
    rest = [(0, 0)] * (write.out.ndim - len(ends))
    return None if None in ends else (*ends, *rest)  # type: ignore[arg-type]


def additions_to_zeros(node: Node) -> list[Node]:
    """Return additions to parts of an array of zeros, first to last, of which `node` is the last one; else nothing."""
    chain: list[Node] = []
    write: Node | None = node
    while write is not None and isinstance(write.op, IncSubtensor) and len(chain) < MOST_ADDITIONS:
        if window_of(write) is None:
            return []
        chain.insert(0, write)
        x = write.inputs[0]
        if is_zero(x):
            return chain
        if write.op.set:
            return []
        write = producer(x, IncSubtensor)
    return []


def _cut(first: int, last: int) -> slice:
    return slice(number(first) if first else None, number(-last) if last else None)


# --- a sum over the whole array


def sum_of_parts(node: Node, users: Users) -> Value | None:
    """Rewrite additions to several parts of zeros to a sum of values that a mask limits to their parts."""
    if any(later is not None and additions_to_zeros(later) for later, _ in users(node.out)):
        return None
    chain = additions_to_zeros(node)
    moved = _moved(chain)
    if len(chain) < 2 or not moved or any(len(users(write.out)) > 1 for write in chain[:-1]):
        return None
    pieces = (1 + len({b for each in moved for b in each.boundaries[axis]}) for axis in range(node.out.ndim))
    if math.prod(pieces) > current().limits.joins.pieces:
        return None
    return add(*(each.masked(write.inputs[1]) for each, write in zip(moved, chain, strict=True)))


def _moved(chain: Sequence[Node]) -> list[_Moved]:
    """Return the values of additions to zeros, moved to the whole array; nothing unless all can be."""
    whole = chain[0].inputs[0] if chain else None
    if whole is None or whole.dtype not in ("float32", "float64") or not all(fits(write, whole) for write in chain):
        return []
    moved = [_Moved(whole, window) for write in chain if (window := window_of(write)) is not None]
    return moved if all(m.value(w.inputs[1]) is not None for m, w in zip(moved, chain, strict=True)) else []


class _Moved:
    """Values of one part, moved to the array that it is a part of; elsewhere they are any numbers."""

    def __init__(self, whole: Variable, window: Window) -> None:
        self.whole = whole
        self.boundaries: list[set[int]] = [set() for _ in window]
        """Where pieces begin on each axis: from the front, or from the end on if negative."""
        self._window = window
        self._lengths = [dim_to_tensor(d) for d in dims_of(whole)]
        self._images: dict[Variable, Variable] = {}
        self._work = 0

    def mask(self) -> Variable | None:
        """Return the mask of the positions in the part; None if the part is the whole array."""
        axes = [axis for axis, (first, last) in enumerate(self._window) if first or last]
        masks = [self._mask_along(axis) for axis in axes]
        return reduce(logical_and, masks) if masks else None

    def _mask_along(self, axis: int) -> Variable:
        first, last = self._window[axis]
        spec, bounds = slicing.spec_of([_cut(first, last)])
        none = Alloc()(constant(False, "bool"), self._lengths[axis])
        along = IncSubtensor(spec, set=True)(none, constant(True, "bool"), *bounds)
        order = tuple(0 if k == axis else "x" for k in range(self.whole.ndim))
        return along if len(order) == 1 else DimShuffle(order)(along)

    def masked(self, v: Variable) -> Variable:
        """Return a value that has been moved, and zeros elsewhere."""
        mask, value = self.mask(), self._images[v]
        return value if mask is None else switch(mask, value, constant(0, v.dtype))

    def value(self, v: Variable) -> Variable | None:
        """Return cheap elementwise work on slices of arrays like the whole one, moved; None if it is anything else."""
        if v in self._images or _is_single(v):
            return self._images.get(v, v)
        node = producer(v, Pointwise)
        moved = self._shifted(v) if node is None else self._computed(node)
        if moved is not None:
            self._images[v] = moved
        return moved

    def _computed(self, node: Node) -> Variable | None:
        self._work += additions(node)
        if node.op.fallible or self._work > MOST_WORK or not all(self._is_as_long(i, node.out) for i in node.inputs):
            return None
        operands = [moved for i in node.inputs if (moved := self.value(i)) is not None]
        return node.op(*operands) if len(operands) == len(node.inputs) else None

    def _is_as_long(self, operand: Variable, v: Variable) -> bool:
        lengths = zip(operand.type.shape, dims_of(operand), dims_of(v), strict=False)
        return operand.ndim in (0, v.ndim) and all(n == 1 or a == b for n, a, b in lengths)

    def _shifted(self, v: Variable) -> Value | None:
        """Return a slice of an array like the whole one as that array, shifted."""
        read = producer(v, Subtensor)
        if read is None or not same_shape(read.inputs[0], self.whole):
            return None
        index = entries(read.op.spec, read.inputs[1:])
        index = [*index, *[slice(None)] * (v.ndim - len(index))]
        if any(not isinstance(place, slice) or place.step is not None for place in index):
            return None
        starts = [0 if place.start is None else constant_int(place.start) for place in index]
        known = [start for start in starts if start is not None and start >= 0]
        if len(known) < len(starts):
            return None
        shifts = [start - first for start, (first, _) in zip(known, self._window, strict=True)]
        for axis, shift in enumerate(shifts):
            self.boundaries[axis].update([-shift] if shift else [])
        return _shifted(read.inputs[0], shifts, [])


def _shifted(x: Variable, shifts: Sequence[int], index: Sequence[slice]) -> Value:
    """Return x[index] whose element i along each further axis is x[i + shift], and any other beyond the ends."""
    axis = len(index)
    if axis == x.ndim:
        return slicing.read(x, index)
    by = shifts[axis]
    if by == 0:
        return _shifted(x, shifts, [*index, slice(None)])
    cut = slice(None, number(-by)) if by < 0 else slice(number(-by), None)
    rest = slice(None, number(by)) if by < 0 else slice(number(by), None)
    pieces: Sequence[slice] = (cut, rest) if by < 0 else (rest, cut)
    return Join(axis)(*(_shifted(x, shifts, [*index, piece]) for piece in pieces))


JOINED: list[Rule] = [
    node_rule("local_inc_of_inc_same_indices", WRITES, inc_of_inc, having=WRITES, uses=True, contract=relaxes("errors"),
              formula="inc_subtensor(inc_subtensor(x[i], y)[i], z) -> set_subtensor(x[i], x[i] + y + z)"),
    node_rule("local_inc_of_neighbours", IncSubtensor, inc_of_neighbours, having=IncSubtensor, uses=True,
              contract=relaxes("errors"),
              formula="inc_subtensor(inc_subtensor(x[1:], y)[:-1], z) -> "
                      "set_subtensor(x[1:-1], x[1:-1] + y[:-1] + z[1:]), then x[-1:] and x[:1]"),
]  # fmt: skip
"""One pass over an array in the place of several."""

GATHERED: list[Rule] = [
    node_rule(
        "local_sum_of_parts", IncSubtensor, sum_of_parts, having=IncSubtensor, uses=True,
        contract=relaxes("signed zero", "errors"),
        formula="inc_subtensor(set_subtensor(zeros[1:], x[1:]), y[:-1], [:-1]) -> "
                "switch(first, x, 0) + switch(last, y, 0)",
    ),
]  # fmt: skip
"""Sums of values in parts of zeros, as one elementwise value."""
