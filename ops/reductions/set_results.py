"""Results of `unique_all`, `unique_counts` and `unique_inverse` as named tuples, with the standard's names."""

from __future__ import annotations

from typing import NamedTuple

from ..core.tensor import TensorVariable


class UniqueCountsResult(NamedTuple):
    """Distinct elements, and how often each occurs."""

    values: TensorVariable
    counts: TensorVariable


class UniqueInverseResult(NamedTuple):
    """Distinct elements, and which of them each element is."""

    values: TensorVariable
    inverse_indices: TensorVariable


class UniqueAllResult(NamedTuple):
    """Distinct elements, where each stands first, which of them each element is, and how often each occurs."""

    values: TensorVariable
    indices: TensorVariable
    inverse_indices: TensorVariable
    counts: TensorVariable
