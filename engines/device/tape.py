"""A tape: launches that are recorded once and replayed with other arrays in some places.

    recorder -> Tape(recorder, slots, call)        the launches of one step of a loop, or of one call
    tape.play(arrays)                              the same over other arrays of the same shapes and strides

A slot is an array that changes from run to run.  Arguments outside all slots stay: constants, tables, and the arrays
that the recorded launches made, which all runs reuse.  A launch that reads only arrays with fixed contents is not
repeated.  Consecutive small launches become one launch of a list (cbackend/ctext/device_lists.py).
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...cbackend.ctext.device_lists import HEAD
from ...record import record
from .base import Device
from .call import At, Call, Launched, Recorder
from .memory import Memory, OnDevice

Varying = Sequence[tuple[int, int, int]]
"""(position of an argument, index of an array, offset): each run passes the address of the array plus the offset."""


class LaunchList:
    """Launches replayed as one.  Each is a kernel, a grid, its arguments as numbers, and the varying ones.

    A launch costs more than the work of a small kernel.  On a device that shares host memory an address is a number,
    so a list of launches is an array of numbers.  A single work item of one kernel interprets it.
    """

    def __init__(self, device: Device, launches: Sequence[tuple[Any, Sequence[int], Sequence[int], Varying]]) -> None:
        items = sorted({kernel.item.name: kernel.item for kernel, *_ in launches}.values(), key=lambda item: item.name)
        numbers = {item.name: k for k, item in enumerate(items)}
        listed: list[int] = []
        places: list[tuple[int, int, int]] = []
        for kernel, grid, arguments, varying in launches:
            places += [(len(listed) + HEAD + position, array, offset) for position, array, offset in varying]
            listed += numbers[kernel.item.name], HEAD + len(arguments), *(*grid, 1, 1)[:3], *arguments
        self._list = np.array([*listed, -1], np.int64)
        self._places, self._arrays, self._offsets = np.array(places, np.int64).reshape(-1, 3).T.copy()
        self._device = device
        self._kernel = device.list_kernel(items)

    def start(self, addresses: np.ndarray) -> np.ndarray:
        """Start all launches; return the array that must live until they have ended."""
        numbers = self._list.copy()
        numbers[self._places] = addresses[self._arrays] + self._offsets
        self._device.run_list(self._kernel, numbers)
        return numbers

    def end(self) -> None:
        """Do nothing: there are no resources to release."""


@record(eq=False)
class Given:
    """An array of a launch, and (slot, offset) if it lies in a slot; None: it stays."""

    array: Any
    with_start: bool
    slot: tuple[int, int] | None


@record(eq=False)
class Prepared:
    """A launch of a tape.  An argument is a number, or an array."""

    launch: Launched
    arguments: list[int | Given]

    @property
    def arrays(self) -> list[Given]:
        return [a for a in self.arguments if isinstance(a, Given)]


class Single:
    """A single launch.  `wanted`: (slot, offset) -> index of the pointer; new ones are added."""

    def __init__(self, prepared: Prepared, wanted: dict[tuple[int, int], int], call: Call) -> None:
        memory, launch, given = call.memory, prepared.launch, list[Any]()
        self._varying: list[tuple[int, int, bool]] = []
        for a in prepared.arguments:
            if not isinstance(a, Given):
                given.append(a)
                continue
            if a.slot is not None:
                number = wanted.setdefault(a.slot, len(wanted))
                self._varying.append((len(given), number, False))
                if a.with_start and isinstance(a.array, OnDevice):
                    self._varying.append((len(given) + 1, number, True))
            given += memory.argument(a.array, 0)[: 1 + a.with_start]
        self._launch = call.device.repeated(launch.kernel, launch.grid, launch.group, given)

    def start(self, found: Sequence[tuple[Any, int]]) -> None:
        """Run it with these pointers, each with the index of the first element."""
        self._launch.start([(position, found[number][is_start]) for position, number, is_start in self._varying])

    def end(self) -> None:
        self._launch.end()


class Tape:
    """Recorded launches.  Raises ValueError if arrays overlap, since a slot would be ambiguous."""

    def __init__(self, recorder: Recorder, slots: Sequence[Any], call: Call, fixed: Sequence[Any] = ()) -> None:
        """`slots`: the arrays in the recorded launches that change; `fixed`: arrays that stay."""
        self._memory: Memory = call.memory
        self._call = call
        self._slots = [self._memory.bounds(s) for s in slots]
        self._first = [self._memory.at(s) for s in slots]
        self._require_disjoint([*map(self._memory.bounds, fixed)])
        self.kept = list(recorder.made)
        self._made = [self._memory.bounds(a) for a in recorder.made if 0 not in a.shape]
        self._steady: set[int] = set()
        """Indices of the recorded arrays whose elements are the same in all runs."""
        prepared = [p for p in map(self._prepared, recorder.launches) if p is not None]
        self.kept += [a.array for p in prepared for a in p.arrays if a.slot is None]
        self._launches = len(prepared)
        self._wanted: dict[tuple[int, int], int] = {}
        self._runs: list[Single | LaunchList] = []
        for listed, some in itertools.groupby(prepared, self._is_listed):
            group = list(some)
            if listed:
                self._runs.append(self._list(group))
            else:
                self._runs += [Single(p, self._wanted, call) for p in group]
        self._has_lists = any(isinstance(run, LaunchList) for run in self._runs)

    def _require_disjoint(self, fixed: Sequence[tuple[Any, int, int]]) -> None:
        for k, (space, low, high) in enumerate(self._slots):
            for other, start, end in (*self._slots[:k], *fixed):
                if space == other and low < end and start < high:
                    raise ValueError("arrays overlap")

    def _prepared(self, launch: Launched) -> Prepared | None:
        """Return a launch with its arguments; None if every run would repeat the same work."""
        arrays = [a.array if isinstance(a, At) else a for a in launch.arguments]
        own = [a for a in arrays if isinstance(a, (np.ndarray, OnDevice))]
        if launch.written is not None and all(self._stays(a) for a in own if a is not launch.written):
            maker = self._maker(launch.written)
            if maker is not None:
                self._steady.add(maker)
                return None
        return Prepared(
            launch,
            [
                Given(array, isinstance(a, At), self._slot(array)) if isinstance(array, (np.ndarray, OnDevice)) else a
                for a, array in zip(launch.arguments, arrays)
            ],
        )

    def _is_listed(self, prepared: Prepared) -> bool:
        return self._call.device.lists(prepared.launch.kernel, prepared.launch.work)

    def _list(self, group: Sequence[Prepared]) -> LaunchList:
        """Return launches as one, on a device that shares host memory."""
        found = []
        for p in group:
            numbers: list[int] = []
            varying: list[tuple[int, int, int]] = []
            for a in p.arguments:
                if not isinstance(a, Given):
                    numbers.append(a)
                    continue
                if a.slot is not None:
                    varying.append((len(numbers), *a.slot))
                numbers += (self._memory.at(a.array), 0)[: 1 + a.with_start]
            found.append((p.launch.kernel, p.launch.grid, numbers, varying))
        return LaunchList(self._call.device, found)

    def _stays(self, array: Any) -> bool:
        """Whether an array has the same elements in all runs."""
        maker = self._maker(array)
        return self._slot(array) is None and (maker is None or maker in self._steady)

    def _maker(self, array: Any) -> int | None:
        """Return the index of the recorded array that contains this one; None if there is none."""
        space, at = self._memory.bounds(array)[0], self._memory.at(array)
        return next((k for k, (own, low, high) in enumerate(self._made) if own == space and low <= at < high), None)

    def _slot(self, array: Any) -> tuple[int, int] | None:
        """Return the slot that contains an array, and its offset there; None if there is none."""
        space, at = self._memory.bounds(array)[0], self._memory.at(array)
        for k, (own, low, high) in enumerate(self._slots):
            if own == space and low <= at < high:
                return k, at - self._first[k]
        return None

    def play(self, arrays: Sequence[Any], call: Call) -> None:
        """Start all launches, with these arrays in the slots, and count them."""
        self.start(arrays)
        self.count(call)

    def start(self, arrays: Sequence[Any]) -> None:
        """Start all launches, with these arrays in the slots."""
        memory, device = self._memory, self._call.device
        kept = [*arrays, self.kept]  # the launches may outlive the tape
        found = [memory.argument(arrays[slot], offset) for slot, offset in self._wanted]
        addresses = np.array([device.number(a) for a in arrays] if self._has_lists else [], np.int64)
        for run in self._runs:
            if isinstance(run, Single):
                run.start(found)
            else:
                kept.append(run.start(addresses))
        memory.keep(kept)

    def count(self, call: Call) -> None:
        """Add the launches to those of a call."""
        call.traffic.launches += self._launches
        call.launches += self._launches

    def end(self) -> None:
        """Release the launches for others."""
        for run in self._runs:
            run.end()
