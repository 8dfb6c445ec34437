"""Tensors put together and taken apart: `Join`, and what NumPy's users build of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from .. import ops as T
from ..graph import Apply, Constant, Dim, TensorType, Variable, dims
from ..record import record
from .checks import describe, normalize_axes, normalize_axis
from .creation import Alloc, arange
from .lengths import as_length, lengths_of
from .operands import in_joint_dtype, with_dtype
from .shape import broadcast_to, expand_dims, flatten, reshape
from .tensor import TensorOp, as_tensor, constant


@record(repr=False)
class Join(TensorOp):
    """Tensors of one dtype and rank laid one after the other along `axis`; their other lengths are the same."""

    axis: int
    name = "join"

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
        """The static length of one axis of the result.  Raises ValueError where the inputs differ."""
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

    def evaluate(self, *values: np.ndarray) -> tuple[np.ndarray, ...]:
        return (np.concatenate(values, axis=self.axis),)

    def dims(self, node: Apply, inputs: Sequence[tuple[Dim, ...]]) -> tuple[tuple[Dim, ...], ...]:
        total: Dim = 0
        for shape in inputs:
            total = dims.add(total, shape[self.axis])
        joint = list(inputs[0])
        joint[self.axis] = total
        return (tuple(joint),)

    def vjp(self, node: Apply, cotangents: Sequence[Variable | None]) -> Sequence[Variable | None]:
        (g,) = cotangents
        if g is None:
            return [None] * len(node.inputs)
        return _cut(g, [lengths_of(i)[self.axis] for i in node.inputs], self.axis)


def _cut(x: Variable, lengths: Sequence[Variable], axis: int) -> list[Variable]:
    """Pieces of `x` of these lengths, one after the other along `axis`."""
    pieces: list[Variable] = []
    start: Variable | None = None
    for length in lengths:
        stop = length if start is None else _plus(start, length)
        pieces.append(_part(x, axis, start, stop))
        start = stop
    return pieces


def _plus(a: Variable, b: Variable) -> Any:
    if isinstance(a, Constant) and isinstance(b, Constant):
        return constant(a.data + b.data, "int64")
    return T.add(a, b)


def _part(x: Any, axis: int, start: Any, stop: Any) -> Any:
    return x[(slice(None),) * axis + (slice(start, stop),)]


# --- NumPy's functions


def concatenate(arrays: Sequence[Any], axis: int = 0) -> Any:
    """The arrays one after the other along `axis`, in their joint dtype."""
    variables = in_joint_dtype(arrays)
    if not variables:
        raise ValueError("concatenate: at least one array is needed")
    return Join(normalize_axis(axis, variables[0].ndim, "concatenate"))(*variables)


def stack(arrays: Sequence[Any], axis: int = 0) -> Any:
    """The arrays, which have one shape, along a new axis `axis`."""
    variables = in_joint_dtype(arrays)
    if not variables:
        raise ValueError("stack: at least one array is needed")
    place = normalize_axis(axis, variables[0].ndim + 1, "stack")
    if not variables[0].ndim:
        return T.MakeVector()(*variables)
    return Join(place)(*(expand_dims(v, place) for v in variables))


def vstack(arrays: Sequence[Any]) -> Any:
    """The arrays one below the other; a vector is a row."""
    variables = [v if v.ndim > 1 else reshape(v, (1, -1)) for v in map(as_tensor, arrays)]
    return concatenate(variables, axis=0)


def hstack(arrays: Sequence[Any]) -> Any:
    """The arrays side by side: along the second axis, vectors along their only one."""
    variables = [v if v.ndim else expand_dims(v, 0) for v in map(as_tensor, arrays)]
    return concatenate(variables, axis=0 if variables and variables[0].ndim == 1 else 1)


def split(x: Any, indices_or_sections: Any, axis: int = 0) -> list[Variable]:
    """NumPy's `split`: that many equal parts of `x` along `axis`, or the parts between the indices given.

    Raises ValueError if `x` cannot be cut into equal parts: when the graph is built if the length is known, else when
    it is run.
    """
    x = as_tensor(x)
    axis = normalize_axis(axis, x.ndim, "split")
    if not isinstance(indices_or_sections, (int, np.integer)):
        bounds = [0, *indices_or_sections, None]
        return [_part(x, axis, a, b) for a, b in pairwise(bounds)]
    count, length = int(indices_or_sections), x.type.shape[axis]
    if count < 1 or (length is not None and length % count):
        raise ValueError(f"split: axis {axis} of {describe(x)} cannot be cut into {count} equal parts")
    if length is not None:
        size = length // count
        return [_part(x, axis, k * size, (k + 1) * size) for k in range(count)]
    # As a tensor with an axis of `count`: the reshape raises where there is a remainder.
    own = lengths_of(x)
    parts = reshape(x, (*own[:axis], count, T.floor_div(own[axis], count), *own[axis + 1 :]))
    return [parts[(slice(None),) * axis + (k,)] for k in range(count)]


def tile(x: Any, reps: Any) -> Any:
    """NumPy's `tile`: `x` repeated as a block, `reps` times along each axis (integers or integer scalars)."""
    x = as_tensor(x)
    counts = [as_length(r, "tile") for r in (reps if isinstance(reps, (tuple, list)) else [reps])]
    ndim = max(x.ndim, len(counts))
    own = [constant(1, "int64")] * (ndim - x.ndim) + list(lengths_of(x))
    counts = [constant(1, "int64")] * (ndim - len(counts)) + counts
    blocks = reshape(x, [n for length in own for n in (1, length)])
    stretched = broadcast_to(blocks, [n for pair in zip(counts, own, strict=True) for n in pair])
    return reshape(stretched, [T.mul(count, length) for count, length in zip(counts, own, strict=True)])


def repeat(x: Any, repeats: Any, axis: int | None = None) -> Any:
    """NumPy's `repeat`: each element of `x` `repeats` times along `axis` (of the flattened `x` for None).

    `repeats` is an integer, an integer scalar, or one integer an element, all known when the graph is built.
    """
    x = as_tensor(x)
    if axis is None:
        x, axis = flatten(x), 0
    axis = normalize_axis(axis, x.ndim, "repeat")
    if not isinstance(repeats, Variable) and np.ndim(repeats):
        positions = np.repeat(np.arange(len(repeats)), repeats)
        return T.take(x, positions, axis)
    count, own = as_length(repeats, "repeat"), lengths_of(x)
    stretched = broadcast_to(expand_dims(x, axis + 1), (*own[: axis + 1], count, *own[axis + 1 :]))
    return reshape(stretched, (*own[:axis], T.mul(own[axis], count), *own[axis + 1 :]))


def flip(x: Any, axis: int | Sequence[int] | None = None) -> Any:
    """`x` with its elements in reverse order along `axis` (all axes for None)."""
    x = as_tensor(x)
    axes = range(x.ndim) if axis is None else normalize_axes(axis, x.ndim, "flip")
    return x[tuple(slice(None, None, -1) if k in axes else slice(None) for k in range(x.ndim))]


def roll(x: Any, shift: Any, axis: int | Sequence[int] | None = None) -> Any:
    """NumPy's `roll`: elements moved on by `shift` along `axis`, those beyond the end put at the beginning.

    With `axis=None` the flattened `x` is rolled.  `shift` is an integer or an integer scalar, or one of them an axis.
    """
    x = as_tensor(x)
    if axis is None:
        return reshape(roll(flatten(x), shift, 0), lengths_of(x))
    axes = normalize_axes(axis, x.ndim, "roll")
    shifts = list(shift) if isinstance(shift, (tuple, list)) else [shift] * len(axes)
    for k, by in zip(axes, shifts, strict=True):
        own = lengths_of(x)
        cut = T.mod(T.neg(as_length(by, "roll")), own[k])
        rolled = Join(k)(_part(x, k, cut, None), _part(x, k, None, cut))
        x = reshape(rolled, own)  # says what the sum of two lengths does not: that the shape is that of x
    return x


def pad(x: Any, pad_width: Any, mode: str = "constant", constant_values: Any = 0) -> Any:
    """`x` with more elements around it: `pad_width` is n, (before, after), or one such pair an axis.

    `mode`: "constant" puts `constant_values` there, "edge" the elements at the ends, "reflect" those within in reverse
    order without the end, "symmetric" with it, "wrap" those from the other end.  Raises ValueError for another mode.
    """
    x = as_tensor(x)
    widths: list[tuple[Any, Any]] = [(as_length(a, "pad"), as_length(b, "pad")) for a, b in _pairs(pad_width, x.ndim)]
    own = lengths_of(x)
    if mode != "constant":
        if mode not in _SOURCES:
            raise ValueError(f'pad: the mode is "constant", {", ".join(map(repr, _SOURCES))}, got {mode!r}')
        for axis, (before, after) in enumerate(widths):
            if not (_is_zero(before) and _is_zero(after)):
                x = T.take(x, _SOURCES[mode](arange(T.neg(before), _plus(own[axis], after)), own[axis]), axis)
        return x
    outer = [_plus(_plus(before, n), after) for n, (before, after) in zip(own, widths, strict=True)]
    border = Alloc()(with_dtype(as_tensor(constant_values), x.dtype), *outer)
    inside = tuple(slice(before, _plus(before, n)) for n, (before, _) in zip(own, widths, strict=True))
    return T.set_subtensor(border[inside], x)


def _reflected(k: Any, n: Any) -> Any:
    period = T.maximum(2 * n - 2, 1)
    k = T.mod(k, period)
    return T.minimum(k, period - k)


def _symmetric(k: Any, n: Any) -> Any:
    k = T.mod(k, 2 * n)
    return T.minimum(k, 2 * n - 1 - k)


def _wrapped(k: Any, n: Any) -> Any:
    return T.mod(k, n)


_SOURCES: dict[str, Callable[[Any, Any], Any]] = {
    "edge": lambda k, n: T.clip(k, 0, n - 1), "reflect": _reflected, "symmetric": _symmetric, "wrap": _wrapped,
}  # fmt: skip
"""For each mode, where along an axis of length n the element at place k comes from, 0 being the first of `x`."""


def _is_zero(width: Variable) -> bool:
    return isinstance(width, Constant) and not width.data


def _pairs(pad_width: Any, ndim: int) -> list[tuple[Any, Any]]:
    """One (before, after) an axis."""
    if not isinstance(pad_width, (tuple, list)):
        return [(pad_width, pad_width)] * ndim
    if any(isinstance(p, (tuple, list)) for p in pad_width):
        pairs = [tuple(p) if len(p) == 2 else (p[0], p[0]) for p in pad_width]
    else:
        pairs = [(pad_width[0], pad_width[-1])]
    if len(pairs) not in (1, ndim) or (len(pad_width) > 2 and not isinstance(pad_width[0], (tuple, list))):
        raise ValueError(f"pad: {pad_width!r} does not give one pair for each of {ndim} axes")
    return pairs * ndim if len(pairs) == 1 else pairs
