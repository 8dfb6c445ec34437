"""Preparation of operands: Python values become constants, mixed dtypes their joint dtype."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ...graph import Variable, dtype_name
from .call_lengths import Length
from .checks import describe, shown
from .namespace import T
from .promotion import result_type, weak_type
from .tensor import TensorVariable, as_tensor
from .traced import number_of
from .typing import TensorLike


def with_dtype(x: Variable, dtype: str) -> TensorVariable:
    """`x` cast to `dtype`; `x` itself if it has that dtype."""
    return x if x.dtype == dtype else T.cast(x, dtype)  # type: ignore[return-value]  # see as_tensor


def conjugated(x: Variable) -> Variable:
    """Return the conjugates of complex numbers; other numbers as they are, where NumPy makes integers of bools."""
    return T.conj(x) if x.type.kind == "c" else x


def several(what: str, arrays: Any) -> list[TensorLike]:
    """Return the operands of a list or tuple, or along the first axis of an array or tensor.

    Raises TypeError for anything else, a tensor of unknown length among it.
    """
    known = not isinstance(arrays, Variable) or (arrays.ndim and arrays.type.shape[0] is not None)
    if not known or isinstance(arrays, (str, bytes, Mapping)) or not hasattr(arrays, "__iter__"):
        got = describe(arrays) if isinstance(arrays, Variable) else shown(arrays)
        raise TypeError(f"{what}: expected a list or tuple of tensors, as in T.{what}([x, y]), got {got}")
    return list(arrays)


def require_one_rank(what: str, variables: Sequence[Variable]) -> None:
    """Raises TypeError where the operands differ in rank."""
    for position, v in enumerate(variables):
        if v.ndim != variables[0].ndim:
            raise TypeError(
                f"{what}: expected tensors of one rank, got {describe(variables[0])} at position 0 and "
                f"{describe(v)} at position {position}"
            )


def in_joint_dtype(values: Iterable[Any], dtype: Any = None, casting: str = "same_kind") -> tuple[TensorVariable, ...]:
    """The values as variables of `dtype`, if it is given, or of their joint dtype.

    Raises TypeError for a dtype that `casting` does not let one of them become.
    """
    variables = [as_tensor(value) for value in values]
    if not variables:
        return ()
    dtype = result_type([v.dtype for v in variables]) if dtype is None else dtype_name(dtype)
    for v in variables:
        if not np.can_cast(v.dtype, dtype, casting):  # type: ignore[arg-type]
            raise TypeError(f"{describe(v)} does not become {dtype} under casting={casting!r}; cast it before")
    return tuple(with_dtype(v, dtype) for v in variables)


def weak_kind(value: Any) -> type | None:
    """int, float or complex for a Python number, or a variable that stands for one; None for what has a dtype."""
    if isinstance(value, Variable) or type(value) is Length:
        number = number_of(value)
        return None if number is None else number.kind
    return weak_type(value)
