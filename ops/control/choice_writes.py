"""Writes of single elements in one branch of a choice: the other branch writes back an element that it reads.

    v, i = cond(c, x) {then: 3.0, k} {otherwise: x[0], 0};  set(x[i], v)
    -->
    if (c) x[k] = 3.0

A loop in place writes such an element where the choice is made, and the other branch has nothing to read.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...graph import Apply, Constant, FunctionGraph, Variable
from ...record import record
from ..lowered.fused import unmarked
from ..shapes.indexing import IncSubtensor, Subtensor
from .cond import Cond


@record
class ChosenWrite:
    """A write in one branch.  `array`: the array before all writes of the choice.

    `sources`: the value and the index, each as the number of a result of the choice, or as a constant.
    """

    node: Apply
    array: Variable
    sources: tuple[int | Constant, ...]


@record
class ChosenWrites:
    """The writes of a choice, by branch, and the results that nothing else reads."""

    sides: tuple[tuple[ChosenWrite, ...], tuple[ChosenWrite, ...]] = ((), ())
    held: frozenset[int] = frozenset()


def writes_of_choices(graph: FunctionGraph, order: Sequence[Apply]) -> dict[Apply, ChosenWrites]:
    """Return the writes that take place in a branch, for each choice that they follow immediately in `order`."""
    found: dict[Apply, ChosenWrites] = {}
    for at, choice in enumerate(order):
        if isinstance(choice.op, Cond):
            writes = _writes_behind(choice, order[at + 1 :])
            if any(writes):
                found[choice] = ChosenWrites(writes, _held(choice, graph, [w.node for side in writes for w in side]))
    return found


def _writes_behind(choice: Apply, behind: Sequence[Apply]) -> tuple[tuple[ChosenWrite, ...], tuple[ChosenWrite, ...]]:
    arrays: dict[Variable, Variable] = {}
    chosen: dict[Variable, int] = {}
    sides: tuple[list[ChosenWrite], list[ChosenWrite]] = [], []
    assert isinstance(choice.op, Cond)
    for node in behind:
        op = unmarked(node.op)
        if not isinstance(op, IncSubtensor) or not op.set or op.spec != ("i",) * node.out.ndim:
            break
        array = arrays.get(node.inputs[0], node.inputs[0])
        sources = tuple(_source(v, choice) for v in node.inputs[1:])
        kept = [s for s, graph in enumerate(choice.op.branches[::-1]) if _keeps(graph, choice, array, sources)]
        if array in chosen:
            kept = [side for side in kept if side == chosen[array]]
        if not kept:
            break
        arrays[node.out], chosen[array] = array, kept[0]
        sides[kept[0]].append(ChosenWrite(node, array, tuple(s for s in sources if s is not None)))
    return tuple(sides[0]), tuple(sides[1])


def _source(v: Variable, choice: Apply) -> int | Constant | None:
    if isinstance(v, Constant):
        return v
    return v.index if v.owner is choice else None


def _keeps(graph: FunctionGraph, choice: Apply, array: Variable, sources: Sequence[int | Constant | None]) -> bool:
    """Whether a branch writes back the element that the array has there."""
    value, *index = (graph.outputs[s] if isinstance(s, int) else s for s in sources)
    if value is None or not all(isinstance(i, Constant) for i in index):
        return False
    node = value.owner
    if node is None or not isinstance(node.op, Subtensor) or node.op.spec != ("i",) * array.ndim:
        return False
    read, *places = node.inputs
    outside = dict(zip(graph.inputs, choice.inputs[1:], strict=True))
    return outside.get(read) is array and all(
        isinstance(p, Constant) and np.array_equal(p.data, i.data)  # type: ignore[union-attr]
        for p, i in zip(places, index, strict=True)
    )


def _held(choice: Apply, graph: FunctionGraph, writes: Sequence[Apply]) -> frozenset[int]:
    """Return the numbers of the results that the writes alone read."""
    read = {v for node in graph.order if node not in writes for v in node.inputs} | set(graph.outputs)
    return frozenset(k for k, v in enumerate(choice.outputs) if v not in read)
