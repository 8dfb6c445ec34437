"""Pipelines: stencils, gathers and row reductions fused with their readers and computed a few rows at a time.

    b = fused(x[:-2], x[1:-1], x[2:]); y = fused(b[:-2], b[2:])   -->   y = pipeline{b, y}(x, ...)
    y = fused(advanced_subtensor(w, i), x)                        -->   y = pipeline{advanced_subtensor, fused}(w, i, x)
    y = softmax(x) * w                                            -->   y = pipeline{softmax, mul}(x, w)

A stage is an elementwise group of which one other node reads parts, or a gather or a group that reduces rows which one
group reads (a `w` of unknown length may broadcast the rows, so it is in no group with them); that may be a stage of yet
another one.  So a pipeline is a tree whose inner values have no other readers.  A group that gives
the new value of an input stays separate, since it may be written over the old one.  Linear in the graph.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

from ....graph import Apply, FunctionGraph, GraphEditor, Op, Variable
from ....ops.elementwise.records import Pointwise
from ....ops.lowered.fused import Fused
from ....ops.lowered.pipeline import Pipeline
from ....ops.networks.functions import AlongAxis
from ....ops.reductions.reduce import Reduce
from ....ops.shapes.advanced_indexing import AdvancedSubtensor
from ....ops.shapes.indexing import Subtensor
from ....ops.shapes.shape import DimShuffle
from ....record import record
from ....targets.current import current
from ...contract import Contract, exact
from ...optimizers import Optimizer, Result
from .as_one import profiled, trees_as_one


@record(kw_only=True)
class PipelineOptimizer(Optimizer):
    """Fuses stages that read parts of each other's rows."""

    contract: ClassVar[Contract | None] = exact

    def optimize(self, graph: FunctionGraph, editor: GraphEditor) -> Result:
        return profiled(pipelined, graph, self.name, editor)


def pipelined(graph: FunctionGraph, by: str, editor: GraphEditor) -> FunctionGraph:
    """Return `graph` with each tree of stages as one `Pipeline` node."""
    return trees_as_one(graph, _trees(graph), Pipeline, by, editor)


@dataclass(eq=False)
class _Tree:
    """The nodes of one pipeline in topological order, and the number of stages among them."""

    nodes: list[Apply]
    stages: int


def _trees(graph: FunctionGraph) -> Mapping[Apply, list[Apply]]:
    """Return the nodes of each tree of two or more stages, by its last node."""
    if not any(map(_reads_parts_or_rows, graph.ops)):
        return {}
    trees: dict[Apply, _Tree] = {}
    updated = {graph.outputs[o] for _, o in graph.updates}
    for node in graph.order:
        if not _is_kernel(node) or not updated.isdisjoint(node.outputs):
            continue
        tree = _Tree([node], 1)
        for stage, views in _read_by(node, graph):
            below = trees.pop(stage, None) or _Tree([stage], 1)
            if tree.stages + below.stages > current().limits.fusion.stages:
                trees[stage] = below
                continue
            tree = _Tree([*below.nodes, *views, *tree.nodes], tree.stages + below.stages)
        trees[node] = tree
    return {node: tree.nodes for node, tree in trees.items() if tree.stages > 1}


def _reads_parts_or_rows(op: Op) -> bool:
    """Whether the op reads parts, gathers, or reduces rows that are among its results: each pipeline has one."""
    if isinstance(op, Fused):
        return any(isinstance(inner, (Reduce, AlongAxis)) for inner in op.graph.ops)
    return isinstance(op, (Subtensor, AdvancedSubtensor, AlongAxis))


def _read_by(node: Apply, graph: FunctionGraph) -> Iterator[tuple[Apply, list[Apply]]]:
    """Yield the stages that `node` alone reads, each with the views between them."""
    above = dict.fromkeys(_source(i).owner for i in node.inputs)
    for stage in above:
        if stage is None or not (_is_stencil(stage) or _is_of_rows(stage) or isinstance(stage.op, AdvancedSubtensor)):
            continue
        readers = [reader for o in stage.outputs for reader, _ in graph.uses.get(o, ())]
        views = [r for r in dict.fromkeys(readers) if r is not None and _is_view(r)]
        last = [reader for view in views for reader, _ in graph.uses.get(view.out, ())]
        direct = [r for r in readers if r is None or not _is_view(r)]
        if any(reader is not node for reader in (*last, *direct)) or not all(o in graph.uses for o in stage.outputs):
            continue
        parts = [view for view in views if _is_part(view)]
        if not parts if _is_stencil(stage) else (parts or not _ends(node, graph)):
            continue
        yield stage, views


def _ends(node: Apply, graph: FunctionGraph) -> bool:
    """Whether the node reads all rows of its operands, so that it is no stage that may skip rows."""
    return not any(reader is not None and _is_part(reader) for o in node.outputs for reader, _ in graph.uses.get(o, ()))


def _source(variable: Variable) -> Variable:
    """Return the value that `variable` is a view of, or `variable` itself."""
    owner = variable.owner
    return owner.inputs[0] if owner is not None and _is_view(owner) else variable


def _is_view(node: Apply) -> bool:
    """Whether the node is a slice of an array, or adds axes behind those of its operand."""
    if not isinstance(node.op, DimShuffle):
        return _is_part(node)
    rank = node.inputs[0].ndim
    return rank > 0 and node.op.order == (*range(rank), *["x"] * (node.out.ndim - rank))


def _is_part(node: Apply) -> bool:
    """Whether the node is a slice of an array whose first slice has no step."""
    spec = node.op.spec if isinstance(node.op, Subtensor) else ("i",)
    return bool(spec) and all(entry[0] == "s" for entry in spec) and spec[0][3] == "0"


def _is_kernel(node: Apply) -> bool:
    """Whether the node computes each row of its results from some rows of its operands."""
    op = node.op
    if not isinstance(op, (Fused, Pointwise, Reduce, AlongAxis)) or op.fallible:
        return False
    rank = max([i.ndim for i in node.inputs], default=0)
    return rank > 0 and all(_keeps_rows(n, rank) for n in (op.graph.order if isinstance(op, Fused) else (node,)))


def _keeps_rows(node: Apply, rank: int) -> bool:
    op = node.op
    if isinstance(op, Reduce):
        return node.inputs[0].ndim == rank and 0 not in op.axis
    if isinstance(op, AlongAxis):
        return rank > 1 and node.inputs[0].ndim == rank and op.axis == rank - 1
    return isinstance(op, (Pointwise, DimShuffle))


def _is_of_rows(node: Apply) -> bool:
    """Whether the node reduces rows, and has whole rows among its results."""
    inside = node.op.graph.order if isinstance(node.op, Fused) else (node,)
    if not any(isinstance(n.op, (Reduce, AlongAxis)) for n in inside) or not _is_kernel(node):
        return False
    rank = max(i.ndim for i in node.inputs)
    return any(o.ndim == rank and o.type.shape[-1] != 1 for o in node.outputs)


def _is_stencil(node: Apply) -> bool:
    """Whether the node may be a stage that is read in parts: it works element by element."""
    if not isinstance(node.op, (Pointwise, Fused)) or not _is_kernel(node):
        return False
    inside = node.op.graph.order if isinstance(node.op, Fused) else (node,)
    return all(isinstance(n.op, (Pointwise, DimShuffle)) for n in inside)
