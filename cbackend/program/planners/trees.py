"""Folds over decision trees: one launch of the kernel of lowering/nests/trees.py."""

from __future__ import annotations

from ....graph import Apply
from ....ops.reductions.trees import TreeFold
from ...lowering.nests.trees import trees_kernel
from ..planner import Planner
from ..program import Argument


def plan_tree_fold(p: Planner, node: Apply) -> None:
    x, *nodes = (p.arrays[i] for i in node.inputs)
    flat = [v if v.dense else p.copied(v) for v in nodes]
    rows, outputs = x.lengths[0], node.op.outputs  # type: ignore[attr-defined]
    result = p.result(node.out, (rows, outputs))
    kernel = trees_kernel(node)
    root = nodes[3]
    arguments: list[Argument] = [
        rows, outputs, result, *result.strides, x, x.strides[0], x.strides[1], *flat, root.lengths[0]
    ]  # fmt: skip
    p.call(kernel, arguments, (result,), (x, *flat))


PLANNERS = {
    TreeFold: plan_tree_fold,
}
