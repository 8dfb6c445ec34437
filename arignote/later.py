"""Lazy imports of modules that describe functions: `later.why.Answers`.

Hardly any program asks, and `import arignote` would take 6 ms longer.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .calculus import vectorizing
    from .chunked import chunked as chunked
    from .chunked import graph as block_graph
    from .explain import bisect, debug, explain, recording, remarks, report, trace, why
    from .export import export as export
    from .function import bind, narration
    from .tuning import dividing, partition, placement, regions, schedules
    from .tuning import measuring as tuning

__all__ = [
    "bind", "bisect", "block_graph", "chunked", "debug", "dividing", "explain", "export", "narration", "partition",
    "placement", "recording", "regions", "remarks", "report", "schedules", "trace", "tuning", "vectorizing", "why",
]  # fmt: skip
_PLACES = {
    "block_graph": "chunked.graph", "chunked": "chunked.chunked", "export": "export.export", "vectorizing": "calculus.vectorizing",
    "tuning": "tuning.measuring",
    **{name: f"explain.{name}" for name in ["bisect", "debug", "explain", "recording", "remarks", "report", "trace", "why"]},
    **{name: f"function.{name}" for name in ("bind", "narration")},
    **{name: f"tuning.{name}" for name in ["dividing", "partition", "placement", "regions", "schedules"]},
}  # fmt: skip


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return import_module(f".{_PLACES[name]}", __package__)
