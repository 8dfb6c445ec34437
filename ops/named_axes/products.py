"""Products of named tensors as products by position: `dot`, `matmul` and `tensordot`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..core.namespace import T
from .tensor import NamedTensor


def contracted(x: NamedTensor, y: NamedTensor, over: Sequence[str]) -> Any:
    """Return the sums of products over these axes; other axes that both have are gone along together."""
    batch = [a for a in x.axes if a in y.axes and a not in over]
    left = [a for a in x.axes if a not in batch and a not in over]
    right = [a for a in y.axes if a not in batch and a not in over]
    kept = (*(a for a in x.axes if a not in over), *right)
    if batch:
        value = _batched(x, y, batch, left, list(over), right)
    elif len(over) == 1 and len(left) < 2 and len(right) < 2:
        value = T.dot(x.order(*left, *over).variable, y.order(*over, *right).variable)
    else:
        places = [x.axes.index(a) for a in over], [y.axes.index(a) for a in over]
        value = T.tensordot(x.variable, y.variable, axes=places)
    return NamedTensor(value, (*batch, *left, *right)).order(*kept) if kept else value


def _batched(
    x: NamedTensor, y: NamedTensor, batch: list[str], left: list[str], over: list[str], right: list[str]
) -> Any:
    """Return the product with axes batch, left, right, by `matmul`: several axes of one role are one axis."""
    first, second = x.order(*batch, *left, *over).variable, y.order(*batch, *over, *right).variable
    lengths = {a: n for v in (x, y) for a, n in v.lengths.items()}
    front = [lengths[a] for a in batch]

    def joined(value: Any, roles: list[list[str]]) -> Any:
        if all(len(role) == 1 for role in roles):
            return value
        counts = [T.prod(T.stack([lengths[a] for a in role])) if len(role) > 1 else lengths[role[0]] if role else 1
                  for role in roles]  # fmt: skip
        return T.reshape(value, (*front, *counts))

    value = T.matmul(joined(first, [left, over]), joined(second, [over, right]))
    if len(left) == 1 == len(right):
        return value
    return T.reshape(value, (*front, *(lengths[a] for a in (*left, *right))))
