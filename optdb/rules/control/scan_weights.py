"""Weights of products in loops, packed once before the loop instead of in each step.

    scan{fn(h, w) -> dot(h, w)}(n, h, w)   -->   scan{fn(h, p) -> packed_dot(h, p)}(n, h, panels of w)

A step of a recurrent layer multiplies few rows by a matrix, and takes as long as that matrix is read.  A product that
packs it reads it twice and writes it once.
"""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from ....graph import Apply, Constant, FunctionGraph, GraphEditor, Op, Variable
from ....ops.control.scan_ops import Scan
from ....ops.core.tensor import TensorVariable, as_tensor
from ....ops.lowered.formats.panels import Panels
from ....ops.lowered.fused import InPlace
from ....profiling import OptimizerProfile
from ....record import record
from ...contract import Contract, relaxes
from ...optimizers import Optimizer, Result
from ..linalg.packed import over_panels, panels_of
from .inner_graphs import admitted
from .scan import with_loops

FEWEST_STEPS = 4
"""Steps from which weights are packed, where their number is known."""


@record(kw_only=True)
class PackWeights(Optimizer):
    """Packs the weights of products before the loop that reads them in each step."""

    contract: ClassVar[Contract | None] = relaxes("rounding")

    def optimize(self, graph: FunctionGraph, editor: GraphEditor) -> Result:
        return admitted(graph, with_loops(graph, packed), self.name, editor), OptimizerProfile()


def packed(node: Apply) -> Apply | None:
    """Return the loop with packed weights; None if it has no product that takes them."""
    op, steps = node.op, node.inputs[0]
    assert isinstance(op, Scan)
    if isinstance(steps, Constant) and int(steps.data) < FEWEST_STEPS:
        return None
    body, first = op.graph, op.states.stop
    given = dict(zip(body.inputs[first:], node.inputs[1 + first :], strict=True))
    leaves: dict[tuple[Variable, Panels], TensorVariable] = {}
    known: dict[Variable, Variable] = {}
    for inner in body.order:
        new, plain = inner.over(known), _without_marks(inner)
        form = panels_of(plain) if len(inner.inputs) > 1 and inner.inputs[1] in given else None
        if form is not None:
            w = inner.inputs[1]
            panels = leaves.setdefault((w, form), TensorVariable(form.type_of_panels(w.dtype), name=w.name))
            new = _marked(inner.op, over_panels(_without_marks(new), form, panels))
        if new is not inner:
            known.update(zip(inner.outputs, new.outputs, strict=True))
    if not leaves:
        return None
    graph = FunctionGraph([*body.inputs, *leaves.values()], [known.get(o, o) for o in body.outputs])
    outside = [form.packing(as_tensor(given[w])) for w, form in leaves]
    return Apply(replace(op, graph=graph), (*node.inputs, *outside), node.origin)


def _without_marks(node: Apply) -> Apply:
    """Return a node without the marks that let it overwrite operands."""
    return node.with_op(node.op.op) if isinstance(node.op, InPlace) else node


def _marked(op: Op, node: Apply) -> Apply:
    """Return a node with the marks of `op`, whose operands have the same places."""
    return node.with_op(InPlace(node.op, op.pairs)) if isinstance(op, InPlace) else node
