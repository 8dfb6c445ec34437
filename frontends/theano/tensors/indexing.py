"""Parts of tensors, writes to them, sorting and counting."""

from __future__ import annotations

from typing import Any

from .... import ops as T
from .dtypes import float_x
from .elementwise import FUNCTIONS, cast, exported
from .shapes import arange, dimshuffle, length, lengths
from .variables import as_tensor_variable, wrap, wrapped


def _write(name: str, x: Any, y: Any) -> Any:
    """A write to the part `x = base[index]`; numbers and other dtypes come to that of the base."""
    value = as_tensor_variable(y)
    if value.dtype != x.dtype:
        value = cast(value, x.dtype)
    return wrap(getattr(T, name)(x.core, value.core), x, value)


@exported
def set_subtensor(x: Any, y: Any, inplace: bool = False, tolerate_inplace_aliasing: bool = False) -> Any:
    """The tensor that `x` was sliced from, with `y` written to that slice."""
    return _write("set_subtensor", x, y)


@exported
def inc_subtensor(
    x: Any, y: Any, inplace: bool = False, set_instead_of_inc: bool = False, tolerate_inplace_aliasing: bool = False
) -> Any:
    """The tensor that `x` was sliced from, with `y` added to that slice."""
    return _write("set_subtensor" if set_instead_of_inc else "inc_subtensor", x, y)


@exported
def take(a: Any, indices: Any, axis: int | None = None, mode: str = "raise") -> Any:
    """The parts at these positions."""
    x, where = as_tensor_variable(a), as_tensor_variable(indices)
    return wrap(T.take(x.core, where.core, axis, mode), x, where)


@exported
def nonzero(a: Any, return_matrix: bool = False) -> Any:
    """The positions of elements that are not zero: a vector for each axis, or the rows of a matrix."""
    x = as_tensor_variable(a)
    found = T.nonzero(x.core)
    return wrap(T.stack(list(found)), x) if return_matrix else tuple(wrap(v, x) for v in found)


@exported
def nonzero_values(a: Any) -> Any:
    """The elements that are not zero."""
    x = as_tensor_variable(a)
    return wrap(x.core[T.nonzero(x.core)], x)


@exported
def flatnonzero(a: Any) -> Any:
    """The positions of elements that are not zero in the flat tensor."""
    x = as_tensor_variable(a)
    return wrap(T.flatnonzero(x.core), x)


@exported
def choose(a: Any, choices: Any, out: Any = None, mode: str = "raise") -> Any:
    """For each index the element of that choice."""
    if mode != "raise" or out is not None:
        raise NotImplementedError("choose: only mode='raise' without out; clip the indices before it")
    x = as_tensor_variable(a)
    options = choices if isinstance(choices, (list, tuple)) else [choices[n] for n in range(choices.core.type.shape[0])]
    found = as_tensor_variable(options[0])
    for n, option in enumerate(options[1:], 1):
        found = FUNCTIONS["switch"](FUNCTIONS["eq"](x, n), option, found)
    return found


@exported
def sort(a: Any, axis: Any = -1, kind: str = "quicksort", order: Any = None) -> Any:
    """The elements in order."""
    x = as_tensor_variable(a)
    return wrap(T.sort(x.core, axis), x)


@exported
def argsort(a: Any, axis: Any = -1, kind: str = "quicksort", order: Any = None) -> Any:
    """The positions of the elements in order, int64."""
    x = as_tensor_variable(a)
    return wrap(T.argsort(x.core, axis), x)


def _top(x: Any, kth: Any, axis: Any) -> tuple[Any, int]:
    """Positions of the `kth` largest elements, or for a negative number of the smallest, in order."""
    x = as_tensor_variable(x)
    if axis is None:
        x, axis = x.flatten(), 0
    place = axis % x.ndim
    order = argsort(x, place)
    before = (slice(None),) * place
    negative = length(-kth) if isinstance(kth, int) else wrap(T.neg(length(kth)))
    cut = slice(negative, None) if not isinstance(kth, int) or kth > 0 else slice(None, -kth)
    return order[(*before, cut)], place


@exported
def topk(x: Any, kth: Any, axis: Any = -1, sorted: bool = True, idx_dtype: str = "int64") -> Any:
    """The `kth` largest elements along an axis, in no particular order."""
    return topk_and_argtopk(x, kth, axis)[0]


@exported
def argtopk(x: Any, kth: Any, axis: Any = -1, sorted: bool = True, idx_dtype: str = "int64") -> Any:
    """The positions of the `kth` largest elements."""
    return cast(_top(x, kth, axis)[0], idx_dtype)


@exported
def topk_and_argtopk(x: Any, kth: Any, axis: Any = -1, sorted: bool = True, idx_dtype: str = "int64") -> list[Any]:
    """The `kth` largest elements and their positions."""
    found, place = _top(x, kth, axis)
    source = as_tensor_variable(x).flatten() if axis is None else as_tensor_variable(x)
    return [wrap(T.take_along_axis(source.core, found.core, place), source), cast(found, idx_dtype)]


@exported
def unravel_index(indices: Any, dims: Any, order: str = "C") -> Any:
    """Positions in a flat tensor as positions an axis."""
    if order != "C":
        raise NotImplementedError("unravel_index: only order='C'")
    return tuple(wrapped(v) for v in T.unravel_index(as_tensor_variable(indices).core, lengths(dims)))


@exported
def ravel_multi_index(multi_index: Any, dims: Any, mode: str = "raise", order: str = "C") -> Any:
    """Positions an axis as positions in the flat tensor."""
    if mode != "raise" or order != "C":
        raise NotImplementedError("ravel_multi_index: only mode='raise' and order='C'")
    found: Any = 0
    for index, n in zip(multi_index, lengths(dims), strict=True):
        found = found * wrapped(n) + as_tensor_variable(index)
    return cast(found, "int64")


@exported
def permute_row_elements(x: Any, y: Any, inverse: int = 0) -> Any:
    """The elements of each row of `x` in the order that the same row of `y` gives."""
    x, y = as_tensor_variable(x), as_tensor_variable(y)
    if inverse:
        y = argsort(y)
    rank = max(x.ndim, y.ndim)
    x, y = as_tensor_variable(x, ndim=rank), as_tensor_variable(y, ndim=rank)
    if rank > 1:
        shape = T.shape(T.add(T.zeros_like(x.core, "int64"), T.zeros_like(y.core, "int64")))
        x, y = (wrap(T.broadcast_to(v.core, tuple(shape[n] for n in range(rank)))) for v in (x, y))
    return wrap(T.take_along_axis(x.core, y.core, -1), x, y)


@exported
def inverse_permutation(perm: Any) -> Any:
    """The permutation that undoes one."""
    return cast(argsort(perm), as_tensor_variable(perm).dtype)


# --- `theano.tensor.extra_ops`


def cumsum(x: Any, axis: int | None = None) -> Any:
    """Sums of the elements up to each."""
    x = as_tensor_variable(x)
    return wrap(T.cumsum(x.core, axis, x.dtype), x)


def cumprod(x: Any, axis: int | None = None) -> Any:
    """Products of the elements up to each."""
    x = as_tensor_variable(x)
    return wrap(T.cumprod(x.core, axis, x.dtype), x)


def diff(x: Any, n: int = 1, axis: int = -1) -> Any:
    """Differences of neighbours, `n` times."""
    x = as_tensor_variable(x)
    return wrap(T.diff(x.core, n, axis), x)


def bincount(x: Any, weights: Any = None, minlength: Any = None, assert_nonneg: bool = False) -> Any:
    """How often each integer occurs."""
    x = as_tensor_variable(x)
    given = None if weights is None else as_tensor_variable(weights).core
    return wrap(T.bincount(x.core, given, 0 if minlength is None else length(minlength)), x)


def searchsorted(x: Any, v: Any, side: str = "left", sorter: Any = None) -> Any:
    """The insertion positions of `v` in the sorted `x`."""
    x, v = as_tensor_variable(x), as_tensor_variable(v)
    return wrap(T.searchsorted(x.core, v.core, side, None if sorter is None else as_tensor_variable(sorter).core), x, v)


def squeeze(x: Any, axis: Any = None) -> Any:
    """`x` without axes of length 1."""
    x = as_tensor_variable(x)
    if axis is None:
        axis = tuple(n for n, b in enumerate(x.broadcastable) if b)
    return wrap(T.squeeze(x.core, axis), x)


def compress(condition: Any, x: Any, axis: int | None = None) -> Any:
    """The parts of `x` where the condition holds."""
    return take(x, flatnonzero(condition), axis=axis)


def repeat(x: Any, repeats: Any, axis: int | None = None) -> Any:
    """Each element several times."""
    x = as_tensor_variable(x)
    counts = as_tensor_variable(repeats)
    return wrap(T.repeat(x.core, counts.core, axis), x)


def fill_diagonal(a: Any, val: Any) -> Any:
    """`a` with a number on its diagonal."""
    return fill_diagonal_offset(a, val, 0)


def fill_diagonal_offset(a: Any, val: Any, offset: Any) -> Any:
    """`a` with a number on a diagonal."""
    x, number = as_tensor_variable(a), cast(val, as_tensor_variable(a).dtype)
    places = [arange(n) for n in (x.shape[0], x.shape[1])]
    on = FUNCTIONS["eq"](dimshuffle(places[1], "x", 0) - dimshuffle(places[0], 0, "x"), offset)
    return FUNCTIONS["switch"](on, number, x)


def to_one_hot(y: Any, nb_class: Any, dtype: Any = None) -> Any:
    """A row for each label, with a one at the label."""
    y = as_tensor_variable(y)
    return wrap(T.one_hot(y.core, length(nb_class), float_x(dtype)), y)


def unique(ar: Any, return_index: bool = False, return_inverse: bool = False, return_counts: bool = False) -> Any:
    """The different elements in order."""
    found = T.unique(as_tensor_variable(ar).core, return_index, return_inverse, return_counts)
    return wrapped(list(found)) if isinstance(found, tuple) else wrap(found)


def bartlett(M: Any) -> Any:
    """The triangular window of `M` points."""
    n = cast(arange(M), "float64")
    half = (as_tensor_variable(M) - 1) / 2.0
    return 1 - abs(n - half) / half


def broadcast_shape(*arrays: Any) -> tuple[Any, ...]:
    """The lengths of the joint shape."""
    total = T.add(*(T.zeros_like(as_tensor_variable(a).core, "int8") for a in arrays))
    return tuple(wrap(T.shape(total)[n]) for n in range(total.ndim))


EXTRA = {
    f.__name__: f for f in (
        cumsum, cumprod, diff, bincount, searchsorted, squeeze, compress, repeat, fill_diagonal, fill_diagonal_offset,
        to_one_hot, unique, bartlett, broadcast_shape,
    )
}  # fmt: skip
FUNCTIONS.update(EXTRA)
