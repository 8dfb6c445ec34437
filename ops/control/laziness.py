"""Lazy branches: move a computation that only one branch of a choice needs into that branch.

    a = exp(x); cond{fn(a, b) -> a, fn(a, b) -> b}(c, a, b)   -->   cond{fn(x, b) -> exp(x), fn(x, b) -> b}(c, x, b)

Branches that users write as functions are closed already; those that they give as values become so here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Union

from ...graph import Apply, Constant, FunctionGraph, Op, Variable, rebuild
from ..core.tensor import TensorVariable
from ..lowered.fused import InPlace, unmarked
from .cond import Cond, chosen
from .scan_ops import Scan

MOST_NESTED = 4
"""Most branches within one another that work moves into: each is a graph of its own for every later pass."""
Region = Union[tuple[Apply, int], None]
"""A branch of a choice, 0 or 1; None: the graph itself."""


def made_lazy(graph: FunctionGraph) -> FunctionGraph:
    """Return the graph with work moved into the only branch that needs it, in loops too; unchanged if there is none."""
    if not any(isinstance(op, (Cond, Scan)) for op in graph.ops):
        return graph
    return _Regions(with_bodies(graph, made_lazy)).moved()


def moved_into_branches(graph: FunctionGraph) -> FunctionGraph:
    """Return the graph with work, but no choices and loops, moved into the only branch that needs it."""
    if not any(isinstance(op, Cond) for op in graph.ops):
        return graph
    return _Regions(graph, nests=False).moved()


def with_bodies(
    graph: FunctionGraph, change: Callable[[FunctionGraph], FunctionGraph], own_states: bool = False
) -> FunctionGraph:
    """Return the graph with `change` applied to the inner graphs of loops and choices; itself if nothing changes.

    `own_states`: a body comes with the states of its loop as updates, and returns without.
    """
    loops = ((op, unmarked(op)) for op in graph.ops)
    ops: dict[Op, Op] = {
        op: _marked_like(op, _with_inner(inner, change, own_states))
        for op, inner in loops if isinstance(inner, (Cond, Scan))
    }  # fmt: skip
    if all(new is op for op, new in ops.items()):
        return graph

    def visit(node: Apply) -> tuple[Variable, ...]:
        op = ops.get(node.op, node.op)
        return node.outputs if op is node.op else node.with_op(op).outputs

    return graph.rebuilt(visit)


def _marked_like(op: Op, inner: Op) -> Op:
    return replace(op, op=inner) if isinstance(op, InPlace) else inner


def _with_inner(op: Op, change: Callable[[FunctionGraph], FunctionGraph], own_states: bool) -> Op:
    if isinstance(op, Scan):
        body = change(op.own_states if own_states else op.graph)
        body = FunctionGraph(body.inputs, body.outputs) if body.updates else body
        return op if body == op.graph else replace(op, graph=body)
    assert isinstance(op, Cond)
    then, otherwise = map(change, op.branches)
    return op if (then, otherwise) == op.branches else Cond(then, otherwise)


def titles_of(graph: FunctionGraph) -> dict[FunctionGraph, str]:
    """Return names for the bodies of a graph: op, branch and the user's line."""
    return {body: title for node in graph.order for body, title in titles_at(node).items()}


def titles_at(node: Apply) -> dict[FunctionGraph, str]:
    """Return names for the bodies of a node: its loop or its branches."""
    op = unmarked(node.op)
    if not isinstance(op, (Scan, Cond)):
        return {}  # hardly any node has a body, and the text of a line takes 10 us
    where = f" at {node.origin[0]}" if node.origin else ""
    if isinstance(op, Scan):
        return {op.graph: f"{op.name}{where}"}
    if isinstance(node.op, Cond):
        branches = zip(node.op.branches, ("then", "otherwise"), strict=True)
        return {branch: f"the branch {name!r} of {node.op.name}{where}" for branch, name in branches}
    return {}


class _Regions:
    """The innermost branch in which each node of a graph is needed: the one of all its readers."""

    def __init__(self, graph: FunctionGraph, nests: bool = True) -> None:
        self.graph = graph
        self.of: dict[Apply, Region] = {}
        self.depth: dict[Apply, int] = {}
        """Number of branches around each node."""
        self.members: dict[tuple[Apply, int], list[Apply]] = {}
        for node in reversed(graph.order):
            found = [self._asked_from(*use) for o in node.outputs for use in graph.uses.get(o, ())]
            region = found[0] if found else None
            for other in found[1:]:
                region = self._joint(region, other)
            if not nests and isinstance(unmarked(node.op), (Cond, Scan)):
                region = None
            self.of[node] = region
            self.depth[node] = 0 if region is None else self.depth[region[0]] + 1
            if region is not None:
                self.members.setdefault(region, []).append(node)

    def _asked_from(self, reader: Apply | None, operand: int) -> Region:
        if reader is None:
            return None
        if isinstance(reader.op, Cond) and operand:
            inner = reader.op.then.inputs[operand - 1], reader.op.otherwise.inputs[operand - 1]
            read = [i in graph.uses for i, graph in zip(inner, reader.op.branches, strict=True)]
            if read[0] != read[1] and self.depth[reader] < MOST_NESTED:
                return reader, int(read[1])
        return self.of[reader]

    def _joint(self, a: Region, b: Region) -> Region:
        """Return the innermost region that contains both."""
        while a != b:
            if a is None or b is None:
                return None
            if self.depth[a[0]] > self.depth[b[0]]:
                a = self.of[a[0]]
            elif self.depth[b[0]] > self.depth[a[0]]:
                b = self.of[b[0]]
            else:
                a, b = self.of[a[0]], self.of[b[0]]
        return a

    def moved(self) -> FunctionGraph:
        """Return the graph with each node in its region."""
        if not self.members:
            return self.graph
        known: dict[Variable, Variable] = {i: i for i in self.graph.inputs}
        for node in self.graph.order:
            if self.of[node] is None:
                self._build(node, known)
        outputs = [o if isinstance(o, Constant) else known[o] for o in self.graph.outputs]
        return FunctionGraph(self.graph.inputs, outputs, self.graph.updates)

    def _build(self, node: Apply, known: dict[Variable, Variable]) -> None:
        """Return the node in a region with the values `known`, with its own branches filled."""
        if not isinstance(node.op, Cond) or not any((node, n) in self.members for n in (0, 1)):
            known.update(zip(node.outputs, node.over(known).outputs, strict=True))
            return
        taken: dict[Variable, Variable] = {}
        branches = [self._branch(node, n, taken) for n in (0, 1)]
        outer = [known.get(v, v) for v in (node.inputs[0], *taken)]
        made = chosen(outer[0], list(taken.values()), outer[1:], *branches)
        for old, new in zip(node.outputs, made, strict=True):
            new.name = old.name
            known[old] = new

    def _branch(self, node: Apply, number: int, taken: dict[Variable, Variable]) -> list[Variable]:
        """Return the values of a branch with its members inside, over leaves that `taken` returns for outer values."""
        graph = node.op.branches[number]  # type: ignore[attr-defined]
        members = self.members.get((node, number), [])[::-1]
        inside = {o for member in members for o in member.outputs}
        inputs = self._needs(node, number, members)
        known: dict[Variable, Variable] = {}
        for v in inputs:
            if v not in inside and not isinstance(v, Constant):
                known[v] = taken.setdefault(v, TensorVariable(v.type, name=v.name))
        for member in members:
            self._build(member, known)
        operands = [known.get(v, v) for v in node.inputs[1:]]
        used = {i: o for i, o in zip(graph.inputs, operands, strict=True) if i in graph.uses}
        return rebuild(graph.outputs, dict(used))

    def _needs(self, node: Apply, number: int, members: Sequence[Apply]) -> list[Variable]:
        """Return the values that a branch reads: its operands, and those of its members and inner choices."""
        graph = node.op.branches[number]  # type: ignore[attr-defined]
        found = [v for v, i in zip(node.inputs[1:], graph.inputs, strict=True) if i in graph.uses]
        stack = list(members)
        deeper: set[Variable] = set()
        while stack:
            member = stack.pop()
            found += member.inputs
            for n in (0, 1):
                inner = self.members.get((member, n), ())
                stack += inner
                deeper.update(o for m in inner for o in m.outputs)
        return [v for v in dict.fromkeys(found) if v not in deeper]
