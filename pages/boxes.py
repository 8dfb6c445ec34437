"""The boxes of a drawing of a graph, each after those that it reads.  Large graphs are folded.

`folded` makes fewer boxes of many; `layered.py` says where they go, `graph_svg.py` draws them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace

from ..record import record

_MOST_INPUTS = 4
"""Most inputs of a folded box; groups of rows read nearly all groups above, and the nearest tell enough."""


@record
class Box:
    """One box: `inputs` are the positions of the boxes that it reads, all before its own, one for each operand."""

    label: str
    detail: str = ""
    """A second, smaller line."""
    kind: str = "other"
    """Its colour: one of theme.KINDS."""
    inputs: tuple[int, ...] = ()
    title: str = ""
    """Tooltip."""
    output: bool = False
    members: tuple[int, ...] = ()
    """Of a folded box: the positions, in the drawing before folding, of what is in it."""


@record
class Folded:
    """Boxes after folding; `box_of` maps each original box to its folded box."""

    boxes: tuple[Box, ...]
    box_of: tuple[int, ...]
    rows: tuple[int, ...] | None = None
    """The group of rows of each box, if rows are grouped."""


def layers_of(inputs: Sequence[Sequence[int]]) -> list[int]:
    """The row of each box, below the boxes that it reads.

    What reads no more than reads it stands just above its users, so that no edge is longer for it; all else as high as
    it can.
    """
    rows = [0] * len(inputs)
    users: list[set[int]] = [set() for _ in inputs]
    for k, reads in enumerate(inputs):
        rows[k] = max((rows[i] + 1 for i in reads), default=0)
        for i in reads:
            users[i].add(k)
    for k in reversed(range(len(inputs))):
        if users[k] and len(set(inputs[k])) <= len(users[k]):
            rows[k] = min(rows[user] for user in users[k]) - 1
    return rows


_FAR = 2
"""Rows between two readers of an input from which each has a box of its own."""


def near_their_readers(boxes: Sequence[Box]) -> tuple[Box, ...]:
    """Return the boxes with a copy of an input for each group of its readers that is far from the others."""
    rows = layers_of([box.inputs for box in boxes])
    readers: dict[int, list[int]] = {}
    for k, box in enumerate(boxes):
        for i in dict.fromkeys(box.inputs):
            if boxes[i].kind == "input" and not boxes[i].output:
                readers.setdefault(i, []).append(k)
    copies: list[Box] = []
    instead: dict[tuple[int, int], int] = {}
    for i, users in readers.items():
        users.sort(key=rows.__getitem__)
        last = rows[users[0]]
        own = -1
        for user in users:
            if rows[user] - last > _FAR:
                own = len(copies)
                copies.append(boxes[i])
            last = rows[user]
            if own >= 0:
                instead[user, i] = own
    if not copies:
        return tuple(boxes)
    shift = len(copies)
    moved = [
        replace(box, inputs=tuple(instead.get((k, i), i + shift) for i in box.inputs)) for k, box in enumerate(boxes)
    ]
    return (*copies, *moved)


def folded(boxes: Sequence[Box], limit: int = 120) -> Folded:
    """Return at most about `limit` boxes: unchanged if few; else with chains folded; else with rows grouped.

    A chain is a run of boxes each of which reads but the one before it and is read by but the one after it.  A band is
    some neighbouring rows, with one box for each kind of op in it; the edges inside a band are not shown.
    """
    boxes = tuple(boxes)
    if len(boxes) <= limit:
        return Folded(boxes, tuple(range(len(boxes))))
    chains = _chains(boxes)
    if len(set(chains)) <= limit:
        return _grouped(boxes, chains, layers_of([box.inputs for box in boxes]))
    bands, groups = _bands(boxes, max(1, limit // 2))
    banded = _grouped(boxes, groups, bands)
    return Folded(banded.boxes, banded.box_of, tuple(bands[box.members[0]] for box in banded.boxes))


def _chains(boxes: Sequence[Box]) -> list[int]:
    """Return the first box of the chain of each box."""
    users = Counter(i for box in boxes for i in set(box.inputs))
    first = list(range(len(boxes)))
    for k, box in enumerate(boxes):
        read = set(box.inputs)
        before = next(iter(read)) if len(read) == 1 else None
        if before is not None and boxes[before].inputs and users[before] == 1 and not boxes[before].output:
            first[k] = first[before]
    return first


def _bands(boxes: Sequence[Box], limit: int) -> tuple[list[int], list[int]]:
    """Return the group of rows of each box, and the first box of its kind in it."""
    rows = layers_of([box.inputs for box in boxes])
    kinds = len({box.kind for box in boxes})
    height = max(1, -(-(max(rows) + 1) * kinds // limit))
    first: dict[tuple[int, str], int] = {}
    bands = [row // height for row in rows]
    return bands, [first.setdefault((band, box.kind), k) for k, (band, box) in enumerate(zip(bands, boxes))]


def _grouped(boxes: Sequence[Box], group: Sequence[int], rows: Sequence[int]) -> Folded:
    """Return the drawing with one box per group; edges go only from earlier to later groups of rows."""
    members: dict[int, list[int]] = {}
    for k, g in enumerate(group):
        members.setdefault(g, []).append(k)
    last = {g: max(rows[m] for m in of) for g, of in members.items()}
    begin = {g: min(rows[m] for m in of) for g, of in members.items()}
    order = sorted(members, key=lambda g: (begin[g], g))
    place = {g: n for n, g in enumerate(order)}
    found = []
    for g in order:
        reads = dict.fromkeys(group[i] for m in members[g] for i in boxes[m].inputs)
        inputs = tuple(sorted(place[r] for r in reads if r != g and last[r] < begin[g]))
        inputs = inputs[-_MOST_INPUTS:] if len(members[g]) > 1 else inputs
        found.append(_one(boxes, members[g], inputs))
    return Folded(tuple(found), tuple(place[g] for g in group))


def _one(boxes: Sequence[Box], members: Sequence[int], inputs: tuple[int, ...]) -> Box:
    """The box that stands for `members`."""
    only = boxes[members[0]]
    if len(members) == 1:
        return Box(only.label, only.detail, only.kind, inputs, only.title, only.output, tuple(members))
    counts = Counter(boxes[m].label.split("{")[0] for m in members)
    kinds = {boxes[m].kind for m in members}
    kind = kinds.pop() if len(kinds) == 1 else "other"
    title = "\n".join(boxes[m].title for m in members[:12]) + ("\n..." if len(members) > 12 else "")
    output = any(boxes[m].output for m in members)
    return Box(f"{len(members)} nodes", _listed(counts), kind, inputs, title, output, tuple(members))


def _listed(counts: Counter[str]) -> str:
    """The most frequent labels: `add 5, mul 4, +3`."""
    shown = counts.most_common(3)
    rest = len(counts) - len(shown)
    return ", ".join(f"{name} {count}" for name, count in shown) + (f", +{rest}" if rest else "")


def edges_of(boxes: Iterable[Box]) -> list[tuple[int, int]]:
    """(reading from, box) for each operand, in order."""
    return [(i, k) for k, box in enumerate(boxes) for i in box.inputs]
