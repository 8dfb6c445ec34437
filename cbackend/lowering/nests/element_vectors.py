"""Vectors in a loop over elements: parts of arrays and elementwise values, as inner loops of the elements they need.

    x[i] = b[i] - a[i, :i] @ x[:i]
    -->
    for (j = 0; j < i; j++) sum += a[i * n + j] * x[j];
    x[i] = b[i] - sum;

A vector is not stored: each reader computes the elements it reads.  Where a write may overlap what its value reads at
other positions, the value goes to scratch memory first.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

from ....graph import Apply, TensorType
from ....ops.control.small_arrays import LONGEST
from ....ops.reductions.reduce import Reduce
from ....ops.shapes.advanced_indexing import AdvancedIncSubtensor
from ....ops.shapes.indexing import IncSubtensor
from ...ir import loops as ir
from ...ir.kernel import Status
from ...ir.walk import all_statements
from ..accumulate import Recipe, recipe
from .element_statements import Statements, View, plus, times

_ANYWHERE = -1
"""The axis of a view whose elements stand at positions that are read from memory."""
_SHIFT = 1
ACCUMULATORS = 1 << _SHIFT
"""Accumulators of a fold, each of an equal share of the vector, so that no addition waits for the one before it."""


@dataclass(eq=False, frozen=True)
class Elements:
    """A vector that is not stored: `at(index, even)` writes one element.

    `length`: that of its operands together.  `leaves`: the parts of arrays that it reads.  `even`: whether they are
    all as long as the vector; else one of length 1 is broadcast.
    """

    dtype: str
    length: ir.Expr
    leaves: tuple[View, ...]
    at: Callable[[ir.Expr, bool], ir.Expr]

    @property
    def lengths(self) -> tuple[ir.Expr, ...]:
        return (self.length,)

    def with_lengths(self, lengths: Sequence[ir.Expr]) -> Elements:
        """Return the same vector with another name for its length, which is equal."""
        return replace(self, length=lengths[0])


Value = ir.Expr | View | Elements
Scratch = tuple[str, int]
"""Memory for a part of an array: its name and the number of the node that reads the part; -1 for overlapping writes."""


def leaves_of(value: Value) -> tuple[View, ...]:
    """Return the parts of arrays that a value reads."""
    return (value,) if isinstance(value, View) else value.leaves if isinstance(value, Elements) else ()


def is_vector(value: Any) -> bool:
    return isinstance(value, (View, Elements))


class Vectors(Statements):
    """Statements that compute, fold and store vectors."""

    def __init__(self) -> None:
        super().__init__()
        self.scratch: dict[Scratch, str] = {}
        """The names of scratch memory."""
        self.needed: dict[Scratch, None] = {}
        """The scratch memory that vectors go to."""

    # --- values
    def elementwise(self, node: Apply, given: Sequence[Any], shapes: Sequence[Any]) -> Value:
        """Return a scalar operation on values, of which some are vectors.

        `shapes`: the values of the operands of the whole node, for a message about lengths.
        """
        vectors = [v for v in given if is_vector(v)]
        if not vectors:
            return self.applied(node, list(given))
        length = self._joint([v.lengths[0] for v in vectors], shapes)
        leaves = tuple(dict.fromkeys(leaf for v in vectors for leaf in leaves_of(v)))

        def at(index: ir.Expr, even: bool) -> ir.Expr:
            return self.applied(node, [self.element(v, index, even) for v in given])

        return Elements(node.outputs[0].dtype, length, leaves, at)

    def filled(self, value: ir.Expr, length: ir.Expr, dtype: str) -> Elements:
        """Return a vector of equal elements."""
        if not self.is_not_negative(length):
            self._fail_if(ir.less(length, ir.ZERO), Status.NEGATIVE_LENGTH, length)
        own = () if length == ir.ONE else (View("", dtype, ir.ZERO, (length,), (ir.ZERO,), ((_ANYWHERE, ir.ZERO, 0),)),)
        return Elements(dtype, length, own, lambda index, even: value)

    def with_element(self, op: IncSubtensor, x: Elements, value: ir.Expr, place: ir.Expr) -> Elements:
        """Return a computed vector in which one element is written, or added to."""
        place = self._position(place, x.length, 0)

        def at(index: ir.Expr, even: bool) -> ir.Expr:
            old = self.element(x, index, even)
            new = value if op.set else self.op("either" if x.dtype == "bool" else "add", x.dtype, old, value)
            return self.let(ir.ScalarOp("switch", x.dtype, (ir.equal(index, place), self.cast(new, x.dtype), old)))

        return replace(x, at=at)

    def gathered(self, x: View, indices: Sequence[Any]) -> Value:
        """Return the elements of an array at a vector of positions along one axis, checked where they are read."""
        (places,) = filter(is_vector, indices)
        length, here = places.lengths[0], self._place

        def at(index: ir.Expr, even: bool) -> ir.Expr:
            outer, self._place = self._place, here
            given = [self.element(i, index, even) for i in indices]
            found = self._loaded(x, self.part(x, "i" * len(given), given).first)
            self._place = outer
            return found

        anywhere = View(x.array, x.dtype, x.first, (length,), (ir.ZERO,), ((_ANYWHERE, ir.ZERO, 0),))
        return Elements(x.dtype, length, (anywhere, *leaves_of(places)), at)

    # --- kept arrays
    def memory(self, kind: TensorType) -> View:
        """Declare a small array of this type."""
        lengths = [n or 0 for n in kind.shape]
        name = self.name("k")
        self.add(ir.Declare(name, kind.dtype, max(math.prod(lengths), 1)))
        strides = [ir.number(math.prod(lengths[axis + 1 :])) for axis in range(len(lengths))]
        return View.whole(name, kind.dtype, tuple(map(ir.number, lengths)), tuple(strides))

    def kept(self, value: Value, kind: TensorType) -> View:
        """Return a small array after it is stored in memory of its own, where it can be written."""
        found = self.memory(kind)
        self.store_elements(found, kind, self.elements_of(value, kind))
        return found

    def elements_of(self, value: Value, kind: TensorType) -> list[ir.Expr]:
        """Return the elements of a small array in row-major order; a number is the only one."""
        if not is_vector(value):
            return [value]  # type: ignore[list-item]
        found = []
        for place in positions(kind):
            at = [*map(ir.number, place)]
            if isinstance(value, View):
                found.append(self._loaded(value, _within(value, at)) if value.array else self.let(_within(value, at)))
            else:
                found.append(self._let_all(self.element_of(value, at[0], ir.number(kind.shape[0] or 0))))
        return found

    def element_of(self, value: Value, index: ir.Expr, length: ir.Expr | None = None) -> ir.Expr:
        """Return the element of a vector at an index; parts that it is computed from may be broadcast."""
        length = value.lengths[0] if length is None else length  # type: ignore[union-attr]
        even = isinstance(value, View) or all(leaf.lengths[0] == length for leaf in leaves_of(value))
        return self.element(value, index, even)

    def store_elements(self, target: View, kind: TensorType, elements: Sequence[ir.Expr]) -> None:
        """Write the elements of a small array, which are known behind it."""
        self._epochs[target.array] += 1
        for place, element in zip(positions(kind), elements, strict=True):
            at, value = _within(target, [*map(ir.number, place)]), self.cast(element, target.dtype)
            self.add(ir.Store(target.array, at, value))
            self._blocks[-1].known[target.array, self._epochs[target.array], at] = value

    def element(self, value: Value, index: ir.Expr, even: bool = True) -> ir.Expr:
        """Return the element of a vector at an index; a number is its own."""
        if isinstance(value, View):
            (length,), (stride,) = value.lengths, value.strides
            if not even and not isinstance(length, ir.Const):
                stride = ir.ScalarOp("switch", "int64", (ir.equal(length, ir.ONE), ir.ZERO, stride))
            elif not even and length == ir.ONE:
                stride = ir.ZERO
            at = plus(value.first, times(index, stride))
            return self._loaded(value, at) if value.array else self.let(at)
        if not isinstance(value, Elements):
            return value
        key = (value, index, even)
        for block in self._blocks:
            if key in block.known:
                return block.known[key]
        found = value.at(index, even)
        self._blocks[-1].known[key] = found
        return found

    def _joint(self, lengths: Sequence[ir.Expr], shapes: Sequence[Any]) -> ir.Expr:
        """Return the length of vectors together, after its check."""
        distinct = [n for n in dict.fromkeys(lengths) if n != ir.ONE] or [ir.ONE]
        joint, *others = sorted(distinct, key=lambda n: not isinstance(n, ir.Const))
        for length in others:
            if isinstance(joint, ir.Const):
                differ = ir.every([_differ(length, joint), _differ(length, ir.ONE)])
                self._disagree_if(differ, joint, length, shapes)
                continue
            differ = ir.every([_differ(length, joint), _differ(length, ir.ONE), _differ(joint, ir.ONE)])
            self._disagree_if(differ, joint, length, shapes)
            joint = self.let(ir.ScalarOp("switch", "int64", (ir.equal(joint, ir.ONE), length, joint)))
            self._counts_from_front(joint)
        return joint

    def _disagree_if(self, condition: ir.Expr, a: ir.Expr, b: ir.Expr, shapes: Sequence[Any], axis: int = 0) -> None:
        noted = [n for v in shapes if is_vector(v) for n in v.lengths]
        self._fail_if(condition, Status.LENGTHS, ir.number(axis), a, b, *noted)

    # --- loops
    def _over(
        self, length: ir.Expr, leaves: Sequence[View], write: Callable[[ir.Expr, bool], None],
        sums: Sequence[tuple[str | None, ir.Local]] = (), start: ir.Expr = ir.ZERO, in_order: bool = False,
    ) -> None:  # fmt: skip
        """Write a loop over the positions of a vector; a second one if operands may be broadcast."""
        different = {leaf.lengths[0] for leaf in leaves} - {length}
        if _is_short(length) and not in_order:
            first = int(start.value.real)  # type: ignore[union-attr]
            for k in range(first, int(length.value.real)):  # type: ignore[union-attr]
                write(ir.number(k), not different)
            return
        ways = (True, False)[: 1 + bool(different)]
        loops = [self._loop_of(length, even, write, sums, start, in_order) for even in ways]
        if not different:
            self.add(loops[0])
            return
        same = ir.every([ir.equal(n, length) for n in sorted(different, key=str)])
        self.add(ir.If(same, (loops[0],), (loops[1],)))

    def _loop_of(
        self, length: ir.Expr, even: bool, write: Callable[[ir.Expr, bool], None],
        sums: Sequence[tuple[str | None, ir.Local]], start: ir.Expr, in_order: bool = False,
    ) -> ir.For:  # fmt: skip
        index = ir.index(self.name("j"))
        self._bounds[index.name] = length
        self.open()
        self._counts_from_front(index)
        write(index, even)
        body = self.close()
        simd = not in_order and all(sign is not None for sign, _ in sums)
        simd = simd and not any(isinstance(s, (ir.Return, ir.Do)) for s in all_statements(body))
        named = tuple((sign, total.name) for sign, total in sums if sign is not None) if simd else ()
        return ir.For(index.name, start, length, body, simd=simd, reductions=named)

    # --- folds
    def dot(self, node: Apply, given: Sequence[Any]) -> ir.Expr:
        """Return the product of two vectors."""
        a, b = given
        (m,), (n,) = a.lengths, b.lengths
        if m != n:
            self._disagree_if(_differ(m, n), m, n, given, -1)
        dtype = node.outputs[0].dtype

        def at(index: ir.Expr) -> ir.Expr:
            return self.op("mul", dtype, *(self.element(v, index) for v in given))

        leaves = [leaf for v in given for leaf in leaves_of(v)]
        if all(leaf.lengths == v.lengths for v in given for leaf in leaves_of(v)):
            leaves = []  # all are as long as the product
        return self._folded_over("sum", dtype, m, leaves, lambda index, even: at(index))

    def fold(self, op: Reduce, node: Apply, x: Value) -> ir.Expr:
        """Return the reduction of a vector to a number."""
        dtype = node.outputs[0].dtype
        length = x.lengths[0]  # type: ignore[union-attr]
        if op.fallible:
            self._fail_if(ir.equal(length, ir.ZERO), Status.EMPTY_REDUCTION)
        return self._folded_over(
            op.name, dtype, length, leaves_of(x),
            lambda index, even: self.cast(self.element(x, index, even), dtype),
        )  # fmt: skip

    def summed_to(self, node: Apply, x: Any, like: Any) -> Value:
        """Return a vector if it is as long as another one, which broadcasts to it; else that of its sum alone."""
        dtype = node.outputs[0].dtype
        (length,), (whole,) = like.lengths, x.lengths
        if length == whole:
            return x  # type: ignore[no-any-return]
        total = ir.Local(dtype, self.name("w"))
        self.add(ir.Var(total.name, recipe("sum", dtype).lanes[0].start))
        self._defined[total.name] = self.depth, None
        self.open()
        added = self._folded_over("sum", dtype, whole, leaves_of(x), lambda index, even: self.element(x, index, even))
        self.add(ir.Assign(total.name, added))
        self.add(ir.If(_differ(length, whole), self.close()))

        def at(index: ir.Expr, even: bool) -> ir.Expr:
            if even:
                return self.element(x, index)
            found = ir.Local(dtype, self.name("w"))
            self.add(ir.Var(found.name, total))
            self.open()
            self.add(ir.Assign(found.name, self.element(x, index, False)))
            self.add(ir.If(ir.equal(length, whole), self.close()))
            return found

        own = View("", dtype, ir.ZERO, (length,), (ir.ZERO,), ((_ANYWHERE, ir.ZERO, 0),))  # it may be broadcast
        return Elements(dtype, length, (own, *leaves_of(x)), at)

    def _folded_over(
        self, name: str, dtype: str, length: ir.Expr, leaves: Sequence[View], at: Callable[[ir.Expr, bool], ir.Expr]
    ) -> ir.Expr:
        """Fold elements: equal shares together, by multiple accumulators, then the rest."""
        how = recipe(name, dtype)
        if _is_short(length):
            return self._folded_in_order(how, length, leaves, at)
        shares = [[ir.Local(lane.dtype, self.name("a")) for lane in how.lanes] for _ in range(ACCUMULATORS)]
        for own in shares:
            for lane, total in zip(how.lanes, own, strict=True):
                self.add(ir.Var(total.name, lane.start))
        share = self.let(ir.ScalarOp("right_shift", "int64", (length, ir.number(_SHIFT))))
        self._counts_from_front(share)
        starts = [ir.ZERO, *(self.let(ir.times(ir.number(k), share)) for k in range(1, 1 + ACCUMULATORS))]

        def step(index: ir.Expr, even: bool, own: Sequence[ir.Local]) -> None:
            for lane, total, value in zip(how.lanes, own, self._fed(how, at(index, even)), strict=True):
                self.add(ir.Assign(total.name, lane.step(total, value)))

        def together(index: ir.Expr, even: bool) -> None:
            for own, start in zip(shares, starts, strict=False):
                step(ir.plus(index, start), even, own)

        def of(some: Sequence[Sequence[ir.Local]]) -> list[tuple[str | None, ir.Local]]:
            return [(lane.sign, total) for s in some for lane, total in zip(how.lanes, s, strict=True)]

        whole = tuple(leaf for leaf in leaves if leaf.lengths[0] != length)
        self._over_shares(share, length, whole, together, of(shares))
        self._over(length, whole, lambda index, even: step(index, even, shares[0]), of(shares[:1]), starts[-1])
        totals = [
            reduce(lambda a, b, lane=lane: self._let_all(lane.step(a, b)), parts)  # type: ignore[misc]
            for lane, *parts in zip(how.lanes, *shares, strict=True)
        ]
        return self._let_all(how.result(tuple(totals)))

    def _folded_in_order(
        self, how: Recipe, length: ir.Expr, leaves: Sequence[View], at: Callable[[ir.Expr, bool], ir.Expr]
    ) -> ir.Expr:
        """Fold the elements of a short vector one after the other."""
        totals: list[ir.Expr] = [lane.start for lane in how.lanes]

        def step(index: ir.Expr, even: bool) -> None:
            fed = self._fed(how, at(index, even))
            totals[:] = [self._let_all(lane.step(a, b)) for lane, a, b in zip(how.lanes, totals, fed, strict=True)]

        self._over(length, leaves, step)
        return self._let_all(how.result(tuple(totals)))

    def _fed(self, how: Recipe, element: ir.Expr) -> list[ir.Expr]:
        return [self._let_all(e) for e in how.feed(element)]

    def _over_shares(
        self, share: ir.Expr, length: ir.Expr, different: Sequence[View], write: Callable[[ir.Expr, bool], None],
        sums: Sequence[tuple[str | None, ir.Local]],
    ) -> None:  # fmt: skip
        if not different:
            self.add(self._loop_of(share, True, write, sums, ir.ZERO))
            return
        same = ir.every([ir.equal(leaf.lengths[0], length) for leaf in different])
        loops = [self._loop_of(share, even, write, sums, ir.ZERO) for even in (True, False)]
        self.add(ir.If(same, (loops[0],), (loops[1],)))

    def _let_all(self, expr: ir.Expr) -> ir.Expr:
        """Return the name of an expression that has others inside."""
        return self._computed(expr) if isinstance(expr, ir.ScalarOp) else expr

    # --- writes
    def write(self, op: IncSubtensor, value: Any, part: View, shapes: Sequence[Any]) -> None:
        """Write a value to a part of an array, or add it there."""
        if not part.lengths:
            self._store(op, part, part.first, value)
        else:
            self._write_vector(op, value, part, shapes)
        self._epochs[part.array] += 1

    def scatter(
        self, op: AdvancedIncSubtensor, x: View, value: Any, indices: Sequence[Any], shapes: Sequence[Any]
    ) -> None:
        """Write a value to an array at a vector of positions, one after the other, or add it there."""
        (places,) = filter(is_vector, indices)
        (length,) = places.lengths
        self._fits(value, length, shapes)

        def write(index: ir.Expr, even: bool) -> None:
            given = [self.element(i, index, even) for i in indices]
            at = self.part(x, "i" * len(given), given).first
            self._store(op, x, at, self.element(value, index, even))

        self._over(length, (*leaves_of(places), *leaves_of(value)), write, in_order=True)
        self._epochs[x.array] += 1

    def _store(self, op: IncSubtensor | AdvancedIncSubtensor, part: View, at: ir.Expr, value: ir.Expr) -> None:
        if not op.set:
            old = self._loaded(part, at)
            value = self.op("either" if part.dtype == "bool" else "add", part.dtype, old, value)
        self.add(ir.Store(part.array, at, self.cast(value, part.dtype)))

    def _write_vector(self, op: IncSubtensor, value: Any, part: View, shapes: Sequence[Any]) -> None:
        (length,) = part.lengths
        leaves = leaves_of(value)
        length = self._fits(value, length, shapes)
        if any(leaf.array == part.array and not _is_aligned(leaf, part) for leaf in leaves):
            value = self.stored(value, (part.array, -1), part.dtype)
            leaves = leaves_of(value)

        def write(index: ir.Expr, even: bool) -> None:
            at = plus(part.first, times(index, part.strides[0]))
            self._store(op, part, at, self.element(value, index, even))

        self._over(length, leaves, write)

    def _fits(self, value: Any, length: ir.Expr, shapes: Sequence[Any]) -> ir.Expr:
        """Write the check that a value broadcasts to a length; return that length, as a number if that is known."""
        if not is_vector(value) or value.lengths[0] in (length, ir.ONE):
            return length
        (own,) = value.lengths
        wrong = [_differ(own, length), *([] if isinstance(own, ir.Const) else [_differ(own, ir.ONE)])]
        self._disagree_if(ir.every(wrong), own, length, shapes)
        return own if isinstance(own, ir.Const) else length

    def copied(self, value: Any, target: View) -> None:
        """Write an array, of which all but vectors are parts of others, to another one that is as large."""
        if len(target.lengths) == 1:
            self._write_vector(IncSubtensor((), set=True), value, target, ())
        else:
            index = ir.index(self.name("i"))
            self._bounds[index.name] = target.lengths[0]
            self.open()
            self._counts_from_front(index)
            self.copied(*(self.part(array, ("i",), (index,)) for array in (value, target)))
            self.add(ir.For(index.name, ir.ZERO, target.lengths[0], self.close()))
        self._epochs[target.array] += 1

    def stored(self, value: Any, where: Scratch, dtype: str) -> View:
        """Return a vector after it is stored in scratch memory."""
        self.needed[where] = None
        array = self.scratch.get(where, where[0])
        (length,) = value.lengths
        kept = View.whole(array, value.dtype, (length,), (ir.ONE,))

        def write(index: ir.Expr, even: bool) -> None:
            self.add(ir.Store(array, index, self.cast(self.element(value, index, even), dtype)))

        self._over(length, leaves_of(value), write)
        self._epochs[array] += 1
        return kept


def positions(kind: TensorType) -> Iterator[tuple[int, ...]]:
    """Return the positions in a small array, in row-major order."""
    return itertools.product(*(range(n or 0) for n in kind.shape))


def _within(view: View, index: Sequence[ir.Expr]) -> ir.Expr:
    """Return where an element of a view stands."""
    return reduce(plus, map(times, index, view.strides), view.first)


def _is_short(length: ir.Expr) -> bool:
    return isinstance(length, ir.Const) and length.value.real <= LONGEST


def _differ(a: ir.Expr, b: ir.Expr) -> ir.Expr:
    return ir.ScalarOp("ne", "bool", (a, b))


def _is_aligned(leaf: View, part: View) -> bool:
    """Whether two parts of one array have no element in common but those at equal positions."""
    return leaf.axes == part.axes and leaf.lengths == part.lengths
