"""Loop rerolling: a long driver runs equal steps on consecutive slots in a loop.

    Allocate(b[4]); Allocate(b[5]); Allocate(b[6])   -->   for (i32 k = 4; k < 7; k++) ...

A chain of 10,000 operations with its gradient keeps 2,600 values for the way back.  Line by line they were most of
its driver, and gcc takes its time for every line.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ..program.program import Allocate, Buffer, Release, Step

WORTH_A_LOOP = 3


def in_runs(steps: Sequence[Step], slots: Mapping[Buffer, int]) -> Iterator[tuple[Step, int]]:
    """Yield the steps in order, each with the number of consecutive slots for which the same is done."""
    at = 0
    while at < len(steps):
        count = _like(steps, at, slots)
        if count >= WORTH_A_LOOP:
            yield steps[at], count
            at += count
        else:
            yield steps[at], 1
            at += 1


def _like(steps: Sequence[Step], at: int, slots: Mapping[Buffer, int]) -> int:
    """Return the number of steps from `at` on that do the same to consecutive slots; 0 if that step uses no slot."""
    kind, slot = _kind_and_slot(steps[at], slots)
    count = 0
    while kind and at + count < len(steps) and _kind_and_slot(steps[at + count], slots) == (kind, slot + count):
        count += 1
    return count


def _kind_and_slot(step: Step, slots: Mapping[Buffer, int]) -> tuple[tuple[object, ...], int]:
    if isinstance(step, Release):
        return (Release,), step.slot
    if isinstance(step, Allocate) and step.buffer.output is None:
        return (Allocate, step.site, step.lengths, step.dtype), slots[step.buffer]
    return (), 0
