"""Helpers of optimizers that fuse several nodes: the profile of a pass, and trees of nodes as one node each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from ....graph import Apply, FunctionGraph, GraphEditor, Op, Variable, union
from ....ops.core.tensor import TensorVariable
from ....profiling import FusionProfile
from ...optimizers import Result


def profiled(
    change: Callable[[FunctionGraph, str, GraphEditor], FunctionGraph],
    graph: FunctionGraph,
    by: str,
    editor: GraphEditor,
) -> Result:
    """Return the graph changed by `change`, and the numbers of accepted and refused replacements."""
    before, refused = len(editor.journal), editor.refused
    result = change(graph, by, editor)
    return result, FusionProfile(
        nb_iter=1,
        nb_replacement=len(editor.journal) - before,
        nb_inconsistency_replace=editor.refused - refused,
    )


def trees_as_one(
    graph: FunctionGraph,
    trees: Mapping[Apply, Sequence[Apply]],
    op: Callable[[FunctionGraph], Op],
    by: str,
    editor: GraphEditor,
) -> FunctionGraph:
    """Return `graph` with one node per tree, whose inner values have no other readers; call the editor once per tree.

    `trees`: the nodes of each, every one after those that it reads, by the last one.  `op` makes the op of a function.
    """
    if not trees:
        return graph
    known: dict[Variable, Variable] = {}
    for node in graph.order:
        new = node.over(known)
        if node in trees:
            made = _as_one(trees[node], op, known)
            if editor.admit(by, node.outputs[0], made.outputs[0]):
                for mine, old in zip(made.outputs, node.outputs, strict=True):
                    mine.name = old.name
                new = made
        if new is not node:
            known.update(zip(node.outputs, new.outputs, strict=True))
    return graph.with_images(known)


def _as_one(tree: Sequence[Apply], op: Callable[[FunctionGraph], Op], known: Mapping[Variable, Variable]) -> Apply:
    """Return the nodes of a tree as one node on the images of their operands, with the results of the last one."""
    inner: dict[Variable, Variable] = {}
    operands: list[Variable] = []
    for node in tree:
        for i in node.inputs:
            if i not in inner:
                inner[i] = TensorVariable(i.type, name=f"i{len(operands)}")
                operands.append(i)
        copy = node.with_inputs([inner[i] for i in node.inputs])
        for mine, old in zip(copy.outputs, node.outputs, strict=True):
            mine.name = None
            inner[old] = mine
    graph = FunctionGraph([inner[i] for i in operands], [inner[o] for o in tree[-1].outputs])
    return Apply(op(graph), [known.get(i, i) for i in operands], union(*(node.origin for node in tree)))
