"""Equal numbers, equal results: bit for bit, wherever a number stands, whatever surrounds it.

Chains of random elementwise functions, on arrays of few different numbers in random layouts, lengths and ranks, with
one and two threads: each number of the array has one result, that of an array of the numbers alone.
"""

from __future__ import annotations

import itertools

import numpy as np

import arignote as ag
from arignote import ops as T
from arignote.ops.elementwise.records import ELEMENTWISE

from ..scorecard import Row, Trials

DTYPES = ("float32", "float64", "float16", "complex64", "complex128")
SPECIAL = (0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 5e-324, 1e-40, 1e22, -3e38, 710.0)
LONGEST = 3


def functions(dtype: str) -> list[str]:
    """The names of the elementwise functions from this dtype to itself."""
    x = T.vector("x", dtype)
    found = []
    for name, op in ELEMENTWISE.items():
        if op.arity != 1:
            continue
        try:
            if op(x).dtype == dtype:
                found.append(name)
        except TypeError:
            continue
    return found


def chains(rng: np.random.Generator, dtype: str, count: int) -> list[tuple[str, ...]]:
    names = functions(dtype)
    return [*((n,) for n in names), *(tuple(rng.choice(names, rng.integers(2, LONGEST + 1))) for _ in range(count))]


def numbers(rng: np.random.Generator, dtype: str) -> np.ndarray:
    with np.errstate(all="ignore"):
        sizes = np.exp(rng.uniform(-30, 30, 12)) * rng.choice([-1, 1], 12)
        x = np.concatenate([SPECIAL, rng.normal(size=12), sizes])
        return x.astype(dtype) if np.dtype(dtype).kind == "f" else (x + 1j * rng.permutation(x)).astype(dtype)


def laid_out(rng: np.random.Generator, where: np.ndarray, rank: int) -> tuple[np.ndarray, tuple[slice, ...]]:
    """Indices in an array of that rank, and a view of it: some of the elements, backwards or apart."""
    if rank == 2:
        rows = int(rng.integers(1, 9))
        where = where[: where.size // rows * rows].reshape(rows, -1)
        where = where.T if rng.random() < 0.5 else where
    steps = [int(rng.choice([1, 1, 2, 3, -1, -2])) for _ in range(rank)]
    return where, tuple(slice(None if s < 0 else int(rng.integers(0, 3)), None, s) for s in steps)


def on_chain(trials: Trials, rng: np.random.Generator, dtype: str, some: list[tuple[str, ...]], arrays: int) -> None:
    """One function with an output a chain, on so many arrays."""
    functions = {}
    for rank, threads in itertools.product((1, 2), (1, 2)):
        v = T.tensor("v", dtype, (None,) * rank)
        outputs = []
        for chain in some:
            value = v
            for name in chain:
                value = ELEMENTWISE[name](value)
            outputs.append(value)
        functions[rank, threads] = ag.function([v], outputs, threads=threads)
    x = numbers(rng, dtype)
    expected = functions[1, 1](x)
    for _ in range(arrays):
        rank, threads = int(rng.integers(1, 3)), int(rng.integers(1, 3))
        length = int(rng.integers(0, 70)) if rng.random() < 0.9 else 30_011
        where, view = laid_out(rng, rng.integers(0, x.size, length), rank)
        for chain, got, want in zip(some, functions[rank, threads](x[where][view]), expected, strict=True):
            same = got.tobytes() == np.ascontiguousarray(want[where[view]]).tobytes()
            trials.check(same, f"{'(('.join(chain[::-1])} of {dtype}, rank {rank}, {view}", max(1, got.size))


def run(full: bool) -> list[Row]:
    rng = np.random.default_rng(0)
    trials = Trials("G37", "equal numbers in arrays of all layouts, chains of functions")
    for dtype in DTYPES:
        found = chains(rng, dtype, 400 if full else 5)
        for first in range(0, len(found), 40):
            on_chain(trials, rng, dtype, found[first : first + 40], 400 if full else 12)
    return [trials.row()]
