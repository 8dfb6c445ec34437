"""The failure that a call will end in, found from the lengths of its arguments without compiling anything.

A program checks lengths by integers and guards, whose meaning is known in Python (program/arithmetic.py).  Those that
depend on nothing but the lengths of the inputs are evaluated in order; the first that fails gives the exception that
the compiled program would raise.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..driver.steps import DETAIL
from ..program.arithmetic import computed, holds
from ..program.outcome import Outcome
from ..program.program import Compute, Guard, Lengths, Program
from .failures import failure

_WITH_SHAPES = (Outcome.LENGTHS, Outcome.INDICES, Outcome.RESHAPE)
"""The outcomes whose messages show the shapes of the operands."""


def foreseen(name: str, program: Program, shapes: Sequence[tuple[int, ...]]) -> Exception | None:
    """Return the exception of a call with inputs of these shapes; None if their lengths alone do not make it fail.

    NumPy continues a call that a guard with the outcome UNREACHED ends, so nothing is known beyond it.
    """
    numbers = {
        quantity: length
        for array, shape in zip(program.inputs, shapes, strict=True)
        for quantity, length in zip(array.lengths, shape, strict=True)
        if isinstance(quantity, str)
    }
    for step in program.steps:
        if not isinstance(step, (Compute, Guard)) or not _known(step.operands, numbers):
            continue
        if isinstance(step, Guard):
            if not holds(step, numbers):
                hands_over = step.failure == Outcome.UNREACHED
                return None if hands_over else _failure(name, program, step.failure, step, numbers)
            continue
        found = computed(step, numbers)
        if found is None:
            assert step.failure is not None
            return _failure(name, program, step.failure, step, numbers)
        numbers[step.result] = found
    return None


def _known(quantities: Lengths, numbers: dict[str, int]) -> bool:
    return all(isinstance(q, int) or q in numbers for q in quantities)


def _failure(
    name: str, program: Program, outcome: Outcome, step: Compute | Guard, numbers: dict[str, int]
) -> Exception:
    """Return the exception of a step, which notes its operands and the shapes of its node, as far as they are known."""
    noted: Lengths = step.operands
    if outcome in _WITH_SHAPES and step.site < len(program.sites):
        for array in program.sites[step.site].operands:
            if not _known(array.lengths, numbers):
                break
            noted = (*noted, *array.lengths)
    values = [q if isinstance(q, int) else numbers[q] for q in noted][: DETAIL - 1]
    return failure(name, program, outcome, step.site, step.axis, [len(step.operands), *values])
