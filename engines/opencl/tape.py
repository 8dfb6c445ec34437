"""A tape: launches that are recorded once and run again, with other arrays in some places.

    recorder -> Tape(recorder, slots, call)        the launches of one step of a loop, or of one call
    tape.play(arrays)                              the same over other arrays of the same shapes and strides

A slot is an array that changes from run to run.  An argument that lies in no slot stays: constants, tables, and the
arrays that the recorded launches made, which all runs use in turn.  A launch that reads only what stays is not
repeated.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .call import At, Call, Launched, Recorder
from .memory import Memory, OnDevice


class Tape:
    """Launches to be run again.  Raises ValueError if arrays overlap, so that a slot cannot be told from others."""

    def __init__(self, recorder: Recorder, slots: Sequence[Any], call: Call, fixed: Sequence[Any] = ()) -> None:
        """`slots`: the arrays in the recorded launches that change; `fixed`: arrays that stay."""
        self._memory: Memory = call.memory
        self._call = call
        self._slots = [self._memory.bounds(s) for s in slots]
        self._first = [self._memory.at(s) for s in slots]
        self._require_apart([*map(self._memory.bounds, fixed)])
        self._wanted: dict[tuple[int, int], int] = {}
        """A slot and an offset in it -> the number of the pointer."""
        self.kept = list(recorder.made)
        self._launches: list[tuple[Any, list[tuple[int, int, bool]]]] = []
        self._made = [self._memory.bounds(a) for a in recorder.made if 0 not in a.shape]
        self._steady: set[int] = set()
        """The arrays among those made that have the same elements in all runs."""
        for launch in recorder.launches:
            self._add(launch)

    def _require_apart(self, fixed: Sequence[tuple[Any, int, int]]) -> None:
        for k, (space, low, high) in enumerate(self._slots):
            for other, start, end in (*self._slots[:k], *fixed):
                if space == other and low < end and start < high:
                    raise ValueError("arrays overlap")

    def _add(self, launch: Launched) -> None:
        arrays = [a.array if isinstance(a, At) else a for a in launch.arguments]
        arrays = [a for a in arrays if isinstance(a, (np.ndarray, OnDevice))]
        if launch.written is not None and all(self._stays(a) for a in arrays if a is not launch.written):
            maker = self._maker(launch.written)
            if maker is not None:
                self._steady.add(maker)
                return
        given: list[Any] = []
        varying: list[tuple[int, int, bool]] = []
        for a in launch.arguments:
            array = a.array if isinstance(a, At) else a
            if not isinstance(array, (np.ndarray, OnDevice)):
                given.append(a)
                continue
            slot = self._slot(array)
            if slot is not None:
                number = self._wanted.setdefault(slot, len(self._wanted))
                varying.append((len(given), number, False))
                if isinstance(a, At) and isinstance(array, OnDevice):
                    varying.append((len(given) + 1, number, True))
            else:
                self.kept.append(array)
            given += self._memory.argument(array, 0) if isinstance(a, At) else self._memory.argument(array, 0)[:1]
        self._launches.append((self._call.device.repeated(launch.kernel, launch.grid, launch.group, given), varying))

    def _stays(self, array: Any) -> bool:
        """Whether an array has the same elements in all runs."""
        maker = self._maker(array)
        return self._slot(array) is None and (maker is None or maker in self._steady)

    def _maker(self, array: Any) -> int | None:
        """The number of the array made in the recording that an array lies in."""
        space, at = self._memory.bounds(array)[0], self._memory.at(array)
        return next((k for k, (own, low, high) in enumerate(self._made) if own == space and low <= at < high), None)

    def _slot(self, array: Any) -> tuple[int, int] | None:
        """The slot that an array lies in, and its place there."""
        space, at = self._memory.bounds(array)[0], self._memory.at(array)
        for k, (own, low, high) in enumerate(self._slots):
            if own == space and low <= at < high:
                return k, at - self._first[k]
        return None

    def play(self, arrays: Sequence[Any], call: Call) -> None:
        """Start all launches with these arrays in the slots."""
        memory = self._memory
        found = [memory.argument(arrays[slot], offset) for slot, offset in self._wanted]
        for launch, varying in self._launches:
            launch.start([(position, found[number][is_start]) for position, number, is_start in varying])
        memory.keep(arrays)
        call.traffic.launches += len(self._launches)
        call.launches += len(self._launches)

    def end(self) -> None:
        """Play no more."""
        for launch, _ in self._launches:
            launch.end()
