"""Arrays that the backward loop of a gradient makes again: later readers take those, and one array serves both loops.

    b, kept = scan{fn(i, s) -> set(s, f(s), i), s[i]}(n, is, a)
    c       = scan{fn(i, old, s) -> set(s, old, i)}(n, is[::-1], kept[::-1], b)
    g(a)    -->   g(c)          for a reader after both loops

The first loop may then write to `a` in place.  Source: Griewank and Walther, Evaluating Derivatives, section 4.2.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

from ....graph import Apply, Constant, FunctionGraph, GraphEditor, Variable, dims_of, rebuild
from ....ops.control.scan_ops import Scan
from ....ops.elementwise.records import identity, maximum
from ....ops.lowered.assumed import bare
from ....ops.lowered.fused import unmarked
from ....ops.shapes.indexing import IncSubtensor, Subtensor, entries
from ....ops.shapes.lengths import tensor_to_dim
from ....profiling import OptimizerProfile
from ....record import lazy, record
from ...contract import Contract, exact
from ...optimizers import Optimizer, Result

overwriting: Any = lazy.module("....ops.control.overwriting", __package__)


@record(kw_only=True)
class ReadRestored(Optimizer):
    """Lets readers of an array after a backward loop that restores it read the restored one."""

    contract: ClassVar[Contract | None] = exact

    def optimize(self, graph: FunctionGraph, editor: GraphEditor) -> Result:
        found = reading_restored(graph)
        changes = [(old, new) for old, new in zip(graph.outputs, found.outputs, strict=True) if old is not new]
        # An output may be read inside as well, so the new ones are not put in its place there.
        return found if editor.admit_together(self.name, changes) else graph, OptimizerProfile()


def reading_restored(graph: FunctionGraph) -> FunctionGraph:
    """Return the graph whose later readers read restored arrays; itself if there are none."""
    if sum(isinstance(op, Scan) for op in graph.ops) < 2:
        return graph
    place = {node: k for k, node in enumerate(graph.order)}
    again: dict[Variable, Variable] = {}
    for node in graph.order:
        for first, restored in _restored(node) if isinstance(node.op, Scan) else ():
            again.update(_with_earlier(first, restored))
    if not again:
        return graph
    images: dict[Variable, Variable] = {}
    for k, node in enumerate(graph.order):
        late = {i: again[i] for i in node.inputs if i in again and _time(again[i], place) < k}
        for write in (v.owner for v in late.values() if v.owner is not None and v.owner not in place):
            images.setdefault(write.out, write.over(images).out)
        new = node.over(late).over(images)
        if new is not node:
            images.update(zip(node.outputs, new.outputs, strict=True))
    outputs = [again.get(o, o) for o in graph.outputs]
    return FunctionGraph(graph.inputs, rebuild(outputs, images), graph.updates)


def _time(v: Variable, place: Mapping[Apply, int]) -> int:
    """Return the place of the loop that makes an array again, or after which it is made by a write."""
    assert v.owner is not None
    return place[v.owner] if v.owner in place else _time(v.owner.inputs[0], place)


def _with_earlier(first: Variable, restored: Variable) -> dict[Variable, Variable]:
    """Return images of an array, and of the one from which writes to parts made it that were written just before."""
    found = {first: restored}
    array = bare(first)
    found[array] = restored
    parts: list[Any] = []
    while array.owner is not None and isinstance(array.owner.op, IncSubtensor):
        node = array.owner
        mine, is_whole = _part(node, 2)
        if parts and is_whole and array.owner.op.set and all(mine.covers(part) for part in parts):
            found[array] = node.with_inputs((restored, *node.inputs[1:])).out
        parts.append(mine)
        array = bare(node.inputs[0])
    return {v: image for v, image in found.items() if image.type.refines(v.type)}


def _uncopied(v: Variable) -> Variable:
    """Return the value of which another one is a copy."""
    v = bare(v)
    return bare(v.owner.inputs[0]) if v.owner is not None and v.owner.op is identity else v


def _part(node: Apply, first: int) -> tuple[Any, bool]:
    """Return what a node reads or writes to, with all positions for slices; and whether these have all positions.

    `first`: the number of the first operand that is an index.
    """
    index = entries(node.op.spec, node.inputs[first:])  # type: ignore[attr-defined]
    places = [None if isinstance(p, slice) else p for p in index]
    is_whole = all(p == slice(None) for p in index if isinstance(p, slice))
    return overwriting.Part((*places, *[None] * (node.inputs[0].ndim - len(places)))), is_whole


# --- loops that undo others


def _restored(node: Apply) -> Iterator[tuple[Variable, Variable]]:
    """Yield the first states of an earlier loop with the results of `node` that are certainly equal to them."""
    op = node.op
    if type(op) is not Scan or op.until:
        return
    n, _, firsts, _ = op.parts(node)
    for k, first in enumerate(firsts):
        last = bare(first)
        forward = last.owner
        earlier = None if forward is None else forward.op
        if forward is None or type(earlier) is not Scan or earlier.until or forward.inputs[0] is not n:
            continue
        if not first.ndim or op.traced[k] or last.index not in earlier.replaced:
            continue
        if _Undone(forward, last.index, node).by(k):
            yield forward.inputs[earlier.replaced[last.index]], node.outputs[k]


class _Undone:
    """Whether a loop writes back, from the last step to the first, what a state was before each step of another."""

    def __init__(self, forward: Apply, state: int, backward: Apply) -> None:
        self._forward, self._state, self._backward = forward, state, backward
        self._mine: Scan = forward.op  # type: ignore[assignment]
        self._theirs: Scan = backward.op  # type: ignore[assignment]
        self._images = self._images_of_leaves()

    def by(self, state: int) -> bool:
        body, count = self._mine.graph, len(self._mine.traced)
        leaf = body.inputs[self._mine.states][self._state]
        changed = overwriting.parts_changed(body, leaf, body.outputs[self._state])
        kept = self._written_back(state)
        if changed is None or kept is None:
            return False
        parts = []
        for value, write in kept:
            read = _uncopied(body.outputs[count + value]).owner
            if read is None or not isinstance(read.op, Subtensor) or bare(read.inputs[0]) is not leaf:
                return False
            if read.op.spec != unmarked(write.op).spec or not self._same_positions(read.inputs[1:], write.inputs[2:]):
                return False
            part, is_whole = _part(read, 1)
            if not is_whole:
                return False
            parts.append(part)
        return all(any(part.covers(other) for part in parts) for other in changed)

    def _written_back(self, state: int) -> list[tuple[int, Any]] | None:
        """Return the values of the first loop that a step writes to parts of a state, and the writes."""
        body, found = self._theirs.graph, []
        leaf, new = body.inputs[self._theirs.states][state], bare(body.outputs[state])
        sequences = {i: k for k, i in enumerate(body.inputs[: self._theirs.sequences])}
        while new is not leaf:
            node = new.owner
            op = None if node is None else unmarked(node.op)
            if node is None or not isinstance(op, IncSubtensor) or not op.set:
                return None
            row = sequences.get(bare(node.inputs[1]))
            value = None if row is None else self._value_reversed(self._backward.inputs[1 + row])
            if value is None:
                return None
            found.append((value, node))
            new = bare(node.inputs[0])
        return found

    def _value_reversed(self, rows: Variable) -> int | None:
        """Return which value of a step of the first loop the rows are, from the last one on."""
        count = len(self._mine.traced)
        for k, value in enumerate(self._forward.outputs[count:]):
            if self._is_reversed(rows, value):
                return k
        return None

    def _is_reversed(self, rows: Variable, of: Variable) -> bool:
        """Whether `rows` are those of all steps, from the last one on."""
        node, n = bare(rows).owner, self._forward.inputs[0]
        if node is None or not isinstance(node.op, Subtensor) or node.op.spec[:1] != ("s001",):
            return False
        step = node.inputs[1]
        if not isinstance(step, Constant) or step.data != -1 or any(entry != "s000" for entry in node.op.spec[1:]):
            return False
        whole = bare(node.inputs[0])
        if whole is bare(of):
            return dims_of(of)[0] == tensor_to_dim(n)
        cut = whole.owner
        if cut is None or not isinstance(cut.op, Subtensor) or cut.op.spec != ("s010",) or cut.inputs[0] is not of:
            return False
        end = cut.inputs[1]
        clamped = end.owner is not None and end.owner.op is maximum and end.owner.inputs[0] is n
        return end is n or (clamped and isinstance(end.owner.inputs[1], Constant))  # type: ignore[union-attr]

    def _images_of_leaves(self) -> dict[Variable, Variable]:
        """Return the inputs of the second body that in each step are what those of the first one were."""
        found: dict[Variable, Variable] = {}
        _, mine, _, others = self._mine.parts(self._forward)
        _, rows, _, given = self._theirs.parts(self._backward)
        leaves, theirs = self._mine.graph.inputs, self._theirs.graph.inputs
        for leaf, sequence in zip(leaves, mine, strict=False):
            for image, row in zip(theirs, rows, strict=False):
                if self._is_reversed(row, sequence):
                    found[leaf] = image
        by_operand = dict(zip(given, theirs[self._theirs.states.stop :], strict=True))
        for leaf, operand in zip(leaves[self._mine.states.stop :], others, strict=True):
            if operand in by_operand:
                found[leaf] = by_operand[operand]
        return found

    def _same_positions(self, mine: Sequence[Variable], theirs: Sequence[Variable]) -> bool:
        """Whether positions in a step of the first loop are those in the same step of the second one."""
        inputs = self._theirs.graph.inputs
        try:
            return FunctionGraph(inputs, rebuild(mine, dict(self._images))) == FunctionGraph(inputs, theirs)
        except ValueError:  # they depend on more than both loops have
            return False
