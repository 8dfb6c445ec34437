"""NumPy's functions that write into an array, as functions that return the array with the writes.

    y = T.put(x, indices, values)        where NumPy says np.put(x, indices, values)

The first argument never changes.  Gradients, C and batching are those of the ops that these functions are made of.
"""

from __future__ import annotations

from typing import Any

from ...graph import Variable
from ..core.checks import describe, normalize_axis, shown
from ..core.namespace import T
from ..core.operands import weak_kind, with_dtype
from ..core.tensor import TensorVariable, as_tensor
from ..core.typing import TensorLike
from .creation import arange
from .lengths import lengths_of
from .shape import broadcast_to, flatten, reshape

__all__ = ["copyto", "fill_diagonal", "place", "put", "put_along_axis", "putmask"]


def copyto(dst: TensorLike, src: TensorLike, casting: str = "same_kind", where: TensorLike = True) -> TensorVariable:
    """`dst` with `src`, broadcast to it, where `where` is true.

    Raises TypeError where `casting` does not let src become the dtype of dst.
    """
    x = as_tensor(dst)
    weak = weak_kind(src) is not None
    value = as_tensor(src)
    if not weak and not T.can_cast(value, x.dtype, casting):
        raise TypeError(f"copyto: cannot cast {describe(value)} to {x.dtype} under casting={casting!r}")
    value = broadcast_to(T.cast(value, x.dtype), lengths_of(x))
    if where is True:
        return value
    mask = as_tensor(where)
    if mask.dtype != "bool":
        raise TypeError(f"copyto: where must be a mask of bools, got {describe(mask)}")
    return T.switch(broadcast_to(mask, lengths_of(x)), value, x)


def put(a: TensorLike, ind: TensorLike, v: TensorLike, mode: str | None = "raise") -> TensorVariable:
    """`a` with `v`, repeated or cut to as many elements, at the positions `ind` of the flattened a.

    `mode`, for positions out of range: "raise" (IndexError at run time), "wrap" or "clip"; of equal positions the last
    counts.
    """
    mode = mode or "raise"
    if mode not in ("raise", "wrap", "clip"):
        raise ValueError(f'put: clipmode must be one of "clip", "raise" or "wrap", got {shown(mode)}')
    x, places = as_tensor(a), as_tensor(ind)
    if places.type.kind not in "biu":
        raise TypeError(f"put: positions must be integers, got {describe(places)}")
    flat, places = flatten(x), flatten(with_dtype(places, "int64"))
    size: Any = lengths_of(flat)[0]
    if mode == "wrap":
        places = T.mod(places, size)
    elif mode == "clip":
        places = T.clip(places, 0, size - 1)
    return reshape(T.set_subtensor(flat[places], _repeated(v, lengths_of(places)[0], x.dtype)), lengths_of(x))


def _repeated(values: TensorLike, count: Any, dtype: str) -> TensorVariable:
    """`count` of the values, which start again after the last."""
    given = flatten(T.cast(as_tensor(values), dtype))
    return T.take(given, T.mod(arange(count), T.maximum(lengths_of(given)[0], 1)))


def place(arr: TensorLike, mask: TensorLike, vals: TensorLike) -> TensorVariable:
    """`arr` with the values `vals`, one after the other and again from the first, where `mask` is true.

    Raises ValueError for masks of another size; a run raises IndexError for no values beside a true element.
    """
    x, chosen = as_tensor(arr), as_tensor(mask)
    flat, chosen = flatten(x), flatten(T.cast(chosen, "bool"))
    known = flat.type.shape[0], chosen.type.shape[0]
    if None not in known and known[0] != known[1]:
        raise ValueError(f"place: mask and data must be the same size, got {describe(as_tensor(mask))}, {describe(x)}")
    places = T.nonzero(chosen)[0]
    return reshape(T.set_subtensor(flat[places], _repeated(vals, lengths_of(places)[0], x.dtype)), lengths_of(x))


def putmask(a: TensorLike, mask: TensorLike, values: TensorLike) -> TensorVariable:
    """`a` with the elements of `values`, repeated to its size, where `mask` is true: element k of a gets value k.

    Raises ValueError for masks of another size.
    """
    x, chosen = as_tensor(a), as_tensor(mask)
    flat, chosen = flatten(x), flatten(T.cast(chosen, "bool"))
    known = flat.type.shape[0], chosen.type.shape[0]
    if None not in known and known[0] != known[1]:
        raise ValueError(f"putmask: mask and data must be the same size, got {describe(chosen)} and {describe(flat)}")
    return reshape(T.switch(chosen, _repeated(values, lengths_of(flat)[0], x.dtype), flat), lengths_of(x))


def put_along_axis(
    arr: TensorLike, indices: TensorLike, values: TensorLike, axis: int | None = -1
) -> TensorVariable:
    """`arr` with `values`, which broadcast to `indices`, at the elements that `take_along_axis` reads.

    `axis`: None for the flattened arr.  A run raises IndexError for an index out of range.
    """
    x, places = as_tensor(arr), as_tensor(indices)
    if axis is None:
        return reshape(put_along_axis(flatten(x), places, values, 0), lengths_of(x))
    if places.type.kind not in "biu":
        raise IndexError(f"put_along_axis: indices must be integers, got {describe(places)}")
    if x.ndim != places.ndim:
        raise ValueError(f"put_along_axis: {describe(x)} and {describe(places)} are not of the same rank")
    axis = normalize_axis(axis, x.ndim, "put_along_axis")
    key: list[Variable] = []
    for k, length in enumerate(lengths_of(x)):
        along = tuple(0 if n == k else "x" for n in range(x.ndim))
        key.append(with_dtype(places, "int64") if k == axis else T.dimshuffle(arange(length), *along))
    return T.set_subtensor(x[tuple(key)], T.cast(as_tensor(values), x.dtype))


def fill_diagonal(a: TensorLike, val: TensorLike, wrap: bool = False) -> TensorVariable:
    """`a` with `val`, repeated if it has fewer elements, along its main diagonal.

    `a`: a matrix, or an array of more axes of one length.  `wrap`: in a tall matrix the diagonal goes on after each n
    rows and one.  Raises ValueError for a vector and axes of different lengths.
    """
    x = as_tensor(a)
    if x.ndim < 2:
        raise ValueError(f"fill_diagonal: array must be at least 2-d, got {describe(x)}")
    lengths: Any = lengths_of(x)
    if x.ndim == 2:
        step, end = lengths[1] + 1, lengths[0] * lengths[1] if wrap else lengths[1] * lengths[1]
    else:
        if len({n for n in x.type.shape if n is not None}) > 1:
            raise ValueError(f"fill_diagonal: all dimensions of input must be of equal length, got {describe(x)}")
        step, end = 1, None
        for n in lengths[1:]:
            step = step * n + 1
    flat = flatten(x)
    size = lengths_of(flat)[0]
    places = arange(0, size if end is None else T.minimum(end, size), step)
    return reshape(T.set_subtensor(flat[places], _repeated(val, lengths_of(places)[0], x.dtype)), lengths_of(x))
