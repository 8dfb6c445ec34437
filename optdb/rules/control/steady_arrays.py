"""States that no step changes for another one: the array is then the same in every step, and no copy of it is written.

    scan{fn(j, x) -> set(x, f(x[:, j]), (:, j)), x[:, j]}(n, arange(n), x)[1]
    -->
    scan{fn(j, x) -> x[:, j]}(n, arange(n), x)

Nobody reads the last state, and a step reads the part alone that it writes itself, or parts that later steps write.
Gradients of loops within loops have such states: an inner loop runs again for what it keeps, and restores arrays.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from ....graph import Apply, Constant, FunctionGraph, GraphEditor, Variable, rebuild
from ....graph.dims import Dim, atoms, is_length
from ....ops.control.scan_ops import Scan
from ....ops.lowered.assumed import AssumeEqual, bare
from ....ops.shapes.creation import Arange
from ....ops.shapes.indexing import IncSubtensor, Subtensor
from ....ops.shapes.lengths import ShapeI, tensor_to_dim
from ....ops.shapes.slices import difference, linear
from ...optimizers import MergeOptimizer
from .counting import naturals
from .past_writes import ends, places
from .scan import slimmed, with_loops, without_constants


def with_fewer_states(graph: FunctionGraph) -> FunctionGraph:
    """Return the graph with such states as operands, in bodies too."""
    before, found = None, graph
    while before is not found:  # a loop without a state reads less of those before it
        before, found = found, slimmed(_changed(slimmed(with_loops(found, without_constants)), _Facts()))
    return found


class _Facts(NamedTuple):
    """Facts on the inputs of a graph: integers that are not negative, and ranges of integers."""

    natural: frozenset[Variable] = frozenset()
    ranges: Mapping[Variable, _Range] = MappingProxyType({})


class _Range(NamedTuple):
    """Numbers that ascend (1) or descend (-1), and integers that are greater if the numbers are not negative."""

    direction: int
    ends: frozenset[Variable]


def _changed(graph: FunctionGraph, facts: _Facts) -> FunctionGraph:
    """Return the graph with fewer states in its loops."""
    if not any(type(op) is Scan for op in graph.ops):
        return graph
    facts = facts._replace(natural=frozenset(naturals(graph, facts.natural)))
    known: dict[Variable, Variable] = {}
    for node in graph.order:
        changed, kept = _with_less(node, graph, facts) if type(node.op) is Scan else (node, node.outputs)
        new = changed.over(known)
        if new is not node:
            known.update(zip(kept, new.outputs, strict=True))
    return graph.with_images(known)


def _with_less(node: Apply, graph: FunctionGraph, facts: _Facts) -> tuple[Apply, Sequence[Variable]]:
    """Return a loop with fewer states, in inner loops too; and the old outputs in the order of the new ones."""
    op: Scan = node.op  # type: ignore[assignment]
    given = dict(zip(op.graph.inputs, node.inputs[1:], strict=True))
    states = op.graph.inputs[op.states]
    inside, steps = _inside(op, given, facts)
    body = _changed(op.graph, inside)
    unread = [k for k in op.replaced if node.outputs[k].ndim and not graph.uses.get(node.outputs[k])]
    writes: dict[int, Apply] = {}
    if unread:
        body, _ = MergeOptimizer().optimize(body, GraphEditor())
        natural = {tensor_to_dim(v) for v in naturals(body, inside.natural) if not v.ndim}
        positions = _Positions(steps, {*body.inputs[op.states.stop :]}, natural)
        found = {k: _Reads(op, body, k).write(positions) for k in unread}
        writes = {k: write for k, write in found.items() if write is not None}
    kept = [k for k in range(len(body.outputs)) if k not in writes]
    if not writes or not kept:
        return (node if body is op.graph else node.with_op(replace(op, graph=body))), node.outputs
    last = {states[k] for k in writes}
    inputs = [*(leaf for leaf in body.inputs if leaf not in last), *(states[k] for k in writes)]
    traced = tuple(op.traced[k] for k in kept if k < len(op.traced))
    outputs = rebuild([body.outputs[k] for k in kept], {write.out: write.inputs[0] for write in writes.values()})
    slim = replace(op, graph=FunctionGraph(inputs, outputs), traced=traced)
    new = Apply(slim, (node.inputs[0], *(given[leaf] for leaf in inputs)), node.origin)
    return new, [node.outputs[k] for k in kept if k < len(node.outputs)]


def _inside(op: Scan, given: Mapping[Variable, Variable], facts: _Facts) -> tuple[_Facts, dict[Variable, _Range]]:
    """Return what is known of the inputs of a body, and the numbers of steps among its slices of sequences."""
    states = set(op.graph.inputs[op.states])
    natural = frozenset(leaf for leaf, value in given.items() if value in facts.natural and leaf not in states)
    found = {leaf: _range(value, facts) for leaf, value in given.items() if leaf not in states and value.ndim == 1}
    others = [leaf for leaf in op.graph.inputs[op.states.stop :] if not leaf.ndim]
    known = {
        leaf: _Range(made.direction, frozenset(i for i in others if given[i] in made.ends))
        for leaf, made in found.items() if made is not None
    }  # fmt: skip
    return _Facts(natural, {k: v for k, v in known.items() if k.ndim}), {k: v for k, v in known.items() if not k.ndim}


def _range(rows: Variable, facts: _Facts) -> _Range | None:
    """Return what is known of a range of integers, or of a part of one; None for other vectors."""
    sign = 1
    while rows not in facts.ranges and rows.owner is not None and isinstance(rows.owner.op, Subtensor) and rows.ndim:
        if "".join(rows.owner.op.spec)[3:] == "1":
            sign *= _sign(rows.owner.inputs[-1])
        rows = rows.owner.inputs[0]
    made = facts.ranges.get(rows)
    if made is not None:
        return made._replace(direction=sign * made.direction) if sign else None
    if rows.owner is None or not isinstance(rows.owner.op, Arange) or not sign * _sign(rows.owner.inputs[2]):
        return None
    return _Range(sign * _sign(rows.owner.inputs[2]), frozenset(ends(rows)))


def _sign(v: Variable) -> int:
    return int(np.sign(v.data)) if isinstance(v, Constant) else 0


# --- whether a step sees what another one wrote


class _Positions(NamedTuple):
    """Facts on positions in a body: numbers of steps, what is the same in all steps, what is not negative."""

    steps: Mapping[Variable, _Range]
    same: set[Variable]
    natural: set[Dim]

    def direction(self, place: Variable) -> int:
        """Return 1 or -1 for a position that ascends or descends from step to step; 0 if that is not known."""
        terms, _ = linear(tensor_to_dim(place))
        for step, known in self.steps.items():
            factor = terms.pop(tensor_to_dim(step), 0)
            if factor:
                others = all(atom.args[0] in self.same for term in terms for atom in atoms(term))
                return known.direction * factor if others and abs(factor) == 1 else 0
        return 0

    def is_natural(self, place: Variable) -> bool:
        """Whether a position is not negative: as an integer of the body, or as n - i for numbers i below n."""
        dim = tensor_to_dim(place)
        if dim in self.natural or is_length(dim):
            return True
        terms, number = linear(dim)
        for step, known in self.steps.items():
            if terms.pop(tensor_to_dim(step), 0) == -1:
                return number >= -1 and any(terms == {tensor_to_dim(end): 1} for end in known.ends)
        return False


class _Reads:
    """The readers of a state of a body: of what it is before the write of a step, and after it."""

    def __init__(self, op: Scan, body: FunctionGraph, state: int) -> None:
        self._body, self._state, self._leaf = body, state, body.inputs[op.states][state]

    def write(self, positions: _Positions) -> Apply | None:
        """Return the write of a step if no step reads what one has written; None otherwise."""
        write = bare(self._body.outputs[self._state]).owner
        if write is None or not isinstance(write.op, IncSubtensor) or bare(write.inputs[0]) is not self._leaf:
            return None
        for axis, place in places(write, 2).items():
            way = positions.direction(place) if positions.is_natural(place) else 0
            if way and all(
                at is not None and positions.is_natural(at) and self._is_unseen(at, place, way, after)
                for at, after in self._places(write, axis)
            ):
                return write
        return None

    def _is_unseen(self, read: Variable, written: Variable, direction: int, after: bool) -> bool:
        """Whether a read is where a later step writes, or where its own step does, not yet."""
        ahead = difference(tensor_to_dim(read), tensor_to_dim(written))
        return isinstance(ahead, int) and direction * ahead >= int(after)

    def _places(self, write: Apply, axis: int) -> Iterator[tuple[Variable | None, bool]]:
        """Yield the position along an axis of each read, and whether it is after the write; None for another use."""
        waiting = [(self._leaf, False), (write.out, True)]
        while waiting:
            v, after = waiting.pop()
            for user, number in self._body.uses.get(v, ()):
                op = None if user is None else user.op
                if user is None:
                    if not after or number != self._state:
                        yield None, after
                elif isinstance(op, AssumeEqual):
                    waiting += [(o, after) for o, i in zip(user.outputs, user.inputs, strict=False) if i is v]
                elif user is not write and not isinstance(op, ShapeI):
                    yield places(user, 1).get(axis) if isinstance(op, Subtensor) else None, after
