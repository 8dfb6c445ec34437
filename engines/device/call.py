"""One call of a function: its launches, the flag for refused elements, and the recorder of a tape.

The arguments of a launch are numbers and arrays.  An array is passed as its pointer; `At(array)` as the pointer and the
index of its first element.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...record import record
from .base import Device
from .memory import Memory, Traffic

_UNKNOWN = 1 << 62
"""Work of a launch without an estimate."""
Places = Sequence[Any] | None
"""The array that each result of a kernel should be written to, or None."""


@record(eq=False)
class At:
    """An array as two arguments: the pointer to its memory, and the index of its first element."""

    array: Any


@record(eq=False)
class Launched:
    """A launch with its arguments.

    `written`: the array that it writes, if it only reads all others.  `work`: an estimate in picoseconds.
    """

    kernel: Any
    grid: Sequence[int]
    group: Sequence[int] | None
    arguments: tuple[Any, ...]
    written: Any
    work: int


class Recorder:
    """Recorder of launches, and of the arrays that a call creates between them."""

    def __init__(self) -> None:
        self.launches: list[Launched] = []
        self.made: list[Any] = []
        self.given: dict[Any, Any] = {}
        """Arrays that were copied to the device, by variable."""
        self.pinned: list[Any] = []
        """Buffers whose contents decide what is launched."""
        self.broken = False
        """Whether the host has read a value that may differ in another run."""


class Launches(Exception):
    """A large node follows small ones that the host ran: the device should run all nodes of the call."""


class Call:
    """One call of a function on a device."""

    def __init__(self, device: Device, traffic: Traffic) -> None:
        self.device: Device = device
        self.traffic: Traffic = traffic
        self.memory: Memory = device.memory
        self.recorder: Recorder | None = None
        self.small: int = device.small
        """Picoseconds of work up to which the host runs a node itself."""
        self.rows: Any = None
        """Profile rows of the steps, or None."""
        self.body_rows: Any = None
        """Those of the body of the loop that runs next, or None."""
        self.launches: int = 0
        self._is_hosted = False
        self._flag: Any = None

    def empty(self, dtype: np.dtype, shape: tuple[int, ...]) -> Any:
        """Return a new array on the device."""
        made = self.memory.empty(dtype, shape)
        if self.recorder is not None:
            self.recorder.made.append(made)
        return made

    def results(self, dtypes: Sequence[np.dtype], shapes: Sequence[tuple[int, ...]], into: Places) -> list[Any]:
        """Return arrays for the results of a kernel: those in `into` with the right shape, or new ones."""
        places = into or (None,) * len(shapes)
        return [p if p is not None and p.shape == s else self.empty(d, s) for p, d, s in zip(places, dtypes, shapes)]

    def flag(self) -> Any:
        """Return the flag by which a kernel reports that it refused an element."""
        if self._flag is None:
            self._flag = self.memory.put(np.zeros(1, np.int64), self.traffic)
        return self._flag

    @property
    def has_flag(self) -> bool:
        """Whether a kernel of this call may refuse an element."""
        return self._flag is not None

    def leaves_to_host(self, work: int) -> bool:
        """Whether the host runs a node, as all nodes so far are small.  Raises Launches if only earlier ones were."""
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
    """Return the arguments as pointers and numbers."""
    found: list[Any] = []
    for a in arguments:
        if isinstance(a, int):
            found.append(a)
        elif isinstance(a, At):
            found += memory.pointer(a.array), memory.start(a.array)
        else:
            found.append(memory.pointer(a))
    return found
