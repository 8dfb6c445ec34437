"""Whole operands that blocks slice: those that are as long as the split axis, by the lengths of the call."""

from __future__ import annotations

from collections.abc import Mapping

from ..graph import Apply
from ..graph.dims import dims_of
from .facts import Facts
from .states import Rows, refused


def varying(node: Apply, places: Mapping[int, int], length: object, rows: Rows | None, facts: Facts) -> dict[int, int]:
    """Return the whole operands that have the length of the split axis, of those with these axes; others have 1.

    Raises ValueError for an operand of another length.
    """
    found: dict[int, int] = {}
    for k, at in places.items():
        if at < 0 or node.inputs[k].type.shape[at] == 1:
            continue
        have = dims_of(node.inputs[k])[at]
        if have is length:
            found[k] = at
            continue
        is_one = facts.ask("is_one", have)
        if is_one is None and node.inputs[k].type.shape[at] is None:
            raise refused(node, f"operand {k} is whole; its length on axis {at} may be 1 or that of the chunks")
        if is_one:
            continue
        if facts.ask("is_long", have, rows) is False:
            raise _mismatched(node, k, at, facts.length(have), facts.count(rows))
        found[k] = at
    return found


def _mismatched(node: Apply, operand: int, axis: int, length: int | None, total: int | None) -> ValueError:
    """Return the error for a whole operand that is neither of length 1 nor as long as the chunked ones."""
    line = f", built at {node.origin[-1]}" if node.origin else ""
    return ValueError(
        f"{node.op.name}: operand {operand} has length {length} on axis {axis}, chunked operands have {total}; lengths "
        f"must be equal or 1{line}"
    )
