"""Elementwise ops of NNEF, activations and normalization."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any

from ... import ops as T
from .table import CONVERTERS, Node, aligned, converter

PLAIN: dict[str, Callable[..., Any]] = {
    "copy": lambda x: x, "neg": T.neg, "rcp": T.reciprocal, "exp": T.exp, "log": T.log, "sin": T.sin, "cos": T.cos,
    "tan": T.tan, "sinh": T.sinh, "cosh": T.cosh, "tanh": T.tanh, "asin": T.arcsin, "acos": T.arccos, "atan": T.arctan,
    "asinh": T.arcsinh, "acosh": T.arccosh, "atanh": T.arctanh, "abs": T.abs, "sign": T.sign, "not": T.logical_not,
    "floor": T.floor, "ceil": T.ceil, "round": lambda x: T.floor(x + 0.5), "add": T.add, "sub": T.sub, "mul": T.mul,
    "div": T.true_div, "pow": T.pow, "lt": T.lt, "gt": T.gt, "le": T.le, "ge": T.ge, "eq": T.eq, "ne": T.ne,
    "and": T.logical_and, "or": T.logical_or, "sqr": T.square, "sqrt": T.sqrt, "rsqr": lambda x: 1 / T.square(x),
    "rsqrt": lambda x: 1 / T.sqrt(x), "log2": T.log2, "min": T.minimum, "max": T.maximum, "select": T.where,
    "clamp": lambda x, low, high: T.maximum(T.minimum(x, high), low), "relu": T.relu, "sigmoid": T.sigmoid,
    "softplus": T.softplus, "prelu": lambda x, slope: T.where(x < 0, slope * x, x), "silu": lambda x: x * T.sigmoid(x),
}  # fmt: skip
"""Ops that one function of ours is, operand by operand."""


def _plain(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda node, *operands: function(*aligned(*operands))


for _name, _function in PLAIN.items():
    CONVERTERS[_name] = _plain(_function)


@converter("batch_normalization")
def batch_normalization(node: Node, x: Any, mean: Any, variance: Any, offset: Any, scale: Any) -> Any:
    x, mean, variance, offset, scale = aligned(x, mean, variance, offset, scale)
    return offset + scale * (x - mean) / T.sqrt(variance + node["epsilon"])


@converter("l1_normalization", "l2_normalization")
def normalization(node: Node, x: Any) -> Any:
    axes = tuple(node["axes"])
    plain = node.op.startswith("l1")
    total = T.sum(T.abs(x), axis=axes, keepdims=True) if plain else T.sqrt(T.sum(x * x, axis=axes, keepdims=True))
    return x / T.maximum(total + node["bias"], node["epsilon"])


converter("leaky_relu")(lambda node, x: T.where(x < 0, node["alpha"] * x, x))
converter("elu")(lambda node, x: T.where(x < 0, node.attributes.get("alpha", 1.0) * T.expm1(x), x))
converter("softabs")(lambda node, x: T.sqrt(T.square(x) + node["epsilon"]))
converter("softmax")(lambda node, x: T.nn.softmax(x, axis=tuple(node["axes"])))
converter("add_n")(lambda node, operands: reduce(T.add, aligned(*operands)))
converter("copy_n")(lambda node, x: [x] * int(node["times"]))
