"""Comparisons of whole arrays, shapes included: NumPy's `array_equal` and `array_equiv`."""

from __future__ import annotations

from typing import Any

from ...graph import Variable
from ..control.cond import chosen
from ..core.namespace import T
from ..core.tensor import TensorVariable, as_tensor
from ..core.typing import TensorLike

__all__ = ["array_equal", "array_equiv"]


def array_equal(a1: TensorLike, a2: TensorLike, equal_nan: bool = False) -> TensorVariable:
    """A bool scalar: true if both have one shape and equal elements; NaN equals NaN if `equal_nan`."""
    a, b = as_tensor(a1), as_tensor(a2)
    pairs = list(zip(a.type.shape, b.type.shape, strict=False))
    if a.ndim != b.ndim or any(None not in pair and pair[0] != pair[1] for pair in pairs):
        return T.constant(False)
    lengths = zip(T.lengths_of(a), T.lengths_of(b), strict=True)
    unknown = [T.eq(m, n) for (m, n), pair in zip(lengths, pairs, strict=True) if None in pair]
    return _where_shapes_fit(unknown, a, b, equal_nan)


def array_equiv(a1: TensorLike, a2: TensorLike) -> TensorVariable:
    """A bool scalar: true if the shapes broadcast and the elements are equal then."""
    a, b = as_tensor(a1), as_tensor(a2)
    unknown = []
    for k in range(1, 1 + min(a.ndim, b.ndim)):
        pair = (a.type.shape[-k], b.type.shape[-k])
        if None not in pair and pair[0] != pair[1] and 1 not in pair:
            return T.constant(False)
        if None in pair and 1 not in pair:
            m, n = T.lengths_of(a)[-k], T.lengths_of(b)[-k]
            unknown.append(T.logical_or(T.eq(m, n), T.logical_or(T.eq(m, 1), T.eq(n, 1))))
    return _where_shapes_fit(unknown, a, b, False)


def _where_shapes_fit(conditions: list[Any], a: Variable, b: Variable, equal_nan: bool) -> TensorVariable:
    """Whether all elements are equal; they are compared only if the conditions hold, which the run knows."""
    if not conditions:
        return _equal(a, b, equal_nan)
    x, y = (TensorVariable(v.type.with_shape((None,) * v.ndim)) for v in (a, b))
    fit = T.all(T.stack(conditions))
    return chosen(fit, [x, y], [a, b], [_equal(x, y, equal_nan)], [T.constant(False)])[0]


def _equal(a: Variable, b: Variable, equal_nan: bool) -> TensorVariable:
    same = T.eq(a, b)
    if equal_nan and a.type.kind in "fc" and b.type.kind in "fc":
        same = T.logical_or(same, T.logical_and(T.isnan(a), T.isnan(b)))
    return T.all(same)
