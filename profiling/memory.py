"""Memory that calls held: what the C of a profiled function counts beside time and bytes moved."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..record import record

FIGURES = [1, 2, 4]
"""Among the numbers about memory: the peak, the peak without in-place work, bytes of the planned block."""


@record
class MemoryProfile:
    """The most bytes of intermediate values that a call held at once, and what it would be without in-place work.

    `planned`: the bytes of the one block in which intermediate values of the function share memory; 0 if each has a
    block of its own.
    """

    peak: int = 0
    without_in_place: int = 0
    planned: int = 0

    def to_dict(self) -> dict[str, Any]:
        """The figures as plain data."""
        return {"peak": self.peak, "without_in_place": self.without_in_place, "planned": self.planned}


def memory_of(counted: Sequence[np.ndarray]) -> MemoryProfile:
    """The largest figures of all calls, from the numbers about memory of each set of counters."""
    found = [numbers[FIGURES].tolist() for numbers in counted]
    return MemoryProfile(*(max(column) for column in zip(*found, strict=True))) if found else MemoryProfile()
