"""Collapsed loops: adjacent loops become one if the rows of every operand are contiguous in memory.

The strides are known only when the kernel runs, so it decides then:

    if (n1 == 1) { n1 = n0; x_s1 = x_s0; ...; n0 = 1; } else if (x_s0 == n1 * x_s1 && ...) { n1 = n0 * n1; n0 = 1; }

Reduced rows of LONG elements and more stay separate: their sums are then those of any other layout.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

from ..ir.loops import ONE, Assign, If, Local, Statement, equal, every, index, less, number, times
from .nest import Operands

LONG = 512
"""Elements of a row from which on collapsing rows gains nothing: four blocks of a sum."""


def folded_loops(order: Sequence[int], operands: Operands, reduced: frozenset[int]) -> Iterator[Statement]:
    """Yield a prologue that collapses adjacent loops, outermost first, if both are kept or both reduced."""
    for outer, inner in itertools.pairwise(order):
        if outer + 1 == inner and (outer in reduced) == (inner in reduced):
            pairs = _strides(operands, outer, inner)
            if pairs is not None:
                yield _fold(outer, inner, pairs, inner in reduced)


def _strides(operands: Operands, outer: int, inner: int) -> list[tuple[Local, Local]] | None:
    """Return the strides of each operand along both loops; None if one certainly moves along only one of them."""
    pairs = []
    for k, operand in enumerate((*operands.outputs, *operands.inputs)):
        along = (outer in operand.loops, inner in operand.loops)
        if along == (True, True):
            pairs.append((operands.stride(k, outer), operands.stride(k, inner)))
        elif any(along):
            return None
    return pairs


def _fold(outer: int, inner: int, strides: list[tuple[Local, Local]], reduced: bool) -> Statement:
    n, m = index(f"n{outer}"), index(f"n{inner}")
    single = (Assign(m.name, n), *(Assign(t.name, s) for s, t in strides), Assign(n.name, ONE))
    joint = (Assign(m.name, times(n, m)), Assign(n.name, ONE))
    follow = every([*([less(m, number(LONG))] if reduced else []), *(equal(s, times(m, t)) for s, t in strides)])
    return If(equal(m, ONE), single, (If(follow, joint),))
