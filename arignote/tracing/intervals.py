"""The intervals of integers in a trace: the least and the greatest value that an expression can have.

The interval of an expression is that of its operands; of a state of a loop, the hull of its values before and after a
step, or its growth in each step times the number of steps.  In a branch and behind the test of a loop, comparisons
narrow the intervals of what they compare.

Source: Cousot and Cousot, "Abstract interpretation", 1977: intervals and widening.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from ..graph import Constant, Variable
from ..graph.provenance import next_number
from ..ops.core.call_lengths import Length
from ..ops.core.tracing import Trace

LEAST, MOST = -(2**63), 2**63 - 1
STEPS = 2**50
"""More steps than a loop can make."""
_LENGTH = 2**48
"""More elements than memory holds."""


class Interval(NamedTuple):
    """The least and the greatest value of an integer; with `grows`, its distance from a state of a loop."""

    low: int
    high: int
    grows: bool = False

    def fits(self) -> bool:
        """Whether the interval lies within 64 bits."""
        return self.low >= LEAST and self.high <= MOST

    def holds(self, other: Interval) -> bool:
        """Whether another interval lies within this one."""
        return self.low <= other.low and other.high <= self.high


WHOLE = Interval(LEAST, MOST)
OF_CALL = Interval(-(2**31), 2**31 - 1)
"""Numbers of the call in this interval are in it in all calls of the trace, by a guard."""


def hull(a: Interval, b: Interval) -> Interval:
    """Return the least interval that holds two."""
    return Interval(min(a.low, b.low), max(a.high, b.high), a.grows)


def widened(attempt: int, found: Interval) -> Interval:
    """Return an interval for the next attempt at one that a step of a loop does not leave."""
    half = Interval(0 if found.low >= 0 else -(2**61), 2**61)
    return found if attempt == 1 else half if attempt == 2 and half.holds(found) else WHOLE


# --- the interval of an expression


def interval(trace: Trace, value: Any, leaf: Variable | None = None) -> Interval:
    """Return the interval of an integer; with the `leaf` of a state, its growth if it is the state plus something."""
    if type(value) is Length:
        return Interval(0, _LENGTH)
    if not isinstance(value, Variable):
        return Interval(int(value), int(value))
    known = trace.intervals if leaf is None else {leaf: Interval(0, 0, True)}
    waiting: list[Variable] = [value]
    while waiting:
        v = waiting[-1]
        if v in known:
            waiting.pop()
            continue
        if leaf is not None and (v.number < leaf.number or (v in trace.intervals and v.owner is None)):
            known[v] = interval(trace, v)
            continue
        needed = _needed(trace, v, leaf)
        missing = [p for p in needed if p not in known]
        if missing:
            waiting += missing
            continue
        known[v] = _made(trace, v, [known[p] for p in needed], leaf)
    return known[value]


def _needed(trace: Trace, v: Variable, leaf: Variable | None) -> Sequence[Any]:
    """Return the variables that an interval is made of."""
    if v in trace.choices:
        return trace.choices[v]
    if leaf is not None and v in trace.grown:
        return trace.grown[v][:1]
    name = "" if v.owner is None else v.owner.op.name
    if v.type.kind not in "iu" or name not in FORMULAS or v.ndim:
        return ()
    return v.owner.inputs[1:] if name == "switch" else v.owner.inputs  # type: ignore[union-attr]


def _made(trace: Trace, v: Variable, parts: list[Interval], leaf: Variable | None) -> Interval:
    """Return the interval of a variable by those of its parts."""
    limits = _limits(v)
    if v in trace.grown and leaf is not None:
        (before,), growth = parts, trace.grown[v][1]
        if before.grows:
            return Interval(before.low + growth.low, before.high + growth.high, True)
        return interval(trace, v)
    if not parts:
        return _of_input(trace, v, limits)
    name = "switch" if v in trace.choices else v.owner.op.name  # type: ignore[union-attr]
    growing = [p.grows for p in parts]
    if any(growing) and not (
        all(growing) if name in ("switch", "identity", "cast") else
        (name == "add" and sum(growing) == 1) or (name == "sub" and growing == [True, False])
    ):
        state = trace.intervals.get(leaf, WHOLE) if leaf is not None else WHOLE
        parts = [Interval(state.low + p.low, state.high + p.high) if p.grows else p for p in parts]
    found = FORMULAS[name](*parts)
    found = Interval(found.low, found.high, any(p.grows for p in parts))
    if found.grows or limits.holds(found):
        return found
    if v in trace.numbers:  # checked, so it is within the limits
        return Interval(max(found.low, limits.low), min(found.high, limits.high))
    return limits


def _of_input(trace: Trace, v: Variable, limits: Interval) -> Interval:
    """Return the interval of a constant, an argument, a length or what is not followed."""
    if isinstance(v, Constant) and not v.ndim and v.type.kind in "biu":
        return Interval(int(v.data), int(v.data))
    number = trace.numbers.get(v)
    known = number.known if v.owner is None and number is not None and number.kind is int else None
    if known is not None and OF_CALL.low <= known.value <= OF_CALL.high:
        trace.assumed[known.text] = None
        return OF_CALL
    if v.owner is not None and v.owner.op.name == "shape_i":
        return Interval(0, _LENGTH)
    return limits


def _limits(v: Variable) -> Interval:
    """Return the interval of all values of a dtype."""
    if v.type.kind not in "iu":
        return Interval(0, 1) if v.type.kind == "b" else WHOLE
    info = np.iinfo(v.type.numpy)
    return Interval(int(info.min), int(info.max))


def _ends(f: Callable[[int, int], int], a: Interval, b: Interval) -> Interval:
    """Return the interval of an operation that is monotone in each operand."""
    found = [f(x, y) for x in (a.low, a.high) for y in (b.low, b.high)]
    return Interval(min(found), max(found))


def _size(a: Interval) -> int:
    return max(abs(a.low), abs(a.high))


_ENDLESS = Interval(-(2**200), 2**200)


def _mod(a: Interval, b: Interval) -> Interval:
    if b.low > 0:
        return Interval(0, min(b.high - 1, a.high)) if a.low >= 0 else Interval(0, b.high - 1)
    return Interval(-_size(b), _size(b))


def _floor_div(a: Interval, b: Interval) -> Interval:
    return _ends(lambda x, y: x // y, a, b) if b.low > 0 else Interval(-_size(a), _size(a))


def _and(a: Interval, b: Interval) -> Interval:
    highs = [p.high for p in (a, b) if p.low >= 0]
    return Interval(0, min(highs)) if highs else WHOLE


def _or(a: Interval, b: Interval) -> Interval:
    return Interval(0, 2 ** max(a.high, b.high).bit_length() - 1) if min(a.low, b.low) >= 0 else WHOLE


def _right_shift(a: Interval, b: Interval) -> Interval:
    if b.low < 0:
        return WHOLE
    return _ends(lambda x, y: x >> min(y, 64), a, b)


def _left_shift(a: Interval, b: Interval) -> Interval:
    return _ends(lambda x, y: x << y, a, b) if b.low >= 0 and b.high <= 64 else _ENDLESS


def _pow(a: Interval, b: Interval) -> Interval:
    if b.low < 0 or b.high > 64:
        return Interval(-1, 1) if _size(a) <= 1 else _ENDLESS
    if a.low >= 0:
        return Interval(a.low**b.low if a.low else 0, a.high**b.high if a.high else 1)
    return Interval(-(_size(a) ** b.high), _size(a) ** b.high)


def _abs(a: Interval) -> Interval:
    return Interval(0 if a.low <= 0 <= a.high else min(abs(a.low), abs(a.high)), _size(a))


FORMULAS: dict[str, Callable[..., Interval]] = {
    "add": lambda *parts: Interval(sum(p.low for p in parts), sum(p.high for p in parts)),
    "sub": lambda a, b: Interval(a.low - b.high, a.high - b.low),
    "mul": lambda a, b: _ends(lambda x, y: x * y, a, b),
    "neg": lambda a: Interval(-a.high, -a.low), "abs": _abs, "mod": _mod, "floor_div": _floor_div,
    "maximum": lambda *parts: Interval(max(p.low for p in parts), max(p.high for p in parts)),
    "minimum": lambda *parts: Interval(min(p.low for p in parts), min(p.high for p in parts)),
    "switch": hull, "identity": lambda a: a, "cast": lambda a: a,
    "bitwise_and": _and, "bitwise_or": _or, "bitwise_xor": _or, "right_shift": _right_shift,
    "left_shift": _left_shift, "pow": _pow,
}  # fmt: skip


# --- tests that narrow intervals


def refined(trace: Trace, test: Any, value: Any, own: Interval, holds: bool = True) -> Interval:
    """Return the interval of a value where a test holds, or does not: comparisons with integers, joined by `and`."""
    low, high = own.low, own.high
    for name, a, b in _comparisons(test, holds):
        if a is value:
            other = interval(trace, b)
        elif b is value:
            name, other = _SWAPPED[name], interval(trace, a)
        else:
            continue
        if name in ("lt", "le", "eq"):
            high = min(high, other.high - (name == "lt"))
        if name in ("gt", "ge", "eq"):
            low = max(low, other.low + (name == "gt"))
    return Interval(low, high) if low <= high else own


_NEGATED = {"lt": "ge", "le": "gt", "gt": "le", "ge": "lt", "eq": "ne", "ne": "eq"}
_SWAPPED = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le", "eq": "eq"}


def _comparisons(test: Any, holds: bool) -> Iterator[tuple[str, Any, Any]]:
    """Yield the comparisons of integers that are true where a test holds, or does not."""
    waiting = [(test, holds)]
    while waiting:
        t, positive = waiting.pop()
        name = t.owner.op.name if isinstance(t, Variable) and t.owner is not None else ""
        if name == "logical_not":
            waiting.append((t.owner.inputs[0], not positive))
        elif name == ("logical_and" if positive else "logical_or"):
            waiting += [(i, positive) for i in t.owner.inputs]
        elif name in _NEGATED:
            a, b = t.owner.inputs
            name = name if positive else _NEGATED[name]
            if name != "ne" and a.type.kind in "iu" and b.type.kind in "iu" and not a.ndim and not b.ndim:
                yield name, a, b


@contextmanager
def narrowed(trace: Trace, test: Any, holds: bool) -> Iterator[None]:
    """Context of a branch that is taken where a test holds, or does not: the intervals that its comparisons leave."""
    compared = [v for _, a, b in _comparisons(test, holds) for v in (a, b) if not isinstance(v, Constant)]
    found = {v: refined(trace, test, v, interval(trace, v), holds) for v in compared} if trace.of_call else {}
    if not found:
        yield
        return
    outer, first = trace.intervals, next_number()
    layer = trace.intervals = ChainMap(found, outer)  # type: ignore[assignment,arg-type]
    try:
        yield
    finally:
        trace.intervals = outer
        outer.update((v, own) for v, own in layer.maps[0].items() if v.number >= first)
