"""Fusion: groups of nodes become one `Fused` node, which the backend compiles to one kernel.

    y = exp(x); s = sum(y * w, axis=1)   -->   y, s = fused(x, w)  with one loop nest inside

`fusion_groups` says which nodes; here they are put into inner graphs.  Inner inputs are leaves, constants included, so
that the text of the kernel does not depend on their values; equal groups give equal ops, hence one kernel.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Collection, Hashable, Mapping, MutableMapping, Sequence
from typing import Any, ClassVar, Union

from ....graph import Apply, Constant, FunctionGraph, GraphEditor, Origin, Variable, same_shape, union
from ....graph.dims import carry_dims
from ....ops.core.tensor import TensorVariable
from ....ops.elementwise.records import Elementwise, add, mul
from ....ops.lowered.fused import Fused
from ....ops.lowered.row_passes import is_row_graph, with_waiting
from ....ops.shapes.advanced_indexing import AdvancedSubtensor
from ....record import record
from ....targets.current import current
from ...contract import Contract, exact
from ...optimizers import Optimizer, Result
from .as_one import profiled
from .groups import Facts, Group, is_index_map, partition, reads_elements
from .positions import join_positions, searches_all, with_extremum
from .rows import join_rows
from .siblings import join_siblings
from .speculative import join_speculatively


@record(kw_only=True)
class FusionOptimizer(Optimizer):
    """Fuses each group of nodes that can share a loop nest; linear in the size of the graph.

    `lookups`: only in graphs that look up elements at computed indices, which join groups then.
    """

    contract: ClassVar[Contract | None] = exact
    lookups: bool = False

    def optimize(self, graph: FunctionGraph, editor: GraphEditor) -> Result:
        return profiled(_fuse_lookups if self.lookups else fuse, graph, self.name, editor)


def _fuse_lookups(graph: FunctionGraph, by: str, editor: GraphEditor) -> FunctionGraph:
    if not any(isinstance(op, AdvancedSubtensor) for op in graph.ops):
        return graph
    return fuse(graph, by, editor, lookups=True)


@record(kw_only=True)
class FlattenOptimizer(Optimizer):
    """Flattens `(a + b) + c` to one sum and `(a * b) * c` to one product; linear in the size of the graph."""

    contract: ClassVar[Contract | None] = exact

    def optimize(self, graph: FunctionGraph, editor: GraphEditor) -> Result:
        return profiled(flatten_add_mul, graph, self.name, editor)


def fuse(graph: FunctionGraph, by: str, editor: GraphEditor, lookups: bool = False) -> FunctionGraph:
    """Return `graph` with each group of two or more nodes as one `Fused` node; call the editor once per group."""
    facts = Facts(graph, lookups)
    known: dict[Variable, Variable] = {}
    met: dict[Hashable, tuple[Fused, Origin]] = {}
    groups = join_siblings(partition(facts), facts)
    groups = join_speculatively(graph, join_rows(groups, facts), facts)
    for group in join_positions(groups, facts):
        if len(group.nodes) > 1 or searches_all(group.nodes[0]):
            outputs, stand_ins = results(group, facts)
            after = fused(needed(group, outputs, facts), outputs, facts, known, met)
            if editor.admit(by, outputs[0], after.outputs[0]):
                known.update(zip(outputs, after.outputs, strict=False))
                for value, like, readers in stand_ins:
                    read_shape_of(like, value, readers, known, by, editor)
                continue
        for node in group.nodes:
            for i in node.inputs:
                if facts.source(i) is not i:
                    image(i, known)
            rebuilt = node.over(known)
            if rebuilt is not node:
                known.update(zip(node.outputs, rebuilt.outputs, strict=True))
    return FunctionGraph(graph.inputs, [image(o, known) for o in graph.outputs], graph.updates)


StandIn = tuple[Variable, Variable, Sequence[Apply]]
"""A value that is read for its shape alone, an output of that shape, and the readers outside the group."""


def results(group: Group, facts: Facts) -> tuple[list[Variable], list[StandIn]]:
    """Return the values that a group must compute, in the order of its nodes, and outputs that replace others.

    Of a value that is asked outside for nothing but its shape, an output of that shape will do as well.
    """
    inside = set(group.nodes)
    outputs: list[Variable] = []
    shapes: list[tuple[Variable, Sequence[Apply]]] = []
    for node in group.nodes:
        outer = [(reader, operand) for reader, operand in facts.readers.get(node, ()) if reader not in inside]
        if node in facts.kept or (outer and any(reads_elements(reader, operand) for reader, operand in outer)):
            outputs.append(node.outputs[0])
        elif outer:
            shapes.append((node.outputs[0], [reader for reader, _ in outer]))
    stand_ins: list[StandIn] = []
    for value, readers in shapes:
        like = next((o for o in outputs if same_shape(o, value) and _knows_lengths_of(o, value)), None)
        if like is None:
            outputs.append(value)
        else:
            stand_ins.append((value, like, readers))
    return outputs, stand_ins


def read_shape_of(
    like: Variable, value: Variable, readers: Sequence[Apply], known: dict[Variable, Variable], by: str,
    editor: GraphEditor,
) -> None:  # fmt: skip
    """Let the readers of the shape of `value` read that of `like`; the journal has each of them."""
    own = {value: known[like]}
    images = ChainMap(own, known)
    pairs: list[tuple[Variable, Variable]] = []
    for reader in dict.fromkeys(readers):
        moved = reader.with_inputs([image(i, images) for i in reader.inputs])
        pairs += zip(reader.outputs, moved.outputs, strict=True)
    if editor.admit_together(by, pairs):
        known.update(own)


def _knows_lengths_of(a: Variable, b: Variable) -> bool:
    return a.type.with_dtype(b.dtype).refines(b.type)


def needed(group: Group, outputs: list[Variable], facts: Facts) -> list[Apply]:
    """Return the nodes of a group that its outputs are computed from."""
    wanted = set(outputs)
    nodes = []
    for node in reversed(group.nodes):
        if node.outputs[0] in wanted:
            nodes.append(node)
            wanted.update(map(facts.source, node.inputs))
    return nodes[::-1]


def fused(
    nodes: list[Apply],
    outputs: list[Variable],
    facts: Facts,
    known: dict[Variable, Variable],
    met: dict[Hashable, tuple[Fused, Origin]],
) -> Apply:
    """Return `nodes` as one node that computes `outputs`; equal groups share an op, which is kept in `met`.

    A network of a hundred layers has a few different groups, so most are not built a second time.
    """
    inside = {node.outputs[0] for node in nodes}
    place: dict[Variable, Place] = {}
    operands: list[Variable] = []
    constants: dict[Any, int] = {}
    rows = []
    for n, node in enumerate(nodes):
        for i in node.inputs:
            if i in place:
                continue
            source = facts.source(i)
            if source in inside:
                place[i] = place[source], *((m.op, m.origin) for m in index_maps(i, inside))
                continue
            at = constants.setdefault(i.key, len(operands)) if isinstance(i, Constant) else len(operands)
            if at == len(operands):
                operands.append(i)
            place[i] = at
        out = node.outputs[0]
        place[out] = -1 - n
        rows.append((node.op, node.origin, out.type.dtype, out.type.shape, *map(place.__getitem__, node.inputs)))
    types = [(i.type.dtype, i.type.shape) for i in operands]
    key = (*rows, *types, *[place[o] for o in outputs])
    found = met.get(key)
    if found is None:
        found = met[key] = _as_op(nodes, outputs, operands, place), union(*[node.origin for node in nodes])
    made = Apply(found[0], [known[i] if i in known else image(i, known) for i in operands], found[1])
    for new, old in zip(made.outputs, outputs, strict=False):
        new.name = old.name
        if new.type == old.type:
            carry_dims((old,), (new,))
    return made


Place = Union[int, tuple[Any, ...]]
"""Operand of a node of a group: an operand of the group, a node (-1, -2, ...), or a node and later index maps."""


def _as_op(
    nodes: Sequence[Apply], outputs: Sequence[Variable], operands: Sequence[Variable], place: Mapping[Variable, Place]
) -> Fused:
    leaves = [TensorVariable(i.type, name=f"i{n}") for n, i in enumerate(operands)]
    inner: dict[Variable, Variable] = {i: leaves[n] for i, n in place.items() if isinstance(n, int) and n >= 0}
    for node in nodes:
        copy = node.with_inputs([image(i, inner) for i in node.inputs])
        copy.out.name = None
        inner[node.out] = copy.out
    graph = FunctionGraph(leaves, [inner[o] for o in outputs])
    return Fused(with_waiting(graph) if is_row_graph(graph) else with_extremum(graph))


def index_maps(variable: Variable, known: Collection[Variable]) -> list[Apply]:
    """Return the index maps, last one first, between `variable` and a known value or one that is no index map."""
    maps: list[Apply] = []
    while variable not in known and variable.owner is not None and is_index_map(variable.owner):
        maps.append(variable.owner)
        variable = variable.owner.inputs[0]
    return maps


def image(variable: Variable, known: MutableMapping[Variable, Variable]) -> Variable:
    """Return the image of `variable`, which is known or an index map of a known value; new images go to `known`."""
    result = known.get(variable, variable)
    if result is not variable or variable.owner is None or not is_index_map(variable.owner):
        return result
    maps = index_maps(variable, known)
    if maps:
        last = maps[-1].inputs[0]
        result = known.get(last, last)
    for node in reversed(maps):
        result = known[node.out] = node.with_inputs([result]).out
    return result


# --- sums and products of several operands


def flatten_add_mul(graph: FunctionGraph, by: str, editor: GraphEditor) -> FunctionGraph:
    """Return `graph` with `(a + b) + c` as one sum of three operands (and `*` likewise) if `a + b` has no other reader.

    The operands are folded from the left as before, so the result has the same bits.
    """
    if not any(key.op in (add, mul) and key.op in key.heads for key in graph.kinds):
        return graph
    known: dict[Variable, Variable] = {}
    for node in graph.order:
        copy = node.over(known)
        if isinstance(node.op, Elementwise) and node.op in (add, mul):
            flat = _flat(node, copy, graph)
            if flat is not None and editor.admit(by, node.out, flat.out):
                flat.out.name = node.out.name
                copy = flat
        if copy is not node:
            known.update(zip(node.outputs, copy.outputs, strict=True))
    return graph.with_images(known)


def _flat(node: Apply, copy: Apply, graph: FunctionGraph) -> Apply | None:
    """Return `copy`, a sum or product on the images of the operands of `node`, with its first nested one flattened."""
    candidates = (0, 1) if len(node.inputs) == 2 else (0,)  # with two operands, c + (a + b) is (a + b) + c
    for position in candidates:
        inner, nested = node.inputs[position], copy.inputs[position].owner
        if nested is None or nested.op is not node.op or graph.readings[inner] > 1:
            continue
        if inner.dtype != node.out.dtype or len(nested.inputs) + len(copy.inputs) - 1 > current().limits.fusion.terms:
            continue
        rest = copy.inputs[:position] + copy.inputs[position + 1 :]
        return Apply(node.op, nested.inputs + rest, union(node.origin, nested.origin))
    return None
