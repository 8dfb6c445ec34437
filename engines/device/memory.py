"""Memory of device arrays: buffers of the device, or the memory of the host, which a CPU device shares.

Both have the same methods.  `put` and `get` move a value between NumPy and the device.  `pointer` and `strides` return
arguments of a kernel, `view` returns another view of the same elements.  `Traffic` counts copies.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

import numpy as np
from numpy.lib.array_utils import byte_bounds

from ...cbackend.calls.outputs import BLOCKS, LARGE
from ...record import record
from ..engine import EngineError

if TYPE_CHECKING:
    from .base import Device


_UNDER_WAY = 1 << 30
"""Most bytes of operands that pending kernels may keep, counted once per kernel."""


@record(eq=False)
class OnDevice:
    """An array in a buffer: shape, strides in elements, and the index of its first element.

    `host`: the same elements in host memory, if they are there as well.
    """

    buffer: Any
    dtype: np.dtype
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    start: int = 0
    host: np.ndarray | None = None


class Traffic:
    """Copies and launches of a function, summed over its calls."""

    def __init__(self) -> None:
        self.launches = 0
        self._copies: list[tuple[int, int, float]] = [(0, 0, 0.0), (0, 0, 0.0)]

    def now(self) -> tuple[tuple[int, int, float], ...]:
        """Return number, bytes and seconds of the copies so far: to the device, and to the host."""
        return tuple(self._copies)

    def count(self, to_host: bool, size: int, seconds: float) -> None:
        """Add a copy."""
        number, total, spent = self._copies[to_host]
        self._copies[to_host] = number + 1, total + size, spent + seconds

    @property
    def to_device(self) -> int:
        """Bytes copied to the device."""
        return self._copies[0][1]

    @property
    def to_host(self) -> int:
        """Bytes copied to the host."""
        return self._copies[1][1]

    def __str__(self) -> str:
        copied = f"{self.to_device:,} bytes to the device, {self.to_host:,} bytes to the host"
        milliseconds = 1e3 * sum(seconds for _, _, seconds in self._copies)
        return f"{copied} in {milliseconds:.3f} ms; {self.launches:,} launches"


class Shared:
    """The host's memory: a device array is a NumPy array, and nothing is copied."""

    def __init__(self, device: Device) -> None:
        self._device = device
        self._read: list[Any] = []
        self._bytes = 0

    def empty(self, dtype: np.dtype, shape: tuple[int, ...]) -> Any:
        size = math.prod(shape) * dtype.itemsize
        self._device.require_room(size)
        return BLOCKS.empty(shape, dtype) if size >= LARGE else np.empty(shape, dtype)

    def maker(self, dtype: np.dtype, shape: tuple[int, ...]) -> Callable[[], np.ndarray]:
        """Return a function that allocates arrays of this dtype and shape, of which one was allocated before."""
        is_large = math.prod(shape) * dtype.itemsize >= LARGE
        return partial(BLOCKS.empty if is_large else np.empty, shape, dtype)

    def put(self, array: np.ndarray, traffic: Traffic) -> np.ndarray:
        """Return the array itself, or a copy if its elements are not aligned."""
        aligned = array.flags.aligned and not any(s % array.itemsize for s in array.strides)
        return array if aligned else array.copy()

    def get(self, array: np.ndarray, traffic: Traffic) -> np.ndarray:
        self.finish()
        return array

    def pointer(self, array: np.ndarray) -> Any:
        """Return the argument for the first element; the array is kept until the kernel has ended."""
        found = self._device.pointer(array)
        self._read.append(array)
        self._bytes += array.nbytes
        return found

    def strides(self, array: np.ndarray) -> tuple[int, ...]:
        size = array.itemsize
        return tuple([s // size for s in array.strides])

    def start(self, array: np.ndarray) -> int:
        """Return the index of the first element, counted from the pointer."""
        return 0

    def window(
        self, array: np.ndarray, dtype: np.dtype, start: int, shape: tuple[int, ...], strides: tuple[int, ...]
    ) -> np.ndarray:
        """Return a view of the memory of an array; see `window` below."""
        return window(array, dtype, start, shape, strides)

    def row(self, array: np.ndarray, number: int) -> np.ndarray:
        """Return element `number` along the first axis."""
        found: np.ndarray = array[number, ...]
        return found

    def bounds(self, array: np.ndarray) -> tuple[Any, int, int]:
        """Return the memory that holds an array, the offset of its first byte, and the end of its last byte."""
        return (0, *byte_bounds(array))

    def at(self, array: np.ndarray) -> int:
        """Return the offset of the first element in that memory."""
        return address_of(array)

    def argument(self, array: np.ndarray, offset: int) -> tuple[Any, int]:
        """Return pointer and start of the element `offset` bytes after the first one of an array."""
        if offset:
            return self._device.address(address_of(array) + offset), 0
        return self._device.pointer(array), 0

    def keep(self, arrays: Sequence[np.ndarray]) -> None:
        """Keep arrays until the kernels have ended."""
        self._read += (*arrays, None)

    def view(self, array: np.ndarray, change: Callable[[np.ndarray], Any]) -> np.ndarray:
        """Return `change(array)`, a view."""
        return np.asarray(change(array))

    def finish(self) -> None:
        """Wait for the kernels."""
        if self._read:
            self._device.finish()
            self._read.clear()
            self._bytes = 0

    def settle(self) -> None:
        """Wait if pending kernels keep too much memory.  Called after each launch."""
        if self._bytes > _UNDER_WAY:
            self.finish()


class Buffers:
    """The device's own memory."""

    def __init__(self, device: Device) -> None:
        self._device = device
        self.mirrored: WeakSet[Any] = WeakSet()
        """Containers with mirrors here, which are dropped when memory is short: see resident.py."""

    def empty(self, dtype: np.dtype, shape: tuple[int, ...]) -> Any:
        size = max(math.prod(shape) * dtype.itemsize, 1)
        self._device.require_room(size)
        return OnDevice(self._allocated(size), dtype, shape, _dense(shape))

    def _allocated(self, size: int) -> Any:
        try:
            return self._device.buffer(size)
        except EngineError:
            if not self.mirrored:
                raise
            for container in list(self.mirrored):
                container.drop()
            return self._device.buffer(size)

    def put(self, array: np.ndarray, traffic: Traffic) -> OnDevice:
        made: OnDevice = self.empty(array.dtype, array.shape)
        if array.size:
            start = time.perf_counter()
            self._device.copy_in(made.buffer, np.ascontiguousarray(array))
            traffic.count(False, array.nbytes, time.perf_counter() - start)
        return made

    def get(self, array: OnDevice, traffic: Traffic) -> np.ndarray:
        """Return the array on the host: the one that is there, or a view of a copy of its range of elements."""
        if array.host is not None:
            return array.host
        if 0 in array.shape:
            return np.empty(array.shape, array.dtype)
        low, high = _reach(array)
        flat = np.empty(high - low + 1, array.dtype)
        self.finish()
        start = time.perf_counter()
        self._device.copy_out(flat, array.buffer, (array.start + low) * array.dtype.itemsize)
        traffic.count(True, flat.nbytes, time.perf_counter() - start)
        steps = tuple(s * array.dtype.itemsize for s in array.strides)
        return np.lib.stride_tricks.as_strided(flat[-low:], array.shape, steps)

    def pointer(self, array: Any) -> Any:
        return array.buffer

    def strides(self, array: OnDevice) -> tuple[int, ...]:
        return array.strides

    def start(self, array: OnDevice) -> int:
        return array.start

    def window(
        self, array: OnDevice, dtype: np.dtype, start: int, shape: tuple[int, ...], strides: tuple[int, ...]
    ) -> OnDevice:
        """Return a view of the memory of an array; see `window` below."""
        if (start, shape, strides, dtype) == (0, array.shape, array.strides, array.dtype):
            return array
        return OnDevice(array.buffer, dtype, shape, strides, array.start + start)

    def row(self, array: OnDevice, number: int) -> OnDevice:
        """Return element `number` along the first axis."""
        start = array.start + number * array.strides[0]
        return OnDevice(array.buffer, array.dtype, array.shape[1:], array.strides[1:], start)

    def bounds(self, array: OnDevice) -> tuple[Any, int, int]:
        """Return the buffer of an array, its lowest element there, and the end of the highest one."""
        low, high = _reach(array)
        return id(array.buffer), array.start + low, array.start + high + 1

    def at(self, array: OnDevice) -> int:
        """Return the offset of the first element in that buffer."""
        return array.start

    def argument(self, array: OnDevice, offset: int) -> tuple[Any, int]:
        """Return pointer and start of the element `offset` elements after the first one of an array."""
        return array.buffer, array.start + offset

    def keep(self, arrays: Sequence[OnDevice]) -> None:
        """Do nothing: the driver keeps the buffers of pending kernels."""

    def view(self, array: OnDevice, change: Callable[[np.ndarray], Any]) -> OnDevice:
        """Return the view that `change` makes, found on a NumPy stand-in whose elements are never read."""
        size = array.dtype.itemsize
        steps = tuple(s * size for s in array.strides)
        stand_in = np.lib.stride_tricks.as_strided(np.empty(1, array.dtype), array.shape, steps)
        made = np.asarray(change(stand_in))
        moved = (address_of(made) - address_of(stand_in)) // size
        strides = tuple(s // size for s in made.strides)
        return OnDevice(array.buffer, array.dtype, made.shape, strides, array.start + moved)

    def finish(self) -> None:
        """Wait for the kernels."""
        self._device.finish()

    def settle(self) -> None:
        """Do nothing: the driver keeps the buffers of pending kernels."""


Memory = Shared | Buffers


class _Window:
    """A part of the memory of an array, which it keeps alive."""

    def __init__(self, array: np.ndarray, interface: dict[str, Any]) -> None:
        self._array = array
        self.__array_interface__ = interface


def window(
    array: np.ndarray, dtype: np.dtype, start: int, shape: tuple[int, ...], strides: tuple[int, ...]
) -> np.ndarray:
    """Return a view of the memory of an array, from element `start` on; the array itself if it is all of it.

    Strides count elements.
    """
    size = dtype.itemsize
    steps = tuple([s * size for s in strides])
    if not start and shape == array.shape and steps == array.strides and dtype == array.dtype:
        return array
    if array.flags.c_contiguous and 0 not in shape:  # faster than what follows
        return np.ndarray(shape, dtype, array, start * size, steps)
    place = array.__array_interface__["data"]
    interface = {"data": (place[0] + start * size, place[1]), "shape": shape, "strides": steps, "typestr": dtype.str}
    return np.asarray(_Window(array, {**interface, "version": 3}))


def address_of(array: np.ndarray) -> int:
    """Return the address of the first element."""
    found: int = array.__array_interface__["data"][0]
    return found


def _reach(array: OnDevice) -> tuple[int, int]:
    """Return the offsets of the lowest and the highest element of an array from its first one."""
    reach = [(n - 1) * s for n, s in zip(array.shape, array.strides)]
    return sum(r for r in reach if r < 0), sum(r for r in reach if r > 0)


def is_dense(array: Any) -> bool:
    """Whether an array is C-contiguous."""
    if isinstance(array, OnDevice):
        return array.strides == _dense(array.shape)
    return bool(array.flags.c_contiguous)


def _dense(shape: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(math.prod(shape[k + 1 :]) for k in range(len(shape)))


def offsets(shape: Sequence[int], strides: Sequence[int]) -> np.ndarray:
    """Return the offsets of all elements in C order."""
    found = np.zeros((1,) * len(shape), np.int64)
    for axis, (n, s) in enumerate(zip(shape, strides)):
        found = found + (np.arange(n) * s).reshape([-1 if k == axis else 1 for k in range(len(shape))])
    return np.ascontiguousarray(np.broadcast_to(found, tuple(shape)).reshape(-1))
