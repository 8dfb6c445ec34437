"""Parts of a named tensor: one index for one axis."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...graph import Variable
from ..core.namespace import T
from .tensor import NamedTensor, named_tensor, require_lengths


def part_at(x: NamedTensor, axis: str, index: Any) -> Any:
    """Return the part of `x` at an index of one axis."""
    at = x.place(axis, "index")
    if isinstance(index, NamedTensor):
        return _gathered(x, axis, index)
    if not isinstance(index, slice):
        ndim = index.ndim if isinstance(index, Variable) else np.ndim(index)
        if ndim > 1:
            raise TypeError(
                f"index: the index of axis {axis!r} has {ndim} axes without names; write T.named(k, 'i', 'j')"
            )
        if ndim == 0:
            kept = x.axes[:at] + x.axes[at + 1 :]
            value = x.variable[(slice(None),) * at + (index,)]
            return NamedTensor(value, kept) if kept else value
    return NamedTensor(x.variable[(slice(None),) * at + (index,)], x.axes)


def _gathered(x: NamedTensor, axis: str, index: NamedTensor) -> NamedTensor:
    """Return the elements at an index with names: axes that both have are gone along together."""
    if index.dtype == "bool" or index.variable.type.kind not in "iu":
        raise TypeError(f"index: the index of axis {axis!r} is {index!r}; expected integers")
    shared = [a for a in x.axes if a != axis and a in index.axes]
    rest = [a for a in x.axes if a != axis and a not in index.axes]
    new = [a for a in index.axes if a not in shared]
    require_lengths([index, NamedTensor(x.variable, tuple("" if a == axis else a for a in x.axes))], "index")
    source, places = x.order(*shared, axis, *rest), index.order(*shared, *new)
    lengths = T.lengths_of(source.variable)
    along = [
        T.reshape(T.arange(lengths[k]), (*[1] * k, -1, *[1] * (places.ndim - k - 1))) for k in range(len(shared))
    ]  # fmt: skip
    value = source.variable[(*along, places.variable)]
    return named_tensor(value, (*shared, *new, *rest), "index")
