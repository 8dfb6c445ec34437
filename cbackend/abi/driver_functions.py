"""C functions of the driver that are compiled into the runtime (driver.h): memory, results, copies, slices, ranges.

Their text stands in each generated file that uses them, so the file is whole for any compiler.  Ours is told
`-DAG_PREBUILT` and skips it: it calls them by the table of the runtime, which is compiled from the same text
(runtime/core.c) once, and with more care than a driver.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from .declarations import HEADERS
from .pieces import Piece, named

INTERNAL = ("ag_slice_bound", "ag_bytes")
"""Functions that only other functions of driver.h call; all others are in the table, as `rt->fail` for `ag_fail`."""


@lru_cache(maxsize=1)
def driver_functions() -> Mapping[str, Piece]:
    """Return the pieces of driver.h by the names that they define; each uses earlier ones only."""
    return named((HEADERS / "driver.h").read_text())
