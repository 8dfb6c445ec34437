"""Copies of parts that are read after their array has been written to, so that the write needs no copy of the array.

    x1 = set(x, v, k); f(x[j], x1)   -->   part = identity(x[j]); x1 = set(x, v, k); f(part, x1)
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from ....graph import Apply, Constant, Destroyers, FunctionGraph, GraphEditor, Variable
from ....ops.elementwise.parts import identity
from ....ops.shapes.indexing import IncSubtensor, Subtensor
from ....profiling import OptimizerProfile
from ....record import record
from ...contract import Contract, exact
from ...optimizers import Result
from .destroy import MemoryPass, depends


@record(kw_only=True)
class CopyParts(MemoryPass):
    """Copies parts of fewer axes than their array, if nothing else keeps a write from being done in place."""

    contract: ClassVar[Contract | None] = exact

    def optimize(self, graph: FunctionGraph, editor: GraphEditor) -> Result:
        if not {IncSubtensor, Subtensor} <= {type(op) for op in graph.ops}:
            return graph, OptimizerProfile()
        parts = set(_Parts(graph, self.private).in_the_way())
        known: dict[Variable, Variable] = {}
        for node in graph.order if parts else ():
            new = node.over(known)
            if new is not node:
                known.update(zip(node.outputs, new.outputs, strict=True))
            if node.outputs[0] in parts:
                copy = identity(new.outputs[0])
                if editor.admit(self.name, node.outputs[0], copy):
                    known[node.outputs[0]] = copy
        if not known:
            return graph, OptimizerProfile()
        outputs = [known.get(o, o) for o in graph.outputs]
        return FunctionGraph(graph.inputs, outputs, graph.updates), OptimizerProfile()


class _Parts:
    """The parts of arrays in a graph, and who reads them."""

    def __init__(self, graph: FunctionGraph, private: bool) -> None:
        self._graph = graph
        self._private = private
        self._aliases = Destroyers(graph, private)
        self._place = {node: k for k, node in enumerate(graph.order)}
        self._readers: dict[Variable, list[tuple[Apply, Variable]]] = {}
        """The nodes that read an array or a view of it, with what they read."""
        for node in graph.order:
            for i in dict.fromkeys(node.inputs):
                self._readers.setdefault(self._aliases.root_of(i), []).append((node, i))
        self._kept = {self._aliases.root_of(o) for o in graph.outputs}

    def in_the_way(self) -> Iterator[Variable]:
        """Yield the parts to copy."""
        for node in self._graph.order:
            root = self._aliases.root_of(node.inputs[0]) if type(node.op) is IncSubtensor else None
            if root is None or root in self._kept or root in self._aliases.destroyer or isinstance(root, Constant):
                continue
            if self._private or root.owner is not None:
                parts = self._read_later(root, node)
                yield from () if None in parts else filter(None, parts)

    def _read_later(self, root: Variable, writer: Apply) -> dict[Variable | None, None]:
        """Return the parts of an array that nodes read which depend on a write to it; None for what is no part."""
        return {
            self._part(i, writer): None for node, i in self._readers[root]
            if node is not writer and self._follows(node, writer)
        }  # fmt: skip

    def _part(self, value: Variable, writer: Apply) -> Variable | None:
        """Return the part, read before a write, of which the value is a view."""
        node = value.owner
        while node is not None and node.op.may_view():
            if isinstance(node.op, Subtensor) and "i" in node.op.spec and not self._follows(node, writer):
                return node.out
            node = node.inputs[node.op.may_view()[0]].owner
        return None

    def _follows(self, node: Apply, earlier: Apply) -> bool:
        return self._place[earlier] < self._place[node] and depends(node, earlier, self._place)
