"""Lazy imports of modules that describe functions: `later.why.Answers`.

Hardly any program asks, and `import arignote` would take 6 ms longer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .record import lazy

if TYPE_CHECKING:
    from .calculus import vectorizing
    from .chunked import chunked
    from .chunked import graph as block_graph
    from .engines.division import divide, placement
    from .explain import bisect, debug, explain, recording, remarks, report, trace, why
    from .export import export
    from .function import bind, function, narration
    from .tuning import dividing, partition, regions, schedules
    from .tuning import measuring as tuning
else:
    __getattr__, __dir__ = lazy.modules_of(
        __name__, ".bind", ".bisect", ".block_graph", ".chunked", ".debug", ".dividing", ".explain", ".export",
        ".function", ".narration", ".partition", ".recording", ".regions", ".remarks", ".report", ".schedules",
        ".trace", ".tuning", ".vectorizing", ".why", ".engines.division.divide", ".engines.division.placement",
    )  # fmt: skip

__all__ = [
    "bind", "bisect", "block_graph", "chunked", "debug", "divide", "dividing", "explain", "export", "function",
    "narration", "partition", "placement", "recording", "regions", "remarks", "report", "schedules", "trace", "tuning",
    "vectorizing", "why",
]  # fmt: skip
