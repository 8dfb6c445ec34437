"""A graph as boxes to draw: one an input that is read, one a node; constants stand in the text of their users."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from .. import pages
from ..record.spelling import counted
from .facets import Kind, facet_of
from .node import Apply, Constant, Variable
from .op import Op
from .provenance import Origin
from .text import Names, constant_text, op_text, subgraphs

if TYPE_CHECKING:
    from .fgraph import FunctionGraph

_LONGEST_CONSTANT = 12


def boxes_of(graph: FunctionGraph) -> tuple[pages.boxes.Box, ...]:
    """The boxes of a graph: its inputs that are read, in order, then its nodes, in order."""
    read = {i for node in graph.order for i in node.inputs}.union(graph.outputs)
    leaves = [i for i in graph.inputs if i in read]
    place: dict[Variable, int] = {leaf: n for n, leaf in enumerate(leaves)}
    for n, node in enumerate(graph.order):
        place.update((output, len(leaves) + n) for output in node.outputs)
    results, words = set(graph.outputs), _Words()
    names = Names()
    called = {i: i.name or names[i] for i in graph.inputs}  # as in the text of the graph
    found = [_leaf(leaf, called[leaf], leaf in results) for leaf in leaves]
    for node in graph.order:
        inputs = tuple(place[i] for i in node.inputs if i in place)
        found.append(_node(node, inputs, not results.isdisjoint(node.outputs), words))
    return tuple(found)


def picture_of(graph: FunctionGraph) -> tuple[pages.boxes.Box, ...]:
    """The boxes that a reader looks at: without checks and without the computation of lengths.

    An input that is read far away from its other readers has a box there, so that wires are short.
    """
    lengths = _lengths(graph)
    hidden = {o for node in lengths for o in node.outputs}
    results, words, names = set(graph.outputs), _Words(), Names()
    called = {i: i.name or names[i] for i in graph.inputs}
    instead: dict[Variable, Variable] = {}
    nodes = []
    for node in graph.order:
        if node.op.only_checks and node.outputs[0] not in results:
            instead[node.outputs[0]] = instead.get(node.inputs[0], node.inputs[0])
        elif node not in lengths:
            nodes.append(node)
    reads = {node: [instead.get(i, i) for i in node.inputs] for node in nodes}
    seen = {i for inputs in reads.values() for i in inputs}.union(results)
    leaves = [i for i in graph.inputs if i in seen]
    place: dict[Variable, int] = {leaf: n for n, leaf in enumerate(leaves)}
    for n, node in enumerate(nodes):
        place.update((output, len(leaves) + n) for output in node.outputs)
    found = [_leaf(leaf, called[leaf], leaf in results) for leaf in leaves]
    for node, inputs in reads.items():
        wires = tuple(place[i] for i in inputs if i in place)
        found.append(_node(node, wires, not results.isdisjoint(node.outputs), words, hidden))
    return pages.boxes.near_their_readers(tuple(found))


def _lengths(graph: FunctionGraph) -> set[Apply]:
    """The nodes that compute lengths from lengths alone, and are no results."""
    results, found = set(graph.outputs), set()
    known: set[Variable] = set()
    for node in graph.order:
        small = all(o.ndim <= 1 for o in node.outputs)
        if not small or not results.isdisjoint(node.outputs) or not node.inputs:
            continue
        counts = all(o.type.kind in "iub" for o in node.outputs)
        of_lengths = any(i in known for i in node.inputs)
        read = all(i in known or isinstance(i, Constant) for i in node.inputs)
        if (node.op.unread == 0 and counts) or (read and of_lengths):
            found.add(node)
            known.update(node.outputs)
    return found


class _Words:
    """Memo of recurring texts: headline, kind and text of an op, lines of an origin."""

    def __init__(self) -> None:
        self._ops: dict[Op, tuple[str, str, str]] = {}
        self._origins: dict[Origin, str] = {}

    def of_op(self, op: Op) -> tuple[str, str, str]:
        found = self._ops.get(op)
        if found is None:
            inside = [node.op.name for graph in subgraphs(op).values() for node in graph.order]
            of = f" of {', '.join(dict.fromkeys(inside))}" if inside else ""
            found = self._ops[op] = (*headline(op), op_text(op) + of)
        return found

    def of_origin(self, origin: Origin) -> str:
        found = self._origins.get(origin)
        if found is None:
            found = self._origins[origin] = "".join(f"\nat {line}" for line in origin)
        return found


def _leaf(leaf: Variable, name: str, output: bool) -> pages.boxes.Box:
    return pages.boxes.Box(name, str(leaf.type), "input", title=f"input {name}: {leaf.type}", output=output)


def _node(
    node: Apply, inputs: tuple[int, ...], output: bool, words: _Words, lengths: Collection[Variable] = ()
) -> pages.boxes.Box:
    name, kind, text = words.of_op(node.op)
    operands = operand_texts(node.inputs, lengths)
    label = f"{name}({', '.join(operands)})" if operands else name
    first = node.outputs[0]
    detail = f"{first.name}: {first.type}" if first.name else str(first.type)
    more = f" +{len(node.outputs) - 1}" if len(node.outputs) > 1 else ""
    title = "\n".join([text, *(str(o.type) for o in node.outputs)]) + words.of_origin(node.origin)
    return pages.boxes.Box(label, detail + more, kind, inputs, title, output)


_MOST_GROUPS = 12


def groups_of(graph: FunctionGraph) -> list[tuple[str, FunctionGraph]]:
    """The graphs inside of ops, each once with a title, the largest first."""
    found: dict[FunctionGraph, list[str]] = {}
    for node in graph.order:
        op = node.op
        inner = op.parameters().get("op")
        for name, inside in subgraphs(inner if isinstance(inner, Op) else op).items():
            found.setdefault(inside, [f"{op.name} {headline(op)[0]}" + ("" if name == "graph" else f", {name}")])
            found[inside].append("")
    ranked = sorted(found.items(), key=lambda pair: -len(pair[0]))
    return [
        (f"{titles[0]}: {counted(len(inside), 'node')}"
         + (f", {len(titles) - 1} times" if len(titles) > 2 else ""), inside)
        for inside, titles in ranked[:_MOST_GROUPS] if len(inside)
    ]  # fmt: skip


def headline(op: Op) -> tuple[str, str]:
    """The short name of an op in a box, and its kind: for an op made of ops, its inside; for a region, its engine."""
    inner = op.parameters().get("op")
    if isinstance(inner, Op):
        name, kind = headline(inner)
        return f"{name} in place", kind
    for graph in subgraphs(op).values():
        names = list(dict.fromkeys(node.op.name for node in graph.order))
        kinds = {kind_of(node.op) for node in graph.order}
        engine = op.parameters().get("engine")
        if isinstance(engine, str):
            inside = "+".join(names[:3]) + ("+…" if len(names) > 3 else "")
            return f"{engine}: {inside}", pages.theme.region_of(engine)
        kinds.add(kind_of(op))
        kind = next((kind for kind in (Kind.PRODUCT, Kind.REDUCTION) if kind in kinds), Kind.FUSED)
        return "+".join(names[:4]) + ("+…" if len(names) > 4 else ""), kind.value
    return op.name, kind_of(op).value


def kind_of(op: Op) -> Kind:
    """The kind of an op, as its class says; OTHER for a class from outside that does not."""
    found: Kind = facet_of(type(op), "picture") or Kind.OTHER
    return found


def operand_texts(inputs: Sequence[Variable], lengths: Collection[Variable] = ()) -> list[str]:
    """For each operand its value if that is a short constant, "·" if it is computed; nothing without constants.

    `lengths`: Operands of which only this is said: "length".
    """
    if not any(hasattr(i, "data") or i in lengths for i in inputs):
        return []
    return [_constant(i) if hasattr(i, "data") else "length" if i in lengths else "·" for i in inputs]


def _constant(constant: Variable) -> str:
    data = constant.data  # type: ignore[attr-defined]
    written = repr(data.item()) if data.ndim == 0 else constant_text(data)
    return written if len(written) <= _LONGEST_CONSTANT else f"{constant.type}"
