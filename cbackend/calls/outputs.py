"""Memory for large results, reused once the last reference to the result in it is gone.

A fresh page costs the kernel about as much as writing it does: `2.5*x + y` on ten million numbers spends half of its
time on the pages of a result that the next call throws away.  NumPy arrays own their memory, so reuse needs no
cooperation: a block is an array, results are views of it, NumPy keeps the block alive as long as any view, slice,
memoryview or exported buffer of the result is, and the block is free again when its reference count says that only
this module holds it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

LARGE = 1 << 20
"""Minimum bytes of a result that gets a block; malloc reuses smaller ones well."""
PAGE, PLACES = 4096, 8
_ALONE = 2
"""Reference count of a block held only by a local variable and the argument of getrefcount."""


class Blocks:
    """At most `capacity` bytes of blocks, used or free.  Thread-safe: a block under inspection is in no list."""

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self._blocks: dict[int, list[np.ndarray]] = {}

    def empty(self, shape: Sequence[int], dtype: np.dtype[Any]) -> np.ndarray:
        """Return an uninitialized C-contiguous array; from LARGE bytes on, in a block."""
        size = prod(shape) * dtype.itemsize
        if size < LARGE or size > self.capacity // 2:
            return np.empty(shape, dtype)
        block = self._free_block(size)
        if block is None:
            block = self._new_block(size)
        result: np.ndarray = np.ndarray(shape, dtype, block, _offset(block))
        self._blocks.setdefault(size, []).append(block)
        return result

    def release(self) -> int:
        """Forget all blocks and return the bytes that go back to the system: those without a living result."""
        released = 0
        for blocks in list(self._blocks.values()):
            for _ in range(len(blocks)):
                try:
                    block = blocks.pop()
                except IndexError:  # another thread looks at it
                    break
                released += block.nbytes if sys.getrefcount(block) == _ALONE else 0
        return released

    def _free_block(self, size: int) -> np.ndarray | None:
        """Return the last used block that is free again, since the processor's cache is likely to hold it.

        Those in use keep their places behind it: calls with several results would go through all blocks in turn.
        """
        blocks, found = self._blocks.get(size, []), None
        in_use: list[np.ndarray] = []
        while found is None:
            try:
                block = blocks.pop()
            except IndexError:  # no more, or another thread looks at them
                break
            if sys.getrefcount(block) == _ALONE:
                found = block
            else:
                in_use.append(block)
        blocks.extend(reversed(in_use))
        return found

    def _new_block(self, size: int) -> np.ndarray:
        self._make_room(size)
        try:
            return np.empty(size + PAGE, np.uint8)
        except MemoryError:
            self.release()
            return np.empty(size + PAGE, np.uint8)

    def _make_room(self, size: int) -> None:
        """Forget blocks, of the earliest requested sizes first, until `size` more bytes fit."""
        for other in list(self._blocks):
            blocks = self._blocks[other]
            while blocks and self._held() + size > self.capacity:
                try:
                    blocks.pop(0)
                except IndexError:
                    break

    def _held(self) -> int:
        return sum(size * len(blocks) for size, blocks in list(self._blocks.items()))


def _offset(block: np.ndarray) -> int:
    """Return where a result begins in its block: never where a page begins, as large arrays of NumPy do.

    A processor takes a load for one of what was stored last where both addresses agree in their place within a page.
    So a result has another place than the operands it is computed from, and than most results beside it.
    """
    address: int = block.__array_interface__["data"][0]
    place = 1 + address // PAGE % (PLACES - 1)
    return (place * (PAGE // PLACES) - address) % PAGE


def _physical_memory() -> int:
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (ValueError, OSError, AttributeError):
        return 1 << 32


def _counts_are_exact() -> bool:
    """Whether reference counts are exact: not in builds of Python without the global lock."""
    return getattr(sys, "_is_gil_enabled", lambda: True)()


BLOCKS = Blocks(min(_physical_memory() // 16, 1 << 30) if _counts_are_exact() else 0)
"""The output blocks of this process."""
