"""Engines of devices: kernels on a device; NumPy runs nodes without a kernel as steps of the function."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ...cbackend.calls.caller import bound
from ...cbackend.driver.page import CFile
from ...cbackend.program.program import Array
from ...graph import Apply, Constant, FunctionGraph, Names, Variable
from ...ops.control.laziness import made_lazy
from ...ops.core.interpret import interpret
from ...ops.core.shared import Container
from ...ops.lowered.fused import Fused
from ...record.quoting import c_comment
from ...targets.current import current
from ..engine import Engine, Request
from ..executable import CheckedExecutable
from .base import Device
from .buffer_replay import BufferReplay, buffer_key_of
from .call import Call, Launches, Recorder
from .memory import OnDevice, Traffic
from .replay import OnHost, Replay, key_of
from .resident import Away, found_at, leave, mirrored
from .rows import Rows
from .run import run_steps
from .schedule import HOST, LAUNCH, LOOP, VIEW, Placement, Schedule, reason_for_host, schedule_of
from .values import Sides, Unplanned, Values


class _Anything:
    """Parameter that accepts any value, for values checked before."""

    def array(self, value: Any) -> Any:
        return value


class _Nothing:
    """Placeholder for calls that cannot be replayed."""

    def __bool__(self) -> bool:
        return False

    def end(self) -> None:
        """Do nothing: there are no resources to release."""


_ANY, _STAND_IN, _NOTHING = _Anything(), np.empty(0), _Nothing()
_REPLAYS = 64
"""Most kinds of arguments (shapes and strides) whose calls a function keeps."""


class DeviceEngine(Engine):
    """Compiles the kernels of a graph for a device; see dialects/."""

    unwanted: tuple[str, ...] = (
        "inplace", "blas_c", "layout", "attention", "sparse", "bfloat16", "narrow_indices", "lookups",
    )  # fmt: skip
    hosts_refused = True

    def device(self) -> Device:
        """Return the device that functions are compiled for."""
        raise NotImplementedError(f"engine {self.name!r} defines no device()")

    def refusal(self, node: Apply) -> str:
        return reason_for_host(node, self.device())

    def compile(self, graph: FunctionGraph, request: Request) -> DeviceExecutable:
        return DeviceExecutable(self, graph, request, self.device())


class DeviceExecutable(CheckedExecutable):
    """A graph on a device.  Values stay there between steps; `traffic` counts copies and launches."""

    def __init__(self, engine: Engine, graph: FunctionGraph, request: Request, on: Device) -> None:
        start = time.perf_counter()
        super().__init__(engine, made_lazy(graph), request, self._run)
        self._device = on
        self.traffic: Traffic = Traffic()
        self._updated = {o for _, o in self.graph.updates}
        self.schedule: Schedule = schedule_of(self.graph, on)
        self._call_own = threading.local()
        self._replays: dict[Any, Any] = {}
        self._launching: set[Any] = set()
        """Kinds of arguments for which the device runs all nodes, even small ones."""
        self._stays = [self._is_kept(k, o) for k, o in enumerate(self.graph.outputs)]
        self.placements: tuple[Placement, ...] = tuple(self.schedule.placements())
        most = current().limits.devices.host_operations
        self._is_long = on.shares and sum(map(_operations, self.placements)) > most
        self._expected = [(c, i.type.numpy) for c, i in zip(self.containers, self.graph.inputs)]
        self._given = sum(c is None for c in self.containers)
        texts = dict.fromkeys(p.kernel.text for p in self.placements if p.kernel is not None)
        self.source = "\n".join(("/*", *map(c_comment, _listed(self.schedule, on.shares)), "*/", *texts))
        self.c_file = CFile(self.source, ())
        self._rows: Rows | None = None
        if self.profile is not None:
            self._rows = Rows(self.profile, self.schedule, engine.name, time.perf_counter() - start)

    @property
    def hosted(self) -> list[tuple[Apply, str]]:
        """The nodes that NumPy runs, each with the reason."""
        return [(p.node, p.reason) for p in self.placements if p.kind == HOST]

    def _call(self, *arguments: Any) -> list[np.ndarray]:
        if self._device.shares:
            known = self._like_earlier(arguments) if self._replays and self._rows is None else None
            return super()._call(*arguments) if known is None else known
        start = time.perf_counter()
        memory: Any = self._device.memory
        before = self.traffic.now()
        away = [self._there(k, c, memory) for k, c in enumerate(self.containers)]
        if self._rows is not None:
            self._rows.add_rest(before, self.traffic)
        plain = [Container(_STAND_IN) if a is not None else c for c, a in zip(self.containers, away)]
        given: list[Any] = bound(self._unchecked(away), plain, arguments)
        mixed: list[Any] = [g if a is None else a for g, a in zip(given, away)]
        results: list[Any] = self._results(mixed)
        for i, o in self.graph.updates:
            if isinstance(results[o], OnDevice):
                kept = replace(results[o], host=None)
                leave(self.containers[i], Away(kept, memory, self.traffic, self._device.lock))
            else:
                self.containers[i].value = results[o]
        if self.profile is not None:
            self.profile.record(time.perf_counter() - start)
        return [r for k, r in enumerate(results) if k not in self._updated]

    def _there(self, k: int, container: Any, memory: Any) -> OnDevice | None:
        """Return the value of a container on the device, copied there if a kernel reads it; None for others."""
        found = None if container is None else found_at(container, memory)
        if found is not None or container is None or f"in{k}" not in self.schedule.device:
            return found
        self.parameters[k].array(container.value)  # raises an error for a value that does not fit
        return mirrored(container, memory, self.traffic, self._device.lock)

    def _like_earlier(self, arguments: Sequence[Any]) -> list[np.ndarray] | None:
        """Return the outputs of a call with arguments like those of an earlier, checked call; None without one."""
        if len(arguments) != self._given:
            return None
        left, arrays = iter(arguments), []
        for container, dtype in self._expected:
            array = next(left) if container is None else container.value
            if type(array) is not np.ndarray or array.dtype is not dtype:
                return None
            arrays.append(array)
        results = self._again(key_of(arrays), arrays)
        if results is None or not self._updated:
            return results
        for i, o in self.graph.updates:
            self.containers[i].value = results[o]
        return [r for k, r in enumerate(results) if k not in self._updated]

    def _again(self, key: Any, arrays: Sequence[Any]) -> list[Any] | None:
        """Return the results of a replayed call; None if there is no recording, or it no longer fits."""
        if not self._replays.get(key):
            return None
        with self._device.lock:
            known = self._replays.get(key)  # another thread may have ended the one before the lock
            results: list[Any] | None = known.run(arrays, self.traffic) if known else None
        return results

    def _unchecked(self, away: Sequence[Any]) -> list[Any]:
        """Return the parameters; those of values on the device accept anything, since updates are checked before."""
        return [p if a is None else _ANY for p, a in zip(self.parameters, away)]

    def _result(self, k: int, value: Any, output: Variable, shapes: list[tuple[int, ...]]) -> Any:
        if not isinstance(value, OnDevice):
            return super()._result(k, value, output, shapes)
        self._require_type(k, value.dtype, value.shape, output, shapes)
        return value

    def _run(self, *arrays: Any) -> list[Any]:
        key: Any = getattr(self._call_own, "key", None)
        with self._device.lock:
            if not self._device.shares and self._rows is None:
                key = buffer_key_of(arrays)
                known = self._replays.get(key)
                results: list[Any] | None = known.run(arrays, self._stays, self.traffic) if known else None
                if results is not None:
                    self._call_own.arrays = [r for r in results if isinstance(r, np.ndarray)]
                    return results
            try:
                results, own = self._called(arrays, key)
            except Launches:
                if len(self._launching) > _REPLAYS:
                    self._launching.clear()
                self._launching.add(key)
                results, own = self._called(arrays, key, 0)
        self._call_own.arrays = own
        return results

    def _called(self, arrays: Sequence[Any], key: Any, small: int | None = None) -> tuple[list[Any], list[Any]]:
        """Return the results, and the arrays in host memory that the call has made."""
        call = Call(self._device, self.traffic)
        call.rows = self._rows
        if small is not None or self._is_long or key in self._launching:
            call.small = 0
        call.recorder = recorder = Recorder() if self._replays.get(key, True) is None else None
        values = Values(call, self.schedule)
        try:
            for array, given in zip(self.schedule.program.inputs, arrays, strict=True):
                values.give(array, self._given_sides(array, given))
            run_steps(values, self.name)
            call.recorder = None
            there = [] if self._device.shares else [values.sides(output)[1] for output in self.schedule.outputs]
            before = self.traffic.now()
            results = [self._found(k, output, values) for k, output in enumerate(self.schedule.outputs)]
            refused = call.has_refused()
            if self._rows is not None:
                self._rows.add_rest(before, self.traffic)
        except Unplanned:
            refused = True
        finally:
            self._device.memory.finish()
        if refused:  # by a check, or by a kernel for an element: NumPy names it
            memory: Any = self._device.memory
            known = [memory.get(a, self.traffic) if isinstance(a, OnDevice) else a for a in arrays]
            return interpret(self.graph, known, self.name), []
        if key is not None:
            self._remember(key, call, recorder, arrays, results if self._device.shares else there)
        return results, values.own

    def _remember(
        self, key: Any, call: Call, recorder: Recorder | None, arrays: Sequence[Any], results: Sequence[Any]
    ) -> None:
        """Prepare for more calls with such arguments; the second one is recorded."""
        known = self._replays
        if known.get(key) is _NOTHING:
            return
        if len(known) >= _REPLAYS and key not in known:
            while known:
                (known.popitem()[1] or _NOTHING).end()
        (known.get(key) or _NOTHING).end()
        try:
            if call.launches == 0 and self._device.shares:
                known[key] = OnHost(self.schedule)
            elif recorder is None:
                known[key] = None
            elif self._device.shares:
                known[key] = Replay(call, recorder, arrays, results)
            else:
                given = recorder.given
                names = (i.base for i in self.schedule.program.inputs)
                inputs = [a if isinstance(a, OnDevice) else given.get(i) for i, a in zip(names, arrays, strict=True)]
                known[key] = BufferReplay(call, recorder, inputs, results)
        except ValueError:
            known[key] = _NOTHING

    def _given_sides(self, array: Array, given: Any) -> Sides:
        """Return an argument as (host, device), with the same strides on both sides."""
        memory: Any = self._device.memory
        if isinstance(given, OnDevice):
            return None, given
        if self._device.shares:
            return memory.put(given, self.traffic), None
        return np.asarray(given, order="C") if array.base in self.schedule.device else given, None

    def _found(self, k: int, output: Array, values: Values) -> Any:
        """Return the value of an output: on the host, except updates that stay in the device's own memory."""
        return values.on_device(output) if self._stays[k] else values.on_host(output)

    def _is_kept(self, k: int, output: Variable) -> bool:
        """Whether an output is an update that stays in the device's own memory."""
        return not self._device.shares and k in self._updated and not isinstance(output, Constant)

    def _results(self, arrays: list[Any]) -> list[Any]:
        if self._device.shares and self._rows is None:
            key = key_of(arrays)
            results = self._again(key, arrays)
            if results is not None:
                return results
            self._call_own.key = key
        try:
            return super()._results(arrays)
        finally:
            self._call_own.arrays, self._call_own.key = [], None

    def _owned(self, value: Any) -> np.ndarray:
        """Return the result itself if nothing else refers to it, else a copy."""
        own: list[Any] = getattr(self._call_own, "arrays", [])
        found = next((k for k, array in enumerate(own) if array is value), None)
        if found is not None and value.flags.c_contiguous:
            made: np.ndarray = own.pop(found)
            return made
        return super()._owned(value)


def _operations(placement: Placement) -> int:
    """Return the number of nodes that NumPy would run for a kernel."""
    op = placement.node.op
    if placement.kernel is None:
        return 0
    return len(op.graph.order) if isinstance(op, Fused) else 1


def _listed(schedule: Schedule, shared: bool) -> Iterator[str]:
    """Yield the nodes as text, with the copies between host and device, unless they share memory."""
    names, on_device, on_host = Names(), set[Variable](), set(schedule.program.graph.inputs)
    for section in schedule.sections:
        placement = section.placement
        node, side = placement.node, "device" if placement.kind in (LAUNCH, VIEW, LOOP) else "host"
        here = on_device if side == "device" else on_host
        for i in dict.fromkeys(node.inputs):
            if not shared and i not in here and not (side == "host" and isinstance(i, Constant)):
                yield f"copy to the {side}: {names[i]}, {i.type}"
            here.add(i)
        results = ", ".join(names[o] for o in node.outputs)
        operands = ", ".join(names[i] for i in node.inputs)
        yield f"{placement.kind}: {results} = {node.op.name}({operands})"
        here.update(node.outputs)
    for output in dict.fromkeys(schedule.program.graph.outputs):
        if not shared and output in on_device and output not in on_host:
            yield f"copy to the host: {names[output]}, {output.type}"
