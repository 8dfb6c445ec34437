"""Distances and similarities of vectors, under PyTorch's names."""

from __future__ import annotations

import numpy as np

from ..core.checks import describe, normalize_axis
from ..core.namespace import T
from ..core.operands import in_joint_dtype
from ..core.tensor import TensorVariable
from ..core.typing import TensorLike
from ..shapes.lengths import known_length, lengths_of
from .functions import _as_float
from .normalization import norm_along

__all__ = ["cosine_similarity", "pairwise_distance", "pdist"]


def cosine_similarity(x1: TensorLike, x2: TensorLike, axis: int = 1, eps: TensorLike = 1e-8) -> TensorVariable:
    """The cosine of the angle between vectors along `axis` (PyTorch's `dim`): x1 . x2 / (|x1| |x2|).

    Each norm counts as `eps` at least.  The operands broadcast.
    """
    a, b = T.broadcast_arrays(*in_joint_dtype([_as_float(x1), _as_float(x2)]))
    axis = normalize_axis(axis, a.ndim, "cosine_similarity")
    sizes = [T.sqrt(T.maximum(T.sum(T.square(v), axis=axis), T.square(T.cast(eps, a.dtype)))) for v in (a, b)]
    return T.true_div(T.sum(T.mul(a, b), axis=axis), T.mul(*sizes))


def pairwise_distance(
    x1: TensorLike, x2: TensorLike, p: float = 2.0, eps: TensorLike = 1e-6, keepdims: bool = False
) -> TensorVariable:
    """The `p`-norm of x1 - x2 + `eps` along the last axis; the operands broadcast."""
    a, b = in_joint_dtype([_as_float(x1), _as_float(x2)])
    return norm_along(T.add(T.sub(a, b), eps), float(p), -1, keepdims)


def pdist(x: TensorLike, p: float = 2.0) -> TensorVariable:
    """The `p`-norms of the differences of all pairs of rows of a matrix, (0, 1), (0, 2) ... (1, 2) ...

    Equal rows have the distance 0 and the derivative 0.  Raises TypeError for another rank, ValueError for a number of
    rows that is not known.
    """
    x = _as_float(x)
    if x.ndim != 2:
        raise TypeError(f"pdist: x must be a matrix, a row a vector, got {describe(x)}")
    count = known_length(lengths_of(x)[0])
    if count is None:
        raise ValueError(f"pdist: the number of rows must be known, got {describe(x)}; say it, as in shape=(8, None)")
    first, second = np.triu_indices(count, 1)
    difference = T.sub(x[first], x[second])
    differ = T.any(T.ne(difference, 0), axis=1)
    # The differences of equal rows are replaced, so that no derivative divides by their norm, 0.
    safe = T.switch(T.expand_dims(differ, 1), difference, T.constant(1, x.dtype))
    return T.switch(differ, norm_along(safe, float(p), 1, False), T.constant(0, x.dtype))
