"""Batches of matrices: joint axes before the last two, and strides along them."""

from __future__ import annotations

from ....graph import Apply
from ..planner import Planner
from ..program import Array, Lengths

SUMMED = -1
"""Axis number in error messages about summed axes of unequal lengths."""


def batch_of(p: Planner, node: Apply, *operands: Array) -> Lengths:
    """Return the joint lengths of the axes before the matrices."""
    rank = node.out.ndim - 2
    return tuple(
        p.join([x.lengths[k - rank - 2] for x in operands if rank - k <= len(x.lengths) - 2], k) for k in range(rank)
    )


def strides_along(p: Planner, x: Array, lengths: Lengths) -> Lengths:
    """Return the strides of `x` along all axes of these lengths: 0 along axes that it lacks or is broadcast along."""
    missing = len(lengths) - len(x.lengths)
    along = (p.along(n, m, s) for n, m, s in zip(x.lengths, lengths[missing:], x.strides, strict=True))
    return ((0,) * missing) + tuple(along)


def batch_strides(p: Planner, x: Array, batch: Lengths) -> Lengths:
    """Return the strides of matrices along the axes of a batch, and their own."""
    return strides_along(p, x, (*batch, *x.lengths[-2:]))
