"""Row fusion: groups over the same rows become one, so that each row is read once from memory, then from the cache.

    m = mean(x, 1); v = mean((x - m)**2, 1); y = (x - m) / sqrt(v + eps)     one group, three passes over each row

A group takes part if it has whole rows (its space is that of the rows, and what it reduces it reduces along the last
axis), or one element a row.  It joins an earlier one whose results it reads element for element, or which reads the
same rows, unless something that must run between them stands outside: groups must not wait for each other in a circle.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from ....graph import Apply, Dim, Variable, dims_of
from ....targets.limits import Fusion
from .groups import Facts, Group, fits_kernel, folds_rows, is_pointwise

OPEN = 64
"""Most open sets of groups, the latest ones, so that the work is linear in the graph."""

Space = tuple[Dim, ...]


@dataclass(eq=False)
class _Unit:
    """Groups that will be fused.  `above`: as bits, the sets that they wait for, directly or through others."""

    groups: list[Group]
    space: Space
    number: int
    above: int = 0


def join_rows(groups: Sequence[Group], facts: Facts) -> list[Group]:
    """Return `groups` in topological order, with those over the same rows joined."""
    spaces = {g.space for g in groups if g.space and any(map(folds_rows, g.nodes)) and _is_whole(g, facts.limits)}
    if not spaces:
        return list(groups)
    joining = _Joining(facts, {g: g.space or () for g in groups if g.space in spaces and _is_whole(g, facts.limits)})
    for group in groups:
        joining.add(group)
    return joining.joined(groups)


def _is_whole(group: Group, limits: Fusion) -> bool:
    """Whether the group processes whole rows, whose number and length make joining profitable."""
    space = group.space
    if space is None or len(space) < 2 or space[-1] == 1 or any(map(_may_refuse, group.nodes)):
        return False
    if not all(folds_rows(node) or is_pointwise(node) for node in group.nodes):
        return False
    rows = 1
    for length in space[:-1]:
        rows *= length if isinstance(length, int) else limits.least_rows
    return rows >= limits.least_rows or not isinstance(space[-1], int) or space[-1] < limits.long_row


def _may_refuse(node: Apply) -> bool:
    """Whether an element may be refused: an integer raised to a negative power."""
    return is_pointwise(node) and node.op.fallible and node.out.type.kind in "iu"


def _is_single(group: Group, space: Space) -> bool:
    """Whether the group has one element per row of `space`."""
    if group.space not in (space[:-1], (*space[:-1], 1)) or any(map(_may_refuse, group.nodes)):
        return False
    return all(is_pointwise(n) and (n.out.ndim < len(space) or n.out.type.shape[-1] == 1) for n in group.nodes)


class _Joining:
    """Sets of groups to be joined, under construction."""

    def __init__(self, facts: Facts, whole: dict[Group, Space]) -> None:
        self.facts = facts
        self.whole = whole
        self.units: list[_Unit] = []
        self._group_of: dict[Apply, Group] = {}
        self._unit_of: dict[Group, _Unit] = {}
        self._above: dict[Group, int] = {}
        self._reader: dict[Variable, _Unit] = {}

    def add(self, group: Group) -> None:
        """Add `group` to a set, start a new one, or leave it alone."""
        edges = list(self.facts.sources(group.nodes))
        self._group_of.update(dict.fromkeys(group.nodes, group))
        above = [g for g in dict.fromkeys(self._group_of[p] for _, _, p in edges) if g is not group]
        unit = next((u for u in self._candidates(group, above) if self._may_join(group, u, above, edges)), None)
        if unit is None and group in self.whole:
            unit = _Unit([], self.whole[group], len(self.units))
            self.units.append(unit)
        waits = self._waits(g for g in above if unit is None or self._unit_of.get(g) is not unit)
        if unit is None:
            self._above[group] = waits
            return
        unit.groups.append(group)
        unit.above |= waits
        self._unit_of[group] = unit
        for operand in group.inputs:
            if dims_of(operand) == unit.space:
                self._reader[operand] = unit

    def _candidates(self, group: Group, above: Sequence[Group]) -> Iterator[_Unit]:
        """Yield the sets whose results the group reads, then those that read the same rows; the latest first."""
        found = {self._unit_of[g] for g in above if g in self._unit_of}
        if group in self.whole:
            found.update(self._reader[i] for i in group.inputs if i in self._reader)
        recent = [u for u in found if u.number >= len(self.units) - OPEN]
        yield from sorted(recent, key=lambda u: -u.number)

    def _may_join(
        self, group: Group, unit: _Unit, above: Iterable[Group], edges: Iterable[tuple[Apply, Variable, Apply]]
    ) -> bool:
        if self.whole.get(group) != unit.space and not _is_single(group, unit.space):
            return False
        if not fits_kernel([*unit.groups, group], self.facts):
            return False
        if sum(folds_rows(node) for g in (*unit.groups, group) for node in g.nodes) > self.facts.limits.folds:
            return False
        # Sets wait for older ones alone: there is no circle, and what is too old to grow need not be looked at.
        if self._waits(g for g in above if self._unit_of.get(g) is not unit) >> unit.number:
            return False
        return all(
            self._reads_alike(operand, reader, producer, group, unit.space)
            for reader, operand, producer in edges
            if self._unit_of.get(self._group_of[producer]) is unit
        )

    def _reads_alike(self, operand: Variable, reader: Apply, producer: Apply, group: Group, space: Space) -> bool:
        """Whether the reader uses the producer's row in the order in which it is processed."""
        loops = self.facts.loops_of(operand, reader, group)
        dims, kept = dims_of(producer.out), len(space) - 1
        if dims == space:
            return group in self.whole and loops == tuple(range(kept + 1)) and producer.out.type.shape[-1] != 1
        return dims in (space[:-1], (*space[:-1], 1)) and loops[:kept] == tuple(range(kept))

    def _waits(self, above: Iterable[Group]) -> int:
        """Return the sets that must run before a reader of results of `above`."""
        found = 0
        for group in above:
            unit = self._unit_of.get(group)
            found |= self._above[group] if unit is None else 1 << unit.number | unit.above
        oldest = max(0, len(self.units) - OPEN)
        pending = seen = found >> oldest << oldest
        while pending:
            number = pending.bit_length() - 1
            pending ^= 1 << number
            new = (self.units[number].above >> oldest << oldest) & ~seen
            pending |= new
            seen |= new
        return seen

    def joined(self, groups: Sequence[Group]) -> list[Group]:
        """Return the groups in topological order, with those of each set merged."""
        merged = dict(zip(groups, groups, strict=True))
        for unit in self.units:
            if len(unit.groups) > 1:
                nodes = [node for g in unit.groups for node in g.nodes]
                merged.update(dict.fromkeys(unit.groups, Group(unit.space, 0, nodes, set())))
        result: dict[Group, None] = {}
        stack = [merged[g] for g in reversed(groups)]
        entered: set[Group] = set()
        while stack:
            group = stack[-1]
            if group in entered:
                result.setdefault(stack.pop())
                continue
            entered.add(group)
            before = dict.fromkeys(merged[self._group_of[p]] for _, _, p in self.facts.sources(group.nodes))
            stack.extend(g for g in reversed(before) if g not in entered)
        return list(result)
