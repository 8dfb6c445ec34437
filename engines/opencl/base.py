"""The device of an engine: memory, compiled kernels and launches in order.  OpenCL and CUDA implement it."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from ...cbackend.ctext.device import Dialect
from ...cbackend.ctext.device_lists import Item
from ..engine import EngineError

if TYPE_CHECKING:
    from .memory import Memory


class Repeated(Protocol):
    """A launch with arguments of its own, of which a run changes only some."""

    def start(self, changed: Sequence[tuple[int, Any]]) -> None: ...  # with other arguments at some positions
    def end(self) -> None: ...  # let others have what it holds


class Device:
    """A device whose launches and copies run in order.  Its methods may be called by one thread at a time: see `lock`.

    `small`: picoseconds of work that the host does itself, in the memory that it shares: a launch costs more.
    `in_parts`: a work item runs a part of the loops of a kernel of the C backend; else it computes an element.
    """

    kind: str
    """The language of its kernels, as messages say it."""
    name: str
    dialect: Dialect
    largest: int
    """Bytes of the largest array."""
    has_float64: bool
    items: int
    """Work items of the largest group."""
    units: int
    """Processors."""
    shares: bool
    """Whether its memory is the host's."""
    in_parts: bool
    small: int
    memory: Memory

    def __init__(self) -> None:
        self.lock: AbstractContextManager[bool] = threading.RLock()

    def kernel(self, source: str, name: str, pointers: Sequence[bool]) -> Any:
        """A kernel of a text, which is compiled once.  `pointers`: whether each argument is one, or an int64."""
        raise NotImplementedError

    def item_kernel(self, item: Item, source: str) -> Any:
        """The kernel of a function of work items in a text.  Lists of launches may call the function."""
        return self.kernel(source, item.name, item.pointers)

    def lists(self, kernel: Any, work: int) -> bool:
        """Whether a launch of so many picoseconds of work may be one of a list: see lists.py."""
        return False

    def list_kernel(self, items: Sequence[Item]) -> Any:
        """The kernel of lists of launches of these functions."""
        raise NotImplementedError

    def run_list(self, kernel: Any, numbers: np.ndarray) -> None:
        """Work through a list of launches; may return before it ends."""
        raise NotImplementedError

    def launch(self, kernel: Any, grid: Sequence[int], group: Sequence[int] | None, arguments: Sequence[Any]) -> None:
        """Run a kernel over a grid of work items; returns before it ends."""
        raise NotImplementedError

    def repeated(
        self, kernel: Any, grid: Sequence[int], group: Sequence[int] | None, arguments: Sequence[Any]
    ) -> Repeated:
        """A launch to be run again and again."""
        raise NotImplementedError

    def finish(self) -> None:
        """Wait for all kernels."""
        raise NotImplementedError

    def pointer(self, array: np.ndarray) -> Any:
        """The argument for an array of the host's memory, on a device that shares it."""
        raise NotImplementedError

    def address(self, address: int) -> Any:
        """The argument for an address in the host's memory, on a device that shares it."""
        raise NotImplementedError

    def number(self, array: np.ndarray) -> int:
        """The address of an array of the host's memory, on a device that shares it."""
        raise NotImplementedError

    def buffer(self, size: int) -> Any:
        """Memory of the device, which is freed when nothing refers to it."""
        raise NotImplementedError

    def copy_in(self, buffer: Any, array: np.ndarray) -> None:
        """Copy an array to a buffer."""
        raise NotImplementedError

    def copy_out(self, array: np.ndarray, buffer: Any, offset: int) -> None:
        """Copy bytes of a buffer to an array, and wait for them."""
        raise NotImplementedError

    def require_room(self, size: int) -> None:
        """Raise EngineError if the device has no room for so many bytes at once."""
        if size > self.largest:
            raise self.no_room(size)

    def no_room(self, size: int) -> EngineError:
        """The error about an array that does not fit."""
        return EngineError(
            f"the {self.kind} device {self.name} is out of memory: an array takes {size:,} bytes, and it gives at most "
            f'{self.largest:,} at once; use smaller arrays, or ag.Mode(backend="c")'
        )
