"""Matrix products."""

from __future__ import annotations

from typing import Any

from .... import ops as T
from ....control.scan import scan
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


# --- experts of a mixture, as Hugging Face writes them: each multiplies the rows that were routed to it
@converter("transformers.grouped_mm_fallback")
def grouped_mm(call: Call, x: Any, weight: Any, offs: Any) -> Any:
    """`offs`: where the rows of each expert end.  Rows of none are zero."""
    unset = T.zeros((lengths(x)[0], lengths(weight)[2]), x.dtype)

    def step(w: Any, begin: Any, end: Any, y: Any) -> Any:
        return T.set_subtensor(y[begin:end], product(x[begin:end], w))

    return scan(step, sequences=[weight, *_spans(offs)], outputs_info=[unset], return_list=True).outputs[0][-1]


@converter("transformers.grouped_mm_fallback_backward")
def grouped_mm_backward(call: Call, x: Any, weight: Any, offs: Any, g: Any) -> Any:
    def step(begin: Any, end: Any) -> Any:
        return product(T.swapaxes(x[begin:end], 0, 1), g[begin:end])

    of_weight = scan(step, sequences=_spans(offs), return_list=True).outputs[0]
    return grouped_mm(call, g, T.swapaxes(weight, 1, 2), offs), of_weight


def _spans(offs: Any) -> list[Any]:
    """Return where groups begin, and where they end."""
    ends = as_dtype(offs, "int64")
    return [T.concatenate([T.zeros((1,), "int64"), ends[:-1]]), ends]
