"""Parts of an array that are read after a write to it: a copy of the part lets the write work in place.

    r = x[i];  y = set(x, v, j);  f(y, r)      -->   r = copy(x[i]);  y = set(x, v, j) in place;  f(y, r)

Without it the write copies the array.  In the body of a loop a part is often a value of the step, which the gradient
keeps: then each step would copy the array.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

from ....graph import Apply, Constant, FunctionGraph, GraphEditor, Variable
from ....ops.control.scan_ops import Scan
from ....ops.elementwise.records import identity
from ....ops.lowered.assumed import bare
from ....ops.shapes.indexing import IncSubtensor, Subtensor
from ....profiling import OptimizerProfile
from ....record import record
from ...contract import Contract, exact
from ...optimizers import Result
from .destroy import Liveness, MemoryPass


@record(kw_only=True)
class CopyParts(MemoryPass):
    """Copies parts with fewer axes that are read after a write, and states of a loop that are values of a step."""

    contract: ClassVar[Contract | None] = exact

    def optimize(self, graph: FunctionGraph, editor: GraphEditor) -> Result:
        return _with_copies(graph, self, editor), OptimizerProfile()


def _with_copies(graph: FunctionGraph, by: CopyParts, editor: GraphEditor) -> FunctionGraph:
    if not any(isinstance(op, (IncSubtensor, Scan)) for op in graph.ops):
        return graph
    found = _Reads(graph, by.private).copied()
    of_states = {v for v in found if bare(v).owner is None}  # nodes go on to read a state itself
    copies = {v: copy for v in found if editor.admit(by.name, v, copy := identity(v), v in of_states)}
    if not copies:
        return graph
    whole = {v: copy for v, copy in copies.items() if v in of_states}
    images: dict[Variable, Variable] = {}
    for node in graph.order:
        new = node.over(images)
        if new is not node:
            images.update(zip(node.outputs, new.outputs, strict=True))
        for o in node.outputs:
            if o in copies and o not in whole:
                images[o] = copies[o] if new is node else identity(images[o])
    outputs = [whole.get(o, images.get(o, o)) for o in graph.outputs]
    return FunctionGraph(graph.inputs, outputs, graph.updates)


class _Reads:
    """The reads of arrays that a later write changes."""

    def __init__(self, graph: FunctionGraph, private: bool) -> None:
        self._graph = graph
        self._live = Liveness(graph, private)
        self._place = {node: k for k, node in enumerate(self._live.order)}
        self._views: dict[Variable, list[Variable]] = {}
        """The values that show the memory of each array."""
        for node in self._live.order:
            for v in node.outputs:
                root = self._root(v)
                if root is not v:
                    self._views.setdefault(root, []).append(v)

    def _root(self, v: Variable) -> Variable:
        return self._live.aliases.root_of(v)

    def copied(self) -> list[Variable]:
        """Return the values to copy, so that the first write to each array may work in it."""
        found: dict[Variable, None] = {}
        met: set[Variable] = set()
        for node in self._live.order:
            for x in _written_to(node):
                root = self._root(x)
                if root not in met and not isinstance(root, Constant):
                    met.add(root)
                    late = self._late(root, node) if self._may_change(root) else None
                    found.update(dict.fromkeys(late or ()))
        return list(found)

    def _may_change(self, root: Variable) -> bool:
        return root.owner is not None or root in self._live.updated_by

    def _late(self, root: Variable, write: Apply) -> set[Variable] | None:
        """Return the parts to copy before a write to an array; None if more than parts of it is read behind it."""
        copied: set[Variable] = set()
        for v in (root, *self._views.get(root, ())):
            users = self._graph.uses.get(v, ())
            is_late = any(user is not None and self._place[user] > self._place[write] for user, _ in users)
            if v in self._graph.outputs or is_late:
                part = self._part(v, root, is_late)
                if part is None:
                    return None
                copied.add(part)
        return copied

    def _part(self, v: Variable, root: Variable, is_late: bool) -> Variable | None:
        """Return the part with fewer axes that a value shows, or the state that a step gives; None otherwise."""
        if bare(v) is root:
            return v if root.owner is None and not is_late and self._is_value(v) else None
        while v is not root:
            node = v.owner
            assert node is not None
            if isinstance(node.op, Subtensor) and "i" in node.op.spec:
                return v
            v = node.inputs[node.op.may_view()[v.index]]
        return None

    def _is_value(self, state: Variable) -> bool:
        """Whether a state is an output, but not of its own or of another state."""
        new = {o for _, o in self._graph.updates}
        return not any(o is state and k in new for k, o in enumerate(self._graph.outputs))


def _written_to(node: Apply) -> Iterator[Any]:
    """Yield the arrays that a write to a part, or a loop, could work in."""
    if isinstance(node.op, IncSubtensor):
        yield node.inputs[0]
    elif isinstance(node.op, Scan):
        yield from (node.inputs[k] for k in node.op.replaced.values() if node.inputs[k].ndim)
