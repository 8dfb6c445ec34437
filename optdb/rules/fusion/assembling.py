"""Concatenation and padding fusion: a join, or a write into a filled array, with the work that computes its parts.

    join(exp(x), 2 * y)                      -->   assembled{exp, mul, join}(x, y)
    join(blocked_convolution(x, w, b), y)    -->   assembled{blocked_convolution, join}(x, w, b, y)    of one image
    set_subtensor(alloc(0, n)[1:-1], 2 * x)  -->   assembled{alloc, mul, set_subtensor}(x, n)

The parts are computed where they belong, and copied nowhere.  A part is taken in if nothing else reads it.  An array
filled with a number may have several readers, since equal ones are merged: it is filled anew for each.  Linear in the
size of the graph.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from ....graph import Apply, FunctionGraph, GraphEditor
from ....ops.elementwise.records import Pointwise
from ....ops.lowered.assembled import Assembled
from ....ops.lowered.blocked import BlockedConvolution
from ....ops.lowered.blocked_pool import BlockedPool
from ....ops.lowered.fused import Fused
from ....ops.lowered.fused_product import FusedProduct
from ....ops.shapes.creation import Alloc
from ....ops.shapes.indexing import IncSubtensor
from ....ops.shapes.joining import Join
from ....ops.shapes.shape import DimShuffle
from ....record import record
from ....targets.current import current
from ...contract import Contract, exact
from ...optimizers import Optimizer, Result
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
    trees: dict[Apply, list[Apply]] = {}
    most = current().limits.joins.parts
    for node in graph.order:
        if not (isinstance(node.op, Join) or _is_write(node)):
            continue
        tree = [node]
        for part in dict.fromkeys(i.owner for i in (node.inputs if isinstance(node.op, Join) else node.inputs[:2])):
            if part is None or len(tree) >= most:
                continue
            if isinstance(part.op, Alloc) and not isinstance(node.op, Join):
                tree.insert(0, part)
                continue
            if not _read_by_alone(part, node, graph):
                continue
            joined = isinstance(node.op, Join)
            if isinstance(part.op, Alloc) or _is_elementwise(part) or (joined and _is_blocked(part)):
                tree.insert(0, part)
            elif isinstance(node.op, Join) and part in trees and len(tree) + len(trees[part]) <= most:
                tree = [*trees.pop(part), *tree]
        if len(tree) > 1:
            trees[node] = tree
    return trees


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
