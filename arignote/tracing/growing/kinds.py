"""The kinds of values that loops and lists carry: a dtype, a rank, and the type that Python gives it."""

from __future__ import annotations

from typing import Any

from ...ops.core.promotion import result_type
from ...ops.core.tensor import as_tensor
from ...ops.core.traced import WIDE, class_to_keep, joined_class
from ...record import record


@record
class Kind:
    """The dtype and rank of a value, and its type as `class_to_keep` gives it."""

    dtype: str
    ndim: int
    cls: type | None = None

    def joined(self, other: Kind) -> Kind | None:
        """Return the kind that holds values of both; None if the ranks differ."""
        ndim = max(self.ndim, other.ndim)
        if self.ndim != other.ndim and self.ndim:
            return None
        cls = joined_class(self.cls, other.cls)
        if cls in WIDE:
            return Kind(WIDE[cls], ndim, cls)
        kinds = [k.cls if k.cls in (int, float, complex) else k.dtype for k in (self, other)]
        return Kind(str(result_type(kinds)), ndim, None if ndim else cls)


def kind_of(value: Any) -> Kind:
    """Return the kind of a number, a scalar or an array."""
    v = as_tensor(value)
    cls = class_to_keep(value)
    return Kind(WIDE[cls] if cls in WIDE else str(v.dtype), v.ndim, cls)
