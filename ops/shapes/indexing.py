"""Basic indexing: integers and slices, read (`Subtensor`) and written (`IncSubtensor`).

A spec has one entry an axis that is touched, the others are whole:

    "i"       an integer; one int64 scalar input
    "s101"    a slice; the flags say which of start, stop and step are int64 scalar inputs

so `x[1:, k]` is `Subtensor(("s100", "i"))(x, 1, k)`: numbers are inputs, and another number is not another op.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, ClassVar

import numpy as np

from ...graph import Apply, Constant, Dim, Kind, TensorType, Variable, dims
from ...graph.dims import dims_of, opaque_dims
from ...record import record
from ...record.spelling import counted
from ..control.batching import Examples, Flags, aligned, moved, require_shared
from ..core.checks import describe, require_index_scalar
from ..core.namespace import T, classes
from ..core.tensor import TensorOp
from ..elementwise import costs
from ..writing import code, latex
from .creation import zeros_like
from .lengths import tensor_to_dim
from .slices import slice_dim

Spec = tuple[str, ...]


def count_inputs(spec: Spec) -> int:
    """Return the number of inputs of the entries of `spec`."""
    return sum(entry[1:].count("1") if entry[0] == "s" else 1 for entry in spec)


def entries(spec: Spec, values: Sequence[Any]) -> list[Any]:
    """Return the entries of an index: each the value, or a slice of values."""
    rest: Iterator[Any] = iter(values)
    return [
        slice(*(next(rest) if flag == "1" else None for flag in entry[1:])) if entry[0] == "s" else next(rest)
        for entry in spec
    ]


INDEX_DTYPES = frozenset(("int64", "int32", "int16", "int8", "uint32", "uint16", "uint8"))
"""Dtypes of arrays of indices; graphs are built with int64."""


def check_inputs(name: str, spec: Spec, x: Variable, indices: Sequence[Variable]) -> None:
    """Raise TypeError for a wrong number or dtype of index inputs, IndexError if no element can be meant."""
    if len(indices) != count_inputs(spec):
        raise TypeError(f"{name}{list(spec)} takes {count_inputs(spec)} indices, got {len(indices)}")
    if len(spec) > x.ndim:
        raise IndexError(f"too many indices: {describe(x)} has {counted(x.ndim, 'axis')}, {len(spec)} are indexed")
    for axis, (entry, index) in enumerate(zip(spec, entries(spec, indices), strict=True)):
        if isinstance(index, slice):
            for bound in (index.start, index.stop, index.step):
                if bound is not None:
                    require_index_scalar(name, bound, "the bound of a slice")
            continue
        if entry == "i":
            require_index_scalar(name, index, "an index")
        elif index.dtype not in INDEX_DTYPES:
            raise TypeError(f"{name}: an array of indices must be of integers that int64 holds, got {describe(index)}")
        _check_in_range(x, axis, index)


def _check_in_range(x: Variable, axis: int, index: Variable) -> None:
    """Raise IndexError for a constant index that is certainly out of range on `axis`."""
    length = x.type.shape[axis]
    if length is None or not isinstance(index, Constant):
        return
    for i in index.data.ravel():
        if not -length <= i < length:
            raise IndexError(f"index {i} is out of bounds for axis {axis} of {describe(x)} with size {length}")


def sliced_dims(spec: Spec, indices: Sequence[Variable], shape: Sequence[Dim]) -> list[Dim | None]:
    """Return the lengths of the sliced axes of a tensor of lengths `shape`; None where the algebra cannot tell."""
    found = []
    for axis, index in enumerate(entries(spec, indices)):
        if not isinstance(index, slice):
            continue
        start, stop, step = (None if b is None else tensor_to_dim(b) for b in (index.start, index.stop, index.step))
        if step == 0:
            raise ValueError(f"the step of the slice of axis {axis} is 0")
        found.append(slice_dim(shape[axis], start, stop, step))
    return found


def part_dims(spec: Spec, x: Variable, indices: Sequence[Variable]) -> tuple[Dim | None, ...]:
    """Return the lengths of a part of `x`; None for one that depends on values."""
    return (*sliced_dims(spec, indices, dims_of(x)), *dims_of(x)[len(spec) :])


def sliced_lengths(spec: Spec, x: Variable, indices: Sequence[Variable]) -> list[int | None]:
    """Return the static lengths of the sliced axes."""
    found = sliced_dims(spec, indices, opaque_dims(x))
    return [n if isinstance(n, int) else None for n in found]


def concrete(value: Any) -> Any:
    """Return the Python index for an array: scalars as ints, slices of ints."""
    if isinstance(value, slice):
        return slice(*(None if b is None else int(b) for b in (value.start, value.stop, value.step)))
    return value if value is None or value.ndim else int(value)


def can_fail(spec: Spec) -> bool:
    """Whether an index may be out of range, or a step be 0."""
    return any(entry[0] != "s" or entry[3] == "1" for entry in spec)


def part_formula(op: Any, output: Variable, operands: Sequence[latex.Written]) -> latex.Written:
    """Return a part of a tensor as the tensor with an index below it, from the spec and the operands behind it."""
    assert output.owner is not None
    parts = index_entries(op.spec, output.owner.inputs[0].ndim, [text for text, _ in operands[1:]])
    return latex.indexed(operands[0], parts) if op.spec else operands[0]


def index_entries(spec: Spec, ndim: int, texts: Sequence[str]) -> list[str]:
    """Return the entries of an index as text, one for each axis."""
    parts = []
    for entry in entries(spec, texts):
        if isinstance(entry, slice):
            start, stop, step = (bound or "" for bound in (entry.start, entry.stop, entry.step))
            parts.append(f"{start}:{stop}" + (f":{step}" if step else ""))
        else:
            parts.append(entry)
    return [*parts, *[":"] * (ndim - len(parts))]


def write_formula(op: Any, output: Variable, operands: Sequence[latex.Written]) -> latex.Written:
    """Return a tensor with a part that is set, or to which a value is added."""
    assert output.owner is not None
    x, value, *indices = operands
    part, _ = latex.indexed(x, index_entries(op.spec, output.owner.inputs[0].ndim, [text for text, _ in indices]))
    word = "set" if op.set else "add"
    return rf"\operatorname{{{word}}}\left({part}, {value[0]}\right)", latex.ATOM


def index_code(spec: Spec, indices: Sequence[Variable], speaker: code.Speaker) -> str:
    """Return the index in Python, from the spec and the operands behind the first: `[1:, i]`."""
    parts = []
    for entry in entries(spec, indices):
        if not isinstance(entry, slice):
            parts.append(speaker.text(entry))
            continue
        start, stop, step = ("" if b is None else speaker.text(b) for b in (entry.start, entry.stop, entry.step))
        parts.append(f"{start}:{stop}" + (f":{step}" if step else ""))
    return code.indexed(parts or ["()"])


def read_code(op: Any, output: Variable, speaker: code.Speaker) -> code.Code:
    """Return `x[1:, i]`."""
    assert output.owner is not None
    x, *indices = output.owner.inputs
    return (f"{speaker.atom(x)}{index_code(op.spec, indices, speaker)}", code.ATOM) if op.spec else speaker.codes[x]


def write_code(op: Any, output: Variable, speaker: code.Speaker) -> code.Code:
    """Return `set_subtensor(x[1:, i], y)` or `inc_subtensor(...)`."""
    assert output.owner is not None
    x, y, *indices = output.owner.inputs
    if speaker.numpy:
        raise code.Unwritten("NumPy writes parts by a statement")
    part = f"{speaker.atom(x)}{index_code(op.spec, indices, speaker)}"
    return speaker.call("set_subtensor" if op.set else "inc_subtensor", part, speaker.text(y))


# --- many examples at once


def joint_position(spec: Spec) -> int:
    """Return the axis of the result where the joint axes of arrays and integers begin."""
    pointed = [k for k, entry in enumerate(spec) if entry[0] != "s"]
    return pointed[0] if pointed[-1] - pointed[0] == len(pointed) - 1 else 0


class ExampleIndex:
    """The index that reads or writes the elements of all examples, and the position of the examples' axis in it."""

    def __init__(
        self, op: Any, x: Variable, old: Sequence[Variable], indices: Sequence[Variable], flags: Flags
    ) -> None:
        pointers = [k for k in entries(op.spec, range(len(old))) if not isinstance(k, slice)]
        require_shared([f for k, f in enumerate(flags) if k not in pointers], "a bound of a slice")
        self.spec: Any = op.spec
        self.indices: list[Variable] = list(indices)
        self.flags: Flags = flags
        self.joint: int = max((old[k].ndim for k in pointers), default=0)
        """The number of joint axes of arrays and integers."""
        self.place: int = joint_position(op.spec) if pointers else 0
        self.part: int = x.ndim - len(pointers) + self.joint
        """The number of axes of the part that is read or written."""
        self.own: list[int] = [i.ndim for i in old]
        self.pointers = pointers

    @property
    def by_examples(self) -> bool:
        """Whether the positions differ between examples."""
        return any(self.flags)

    def with_arrays(self) -> tuple[tuple[str, ...], list[Variable]]:
        """Return the spec with integers as arrays, and the indices, those of examples aligned."""
        spec = tuple("a" if entry == "i" else entry for entry in self.spec)
        return spec, [
            aligned(i, f, own, self.joint) if k in self.pointers else i
            for k, (i, f, own) in enumerate(zip(self.indices, self.flags, self.own, strict=True))
        ]

    def whole(self) -> tuple[tuple[str, ...], list[Variable]]:
        """Return spec and indices if all examples have the same index: their axis is taken whole."""
        return ("s000", *self.spec), self.indices

    def one_by_one(self, examples: Examples) -> tuple[tuple[str, ...], list[Variable]]:
        """Return spec and indices if each example, along its axis of a tensor, has an index of its own."""
        spec, indices = self.with_arrays()
        return ("a", *spec), [examples.numbers(self.joint), *indices]

    def behind_joint(self) -> bool:
        """Whether NumPy puts the joint axes before that of the examples, if this is taken whole."""
        return len(self.pointers) > 0 and joint_position(("s000", *self.spec)) == 0

    def order(self) -> tuple[int, ...]:
        """Axes (examples, joint, the others) in their order in one example."""
        joint, others = range(1, 1 + self.joint), range(1 + self.joint, 1 + self.part)
        return (0, *others[: self.place], *joint, *others[self.place :])


def read_by_examples(op: Any, node: Apply, inputs: list[Variable], flags: Flags, examples: Examples) -> Any:
    x, *indices = inputs
    at = ExampleIndex(op, node.inputs[0], node.inputs[1:], indices, flags[1:])
    if not at.by_examples:
        spec, indices = at.whole()
        found = type(op)(spec)(x, *indices)
        return moved(found, at.joint) if at.behind_joint() else found
    if flags[0]:
        spec, indices = at.one_by_one(examples)
        return classes.DimShuffle(at.order())(classes.AdvancedSubtensor(spec)(x, *indices))
    spec, indices = at.with_arrays()
    return moved(classes.AdvancedSubtensor(spec)(x, *indices), at.place)


def write_by_examples(op: Any, node: Apply, inputs: list[Variable], flags: Flags, examples: Examples) -> Any:
    x, y, *indices = inputs
    at = ExampleIndex(op, node.inputs[0], node.inputs[2:], indices, flags[2:])
    own = node.inputs[1].ndim
    x = x if flags[0] else examples.broadcast(x)
    y = aligned(y, True, own, at.part) if flags[1] else classes.DimShuffle((*"x" * (1 + at.part - own), *range(own)))(y)
    if at.by_examples:
        spec, indices = at.one_by_one(examples)
        back = sorted(range(1 + at.part), key=at.order().__getitem__)
        return op.with_spec(spec)(x, classes.DimShuffle(tuple(back))(y), *indices)
    spec, indices = at.whole()
    if at.behind_joint():
        y = classes.DimShuffle((*range(1, 1 + at.joint), 0, *range(1 + at.joint, 1 + at.part)))(y)
    return op.with_spec(spec)(x, y, *indices)


# --- the ops


@record(repr=False)
class Subtensor(TensorOp):
    """`x[...]` for integers and slices, as a view.  IndexError for an index out of range."""

    spec: Spec
    name = "subtensor"
    picture: ClassVar[Kind] = Kind.INDEX
    code = read_code
    operations: ClassVar[Callable[..., Any]] = costs.moving
    batching: ClassVar[Callable[..., Any]] = read_by_examples

    @property
    def fallible(self) -> bool:  # type: ignore[override]
        return can_fail(self.spec)

    def infer(self, inputs: tuple[Variable, ...]) -> tuple[TensorType, ...]:
        x, *indices = inputs
        check_inputs(self.name, self.spec, x, indices)
        lengths = sliced_lengths(self.spec, x, indices)
        return (x.type.with_shape((*lengths, *x.type.shape[len(self.spec) :])),)

    def evaluate(self, *values: np.ndarray) -> tuple[np.ndarray, ...]:
        x, *indices = values
        return (x[(*map(concrete, entries(self.spec, indices)), ...)],)

    def dims(self, node: Apply, inputs: Sequence[tuple[Dim, ...]]) -> tuple[tuple[Dim, ...], ...]:
        found = sliced_dims(self.spec, node.inputs[1:], inputs[0])
        lengths = [dims.extent(node.out, k) if n is None else n for k, n in enumerate(found)]
        return ((*lengths, *inputs[0][len(self.spec) :]),)

    def vjp(self, node: Apply, cotangents: Sequence[Variable | None]) -> Sequence[Variable | None]:
        return vjp_of_read(self, node, cotangents, None)

    def vjp_onto(
        self, node: Apply, cotangents: Sequence[Variable | None], totals: Sequence[Variable | None]
    ) -> Sequence[Variable | None]:
        return vjp_of_read(self, node, cotangents, totals[0])

    def entries(self, indices: Sequence[Any]) -> list[Any]:
        """Return the entries of the index: each the value, or a slice of values."""
        return entries(self.spec, indices)

    def views(self) -> dict[int, int]:
        return {0: 0}

    def formula(self, output: Variable, operands: Sequence[latex.Written], /) -> latex.Written:
        """`x[1:, i]` as x with an index below it."""
        return part_formula(self, output, operands)


@record(repr=False)
class IncSubtensor(TensorOp):
    """`inc_subtensor(x, y, *indices)`: a copy of `x` with `y` added to `x[...]`, or written there if `set`.

    `y` has the dtype of `x` and broadcasts to `x[...]`.
    """

    spec: Spec
    set: bool
    name = "inc_subtensor"
    restorable = True
    picture: ClassVar[Kind] = Kind.INDEX
    code = write_code
    formula = write_formula
    operations: ClassVar[Callable[..., Any]] = costs.moving
    batching: ClassVar[Callable[..., Any]] = write_by_examples

    def with_spec(self, spec: Spec) -> Any:
        """Return the op that writes to another part."""
        kind = classes.AdvancedIncSubtensor if "a" in spec else IncSubtensor
        return kind(spec, set=self.set)

    @property
    def fallible(self) -> bool:  # type: ignore[override]
        return can_fail(self.spec)

    def infer(self, inputs: tuple[Variable, ...]) -> tuple[TensorType, ...]:
        x, y, *indices = inputs
        (part,) = Subtensor(self.spec).infer((x, *indices))
        check_source(*write_words(self), x, y, part)
        return (x.type,)

    def evaluate(self, *values: np.ndarray) -> tuple[np.ndarray, ...]:
        x, y, *indices = values
        result = x.copy()
        part = result[(*map(concrete, entries(self.spec, indices)), ...)]
        with np.errstate(all="ignore"):
            part[...] = y if self.set else part + y
        return (result,)

    def dims(self, node: Apply, inputs: Sequence[tuple[Dim, ...]]) -> tuple[tuple[Dim, ...], ...]:
        return (inputs[0],)

    def vjp(self, node: Apply, cotangents: Sequence[Variable | None]) -> Sequence[Variable | None]:
        (g,) = cotangents
        return vjp_of_write(self, node, g, None if g is None else Subtensor(self.spec)(g, *node.inputs[2:]))


def vjp_of_read(
    op: Any, node: Apply, cotangents: Sequence[Variable | None], total: Variable | None
) -> Sequence[Variable | None]:
    """Return the cotangents of `op(x, *indices)`, which reads a part: that of x is added to `total`, or to zeros."""
    (g,), (x, *indices) = cotangents, node.inputs
    kind = classes.AdvancedIncSubtensor if "a" in op.spec else IncSubtensor
    back = total if g is None else kind(op.spec, set=False)(zeros_like(x) if total is None else total, g, *indices)
    return [back, *[None for _ in indices]]


def vjp_of_write(op: Any, node: Apply, g: Variable | None, part: Variable | None) -> Sequence[Variable | None]:
    """Return the cotangents of `op(x, y, *indices)` from `g`, that of its result, and `part`, that of the written."""
    _, y, *indices = node.inputs
    if g is None or part is None:
        return [None] * len(node.inputs)
    back_y = T.unbroadcast(part, y)
    back_x = type(op)(op.spec, set=True)(g, T.constant(0, g.dtype), *indices) if op.set else g
    return [back_x, back_y, *[None for _ in indices]]


def write_words(op: Any) -> tuple[str, str]:
    """Return name and verb of an op that sets or adds to a part, for messages."""
    return (op.name.replace("inc", "set"), "set") if op.set else (op.name, "added to")


def check_source(name: str, what: str, x: Variable, y: Variable, part: TensorType) -> None:
    """Raise TypeError or ValueError unless `y` may be written to a part of `x` of type `part`.

    `name` is the op's, `what` says what is done to the part, both for messages.
    """
    if y.dtype != x.dtype:
        raise TypeError(f"{name}: {describe(y)} cannot be {what} a part of {describe(x)}: another dtype")
    extra = part.ndim - y.ndim
    shape = part.shape[max(extra, 0) :]
    if extra < 0 or any(None not in (n, m) and n not in (1, m) for n, m in zip(y.type.shape, shape, strict=True)):
        raise ValueError(f"{name}: {describe(y)} does not broadcast to the part of {describe(x)}, which is {part}")
