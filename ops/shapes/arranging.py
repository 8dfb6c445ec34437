"""NumPy's functions on layout: higher ranks, columns and rows, rotations, grids, triangle indices."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any, Literal, overload

import numpy as np

from ...record.spelling import counted
from ..core.checks import describe, normalize_axes, normalize_axis, require_rank, shown, unpacked
from ..core.namespace import T
from ..core.operands import several
from ..core.tensor import TensorVariable, as_tensor, constant
from ..core.typing import Axis, DTypeLike, LengthLike, ShapeLike, TensorLike
from .conditions import between, checked
from .joining import as_one, concatenate, flip, split
from .lengths import as_lengths, int_length
from .shape import DimShuffle, expand_dims, flatten, ravel, reshape, swapaxes, transpose

__all__ = [
    "append", "argwhere", "atleast_1d", "atleast_2d", "atleast_3d", "broadcast_arrays", "column_stack", "compress",
    "concat", "diag_indices", "diag_indices_from", "dstack", "extract", "fliplr", "flipud", "hsplit", "indices", "ix_",
    "mask_indices", "matrix_transpose",
    "meshgrid", "permute_dims", "ravel_multi_index", "rollaxis", "rot90", "tril_indices",
    "tril_indices_from",
    "trim_zeros", "triu_indices", "triu_indices_from",
    "unravel_index", "unstack", "vsplit",
]  # fmt: skip

# --- ranks


@overload
def atleast_1d(array: TensorLike, /) -> TensorVariable: ...
@overload
def atleast_1d(*arrays: TensorLike) -> TensorVariable | tuple[TensorVariable, ...]: ...
def atleast_1d(*arrays: TensorLike) -> TensorVariable | tuple[TensorVariable, ...]:
    """Each of the arrays, scalars as vectors of one element; a tuple if there are several."""
    return _each(arrays, lambda x: x if x.ndim else expand_dims(x, 0))


@overload
def atleast_2d(array: TensorLike, /) -> TensorVariable: ...
@overload
def atleast_2d(*arrays: TensorLike) -> TensorVariable | tuple[TensorVariable, ...]: ...
def atleast_2d(*arrays: TensorLike) -> TensorVariable | tuple[TensorVariable, ...]:
    """Each of the arrays, vectors and scalars as matrices of one row; a tuple if there are several."""
    return _each(arrays, lambda x: x if x.ndim > 1 else reshape(x, (1, -1)))


@overload
def atleast_3d(array: TensorLike, /) -> TensorVariable: ...
@overload
def atleast_3d(*arrays: TensorLike) -> TensorVariable | tuple[TensorVariable, ...]: ...
def atleast_3d(*arrays: TensorLike) -> TensorVariable | tuple[TensorVariable, ...]:
    """Each of the arrays, a vector as (1, n, 1), a matrix as (m, n, 1); a tuple if there are several."""
    return _each(arrays, lambda x: x if x.ndim > 2 else expand_dims(x, 2) if x.ndim == 2 else reshape(x, (1, -1, 1)))


def _each(
    arrays: Sequence[Any], change: Callable[[TensorVariable], TensorVariable]
) -> TensorVariable | tuple[TensorVariable, ...]:
    found = tuple(change(as_tensor(a)) for a in arrays)
    return found[0] if len(found) == 1 else found


def broadcast_arrays(*arrays: TensorLike) -> tuple[TensorVariable, ...]:
    """The arrays, each broadcast to their joint shape."""
    variables = [as_tensor(a) for a in arrays]
    found = []
    for x in variables:
        for like in variables:
            x = x if like is x else T.fill(like, x)
        found.append(x)
    return tuple(found)


# --- rows and columns


def column_stack(arrays: Sequence[TensorLike]) -> TensorVariable:
    """Vectors as the columns of a matrix; matrices side by side."""
    one = as_one(arrays)
    if one is not None:
        orders = {1: (0, "x", "x"), 2: (0, 1, "x")}
        one = T.dimshuffle(one, *orders.get(one.ndim, range(one.ndim)))
        return concatenate(one, axis=1)  # type: ignore[arg-type]
    variables = map(as_tensor, several("column_stack", arrays))
    return concatenate([x if x.ndim > 1 else reshape(x, (-1, 1)) for x in variables], axis=1)


def dstack(arrays: Sequence[TensorLike]) -> TensorVariable:
    """The arrays concatenated along the third axis; see `atleast_3d`."""
    one = as_one(arrays)
    if one is not None:
        orders = {1: (0, "x", "x", "x"), 2: (0, "x", 1, "x"), 3: (0, 1, 2, "x")}
        one = T.dimshuffle(one, *orders.get(one.ndim, range(one.ndim)))
        return concatenate(one, axis=2)  # type: ignore[arg-type]
    return concatenate([atleast_3d(x) for x in several("dstack", arrays)], axis=2)


def append(x: TensorLike, values: TensorLike, axis: int | None = None) -> TensorVariable:
    """`x` and then `values` along `axis`; of the flattened two for None."""
    if axis is None:
        return concatenate([ravel(as_tensor(x)), ravel(as_tensor(values))])
    return concatenate([x, values], axis)


def hsplit(x: TensorLike, indices_or_sections: Any) -> list[TensorVariable]:
    """`split` along the second axis, of a vector along its only one.  Raises ValueError for a scalar."""
    require_rank("hsplit", as_tensor(x), 1)
    return split(x, indices_or_sections, axis=0 if as_tensor(x).ndim == 1 else 1)


def vsplit(x: TensorLike, indices_or_sections: Any) -> list[TensorVariable]:
    """`split` along the first axis.  Raises ValueError for a vector."""
    require_rank("vsplit", as_tensor(x), 2)
    return split(x, indices_or_sections, axis=0)


def unstack(x: TensorLike, *, axis: int = 0) -> tuple[TensorVariable, ...]:
    """The parts of `x` along `axis`, without that axis.  Raises ValueError where its length is not known yet."""
    x = as_tensor(x)
    place = normalize_axis(axis, x.ndim, "unstack")
    count = int_length(x, place)
    if count is None:
        raise ValueError(f"unstack: the length of axis {axis} of {describe(x)} is not known when the graph is built")
    return tuple(x[(slice(None),) * place + (k,)] for k in range(count))


# --- mirrors and turns


def fliplr(x: TensorLike) -> TensorVariable:
    """`x` with its second axis in reverse order."""
    return flip(x, 1)


def flipud(x: TensorLike) -> TensorVariable:
    """`x` with its first axis in reverse order."""
    return flip(x, 0)


def rot90(x: TensorLike, k: int = 1, axes: tuple[int, int] = (0, 1)) -> TensorVariable:
    """`x` rotated `k` times by 90 degrees, from the first of `axes` towards the second."""
    x = as_tensor(x)
    a, b = normalize_axes(axes, x.ndim, "rot90")
    turns = operator.index(k) % 4
    if turns % 2 == 0:
        return x if turns == 0 else flip(x, (a, b))
    return swapaxes(flip(x, b), a, b) if turns == 1 else flip(swapaxes(x, a, b), b)


def matrix_transpose(x: TensorLike) -> TensorVariable:
    """`x` with its last two axes interchanged."""
    return swapaxes(x, -1, -2)


permute_dims = transpose
concat = concatenate


# --- grids and indices


def meshgrid(*vectors: TensorLike, indexing: str = "xy", sparse: bool = False) -> tuple[TensorVariable, ...]:
    """The coordinates of a grid over vectors of lengths m and n: matrices (n, m), or (m, n) for the indexing "ij".

    `sparse`: with axes of length 1 where a coordinate does not change.
    """
    if indexing not in ("xy", "ij"):
        raise ValueError(f'meshgrid: indexing must be "xy" or "ij", got {indexing!r}')
    rank, found = len(vectors), []
    for k, x in enumerate(vectors):
        place = 1 - k if indexing == "xy" and k < 2 <= rank else k
        found.append(DimShuffle(tuple(0 if axis == place else "x" for axis in range(rank)))(flatten(as_tensor(x))))
    return tuple(found) if sparse else broadcast_arrays(*found)


def diag_indices_from(arr: TensorLike) -> tuple[TensorVariable, ...]:
    """The positions of the main diagonal of an array of two axes or more, all of one length.

    Raises ValueError for other arrays, for lengths known only then when a function runs.
    """
    x = as_tensor(arr)
    if x.ndim < 2:
        raise ValueError(f"diag_indices_from: input array must be at least 2-d, got {describe(x)}")
    lengths = T.lengths_of(x)
    same = T.all(T.stack([T.eq(n, lengths[0]) for n in lengths[1:]]))
    found = checked(T.arange(lengths[0]), same, "diag_indices_from: All dimensions of input must be of equal length")
    return (found,) * x.ndim


def mask_indices(n: LengthLike, mask_func: Callable[..., Any], k: LengthLike = 0) -> tuple[TensorVariable, ...]:
    """The positions where `mask_func(ones((n, n)), k)`, as `T.triu`, is not 0."""
    return T.nonzero(mask_func(T.ones((n, n), "int64"), k))


def trim_zeros(filt: TensorLike, trim: str = "fb", axis: Axis = None) -> TensorVariable:
    """`filt` without the slices of zeros at its front and back along `axis`, all axes for None.

    `trim`: "f" for the front, "b" for the back, "fb" for both.  The run decides the lengths.
    """
    sides = trim.lower() if isinstance(trim, str) else trim
    if sides not in ("f", "b", "fb", "bf"):
        raise ValueError(f"trim_zeros: unexpected character(s) in trim: {trim!r}; expected 'f', 'b' or 'fb'")
    x = as_tensor(filt)
    axes = tuple(range(x.ndim)) if axis is None else normalize_axes(axis, x.ndim, "trim_zeros")
    some = T.ne(x, 0)
    found: Any = x
    for place in axes:
        kept = T.any(some, axis=tuple(k for k in range(x.ndim) if k != place))
        n = T.lengths_of(x)[place]
        last = T.sub(n, T.argmax(T.append(T.flip(kept, 0), True)))
        first = T.minimum(T.argmax(T.append(kept, True)), n)
        empty = T.logical_not(T.any(kept))
        start = T.switch(empty, n, first) if "f" in sides else 0
        stop = T.switch(empty, 0, last) if "b" in sides else n
        found = found[(slice(None),) * place + (slice(start, T.maximum(start, stop)),)]
    return as_tensor(found)


def tril_indices(n: LengthLike, k: LengthLike = 0, m: LengthLike | None = None) -> tuple[TensorVariable, ...]:
    """The positions in the lower triangle of an n by m matrix, on and below diagonal `k`: two int64 vectors."""
    given: list[Any] = [unpacked(v) for v in (n, k, m)]
    if all(isinstance(v, (int, type(None))) for v in given):
        return tuple(constant(p, "int64") for p in np.tril_indices(*given))
    n, k, m = given
    return T.nonzero(T.tri(n, m, k, "bool"))


def triu_indices(n: LengthLike, k: LengthLike = 0, m: LengthLike | None = None) -> tuple[TensorVariable, ...]:
    """The positions in the upper triangle of an n by m matrix, on and above diagonal `k`: two int64 vectors."""
    given: list[Any] = [unpacked(v) for v in (n, k, m)]
    if all(isinstance(v, (int, type(None))) for v in given):
        return tuple(constant(p, "int64") for p in np.triu_indices(*given))
    n, k, m = given
    return T.nonzero(T.triu(T.ones((n, n if m is None else m), "bool"), k))


def diag_indices(n: LengthLike, ndim: int = 2) -> tuple[TensorVariable, ...]:
    """The positions on the main diagonal of a tensor of `ndim` axes of length `n`."""
    return (T.arange(n),) * ndim


def unravel_index(indices: TensorLike, shape: ShapeLike, order: str = "C") -> tuple[TensorVariable, ...]:
    """The positions along each axis of a tensor of `shape` of the elements at `indices` of the flattened tensor.

    `order`: "C", or "F" for a tensor that was flattened with its first axis as the fastest.
    Raises ValueError for an index out of range, at run time where it is known only then.
    """
    rest, found = as_tensor(indices), []
    if rest.type.kind not in "iub":
        raise TypeError(f"unravel_index: indices must be integers, got {describe(rest)}")
    lengths = as_lengths(shape, "unravel_index")[:: _direction("unravel_index", order)]
    count: Any = constant(1, "int64")
    for length in lengths:
        count = T.mul(count, length)
    rest = between(T.cast(rest, "int64"), 0, T.sub(count, 1), "unravel_index: indices")
    for length in reversed(lengths):
        found.append(rest % length)
        rest = rest // length
    return tuple(found[:: -_direction("unravel_index", order)])


def _direction(what: str, order: Any) -> int:
    """Return 1 where the last axis of a flattened tensor is the fastest, -1 where the first one is."""
    if order not in ("C", "F"):
        raise ValueError(f'{what}: order must be "C" or "F", got {shown(order)}')
    return 1 if order == "C" else -1


def ravel_multi_index(
    multi_index: Sequence[TensorLike], dims: ShapeLike, mode: str | Sequence[str] = "raise", order: str = "C"
) -> TensorVariable:
    """The positions in the flattened tensor of shape `dims` of the elements at `multi_index`, integers an axis.

    `mode`, one for all axes or one an axis, says what an index out of range is: "raise" makes it a ValueError, at run
    time where it is known only then, "wrap" counts on from the other end, and "clip" takes the nearest.
    `order`: see `unravel_index`.
    """
    indices, lengths = [as_tensor(i) for i in multi_index], as_lengths(dims, "ravel_multi_index")
    if len(indices) != len(lengths) or not indices:
        raise ValueError(
            f"ravel_multi_index: {counted(len(indices), 'array')} of indices for {counted(len(lengths), 'axis')}"
        )
    for index in indices:
        if index.type.kind not in "iub":
            raise TypeError(f"ravel_multi_index: indices are integers, got {describe(index)}")
    modes = (mode,) * len(indices) if isinstance(mode, str) or mode is None else tuple(mode)
    if len(modes) != len(indices):
        raise ValueError(f"ravel_multi_index: {len(modes)} modes for {counted(len(indices), 'axis')}")
    places = [_in_range(T.cast(i, "int64"), n, m or "raise") for i, n, m in zip(indices, lengths, modes, strict=True)]
    way = _direction("ravel_multi_index", order)
    found: Any = places[::way][0]
    for index, length in zip(places[::way][1:], lengths[::way][1:], strict=True):
        found = found * length + index
    result = as_tensor(found)
    for axis, (index, length, how) in enumerate(zip(places, lengths, modes, strict=True)):
        if how in ("raise", None):
            result = between(index, 0, T.sub(length, 1), f"ravel_multi_index: an index along axis {axis}", on=result)
    return result


def _in_range(index: TensorVariable, length: LengthLike, mode: str) -> TensorVariable:
    """Return an index with what is out of range wrapped around or clipped; unchanged in the mode "raise"."""
    if mode not in ("raise", "wrap", "clip"):
        raise ValueError(f'ravel_multi_index: mode must be "raise", "clip" or "wrap", got {shown(mode)}')
    if mode == "raise":
        return index
    return T.mod(index, length) if mode == "wrap" else T.clip(index, 0, T.sub(length, 1))


@overload
def indices(dimensions: ShapeLike, dtype: DTypeLike = ..., sparse: Literal[False] = ...) -> TensorVariable: ...
@overload
def indices(dimensions: ShapeLike, dtype: DTypeLike, sparse: Literal[True]) -> tuple[TensorVariable, ...]: ...
@overload
def indices(dimensions: ShapeLike, dtype: DTypeLike = ..., *, sparse: Literal[True]) -> tuple[TensorVariable, ...]: ...
def indices(
    dimensions: ShapeLike, dtype: DTypeLike = "int64", sparse: bool = False
) -> TensorVariable | tuple[TensorVariable, ...]:
    """The coordinates of each element of a tensor of shape `dimensions`: stacked along a new first axis.

    `sparse`: a tuple with one array an axis, of length 1 along all others.
    """
    lengths = as_lengths(dimensions, "indices")
    if not lengths:
        return () if sparse else T.zeros((0,), dtype)
    found = meshgrid(*(T.arange(n, dtype=dtype) for n in lengths), indexing="ij", sparse=sparse)
    return found if sparse else T.stack(found)


def ix_(*vectors: TensorLike) -> tuple[TensorVariable, ...]:
    """Vectors of indices, or of bools, so that x[ix_(a, b)] are the elements in rows `a` and columns `b`."""
    found = []
    for x in map(as_tensor, vectors):
        if x.ndim != 1:
            raise ValueError(f"ix_ takes vectors, got {describe(x)}")
        found.append(T.nonzero(x)[0] if x.dtype == "bool" else x)
    return meshgrid(*found, indexing="ij", sparse=True)


def tril_indices_from(arr: TensorLike, k: LengthLike = 0) -> tuple[TensorVariable, ...]:
    """`tril_indices` of the shape of the matrix `arr`."""
    return tril_indices(*_of_matrix("tril_indices_from", arr, k))


def triu_indices_from(arr: TensorLike, k: LengthLike = 0) -> tuple[TensorVariable, ...]:
    """`triu_indices` of the shape of the matrix `arr`."""
    return triu_indices(*_of_matrix("triu_indices_from", arr, k))


def _of_matrix(what: str, x: TensorLike, k: LengthLike) -> tuple[Any, Any, Any]:
    x = as_tensor(x)
    if x.ndim != 2:
        raise ValueError(f"{what} takes a matrix, got {describe(x)}")
    n, m = x.shape[0], x.shape[1]
    return n, k, m


def rollaxis(x: TensorLike, axis: int, start: int = 0) -> TensorVariable:
    """`x` with `axis` moved to stand before the axis `start`."""
    x = as_tensor(x)
    place = normalize_axis(axis, x.ndim, f"rollaxis of {describe(x)}")
    before = start if start == x.ndim else normalize_axis(start, x.ndim, f"rollaxis of {describe(x)}")
    return T.moveaxis(x, place, before - (place < before))


def argwhere(x: TensorLike) -> TensorVariable:
    """The positions of the elements that are not zero: a row for each."""
    x = as_tensor(x)
    return T.stack(T.nonzero(x), axis=1) if x.ndim else T.stack(T.nonzero(expand_dims(x, 0)), axis=1)[:, :0]


def extract(condition: TensorLike, x: TensorLike) -> TensorVariable:
    """The elements of the flattened `x` where the flattened `condition` is not zero; of a shorter one, the first ones.

    A run raises IndexError where x has no such element.
    """
    return T.take(ravel(as_tensor(x)), T.nonzero(ravel(as_tensor(condition)))[0])


def compress(condition: TensorLike, x: TensorLike, axis: int | None = None) -> TensorVariable:
    """The parts of `x` along `axis` (of the flattened x for None) where the vector `condition` is not zero."""
    condition = as_tensor(condition)
    if condition.ndim != 1:
        raise ValueError(f"compress: condition must be a vector, got {describe(condition)}")
    return T.take(x, T.nonzero(condition)[0], axis)
