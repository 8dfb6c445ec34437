"""Views as values, joins and parts: PyTorch's aliasing is gone before a graph gets here."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from .... import ops as T
from ....graph import Variable
from ....ops.core.tensor import constant
from ..dtypes import Unsupported, as_dtype, promoted
from ..strides import dense_order
from ..symbols import lengths
from ..symbols import number as known
from ..table import Call, converter
from .elementwise import number


def numbers(values: Any) -> list[Any]:
    """Return lengths as ints where they are known."""
    return [known(v) for v in (values if isinstance(values, (list, tuple)) else [values])]


@converter("aten.view.default", "aten.reshape", "aten._unsafe_view", "aten.view_copy.default", "aten._reshape_alias")
def view(call: Call, x: Any, shape: Any, *strides: Any) -> Any:
    target = numbers(shape)
    return x if x.ndim == 0 and not target else T.reshape(x, target)


@converter("aten.transpose.int", "aten.swapaxes", "aten.transpose_copy.int")
def transpose(call: Call, x: Any, a: int, b: int) -> Any:
    return x if x.ndim == 0 else T.swapaxes(x, a % x.ndim, b % x.ndim)


@converter("aten.squeeze", "aten.squeeze_copy")
def squeeze(call: Call, x: Any, dims: Any = None) -> Any:
    shape = call.meta(0).shape
    several = range(x.ndim) if dims is None else [dims] if isinstance(dims, int) else dims
    axes = sorted({d % x.ndim for d in several if x.ndim and shape[d] == 1})
    if not axes:
        return x
    own = lengths(x)
    return T.reshape(x, [n for k, n in enumerate(own) if k not in axes])


@converter("aten.expand", "aten.expand_copy", "aten.broadcast_to")
def expand(call: Call, x: Any, shape: Any, *, implicit: bool = False) -> Any:
    target, own = numbers(shape), lengths(x)
    new = len(target) - x.ndim
    full = [
        own[k - new] if k >= new and n in (-1,) and not isinstance(n, Variable) else n for k, n in enumerate(target)
    ]
    if not new and full == own:
        return x
    return T.broadcast_to(x, full)


@converter("prims.broadcast_in_dim")
def broadcast_in_dim(call: Call, x: Any, shape: Any, axes: Sequence[int]) -> Any:
    order: list[Any] = ["x"] * len(shape)
    for k, axis in enumerate(axes):
        order[axis] = k
    return T.broadcast_to(T.dimshuffle(x, *order), numbers(shape))


@converter("aten.slice.Tensor", "aten.slice_copy")
def slice_(call: Call, x: Any, dim: int = 0, start: Any = None, end: Any = None, step: int = 1) -> Any:
    return x[(*(slice(None),) * (dim % x.ndim), _slice(start, end, step))]


def _slice(start: Any, end: Any, step: Any) -> slice:
    """Return a slice; PyTorch's largest integer stands for the end."""
    start, end, step = (known(v) if v is not None else None for v in (start, end, step))
    if isinstance(end, int) and end >= 2**62:
        end = None
    return slice(
        None if isinstance(start, int) and start == 0 else start,
        end,
        None if isinstance(step, int) and step == 1 else step,
    )


@converter("aten.select.int", "aten.select_copy")
def select(call: Call, x: Any, dim: int, index: Any) -> Any:
    return x[(*(slice(None),) * (dim % x.ndim), known(index))]


@converter("aten.slice_scatter")
def slice_scatter(
    call: Call, x: Any, source: Any, dim: int = 0, start: Any = None, end: Any = None, step: int = 1
) -> Any:
    place = x[(*(slice(None),) * (dim % x.ndim), _slice(start, end, step))]
    return T.set_subtensor(place, as_dtype(source, x.dtype))


@converter("aten.select_scatter")
def select_scatter(call: Call, x: Any, source: Any, dim: int, index: Any) -> Any:
    return T.set_subtensor(x[(*(slice(None),) * (dim % x.ndim), known(index))], as_dtype(source, x.dtype))


@converter("aten.cat", "aten.concat")
def cat(call: Call, parts: Sequence[Any], dim: int = 0) -> Any:
    """Empty vectors are left out, as PyTorch does."""
    rank = len(call.value.shape)
    metas = call.meta(0)
    kept = [p for p, m in zip(parts, metas, strict=True) if p.ndim == rank and not (rank > 1 and m.ndim == 1)]
    several = [as_dtype(p, call.dtype) for p in kept]
    if not several:
        return as_dtype(parts[0], call.dtype)
    return several[0] if len(several) == 1 else T.concatenate(several, axis=dim % rank)


@converter("aten.stack")
def stack(call: Call, parts: Sequence[Any], dim: int = 0) -> Any:
    return T.stack([as_dtype(p, call.dtype) for p in parts], axis=dim % len(call.value.shape))


@converter("aten.split_with_sizes", "aten.split_with_sizes_copy")
def split_with_sizes(call: Call, x: Any, sizes: Sequence[Any], dim: int = 0) -> Any:
    found, first, axis = [], 0, dim % x.ndim
    for size in numbers(sizes):
        found.append(x[(*(slice(None),) * axis, slice(first, first + size))])
        first = first + size
    return tuple(found)


@converter("aten.split.Tensor", "aten.split_copy.Tensor")
def split(call: Call, x: Any, size: Any, dim: int = 0) -> Any:
    axis = dim % x.ndim
    length, size = lengths(x)[axis], known(size)
    if not isinstance(length, int) or not isinstance(size, int):
        return NotImplemented
    if size == 0:
        return (x,)
    return tuple(x[(*(slice(None),) * axis, slice(k, min(k + size, length)))] for k in range(0, max(length, 1), size))


@converter("aten.unbind.int", "aten.unbind_copy.int")
def unbind(call: Call, x: Any, dim: int = 0) -> Any:
    axis = dim % x.ndim
    return tuple(x[(*(slice(None),) * axis, k)] for k in range(len(call.value)))


@converter("aten.flip")
def flip(call: Call, x: Any, dims: Sequence[int]) -> Any:
    axes = {d % x.ndim for d in dims} if x.ndim else set()
    return x[tuple(slice(None, None, -1) if k in axes else slice(None) for k in range(x.ndim))] if axes else x


@converter("aten.roll")
def roll(call: Call, x: Any, shifts: Any, dims: Any = ()) -> Any:
    if not dims:
        return T.reshape(T.roll(T.reshape(x, (-1,)), shifts[0], 0), lengths(x))
    for shift, dim in zip(shifts, dims, strict=True):
        x = T.roll(x, shift, dim % x.ndim)
    return x


@converter("aten.repeat")
def repeat(call: Call, x: Any, repeats: Any) -> Any:
    counts = numbers(repeats)
    x = T.reshape(x, (*(1,) * (len(counts) - x.ndim), *lengths(x)))
    if all(isinstance(n, int) and n == 1 for n in counts):
        return x
    own = lengths(x)
    paired = T.dimshuffle(x, *(k for axis in range(x.ndim) for k in ("x", axis)))
    wide = T.broadcast_to(paired, [n for pair in zip(counts, own, strict=True) for n in pair])
    return T.reshape(wide, [c * n for c, n in zip(counts, own, strict=True)])


@converter("aten.constant_pad_nd")
def constant_pad(call: Call, x: Any, pads: Sequence[Any], value: Any = 0) -> Any:
    """Negative pads cut."""
    return padded(x, pairs_of(x.ndim, pads), value)


def pairs_of(rank: int, pads: Sequence[Any]) -> list[tuple[Any, Any]]:
    """Return what goes before and after each axis; PyTorch begins with the last axis."""
    pads = numbers(pads)
    pairs = [(pads[k], pads[k + 1]) for k in range(0, len(pads), 2)]
    return [(0, 0)] * (rank - len(pairs)) + pairs[::-1]


def padded(x: Any, pairs: Sequence[tuple[Any, Any]], value: Any = 0) -> Any:
    """Return x with a number around it, or cut by negative pads."""
    flat = [n for pair in pairs for n in pair]
    if all(isinstance(n, int) and n == 0 for n in flat):
        return x
    if any(isinstance(n, int) and n < 0 for n in flat):
        own = lengths(x)
        cut = tuple(
            slice(-a if isinstance(a, int) and a < 0 else None, n + b if isinstance(b, int) and b < 0 else None)
            for (a, b), n in zip(pairs, own, strict=True)
        )
        x = x[cut]
        pairs = [tuple(max(n, 0) if isinstance(n, int) else n for n in pair) for pair in pairs]  # type: ignore[misc]
        return padded(x, pairs, value)
    return T.pad(x, tuple(pairs), constant_values=number(value, x))


@converter("aten.reflection_pad1d", "aten.reflection_pad2d", "aten.reflection_pad3d")
def reflection_pad(call: Call, x: Any, pads: Sequence[Any]) -> Any:
    return T.pad(x, tuple(pairs_of(x.ndim, pads)), mode="reflect")


@converter("aten.replication_pad1d", "aten.replication_pad2d", "aten.replication_pad3d")
def replication_pad(call: Call, x: Any, pads: Sequence[Any]) -> Any:
    pairs = pairs_of(x.ndim, pads)
    if any(not isinstance(n, int) or n < 0 for pair in pairs for n in pair):
        return NotImplemented
    return T.pad(x, tuple(pairs), mode="edge")


@converter("aten.diagonal", "aten.diagonal_copy")
def diagonal(call: Call, x: Any, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Any:
    return T.diagonal(x, offset, dim1 % x.ndim, dim2 % x.ndim)


@converter("aten.diagonal_scatter")
def diagonal_scatter(call: Call, x: Any, source: Any, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Any:
    a, b = dim1 % x.ndim, dim2 % x.ndim
    last = T.moveaxis(x, (a, b), (-2, -1))
    along = T.arange(lengths(source)[-1])
    rows, columns = along + max(-offset, 0), along + max(offset, 0)
    return T.moveaxis(T.set_subtensor(last[..., rows, columns], as_dtype(source, x.dtype)), (-2, -1), (a, b))


@converter("aten.tril", "aten.triu")
def triangle(call: Call, x: Any, diagonal: int = 0) -> Any:
    return (T.tril if "tril" in str(call.node.target) else T.triu)(x, diagonal)


@converter("aten.as_strided", "aten.as_strided_copy")
def as_strided(call: Call, x: Any, size: Any, stride: Any, offset: Any = None) -> Any:
    """Read the elements in the order of their memory; a rule makes a view of it.

    PyTorch cannot run this op on an array of ours, whose memory may have another order than the traced tensor's.
    """
    return _in_memory(x, call.meta(0))[constant(_places_of(call.meta(0), size, stride, offset))]


@converter("aten.as_strided_scatter")
def as_strided_scatter(call: Call, x: Any, source: Any, size: Any, stride: Any, offset: Any = None) -> Any:
    """Write to the elements in the order of their memory.

    Raises Unsupported for a view that repeats an element, of whose values any may be the last one written.
    """
    places = _places_of(call.meta(0), size, stride, offset).reshape(-1)
    if len(np.unique(places)) != len(places):
        raise Unsupported("it writes to an element several times")
    order = dense_order(call.meta(0))
    written = T.set_subtensor(_in_memory(x, call.meta(0))[constant(places)], T.reshape(source, (-1,)))
    own = lengths(x)
    return T.transpose(T.reshape(written, [own[k] for k in order]), [int(k) for k in np.argsort(order)])


def _in_memory(x: Any, value: torch.Tensor) -> Any:
    """Return the elements of a tensor in the order of their memory."""
    return T.reshape(T.transpose(x, dense_order(value)), (-1,))


def _places_of(value: torch.Tensor, size: Any, stride: Any, offset: Any) -> np.ndarray:
    """Return the positions in the memory of a tensor that a view of it reads."""
    sizes, strides, start = numbers(size), numbers(stride), int(value.storage_offset())
    first = start if offset is None else known(offset)
    if any(not isinstance(n, int) for n in (*sizes, *strides, first)):
        raise Unsupported("its sizes and strides must be known when a graph is compiled")
    places = np.full(sizes, first - start, np.int64)
    for axis, (n, s) in enumerate(zip(sizes, strides, strict=True)):
        places += (np.arange(n) * s).reshape([-1 if k == axis else 1 for k in range(len(sizes))])
    if places.size and (places.min() < 0 or places.max() >= math.prod(value.shape)):
        raise Unsupported("it reads memory beyond the elements of its operand")
    return places


@converter("aten.unfold")
def unfold(call: Call, x: Any, dim: int, size: int, step: int) -> Any:
    if x.ndim == 0:
        return NotImplemented
    axis = dim % x.ndim
    length = lengths(x)[axis]
    if not isinstance(length, int):
        return NotImplemented
    places = np.arange(0, length - size + 1, step)[:, None] + np.arange(size)
    found = x[(*(slice(None),) * axis, constant(places))]
    return T.moveaxis(found, axis + 1, -1)


@converter("aten.meshgrid")
def meshgrid(call: Call, parts: Sequence[Any], *, indexing: str = "ij") -> Any:
    return NotImplemented if indexing != "ij" else tuple(T.meshgrid(*parts, indexing="ij"))


def joint(values: Sequence[Any], metas: Sequence[Any]) -> list[Any]:
    """Return values in their common dtype."""
    return promoted("DEFAULT", values, metas)[0]


converter("aten.view.dtype")(lambda call, x, dtype: x if call.meta(0).dtype == call.value.dtype else NotImplemented)
converter("aten.permute", "aten.permute_copy")(lambda call, x, dims: T.dimshuffle(x, *(d % x.ndim for d in dims)))
converter("aten.t", "aten.numpy_T")(lambda call, x: T.dimshuffle(x, *reversed(range(x.ndim))))
converter("aten.unsqueeze", "aten.unsqueeze_copy")(lambda call, x, dim: T.expand_dims(x, dim % (x.ndim + 1)))
