"""Multiple accumulators for extrema: a single accumulator waits four cycles for each comparison.

    for (i = a; i < b; i++) best = x[i] > best ? x[i] : best;
    -->
    if (31 < b - a) {
        const i64 segment = (b - a + 127) / 128 * 32, last = b - a - segment;
        const i64 segment_u1 = segment < last ? segment : last, ...;
        for (i = a; i < a + segment; i++) best = the best of x[i], x[i + segment_u1], ..., x[i + segment_u3], best;
    } else {
        for (i = a; i < b; i++) best = x[i] > best ? x[i] : best;
    }

Only for idempotent folds in any order: extrema, and whether there was a NaN.  A NaN may hide a number that it is
compared with, but then the result is NaN anyway.  Segments may overlap, so that each consists of whole vectors and
compilers emit no remainder loop.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from ...graph.types import numpy_dtype
from ...targets.current import current
from ..ir.loops import (
    ZERO,
    Assign,
    Body,
    Expr,
    For,
    If,
    Let,
    Local,
    ScalarOp,
    Statement,
    Store,
    every,
    index,
    less,
    minus,
    number,
    plus,
    smaller,
    times,
)
from ..ir.walk import substitute
from .accumulate import Lane
from .arrange import side_by_side
from .nest import specialized
from .strips import is_costly

Accumulator = tuple[Lane, str, Expr]
"""A lane, the local that it accumulates in, and the expression that feeds it."""


def with_accumulators(general: For, accumulators: Sequence[Accumulator]) -> Body:
    """Split a long loop over contiguous operands among several accumulators; keep any other loop as it is."""
    only = specialized(general)
    if not _may_use_several(general, accumulators):
        return (only,)
    least = current().limits.searches.bytes // max(numpy_dtype(lane.dtype).itemsize for lane, _, _ in accumulators)
    count = general.stop if general.start == ZERO else minus(general.stop, general.start)
    long = less(number(least - 1), count)
    if isinstance(only, If):
        (unit,) = only.body
        assert isinstance(unit, For)
        body = _accumulated(unit, accumulators, count, least)
        return (replace(only, condition=every([only.condition, long]), body=body),)
    plain = replace(general, simd=False, reductions=())
    return (If(long, _accumulated(general, accumulators, count, least), (plain,)),)


def _may_use_several(general: For, accumulators: Sequence[Accumulator]) -> bool:
    """Return whether the loop finds extrema and does little else."""
    signs = {lane.sign for lane, _, _ in accumulators}
    most = current().limits.searches.body + len(accumulators)
    cheap = general.simd and len(general.body) <= most and not is_costly(general)
    stores = any(isinstance(s, Store) for s in general.body)
    return cheap and not stores and bool(signs & {"max", "min"}) and signs <= {"max", "min", "|"}


def _accumulated(general: For, accumulators: Sequence[Accumulator], count: Expr, least: int) -> Body:
    length, last, segments = index("segment"), index("last"), current().limits.searches.accumulators
    lengths = number(segments * least - 1), number(segments * least), number(least)
    whole = ScalarOp("segment_length", "int64", (count, *lengths))
    starts = [index(f"{length.name}_u{k}") for k in range(1, segments)]
    steps: list[dict[str, Expr]] = [{}, *({general.index: plus(index(general.index), start)} for start in starts)]
    names = {name for _, name, _ in accumulators}
    read = tuple(s for s in general.body if not (isinstance(s, Assign) and s.name in names))
    found = side_by_side(read, steps)
    joined = (s for accumulator in accumulators for s in _joined(accumulator, steps))
    stop = plus(general.start, length)
    return (
        Let(length.name, whole),
        Let(last.name, minus(count, length)),
        *(Let(start.name, smaller(times(number(k), length), last)) for k, start in enumerate(starts, start=1)),
        replace(general, stop=stop, body=(*found, *joined)),
    )


def _joined(accumulator: Accumulator, steps: Sequence[dict[str, Expr]]) -> Iterator[Statement]:
    """Combine the partial results of one accumulator pairwise."""
    lane, name, fed = accumulator
    values: list[Expr] = [substitute(fed, step) for step in steps]
    if lane.sign == "|":
        yield from (Assign(name, lane.step(Local(lane.dtype, name), value)) for value in values)
        return
    numbers = iter(range(len(steps)))
    while len(values) > 1:
        better = [lane.step(a, b) for a, b in zip(values[::2], values[1::2], strict=True)]
        joined = [Local(lane.dtype, f"{name}_b{next(numbers)}") for _ in better]
        yield from (Let(local.name, value) for local, value in zip(joined, better, strict=True))
        values = list(joined)
    yield Assign(name, lane.step(Local(lane.dtype, name), values[0]))
