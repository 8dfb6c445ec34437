"""Loops with less work: loop-invariant code moves before the loop, and unread results are dropped.

    scan{fn(s, w) -> s + exp(w)}(n, s, w)          -->   scan{fn(s, e) -> s + e}(n, s, exp(w))
    scan{fn(s, c, unread) -> s + c}(n, s, 2.0, x)  -->   scan{fn(s) -> s + 2.0}(n, s)
    scan{traced=(True,)}(n, s)[-1]                 -->   scan{traced=(False,)}(n, s)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import ClassVar

from ....graph import Apply, Constant, FunctionGraph, GraphEditor, Variable, rebuild, toposort
from ....ops.control.scan_ops import Scan
from ....ops.core.tensor import TensorVariable
from ....ops.elementwise.records import maximum
from ....ops.lowered.assumed import AssumeEqual
from ....ops.shapes.indexing import Subtensor
from ....profiling import OptimizerProfile
from ....record import record
from ...contract import Contract, exact, relaxes
from ...optimizers import Optimizer, Result
from .inner_graphs import admitted


@record(kw_only=True)
class PushOutNonSequences(Optimizer):
    """Moves loop-invariant computations of a body before the loop."""

    contract: ClassVar[Contract | None] = exact

    def optimize(self, graph: FunctionGraph, editor: GraphEditor) -> Result:
        return admitted(graph, with_loops(graph, pushed_out), self.name, editor), OptimizerProfile()


@record(kw_only=True)
class RemoveConstants(Optimizer):
    """Moves constants into bodies, and removes inputs that a body does not read or gets twice."""

    contract: ClassVar[Contract | None] = exact

    def optimize(self, graph: FunctionGraph, editor: GraphEditor) -> Result:
        return admitted(graph, with_loops(graph, without_constants), self.name, editor), OptimizerProfile()


@record(kw_only=True)
class SaveMemory(Optimizer):
    """Drops results of a loop that have no reader, and all but the last state where that is enough.

    `x[-1]` of a loop that takes no step is then what the loop began with, and not an error.
    """

    contract: ClassVar[Contract | None] = relaxes("errors")

    def optimize(self, graph: FunctionGraph, editor: GraphEditor) -> Result:
        found = graph
        while (smaller := slimmed(found)) is not found:  # a value that one loop no longer reads, another need not keep
            found = smaller
        return admitted(graph, found, self.name, editor), OptimizerProfile()


@record(kw_only=True)
class RemoveUnread(Optimizer):
    """Drops inputs that optimized bodies do not read, and then loops that made them."""

    contract: ClassVar[Contract | None] = relaxes("errors")

    def optimize(self, graph: FunctionGraph, editor: GraphEditor) -> Result:
        found = graph
        while (smaller := slimmed(with_loops(found, without_constants))) is not found:
            found = smaller
        return admitted(graph, found, self.name, editor), OptimizerProfile()


def with_loops(graph: FunctionGraph, change: Callable[[Apply], Apply | None]) -> FunctionGraph:
    """Return the graph with each loop replaced by the result of `change`."""
    return over_loops(graph, lambda node: (change(node) or node).outputs)


def over_loops(graph: FunctionGraph, visit: Callable[[Apply], Sequence[Variable]]) -> FunctionGraph:
    """Return the graph with the outputs of each loop replaced by the result of `visit`."""
    if not any(isinstance(op, Scan) for op in graph.ops):
        return graph
    found = graph.rebuilt(lambda node: visit(node) if isinstance(node.op, Scan) else node.outputs)
    return graph if found.outputs == graph.outputs else found


# --- out of the loop


def pushed_out(node: Apply) -> Apply | None:
    """Return the loop with its invariant computations moved before it; None if there are none."""
    op = node.op
    assert isinstance(op, Scan)
    body, first = op.graph, op.states.stop
    steady = set(body.inputs[first:])
    moved: dict[Variable, None] = {}
    facts = _stated_facts(body)
    for inner in body.order:
        known = all(i in steady or isinstance(i, Constant) for i in inner.inputs)
        if known and not inner.op.fallible and inner not in facts and any(i in steady for i in inner.inputs):
            steady.update(inner.outputs)
        else:
            moved.update(dict.fromkeys(i for i in inner.inputs if i in steady and i.owner is not None))
    moved.update(dict.fromkeys(o for o in body.outputs if o in steady and o.owner is not None))
    if not moved:
        return None
    outside = rebuild(list(moved), dict(zip(body.inputs[first:], node.inputs[1 + first :], strict=True)))
    leaves = {v: TensorVariable(v.type, name=v.name) for v in moved}
    outputs = rebuild(body.outputs, dict(leaves))
    graph = FunctionGraph([*body.inputs, *leaves.values()], outputs)
    return Apply(replace(op, graph=graph), (*node.inputs, *outside), node.origin)


def _stated_facts(body: FunctionGraph) -> set[Apply]:
    """Return the nodes that state what is known of the integers of a body: lengths, and clamped bounds of slices.

    `assume_equal` and `scan_bounds_from_front` make them.
    """
    lengths = [n for node in body.order if isinstance(node.op, AssumeEqual) for n in node.op.parts(node.inputs)[1]]
    return {*toposort(lengths), *filter(_is_clamped, body.order)}


def _is_clamped(node: Apply) -> bool:
    bound = node.inputs[-1] if node.op is maximum and node.out.dtype == "int64" else None
    return isinstance(bound, Constant) and not bound.ndim and bool(bound.data == 0)


# --- into the loop


def without_constants(node: Apply) -> Apply | None:
    """Return the loop with constants in its body, and without inputs that are unread or given twice."""
    op = node.op
    assert isinstance(op, Scan)
    body, states = op.graph, op.states
    given: dict[tuple[bool, Variable], Variable] = {}
    images: dict[Variable, Variable] = {}
    kept = []
    for k, (outer, inner) in enumerate(zip(node.inputs[1:], body.inputs, strict=True)):
        if states.start <= k < states.stop:
            kept.append(k)
        elif k >= states.stop and isinstance(outer, Constant):
            images[inner] = outer
        elif inner in body.uses:
            before = given.setdefault((k < states.start, outer), inner)
            if before is inner:
                kept.append(k)
            else:
                images[inner] = before
    if len(kept) == len(body.inputs):
        return None
    graph = FunctionGraph([body.inputs[k] for k in kept], rebuild(body.outputs, dict(images)))
    sequences = sum(k < states.start for k in kept)
    operands = (node.inputs[0], *(node.inputs[1 + k] for k in kept))
    return Apply(replace(op, graph=graph, sequences=sequences), operands, node.origin)


# --- less of the loop


def slimmed(graph: FunctionGraph) -> FunctionGraph:
    """Return the graph with loops reduced to the results that are read; the graph itself if nothing changes."""
    known: dict[Variable, Variable] = {}
    lasts: dict[Variable, Variable] = {}
    if not any(isinstance(op, Scan) for op in graph.ops):
        return graph
    wanted = _wanted(graph.outputs, {})
    for node in graph.order:
        if node.inputs and node.inputs[0] in lasts:
            known[node.out] = lasts[node.inputs[0]]
            continue
        new = node.over(known)
        if isinstance(node.op, Scan):
            read = [o in wanted for o in node.outputs]
            ends = [_only_last(graph, o) and t for o, t in zip(node.outputs, node.op.traced, strict=False)]
            made = _with_less(new, read, ends)
            if made is not None:
                lasts.update((o, made[n]) for o, n, end in zip(node.outputs, new.outputs, ends, strict=False) if end)
                known.update((o, made[n]) for o, n in zip(node.outputs, new.outputs, strict=True) if n in made)
                continue
        if new is not node:
            known.update(zip(node.outputs, new.outputs, strict=True))
    return graph.with_images(known)


def _only_last(graph: FunctionGraph, trace: Variable) -> bool:
    """Whether `trace[-1]` is all that is read of a trace."""
    uses = graph.uses.get(trace, [])
    return bool(uses) and all(user is not None and _is_last(user, trace) for user, _ in uses)


def _is_last(node: Apply, trace: Variable) -> bool:
    op, rest = node.op, node.inputs[1:]
    plain = isinstance(op, Subtensor) and op.spec[:1] == ("i",) and all(entry == "s000" for entry in op.spec[1:])
    return plain and node.inputs[0] is trace and isinstance(rest[0], Constant) and int(rest[0].data) == -1


def _with_less(node: Apply, read: Sequence[bool], ends: Sequence[bool]) -> dict[Variable, Variable] | None:
    """Return a replacement for each output of a loop that is read; None if the loop cannot be reduced.

    Equal values of a step are one output.
    """
    op = node.op
    assert isinstance(op, Scan)
    body, count, first = op.graph, len(op.traced), op.states.start
    live = [k for k, wanted in enumerate(_wanted_inputs(op, tuple(read))[op.states]) if wanted]
    traced = [t and read[k] and not ends[k] for k, t in enumerate(op.traced)]
    values = list({body.outputs[k]: k for k in range(len(node.outputs) - 1, count - 1, -1) if read[k]}.values())[::-1]
    if not live and not values and not op.until:
        return None
    condition = body.outputs[len(body.outputs) - op.until :]
    graph = slimmed(FunctionGraph(body.inputs, [*(body.outputs[k] for k in [*live, *values]), *condition]))
    states = {first + k for k in live}
    kept = [k for k, leaf in enumerate(body.inputs) if k in states or leaf in graph.uses]
    if (traced, graph.outputs, len(kept)) == ([*op.traced], body.outputs, len(body.inputs)):
        return None
    graph = FunctionGraph([body.inputs[k] for k in kept], graph.outputs)
    sequences = sum(k < first for k in kept)
    slim = replace(op, graph=graph, sequences=sequences, traced=tuple(traced[k] for k in live))
    made = Apply(slim, (node.inputs[0], *(node.inputs[1 + k] for k in kept)), node.origin)
    found = {node.outputs[k]: new for k, new in zip([*live, *values], made.outputs, strict=True) if read[k]}
    of_values = {body.outputs[k]: found[node.outputs[k]] for k in values}
    found.update((node.outputs[k], of_values[body.outputs[k]]) for k in range(count, len(node.outputs)) if read[k])
    return found


def _wanted(outputs: Sequence[Variable], later: Mapping[Variable, Variable]) -> set[Variable]:
    """Return what `outputs` depend on.  `later`: for a state in a body, what it becomes.

    A result of an inner loop depends on some of its states, and on the inputs that these read.
    """
    found = set(outputs)
    waiting = list(outputs)
    entered: set[Apply] = set()
    while waiting:
        v = waiting.pop()
        node = v.owner
        needs: Sequence[Variable] = (later[v],) if v in later else ()
        if node is not None and isinstance(node.op, Scan):
            inside = _wanted_inputs(node.op, tuple(o in found for o in node.outputs))
            needs = [node.inputs[0], *(i for i, wanted in zip(node.inputs[1:], inside, strict=True) if wanted)]
        elif node is not None and node not in entered:
            entered.add(node)
            needs = node.inputs
        new = [i for i in dict.fromkeys(needs) if i not in found]
        found.update(new)
        waiting += new
    return found


@lru_cache(maxsize=1024)
def _wanted_inputs(op: Scan, read: tuple[bool, ...]) -> tuple[bool, ...]:
    """Return for each input of a loop's body whether results that are read depend on it, or are this state."""
    body, count = op.graph, len(op.traced)
    states = dict(zip(body.inputs[op.states], body.outputs, strict=False))
    outputs = [o for k, o in enumerate(body.outputs) if k >= len(read) or (k >= count and read[k])]
    outputs += [leaf for leaf, wanted in zip(states, read, strict=False) if wanted]
    wanted = _wanted(outputs, states)
    return tuple(leaf in wanted for leaf in body.inputs)
