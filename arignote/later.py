"""Lazy imports of modules that describe functions: `later.why.Answers`.

Hardly any program asks, and `import arignote` would take 6 ms longer.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .calculus import vectorizing
    from .chunked import chunked
    from .chunked import graph as block_graph
    from .explain import bisect, debug, explain, recording, remarks, report, trace, why
    from .export import export
    from .function import bind, narration
    from .tuning import dividing, partition, placement, regions, schedules
    from .tuning import measuring as tuning

__all__ = [
    "bind", "bisect", "block_graph", "chunked", "debug", "dividing", "explain", "export", "narration", "partition",
    "placement", "recording", "regions", "remarks", "report", "schedules", "trace", "tuning", "vectorizing", "why",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return import_module(f".{name}", __package__)
