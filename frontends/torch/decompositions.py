"""PyTorch's decompositions of ops into others, for those that have no converter here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from .foreach import decompositions_of_lists
from .table import found_for


def decompositions_of() -> dict[Any, Callable[..., Any]]:
    """Return the decompositions for graphs of AOTAutograd.

    Draws of random numbers are not decomposed: PyTorch's own generator gives the numbers that it gives without us.
    """
    every = torch._decomp.global_decomposition_table["post_autograd"]
    every = {**decompositions_of_lists(), **every}
    return {op: f for op, f in every.items() if isinstance(op, torch._ops.OpOverload) and _wanted(op)}


def export_decompositions() -> Any:
    """Return the decompositions for exported programs: those of `torch.export`, and the ones above."""
    table: Any = torch.export.default_decompositions()
    for op, decompose in decompositions_of().items():
        if op not in table:
            table[op] = decompose
    for op in list(table.keys()):
        if not _wanted(op):
            table.pop(op)
    return table


def _wanted(op: Any) -> bool:
    return found_for(op) is None and torch.Tag.nondeterministic_seeded not in getattr(op, "tags", ())
