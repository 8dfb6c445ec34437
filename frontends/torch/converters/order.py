"""Sorting, the greatest elements, searching, running extrema."""

from __future__ import annotations

from typing import Any

from .... import ops as T
from ..dtypes import as_dtype
from ..symbols import number as known
from ..table import Call, converter


@converter("aten.sort.default", "aten.sort.stable")
def sort(call: Call, x: Any, dim: int = -1, descending: bool = False, *, stable: bool = False) -> Any:
    """NaN is the greatest number.  Equal elements keep their order, also where PyTorch does not promise it."""
    if call.node.target._schema.overload_name == "stable":
        dim, descending = call.node.kwargs.get("dim", -1), call.node.kwargs.get("descending", False)
    if x.ndim == 0:
        return x, T.zeros((), "int64")
    axis = dim % x.ndim
    if descending:
        x_back = T.flip(x, axis)
        order = T.flip(T.argsort(x_back, axis, stable=True), axis)
        length = T.lengths_of(x)[axis]
        order = length - 1 - order
    else:
        order = T.argsort(x, axis, stable=True)
    return T.take_along_axis(x, order, axis), order


@converter("aten.topk")
def topk(call: Call, x: Any, k: Any, dim: int = -1, largest: bool = True, sorted: bool = True) -> Any:
    if x.ndim == 0:
        return x, T.zeros((), "int64")
    return T.topk(x, known(k), axis=dim % x.ndim, largest=largest)


@converter("aten.searchsorted.Tensor")
def searchsorted(
    call: Call,
    x: Any,
    v: Any,
    *,
    out_int32: bool = False,
    right: bool = False,
    side: str | None = None,
    sorter: Any = None,
) -> Any:
    if x.ndim != 1:
        return NotImplemented
    x = x if sorter is None else x[as_dtype(sorter, "int64")]
    return as_dtype(T.searchsorted(x, v, side or ("right" if right else "left")), call.dtype)


@converter("aten.bucketize.Tensor")
def bucketize(call: Call, v: Any, boundaries: Any, *, out_int32: bool = False, right: bool = False) -> Any:
    return as_dtype(T.searchsorted(boundaries, v, "right" if right else "left"), call.dtype)
