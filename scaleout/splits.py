"""Propagation of states through a graph whose inputs are split, by the rules of its ops."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from ..graph import Apply, FunctionGraph, Variable, toposort
from .cuts import varying
from .facts import Facts
from .local import AsSlice, Begin, OfBlock, Own, as_local
from .parts import Aligned, Part, WrittenPart, as_aligned, as_parts
from .positions import as_positions
from .rules import created, rule_of
from .stable_sums import as_sums, is_stable_sum
from .states import (
    LOCAL,
    WHOLE,
    Collect,
    Count,
    Partial,
    Placed,
    Rows,
    Split,
    State,
    Unsplittable,
    refused,
    resolved,
    rows_of,
    shown,
)
from .taken import as_taken


class Propagation:
    """The states of values that are not whole, and the placement of each node with such an input or output."""

    def __init__(self, splits: Mapping[Variable, Split], facts: Facts) -> None:
        self.states: dict[Variable, State] = dict(splits)
        self.facts = facts
        self.placed: dict[Apply, Placed] = {}

    def outputs(self, nodes: Sequence[Apply], images: dict[Variable, Variable], gather: bool) -> list[str]:
        """Place nodes, each adapted to blocks; `images` receives their new outputs.  Return remarks on those gathered.

        Raises Unsplittable.
        """
        remarks: list[str] = []
        for node in nodes:
            new = node.over(images)
            made = list(new.outputs)
            try:
                if (other := self._adapted(new)) is not None:
                    made = list(other) if isinstance(other, tuple) else [other]
                elif (aligned := as_aligned(new, self.states, self.facts)) is not None:
                    made = aligned
                else:
                    self.place(new)
            except Unsplittable as error:
                if not gather:
                    raise error.with_fix(self._rechunked(new)) from None
                remarks.append(f"{error}.  Its chunked operands are gathered")
                made = self._collected(new)
            inner = toposort(made, stop_at={*new.inputs, *new.outputs})
            if inner:  # a few nodes, which may be adapted as well
                own: dict[Variable, Variable] = {}
                remarks += self.outputs(inner, own, gather)
                made = [own.get(m, m) for m in made]
            images.update((o, m) for o, m in zip(node.outputs, made, strict=True) if o is not m)
        return remarks

    def place(self, node: Apply) -> None:
        """Compute the states of a node's outputs.  Raises Unsplittable."""
        states = [self.states.get(i) for i in node.inputs]
        placed = self._placed(node, states)
        if placed is not None:
            self.placed[node] = placed
            self.states.update(zip(node.outputs, placed.states, strict=True))

    def _placed(self, node: Apply, states: Sequence[State]) -> Placed | None:
        """Return the placement of a node; None for one of whole values."""
        marked = self._marked(node, states)
        if marked is not None:
            return marked
        if any(s is LOCAL for s in states):
            return Placed((LOCAL,) * len(node.outputs), {})
        found = [resolved(s) for s in states]
        rows = {s.rows for s in found if isinstance(s, Split)}
        placed = created(node, states)
        of = rows or {s.rows for s in states if isinstance(s, Count)}
        if placed is None and rows:
            rule = rule_of(node.op)
            if rule is None:
                raise refused(node, f"has no rule for chunks; {shown(found)}")
            placed = rule(node, found, self.facts)
        return None if placed is None else _with_rows(placed, next(iter(of)))

    def _marked(self, node: Apply, states: Sequence[State]) -> Placed | None:
        """Return the placement of an op of this subpackage; None for other ops."""
        op = node.op
        match op:
            case Collect(): return Placed((Partial(op),), {}, rows=rows_of(states))
            case Own(): return Placed((LOCAL,), {}, rows=rows_of(states))
            case OfBlock(): return Placed((LOCAL,), {0: op.axis}, has_rank=True, rows=rows_of(states[1:]))
            case Aligned(): return Placed((Split(op.axis, op.rows),), {}, rows=op.of)
            case Begin(): return Placed((LOCAL,), {}, span=(0,), rows=rows_of(states[1:]))
            case AsSlice(): return Placed((states[1],), {})
            case Part(): return Placed((Split(op.axis, op.rows),), {}, rows=op.rows)
            case WrittenPart(): return self._written(node, op, states)
        return None

    def _written(self, node: Apply, op: WrittenPart, states: Sequence[State]) -> Placed:
        """Return the placement of a write to a part, of a whole source or of one that is split in the same way."""
        x, y = node.inputs[:2]
        at = op.axis - (x.ndim - y.ndim)
        source = states[1]
        if isinstance(source, Split) and source.axis != at:
            raise refused(node, f"the source is chunked along axis {source.axis}, the target along axis {op.axis}")
        cuts = {} if isinstance(source, Split) else varying(node, {1: at}, None, op.rows, self.facts)
        return Placed((Split(op.axis, op.of),), cuts, rows=op.rows)

    def _adapted(self, node: Apply) -> Variable | tuple[Variable, ...] | None:
        """Return the output or outputs of a node by nodes that run on blocks; None if the node itself does."""
        if is_stable_sum(node, self.states):
            return as_sums(node)
        part = as_parts(node, self.states, self.facts)
        if part is not None:
            return part
        rows = rows_of([self.states.get(i) for i in node.inputs[:1]])
        is_reversed = rows is not None and bool(self.facts.ask("is_reversed", rows, None))
        found = as_local(node, self.states, is_reversed)
        if found is None:
            found = as_taken(node, self.states, is_reversed)
        return as_positions(node, self.states) if found is None else found

    def _collected(self, node: Apply) -> list[Variable]:
        """Return the outputs of a node whose split operands are collected."""
        operands = []
        for i in node.inputs:
            s = self.states.get(i)
            if isinstance(s, Split):
                is_reversed = s.rows is not None and self.facts.ask("is_reversed", s.rows, None)
                i = Collect(s.axis, bool(is_reversed))(i)
            operands.append(i)
        return list(Apply(node.op, operands, node.origin).outputs)

    def _rechunked(self, node: Apply) -> list[str]:
        """Return the chunked arguments on which the split operands of a node depend, as text that rechunks them."""
        found: dict[str, None] = {}
        stack, seen = [i for i in node.inputs if isinstance(self.states.get(i), Split)], set()
        while stack:
            v = stack.pop()
            if v in seen:
                continue
            seen.add(v)
            state = self.states.get(v)
            if v.owner is not None:
                stack += [i for i in v.owner.inputs if self.states.get(i) is not WHOLE]
            elif isinstance(state, Split):
                found[f"{v.name or 'the argument'}.rechunk({{{state.axis}: -1}})"] = None
        return sorted(found)


def _with_rows(placed: Placed, rows: Rows | None) -> Placed:
    """Return a placement whose split values have these rows of the chunked axis."""
    if rows is None:
        return placed
    states = [Split(s.axis, rows) if isinstance(s, Split) else Count(rows) if isinstance(s, Count) else s
              for s in placed.states]  # fmt: skip
    return replace(placed, states=tuple(states), rows=rows)


def propagated(
    graph: FunctionGraph, splits: Mapping[Variable, Split], gather: bool = False, facts: Facts | None = None
) -> tuple[FunctionGraph, Propagation, tuple[str, ...]]:
    """Return the graph with nodes adapted to blocks (softmax along the split axis, positions), its states, and remarks.

    `gather`: the split operands of nodes that cannot run on blocks are collected, with a remark.  Otherwise such a
    node raises Unsplittable, which names op, axis, line and the arguments to rechunk.
    """
    found = Propagation(splits, Facts({}, {}, None) if facts is None else facts)
    images: dict[Variable, Variable] = {}
    remarks = found.outputs(graph.order, images, gather)
    return FunctionGraph(graph.inputs, [images.get(o, o) for o in graph.outputs]), found, tuple(remarks)
