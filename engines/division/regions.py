"""Regions: convex groups of nodes with the same engine, without cycles among them, each as one `region` node.

Levels make them: the level of a node is the largest number of regions of other engines, or of its own engine behind
those, on a path to it.  Nodes of one engine on one level are one region.  All edges between regions lead to a higher
level, or from the host to a region of the same level, so there is no cycle.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...graph import Apply, Constant, FunctionGraph, Variable, rebuild
from ...graph.provenance import inheriting, union
from ...ops.core.tensor import TensorVariable
from ...ops.lowered.region import Region


def levels_of(graph: FunctionGraph, labels: Sequence[str], host: str) -> list[int]:
    """Return the level of each node, in the order of the graph."""
    at = {node: k for k, node in enumerate(graph.order)}
    reads = [[at[i.owner] for i in dict.fromkeys(node.inputs) if i.owner is not None] for node in graph.order]
    levels = [0] * len(labels)
    for k, before in enumerate(reads):
        levels[k] = max((levels[u] + _step(labels[u], labels[k], host) for u in before), default=0)
    users: list[list[int]] = [[] for _ in labels]
    for k, before in enumerate(reads):
        for u in before:
            users[u].append(k)
    for k in reversed(range(len(labels))):  # a node joins the region of a later reader where nothing prevents it
        own = [levels[u] for u in users[k] if labels[u] == labels[k]]
        latest = min((levels[u] - _step(labels[k], labels[u], host) for u in users[k]), default=levels[k])
        if labels[k] != host and own and levels[k] < min(own) <= latest:
            levels[k] = min(own)
    return levels


def _step(above: str, below: str, host: str) -> int:
    """Return the increase of the level along an edge."""
    return 0 if above in (below, host) else 1


def groups_of(labels: Sequence[str], levels: Sequence[int], host: str) -> dict[tuple[int, bool, str], list[int]]:
    """Return the positions of nodes by level and engine, in topological order; the host comes first."""
    found: dict[tuple[int, bool, str], list[int]] = {}
    for k, (label, level) in enumerate(zip(labels, levels, strict=True)):
        found.setdefault((level, label != host, label), []).append(k)
    return {key: found[key] for key in sorted(found)}


def with_regions(
    graph: FunctionGraph, labels: Sequence[str], host: str, threads: int | None
) -> list[Variable]:
    """Return the outputs of the graph with a `region` node in place of each group of an engine other than the host."""
    groups = groups_of(labels, levels_of(graph, labels, host), host)
    image: dict[Variable, Variable] = {i: i for i in graph.inputs}
    for (_, is_region, engine), members in groups.items():
        nodes = [graph.order[k] for k in members]
        if is_region:
            _add_region(graph, nodes, engine, threads, image)
            continue
        for node in nodes:
            again = node.over(image)
            image.update(zip(node.outputs, again.outputs, strict=True))
    return [image.get(o, o) for o in graph.outputs]


def _add_region(
    graph: FunctionGraph, nodes: Sequence[Apply], engine: str, threads: int | None, image: dict[Variable, Variable]
) -> None:
    """Add to `image` the outputs of the `region` node that replaces `nodes`."""
    inner, reads, gives = inner_graph(graph, nodes)
    with inheriting(union(*(node.origin for node in nodes))):
        node = Apply(Region(inner, engine, threads), tuple(image.get(i, i) for i in reads))
    image.update(zip(gives, node.outputs, strict=True))


def inner_graph(graph: FunctionGraph, nodes: Sequence[Apply]) -> tuple[FunctionGraph, list[Variable], list[Variable]]:
    """Return nodes as a graph of their own, the values that they read, and those that other nodes read."""
    inside = set(nodes)
    made = {o for node in nodes for o in node.outputs}
    reads = [i for i in dict.fromkeys(i for n in nodes for i in n.inputs) if i not in made and not _is_constant(i)]
    gives = [o for n in nodes for o in n.outputs if any(user not in inside for user, _ in graph.uses.get(o, ()))]
    fresh: Mapping[Variable, Variable] = {i: TensorVariable(i.type, name=i.name) for i in reads}
    return FunctionGraph(list(fresh.values()), rebuild(gives, dict(fresh))), reads, gives


def _is_constant(variable: Variable) -> bool:
    return isinstance(variable, Constant)
