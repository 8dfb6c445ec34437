"""Concatenation and splitting: `Join` and NumPy's functions on top of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ...graph import Apply, Constant, Dim, Kind, Lacks, TensorType, Variable, dims_of
from ...record import record
from ..control.batching import Examples, Flags, all_broadcast
from ..core.checks import describe, normalize_axes, normalize_axis, require_count, shown, unpacked
from ..core.namespace import T, classes
from ..core.operands import in_joint_dtype, require_one_rank, several, with_dtype
from ..core.tensor import TensorOp, TensorVariable, TracedVariable, as_tensor, constant
from ..core.typing import DTypeLike, ShapeLike, TensorLike
from ..elementwise import costs
from .conditions import checked
from .lengths import as_length, as_lengths, lengths_of, minus, plus
from .shape import broadcast_to, expand_dims, flatten, ravel, reshape
from .slices import joint_length

if TYPE_CHECKING:
    from ..writing import code

__all__ = ["concatenate", "flip", "hstack", "join", "repeat", "roll", "split", "stack", "tile", "vstack"]


@record(repr=False)
class Join(TensorOp):
    """Tensors of one dtype and rank concatenated along `axis`; their other lengths are equal."""

    axis: int
    name = "join"
    picture: ClassVar[Kind] = Kind.SHAPE
    operations: ClassVar[Callable[..., Any]] = costs.moving

    def infer(self, inputs: tuple[Variable, ...]) -> tuple[TensorType, ...]:
        if not inputs:
            raise TypeError("join takes at least one tensor")
        first = inputs[0]
        for i in inputs:
            if i.dtype != first.dtype or i.ndim != first.ndim:
                raise TypeError(f"join takes tensors of one dtype and rank, got {describe(first)} and {describe(i)}")
        if not 0 <= self.axis < first.ndim:
            raise ValueError(f"join: {describe(first)} has no axis {self.axis}")
        shape = tuple(self._joint(axis, inputs) for axis in range(first.ndim))
        return (first.type.with_shape(shape),)

    def _joint(self, axis: int, inputs: Sequence[Variable]) -> int | None:
        """Return the static length of one axis of the result.  Raises ValueError if the inputs differ."""
        lengths = [i.type.shape[axis] for i in inputs]
        if axis == self.axis:
            return None if None in lengths else sum(n or 0 for n in lengths)
        known = [(n, i) for n, i in zip(lengths, inputs, strict=True) if n is not None]
        for n, i in known:
            if n != known[0][0]:
                raise ValueError(
                    f"join along axis {self.axis}: lengths {known[0][0]} and {n} of axis {axis} differ, "
                    f"of {describe(known[0][1])} and {describe(i)}"
                )
        return known[0][0] if known else None

    def demands(self, node: Apply) -> Iterator[tuple[Dim, Dim]]:
        """Yield the lengths of other axes, which are equal."""
        for pair in pairwise(map(dims_of, node.inputs)):
            yield from ((a, b) for k, (a, b) in enumerate(zip(*pair, strict=True)) if k != self.axis)

    def evaluate(self, *values: np.ndarray) -> tuple[np.ndarray, ...]:
        return (np.concatenate(values, axis=self.axis),)

    def dims(self, node: Apply, inputs: Sequence[tuple[Dim, ...]]) -> tuple[tuple[Dim, ...], ...]:
        joint = list(inputs[0])
        joint[self.axis] = joint_length([shape[self.axis] for shape in inputs])
        return (tuple(joint),)

    def vjp(self, node: Apply, cotangents: Sequence[Variable | None]) -> Sequence[Variable | None]:
        (g,) = cotangents
        if g is None:
            return [None] * len(node.inputs)
        return _cut(g, [lengths_of(i)[self.axis] for i in node.inputs], self.axis)

    def batching(self, node: Apply, inputs: list[Variable], flags: Flags, examples: Examples) -> Any:
        return Join(self.axis + 1)(*all_broadcast(inputs, flags, examples))

    def code(self, output: Variable, speaker: code.Speaker, /) -> code.Code:
        """`concatenate([x, y], axis=1)`."""
        assert output.owner is not None
        return speaker.call("concatenate", f"[{', '.join(speaker.texts(output.owner.inputs))}]", axis=self.axis)


def _cut(x: Variable, lengths: Sequence[Variable], axis: int) -> list[Variable]:
    """Return pieces of `x` of these lengths, one after the other along `axis`."""
    pieces: list[Variable] = []
    start: Variable | None = None
    for length in lengths:
        stop = length if start is None else plus(start, length)
        pieces.append(part_along(x, axis, start, stop))
        start = stop
    return pieces


def part_along(x: Any, axis: int, start: Any, stop: Any) -> Any:
    """Return x[start:stop] along an axis."""
    return x[(slice(None),) * axis + (slice(start, stop),)]


# --- NumPy's functions


def concatenate(
    arrays: Sequence[TensorLike], axis: int | None = 0, *, dtype: DTypeLike = None, casting: str = "same_kind"
) -> TensorVariable:
    """The arrays one after the other along `axis`, in their joint dtype unless another is given.

    For an `axis` of None those of the flattened arrays.
    """
    one = as_one(arrays)
    if one is not None:
        return _merged(in_joint_dtype([one], dtype, casting)[0], axis)
    variables = in_joint_dtype(several("concatenate", arrays), dtype, casting)
    if not variables:
        raise ValueError("concatenate: at least one array is needed")
    if axis is None:
        variables, axis = tuple(map(ravel, variables)), 0
    require_one_rank("concatenate", variables)
    if not variables[0].ndim:
        raise ValueError(f"concatenate: {describe(variables[0])} has no axis; T.stack makes a vector of scalars")
    return Join(normalize_axis(axis, variables[0].ndim, "concatenate"))(*variables)


def as_one(arrays: Any) -> Any:
    """Return the array of a call whose parts along its first axis, of unknown length, are the arrays; else None."""
    is_one = isinstance(arrays, TracedVariable) and arrays.ndim > 0 and arrays.type.shape[0] is None
    return arrays if is_one else None


def _merged(x: Any, axis: int | None) -> TensorVariable:
    """Return the parts of a tensor along its first axis one after the other along `axis`."""
    count = x.shape[0]
    if not isinstance(count, Variable) and count == 0:
        raise ValueError("concatenate: at least one array is needed")
    if axis is None:
        return ravel(x)
    if x.ndim < 2:
        raise ValueError(f"concatenate: the elements of {describe(x)} have no axis; T.stack makes a vector of scalars")
    place = normalize_axis(axis, x.ndim - 1, "concatenate")
    v = T.moveaxis(x, 0, place)
    lengths = lengths_of(v)
    return reshape(v, (*lengths[:place], lengths[place] * lengths[place + 1], *lengths[place + 2 :]))  # type: ignore[operator]


def join(axis: int, *tensors: TensorLike) -> TensorVariable:
    """Theano's `join`: `concatenate(tensors, axis)`, the axis first."""
    if not tensors:
        raise ValueError("join: at least one tensor is needed, as in T.join(axis, x, y)")
    return concatenate(tensors, axis)


def stack(
    arrays: Sequence[TensorLike], axis: int = 0, *, dtype: DTypeLike = None, casting: str = "same_kind"
) -> TensorVariable:
    """The arrays, which have one shape, along a new axis `axis`."""
    one = as_one(arrays)
    if one is not None:
        x = in_joint_dtype([one], dtype, casting)[0]
        return T.moveaxis(x, 0, normalize_axis(axis, x.ndim, "stack"))
    variables = in_joint_dtype(several("stack", arrays), dtype, casting)
    if not variables:
        raise ValueError("stack: at least one array is needed")
    require_one_rank("stack", variables)
    for v in variables:
        for k, (n, m) in enumerate(zip(variables[0].type.shape, v.type.shape, strict=True)):
            if n != m and None not in (n, m):
                raise ValueError(
                    f"stack: expected tensors of one shape, got {describe(variables[0])} and {describe(v)}: "
                    f"lengths {n} and {m} on axis {k}"
                )
    place = normalize_axis(axis, variables[0].ndim + 1, "stack")
    if not variables[0].ndim:
        made: TensorVariable = classes.MakeVector()(*variables)
        return made
    return Join(place)(*(expand_dims(v, place) for v in variables))


def vstack(arrays: Sequence[TensorLike], *, dtype: DTypeLike = None, casting: str = "same_kind") -> TensorVariable:
    """The arrays one below the other; a vector is a row."""
    one = as_one(arrays)
    if one is not None:
        one = T.dimshuffle(one, 0, *["x"] * (3 - one.ndim), *range(1, one.ndim))
        return concatenate(one, dtype=dtype, casting=casting)  # type: ignore[arg-type]
    variables = [v if v.ndim > 1 else reshape(v, (1, -1)) for v in map(as_tensor, several("vstack", arrays))]
    return concatenate(variables, axis=0, dtype=dtype, casting=casting)


def hstack(arrays: Sequence[TensorLike], *, dtype: DTypeLike = None, casting: str = "same_kind") -> TensorVariable:
    """The arrays side by side: along the second axis, vectors along their only one."""
    one = as_one(arrays)
    if one is not None:
        one = expand_dims(one, 1) if one.ndim == 1 else one
        return concatenate(one, axis=int(one.ndim > 2), dtype=dtype, casting=casting)  # type: ignore[arg-type]
    variables = [v if v.ndim else expand_dims(v, 0) for v in map(as_tensor, several("hstack", arrays))]
    return concatenate(variables, axis=0 if variables and variables[0].ndim == 1 else 1, dtype=dtype, casting=casting)


def split(x: TensorLike, indices_or_sections: Any, axis: int = 0) -> list[TensorVariable]:
    """NumPy's `split`: that many equal parts of `x` along `axis`, or the parts between the indices given.

    Raises ValueError if `x` cannot be cut into equal parts: when the graph is built if the length is known, else when
    it is run.
    """
    x = as_tensor(x)
    axis = normalize_axis(axis, x.ndim, "split")
    if isinstance(indices_or_sections, (str, Variable)) or np.ndim(indices_or_sections) > 1:
        raise TypeError(
            "split: indices_or_sections must be an integer or a list of indices, known when the graph is built, "
            f"got {shown(indices_or_sections)}"
        )
    cuts = unpacked(indices_or_sections)
    if not isinstance(cuts, int):
        bounds = [0, *cuts, None]
        return [part_along(x, axis, a, b) for a, b in pairwise(bounds)]
    count, length = cuts, x.type.shape[axis]
    if count < 1 or (length is not None and length % count):
        raise ValueError(f"split: axis {axis} of {describe(x)} cannot be cut into {count} equal parts")
    if length is not None:
        size = length // count
        return [part_along(x, axis, k * size, (k + 1) * size) for k in range(count)]
    own = lengths_of(x)
    text = f"split: an axis cannot be cut into {count} equal parts, its length is {{0}}"
    x = checked(x, T.eq(T.mod(own[axis], count), 0), text, own[axis])
    parts = reshape(x, (*own[:axis], count, T.floor_div(own[axis], count), *own[axis + 1 :]))
    return [parts[(slice(None),) * axis + (k,)] for k in range(count)]


def tile(x: TensorLike, reps: ShapeLike, ndim: int | None = None) -> TensorVariable:
    """NumPy's `tile`: `x` repeated as a block, `reps` times along each axis.

    `reps`: integers or integer scalars, or an integer vector; where the length of that is not known when the graph is
    built, `ndim` says it.  Theano's `ndim` of more than the counts given means counts of 1 before them.
    """
    x = as_tensor(x)
    unknown = isinstance(reps, Variable) and reps.ndim == 1 and reps.type.shape[0] is None
    counts = [_not_negative(n, "tile") for n in as_lengths(reps, "tile", ndim if unknown else None, "reps")]
    if ndim is not None and ndim < max(x.ndim, len(counts)):
        raise ValueError(f"tile: ndim must be at least {max(x.ndim, len(counts))} for {describe(x)}, got {ndim!r}")
    ndim = max(x.ndim, len(counts), ndim or 0)
    own = [constant(1, "int64")] * (ndim - x.ndim) + list(lengths_of(x))
    counts = [constant(1, "int64")] * (ndim - len(counts)) + counts
    blocks = reshape(x, [n for length in own for n in (1, length)])
    broadcast = broadcast_to(blocks, [n for pair in zip(counts, own, strict=True) for n in pair])
    return reshape(broadcast, [T.mul(count, length) for count, length in zip(counts, own, strict=True)])


def _not_negative(count: Any, what: str) -> Variable:
    """The int64 scalar for a count.  Raises ValueError if it is known and negative, TypeError if it is no integer."""
    found = as_length(count, what)
    if isinstance(found, Constant) and found.data < 0:
        raise ValueError(f"{what}: a count must not be negative, got {int(found.data)}")
    return found


@record(repr=False)
class RepeatedPositions(TensorOp):
    """The positions 0, 1, ... of the elements of an int64 or int32 vector, each as many times as its element says.

    They are of the dtype of the vector.  Raises ValueError for negative counts.
    """

    name = "repeated_positions"
    fallible = True
    error: ClassVar[type[Exception]] = ValueError
    picture: ClassVar[Kind] = Kind.INDEX
    operations: ClassVar[Callable[..., Any]] = costs.moving
    lacks: ClassVar[Lacks] = Lacks(
        batching="its lengths would differ from one example to the next", lengths="the values decide them"
    )

    def infer(self, inputs: tuple[Variable, ...]) -> tuple[TensorType, ...]:
        require_count(self.name, inputs, 1)
        (counts,) = inputs
        if counts.ndim != 1 or counts.dtype not in ("int32", "int64"):
            raise TypeError(f"{self.name} takes an int32 or int64 vector, got {describe(counts)}")
        return (TensorType(counts.dtype, (None,)),)

    def evaluate(self, *values: np.ndarray) -> tuple[np.ndarray, ...]:
        (counts,) = values
        if len(counts) and counts.min() < 0:
            raise ValueError(self.broken(0, counts.min()))
        return (np.repeat(np.arange(len(counts), dtype=counts.dtype), counts),)

    def broken(self, operand: int, count: int) -> str:
        """The message for a negative count."""
        return f"a count of repetitions is negative ({count})"

    def vjp(self, node: Apply, cotangents: Sequence[Variable | None]) -> Sequence[Variable | None]:
        return [None]


@record(repr=False)
class JoinedRanges(RepeatedPositions):
    """`joined_ranges(counts, starts)`: counts[k] integers from starts[k] on, for each k in order.

    Both are int64 vectors of one length.  Raises ValueError for negative counts.
    """

    name = "joined_ranges"

    def infer(self, inputs: tuple[Variable, ...]) -> tuple[TensorType, ...]:
        require_count(self.name, inputs, 2)
        if any(v.ndim != 1 or v.dtype != "int64" for v in inputs):
            raise TypeError(f"{self.name} takes two int64 vectors, got {', '.join(map(describe, inputs))}")
        return (TensorType("int64", (None,)),)

    def evaluate(self, *values: np.ndarray) -> tuple[np.ndarray, ...]:
        counts, starts = values
        if counts.shape != starts.shape:
            raise ValueError(f"{self.name}: {len(counts)} counts and {len(starts)} starts")
        (which,) = super().evaluate(counts)
        return (np.arange(len(which)) + (starts - (np.cumsum(counts) - counts))[which],)

    def vjp(self, node: Apply, cotangents: Sequence[Variable | None]) -> Sequence[Variable | None]:
        return [None, None]


def repeat(x: TensorLike, repeats: TensorLike, axis: int | None = None) -> TensorVariable:
    """NumPy's `repeat`: each element of `x` `repeats` times along `axis` (of the flattened `x` for None).

    `repeats` is an integer, an integer scalar, or a vector with one integer an element.  Raises ValueError for a vector
    of another length and for negative counts: when the graph is built if they are known, else when it is run.
    """
    x = as_tensor(x)
    if axis is None:
        x, axis = x if x.ndim == 1 else flatten(x), 0
    axis = normalize_axis(axis, x.ndim, "repeat")
    counts = as_tensor(repeats)
    if counts.type.kind not in "biu" or counts.ndim > 1:
        raise TypeError(f"repeat: repeats must be an integer or a vector of integers, got {shown(repeats)}")
    if counts.ndim and counts.type.shape[0] != 1:
        whole = constant(counts.data, "int64") if isinstance(counts, Constant) else with_dtype(counts, "int64")
        return T.take(x, _positions(x, axis, whole), axis)
    own, count = lengths_of(x), _not_negative(repeats if not counts.ndim else _only(counts), "repeat")
    broadcast = broadcast_to(expand_dims(x, axis + 1), (*own[: axis + 1], count, *own[axis + 1 :]))
    return reshape(broadcast, (*own[:axis], T.mul(own[axis], count), *own[axis + 1 :]))


def _only(counts: Any) -> Any:
    return int(counts.data[0]) if isinstance(counts, Constant) else counts[0]


def _positions(x: Variable, axis: int, counts: Any) -> TensorVariable:
    """Return the source indices along `axis`, each repeated `counts` times, as a vector."""
    length, given = x.type.shape[axis], counts.type.shape[0]
    if None not in (length, given) and length != given:
        raise ValueError(f"repeat: {given} counts for axis {axis} of {describe(x)}, whose length is {length}")
    if length is not None and isinstance(counts, Constant):
        return constant(RepeatedPositions().evaluate(counts.data)[0])
    return RepeatedPositions()(broadcast_to(counts, (lengths_of(x)[axis],)))


def flip(x: TensorLike, axis: int | Sequence[int] | None = None) -> TensorVariable:
    """`x` with its elements in reverse order along `axis` (all axes for None)."""
    x = as_tensor(x)
    axes = range(x.ndim) if axis is None else normalize_axes(axis, x.ndim, "flip")
    return x[tuple(slice(None, None, -1) if k in axes else slice(None) for k in range(x.ndim))]


def _remainder(a: Variable, b: Variable) -> TensorVariable:
    """Return `a` modulo a length, a constant if both are."""
    both = isinstance(a, Constant) and isinstance(b, Constant)
    return constant(np.mod(a.data, b.data or 1), "int64") if both else T.mod(a, b)  # type: ignore[attr-defined]


def roll(x: TensorLike, shift: ShapeLike, axis: int | Sequence[int] | None = None) -> TensorVariable:
    """NumPy's `roll`: elements moved on by `shift` along `axis`, those beyond the end put at the beginning.

    With `axis=None` the flattened `x` is rolled.  `shift` is an integer or an integer scalar, or one of them an axis.
    """
    x = as_tensor(x)
    if axis is None:
        return reshape(roll(flatten(x), shift, 0), lengths_of(x))
    axes, given = normalize_axes(axis, x.ndim, "roll"), unpacked(shift)
    shifts = list(given) if isinstance(given, (tuple, list)) else [given] * len(axes)
    if len(shifts) != len(axes):
        raise ValueError(f"roll: shift is {shown(given)}, expected one number for each of the axes {axes}")
    for k, by in zip(axes, shifts, strict=True):
        own = lengths_of(x)
        cut = _remainder(minus(constant(0, "int64"), as_length(by, "roll")), own[k])
        rolled = Join(k)(part_along(x, k, cut, None), part_along(x, k, None, cut))
        x = rolled if rolled.type == x.type else reshape(rolled, own)  # its type does not say a length that is known
    return x
