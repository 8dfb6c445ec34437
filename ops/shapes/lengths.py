"""Lengths as values: shapes in a graph, and conversion between int64 scalars and the Dims of graph/dims.py.

    tensor_to_dim: scalar variable -> Dim       what a length given by the user proves about a shape
    dim_to_tensor: Dim -> scalar variable       how a length that is known symbolically is computed at run time
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial, reduce
from typing import Any, ClassVar
from weakref import WeakValueDictionary, ref

import numpy as np

from ...graph import (
    Apply,
    Constant,
    Dim,
    FunctionGraph,
    Kind,
    Lacks,
    TensorType,
    Variable,
    dims,
    dims_of,
    rebuild,
    toposort,
)
from ...record import record
from ...record.spelling import counted
from ..control.batching import Examples, Flags, SameForAll, all_broadcast
from ..core.checks import describe, require_count, require_index_scalar, shown, unpacked
from ..core.namespace import T
from ..core.tensor import TensorOp, TensorVariable, constant
from ..core.traced import as_variable, length
from ..core.tracing import current
from ..core.typing import LengthLike, ShapeLike, TensorLike
from ..elementwise import costs
from ..writing import code, latex
from .slices import greater

__all__ = ["lengths_of"]

LENGTH = TensorType("int64")


@record(repr=False)
class Shape(TensorOp):
    """The lengths of all axes of the input, as an int64 vector."""

    name = "shape"
    unread = 0
    picture: ClassVar[Kind] = Kind.SHAPE
    operations: ClassVar[Callable[..., Any]] = costs.moving
    lacks: ClassVar[Lacks] = Lacks(lengths="its type has them")

    def infer(self, inputs: tuple[Variable, ...]) -> tuple[TensorType, ...]:
        require_count(self.name, inputs, 1)
        return (TensorType("int64", (inputs[0].ndim,)),)

    def evaluate(self, *values: np.ndarray) -> tuple[np.ndarray, ...]:
        return (np.array(values[0].shape, dtype=np.int64),)

    def vjp(self, node: Apply, cotangents: Sequence[Variable | None]) -> Sequence[Variable | None]:
        return [None]

    def batching(self, node: Apply, inputs: list[Variable], flags: Flags, examples: Examples) -> Any:
        """Return the lengths of an example, which are the same for all."""
        return SameForAll(self(inputs[0])[1:])

    def code(self, output: Variable, speaker: code.Speaker, /) -> code.Code:
        """`x.shape`; an array of the lengths in NumPy, where `x.shape` is a tuple."""
        assert output.owner is not None
        written = f"{speaker.atom(output.owner.inputs[0])}.shape"
        return f"np.array({written}, dtype='int64')" if speaker.numpy else written, code.ATOM


@record(repr=False)
class ShapeI(TensorOp):
    """The length of one axis of the input, as an int64 scalar."""

    axis: int
    name = "shape_i"
    unread = 0
    picture: ClassVar[Kind] = Kind.SHAPE
    operations: ClassVar[Callable[..., Any]] = costs.moving
    lacks: ClassVar[Lacks] = Lacks(lengths="its type has them")

    def infer(self, inputs: tuple[Variable, ...]) -> tuple[TensorType, ...]:
        require_count(self.name, inputs, 1)
        if not 0 <= self.axis < inputs[0].ndim:
            raise ValueError(f"shape_i: {describe(inputs[0])} has no axis {self.axis}")
        return (LENGTH,)

    def evaluate(self, *values: np.ndarray) -> tuple[np.ndarray, ...]:
        return (np.array(values[0].shape[self.axis], dtype=np.int64),)

    def vjp(self, node: Apply, cotangents: Sequence[Variable | None]) -> Sequence[Variable | None]:
        return [None]

    def batching(self, node: Apply, inputs: list[Variable], flags: Flags, examples: Examples) -> Any:
        """Return the length of an example, which is the same for all."""
        return SameForAll(ShapeI(self.axis + 1)(inputs[0]))

    def formula(self, output: Variable, operands: Sequence[latex.Written], /) -> latex.Written:
        assert output.owner is not None
        below = f"_{{{self.axis}}}" if output.owner.inputs[0].ndim > 1 else ""
        return rf"\operatorname{{length}}{below}\left({operands[0][0]}\right)", latex.ATOM

    def code(self, output: Variable, speaker: code.Speaker, /) -> code.Code:
        """`x.shape[0]`."""
        assert output.owner is not None
        return f"{speaker.atom(output.owner.inputs[0])}.shape[{self.axis}]", code.ATOM


@record(repr=False)
class MakeVector(TensorOp):
    """A vector of the scalars given, which have one dtype; of int64 if there are none."""

    name = "make_vector"
    picture: ClassVar[Kind] = Kind.SHAPE
    operations: ClassVar[Callable[..., Any]] = costs.moving
    lacks: ClassVar[Lacks] = Lacks(lengths="its type has them")

    def infer(self, inputs: tuple[Variable, ...]) -> tuple[TensorType, ...]:
        dtype = inputs[0].dtype if inputs else "int64"
        for i in inputs:
            if i.type.shape or i.dtype != dtype:
                raise TypeError(f"make_vector takes scalars of one dtype ({dtype} here), got {describe(i)}")
        return (TensorType(dtype, (len(inputs),)),)

    def evaluate(self, *values: np.ndarray) -> tuple[np.ndarray, ...]:
        return (np.array(values, dtype=values[0].dtype if values else np.int64),)

    def vjp(self, node: Apply, cotangents: Sequence[Variable | None]) -> Sequence[Variable | None]:
        g: Any = cotangents[0]
        return [None if g is None else g[n] for n in range(len(node.inputs))]

    def batching(self, node: Apply, inputs: list[Variable], flags: Flags, examples: Examples) -> Any:
        return T.stack(all_broadcast(inputs, flags, examples), axis=1)

    def code(self, output: Variable, speaker: code.Speaker, /) -> code.Code:
        """`stack([a, b])`."""
        assert output.owner is not None
        inputs = output.owner.inputs
        if not inputs:
            return speaker.constant(np.zeros(0, np.int64)), code.ATOM
        if all(isinstance(i, Constant) for i in inputs):
            return speaker.constant(np.array([i.data for i in inputs])), code.ATOM  # type: ignore[attr-defined]
        return speaker.call("stack", f"[{', '.join(speaker.texts(inputs))}]")


def shape(x: TensorLike) -> TensorVariable:
    """The shape of `x`: an int64 vector of known length, so it can be indexed, iterated and given to `reshape`."""
    return Shape()(x)


def lengths_of(x: Variable) -> tuple[TensorVariable, ...]:
    """The length of each axis of `x` as an int64 scalar: a constant where it is known."""
    return tuple(
        ShapeI(axis)(x) if known is None else constant(known, "int64") for axis, known in enumerate(x.type.shape)
    )


# --- shapes as users give them


def as_length(n: LengthLike, what: str, least: int | None = None) -> TensorVariable:
    """The int64 scalar for one length (or index).  Raises TypeError unless it is an integer scalar.

    `least`: the least that it may be; ValueError for one that is known and less.
    """
    n = as_variable(n)
    if isinstance(n, Variable):
        if n.type.shape or n.type.kind not in "iu":
            raise TypeError(f"{what}: expected an integer or an integer scalar, got {describe(n)}")
        return n if n.dtype == "int64" else T.cast(n, "int64")  # type: ignore[return-value]  # see as_tensor
    try:
        number = operator.index(unpacked(n))
    except TypeError:
        raise TypeError(f"{what}: expected an integer or an integer scalar, got {shown(n)}") from None
    if least is not None and number < least:
        raise ValueError(f"{what}: expected an integer that is {least} or more, got {number}")
    return constant(number, "int64")


def as_lengths(shape: ShapeLike, what: str, ndim: int | None = None, role: str = "shape") -> tuple[TensorVariable, ...]:
    """The int64 scalars of a shape given as an integer, a sequence of integers and scalars, or a vector.

    `ndim`: how many there are to be; a vector of another length then raises when the function runs.  `role`: the name
    of the argument, for errors.  Raises TypeError for anything else, and ValueError for a vector whose length is not
    known (the rank would not be).
    """
    if ndim is not None and (isinstance(ndim, bool) or not isinstance(ndim, (int, np.integer)) or ndim < 0):
        raise TypeError(f"{what}: ndim must be the number of lengths, an int, got {ndim!r}")
    if isinstance(shape, Variable) and shape.ndim == 1:
        found = tuple(as_length(n, what) for n in _elements(shape, what, ndim))
    else:
        given: Any = unpacked(shape)
        several = not isinstance(given, Variable) and isinstance(given, Iterable) and not isinstance(given, str)
        least = -1 if what == "reshape" else 0
        who = f"{what}: {role}" if role else what
        found = tuple(as_length(n, who, least) for n in (given if several else (given,)))
    if ndim is not None and len(found) != ndim:
        raise ValueError(f"{what}: ndim is {ndim}, got {counted(len(found), 'length')}")
    return found


def _elements(vector: Any, what: str, ndim: int | None) -> Sequence[TensorVariable]:
    count = vector.type.shape[0]
    if count is None and ndim is not None:
        vector, count = T.reshape(vector, (ndim,)), ndim
    if count is None:
        fix = f"T.{what}(x, vector, ndim=2)" if what in ("reshape", "tile") else "(n, m)"
        raise ValueError(
            f"{what}: the number of elements of {describe(vector)} is not known when the graph is built, so the rank "
            f"of the result is not; say it, as in {fix}"
        )
    if not shows_its_elements(vector):
        return [vector[n] for n in range(count)]
    if isinstance(vector, Constant):
        return list(vector.data.tolist())
    return lengths_of(vector.owner.inputs[0]) if isinstance(vector.owner.op, Shape) else tuple(vector.owner.inputs)


def shows_its_elements(vector: Variable) -> bool:
    """Whether each element is known separately: of a constant, of a shape, of a vector made of scalars."""
    made = vector.owner is not None and isinstance(vector.owner.op, (Shape, MakeVector))
    return made or isinstance(vector, Constant)


def plus(a: Variable, b: Variable) -> TensorVariable:
    """Return the sum of two lengths, a constant if both are."""
    both = isinstance(a, Constant) and isinstance(b, Constant)
    return constant(a.data + b.data, "int64") if both else T.add(a, b)  # type: ignore[attr-defined]


def minus(a: Variable, b: Variable) -> TensorVariable:
    """Return the difference of two lengths, a constant if both are."""
    both = isinstance(a, Constant) and isinstance(b, Constant)
    return constant(a.data - b.data, "int64") if both else T.sub(a, b)  # type: ignore[attr-defined]


# --- what a given length proves

_SEEN_THROUGH: dict[str, Callable[[Dim, Dim], Dim]] = {
    "add": dims.add, "sub": dims.sub, "mul": dims.mul, "maximum": dims.maximum, "minimum": dims.minimum,
}  # fmt: skip
_DEPTH = 8
"""Most ops that the analysis of a length descends into, so that a chain of 100,000 ops takes little time."""


def tensor_to_dim(scalar: Variable, depth: int = _DEPTH) -> Dim:
    """Return the Dim of an integer scalar: `x.shape[0] + 1` is one more than the length of x's first axis."""
    node = scalar.owner
    if node is None or depth == 0 or scalar.type.kind not in "iu":
        return dims.value(scalar)
    name = node.op.name
    if name == "shape_i":
        return dims_of(node.inputs[0])[node.op.axis]  # type: ignore[attr-defined]
    if name == "subtensor":
        element = _element_dim(node, depth)
        return dims.value(scalar) if element is None else element
    if name == "cast" and node.inputs[0].type.kind in "biu" and scalar.dtype == "int64":
        return tensor_to_dim(node.inputs[0], depth - 1)
    if name == "switch" and (joint := _joint_operands(node)) is not None:
        return dims.broadcast([tensor_to_dim(i, depth - 1) for i in joint])
    if scalar.dtype != "int64" or len(node.inputs) < 2:
        return dims.value(scalar)
    if name == "floor_div" and isinstance(divisor := tensor_to_dim(node.inputs[1], 0), int) and divisor > 0:
        return dims.floordiv(tensor_to_dim(node.inputs[0], depth - 1), divisor)
    if name == "right_shift" and isinstance(places := tensor_to_dim(node.inputs[1], 0), int) and 0 <= places < 63:
        return dims.floordiv(tensor_to_dim(node.inputs[0], depth - 1), 1 << places)  # as rules write a division
    if name == "mod":  # of the sign of the divisor; 0 for a divisor of 0
        return dims.value(scalar, natural=dims.is_length(tensor_to_dim(node.inputs[1], depth - 1)))
    combine = _SEEN_THROUGH.get(name)
    if combine is None:
        return dims.value(scalar)
    first, *rest = (tensor_to_dim(i, depth - 1) for i in node.inputs)
    for dim in rest:
        first = combine(first, dim)
    return first


def _element_dim(node: Apply, depth: int) -> Dim | None:
    """The Dim of `shape(x)[k]` or `make_vector(...)[k]` for a constant k; None for other elements."""
    vector = node.inputs[0]
    if len(node.inputs) != 2 or vector.owner is None or vector.ndim != 1 or not isinstance(node.inputs[1], Constant):
        return None
    k, above = int(node.inputs[1].data), vector.owner
    if isinstance(above.op, Shape):
        return dims_of(above.inputs[0])[k]
    return tensor_to_dim(above.inputs[k], depth - 1) if isinstance(above.op, MakeVector) else None


def _joint_operands(node: Apply) -> tuple[Variable, Variable] | None:
    """(a, b) where the node is `switch(eq(a, 1), b, a)`, which is how `dim_to_tensor` writes a joint length."""
    test, if_true, if_false = node.inputs
    if test.owner is None or test.owner.op.name != "eq":
        return None
    left, right = test.owner.inputs
    is_one = isinstance(right, Constant) and right.data.ndim == 0 and right.data == 1
    return (if_false, if_true) if left is if_false and is_one else None


def known_length(scalar: Variable) -> int | None:
    """The value of a length where it is known when the graph is built, else None."""
    dim = tensor_to_dim(scalar)
    return dim if isinstance(dim, int) else None


# --- lengths inside of an inner graph


def int_length(x: Variable, axis: int) -> int | None:
    """A length that the type has, or that a traced call has, by a guard; None for one that is not known."""
    known = x.type.shape[axis]
    trace = current()
    if known is not None or trace is None or not trace.of_call:
        return known
    found = length(x, axis, trace)
    return None if isinstance(found, Variable) else operator.index(found)


def int_or_scalar(length: Any) -> Any:
    """The length as an int if it is known when the graph is built, else as it is."""
    known = known_length(length)
    return length if known is None else known


def outer_lengths(
    graph: FunctionGraph, operands: Sequence[Variable | None], shapes: Sequence[Sequence[Dim]]
) -> list[tuple[Dim | None, ...]]:
    """Return the lengths of an inner graph's outputs in terms of those of its operands, `shapes`; None if unknown.

    Lengths may depend on the values of operands that are integer scalars.  None among the operands: one that changes
    from one application of the graph to the next.
    """
    integers = {
        i: v for i, v in zip(graph.inputs, operands, strict=True)
        if v is not None and not v.ndim and v.type.kind in "iu"
    }  # fmt: skip
    found = _seen_outside(graph.outputs, graph.inputs, shapes, integers)
    if integers and any(None in row for row in found):  # the sign of a bound may be known outside
        found = _seen_outside(rebuild(graph.outputs, dict(integers)), graph.inputs, shapes, integers)
    return found


def _seen_outside(
    outputs: Sequence[Variable], inputs: Sequence[Variable], shapes: Sequence[Sequence[Dim]],
    integers: Mapping[Variable, Variable],
) -> list[tuple[Dim | None, ...]]:  # fmt: skip
    place = {i: k for k, i in enumerate(inputs)}
    inside = {o for node in toposort(outputs, stop_at=[*inputs, *integers.values()]) for o in node.outputs}

    def outer(atom: dims.Symbol) -> Dim | None:
        variable: Any
        variable, *axis = atom.args
        if variable not in place:
            return None if variable in inside else atom
        if axis:
            return shapes[place[variable]][operator.index(axis[0])]  # type: ignore[arg-type]
        return tensor_to_dim(integers[variable]) if variable in integers else None

    def length(dim: Dim) -> Dim | None:
        found = dims.substituted(dim, outer)
        is_extent = isinstance(dim, dims.Symbol) and dim.kind == "extent"
        return found if found is None or is_extent else greater(found, 0)

    return [tuple(map(length, dims_of(o))) for o in outputs]


# --- how a known length is computed


def dim_to_tensor(dim: Dim) -> TensorVariable:
    """The int64 scalar that computes `dim` from shapes and integer values alone.

    As long as it is used anywhere, lengths that build on it share it: those of a chain take as many nodes as its links.
    """
    made: dict[Dim, Variable] = {}
    stack = [dim]
    while stack:
        current = stack[-1]
        if current not in made and not isinstance(current, int) and (shared := current.computed()) is not None:
            made[current] = shared
        operands = () if current in made else _operands(current)
        missing = [a for a in operands if a not in made]
        if missing:
            stack.extend(missing)
            continue
        stack.pop()
        if current not in made:
            parts = [made[a] for a in operands]
            made[current] = reduce(partial(_combine, current.kind), parts) if parts else _atom(current)  # type: ignore[union-attr, arg-type]
            if not isinstance(current, int):
                current.computed = ref(made[current])
    return made[dim]  # type: ignore[return-value]  # see as_tensor


def _operands(dim: Dim) -> tuple[Dim, ...]:
    return () if isinstance(dim, int) or dim.kind in ("extent", "value") else dim.args  # type: ignore[return-value]


def _atom(dim: Dim) -> TensorVariable:
    if isinstance(dim, int):
        return constant(dim, "int64")
    if dim.kind == "extent":
        variable, axis = dim.args
        return ShapeI(axis)(variable)  # type: ignore[arg-type]
    return T.cast(dim.args[0], "int64")  # type: ignore[arg-type]


_joints: WeakValueDictionary[tuple[int, int], TensorVariable] = WeakValueDictionary()


def _joint(a: TensorVariable, b: TensorVariable) -> TensorVariable:
    """Return the joint length of two, the same node as before while that is used.

    The lengths of the layers of a residual network are joint lengths of more and more operands, in one order.  The node
    holds both operands, so their addresses stay unique.
    """
    found = _joints.get((id(a), id(b)))
    if found is None:
        found = _joints[id(a), id(b)] = T.switch(T.eq(a, 1), b, a)
    return found


def _combine(kind: str, a: TensorVariable, b: TensorVariable) -> TensorVariable:
    if kind == "broadcast":
        return _joint(a, b)
    made: TensorVariable = getattr(T, "floor_div" if kind == "floordiv" else kind)(a, b)
    return made


# --- broadcasting


def broadcast_shape(name: str, inputs: tuple[Variable, ...]) -> tuple[int | None, ...]:
    """The static shape of `inputs[0]` broadcast to the lengths `inputs[1:]`.

    Raises TypeError for lengths that are no int64 scalars and ValueError where the two cannot agree.
    """
    if not inputs:
        raise TypeError(f"{name} takes a tensor and one length an axis")
    x, lengths = inputs[0], inputs[1:]
    for n in lengths:
        require_index_scalar(name, n, "a length")
    if x.ndim > len(lengths):
        raise ValueError(f"{name}: {describe(x)} has more axes than the {counted(len(lengths), 'length')} given for it")
    own = (1,) * (len(lengths) - x.ndim) + x.type.shape
    wanted = [known_length(n) for n in lengths]
    for axis, (have, want) in enumerate(zip(own, wanted, strict=True)):
        if want is not None and (want < 0 or have not in (None, 1, want)):
            raise ValueError(f"{name}: {describe(x)} cannot be broadcast to length {want} on axis {axis} of the result")
    return tuple(want if have in (None, 1) else have for have, want in zip(own, wanted, strict=True))
