"""Columns of a result: a join of columns becomes one of elementwise values, which one loop over the rows computes.

    join(x, x * x, alloc(1, n, 1), axis=1)   -->   join(identity(x), x * x, fill(x, 1), axis=1)

A join of this kind interleaves its parts, so each part that is copied or filled by itself goes through all lines of the
result.  Sibling fusion makes one group of the parts.  Joins that only elementwise work reads are left alone: they are
read through their parts, and never written.  Linear in the size of the graph.
"""

from __future__ import annotations

from typing import ClassVar

from ....graph import Apply, FunctionGraph, GraphEditor, Variable, same_shape
from ....ops.elementwise.records import Pointwise, fill, identity
from ....ops.shapes.creation import Alloc
from ....ops.shapes.joining import Join
from ....record import record
from ....targets.current import current
from ...contract import Contract, exact
from ...optimizers import Optimizer, Result
from .as_one import profiled


@record(kw_only=True)
class ColumnsOptimizer(Optimizer):
    """Makes copied and filled parts of joins of columns elementwise."""

    contract: ClassVar[Contract | None] = exact

    def optimize(self, graph: FunctionGraph, editor: GraphEditor) -> Result:
        return profiled(computed_columns, graph, self.name, editor)


def computed_columns(graph: FunctionGraph, by: str, editor: GraphEditor) -> FunctionGraph:
    """Return `graph` with joins of columns as joins of elementwise values; call the editor once per join."""
    if not any(isinstance(op, Join) for op in graph.ops):
        return graph
    pairs = []
    for node in graph.order:
        if joins_columns(node) and not _is_only_read(node, graph):
            parts = _elementwise(node.inputs)
            if parts != node.inputs:
                pairs.append((node.out, node.with_inputs(parts).out))
    return graph.replace(pairs, by, editor) if pairs else graph


def joins_columns(node: Apply) -> bool:
    """Whether the node joins a few columns to rows."""
    if not isinstance(node.op, Join) or not 0 < node.op.axis == node.out.ndim - 1:
        return False
    return 2 <= len(node.inputs) <= current().limits.joins.columns and all(i.type.shape[-1] == 1 for i in node.inputs)


def _is_only_read(node: Apply, graph: FunctionGraph) -> bool:
    """Whether all readers of a join are elementwise."""
    return all(reader is not None and isinstance(reader.op, Pointwise) for reader, _ in graph.uses.get(node.out, ()))


def _elementwise(parts: tuple[Variable, ...]) -> tuple[Variable, ...]:
    """Return the parts of a join, each computed by an elementwise op."""
    found = [p if _is_filled(p) or _is_computed(p) else identity(p) for p in parts]
    like = next((p for p, part in zip(found, parts, strict=True) if not _is_filled(part)), None)
    if like is None:
        return parts
    return tuple(fill(like, _number(p)) if _is_filled(p) and same_shape(p, like) else p for p in found)


def _is_computed(part: Variable) -> bool:
    return part.owner is not None and isinstance(part.owner.op, Pointwise)


def _is_filled(part: Variable) -> bool:
    return part.owner is not None and isinstance(part.owner.op, Alloc) and part.owner.inputs[0].ndim == 0


def _number(part: Variable) -> Variable:
    assert part.owner is not None
    return part.owner.inputs[0]
