"""Reductions, argmax and argmin, cumulative sums, softmax."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .... import ops as T
from ....ops.core.tensor import constant
from ..reading.computed_axes import by_axes
from ..reading.node import Node
from ..reading.table import CONVERTERS, converter
from ..same_ops import ALONG_AXIS, REDUCTIONS
from .elementwise import like

_REDUCTIONS: dict[str, Callable[..., Any]] = {
    **REDUCTIONS,
    "ReduceMean": T.mean,
    "ReduceL1": lambda x, **where: T.sum(T.abs(x), **where),
    "ReduceL2": lambda x, **where: T.sqrt(T.sum(T.square(T.cast(x, _float_of(x))), **where)),
    "ReduceSumSquare": lambda x, **where: T.sum(T.square(x), **where),
    "ReduceLogSum": lambda x, **where: T.log(T.sum(x, **where)),
    "ReduceLogSumExp": T.logsumexp,
}  # fmt: skip
_IDENTITIES = (*REDUCTIONS, "ReduceMean")
"""Reductions that leave a single element as it is."""


def _float_of(x: Any) -> str:
    return x.dtype if x.type.kind == "f" else "float64"


def _reduction(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    def convert(node: Node, x: Any, axes: Any = None) -> Any:
        keepdims = bool(node.attr("keepdims", 1))

        def along(given: tuple[int, ...]) -> Any:
            wanted = given or (() if node.attr("noop_with_empty_axes", 0) else None)
            if wanted == ():
                return x if name in _IDENTITIES else T.cast(function(x, axis=(), keepdims=True), x.dtype)
            if name in ("ReduceMax", "ReduceMin") and x.dtype == "bool":
                return (T.any if name == "ReduceMax" else T.all)(x, axis=wanted, keepdims=keepdims)
            return T.cast(_lowest(name, function, x, axis=wanted, keepdims=keepdims), x.dtype)

        if axes is None:
            axes = constant(np.array(node.attr("axes") or [], "int64"))
        return by_axes(node, axes, x.ndim, along)

    return convert


def _lowest(name: str, function: Callable[..., Any], x: Any, axis: Any, keepdims: bool) -> Any:
    """The reduction; extrema of nothing are the infinities, which NumPy refuses."""
    if name not in ("ReduceMax", "ReduceMin") or x.type.kind != "f":
        return function(x, axis=axis, keepdims=keepdims)
    axes = range(x.ndim) if axis is None else axis
    if not any(x.type.shape[a] == 0 for a in axes):
        return function(x, axis=axis, keepdims=keepdims)
    identity = like(float("-inf") if name == "ReduceMax" else float("inf"), x)
    return T.zeros_like(T.sum(x, axis=axis, keepdims=keepdims)) + identity


for _name, _function in _REDUCTIONS.items():
    CONVERTERS["", _name] = _reduction(_name, _function)


@converter("ArgMax", "ArgMin")
def arg_extremum(node: Node, x: Any) -> Any:
    function = ALONG_AXIS[node.op]
    axis, keepdims = node.attr("axis", 0) % max(x.ndim, 1), bool(node.attr("keepdims", 1))
    if not node.attr("select_last_index", 0):
        return function(x, axis=axis, keepdims=keepdims)
    last = function(T.flip(x, axis), axis=axis, keepdims=keepdims)
    return T.shape(x)[axis] - 1 - last


@converter("CumSum", "CumProd")
def cumulative(node: Node, x: Any, axis: Any) -> Any:
    return by_axes(node, axis, x.ndim, lambda axes: _accumulated(node, x, axes[0]))


def _accumulated(node: Node, x: Any, along: int) -> Any:
    function, neutral = (T.cumsum, 0) if node.op == "CumSum" else (T.cumprod, 1)
    x = T.flip(x, along) if node.attr("reverse", 0) else x
    y = function(x, axis=along, dtype=x.dtype)
    if node.attr("exclusive", 0):
        part = tuple(slice(None, -1) if a == along else slice(None) for a in range(x.ndim))
        first = tuple(slice(0, 1) if a == along else slice(None) for a in range(x.ndim))
        y = T.concatenate([T.full_like(x[first], like(neutral, x)), y[part]], axis=along)
    return T.flip(y, along) if node.attr("reverse", 0) else y


@converter("Softmax", "LogSoftmax", "Hardmax")
def softmax(node: Node, x: Any) -> Any:
    """Before version 13 all axes from `axis` on are one."""
    function = _hardmax if node.op == "Hardmax" else ALONG_AXIS[node.op]
    if node.version >= 13:
        return function(x, axis=node.attr("axis", -1))
    axis = node.attr("axis", 1) % max(x.ndim, 1)
    lengths = T.shape(x)
    rows = T.prod(lengths[:axis]) if axis else 1
    flat = T.reshape(x, (rows, -1)) if x.ndim else x
    return T.reshape(function(flat, axis=-1), [lengths[k] for k in range(x.ndim)])


def _hardmax(x: Any, axis: int) -> Any:
    """1 at the first largest element along the axis, else 0."""
    places = T.argmax(x, axis=axis, keepdims=True)
    shape = [1] * x.ndim
    shape[axis] = -1
    counted = T.reshape(T.arange(T.shape(x)[axis % x.ndim]), shape)
    return T.cast(T.eq(counted, places), x.dtype)
