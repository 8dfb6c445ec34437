"""Sums of neighbouring channels in blocks, as in local response normalization.

    p[:, 0:c] + p[:, 1:c+1] + ...  for p = pad(from_blocks(x), zeros)   -->   from_blocks(channel_sums(x))
    from_blocks(channel_sums(x)) + p[:, k:c+k]                          -->   from_blocks(channel_sums(x)), of one more

Sums are nested, so a window grows by one slice after the other.
"""

from __future__ import annotations

from collections.abc import Sequence

from ....graph import Variable, dims_of
from ....ops.elementwise.records import add
from ....ops.lowered.blocked import FromBlocks
from ....ops.lowered.channel_sums import ChannelSums
from ....ops.shapes.creation import Alloc
from ....ops.shapes.indexing import IncSubtensor, Subtensor, entries
from ....ops.shapes.lengths import tensor_to_dim
from ....targets.costs import ITEMS
from ....targets.current import current
from ...contract import relaxes
from ...rule import Rule, node_rule
from ..facts import Node, is_number, producer
from ..shapes.slicing import simplified
from .channels import from_blocks


def sums_in_blocks(node: Node) -> Variable | None:
    """Rewrite a sum of shifted slices of zero-padded channels to one op over the channels around each one."""
    most = 2 * current().vector // ITEMS.get(node.out.dtype, 1) + 1
    parts = [_window(term) for term in _terms(node, most)]
    first = parts[0] if parts else None
    if first is None or any(p is None or p[0] is not first[0] or p[1] != first[1] for p in parts):
        return None
    covered = sorted(k for part in parts if part is not None for k in part[2])
    if covered != [*range(covered[0], covered[0] + len(covered))] or not covered[0] <= 0 <= covered[-1]:
        return None
    if len(covered) > most or -covered[0] > most // 2 or covered[-1] > most // 2:
        return None
    blocks, channels, _ = first
    sums = ChannelSums(channels, -covered[0], covered[-1])(blocks)
    return FromBlocks(channels)(sums)  # type: ignore[no-any-return]


def _terms(node: Node, most: int) -> list[Variable]:
    """Return the terms of nested additions; none if there are more than `most`."""
    found: list[Variable] = []
    stack = [*reversed(node.inputs)]
    while stack:
        term = stack.pop()
        inner = producer(term, add)
        if inner is None:
            found.append(term)
        else:
            stack.extend(reversed(inner.inputs))
        if len(found) + len(stack) > most:
            return []
    return found


Window = tuple[Variable, int, range]
"""Blocks, their number of channels, and the offsets of the channels that each sum adds."""


def _window(term: Variable) -> Window | None:
    """Return the window of a slice of padded channels, or of sums of them."""
    made = from_blocks(term)
    sums = None if made is None else producer(made.inputs[0], ChannelSums)
    if sums is not None:
        return sums.inputs[0], sums.op.channels, range(-sums.op.before, sums.op.behind + 1)
    part = producer(term, Subtensor)
    found = None if part is None else _amid_zeros(part.inputs[0])
    if part is None or found is None:
        return None
    blocks, channels, begin = found
    start = _begin(part.inputs[0], part.op.spec, part.inputs[1:], channels)
    return None if start is None else (blocks, channels, range(start - begin, start - begin + 1))


def _amid_zeros(x: Variable) -> tuple[Variable, int, int] | None:
    """Return the blocks that x pads with zeros along channels, their number of channels, and the zeros before them."""
    write = producer(x, IncSubtensor)
    filled = None if write is None or not write.op.set else producer(write.inputs[0], Alloc)
    if write is None or filled is None or not is_number(filled.inputs[0], 0):
        return None
    made = from_blocks(write.inputs[1])
    begin = None if made is None else _begin(x, write.op.spec, write.inputs[2:], made.op.channels)
    return None if made is None or begin is None else (made.inputs[0], made.op.channels, begin)


def _begin(x: Variable, spec: Sequence[str], values: Sequence[Variable], count: int) -> int | None:
    """Return where an index of x that cuts only channels begins, if it selects `count` of them."""
    lengths = dims_of(x)
    places = [simplified(place, length) for place, length in zip(entries(tuple(spec), values), lengths, strict=False)]
    if len(places) < 2 or any(place != slice(None) for k, place in enumerate(places) if k != 1):
        return None
    here = places[1]
    if not isinstance(here, slice) or here.step is not None:
        return None
    start = 0 if here.start is None else tensor_to_dim(here.start)
    stop = lengths[1] if here.stop is None else tensor_to_dim(here.stop)
    fits = isinstance(start, int) and isinstance(stop, int) and start >= 0 and stop - start == count
    return start if fits else None  # type: ignore[return-value]


NEIGHBOURS: list[Rule] = [
    node_rule(
        "local_channel_sums_in_blocks", add, sums_in_blocks, having=Subtensor, contract=relaxes("rounding"),
        formula="p[:, 0:c] + p[:, 1:c+1] + ... -> from_blocks(channel_sums(x))  for p = pad(from_blocks(x))",
    ),
]  # fmt: skip
