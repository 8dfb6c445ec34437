"""Memory held by calls, counted by the C of a profiled function."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..record import record

FIGURES = [1, 2, 4]
"""Among the numbers about memory: the peak, the peak without in-place work, bytes of the planned block."""


@record
class MemoryProfile:
    """Peak bytes of intermediate values in a call, and the peak without in-place ops.

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
    """The maxima over all calls, from the memory figures of each set of counters."""
    found = [numbers[FIGURES].tolist() for numbers in counted]
    return MemoryProfile(*(max(column) for column in zip(*found, strict=True))) if found else MemoryProfile()
