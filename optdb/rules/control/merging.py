"""Loops that take the same states through the same steps become one loop.

    scan{fn(s) -> f(s)}(n, s), scan{fn(s) -> f(s), g(s)}(n, s)   -->   scan{fn(s) -> f(s), g(s)}(n, s)

The value of a function and its gradient have such loops: the second one keeps what the gradient reads.
"""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from ....graph import Apply, FunctionGraph, GraphEditor, Variable, rebuild
from ....ops.control.scan_ops import Scan
from ....ops.core.tensor import TensorVariable
from ....profiling import OptimizerProfile
from ....record import record
from ...contract import Contract, exact
from ...optimizers import MergeOptimizer, Optimizer, Result
from .inner_graphs import admitted
from .scan import without_constants


@record(kw_only=True)
class MergeLoops(Optimizer):
    """Merges loops over the same steps whose states begin alike and change alike."""

    contract: ClassVar[Contract | None] = exact

    def optimize(self, graph: FunctionGraph, editor: GraphEditor) -> Result:
        return admitted(graph, merged(graph), self.name, editor), OptimizerProfile()


def merged(graph: FunctionGraph) -> FunctionGraph:
    """Return the graph with such loops merged; itself if there are none."""
    if sum(type(op) is Scan for op in graph.ops) < 2:
        return graph
    joined = _joined_loops(graph)
    if not joined:
        return graph
    known: dict[Variable, Variable] = {}
    for node in graph.order:
        if node in joined:
            whole, places = joined[node]
            new = whole.over(known)
            known.update((o, new.outputs[k]) for o, k in places.items())
        elif not known.keys() >= set(node.outputs):
            new = node.over(known)
            if new is not node:
                known.update(zip(node.outputs, new.outputs, strict=True))
    return graph.with_images(known)


def _joined_loops(graph: FunctionGraph) -> dict[Apply, tuple[Apply, dict[Variable, int]]]:
    """Return, for the first of several loops, the loop for all and the place of each output among its outputs."""
    place = {node: k for k, node in enumerate(graph.order)}
    leaders: dict[object, Apply] = {}
    found: dict[Apply, tuple[Apply, dict[Variable, int]]] = {}
    for node in graph.order:
        op = node.op
        if type(op) is not Scan or op.until:
            continue
        n, _, firsts, _ = op.parts(node)
        leader = leaders.setdefault((n, tuple(firsts), op.traced, op.truncate), node)
        if leader is node or any(v.owner is not None and place[v.owner] >= place[leader] for v in node.inputs):
            continue
        whole, places = found.get(leader, (leader, {o: k for k, o in enumerate(leader.outputs)}))
        made = _joined(whole, node)
        if made is not None:
            found[leader] = made[0], {**places, **dict(zip(node.outputs, made[1], strict=True))}
    return found


def _joined(first: Apply, second: Apply) -> tuple[Apply, list[int]] | None:
    """Return one loop for two with the same first states, and the places of the second one's results.

    None if the states do not change alike.
    """
    first, second = (without_constants(node) or node for node in (first, second))
    a, b = first.op, second.op
    assert isinstance(a, Scan) and isinstance(b, Scan)
    count = len(a.traced)
    sequences, others = _by_operand(first, 0, a.sequences), _by_operand(first, a.states.stop, len(first.inputs))
    images = dict(zip(b.graph.inputs[b.states], a.graph.inputs[a.states], strict=True))
    for k, (given, leaf) in enumerate(zip(second.inputs[1:], b.graph.inputs, strict=True)):
        if leaf not in images:
            of_steps = sequences if k < b.sequences else others
            images[leaf] = of_steps.setdefault(given, TensorVariable(leaf.type, name=leaf.name))
    if any(leaf.type != image.type for leaf, image in images.items()):
        return None
    inputs = [*sequences.values(), *a.graph.inputs[a.states], *others.values()]
    both = FunctionGraph(inputs, [*a.graph.outputs, *rebuild(b.graph.outputs, dict(images))])
    both, _ = MergeOptimizer().optimize(both, GraphEditor())
    mine, theirs = both.outputs[: len(a.graph.outputs)], both.outputs[len(a.graph.outputs) :]
    states = mine[:count]
    if states != theirs[:count]:  # nodes that write in place are never merged: only one body can stay
        alike = FunctionGraph(inputs, states) == FunctionGraph(inputs, theirs[:count])
        if not alike or min(len(mine), len(theirs)) > count:
            return None
        states = max(mine, theirs, key=len)[:count]
    values = [*mine[count:], *(v for v in dict.fromkeys(theirs[count:]) if v not in mine[count:])]
    graph = FunctionGraph(inputs, [*states, *values])
    n, _, firsts, _ = a.parts(first)
    whole = Apply(replace(a, graph=graph, sequences=len(sequences)), (n, *sequences, *firsts, *others), first.origin)
    return whole, [*range(count), *(count + values.index(v) for v in theirs[count:])]


def _by_operand(node: Apply, start: int, end: int) -> dict[Variable, Variable]:
    """Return the inputs of a loop's body by the operands that they stand for."""
    op: Scan = node.op  # type: ignore[assignment]
    return dict(zip(node.inputs[1 + start : 1 + end], op.graph.inputs[start:end], strict=False))
