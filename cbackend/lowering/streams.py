"""Extrema in several streams: one accumulator waits four cycles for each comparison, four of them for one.

    for (i = a; i < b; i++) best = x[i] > best ? x[i] : best;
    -->
    const i64 stream = (b - a) / 128 * 32;
    for (i = a; i < a + stream; i++) { best = ... x[i] ...; best_u1 = ... x[i + stream] ...; ... }
    for (i = a + 4 * stream; i < b; i++) best = x[i] > best ? x[i] : best;
    best = best_u1 > best ? best_u1 : best; ...

Only for what may be accumulated in any order without a change: extrema, and whether there was a NaN.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ...graph.types import numpy_dtype
from ..ir.loops import ZERO, Assign, Body, Expr, For, If, Let, Local, Op, Var, index, minus, number, plus, times
from .accumulate import Lane
from .arrange import side_by_side
from .nest import specialized
from .runs import is_costly

STREAMS = 4
CHEAP = 4
"""Statements of a step beside those of the accumulators; with more it is they that take the time."""
LEAST_BYTES = 128
"""The length of a stream is a multiple of this: shorter ones do not pay."""

Accumulator = tuple[Lane, str]
"""A lane and the name of the local that it accumulates in."""


def in_streams(general: For, accumulators: Sequence[Accumulator]) -> Body:
    """The loop over contiguous operands in streams, over others as it is."""
    only = specialized(general)
    if not _may_be_streams(general, accumulators):
        return (only,)
    if isinstance(only, If):
        (unit,) = only.body
        assert isinstance(unit, For)
        return (replace(only, body=_streams(unit, accumulators)),)
    return _streams(general, accumulators)


def _may_be_streams(general: For, accumulators: Sequence[Accumulator]) -> bool:
    """Whether the loop finds extrema, and does little else."""
    signs = {lane.sign for lane, _ in accumulators}
    cheap = general.simd and len(general.body) <= CHEAP + len(accumulators) and not is_costly(general)
    return cheap and bool(signs & {"max", "min"}) and signs <= {"max", "min", "|"}


def _streams(general: For, accumulators: Sequence[Accumulator]) -> Body:
    own = [(lane, name) for lane, name in accumulators if lane.sign != "|"]  # one flag serves all streams
    length = index("stream")
    least = LEAST_BYTES // max(numpy_dtype(lane.dtype).itemsize for lane, _ in accumulators)
    count = general.stop if general.start == ZERO else minus(general.stop, general.start)
    whole = Op("stream_length", "int64", (count, number(STREAMS * least), number(least)))
    steps: list[dict[str, Expr]] = [{}]
    for k in range(1, STREAMS):
        others: dict[str, Expr] = {name: Local(lane.dtype, f"{name}_u{k}") for lane, name in own}
        steps.append({general.index: plus(index(general.index), times(number(k), length)), **others})
    together = side_by_side((replace(general, stop=plus(general.start, length)),), steps)
    joined = [
        Assign(name, lane.step(Local(lane.dtype, name), Local(lane.dtype, f"{name}_u{k}")))
        for lane, name in own
        for k in range(1, STREAMS)
    ]
    return (
        Let(length.name, whole),
        *(Var(f"{name}_u{k}", lane.start) for lane, name in own for k in range(1, STREAMS)),
        *together,
        replace(general, start=plus(general.start, times(number(STREAMS), length))),
        *joined,
    )
