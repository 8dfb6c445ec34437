"""Tensor variables: NumPy's operators and methods on graph variables, and how Python values become constants.

The operators are those of the namespace `arignote.ops`; this file only spells them as methods.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from .. import ops as T  # the namespace; read when a method is called
from ..graph import Constant, Op, TensorType, Variable, dtype_name

PYTHON_SCALARS = (bool, int, float, complex)
"""Types whose dtype is weak: `float32 + 1.5` stays float32 (NEP 50)."""


class TensorVariable(Variable):
    """A symbolic array.  It has NumPy's operators, methods and attributes; its value exists only when a function runs."""

    __slots__ = ()

    # arithmetic
    def __add__(self, other: Any) -> Any: return T.add(self, other)
    def __radd__(self, other: Any) -> Any: return T.add(other, self)


class TensorConstant(TensorVariable, Constant):
    """A constant array."""

    __slots__ = ()


class TensorOp(Op):
    """The base of the ops of this vocabulary: calls accept variables, numbers and arrays."""

    variable_class: ClassVar[type[Variable]] = TensorVariable

    def convert(self, inputs: Sequence[Any]) -> tuple[Variable, ...]:
        return tuple(i if isinstance(i, Variable) else as_tensor(i) for i in inputs)


def constant(value: Any, dtype: Any = None, name: str | None = None) -> TensorConstant:
    """The constant with NumPy's reading of `value` (a number, a nested list, an array), as `dtype` if given."""
    data = np.array(value, dtype=None if dtype is None else dtype_name(dtype))
    dtype_name(data.dtype)
    return TensorConstant(data, name=name)


def as_tensor(value: Any, dtype: Any = None, name: str | None = None) -> Any:
    """`value` itself if it is a variable, else the constant made of it."""
    return value if isinstance(value, Variable) else constant(value, dtype, name)
