"""Lengths that meet are taken as equal: `assume_equal` gives a program the graph that it has in nearly every call.

    x, y: vectors;  exp(x) * y  -->  exp(x) * y'  with y' as long as x

Broadcasting is decided at run time: where two lengths meet, one of them may be 1.  So gradients sum over axes that were
perhaps broadcast, and loops stay separate.  Here lengths of inputs that meet in elementwise ops and products become
one; the engine checks them at the start of a call, and runs the graph without the assumption if they differ.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import ClassVar

from ....graph import Apply, Dim, FunctionGraph, GraphEditor, Variable, dims_of
from ....graph.dims import Symbol, atoms, substituted
from ....ops.elementwise.costs import work
from ....ops.elementwise.records import Pointwise
from ....ops.lowered.assumed import AssumeEqual, CheckAssumed, assumption_in
from ....ops.reductions.unbroadcasting import SumTo
from ....ops.shapes.lengths import ShapeI, dim_to_tensor
from ....profiling import OptimizerProfile
from ....record import record
from ....targets.current import current
from ...contract import Contract, relaxes
from ...optimizers import Optimizer, Result


@record(kw_only=True)
class AssumeEqualOptimizer(Optimizer):
    """Makes inputs as long as those that they meet, where the graph has sums or loops that depend on it."""

    contract: ClassVar[Contract | None] = relaxes("errors")

    def optimize(self, graph: FunctionGraph, editor: GraphEditor) -> Result:
        assumed = Assumed(graph)
        if not assumed.lengths or not assumed.helps():
            return graph, OptimizerProfile()
        axes = sorted(assumed.lengths)
        inputs = sorted({number for number, _ in axes})
        tensors = [graph.inputs[number] for number in inputs]
        lengths = [dim_to_tensor(assumed.lengths[axis]) for axis in axes]
        op = AssumeEqual(tuple((inputs.index(number), axis) for number, axis in axes))
        images = Apply(op, (*tensors, *lengths)).outputs
        for image, tensor in zip(images, tensors, strict=True):
            image.name = tensor.name
        try:
            graph = graph.replace(zip(tensors, images, strict=True), self.name, editor)
        except (TypeError, ValueError):  # lengths that contradict one another: every call will raise
            return graph, OptimizerProfile()
        result = graph.outputs[0]
        have = [ShapeI(axis)(graph.inputs[number]) for number, axis in axes]
        subjects = tuple((graph.inputs[number].name or "", axis) for number, axis in axes)
        check = CheckAssumed(subjects)(result, *(n for pair in zip(have, lengths, strict=True) for n in pair))
        return graph.replace([(result, check)], self.name, editor), OptimizerProfile()


@record(kw_only=True)
class CheckedOnceOptimizer(Optimizer):
    """Removes the check of what a graph assumes from its result, where `assume_equal` is still there and checks it."""

    contract: ClassVar[Contract | None] = relaxes("errors")

    def optimize(self, graph: FunctionGraph, editor: GraphEditor) -> Result:
        if assumption_in(graph) is None:
            return graph, OptimizerProfile()
        checks = [node for node in graph.order if isinstance(node.op, CheckAssumed)]
        return graph.replace([(c.out, c.inputs[0]) for c in checks], self.name, editor), OptimizerProfile()


class Assumed:
    """The lengths of inputs of a graph that are taken as equal to others: `lengths[input, axis]`."""

    def __init__(self, graph: FunctionGraph) -> None:
        self.graph = graph
        self._places = {i: number for number, i in enumerate(graph.inputs)}
        self._known_as: dict[Symbol, Dim] = {}
        for pairs, certain in ((_demanded, True), (_side_by_side, False)):
            for node in graph.order:
                for a, b in pairs(node):
                    self._assume(a, b, certain)
        self.lengths: dict[tuple[int, int], Dim] = {}
        for atom in self._known_as:
            variable, axis = atom.args
            self.lengths[self._places[variable], axis] = self.canonical(atom)  # type: ignore[index]

    def _assume(self, a: Dim, b: Dim, certain: bool) -> None:
        """Take two lengths as equal, if one of them is that of an input.

        One that is 1 is broadcast, unless it is `certain` that no other length fits.
        """
        a, b = self.canonical(a), self.canonical(b)
        if a == b or (1 in (a, b) and not certain):
            return
        if not self._is_own(a) or (self._is_own(b) and self._order(a) < self._order(b)):
            a, b = b, a
        if isinstance(a, Symbol) and self._is_own(a) and a not in atoms(b) and all(map(self._is_own, atoms(b))):
            self._known_as[a] = b

    def _is_own(self, dim: Dim) -> bool:
        """Whether a Dim is the length of an input."""
        return isinstance(dim, Symbol) and dim.kind == "extent" and dim.args[0] in self._places

    def _order(self, dim: Dim) -> tuple[int, int]:
        assert isinstance(dim, Symbol)
        variable, axis = dim.args
        return self._places[variable], axis  # type: ignore[index, return-value]

    def canonical(self, dim: Dim) -> Dim:
        """Return a length as one of inputs to which nothing else is assumed."""
        known = self._known_as
        while not isinstance(dim, int) and any(atom in known for atom in atoms(dim)):
            found = substituted(dim, lambda atom: known.get(atom, atom))
            if found is None:
                break
            dim = found
        return dim

    def helps(self) -> bool:
        """Whether a sum over broadcast axes, or a loop of its own, is not needed under the assumption.

        A loop of its own computes an operand that is perhaps broadcast: one with several readers, or a costly one.
        """
        separate: dict[Apply, float] = {}
        for node in self.graph.order:
            if isinstance(node.op, SumTo) and self._become_equal(*node.inputs):
                return True
            for operand in node.inputs if isinstance(node.op, Pointwise) else ():
                above = operand.owner
                if above is None or above in separate or not isinstance(above.op, Pointwise):
                    continue
                if operand.ndim == node.out.ndim and self._become_equal(operand, node.out):
                    separate[above] = work(above)
                    if len(self.graph.uses[operand]) > 1:
                        return True
        return sum(separate.values()) > current().costs.broadcast_byte

    def _become_equal(self, a: Variable, b: Variable) -> bool:
        mine, others = dims_of(a), dims_of(b)
        return mine != others and [*map(self.canonical, mine)] == [*map(self.canonical, others)]


def _demanded(node: Apply) -> Iterable[tuple[Dim, Dim]]:
    """Return the pairs of lengths without whose equality a node raises."""
    return node.op.demands(node)


def _side_by_side(node: Apply) -> Iterator[tuple[Dim, Dim]]:
    """Yield the neighbours among the lengths, other than 1, of each axis of operands that broadcast."""
    shapes = [dims_of(i) for i in node.inputs] if isinstance(node.op, Pointwise) else []
    for axis in range(1, 1 + max(map(len, shapes), default=0)):
        lengths = [shape[-axis] for shape in shapes if len(shape) >= axis and shape[-axis] != 1]
        yield from pairwise(lengths)
