"""Replay of calls with arguments of known shapes, on a device with memory of its own.

The launches of an earlier call run again over new arguments and results; see tape.py.  Intermediate arrays are kept
between calls.  Nothing is interpreted: a step costs a launch.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from .base import Graph
from .call import Call, Recorder
from .memory import Buffers, OnDevice, Traffic
from .replay import LAUNCHES
from .tape import Tape

_GRAPHS = 32
"""Most sets of buffers whose graphs are kept."""
_KEPT = 1 << 28
"""Most bytes of intermediate arrays that are kept between calls."""


def buffer_key_of(arrays: Sequence[Any]) -> tuple[Any, ...]:
    """Return the shapes of arguments, and the strides and starts of those on the device."""
    return tuple([(a.shape, a.strides, a.start) if isinstance(a, OnDevice) else a.shape for a in arrays])


class BufferReplay:
    """The launches of a call.  Raises ValueError if they depend on more than shapes and strides."""

    def __init__(self, call: Call, recorder: Recorder, inputs: Sequence[Any], results: Sequence[Any]) -> None:
        """`inputs`: the arrays of the inputs that kernels read, None for others; `results`: those of the outputs."""
        if recorder.broken or not 0 < len(recorder.launches) <= LAUNCHES:
            raise ValueError("the host takes part in the call")
        owners = [_owner(r, recorder.made) for r in results]
        fresh = {id(m): m for m in owners}
        recorder.made = [m for m in recorder.made if id(m) not in fresh]
        if sum(_size(m) for m in recorder.made) > _KEPT:
            raise ValueError("the intermediate values are large")
        self._call, self._fresh, self._views = call, list(fresh.values()), list(results)
        self._owners = [list(fresh).index(id(m)) for m in owners]
        self._given = [k for k, i in enumerate(inputs) if i is not None and 0 not in i.shape]
        self._flag = call.flag() if call.has_flag else None
        self._pinned = [(k, inputs[k].buffer) for k in self._given if inputs[k].buffer in recorder.pinned]
        fixed = [] if self._flag is None else [self._flag]
        slots = [*(inputs[k] for k in self._given), *(m for m in self._fresh if 0 not in m.shape)]
        self._tape = Tape(recorder, slots, call, fixed)
        self._graphs: dict[tuple[int, ...], Graph | bool | None] = {}
        """Graphs by the addresses of arguments and results; True: seen once; None: no graph can be made."""

    def run(self, arrays: Sequence[Any], stays: Sequence[bool], traffic: Traffic) -> list[Any] | None:
        """Run the call.  Results that stay are arrays on the device.

        None if a kernel refused an element, or if indices are in another buffer than those whose order was found.
        """
        call = self._call
        if any(not isinstance(arrays[k], OnDevice) or arrays[k].buffer is not own for k, own in self._pinned):
            return None
        memory: Buffers = call.memory  # type: ignore[assignment]
        call.traffic = traffic
        given = [a if isinstance(a, OnDevice) else memory.put(a, traffic) for a in (arrays[k] for k in self._given)]
        made = [memory.empty(m.dtype, m.shape) for m in self._fresh]
        self._start([*given, *(m for m in made if 0 not in m.shape)])
        if self._flag is not None and memory.get(self._flag, traffic)[0]:
            call.device.copy_in(self._flag.buffer, np.zeros(1, np.int64))
            return None
        results = [replace(view, buffer=made[k].buffer) for view, k in zip(self._views, self._owners)]
        return [r if stay else memory.get(r, traffic) for r, stay in zip(results, stays)]

    def _start(self, arrays: Sequence[OnDevice]) -> None:
        """Start the launches: as a graph, if they had these buffers before."""
        device = self._call.device
        key = device.places([a.buffer for a in arrays])
        graph = self._graphs.get(key, False)
        if graph is True:
            graph = self._graphs[key] = device.captured(lambda: self._tape.start(arrays))
        elif graph is False and len(self._graphs) < _GRAPHS:
            self._graphs[key] = True
        if graph:
            graph.start()
            self._tape.count(self._call)
        else:
            self._tape.play(arrays, self._call)

    def end(self) -> None:
        """Release the launches for others."""
        self._tape.end()


def _owner(array: Any, made: Sequence[OnDevice]) -> OnDevice:
    """Return the array of `made` that contains this one.  Raises ValueError if there is none."""
    for m in made:
        if isinstance(array, OnDevice) and m.buffer is array.buffer:
            return m
    raise ValueError("a result is not made by a kernel")


def _size(array: OnDevice) -> int:
    return int(np.prod(array.shape)) * array.dtype.itemsize
