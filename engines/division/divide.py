"""`divided`: a graph with a `region` node for each part that another engine than the host runs.

    y = sort(conv(x, w))   -->   y = sort(region{engine='onnxruntime', conv}(x, w)), the sort on the host
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from ...graph import FunctionGraph, Variable
from ...graph.provenance import union
from ...profiling.partition import PartitionProfile, RegionPlan
from . import regions
from .prices import Prices
from .problem import Division

_NAMED = 6
"""Most ops and lines of a region that its plan names."""


def divided(graph: FunctionGraph, prices: Prices) -> tuple[Sequence[Variable], PartitionProfile] | str:
    """Return the outputs of the cheapest division and its profile; text that names a node which no engine runs."""
    division = Division.of(graph, prices)
    if isinstance(division, str):
        return division
    labels = division.cheapest()
    profile = plan(division, labels)
    if not profile.regions:
        return graph.outputs, profile
    return regions.with_regions(graph, labels, prices.host, prices.threads), profile


def plan(division: Division, labels: list[str]) -> PartitionProfile:
    """Return the profile of an assignment."""
    graph, prices, host = division.graph, division.prices, division.prices.host
    groups = regions.groups_of(labels, regions.levels_of(graph, labels, host), host)
    copied = division.copied(labels)
    found = []
    for (level, is_region, engine), members in groups.items():
        if not is_region:
            continue
        nodes = [graph.order[k] for k in members]
        ops = Counter(node.op.name for node in nodes).most_common(_NAMED)
        lines = tuple(map(str, union(*(node.origin for node in nodes))))[:_NAMED]
        price = sum(division.price(engine, k) for k in members)
        measured = sum(prices.is_measured(engine, node) for node in nodes)
        found.append(RegionPlan(engine, len(nodes), tuple(ops), price, copied[engine, level], measured, lines))
    return PartitionProfile(
        host=host, regions=tuple(found), on_host=labels.count(host), divided=division.estimate(labels),
        alone=tuple((name, division.estimate(division.alone(name))) for name in prices.engines),
        unsupported=tuple((name, division.unsupported(name)) for name in prices.engines),
    )  # fmt: skip
