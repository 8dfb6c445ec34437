"""Sums, means and maxima of bags of embedded rows."""

from __future__ import annotations

from typing import Any, Literal

from ..core.checks import describe, shown
from ..core.namespace import T
from ..core.tensor import TensorVariable, as_tensor
from ..core.typing import TensorLike
from ..shapes.lengths import lengths_of
from .functions import _as_float
from .places import scatter_nd

__all__ = ["embedding_bag"]

_MODES = ("sum", "mean", "max")


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
    _check(indices, offsets, mode, per_sample_weights)
    counted = T.ones_like(indices, dtype="bool") if padding_idx is None else T.ne(indices, _row(padding_idx, weights))
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


def _check(indices: Any, offsets: Any, mode: str, factors: Any) -> None:
    if mode not in _MODES:
        raise ValueError(f"embedding_bag: mode is {shown(mode)}; expected one of {', '.join(map(repr, _MODES))}")
    if indices.type.kind not in "iu" or indices.ndim not in (1, 2):
        raise TypeError(f"embedding_bag: the indices must be a vector or a matrix of integers, got {describe(indices)}")
    if (offsets is None) != (indices.ndim == 2):
        raise ValueError(
            f"embedding_bag: offsets go with a vector of indices, and with nothing else, got {describe(indices)}"
        )
    if factors is not None and mode != "sum":
        raise ValueError(f"embedding_bag: per_sample_weights go with mode='sum', got mode={mode!r}")


def _row(padding: int, weights: Any) -> Any:
    """Return the number of the padding's row, which may count from the end."""
    return padding if padding >= 0 else lengths_of(weights)[0] + padding
