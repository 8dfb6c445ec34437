"""Axes, lengths and new arrays, with Theano's arguments and broadcast patterns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .... import ops as T
from ....record.spelling import counted
from .dtypes import DISCRETE, float_x, upcast
from .elementwise import cast, exported
from .reductions import stack_all
from .variables import TensorConstant, Variable, as_tensor_variable, constant, lower, wrap, wrapped


def length(n: Any) -> Any:
    """A length for the core: an integer where it is known, else an int64 scalar.  Raises TypeError for floats."""
    if isinstance(n, TensorConstant):
        n = n.data
    if isinstance(n, Variable):
        if n.dtype not in DISCRETE:
            raise TypeError(f"a length must be an integer, got {n} of type {n.type}; use T.cast(n, 'int64')")
        return T.cast(n.core, "int64")
    if not isinstance(n, (int, np.integer)) and not (isinstance(n, np.ndarray) and n.dtype.kind in "iu"):
        raise TypeError(f"a length must be an integer, got {type(n).__name__} {n!r}")
    return int(n)


def lengths(shape: Any) -> Any:
    """A shape for the core: integers and scalars in a tuple, or an int64 vector."""
    if isinstance(shape, Variable) and shape.ndim:
        known = shape.core.type.shape[0]
        whole = T.cast(shape.core, "int64")
        return whole if known is None else tuple(whole[n] for n in range(known))
    if isinstance(shape, (list, tuple, np.ndarray)):
        return tuple(length(n) for n in shape)
    return (length(shape),)


@exported
def shape(x: Any) -> Any:
    """The lengths as an int64 vector."""
    x = as_tensor_variable(x)
    return wrap(T.shape(x.core), x)


def dimshuffle(x: Any, *pattern: Any) -> Any:
    """The axes in this order; "x" is a new one of length 1.  An axis of length 1 may be left out."""
    if len(pattern) == 1 and isinstance(pattern[0], (list, tuple)):
        pattern = tuple(pattern[0])
    x = as_tensor_variable(x)
    dropped = [n for n in range(x.ndim) if n not in [p if p == "x" else int(p) % x.ndim for p in pattern]]
    if not all(x.broadcastable[n] for n in dropped):
        raise ValueError(
            f"dimshuffle{pattern} drops axis {dropped[0]} of {x} ({x.type}), whose length is not known to be 1; "
            "use T.addbroadcast(x, axis) first, or reduce it"
        )
    return wrap(T.dimshuffle(x.core, *(p if p == "x" else int(p) for p in pattern)), x)


@exported
def reshape(x: Any, newshape: Any, ndim: int | None = None) -> Any:
    """The same numbers in another shape; `ndim` is its rank where the shape is a vector of unknown length."""
    x, wanted = as_tensor_variable(x), lengths(newshape)
    if not isinstance(wanted, tuple) and ndim is None:
        raise ValueError(f"reshape: the shape {newshape} is a vector of unknown length; give ndim")
    return wrap(T.reshape(x.core, wanted, ndim=None if isinstance(wanted, tuple) else ndim), x)


@exported
def flatten(x: Any, ndim: int | None = None, outdim: int | None = None) -> Any:
    """The last axes as one, so that the result has rank `ndim` (1)."""
    x = as_tensor_variable(x)
    rank = ndim if ndim is not None else 1 if outdim is None else outdim
    if rank < 1 or (rank > x.ndim and x.ndim):
        raise ValueError(f"flatten: ndim is {rank}, and {x} has {counted(x.ndim, 'dimension')}")
    return wrap(T.flatten(x.core, rank), x)


@exported
def transpose(x: Any, axes: Any = None) -> Any:
    """The axes in reverse, or in the order of `axes`."""
    x = as_tensor_variable(x)
    return wrap(T.transpose(x.core, None if axes is None else [int(n) for n in axes]), x)


@exported
def swapaxes(x: Any, axis1: int, axis2: int) -> Any:
    """Two axes exchanged."""
    x = as_tensor_variable(x)
    return wrap(T.swapaxes(x.core, int(axis1), int(axis2)), x)


@exported
def shape_padleft(t: Any, n_ones: int = 1) -> Any:
    """New axes of length 1 before the others."""
    x = as_tensor_variable(t)
    return dimshuffle(x, *["x"] * n_ones, *range(x.ndim))


@exported
def shape_padright(t: Any, n_ones: int = 1) -> Any:
    """New axes of length 1 behind the others."""
    x = as_tensor_variable(t)
    return dimshuffle(x, *range(x.ndim), *["x"] * n_ones)


@exported
def shape_padaxis(t: Any, axis: int) -> Any:
    """A new axis of length 1 at a place."""
    x = as_tensor_variable(t)
    place = axis % (x.ndim + 1)
    return dimshuffle(x, *range(place), "x", *range(place, x.ndim))


@exported
def addbroadcast(x: Any, *axes: int) -> Any:
    """`x` with these axes promised to have length 1; a call raises if they do not."""
    x = as_tensor_variable(x)
    chosen = {int(n) % x.ndim for n in axes}
    known = tuple(1 if n in chosen else m for n, m in enumerate(x.core.type.shape))
    return x if known == x.core.type.shape else wrap(T.specify_shape(x.core, known), x)


@exported
def unbroadcast(x: Any, *axes: int) -> Any:
    """`x` with a pattern that does not say that these axes have length 1."""
    x = as_tensor_variable(x)
    chosen = {int(n) % x.ndim for n in axes}
    if not any(x.broadcastable[n] for n in chosen):
        return x
    twin = wrap(T.ELEMENTWISE["identity"](x.core), x)
    twin._type = x.type.clone(broadcastable=[b and n not in chosen for n, b in enumerate(x.broadcastable)])
    return twin


@exported
def patternbroadcast(x: Any, broadcastable: Sequence[bool]) -> Any:
    """`x` with this pattern."""
    x = as_tensor_variable(x)
    x = addbroadcast(x, *(n for n, b in enumerate(broadcastable) if b))
    return unbroadcast(x, *(n for n, b in enumerate(broadcastable) if not b))


@exported
def specify_shape(x: Any, shape: Any) -> Any:
    """`x` with these lengths promised; a call raises if they differ."""
    x = as_tensor_variable(x)
    return wrap(T.specify_shape(x.core, lengths(shape)), x)


# --- joining and cutting


@exported
def stack(*tensors: Any, **options: Any) -> Any:
    """Tensors of one shape along a new axis; a list of them, or Theano's old form of several arguments."""
    axis = options.pop("axis", 0)
    if tensors and isinstance(tensors[0], (list, tuple)):
        axis = tensors[1] if len(tensors) > 1 else axis
        tensors = tuple(tensors[0])
    parts = [as_tensor_variable(t) for t in options.pop("tensors", tensors)]
    return wrap(T.stack([lower(p) for p in parts], int(axis)), *parts)


@exported
def concatenate(tensor_list: Any, axis: int = 0) -> Any:
    """Tensors one behind the other along an axis."""
    return join(axis, *tensor_list)


@exported
def join(axis: Any, *tensors_list: Any) -> Any:
    """Tensors one behind the other along an axis, of the dtype that holds them all."""
    parts = [as_tensor_variable(t) for t in tensors_list]
    if not parts:
        raise ValueError("join: expected at least one tensor")
    place = int(lower(axis).data) if isinstance(axis, Variable) else int(axis)
    return wrap(T.join(place, *(lower(p) for p in parts)), *parts)


@exported
def horizontal_stack(*args: Any) -> Any:
    """Matrices beside one another."""
    return join(1, *args)


@exported
def vertical_stack(*args: Any) -> Any:
    """Matrices below one another."""
    return join(0, *args)


@exported
def stacklists(arg: Any) -> Any:
    """Nested lists of tensors as one tensor."""
    return stack_all([stacklists(v) for v in arg]) if isinstance(arg, (list, tuple)) else as_tensor_variable(arg)


@exported
def split(x: Any, splits_size: Any, n_splits: int, axis: int = 0) -> list[Any]:
    """Parts of these lengths along an axis; how many there are is known now."""
    x, sizes = as_tensor_variable(x), as_tensor_variable(splits_size)
    parts, start = [], 0  # type: list[Any], Any
    for n in range(n_splits):
        stop = start + sizes[n]
        parts.append(x[(*[slice(None)] * (axis % x.ndim), slice(start, stop))])
        start = stop
    return parts


@exported
def roll(x: Any, shift: Any, axis: int | None = None) -> Any:
    """Elements shifted cyclically along an axis."""
    x = as_tensor_variable(x)
    return wrap(T.roll(x.core, lower(shift), axis), x)


@exported
def tile(x: Any, reps: Any, ndim: int | None = None) -> Any:
    """Copies of a tensor beside one another."""
    x = as_tensor_variable(x)
    counts = lengths(reps)
    return wrap(T.tile(x.core, counts, ndim) if ndim is not None else T.tile(x.core, counts), x)


# --- new arrays


@exported
def alloc(value: Any, *shape: Any) -> Any:
    """A tensor of this shape, filled with `value`, which broadcasts."""
    x = as_tensor_variable(value)
    wanted = lengths(shape[0]) if len(shape) == 1 and isinstance(shape[0], (list, tuple)) else lengths(shape)
    return wrap(T.alloc(x.core, *wanted), x)


def _filled(number: int, shape: Any, dtype: Any) -> Any:
    wanted = lengths(shape)
    if not isinstance(wanted, tuple):
        raise TypeError(f"the shape {shape} is a vector of unknown length, so the rank is unknown; give a list")
    return alloc(constant(number, dtype=float_x(dtype)), *wrapped(wanted))


@exported
def zeros(shape: Any, dtype: Any = None) -> Any:
    """Zeros of floatX, or of `dtype`."""
    return _filled(0, shape, dtype)


@exported
def ones(shape: Any, dtype: Any = None) -> Any:
    """Ones of floatX, or of `dtype`."""
    return _filled(1, shape, dtype)


def _like(name: str, model: Any, dtype: Any) -> Any:
    x = as_tensor_variable(model)
    return wrap(getattr(T, name)(x.core, None if dtype is None else float_x(dtype)), x)


@exported
def zeros_like(model: Any, dtype: Any = None, opt: bool = False) -> Any:
    """Zeros of the shape and dtype of a tensor."""
    return _like("zeros_like", model, dtype)


@exported
def ones_like(model: Any, dtype: Any = None, opt: bool = False) -> Any:
    """Ones of the shape and dtype of a tensor."""
    return _like("ones_like", model, dtype)


@exported
def eye(n: Any, m: Any = None, k: Any = 0, dtype: Any = None) -> Any:
    """Ones on a diagonal."""
    return wrap(T.eye(length(n), None if m is None else length(m), length(k), float_x(dtype)))


@exported
def identity_like(x: Any) -> Any:
    """The identity matrix of the shape and dtype of a matrix."""
    x = as_tensor_variable(x)
    return eye(x.shape[0], x.shape[1], 0, x.dtype)


@exported
def arange(start: Any, stop: Any = None, step: Any = 1, dtype: Any = None) -> Any:
    """Numbers at equal distances; int64 if all are integers."""
    if stop is None:
        start, stop = 0, start
    ends = [as_tensor_variable(v) for v in (start, stop, step)]
    found = upcast(*(v.dtype for v in ends))
    if dtype is None:
        dtype = "int64" if found in DISCRETE else found
    integral = found in DISCRETE
    given: list[Any] = [lower(cast(v, "int64") if integral else v) for v in ends]
    if integral:
        given = [int(v.data) if isinstance(v, TensorConstant) else core for v, core in zip(ends, given, strict=True)]
    return wrap(T.arange(given[0], given[1], given[2], float_x(dtype)), *ends)


def _triangle(name: str, doc: str) -> None:
    def function(m: Any, k: Any = 0) -> Any:
        x = as_tensor_variable(m)
        return wrap(getattr(T, name)(x.core, lower(k)), x)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    exported(function)


_triangle("tril", "The matrix with zeros above a diagonal.")
_triangle("triu", "The matrix with zeros below a diagonal.")


@exported
def tri(N: Any, M: Any = None, k: Any = 0, dtype: Any = None) -> Any:
    """Ones on and below a diagonal."""
    return wrap(T.tri(length(N), None if M is None else length(M), length(k), float_x(dtype)))


@exported
def diag(v: Any, k: int = 0) -> Any:
    """The diagonal of a matrix, or the matrix of a diagonal."""
    x = as_tensor_variable(v)
    return wrap(T.diag(x.core, k), x)


@exported
def diagonal(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    """The diagonal along two axes."""
    x = as_tensor_variable(a)
    return wrap(T.diagonal(x.core, offset, axis1, axis2), x)


class _Grid:
    """`mgrid[0:3, 0:2]` and `ogrid`, as NumPy has them, of constants or variables."""

    def __init__(self, dense: bool) -> None:
        self.dense = dense

    def __getitem__(self, key: Any) -> list[Any]:
        slices = key if isinstance(key, tuple) else (key,)
        lines = [arange(0 if s.start is None else s.start, s.stop, 1 if s.step is None else s.step) for s in slices]
        n = len(lines)
        axes = [dimshuffle(v, *["x"] * k, 0, *["x"] * (n - k - 1)) for k, v in enumerate(lines)]
        if not self.dense:
            return axes
        return [sum((zeros_like(other) for other in axes), axis) for axis in axes]


mgrid, ogrid = _Grid(True), _Grid(False)
