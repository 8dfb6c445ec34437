"""Expressions of one example made expressions of many: a new first axis, carried from what is given to the results.

    carried(outputs, {x: xs})      xs has one more axis in front than x, and so have the results

Nothing is looped over: each op is applied once, to operands that have the axis (`RULES`, keyed by the class of the op).
What is computed from none of the examples is computed once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from .. import ops as T
from ..graph import Apply, TensorType, Variable, collector_at_rest, inheriting, rebuild, toposort
from .advanced_indexing import AdvancedIncSubtensor, AdvancedSubtensor, joint_position
from .assumptions import Assume
from .blas import Dot, MatMul
from .cond import Cond, chosen
from .convolution import Convolution, KernelGradient
from .creation import Alloc, arange
from .cumulative import Cumulative
from .diagonals import Diagonal, DiagonalMatrix, Triangle
from .elementwise import Pointwise
from .indexing import IncSubtensor, Subtensor, entries
from .join import Join
from .lengths import MakeVector, Shape, ShapeI, known_length, lengths_of
from .loops import Scan, looped
from .matrices import MatrixOp
from .nn import AlongAxis
from .pooling import Pool
from .reduce import ArgReduce, Reduce, SumTo
from .shape import BroadcastTo, DimShuffle, Reshape
from .solving import System
from .sorting import SearchSorted, Sorting
from .tensor import TensorVariable

Flags = Sequence[bool]
"""For each input of a node whether it has the axis of the examples."""


class NoBatch(TypeError):
    """An op cannot be applied to many examples at once; the message says why."""


class Examples:
    """How many there are, as an int64 scalar."""

    def __init__(self, length: Variable) -> None:
        self.length = length

    def stretched(self, x: Variable) -> Any:
        """`x` once an example."""
        return BroadcastTo()(x, self.length, *lengths_of(x))

    def numbers(self, ndim: int) -> Any:
        """0, 1, 2, ... along the axis of the examples, and `ndim` axes of length 1."""
        return DimShuffle((0, *"x" * ndim))(arange(self.length))


@collector_at_rest
def carried(outputs: Sequence[Variable], given: Mapping[Variable, Variable]) -> list[Variable]:
    """The outputs for all the examples that `given` has in place of its keys, along a new first axis.

    Raises NoBatch, naming the op and its line, where an op has no form for many examples: where the lengths of a
    result would differ from one to the next.
    """
    first = next(iter(given.values()))
    examples = Examples(lengths_of(first)[0])
    images = dict(given)
    shared: dict[Variable, Variable] = {}
    """What is computed from lengths of examples, which are the same for all."""
    with inheriting() as lines:
        for node in toposort(outputs, stop_at=set(given)):
            flags = [i in images for i in node.inputs]
            if not any(flags) and not any(i in shared for i in node.inputs):
                continue
            lines.origin = node.origin
            inputs = [images[i] if f else shared.get(i, i) for i, f in zip(node.inputs, flags, strict=True)]
            if not any(flags):
                shared.update(zip(node.outputs, Apply(node.op, tuple(inputs)).outputs, strict=True))
            elif isinstance(node.op, (Shape, ShapeI)):
                shared[node.out] = _length(node, inputs[0])
            else:
                results = _applied(node, inputs, flags, examples)
                images.update(zip(node.outputs, results, strict=True))
    return [images[o] if o in images else examples.stretched(shared.get(o, o)) for o in outputs]


def _applied(node: Apply, inputs: list[Variable], flags: Flags, examples: Examples) -> Sequence[Variable]:
    rule = next((RULES[kind] for kind in type(node.op).__mro__ if kind in RULES), None)
    where = f", built at {node.origin[0]}" if node.origin else ""
    if rule is None:
        raise NoBatch(f"{node.op} cannot be applied to many examples at once{where}")
    try:
        result = rule(node, inputs, flags, examples)
    except NoBatch as reason:
        raise NoBatch(f"{node.op}{where}: {reason}") from None
    return result if isinstance(result, (list, tuple)) else (result,)


def _length(node: Apply, x: Variable) -> Any:
    return ShapeI(node.op.axis + 1)(x) if isinstance(node.op, ShapeI) else Shape()(x)[1:]


# --- what the rules are made of


def _aligned(x: Variable, has_axis: bool, own: int, ndim: int) -> Any:
    """`x`, which has `own` axes an example, with axes of length 1 so that it has `ndim`; the examples' stays in front.

    Without the examples' axis nothing need be done: axes are aligned at the end.
    """
    if not has_axis or own == ndim:
        return x
    return DimShuffle((0, *"x" * (ndim - own), *range(1, own + 1)))(x)


def _all_stretched(inputs: Sequence[Variable], flags: Flags, examples: Examples) -> list[Any]:
    return [i if has_axis else examples.stretched(i) for i, has_axis in zip(inputs, flags, strict=True)]


def _require_shared(flags: Flags, what: str) -> None:
    if any(flags):
        raise NoBatch(f"{what} would differ from one example to the next")


def _moved(x: Variable, axis: int) -> Any:
    """`x` with `axis` in front."""
    return x if axis == 0 else DimShuffle((axis, *(k for k in range(x.ndim) if k != axis)))(x)


# --- rules: the results for all examples, from inputs of which those that are flagged have the new axis


def _pointwise(node: Apply, inputs: list[Variable], flags: Flags, examples: Examples) -> Any:
    ndim = node.out.ndim
    return node.op(*(_aligned(i, f, old.ndim, ndim) for i, f, old in zip(inputs, flags, node.inputs, strict=True)))


def _batched_op(node: Apply, inputs: list[Variable], flags: Flags, examples: Examples) -> Any:
    """Ops on the last axes of their first input; what else they take is the same for all examples."""
    _require_shared(flags[1:], "its second operand")
    return node.op(*inputs)


def _aligned_op(node: Apply, inputs: list[Variable], flags: Flags, examples: Examples) -> Any:
    """Ops on the last two axes of their inputs, whose leading ones broadcast."""
    ndim = max(i.ndim for i in node.inputs)
    return node.op(*(_aligned(i, f, old.ndim, ndim) for i, f, old in zip(inputs, flags, node.inputs, strict=True)))


def _along_axis(node: Apply, inputs: list[Variable], flags: Flags, examples: Examples) -> Any:
    return replace(node.op, axis=node.op.axis + 1)(inputs[0])  # type: ignore[type-var,attr-defined]


def _reduce(node: Apply, inputs: list[Variable], flags: Flags, examples: Examples) -> Any:
    op = node.op
    assert isinstance(op, Reduce)
    return Reduce(op.scalar, tuple(axis + 1 for axis in op.axis))(inputs[0])


def _arg_reduce(node: Apply, inputs: list[Variable], flags: Flags, examples: Examples) -> Any:
    op = node.op
    assert isinstance(op, ArgReduce)
    x = inputs[0] if op.axis is not None else T.reshape(inputs[0], (examples.length, -1))
    return replace(op, axis=1 if op.axis is None else op.axis + 1)(x)


def _sum_to(node: Apply, inputs: list[Variable], flags: Flags, examples: Examples) -> Any:
    x, like = _all_stretched(inputs, flags, examples)
    ndim, own = (i.ndim for i in node.inputs)
    summed = SumTo()(x, _aligned(like, True, own, ndim))
    return DimShuffle((0, *range(1 + ndim - own, 1 + ndim)))(summed)


def _dimshuffle(node: Apply, inputs: list[Variable], flags: Flags, examples: Examples) -> Any:
    op = node.op
    assert isinstance(op, DimShuffle)
    return DimShuffle((0, *(o + 1 if isinstance(o, int) else o for o in op.order)))(inputs[0])


def _reshape(node: Apply, inputs: list[Variable], flags: Flags, examples: Examples) -> Any:
    _require_shared(flags[1:], "the lengths of its result")
    return Reshape()(inputs[0], examples.length, *inputs[1:])


def _stretch(node: Apply, inputs: list[Variable], flags: Flags, examples: Examples) -> Any:
    _require_shared(flags[1:], "the lengths of its result")
    x = _aligned(inputs[0], True, node.inputs[0].ndim, node.out.ndim)
    return node.op(x, examples.length, *inputs[1:])


def _make_vector(node: Apply, inputs: list[Variable], flags: Flags, examples: Examples) -> Any:
    return T.stack(_all_stretched(inputs, flags, examples), axis=1)


def _join(node: Apply, inputs: list[Variable], flags: Flags, examples: Examples) -> Any:
    return Join(node.op.axis + 1)(*_all_stretched(inputs, flags, examples))  # type: ignore[attr-defined]


def _dot(node: Apply, inputs: list[Variable], flags: Flags, examples: Examples) -> Any:
    (a, b), (rows, columns) = inputs, (i.ndim == 2 for i in node.inputs)
    if flags == [True, False]:
        return T.dot(a, b)
    if flags == [False, True] and not columns:
        return T.dot(b, DimShuffle((1, 0))(a) if rows else a)
    if not rows:
        a = DimShuffle(("x", 0) if not flags[0] else (0, "x", 1))(a)
    if not columns:
        b = DimShuffle((0, 1, "x"))(b)
    product = MatMul()(a, b)
    dropped = {1} if not rows else set()
    dropped |= {2} if not columns else set()
    return DimShuffle(tuple(k for k in range(3) if k not in dropped))(product) if dropped else product


def _search_sorted(node: Apply, inputs: list[Variable], flags: Flags, examples: Examples) -> Any:
    _require_shared(flags[:1], "what is searched in")
    return node.op(*inputs)


def _convolution(node: Apply, inputs: list[Variable], flags: Flags, examples: Examples) -> Any:
    """Examples of images are more images; those of kernels are groups, or all by all if their number is not known."""
    op, (x, w) = node.op, inputs
    assert isinstance(op, Convolution)
    if not flags[1]:
        return _split(op(_merged(x, 0), w), 0, examples.length)
    x, w = _all_stretched(inputs, flags, examples)
    count = known_length(examples.length)
    if count is not None:
        found = replace(op, groups=op.groups * count)(_merged(T.swapaxes(x, 0, 1), 1), _merged(w, 0))
        return _moved(_split(found, 1, examples.length), 1)
    by_group = T.swapaxes(_split(w, 1, _number(op.groups)), 0, 1)
    pairs = _split(op(_merged(x, 0), _merged(_merged(by_group, 0), 0)), 0, examples.length)
    each = _split(_split(pairs, 2, _number(op.groups)), 3, examples.length)  # examples, images, groups, examples, ...
    return _merged(_of_same(each, 0, 3), 2)


def _kernel_gradient(node: Apply, inputs: list[Variable], flags: Flags, examples: Examples) -> Any:
    op = node.op
    assert isinstance(op, KernelGradient)
    _require_shared(flags[2:], "the lengths of its result")
    x, g = (T.swapaxes(v, 0, 1) for v in _all_stretched(inputs[:2], flags[:2], examples))
    count = known_length(examples.length)
    if count is not None:
        found = replace(op, groups=op.groups * count)(_merged(x, 1), _merged(g, 1), *inputs[2:])
        return _split(found, 0, examples.length)
    x, g = (_merged(_merged(T.swapaxes(_split(v, 2, _number(op.groups)), 1, 2), 1), 1) for v in (x, g))
    pairs = _split(_split(op(x, g, *inputs[2:]), 0, _number(op.groups)), 1, examples.length)
    each = _split(pairs, 3, examples.length)  # groups, examples, outputs, examples, channels, ...
    return _merged(_of_same(each, 1, 3), 1)


def _number(n: int) -> Variable:
    return T.constant(n, "int64")


def _of_same(x: Variable, first: int, second: int) -> Any:
    """What of `x`, which has the axis of the examples twice, is of one example; the axis in front."""
    return T.moveaxis(T.diagonal(x, 0, first, second), -1, 0)


def _merged(x: Variable, axis: int) -> Any:
    """`x` with `axis` and the next one made one."""
    own = lengths_of(x)
    return T.reshape(x, (*own[:axis], T.mul(own[axis], own[axis + 1]), *own[axis + 2 :]))


def _split(x: Any, axis: int, length: Variable) -> Any:
    """The inverse: `axis` made one of `length` and a next one."""
    own = lengths_of(x)
    return T.reshape(x, (*own[:axis], length, T.floor_div(own[axis], length), *own[axis + 1 :]))


# --- indexing


class _Indexed:
    """How a read or write of one example's elements is written for all: what stands in the brackets, and where."""

    def __init__(
        self, op: Any, x: Variable, old: Sequence[Variable], indices: Sequence[Variable], flags: Flags
    ) -> None:
        pointers = [k for k in entries(op.spec, range(len(old))) if not isinstance(k, slice)]
        _require_shared([f for k, f in enumerate(flags) if k not in pointers], "a bound of a slice")
        self.spec, self.indices, self.flags = op.spec, list(indices), flags
        self.joint = max((old[k].ndim for k in pointers), default=0)
        """The number of joint axes of arrays and integers."""
        self.place = joint_position(op.spec) if pointers else 0
        self.part = x.ndim - len(pointers) + self.joint
        """The number of axes of what is read or written."""
        self.own = [i.ndim for i in old]
        self.pointers = pointers

    @property
    def by_examples(self) -> bool:
        """Whether the positions differ from example to example."""
        return any(self.flags)

    def with_arrays(self) -> tuple[tuple[str, ...], list[Variable]]:
        """The spec with every integer an array, and the indices, those of examples aligned."""
        spec = tuple("a" if entry == "i" else entry for entry in self.spec)
        return spec, [
            _aligned(i, f, own, self.joint) if k in self.pointers else i
            for k, (i, f, own) in enumerate(zip(self.indices, self.flags, self.own, strict=True))
        ]

    def whole(self) -> tuple[tuple[str, ...], list[Variable]]:
        """The spec and indices where all examples are indexed alike: their axis is taken whole."""
        return ("s000", *self.spec), self.indices

    def one_by_one(self, examples: Examples) -> tuple[tuple[str, ...], list[Variable]]:
        """The spec and indices where each example, of a tensor that has their axis, is indexed in its own way."""
        spec, indices = self.with_arrays()
        return ("a", *spec), [examples.numbers(self.joint), *indices]

    def behind_joint(self) -> bool:
        """Whether NumPy puts the joint axes before that of the examples, where this is taken whole."""
        return len(self.pointers) > 0 and joint_position(("s000", *self.spec)) == 0

    def order(self) -> tuple[int, ...]:
        """Axes (examples, joint, the others) in the order in which one example has them."""
        joint, others = range(1, 1 + self.joint), range(1 + self.joint, 1 + self.part)
        return (0, *others[: self.place], *joint, *others[self.place :])


def _read(node: Apply, inputs: list[Variable], flags: Flags, examples: Examples) -> Any:
    x, *indices = inputs
    at = _Indexed(node.op, node.inputs[0], node.inputs[1:], indices, flags[1:])
    if not at.by_examples:
        spec, indices = at.whole()
        found = type(node.op)(spec)(x, *indices)  # type: ignore[call-arg]
        return _moved(found, at.joint) if at.behind_joint() else found
    if flags[0]:
        spec, indices = at.one_by_one(examples)
        return DimShuffle(at.order())(AdvancedSubtensor(spec)(x, *indices))
    spec, indices = at.with_arrays()
    return _moved(AdvancedSubtensor(spec)(x, *indices), at.place)


def _write(node: Apply, inputs: list[Variable], flags: Flags, examples: Examples) -> Any:
    x, y, *indices = inputs
    at = _Indexed(node.op, node.inputs[0], node.inputs[2:], indices, flags[2:])
    own = node.inputs[1].ndim
    x = x if flags[0] else examples.stretched(x)
    y = _aligned(y, True, own, at.part) if flags[1] else DimShuffle((*"x" * (1 + at.part - own), *range(own)))(y)
    is_set: bool = node.op.set  # type: ignore[attr-defined]
    if at.by_examples:
        spec, indices = at.one_by_one(examples)
        back = sorted(range(1 + at.part), key=at.order().__getitem__)
        return AdvancedIncSubtensor(spec, set=is_set)(x, DimShuffle(tuple(back))(y), *indices)
    spec, indices = at.whole()
    if at.behind_joint():
        y = DimShuffle((*range(1, 1 + at.joint), 0, *range(1 + at.joint, 1 + at.part)))(y)
    return type(node.op)(spec, set=is_set)(x, y, *indices)  # type: ignore[call-arg]


# --- loops and choices


def _scan(node: Apply, inputs: list[Variable], flags: Flags, examples: Examples) -> Any:
    """One loop for all examples: they take the same steps."""
    op = node.op
    assert isinstance(op, Scan)
    _require_shared(flags[:1], "the number of steps")
    body, states = op.graph, op.states
    steps, *rest = inputs
    given: dict[Variable, Variable] = {}
    same: dict[Variable, Variable] = {}
    varied = _varied(op, flags[1:])
    sequences, leaves, firsts, olds = [], [], [], []
    for k, (outer, inner, has_axis) in enumerate(zip(rest, body.inputs, flags[1:], strict=True)):
        if k < states.start:
            sequences.append(T.swapaxes(outer, 0, 1) if has_axis else outer)  # steps first
            leaves.append(_leaf(sequences[-1].type.with_shape(sequences[-1].type.shape[1:]), inner))
            (given if has_axis else same)[inner] = leaves[-1]
        elif k < states.stop:
            firsts.append(examples.stretched(outer) if inner in varied and not has_axis else outer)
            olds.append(_leaf(firsts[-1].type, inner))
            (given if inner in varied else same)[inner] = olds[-1]
        else:
            (given if has_axis else same)[inner] = outer
    outputs = rebuild(body.outputs, dict(same))
    depends = [o in varied for o in body.outputs]
    depends[: len(olds)] = [inner in varied for inner in body.inputs[states]]
    if op.until and depends[-1]:
        raise NoBatch("the number of steps would differ from one example to the next")
    many = iter(carried([o for o, d in zip(outputs, depends, strict=True) if d], given))
    kept = [next(many) if d else o for o, d in zip(outputs, depends, strict=True)]
    count, last = len(olds), len(outputs) - op.until
    found = looped(
        type(op), steps, sequences, leaves, firsts, olds, kept[:count], kept[count:last],
        kept[-1] if op.until else None, op.traced, op.truncate,
    )  # fmt: skip
    stacked = (*op.traced, *(True for _ in found[count:]))
    return [
        examples.stretched(o) if not d else T.swapaxes(o, 0, 1) if s else o
        for o, s, d in zip(found, stacked, depends, strict=False)
    ]


def _varied(op: Scan, flags: Flags) -> set[Variable]:
    """The values of a body that differ from example to example."""
    body, states = op.graph, op.states
    found = {i for i, f in zip(body.inputs, flags, strict=True) if f}
    while True:
        for inner in body.order:
            if not found.isdisjoint(inner.inputs):
                found.update(inner.outputs)
        new = {s for s, o in zip(body.inputs[states], body.outputs, strict=False) if o in found and s not in found}
        if not new:
            return found
        found |= new


def _cond(node: Apply, inputs: list[Variable], flags: Flags, examples: Examples) -> Any:
    """One choice for all examples; where it differs from one to the next both branches are computed."""
    op = node.op
    assert isinstance(op, Cond)
    leaves = [_leaf(outer.type, inner) for outer, inner in zip(inputs[1:], op.then.inputs, strict=True)]
    branches = []
    for graph in op.branches:
        if flags[0]:
            leaves = inputs[1:]
        pairs = list(zip(graph.inputs, leaves, flags[1:], strict=True))
        outputs = rebuild(graph.outputs, {inner: leaf for inner, leaf, f in pairs if not f})
        given = {inner: leaf for inner, leaf, f in pairs if f}
        branches.append(carried(outputs, given) if given else [examples.stretched(o) for o in outputs])
    if not flags[0]:
        return chosen(inputs[0], leaves, inputs[1:], *branches)
    test = inputs[0]
    return [T.switch(_aligned(test, True, 0, a.ndim - 1), a, b) for a, b in zip(*branches, strict=True)]


def _leaf(kind: TensorType, like: Variable) -> Variable:
    return TensorVariable(kind, name=like.name)


RULES: dict[type, Callable[[Apply, list[Variable], Flags, Examples], Any]] = {
    Pointwise: _pointwise,
    Reduce: _reduce,
    ArgReduce: _arg_reduce,
    SumTo: _sum_to,
    Cumulative: _along_axis,
    AlongAxis: _along_axis,
    Sorting: _along_axis,
    SearchSorted: _search_sorted,
    DimShuffle: _dimshuffle,
    Reshape: _reshape,
    BroadcastTo: _stretch,
    Alloc: _stretch,
    MakeVector: _make_vector,
    Join: _join,
    Scan: _scan,
    Cond: _cond,
    Subtensor: _read,
    AdvancedSubtensor: _read,
    IncSubtensor: _write,
    AdvancedIncSubtensor: _write,
    Dot: _dot,
    MatMul: _aligned_op,
    System: _aligned_op,
    MatrixOp: _batched_op,
    Assume: _batched_op,
    Convolution: _convolution,
    KernelGradient: _kernel_gradient,
    Pool: _batched_op,
    Diagonal: _batched_op,
    DiagonalMatrix: _batched_op,
    Triangle: _batched_op,
}
