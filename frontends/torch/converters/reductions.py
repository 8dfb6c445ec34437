"""Reductions, running sums, and statistics."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from .... import ops as T
from ....ops.core.tensor import constant
from ..dtypes import as_dtype
from ..symbols import count, lengths
from ..table import Call, converter
from .elementwise import number


def axes_of(x: Any, dims: Any) -> tuple[int, ...]:
    """Return axes of an argument `dim`; None stands for all of them, as an empty list does."""
    if dims is None or (isinstance(dims, (list, tuple)) and not dims):
        return tuple(range(x.ndim))
    several = dims if isinstance(dims, (list, tuple)) else [dims]
    return tuple(d % x.ndim if x.ndim else 0 for d in several)


def _reduced(function: Callable[..., Any], x: Any, dims: Any, keepdim: bool) -> Any:
    """Apply a reduction over axes; a scalar has none."""
    return x if x.ndim == 0 else function(x, axis=axes_of(x, dims), keepdims=keepdim)


def for_sums(x: Any) -> Any:
    """Return float16 as float32, in which PyTorch sums it."""
    return as_dtype(x, "float32") if x.dtype == "float16" else x


@converter("aten.sum")
def sum_(call: Call, x: Any, dim: Any = None, keepdim: bool = False, dtype: Any = None) -> Any:
    x = as_dtype(x, call.dtype) if x.dtype != "float16" or call.dtype != "float16" else for_sums(x)
    return as_dtype(_reduced(T.sum, x, dim, keepdim), call.dtype)


@converter("aten.prod")
def prod(call: Call, x: Any, dim: Any = None, keepdim: bool = False, dtype: Any = None) -> Any:
    dims = None if dim is None else [dim]
    return as_dtype(_reduced(T.prod, for_sums(as_dtype(x, call.dtype)), dims, keepdim), call.dtype)


@converter("aten.mean")
def mean(call: Call, x: Any, dim: Any = None, keepdim: bool = False, dtype: Any = None) -> Any:
    x = for_sums(as_dtype(x, call.dtype))
    if x.ndim == 0:
        return as_dtype(x, call.dtype)
    axes, own = axes_of(x, dim), lengths(x)
    total, size = T.sum(x, axis=axes, keepdims=keepdim), 1
    for k in axes:
        size = size * own[k]
    return as_dtype(total / as_dtype(size, x.dtype), call.dtype)


@converter("aten.amax", "aten.amin")
def extremum(call: Call, x: Any, dim: Any = (), keepdim: bool = False) -> Any:
    return _reduced(T.max if "amax" in str(call.node.target) else T.min, x, dim, keepdim)


@converter("aten.max.default", "aten.min.default")
def extremum_of_all(call: Call, x: Any) -> Any:
    return _reduced(T.max if ".max" in str(call.node.target) else T.min, x, None, False)


@converter("aten.max.dim", "aten.min.dim")
def extremum_with_place(call: Call, x: Any, dim: int, keepdim: bool = False) -> Any:
    largest = ".max" in str(call.node.target)
    if x.ndim == 0:
        return x, T.zeros((), "int64")
    values = (T.max if largest else T.min)(x, axis=dim % x.ndim, keepdims=keepdim)
    return values, (T.argmax if largest else T.argmin)(x, axis=dim % x.ndim, keepdims=keepdim)


@converter("aten.argmax", "aten.argmin")
def place_of_extremum(call: Call, x: Any, dim: int | None = None, keepdim: bool = False) -> Any:
    function = T.argmax if "argmax" in str(call.node.target) else T.argmin
    if x.ndim == 0:
        return T.zeros((), "int64")
    if dim is None:
        found = function(T.reshape(x, (-1,)), axis=0)
        return T.reshape(found, (1,) * x.ndim) if keepdim else found
    return function(x, axis=dim % x.ndim, keepdims=keepdim)


@converter("aten.any", "aten.all")
def truth(call: Call, x: Any, dim: Any = None, keepdim: bool = False) -> Any:
    function = T.any if "any" in str(call.node.target) else T.all
    found = as_dtype(x, "bool")
    if isinstance(dim, (list, tuple)) and not dim:
        return as_dtype(found, call.dtype)
    return as_dtype(_reduced(function, found, dim, keepdim), call.dtype)


def moments(x: Any, dim: Any, correction: Any, keepdim: bool) -> tuple[Any, Any]:
    """Return variance and mean; `correction` is taken from the number of elements."""
    axes, own = axes_of(x, dim), lengths(x)
    size: Any = 1
    for k in axes if x.ndim else ():
        size = size * own[k]
    middle = _kept(T.sum, x, axes) / as_dtype(size, x.dtype)
    away = x - middle
    square = T.real(away * T.conj(away)) if x.type.kind == "c" else T.square(away)
    total = _reduced(T.sum, square, dim, keepdim)
    divisor: Any = size - (1 if correction is None else correction)
    if not hasattr(divisor, "type"):
        divisor = float(max(divisor, 0))
    else:
        divisor = T.maximum(as_dtype(divisor, "float64"), as_dtype(0.0, "float64"))
    average = middle if keepdim or not x.ndim else T.reshape(middle, [n for k, n in enumerate(own) if k not in axes])
    return total / as_dtype(divisor, total.dtype), average


def _kept(function: Callable[..., Any], x: Any, axes: Any) -> Any:
    return x if x.ndim == 0 else function(x, axis=axes, keepdims=True)


@converter("aten.var", "aten.std", "aten.var_mean", "aten.std_mean")
def variance(call: Call, x: Any, *args: Any, correction: Any = None, keepdim: bool = False, **named: Any) -> Any:
    name = str(call.node.target._schema.name)
    overload = call.node.target._schema.overload_name
    dim = None
    if overload == "":  # (x, unbiased)
        correction = int(args[0]) if args else int(named.get("unbiased", True))
    elif overload == "dim":
        dim = args[0] if args else named.get("dim")
        correction = int(args[1]) if len(args) > 1 else int(named.get("unbiased", True))
        keepdim = args[2] if len(args) > 2 else keepdim
    else:
        dim = args[0] if args else named.get("dim")
    wide = for_sums(x)
    square, middle = moments(wide, dim, correction, keepdim)
    first = T.sqrt(square) if "std" in name else square
    if "mean" in name:
        return as_dtype(first, call.dtypes[0]), as_dtype(middle, call.dtypes[1])
    return as_dtype(first, call.dtype)


@converter("aten.logsumexp")
def logsumexp(call: Call, x: Any, dim: Any, keepdim: bool = False) -> Any:
    if x.type.kind == "c":
        return NotImplemented
    x = as_dtype(x, call.dtype)
    return x if x.ndim == 0 else T.logsumexp(x, axis=axes_of(x, dim), keepdims=keepdim)


@converter("aten.cumsum", "aten.cumprod")
def running(call: Call, x: Any, dim: int, dtype: Any = None) -> Any:
    """Sums and products of float16 are kept in float32, and each result is rounded."""
    x = as_dtype(x, call.dtype)
    if x.ndim == 0:
        return x
    function = T.cumsum if "cumsum" in str(call.node.target) else T.cumprod
    wide = "float32" if call.dtype == "float16" else call.dtype
    return as_dtype(function(as_dtype(x, wide), dim % x.ndim, dtype=wide), call.dtype)


@converter("aten._softmax", "aten._log_softmax", "aten.softmax.int", "aten.log_softmax.int")
def softmax(call: Call, x: Any, dim: int, dtype: Any = None) -> Any:
    function = T.log_softmax if "log_softmax" in str(call.node.target) else T.softmax
    wide = as_dtype(x, call.dtype)
    if x.ndim == 0:
        return function(T.reshape(wide, (1,)), 0)[0]
    return function(wide, dim % x.ndim)


@converter("aten._softmax_backward_data", "aten._log_softmax_backward_data")
def softmax_backward(call: Call, g: Any, y: Any, dim: int, dtype: Any) -> Any:
    if y.ndim == 0:
        return NotImplemented
    axis, g, y = dim % y.ndim, for_sums(g), for_sums(y)
    if "log_softmax" in str(call.node.target):
        return as_dtype(g - T.exp(y) * T.sum(g, axis=axis, keepdims=True), call.dtype)
    scaled = g * y
    return as_dtype(scaled - y * T.sum(scaled, axis=axis, keepdims=True), call.dtype)


@converter("aten.linalg_vector_norm", "aten.norm")
def norm(call: Call, x: Any, order: Any = 2, dim: Any = None, keepdim: bool = False, dtype: Any = None) -> Any:
    order = 2 if order is None else order
    if not isinstance(order, (int, float)):
        return NotImplemented
    size = T.abs(x) if x.type.kind != "b" else x
    size = for_sums(as_dtype(size, call.dtype))
    if x.ndim == 0 and order != 0:
        return as_dtype(size, call.dtype)
    if order == 0:
        found = _reduced(T.sum, as_dtype(T.ne(size, number(0, size)), size.dtype), dim, keepdim)
    elif math.isinf(order):
        found = _reduced(T.max if order > 0 else T.min, size, dim, keepdim)
    elif order == 1:
        found = _reduced(T.sum, size, dim, keepdim)
    elif order == 2:
        found = T.sqrt(_reduced(T.sum, T.square(size), dim, keepdim))
    else:
        found = T.pow(_reduced(T.sum, T.pow(size, number(order, size)), dim, keepdim), number(1 / order, size))
    return as_dtype(found, call.dtype)


@converter("aten.count_nonzero")
def count_nonzero(call: Call, x: Any, dim: Any = None) -> Any:
    return _reduced(T.sum, as_dtype(as_dtype(x, "bool"), "int64"), dim, False)


@converter("aten.numel")
def numel(call: Call, x: Any) -> Any:
    return count(x)


@converter("aten._cdist_forward")
def distances(call: Call, a: Any, b: Any, order: float, compute_mode: Any) -> Any:
    """Distances of all pairs of rows."""
    return _distance(T.abs(T.expand_dims(a, -2) - T.expand_dims(b, -3)), order)


@converter("aten._pdist_forward")
def distances_of_rows(call: Call, x: Any, order: float = 2) -> Any:
    """Distances of each row to the later ones."""
    count = lengths(x)[0]
    if not isinstance(count, int):
        return NotImplemented
    first, second = np.triu_indices(count, 1)
    return _distance(T.abs(x[constant(first)] - x[constant(second)]), order)


def _distance(away: Any, order: float) -> Any:
    """Return the norm of the last axis of absolute differences."""
    if order == 2:
        return T.sqrt(T.sum(T.square(away), axis=-1))
    if order == 1:
        return T.sum(away, axis=-1)
    if math.isinf(order):
        return T.max(away, axis=-1) if (away.type.shape[-1] or 0) > 0 else NotImplemented
    if order == 0:
        return T.sum(as_dtype(T.ne(away, number(0, away)), away.dtype), axis=-1)
    return T.pow(T.sum(T.pow(away, number(order, away)), axis=-1), number(1 / order, away))


@converter("aten._cdist_backward")
def distances_backward(call: Call, g: Any, a: Any, b: Any, order: float, found: Any) -> Any:
    """Return the cotangent of the first operand; a distance of 0 has none."""
    if order not in (1, 2):
        return NotImplemented
    away = T.expand_dims(a, -2) - T.expand_dims(b, -3)
    if order == 1:
        return T.sum(T.expand_dims(g, -1) * T.sign(away), axis=-2)
    near = T.eq(found, number(0, found))
    share = T.where(near, number(0, g), g / T.where(near, number(1, found), found))
    return T.sum(T.expand_dims(share, -1) * away, axis=-2)
