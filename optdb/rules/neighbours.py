"""Sums of neighbours among channels in blocks, as local response normalization computes them.

    p[:, 0:c] + p[:, 1:c+1] + ...  for p = pad(from_blocks(x), zeros)   -->   from_blocks(channel_sums(x))
    from_blocks(channel_sums(x)) + p[:, k:c+k]                          -->   from_blocks(channel_sums(x)), of one more

Sums are nested, so a window grows by one slice after the other.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...graph import Variable, dims_of
from ...ops.blocked import FromBlocks
from ...ops.channel_sums import ChannelSums
from ...ops.creation import Alloc
from ...ops.elementwise import add
from ...ops.indexing import IncSubtensor, Subtensor, entries
from ...ops.lengths import tensor_to_dim
from ...targets.costs import ITEMS
from ...targets.current import current
from ..contract import relaxes
from ..rule import Rule, node_rule
from .channels import from_blocks
from .facts import Node, is_number, producer
from .slicing import simplified


def sums_in_blocks(node: Node) -> Variable | None:
    """All channels from some way before to some way behind each channel, of a value amid zeros."""
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
    """The terms of nested additions; none if there are more than `most`."""
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
"""Blocks, how many channels they hold, and which ones each sum adds, from the channel itself."""


def _window(term: Variable) -> Window | None:
    """The window of a slice of padded channels, or of sums of them."""
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
    """The blocks whose channels are amid zeros in x, how many channels they hold, and how many zeros are before."""
    write = producer(x, IncSubtensor)
    filled = None if write is None or not write.op.set else producer(write.inputs[0], Alloc)
    if write is None or filled is None or not is_number(filled.inputs[0], 0):
        return None
    made = from_blocks(write.inputs[1])
    begin = None if made is None else _begin(x, write.op.spec, write.inputs[2:], made.op.channels)
    return None if made is None or begin is None else (made.inputs[0], made.op.channels, begin)


def _begin(x: Variable, spec: Sequence[str], values: Sequence[Variable], count: int) -> int | None:
    """Where an index of x that cuts channels alone begins, if it leaves `count` of them."""
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
