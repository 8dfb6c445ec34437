"""Integers at their extremes: no signal, and every bit as NumPy has it.

Each operation on all pairs of seven extremes of a dtype, as scalars, vectors, strided and reversed vectors, and a
column against a row.  All operations of a dtype are one function.  At full size also in mode FAST_COMPILE, with one
operand constant (which compilers fold), and on random bits.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator

import numpy as np

import arignote as ag
from arignote import ops as T

from ..scorecard import Row, Trials

DTYPES = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
TARGETS = ("bool", *DTYPES, "float16", "float32", "float64")
BINARY = {
    "//": (T.floor_div, np.floor_divide), "%": (T.mod, np.remainder), "<<": (T.left_shift, np.left_shift),
    ">>": (T.right_shift, np.right_shift),
    "divmod": (lambda a, b: sum(T.divmod(a, b)), lambda a, b: sum(np.divmod(a, b))),
}  # fmt: skip
UNARY = {"abs": (T.abs, np.absolute), "neg": (T.neg, np.negative)}
UNARY |= {f"cast to {d}": ((lambda a, d=d: T.cast(a, d)), (lambda a, d=d: a.astype(d))) for d in TARGETS}
RANDOM_PAIRS = 20_000

Made = tuple[list[str], Callable[..., list[np.ndarray]], Callable[..., list[np.ndarray]]]


def extremes(dtype: str) -> np.ndarray:
    """Seven values at which something changes; the width counts as one, for shifts."""
    info = np.iinfo(dtype)
    if dtype.startswith("u"):
        return np.array([0, 1, 2, info.bits, info.max // 2 + 1, info.max - 1, info.max], dtype)
    return np.array([info.min, info.min + 1, -1, 0, 1, info.bits, info.max], dtype)


def all_operations(dtype: str, ranks: tuple[int, ...], mode: str) -> Made:
    """Names, our function and NumPy's, of a and b and an exponent that is not negative, for each rank."""
    names: list[str] = []
    inputs, outputs = [], []
    for rank in ranks:
        a, b, e = (T.tensor(f"{n}{rank}", dtype, (None,) * rank) for n in "abe")
        inputs += [a, b, e]
        outputs += [f(a, b) for f, _ in BINARY.values()] + [f(a) for f, _ in UNARY.values()] + [a**e]
        names += [f"{dtype} rank {rank} {name}" for name in (*BINARY, *UNARY, "**")]

    def numpys(*values: np.ndarray) -> list[np.ndarray]:
        found = []
        for a, b, e in zip(values[::3], values[1::3], values[2::3]):
            found += [f(a, b) for _, f in BINARY.values()] + [f(a) for _, f in UNARY.values()] + [np.power(a, e)]
        return [np.asarray(f) for f in found]

    return names, ag.function(inputs, outputs, mode=mode), numpys


def exponent(b: np.ndarray) -> np.ndarray:
    """`b` where it is not negative, else 0: NumPy raises for negative powers of integers."""
    return np.where(b < 0, b.dtype.type(0), b)


def compare(trials: Trials, made: Made, *values: np.ndarray) -> None:
    names, ours, numpys = made
    with np.errstate(all="ignore"):
        wanted = numpys(*values)
    for name, got, want in zip(names, ours(*values), wanted, strict=True):
        same = got.dtype == want.dtype and got.shape == want.shape
        wrong = ~(got == want) & ~((got != got) & (want != want)) if same else np.True_
        where = f" at {np.argwhere(wrong)[0]}: {got[wrong][0]}, not {want[wrong][0]}" if same and wrong.any() else ""
        trials.check(same and not wrong.any(), f"{name}{where}", want.size)


def layouts(a: np.ndarray, b: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """The same pairs as vectors: contiguous, with gaps, backwards."""
    yield a, b
    wide = np.zeros((2, 3 * a.size), a.dtype)
    wide[:, ::3] = a, b
    yield wide[0, ::3], wide[1, ::3]
    yield a[::-1], wide[1, ::3][::-1]


def on_extremes(trials: Trials, dtype: str, mode: str) -> None:
    values = extremes(dtype)
    pairs = np.array(list(itertools.product(values, values)), dtype).T
    column, row = values[:, None], values[None, :]
    made = all_operations(dtype, (0, 1, 2), mode)
    for a, b in layouts(*pairs):
        scalars = (np.array(a[0]), np.array(b[0]), exponent(np.array(b[0])))
        compare(trials, made, *scalars, a, b, exponent(b), column, row, exponent(row))
    for a, b in pairs.T:
        scalars = (np.array(a), np.array(b), exponent(np.array(b)))
        compare(trials, made, *scalars, *(s.reshape(1) for s in scalars), *(s.reshape(1, 1) for s in scalars))


def on_constants(trials: Trials, dtype: str) -> None:
    """Each extreme as a constant on either side."""
    values = extremes(dtype)
    a = T.tensor("a", dtype, (None,))
    cases = [(name, c, left) for name in BINARY for c in values for left in (False, True)]
    expressions = [BINARY[n][0](T.constant(c), a) if left else BINARY[n][0](a, T.constant(c)) for n, c, left in cases]

    def numpys(x: np.ndarray) -> list[np.ndarray]:
        return [BINARY[n][1](np.full_like(x, c), x) if left else BINARY[n][1](x, np.full_like(x, c))
                for n, c, left in cases]  # fmt: skip

    names = [f"{dtype} {c} {n} a" if left else f"{dtype} a {n} {c}" for n, c, left in cases]
    compare(trials, (names, ag.function([a], expressions), numpys), values)


def on_random_bits(trials: Trials, dtype: str) -> None:
    rng = np.random.default_rng(7)
    a, b = np.frombuffer(rng.bytes(2 * RANDOM_PAIRS * np.dtype(dtype).itemsize), dtype).reshape(2, -1)
    compare(trials, all_operations(dtype, (1,), "FAST_RUN"), a, b, exponent(b))


def negative_powers(trials: Trials) -> None:
    """As in NumPy, an error."""
    for dtype in DTYPES[:4]:
        a, b = T.tensor("a", dtype, (None,)), T.tensor("b", dtype, (None,))
        power = ag.function([a, b], a**b)
        for base, e in itertools.product(extremes(dtype), [v for v in extremes(dtype) if v < 0]):
            try:
                got = power(np.array([base]), np.array([e]))
                trials.check(False, f"{dtype} {base} ** {e} is {got}, not an error")
            except ValueError:
                trials.check(True, "")


def run(full: bool) -> list[Row]:
    """Bit-equality with NumPy on every element of every result."""
    trials = Trials("G1", "integer // % divmod << >> abs neg ** casts at extremes: as NumPy")
    for dtype in DTYPES:
        on_extremes(trials, dtype, "FAST_RUN")
        if full:
            on_extremes(trials, dtype, "FAST_COMPILE")
            on_constants(trials, dtype)
            on_random_bits(trials, dtype)
    negative_powers(trials)
    return [trials.row()]
