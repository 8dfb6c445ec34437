"""Joins that extend each other, as in a DenseNet: all are views of one array, and no part is copied twice.

    a = join(x, y); ... b = join(x, y, z); ... c = join(x, y, z, w)
    -->   p = set(alloc(n)[: len(a)], join(x, y)), q = set(p[len(a) : len(b)], z), c = set(q[len(b) :], w)
          a = p[: len(a)], b = q[: len(b)]

A dense block (Huang et al. 2017) joins what all its layers made before each layer: the copies grow with the square of
their number.  The writes are done in place, since all readers of a join run before the next part is there.  Linear in
the size of the graph and the parts of its joins.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from .... import ops as T
from ....graph import Apply, FunctionGraph, GraphEditor, Variable, dims_of
from ....ops.core.tensor import constant
from ....ops.shapes.creation import Alloc
from ....ops.shapes.joining import Join
from ....ops.shapes.lengths import lengths_of
from ....record import record
from ...contract import Contract, exact
from ...optimizers import Optimizer, Result
from ..shapes.joins import MOST_PARTS
from .as_one import profiled

FEWEST = 3
"""Least length of a chain of joins worth an array of its own: with two, a write costs what a join does."""


@record(kw_only=True)
class GrowingJoins(Optimizer):
    """Writes joins that extend each other into one array."""

    contract: ClassVar[Contract | None] = exact

    def optimize(self, graph: FunctionGraph, editor: GraphEditor) -> Result:
        return profiled(grown_in_place, graph, self.name, editor)


def grown_in_place(graph: FunctionGraph, by: str, editor: GraphEditor) -> FunctionGraph:
    """Return `graph` with each chain of joins in one array; call the editor once per join."""
    stages = {node: (chain, k) for chain in _chains(graph) for k, node in enumerate(chain)}
    arrays: dict[Apply, Variable] = {}
    known: dict[Variable, Variable] = {}
    for node in graph.order if stages else ():
        new = node.over(known)
        if node in stages:
            chain, k = stages[node]
            arrays[node] = _written(new, chain, k, arrays)
            front = arrays[node] if k == len(chain) - 1 else _front(arrays[node], new)
            if editor.admit(by, node.out, front):
                known[node.out] = front
                continue
        if new is not node:
            known.update(zip(node.outputs, new.outputs, strict=True))
    return graph.with_images(known)


def _chains(graph: FunctionGraph) -> list[list[Apply]]:
    """Return chains of joins, each with the parts of the one before and more behind them."""
    joins = [node for node in graph.order if _may_grow(node)]
    if len(joins) < FEWEST:
        return []
    by_parts = {(node.op, node.inputs): node for node in joins}
    place = {node: k for k, node in enumerate(graph.order)}
    following: dict[Apply, Apply] = {}
    first: list[Apply] = []
    for node in joins:
        sizes = range(len(node.inputs) - 1, 1, -1)
        shorter = next((s for k in sizes if (s := by_parts.get((node.op, node.inputs[:k]))) is not None), None)
        if shorter is None or shorter in following or not _is_read_before(shorter, node, graph, place):
            first.append(node)
        else:
            following[shorter] = node
    chains = []
    for node in first:
        chain = [node]
        while chain[-1] in following:
            chain.append(following[chain[-1]])
        if len(chain) >= FEWEST:
            chains.append(chain)
    return chains


def _may_grow(node: Apply) -> bool:
    """Whether a join has known lengths along its axis, and parts that agree in all other lengths."""
    if not isinstance(node.op, Join) or not 2 <= len(node.inputs) <= MOST_PARTS:
        return False
    axis, kinds = node.op.axis, {i.type.dtype for i in node.inputs}
    others = {(*dims[:axis], *dims[axis + 1 :]) for dims in map(dims_of, node.inputs)}
    return len(kinds) == len(others) == 1 and None not in (i.type.shape[axis] for i in node.inputs)


def _is_read_before(node: Apply, later: Apply, graph: FunctionGraph, place: dict[Apply, int]) -> bool:
    """Whether all readers of a join can certainly run before another join."""
    readers = [reader for reader, _ in graph.uses.get(node.out, ())]
    return all(reader is not None and place[reader] < place[later] for reader in readers)


def _written(new: Apply, chain: list[Apply], k: int, arrays: dict[Apply, Variable]) -> Variable:
    """Return the array with the parts of join number `k` of a chain in front."""
    axis, own, end = new.op.axis, new.inputs, new.out.type.shape[new.op.axis]  # type: ignore[attr-defined]
    part, begin = new.out, 0
    whole: Variable
    if k == 0:
        lengths = list(lengths_of(part))
        lengths[axis] = constant(chain[-1].out.type.shape[axis], "int64")
        whole = Alloc()(constant(np.zeros((), part.dtype)), *lengths)
    else:
        before = len(chain[k - 1].inputs)
        whole, begin = arrays[chain[k - 1]], chain[k - 1].out.type.shape[axis]
        part = own[before] if len(own) == before + 1 else new.op(*own[before:])  # type: ignore[operator]
    place = (*[slice(None)] * axis, slice(begin or None, None if end == whole.type.shape[axis] else end))
    return T.set_subtensor(whole[place], part)  # type: ignore[index,no-any-return]


def _front(array: Variable, new: Apply) -> Variable:
    axis = new.op.axis  # type: ignore[attr-defined]
    return array[(*[slice(None)] * axis, slice(None, new.out.type.shape[axis]))]  # type: ignore[index,no-any-return]
