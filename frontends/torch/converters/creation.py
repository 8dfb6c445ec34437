"""New tensors: constants, ranges, and their likes."""

from __future__ import annotations

from typing import Any

from .... import ops as T
from ....graph import Variable
from ..dtypes import as_dtype
from ..symbols import lengths
from ..symbols import number as known
from ..table import Call, converter
from .shapes import numbers


def filled(shape: Any, value: Any, dtype: str) -> Any:
    """Return a tensor of one number."""
    value = as_dtype(value, dtype)
    return value if not shape else T.broadcast_to(value, numbers(shape))


@converter("aten.full", "aten.new_full")
def full(call: Call, *args: Any, **kwargs: Any) -> Any:
    shape, value = args[-2:]
    return filled(shape, value, call.dtype)


@converter("aten.full_like", "aten.fill.Scalar", "aten.fill.Tensor")
def full_like(call: Call, x: Any, value: Any, **kwargs: Any) -> Any:
    return filled(lengths(x), value, call.dtype)


@converter("aten.zeros_like", "aten.ones_like")
def zeros_like(call: Call, x: Any, **kwargs: Any) -> Any:
    return filled(lengths(x), int("ones" in str(call.node.target)), call.dtype)


@converter("aten.empty_like", "aten.empty.memory_format", "aten.empty_strided", "aten.new_empty",
           "aten.new_empty_strided", "aten.empty_permuted", "prims.empty_strided")  # fmt: skip
def empty(call: Call, *args: Any, **kwargs: Any) -> Any:
    """Elements that are yet to be set are zeros."""
    first = args[0]
    shape = (
        lengths(first) if "empty_like" in str(call.node.target) else args[1] if isinstance(first, Variable) else first
    )
    return filled(shape, 0, call.dtype)


@converter("aten.zeros", "aten.ones", "aten.new_zeros", "aten.new_ones")
def zeros(call: Call, *args: Any, **kwargs: Any) -> Any:
    shape = args[1] if isinstance(args[0], Variable) else args[0]
    return filled(shape, int("ones" in str(call.node.target)), call.dtype)


@converter("aten.arange", "prims.iota")
def arange(call: Call, *args: Any, **kwargs: Any) -> Any:
    dtype = call.dtype
    if "iota" in str(call.node.target):
        length, start, step = known(args[0]), kwargs.get("start", 0), kwargs.get("step", 1)
        return as_dtype(T.arange(length), dtype) * as_dtype(step, dtype) + as_dtype(start, dtype)
    start, end, step = {1: (0, *args, 1), 2: (*args, 1), 3: args}[len(args)]
    start, end, step = known(start), known(end), known(step)
    if all(not isinstance(v, float) for v in (start, end, step)):
        return as_dtype(T.arange(start, end, step), dtype)
    (length,) = call.value.shape
    if not isinstance(length, int):
        return NotImplemented
    wide = "float64" if dtype.startswith("float") else dtype
    return as_dtype(as_dtype(T.arange(length), wide) * as_dtype(step, wide) + as_dtype(start, wide), dtype)


converter("aten.scalar_tensor")(lambda call, value, **kwargs: as_dtype(value, call.dtype))
converter("aten.eye")(lambda call, n, m=None, **kwargs: T.eye(known(n), known(n if m is None else m), dtype=call.dtype))
converter("aten._local_scalar_dense", "aten.item")(lambda call, x: T.reshape(x, ()))
