"""Bodies of loops over elements: what they may hold, and the order in which they run in place.

    a state that is an array     read and written by integers and slices, handed to inner loops
    a choice                     of branches that do the same: an array that one of them writes is a result of both
    a value of a step            a scalar, a vector or a part of an array, stored before a write changes what it shows
    everything else              scalars, parts of arrays, vectors that are computed where their elements are read

Such a body can run on one array for each array state if every reader of a value comes before the write that changes it.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import replace
from functools import lru_cache
from typing import Any, NamedTuple

from ...graph import Apply, Constant, FunctionGraph, InconsistencyError, Op, Variable, rebuild
from ...graph.ordering import ordered
from ..core.tensor import TensorVariable
from ..elementwise.records import Pointwise, identity
from ..linalg.blas import Dot
from ..lowered.assumed import AssumeEqual, bare
from ..lowered.fused import Fused, unmarked
from ..lowered.pipeline import Pipeline
from ..reductions.reduce import Reduce
from ..reductions.unbroadcasting import SumTo
from ..shapes.advanced_indexing import AdvancedIncSubtensor, AdvancedSubtensor
from ..shapes.creation import Arange
from ..shapes.indexing import IncSubtensor, Subtensor, entries
from ..shapes.lengths import ShapeI
from ..shapes.shape import DimShuffle
from .cond import Cond
from .scan_ops import Scan


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


def in_place_order(op: Scan) -> tuple[Apply, ...] | None:
    """Return the nodes of a loop's body in an order that lets its array states be written in place.

    None if the body does more than compute scalars and vectors, read parts and write parts, or if no order keeps every
    value until its last reader.  Whole vectors, the same in each step, are left to kernels of their own, which threads
    share.  Arrays that are values of a step are stored right behind the nodes that `stored_after` names.
    """
    found = _places_in_order(op)
    return None if found is None else tuple(op.graph.order[k] for k in found[0])


def held_parts(op: Scan) -> frozenset[Apply]:
    """Return the reads of vectors that are stored when they run: a write that their readers depend on changes them."""
    found = _places_in_order(op)
    return frozenset() if found is None else frozenset(op.graph.order[k] for k in found[1])


@lru_cache(maxsize=256)
def _places_in_order(op: Scan) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
    """Return order and held parts as positions in the graph, which equal loops share."""
    body, count = op.graph, len(op.traced)
    if any(t and i.ndim for t, i in zip(op.traced, body.inputs[op.states], strict=True)):
        return None
    if any(_is_the_same(o, op) for o in body.outputs[op.values]):
        return None
    if op.until and (any(op.traced) or len(body.outputs) > count + 1):
        return None
    versions = _Versions(body, body.inputs[op.states])
    if not all(map(versions.take, body.order)) or versions.has_vectors > versions.has_places:
        return None
    for state, new in zip(body.inputs[op.states], body.outputs, strict=False):
        if versions.store_of(new) is not state if state.ndim else False:
            return None
    return _ordered_in_place(versions, body, [*body.outputs[:count], *(o for o in body.outputs[count:] if not o.ndim)])


def _ordered_in_place(
    versions: _Versions, graph: FunctionGraph, kept: Sequence[Variable]
) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
    """Return the positions of nodes in an order that keeps every value until its last reader, and of held parts."""
    place = {node: k for k, node in enumerate(graph.order)}
    for reads in (versions.late_reads, versions.changing_reads):
        held = reads()
        found = versions.with_held(held).order(kept)
        if found is not None:
            return tuple(place[node] for node in found), tuple(place[node] for node in held)
    return None


class Branch(NamedTuple):
    """A branch that runs in place: its nodes in order, the held parts among them, and the input of each result."""

    order: tuple[Apply, ...]
    held: frozenset[Apply]
    stores: tuple[int | None, ...]
    """For each output that is an array the number of the input that becomes it; None for scalars."""
    has_vectors: bool
    has_places: bool


def in_place_branch(graph: FunctionGraph) -> Branch | None:
    """Return how a branch runs in a loop over elements, on one array for each array that it changes.

    None for a branch with another result than scalars and such arrays.
    """
    found = _branch_in_order(graph)
    if found is None:
        return None
    order, held, *rest = found
    nodes = graph.order
    return Branch(tuple(nodes[k] for k in order), frozenset(nodes[k] for k in held), *rest)


@lru_cache(maxsize=256)
def _branch_in_order(graph: FunctionGraph) -> tuple[tuple[int, ...], tuple[int, ...], Any, bool, bool] | None:
    """Return order and held parts as positions in the graph, which equal branches share."""
    versions = _Versions(graph, graph.inputs)
    if not all(map(versions.take, graph.order)):
        return None
    stores = [versions.store_of(o) if o.ndim else None for o in graph.outputs]
    if any(o.ndim and s is None for o, s in zip(graph.outputs, stores, strict=True)):
        return None
    numbers = tuple(None if s is None else graph.inputs.index(s) for s in stores)
    found = _ordered_in_place(versions, graph, graph.outputs)
    return None if found is None else (*found, numbers, versions.has_vectors, versions.has_places)


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

    def __init__(self, graph: FunctionGraph, states: tuple[Variable, ...], held: Sequence[Apply] = ()) -> None:
        """`held`: reads of vectors that are stored, so that later writes change nothing."""
        self._graph, self._states, self._held = graph, states, frozenset(held)
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
        self._readers: dict[Variable, list[Apply]] = {}
        self._writers: dict[Variable, Apply] = {}

    def store_of(self, v: Variable) -> Variable | None:
        return self._stores.get(self._same.get(v, v))

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
        for version in dict.fromkeys(version for i in vectors for version in self._shown(i)):
            self._readers.setdefault(version, []).append(node)
        if isinstance(op, _OF_ARRAYS) and not self._computed.isdisjoint(
            vectors[:1] if isinstance(op, _OF_VECTORS) else vectors
        ):
            return False
        if isinstance(op, Scan):
            return in_place_order(op) is not None and self._loop(op, node)
        if isinstance(op, Cond):
            return self._choice(op, node)
        if isinstance(op, Subtensor) or (op is identity and vectors):
            return self._part(op, node)
        if isinstance(op, IncSubtensor):
            return self._written(op, node)
        if isinstance(op, AdvancedIncSubtensor):
            return is_scatter(node) and self._scattered(node)
        if isinstance(op, ShapeI):
            return True
        if isinstance(op, Arange):
            return counts_by_one(node)
        return self._is_computed(op, node) and self._vector(node, vectors)

    def _is_computed(self, op: Op, node: Apply) -> bool:
        """Whether a node computes scalars or vectors."""
        if isinstance(op, AdvancedSubtensor):
            return is_gather(node)
        if isinstance(op, Pipeline):
            return self._gathers(op, node)
        return _is_group_of_vectors(node) or _is_of_vectors(node)

    def _part(self, op: Op, node: Apply) -> bool:
        """Note a read of a part, or a copy of an array, which is one where it is stored."""
        self.has_places = self.has_places or _moves(node.inputs[1:])
        if node.out.ndim:
            self._sources[node.out] = () if node in self._held else self._shown(node.inputs[0])
        if isinstance(op, Subtensor):
            return _is_part(op.spec, node.inputs[1:])
        return self._computed.isdisjoint(node.inputs)

    def _vector(self, node: Apply, operands: Sequence[Variable]) -> bool:
        """Note a node that computes elements of vectors, if it has any."""
        self.has_vectors = self.has_vectors or bool(operands)
        sources = tuple(dict.fromkeys(version for i in operands for version in self._shown(i)))
        for o in node.outputs:
            if o.ndim:
                self._sources[o] = sources
                self._computed.add(o)
        return bool(operands) or isinstance(node.op, DimShuffle) or not any(o.ndim for o in node.outputs)

    def _written(self, op: IncSubtensor, node: Apply) -> bool:
        x, _, *indices = node.inputs
        rank = x.ndim - sum(entry == "i" for entry in op.spec)
        self.has_vectors = self.has_vectors or rank > 0
        self.has_places = self.has_places or _moves(indices)
        return _is_part(op.spec, indices) and rank <= 1 and self._write(x, node.out, node)

    def _scattered(self, node: Apply) -> bool:
        """Note a write at a vector of positions, of a value that does not depend on what is written."""
        x, *others = node.inputs
        self.has_vectors = True
        whole = self._same.get(x, x)
        return not any(whole in self._shown(i) for i in others if i.ndim) and self._write(x, node.out, node)

    def _gathers(self, op: Pipeline, node: Apply) -> bool:
        """Return whether all stages compute vectors, some of elements of arrays."""
        given = dict(zip(op.graph.inputs, node.inputs, strict=True))
        return all(
            given.get(stage.inputs[0], stage.out) not in self._computed | {stage.out} if is_gather(stage)
            else _is_group_of_vectors(stage) or _is_of_vectors(stage)
            for stage in op.graph.order
        )  # fmt: skip

    def _loop(self, op: Scan, node: Apply) -> bool:
        """Note the arrays that an inner loop writes; its results are their next versions."""
        _, _, firsts, _ = op.parts(node)
        if any(op.traced) or len(node.outputs) > len(firsts):
            return False
        arrays = [(first, new) for first, new in zip(firsts, node.outputs, strict=True) if first.ndim]
        return all(self._write(first, new, node) for first, new in arrays)

    def _choice(self, op: Cond, node: Apply) -> bool:
        """Note the arrays that the branches of a choice write; its results are their next versions."""
        branches = [in_place_branch(graph) for graph in op.branches]
        if None in branches or branches[0].stores != branches[1].stores:  # type: ignore[union-attr]
            return False
        self.has_vectors = self.has_vectors or any(b.has_vectors for b in branches if b is not None)
        self.has_places = self.has_places or any(b.has_places for b in branches if b is not None)
        pairs = zip(branches[0].stores, node.outputs, strict=True)  # type: ignore[union-attr]
        return all(self._write(node.inputs[1 + k], new, node) for k, new in pairs if k is not None)

    def _write(self, old: Variable, new: Variable, node: Apply) -> bool:
        state, old = self.store_of(old), self._same.get(old, old)
        if state is None or old in self._writers:
            return False
        if isinstance(unmarked(node.op), (Scan, Cond)) and sum(old in self._shown(i) for i in node.inputs) > 1:
            return False  # it reads the value that it changes
        self._writers[old] = node
        self._stores[new] = state
        return True

    def with_held(self, held: Sequence[Apply]) -> _Versions:
        """Return the same with these reads of vectors held."""
        found = _Versions(self._graph, self._states, held)
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
        try:
            return tuple(ordered(self._graph.order, before))
        except InconsistencyError:
            return None


def is_gather(node: Apply) -> bool:
    """Whether elements of an array are read at a vector of positions along one axis, and at one along the others."""
    op = unmarked(node.op)
    x, *indices = node.inputs
    vectors = [i for i in indices if i.ndim]
    return (
        isinstance(op, AdvancedSubtensor)
        and sorted(op.spec) == ["a", *["i"] * (x.ndim - 1)]
        and len(vectors) == node.out.ndim == 1
        and vectors[0].type.kind in "iu"
    )


def is_scatter(node: Apply) -> bool:
    """Whether a vector, or a number, is written to an array at a vector of positions along one axis."""
    op = unmarked(node.op)
    x, y, *indices = node.inputs
    vectors = [i for i in indices if i.ndim]
    return (
        isinstance(op, AdvancedIncSubtensor)
        and sorted(op.spec) == ["a", *["i"] * (x.ndim - 1)]
        and len(vectors) == vectors[0].ndim == 1
        and vectors[0].type.kind in "iu"
        and y.ndim <= 1
    )


def _moves(indices: Sequence[Variable]) -> bool:
    """Whether a part may be another one in each step."""
    return not all(isinstance(i, Constant) for i in indices)


def _is_part(spec: tuple[str, ...], indices: Sequence[Variable]) -> bool:
    """Whether an index has integers, and slices that go on by one position."""
    places = entries(spec, indices)
    steps = [place.step for place in places if isinstance(place, slice) and place.step is not None]
    return "a" not in spec and all(isinstance(step, Constant) and step.data in (1, -1) for step in steps)


def _is_group_of_vectors(node: Apply) -> bool:
    """Whether a node is a group of nodes that compute scalars or vectors."""
    op = unmarked(node.op)
    return isinstance(op, Fused) and all(map(_is_of_vectors, op.graph.order))


def _is_of_vectors(node: Apply) -> bool:
    """Whether a node computes scalars, or vectors element by element, or folds a vector to a scalar."""
    op = unmarked(node.op)
    ranks = {i.ndim for i in node.inputs}
    if isinstance(op, DimShuffle):
        return ranks == {0} and node.out.ndim <= 1
    if isinstance(op, Dot):
        return ranks == {1} and node.out.dtype in _ADDED
    if isinstance(op, SumTo):
        return ranks == {1} and node.out.dtype in _ADDED
    if isinstance(op, Reduce):
        return ranks == {1} and op.axis == (0,) and op.name in _FOLDS and node.out.dtype in _ADDED
    return isinstance(op, Pointwise) and node.out.ndim <= 1


_OF_VECTORS = (IncSubtensor, AdvancedIncSubtensor, AdvancedSubtensor)
_OF_ARRAYS = (Scan, Cond, Subtensor, *_OF_VECTORS)
"""Ops of arrays; those of vectors take computed vectors behind the array."""
_FOLDS = ("sum", "prod", "max", "min")
_ADDED = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64")
"""dtypes whose vectors are folded in a loop over elements."""


# --- numbers of a body as values from outside


def with_numbers_outside(graph: FunctionGraph) -> FunctionGraph:
    """Return the graph with arrays and floats of such loops' bodies as inputs of the loops.

    C is then the same for all of these numbers.
    """
    loops = {op for op in graph.ops if isinstance(unmarked(op), Scan) and in_place_order(unmarked(op)) is not None}
    if not loops:
        return graph

    def visit(node: Apply) -> Sequence[Variable]:
        return _opened(node)[0].outputs if node.op in loops else node.outputs

    return graph.rebuilt(visit)


def _opened(node: Apply) -> tuple[Apply, list[Constant]]:
    """Return a loop or a choice with the arrays and floats of its bodies as further operands."""
    op = unmarked(node.op)
    found: dict[Constant, Variable] = {}
    if isinstance(op, Scan):
        body = _body_opened(op.graph, found)
        new: Op = replace(op, graph=FunctionGraph([*op.graph.inputs, *found.values()], body))
    else:
        outputs = [_body_opened(graph, found) for graph in op.branches]
        new = Cond(*(
            _over_own_leaves(FunctionGraph([*graph.inputs, *found.values()], o))
            for graph, o in zip(op.branches, outputs, strict=True)
        ))  # fmt: skip
    if node.op is not op:
        new = replace(node.op, op=new)  # type: ignore[type-var]
    opened = Apply(new, (*node.inputs, *found), node.origin)
    for mine, old in zip(opened.outputs, node.outputs, strict=True):
        mine.name = old.name
    return opened, list(found)


def _over_own_leaves(graph: FunctionGraph) -> FunctionGraph:
    """Return an equal graph that shares no leaf with another one."""
    leaves = [TensorVariable(i.type, name=i.name) for i in graph.inputs]
    return FunctionGraph(leaves, rebuild(graph.outputs, dict(zip(graph.inputs, leaves, strict=True))))


def _body_opened(graph: FunctionGraph, found: dict[Constant, Variable]) -> list[Variable]:
    """Return the outputs of a body over leaves for its arrays and floats, which `found` learns."""
    known: dict[Variable, Variable] = {}

    def leaf(v: Variable) -> Variable:
        if isinstance(v, Constant) and (v.ndim or v.type.kind in "fc") and v not in known:
            known[v] = found.setdefault(v, TensorVariable(v.type))
        return known.get(v, v)

    for node in graph.order:
        new = node
        if isinstance(unmarked(node.op), (Scan, Cond)):
            new, _ = _opened(node)
        for i in new.inputs:
            leaf(i)
        new = new.over(known)
        if new is not node:
            known.update(zip(node.outputs, new.outputs, strict=True))
            for mine, old in zip(new.outputs, node.outputs, strict=True):
                mine.name = old.name
    return [leaf(o) for o in graph.outputs]
