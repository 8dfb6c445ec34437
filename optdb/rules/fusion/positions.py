"""Fusion of argmax and argmin with the maximum or minimum itself, and with cheap elementwise work before it.

    x.max(1), x.argmax(1)        one group: the search finds the element, too
    (x * w).argmax(1)            one group: the product is in no array
    x.argmax()                   gives its extremum as well, by which parts of the search are compared with each other

A position waits for one group, that of its operand, or for none.  Two groups that wait for the same one, and one that
waits for another alone, may always become one: no third can stand between them.
"""

from __future__ import annotations

from collections.abc import Sequence

from ....graph import Apply, FunctionGraph, Variable
from ....ops.elementwise.costs import work
from ....ops.elementwise.records import maximum, minimum
from ....ops.reductions.reduce import ArgReduce, Reduce
from .groups import Facts, Group, is_pointwise

_FOLDED = {"argmax": maximum, "argmin": minimum}


def join_positions(groups: Sequence[Group], facts: Facts) -> list[Group]:
    """Return `groups` in topological order, with argmax and argmin joined to groups that compute the same values."""
    kinds = {type(node.op) for group in groups for node in group.nodes}
    if not any(issubclass(kind, ArgReduce) for kind in kinds):
        return list(groups)
    group_of = {node: group for group in groups for node in group.nodes}
    first: dict[tuple[Variable, Reduce], Group] = {}
    joined = []
    for group in groups:
        host = _host(group, group_of, first, facts)
        if host is None:
            joined.append(group)
        else:
            host.nodes += group.nodes
            group_of.update(dict.fromkeys(group.nodes, host))
    return joined


def _host(
    group: Group, group_of: dict[Apply, Group], first: dict[tuple[Variable, Reduce], Group], facts: Facts
) -> Group | None:
    """Return the group that this one joins; `first` records the groups that contain only a search for an extremum."""
    extremum = _extremum(group)
    if extremum is None:
        return None
    above = facts.source(extremum[0]).owner
    if _is_position(group) and above is not None and _may_search(group_of[above], group.nodes[0], facts):
        return group_of[above]
    twin = first.setdefault(extremum, group)
    return twin if twin is not group and (_is_position(twin) or _is_position(group)) else None


def with_extremum(graph: FunctionGraph) -> FunctionGraph:
    """Return a graph with the extremum of each search over all axes as an output, so that chunks can be combined."""
    extra = [e for node in graph.order if (e := _sought(node)) is not None and searches_all(node)]
    known = {(o.owner.inputs[0], o.owner.op) for o in graph.outputs if o.owner is not None and len(o.owner.inputs) == 1}
    outputs = [op(x) for x, op in dict.fromkeys(extra) if (x, op) not in known]
    return FunctionGraph(graph.inputs, [*graph.outputs, *outputs]) if outputs else graph


def searches_all(node: Apply) -> bool:
    """Whether the node is an argmax or argmin over all elements of an array."""
    return isinstance(node.op, ArgReduce) and _sought(node) is not None and 0 < node.inputs[0].ndim == len(_axes(node))


def _sought(node: Apply) -> tuple[Variable, Reduce] | None:
    """Return the value and the reduction whose position the node computes; None for complex numbers and other nodes."""
    if not isinstance(node.op, ArgReduce) or node.inputs[0].type.kind == "c":
        return None
    return node.inputs[0], Reduce(_FOLDED[node.op.name], _axes(node))


def _axes(node: Apply) -> tuple[int, ...]:
    assert isinstance(node.op, ArgReduce)
    return tuple(range(node.inputs[0].ndim)) if node.op.axis is None else (node.op.axis,)


def _extremum(group: Group) -> tuple[Variable, Reduce] | None:
    """Return the extremum (or that of the position) which is the only result of a group."""
    if len(group.nodes) != 1:
        return None
    (node,) = group.nodes
    if isinstance(node.op, Reduce) and node.op.scalar in _FOLDED.values():
        return node.inputs[0], node.op
    return _sought(node)


def _is_position(group: Group) -> bool:
    return any(isinstance(node.op, ArgReduce) for node in group.nodes)


def _may_search(group: Group, position: Apply, facts: Facts) -> bool:
    """Whether `group` only computes the operand of an argmax or argmin and its extremum, and does so cheaply."""
    value = position.inputs[0]
    pointwise = [node for node in group.nodes if is_pointwise(node)]
    rest = [node for node in group.nodes if not is_pointwise(node)]
    cost = sum(map(work, pointwise))  # done twice for the block of a row that has the extremum
    if value.owner not in pointwise or group.space is None or cost >= facts.costs.again_byte:
        return False
    if any((node.inputs[0], node.op) != _sought(position) for node in rest):
        return False
    inside = {*group.nodes, position}
    return not any(_is_read_outside(node, inside, facts) for node in pointwise)


def _is_read_outside(node: Apply, inside: set[Apply], facts: Facts) -> bool:
    return node in facts.kept or any(reader not in inside for reader, _ in facts.readers.get(node, ()))
