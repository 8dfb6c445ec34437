"""Lazy imports of modules that describe functions: `later.why.Answers`.

Hardly any program asks, and `import arignote` would take 6 ms longer.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from . import (
        bind,
        bisect,
        block_graph,
        chunked,
        debug,
        dividing,
        explain,
        export,
        function,
        narration,
        partition,
        placement,
        recording,
        regions,
        remarks,
        report,
        schedules,
        trace,
        tuning,
        vectorizing,
        why,
    )  # fmt: skip

__all__ = [
    "bind", "bisect", "block_graph", "chunked", "debug", "dividing", "explain", "export", "function", "narration",
    "partition", "placement", "recording", "regions", "remarks", "report", "schedules", "trace", "tuning",
    "vectorizing", "why",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return import_module(f".{name}", __package__)
