"""Lifetimes of buffers: memory is released after its last use, or reused at once by the next buffer.

A buffer whose life is over serves the next one of the same size (the same lengths in any order, the same item size) if
no other buffer begins between: in steady state a chain of elementwise ops runs in two slots.  A slot that no buffer
takes over is released after its last use.

Slots of different sizes share memory too: the driver asks the runtime for one block with a place for each
(runtime/arena.c), and `lives_of` tells it which slots live at the same time.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from ...graph.types import numpy_dtype
from .program import Allocate, Buffer, Choice, Finish, Loop, Memory, Pack, Program, Release, Restore, Step, arrays_of

Size = tuple[object, ...]
MOST_PLACES = 2048
"""Most slots with places in the shared block; finding places takes quadratic time."""


def assign_slots(steps: Sequence[Step]) -> tuple[tuple[Step, ...], dict[Buffer, int]]:
    """Return the steps with releases inserted, and the slot of each buffer.

    Allocate(b0) .. last use of b0 .. Allocate(b1)   -->   b1 takes over the slot of b0, or Release(slot of b0) after
    its last use
    """
    last = _ends_of_buffers(steps)
    slots: dict[Buffer, int] = {}
    free: defaultdict[Size, list[tuple[int, int, int]]] = defaultdict(list)  # by size: (slot, its last use, slots then)
    begun = 0
    sizes: dict[Buffer, Size] = {}
    releases: dict[int, list[int]] = defaultdict(list)  # step -> slots given back after it
    inherited: set[int] = set()  # steps that allocate nothing, since they take over a slot
    for at, step in enumerate(steps):
        for made in _made_by(step):
            size = sizes[made] = _size(step)
            waiting = free[size] if size else []
            if waiting and waiting[-1][2] == begun:  # to keep it for this buffer has raised no peak
                slots[made], died, _ = waiting.pop()
                releases[died].remove(slots[made])
                inherited.add(at)
            else:
                slots[made] = begun
                begun += 1
        for buffer in last[at]:
            releases[at].append(slots[buffer])
            if sizes[buffer]:
                free[sizes[buffer]].append((slots[buffer], at, begun))
    return tuple(_with_releases(steps, releases, inherited)), slots


def lives_of(program: Program) -> list[tuple[int, int] | None]:
    """Return the first and last step of each slot that may have a place in the shared block; None for others.

    Empty if no two such slots could share bytes, or if there are too many of them.  Blocks of packed arrays, of outputs
    and of loops and choices come from elsewhere or go elsewhere.
    """
    found: dict[int, tuple[int, int]] = {}
    lives: list[tuple[int, int] | None] = [None] * (max(program.slots.values(), default=-1) + 1)
    if not 2 <= len(lives) <= MOST_PLACES:
        return []
    elsewhere = {b for step in program.steps if isinstance(step, (Loop, Choice, Pack)) for b in _touched(step)}
    barred = {program.slots[b] for b in elsewhere if b in program.slots}
    for at, step in enumerate(program.steps):
        if isinstance(step, Allocate) and step.buffer in program.slots:
            found[program.slots[step.buffer]] = at, at
        elif isinstance(step, Release) and step.slot in found and step.slot not in barred:
            lives[step.slot] = found[step.slot][0], at
    placed = [life for life in lives if life is not None]
    earliest_end = min((last for _, last in placed), default=0)
    return lives if any(first > earliest_end for first, _ in placed) else []


def _touched(step: Loop | Choice | Pack) -> list[Buffer]:
    """Return the buffers that a step allocates or hands to its bodies."""
    handed = () if isinstance(step, Pack) else arrays_of(step)
    return [*_made_by(step), *(b for array in handed for b in array.buffers)]


def last_uses(steps: Sequence[Step]) -> dict[Memory, int]:
    """Return the number of the last step that uses each memory."""
    at: dict[Memory, int] = {}
    for k, step in enumerate(steps):
        at.update(dict.fromkeys(_made_by(step), k))
        for array in arrays_of(step):
            at.update(dict.fromkeys(array.memory, k))
    return at


def _ends_of_buffers(steps: Sequence[Step]) -> list[list[Buffer]]:
    """Return for each step the buffers that no later step uses."""
    handed_over = {step.array.base for step in steps if isinstance(step, Finish)}
    handed_over.update(step.kept.base for step in steps if isinstance(step, Restore))  # the end of the call frees it
    ends: list[list[Buffer]] = [[] for _ in steps]
    for buffer, k in last_uses(steps).items():
        if isinstance(buffer, Buffer) and buffer.output is None and buffer not in handed_over:
            ends[k].append(buffer)
    return ends


def _made_by(step: Step) -> list[Buffer]:
    """Return the buffers that a step allocates; the memory of an output is the caller's and has no slot."""
    if isinstance(step, (Loop, Choice)):
        made = [array.base for array, is_made in zip(step.results, step.made, strict=True) if is_made]
        return [base for base in made if isinstance(base, Buffer)]
    return [step.buffer] if isinstance(step, (Allocate, Pack)) and step.buffer.output is None else []


def _size(step: Step) -> Size:
    """Return the key of a buffer's size; empty if the size is known only at run time."""
    if not isinstance(step, Allocate):
        return ()
    return (numpy_dtype(step.dtype).itemsize, *sorted(map(str, (n for n in step.lengths if n != 1))))


def _with_releases(steps: Sequence[Step], releases: dict[int, list[int]], inherited: set[int]) -> Iterable[Step]:
    for at, step in enumerate(steps):
        if at not in inherited:
            yield step
        for slot in releases.get(at, ()):
            yield Release(slot)
