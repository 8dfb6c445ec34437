"""Loop fusion: a partition of a graph into groups of nodes, each of which can become one kernel.

A group has a *space*, the lengths of its loops.  It holds

    - pointwise nodes (elementwise ops) whose value has the whole space, one element an iteration;
    - pointwise nodes whose value is broadcast to the space by their reader, if nothing outside reads it;
    - reductions of a value that has the whole space, and the softmax family along the last axis.  Readers of
      their results belong to another group; fusion_rows.py then joins groups that work on the same rows.

No value is computed twice: a value that is read outside becomes an output of the group, and only a value that provably
has the whole space may (`dims_of` says the same length on every axis: what else flows into the nest can then not
broadcast it). Axes that are permuted or added between two nodes (`DimShuffle`) are index maps inside a nest.

There is never a circle between groups: each group has a *level*, two groups with an edge between them have different
levels, and edges go one way.  Two passes, each linear:

    1. from the outputs on, a node joins the group of its readers (level: the longest way to an output);
    2. from the inputs on, a group joins the group that computes its operands (level: the longest way from an input).

They complement each other: with `relu(dot(a, b) + exp(c))`, exp must wait for the late addition, and with
`s = sum(t); u = dot(t, w)` the early sum must not wait for the end.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from ....graph import Apply, Dim, FunctionGraph, Variable, dims_of
from ....ops.elementwise.costs import work
from ....ops.elementwise.records import Pointwise
from ....ops.networks.functions import AlongAxis
from ....ops.reductions.reduce import Reduce
from ....ops.shapes.advanced_indexing import AdvancedSubtensor
from ....ops.shapes.shape import DimShuffle
from ....targets.costs import Costs
from ....targets.current import current
from ....targets.limits import Fusion

Axes = tuple["int | None", ...]
"""For each axis of a value the loop, or the axis of another value, that it runs along; None: its length is 1."""


@dataclass(eq=False, slots=True)
class Group:
    """Nodes that share a nest of loops over `space`; a node that fits no nest is a group of its own, without space."""

    space: tuple[Dim, ...] | None
    level: int
    nodes: list[Apply]
    inputs: set[Variable]
    broadcast_cost: float = 0.0
    """Cost of values smaller than the space, which the nest would compute in every iteration: picoseconds per byte."""
    axes: dict[Apply, Axes] = field(default_factory=dict)
    """The loops that the axes of each pointwise node run along."""
    reads_rows: bool = False
    """Whether a node reads a row, along the last axis, more than once."""
    folds_across: bool = False
    """Whether a node reduces axes other than the last."""
    looks_up: bool = False
    """Whether a node reads elements at computed indices."""
    takes_no_lookup: bool = False
    """Whether a node reduces one of several axes, or gives the new value of an input, which a failure must spare."""


def partition(facts: Facts) -> list[Group]:
    """The groups of a graph, each after the groups whose results it reads.

    `DimShuffle` nodes belong to no group: each is a free view of its operand wherever it is needed.
    """
    groups = _join_producers(_join_readers(facts), facts)
    position = {node: n for n, node in enumerate(facts.nodes)}
    for group in groups:
        if len(group.nodes) > 1:
            group.nodes.sort(key=position.__getitem__)
    return sorted(groups, key=lambda g: (g.level, position[g.nodes[0]]))


# --- facts about single nodes


def is_pointwise(node: Apply) -> bool:
    """Whether each element of the result depends on one element of each operand."""
    return isinstance(node.op, Pointwise)


def is_lookup(node: Apply) -> bool:
    """Whether the node reads elements at indices that arrays give for all axes, and is certainly as long as these."""
    if not isinstance(node.op, AdvancedSubtensor) or node.op.spec != ("a",) * node.inputs[0].ndim:
        return False
    joint = dims_of(node.out)
    return all(
        own in (1, whole) for i in node.inputs[1:] for own, whole in zip(reversed(dims_of(i)), reversed(joint))
    )


def looks_up_in(node: Apply, operand: Variable) -> bool:
    """Whether the node reads elements of the operand at computed indices."""
    return isinstance(node.op, AdvancedSubtensor) and node.inputs[0] is operand


def folds_rows(node: Apply) -> bool:
    """Whether the node, a reduction or of the softmax family, reads whole rows.

    Rows run along the last of several axes, whose length is not known to be 1.
    """
    op = node.op
    if not isinstance(op, (Reduce, AlongAxis)):
        return False
    x = node.inputs[0]
    last = x.ndim - 1
    if last < 1 or op.axis != (last if isinstance(op, AlongAxis) else (last,)):
        return False
    return x.type.shape[last] != 1 and dims_of(x)[last] != 1


def is_index_map(node: Apply) -> bool:
    """Whether the node only permutes and adds axes."""
    op = node.op
    return isinstance(op, DimShuffle) and len(op.order) - op.order.count("x") == len(node.inputs[0].type.shape)


def reads_elements(node: Apply, operand: Variable) -> bool:
    """Whether `node` reads the elements of `operand`, not only its shape; the loops of a kernel count as reading."""
    unread = None if is_pointwise(node) else node.op.unread
    return any(i is operand and n != unread for n, i in enumerate(node.inputs))


class Facts:
    """Facts about a graph for the passes: values behind index maps, readers, outputs."""

    def __init__(self, graph: FunctionGraph, lookups: bool = False) -> None:
        """`lookups`: nodes that look up elements may join groups."""
        self.limits: Fusion = current().limits.fusion
        self.costs: Costs = current().costs
        self._seen_through: dict[Variable, tuple[Variable, Axes]] = {}
        self.nodes: list[Apply] = []
        """The nodes in order, without index maps."""
        self.above: dict[Variable, Apply | None] = {}
        """Producer of each operand of `nodes`, with index maps skipped."""
        self.readers: dict[Apply, list[tuple[Apply, Variable]]] = {}
        """The nodes that read a node's results, perhaps through index maps, with the operand that they read."""
        for node in graph.order:
            if is_index_map(node):
                self._seen_through[node.out] = self._compose(node)
                continue
            self.nodes.append(node)
            for operand in node.inputs:
                seen = self._seen_through.get(operand)
                source = self.above[operand] = operand.owner if seen is None else seen[0].owner
                if source is None:
                    continue
                readers = self.readers.get(source)
                if readers is None:
                    self.readers[source] = [(node, operand)]
                else:
                    readers.append((node, operand))
        self.kept: set[Apply] = {o.owner for o in map(self.source, graph.outputs) if o.owner is not None}
        """The nodes whose results are outputs of the graph, perhaps through index maps."""
        self.lookups: set[Apply] = set(filter(is_lookup, self.nodes)) if lookups else set[Apply]()
        """The nodes that look up elements and may join groups."""
        self.updating: set[Apply | None] = set()
        """The nodes that give new values of inputs; empty without lookups."""
        if self.lookups:
            self.updating.update(self.source(graph.outputs[o]).owner for _, o in graph.updates)

    def _compose(self, node: Apply) -> tuple[Variable, Axes]:
        source, axes = self.seen_through(node.inputs[0])
        return source, tuple(axes[o] if isinstance(o, int) else None for o in node.op.order)  # type: ignore[attr-defined]

    def is_elementwise(self, node: Apply) -> bool:
        """Whether the node computes each element of its result alone: it is pointwise, or looks up elements."""
        return isinstance(node.op, Pointwise) or node in self.lookups

    def seen_through(self, variable: Variable) -> tuple[Variable, Axes]:
        """Return the value behind the index maps of `variable`, and its axis for each axis of `variable`."""
        return self._seen_through.get(variable) or (variable, tuple(range(variable.ndim)))

    def source(self, variable: Variable) -> Variable:
        """Return the value behind the index maps of `variable`."""
        found = self._seen_through.get(variable)
        return variable if found is None else found[0]

    def sources(self, nodes: Iterable[Apply]) -> Iterator[tuple[Apply, Variable, Apply]]:
        """Yield (reader, operand, producer) for all computed operands of `nodes`."""
        for node in nodes:
            for operand in node.inputs:
                above = self.above[operand]
                if above is not None:
                    yield node, operand, above

    def loops_of(self, operand: Variable, reader: Apply, group: Group) -> Axes:
        """Return the loops of `group` along which its member `reader` reads the axes of the source of `operand`.

        None for each axis of an array in which it looks up elements.
        """
        assert group.space is not None
        if self.lookups and looks_up_in(reader, operand):
            return (None,) * self.source(operand).ndim
        along = group.axes.get(reader) or tuple(range(len(group.space)))
        if operand not in self._seen_through:
            return along[len(along) - len(operand.type.shape) :]
        source, axes = self._seen_through[operand]
        loops: list[int | None] = [None] * source.ndim
        for axis, loop in zip(axes, along[len(along) - operand.ndim :], strict=True):
            if axis is not None:
                loops[axis] = loop
        return tuple(loops)


def group_alone(node: Apply, level: int, facts: Facts) -> Group:
    """Return a group of one node."""
    group = _nest_alone(node, level, facts)
    if facts.lookups:
        group.looks_up = node in facts.lookups
        reduces = not facts.is_elementwise(node) and len(group.space or ()) > 1
        group.takes_no_lookup = reduces or node in facts.updating
    return group


def _nest_alone(node: Apply, level: int, facts: Facts) -> Group:
    if facts.is_elementwise(node) and _may_be_in_nest(node.outputs[0]):
        return Group(dims_of(node.out), level, [node], set(node.inputs), axes={node: tuple(range(node.out.ndim))})
    if isinstance(node.op, Reduce):
        across = not folds_rows(node)
        return Group(dims_of(node.inputs[0]), level, [node], set(node.inputs), folds_across=across)
    if isinstance(node.op, AlongAxis) and folds_rows(node):
        return Group(dims_of(node.inputs[0]), level, [node], set(node.inputs), reads_rows=True)
    return Group(None, level, [node], set())


def _may_be_in_nest(value: Variable) -> bool:
    # Scalars that are integers or conditions are lengths and indices; the driver computes them in registers.
    kind = value.type
    return bool(kind.shape) or kind.kind in "fc"


def _one_space(groups: list[Group]) -> bool:
    first = groups[0].space
    return first is not None and (len(groups) == 1 or all(g.space == first for g in groups))


def _has_whole_space(node: Apply, loops: Axes, group: Group) -> bool:
    space = group.space
    assert space is not None
    return loops == tuple(range(len(space))) and dims_of(node.outputs[0]) == space


def _is_broadcast(node: Apply, loops: Axes, group: Group) -> bool:
    """Whether a value certainly lacks a loop of the space, so that it is broadcast along it."""
    assert group.space is not None
    run_along = {loop for loop, length in zip(loops, dims_of(node.out), strict=True) if length != 1}
    return any(length != 1 and loop not in run_along for loop, length in enumerate(group.space))


# --- the passes

GroupOf = dict["Apply | None", Group]


def fits(groups: list[Group], facts: Facts, extra: Sequence[Apply] = (), cost: float = 0.0) -> bool:
    """Whether the groups together keep within the limits, and all run along rows if one of them must.

    `extra`: pointwise nodes that would be added to them, `cost`: what these add to the cost of broadcast values.
    """
    cost += sum([group.broadcast_cost for group in groups])
    return cost <= facts.costs.broadcast_byte and fits_kernel(groups, facts, extra)


def fits_kernel(groups: list[Group], facts: Facts, extra: Sequence[Apply] = ()) -> bool:
    """Return the same regardless of the cost of broadcast values: those of rows are computed once per row."""
    nodes, inputs, rows, across = len(extra), sum([len(node.inputs) for node in extra]), False, False
    for group in groups:
        nodes += len(group.nodes)
        inputs += len(group.inputs)
        rows |= group.reads_rows
        across |= group.folds_across
    if nodes > facts.limits.nodes or (rows and across):
        return False
    if facts.lookups and not _may_look_up(groups, facts, extra):
        return False
    if inputs <= facts.limits.inputs:
        return True
    inside = {*extra, *[node for g in groups for node in g.nodes]}
    read = {i for g in groups for i in g.inputs}.union(*[node.inputs for node in extra])
    return len([i for i in read if facts.above[i] not in inside]) <= facts.limits.inputs


def _may_look_up(groups: list[Group], facts: Facts, extra: Sequence[Apply]) -> bool:
    """Whether none of the nodes looks up elements, or all may stand beside one that does."""
    looks_up = any(group.looks_up for group in groups) or not facts.lookups.isdisjoint(extra)
    return not looks_up or not any(group.takes_no_lookup for group in groups)


def merge(groups: list[Group], group_of: GroupOf, facts: Facts) -> Group:
    """Return one group of all: the largest takes in the others, so no node moves more than log n times."""
    sizes = [len(group.nodes) for group in groups]
    into = groups[sizes.index(max(sizes))]
    for group in groups:
        if group is not into:
            into.nodes += group.nodes
            into.axes.update(group.axes)
            into.broadcast_cost += group.broadcast_cost
            into.reads_rows |= group.reads_rows
            into.folds_across |= group.folds_across
            if facts.lookups:
                into.looks_up |= group.looks_up
                into.takes_no_lookup |= group.takes_no_lookup
            group_of.update(dict.fromkeys(group.nodes, into))
            _read_less(into, group.nodes, group.inputs, group_of, facts)
    return into


def _read_less(into: Group, nodes: Iterable[Apply], read: Iterable[Variable], group_of: GroupOf, facts: Facts) -> None:
    """Record that a group has taken in `nodes`, which read `read`: their results are no longer read from outside."""
    for node in nodes:
        for _, operand in facts.readers.get(node, ()):
            into.inputs.discard(operand)
    for i in read:
        if group_of.get(facts.above[i]) is not into:
            into.inputs.add(i)


def _join_readers(facts: Facts) -> list[Group]:
    """Join readers (pass 1), with levels counted from the outputs, the last readers first."""
    group_of: GroupOf = {}
    for node in reversed(facts.nodes):
        level, targets = highest([group_of[reader] for reader, _ in facts.readers.get(node, ())])
        place = _in_nest_of(node, targets, group_of, facts) if targets and facts.is_elementwise(node) else None
        if place is None or not fits(targets, facts, (node,), place[1]):
            group_of[node] = group_alone(node, level + 1, facts)
            continue
        group = group_of[node] = targets[0] if len(targets) == 1 else merge(targets, group_of, facts)
        group.nodes.append(node)
        if facts.lookups:
            group.looks_up |= node in facts.lookups
            group.takes_no_lookup |= node in facts.updating
        group.axes[node], cost = place
        group.broadcast_cost += cost
        _read_less(group, (node,), node.inputs, group_of, facts)
    return list(dict.fromkeys(group_of.values()))


def highest(groups: list[Group]) -> tuple[int, list[Group]]:
    """Return the highest level, -1 if there is no group, and the groups on it."""
    if len(groups) == 1:
        return groups[0].level, groups
    level, found = -1, dict[Group, None]()
    for group in groups:
        if group.level > level:
            level, found = group.level, {group: None}
        elif group.level == level:
            found[group] = None
    return level, list(found)


def _in_nest_of(node: Apply, targets: list[Group], group_of: GroupOf, facts: Facts) -> tuple[Axes, float] | None:
    """Return the loops of `targets`, which read the pointwise `node`, along its axes, and the added broadcast cost.

    None if node and targets cannot share a nest.
    """
    target, out = targets[0], node.outputs[0]
    if not _may_be_in_nest(out) or bool(target.space) != bool(out.type.shape) or not _one_space(targets):
        return None
    readers = facts.readers[node]
    chosen = set(targets)
    inside = [(reader, operand) for reader, operand in readers if group_of[reader] in chosen]
    if facts.lookups and any(looks_up_in(reader, operand) for reader, operand in inside):
        return None
    (reader, operand), *others = inside
    loops = facts.loops_of(operand, reader, group_of[reader])
    if any(facts.loops_of(operand, reader, group_of[reader]) != loops for reader, operand in others):
        return None
    whole = _has_whole_space(node, loops, target)
    if not whole and (node in facts.kept or len(inside) < len(readers) or not is_pointwise(node)):
        return None
    return loops, work(node) if not whole and _is_broadcast(node, loops, target) else 0.0


def _join_producers(groups: list[Group], facts: Facts) -> list[Group]:
    """Join producers (pass 2), with levels counted from the inputs, the first producers first."""
    group_of: GroupOf = {}
    for group in sorted(groups, key=lambda g: -g.level):
        edges = [edge for edge in facts.sources(group.nodes) if edge[2] in group_of]
        group.level, targets = highest([group_of[producer] for _, _, producer in edges])
        group_of.update(dict.fromkeys(group.nodes, group))
        joins = bool(targets) and group.space is not None and _continues(group, targets, edges, group_of, facts)
        if joins and fits([*targets, group], facts):
            merge([*targets, group], group_of, facts)
        else:
            group.level += 1
    return list(dict.fromkeys(group_of.values()))


def _continues(
    group: Group, targets: list[Group], edges: list[tuple[Apply, Variable, Apply]], group_of: GroupOf, facts: Facts
) -> bool:
    """Whether `group` fits the nests of `targets`, which compute its operands; `edges` are these operands."""
    if not _one_space([group, *targets]):
        return False
    chosen = set(targets)
    return all(
        facts.is_elementwise(producer) and _has_whole_space(producer, facts.loops_of(operand, reader, group), group)
        for reader, operand, producer in edges
        if group_of[producer] in chosen
    )
