"""Shared variables whose values stay on a device after updates and are read back on demand.

A container has the class `Resident` while its value is on a device.  The first read of `value` makes it plain again.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...ops.shared import Container
from ...record import record
from .memory import Buffers, OnDevice, Traffic

_slot: Any = Container.__dict__["value"]


@record(eq=False)
class Away:
    """A value on a device; `traffic` counts the copy to the host."""

    array: OnDevice
    memory: Buffers
    traffic: Traffic
    lock: Any


class Resident(Container):
    """A container whose value is `Away`."""

    __slots__ = ()

    @property  # type: ignore[override]
    def value(self) -> np.ndarray:
        """The value, copied to the host, where it stays."""
        found = _slot.__get__(self)
        if not isinstance(found, Away):  # another thread was first
            array: np.ndarray = found
            return array
        with found.lock:
            array = np.ascontiguousarray(found.memory.get(found.array, found.traffic)).reshape(found.array.shape)
        _slot.__set__(self, array)
        self.__class__ = Container  # type: ignore[assignment]
        return array

    @value.setter
    def value(self, value: np.ndarray) -> None:
        _slot.__set__(self, value)
        self.__class__ = Container  # type: ignore[assignment]

    def __reduce__(self) -> Any:
        return Container, (self.value,)


def leave(container: Any, away: Away) -> None:
    """Let the value of a container stay on the device."""
    _slot.__set__(container, away)
    container.__class__ = Resident


def away_at(container: Any, memory: Any) -> OnDevice | None:
    """Return the device array of a container whose value lies in this memory; None for other containers."""
    if type(container) is not Resident:
        return None
    found = _slot.__get__(container)
    return found.array if isinstance(found, Away) and found.memory is memory else None
