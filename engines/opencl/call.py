"""One call of a function: its launches, the flag of kernels that refuse an element, and the recorder of a tape.

The arguments of a launch are numbers and arrays.  An array is its pointer alone; `At(array)` is the pointer and the
element that the array starts at.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...record import record
from .base import Device
from .memory import Memory, Traffic

_UNKNOWN = 1 << 62
"""The work of a launch that nobody has estimated."""
Places = Sequence[Any] | None
"""For each result of a kernel the array that it should be written to, or None."""


@record(eq=False)
class At:
    """An array as two arguments: the pointer to its memory, and the element that it starts at."""

    array: Any


@record(eq=False)
class Launched:
    """A launch with its arguments.

    `written`: the array that it writes, if all others are only read.  `work`: an estimate in picoseconds.
    """

    kernel: Any
    grid: Sequence[int]
    group: Sequence[int] | None
    arguments: tuple[Any, ...]
    written: Any
    work: int


class Recorder:
    """The launches of a part of a call, and the arrays that it makes."""

    def __init__(self) -> None:
        self.launches: list[Launched] = []
        self.made: list[Any] = []
        self.broken = False
        """Whether the host has read a value that another run may change."""


class Launches(Exception):
    """A call has nodes for the device behind small ones that the host ran: the device should run all of them."""


class Call:
    """One call of a function on a device."""

    def __init__(self, device: Device, traffic: Traffic) -> None:
        self.device: Device = device
        self.traffic: Traffic = traffic
        self.memory: Memory = device.memory
        self.recorder: Recorder | None = None
        self.small = device.small
        """Picoseconds of work of a node that the host does itself."""
        self.rows: Any = None
        """The rows of a profile that receive the steps."""
        self.launches = 0
        self._is_hosted = False
        self._flag: Any = None

    def empty(self, dtype: np.dtype, shape: tuple[int, ...]) -> Any:
        """A new array of the device."""
        made = self.memory.empty(dtype, shape)
        if self.recorder is not None:
            self.recorder.made.append(made)
        return made

    def results(self, dtypes: Sequence[np.dtype], shapes: Sequence[tuple[int, ...]], into: Places) -> list[Any]:
        """Arrays for the results of a kernel: those in `into` that have the right shape, or new ones."""
        places = into or (None,) * len(shapes)
        return [p if p is not None and p.shape == s else self.empty(d, s) for p, d, s in zip(places, dtypes, shapes)]

    def flag(self) -> Any:
        """The place where a kernel says that it refused an element."""
        if self._flag is None:
            self._flag = self.memory.put(np.zeros(1, np.int64), self.traffic)
        return self._flag

    def leaves_to_host(self, work: int) -> bool:
        """Whether the host does some work: if that of all nodes is small.  Raises Launches if the others were."""
        if work < self.small:
            self._is_hosted = True
            return True
        if self.small and self._is_hosted:
            raise Launches
        self.small = 0
        return False

    def has_refused(self) -> bool:
        """Whether a kernel of this call refused an element."""
        return self._flag is not None and bool(self.memory.get(self._flag, self.traffic)[0])

    def launch(
        self, kernel: Any, grid: Sequence[int], group: Sequence[int] | None, arguments: Sequence[Any],
        written: Any = None, work: int = _UNKNOWN,
    ) -> None:  # fmt: skip
        """Start a kernel.  `written`: the array that it writes, if it only reads all others."""
        self.device.launch(kernel, grid, group, _passed(arguments, self.memory))
        self.memory.settle()
        self.traffic.launches += 1
        self.launches += 1
        if self.recorder is not None:
            self.recorder.launches.append(Launched(kernel, grid, group, tuple(arguments), written, work))


def _passed(arguments: Sequence[Any], memory: Memory) -> list[Any]:
    """Pointers and numbers, as a device takes them."""
    found: list[Any] = []
    for a in arguments:
        if isinstance(a, int):
            found.append(a)
        elif isinstance(a, At):
            found += memory.pointer(a.array), memory.start(a.array)
        else:
            found.append(memory.pointer(a))
    return found
