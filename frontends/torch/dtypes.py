"""PyTorch's dtypes as ours, its type promotion, and the sharing of memory between tensors and arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch._prims_common import ELEMENTWISE_TYPE_PROMOTION_KIND as KINDS
from torch._prims_common import elementwise_dtypes

from ... import ops as T
from ...graph import TensorType, Variable
from ...ops.core.tensor import constant

NAMES: dict[torch.dtype, str] = {
    getattr(torch, name): name
    for name in (
        "bool", "uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64", "float16", "float32",
        "float64", "complex64", "complex128",
    )
}  # fmt: skip
"""Our dtype by PyTorch's; bfloat16, float8, quantized and packed dtypes have none."""


class Unsupported(NotImplementedError):
    """A value that no tensor of ours holds: its dtype, device or layout."""


def name_of(dtype: torch.dtype) -> str:
    """Return our name of a dtype.  Raises Unsupported for one that no array holds."""
    found = NAMES.get(dtype)
    if found is None:
        raise Unsupported(f"no array holds {dtype}")
    return found


def require_plain(value: torch.Tensor) -> None:
    """Raise Unsupported unless a tensor is dense, on the CPU and of a dtype that arrays hold."""
    if value.device.type != "cpu":
        raise Unsupported(f"its device is {value.device}, expected the CPU")
    if value.layout is not torch.strided or value.is_quantized:
        raise Unsupported(f"its layout is {value.layout}, expected a dense tensor")
    name_of(value.dtype)


def type_of(value: torch.Tensor) -> TensorType:
    """Return our type for a tensor, or the fake one of a traced graph; symbolic lengths are open."""
    require_plain(value)
    return TensorType(name_of(value.dtype), tuple(n if type(n) is int else None for n in value.shape))


def array_of(value: torch.Tensor) -> np.ndarray:
    """Return a tensor as an array over the same memory (conjugates and negatives that are pending are copied)."""
    array: np.ndarray = value.detach().resolve_conj().resolve_neg().numpy()
    return array


def tensor_of(array: np.ndarray) -> torch.Tensor:
    """Return an array as a tensor over the same memory; a read-only array is copied."""
    return torch.from_numpy(array if array.flags.writeable else array.copy())


# --- promotion


def as_dtype(value: Any, dtype: str) -> Any:
    """Return a value or a Python number in a dtype.  Complex numbers lose their imaginary parts."""
    if not isinstance(value, Variable):
        value = value.real if isinstance(value, complex) and not dtype.startswith("complex") else value
        with np.errstate(all="ignore"):
            return constant(np.asarray(value).astype(dtype))
    if value.dtype == dtype:
        return value
    if value.type.kind == "c" and not dtype.startswith("complex"):
        value = T.ne(value, 0) if dtype == "bool" else T.real(value)
    return T.cast(value, dtype)


def promoted(kind: str, values: Any, metas: Any) -> tuple[list[Any], str, str]:
    """Return operands in the dtype that PyTorch computes in, that dtype, and the dtype of the result.

    `kind` is a name of `ELEMENTWISE_TYPE_PROMOTION_KIND`; `metas` are the values of the traced graph, of which
    dtypes and ranks are read.  Source: `torch._prims_common.elementwise_dtypes`.
    """
    compute, result = elementwise_dtypes(*metas, type_promotion_kind=getattr(KINDS, kind))
    name = name_of(compute)
    return [as_dtype(v, name) for v in values], name, name_of(result)
