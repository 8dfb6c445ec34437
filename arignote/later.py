"""Lazy imports of modules that describe functions: `later.why.Answers`.

Hardly any program asks, and `import arignote` would take 6 ms longer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .record import lazy

if TYPE_CHECKING:
    from .calculus import vectorizing
    from .chunked import chunked as chunked
    from .chunked import graph as block_graph
    from .control import segments
    from .engines.division import divide, placement
    from .explain import (
        assumptions,
        bisect,
        debug,
        explain,
        facts,
        recording,
        reducing,
        remarks,
        report,
        rules_about,
        trace,
        why,
    )  # fmt: skip
    from .export import export as export
    from .export import low_level as low_level
    from .function import bind, function, narration, pass_budget, tree_path
    from .profiling import at_exit
    from .proving import proof, prover
    from .tracing import jitted
    from .tuning import budget, dividing, measuring, partition, records, regions, schedules
else:
    __getattr__, __dir__ = lazy.modules_of(
        __name__, ".calculus.vectorizing", ".chunked.chunked", ".control.segments", ".engines.division.divide",
        ".engines.division.placement", ".explain.assumptions", ".explain.bisect", ".explain.debug", ".explain.explain",
        ".explain.facts", ".explain.recording", ".explain.reducing", ".explain.remarks", ".explain.report",
        ".explain.rules_about", ".explain.trace", ".explain.why", ".export.export", ".export.low_level",
        ".function.bind", ".function.function", ".function.narration", ".function.pass_budget",
        ".function.tree_path", ".profiling.at_exit", ".proving.proof", ".proving.prover", ".tracing.jitted",
        ".tuning.budget", ".tuning.dividing", ".tuning.measuring",
        ".tuning.partition", ".tuning.records", ".tuning.regions", ".tuning.schedules", block_graph=".chunked.graph",
    )  # fmt: skip

__all__ = [
    "assumptions", "at_exit", "bind", "bisect", "block_graph", "budget", "chunked", "debug", "divide", "dividing",
    "explain", "export", "facts", "function", "jitted", "low_level", "measuring", "narration", "partition",
    "pass_budget", "placement", "proof", "prover", "recording", "records", "reducing", "regions", "remarks", "report",
    "rules_about", "schedules", "segments", "trace", "tree_path", "vectorizing", "why",
]  # fmt: skip
