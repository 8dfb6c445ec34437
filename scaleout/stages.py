"""A graph as stages: each computes whole values, then values of each block, then their combination.

    stage 0   head     whole values, computed from whole inputs
              block    values of one block, from its slices and whole values; some of them partial
              combine  partial values of all blocks combined to whole values
    stage 1   ...
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..graph import Apply, Constant, FunctionGraph, TensorType, Variable
from ..ops.core.tensor import TensorVariable, constant
from ..ops.elementwise.records import Elementwise, cast, maximum, sub
from ..ops.shapes.indexing import IncSubtensor, Subtensor
from ..ops.shapes.lengths import ShapeI
from ..ops.shapes.specify import SpecifyShape
from ..record import record
from .facts import Facts
from .parts import Aligned, Part, WrittenPart
from .splits import Propagation, propagated
from .states import Collect, Local, Mark, Partial, Placed, Rows, Split


@record
class Function:
    """A graph, with the variable of the whole graph that each input and output stands for.

    Further inputs are `Bound`s of a block, and `Length`s.
    """

    graph: FunctionGraph
    inputs: tuple[Any, ...]
    outputs: tuple[Variable, ...]


@record
class Stage:
    """One stage.  `combined`: partial outputs of the block, each with its combining op; None: equal in all blocks."""

    head: Function | None
    block: Function | None
    combined: tuple[tuple[Variable, Elementwise | Collect | None], ...]


@record
class Length:
    """A length that the caller knows: of an argument along an axis, or (None) of these rows of the chunked axis."""

    of: Variable | None
    axis: int
    rows: Rows | None = None


@record
class Bound:
    """A number of a block that the caller knows.

    START, STOP     its range among the rows; RANK and NEXT: its number among the blocks in their order, and the next
    LOW, HIGH, STEP the slice of its rows `of` that are among the rows
    """

    kind: str
    rows: Rows | None = None
    of: Rows | None = None


@record
class Staged:
    """Stages in order.  `splits`: states of the split inputs and outputs.

    `lengths`: outputs that the caller knows.  `remarks`: on nodes whose operands are gathered.
    """

    stages: tuple[Stage, ...]
    splits: Mapping[Variable, Split]
    outputs: tuple[Variable, ...]
    lengths: Mapping[Variable, Length]
    remarks: tuple[str, ...] = ()


START, STOP, RANK, NEXT, LOW, HIGH, STEP = "start", "stop", "rank", "next", "low", "high", "step"


def staged(
    graph: FunctionGraph, splits: Mapping[Variable, Split], gather: bool = False, facts: Facts | None = None
) -> Staged:
    """Return the stages of a graph whose inputs have these splits.

    `gather`: operands of nodes that cannot run on blocks are gathered; otherwise such a node raises Unsplittable.
    `facts`: of the call; the stages serve all calls that agree with its answers.
    """
    graph, found, remarks = propagated(graph, splits, gather, facts)
    stages = [_stage(graph, found, nodes) for nodes in _levels(graph, found)]
    given = {*splits, *graph.outputs}
    shown = {v: s for v, s in found.states.items() if isinstance(s, Split) and (v in given or is_aligned(v))}
    lengths = {v: _known_length(v, found.placed) for v in graph.outputs}
    known = {v: length for v, length in lengths.items() if length is not None}
    return Staged(tuple(stages), shown, tuple(graph.outputs), known, remarks)


def is_aligned(v: Variable) -> bool:
    """Whether a split value has rows that blocks got from others."""
    return v.owner is not None and isinstance(v.owner.op, Aligned)


def _levels(graph: FunctionGraph, found: Propagation) -> list[list[Apply]]:
    """Return the nodes of each stage, without known lengths.  Readers of a combination belong to the next stage."""
    ready: dict[Variable, int] = {}
    levels: list[list[Apply]] = [[]]
    for node in graph.order:
        if node in found.placed and found.placed[node].known:
            continue
        level = max((ready.get(i, 0) for i in node.inputs), default=0)
        later = isinstance(node.op, Aligned)
        ready.update({o: level + (later or isinstance(found.states.get(o), Partial)) for o in node.outputs})
        levels += [[] for _ in range(level + 1 - len(levels))]
        levels[level].append(node)
    return levels


def _stage(graph: FunctionGraph, found: Propagation, nodes: list[Apply]) -> Stage:
    heads = [n for n in nodes if n not in found.placed]
    blocks = [n for n in nodes if n in found.placed]
    states = [(o, found.states.get(o)) for n in blocks for o in n.outputs]
    return Stage(
        _Cut(found, heads).function(graph) if heads else None,
        _Cut(found, blocks).function(graph) if blocks else None,
        tuple((o, s.op) for o, s in states if isinstance(s, Partial)),
    )


class _Cut:
    """Builder of a function: some nodes of a graph, with inputs for the values that they read from other nodes."""

    def __init__(self, found: Propagation, nodes: list[Apply]) -> None:
        self.found, self.nodes = found, nodes
        self.images: dict[Variable, Variable] = {}
        self.leaves: dict[Any, TensorVariable] = {}
        self.slices: dict[Variable, Variable] = {}

    def function(self, graph: FunctionGraph) -> Function:
        """Return the function.  Its outputs are the values that other nodes or the caller read."""
        for node in self.nodes:
            operands = self.operands(node)
            made = operands[:1] if isinstance(node.op, Mark) else self.applied(node, operands)
            self.images.update(zip(node.outputs, made, strict=True))
        own, shown = set(self.nodes), set(graph.outputs)
        elsewhere = tuple(
            v
            for v in self.images
            if v in shown or any(n is not None and n not in own for n, _ in graph.uses.get(v, ()))
        )
        given = tuple(self.leaves)
        whole = FunctionGraph([self.leaves[k] for k in given], [self.images[v] for v in elsewhere])
        return Function(whole, given, elsewhere)

    def operands(self, node: Apply) -> list[Variable]:
        """Return the operands of a node in the function; whole ones are sliced as the placement says."""
        place = self.found.placed.get(node)
        operands = [self.image(i) for i in node.inputs]
        if place is None:
            return operands
        start, stop = (Bound(kind, place.rows) for kind in ((RANK, NEXT) if place.has_rank else (START, STOP)))
        for k, axis in place.cuts.items():
            operands[k] = Subtensor((*("s000",) * axis, "s110"))(operands[k], self.index(start), self.index(stop))
        for k, key in zip(place.span, (start, stop), strict=False):
            operands[k] = cast(self.index(key), node.inputs[k].dtype)
        if place.relative is not None:
            operands[place.relative] = sub(operands[place.relative], self.index(start))
        if place.own_length is not None:
            operands[place.own_length] = self.length(place.rows)
        return operands

    def applied(self, node: Apply, operands: list[Variable]) -> Sequence[Variable]:
        """Return the outputs of a node in the function; those of parts of the split axis by the bounds of the block."""
        if not isinstance(node.op, (Part, WrittenPart)):
            return Apply(node.op, operands, node.origin).outputs
        rows, of, every = node.op.rows, node.op.of, ("s000",) * node.op.axis
        bounds = [self.index(Bound(kind, rows, of)) for kind in (LOW, HIGH, STEP)]
        is_reversed = self.found.facts.ask("is_reversed", rows, of)
        if isinstance(node.op, Part):
            part = Subtensor((*every, "s111"))(operands[0], *bounds)
            return [_reversed(part, node.op.axis) if is_reversed else part]
        x, y = operands[:2]
        axis = node.op.axis - (x.ndim - y.ndim)
        if is_reversed and axis >= 0:
            y = _reversed(y, axis)
        return [IncSubtensor((*every, "s111"), node.op.set)(x, y, *bounds)]

    def image(self, v: Variable) -> Variable:
        """Return a value in the function: computed there, or an input."""
        if isinstance(v, Constant):
            return v
        if v in self.images and not isinstance(self.found.states.get(v), Partial):
            return self.images[v]
        length = _known_length(v, self.found.placed)
        if length is not None:
            return self.index(length)
        state = self.found.states.get(v)
        return self.slice(v, state.axis) if isinstance(state, Split) else self.leaf(v)

    def slice(self, v: Variable, axis: int) -> Variable:
        """Return an input for a split value.  `specify_shape` promises its length, so all slices have equal lengths."""
        if v not in self.slices:
            leaf = self.leaf(v)
            rows = self.found.states[v].rows  # type: ignore[union-attr]
            lengths = [self.length(rows) if a == axis else ShapeI(a)(leaf) for a in range(leaf.ndim)]
            self.slices[v] = SpecifyShape(f"a chunk of {v.name or 'an argument'}")(leaf, *lengths)
        return self.slices[v]

    def length(self, rows: Rows | None) -> Variable:
        """Return the number of rows of the block, in the form of the length of `arange(start, stop)`."""
        return maximum(sub(self.index(Bound(STOP, rows)), self.index(Bound(START, rows))), 0)

    def leaf(self, v: Variable) -> TensorVariable:
        """Return an input for a value; its length along the split axis is that of a block."""
        if v not in self.leaves:
            state = self.found.states.get(v)
            axis = state.axis if isinstance(state, Split) else None
            is_open = isinstance(state, Local)
            shape = tuple(None if a == axis or (is_open and n != 1) else n for a, n in enumerate(v.type.shape))
            self.leaves[v] = TensorVariable(v.type.with_shape(shape), name=v.name)
        return self.leaves[v]

    def index(self, key: Any) -> TensorVariable:
        """Return an input for a bound or a length."""
        return self.leaves.setdefault(key, TensorVariable(_INDEX))


def _reversed(v: Variable, axis: int) -> Variable:
    return Subtensor((*("s000",) * axis, "s001"))(v, constant(-1, dtype="int64"))


def _known_length(v: Variable, placed: Mapping[Apply, Placed]) -> Length | None:
    """Return the length that a value equals, if the caller knows it."""
    place = placed.get(v.owner) if v.owner is not None else None
    if v.owner is None or place is None or not place.known:
        return None
    (source,) = v.owner.inputs
    return Length(source if source.owner is None else None, v.owner.op.axis, place.rows)  # type: ignore[attr-defined]


_INDEX = TensorType("int64", ())
