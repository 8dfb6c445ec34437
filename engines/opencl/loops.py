"""Loops on a device: the host starts the kernels of each step without waiting for them.

Sequences, states and traces stay on the device.  A step reads a slice of a sequence by its offset.  It writes each
result into its row of a trace, or alternately into one of two arrays.  The launches of the second step are recorded and
replayed with other arrays in later steps: see tape.py.  A loop `until` a condition reads one flag per step.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...graph import TensorType, Variable
from ...ops.control.scan_ops import Scan
from ...ops.core.tensor import TensorVariable
from ...ops.elementwise.records import fill
from ..engine import EngineError
from .call import Recorder
from .memory import is_dense
from .moves import elementwise_kernel
from .tape import Tape
from .values import Sides, Values

if TYPE_CHECKING:
    from .program import Body, Loop

_ROWS = 16
"""First rows of the trace of a loop that may end early; the number doubles as needed."""
RunBody = Callable[["Body", Values, str], None]


class _Unfit(Exception):
    """A state changes its shape, or a step leaves the device: NumPy runs the loop."""


def run_loop(step: Loop, values: Values, name: str, run_body: RunBody) -> bool:
    """Run a loop on the device; return False if NumPy must run it, or report an error."""
    op: Any = step.node.op
    number, sequences, _, _ = op.parts(step.node)
    count = int(values.on_host(number))
    if count < 1 or any(values.anywhere(s).shape[0] < count for s in sequences):
        return False
    call, small = values.call, values.call.small
    try:
        call.small = 0  # a launch without a wait is cheap
        _Run(step, values, name, run_body, count).run()
    except EngineError:
        raise
    except (_Unfit, ArithmeticError, LookupError, TypeError, ValueError, np.linalg.LinAlgError):
        return False
    finally:
        call.small = small
    return True


class _Run:
    """One run of a loop."""

    def __init__(self, step: Loop, values: Values, name: str, run_body: RunBody, count: int) -> None:
        self._op: Scan = step.node.op  # type: ignore[assignment]
        self._step, self._values, self._name, self._run_body, self._count = step, values, name, run_body, count
        self._body, self._call, self._memory = step.body, values.call, values.call.memory
        graph, op = self._body.graph, self._op
        _, *given = step.node.inputs
        self._outer: dict[Variable, Sides] = {i: self._sides(i, v) for i, v in zip(graph.inputs, given)}
        self._sequences, self._states = graph.inputs[: op.sequences], graph.inputs[op.states]
        self._others = graph.inputs[op.states.stop :]
        self._kept = graph.outputs[: len(graph.outputs) - op.until]
        self._is_traced = [k >= len(self._states) or op.traced[k] for k in range(len(self._kept))]
        self._traces: list[_Trace | None] = [None] * len(self._kept)
        self._own: set[int] = set()

    def _sides(self, inner: Variable, outer: Variable) -> Sides:
        """Return a value on the sides (host, device) where the body reads it."""
        body, values = self._body, self._values
        if inner in body.host:
            values.on_host(outer)
        if inner in body.device or (inner not in body.host and inner in body.graph.outputs):
            return values.sides(outer)[0], values.on_device(outer)
        return values.sides(outer)

    def run(self) -> None:
        """Run all steps and store the results among the values."""
        states: list[Sides] = [self._outer[s] for s in self._states]
        done = 0
        while done < self._count:
            recording = done == 1 and self._count > 3 and self._call.recorder is None
            tape, states, ended = self._recorded(states) if recording else (None, *self._stepped(done, states))
            done += 1
            if tape is not None and not ended:
                try:
                    states, done = self._played(tape, states, done)
                finally:
                    tape.end()
                break
            if ended:
                break
        self._finish(states, done)

    # --- a step
    def _inner(self, number: int, states: Sequence[Sides]) -> Values:
        """Return the operands of the body in step `number`."""
        inner = self._values.inside(self._body.constants)
        for i in self._sequences:
            host, there = self._outer[i]
            row = None if there is None else self._memory.row(there, number)
            inner.take(i, (None if host is None else host[number, ...], row))
        for i, sides in zip(self._states, states):
            inner.take(i, sides)
        for i in self._others:
            inner.take(i, self._outer[i])
            inner.steady.add(i)
        return inner

    def _stepped(self, number: int, states: Sequence[Sides]) -> tuple[list[Sides], bool]:
        """Run a step; return the next states, and whether the loop ends."""
        inner, places = self._inner(number, states), self._places(number)
        inner.places = {o: p for o, p in zip(self._kept, places) if p is not None}
        self._run_body(self._body, inner, self._name)
        return self._after(number, inner, states, places), self._ends(inner)

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
                raise _Unfit
            if self._traces[k] is None:
                self._traces[k] = _Trace(self, array, there is not None, self._is_traced[k])
                if there is not None and (self._is_traced[k] or not is_dense(there)):
                    place = self._traces[k].row(number)  # type: ignore[union-attr]
            elif self._traces[k].shape != array.shape:  # type: ignore[union-attr]
                raise _Unfit
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
        if not self._op.until:
            return False
        if self._call.has_refused():
            raise _Unfit
        return bool(inner.on_host(self._body.graph.outputs[-1]))

    def copy(self, into: Any, array: Any) -> None:
        """Copy an array on the device."""
        if 0 in into.shape:
            return
        kernels, rank = self._step.copies, len(array.shape)
        key = (into.dtype, rank)
        if key not in kernels:
            leaf = TensorVariable(TensorType(into.dtype.name, (None,) * rank))
            kernels[key] = elementwise_kernel(fill, [leaf, leaf], self._call.device)
        kernels[key].run([into, array], self._call, [into])  # type: ignore[call-arg]

    # --- many steps
    def _recorded(self, states: Sequence[Sides]) -> tuple[Tape | None, list[Sides], bool]:
        """Record the second step; return a tape of it if it can be replayed, the next states, and whether it ends."""
        inner, places = self._inner(1, states), self._places(1)
        inner.places = {o: p for o, p in zip(self._kept, places) if p is not None}
        self._call.recorder = recorder = Recorder()
        try:
            self._run_body(self._body, inner, self._name)
            after = self._after(1, inner, states, places)
        finally:
            self._call.recorder = None
        steady = not recorder.broken and all(p is not None for p in places)
        if not steady or any(there is None for _, there in (*states, *after)):
            return None, after, self._ends(inner)
        if any(self._memory.strides(a[1]) != self._memory.strides(b[1]) for a, b in zip(states, after)):
            return None, after, self._ends(inner)
        self._condition = inner.on_device(self._body.graph.outputs[-1]) if self._op.until else None
        slots = [*self._rows(1), *(there for _, there in states), *places]
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
                    raise _Unfit
                if bool(memory.get(self._condition, call.traffic)):
                    break
        return states, done

    def _finish(self, states: Sequence[Sides], done: int) -> None:
        """Store the results among the values."""
        values = self._values
        for k, output in enumerate(self._step.node.outputs):
            trace = self._traces[k]
            assert trace is not None
            if not self._is_traced[k]:
                host, there = states[k]
                if there is not None and id(there) in self._own:
                    values.made([output], [there])
                else:
                    values.take(output, (host, there))
            elif trace.there:
                values.made([output], [trace.whole(done)])
            else:
                values.know([output], [np.array(trace.rows)])


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
            self._room = min(count, _ROWS) if run._op.until else count
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
