"""Undo of partial writes: notes of overwritten parts of inputs in the frame, and the copies that restore them.

The fields of a note are named by the slot of the buffer that keeps the elements: their address, which is NULL until the
part may have been overwritten, then lengths, strides, and strides of the kept elements.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...graph.types import numpy_dtype
from ..program.program import Buffer, Program, Restore

if TYPE_CHECKING:
    from .steps import StepText


def noted(text: StepText, step: Restore) -> Iterator[str]:
    """Yield the C of a step: the note of one part."""
    slot = _slot(text.program, step)
    quantities = step.array.lengths + step.array.strides + step.kept.strides
    yield from (f"f->shape{slot}[{k}] = {text.q(n)};" for k, n in enumerate(quantities))
    yield f"f->part{slot} = {text.argument(step.array)};"


def fields(program: Program) -> Iterator[str]:
    """The fields of the frame."""
    for step in _steps(program):
        slot, rank = _slot(program, step), len(step.array.lengths)
        yield f"void *part{slot};"
        yield f"i64 shape{slot}[{max(3 * rank, 1)}];"


def restored(text: StepText) -> Iterator[str]:
    """Yield the copies that restore the parts, the last one first."""
    for step in reversed(_steps(text.program)):
        slot, rank = _slot(text.program, step), len(step.array.lengths)
        item, shape = numpy_dtype(step.array.dtype).itemsize, f"f->shape{slot}"
        whole = f"{item}, {rank}, {shape}, f->part{slot}, {shape} + {rank}, f->b[{slot}], {shape} + {2 * rank}"
        yield f"if (f->part{slot}) {text.helper('ag_copy')}({whole});"


def _steps(program: Program) -> list[Restore]:
    return [step for step in program.steps if isinstance(step, Restore)]


def _slot(program: Program, step: Restore) -> int:
    assert isinstance(step.kept.base, Buffer)
    return program.slots[step.kept.base]
