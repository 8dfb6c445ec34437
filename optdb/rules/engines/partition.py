"""`partition`: divide the nodes of a graph among engines by minimum cuts; parts of other engines become `region` nodes.

    y = sort(conv(x, w))   -->   y = sort(region{engine='onnxruntime', conv}(x, w)), the sort on the host

The engines and their prices come from the function that is compiled (`optdb/placing.py`).  Without engines the graph
stays as it is.
"""

from __future__ import annotations

from collections import Counter
from typing import ClassVar

from ....graph import FunctionGraph
from ....graph.editor import GraphEditor
from ....graph.provenance import union
from ....profiling import OptimizerProfile
from ....profiling.partition import PartitionProfile, RegionPlan
from ....record import record
from ...contract import Contract, ulp
from ...optimizers import Optimizer, Result
from ...placing import Placing, current
from .division import Division
from .regions import groups_of, levels_of, with_regions

_NAMED = 6
"""Most ops and lines of a region that its plan names."""


@record(kw_only=True)
class PartitionOptimizer(Optimizer):
    """Divides the nodes among the engines of the function."""

    contract: ClassVar[Contract | None] = ulp(4)

    def optimize(self, graph: FunctionGraph, editor: GraphEditor) -> Result:
        engines = current()
        if engines is None or not graph.order:
            return graph, OptimizerProfile()
        division = Division.of(graph, engines)
        labels = division.cheapest()
        profile = plan(division, labels, engines)
        if not profile.regions:
            return graph, profile
        outputs = with_regions(graph, labels, engines.host, engines.threads)
        return graph.replace(zip(graph.outputs, outputs, strict=True), self.name, editor), profile


def plan(division: Division, labels: list[str], engines: Placing) -> PartitionProfile:
    """Return the profile of an assignment."""
    graph, host = division.graph, engines.host
    groups = groups_of(labels, levels_of(graph, labels, host), host)
    copied = division.copied(labels)
    regions = []
    for (level, is_region, engine), members in groups.items():
        if not is_region:
            continue
        nodes = [graph.order[k] for k in members]
        ops = Counter(node.op.name for node in nodes).most_common(_NAMED)
        lines = tuple(map(str, union(*(node.origin for node in nodes))))[:_NAMED]
        price = sum(division.price(engine, k) for k in members)
        measured = sum(engines.is_measured(engine, node) for node in nodes)
        regions.append(RegionPlan(engine, len(nodes), tuple(ops), price, copied[engine, level], measured, lines))
    return PartitionProfile(
        host=host, regions=tuple(regions), on_host=labels.count(host), divided=division.estimate(labels),
        alone=tuple((name, division.estimate(division.alone(name))) for name in engines.engines),
        unsupported=tuple((name, division.unsupported(name)) for name in engines.engines),
    )  # fmt: skip
