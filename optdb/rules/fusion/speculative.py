"""Speculative fusion: join elementwise groups with readers whose lengths are equal unless they broadcast at run time.

    m = 0.9 * m + 0.1 * g; p = p - m      for vectors of unknown lengths, of which `m` is wanted, too

`m` may turn out to have one element and `p` a million, so it is not proved that one nest computes both.  Nearly always
they are equally long, and one kernel reads each array once.  Where they are not, the nest computes the element of `m`
anew in each of its steps and stores it in the same place: a broadcast axis has stride 0, for results as for operands.
That is right, and costs little where the values do; others stay in a nest of their own.
"""

from __future__ import annotations

from collections.abc import Sequence

from ....graph import Apply, Dim, FunctionGraph
from ....graph.dims import broadcast_dims
from ....ops.elementwise.costs import work
from .groups import Facts, Group, GroupOf, fits, highest, is_pointwise, merge


def join_speculatively(graph: FunctionGraph, groups: Sequence[Group], facts: Facts) -> list[Group]:
    """Join pairs of groups that gain from one loop; return the groups in topological order.

    As when nodes are grouped, the level of a group is the longest way to an output: one that joins all its readers of
    the highest level closes no circle.
    """
    group_of: GroupOf = {node: group for group in groups for node in group.nodes}
    place = {group: n for n, group in enumerate(groups)}
    again: dict[Group, float] = {}
    elementwise: dict[Group, bool] = {}
    for group in reversed(groups):
        readers = dict.fromkeys([group_of[r] for node in group.nodes for r, _ in facts.readers.get(node, ())])
        readers.pop(group, None)
        level, targets = highest(list(readers))
        group.level = level + 1
        if not targets or not _is_elementwise(group, elementwise):
            continue
        if not all(_is_elementwise(target, elementwise) for target in targets):
            continue
        cost = sum(map(work, group.nodes))
        cost += sum(again.get(t, 0) for t in targets)
        if cost >= facts.costs.again_byte:
            continue
        if _may_be_one(group, targets, group_of, facts) and fits([*targets, group], facts):
            joined = merge([*targets, group], group_of, facts)
            joined.level, joined.space = level, broadcast_dims([t.space or () for t in (*targets, group)])
            again[joined] = cost
            place[joined] = min(place[g] for g in (*targets, group))
    return _in_order(graph, group_of, place) if again else list(groups)


def _is_elementwise(group: Group, known: dict[Group, bool]) -> bool:
    """Whether all nodes of the group are elementwise; `known` caches the answers, which joining does not change."""
    found = known.get(group)
    if found is None:
        found = known[group] = all(map(is_pointwise, group.nodes))
    return found


def _in_order(graph: FunctionGraph, group_of: GroupOf, place: dict[Group, int]) -> list[Group]:
    position = {node: n for n, node in enumerate(graph.order)}
    groups = list(dict.fromkeys(group_of.values()))
    for group in groups:
        group.nodes.sort(key=position.__getitem__)
    return sorted(groups, key=lambda g: (-g.level, place[g]))


def _may_be_one(group: Group, targets: Sequence[Group], group_of: GroupOf, facts: Facts) -> bool:
    """Whether elementwise groups can share a nest if no length is broadcast."""
    first = targets[0].space
    if not group.space or not first or any(t.space != first for t in targets):
        return False
    whole = tuple(range(len(first)))
    if len(group.space) != len(first) or not all(map(_may_be_equal, group.space, first)):
        return False
    return all(
        facts.loops_of(operand, reader, group_of[reader]) == whole and _is_read_whole(reader, group_of[reader])
        for node in group.nodes
        for reader, operand in facts.readers.get(node, ())
        if group_of[reader] in targets
    )


def _is_read_whole(reader: Apply, group: Group) -> bool:
    """Whether the reader runs all loops of its group, so that none of its operands is broadcast through it."""
    return group.axes.get(reader) == tuple(range(len(group.space or ())))


def _may_be_equal(own: Dim, joint: Dim) -> bool:
    """Whether a length may equal the loop's, which it is part of."""
    return own == joint or (own != 1 and not (isinstance(own, int) and isinstance(joint, int)))
