"""Lengths and integers that an instance is proved for: small ones, at which its graph runs."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ..graph import FunctionGraph, Variable
from .claims import is_of_lengths, outcome
from .values import trial

LENGTHS = (0, 1, 2, 3)
MOST_SHAPES = 10
"""Combinations of lengths that one instance is proved for."""
INDICES = (0, -1, 1, 2, -2, 3, -3)


def _never() -> bool:
    return False


def fixings(
    whole: Sequence[Variable],
    sizes: Mapping[Variable, tuple[int, ...]],
    graph: FunctionGraph,
    over: Callable[[], bool],
) -> list[dict[Variable, np.ndarray]] | None:
    """Return a few values of the integers at which the graph runs; None without integers.  `over` ends the trials."""
    if not whole:
        return None
    rng = np.random.default_rng(0)
    choices: list[dict[Variable, np.ndarray]] = []
    pools = [INDICES if v.type.kind == "i" else tuple(n for n in INDICES if n >= 0) for v in whole]
    if all(sizes[v] == () for v in whole):
        trials = [
            {v: np.array(pool[k], v.dtype) for v, pool, k in zip(whole, pools, picked, strict=True)}
            for picked in _picked([len(pool) for pool in pools], rng)
        ]
    else:
        trials = [
            {v: rng.choice(pool[:most], sizes[v]).astype(v.dtype) for v, pool in zip(whole, pools, strict=True)}
            for most in (1, 2, 3, 7) * 8
        ]
    for choice in trials:
        filled = [choice[v] if v in choice else trial(v.dtype, sizes[v]) for v in graph.inputs]
        if not isinstance(outcome(graph, filled), Exception):
            choices.append(choice)
        if len(choices) == 8 or over():
            break
    return choices


def _picked(counts: Sequence[int], rng: np.random.Generator) -> Iterator[tuple[int, ...]]:
    """A position in each pool: all combinations of a few, 40 of many; their number is exponential."""
    total = math.prod(counts)
    if total <= 12:
        return itertools.product(*map(range, counts))
    if total <= 10_000:
        return zip(*np.unravel_index(rng.permutation(total)[:40], counts), strict=True)
    return zip(*(rng.integers(0, count, 40) for count in counts), strict=True)


def _runs(graph: FunctionGraph, shapes: Sequence[tuple[int, ...]], pool: tuple[int, int], rng: Any) -> bool:
    """Whether lengths and indices agree, for integers of this pool."""
    arrays = [trial(v.dtype, s) for v, s in zip(graph.inputs, shapes, strict=True)]
    for a in arrays:
        if a.dtype.kind in "iu":
            a[...] = rng.integers(pool[0], pool[1] + 1, a.shape)
    error = outcome(graph, arrays)
    return not (isinstance(error, Exception) and (is_of_lengths(error) or isinstance(error, IndexError)))


def shapes_of(graph: FunctionGraph, over: Callable[[], bool] = _never) -> Iterator[list[tuple[int, ...]]]:
    """Shapes of the inputs at which the graph runs, small ones first: all of a few, some of many.

    `over`: whether the time for trials is over.
    """
    unknown = [(k, axis) for k, v in enumerate(graph.inputs) for axis, n in enumerate(v.type.shape) if n is None]
    rng = np.random.default_rng(0)
    if len(LENGTHS) ** len(unknown) <= 64:
        sizes = list(itertools.product(LENGTHS, repeat=len(unknown)))
        sizes = [sizes[k] for k in rng.permutation(len(sizes))]
    else:
        sizes = [tuple(rng.choice(LENGTHS, len(unknown)).tolist()) for _ in range(400)]
    sizes = list(dict.fromkeys([(n,) * len(unknown) for n in (2, 1, 0, 3)] + sizes))
    found = 0
    for size in sizes:
        if over():
            return
        shapes = [list(v.type.shape) for v in graph.inputs]
        for (k, axis), n in zip(unknown, size, strict=True):
            shapes[k][axis] = n
        fixed: list[Any] = [tuple(s) for s in shapes]
        if not any(_runs(graph, fixed, pool, rng) for pool in ((1, 1), (2, 3), (0, 1), *[(-1, 4)] * 20)):
            continue
        yield fixed
        found += 1
        if found == MOST_SHAPES:
            return
