"""Sorting, searching, distinct elements, running sums, repetition, and other ops of PyTensor's `extra_ops`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pytensor.tensor import extra_ops, fft
from pytensor.tensor.signal.conv import Convolve1d
from pytensor.tensor.sort import ArgSortOp, SortOp

from .... import ops as T
from ....graph import Constant
from ..table import Call, converter
from .scalars import as_dtype


def _axis(call: Call, axis: Sequence[Any]) -> int | None:
    """Return the axis of an op, which is an operand in version 2; None if only the run knows it."""
    if not axis:
        return int(call.op.axis)
    return int(axis[0].data) if isinstance(axis[0], Constant) else None


@converter(SortOp)
def sort_(call: Call, x: Any, *axis: Any) -> Any:
    found = _axis(call, axis)
    return NotImplemented if found is None else T.sort(x, found)


@converter(ArgSortOp)
def argsort(call: Call, x: Any, *axis: Any) -> Any:
    """Return a stable order, which is one of those that PyTensor's unstable kinds may give."""
    found = _axis(call, axis)
    if found is None:
        return NotImplemented
    return as_dtype(T.argsort(x, found), call.dtypes[0])


@converter(extra_ops.SearchsortedOp)
def searchsorted(call: Call, x: Any, v: Any, *sorter: Any) -> Any:
    if sorter and sorter[0] is not None:
        x = x[sorter[0]]
    return as_dtype(T.searchsorted(x, v, call.op.side), call.dtypes[0])


@converter(extra_ops.CumOp)
def cumulative(call: Call, x: Any) -> Any:
    function = T.cumsum if call.op.mode == "add" else T.cumprod
    return function(as_dtype(x, call.dtypes[0]), call.op.axis)


@converter(extra_ops.Bartlett)
def bartlett(call: Call, n: Any) -> Any:
    return NotImplemented if not isinstance(n, Constant) else T.bartlett(int(n.data))


@converter(extra_ops.FillDiagonal)
def fill_diagonal(call: Call, x: Any, value: Any) -> Any:
    value = as_dtype(value, x.dtype)
    if x.ndim != 2:
        return NotImplemented
    rows, columns = T.lengths_of(x)
    return _on_diagonal(x, value, T.arange(T.minimum(rows, columns)), 0)


@converter(extra_ops.FillDiagonalOffset)
def fill_diagonal_offset(call: Call, x: Any, value: Any, offset: Any) -> Any:
    offset, (rows, columns) = as_dtype(offset, "int64"), T.lengths_of(x)
    first = T.maximum(-offset, 0)
    count = T.maximum(T.minimum(rows - first, columns - T.maximum(offset, 0)), 0)
    return _on_diagonal(x, as_dtype(value, x.dtype), T.arange(count) + first, offset)


def _on_diagonal(x: Any, value: Any, rows: Any, offset: Any) -> Any:
    return T.set_subtensor(x[rows, rows + offset], value)


@converter(extra_ops.Unique)
def unique(call: Call, x: Any) -> Any:
    op = call.op
    if op.axis is not None and x.ndim > 1:
        return NotImplemented
    wanted = [op.return_index, op.return_inverse, op.return_counts]
    found = T.unique(x, *wanted)
    several = found if isinstance(found, tuple) else (found,)
    pairs = zip(several, call.node.outputs, strict=True)
    return tuple(as_dtype(T.reshape(v, (-1,)) if v.ndim != o.type.ndim else v, o.type.dtype) for v, o in pairs)


@converter(extra_ops.UnravelIndex)
def unravel_index(call: Call, indices: Any, lengths: Any) -> Any:
    (count,) = lengths.type.shape
    if count is None or call.op.order != "C":
        return NotImplemented
    return tuple(T.unravel_index(as_dtype(indices, "int64"), [as_dtype(lengths[k], "int64") for k in range(count)]))


@converter(extra_ops.RavelMultiIndex)
def ravel_multi_index(call: Call, *operands: Any) -> Any:
    *indices, lengths = operands
    if call.op.order != "C" or call.op.mode != "raise" or lengths.type.shape[0] is None:
        return NotImplemented
    dims = [as_dtype(lengths[k], "int64") for k in range(len(indices))]
    return T.ravel_multi_index([as_dtype(i, "int64") for i in indices], dims)


@converter(Convolve1d)
def convolve(call: Call, x: Any, y: Any, full: Any) -> Any:
    if not isinstance(full, Constant):
        return NotImplemented
    x, y = (as_dtype(v, call.dtypes[0]) for v in (x, y))
    return T.convolve(x, y, "full" if full.data else "valid")


@converter(fft.RFFTOp)
def rfft(call: Call, x: Any, lengths: Any) -> Any:
    """Return real and imaginary parts along a last axis, over all axes but the first."""
    count = x.ndim - 1
    found = T.fft.rfftn(x, [lengths[k] for k in range(count)], axes=tuple(range(1, x.ndim)))
    return as_dtype(T.stack([T.real(found), T.imag(found)], axis=-1), call.dtypes[0])


@converter(fft.IRFFTOp)
def irfft(call: Call, x: Any, lengths: Any) -> Any:
    whole = as_dtype(x[..., 0], "complex128") + as_dtype(x[..., 1], "complex128") * 1j
    count = whole.ndim - 1
    sizes = [as_dtype(lengths[k], "int64") for k in range(count)]
    found = T.fft.irfftn(whole, sizes, axes=tuple(range(1, whole.ndim)))
    return as_dtype(found * T.prod(T.stack(sizes)), call.dtypes[0])


converter(extra_ops.Repeat)(lambda call, x, counts: T.repeat(x, as_dtype(counts, "int64"), call.op.axis))
converter(extra_ops.CpuContiguous)(lambda call, x: x)
