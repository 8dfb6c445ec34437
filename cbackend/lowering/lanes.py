"""Reductions in vector loops as arrays of accumulators: the order of additions stands in the loop IR.

    #pragma omp simd reduction(+:total)
    for (i = start; i < stop; i++) { v = x[i]; total = total + v; }
    -->
    T total_l0[9] = all 0;
    for (at = start; at < bulk; at += 8)
        #pragma omp simd
        for (lane = 0; lane < 8; lane++) { i = at + lane; v = x[i]; total_l0[lane] = total_l0[lane] + v; }
    for (i = bulk; i < stop; i++) { v = x[i]; total_l0[8] = total_l0[8] + v; }
    total = total + (sum_of_8(total_l0) + total_l0[8]);

The lanes are added up as a tree: the upper half to the lower one, again and again.  A sum or product of floats has as
many lanes as a vector has elements of its dtype, whatever else the loop computes, and whether or not the compiler makes
vectors of it.  So it has the same bits alone and in each fused group.  The elements behind the last full set of lanes
have a place of their own: where one was written, a load of the whole vector would have to wait for it.  The loop takes
as many elements at a time as fill a vector of its narrowest dtype; a sum with fewer lanes adds a part of them after the
other:

    for (lane = 0; lane < 8; lane++) { ...; fed0[lane] = w; }
    for (lane = 0; lane < 4; lane++) { sum_l0[lane] = sum_l0[lane] + fed0[lane]; ... + fed0[lane + 4]; }

A bool is joined in lanes, too, each a number as wide as those of the loop.  gcc vectorizes no reduction of bools.
Bools that a step stores are such numbers first, which a loop of its own makes narrow: beside a store of 16 bytes, gcc
computes everything in vectors of 16 bytes.

OpenCL C has no pragma for reductions: there all of them are split, into LANES lanes.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from ...graph.types import numpy_dtype
from ...record import record
from ...targets.current import current
from ..ir import loops as ir
from ..ir.walk import substituted
from .remainders import in_one_vector

LANES = 16
"""Partial results of a reduction on a device; on the host the most of one whose result no order changes."""
_COMBINED = {"+": "add", "*": "mul", "|": "bitwise_or", "&": "bitwise_and"}
_COMPARED = {"max": "gt", "min": "lt"}
_TREES = {"+": "sum", "*": "product"}
_START = {"+": 0, "*": 1}
LANE = ir.index("lane")
"""The index of loops over lanes."""


def in_lanes(body: Iterable[ir.Statement]) -> ir.Body:
    """Return `body` with all its reducing vector loops over arrays of LANES accumulators."""
    return _converted(body, itertools.count(), on_host=False)


def sums_in_lanes(body: Iterable[ir.Statement]) -> ir.Body:
    """Return `body` with the vector loops that sum floats, multiply them or join bools over arrays of accumulators."""
    return _converted(body, itertools.count(), on_host=True)


def lanes_of(dtype: str) -> int:
    """Return the accumulators of a sum or product of floats of `dtype` on the current target."""
    return current().vector // numpy_dtype(dtype).itemsize


def is_rounded(sign: str | None, dtype: str) -> bool:
    """Whether a reduction's bits depend on the order of its elements."""
    return sign in ("+", "*") and numpy_dtype(dtype).kind == "f"


def _converted(body: Iterable[ir.Statement], numbers: Iterator[int], on_host: bool) -> ir.Body:
    found: list[ir.Statement] = []
    for s in body:
        if isinstance(s, ir.For):
            accumulators = _accumulators(s) if s.simd and s.reductions else ()
            if accumulators and (not on_host or any(map(_needs_lanes, accumulators))):
                found += _Lanes(s, accumulators, next(numbers), on_host).statements()
                continue
            s = replace(s, body=_converted(s.body, numbers, on_host))
        elif isinstance(s, ir.If):
            body, orelse = (_converted(b, numbers, on_host) for b in (s.body, s.orelse))
            s = replace(s, body=body, orelse=orelse)
        elif isinstance(s, ir.Outlined):
            s = replace(s, body=_converted(s.body, numbers, on_host))
        found.append(s)
    return tuple(found)


@record
class _Accumulator:
    """A local that a loop reduces into, and the operator of the reduction."""

    name: str
    sign: str
    dtype: str


def _needs_lanes(a: _Accumulator) -> bool:
    """Whether a loop of the host has lanes for an accumulator; gcc vectorizes other reductions, but none of bools."""
    return a.dtype == "bool" or is_rounded(a.sign, a.dtype)


def _accumulators(s: ir.For) -> tuple[_Accumulator, ...]:
    """Return the accumulators of a loop; () if it contains more than values, stores and their updates."""
    signs = {name: sign for sign, name in s.reductions}
    updates = [b for b in s.body if isinstance(b, ir.Assign)]
    others = (b for b in s.body if not isinstance(b, (ir.Let, ir.Store, ir.ElementPointer, ir.Assign)))
    known = all(sign in _COMBINED or sign in _COMPARED for sign in signs.values())
    if not known or s.step != 1 or any(others) or {u.name for u in updates} != set(signs):
        return ()
    dtypes = {u.name: u.value.dtype for u in updates}
    return tuple(_Accumulator(name, sign, dtypes[name]) for name, sign in signs.items())


_OfAccumulator = Callable[[_Accumulator], Iterable[ir.Statement]]


class _Lanes:
    """The loops that replace one reducing vector loop."""

    def __init__(self, s: ir.For, accumulators: tuple[_Accumulator, ...], count: int, on_host: bool) -> None:
        self._loop, self._accumulators, self._count, self._on_host = s, accumulators, count, on_host
        self._at, self._bulk = ir.index(f"at{count}"), ir.index(f"bulk{count}")
        self._rounded = [a for a in accumulators if is_rounded(a.sign, a.dtype)]
        self._taken = _elements_at_a_time(s) if on_host else LANES
        """Elements of one step."""
        if not self._rounded:
            self._taken = min(self._taken, LANES)  # more would make short rows slow
        self._lanes = {
            a.name: min(self._taken, lanes_of(a.dtype)) if on_host and is_rounded(a.sign, a.dtype) else self._taken
            for a in accumulators
        }
        self._truth = f"uint{8 * min(current().vector // self._taken, 8)}" if on_host else "bool"
        self._dtypes = {a.name: self._truth if a.dtype == "bool" else a.dtype for a in accumulators}
        """Dtypes of lanes: a bool takes a number as wide as those of the loop, or gcc makes no vectors of it."""
        sizes = {numpy_dtype(dtype).itemsize for dtype in self._dtypes.values()}
        self._is_even = len(set(self._lanes.values())) == 1 and len(sizes) == 1

    def statements(self) -> Iterator[ir.Statement]:
        s = self._loop
        yield ir.Let(self._bulk.name, self._whole(self._taken))
        for a in self._accumulators:
            yield ir.Declare(self._array(a), self._dtypes[a.name], self._lanes[a.name] + (a in self._rounded))
        yield from self._over_lanes(self._rounded, self._emptied, simd=True)
        yield from (ir.Store(self._array(a), self._behind(a), self._start(a)) for a in self._rounded)
        yield from self._of_exact(self._emptied, simd=True)
        yield ir.For(self._at.name, s.start, self._bulk, tuple(self._step()), step=self._taken)
        yield from self._remainder()
        yield from map(self._total, self._rounded)
        yield from self._of_exact(
            lambda a: (ir.Assign(a.name, _joined(a, ir.Local(a.dtype, a.name), self._element(a, LANE))),), simd=False
        )

    def _emptied(self, a: _Accumulator) -> ir.Body:
        return (ir.Store(self._array(a), LANE, self._start(a)),)

    def _of_exact(self, statements: _OfAccumulator, simd: bool) -> Iterator[ir.Statement]:
        """Yield loops over all lanes of results that no order changes; they run if there is a whole step at all."""
        exact = [a for a in self._accumulators if a not in self._rounded]
        if exact:
            yield ir.If(ir.less(self._loop.start, self._bulk), tuple(self._over_lanes(exact, statements, simd)))

    def _behind(self, a: _Accumulator) -> ir.Expr:
        """Return the index of the elements behind the last full set of lanes."""
        return ir.number(self._lanes[a.name])

    def _total(self, a: _Accumulator) -> ir.Assign:
        """Return the accumulator with its lanes, joined as a tree."""
        count = self._lanes[a.name]
        tree: ir.Expr = ir.ScalarOp(f"{_TREES[a.sign]}_of_{count}", a.dtype, (ir.Local(a.dtype, self._array(a)),))
        lanes = _joined(a, tree if count > 1 else self._element(a, ir.ZERO), self._element(a, self._behind(a)))
        return ir.Assign(a.name, _joined(a, ir.Local(a.dtype, a.name), lanes))

    def _array(self, a: _Accumulator) -> str:
        return f"{a.name}_l{self._count}"

    def _fed(self, a: _Accumulator) -> str:
        return f"{a.name}_f{self._count}"

    def _element(self, a: _Accumulator, lane: ir.Expr) -> ir.Expr:
        found = ir.Load(self._dtypes[a.name], self._array(a), lane)
        return found if found.dtype == a.dtype else _as_bool(found)

    def _update(self, a: _Accumulator, lane: ir.Expr, value: ir.Expr) -> ir.Store:
        """Return the store of an accumulator's new value; of wide truths, which are 0 or 1, all bits take part."""
        dtype = self._dtypes[a.name]
        if dtype != a.dtype:
            assert isinstance(value, ir.ScalarOp)
            fed = ir.ScalarOp("cast", dtype, value.args[1:])
            value = ir.ScalarOp(value.name, dtype, (ir.Load(dtype, self._array(a), lane), fed))
        return ir.Store(self._array(a), lane, value)

    def _start(self, a: _Accumulator) -> ir.Expr:
        if a.sign not in _START:
            own, dtype = ir.Local(a.dtype, a.name), self._dtypes[a.name]
            return own if dtype == a.dtype else ir.ScalarOp("cast", dtype, (own,))
        # As exact as 0, but no call of memset, whose narrow stores a load of the whole vector would have to wait for.
        is_sum = is_rounded(a.sign, a.dtype) and a.sign == "+"
        return ir.Const(a.dtype, -0.0 if is_sum else _START[a.sign])

    def _whole(self, taken: int) -> ir.Expr:
        """Return the end of the elements that fill steps of this length."""
        s = self._loop
        count = ir.ScalarOp("bitwise_and", "int64", (ir.minus(s.stop, s.start), ir.number(-taken)))
        return ir.plus(s.start, count)

    def _over_lanes(
        self, accumulators: Sequence[_Accumulator], statements: _OfAccumulator, simd: bool
    ) -> Iterator[ir.For]:
        """Yield a loop over the lanes of all accumulators that have equally many."""
        for lanes in dict.fromkeys(self._lanes[a.name] for a in accumulators):
            alike = [a for a in accumulators if self._lanes[a.name] == lanes]
            body = tuple(found for a in alike for found in statements(a))
            yield ir.For(LANE.name, ir.ZERO, ir.number(lanes), body, simd=simd)

    # --- a step: as many elements as fill vectors

    def _step(self) -> Iterator[ir.Statement]:
        """Yield the loop over the elements of a step, and those that add what it left for sums with fewer lanes."""
        fewer = [a for a in self._accumulators if self._lanes[a.name] < self._taken]
        yield from (ir.Declare(self._fed(a), a.dtype, self._taken) for a in fewer)
        names = {a.name: a for a in self._accumulators}
        elements = {a.name: self._element(a, LANE) for a in self._accumulators if a not in fewer}
        here = ir.Let(self._loop.index, ir.plus(self._at, LANE))
        body: list[ir.Statement] = [here]
        narrow: list[ir.Statement] = []
        for s in self._loop.body:
            if isinstance(s, ir.Assign) and names[s.name] in fewer:
                body.append(ir.Store(self._fed(names[s.name]), LANE, _operand(s)))
                continue
            (s,) = substituted((s,), elements)
            if isinstance(s, ir.Assign):
                s = self._update(names[s.name], LANE, s.value)
            elif isinstance(s, ir.Store) and s.value.dtype == "bool" and self._truth not in ("bool", "uint8"):
                wide = f"truths{self._count}_{len(narrow)}"
                yield ir.Declare(wide, self._truth, self._taken)
                narrow.append(replace(s, value=_as_bool(ir.Load(self._truth, wide, LANE))))
                s = ir.Store(wide, LANE, ir.ScalarOp("cast", self._truth, (s.value,)))
            body.append(s)
        count = ir.number(self._taken)
        lanes = self._taken if self._is_even else None
        yield ir.For(LANE.name, ir.ZERO, count, tuple(body), simd=True, lanes=lanes)
        if narrow:
            yield ir.For(LANE.name, ir.ZERO, count, (here, *narrow), simd=True)
        if fewer:
            yield from (loop for loop in self._over_lanes(fewer, self._parts_added, simd=True) if loop.body)

    def _parts_added(self, a: _Accumulator) -> Iterator[ir.Store]:
        lanes = self._lanes[a.name]
        for first in range(0, self._taken, lanes) if lanes < self._taken else ():
            fed = ir.Load(a.dtype, self._fed(a), ir.plus(LANE, ir.number(first)))
            yield ir.Store(self._array(a), LANE, _joined(a, self._element(a, LANE), fed))

    # --- the elements that fill no step

    def _remainder(self) -> Iterator[ir.Statement]:
        """Yield the loop over the last elements: those that would fill a sum's lanes go there, others behind them.

        Results that no order changes take the last elements themselves.
        """
        s = self._loop
        rounded = {a.name: a for a in self._rounded}
        lanes = {name: self._behind(a) for name, a in rounded.items()}
        body: list[ir.Statement] = []
        for number in dict.fromkeys(n for n in self._lanes.values() if n < self._taken):
            end, here = ir.index(f"bulk{self._count}_{number}"), ir.index(f"lane{number}")
            yield ir.Let(end.name, self._whole(number))
            place = ir.ScalarOp("bitwise_and", "int64", (ir.minus(ir.index(s.index), s.start), ir.number(number - 1)))
            inside = ir.less(ir.index(s.index), end)
            body.append(ir.Let(here.name, ir.ScalarOp("switch", "int64", (inside, place, ir.number(number)))))
            lanes.update((name, here) for name, n in self._lanes.items() if n == number)
        elements = {name: self._element(a, lanes[name]) for name, a in rounded.items()}
        for found in substituted(s.body, elements):
            if isinstance(found, ir.Assign) and found.name in rounded:
                found = self._update(rounded[found.name], lanes[found.name], found.value)
            body.append(found)
        rest = replace(s, start=self._bulk, body=tuple(body), simd=False, reductions=(), lanes=None)
        if not self._on_host:
            yield rest
        else:
            yield from in_one_vector(rest, s.start, self._taken, self._taken if self._is_even else None)


def _elements_at_a_time(s: ir.For) -> int:
    """Return how many elements fill a vector of the narrowest dtype of a loop; bools that are computed are masks."""
    values = [b.value for b in s.body if isinstance(b, (ir.Let, ir.Store, ir.Assign))]
    sizes = [numpy_dtype(v.dtype).itemsize for v in values if v.dtype != "bool" or isinstance(v, ir.Load)]
    return current().vector // min(sizes, default=1)


def _as_bool(truth: ir.Load) -> ir.Expr:
    return ir.ScalarOp("ne", "bool", (truth, ir.Const(truth.dtype, 0)))


def _operand(update: ir.Assign) -> ir.Expr:
    """Return what an update of a sum or product adds to it, or multiplies it by."""
    assert isinstance(update.value, ir.ScalarOp)
    total, fed = update.value.args
    assert total == ir.Local(update.value.dtype, update.name)
    return fed


def _joined(a: _Accumulator, total: ir.Expr, other: ir.Expr) -> ir.Expr:
    if a.sign in _COMPARED:
        better = ir.ScalarOp(_COMPARED[a.sign], "bool", (other, total))
        return ir.ScalarOp("switch", a.dtype, (better, other, total))
    return ir.ScalarOp(_COMBINED[a.sign], a.dtype, (total, other))
