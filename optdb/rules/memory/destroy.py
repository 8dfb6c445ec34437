"""Alias and liveness analysis behind the in-place optimizers.

A value may be overwritten by the node that reads it last, if it is no output, no constant, no view of another value and
has no live views.  An input may be overwritten by the update that replaces it, and only when nothing can fail any more
or by an op whose overwritten part a failing call restores: after an error every shared value is as it was.

The analysis fixes one order of the nodes and asks who reads a value last in it; so whatever is marked, that order stays
legal, and no mark has to be taken back.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import ClassVar

from ....graph import Apply, Destroyers, Dim, FunctionGraph, GraphEditor, Op, Variable, dims_of, same_shape
from ....graph.ordering import overwriters_last, with_readers_first
from ....ops.control.scan_ops import Scan
from ....ops.elementwise.records import Pointwise
from ....ops.linalg.blas import Accumulating
from ....ops.lowered.assumed import bare
from ....ops.lowered.fused import Fused, InPlace
from ....ops.shapes.advanced_indexing import AdvancedSubtensor
from ....ops.shapes.indexing import IncSubtensor
from ....ops.shapes.shape import DimShuffle
from ....profiling import OptimizerProfile
from ....record import record
from ....record.cached import cached_property
from ...contract import Contract, exact
from ...optimizers import Optimizer, Result
from ..fusion.groups import is_index_map
from ..shapes.agreement import Agreement

NEAR = 64
"""Most nodes between a write and a reader that is moved before it."""


@record(kw_only=True)
class MemoryPass(Optimizer):
    """Base class of the passes that decide what is overwritten."""

    private: bool = False
    """Whether the graph is the body of a loop, whose states belong to the loop."""

    def within_loops(self) -> MemoryPass:
        return replace(self, private=True)


@record(kw_only=True)
class AddDestroyHandler(MemoryPass):
    """Checks that the graph overwrites no value that is still needed; later passes may mark nodes as in place.

    Raises InconsistencyError if there is no legal order of the nodes.
    """

    contract: ClassVar[Contract | None] = exact

    def optimize(self, graph: FunctionGraph, editor: GraphEditor) -> Result:
        kinds = {type(node.op) for node in graph.order}
        if any(kind.destroys is not Op.destroys for kind in kinds) and any(n.op.destroys() for n in graph.order):
            Destroyers(graph, self.private)
        return graph, OptimizerProfile()


class Liveness:
    """The last reader of each value, in one order of the nodes, and the values that will be overwritten."""

    def __init__(self, graph: FunctionGraph, private: bool = False) -> None:
        """`private`: nobody sees the inputs with updates when a call fails; see Destroyers."""
        self.graph = graph
        self.private = private
        self.aliases: Destroyers = Destroyers(graph, private)
        self.updated_by: dict[Variable, Variable] = {graph.inputs[i]: graph.outputs[o] for i, o in graph.updates}
        self._replaced_by: dict[Variable, list[Variable]] = {}
        for old, new in self.updated_by.items():
            self._replaced_by.setdefault(new, []).append(old)
        self._writers = {output.owner for output in self.updated_by.values() if output.owner is not None}
        self._late = self._can_be_last(self._writers) if self._writers and not private else set()
        """Nodes that compute updates and after which no node can fail, so that they may overwrite inputs."""
        self.order: list[Apply] = self._with_writers_last()
        self._last_reader = {self.aliases.root_of(i): node for node in self.order for i in node.inputs}
        self._kept = {self.aliases.root_of(o) for o in graph.outputs}
        self._taken: set[Variable] = set(self.aliases.destroyer)
        self._asked: tuple[Apply | None, set[Variable]] = None, set()
        """The node that was asked for last, and its operands that it reads last."""

    @cached_property
    def agreement(self) -> Agreement:
        """Return the facts about lengths that hold when updates are written."""
        return Agreement(self.graph, besides=self._writers)

    def may_overwrite(self, node: Apply, output: int, position: int) -> bool:
        """Whether `node` may write its output over its input `position`: same dtype and shape, no later reader.

        The node itself may read the same variable at several positions, but no other view of it.
        """
        victim, result = node.inputs[position], node.outputs[output]
        mine, theirs = victim.type, result.type
        if mine.dtype != theirs.dtype or len(mine.shape) != len(theirs.shape):
            return False
        whole = bare(victim)
        if whole in self._taken or victim not in self._read_last(node):
            return False
        if whole.owner is not None:
            return same_shape(victim, result)
        # By now every product has run, so what products demand of lengths is known to hold.
        is_update = self.updated_by.get(whole) is result and node in self._late
        may_write = is_update or ((self.private or node.op.restorable) and self._becomes_update(whole, result))
        return may_write and self.agreement.same_shape(victim, result)

    def _read_last(self, node: Apply) -> set[Variable]:
        """Return the operands that are whole arrays, no outputs, and read by no later node and by no other view."""
        if self._asked[0] is not node:
            readers: dict[Variable, set[Variable]] = {}
            for i in node.inputs:
                readers.setdefault(self.aliases.root_of(i), set()).add(i)
            found = {
                i for root, (i, *others) in readers.items()
                if not others and bare(i) is root and root not in self._kept and self._last_reader[root] is node
            }  # fmt: skip
            self._asked = node, found
        return self._asked[1]

    def _becomes_update(self, victim: Variable, result: Variable) -> bool:
        """Whether `result` is the new value of the input `victim`, or becomes it by further restorable writes."""
        new = self.updated_by.get(victim)
        while new is not None and new is not result:
            new = self._written_over(new)
        return new is result

    def _written_over(self, new: Variable) -> Variable | None:
        """Return the value that `new` is written over, now or by a later mark."""
        node = new.owner
        if node is None:
            return None
        if node.op.restorable:
            return node.inputs[0]
        place = node.op.destroys().get(new.index)
        if place is None and self.private and isinstance(node.op, Scan):
            place = node.op.replaced.get(new.index)
        return None if place is None else node.inputs[place]

    def replaced_by(self, variable: Variable) -> list[Variable]:
        """Return the inputs whose new value is `variable`."""
        return self._replaced_by.get(variable, [])

    def take(self, victim: Variable) -> None:
        """Record that `victim` will be overwritten."""
        self._taken.add(bare(victim))

    # --- inputs, and what may fail
    def _can_be_last(self, writers: set[Apply]) -> set[Apply]:
        """Return the nodes of `writers` that cannot fail, and after which no node can."""
        after: dict[Apply, list[Apply]] = {}
        for node in self.aliases.order:
            for above in {i.owner: None for i in node.inputs if i.owner is not None} | dict.fromkeys(
                self.aliases.before(node)
            ):
                after.setdefault(above, []).append(node)
        risky: set[Apply] = set()
        for node in reversed(self.aliases.order):
            if may_fail(node, self.agreement, node in writers) or any(later in risky for later in after.get(node, ())):
                risky.add(node)
        return writers - risky

    def _with_writers_last(self) -> list[Apply]:
        order = self.aliases.order
        before = {node: self.aliases.before(node) for node in order if node.op.destroys()}
        wished = readers_of_overwritable(order, self.aliases)
        late = self._late | {node for node in before if self.aliases.overwrites_input(node)}
        return overwriters_last(with_readers_first(order, before, wished) if wished else list(order), before, late)


def readers_of_overwritable(order: Sequence[Apply], aliases: Destroyers) -> dict[Apply, list[Apply]]:
    """Return, for nodes that could write to an array in place, later nodes that read it and do not depend on them."""
    place = {node: k for k, node in enumerate(order)}
    writers: dict[Variable, Apply] = {}
    for node in order:
        for i in _arrays_written_to(node):
            writers.setdefault(aliases.root_of(i), node)
    found: dict[Apply, list[Apply]] = {}
    for node in order if writers else ():
        for root in dict.fromkeys(map(aliases.root_of, node.inputs)):
            writer = writers.get(root)
            if writer is not None and place[writer] < place[node] and not _depends(node, writer, place):
                found.setdefault(writer, []).append(node)
    return found


def _arrays_written_to(node: Apply) -> Sequence[Variable]:
    """Return the operands that a write to a part, or a loop, could hold its result in."""
    if isinstance(node.op, Scan):
        return [node.inputs[k] for k in node.op.replaced.values() if node.inputs[k].ndim]
    return node.inputs[:1] if isinstance(node.op, IncSubtensor) else ()


def _depends(node: Apply, earlier: Apply, place: Mapping[Apply, int]) -> bool:
    """Whether a node depends on an earlier one; so it is taken to do after NEAR nodes on the way."""
    waiting, met = [node], {node}
    while waiting:
        owners = dict.fromkeys(i.owner for i in waiting.pop().inputs)
        above = [n for n in owners if n is not None and n not in met and place[n] >= place[earlier]]
        if earlier in above or len(met) > NEAR:
            return True
        waiting += above
        met.update(above)
    return False


def may_fail(node: Apply, agreement: Agreement, writes_update: bool = False) -> bool:
    """Whether a run of `node` can raise: for its values, for lengths that may disagree, or for lack of memory.

    Ops that are not known here are taken to be able to.  A node that `writes_update` is taken to need no new memory.
    """
    op = node.op.op if isinstance(node.op, InPlace) else node.op
    if is_index_map(node):
        return False
    if op.fallible or not isinstance(op, (Pointwise, Fused, Accumulating)):
        return True
    overwriting = node.op.destroys()
    if not writes_update and any(o.ndim and n not in overwriting for n, o in enumerate(node.outputs)):
        return True
    if isinstance(op, Accumulating):
        return not all(agreement.same((a,), (b,)) for a, b in op.demands(node))
    return not _lengths_agree(node, op, agreement)


def _lengths_agree(node: Apply, op: object, agreement: Agreement) -> bool:
    """Whether the operands of an elementwise op, or of each one in a group, certainly broadcast."""
    if not isinstance(op, Fused):
        return _broadcasts([dims_of(i) for i in node.inputs], dims_of(node.outputs[0]), agreement)
    known: dict[Variable, tuple[Dim, ...]] = dict(zip(op.graph.inputs, map(dims_of, node.inputs), strict=True))
    for inner in op.graph.order:
        shapes = [known[i] if i in known else dims_of(i) for i in inner.inputs]
        known.update(zip(inner.outputs, inner.op.dims(inner, shapes), strict=True))
        if isinstance(inner.op, Pointwise) and not _broadcasts(shapes, known[inner.out], agreement):
            return False
    return True


def _broadcasts(shapes: Iterable[Sequence[Dim]], joint: Sequence[Dim], agreement: Agreement) -> bool:
    return all(
        length == 1 or agreement.same((length,), (whole,))
        for shape in shapes
        for length, whole in zip(shape, joint[len(joint) - len(shape) :], strict=True)
    )


def moved_inputs(op: Fused) -> set[Variable]:
    """Return the inputs of a group read elsewhere than its outputs are written; none may be overwritten."""
    moved: set[Variable] = set()
    for node in reversed(op.graph.order):
        if isinstance(node.op, DimShuffle) or not moved.isdisjoint(node.outputs):
            moved.update(node.inputs)
        elif isinstance(node.op, AdvancedSubtensor):
            moved.add(node.inputs[0])
    return moved.intersection(op.graph.inputs)


def reduced_outputs(op: Fused) -> Iterator[int]:
    """Return the outputs of a group that are not elementwise."""
    return (n for n, o in enumerate(op.graph.outputs) if o.owner is None or not isinstance(o.owner.op, Pointwise))
