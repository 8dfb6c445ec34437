"""PyTorch's dtypes as ours, its type promotion, and the sharing of memory between tensors and arrays.

Arrays hold bfloat16 numbers as their bits, in uint16.  Graphs compute with them in float32 and round each result.
"""

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
"""Our dtype by PyTorch's; float8, quantized and packed dtypes have none."""
NAMES[torch.bfloat16] = "float32"


class Unsupported(NotImplementedError):
    """A value that no tensor of ours holds: its dtype, device or layout."""


def name_of(dtype: torch.dtype) -> str:
    """Return the dtype in which graphs compute.  Raises Unsupported for one that no array holds."""
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
    """Return the type of the array over a tensor, or a fake one of a traced graph; symbolic lengths are open."""
    require_plain(value)
    dtype = "uint16" if value.dtype is torch.bfloat16 else name_of(value.dtype)
    return TensorType(dtype, tuple(n if type(n) is int else None for n in value.shape))


def array_of(value: torch.Tensor) -> np.ndarray:
    """Return a tensor as an array over the same memory (conjugates and negatives that are pending are copied)."""
    value = value.detach().resolve_conj().resolve_neg()
    array: np.ndarray = (value.view(torch.uint16) if value.dtype is torch.bfloat16 else value).numpy()
    return array


def tensor_of(array: np.ndarray, dtype: torch.dtype | None = None) -> torch.Tensor:
    """Return an array as a tensor over the same memory; a read-only array is copied.

    `dtype`: that of the tensor; only bfloat16 is not clear from the array.
    """
    tensor = torch.from_numpy(array if array.flags.writeable else array.copy())
    return tensor.view(dtype) if dtype is torch.bfloat16 else tensor


def loaded(x: Any, dtype: torch.dtype) -> Any:
    """Return the numbers of an array over a tensor of this dtype."""
    return T.from_bfloat16(x) if dtype is torch.bfloat16 else x


def stored(x: Any, dtype: torch.dtype) -> Any:
    """Return an array over a tensor of this dtype with these numbers, the inverse of `loaded`."""
    return T.to_bfloat16(x) if dtype is torch.bfloat16 else x


def rounded(value: Any, traced: Any) -> Any:
    """Return the results of an op as numbers that their traced dtypes hold."""
    if isinstance(traced, (list, tuple)) and isinstance(value, (list, tuple)):
        return type(value)([rounded(v, t) for v, t in zip(value, traced, strict=True)])
    if isinstance(value, Variable) and isinstance(traced, torch.Tensor):
        return loaded(stored(value, traced.dtype), traced.dtype)
    return value


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


def promoted(kind: str, values: Any, metas: Any, wide_scalars: bool = False) -> tuple[list[Any], str, str]:
    """Return operands in the dtype that PyTorch computes in, that dtype, and the dtype of the result.

    `kind` is a name of `ELEMENTWISE_TYPE_PROMOTION_KIND`; `metas` are the values of the traced graph, of which
    dtypes and ranks are read.  Source: `torch._prims_common.elementwise_dtypes`.

    Operands of float16 and bfloat16 are computed in float32.  PyTorch rounds the other operands to 16 bits first;
    `wide_scalars`: not numbers and scalars.
    """
    compute, result = elementwise_dtypes(*metas, type_promotion_kind=getattr(KINDS, kind))
    name = name_of(compute)
    common, _ = elementwise_dtypes(*metas, type_promotion_kind=KINDS.NO_OPMATH)
    if common in HALVES:
        pairs = zip(values, metas, strict=True)
        values = [v if wide_scalars and _is_scalar(m) else _in_half(v, m, common) for v, m in pairs]
    return [as_dtype(v, name) for v in values], name, name_of(result)


HALVES = torch.float16, torch.bfloat16


def _is_scalar(traced: Any) -> bool:
    return not isinstance(traced, torch.Tensor) or traced.ndim == 0


def _in_half(value: Any, traced: Any, dtype: torch.dtype) -> Any:
    """Return an operand rounded to a dtype of 16 bits."""
    return value if getattr(traced, "dtype", None) is dtype else in_dtype(value, dtype)


def in_dtype(value: Any, dtype: torch.dtype) -> Any:
    """Return a value or a Python number, rounded to a dtype of PyTorch."""
    return loaded(stored(as_dtype(value, name_of(dtype)), dtype), dtype)
