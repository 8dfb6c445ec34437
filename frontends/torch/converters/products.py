"""Matrix products."""

from __future__ import annotations

from typing import Any

from .... import ops as T
from ..dtypes import as_dtype
from ..symbols import lengths
from ..table import Call, converter


def product(a: Any, b: Any) -> Any:
    """Return a matrix product; PyTorch computes that of float16 in float32."""
    if a.dtype == "float16":
        return as_dtype(T.matmul(as_dtype(a, "float32"), as_dtype(b, "float32")), "float16")
    return T.matmul(a, b)


@converter("aten.mm", "aten.bmm", "aten.matmul", "aten.mv", "aten.dot")
def matmul(call: Call, a: Any, b: Any) -> Any:
    return product(a, b)


@converter("aten.vdot")
def vdot(call: Call, a: Any, b: Any) -> Any:
    return product(T.conj(a) if a.type.kind == "c" else a, b)


@converter("aten.addmm", "aten.addmv", "aten.baddbmm")
def addmm(call: Call, c: Any, a: Any, b: Any, *, beta: Any = 1, alpha: Any = 1) -> Any:
    """The addend is not read where `beta` is 0."""
    y = T.matmul(*(as_dtype(v, "float32") for v in (a, b))) if a.dtype == "float16" else T.matmul(a, b)
    y = y if alpha == 1 else y * as_dtype(alpha, y.dtype)
    if beta == 0:
        return as_dtype(y, call.dtype)
    c = as_dtype(c, y.dtype)
    return as_dtype(y + (c if beta == 1 else c * as_dtype(beta, y.dtype)), call.dtype)


@converter("aten.linear")
def linear(call: Call, x: Any, w: Any, bias: Any = None) -> Any:
    y = product(x, T.swapaxes(w, -1, -2) if w.ndim > 1 else w)
    return y if bias is None else y + bias


@converter("aten.addbmm")
def addbmm(call: Call, c: Any, a: Any, b: Any, *, beta: Any = 1, alpha: Any = 1) -> Any:
    """Products of batches are summed up as one product of longer rows."""
    (count, rows, inner), columns = lengths(a), lengths(b)[2]
    long_a = T.reshape(T.dimshuffle(a, 1, 0, 2), (rows, count * inner))
    return addmm(call, c, long_a, T.reshape(b, (count * inner, columns)), beta=beta, alpha=alpha)
