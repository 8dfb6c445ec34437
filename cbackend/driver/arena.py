"""The block that the buffers of a call share: the lives of the slots in C, and the code that takes and frees it.

The runtime finds the places (runtime/arena.c).  Without lives there are no lines: each buffer is a block of the pool.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ..program.accounts import PLANNED, memory_at
from ..program.program import Program

if TYPE_CHECKING:
    from .steps import StepText

Lives = Sequence[tuple[int, int] | None]
"""First and last step of each slot; None: the slot has no place in the block."""
A_LINE = 10


def plan(lives: Lives) -> Iterator[str]:
    """The plan of the function, which its calls share."""
    if not lives:
        return
    pairs = [f"{first}, {last}" for first, last in (life or (-1, -1) for life in lives)]
    yield "static const i32 plan_lives[] = { /* of each buffer its first step and its last; -1: it has no place */"
    yield from (f"    {',  '.join(pairs[k : k + A_LINE])}," for k in range(0, len(pairs), A_LINE))
    yield "};"
    yield f"static i64 plan_rooms[{2 * len(lives)}];"
    yield f"static ag_plan plan = {{{len(lives)}, plan_lives, plan_rooms, 0, 0}};"
    yield ""


def fields(lives: Lives) -> Iterator[str]:
    """The fields of the frame."""
    if lives:
        yield f"i64 rooms[{2 * len(lives)}], sizes[{len(lives)}];"
        yield "ag_arena arena;"


def opened(lives: Lives) -> Iterator[str]:
    """The lines before the first step."""
    if lives:
        yield f"f->arena = (ag_arena){{0, 0, f->b, {len(lives)}, 0, f->rooms, f->sizes}};"
        yield "rt->open(&plan, &f->arena);"


def taking(text: StepText, address: str) -> str:
    """Return the beginning of the call that takes memory for a slot; the lengths follow."""
    if text.has_places:
        return f"{text.helper('ag_place')}(rt, &f->arena, &{address}, "
    return f"{text.helper('ag_take')}(rt, "


def released(text: StepText, slot: int) -> str:
    """The line that empties one slot."""
    if text.has_places:
        return f"{text.helper('ag_drop')}(rt, &f->arena, &f->b[{slot}]);"
    return f"rt->release(f->b[{slot}]), f->b[{slot}] = 0;"


def emptied(text: StepText, lives: Lives) -> Iterator[str]:
    """The line that empties all slots when the call ends, early or not."""
    if lives:
        yield f"for (i32 k = 0; k < {len(lives)}; k++) {text.helper('ag_drop')}(rt, &f->arena, &f->b[k]);"


def closed(lives: Lives, program: Program, profile: bool) -> Iterator[str]:
    """Yield the line that frees the block; a call without results does not update the expected sizes."""
    if lives:
        planned = f"call->profile[{memory_at(program) + PLANNED}] = " if profile else ""
        yield f"{planned}rt->close(&plan, &f->arena, !outcome);"
