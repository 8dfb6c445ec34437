"""Lengths that meet are taken as equal: `assume_equal` gives a program the graph that it has in nearly every call.

    x, y: vectors;  exp(x) * y  -->  exp(x) * y'  with y' as long as x

Broadcasting is decided at run time: where two lengths meet, one of them may be 1.  So gradients sum over axes that were
perhaps broadcast, and loops stay separate.  Here lengths of inputs that meet in elementwise ops and products become
one; the engine checks them at the start of a call, and runs the graph without the assumption if they differ.

Lengths that meet in the body of a loop are those of the loop's operands.  They are assumed where the graph around the
loop has them, so that nothing fails in the middle of a loop; the body repeats those that hold then:

    scan{fn(h, W, b) -> tanh(W @ h + b)}(n, h, W, b)  -->  scan{fn(h, W, b) -> tanh(W @ h' + b')}(n, h', W, b')
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, pairwise
from typing import ClassVar

from ....graph import Apply, Dim, FunctionGraph, GraphEditor, Origin, Variable, dims_of, inheriting
from ....graph.dims import Symbol, add, atoms, broadcast, floordiv, fold, mul, substituted, with_number
from ....ops.control.scan_ops import Scan
from ....ops.elementwise.costs import work
from ....ops.elementwise.records import Pointwise
from ....ops.lowered.assumed import AssumeEqual, CheckAssumed, assumption_in
from ....ops.reductions.unbroadcasting import SumTo
from ....ops.shapes.creation import Alloc
from ....ops.shapes.indexing import IncSubtensor, part_dims
from ....ops.shapes.joining import Join
from ....ops.shapes.lengths import ShapeI, dim_to_tensor, tensor_to_dim
from ....ops.shapes.shape import BroadcastTo
from ....ops.shapes.slices import difference, greater, lesser, total
from ....profiling import OptimizerProfile
from ....record import record
from ....targets.current import current
from ...contract import Contract, relaxes
from ...optimizers import Optimizer, Result
from ..control.inner_graphs import admitted
from .masked import selected_dims

FEW = 16
"""Most parts of a length that is assumed, or compared with others: what grows with a graph would take squared time."""
Place = tuple[int, int]
"""The number of an input, and an axis."""


@record(kw_only=True)
class AssumeEqualOptimizer(Optimizer):
    """Makes inputs as long as those that they meet, where the graph has sums or loops that depend on it."""

    contract: ClassVar[Contract | None] = relaxes("errors")
    in_bodies: ClassVar[bool] = False

    def optimize(self, graph: FunctionGraph, editor: GraphEditor) -> Result:
        has_loops = any(isinstance(op, Scan) for op in graph.ops)
        lengths = sum(i.ndim or i.type.kind in "iu" for i in graph.inputs)
        if (lengths < 2 and not has_loops) or assumption_in(graph) is not None:
            return graph, OptimizerProfile()
        assumed = Assumed(graph)
        if not (assumed.lengths or assumed.bodies) or not assumed.helps():
            return graph, OptimizerProfile()
        entries = len(editor.journal)
        try:
            return self._assuming(graph, assumed, editor), OptimizerProfile()
        except (TypeError, ValueError, IndexError):  # lengths that contradict one another, or an index
            del editor.journal[entries:]
            return graph, OptimizerProfile()

    def _assuming(self, graph: FunctionGraph, assumed: Assumed, editor: GraphEditor) -> FunctionGraph:
        """Return the graph under the assumptions, with a check of those on its inputs."""
        if not assumed.lengths:  # what meets in loops is known to be equal
            return admitted(graph, with_bodies_assuming(graph, assumed.bodies), self.name, editor)
        found = graph.replace(assumed.images(assumed.lengths), self.name, editor)
        if found is graph:
            return graph
        if assumed.bodies:
            found = admitted(found, with_bodies_assuming(found, assumed.bodies), self.name, editor)
        result = found.outputs[0]
        return _returning(found, {result: assumed.checked(result)}, self.name, editor)


def with_bodies_assuming(graph: FunctionGraph, bodies: Mapping[FunctionGraph, Assumed]) -> FunctionGraph:
    """Return the graph with loops whose bodies assume what they would, as far as it holds for the loops' operands."""

    def visit(node: Apply) -> Sequence[Variable]:
        op = node.op
        inner = bodies.get(op.graph) if isinstance(op, Scan) else None
        if inner is None or not isinstance(op, Scan):
            return node.outputs
        pairs = inner.outside(node)
        lengths = {place: inner.lengths[place] for place, (have, want) in pairs.items() if have == want}
        body = inner.graph.substituted(inner.images(lengths)) if lengths else inner.graph
        body = with_bodies_assuming(body, inner.bodies) if inner.bodies else body
        return node.outputs if body is op.graph else node.with_op(replace(op, graph=body)).outputs

    return graph.rebuilt(visit)


@record(kw_only=True)
class CheckedOnceOptimizer(Optimizer):
    """Removes the check of what a graph assumes from its result, where `assume_equal` is still there and checks it."""

    contract: ClassVar[Contract | None] = relaxes("errors")
    in_bodies: ClassVar[bool] = False

    def optimize(self, graph: FunctionGraph, editor: GraphEditor) -> Result:
        if assumption_in(graph) is None:
            return graph, OptimizerProfile()
        checks = {o: o.owner.inputs[0] for o in graph.outputs if o.owner and isinstance(o.owner.op, CheckAssumed)}
        return _returning(graph, checks, self.name, editor), OptimizerProfile()


def _returning(
    graph: FunctionGraph, others: Mapping[Variable, Variable], by: str, editor: GraphEditor
) -> FunctionGraph:
    """Return the graph with others of its outputs, which nodes inside go on to read."""
    taken = {before: after for before, after in others.items() if editor.admit(by, before, after, True)}
    return graph.with_images(taken)


class Assumed:
    """The lengths of inputs of a graph that are taken as equal to others: `lengths[input, axis]`.

    `loop`: that whose body the graph is.  Its states have the same lengths before and after a step.
    """

    def __init__(self, graph: FunctionGraph, loop: Scan | None = None) -> None:
        self.graph = graph
        self._loop = loop
        self._places = {i: number for number, i in enumerate(graph.inputs)}
        self._allocated = {n for node in graph.order if isinstance(node.op, Alloc) for n in node.inputs[1:]}
        self._known_as: dict[Symbol, Dim] = {}
        self._canonical: dict[Dim, Dim] = {}
        """Memo of `canonical`, for what is known so far."""
        self._origin: Origin = ()
        """The user's line where lengths meet first."""
        self.bodies: dict[FunctionGraph, Assumed] = {}
        """Assumptions of the bodies of loops, if these were functions."""
        self._meet_all(graph)
        for old, new in zip(graph.inputs[loop.states], graph.outputs, strict=False) if loop is not None else ():
            for a, b in zip(dims_of(old), dims_of(new), strict=True):
                self._assume(a, b, False)
        self.lengths: dict[Place, Dim] = {}
        for atom in self._known_as:
            variable, axis = atom.args
            self.lengths[self._places[variable], axis] = self.canonical(atom)  # type: ignore[index]

    def _meet_all(self, graph: FunctionGraph) -> None:
        """Assume what follows from the lengths that nodes demand; then from those that meet; then in loops."""
        joint: dict[tuple[tuple[Dim, ...], ...], Apply] = {}
        loops: list[Apply] = []
        seen: set[tuple[Dim, Dim]] = set()
        for node in graph.order:
            for pair in node.op.demands(node):
                self._meet(*pair, True, node)
            if isinstance(node.op, (Pointwise, SumTo)):
                joint.setdefault(tuple(dict.fromkeys(map(dims_of, node.inputs))), node)
            elif isinstance(node.op, Scan):
                loops.append(node)
            elif isinstance(node.op, IncSubtensor):
                part = _written_dims(node)
                if None not in part:
                    joint.setdefault((dims_of(_written_value(node)), part), node)  # type: ignore[arg-type]
            elif (selected := selected_dims(node)) is not None:
                joint.setdefault(selected, node)
        pairs = [(pair, node) for shapes, node in joint.items() for pair in _side_by_side(shapes)]
        for axis, length in self._farthest_bounds([pair for pair, _ in pairs if pair[0] is not pair[1]]).items():
            self._known_as[axis] = length
        for pair, node in pairs:
            if pair not in seen:
                seen.add(pair)
                self._meet(*pair, False, node)
        for node in loops:
            for pair in self._inside(node):
                self._meet(*pair, False, node)

    def _farthest_bounds(self, pairs: Sequence[tuple[Dim, Dim]]) -> dict[Symbol, Dim]:
        """Return lengths of inputs that make slices equally long: n + 3 for that of x in `x[2 : n + 2] - x[3 : n + 3]`.

        One slice alone, as `x[:n] * y`, says nothing about the length of x.
        """
        found: dict[Symbol, dict[Dim, set[int]]] = {}
        for atom, bound in (clamp for dim in dict.fromkeys(chain.from_iterable(pairs)) for clamp in _clamps(dim)):
            base, number = with_number(bound)
            parts = () if isinstance(base, int) else _few_atoms(base)
            if self._is_own(atom) and atom not in parts and parts and all(map(self._is_own, parts)):
                found.setdefault(atom, {}).setdefault(base, set()).add(number)
        known = {
            atom: add(base, max(numbers))
            for atom, bounds in found.items() for base, numbers in bounds.items() if len(bounds) == 1 < len(numbers)
        }  # fmt: skip
        known = {atom: dim for atom, dim in known.items() if found.keys().isdisjoint(atoms(dim))}  # type: ignore[arg-type]
        if not known:
            return {}
        images = [[simplified(dim, known) for dim in pair] for pair in pairs]
        return known if any(a is b for a, b in images) else {}

    def _inside(self, node: Apply) -> Iterator[tuple[Dim, Dim]]:
        """Yield the pairs of lengths of operands of a loop that meet in its body."""
        op: Scan = node.op  # type: ignore[assignment]
        body = op.graph
        if body not in self.bodies:
            self.bodies[body] = Assumed(body, op)
        yield from self.bodies[body].outside(node).values()

    def outside(self, node: Apply) -> dict[Place, tuple[Dim, Dim]]:
        """Return the lengths of a loop's operands for those of this graph, its body, and what they are taken for."""
        op: Scan = node.op  # type: ignore[assignment]

        def outer(atom: Symbol) -> Dim | None:
            k = self._places.get(atom.args[0])  # type: ignore[call-overload]
            if k is None or atom.kind == "extent":
                return None if k is None else shapes[k][atom.args[1]]  # type: ignore[index, no-any-return]
            return tensor_to_dim(node.inputs[1 + k]) if k >= op.states.stop else None

        shapes = [dims_of(v)[k < op.sequences :] for k, v in enumerate(node.inputs[1:])]
        found = {(k, axis): substituted(dim, outer) for (k, axis), dim in self.lengths.items()}
        return {(k, axis): (shapes[k][axis], dim) for (k, axis), dim in found.items() if dim is not None}

    def images(self, lengths: Mapping[Place, Dim]) -> dict[Variable, Variable]:
        """Return the views of inputs that have these lengths: of one node in a function, which checks them all.

        In a body each input has a node of its own, so that one which is read for its lengths alone is not read at all.
        """
        if self._loop is None:
            return self._images(sorted(lengths))
        found: dict[Variable, Variable] = {}
        for place in sorted({number for number, _ in lengths}):
            found.update(self._images(sorted(axis for axis in lengths if axis[0] == place)))
        return found

    def _images(self, axes: Sequence[Place]) -> dict[Variable, Variable]:
        places = {number: k for k, number in enumerate(sorted({number for number, _ in axes}))}
        tensors = [self.graph.inputs[number] for number in places]
        op = AssumeEqual(tuple((places[number], axis) for number, axis in axes))
        with inheriting(self._origin):
            images = Apply(op, (*tensors, *(dim_to_tensor(self.lengths[axis]) for axis in axes))).outputs
        for image, tensor in zip(images, tensors, strict=True):
            image.name = tensor.name
        return dict(zip(tensors, images, strict=True))

    def checked(self, result: Variable) -> Variable:
        """Return a result after a check of the assumed lengths."""
        inputs, axes = self.graph.inputs, sorted(self.lengths)
        with inheriting(self._origin):
            pairs = [(ShapeI(axis)(inputs[k]), dim_to_tensor(self.lengths[k, axis])) for k, axis in axes]
            subjects = tuple((inputs[k].name or "", axis) for k, axis in axes)
            return CheckAssumed(subjects)(result, *(n for pair in pairs for n in pair))

    def _meet(self, a: Dim, b: Dim, certain: bool, node: Apply) -> None:
        if a is not b and self._assume(a, b, certain):
            self._origin = self._origin or node.origin

    def _assume(self, a: Dim, b: Dim, certain: bool) -> bool:
        """Take two lengths as equal, if one of them is that of an input; return whether they are from then on.

        One that is 1 is broadcast, unless it is `certain` that no other length fits.
        """
        a, b = _where_they_differ(self.canonical(a), self.canonical(b))
        if a == b or (1 in (a, b) and not certain):
            return False
        if not self._is_own(a) or (self._is_own(b) and self._order(a) < self._order(b)):
            a, b = b, a
        parts = () if isinstance(b, int) else _few_atoms(b)
        if (parts or isinstance(b, int)) and self._is_own(a) and a not in parts and all(map(self._is_part, parts)):
            self._known_as[a] = b  # type: ignore[index]
            self._canonical.clear()
            return True
        return False

    def _is_own(self, dim: Dim) -> bool:
        """Whether a Dim is the length of an input."""
        return isinstance(dim, Symbol) and dim.kind == "extent" and dim.args[0] in self._places

    def _is_part(self, dim: Dim) -> bool:
        """Whether a Dim is the length of an input, or in a body an integer that is equal in each step.

        Outside of loops also an integer input that is the length of a new array.
        """
        if not isinstance(dim, Symbol) or dim.kind != "value":
            return self._is_own(dim)
        if self._loop is None:
            return dim.args[0] in self._places and dim.args[0] in self._allocated
        return self._places.get(dim.args[0], -1) >= self._loop.states.stop  # type: ignore[call-overload, no-any-return]

    def _order(self, dim: Dim) -> tuple[int, int, int]:
        """Return the rank of a length: values that are equal in each step first, rows of sequences last."""
        assert isinstance(dim, Symbol)
        variable, axis = dim.args
        place = self._places[variable]  # type: ignore[index]
        states = slice(0, 0) if self._loop is None else self._loop.states
        return (place < states.stop) + (place < states.start), place, axis  # type: ignore[return-value]

    def canonical(self, dim: Dim) -> Dim:
        """Return a length as one of inputs to which nothing else is assumed; one of more than FEW parts as it is.

        The joint length of more operands is that of the first, for they have met.
        """
        if isinstance(dim, int):
            return dim
        found = self._canonical.get(dim)
        if found is None:
            found = self._canonical[dim] = self._substituted(dim)
        return found

    def _substituted(self, dim: Dim) -> Dim:
        known = self._known_as

        def atom(part: Dim) -> Dim:
            while part in known:
                part = known[part]  # type: ignore[index]
            return part

        while not isinstance(dim, int):
            if dim.kind == "extent":
                if dim not in known:
                    break
                dim = atom(dim)
                continue
            if dim.kind == "broadcast":
                joint = broadcast([*map(atom, dim.args)]) if len(dim.args) <= FEW else dim.args[0]  # type: ignore[arg-type]
                if joint is not dim:
                    dim = joint  # type: ignore[assignment]
                    continue
            if not any(atom in known for atom in _few_atoms(dim)):
                break
            found = simplified(dim, known)
            if found is None:
                break
            dim = found
        return dim

    def helps(self) -> bool:
        """Whether a sum over broadcast axes, or a loop of its own, is not needed under the assumption.

        A loop of its own computes an operand that is perhaps broadcast: one with several readers, or a costly one.
        Elements that one mask selects from several arrays need no positions if the arrays have its lengths.
        """
        if any(body.lengths and body.helps() for body in self.bodies.values()):
            return True
        enough = current().costs.broadcast_byte
        separate: set[Apply] = set()
        cost = 0.0
        for node in self.graph.order:
            if self._is_simpler(node):
                return True
            for operand in node.inputs if isinstance(node.op, Pointwise) else ():
                above = operand.owner
                if above is not None and above not in separate and self._joins_loop(node, operand):
                    separate.add(above)
                    cost += work(above)
                    if cost > enough or self.graph.readings[operand] > 1:
                        return True
        return False

    def _is_simpler(self, node: Apply) -> bool:
        """Whether a node that is not elementwise needs less under the assumption."""
        match node.op:
            case SumTo() if self._become_equal(dims_of(node.inputs[0]), dims_of(node.inputs[1])):
                return True
            case IncSubtensor() if self._is_computed_in_place(node):
                return True
            case Join() if self._joins_columns(node):
                return True
        selected = selected_dims(node)
        return selected is not None and self._become_equal(*selected)

    def _joins_loop(self, node: Apply, operand: Variable) -> bool:
        """Whether an elementwise operand gets the lengths of its reader, so that one loop computes both."""
        is_elementwise = operand.owner is not None and isinstance(operand.owner.op, Pointwise)
        same_rank = operand.ndim == node.out.ndim
        return is_elementwise and same_rank and self._become_equal(dims_of(operand), dims_of(node.out))

    def _is_computed_in_place(self, node: Apply) -> bool:
        """Whether a value that is written to a part is then as long as the part, so that it needs no copy."""
        value = _written_value(node)
        if value.owner is None or not isinstance(value.owner.op, Pointwise):
            return False
        part = _written_dims(node)
        return None not in part and self._become_equal(dims_of(value), part)  # type: ignore[arg-type]

    def _joins_columns(self, node: Apply) -> bool:
        """Whether one loop can then compute the columns of a join, whose lengths differ in what is known of them."""
        first, *others = [i for i in node.inputs if i.type.shape[-1:] == (1,)] or node.inputs
        if node.op.axis != node.out.ndim - 1 or first.type.shape[-1:] != (1,):  # type: ignore[attr-defined]
            return False
        return any(self._become_equal(dims_of(first), dims_of(other)) for other in others)

    def _become_equal(self, mine: Sequence[Dim], others: Sequence[Dim]) -> bool:
        mine, others = tuple(mine), tuple(others)
        return mine != others and [*map(self.canonical, mine)] == [*map(self.canonical, others)]


def _where_they_differ(a: Dim, b: Dim) -> tuple[Dim, Dim]:
    """Return the parts whose equality makes two lengths equal: n and m of n - 1 and m - 1."""
    while isinstance(a, Symbol) and isinstance(b, Symbol) and a.kind == b.kind and a.kind not in ("extent", "value"):
        differing = [(p, q) for p, q in zip(a.args, b.args) if p != q]
        if len(a.args) != len(b.args) or len(differing) != 1:
            break
        a, b = differing[0]  # type: ignore[assignment]
    return a, b


def simplified(dim: Dim, known: Mapping[Symbol, Dim]) -> Dim | None:
    """Return a length with others in the place of its parts, and bounds left out that then hold."""
    found = substituted(dim, lambda atom: known.get(atom, atom))
    return found if found is None or isinstance(found, int) else fold(found, lambda part: part, _bounded)


def _bounded(kind: str, parts: Sequence[Dim]) -> Dim:
    """Return the length that a symbol of this kind is."""
    if kind == "broadcast":
        return broadcast(parts)
    return _SHORTER[kind](*parts)


_SHORTER = {
    "add": total, "sub": difference, "mul": mul, "floordiv": floordiv, "maximum": greater, "minimum": lesser,
}  # fmt: skip


def _clamps(dim: Dim) -> Iterator[tuple[Symbol, Dim]]:
    """Yield the pairs of a length and a bound of which the smaller one is a part of `dim`."""
    waiting: list[object] = [dim]
    for _ in range(FEW):
        part = waiting.pop() if waiting else None
        if not isinstance(part, Symbol):
            continue
        if part.kind == "minimum":
            a, b = part.args
            yield from ((m, n) for m, n in ((a, b), (b, a)) if isinstance(m, Symbol) and m.kind == "extent")  # type: ignore[misc]
        if part.kind not in ("extent", "value"):
            waiting += part.args


def _few_atoms(dim: Symbol) -> Sequence[Symbol]:
    """Return the lengths and values that a length is computed from, or nothing if it has more than FEW parts."""
    found: list[Symbol] = []
    waiting = [dim]
    for _ in range(FEW):
        if not waiting:
            return found
        part = waiting.pop()
        if part.kind in ("extent", "value"):
            found.append(part)
        else:
            waiting += [p for p in part.args if isinstance(p, Symbol)]
    return () if waiting else found


def _side_by_side(shapes: Sequence[tuple[Dim, ...]]) -> Iterator[tuple[Dim, Dim]]:
    """Yield the neighbours among the lengths, other than 1, of each axis of operands that broadcast.

    A sum over axes that were perhaps broadcast tells of operands of any op.
    """
    for axis in range(1, 1 + max(map(len, shapes), default=0)):
        lengths = [shape[-axis] for shape in shapes if len(shape) >= axis and shape[-axis] != 1]
        yield from pairwise(part for length in lengths for part in _met(length))


def _written_dims(node: Apply) -> tuple[Dim | None, ...]:
    """Return the lengths of the part that an IncSubtensor node writes."""
    x, _, *indices = node.inputs
    return part_dims(node.op.spec, x, indices)  # type: ignore[attr-defined]


def _written_value(node: Apply) -> Variable:
    """Return what an IncSubtensor node writes, before it is broadcast to the part."""
    value = node.inputs[1]
    while value.owner is not None and isinstance(value.owner.op, BroadcastTo):
        value = value.owner.inputs[0]
    return value


def _met(length: Dim) -> Sequence[Dim]:
    """Return the lengths of which one is the joint length, or this one."""
    joint = isinstance(length, Symbol) and length.kind == "broadcast" and len(length.args) <= FEW
    return length.args if joint else (length,)  # type: ignore[union-attr, return-value]
