"""Reductions with Theano's dtypes and arguments."""

from __future__ import annotations

from typing import Any

import numpy as np

from .... import ops as T
from ....ops.reductions.reduce import with_kept_axes
from .dtypes import DISCRETE, float_x
from .elementwise import FUNCTIONS, exported
from .slopes import extremum
from .variables import as_tensor_variable, constant, lower, wrap


def _axis(axis: Any) -> Any:
    """An axis or several as integers: Theano also takes arrays and constants."""
    if axis is None:
        return None
    if hasattr(axis, "data") and not isinstance(axis, np.ndarray):
        axis = axis.data
    found = np.asarray(axis)
    if found.dtype.kind not in "iu" and found.size:
        raise TypeError(f"an axis must be an integer or a list of them, got {axis!r}")
    return int(found) if not found.ndim else tuple(int(n) for n in found)


def _accumulated(name: str, x: Any, axis: Any, dtype: Any, keepdims: bool, acc_dtype: Any) -> Any:
    """A sum or product, in `acc_dtype` where that is wider."""
    x, axis = as_tensor_variable(x), _axis(axis)
    given = T.cast(x.core, float_x(acc_dtype)) if acc_dtype is not None else x.core
    found = getattr(T, name)(given, axis, None if dtype is None else float_x(dtype), keepdims)
    if dtype is None and acc_dtype is not None and x.dtype not in DISCRETE:
        found = T.cast(found, x.dtype)
    return wrap(found, x)


@exported
def sum(input: Any, axis: Any = None, dtype: Any = None, keepdims: bool = False, acc_dtype: Any = None) -> Any:
    """The sum; of integers in 64 bits unless `dtype` says otherwise."""
    return _accumulated("sum", input, axis, dtype, keepdims, acc_dtype)


@exported
def prod(
    input: Any, axis: Any = None, dtype: Any = None, keepdims: bool = False, acc_dtype: Any = None,
    no_zeros_in_input: bool = False,
) -> Any:  # fmt: skip
    """The product; of integers in 64 bits unless `dtype` says otherwise."""
    return _accumulated("prod", input, axis, dtype, keepdims, acc_dtype)


@exported
def mean(
    input: Any, axis: Any = None, dtype: Any = None, op: bool = False, keepdims: bool = False, acc_dtype: Any = None
) -> Any:
    """The mean; of integers in float64."""
    x, axis = as_tensor_variable(input), _axis(axis)
    if axis == () or axis == []:
        return x
    own = "float64" if x.dtype in DISCRETE else x.dtype
    wide = own if acc_dtype is None else float_x(acc_dtype)
    found = T.mean(T.cast(x.core, wide), axis, None, keepdims)
    wanted = own if dtype is None else float_x(dtype)
    return wrap(found if wanted == found.dtype else T.cast(found, wanted), x)


@exported
def var(input: Any, axis: Any = None, ddof: int = 0, keepdims: bool = False, corrected: bool = False) -> Any:
    """The variance."""
    x = as_tensor_variable(input)
    return wrap(T.var(x.core, _axis(axis), None, ddof, keepdims), x)


@exported
def std(input: Any, axis: Any = None, ddof: int = 0, keepdims: bool = False, corrected: bool = False) -> Any:
    """The standard deviation."""
    x = as_tensor_variable(input)
    return wrap(T.std(x.core, _axis(axis), None, ddof, keepdims), x)


def _extremum(name: str, doc: str) -> None:
    def function(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
        x = as_tensor_variable(x)
        if name in ("all", "any"):
            return wrap(getattr(T, name)(x.core, _axis(axis), keepdims=keepdims), x)
        axis = _axis(axis)
        found = extremum(name, x.core, axis)
        if keepdims:
            axes = range(x.ndim) if axis is None else (axis,) if isinstance(axis, int) else axis
            found = with_kept_axes(found, tuple(sorted(n % x.ndim for n in axes)), x.ndim)
        return wrap(found, x)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    exported(function)


_extremum("max", "The largest number; each number that is it gets the whole derivative.")
_extremum("min", "The smallest number; each number that is it gets the whole derivative.")
_extremum("all", "Whether all elements are true.")
_extremum("any", "Whether an element is true.")


def _position(name: str, x: Any, axis: Any, keepdims: bool) -> Any:
    """An argmax or argmin, over all axes for None or all of them."""
    x, axis = as_tensor_variable(x), _axis(axis)
    if isinstance(axis, tuple) and sorted(n % x.ndim for n in axis) == list(range(x.ndim)):
        axis = None if len(axis) != 1 else axis[0]
    if isinstance(axis, tuple):
        if len(axis) != 1:
            raise NotImplementedError(f"{name} over some of several axes; transpose and flatten these first")
        axis = axis[0]
    return wrap(getattr(T, name)(x.core, axis, keepdims), x)


@exported
def argmax(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """The first position of the largest number, int64."""
    return _position("argmax", x, axis, keepdims)


@exported
def argmin(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """The first position of the smallest number, int64."""
    return _position("argmin", x, axis, keepdims)


@exported
def max_and_argmax(a: Any, axis: Any = None, keepdims: bool = False) -> list[Any]:
    """The largest number and its first position."""
    return [FUNCTIONS["max"](a, axis, keepdims), argmax(a, axis, keepdims)]


@exported
def ptp(a: Any, axis: Any = None) -> Any:
    """The largest number less the smallest."""
    return FUNCTIONS["max"](a, axis) - FUNCTIONS["min"](a, axis)


@exported
def smallest(*args: Any) -> Any:
    """The least of several tensors, elementwise."""
    return FUNCTIONS["minimum"](*args) if len(args) == 2 else FUNCTIONS["min"](stack_all(args), axis=0)


@exported
def largest(*args: Any) -> Any:
    """The greatest of several tensors, elementwise."""
    return FUNCTIONS["maximum"](*args) if len(args) == 2 else FUNCTIONS["max"](stack_all(args), axis=0)


def stack_all(values: Any) -> Any:
    """Tensors of one shape along a new first axis."""
    return wrap(T.stack([lower(as_tensor_variable(v)) for v in values]), *values)


def norm(x: Any, ord: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """The vector norm: `ord` is 0, a number or an infinity."""
    x = as_tensor_variable(x)
    if ord == 0:
        return FUNCTIONS["sum"](FUNCTIONS["neq"](x, 0), axis, keepdims=keepdims)
    if ord == float("inf"):
        return FUNCTIONS["max"](abs(x), axis, keepdims)
    if ord == float("-inf"):
        return FUNCTIONS["min"](abs(x), axis, keepdims)
    power = constant(float(ord), dtype=x.dtype if x.dtype not in DISCRETE else None)
    return FUNCTIONS["sum"](abs(x) ** power, axis, keepdims=keepdims) ** constant(1.0 / ord, dtype=power.dtype)
