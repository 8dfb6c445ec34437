"""Loops along first axes that functions of the vocabulary write: `ag.scan` without the checks that users need."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...graph import Variable
from ..core.tensor import TensorVariable
from ..shapes.lengths import lengths_of
from .scan_ops import Scan, looped

Step = Callable[[list[Any], list[Any]], tuple[Sequence[Variable], Sequence[Variable]]]


def along(step: Step, sequences: Sequence[Any], firsts: Sequence[Any]) -> tuple[list[Any], list[Any]]:
    """Return the last states, and the values of all steps along new first axes.

    `step(slices, states)` returns the next states, of the types of `firsts`, and the values of a step.  The sequences
    are as long as the first one.
    """
    slices = [TensorVariable(r.type.with_shape(r.type.shape[1:])) for r in sequences]
    states = [TensorVariable(f.type) for f in firsts]
    new, values = step(slices, states)
    steps = lengths_of(sequences[0])[0]
    kept = (False,) * len(states)
    results = looped(Scan, steps, sequences, slices, firsts, states, new, values, None, kept)
    return list(results[: len(states)]), list(results[len(states) :])
