"""Views with several axes along one: `Strided`, and NumPy's `sliding_window_view`.

    Strided()(x, m, n, s, t)[..., i, j] = x[..., i * s + j * t]       x: (..., k)  -->  (..., m, n)
    Strided()(x, w, k - w + 1, 1, 1)[..., p, j] = x[..., p + j]       all windows of w elements

The view moves no data; elements may repeat, so nothing is written through it.  Positions of windows are the last axis:
vectors of a reduction of windows then hold neighbouring windows.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any, ClassVar

import numpy as np

from ...graph import Apply, Dim, Kind, TensorType, Variable, dims, dims_of
from ...record import record
from ...record.spelling import counted
from ..control.batching import on_last_axes
from ..core.checks import describe, normalize_axis, require_index_scalar
from ..core.namespace import T
from ..core.tensor import TensorOp, TensorVariable, as_tensor
from ..core.typing import LengthLike, TensorLike
from ..elementwise import costs
from ..writing import code
from .conditions import between
from .lengths import as_length, dim_to_tensor, known_length, lengths_of, tensor_to_dim

__all__ = ["sliding_window_view"]

MOST_SLICES = 32
"""Longest window whose derivative adds slices; that of others adds elements by their places."""


@record(repr=False)
class Strided(TensorOp):
    """`strided(x, *lengths, *steps)`: axes of these lengths, each along the last axis of x; a read-only view.

    Lengths and steps are int64 scalars, none of them negative.  Source: `numpy.lib.stride_tricks.as_strided`.
    """

    name = "strided"
    fallible = True
    picture: ClassVar[Kind] = Kind.SHAPE
    operations: ClassVar[Callable[..., Any]] = costs.moving
    batching: ClassVar[Callable[..., Any]] = on_last_axes
    error: ClassVar[type[Exception]] = IndexError

    def infer(self, inputs: tuple[Variable, ...]) -> tuple[TensorType, ...]:
        x, *numbers = inputs
        if not x.ndim or len(numbers) < 2 or len(numbers) % 2:
            raise ValueError(f"{self.name}: expected a length and a step for each axis along the last one of "
                             f"{describe(x)}, got {len(numbers)} numbers")  # fmt: skip
        for n in numbers:
            require_index_scalar(self.name, n, "a length or a step")
        return (x.type.with_shape((*x.type.shape[:-1], *map(known_length, numbers[: len(numbers) // 2]))),)

    def evaluate(self, *values: np.ndarray) -> tuple[np.ndarray, ...]:
        x, numbers = values[0], [int(n) for n in values[1:]]
        lengths, steps = numbers[: len(numbers) // 2], numbers[len(numbers) // 2 :]
        if min(numbers) < 0:
            raise ValueError(f"{self.name}: a length or a step is negative: {numbers}")
        needed = 1 + sum((n - 1) * s for n, s in zip(lengths, steps, strict=True)) if math.prod(lengths) else 0
        if needed > x.shape[-1]:
            raise self.error(self.broken(0, x.shape[-1], needed))
        strides = (*x.strides[:-1], *(s * x.strides[-1] for s in steps))
        return (np.lib.stride_tricks.as_strided(x, (*x.shape[:-1], *lengths), strides, writeable=False),)

    def broken(self, axis: int, length: int, needed: int) -> str:
        """Return the message for a view of more elements than there are."""
        return f"index {needed - 1} is out of bounds for axis {axis} with size {length}"

    def dims(self, node: Apply, inputs: Sequence[tuple[Dim, ...]]) -> tuple[tuple[Dim, ...], ...]:
        return ((*inputs[0][:-1], *map(tensor_to_dim, node.inputs[1 : len(node.inputs) // 2 + 1])),)

    def vjp(self, node: Apply, cotangents: Sequence[Variable | None]) -> Sequence[Variable | None]:
        (g,), (x, *numbers) = cotangents, node.inputs
        return [None if g is None else _folded(g, x, numbers), *[None for _ in numbers]]

    def views(self) -> dict[int, int]:
        return {0: 0}

    def code(self, output: Variable, speaker: code.Speaker, /) -> code.Code:
        """`sliding_window_view(x, w, axis=-1).swapaxes(-1, -2)` for all windows, else the class."""
        assert output.owner is not None
        x, width, count, *steps = output.owner.inputs
        if not _is_every_window(x, width, count, steps):
            return code.of_class(self, output, speaker)
        name = f"{'lib.stride_tricks.' if speaker.numpy else ''}sliding_window_view"
        text, level = speaker.call(name, *speaker.texts([x, width]), axis=-1)
        return f"{text}.swapaxes(-1, -2)", level


def _is_every_window(x: Variable, width: Variable, count: Variable, steps: Sequence[Variable]) -> bool:
    if [known_length(s) for s in steps] != [1, 1]:
        return False
    return dims.add(tensor_to_dim(width), tensor_to_dim(count)) == dims.add(dims_of(x)[-1], 1)


def _folded(g: Any, x: Variable, numbers: Sequence[Variable]) -> Any:
    """Return, for each element of x, the sum of those of `g` that stand for it."""
    lengths, steps = numbers[: len(numbers) // 2], numbers[len(numbers) // 2 :]
    width = known_length(lengths[0])
    if [known_length(s) for s in steps] == [1, 1] and width is not None and 0 < width <= MOST_SLICES:
        rest = dims.sub(dims_of(x)[-1], tensor_to_dim(lengths[1]))
        before: Any = [(0, 0)] * (g.ndim - 2)
        moved = [T.pad(g[..., p, :], [*before, (p, _number(dims.sub(rest, p)))]) for p in range(width)]
        return reduce(T.add, moved)
    total = T.zeros(lengths_of(x), g.dtype)
    return T.inc_subtensor(total[..., places(numbers)], g)


def _number(dim: Dim) -> Any:
    return dim if isinstance(dim, int) else dim_to_tensor(dim)


def places(numbers: Sequence[Any]) -> Any:
    """Return the place along the axis of each element of a view of these lengths and steps."""
    axes = len(numbers) // 2
    along = [T.arange(n) * s for n, s in zip(numbers[:axes], numbers[axes:], strict=True)]
    return reduce(T.add, (T.expand_dims(a, tuple(range(1, axes - k))) for k, a in enumerate(along)))


def long_axis_last(x: Any, lengths: Sequence[Any], steps: Sequence[Any]) -> Any:
    """Return a view of these lengths and steps.  In memory its longest axis of step 1 is the last, as loops want it."""
    axes = range(len(lengths))
    adjacent = [k for k in axes if known_length(steps[k]) == 1]
    known = {k: known_length(lengths[k]) for k in adjacent}
    last = max(adjacent, key=lambda k: (math.inf if known[k] is None else known[k], k), default=len(lengths) - 1)
    order = [*(k for k in axes if k != last), last]
    view = Strided()(x, *(lengths[k] for k in order), *(steps[k] for k in order))
    return view if last == len(lengths) - 1 else T.moveaxis(view, -1, last - len(lengths))


def sliding_window_view(
    x: TensorLike, window_shape: LengthLike | Sequence[LengthLike], axis: int | Sequence[int] | None = None
) -> TensorVariable:
    """All windows of `x`: each axis has their positions, and a new last axis for each given one has their elements.

    `window_shape`: the length along each axis of `axis`; without `axis` along all.  Raises ValueError for another
    number of lengths, and for a window that is longer than the axis.  Source: `numpy.lib.stride_tricks`.
    """
    v = as_tensor(x)
    sizes: list[Any] = list(window_shape) if isinstance(window_shape, (tuple, list)) else [window_shape]
    given = range(v.ndim) if axis is None else axis if isinstance(axis, (tuple, list)) else [axis]
    what = f"sliding_window_view of {describe(v)}"
    axes = [normalize_axis(a, v.ndim, what) for a in given]
    if len(axes) != len(sizes):
        raise ValueError(f"{what}: window_shape has {counted(len(sizes), 'length')} for {counted(len(axes), 'axis')}")
    for place, size in zip(axes, sizes, strict=True):
        width, whole = as_length(size, "sliding_window_view: window_shape"), lengths_of(v)[place]
        v = between(width, 0, whole, "sliding_window_view: a length of window_shape", on=v)
        windows = Strided()(T.moveaxis(v, place, -1), width, whole - width + 1, 1, 1)
        v = T.moveaxis(windows, (-1, -2), (place, -1))
    return v
