"""Parts of a tensor named by tuples of indices, `gather_nd`, and parts written there, `scatter_nd`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..core.checks import describe, shown
from ..core.namespace import T
from ..core.operands import with_dtype
from ..core.tensor import TensorVariable, as_tensor
from ..core.typing import TensorLike
from ..shapes.lengths import lengths_of

__all__ = ["gather_nd", "scatter_nd"]

COMBINING = {"mul": "mul", "max": "maximum", "min": "minimum"}
"""Our ops by the reductions of `ScatterElements` and `ScatterND` that combine elements with what is there."""
REDUCTIONS = ("none", "add", *COMBINING)


def gather_nd(x: TensorLike, indices: TensorLike, batch_dims: int = 0) -> TensorVariable:
    """The parts of `x` that the rows of `indices`, its last axis, name: (*indices.shape[:-1], *the rest of x).

    A row of k integers names one part, by the first k axes of `x` after the `batch_dims` that both share.  Negative
    integers count from the end.  Raises TypeError for other dtypes, ValueError for a last axis of unknown or too great
    length, IndexError at run time for an index out of range.  Source: TensorFlow's and ONNX's op of this name.
    """
    x, indices = as_tensor(x), as_tensor(indices)
    depth = _depth("gather_nd", x, indices, batch_dims)
    if not 0 <= batch_dims < indices.ndim:
        raise ValueError(f"gather_nd: batch_dims must be from 0 to {indices.ndim - 1}, got {shown(batch_dims)}")
    own = lengths_of(indices)
    rows = [
        T.reshape(T.arange(own[k]), [-1 if j == k else 1 for j in range(indices.ndim - 1)]) for k in range(batch_dims)
    ]
    return x[(*rows, *(indices[..., k] for k in range(depth)))] if depth or rows else _repeated(x, own[:-1])


def _repeated(x: Any, lengths: Sequence[Any]) -> TensorVariable:
    """Return x once for each row that names nothing."""
    return T.broadcast_to(x, (*lengths, *lengths_of(x)))


def _depth(name: str, x: Any, indices: Any, batch: int = 0) -> int:
    if indices.type.kind not in "iu" or not indices.ndim:
        raise TypeError(f"{name}: indices must be integers of rank 1 or more, got {describe(indices)}")
    depth = indices.type.shape[-1]
    if depth is None:
        raise ValueError(f"{name}: the length of the last axis of indices must be known, got {describe(indices)}")
    if batch + depth > x.ndim:
        raise ValueError(f"{name}: indices name {depth} axes after {batch}, and {describe(x)} has {x.ndim}")
    return int(depth)


def scatter_nd(x: TensorLike, indices: TensorLike, updates: TensorLike, reduction: str = "none") -> TensorVariable:
    """`x` with `updates` written at the parts that the rows of `indices` name, see `gather_nd`.

    `updates` is (*indices.shape[:-1], *the rest of x).  `reduction`: "none" (of parts that are named twice the last
    one stays), "add", "mul", "max" or "min" with what is there.  Raises TypeError for other dtypes, ValueError for
    another reduction, IndexError at run time for an index out of range.  Source: ONNX's op of this name.
    """
    x, indices, updates = as_tensor(x), as_tensor(indices), as_tensor(updates)
    depth = _depth("scatter_nd", x, indices)
    own = lengths_of(x)
    places = [positive(indices[..., k], own[k]) for k in range(depth)]
    rank = indices.ndim - 1 + x.ndim - depth
    if updates.ndim != rank:
        raise TypeError(f"scatter_nd: updates must be of rank {rank}, a part for each row of indices, got "
                        f"{describe(updates)}")  # fmt: skip
    return scattered("scatter_nd", x, places, updates, reduction)


def positive(indices: Any, length: Any) -> Any:
    """Return indices counted from the front, as int64."""
    indices = with_dtype(indices, "int64")
    return T.switch(T.lt(indices, 0), T.add(indices, length), indices)


def scattered(name: str, x: Any, places: Sequence[Any], updates: Any, reduction: str) -> TensorVariable:
    """Return `x` with `updates` written at places, one integer array for each of the first axes."""
    if reduction not in REDUCTIONS:
        raise ValueError(f"{name}: reduction must be one of {', '.join(map(repr, REDUCTIONS))}, got {shown(reduction)}")
    updates = with_dtype(updates, x.dtype)
    if reduction in ("none", "add"):
        part = x[tuple(places)]
        return T.set_subtensor(part, updates) if reduction == "none" else T.inc_subtensor(part, updates)
    return T.combine_subtensor(x[tuple(places)], updates, getattr(T, COMBINING[reduction]))
