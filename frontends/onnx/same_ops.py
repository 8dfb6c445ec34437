"""Ops of ONNX that one function of ours is: the table that readers and writers share.

The reader's converter of such an op is the function itself, unless a function registered by `@converter` refines it,
say for attributes or old op sets.  The writer takes the name of ONNX for the name of ours.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

from ... import ops as T
from ...ops.elementwise.records import identity

ELEMENTWISE: dict[str, Callable[..., Any]] = {
    "Abs": T.abs, "Acos": T.arccos, "Acosh": T.arccosh, "Add": T.add, "And": T.logical_and, "Asin": T.arcsin,
    "Asinh": T.arcsinh, "Atan": T.arctan, "Atanh": T.arctanh, "BitwiseAnd": T.bitwise_and,
    "BitwiseNot": T.bitwise_not, "BitwiseOr": T.bitwise_or, "BitwiseXor": T.bitwise_xor, "Ceil": T.ceil, "Cos": T.cos,
    "Cosh": T.cosh, "Div": T.true_div, "Equal": T.eq, "Erf": T.erf, "Exp": T.exp, "Floor": T.floor, "Greater": T.gt,
    "GreaterOrEqual": T.ge, "Identity": identity, "IsInf": T.isinf, "IsNaN": T.isnan, "Less": T.lt,
    "LessOrEqual": T.le, "Log": T.log, "Max": T.maximum, "Min": T.minimum, "Mul": T.mul, "Neg": T.neg,
    "Not": T.logical_not, "Or": T.logical_or, "Pow": T.pow, "Reciprocal": T.reciprocal, "Round": T.rint,
    "Sigmoid": T.sigmoid, "Sign": T.sign, "Sin": T.sin, "Sinh": T.sinh, "Softplus": T.softplus, "Sqrt": T.sqrt,
    "Sub": T.sub, "Tan": T.tan, "Tanh": T.tanh, "Where": T.switch, "Xor": T.logical_xor,
}  # fmt: skip
"""Operand by operand."""
REDUCTIONS: dict[str, Callable[..., Any]] = {
    "ReduceSum": T.sum, "ReduceProd": T.prod, "ReduceMax": T.max, "ReduceMin": T.min,
}  # fmt: skip
"""Along axes."""
ALONG_AXIS: dict[str, Callable[..., Any]] = {
    "ArgMax": T.argmax, "ArgMin": T.argmin, "CumSum": T.cumsum, "LogSoftmax": T.log_softmax, "Softmax": T.softmax,
}  # fmt: skip
"""Along one axis."""


@lru_cache(maxsize=1)
def written_names() -> dict[str, str]:
    """The names of ONNX by the names of our ops."""
    tables = {**ELEMENTWISE, **REDUCTIONS, **ALONG_AXIS}
    return {getattr(function, "name", None) or function.__name__: onnx for onnx, function in tables.items()}
