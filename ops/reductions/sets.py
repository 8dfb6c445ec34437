"""Sets of numbers as ascending vectors without repetitions.  Their lengths are known only when a function runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, overload

from ...record import lazy
from ..core.namespace import T
from ..core.operands import in_joint_dtype, weak_kind, with_dtype
from ..core.promotion import result_type
from ..core.tensor import TensorVariable, as_tensor
from ..core.typing import TensorLike
from .sorting import unique

__all__ = [
    "intersect1d", "setdiff1d", "setxor1d", "union1d", "unique_all", "unique_counts", "unique_inverse", "unique_values",
]  # fmt: skip

if TYPE_CHECKING:
    from . import set_results as _results
else:  # named tuples, which take long to make
    _results = lazy.module(".set_results", __package__)


def union1d(ar1: TensorLike, ar2: TensorLike) -> TensorVariable:
    """The numbers that are in `ar1` or in `ar2`."""
    kinds = [weak_kind(a) or as_tensor(a).dtype for a in (ar1, ar2)]
    dtype = result_type(kinds)
    return _distinct(T.concatenate([with_dtype(T.ravel(as_tensor(a)), dtype) for a in (ar1, ar2)]))


@overload
def intersect1d(
    ar1: TensorLike, ar2: TensorLike, assume_unique: bool = ..., return_indices: Literal[False] = ...
) -> TensorVariable: ...
@overload
def intersect1d(
    ar1: TensorLike, ar2: TensorLike, assume_unique: bool = ..., *, return_indices: Literal[True]
) -> tuple[TensorVariable, TensorVariable, TensorVariable]: ...
def intersect1d(
    ar1: TensorLike, ar2: TensorLike, assume_unique: bool = False, return_indices: bool = False
) -> TensorVariable | tuple[TensorVariable, TensorVariable, TensorVariable]:
    """The numbers that are in both `ar1` and `ar2`; `assume_unique` promises that neither has duplicates.

    `return_indices`: also where each of them is first, in the flattened ar1 and in the flattened ar2.
    """
    if not return_indices:
        both = T.sort(_of_both(ar1, ar2, assume_unique))
        return both[:-1][T.eq(both[1:], both[:-1])]
    flat = [T.ravel(a) for a in in_joint_dtype((as_tensor(ar1), as_tensor(ar2)))]
    places: list[Any] = [T.arange(T.size(a)) for a in flat]
    if not assume_unique:
        flat, places = zip(*(_parts(unique(a, return_index=True)) for a in flat), strict=True)  # type: ignore[assignment]
    order = T.argsort(T.concatenate(flat))  # stable: of two equal numbers that of ar1 is the first
    both, place = T.concatenate(flat)[order], T.concatenate(places)[order]
    met = T.eq(both[1:], both[:-1])
    return both[:-1][met], place[:-1][met], place[1:][met]


def setdiff1d(ar1: TensorLike, ar2: TensorLike, assume_unique: bool = False) -> TensorVariable:
    """The numbers that are in `ar1` and not in `ar2`; with `assume_unique` without sorting, in the order of ar1."""
    first = T.ravel(as_tensor(ar1)) if assume_unique else _distinct(ar1)
    return T.extract(T.isin(first, ar2, invert=True), first)


def setxor1d(ar1: TensorLike, ar2: TensorLike, assume_unique: bool = False) -> TensorVariable:
    """The numbers that are in exactly one of `ar1` and `ar2`; see `intersect1d`."""
    both = T.sort(_of_both(ar1, ar2, assume_unique))
    ends = T.ones((1,), "bool")
    differs = T.concatenate([ends, T.ne(both[1:], both[:-1]), ends])
    alone = T.logical_and(differs[1:], differs[:-1])
    return both[alone[: both.shape[0]]]  # of no number, the two ends are left over


def unique_values(x: TensorLike, /) -> TensorVariable:
    """The distinct elements of `x`; each NaN counts as distinct."""
    return _distinct(x, equal_nan=False)


def unique_counts(x: TensorLike, /) -> tuple[TensorVariable, ...]:
    """(values, counts): the distinct elements of `x` and how often each occurs; see `unique_values`."""
    return _results.UniqueCountsResult(*_parts(unique(x, return_counts=True, equal_nan=False)))


def unique_inverse(x: TensorLike, /) -> tuple[TensorVariable, ...]:
    """(values, inverse): the distinct elements of `x` and, in the shape of x, which of them each element is."""
    return _results.UniqueInverseResult(*_parts(unique(x, return_inverse=True, equal_nan=False)))


def unique_all(x: TensorLike, /) -> tuple[TensorVariable, ...]:
    """(values, indices, inverse, counts): see `unique_counts`, `unique_inverse`; `indices` of first occurrences."""
    return _results.UniqueAllResult(*_parts(unique(x, True, True, True, equal_nan=False)))


def _of_both(ar1: TensorLike, ar2: TensorLike, distinct: bool) -> TensorVariable:
    """The distinct numbers of one and then of the other, in their joint dtype; `distinct`: they are given so."""
    both = in_joint_dtype((as_tensor(ar1), as_tensor(ar2)))
    return T.concatenate([T.ravel(a) if distinct else _distinct(a) for a in both])


def _distinct(x: TensorLike, equal_nan: bool = True) -> TensorVariable:
    found: Any = unique(x, equal_nan=equal_nan)
    values: TensorVariable = found
    return values


def _parts(found: Any) -> tuple[TensorVariable, ...]:
    parts: tuple[TensorVariable, ...] = found
    return parts
