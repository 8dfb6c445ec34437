"""Shared variables on a device.

A container has the class `Resident` while its value is on the device alone, after an update: the first read of `value`
copies it to the host and makes the container plain again.  It has the class `Mirrored` while its value is on both
sides.  The first read of `value` drops the copy on the device, since the reader may be a function that writes into the
array.
"""

from __future__ import annotations

import sys
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np

from ...cbackend.calls.update_locks import lock_of
from ...ops.core.shared import Container
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


@record(eq=False)
class Mirror:
    """A copy on a device of the array `host`; invalid if the container has another array by now."""

    host: np.ndarray
    array: OnDevice
    memory: Buffers


class Mirrored(Container):
    """A container whose value is on the host and, as `mirror`, on a device."""

    __slots__ = ()

    @property  # type: ignore[override]
    def value(self) -> np.ndarray:
        """The array on the host; the copy on the device is dropped."""
        self.drop()
        array: np.ndarray = _slot.__get__(self)
        return array

    @value.setter
    def value(self, value: np.ndarray) -> None:
        self.drop()
        _slot.__set__(self, value)

    def drop(self) -> None:
        """Drop the copy on the device."""
        self.__class__ = Container  # type: ignore[assignment]
        with suppress(AttributeError):  # another thread was first
            self.mirror.memory.mirrored.discard(self)
            del self.mirror

    def __reduce__(self) -> Any:
        return Container, (self.value,)


def leave(container: Any, away: Away) -> None:
    """Let the value of a container stay on the device."""
    if type(container) is Mirrored:
        container.drop()
    _slot.__set__(container, away)
    container.__class__ = Resident


def found_at(container: Any, memory: Any) -> OnDevice | None:
    """Return the device array of a container whose value is in this memory; None for other containers."""
    if type(container) is Resident:
        found = _slot.__get__(container)
        return found.array if isinstance(found, Away) and found.memory is memory else None
    if type(container) is Mirrored:
        mirror: Mirror | None = getattr(container, "mirror", None)
        if mirror is not None and mirror.memory is memory and mirror.host is _slot.__get__(container):
            return mirror.array
    return None


def mirrored(container: Any, memory: Buffers, traffic: Traffic, device_lock: Any) -> OnDevice | None:
    """Copy the value of a plain container to the device, and keep the copy there.

    None if a function updates the value at this moment, or if others hold the array, and so may write into it.
    """
    lock = lock_of(container)
    if type(container) is not Container or not lock.acquire(blocking=False):
        return None
    try:
        host = _slot.__get__(container)
        if sys.getrefcount(host) > _UNSHARED:
            return None
        with device_lock:
            array = replace(memory.put(host, traffic), host=host)
            memory.mirrored.add(container)
        container.mirror = Mirror(host, array, memory)
        container.__class__ = Mirrored
        return array
    finally:
        lock.release()


def _references() -> int:
    """Return the references of an array that only a container and a local variable hold."""
    container = Container(np.empty(1))
    host = _slot.__get__(container)
    return sys.getrefcount(host)


_UNSHARED = _references()
