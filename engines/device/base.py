"""Interface of devices: memory, compiled kernels, ordered launches.  Each dialect implements it: see dialects/."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from ...cbackend.ctext.device import Dialect
from ...cbackend.ctext.device_lists import Item
from ..engine import EngineError

if TYPE_CHECKING:
    from .memory import Memory


class Repeated(Protocol):
    """A launch with its own arguments, some of which change from run to run."""

    def start(self, changed: Sequence[tuple[int, Any]]) -> None: ...  # with other arguments at some positions
    def end(self) -> None: ...  # release its resources for others


class Graph(Protocol):
    """Launches with all their arguments, started as one."""

    def start(self) -> None: ...


class Device:
    """A device whose launches and copies run in order.  One thread at a time may call its methods: see `lock`.

    `small`: picoseconds of work below which the host runs a node itself, since a launch costs more.
    `in_parts`: a work item runs a chunk of the loops of a C backend kernel; otherwise it computes one element.
    """

    kind: str
    """Name of the kernel language in messages."""
    name: str
    dialect: Dialect
    largest: int
    """Largest number of bytes of an array."""
    has_float64: bool
    items: int
    """Largest number of work items in a group."""
    units: int
    """Number of processors."""
    shares: bool
    """Whether its memory is the host's."""
    in_parts: bool
    small: int
    memory: Memory

    def __init__(self) -> None:
        self.lock: AbstractContextManager[bool] = threading.RLock()

    def kernel(self, source: str, name: str, pointers: Sequence[bool]) -> Any:
        """Return kernel `name` of a source, compiled once.  `pointers`: whether each argument is one, or an int64."""
        raise NotImplementedError

    def item_kernel(self, item: Item, source: str) -> Any:
        """Return the kernel that runs a work-item function of a source.  Lists of launches may call the function."""
        return self.kernel(source, item.name, item.pointers)

    def lists(self, kernel: Any, work: int) -> bool:
        """Whether a launch with so many picoseconds of work may join a list: see tape.py."""
        return False

    def list_kernel(self, items: Sequence[Item]) -> Any:
        """Return the kernel that runs lists of launches of these functions."""
        raise NotImplementedError

    def run_list(self, kernel: Any, numbers: np.ndarray) -> None:
        """Run a list of launches; may return before it ends."""
        raise NotImplementedError

    def launch(self, kernel: Any, grid: Sequence[int], group: Sequence[int] | None, arguments: Sequence[Any]) -> None:
        """Start a kernel over a grid of work items; return before it ends."""
        raise NotImplementedError

    def repeated(
        self, kernel: Any, grid: Sequence[int], group: Sequence[int] | None, arguments: Sequence[Any]
    ) -> Repeated:
        """Return a launch that can run repeatedly."""
        raise NotImplementedError

    def places(self, buffers: Sequence[Any]) -> tuple[int, ...]:
        """Return the addresses of buffers, on a device that has graphs."""
        return ()

    def captured(self, play: Callable[[], None]) -> Graph | None:
        """Return the launches that `play` makes as one graph, without running them; None if the device has no graphs.

        The graph has the arguments of this moment.
        """
        return None

    def finish(self) -> None:
        """Wait for all kernels."""
        raise NotImplementedError

    def pointer(self, array: np.ndarray) -> Any:
        """Return the argument for an array in host memory, on a device that shares it."""
        raise NotImplementedError

    def address(self, address: int) -> Any:
        """Return the argument for an address in host memory, on a device that shares it."""
        raise NotImplementedError

    def number(self, array: np.ndarray) -> int:
        """Return the address of an array in host memory, on a device that shares it."""
        raise NotImplementedError

    def buffer(self, size: int) -> Any:
        """Allocate device memory, freed when nothing refers to it."""
        raise NotImplementedError

    def copy_in(self, buffer: Any, array: np.ndarray) -> None:
        """Copy an array to a buffer."""
        raise NotImplementedError

    def copy_out(self, array: np.ndarray, buffer: Any, offset: int) -> None:
        """Copy bytes of a buffer to an array, and wait for the copy."""
        raise NotImplementedError

    def require_room(self, size: int) -> None:
        """Raise EngineError if an array of so many bytes exceeds the device's limit."""
        if size > self.largest:
            raise self.no_room(size)

    def no_room(self, size: int) -> EngineError:
        """Return the error about an array that does not fit."""
        return EngineError(
            f"the {self.kind} device {self.name} is out of memory: an array takes {size:,} bytes, and it gives at most "
            f'{self.largest:,} at once; use smaller arrays, or ag.Mode(backend="c")'
        )
