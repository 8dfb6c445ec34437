"""The ops by which the engine fits the result of a rule to its place (see optdb/conform.py)."""

from __future__ import annotations

from typing import Any

from ...graph import Variable
from ...ops import elementwise
from ...ops.shape import DimShuffle
from ...ops.tensor import constant


class TensorConform:
    """`Conform` with the ops of the package."""

    def constant(self, value: Any, dtype: str) -> Variable:
        return constant(value, dtype)

    def cast(self, value: Variable, dtype: str) -> Variable:
        return elementwise.cast(value, dtype)

    def pad(self, value: Variable, ndim: int) -> Variable:
        missing = ndim - value.ndim
        return DimShuffle((*("x",) * missing, *range(value.ndim)))(value)

    def fill(self, like: Variable, value: Variable) -> Variable:
        return elementwise.fill(like, value)
