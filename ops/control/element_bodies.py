"""Bodies of loops over elements: what they may hold, and the order in which they run in place.

    a state that is an array     read and written by integers and slices, handed to inner loops
    a choice                     of branches that do the same: an array that one of them writes is a result of both
    a value of a step            a scalar, a vector or a part of an array, stored before a write changes what it shows
    a short vector               kept in memory of its own, read and written like a state; a state may become its copy
    everything else              scalars, parts of arrays, vectors that are computed where their elements are read

Such a body can run on one array for each array state if every reader of a value comes before the write that changes it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from functools import lru_cache
from typing import Any

from ...graph import Apply, Constant, FunctionGraph, InconsistencyError, Op, Variable
from ...graph.ordering import ordered
from ...record import record
from ..elementwise.records import identity
from ..lowered.assembled import Assembled
from ..lowered.assumed import AssumeEqual, bare
from ..lowered.fused import Fused, unmarked
from ..lowered.pipeline import Pipeline
from ..shapes.advanced_indexing import AdvancedIncSubtensor, AdvancedSubtensor
from ..shapes.creation import Alloc, Arange
from ..shapes.indexing import IncSubtensor, Subtensor
from ..shapes.lengths import ShapeI
from ..shapes.shape import DimShuffle
from ..shapes.specify import CheckLengths, SpecifyShape
from .cond import Cond
from .element_kinds import is_gather, is_group_of_vectors, is_of_vectors, is_one_write, is_part, is_scatter, moves
from .scan_ops import Scan
from .small_arrays import is_kept, is_small, short_vectors


def nodes_within(graph: FunctionGraph) -> tuple[Apply, ...]:
    """Return the nodes of a body, each followed by those of its inner graphs."""
    found: list[Apply] = []
    for node in graph.order:
        found.append(node)
        op = unmarked(node.op)
        inner = op.branches if isinstance(op, Cond) else (op.graph,) if isinstance(op, Scan) else ()
        for body in inner:
            found += nodes_within(body)
    return tuple(found)


@record
class Places:
    """How a body runs in place: its nodes in order, and what is stored or copied on the way."""

    order: tuple[Apply, ...]
    held: frozenset[Apply]
    """Reads of vectors that are stored when they run: a write that their readers depend on changes them."""
    copied: frozenset[tuple[Apply, int]]
    """Nodes and the numbers of inputs, short vectors, that they write to a copy of."""


@record
class _Numbers:
    """The same by positions in a graph, which equal graphs share."""

    order: tuple[int, ...]
    held: tuple[int, ...]
    copied: tuple[tuple[int, int], ...]

    def of(self, graph: FunctionGraph) -> Places:
        nodes = graph.order
        copied = frozenset((nodes[k], number) for k, number in self.copied)
        return Places(tuple(nodes[k] for k in self.order), frozenset(nodes[k] for k in self.held), copied)


def in_place_order(op: Scan) -> tuple[Apply, ...] | None:
    """Return the nodes of a loop's body in an order that lets its array states be written in place.

    None if the body does more than compute scalars and vectors, read parts and write parts, or if no order keeps every
    value until its last reader.  Whole vectors, the same in each step, are left to kernels of their own, which threads
    share.  Arrays that are values of a step are stored right behind the nodes that `stored_after` names.
    """
    found = places(op)
    return None if found is None else found.order


def places(op: Scan) -> Places | None:
    """Return how the body of a loop runs in place; None if it does not."""
    found = _places_in_order(op)
    return None if found is None else found.of(op.graph)


@lru_cache(maxsize=256)
def _places_in_order(op: Scan) -> _Numbers | None:
    body, count = op.graph, len(op.traced)
    states, outputs = body.inputs[op.states], body.outputs
    if any(t and i.ndim for t, i in zip(op.traced, states, strict=True)):
        return None
    if any(_is_the_same(o, op) for o in outputs[op.values]):
        return None
    if op.until and (any(op.traced) or len(outputs) > count + 1):
        return None
    becomes = [(bare(new), state) for state, new in zip(states, outputs, strict=False) if state.ndim]
    renewed = dict(reversed(becomes))
    kept = [*outputs[:count], *(o for o in outputs[count:] if not o.ndim)]
    for copies in (False, True):
        versions = _Versions(body, states, renewed, copies)
        if not all(map(versions.take, body.order)) or versions.has_vectors > versions.has_places:
            return None
        for state, new in zip(states, outputs, strict=False):
            if state.ndim and versions.store_of(new) is not state and not is_kept(new):
                return None
        found = _ordered_in_place(versions, body, kept)
        if found is not None:
            return found
    return None


def _ordered_in_place(versions: _Versions, graph: FunctionGraph, kept: Sequence[Variable]) -> _Numbers | None:
    """Return an order of the nodes that keeps every value until its last reader, and what is held for it."""
    place = {node: k for k, node in enumerate(graph.order)}
    for reads in (versions.late_reads, versions.changing_reads):
        held = reads()
        found = versions.with_held(held)
        order = found.order(kept)
        if order is not None:
            copied = tuple((place[node], number) for node, number in found.copied)
            return _Numbers(tuple(place[node] for node in order), tuple(place[node] for node in held), copied)
    return None


@record
class Branch:
    """A branch that runs in place."""

    places: Places
    stores: tuple[int | None, ...]
    """For each output the number of the input whose memory it stands in; None for scalars and short vectors."""
    written: frozenset[int]
    """Outputs that are inputs after writes."""
    renewed: frozenset[int]
    """Outputs that stand in the memory of an input which may have other lengths: a state that becomes another array."""
    again: tuple[tuple[int, Apply], ...]
    """Writes to inputs that are no results, behind the numbers of the inputs: a node behind the choice repeats each."""
    has_vectors: bool
    has_places: bool


def in_place_branch(graph: FunctionGraph) -> Branch | None:
    """Return how a branch runs in a loop over elements, on one array for each array that it changes.

    None for a branch with another result than scalars, short vectors and such arrays.
    """
    found = _branch_in_order(graph)
    if found is None:
        return None
    numbers, stores, written, renewed, again, *rest = found
    nodes = tuple((number, graph.order[k]) for number, k in again)
    return Branch(numbers.of(graph), stores, written, renewed, nodes, *rest)


@lru_cache(maxsize=256)
def _branch_in_order(graph: FunctionGraph) -> Any:
    """Return the fields of a branch by positions in the graph, which equal branches share."""
    outputs = graph.outputs
    for copies in (False, True):
        versions = _Versions(graph, graph.inputs, {bare(o): None for o in outputs if o.ndim}, copies)
        if not all(map(versions.take, graph.order)):
            return None
        stores = [versions.store_of(o) if o.ndim else None for o in outputs]
        numbers = tuple(graph.inputs.index(s) if s in graph.inputs else None for s in stores)
        if any(o.ndim and n is None and not is_kept(o) for o, n in zip(outputs, numbers, strict=True)):
            return None
        again = versions.written_again(stores)
        if again is None:
            continue
        found = _ordered_in_place(versions, graph, outputs)
        if found is not None:
            written = frozenset(k for k, n in enumerate(numbers) if n is not None and bare(outputs[k]) is not stores[k])
            renewed = frozenset(k for k, o in enumerate(outputs) if bare(o) in versions.renewals)
            return found, numbers, written, renewed, again, versions.has_vectors, versions.has_places
    return None


def joined_in(op: Cond, node: Apply, output: int) -> int | None:
    """Return the number of the input whose memory a choice of arrays stands in; None for memory of its own.

    A branch that has another array copies it there.
    """
    one, other = (found.stores[output] for found in map(in_place_branch, op.branches) if found is not None)
    if one == other or is_kept(node.outputs[output]):
        return one if one == other else None
    return other if is_kept(op.then.outputs[output]) else one


def stored_after(op: Scan) -> dict[Apply | None, list[int]]:
    """Return the outputs of a body that are arrays of a step, by the node behind which each is stored; None: the start.

    What such an array shows is there until the node has run, since the node reads it.
    """
    found: dict[Apply | None, list[int]] = {}
    for k, v in enumerate(op.graph.outputs[op.values], len(op.traced)):
        if v.ndim:
            found.setdefault(bare(v).owner, []).append(k)
    return found


def _is_the_same(v: Variable, op: Scan) -> bool:
    """Whether a value of a step is an array from outside of the loop."""
    return bool(v.ndim) and (isinstance(v := bare(v), Constant) or v in op.graph.inputs[op.states.stop :])


def counts_by_one(node: Apply) -> bool:
    """Whether a range counts integers upwards, one by one."""
    step = node.inputs[2]
    return node.out.dtype == "int64" and isinstance(step, Constant) and bool(step.data == 1)


class _Versions:
    """The arrays of a body: the state that each is a later version of, who reads it and which node changes it."""

    def __init__(
        self, graph: FunctionGraph, states: tuple[Variable, ...], renewed: Mapping[Variable, Variable | None],
        copies: bool = False, held: Sequence[Apply] = (),
    ) -> None:  # fmt: skip
        """`renewed`: the next values of states that may be other vectors, with the states; None: any.

        `copies`: whether short vectors are copied before each write.  `held`: reads of vectors that are stored, so that
        later writes change nothing.
        """
        self._graph, self._states, self._held = graph, states, frozenset(held)
        self._renewed, self._copies = _renewed_on_the_way(graph, renewed), copies
        self._short = short_vectors(graph, states)
        self.copied: list[tuple[Apply, int]] = []
        """Nodes and the numbers of inputs that they write to a copy of."""
        self.renewals: set[Variable] = set()
        """Choices between a state and another vector, which one branch copies to the memory of the state."""
        self._stores = {s: s for s in states if s.ndim}
        """The state of each version."""
        self._same: dict[Variable, Variable] = {}
        """The version that a view with assumed lengths shows."""
        self._sources: dict[Variable, tuple[Variable, ...]] = {}
        """The versions that a part shows, or that a vector is computed from."""
        self._computed: set[Variable] = set()
        """Vectors that are not parts of arrays."""
        self.has_vectors: bool = False
        """Whether there are loops over the elements of vectors."""
        self.has_places: bool = False
        """Whether a step reads or writes parts of its own."""
        self._early: dict[Apply, list[tuple[Variable, Apply]]] = {}
        """Choices in which a branch writes an element of an array that a later node writes."""
        self._readers: dict[Variable, list[Apply]] = {}
        self._writers: dict[Variable, Apply] = {}

    def store_of(self, v: Variable) -> Variable | None:
        return self._stores.get(self._same.get(v, v))

    def written_again(self, stores: Sequence[Variable | None]) -> tuple[tuple[int, int], ...] | None:
        """Return the writes of elements to inputs that are not among the stores of results, by positions.

        None if something else changes such an input.
        """
        place = {node: k for k, node in enumerate(self._graph.order)}
        found = []
        for old, node in self._writers.items():
            store = self.store_of(old)
            if store in stores or store not in self._states:
                continue
            op = unmarked(node.op)
            if not isinstance(op, IncSubtensor) or op.spec != ("i",) * node.out.ndim:
                return None
            found.append((self._graph.inputs.index(store), place[node]))
        return tuple(found)

    def _shown(self, v: Variable) -> tuple[Variable, ...]:
        v = self._same.get(v, v)
        return self._sources.get(v, (v,))

    def take(self, node: Apply) -> bool:
        """Note what a node reads and writes; return whether a loop over elements can have it."""
        op = unmarked(node.op)
        vectors = [i for i in node.inputs if i.ndim]
        if isinstance(op, AssumeEqual):
            self._same.update((o, self._same.get(i, i)) for o, i in zip(node.outputs, node.inputs, strict=False))
            return self._computed.isdisjoint(vectors)
        if isinstance(op, (CheckLengths, SpecifyShape)):
            self._checked(node.inputs[0], node.out)
            return True
        for version in dict.fromkeys(version for i in vectors for version in self._shown(i)):
            self._readers.setdefault(version, []).append(node)
        if is_small(node):
            self._stores.update((o, o) for o in node.outputs if o.ndim)
            return True
        if isinstance(op, _OF_ARRAYS) or (op is identity and vectors):
            return self._of_arrays(op, node, vectors)
        if isinstance(op, ShapeI):
            return True
        if isinstance(op, Arange):
            return counts_by_one(node)
        return self._is_computed(op, node) and self._vector(node, vectors)

    def _of_arrays(self, op: Op, node: Apply, vectors: Sequence[Variable]) -> bool:
        """Note a loop, a choice, or a read or a write of a part; of computed vectors single elements alone."""
        if not self._computed.isdisjoint(vectors[:1] if isinstance(op, _OF_VECTORS) else vectors):
            if isinstance(op, Subtensor):
                return op.spec == ("i",)
            if not isinstance(op, IncSubtensor):
                return op is identity and self._part(op, node)
            return is_one_write(node) and self._vector(node, vectors)
        match op:
            case Scan(): return in_place_order(op) is not None and self._loop(op, node)
            case Cond(): return self._choice(op, node)
            case IncSubtensor(): return self._written(op, node)
            case AdvancedIncSubtensor(): return is_scatter(node) and self._scattered(node)
            case AdvancedSubtensor(): return is_gather(node) and self._vector(node, vectors)
        return self._part(op, node)

    def _is_computed(self, op: Op, node: Apply) -> bool:
        """Whether a node computes scalars or vectors."""
        if isinstance(op, (Fused, Pipeline)):
            return self._gathers(op, node)
        if isinstance(op, Assembled):
            return all(
                is_of_vectors(inner) or (is_one_write(inner) and inner.inputs[0] not in op.graph.inputs)
                for inner in op.graph.order
            )
        return is_of_vectors(node)

    def _checked(self, x: Variable, result: Variable) -> None:
        """Note an array whose lengths are checked."""
        if x in self._computed:
            self._computed.add(result)
            self._sources[result] = self._sources[x]
        else:
            self._same[result] = self._same.get(x, x)

    def _part(self, op: Op, node: Apply) -> bool:
        """Note a read of a part, or a copy of an array, which is one where it is stored."""
        self.has_places = self.has_places or moves(node.inputs[1:])
        if node.out.ndim:
            self._sources[node.out] = () if node in self._held else self._shown(node.inputs[0])
        if isinstance(op, Subtensor):
            return is_part(op.spec, node.inputs[1:])
        return self._computed.isdisjoint(node.inputs)

    def _vector(self, node: Apply, operands: Sequence[Variable]) -> bool:
        """Note a node that computes elements of vectors, if it has any."""
        self.has_vectors = self.has_vectors or (bool(operands) and self._short.isdisjoint(operands))
        sources = tuple(dict.fromkeys(version for i in operands for version in self._shown(i)))
        for o in node.outputs:
            if is_kept(o):
                self._stores[o] = o
            elif o.ndim:
                self._sources[o] = sources
                self._computed.add(o)
        is_made = isinstance(node.op, (Alloc, Assembled, DimShuffle))
        return bool(operands) or is_made or not any(o.ndim for o in node.outputs)

    def _written(self, op: IncSubtensor, node: Apply) -> bool:
        x, _, *indices = node.inputs
        rank = x.ndim - sum(entry == "i" for entry in op.spec)
        self.has_vectors = self.has_vectors or (rank > 0 and x not in self._short and node.inputs[1] not in self._short)
        self.has_places = self.has_places or moves(indices)
        return is_part(op.spec, indices) and rank <= 1 and self._write(x, node.out, node, 0)

    def _scattered(self, node: Apply) -> bool:
        """Note a write at a vector of positions, of a value that does not depend on what is written."""
        x, *others = node.inputs
        self.has_vectors = True
        whole = self._same.get(x, x)
        return not any(whole in self._shown(i) for i in others if i.ndim) and self._write(x, node.out, node, 0)

    def _gathers(self, op: Fused | Pipeline, node: Apply) -> bool:
        """Return whether all nodes inside compute vectors, some of elements of arrays."""
        given = dict(zip(op.graph.inputs, node.inputs, strict=True))
        return all(
            given.get(stage.inputs[0], stage.out) not in self._computed | {stage.out} if is_gather(stage)
            else is_group_of_vectors(stage) or is_of_vectors(stage)
            for stage in op.graph.order
        )  # fmt: skip

    def _loop(self, op: Scan, node: Apply) -> bool:
        """Note the arrays that an inner loop writes; its results are their next versions."""
        _, _, firsts, _ = op.parts(node)
        if any(op.traced) or len(node.outputs) > len(firsts):
            return False
        pairs = enumerate(zip(firsts, node.outputs, strict=True), 1 + op.states.start)
        return all(self._write(first, new, node, k) for k, (first, new) in pairs if first.ndim)

    def _choice(self, op: Cond, node: Apply) -> bool:
        """Note the arrays that the branches of a choice write; its results are their next versions."""
        branches = [found for found in map(in_place_branch, op.branches) if found is not None]
        if len(branches) < len(op.branches):
            return False
        self.has_vectors = self.has_vectors or any(b.has_vectors for b in branches)
        self.has_places = self.has_places or any(b.has_places for b in branches)
        return all(self._joined(op, node, k, branches) for k, new in enumerate(node.outputs) if new.ndim) and all(
            self._is_written_again(node, graph, number, write)
            for graph, branch in zip(op.branches, branches, strict=True) for number, write in branch.again
        )

    def _is_written_again(self, choice: Apply, graph: FunctionGraph, number: int, write: Apply) -> bool:
        """Note that a branch writes an element which is set behind the choice; return whether it is.

        What the branch has written there does not matter then, if nothing else reads the array in between.
        """
        array = choice.inputs[1 + number]
        if self.store_of(array) is None:
            return False
        outside = dict(zip(graph.inputs, choice.inputs[1:], strict=True))

        def is_same(v: Variable, own: Variable) -> bool:
            """Whether an index behind the choice is that of the branch."""
            v = graph.outputs[v.index] if v.owner is choice else v
            equal = isinstance(v, Constant) and isinstance(own, Constant) and v.key == own.key
            return v is own or outside.get(own) is v or equal

        behind = self._writes_behind(array)
        for node in behind:
            if all(map(is_same, node.inputs[2:], write.inputs[2:])):
                self._early.setdefault(choice, []).append((array, behind[0]))
                return True
        return False

    def _writes_behind(self, array: Variable) -> list[Apply]:
        """Return the nodes that set elements of an array, one after the other, each of which alone reads the last."""
        found: list[Apply] = []
        while True:
            readers = [n for n in self._graph.order if any(self._same.get(i, i) is array for i in n.inputs)]
            if found and (len(readers) > 1 or array in self._graph.outputs):
                return found
            writes = [n for n in readers if isinstance(op := unmarked(n.op), IncSubtensor) and n.inputs[0] is array
                      and op.set and op.spec == ("i",) * n.out.ndim]  # fmt: skip
            if len(writes) != 1:
                return found
            found.append(writes[0])
            array = writes[0].out

    def _joined(self, op: Cond, node: Apply, output: int, branches: Sequence[Branch]) -> bool:
        """Note a choice of arrays: where one branch writes it, the other one has it, or a copy in memory of its own."""
        new, place = node.outputs[output], joined_in(op, node, output)
        written = [branch for branch in branches if output in branch.written]
        if place is None:
            self._stores[new] = new
            return not written and is_kept(new)
        renewed = any(output in branch.renewed for branch in branches)
        if renewed or any(branch.stores[output] != place for branch in branches):
            if any(branch.stores[output] != place for branch in written):
                return False
            state = self._renewed.get(new, new)
            if state is new or state not in (None, self.store_of(node.inputs[1 + place])):
                return False
            self.renewals.add(new)
        return self._write(node.inputs[1 + place], new, node)

    def _write(self, old: Variable, new: Variable, node: Apply, number: int | None = None) -> bool:
        """Note a write; `number`: the input that is written, of which a copy may be."""
        state, old = self.store_of(old), self._same.get(old, old)
        if number is not None and is_kept(old) and is_kept(new) and (state is None or self._copies):
            self.copied.append((node, number))
            self._stores[new] = new
            return True
        if state is None or old in self._writers:
            return False
        if isinstance(unmarked(node.op), (Scan, Cond)) and sum(old in self._shown(i) for i in node.inputs) > 1:
            return False  # it reads the value that it changes
        self._writers[old] = node
        self._stores[new] = state
        return True

    def with_held(self, held: Sequence[Apply]) -> _Versions:
        """Return the same with these reads of vectors held."""
        found = _Versions(self._graph, self._states, self._renewed, self._copies, held)
        for node in self._graph.order:
            found.take(node)
        return found

    def late_reads(self) -> list[Apply]:
        """Return the reads of vectors whose readers depend on the write that changes what they show."""
        bits = {writer: 1 << k for k, writer in enumerate(self._writers.values())}
        above: dict[Apply, int] = {}
        for node in self._graph.order:
            above[node] = 0
            for owner in {i.owner for i in node.inputs if i.owner is not None}:
                above[node] |= above[owner] | bits.get(owner, 0)
        return self._reads_of({
            old for old, writer in self._writers.items()
            if any(above[reader] & bits[writer] for reader in self._readers.get(old, ()))
        })  # fmt: skip

    def changing_reads(self) -> list[Apply]:
        """Return the reads of vectors of arrays that a write changes."""
        return self._reads_of(self._writers.keys())

    def _reads_of(self, some: Set[Variable]) -> list[Apply]:
        """Return the reads of vectors of these arrays, without those of a vector that is held itself."""
        found: list[Apply] = []
        stored: set[Variable] = set()
        for node in self._graph.order:
            op = unmarked(node.op)
            if not isinstance(op, Subtensor) and op is not identity:
                continue
            if bare(node.inputs[0]) in stored:
                stored.add(node.out)
            elif op is not identity and node.out.ndim == 1 and not some.isdisjoint(self._shown(node.inputs[0])):
                stored.add(node.out)
                found.append(node)
        return found

    def order(self, outputs: Sequence[Variable]) -> tuple[Apply, ...] | None:
        """Return the order of the nodes; None if a value would be changed too early."""
        kept = {version for o in outputs for version in self._shown(o)}
        if not kept.isdisjoint(self._writers):
            return None
        before: dict[Apply, list[Apply]] = {}
        for old, writer in self._writers.items():
            before.setdefault(writer, []).extend(r for r in self._readers.get(old, ()) if r is not writer)
        for choice, writes in self._early.items():
            for array, writer in writes:
                others = (r for r in self._readers.get(array, ()) if r not in (choice, writer))
                before.setdefault(choice, []).extend(others)
        try:
            return tuple(ordered(self._graph.order, before))
        except InconsistencyError:
            return None


def _renewed_on_the_way(
    graph: FunctionGraph, renewed: Mapping[Variable, Variable | None]
) -> Mapping[Variable, Variable | None]:
    """Return also the choices that such values are chosen from: they stand in the memory of the same state."""
    found = dict(renewed)
    for node in reversed(graph.order):
        op = unmarked(node.op)
        for k, new in enumerate(node.outputs):
            if isinstance(op, Cond) and new in found and None not in map(in_place_branch, op.branches):
                place = joined_in(op, node, k)
                if place is not None:
                    found.setdefault(bare(node.inputs[1 + place]), found[new])
    return found


_OF_VECTORS = (IncSubtensor, AdvancedIncSubtensor, AdvancedSubtensor)
_OF_ARRAYS = (Scan, Cond, Subtensor, *_OF_VECTORS)
"""Ops of arrays; those of vectors take computed vectors behind the array."""
