"""Tensors made from lengths and numbers."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Literal, overload

import numpy as np

from ...graph import Apply, Constant, Dim, Kind, Lacks, TensorType, Variable, dims, dtype_name
from ...graph.dims import opaque_dims
from ...record import record
from ..control.batching import lengthen
from ..core.checks import describe, normalize_axis, require_count, require_index_scalar, shown
from ..core.namespace import T
from ..core.operands import weak_kind, with_dtype
from ..core.promotion import result_type
from ..core.tensor import TensorOp, TensorVariable, as_tensor, constant
from ..core.typing import DTypeLike, LengthLike, ShapeLike, TensorLike
from ..elementwise import costs
from .conditions import checked
from .lengths import ShapeI, as_length, as_lengths, broadcast_shape, known_length, tensor_to_dim
from .shape import DimShuffle, Reshape, moveaxis

if TYPE_CHECKING:
    from ..writing import code

__all__ = [
    "alloc", "arange", "empty", "empty_like", "eye", "full", "full_like", "geomspace", "identity", "linspace",
    "logspace", "ones", "ones_like", "zeros", "zeros_like",
]  # fmt: skip


@record(repr=False)
class Alloc(TensorOp):
    """`alloc(value, *lengths)`: a new tensor of the lengths given, filled with `value`, which broadcasts to it."""

    name = "alloc"
    fallible = True
    picture: ClassVar[Kind] = Kind.SHAPE
    operations: ClassVar[Callable[..., Any]] = costs.moving
    batching: ClassVar[Callable[..., Any]] = lengthen

    def infer(self, inputs: tuple[Variable, ...]) -> tuple[TensorType, ...]:
        shape = broadcast_shape(self.name, inputs)
        return (TensorType(inputs[0].dtype, shape),)

    def evaluate(self, *values: np.ndarray) -> tuple[np.ndarray, ...]:
        return (np.broadcast_to(values[0], tuple(int(n) for n in values[1:])).copy(),)

    def dims(self, node: Apply, inputs: Sequence[tuple[Dim, ...]]) -> tuple[tuple[Dim, ...], ...]:
        return (tuple(tensor_to_dim(n) for n in node.inputs[1:]),)

    def vjp(self, node: Apply, cotangents: Sequence[Variable | None]) -> Sequence[Variable | None]:
        (g,) = cotangents
        value, *lengths = node.inputs
        return [None if g is None else T.unbroadcast(g, value), *[None for _ in lengths]]

    def produced_by(self, output: Variable) -> str:
        """`zeros`, `ones` or `full`."""
        assert output.owner is not None
        value = output.owner.inputs[0]
        if not isinstance(value, Constant) or value.data.ndim or np.signbit(value.data.real):
            return "full"
        return {0.0: "zeros", 1.0: "ones"}.get(value.data.item(), "full")

    def code(self, output: Variable, speaker: code.Speaker, /) -> code.Code:
        """`zeros((n, 3))`, `ones(...)`, `full(shape, value)`."""
        assert output.owner is not None
        value, *lengths = output.owner.inputs
        shape, name = speaker.tuple(lengths), self.produced_by(output)
        if name != "full":
            options = {} if value.dtype == "float64" else {"dtype": value.dtype}
            return speaker.call(name, shape, **options)
        if speaker.numpy and value.ndim:
            return speaker.call("broadcast_to", speaker.text(value), shape)
        return speaker.call("full", shape, speaker.text(value))


@record(repr=False)
class Arange(TensorOp):
    """`arange(start, stop, step)`: start, start + step, ... before `stop`, as a vector; three scalars of one dtype.

    The length is (stop - start) / step rounded up, or 0.  Raises ValueError for a step of 0.
    """

    name = "arange"
    fallible = True
    picture: ClassVar[Kind] = Kind.SHAPE
    operations: ClassVar[Callable[..., Any]] = costs.moving
    lacks: ClassVar[Lacks] = Lacks(batching="its lengths would differ from one example to the next")

    def infer(self, inputs: tuple[Variable, ...]) -> tuple[TensorType, ...]:
        require_count(self.name, inputs, 3)
        dtype = inputs[0].dtype
        for i in inputs:
            if i.type.shape or i.dtype != dtype or i.type.kind not in "iuf":
                raise TypeError(f"arange takes real scalars of one dtype ({dtype} here), got {describe(i)}")
        known = [i.data[()] if isinstance(i, Constant) else None for i in inputs]
        return (TensorType(dtype, (None if any(k is None for k in known) else _count(*known),)),)

    def evaluate(self, *values: np.ndarray) -> tuple[np.ndarray, ...]:
        start, stop, step = (v[()] for v in values)
        count = _count(start, stop, step)
        dtype = values[0].dtype
        if dtype.kind != "f":
            return (np.arange(count, dtype=np.int64).astype(dtype) * step + start,)
        wide = np.result_type(dtype, np.float32)  # float16 is rounded once, at the end
        with np.errstate(all="ignore"):
            first, second = start.astype(wide), (start + step).astype(wide)
            return ((first + np.arange(count).astype(wide) * (second - first)).astype(dtype),)

    def dims(self, node: Apply, inputs: Sequence[tuple[Dim, ...]]) -> tuple[tuple[Dim, ...], ...]:
        start, stop, step = (i if i.type.kind == "f" else tensor_to_dim(i) for i in node.inputs)
        if isinstance(start, Variable) or isinstance(stop, Variable) or not isinstance(step, int) or step == 0:
            return (opaque_dims(node.out),)
        span = dims.sub(stop, start) if step > 0 else dims.sub(start, stop)
        return ((dims.maximum(dims.floordiv(dims.add(span, abs(step) - 1), abs(step)), 0),),)

    def vjp(self, node: Apply, cotangents: Sequence[Variable | None]) -> Sequence[Variable | None]:
        (g,) = cotangents
        if g is None or g.type.kind != "f":
            return [None, None, None]
        steps = arange(ShapeI(0)(node.out))
        return [T.sum(g), None, T.sum(T.mul(g, with_dtype(steps, g.dtype)))]

    def code(self, output: Variable, speaker: code.Speaker, /) -> code.Code:
        """`arange(start, stop, step)`, without a start of 0 and a step of 1."""
        assert output.owner is not None
        start, stop, step = output.owner.inputs
        first, by = (v.data.item() if isinstance(v, Constant) else None for v in (start, step))
        plain = output.dtype in ("int64", "float64") and type(first) is int
        if plain and by == 1:
            return speaker.call("arange", *speaker.texts([stop] if first == 0 else [start, stop]))
        return speaker.call("arange", *speaker.texts([start, stop, step]))


def _count(start: Any, stop: Any, step: Any) -> int:
    """The number of elements of a range; integers exactly, floats as NumPy rounds them."""
    if step == 0:
        raise ValueError("arange: the step is 0")
    if isinstance(step, np.integer):
        start, stop, step = int(start), int(stop), int(step)
        return int(max(-((start - stop) // step), 0))
    with np.errstate(all="ignore"):
        span = (stop - start) / step
    if not math.isfinite(span):
        raise ValueError(f"arange: a range from {start} to {stop} by {step} has no length")
    return int(max(math.ceil(span), 0))


@record(repr=False)
class Eye(TensorOp):
    """`eye(n, m, k)`: an n by m matrix of zeros with ones on diagonal k; three int64 scalars."""

    dtype: str
    name = "eye"
    fallible = True
    picture: ClassVar[Kind] = Kind.SHAPE
    operations: ClassVar[Callable[..., Any]] = costs.moving
    lacks: ClassVar[Lacks] = Lacks(batching="its lengths would differ from one example to the next")

    def infer(self, inputs: tuple[Variable, ...]) -> tuple[TensorType, ...]:
        require_count(self.name, inputs, 3)
        for i in inputs:
            require_index_scalar(self.name, i, "a length")
        n, m = known_length(inputs[0]), known_length(inputs[1])
        if min(n or 0, m or 0) < 0:
            raise ValueError(f"eye: lengths {n} and {m} are not both positive or 0")
        return (TensorType(self.dtype, (n, m)),)

    def evaluate(self, *values: np.ndarray) -> tuple[np.ndarray, ...]:
        n, m, k = (int(v) for v in values)
        return (np.eye(n, m, k, dtype=self.dtype),)

    def dims(self, node: Apply, inputs: Sequence[tuple[Dim, ...]]) -> tuple[tuple[Dim, ...], ...]:
        return ((tensor_to_dim(node.inputs[0]), tensor_to_dim(node.inputs[1])),)

    def vjp(self, node: Apply, cotangents: Sequence[Variable | None]) -> Sequence[Variable | None]:
        return [None, None, None]

    def code(self, output: Variable, speaker: code.Speaker, /) -> code.Code:
        """`eye(n, m, k)`."""
        assert output.owner is not None
        options = {} if self.dtype == "float64" else {"dtype": self.dtype}
        return speaker.call("eye", *speaker.texts(output.owner.inputs), **options)


# --- NumPy's functions


def alloc(value: TensorLike, *lengths: LengthLike) -> TensorVariable:
    """A new tensor of the lengths given, filled with `value`, which broadcasts to it (Theano's `alloc`)."""
    return Alloc()(as_tensor(value), *as_lengths(lengths, "alloc"))


def full(shape: ShapeLike, fill_value: TensorLike, dtype: DTypeLike = None) -> TensorVariable:
    """A tensor of `shape` (integers, integer scalars, a vector of known length) filled with `fill_value`.

    `dtype` is that of `fill_value` unless it is given.  Raises TypeError for lengths that are no integers.
    """
    value = as_tensor(fill_value) if dtype is None else T.cast(as_tensor(fill_value), dtype_name(dtype))
    return Alloc()(value, *as_lengths(shape, "full"))


def zeros(shape: ShapeLike, dtype: DTypeLike = None) -> TensorVariable:
    """A tensor of `shape` filled with 0; float64 unless another dtype is given."""
    return Alloc()(constant(0, dtype_name(dtype)), *as_lengths(shape, "zeros"))


def ones(shape: ShapeLike, dtype: DTypeLike = None) -> TensorVariable:
    """A tensor of `shape` filled with 1; float64 unless another dtype is given."""
    return Alloc()(constant(1, dtype_name(dtype)), *as_lengths(shape, "ones"))


def empty(shape: ShapeLike, dtype: DTypeLike = None) -> TensorVariable:
    """A tensor of `shape` whose elements are yet to be set: zeros, since a graph has no undefined values."""
    return zeros(shape, dtype)


def full_like(
    x: TensorLike, fill_value: TensorLike, dtype: DTypeLike = None, *, shape: ShapeLike | None = None
) -> TensorVariable:
    """A tensor of the shape of `x` (and its dtype unless one is given) filled with `fill_value`; `shape`: another."""
    x = as_tensor(x)
    value = with_dtype(as_tensor(fill_value), x.dtype if dtype is None else dtype_name(dtype))
    return T.fill(x, value) if shape is None else full(shape, value)


def empty_like(x: TensorLike, dtype: DTypeLike = None, *, shape: ShapeLike | None = None) -> TensorVariable:
    """A tensor of the shape of `x` whose elements are yet to be set: zeros; see `empty`."""
    return zeros_like(x, dtype, shape=shape)


def zeros_like(x: TensorLike, dtype: DTypeLike = None, *, shape: ShapeLike | None = None) -> TensorVariable:
    """A tensor of the shape of `x` (and its dtype unless one is given) filled with 0; values of `x` are not read."""
    if dtype is None and shape is None and (take_over := getattr(type(x), "__apply_op__", None)) is not None:
        return take_over(x, zeros_like, (x,))  # type: ignore[no-any-return]  # on the right side of a rule
    x = as_tensor(x)
    return _filled_like(x, 0, dtype, shape)


def ones_like(x: TensorLike, dtype: DTypeLike = None, *, shape: ShapeLike | None = None) -> TensorVariable:
    """A tensor of the shape of `x` (and its dtype unless one is given) filled with 1; values of `x` are not read."""
    if dtype is None and shape is None and (take_over := getattr(type(x), "__apply_op__", None)) is not None:
        return take_over(x, ones_like, (x,))  # type: ignore[no-any-return]
    x = as_tensor(x)
    return _filled_like(x, 1, dtype, shape)


def _filled_like(x: Variable, number: int, dtype: Any, shape: Any) -> TensorVariable:
    value = constant(number, x.dtype if dtype is None else dtype)
    return T.fill(x, value) if shape is None else full(shape, value)


def arange(start: Any, stop: Any = None, step: Any = 1, dtype: DTypeLike = None) -> TensorVariable:
    """NumPy's `arange`: a vector from `start` (0 if it is the only argument) up to but not including `stop`.

    The dtype is the joint one of the arguments and int64, unless it is given.  Of an integer dtype and bounds that are
    floats the bounds decide the length, and the first two elements, truncated, the others, as in NumPy.
    """
    if stop is None:
        start, stop = 0, start
    bounds = [as_tensor(v) for v in (start, stop, 1 if step is None else step)]
    if dtype is None:
        dtype = result_type(["int64", *(b.dtype for b in bounds)])
    name = dtype_name(dtype)
    if np.dtype(name).kind in "iu" and any(b.type.kind == "f" for b in bounds):
        begin, _, gap = (with_dtype(b, "float64") for b in bounds)
        length = T.lengths_of(arange(bounds[0], bounds[1], bounds[2]))[0]
        first, second = T.cast(begin, name), T.cast(begin + gap, name)
        return first + T.cast(Arange()(*(as_tensor(v) for v in (0, length, 1))), name) * (second - first)
    return Arange()(*(with_dtype(b, name) for b in bounds))


_FAR = 2**62
"""A diagonal beyond those of any matrix."""


def eye(n: LengthLike, m: LengthLike | None = None, k: LengthLike = 0, dtype: DTypeLike = "float64") -> TensorVariable:
    """An n by m matrix (n by n without m) of zeros with ones on diagonal `k`, above the main one if positive."""
    if isinstance(k, int):  # beyond 64 bits there is no diagonal either
        k = max(-_FAR, min(k, _FAR))
    lengths = as_length(n, "eye"), as_length(n if m is None else m, "eye"), as_length(k, "eye")
    return Eye(dtype_name(dtype))(*lengths)


def identity(n: LengthLike, dtype: DTypeLike = None) -> TensorVariable:
    """The identity matrix of `n` rows.  Another variable of the value of x is `x.copy()`."""
    return eye(n, dtype=dtype)


def positions(count: Variable) -> TensorVariable:
    """0, 1, ... below `count`, an int64 scalar, as a vector.

    A run raises ValueError for a negative count, unless the optimizers find that nothing depends on it.
    """
    found = arange(count)
    return found if isinstance(count, Constant) else Reshape()(found, count)


@overload
def linspace(
    start: Any, stop: Any, num: LengthLike = ..., endpoint: bool = ..., retstep: Literal[False] = ...,
    dtype: DTypeLike = ..., axis: int = ...,
) -> TensorVariable: ...  # fmt: skip
@overload
def linspace(
    start: Any, stop: Any, num: LengthLike = ..., endpoint: bool = ..., *, retstep: Literal[True],
    dtype: DTypeLike = ..., axis: int = ...,
) -> tuple[TensorVariable, TensorVariable]: ...  # fmt: skip
@overload
def linspace(
    start: Any, stop: Any, num: LengthLike = ..., endpoint: bool = ..., retstep: bool = ..., dtype: DTypeLike = ...,
    axis: int = ...,
) -> TensorVariable | tuple[TensorVariable, TensorVariable]: ...  # fmt: skip
def linspace(
    start: Any, stop: Any, num: LengthLike = 50, endpoint: bool = True, retstep: bool = False, dtype: DTypeLike = None,
    axis: int = 0,
) -> TensorVariable | tuple[TensorVariable, TensorVariable]:  # fmt: skip
    """`num` evenly spaced numbers from `start` to `stop` (left out without `endpoint`), along a new axis `axis`.

    `num` is an integer or an integer scalar.  The dtype is floating-point unless it is given; integers are rounded
    down.  `retstep`: the pair (numbers, step between them) is returned, where the step of a single number is NaN.
    Raises ValueError for a negative `num`.
    """
    (start, stop), weak = _ends("linspace", start, stop)
    computed_in = result_type([*weak, float])
    start, stop = with_dtype(start, computed_in), with_dtype(stop, computed_in)
    count = _count_of_points("linspace", num)
    span = T.sub(stop, start)
    known = int(count.data) if isinstance(count, Constant) else None
    gaps: Any = count if not endpoint else T.sub(count, 1)
    if known is not None:
        gaps = known - bool(endpoint)
    is_step = known is None or gaps > 0
    step = T.true_div(span, with_dtype(T.maximum(gaps, 1), computed_in) if known is None else gaps) if is_step else span
    places = DimShuffle((0, *"x" * span.ndim))(positions(count))
    y = T.add(T.mul(with_dtype(places, computed_in), step), start)
    if endpoint and known is None:  # the last is `stop` exactly, whatever the rounding before it
        y = T.switch(T.logical_and(T.eq(places, gaps), T.gt(gaps, 0)), stop, y)
    elif endpoint and gaps > 0:
        y = T.set_subtensor(y[-1], stop)
    y = _in_place(y, axis, dtype, "linspace")
    if not retstep:
        return y
    undefined = constant(math.nan, computed_in)
    return y, (T.switch(T.gt(gaps, 0), step, undefined) if known is None else step if gaps > 0 else undefined)


def _ends(what: str, start: Any, stop: Any) -> tuple[tuple[TensorVariable, TensorVariable], list[type | str]]:
    """Both ends as tensors, and their dtypes, or the types of Python numbers, which are weak."""
    ends = []
    for name, end in (("start", start), ("stop", stop)):
        try:
            ends.append(as_tensor(end))
        except (TypeError, ValueError) as error:
            raise type(error)(f"{what}: {name} must be a number or a tensor, got {shown(end)}") from None
    weak = [weak_kind(given) or end.dtype for given, end in zip((start, stop), ends, strict=True)]
    first, last = (T.cast(end, "int64") if end.type.kind == "b" else end for end in ends)
    return (first, last), weak


def _count_of_points(what: str, num: Any) -> Variable:
    """`num` as an int64 scalar.  Raises TypeError if it is no integer, ValueError if it is known and negative."""
    try:
        count = as_length(num, what)
    except TypeError:
        raise TypeError(f"{what}: num must be an integer or an integer scalar, got {shown(num)}") from None
    if isinstance(count, Constant) and count.data < 0:
        raise ValueError(f"{what}: num must not be negative, got {int(count.data)}")
    return count


def _in_place(y: Any, axis: Any, dtype: Any, what: str) -> TensorVariable:
    """The numbers along the first axis of `y` in the dtype asked for, along `axis`."""
    if dtype is not None:
        wanted = dtype_name(dtype)
        y = T.cast(T.floor(y) if np.dtype(wanted).kind in "iu" and y.type.kind == "f" else y, wanted)
    place = normalize_axis(axis, y.ndim, what)
    return moveaxis(y, 0, place) if place else y


def logspace(
    start: Any, stop: Any, num: LengthLike = 50, endpoint: bool = True, base: Any = 10.0, dtype: DTypeLike = None,
    axis: int = 0,
) -> TensorVariable:  # fmt: skip
    """`base`, a number or a tensor, to the powers of `linspace(start, stop, num, endpoint)`, along a new axis."""
    if np.ndim(base) if not isinstance(base, Variable) else base.ndim:
        start, stop, base = (as_tensor(v) for v in (start, stop, base))
        rank = max(v.ndim for v in (start, stop, base))
        start, stop, base = (DimShuffle((*"x" * (rank - v.ndim), *range(v.ndim)))(v) for v in (start, stop, base))
    y = T.pow(base, linspace(start, stop, num, endpoint))
    y = moveaxis(y, 0, place) if (place := normalize_axis(axis, y.ndim, "logspace")) else y
    return y if dtype is None else T.cast(y, dtype_name(dtype))


def geomspace(
    start: Any, stop: Any, num: LengthLike = 50, endpoint: bool = True, dtype: DTypeLike = None, axis: int = 0
) -> TensorVariable:
    """`num` numbers from `start` to `stop`, each the same multiple of the one before it; see `linspace`.

    Raises ValueError for an end that is 0, at run time where it is known only then.
    """
    start, stop = (
        checked(v, T.ne(v, 0), f"geomspace: {name} must not be 0")
        for name, v in (("start", as_tensor(start)), ("stop", as_tensor(stop)))
    )
    shares = linspace(0.0, 1.0, num, endpoint)
    rank = max(start.ndim, stop.ndim)
    shares = DimShuffle((0, *"x" * rank))(shares)
    y = T.mul(start, T.pow(T.true_div(stop, start), shares))
    if endpoint:  # exactly, whatever the rounding before it
        y = T.switch(T.eq(shares, 1), with_dtype(stop, y.dtype), y)
    y = moveaxis(y, 0, place) if (place := normalize_axis(axis, y.ndim, "geomspace")) else y
    return y if dtype is None else T.cast(y, dtype_name(dtype))
