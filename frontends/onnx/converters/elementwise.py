"""Elementwise ops: arithmetic, functions, comparisons, casts, activations."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import reduce
from typing import Any

import numpy as np

from .... import ops as T
from ....graph import Variable
from ....ops.core.tensor import constant
from ..reading.host_ops import Bits
from ..reading.narrow import FORMATS, TEXT
from ..reading.node import Node
from ..reading.table import CONVERTERS, converter
from ..reading.values import dtype_of, elements, saturated, vector, wide_dtype
from ..same_ops import ELEMENTWISE


def _plain(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda node, *operands: function(*operands)


for _name, _function in ELEMENTWISE.items():
    CONVERTERS.setdefault(("", _name), _plain(_function))


def like(value: Any, x: Variable) -> Any:
    """A number in the dtype of x."""
    return constant(np.array(value, x.dtype))


def _aligned(node: Node, a: Any, b: Any) -> tuple[Any, Any]:
    """Operands of op sets before 7, where the second is broadcast from an axis on."""
    axis = node.attr("axis")
    if node.version >= 7 or axis is None or not node.attr("broadcast", 0):
        return a, b
    axis = axis % a.ndim
    return a, T.dimshuffle(b, *range(b.ndim), *"x" * (a.ndim - axis - b.ndim))


@converter("Div")
def div(node: Node, a: Any, b: Any) -> Any:
    """Integers are divided towards zero."""
    if a.type.kind in "iu":
        if a.type.kind == "u":
            return T.floor_div(a, b)
        quotient = T.floor_div(a, b)
        inexact = T.ne(T.mul(quotient, b), a)
        return T.cast(T.where(T.logical_and(inexact, T.lt(quotient, 0)), quotient + 1, quotient), a.dtype)
    return T.true_div(a, b)


@converter("Pow")
def power(node: Node, a: Any, b: Any) -> Any:
    if a.dtype == b.dtype:
        return T.pow(a, b)
    if a.type.kind in "iu" and b.type.kind == "f":
        return _cut_into(T.pow(T.cast(a, "float64"), b), a.dtype)
    return T.pow(a, T.cast(b, a.dtype))


@converter("Mod")
def modulo(node: Node, a: Any, b: Any) -> Any:
    """The sign is that of the divisor; with `fmod` that of the dividend."""
    return T.fmod(a, b) if node.attr("fmod", 0) else T.mod(a, b)


@converter("Max", "Min", "Sum", "Mean")
def several(node: Node, *operands: Any) -> Any:
    """NaN wins, as in NumPy."""
    function = ELEMENTWISE.get(node.op, T.add)
    total = reduce(function, operands)
    return T.true_div(total, like(len(operands), total)) if node.op == "Mean" else total


@converter("Clip")
def clip(node: Node, x: Any, low: Any = None, high: Any = None) -> Any:
    low = node.attr("min") if low is None else low
    high = node.attr("max") if high is None else high
    low, high = (like(v, x) if isinstance(v, float) else v for v in (low, high))
    x = x if low is None else T.maximum(x, low)
    return x if high is None else T.minimum(x, high)


@converter("IsInf")
def is_inf(node: Node, x: Any) -> Any:
    sides = [T.eq(x, like(math.inf, x))] if node.attr("detect_positive", 1) else []
    sides += [T.eq(x, like(-math.inf, x))] if node.attr("detect_negative", 1) else []
    return reduce(T.logical_or, sides) if sides else T.zeros_like(x, dtype="bool")


@converter("Cast", "CastLike")
def cast(node: Node, x: Any, like_this: Any = None) -> Any:
    if node.format(0) == TEXT:
        raise node.error("a cast of strings to numbers is not supported")
    form = node.format(1) if like_this is not None else FORMATS.get(node.need("to"))
    if form is not None:
        return x if form == node.format(0) else form.rounded(x, *_rounding(node))
    dtype = like_this.dtype if like_this is not None else dtype_of(node.need("to"), node.error)
    known = elements(x)
    if known is not None and x.ndim == 1 and np.dtype(dtype).kind in "iu" and dtype == "int64":
        return vector(known, dtype)
    return T.cast(x, dtype)


def _rounding(node: Node) -> tuple[bool, str]:
    """The cast's attributes: whether it saturates, and the rounding direction of powers of two."""
    mode = node.attr("round_mode", "up")
    if mode not in ("up", "down", "nearest"):
        raise node.error(f"the round_mode is {mode!r}, expected up, down or nearest")
    return bool(node.attr("saturate", 1)), mode


@converter("BitCast")
def bit_cast(node: Node, x: Any) -> Any:
    """The bits of x under another dtype of the same size."""
    dtype = dtype_of(node.need("to"), node.error)
    to = FORMATS.get(node.need("to"))
    if to != node.format(0):
        raise node.error("a bitcast from or to a dtype of few bits is not supported")
    if dtype == x.dtype:
        return x
    return Bits(dtype)(x)


converter("BitShift")(lambda node, a, b: (T.left_shift if node.need("direction") == "LEFT" else T.right_shift)(a, b))
converter("Relu")(lambda node, x: T.maximum(x, like(0, x)))


# --- activations


def _activation(name: str, **defaults: float) -> Callable[..., Any]:
    """Register a function of x and of attributes, which are given as numbers in the dtype of x."""

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        def convert(node: Node, x: Any) -> Any:
            return function(x, *(like(node.attr(key, value), x) for key, value in defaults.items()))

        CONVERTERS["", name] = convert
        return function

    return register


_activation("Celu", alpha=1.0)(T.nn.celu)
_activation("Selu", alpha=1.67326319217681884765625, gamma=1.05070102214813232421875)(T.nn.selu)


_activation("HardSigmoid", alpha=0.2, beta=0.5)(T.nn.hardsigmoid)
_activation("HardSwish")(T.nn.hardswish)
_activation("Mish")(T.nn.mish)
_activation("Softsign")(T.nn.softsign)


@converter("Shrink")
def shrink(node: Node, x: Any) -> Any:
    """Integers are computed in floats; fractions are cut off, as the format's reference does."""
    wide = T.cast(x, wide_dtype(x))
    bias, limit = like(node.attr("bias", 0.0), wide), like(node.attr("lambd", 0.5), wide)
    return _cut_into(T.nn.softshrink(wide, limit, bias), x.dtype)


def _cut_into(y: Any, dtype: str) -> Any:
    """Floats in another dtype, without their fractions if it is one of integers; no number wraps around."""
    return saturated(T.trunc(y), dtype) if np.dtype(dtype).kind in "iu" else T.cast(y, dtype)


_activation("Elu", alpha=1.0)(lambda x, alpha: T.where(T.lt(x, like(0, x)), alpha * T.expm1(x), x))
_activation("LeakyRelu", alpha=0.01)(lambda x, alpha: T.where(T.lt(x, like(0, x)), alpha * x, x))
_activation("ThresholdedRelu", alpha=1.0)(lambda x, alpha: T.where(T.gt(x, alpha), x, like(0, x)))
converter("Swish")(lambda node, x: x * T.sigmoid(like(node.attr("alpha", 1.0), x) * x))
converter("Gelu")(lambda node, x: T.gelu(x, node.attr("approximate", "none")))
converter("PRelu")(lambda node, x, slope: T.where(T.lt(x, like(0, x)), slope * x, x))
