"""Operands made ready for an op that takes one dtype: Python values become constants, mixed dtypes their joint one."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .. import ops as T
from ..graph import Variable
from .promotion import result_type
from .tensor import as_tensor


def with_dtype(x: Variable, dtype: str) -> Variable:
    """`x` cast to `dtype`; `x` itself if it has that dtype."""
    return x if x.dtype == dtype else T.cast(x, dtype)


def in_joint_dtype(values: Iterable[Any]) -> tuple[Variable, ...]:
    """The values as variables of their joint dtype."""
    variables = [as_tensor(value) for value in values]
    if not variables:
        return ()
    dtype = result_type([v.dtype for v in variables])
    return tuple(with_dtype(v, dtype) for v in variables)
