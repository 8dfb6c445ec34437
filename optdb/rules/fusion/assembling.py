"""Concatenation and padding fusion: a join, or a write into a filled array, with the work that computes or reads it.

    join(exp(x), 2 * y)                      -->   assembled{exp, mul, join}(x, y)
    join(blocked_convolution(x, w, b), y)    -->   assembled{blocked_convolution, join}(x, w, b, y)    of one image
    set_subtensor(alloc(0, n)[1:-1], 2 * x)  -->   assembled{alloc, mul, set_subtensor}(x, n)
    2 * join(x[k:], x[:k]) + y               -->   assembled{join, mul, add}(x[k:], x[:k], y)

Joins that only elementwise work reads, directly or through slices, are read through their parts: that work splits its
loops where a part begins.  All other parts are computed where they belong, and copied nowhere.

A part is taken in if nothing else reads it.  An array filled with a number may have several readers, since equal ones
are merged: it is filled anew for each.  Linear in the size of the graph.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate
from typing import ClassVar

from ....graph import Apply, Dim, FunctionGraph, GraphEditor, Variable, dims_of, same_shape
from ....ops.elementwise.records import Pointwise
from ....ops.lowered.assembled import Assembled
from ....ops.lowered.blocked import BlockedConvolution
from ....ops.lowered.blocked_pool import BlockedPool
from ....ops.lowered.fused import Fused
from ....ops.lowered.fused_product import FusedProduct
from ....ops.shapes.creation import Alloc
from ....ops.shapes.indexing import IncSubtensor, Subtensor, entries
from ....ops.shapes.joining import Join
from ....ops.shapes.shape import DimShuffle
from ....ops.shapes.slices import total
from ....record import record
from ....targets.current import current
from ...contract import Contract, exact
from ...optimizers import Optimizer, Result
from ..facts import constant_int
from .as_one import profiled, trees_as_one


@record(kw_only=True)
class AssemblyOptimizer(Optimizer):
    """Fuses each join or write to a filled array with the elementwise work that it alone reads."""

    contract: ClassVar[Contract | None] = exact

    def optimize(self, graph: FunctionGraph, editor: GraphEditor) -> Result:
        return profiled(assembled, graph, self.name, editor)


def assembled(graph: FunctionGraph, by: str, editor: GraphEditor) -> FunctionGraph:
    """Return `graph` with each tree of joins and writes as one node."""
    return trees_as_one(graph, _trees(graph), Assembled, by, editor)


def _trees(graph: FunctionGraph) -> Mapping[Apply, list[Apply]]:
    """Return the nodes of each tree, operands first, by its last node."""
    trees = _readers(graph)
    inside = {node for tree in trees.values() for node in tree}
    most = current().limits.joins.parts
    for node in graph.order:
        if node in inside or not (isinstance(node.op, Join) or _is_write(node)):
            continue
        tree = [node]
        for part in dict.fromkeys(i.owner for i in (node.inputs if isinstance(node.op, Join) else node.inputs[:2])):
            if part is None or len(tree) >= most:
                continue
            if isinstance(part.op, Alloc) and not isinstance(node.op, Join):
                tree.insert(0, part)
                continue
            if part in inside or not _read_by_alone(part, node, graph):
                continue
            joined = isinstance(node.op, Join)
            if isinstance(part.op, Alloc) or _is_elementwise(part) or (joined and _is_blocked(part)):
                tree.insert(0, part)
            elif joined and isinstance(part.op, Join) and len(tree) + len(trees.get(part, (part,))) <= most:
                tree = [*trees.pop(part, (part,)), *tree]
        if len(tree) > 1:
            trees[node] = tree
    return trees


def _readers(graph: FunctionGraph) -> dict[Apply, list[Apply]]:
    """Return the trees of elementwise nodes that read joins through their parts: the joins, their slices, the node."""
    joins = [node for node in graph.order if isinstance(node.op, Join)]
    trees: dict[Apply, dict[Apply, None]] = {}
    for join in joins:
        found = _read_elementwise(join, graph)
        for reader, views in found.items():
            trees.setdefault(reader, {}).update(dict.fromkeys((join, *views, *_nested(join, graph))))
    most = current().limits.joins.pieces
    refused = {n for reader, tree in trees.items() if _pieces(reader, tree) > most for n in tree}
    readers = {r: t for r, t in trees.items() if refused.isdisjoint(t)}
    place = {node: k for k, node in enumerate(graph.order)} if readers else {}
    return {reader: sorted((*tree, reader), key=place.__getitem__) for reader, tree in readers.items()}


def _read_elementwise(join: Apply, graph: FunctionGraph) -> dict[Apply, list[Apply]]:
    """Return the elementwise nodes of the shape of a join, or of its slices, that alone read it; with those slices."""
    found: dict[Apply, list[Apply]] = {}
    waiting: list[tuple[Apply, tuple[Apply, ...]]] = [(join, ())]
    while waiting:
        view, slices = waiting.pop()
        for reader, position in graph.uses.get(view.out, []):
            if reader is not None and isinstance(reader.op, Subtensor) and position == 0 and _only_cuts(reader):
                waiting.append((reader, (*slices, reader)))
            elif reader is not None and _is_elementwise(reader) and _of_its_shape(reader, view.out):
                found.setdefault(reader, []).extend(slices)
            else:
                return {}
    return found


def _only_cuts(node: Apply) -> bool:
    """Whether a part is read by slices without steps."""
    return all(entry[0] == "s" and entry[3] == "0" for entry in node.op.spec)  # type: ignore[attr-defined]


def _of_its_shape(node: Apply, operand: Variable) -> bool:
    return all(same_shape(operand, o) for o in node.outputs)


def _nested(join: Apply, graph: FunctionGraph) -> list[Apply]:
    """Return the joins whose parts are those of `join`, level by level: all parts of a level are joins alike."""
    found: list[Apply] = []
    level = [join]
    while True:
        owners = [i.owner for outer in level for i in outer.inputs]
        inner = [n for n in owners if n is not None and isinstance(n.op, Join)]
        alike = {(n.op, len(n.inputs)) for n in inner}
        alone = all(graph.readings[n.out] == 1 for n in inner)
        if len(inner) < len(owners) or len(alike) > 1 or not alone or inner[0].op in {n.op for n in (join, *found)}:
            return found
        found += inner
        level = inner


def _pieces(reader: Apply, tree: Iterable[Apply]) -> int:
    """Return into how many pieces an elementwise node is split at most."""
    begins: list[set[object]] = [set() for _ in range(reader.outputs[0].ndim)]
    inside = set(tree)
    for operand in dict.fromkeys(reader.inputs):
        for axis, begin in _begins(operand, inside):
            begins[axis].add(begin)
    return math.prod(len(found) + 1 for found in begins)


def _begins(operand: Variable, inside: set[Apply]) -> Iterator[tuple[int, object]]:
    """Yield (axis, begin) of each part but the first of the joins that an operand reads through slices.

    A begin is an end of the join's parts and the starts of the slices before it.
    """
    view = operand.owner
    starts: dict[int, tuple[object, ...]] = {}
    while view in inside:
        if isinstance(view.op, Join):
            yield from ((view.op.axis, (end, starts.get(view.op.axis, ()))) for end in _ends(view))
        else:
            for axis, cut in enumerate(entries(view.op.spec, view.inputs[1:])):  # type: ignore[attr-defined]
                if cut.start is not None:
                    starts[axis] = (*starts.get(axis, ()), constant_int(cut.start) or cut.start)
        view = view.inputs[0].owner


def _ends(join: Apply) -> Sequence[Dim]:
    """Return where the parts of a join but the first one begin."""
    axis = join.op.axis  # type: ignore[attr-defined]
    return list(accumulate((dims_of(part)[axis] for part in join.inputs[:-1]), total))


def _is_write(node: Apply) -> bool:
    """Whether the node sets a part of an array that is filled with one number."""
    if not isinstance(node.op, IncSubtensor) or not node.op.set:
        return False
    x, value = node.inputs[:2]
    filled = x.owner is not None and isinstance(x.owner.op, Alloc)
    return filled and value.ndim == x.ndim - sum(entry == "i" for entry in node.op.spec)


def _read_by_alone(part: Apply, node: Apply, graph: FunctionGraph) -> bool:
    """Whether `node` reads each result of `part` exactly once and is its only reader."""
    uses = [graph.uses.get(o, []) for o in part.outputs]
    return all(len(found) == 1 and found[0][0] is node for found in uses)


def _is_blocked(node: Apply) -> bool:
    """Whether the node is a convolution or pool of one image in blocks, perhaps with an epilogue of the same type."""
    product = node.op.split(node.inputs)[0].owner if isinstance(node.op, FusedProduct) else node
    return (
        product is not None
        and isinstance(product.op, (BlockedConvolution, BlockedPool))
        and (isinstance(product.op, BlockedPool) or product.op.weights != ())
        and len(node.outputs) == 1
        and node.out.type == product.out.type
        and node.out.type.shape[0] == 1
    )


def _is_elementwise(node: Apply) -> bool:
    inside = node.op.graph.order if isinstance(node.op, Fused) else (node,)
    elementwise = all(isinstance(n.op, (Pointwise, DimShuffle)) for n in inside) and not isinstance(node.op, DimShuffle)
    return elementwise and not node.op.fallible and all(o.ndim for o in node.outputs)
