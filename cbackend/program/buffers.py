"""How long buffers live, and which of them share a pointer: memory is given back after its last use, or used again at
once.

A buffer whose life is over serves the next one of the same size (the same lengths in any order, the same item size): in
steady state a chain of elementwise ops runs in two blocks.  What nobody takes over goes back to the pool at its last
use.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterable, Sequence

from ...graph.types import numpy_dtype
from .program import Allocate, Buffer, Choice, Finish, Loop, Pack, Release, Restore, Step, arrays_of

Size = tuple[object, ...]


def assign_slots(steps: Sequence[Step]) -> tuple[tuple[Step, ...], dict[Buffer, int]]:
    """The steps with releases put in, and the slot of each buffer.

    Allocate(b0) .. last use of b0 .. Allocate(b1)   -->   b1 takes over the slot of b0, or Release(slot of b0) after
    its last use
    """
    last = _last_uses(steps)
    slots: dict[Buffer, int] = {}
    count = itertools.count()
    free: defaultdict[Size, list[tuple[int, int]]] = defaultdict(list)  # by size: (slot, where its last use was)
    sizes: dict[Buffer, Size] = {}
    releases: dict[int, list[int]] = defaultdict(list)  # step -> slots given back after it
    inherited: set[int] = set()  # steps that allocate nothing, since they take over a slot
    for at, step in enumerate(steps):
        for made in _made_by(step):
            size = sizes[made] = _size(step)
            waiting = free[size] if size else []
            if waiting:
                slots[made], died = waiting.pop()
                releases[died].remove(slots[made])
                inherited.add(at)
            else:
                slots[made] = next(count)
        for buffer in last[at]:
            releases[at].append(slots[buffer])
            if sizes[buffer]:
                free[sizes[buffer]].append((slots[buffer], at))
    return tuple(_with_releases(steps, releases, inherited)), slots


def _last_uses(steps: Sequence[Step]) -> list[list[Buffer]]:
    """For each step the buffers that nobody uses after it."""
    at: dict[Buffer, int] = {}
    for k, step in enumerate(steps):
        at.update(dict.fromkeys(_made_by(step), k))
        for array in arrays_of(step):
            at.update(dict.fromkeys(array.buffers, k))
    handed_over = {step.array.base for step in steps if isinstance(step, Finish)}
    handed_over.update(step.kept.base for step in steps if isinstance(step, Restore))  # the end of the call frees it
    ends: list[list[Buffer]] = [[] for _ in steps]
    for buffer, k in at.items():
        if buffer.output is None and buffer not in handed_over:
            ends[k].append(buffer)
    return ends


def _made_by(step: Step) -> list[Buffer]:
    """The buffers that a step makes; the memory of an output is the caller's and has no slot."""
    if isinstance(step, (Loop, Choice)):
        made = [array.base for array, is_made in zip(step.results, step.made, strict=True) if is_made]
        return [base for base in made if isinstance(base, Buffer)]
    return [step.buffer] if isinstance(step, (Allocate, Pack)) and step.buffer.output is None else []


def _size(step: Step) -> Size:
    """The key of a buffer's size; empty where it shows only at run time."""
    if not isinstance(step, Allocate):
        return ()
    return (numpy_dtype(step.dtype).itemsize, *sorted(map(str, (n for n in step.lengths if n != 1))))


def _with_releases(steps: Sequence[Step], releases: dict[int, list[int]], inherited: set[int]) -> Iterable[Step]:
    for at, step in enumerate(steps):
        if at not in inherited:
            yield step
        for slot in releases.get(at, ()):
            yield Release(slot)
