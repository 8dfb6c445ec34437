"""Promised lengths, checked at run time: `specify_shape` and the ops behind every promise that a graph relies on.

    SpecifyShape()(x, 50, 2)             x, whose lengths must be 50 and 2
    MaskedShape()(x, 3)                  the same for axes that a constant mask selects from: IndexError
    CheckLengths(...)(x, got, want, ...) x; each length `got` must be `want`

An expression is built upon the lengths that its variables promise: a mean divides by 50.  Where a value that knows
fewer lengths takes the place of such a variable, `as_promised` puts a check between the two.  Rules may drop a value
that is only read for its shape, and the check with it, so `anchored` repeats the checks on a result of the function.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np

from ...graph import Apply, Dim, Kind, TensorType, Variable, same_shape
from ...record import record
from ...record.spelling import counted
from ..control.batching import Examples, Flags, on_last_axes, require_shared
from ..core.checks import describe, require_index_scalar
from ..core.tensor import TensorOp, TensorVariable, as_tensor, constant
from ..core.typing import LengthLike, ShapeLike, TensorLike
from ..elementwise import costs
from .lengths import as_length, as_lengths, known_length, lengths_of, tensor_to_dim

__all__ = ["specify_shape"]


class FirstOperand(TensorOp):
    """Base of ops whose value is their first operand, as a view; derivatives go to it alone."""

    only_checks = True
    picture: ClassVar[Kind] = Kind.SHAPE
    operations: ClassVar[Callable[..., Any]] = costs.moving

    def dims(self, node: Apply, inputs: Sequence[tuple[Dim, ...]]) -> tuple[tuple[Dim, ...], ...]:
        return (inputs[0],)

    def vjp(self, node: Apply, cotangents: Sequence[Variable | None]) -> Sequence[Variable | None]:
        return [cotangents[0], *[None for _ in node.inputs[1:]]]

    def views(self) -> dict[int, int]:
        return {0: 0}


@record(repr=False)
class SpecifyShape(FirstOperand):
    """`specify_shape(x, *lengths)`: x as a view, whose lengths must be these int64 scalars.

    `subject`: the name of the promise in the error, such as "givens[q]"; `declared`: whether the `shape=` of a variable
    made it.
    """

    subject: str = ""
    declared: bool = False
    name = "specify_shape"
    fallible = True
    error: ClassVar[type[Exception]] = ValueError

    def infer(self, inputs: tuple[Variable, ...]) -> tuple[TensorType, ...]:
        x, *lengths = inputs
        if len(lengths) != x.ndim:
            raise TypeError(
                f"{self.name}: {describe(x)} has {counted(x.ndim, 'axis')}, got {counted(len(lengths), 'length')}"
            )
        for n in lengths:
            require_index_scalar(self.name, n, "a length")
        # No error for lengths that are known to differ: a rewrite may learn them, and the run raises.
        wanted = [known_length(n) for n in lengths]
        pairs = zip(wanted, x.type.shape, strict=True)
        return (x.type.with_shape(tuple(have if want is None or want < 0 else want for want, have in pairs)),)

    def evaluate(self, *values: np.ndarray) -> tuple[np.ndarray, ...]:
        x, *lengths = values
        for axis, (have, want) in enumerate(zip(x.shape, lengths, strict=True)):
            if have != want:
                raise self.error(self.broken(axis, have, int(want)))
        return (x,)

    def broken(self, axis: int, have: int, want: int) -> str:
        """The message for an axis of another length."""
        fix = "; for any length there, give None in its shape=" if self.declared else ""
        return f"{self.subject or self.name}: expected length {want} on axis {axis}, got {have}{fix}"

    def dims(self, node: Apply, inputs: Sequence[tuple[Dim, ...]]) -> tuple[tuple[Dim, ...], ...]:
        return (tuple(tensor_to_dim(n) for n in node.inputs[1:]),)

    def batching(self, node: Apply, inputs: list[Variable], flags: Flags, examples: Examples) -> Any:
        require_shared(flags[1:], "the lengths that are promised")
        return self(inputs[0], examples.length, *inputs[1:])


@record(repr=False)
class MaskedShape(SpecifyShape):
    """SpecifyShape for an array whose axes a constant mask selects from; NumPy raises IndexError there."""

    name = "masked_shape"
    error: ClassVar[type[Exception]] = IndexError

    def broken(self, axis: int, have: int, want: int) -> str:
        return f"the mask has length {want}, axis {axis} that it selects from has length {have}"


@record(repr=False)
class CheckLengths(FirstOperand):
    """`check_lengths(x, got, want, got, want, ...)`: x as a view; each `got` must be equal to its `want`.

    `subjects`: for each pair the name of the promise and the axis, for the error; `declared`: as of SpecifyShape.
    """

    subjects: tuple[tuple[str, int], ...]
    declared: bool = True
    name = "check_lengths"
    fallible = True
    error: ClassVar[type[Exception]] = ValueError
    batching: ClassVar[Callable[..., Any]] = on_last_axes

    def infer(self, inputs: tuple[Variable, ...]) -> tuple[TensorType, ...]:
        x, *lengths = inputs
        if len(lengths) != 2 * len(self.subjects):
            raise TypeError(f"{self.name} takes {2 * len(self.subjects)} lengths, got {len(lengths)}")
        for n in lengths:
            require_index_scalar(self.name, n, "a length")
        return (x.type,)

    def evaluate(self, *values: np.ndarray) -> tuple[np.ndarray, ...]:
        x, *lengths = values
        for pair, (have, want) in enumerate(zip(lengths[::2], lengths[1::2], strict=True)):
            if have != want:
                raise self.error(self.broken(pair, int(have), int(want)))
        return (x,)

    def broken(self, pair: int, have: int, want: int) -> str:
        """The message for a pair of lengths that differ."""
        subject, axis = self.subjects[pair]
        return SpecifyShape(subject, declared=self.declared).broken(axis, have, want)


# --- promises


def with_lengths_of(value: Variable, like: Variable) -> Variable:
    """Return `value`, which has the shape of `like`, as a view that knows so where its own lengths are not enough."""
    return value if same_shape(value, like) else SpecifyShape()(value, *lengths_of(like))


def conflict(kind: TensorType, promised: TensorType) -> str:
    """The first axis on which known lengths differ, in words; empty if there is none."""
    for axis, (have, want) in enumerate(zip(kind.shape, promised.shape, strict=True)):
        if None not in (have, want) and have != want:
            return f"axis {axis} has length {have}, not {want}"
    return ""


def as_promised(value: Variable, promised: TensorType, subject: str) -> TensorVariable:
    """Return `value` in the promised dtype and rank, with checks of the promised lengths that it does not know."""
    if value.type.refines(promised):
        return value  # type: ignore[return-value]  # see as_tensor
    own = lengths_of(value)
    wanted = [n if want is None else constant(want, "int64") for n, want in zip(own, promised.shape, strict=True)]
    return SpecifyShape(subject, declared=True)(value, *wanted)


def anchored(result: Variable, promises: Sequence[tuple[Variable, TensorType, str]]) -> TensorVariable:
    """`result` with checks of the lengths that each of `promises` (value, promised type, subject) promises."""
    subjects: list[tuple[str, int]] = []
    lengths: list[Variable] = []
    for value, promised, subject in promises:
        for axis, (have, want) in enumerate(zip(value.type.shape, promised.shape, strict=True)):
            if want is not None and have != want:
                subjects.append((subject, axis))
                lengths += [lengths_of(value)[axis], constant(want, "int64")]
    return CheckLengths(tuple(subjects))(result, *lengths) if subjects else result  # type: ignore[return-value]  # see as_tensor


def specify_shape(x: TensorLike, shape: ShapeLike | Sequence[LengthLike | None]) -> TensorVariable:
    """`x` with the promise that it has this shape, checked when the function runs (Theano's `specify_shape`).

    `shape`: for each axis an integer, an integer scalar, or None for a length that is not promised; or a vector of
    known length.  Known lengths make gradients, fusion and updates in place cheaper.  Raises ValueError for lengths
    known to differ, and at run time for those that turn out to.
    """
    x = as_tensor(x)
    if isinstance(shape, (list, tuple)):
        own = lengths_of(x) if len(shape) == x.ndim else (None,) * len(shape)
        wanted = tuple(o if n is None else as_length(n, "specify_shape") for n, o in zip(shape, own, strict=True))
    else:
        wanted = as_lengths(shape, "specify_shape")  # type: ignore[arg-type]  # a vector has no None
    found = SpecifyShape()(x, *wanted)
    message = conflict(x.type, found.type)
    if message:
        raise ValueError(f"specify_shape: {describe(x)} does not have the shape {found.type}: {message}")
    return found


def with_length(x: TensorLike, axis: int, length: Variable, subject: str) -> TensorVariable:
    """`x`, whose `axis` must have this length.  Raises ValueError for lengths known to differ, at run time else."""
    x = as_tensor(x)
    own = lengths_of(x)[axis]
    have, want = known_length(own), known_length(length)
    if tensor_to_dim(own) == tensor_to_dim(length):
        return x
    op = CheckLengths(((subject, axis),), declared=False)
    if have is not None and want is not None:
        raise ValueError(op.broken(0, have, want))
    return op(x, own, length)  # type: ignore[no-any-return]


def with_shape_of(x: TensorLike, like: Variable, subject: str) -> TensorVariable:
    """`x`, which must have the shape of `like`.  Raises ValueError for shapes known to differ, at run time else."""
    x = as_tensor(x)
    if x.ndim != like.ndim:
        raise ValueError(f"{subject} must have the shape of {describe(like)}, got {describe(x)}")
    for axis, length in enumerate(lengths_of(like)):
        x = with_length(x, axis, length, subject)
    return x
