"""Symbolic lengths: arithmetic of a traced graph on lengths that the call decides."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from functools import partial
from typing import Any

import torch

from ... import ops as T
from ...graph import Constant, Variable
from ...ops.core.tensor import constant
from ...ops.shapes.lengths import lengths_of


def number(value: Any) -> Any:
    """Return a length as a Python int if it is known, else the scalar itself."""
    if isinstance(value, Constant) and value.ndim == 0:
        return value.data.item()
    return value


def lengths(x: Variable) -> list[Any]:
    """Return the lengths of a tensor: ints, and scalars for those that the call decides."""
    return [number(n) for n in lengths_of(x)]


def is_known(node: Any) -> bool:
    """Return whether the traced value of a node is a Python number."""
    return type(node.meta.get("val")) in (int, float, bool)


def both(on_numbers: Callable[..., Any], on_scalars: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function of numbers that are known or not."""

    def computed(*values: Any) -> Any:
        values = tuple(map(number, values))
        if not any(isinstance(v, Variable) for v in values):
            return on_numbers(*values)
        return on_scalars(*values)

    return computed


def _cast(dtype: str) -> Callable[[Any], Any]:
    return lambda v: T.cast(v, dtype)


def _float(function: Callable[..., Any], *values: Any) -> Any:
    return function(*(T.cast(v, "float64") if isinstance(v, Variable) else constant(float(v)) for v in values))


def size(x: Any, axis: int) -> Any:
    """Return the length of an axis."""
    return lengths(x)[axis]


def count(x: Any) -> Any:
    """Return the number of elements."""
    total: Any = 1
    for n in lengths(x):
        total = FUNCTIONS[operator.mul](total, n)
    return total


def _sum(values: Any) -> Any:
    total: Any = 0
    for v in values:
        total = FUNCTIONS[operator.add](total, v)
    return total


_PAIRS: dict[Callable[..., Any], Callable[..., Any]] = {
    operator.add: T.add, operator.sub: T.sub, operator.mul: T.mul, operator.floordiv: T.floor_div,
    operator.mod: T.mod, operator.neg: T.neg, operator.truediv: partial(_float, T.true_div), operator.pow: T.pow,
    operator.eq: T.eq, operator.ne: T.ne, operator.lt: T.lt, operator.le: T.le, operator.gt: T.gt,
    operator.ge: T.ge, operator.and_: T.bitwise_and, operator.or_: T.bitwise_or,
    math.ceil: lambda v: T.cast(T.ceil(v), "int64"), math.floor: lambda v: T.cast(T.floor(v), "int64"),
    math.trunc: lambda v: T.cast(T.trunc(v), "int64"), round: lambda v: T.cast(T.round(v), "int64"),
    math.sqrt: partial(_float, T.sqrt), operator.not_: T.logical_not,
}  # fmt: skip
"""Our function by Python's."""

FUNCTIONS: dict[Any, Callable[..., Any]] = {
    **{python: both(python, ours) for python, ours in _PAIRS.items()},
    torch.sym_max: both(max, T.maximum), torch.sym_min: both(min, T.minimum),
    torch.sym_not: both(operator.not_, T.logical_not), torch.sym_int: both(int, lambda v: T.cast(T.trunc(v), "int64")),
    torch.sym_float: both(float, _cast("float64")), torch.sym_ite: both(lambda c, a, b: a if c else b, T.where),
    torch.sym_sum: _sum,
    torch.ops.aten.sym_size.int: size, torch.ops.aten.sym_numel.default: count,
}  # fmt: skip
"""Functions of numbers in a traced graph."""
