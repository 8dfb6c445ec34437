"""Parts of a tensor named by indices: gathered (`gather_nd`), written (`scatter_nd`), rows (`embedding`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from ...record.spelling import counted
from ..core.checks import describe, shown
from ..core.namespace import T
from ..core.operands import with_dtype
from ..core.tensor import TensorVariable, as_tensor
from ..core.typing import TensorLike
from ..shapes.lengths import lengths_of
from .functions import _as_float

__all__ = ["embedding", "embedding_bag", "gather_nd", "scatter_nd"]

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
        raise ValueError(f"{name}: indices name {counted(depth, 'axis')} after {batch}, and {describe(x)} has {x.ndim}")
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


# --- embedded rows, and bags of them


def embedding(indices: TensorLike, weights: TensorLike, padding_idx: int | None = None) -> TensorVariable:
    """The rows of the matrix `weights` that `indices`, integers of any rank, name, along a new last axis.

    The row `padding_idx`, which may count from the end, has no derivative by the entries that name it.  Raises
    TypeError for indices that are no integers, ValueError for a padding out of range, IndexError at run time for an
    index out of range.
    """
    indices, weights = as_tensor(indices), as_tensor(weights)
    if indices.type.kind not in "iu":
        raise TypeError(f"embedding: the indices must be integers, got {describe(indices)}")
    rows = weights[indices]
    if padding_idx is None:
        return rows
    padding = T.expand_dims(_is_padding("embedding", indices, padding_idx, weights), -1)
    return T.switch(padding, T.stop_gradient(rows), rows)


_FOLDS = ("sum", "mean", "max")


def embedding_bag(
    indices: TensorLike, weights: TensorLike, offsets: TensorLike | None = None,
    mode: Literal["sum", "mean", "max"] = "mean", per_sample_weights: TensorLike | None = None,
    padding_idx: int | None = None,
) -> TensorVariable:  # fmt: skip
    """The sum, mean or maximum of the rows of `weights` that each bag of `indices` names: (bags, width).

    The bags are the rows of a matrix of indices, or the parts of a vector that begin at `offsets`, ascending integers
    from 0 on.  A bag without rows gives zeros.  `per_sample_weights` multiplies the rows of a sum; entries equal to
    `padding_idx` do not count.  Raises TypeError for indices that are no integers or of another rank, ValueError for
    another mode or offsets that do not fit, IndexError at run time for an index out of range.  Source: PyTorch's
    function of this name.
    """
    indices, weights = as_tensor(indices), _as_float(weights)
    _check_bags(indices, offsets, mode, per_sample_weights)
    counted = T.logical_not(_is_padding("embedding_bag", indices, padding_idx, weights))
    rows = weights[indices]
    if mode == "max":
        rows = T.switch(T.expand_dims(counted, -1), rows, T.constant(-float("inf"), rows.dtype))
    else:
        factor = T.cast(counted, rows.dtype)
        factor = factor if per_sample_weights is None else factor * _as_float(per_sample_weights)
        rows = T.expand_dims(factor, -1) * rows
    counts = T.cast(counted, "int64")
    if offsets is None:
        found, present = (T.max if mode == "max" else T.sum)(rows, axis=1), T.sum(counts, axis=1)
    else:
        begins = as_tensor(offsets)
        bags = T.searchsorted(begins, T.arange(lengths_of(indices)[0]), side="right") - 1
        of = T.expand_dims(bags, -1)
        shape = (lengths_of(begins)[0], lengths_of(weights)[1])
        empty = T.full(shape, -float("inf") if mode == "max" else 0.0, dtype=rows.dtype)
        found = scatter_nd(empty, of, rows, "max" if mode == "max" else "add")
        present = scatter_nd(T.zeros(shape[:1], dtype="int64"), of, counts, "add")
    present = T.expand_dims(present, -1)
    if mode == "sum":
        return found
    if mode == "max":
        return T.switch(present > 0, found, T.constant(0, found.dtype))
    return found / T.cast(T.maximum(present, 1), found.dtype)


def _check_bags(indices: Any, offsets: Any, mode: str, factors: Any) -> None:
    if mode not in _FOLDS:
        raise ValueError(f"embedding_bag: mode is {shown(mode)}; expected one of {', '.join(map(repr, _FOLDS))}")
    if indices.type.kind not in "iu" or indices.ndim not in (1, 2):
        raise TypeError(f"embedding_bag: the indices must be a vector or a matrix of integers, got {describe(indices)}")
    if (offsets is None) != (indices.ndim == 2):
        raise ValueError(
            f"embedding_bag: offsets go with a vector of indices, and with nothing else, got {describe(indices)}"
        )
    if factors is not None and mode != "sum":
        raise ValueError(f"embedding_bag: per_sample_weights go with mode='sum', got mode={mode!r}")


def _is_padding(name: str, indices: Any, padding: int | None, weights: Any) -> Any:
    """Whether each index names the row of the padding; both may count from the end."""
    if padding is None:
        return T.zeros_like(indices, dtype="bool")
    if isinstance(padding, bool) or not isinstance(padding, int):
        raise TypeError(f"{name}: padding_idx must be an integer or None, got {shown(padding)}")
    count = weights.type.shape[0]
    if count is not None and not -count <= padding < count:
        raise ValueError(
            f"{name}: padding_idx is {padding}, and weights, {describe(weights)}, has {counted(count, 'row')}"
        )
    rows = lengths_of(weights)[0]
    return T.eq(positive(indices, rows), padding if padding >= 0 else T.add(rows, padding))
