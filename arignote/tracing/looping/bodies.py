"""The body of a loop as a graph: it is traced until its states no longer change.

The first trace has the values before the loop, and shows what the body changes.  The next ones have symbolic states for
that, in dtypes that hold the values before and after a step.  States are the names that the body assigns and that are
read later, and the arrays that it writes to.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from types import FunctionType
from typing import Any, NamedTuple

import numpy as np

from ... import ops as T
from ...control.bodies import moved_inside
from ...control.segments import every, segmented
from ...graph import Older, TensorType, Variable, rebuild
from ...graph.provenance import here, line, marking, next_number
from ...ops.control.scan_ops import ENDLESS, Scan, UnfitState, looped
from ...ops.control.while_ops import While
from ...ops.core.checks import shown
from ...ops.core.tensor import TensorVariable, as_tensor
from ...ops.core.traced import WIDE, adopt, keep_class
from ...ops.core.tracing import Trace, comparing
from ...ops.shapes.lengths import known_length
from ...ops.shapes.stored import base_of, now
from ...tree import flat, unflat
from ..branches import _called, _now, truth
from ..growing.changes import require_one_list
from ..growing.kinds import kind_of
from ..growing.rooms import in_steps, rooms_now
from ..growing.wanted import renew
from ..integers import left_now
from ..intervals import STEPS, WHOLE, Interval, hull, interval, refined, widened
from ..iterables import Steps
from ..saved import is_value
from ..undefined import Undefined

_ATTEMPTS = 12
"""Most traces of a body until its states no longer change."""
Get = Callable[[], tuple[Any, ...]]
Put = Callable[[tuple[Any, ...]], None]


class State:
    """A part of a name that the body changes: its kind, its value before the loop, the leaf in the body."""

    def __init__(self, name: str, before: Any, first: Any) -> None:
        self.name = name
        self.before = before
        """The value before the loop.  A number that becomes an array takes its lengths from the value after a step."""
        self.kind = kind_of(first) if type(before) is Undefined else kind_of(before)
        self.frozen = ""
        self.leaf: Any = None
        self.like: Any = None
        self.limits: Any = None
        """The interval of an integer at the begin of each step, assumed while a body is traced."""
        self.widened = 0
        self.result: Any = None
        """The interval of an integer after the loop."""
        self.growth: Any = None
        """The interval of the difference that all steps make to an integer."""

    def again(self, trace: Trace, before: Any) -> State | None:
        """Return the state of another value before the loop; None if that is not of a wider kind."""
        is_new = type(before) is Undefined
        if is_new != (type(self.before) is Undefined) or not (is_new or is_value(before)):
            return None
        found = State(self.name, before, self.leaf)
        kind = self.kind if is_new else self.kind.joined(found.kind)
        if kind is None or kind.ndim != (0 if is_new else found.kind.ndim) or (
            not is_new and kind_of(self.before).joined(found.kind) != found.kind
        ):
            return None
        found.kind, found.frozen, found.limits, found.widened = kind, self.frozen, self.limits, self.widened
        if found.limits is not None and not is_new:
            found.limits = hull(found.limits, interval(trace, before))
        return found


class Settled(NamedTuple):
    """The states of a loop inside of another one, where the next trace of that one's body begins.

    The states of the loop around have been widened by then, so those of this loop are at least as wide as before.
    """

    key: Any
    """The body's code and the lines of the calls that lead to it."""
    states: Mapping[int, tuple[Any, Sequence[State]]]
    bases: Sequence[Variable]
    inside: Sequence[Settled]
    """Those of the loops within it."""


class Loop:
    """One loop in the making.  `body`: the function of a step."""

    def __init__(
        self, trace: Trace, names: Sequence[str], get: Get, put: Put, body: Callable[..., None]
    ) -> None:
        self.trace, self.names, self.get, self.put = trace, names, get, put
        self.before: tuple[Any, ...] = get()
        self.stored: dict[Variable, Any] = dict(trace.stored)
        self.key: Any = body.__code__, tuple(here())
        self.known: Sequence[Settled] = ()
        """The loops inside, as the last trace of the body left them."""
        self.found: list[Settled] = []
        """The loops inside so far, in this trace of the body."""
        self.outer: int = next_number()
        """Variables with smaller numbers are older than the last trace of the body."""
        self.states: dict[int, tuple[Any, list[State]]] = {}
        """For each name that changes: its form, and the states of its leaves."""
        self.bases: dict[Variable, Any] = {}
        """The leaf of each array that the body writes to."""
        self.index: Any = None
        self.marks: Any = None
        self.most: int = STEPS
        """The greatest number of steps."""
        self.test: Any = None
        """Of a `while`: the test after a step."""
        self.rooms: list[Any] = rooms_now()
        self.counted: list[Any] = [r.appended for r in self.rooms]
        self.taken: list[Any] = [r.taken for r in self.rooms]

    # --- the loops
    def over(self, steps: Steps, body: Callable[[Any], None], stop: Callable[[], Any] | None) -> None:
        count = steps.count()
        self.most = max(min(interval(self.trace, count).high, STEPS), 1)

        def step() -> Any:
            body(steps.at(self.index))
            ended, left = False if stop is None else truth(stop()), left_now(self.trace)
            if left is self.left or not self.trace.ends_loops:
                return ended
            return left if ended is False else T.logical_or(left, ended)  # an error of the function ends the loop

        ended = self._settled(step)
        in_steps(self.rooms, self.counted, steps.variable() if self.rooms else None, self.index, self.first)
        new, leaves, firsts = self._parts()
        if not leaves:
            self._finish([])
            return
        condition = None if ended is False else as_tensor(ended)
        self._finish(self._applied(Scan, as_tensor(steps.variable()), leaves, firsts, new, condition))

    def while_(self, goes_on: Callable[[], Any], body: Callable[[], None]) -> None:
        before = goes_on()
        self.before = self.get()
        self.stored = dict(self.trace.stored)

        def step() -> Any:
            body()
            self.test, goes = goes_on(), None
            left = left_now(self.trace)
            ends = [] if left is self.left else [T.logical_not(left)]
            for end in [*ends, *(r.fits(self.trace) for r in self.rooms if r.read)]:
                goes = T.logical_and(truth(self.test if goes is None else goes), end)
            return self.test if goes is None else goes

        found = self._settled(step)
        in_steps(self.rooms, self.counted, None, self.index, self.first)
        new, leaves, firsts = self._parts()
        endless, none = T.constant(ENDLESS, "int64"), T.constant(0, "int64")
        steps = endless if before is True else T.switch(before, endless, none)
        ended = T.logical_not(as_tensor(found))
        self._finish(self._applied(While, steps, leaves, firsts, new, ended))

    def _applied(
        self, kind: type[Scan], steps: Any, leaves: list[Any], firsts: list[Any], new: list[Any], condition: Any
    ) -> list[Any]:
        drawn = {v: v.default_update for v in moved_inside(new, self.marks)}
        replaced: dict[Variable, Variable] = {v: TensorVariable(v.type, name=v.name) for v in drawn}
        changed = [*new, *drawn.values(), *([] if condition is None else [condition])]
        if replaced:
            changed = rebuild(changed, {**replaced}, stop_at=Older.than(replaced))
        end = changed.pop() if condition is not None else None
        over = kind is Scan
        order = [T.arange(steps)] if over else ()
        parts = order, [self.index] if over else (), [*firsts, *drawn], [*leaves, *replaced.values()], changed, ()
        last_only = (False,) * len(changed)
        part = self._steps_of_part(steps) if over and end is None else None
        try:
            if part is not None:
                results = segmented(steps, part, *parts, last_only)
            else:
                results = looped(kind, steps, *parts, end, last_only)
        except UnfitState as error:
            raise TypeError(f"loop: {error}; arrays keep their shape in a loop: make one of the last shape before it"
                            f"{line()}") from None  # fmt: skip
        for v, moved in zip(drawn, results[len(firsts) :], strict=True):
            v.default_update = moved
            for room in self.rooms:
                room.drawn.append(v)
        return list(results[: len(firsts)])

    def _steps_of_part(self, steps: Any) -> Any:
        """Return the number of steps between states that the derivative keeps; None if it keeps all."""
        if self.trace.checkpoint is None:
            return None
        found = every(self.trace.checkpoint, steps, False, -1)
        count, size = known_length(steps), known_length(found)
        return None if count is not None and size is not None and count <= size else found

    # --- the body
    def _settled(self, step: Callable[[], Any]) -> Any:
        """Trace the body until its states no longer change; return what the step returns."""
        trace, around, before, own = self.trace, self.trace.loop, self.trace.graphs, self.outer
        if around is not None:
            self._begin_as_before(around)
        for _ in range(_ATTEMPTS):
            trace.loop, trace.graphs, self.found = self, before + 1, []
            try:
                found = self._traced(step)
            finally:
                trace.loop = around
            self.known, self.outer = self.found, own
            if self._is_settled():
                if around is not None:
                    around.found.append(Settled(self.key, self.states, [*self.bases], self.known))
                return found
        names = ", ".join(_called(self.names[k]) for k in self.states)
        raise TypeError(f"loop: the dtypes or shapes of {names} do not settle; give them their type before the loop"
                        f"{line()}")  # fmt: skip

    def _begin_as_before(self, around: Loop) -> None:
        """Begin with the states that this loop had in the last trace of the body around, if that had the same loops."""
        place = len(around.found)
        keys = [*(one.key for one in around.found), self.key]
        if keys != [one.key for one in around.known[: place + 1]]:
            return
        last = around.known[place]
        self.known, self.outer = last.inside, around.outer
        self.bases.update((b, None) for b in last.bases if b.number < around.outer)
        for k, (form, states) in last.states.items():
            begun = self._states_as_before(k, form, states)
            if begun is not None:
                self.states[k] = form, begun

    def _states_as_before(self, k: int, form: Any, last: Sequence[State]) -> list[State] | None:
        """Return the states of a name with the kinds that they had; None if its value before the loop has others."""
        before, olds = _now(self.trace, self.before[k]), []
        if type(before) is Undefined:
            olds = [before] * len(last)
        elif flat(before, olds, records=None) != form:
            return None
        found = [s.again(self.trace, old) for s, old in zip(last, olds, strict=True)]
        return None if None in found else found  # type: ignore[return-value]

    def _traced(self, step: Callable[[], Any]) -> Any:
        trace = self.trace
        self.index = TensorVariable(TensorType("int64", ()), name="step")
        self.first: Any = self.index.number
        adopt(trace, self.index)
        trace.intervals[self.index] = Interval(0, self.most - 1)
        values = list(self.before)
        for k, (form, states) in self.states.items():
            leaves = [self._leaf(s) for s in states]
            values[k] = unflat(form, iter(leaves))
        trace.stored = dict(self.stored)
        for base in self.bases:
            leaf = TensorVariable(now(trace, base).type, name=base.name)
            adopt(trace, leaf)
            trace.inside([(leaf, base, 0)])
            self.bases[base] = leaf
        trace.stored.update(self.bases)
        self.left: Any = left_now(trace)
        for room, taken in zip(self.rooms, self.taken, strict=True):
            room.appended, room.taken = 0, taken
        self.put(tuple(values))
        self.start: tuple[Any, ...] = tuple(values)
        trace.open.append(self.put)
        try:
            with comparing(), marking() as self.marks:
                found = step()
                renew(trace, self.get, self.put)
                self.ends: tuple[Any, ...] = self.get()
                self.values: list[Any] = [_now(trace, v) for v in self.ends]
        finally:
            trace.open.pop()
        self.after: dict[Variable, Any] = {b: v for b, v in trace.stored.items() if b.number < self.first}
        self.inner: set[Variable] = {b for b in trace.stored if b.number >= self.first}
        return found

    def _leaf(self, state: State) -> Any:
        kind = state.kind
        shape: tuple[int | None, ...] = (None,) * kind.ndim
        before = state.before
        if isinstance(before, Variable) and before.ndim == kind.ndim:
            shape = before.type.shape
        elif isinstance(before, np.ndarray) and before.ndim == kind.ndim:
            shape = before.shape
        elif state.like is not None:
            shape = state.like.type.shape
        leaf: Any = TensorVariable(TensorType(kind.dtype, shape), name=state.name)
        adopt(self.trace, leaf)
        keep_class(self.trace, leaf, kind.cls)
        if kind.cls in WIDE and state.limits is not None:
            self.trace.intervals[leaf] = state.limits
        if isinstance(before, Variable) and before.ndim == kind.ndim:
            self.trace.inside([(leaf, before, 0)])
        if state.frozen:
            self.trace.frozen[leaf] = state.frozen
        state.leaf = leaf
        return leaf

    def _is_settled(self) -> bool:
        """Add the states that the last trace has shown; return whether there were none."""
        known = [self._same_state(k) for k in range(len(self.names))]
        new = [b for b, v in self.after.items() if b not in self.bases and v is not self.stored.get(b)]
        self.bases.update((b, None) for b in new)
        return all(known) and not new

    def _same_state(self, k: int) -> bool:
        start, end, value = self.start[k], self.ends[k], self.values[k]
        if end is start:
            return True
        if k not in self.states:
            if _equal(start, end) or (type(start) is Undefined and type(end) is FunctionType):
                return True  # a function that each step defines is its own
            if type(start) is Undefined and isinstance(end, (str, type(None))):
                self.before = (*self.before[:k], end, *self.before[k + 1 :])
                return False
            require_one_list(_called(self.names[k]), self.before[k], end)
            self.states[k] = self._begun(k, end, value)
            return False
        form, states = self.states[k]
        leaves: list[Any] = []
        if flat(value, leaves, records=None) != form:
            raise TypeError(f"loop: {_called(self.names[k])} is {shown(self.before[k])} before a step and "
                            f"{shown(value)} after it; expected one form{line()}")  # fmt: skip
        fits = [self._same_part(s, v, end) for s, v in zip(states, leaves, strict=True)]
        return all(fits)

    def _begun(self, k: int, end: Any, value: Any) -> tuple[Any, list[State]]:
        name, before = self.names[k], _now(self.trace, self.before[k]) if self.before else None
        parts: list[Any] = []
        form = flat(value, parts, records=None)
        olds: list[Any] = [before] * len(parts)
        if type(before) is not Undefined:
            olds = []
            if flat(before, olds, records=None) != form:
                raise TypeError(f"loop: {_called(name)} is {shown(before)} before the loop and {shown(value)} after a "
                                f"step; expected one form{line()}")  # fmt: skip
        for v in (*parts, *(o for o in olds if type(o) is not Undefined)):
            if not is_value(v):
                raise TypeError(f"loop: {_called(name)} becomes {shown(v)} in a loop whose steps are symbolic; "
                                f"expected numbers and arrays{line()}")  # fmt: skip
        made = [State(name, o, v) for o, v in zip(olds, parts, strict=True)]
        for s, v in zip(made, parts, strict=True):
            self._same_part(s, v, end)
        return form, made

    def _same_part(self, state: State, value: Any, end: Any) -> bool:
        """Whether a value after a step is of the kind of its state, which is widened if not."""
        kind = state.kind.joined(kind_of(value))
        if kind is None:
            raise TypeError(f"loop: {_called(state.name)} is {shown(state.before)} before the loop and {shown(value)}, "
                            f"of another rank, after a step; arrays keep their rank in a loop{line()}")  # fmt: skip
        frozen = state.frozen
        if isinstance(end, Variable) and end.ndim and (base_of(end).number < self.first or self._is_doubled(end)):
            frozen = f"{_called(state.name)} is another array, or a part of one, after each step of a loop"
        if kind.ndim and (type(state.before) is Undefined or as_tensor(state.before).ndim < kind.ndim) and (
            state.like is None
        ):
            state.like = self._first_value(as_tensor(value))
        within = kind.cls is not int or self._stays(state, value)
        if kind == state.kind and frozen == state.frozen:
            return within
        state.kind, state.frozen = kind, frozen
        return False

    def _stays(self, state: State, value: Any) -> bool:
        """Whether an integer stays within its interval in all steps; the interval is widened if not."""
        trace = self.trace
        before = Interval(0, 0) if type(state.before) is Undefined else interval(trace, state.before)
        after = interval(trace, value)
        joined = hull(before, refined(trace, self.test, value, after))
        start = state.leaf if state.leaf is not None else state.before
        growth = interval(trace, value, start) if isinstance(start, Variable) else _guessed(value, before, after)
        grown = None
        if growth.grows:
            ends = self.most * min(growth.low, 0), self.most * max(growth.high, 0)
            grown = Interval(before.low + ends[0], before.high + ends[1])
            grown = grown if grown.fits() else None
        if state.limits is not None and state.leaf is not None:
            for found in (joined, grown):
                if found is not None and state.limits.holds(found):
                    state.result = hull(before, after) if found is joined else grown
                    state.growth = Interval(*ends, True) if growth.grows else None
                    return True
        state.widened += 1
        state.limits = widened(state.widened, grown or joined) if state.kind.cls is int else WHOLE
        return False

    def _is_doubled(self, end: Any) -> bool:
        return sum(isinstance(e, Variable) and base_of(e) is base_of(end) for e in self.ends) > 1

    def _first_value(self, value: Any) -> Any:
        """Return a value after the first step, of which only the lengths are read."""
        given: dict[Variable, Variable] = {self.index: T.constant(0, "int64")}
        for _, states in self.states.values():
            given.update((s.leaf, self._before(s)) for s in states if s.leaf is not None)
        given.update((leaf, now_before) for leaf, now_before in self._first_bases() if leaf is not None)
        return rebuild([value], given, stop_at=Older.than(given))[0]

    def _first_bases(self) -> list[tuple[Any, Any]]:
        return [(leaf, self.stored.get(base, base)) for base, leaf in self.bases.items()]

    def _before(self, state: State) -> Any:
        """Return the value of a state before the loop, in its kind."""
        dtype = state.kind.dtype
        if type(state.before) is Undefined:
            return T.zeros((), dtype) if state.like is None else T.zeros_like(state.like, dtype)
        v = as_tensor(state.before)
        v = v if v.dtype == dtype else T.cast(v, dtype)
        if v.ndim < state.kind.ndim:
            v = T.broadcast_to(v, T.lengths_of(state.like))
        return v

    def _parts(self) -> tuple[list[Any], list[Any], list[Any]]:
        """Return the new states, their leaves, and the first values."""
        new, leaves, firsts = [], [], []
        for k, (_, states) in self.states.items():
            parts: list[Any] = []
            flat(self.values[k], parts, records=None)
            for s, value in zip(states, parts, strict=True):
                v = as_tensor(value)
                v = v if v.dtype == s.kind.dtype else T.cast(v, s.kind.dtype)
                if v.ndim < s.kind.ndim:
                    v = T.broadcast_to(v, T.lengths_of(s.leaf))
                new.append(v)
                leaves.append(s.leaf)
                firsts.append(self._before(s))
        for base, leaf in self.bases.items():
            new.append(self.after[base])
            leaves.append(leaf)
            firsts.append(self.stored.get(base, base))
        return new, leaves, firsts

    # --- after the loop
    def _finish(self, results: list[Any]) -> None:
        """Give the names and arrays the values after the last step."""
        rest = iter(results)
        for r in results:
            adopt(self.trace, r)
        values = list(self.before)
        for k, (form, states) in self.states.items():
            parts = list(itertools.islice(rest, len(states)))
            for s, r in zip(states, parts, strict=True):
                self._note(s, r, self.before[k])
            values[k] = unflat(form, iter(parts))
        self.trace.stored = {**self.stored, **{base: next(rest) for base in self.bases}}
        self.put(tuple(values))

    def _note(self, s: State, result: Any, before: Any) -> None:
        """Note in the trace what is known of the last value of a state; `before`: the value of its name."""
        trace = self.trace
        keep_class(trace, result, s.kind.cls)
        if s.result is not None:
            trace.intervals[result] = s.result
            if s.growth is not None and isinstance(s.before, Variable):
                trace.grown[result] = s.before, s.growth
        if s.frozen:
            trace.frozen[result] = s.frozen
        if s.leaf in self.inner and isinstance(s.before, Variable) and s.kind.ndim:
            held = f"{_called(s.name)} is assigned and written in a loop, which works on a copy of it"
            trace.held[base_of(before)] = held


def _guessed(value: Any, before: Interval, after: Interval) -> Interval:
    """Return the growth of an integer by the first trace of a step, which began with a constant."""
    if isinstance(value, Variable) and (value.owner is None or value.owner.op.name not in ("add", "sub")):
        return after
    return Interval(after.low - before.high, after.high - before.low, True)


def _equal(a: Any, b: Any) -> bool:
    if type(a) is not type(b) or isinstance(a, Variable):
        return False
    return isinstance(a, (bool, int, str, type(None))) and a == b

