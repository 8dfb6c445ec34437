"""Loops on a device: the host starts the kernels of each step without waiting for them.

Sequences, states and traces stay on the device.  A step reads a slice of a sequence by its offset.  It writes each
result into its row of a trace, or alternately into one of two arrays.  The launches of the second step are recorded and
replayed with other arrays in later steps: see tape.py.  A profile waits for each node of the four steps before.  A loop
`until` a condition reads one flag per step.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from ...cbackend.program.program import Array, Buffer, Loop
from ..engine import EngineError
from .call import Recorder
from .memory import is_dense
from .tape import Tape
from .values import Sides, Unplanned, Values

_TIMED = range(1, 5)
"""Steps whose nodes a profiled loop waits for; the first one builds kernels."""
_ROWS = 16
"""First rows of the trace of a loop that may end early; the number doubles as needed."""
RunSteps = Callable[[Values, str], None]


def run_loop(step: Loop, results: Sequence[Array], values: Values, name: str, run_steps: RunSteps) -> None:
    """Run a loop on the device, and add its results to the values.

    Raises Unplanned for a loop without steps, a state that changes its shape, and an error that NumPy must report.
    """
    if values.number(step.steps) < 1:
        raise Unplanned
    call, small = values.call, values.call.small
    try:
        call.small = 0  # a launch without a wait is cheap
        _Run(step, results, values, name, run_steps).run()
    except EngineError:
        raise
    except (ArithmeticError, LookupError, TypeError, ValueError, np.linalg.LinAlgError) as error:
        raise Unplanned from error
    finally:
        call.small = small


class _Run:
    """One run of a loop."""

    def __init__(self, step: Loop, results: Sequence[Array], values: Values, name: str, run_steps: RunSteps) -> None:
        self._step, self._results, self._values, self._name, self._run_steps = step, results, values, name, run_steps
        self._count, self.ends_early = values.number(step.steps), step.count is not None
        self._body, self._call, self._memory = values.schedule.bodies[step.body], values.call, values.call.memory
        inputs, outputs = self._body.program.inputs, self._body.outputs
        given = (*step.sequences, *step.states, *step.others)
        self._outer: dict[Array, Sides] = {i: self._sides(i, v) for i, v in zip(inputs, given, strict=True)}
        first, last = len(step.sequences), len(step.sequences) + len(step.states)
        self._sequences, self._states, self._others = inputs[:first], inputs[first:last], inputs[last:]
        self._kept = outputs[: len(step.results)]
        self._is_traced = [k >= len(self._states) or step.traced[k] for k in range(len(self._kept))]
        self._traces: list[_Trace | None] = [None] * len(self._kept)
        self._own: set[int] = set()
        self._profile, self._call.body_rows = self._call.body_rows, None
        self._recorded_step = 1 if self._profile is None else _TIMED.stop

    def _sides(self, inner: Array, outer: Array) -> Sides:
        """Return a value on the sides (host, device) where the body reads it."""
        body, values, memory = self._body, self._values, inner.base
        if memory in body.host:
            values.on_host(outer)
        if memory in body.device or (memory not in body.host and memory in body.returned):
            values.on_device(outer)
        return values.sides(outer)

    def run(self) -> None:
        """Run all steps and store the results among the values."""
        states: list[Sides] = [self._outer[s] for s in self._states]
        done = 0
        while done < self._count:
            recording = done == self._recorded_step and self._count > done + 2 and self._call.recorder is None
            tape, states, ended = self._recorded(done, states) if recording else (None, *self._stepped(done, states))
            done += 1
            if tape is not None and not ended:
                try:
                    states, done = self._played(tape, states, done)
                finally:
                    tape.end()
                break
            if ended:
                break
        if self._profile is not None:
            self._profile.count(done)
        self._finish(states, done)

    # --- a step
    def _inner(self, number: int, states: Sequence[Sides]) -> Values:
        """Return the operands of the body in step `number`."""
        inner = Values(self._call, self._body, is_body=True)
        for i in self._sequences:
            host, there = self._outer[i]
            row = None if there is None else self._memory.row(there, number)
            inner.give(i, (None if host is None else host[number, ...], row))
        for i, sides in zip(self._states, states):
            inner.give(i, sides)
        for i in self._others:
            inner.give(i, self._outer[i])
            inner.steady.add(i.base)
        return inner

    def _stepped(self, number: int, states: Sequence[Sides]) -> tuple[list[Sides], bool]:
        """Run a step; return the next states, and whether the loop ends."""
        inner, places = self._inner(number, states), self._places(number)
        if self._profile is not None and (number in _TIMED or self._count == 1):
            self._profile.measure_step(self._call, partial(self._run_step, inner, places))
        else:
            self._run_step(inner, places)
        return self._after(number, inner, states, places), self._ends(inner)

    def _run_step(self, inner: Values, places: Sequence[Any]) -> None:
        """Run a step, whose kernels write to the places of its results."""
        whole = (o.dense and isinstance(o.base, Buffer) for o in self._kept)
        inner.places = {o.base: p for o, p, own in zip(self._kept, places, whole, strict=True) if own and p is not None}
        self._run_steps(inner, self._name)

    def _places(self, number: int) -> list[Any]:
        """Return the place of each result of a step on the device; None if it is on the host or unknown."""
        return [None if t is None or not t.there else t.row(number) for t in self._traces]

    def _after(self, number: int, inner: Values, states: Sequence[Sides], places: Sequence[Any]) -> list[Sides]:
        """Store the results of a step in their places; return the next states."""
        found = []
        for k, (output, place) in enumerate(zip(self._kept, places)):
            host, there = inner.sides(output)
            if there is None and place is not None:
                there = inner.on_device(output)
            array = host if there is None else there
            if k < len(states) and array.shape != next(s for s in states[k] if s is not None).shape:
                raise Unplanned
            if self._traces[k] is None:
                self._traces[k] = _Trace(self, array, there is not None, self._is_traced[k])
                if there is not None and (self._is_traced[k] or not is_dense(there)):
                    place = self._traces[k].row(number)  # type: ignore[union-attr]
            elif self._traces[k].shape != array.shape:  # type: ignore[union-attr]
                raise Unplanned
            found.append(self._placed(k, host, there, place))
        return found[: len(states)]

    def _placed(self, k: int, host: Any, there: Any, place: Any) -> Sides:
        if there is None:
            self._traces[k].rows.append(host)  # type: ignore[union-attr]
            return host, None
        if place is None:
            return host, there
        if place is not there:
            self.copy(place, there)
        self._own.add(id(place))
        return None if host is None or host.ndim else host, place

    def _ends(self, inner: Values) -> bool:
        if not self.ends_early:
            return False
        if self._call.has_refused():
            raise Unplanned
        return bool(inner.on_host(self._body.outputs[-1]))

    def copy(self, into: Any, array: Any) -> None:
        """Copy an array on the device."""
        self._body.copies.copy(into, array, self._call)

    # --- many steps
    def _recorded(self, number: int, states: Sequence[Sides]) -> tuple[Tape | None, list[Sides], bool]:
        """Record a step; return a tape of it if it can be replayed, the next states, and whether it ends."""
        inner, places = self._inner(number, states), self._places(number)
        self._call.recorder = recorder = Recorder()
        try:
            self._run_step(inner, places)
            after = self._after(number, inner, states, places)
        finally:
            self._call.recorder = None
        steady = not recorder.broken and all(p is not None for p in places)
        if not steady or any(there is None for _, there in (*states, *after)):
            return None, after, self._ends(inner)
        if any(self._memory.strides(a[1]) != self._memory.strides(b[1]) for a, b in zip(states, after)):
            return None, after, self._ends(inner)
        self._condition = inner.on_device(self._body.outputs[-1]) if self.ends_early else None
        slots = [*self._rows(number), *(there for _, there in states), *places]
        fixed = [self._outer[i][1] for i in self._others if self._outer[i][1] is not None]
        try:
            tape = Tape(recorder, slots, self._call, fixed)
        except ValueError:
            tape = None
        return tape, after, self._ends(inner)

    def _rows(self, number: int) -> list[Any]:
        """Return row `number` of each sequence on the device."""
        found = (self._outer[i][1] for i in self._sequences)
        return [self._memory.row(there, number) for there in found if there is not None]

    def _played(self, tape: Tape, states: list[Sides], done: int) -> tuple[list[Sides], int]:
        """Replay the steps from `done` on; return the last states and the number of steps that have run."""
        memory, call = self._memory, self._call
        while done < self._count:
            places = self._places(done)
            tape.play([*self._rows(done), *(there for _, there in states), *places], call)
            self._own.update(map(id, places))
            states = [(None, place) for place in places[: len(states)]]
            done += 1
            if self._condition is not None:
                if call.has_refused():
                    raise Unplanned
                if bool(memory.get(self._condition, call.traffic)):
                    break
        return states, done

    def _finish(self, states: Sequence[Sides], done: int) -> None:
        """Store the results among the values."""
        values = self._values
        if self._step.count is not None:
            values.numbers[self._step.count] = done
        for k, result in enumerate(self._results):
            trace = self._traces[k]
            assert trace is not None
            if not self._is_traced[k]:
                host, there = states[k]
                if there is not None and id(there) in self._own:
                    values.made(result, there)
                elif there is None:
                    values.know_result(result, host)
                else:
                    values.know(result, (host, there))
            elif trace.there:
                values.made(result, trace.whole(done))
            else:
                values.know_result(result, np.array(trace.rows))


class _Trace:
    """The rows of a result, in one array on the device or in a list on the host; or two alternating buffers."""

    def __init__(self, run: _Run, like: Any, there: bool, is_traced: bool) -> None:
        self._run, self.there, self._dtype, self.shape = run, there, like.dtype, tuple(like.shape)
        self.rows: list[Any] = []
        self._is_traced = is_traced
        self._array: Any = None
        self._turns: list[Any] = []
        if there and is_traced:
            count = run._count
            self._room = min(count, _ROWS) if run.ends_early else count
            self._array = self._made(self._room)

    def _made(self, rows: int) -> Any:
        return self._run._call.empty(self._dtype, (rows, *self.shape))

    def row(self, number: int) -> Any:
        """Return the place for the result of a step."""
        memory = self._run._memory
        if not self._is_traced:
            self._turns.append(self._turns.pop(0) if len(self._turns) > 1 else self._new_turn())
            return self._turns[-1]
        if number >= self._room:
            old, self._room = self._array, min(2 * self._room, self._run._count)
            self._array = self._made(self._room)
            self._run.copy(memory.view(self._array, operator.itemgetter(slice(0, number))), old)
        return memory.row(self._array, number)

    def _new_turn(self) -> Any:
        return self._run._call.empty(self._dtype, self.shape)

    def whole(self, count: int) -> Any:
        """Return the first `count` rows."""
        if count == self._room:
            return self._array
        return self._run._memory.view(self._array, operator.itemgetter(slice(0, count)))
