"""A graph as stages: whole values, then values of each block, then their combination, and again.

    stage 0   head     whole values computed of whole inputs
              block    values of one block, of its slices and whole values; some of them partial
              combine  partial values of all blocks made whole
    stage 1   ...
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..graph import Apply, Constant, FunctionGraph, TensorType, Variable
from ..ops.elementwise import Elementwise
from ..ops.indexing import Subtensor
from ..ops.lengths import ShapeI
from ..ops.tensor import TensorVariable
from ..record import record
from .splits import Partial, Placed, Split, propagated


@record
class Function:
    """A graph, and for each of its inputs the variable of the whole graph that it stands for.

    Other inputs are START and STOP, the bounds of a block, and `Length`s.
    """

    graph: FunctionGraph
    inputs: tuple[Any, ...]
    outputs: tuple[Variable, ...]


@record
class Stage:
    """`combined`: partial outputs of the block and the op that combines each; None: equal in all blocks."""

    head: Function | None
    block: Function | None
    combined: tuple[tuple[Variable, Elementwise | None], ...]


@record
class Staged:
    """Stages in order; `splits`: states of inputs and outputs that are split."""

    stages: tuple[Stage, ...]
    splits: Mapping[Variable, Split]


START, STOP = "start", "stop"


@record
class Length:
    """A length that who calls knows: of an argument along an axis, or (None) of the chunked axis."""

    of: Variable | None
    axis: int


def staged(graph: FunctionGraph, splits: Mapping[Variable, Split]) -> Staged:
    """The stages of a graph whose inputs are split so.  Raises Unsplittable."""
    placed = propagated(graph, splits)
    number: dict[Variable, int] = {}
    """The stage in which a value is there; a partial one is, combined, in the next."""
    states: dict[Variable, Any] = dict(splits)
    for node in graph.order:
        for k, o in enumerate(node.outputs):
            states[o] = placed[node].states[k] if node in placed else None
    known = {n for n, place in placed.items() if place.known}
    number.update({o: 0 for n in known for o in n.outputs})
    for node in graph.order:
        level = max((number.get(i, 0) for i in node.inputs), default=0)
        number.update({o: level + isinstance(states[o], Partial) for o in node.outputs if node not in known})
    order = [(max((number.get(i, 0) for i in n.inputs), default=0), n) for n in graph.order if n not in known]
    count = max((level for level, _ in order), default=0) + 1
    stages = []
    for level in range(count):
        heads = [n for at, n in order if at == level and n not in placed]
        blocks = [n for at, n in order if at == level and n in placed]
        combined = tuple((o, states[o].op) for n in blocks for o in n.outputs if isinstance(states[o], Partial))
        stages.append(Stage(
            _function(graph, heads, placed, states) if heads else None,
            _function(graph, blocks, placed, states) if blocks else None, combined,
        ))  # fmt: skip
    shown = {v: s for v, s in states.items() if isinstance(s, Split) and (v in splits or v in graph.outputs)}
    return Staged(tuple(stages), shown)


def _function(
    graph: FunctionGraph, nodes: list[Apply], placed: Mapping[Apply, Placed], states: Mapping[Variable, Any]
) -> Function:
    """The nodes as a function of the values that they read from elsewhere; outputs are those read elsewhere."""
    inside, own = {o for n in nodes for o in n.outputs}, set(nodes)
    shown = set(graph.outputs)
    images: dict[Any, Variable] = {}
    leaves: dict[Any, TensorVariable] = {}

    def leaf(key: Any, v: Variable) -> Variable:
        if key not in leaves:
            state = states.get(v)
            axis = state.axis if isinstance(state, Split) else None
            shape = tuple(None if a == axis else n for a, n in enumerate(v.type.shape))
            leaves[key] = TensorVariable(v.type.with_shape(shape), name=v.name)
        return leaves[key]

    def bound(key: Any) -> Variable:
        return leaves.setdefault(key, TensorVariable(_INDEX))

    def image(v: Variable) -> Variable:
        if isinstance(v, Constant):
            return v
        if v in images and v in inside and not isinstance(states.get(v), Partial):
            return images[v]
        length = _known_length(v, placed)
        return leaf(v, v) if length is None else bound(length)

    for node in nodes:
        place = placed.get(node)
        operands = [image(i) for i in node.inputs]
        for k, axis in (place.cuts if place else {}).items():
            operands[k] = Subtensor((*("s000",) * axis, "s110"))(operands[k], bound(START), bound(STOP))
        if place is not None and place.own_length is not None:
            (split,) = (s for s in place.states if isinstance(s, Split))
            operands[place.own_length] = ShapeI(split.axis)(operands[0])
        made = Apply(node.op, operands, node.origin)
        images.update(zip(node.outputs, made.outputs, strict=True))
    elsewhere = tuple(v for v in images if v in shown or any(n is not None and n not in own for n, _ in graph.uses[v]))
    given = tuple(leaves)
    return Function(FunctionGraph([leaves[k] for k in given], [images[v] for v in elsewhere]), given, elsewhere)


def _known_length(v: Variable, placed: Mapping[Apply, Placed]) -> Length | None:
    """The length that a value is, if who calls knows it."""
    place = placed.get(v.owner) if v.owner is not None else None
    if v.owner is None or place is None or not place.known:
        return None
    (source,) = v.owner.inputs
    return Length(source if source.owner is None else None, v.owner.op.axis)  # type: ignore[attr-defined]


_INDEX = TensorType("int64", ())
