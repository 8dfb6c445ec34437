"""Ops on lists of tensors, such as `aten._foreach_add`, as ops on their elements."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import torch

aten = torch.ops.aten
PREFIX = "aten::_foreach_"
ELEMENTS: dict[str, Any] = {
    "norm": torch.linalg.vector_norm, "maximum": aten.clamp_min, "minimum": aten.clamp_max, "zero": aten.zeros_like,
}  # fmt: skip
"""The op on elements by the name of the op on lists, where the names differ."""
WITH_VALUE = ("addcdiv", "addcmul")
"""Ops whose last argument is a keyword of the op on elements."""


@cache
def decompositions_of_lists() -> dict[Any, Callable[..., Any]]:
    """Return the decompositions of functional ops on lists; an op whose numbers are a tensor has none."""
    found: dict[Any, Callable[..., Any]] = {}
    for full in torch._C._dispatch_get_all_op_names():
        name, _, overload = full.removeprefix(PREFIX).partition(".")
        if not full.startswith(PREFIX) or name.endswith("_") or overload.endswith("out"):
            continue
        element = ELEMENTS.get(name) or getattr(aten, name, None)
        if element is not None and not (name in WITH_VALUE and overload == "Tensor"):
            found[getattr(getattr(aten, f"_foreach_{name}"), overload or "default")] = _on_each(name, element)
    return found


def _on_each(name: str, element: Callable[..., Any]) -> Callable[..., Any]:
    def on_each(*args: Any, **named: Any) -> list[Any]:
        count = next(len(a) for a in args if isinstance(a, (list, tuple)))
        rows = [[a[k] if isinstance(a, (list, tuple)) else a for a in args] for k in range(count)]
        if name in WITH_VALUE:
            return [element(*row[:3], **dict(zip(("value",), row[3:])), **named) for row in rows]
        return [element(*row, **named) for row in rows]

    return on_each
