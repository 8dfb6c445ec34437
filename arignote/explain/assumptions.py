"""`f.explain("assumptions")`: the lengths that a function takes as equal, and the calls in which they were not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..graph import FunctionGraph
from ..ops.lowered.assumed import are_equal, assumed_lengths, compared_lengths
from ..record.spelling import counted
from .printing import pprint
from .remarks import Remark

if TYPE_CHECKING:
    from ..function.compiled import Function


def lines(f: Function) -> Iterator[str]:
    """The lines on a function."""
    taken = list(assumed(f.graph))
    if not taken:
        yield f"{f.name}: assumes nothing about lengths"
        return
    yield f"{f.name}: takes lengths as equal that meet, and checks them when a call begins"
    yield from (f"  {each}" for each in taken)
    broken = broken_calls(f)
    yield f"{counted(broken, 'call')} broke that, and ran the graph that assumes nothing"
    yield 'without assumptions: mode="fast_run -assume_equal"'


def assumed(graph: FunctionGraph) -> Iterator[str]:
    """The lengths that an optimized graph takes as equal: `y.shape[0] = x.shape[0]`."""
    for have, want in assumed_lengths(graph):
        yield f"{pprint(have)} = {pprint(want)}"


def for_lengths_of(f: Function, arrays: Sequence[np.ndarray]) -> Function:
    """Return the function that a call with these arrays runs: `f`, or the one without its assumptions."""
    return f if are_equal(compared_lengths(f.graph), arrays) else f.without_assumptions


def broken_calls(f: Function) -> int:
    """The number of calls that had other lengths."""
    return getattr(f.executable, "broken", 0)


def remarks_on_broken(f: Function) -> list[Remark]:
    """The remark on calls that broke assumptions."""
    broken = broken_calls(f)
    if not broken:
        return []
    what = f"{', '.join(assumed(f.graph))}; {counted(broken, 'call')} had other lengths"
    reason = "lengths that meet are taken as equal; such a call runs a second function when the first has found it out"
    return [Remark("assumed", what, reason, 'mode="fast_run -assume_equal"')]
