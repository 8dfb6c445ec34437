"""Gathers and scatters: indices, masks, embeddings, embedding bags."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from .... import ops as T
from ....ops.core.tensor import constant
from ....ops.shapes.conditions import checked
from ..dtypes import as_dtype
from ..symbols import lengths
from ..symbols import number as known
from ..table import Call, converter
from .creation import filled
from .elementwise import number


def places(indices: Sequence[Any]) -> tuple[Any, ...]:
    """Return indices as those of `x[...]`: None stands for a whole axis, bool and uint8 for a mask."""
    return tuple(slice(None) if i is None else as_dtype(i, "bool" if _is_mask(i) else "int64") for i in indices)


def _is_mask(index: Any) -> bool:
    return index is not None and index.dtype in ("bool", "uint8")


def _has_scalar_mask(indices: Sequence[Any]) -> bool:
    return any(_is_mask(i) and i.ndim == 0 for i in indices)


@converter("aten.index.Tensor", "aten._unsafe_index.Tensor")
def index(call: Call, x: Any, indices: Sequence[Any]) -> Any:
    return NotImplemented if _has_scalar_mask(indices) else x[places(indices)]


@converter("aten.index_put", "aten._unsafe_index_put", "aten._index_put_impl")
def index_put(call: Call, x: Any, indices: Sequence[Any], values: Any, accumulate: bool = False, *_: Any) -> Any:
    """Of several writes to a place the last counts; one mask is a choice element by element."""
    if _has_scalar_mask(indices):
        return NotImplemented
    values = as_dtype(values, x.dtype)
    first, *others = places(indices)
    if not others and first.dtype == "bool":
        if values.ndim > x.ndim - first.ndim:
            values = _by_order(first, x, values, "index_put", exact=True)
        here = T.reshape(first, (*lengths(first), *(1,) * (x.ndim - first.ndim)))
        return T.where(here, x + values if accumulate else values, x)
    part = x[(first, *others)]
    return T.inc_subtensor(part, values) if accumulate else T.set_subtensor(part, values)


def _by_order(mask: Any, x: Any, rows: Any, name: str, *, exact: bool) -> Any:
    """Return rows for all places of x along the axes of a mask: where it is true, those given one after the other.

    `exact`: there is a row for each place, or one for all of them; else more rows may be left.
    """
    rest = lengths(x)[mask.ndim :]
    count = lengths(rows)[0]
    if exact and count == 1:
        return T.reshape(rows, (*(1,) * mask.ndim, *lengths(rows)[1:]))
    until = T.cumsum(as_dtype(T.reshape(mask, (-1,)), "int64"), 0)
    wanted, one = T.sum(mask, dtype="int64"), constant(np.array(1, np.int64))
    text = f"{name}: the mask is true at {{0}} places, got {{1}} rows or elements for them"
    enough = T.logical_or(T.eq(count, one), T.eq(count, wanted)) if exact else T.ge(count, wanted)
    rows = checked(rows, enough, text, wanted, count)
    rows = T.broadcast_to(rows, (count, *rest))
    if rows.type.shape[0] in (0, None):  # a row that is not used: there may be none
        rows = T.concatenate([rows, filled([1, *rest], 0, rows.dtype)], 0)
    place = T.maximum(T.minimum(until, count) - one, constant(np.array(0, np.int64)))
    return T.reshape(rows[place], (*lengths(mask), *rest))


@converter("aten.index_select")
def index_select(call: Call, x: Any, dim: int, index: Any) -> Any:
    index = as_dtype(index, "int64")
    if x.ndim == 0:
        return T.reshape(T.broadcast_to(x, lengths(T.reshape(index, (-1,)))), ()) if index.ndim == 0 else x
    return x[(*(slice(None),) * (dim % x.ndim), T.reshape(index, (-1,)))]


@converter("aten.gather")
def gather(call: Call, x: Any, dim: int, index: Any, *, sparse_grad: bool = False) -> Any:
    if x.ndim and index.ndim != x.ndim:  # an index without elements
        return filled(lengths(index), 0, x.dtype)
    return x if x.ndim == 0 and index.ndim == 0 else _gathered(x, dim, as_dtype(index, "int64"))


def _row(x: Any) -> Any:
    return T.reshape(x, (1,))


def _gathered(x: Any, dim: int, index: Any) -> Any:
    if x.ndim == 0 or index.ndim == 0:
        found = _row(x)[T.reshape(index, (-1,))] if x.ndim == 0 else x[T.reshape(index, (-1,))]
        return T.reshape(found, lengths(index))
    return x[_along(index, dim % x.ndim)]


def _along(index: Any, axis: int) -> tuple[Any, ...]:
    """Return the places that an index along one axis stands for; it may be shorter than x in the others."""
    own, found = lengths(index), []
    for k in range(index.ndim):
        if k == axis:
            found.append(index)
        else:
            found.append(T.reshape(T.arange(own[k]), [-1 if j == k else 1 for j in range(index.ndim)]))
    return tuple(found)


@converter("aten.scatter.src", "aten.scatter.value", "aten.scatter_add")
def scatter(call: Call, x: Any, dim: int, index: Any, source: Any) -> Any:
    index = as_dtype(index, "int64")
    if x.ndim == 0 or index.ndim == 0:
        return NotImplemented
    part = x[_along(index, dim % x.ndim)]
    source = as_dtype(source, x.dtype)
    if source.ndim:
        source = source[tuple(slice(None, n) for n in lengths(index))]
    else:
        source = T.broadcast_to(source, lengths(index))
    return T.inc_subtensor(part, source) if "scatter_add" in str(call.node.target) else T.set_subtensor(part, source)


@converter("aten.index_add")
def index_add(call: Call, x: Any, dim: int, index: Any, source: Any, *, alpha: Any = 1) -> Any:
    if x.ndim == 0 or index.ndim == 0 or source.ndim != x.ndim:
        return NotImplemented
    part = x[(*(slice(None),) * (dim % x.ndim), as_dtype(index, "int64"))]
    source = as_dtype(source, x.dtype)
    return T.inc_subtensor(part, source if alpha == 1 else source * number(alpha, x))


@converter("aten.index_copy")
def index_copy(call: Call, x: Any, dim: int, index: Any, source: Any) -> Any:
    if x.ndim == 0 or index.ndim == 0 or source.ndim != x.ndim:
        return NotImplemented
    part = x[(*(slice(None),) * (dim % x.ndim), as_dtype(index, "int64"))]
    return T.set_subtensor(part, as_dtype(source, x.dtype))


@converter("aten.index_fill.int_Scalar")
def index_fill(call: Call, x: Any, dim: int, index: Any, value: Any) -> Any:
    if x.ndim == 0 or index.ndim == 0:
        return NotImplemented
    return T.set_subtensor(x[(*(slice(None),) * (dim % x.ndim), as_dtype(index, "int64"))], number(value, x))


@converter("aten.masked_fill")
def masked_fill(call: Call, x: Any, mask: Any, value: Any) -> Any:
    return T.where(as_dtype(mask, "bool"), number(value, x), x)


@converter("aten.nonzero")
def nonzero(call: Call, x: Any) -> Any:
    if x.ndim == 0:
        return NotImplemented
    return T.stack([as_dtype(p, "int64") for p in T.nonzero(x)], axis=1)


@converter("aten.repeat_interleave.Tensor")
def repeated_places(call: Call, repeats: Any, *, output_size: Any = None) -> Any:
    """Return each place as often as its number says."""
    return as_dtype(T.repeat(T.arange(lengths(repeats)[0]), repeats), call.dtype)


@converter("aten.embedding")
def embedding(call: Call, weight: Any, indices: Any, padding_idx: int = -1, *_: Any, **options: Any) -> Any:
    return weight[as_dtype(indices, "int64")]


@converter("aten.embedding_dense_backward")
def embedding_backward(call: Call, g: Any, indices: Any, count: Any, padding_idx: int, scale: bool) -> Any:
    if scale:
        return NotImplemented
    width = lengths(g)[-1]
    indices = T.reshape(as_dtype(indices, "int64"), (-1,))
    g = T.reshape(g, (-1, width))
    if padding_idx >= 0:
        kept = T.expand_dims(T.ne(indices, number(padding_idx, indices)), 1)
        g = T.where(kept, g, number(0, g))
    return T.inc_subtensor(filled([known(count), width], 0, g.dtype)[indices], g)


@converter("aten._embedding_bag", "aten._embedding_bag_forward_only")
def embedding_bag(
    call: Call, weight: Any, indices: Any, offsets: Any, scale_by_freq: bool = False, mode: int = 0,
    sparse: bool = False, weights: Any = None, include_last_offset: bool = False, padding_idx: int = -1,
) -> Any:  # fmt: skip
    """Sums and means of rows: each index belongs to the bag of the last offset at or before it."""
    if mode == 2 or scale_by_freq or offsets.type.shape[0] is None or include_last_offset:
        return NotImplemented
    bags = offsets.type.shape[0]
    indices, offsets = as_dtype(indices, "int64"), as_dtype(offsets, "int64")
    which = _bags(indices, offsets)
    rows = weight[indices]
    if weights is not None:
        rows = rows * T.expand_dims(as_dtype(weights, rows.dtype), 1)
    counted = T.ones(lengths(indices), "int64")
    if padding_idx >= 0:
        kept = T.ne(indices, number(padding_idx, indices))
        rows = T.where(T.expand_dims(kept, 1), rows, number(0, rows))
        counted = as_dtype(kept, "int64")
    total = T.inc_subtensor(filled([bags, lengths(weight)[1]], 0, weight.dtype)[which], rows)
    sizes = T.inc_subtensor(filled([bags], 0, "int64")[which], counted)
    if mode == 1:
        total = total / T.expand_dims(as_dtype(T.maximum(sizes, number(1, sizes)), total.dtype), 1)
    dtypes, shapes = call.dtypes, [v.shape for v in call.value]
    rest = (which, sizes, sizes)
    fitted = [
        as_dtype(r, d) if tuple(s) != (0,) else filled([0], 0, d) for r, d, s in zip(rest, dtypes[1:], shapes[1:])
    ]
    return (total, *fitted)


@converter("aten._embedding_bag_backward")
def embedding_bag_backward(
    call: Call, g: Any, indices: Any, offsets: Any, which: Any, sizes: Any, largest: Any, count: Any,
    scale_by_freq: bool, mode: int, sparse: bool, weights: Any, padding_idx: int = -1,
) -> Any:  # fmt: skip
    if mode == 2 or scale_by_freq or sparse or call.meta(0).shape[0] != call.meta(2).shape[0]:
        return NotImplemented
    indices = as_dtype(indices, "int64")
    if mode == 1:
        g = g / T.expand_dims(as_dtype(T.maximum(sizes, number(1, sizes)), g.dtype), 1)
    rows = g[_bags(indices, as_dtype(offsets, "int64"))]
    if weights is not None:
        rows = rows * T.expand_dims(as_dtype(weights, rows.dtype), 1)
    return embedding_backward(call, rows, indices, count, padding_idx, False)


@converter("aten._embedding_bag_per_sample_weights_backward")
def embedding_bag_weights_backward(
    call: Call, g: Any, weight: Any, indices: Any, offsets: Any, which: Any, mode: int, padding_idx: int = -1
) -> Any:
    if mode != 0 or call.meta(0).shape[0] != call.meta(3).shape[0]:
        return NotImplemented
    indices = as_dtype(indices, "int64")
    products = T.sum(g[_bags(indices, as_dtype(offsets, "int64"))] * weight[indices], axis=1)
    if padding_idx < 0:
        return products
    return T.where(T.ne(indices, number(padding_idx, indices)), products, number(0, products))


def _bags(indices: Any, offsets: Any) -> Any:
    """Return the bag of each index, that of the last offset at or before its position."""
    return T.searchsorted(offsets, T.arange(lengths(indices)[0]), "right") - constant(np.array(1, np.int64))


@converter("aten.masked_scatter")
def masked_scatter(call: Call, x: Any, mask: Any, source: Any) -> Any:
    """The elements of the source stand one after the other where the mask is true."""
    mask = as_dtype(mask, "bool")
    if mask.type.shape != x.type.shape or mask.ndim == 0:
        x, mask = T.broadcast_arrays(x, mask)
    found = _by_order(mask, x, T.reshape(as_dtype(source, x.dtype), (-1,)), "masked_scatter", exact=False)
    return T.where(mask, found, x)


@converter("aten.masked_select")
def masked_select(call: Call, x: Any, mask: Any) -> Any:
    if call.meta(0).shape != call.meta(1).shape:
        return NotImplemented
    return x[as_dtype(mask, "bool")] if x.ndim else NotImplemented


@converter("aten.scatter_reduce.two")
def scatter_reduce(
    call: Call, x: Any, dim: int, index: Any, source: Any, reduce: str, *, include_self: bool = True
) -> Any:
    if x.ndim == 0 or index.ndim == 0:
        return NotImplemented
    index = as_dtype(index, "int64")
    source = as_dtype(source, x.dtype)[tuple(slice(None, n) for n in lengths(index))]
    return _reduced(x, _along(index, dim % x.ndim), source, reduce, include_self)


@converter("aten.index_reduce")
def index_reduce(
    call: Call, x: Any, dim: int, index: Any, source: Any, reduce: str, *, include_self: bool = True
) -> Any:
    if x.ndim == 0 or index.ndim == 0:
        return NotImplemented
    place = (*(slice(None),) * (dim % x.ndim), as_dtype(index, "int64"))
    return _reduced(x, place, as_dtype(source, x.dtype), reduce, include_self)


_COMBINING = {"prod": T.mul, "amax": T.maximum, "amin": T.minimum}


def _identity(reduce: str, x: Any) -> float:
    """Return the number that changes no other one when both are combined."""
    if reduce in ("amax", "amin") and x.type.kind != "f":
        return int(getattr(np.iinfo(x.dtype), "min" if reduce == "amax" else "max"))
    return {"prod": 1, "amax": -math.inf, "amin": math.inf}.get(reduce, 0)


def _reduced(x: Any, place: tuple[Any, ...], source: Any, reduce: str, include_self: bool) -> Any:
    """Return x with all numbers for a place combined there, with the one that is there or without it.

    Means of integers and products or extrema of truth values run in PyTorch.
    """
    kind = x.type.kind
    if (reduce == "mean" and kind != "f") or (reduce in _COMBINING and kind not in "fiu"):
        return NotImplemented
    identity = number(_identity(reduce, x), x)
    start = x if include_self else T.set_subtensor(x[place], T.broadcast_to(identity, lengths(source)))
    if reduce in _COMBINING:
        return T.combine_subtensor(start[place], source, _COMBINING[reduce])
    total = T.inc_subtensor(start[place], source)
    if reduce == "sum":
        return total
    ones = filled(lengths(x), 1, x.dtype)
    ones = ones if include_self else T.set_subtensor(ones[place], T.zeros_like(source))
    counts = T.inc_subtensor(ones[place], T.ones_like(source))
    return total / T.maximum(counts, number(1, counts))
