"""The values of one call: integers by name, and memory on the host, on the device, or on both."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ...cbackend.program.arithmetic import value_of
from ...cbackend.program.program import Array, Fill, Memory, Offset, Pack, Quantity, Select
from .call import Call
from .memory import OnDevice, is_dense, window

if TYPE_CHECKING:
    from .schedule import Schedule

Sides = tuple[Any, Any]
"""A value on the host and on the device; None where it is missing."""


class Unplanned(Exception):
    """Lengths or indices do not fit, or a loop leaves the plan: NumPy runs the function, or reports the error."""


class Place:
    """An array that is the whole of some memory, on the host and on the device, with the same strides on both.

    `array`: its description in the program.  `is_constant`: it stays for all calls.
    """

    __slots__ = ("array", "copies", "device", "host", "is_constant", "views")

    def __init__(self, array: Array, host: np.ndarray | None, device: Any = None, is_constant: bool = False) -> None:
        self.array, self.host, self.device, self.is_constant = array, host, device, is_constant
        self.views: dict[int, Any] = {}
        """Views of the array on the device, by the identity of their descriptions."""
        self.copies: dict[int, np.ndarray] = {}
        """Views that were copied to the host."""


class Values:
    """The values of a program in one call, copied when the other side first reads them."""

    def __init__(self, call: Call, schedule: Schedule, is_body: bool = False) -> None:
        """`is_body`: these are the values of a step of a loop."""
        self.call: Call = call
        self.schedule: Schedule = schedule
        self.numbers: dict[str, int] = dict(schedule.fixed)
        """The integers of the program."""
        self.places: dict[Memory, Any] = {}
        """Arrays on the device that kernels should write results to."""
        self.steady: set[Memory] = set(schedule.constants)
        """Memory whose values are the same in all replays."""
        self.own: list[Any] = []
        """Arrays that this call has made in host memory; they may become results without a copy."""
        self._is_body, self._shares, self._device_memory = is_body, call.device.shares, call.memory
        self._memory: dict[Memory, Place] = dict(schedule.constants)
        self._pointers: dict[Memory, tuple[Memory, int]] = {}
        """The memory that a pointer of the program goes to, and the elements before it."""

    # --- integers
    def number(self, quantity: Quantity) -> int:
        return value_of(quantity, self.numbers)

    def shape(self, array: Array) -> tuple[int, ...]:
        numbers = self.numbers
        return tuple([n if isinstance(n, int) else numbers[n] for n in array.lengths])

    def _strides(self, array: Array) -> tuple[int, ...]:
        numbers = self.numbers
        return tuple([s if isinstance(s, int) else numbers[s] for s in array.strides])

    def nbytes(self, array: Array) -> int:
        return math.prod(self.shape(array)) * np.dtype(array.dtype).itemsize

    # --- new values
    def give(self, array: Array, sides: Sides) -> None:
        """Add the value of an input, with strides of its own."""
        host, device = sides
        strides = self._device_memory.strides(device) if host is None else [s // host.itemsize for s in host.strides]
        for name, stride in zip(array.strides, strides, strict=True):
            if isinstance(name, str):
                self.numbers[name] = stride
        self.know(array, sides)

    def know(self, array: Array, sides: Sides) -> None:
        """Add a value that is the whole of its memory.  Raises Unplanned unless it has the planned lengths."""
        host, device = sides
        shape, numbers = (device if host is None else host).shape, self.numbers
        for length, n in zip(array.lengths, shape, strict=True):
            if (length if isinstance(length, int) else numbers.setdefault(length, n)) != n:
                raise Unplanned
        self._memory[array.base] = Place(array, host, device)

    def know_result(self, array: Array, host: Any) -> None:
        """Add a result that NumPy computed."""
        is_ready = type(host) is np.ndarray and host.flags.c_contiguous
        self.know(array, (host if is_ready else np.asarray(host, order="C"), None))

    def made(self, array: Array, device: Any) -> None:
        """Add the result of a kernel."""
        self.know(array, (None, device))
        if self._shares and not self._is_body and array.base in self.schedule.returned:
            self.own.append(device)

    def target(self, array: Array, results: tuple[Array, ...]) -> Any:
        """Return an array on the device that steps write, part of one of the `results` of their node."""
        memory = array.memory[0]
        if memory not in self._memory:
            whole = next((r for r in results if r.base == memory), array)
            shape, place = self.shape(whole), self.places.get(memory)
            fits = place is not None and place.shape == shape
            self.made(whole, place if fits else self.call.empty(np.dtype(whole.dtype), shape))
        return self.on_device(array)

    def fill(self, step: Fill) -> None:
        """Add a vector of integers."""
        vector = np.array([self.number(v) for v in step.values], np.int64)
        array = Array(step.local, "int64", (len(step.values),), (1,), True, (step.local,))
        self._memory[step.local] = Place(array, vector)
        self.steady.add(step.local)

    def point(self, step: Offset | Select) -> None:
        """Add a pointer."""
        if isinstance(step, Offset):
            self._pointers[step.result] = step.array.base, self.number(step.offset)
        else:
            self._pointers[step.result] = (step.first if self.number(step.condition) else step.second).base, 0

    def pack(self, step: Pack, copied: Callable[[Any], Any]) -> None:
        """Add a pointer to an array, or to its copy by `copied(array on the device)` unless it is C-contiguous."""
        array = self.on_device(step.array)
        if is_dense(array):
            self._pointers[step.result] = step.array.base, 0
            return
        made = copied(array)
        host = self.on_host(step.array).copy(order="C") if made is None else None
        self._memory[step.buffer] = Place(step.array, host, made)
        self._pointers[step.result] = step.buffer, 0

    # --- values
    def on_host(self, array: Array) -> np.ndarray:
        """Return the value as a NumPy array."""
        if array.base == "":
            return self.shape_only(array)
        memory, place, start = self._find(array)
        recorder = self.call.recorder
        if recorder is not None and memory not in self.steady:
            recorder.broken = True
        if place.host is None:
            return self._fetched(place, array)
        if self._shares and not place.is_constant:
            self._device_memory.finish()
        return place.host if place.array is array else self._host_window(place.host, array, start)

    def _fetched(self, place: Place, array: Array) -> np.ndarray:
        """Return a value that is on the device alone."""
        found = place.copies.get(id(array))
        if found is None:
            there = self.on_device(array)
            found = place.copies[id(array)] = self._device_memory.get(there, self.call.traffic)
            if not self._shares and there.host is None:
                self.own.append(found)
        elif self._shares:
            self._device_memory.finish()
        return found

    def on_device(self, array: Array) -> Any:
        """Return the value as a device array; constants stay there between calls."""
        if array.base == "":
            made = self._device_memory.empty(np.dtype(array.dtype), ())
            return self._window(made, array, 0, (0,) * len(array.lengths))
        memory, place, start = self._find(array)
        if place.device is None:
            self._put(memory, place)
        if place.array is array:
            return place.device
        found = place.views.get(id(array))
        if found is None:
            found = self._window(place.device, array, start, self._strides(array))
            if not place.is_constant:  # views of constants have other lengths in other calls
                place.views[id(array)] = found
        return found

    def _put(self, memory: Memory, place: Place) -> None:
        made: Any = self._device_memory.put(place.host, self.call.traffic)  # type: ignore[arg-type]
        if place.is_constant and isinstance(made, OnDevice):
            made = replace(made, host=place.host)
        place.device = made
        if self.call.recorder is not None and not self._is_body:
            self.call.recorder.given[memory] = made

    def sides(self, array: Array) -> Sides:
        """Return the value as (host, device); None where it is missing."""
        if array.base == "":
            return self.shape_only(array), None
        _, place, start = self._find(array)
        host = place.copies.get(id(array)) if place.host is None else self._host_window(place.host, array, start)
        return host, None if place.device is None else self.on_device(array)

    def shape_only(self, array: Array) -> np.ndarray:
        """Return a stand-in for an array whose elements are not read."""
        return np.broadcast_to(np.zeros((), array.dtype), self.shape(array))

    def is_steady(self, array: Array) -> bool:
        """Whether a value is the same in all replays."""
        return self._find(array)[0] in self.steady

    def drop(self, memory: Memory) -> None:
        """Drop a value after its last use."""
        self._memory.pop(memory, None)

    def _host_window(self, host: np.ndarray, array: Array, start: int) -> np.ndarray:
        return window(host, np.dtype(array.dtype), start, self.shape(array), self._strides(array))

    def _window(self, whole: Any, array: Array, start: int, strides: tuple[int, ...]) -> Any:
        return self._device_memory.window(whole, np.dtype(array.dtype), start, self.shape(array), strides)

    def _find(self, array: Array) -> tuple[Memory, Place, int]:
        """Return the memory that an array lies in, its contents, and the number of elements before the array."""
        memory, start = array.base, 0
        place = self._memory.get(memory)
        if place is not None:
            return memory, place, 0
        while memory in self._pointers:
            memory, more = self._pointers[memory]
            start += more
        return memory, self._memory[memory], start
