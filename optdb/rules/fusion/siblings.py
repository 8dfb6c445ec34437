"""Sibling fusion: groups that read the same array over the same loops become one, so that memory is read once.

    a = exp(x) * y; b = x + y                                   one group with two results
    a = q[:, 0] * q[:, 1]; b = q[:, 0] - q[:, 2]                one group: columns lie in the same lines of memory
    join(x + y, x - z, axis=-1)                                 one group: so do columns that are written

No value passes between siblings.  One of them moves to the place of the other in the order of the groups, if nothing
that it waits for stands behind that place: then no circle arises.  One pass moves groups towards the inputs, one
towards the outputs; each is linear in the size of the graph.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from ....graph import Apply, Dim, Variable, dims_of
from ....graph.dims import Symbol
from ....ops.shapes.indexing import Subtensor, entries
from ....ops.shapes.shape import DimShuffle
from ..facts import constant_int
from .columns import joins_columns
from .groups import Axes, Facts, Group, GroupOf, fits, merge

Memory = tuple[Variable, Axes]
"""An array, and the axis of it that each axis of a value, or each loop of a space, runs along."""
Read = tuple[tuple[Dim, ...], Variable, Axes]
"""A space, and memory that is read along all its loops."""
Neighbours = Callable[[Group], Iterable[Group]]


def join_siblings(groups: Sequence[Group], facts: Facts) -> list[Group]:
    """Return `groups`, which stand in topological order, with siblings joined, in such an order again."""
    reads = _Reads(facts, groups)
    if not reads.any_shared:
        return list(groups)
    group_of: GroupOf = {node: group for group in groups for node in group.nodes}

    def producers(group: Group) -> Iterable[Group]:
        return (group_of[above] for _, _, above in facts.sources(group.nodes))

    def readers(group: Group) -> Iterable[Group]:
        return (group_of[reader] for node in group.nodes for reader, _ in facts.readers.get(node, ()))

    for neighbours in (producers, readers):
        groups = _joined(groups, neighbours, group_of, reads)[::-1]
    position = {node: n for n, node in enumerate(facts.nodes)}
    for group in groups:
        group.nodes.sort(key=position.__getitem__)
    return list(groups)


def _joined(groups: Sequence[Group], neighbours: Neighbours, group_of: GroupOf, reads: _Reads) -> list[Group]:
    """Return `groups`, each joined to its latest sibling that stands behind all `neighbours` which it waits for."""
    place = {group: number for number, group in enumerate(groups)}
    latest: dict[Read, Apply] = {}
    for group in groups:
        found = reads.of(group) if group.space else ()
        siblings = dict.fromkeys(group_of[latest[read]] for read in found if read in latest)
        joint = group
        fitting = [s for s in siblings if fits([s, group], reads.facts)]
        if fitting:
            behind = max((place[g] for g in neighbours(group) if g is not group), default=-1)
            sibling = max(fitting, key=place.__getitem__)
            if (at := place[sibling]) > behind:
                joint = merge([sibling, group], group_of, reads.facts)
                place[joint] = at
        latest.update(dict.fromkeys(found, joint.nodes[0]))
    return sorted(dict.fromkeys(group_of.values()), key=place.__getitem__)


class _Reads:
    """The memory that groups read along all their loops, if two groups over one space read it."""

    def __init__(self, facts: Facts, groups: Sequence[Group]) -> None:
        self.facts = facts
        self._memory: dict[Variable, Memory] = {}
        self._found: dict[Group, tuple[int, dict[Read, None]]] = {}
        """The reads of groups with their sizes then: another size tells that others have joined."""
        joins = [node for node in facts.nodes if joins_columns(node)]
        self._joins: dict[Variable, Variable] = {part: node.out for node in joins for part in node.inputs}
        self._shared = self._read_twice(groups)

    @property
    def any_shared(self) -> bool:
        """Whether any two groups may be siblings."""
        return bool(self._shared or self._joins)

    def _read_twice(self, groups: Sequence[Group]) -> set[tuple[Variable, tuple[Dim, ...]]]:
        """Return the memory, with a space, that two groups over this space read."""
        first: dict[tuple[Variable, tuple[Dim, ...]], Group] = {}
        shared = set()
        for group in groups:
            for operand in group.inputs if group.space else ():
                if operand.type.shape:
                    key = self._base(operand), group.space or ()
                    if first.setdefault(key, group) is not group:
                        shared.add(key)
        return shared

    def of(self, group: Group) -> dict[Read, None]:
        """Return the memory that a group reads, or writes columns of, along all its loops."""
        count, found = self._found.get(group, (0, {}))
        if count != len(group.nodes):
            found = self._of(group)
            self._found[group] = len(group.nodes), found
        return found

    def _of(self, group: Group) -> dict[Read, None]:
        space = group.space or ()
        found: dict[Read, None] = {}
        shared = {i for i in group.inputs if i.type.shape and (self._base(i), space) in self._shared}
        for node in group.nodes if shared or self._joins else ():
            if self._joins and node.out in self._joins and dims_of(node.out) == space:
                found[space, self._joins[node.out], ()] = None
            if shared.isdisjoint(node.inputs):
                continue
            for operand in dict.fromkeys(node.inputs):
                if operand not in shared:
                    continue
                source = self.facts.source(operand)
                loops = self.facts.loops_of(operand, node, group)
                lengths = dict(zip(loops, dims_of(source), strict=True))
                if all(n == 1 or (k in lengths and _may_be(lengths[k], n)) for k, n in enumerate(space)):
                    base, axes = self.memory(source)
                    along = dict(zip(loops, axes, strict=True))
                    found[space, base, tuple(along.get(k) for k in range(len(space)))] = None
        return found

    def _base(self, operand: Variable) -> Variable:
        """Return the array that an operand is a view of."""
        return self.memory(self.facts.source(operand))[0]

    def memory(self, value: Variable) -> Memory:
        """Return the array that `value` is a view of in the same lines of memory, and its axis for each of `value`."""
        if value.owner is None or not isinstance(value.owner.op, (Subtensor, DimShuffle)):
            return value, tuple(range(value.ndim))
        views: list[Apply] = []
        while value not in self._memory and value.owner is not None and self._shares_lines(value.owner):
            views.append(value.owner)
            value = value.owner.inputs[0]
        base, axes = self._memory.get(value) or (value, tuple(range(value.ndim)))
        for view in reversed(views):
            found = _seen(view, axes)
            base, axes = (view.out, tuple(range(view.out.ndim))) if found is None else (base, found)
            self._memory[view.out] = base, axes
        return base, axes

    def _shares_lines(self, node: Apply) -> bool:
        """Whether a view may lie in the lines of its operand: its slices begin near the first element."""
        if not isinstance(node.op, Subtensor):
            return isinstance(node.op, DimShuffle)
        cuts = entries(node.op.spec, node.inputs[1:])
        return all(not isinstance(cut, slice) or _begins_near(cut, self.facts.limits.near) for cut in cuts)


def _seen(view: Apply, axes: Axes) -> Axes | None:
    """Return the axes of an array for those of a view of a value with `axes`; None if the view has whole other rows."""
    if isinstance(view.op, DimShuffle):
        return tuple(axes[k] if isinstance(k, int) else None for k in view.op.order)
    spec: tuple[str, ...] = view.op.spec  # type: ignore[attr-defined]
    kept = tuple(axis for k, axis in enumerate(axes) if k >= len(spec) or spec[k] != "i")
    last = max((axis for axis in kept if axis is not None), default=-1)
    dropped = (axis for axis, entry in zip(axes, spec, strict=False) if entry == "i")
    return None if any(axis is not None and axis < last for axis in dropped) else kept


def _begins_near(cut: slice, near: int) -> bool:
    """Whether a slice begins at most `near` elements behind the first one."""
    start = 0 if cut.start is None else constant_int(cut.start)
    return start is not None and 0 <= start <= near


def _may_be(length: Dim, joint: Dim) -> bool:
    """Whether a length is that of the loop, or may be."""
    if length == joint:
        return True
    if not isinstance(joint, Symbol) or joint.kind != "broadcast":
        return False
    return length in joint.args or (isinstance(length, Symbol) and length.kind == "broadcast")
