"""Elements and parts that are read past a write to another one, where the numbers of loops show that it is another one.

    scan{fn(j, x, i) -> set(x, y, (i, j))[j, j]}(i, arange(i), x, i)
    -->
    scan{fn(j, x, i) -> x[j, j]}(i, arange(i), x, i)

Here j < i in each step.  The write then has no reader, or is overwritten, and goes.  Parts are others if an integer
index of one axis is: `x[:, j]` passes a write to `x[:, j + 1]`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

from ....graph import Apply, Constant, FunctionGraph, GraphEditor, Variable
from ....graph.dims import is_length, with_number
from ....ops.control.scan_ops import Scan
from ....ops.elementwise.records import maximum, sub
from ....ops.shapes.creation import Arange
from ....ops.shapes.indexing import IncSubtensor, Subtensor, entries
from ....ops.shapes.lengths import tensor_to_dim
from ....profiling import OptimizerProfile
from ....record import lazy, record
from ...contract import Contract, relaxes
from ...optimizers import MergeOptimizer, Optimizer, Result
from ..shapes.writing import needs_no_array
from .counting import changed_nodes, naturals
from .inner_graphs import admitted
from .scan import without_constants

steady_arrays: Any = lazy.module(".steady_arrays", __package__)


class _Facts:
    """Integers of a body that are certainly not negative; and for a number of a step, integers that are greater."""

    def __init__(self, natural: set[Variable], below: Mapping[Variable, set[Variable]]) -> None:
        self.natural, self.below = natural, below
        self._natural_sums = {tensor_to_dim(v) for v in natural if v.type.kind in "iu" and not v.ndim}

    def differ(self, a: Variable, b: Variable) -> bool:
        """Whether two positions are certainly those of different elements."""
        if not (self._is_natural(a) and self._is_natural(b)):
            return False
        return b in self.below.get(a, ()) or a in self.below.get(b, ()) or _differ_by_a_number(a, b)

    def _is_natural(self, v: Variable) -> bool:
        return v in self.natural or tensor_to_dim(v) in self._natural_sums or bool(is_length(tensor_to_dim(v)))


def _differ_by_a_number(a: Variable, b: Variable) -> bool:
    """Whether two integers differ by a constant that is not 0."""
    (one, ahead), (other, behind) = (with_number(tensor_to_dim(v)) for v in (a, b))
    return one is other and ahead != behind


@record(kw_only=True)
class ElementsPastWrites(Optimizer):
    """Reads elements and parts from the array before a write to another one, in the bodies of loops."""

    contract: ClassVar[Contract | None] = relaxes("errors")
    in_bodies: ClassVar[bool] = False

    def optimize(self, graph: FunctionGraph, editor: GraphEditor) -> Result:
        if not any(isinstance(op, Scan) for op in graph.ops):
            return graph, OptimizerProfile()
        found = _in_loops(graph, naturals(graph, ()))
        return admitted(graph, found, self.name, editor), OptimizerProfile()


@record(kw_only=True)
class SteadyArrays(Optimizer):
    """Makes operands of states of which no step reads what another one wrote (steady_arrays.py)."""

    contract: ClassVar[Contract | None] = relaxes("errors")
    in_bodies: ClassVar[bool] = False

    def optimize(self, graph: FunctionGraph, editor: GraphEditor) -> Result:
        if not any(type(op) is Scan for op in graph.ops):
            return graph, OptimizerProfile()
        return admitted(graph, steady_arrays.with_fewer_states(graph), self.name, editor), OptimizerProfile()


def _in_loops(graph: FunctionGraph, natural: set[Variable]) -> FunctionGraph:
    return changed_nodes(graph, lambda node: _with_body(node, natural))


def _with_body(node: Apply, natural: set[Variable]) -> Apply:
    """Return a loop with such reads changed in its body; the loop itself if there are none."""
    if not isinstance(node.op, Scan):
        return node
    slim = without_constants(node) or node
    op: Scan = slim.op  # type: ignore[assignment]
    merged, _ = MergeOptimizer().optimize(op.graph, GraphEditor())
    pairs = list(zip(merged.inputs, slim.inputs[1:], strict=True))
    states = set(merged.inputs[op.states])
    steady = [leaf for leaf, given in pairs if given in natural and leaf not in states]
    around = pairs[op.states.stop :]
    below = {leaf: {i for i, v in around if v in ends(rows)} for leaf, rows in pairs[: op.sequences]}
    facts = _Facts(naturals(merged, steady), below)
    body = changed_nodes(_in_loops(merged, facts.natural), lambda inner: _past_write(inner, merged, facts))
    return node if body is merged else slim.with_op(replace(op, graph=body))


def ends(numbers: Variable) -> set[Variable]:
    """Return integers that are greater than those of a range, or of a part of one, if they are not negative."""
    while numbers.owner is not None and isinstance(numbers.owner.op, Subtensor):
        numbers = numbers.owner.inputs[0]
    made: Any = numbers.owner
    if made is None or not isinstance(made.op, Arange) or not isinstance(made.inputs[2], Constant):
        return set()
    found: set[Variable] = set()
    end = made.inputs[1] if made.inputs[2].data > 0 else None
    while end is not None and end not in found:
        found.add(end)
        same = end.owner is not None and end.owner.op in (maximum, sub)
        zero = end.owner.inputs[1] if same and len(end.owner.inputs) == 2 else None
        if isinstance(zero, Constant) and bool(zero.data == 0):
            end = end.owner.inputs[0]
    return found


def _past_write(node: Apply, graph: FunctionGraph, facts: _Facts) -> Apply:
    """Return a read of an element, or of a part, from the array before writes to other ones."""
    if not isinstance(node.op, Subtensor):
        return node
    x, *mine = node.inputs
    while x.owner is not None and isinstance(x.owner.op, IncSubtensor) and _reads_past(node, x.owner, facts):
        readers = [user for user, _ in graph.uses.get(x, ())]
        if not all(user is not None and _is_past(user, x.owner, facts) for user in readers):
            break
        x = x.owner.inputs[0]
    return node if x is node.inputs[0] else node.with_inputs((x, *mine))


def _is_past(node: Apply, write: Apply, facts: _Facts) -> bool:
    """Whether a node needs no array after a write, since it reads past it or for another reason."""
    return (isinstance(node.op, Subtensor) and _reads_past(node, write, facts)) or needs_no_array(node, write)


def _reads_past(node: Apply, write: Apply, facts: _Facts) -> bool:
    """Whether a read is certainly at another position of some axis than a write."""
    mine, theirs = places(node, 1), places(write, 2)
    return any(facts.differ(mine[axis], theirs[axis]) for axis in mine.keys() & theirs.keys())


def places(node: Apply, first: int) -> dict[int, Variable]:
    """Return the integer indices of a read or write by axis; `first`: the number of the first operand of the index."""
    index = entries(node.op.spec, node.inputs[first:])  # type: ignore[attr-defined]
    return {axis: place for axis, place in enumerate(index) if not isinstance(place, slice)}
