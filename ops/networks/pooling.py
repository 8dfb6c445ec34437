"""Pooling: the maximum or sum of every window.  The functions pad; the ops do not.

    MaxPool(kernel, stride, dilation)(x)      over the last axes of x, as many as the kernel has
    SumPool(kernel, stride, dilation)(x)
    MaxPoolGradient(kernel, stride, dilation)(x, y, g)      the cotangent of x where y = MaxPool(...)(x) has that of g

The derivative of a sum is written back window position by window position, in ops that have derivatives themselves.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, ClassVar, Literal, overload

import numpy as np

from ...graph import Apply, Dim, Kind, TensorType, Variable
from ...record import record
from ..control.batching import on_last_axes, repeat_operands
from ..core.checks import describe, require_count
from ..core.namespace import T
from ..core.operands import with_dtype
from ..core.tensor import TensorVariable, as_tensor, constant
from ..core.typing import TensorLike
from ..elementwise import costs
from ..shapes.lengths import lengths_of
from ..shapes.shape import DimShuffle, reshape
from ..shapes.windows import MOST, Numbers, Windowed, no_window, numbers_an_axis
from .convolution import padding_around

__all__ = ["avg_pool1d", "avg_pool2d", "avg_pool3d", "max_pool1d", "max_pool2d", "max_pool3d"]


@record(repr=False)
class Pool(Windowed):
    """Base of both ops: windows of `kernel` positions, `dilation` apart, that move by `stride`."""

    kernel: Numbers
    stride: Numbers
    dilation: Numbers
    picture: ClassVar[Kind] = Kind.REDUCTION
    operations: ClassVar[Callable[..., Any]] = costs.moving
    batching: ClassVar[Callable[..., Any]] = on_last_axes

    def __post_init__(self) -> None:
        if not self.kernel or not len(self.kernel) == len(self.stride) == len(self.dilation):
            raise ValueError(f"{self.name}: kernel, stride, dilation have a number an axis, got {self.parameters()}")
        numbers = (*self.kernel, *self.stride, *self.dilation)
        if min(numbers) < 1 or max(numbers) > MOST:
            raise ValueError(f"{self.name}: kernel, stride and dilation must be 1 to {MOST}, got {self.parameters()}")

    def infer(self, inputs: tuple[Variable, ...]) -> tuple[TensorType, ...]:
        require_count(self.name, inputs, 1)
        (x,), rank = inputs, len(self.kernel)
        if x.ndim < rank or x.type.kind not in "iuf":
            raise TypeError(f"{self.name} takes real numbers of rank {rank} or more, got {describe(x)}")
        counts = self.positions(x.type.shape, self.kernel)
        return (x.type.with_shape((*x.type.shape[: x.ndim - rank], *counts)),)

    def dims(self, node: Apply, inputs: Sequence[tuple[Dim, ...]]) -> tuple[tuple[Dim, ...], ...]:
        (x,) = inputs
        front = len(x) - len(self.kernel)
        return ((*x[:front], *self.position_dims(x[front:], self.kernel)),)

    @property
    def within(self) -> Numbers:
        """Return the numbers of the axes within a window, in the view of `windows`."""
        rank = len(self.kernel)
        return tuple(range(-2 * rank, -rank))

    def taps(self, x: Any) -> Iterator[tuple[TensorVariable, tuple[slice, ...]]]:
        """Yield for each position in a window its slice of x, and its index text."""
        for place in self.places(lengths_of(self(x))):
            yield x[place], place

    def places(self, lengths: Sequence[Any]) -> Iterator[tuple[slice, ...]]:
        """Yield for each position in a window the index of x; `lengths`: those of the result of pooling."""
        front = (slice(None),) * (len(lengths) - len(self.kernel))
        counts = lengths[len(front) :]
        for position in itertools.product(*map(range, self.kernel)):
            starts = [p * d for p, d in zip(position, self.dilation, strict=True)]
            stops = [(n - 1) * s + (first + 1) for n, s, first in zip(counts, self.stride, starts, strict=True)]
            yield (*front, *map(slice, starts, stops, self.stride))


@record(repr=False)
class MaxPool(Pool):
    """The largest number of each window; NaN if there is one.

    Positions that are largest together share the derivative, as those of `T.max` do.
    """

    name = "max_pool"

    def evaluate(self, *values: np.ndarray) -> tuple[np.ndarray, ...]:
        return (np.asarray(self.windows(values[0], self.kernel).max(axis=self.within)),)

    def vjp(self, node: Apply, cotangents: Sequence[Variable | None]) -> Sequence[Variable | None]:
        (g,), (x,) = cotangents, node.inputs
        if g is None or x.type.kind != "f":
            return [None]
        return [MaxPoolGradient(self.kernel, self.stride, self.dilation)(x, node.out, g)]


@record(repr=False)
class MaxPoolGradient(Pool):
    """`max_pool_gradient(x, y, g)`: each number of g divided equally among the maxima of its window in x.

    Nothing goes to a window whose largest number is NaN.
    """

    name = "max_pool_gradient"
    batching: ClassVar[Callable[..., Any]] = repeat_operands

    @property
    def overlaps(self) -> bool:
        """Whether an element may belong to several windows."""
        numbers = zip(self.kernel, self.stride, self.dilation, strict=True)
        return any(dilation * (kernel - 1) >= stride for kernel, stride, dilation in numbers)

    @property
    def cost(self) -> int:
        """Additions that take as long as a position of a window: vectors of windows, or one window after the other."""
        return 24 if self.overlaps else 4

    def infer(self, inputs: tuple[Variable, ...]) -> tuple[TensorType, ...]:
        require_count(self.name, inputs, 3)
        (pooled,) = super().infer(inputs[:1])
        for role, given in zip("yg", inputs[1:], strict=True):
            pairs = zip(given.type.shape, pooled.shape, strict=False)
            differ = any(None not in pair and pair[0] != pair[1] for pair in pairs)
            if given.dtype != pooled.dtype or given.ndim != len(pooled.shape) or pooled.kind != "f" or differ:
                raise TypeError(f"{self.name}: {role} is {describe(given)}, expected {pooled}, floating-point numbers")
        return (inputs[0].type,)

    def dims(self, node: Apply, inputs: Sequence[tuple[Dim, ...]]) -> tuple[tuple[Dim, ...], ...]:
        return (inputs[0],)

    def evaluate(self, *values: np.ndarray) -> tuple[np.ndarray, ...]:
        x, y, g = values
        reached = self.windows(x, self.kernel) == np.expand_dims(y, self.within)
        with np.errstate(all="ignore"):
            share = g / reached.sum(axis=self.within).astype(g.dtype)
        back = np.zeros_like(x, order="C")
        places = np.moveaxis(reached, self.within, range(len(self.kernel))).reshape(-1, *g.shape)
        for here, place in zip(places, self.places(g.shape), strict=True):
            back[place] += np.where(here, share, g.dtype.type(0))
        return (back,)

    def meaning(self, x: Any, y: Any, g: Any) -> TensorVariable:
        """Return the same in other ops, window position by window position."""
        places = list(self.places(lengths_of(y)))
        reached = [T.eq(x[place], y) for place in places]
        share = T.true_div(g, _how_many(reached, g.dtype))
        back = T.zeros_like(x)
        for place, r in zip(places, reached, strict=True):
            back = T.inc_subtensor(back[place], T.switch(r, share, constant(0, g.dtype)))
        return back

    def vjp(self, node: Apply, cotangents: Sequence[Variable | None]) -> Sequence[Variable | None]:
        """Return cotangents: the op is linear in g, and constant in x and y almost everywhere."""
        k: Any = cotangents[0]
        x, y = map(as_tensor, node.inputs[:2])
        if k is None:
            return [None, None, None]
        places = list(self.places(lengths_of(y)))
        reached = [T.eq(x[place], y) for place in places]
        parts = [T.switch(r, k[place], constant(0, k.dtype)) for r, place in zip(reached, places, strict=True)]
        total = parts[0] if len(parts) == 1 else T.add(*parts)
        return [None, None, T.true_div(total, T.maximum(_how_many(reached, k.dtype), constant(1, k.dtype)))]


def _how_many(reached: Sequence[Variable], dtype: str) -> Any:
    """Return how many positions of each window are its maximum."""
    flags = [T.cast(r, dtype) for r in reached]
    return flags[0] if len(flags) == 1 else T.add(*flags)


@record(repr=False)
class SumPool(Pool):
    """The sum of each window, in the dtype of x; float16 is added in float32."""

    name = "sum_pool"

    def evaluate(self, *values: np.ndarray) -> tuple[np.ndarray, ...]:
        (x,) = values
        wide = np.float32 if x.dtype == np.float16 else x.dtype
        with np.errstate(all="ignore"):
            y = self.windows(x, self.kernel).sum(axis=self.within, dtype=wide)
        return (np.asarray(y).astype(x.dtype, copy=False),)

    def vjp(self, node: Apply, cotangents: Sequence[Variable | None]) -> Sequence[Variable | None]:
        (g,), (x,) = cotangents, node.inputs
        if g is None or x.type.kind != "f":
            return [None]
        back = T.zeros_like(x)
        for _, place in self.taps(x):
            back = T.inc_subtensor(back[place], g)
        return [back]


# --- what users call: PyTorch's conventions, for NumPy has none


@overload
def max_pool1d(
    x: TensorLike, kernel: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1, ceil_mode: bool = False,
    return_indices: Literal[False] = False,
) -> TensorVariable: ...  # fmt: skip
@overload
def max_pool1d(
    x: TensorLike, kernel: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1, ceil_mode: bool = False,
    *, return_indices: Literal[True],
) -> tuple[TensorVariable, TensorVariable]: ...  # fmt: skip
@overload
def max_pool1d(
    x: TensorLike, kernel: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1, ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any: ...  # fmt: skip
def max_pool1d(
    x: TensorLike, kernel: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1, ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:  # fmt: skip
    """The largest number of each window of x (images, channels, length); see `max_pool2d`."""
    return _max_pool("max_pool1d", 1, x, kernel, stride, padding, dilation, ceil_mode, return_indices)


@overload
def max_pool2d(
    x: TensorLike, kernel: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1, ceil_mode: bool = False,
    return_indices: Literal[False] = False,
) -> TensorVariable: ...  # fmt: skip
@overload
def max_pool2d(
    x: TensorLike, kernel: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1, ceil_mode: bool = False,
    *, return_indices: Literal[True],
) -> tuple[TensorVariable, TensorVariable]: ...  # fmt: skip
@overload
def max_pool2d(
    x: TensorLike, kernel: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1, ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any: ...  # fmt: skip
def max_pool2d(
    x: TensorLike, kernel: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1, ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:  # fmt: skip
    """The largest number of each window of x (images, channels, height, width); NaN if there is one, as in NumPy.

    The conventions are PyTorch's: `kernel`, `stride` (None: that of the kernel), `padding` and `dilation` are one
    integer or one an axis, known now; padding counts as less than every number, and is at most half of the kernel.
    Each padding may be a pair (before, after), less than the window, or all "valid", "same" or "same_lower", see
    `conv2d`.  With `ceil_mode` a last window may hang over the end if it begins before it.  Where several positions are
    largest they share the derivative equally, as with `T.max` (PyTorch takes the first).

    `return_indices`: whether the result is (values, indices), int64 positions of the first maximum of each window in
    the flattened image; of a window with NaN that of the last NaN.  Raises TypeError for another rank or complex
    numbers, ValueError for numbers that do not fit.
    """
    return _max_pool("max_pool2d", 2, x, kernel, stride, padding, dilation, ceil_mode, return_indices)


@overload
def max_pool3d(
    x: TensorLike, kernel: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1, ceil_mode: bool = False,
    return_indices: Literal[False] = False,
) -> TensorVariable: ...  # fmt: skip
@overload
def max_pool3d(
    x: TensorLike, kernel: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1, ceil_mode: bool = False,
    *, return_indices: Literal[True],
) -> tuple[TensorVariable, TensorVariable]: ...  # fmt: skip
@overload
def max_pool3d(
    x: TensorLike, kernel: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1, ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any: ...  # fmt: skip
def max_pool3d(
    x: TensorLike, kernel: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1, ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:  # fmt: skip
    """The largest number of each window of x (images, channels, depth, height, width); see `max_pool2d`."""
    return _max_pool("max_pool3d", 3, x, kernel, stride, padding, dilation, ceil_mode, return_indices)


def _max_pool(
    name: str, axes: int, x: Any, kernel: Any, stride: Any, padding: Any, dilation: Any, ceil_mode: bool,
    return_indices: bool,
) -> Any:  # fmt: skip
    window = Window(name, axes, x, kernel, stride, padding, dilation, ceil_mode)
    y = window.pooled(MaxPool, window.padded(lowest_number(window.x)))
    return (y, window.indices()) if return_indices else y


def lowest_number(x: Variable) -> float | int:
    """Return the least number of the dtype of x, -inf for floats."""
    kind: TensorType = x.type  # type: ignore[assignment]
    return -math.inf if kind.kind == "f" else int(np.iinfo(kind.dtype).min)


def avg_pool1d(
    x: TensorLike, kernel: Any, stride: Any = None, padding: Any = 0, ceil_mode: bool = False,
    count_include_pad: bool = True,
) -> TensorVariable:  # fmt: skip
    """The mean of each window of x (images, channels, length); see `avg_pool2d`."""
    return _avg_pool("avg_pool1d", 1, x, kernel, stride, padding, ceil_mode, count_include_pad, None)


def avg_pool2d(
    x: TensorLike, kernel: Any, stride: Any = None, padding: Any = 0, ceil_mode: bool = False,
    count_include_pad: bool = True, divisor_override: TensorLike | None = None,
) -> TensorVariable:  # fmt: skip
    """The mean of each window of x (images, channels, height, width).

    The conventions are PyTorch's, see `max_pool2d`: padding is zeros, which are counted unless `count_include_pad` is
    False; what hangs over the end in `ceil_mode` is never counted.  `divisor_override`: what sums are divided by
    instead.  Integers give float64; float16 is summed in float32.
    """
    return _avg_pool("avg_pool2d", 2, x, kernel, stride, padding, ceil_mode, count_include_pad, divisor_override)


def avg_pool3d(
    x: TensorLike, kernel: Any, stride: Any = None, padding: Any = 0, ceil_mode: bool = False,
    count_include_pad: bool = True, divisor_override: TensorLike | None = None,
) -> TensorVariable:  # fmt: skip
    """The mean of each window of x (images, channels, depth, height, width); see `avg_pool2d`."""
    return _avg_pool("avg_pool3d", 3, x, kernel, stride, padding, ceil_mode, count_include_pad, divisor_override)


def _avg_pool(
    name: str, axes: int, x: Any, kernel: Any, stride: Any, padding: Any, ceil_mode: bool, with_padding: bool,
    divisor: TensorLike | None,
) -> TensorVariable:  # fmt: skip
    x = as_tensor(x)
    dtype = x.dtype if x.type.kind in "fc" else "float64"
    wide = with_dtype(x, "float32" if dtype == "float16" else dtype)
    window = Window(name, axes, wide, kernel, stride, padding, 1, ceil_mode)
    total = window.pooled(SumPool, window.padded(0))
    counted = window.counted(bool(with_padding)) if divisor is None else divisor
    return with_dtype(T.true_div(total, counted), dtype)


class Window:
    """The checked arguments of a pooling function, and their effect on x."""

    def __init__(
        self, name: str, axes: int, x: Any, kernel: Any, stride: Any, padding: Any, dilation: Any, ceil_mode: bool
    ) -> None:
        x = as_tensor(x)
        if x.ndim != axes + 2 or x.type.kind not in "iuf":
            form = f"real numbers of rank {axes + 2}, (images, channels, {', '.join(POSITIONS[axes])})"
            raise TypeError(f"{name}: x must be {form}, got {describe(x)}")
        self.x: Any = x
        self.name: str = name
        self.kernel: Numbers = numbers_an_axis(kernel, axes, name, "kernel")
        self.stride: Numbers = self.kernel if stride is None else numbers_an_axis(stride, axes, name, "stride")
        self.dilation: Numbers = numbers_an_axis(dilation, axes, name, "dilation")
        self.extents: tuple[int, ...] = tuple(d * (k - 1) + 1 for k, d in zip(self.kernel, self.dilation, strict=True))
        self.around: list[tuple[Any, Any]] = padding_around(
            name, padding, lengths_of(x)[2:], self.kernel, self.stride, self.dilation
        )
        """Padding before and after each axis, as given: ints, or scalars."""
        self._require_small_padding(padding)
        self.behind: list[Any] = [self._behind(axis) if ceil_mode else pair[1] for axis, pair in enumerate(self.around)]
        """Padding after the last position of each axis."""
        for axis, length in enumerate(x.type.shape[2:]):
            pair = self.around[axis][0], self.behind[axis]
            if length is None or not all(isinstance(n, int) for n in pair):
                continue
            if self.extents[axis] > length + sum(pair):
                why = no_window(axis + 2, self.kernel[axis], self.extents[axis], length + sum(self.around[axis]))
                raise ValueError(f"{name}: {why}: x is {describe(x)}")

    def _require_small_padding(self, padding: Any) -> None:
        """Raises ValueError where a window could lie in the padding alone."""
        for k, extent, pair in zip(self.kernel, self.extents, self.around, strict=True):
            if not all(isinstance(n, int) for n in pair):
                continue
            if pair[0] == pair[1] and 2 * pair[0] > k and not isinstance(padding, str):
                given = tuple(p for p, _ in self.around)
                raise ValueError(f"{self.name}: padding must be at most half of the kernel, got {given} for "
                                 f"{self.kernel}")  # fmt: skip
            if max(pair) >= max(extent, 2):
                raise ValueError(f"{self.name}: padding must be less than the window, got {pair} for {extent}")

    def _behind(self, axis: int) -> Any:
        """Return the padding, extended for a last window that begins before the end."""
        (p, q), s, extent = self.around[axis], self.stride[axis], self.extents[axis]
        length = self.x.type.shape[2 + axis]
        if length is not None and isinstance(p, int):
            count = min((length + p + q - extent + s - 1) // s + 1, (length + p - 1) // s + 1)
            return max(q, (count - 1) * s + extent - length - p)
        n: Any = lengths_of(self.x)[2 + axis]
        starts = T.minimum(T.floor_div(n + (p + q - extent + s - 1), s), T.floor_div(n + (p - 1), s))
        return T.maximum(q, starts * s + (extent - p) - n)

    def padded(self, value: TensorLike, x: Any = None) -> Any:
        """x, or another tensor of its positions, with a number around it."""
        x = self.x if x is None else x
        around = list(zip((before for before, _ in self.around), self.behind, strict=True))
        if all(isinstance(n, int) and n == 0 for pair in around for n in pair):
            return x
        return T.pad(x, ((0, 0), (0, 0), *around), constant_values=constant(value, x.dtype))

    def pooled(self, kind: type[Pool], x: TensorLike) -> TensorVariable:
        """Pool large windows without overlap as axes, and other large windows axis by axis."""
        if math.prod(self.kernel) <= MOST_TAPS:
            return kind(self.kernel, self.stride, self.dilation)(x)
        if self.kernel == self.stride and max(self.dilation) == 1:
            return _side_by_side(kind, x, self.kernel)
        for pool in self.by_axis(kind):
            x = pool(x)
        return x  # type: ignore[return-value]

    def by_axis(self, kind: type[Pool]) -> list[Pool]:
        """Return a pool for each axis, the last one first: together they are the pool of the window."""
        axes, found = len(self.kernel), []
        for axis in reversed(range(axes)):
            own = [[1] * axes for _ in range(3)]
            for numbers, mine in zip(own, (self.kernel, self.stride, self.dilation), strict=True):
                numbers[axis] = mine[axis]
            found.append(kind(*map(tuple, own)))
        return found

    def indices(self) -> TensorVariable:
        """Return the position of each window's first maximum in the flattened positions of x."""
        number: Any = constant(0, "int64")
        lengths = lengths_of(self.x)[2:]
        for axis, n in enumerate(lengths):
            along = reshape(T.arange(n), [-1 if k == axis else 1 for k in range(len(lengths))])
            number = T.add(T.mul(number, n), along)
        numbers = T.broadcast_to(number, lengths_of(self.x))
        best, found = self.padded(lowest_number(self.x)), self.padded(-1, numbers)
        small = math.prod(self.kernel) <= MOST_TAPS
        for pool in [MaxPool(self.kernel, self.stride, self.dilation)] if small else self.by_axis(MaxPool):
            best, found = first_maxima(pool, best, found)
        return found  # type: ignore[no-any-return]

    def counted(self, with_padding: bool) -> TensorVariable:
        """Return the divisors of an average pool: one number, or the counts of each window."""
        pairs = list(zip(self.around, self.behind, strict=True))
        exact = all(isinstance(b, int) and b == after for (_, after), b in pairs)
        none = all(isinstance(n, int) and n == 0 for pair in self.around for n in pair)
        if exact and (with_padding or none):
            return constant(math.prod(self.kernel), self.x.dtype)
        total: Any = None
        for axis, (length, ((before, after), behind)) in enumerate(zip(lengths_of(self.x)[2:], pairs, strict=True)):
            inside = T.full((T.add(length, T.add(before, after) if with_padding else 0),), constant(1, self.x.dtype))
            ones = T.pad(inside, ((0, T.sub(behind, after)) if with_padding else (before, behind),))
            along = SumPool(self.kernel[axis : axis + 1], self.stride[axis : axis + 1], (1,))(ones)
            order = tuple(0 if k == axis else "x" for k in range(len(self.kernel)))
            mine = DimShuffle(order)(along)
            total = mine if total is None else T.mul(total, mine)
        return total  # type: ignore[no-any-return]


POSITIONS = {1: ("length",), 2: ("height", "width"), 3: ("depth", "height", "width")}
MOST_TAPS = 32
"""Positions of a window up to which they are read one by one.  Graphs are built before their target is known, and are
the same for all: this bounds the nodes of a graph, and no target may have another."""


def first_maxima(pool: Pool, x: Any, numbers: Any) -> tuple[Any, Any]:
    """Return the first maximum of each window and its number; a NaN wins, the last one, and padding (-1) loses."""
    best: Any = None
    found: Any = None
    for (part, _), (number, _) in zip(pool.taps(x), pool.taps(numbers), strict=True):
        if best is None:
            best, found = part, number
            continue
        better = T.logical_or(T.gt(part, best), T.lt(found, 0))
        better = T.logical_or(better, T.isnan(part)) if part.type.kind == "f" else better
        best, found = T.switch(better, part, best), T.switch(better, number, found)
    return best, found


def _side_by_side(kind: type[Pool], x: Any, kernel: Numbers) -> TensorVariable:
    (images, channels, *lengths), axes = lengths_of(x), len(kernel)
    counts = [T.floor_div(n, k) for n, k in zip(lengths, kernel, strict=True)]
    whole = x[(slice(None), slice(None), *(slice(0, n * k) for n, k in zip(counts, kernel, strict=True)))]
    pairs = [n for pair in zip(counts, kernel, strict=True) for n in pair]
    separate = reshape(whole, (images, channels, *pairs))
    return (T.max if kind is MaxPool else T.sum)(separate, axis=tuple(range(3, 3 + 2 * axes, 2)))
