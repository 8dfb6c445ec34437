"""Lists of launches of a tape as one launch of the device: see cbackend/ctext/device_lists.py.

A launch costs more than the work of a small kernel.  On a device that shares host memory an address is a number, so a
list of launches is an array of numbers.  A single work item of one kernel interprets it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...cbackend.ctext.device_lists import HEAD
from .base import Device

Varying = Sequence[tuple[int, int, int]]
"""(position of an argument, index of an array, offset): each run passes the address of the array plus the offset."""


class LaunchList:
    """Launches replayed as one.  Each is a kernel, a grid, its arguments as numbers, and the varying ones."""

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
