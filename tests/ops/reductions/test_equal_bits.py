"""Equal numbers give equal results, bit for bit, wherever they stand: layout, length, threads, loops, exported code."""

from __future__ import annotations

import numpy as np
import pytest
from draws import mostly_long

import arignote as ag
from arignote import ops as T
from arignote.ops.core.tensor import TensorVariable
from arignote.ops.elementwise.records import ELEMENTWISE

NUMBERS = [
    0.0, -0.0, 1.0, -1.0, 0.3, -0.3, 1.7, -2.6, 3.0, 12.5, -80.25, 700.0, 4e4, -2e9, 1e22, 3e38, 1e-40, 5e-324, np.inf,
    -np.inf, np.nan,
]  # fmt: skip


def ops_of(dtype: str, arity: int) -> list[str]:
    """The elementwise ops that take so many floats of the dtype."""
    found = []
    for name, op in ELEMENTWISE.items():
        if op.arity != arity or name == "polygamma":
            continue
        try:
            op(*[T.scalar("x", dtype)] * arity)
        except TypeError:
            continue
        found.append(name)
    return found


def all_ops(dtype: str, *operands: TensorVariable) -> list[TensorVariable]:
    """Every op of one operand of the first, and every op of two of them all."""
    x, y = operands
    one = [ELEMENTWISE[name](x) for name in ops_of(dtype, 1)]
    return one + [ELEMENTWISE[name](x, y) for name in ops_of(dtype, 2)]


def pairs(dtype: str) -> tuple[np.ndarray, np.ndarray]:
    """Numbers and their partners, each pair of bits once."""
    with np.errstate(over="ignore"):
        x = np.array(NUMBERS, "float64").astype(dtype)
    if x.dtype.kind == "c":
        x = x[np.isfinite(x)] + np.array(1j, dtype) * x[np.isfinite(x)][::-1]
    return x, np.roll(x, 5)


def bits(x: np.ndarray) -> bytes:
    return np.ascontiguousarray(x).tobytes()


def layouts(n: int, rng: np.random.Generator) -> list[tuple[str, np.ndarray, np.ndarray]]:
    """Ways to lay out 1-d arrays of indices, each with a view that picks as many elements out of a larger array."""
    found = []
    for length in (0, 1, 2, 3, 5, 7, 8, 9, 15, 16, 17, 31, 33, 40):
        found.append((f"length {length}", rng.integers(0, n, length), np.s_[:]))
        found.append((f"length {length} from the third on", rng.integers(0, n, length + 3), np.s_[3:]))
    found.append(("every other", rng.integers(0, n, 61), np.s_[::2]))
    found.append(("reversed", rng.integers(0, n, 37), np.s_[::-1]))
    found.append(("every third, reversed", rng.integers(0, n, 97), np.s_[::-3]))
    found.append(("long", rng.integers(0, n, 40_003), np.s_[:]))
    found.append(("one number, often", np.full(1037, 4), np.s_[:]))
    found.append(("one number, seldom", np.full(9, 14), np.s_[:]))
    return found


def planes(n: int, rng: np.random.Generator) -> list[tuple[str, np.ndarray, object]]:
    """The same for 2-d arrays."""
    return [
        ("short rows", rng.integers(0, n, (50, 3)), np.s_[:]),
        ("transposed", rng.integers(0, n, (23, 41)), "T"),
        ("every other column", rng.integers(0, n, (9, 35)), np.s_[:, ::2]),
        ("rows of a larger matrix", rng.integers(0, n, (9, 35)), np.s_[:, 2:21]),
        ("a column", rng.integers(0, n, (19, 7)), np.s_[:, 3:4]),
        ("turned round", rng.integers(0, n, (19, 7)), np.s_[::-1, ::-1]),
    ]


def view(x: np.ndarray, how: object) -> np.ndarray:
    return x.T if isinstance(how, str) else x[how]


def check(f, names: list[str], x: np.ndarray, y: np.ndarray, expected: list[np.ndarray], cases) -> None:
    for case, where, how in cases:
        seen = view(where, how)
        for name, got, want in zip(names, f(view(x[where], how), view(y[where], how)), expected, strict=True):
            differs = bits(got) != bits(want[seen])
            assert not differs, (name, case, x[seen][np.asarray(got) != want[seen]][:5], np.asarray(got)[:5])


INEXACT = ["float16", "float32", "float64", "complex64", "complex128"]


@pytest.mark.long
@pytest.mark.parametrize("dtype", mostly_long(INEXACT, {"float32", "complex128"}))
def test_a_number_has_one_result_wherever_it_stands(dtype):
    names = ops_of(dtype, 1) + ops_of(dtype, 2)
    x, y = pairs(dtype)
    rng = np.random.default_rng(0)
    v, w = T.vector("v", dtype), T.vector("w", dtype)
    m, k, s, r = T.matrix("m", dtype), T.matrix("k", dtype), T.scalar("s", dtype), T.scalar("r", dtype)
    operands = [(v, w), (m, k), (s, r)]
    of_all_ranks = ag.function([v, w, m, k, s, r], [y for pair in operands for y in all_ops(dtype, *pair)])

    def of(rank):
        """The results of operands of one of the ranks; the others get the first number."""
        rest = [np.full((1,) * n, z[0]) for n in (1, 2, 0) for z in (x, y)]
        at = (1, 2, 0).index(rank)

        def call(*given):
            results = of_all_ranks(*rest[: 2 * at], *given, *rest[2 * at + 2 :])
            return results[at * len(names) : (at + 1) * len(names)]

        return call

    f = of(1)
    expected = f(np.tile(x, 40), np.tile(y, 40))  # in the middle of vectors, in the rest, all the same
    for name, e in zip(names, expected, strict=True):
        table = e.reshape(40, -1)
        assert all(bits(row) == bits(table[0]) for row in table), name
    expected = [e[: x.size] for e in expected]
    check(f, names, x, y, expected, layouts(x.size, rng))
    check(of(2), names, x, y, expected, planes(x.size, rng))
    check(of(0), names, x, y, expected, [(f"number {i}", np.array(i), np.s_[()]) for i in range(x.size)])


@pytest.mark.long
@pytest.mark.parametrize("dtype", mostly_long(["float32", "float64"], {"float64"}))
def test_loops_branches_rows_and_threads_give_the_same_bits(dtype):
    """Scan bodies, cond, reductions of single elements, epilogues of products, other schedules, one and two threads."""
    names = ["sin", "cos", "tan", "log", "log10", "exp2", "expm1", "arctan", "erf", "cbrt", "arcsinh"]
    x = np.tile(pairs(dtype)[0], 1500)
    v, s = T.vector("v", dtype), T.scalar("s", dtype)
    alone = ag.function([v], [ELEMENTWISE[n](v) for n in names], threads=1)
    expected = alone(x)
    ways = {"two threads": ag.function([v], [ELEMENTWISE[n](v) for n in names], threads=2)(x)}
    short = x[:21]
    steps, _ = ag.scan(lambda e: [ELEMENTWISE[n](e) for n in names], sequences=v)
    ways["scan"] = ag.function([v], steps)(short)
    chosen = [ag.cond(s > -5, lambda n=n: ELEMENTWISE[n](v), lambda: v) for n in names]
    ways["cond"] = ag.function([s, v], chosen)(np.ones((), dtype), short)
    m = T.matrix("m", dtype)
    rows = [T.max(ELEMENTWISE[n](m), axis=1) for n in names]
    ways["short rows"] = ag.function([m], rows)(np.repeat(short[:, None], 5, 1))
    column = T.constant(np.ones((1, 1), dtype))
    ways["epilogue"] = [e[:, 0] for e in ag.function([v], [ELEMENTWISE[n](v[:, None] @ column) for n in names])(short)]
    for way, found in ways.items():
        for name, got, want in zip(names, found, expected, strict=True):
            both = np.isnan(got) & np.isnan(want[: got.size])  # a NaN that passed through a maximum is another NaN
            same = both | (got.view(f"u{got.itemsize}") == want[: got.size].view(f"u{got.itemsize}"))
            assert same.all() or (way == "epilogue" and np.isnan(got[~same]).all()), (way, name, short[~same[:21]])


BESIDE_SIGNS = [(dtype, name) for dtype in ("float32", "float64") for name in ops_of(dtype, 1)]


@pytest.mark.parametrize("case", mostly_long(BESIDE_SIGNS, {("float32", "erfc")}))
def test_a_nan_has_one_result_beside_an_op_that_reads_its_sign(case):
    """A compiler may negate a NaN in a vector, and not in the rest of a loop."""
    dtype, name = case
    x = T.vector("x", dtype)
    f = ag.function([x], [ELEMENTWISE[name](x), T.signbit(x)])
    given = np.array([np.nan, -np.nan, 1.5, -2.5, 0.3], dtype)
    (found, _) = f(np.tile(given, 37))
    rows = found.reshape(37, -1)
    assert all(bits(row) == bits(rows[0]) for row in rows)


@pytest.mark.few(1)
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("name", ["exp", "tanh"])
def test_a_costly_function_beside_a_sum_has_its_own_bits(name, dtype):
    """Also in the elements that fill no vector, in place, of strided rows; the sum is that of the stored values."""
    x, w = T.matrix("x", dtype), ag.shared(np.zeros((1, 1), dtype), name="w")
    value = getattr(T, name)(x)
    alone, summed = ag.function([x], value), ag.function([x], value.sum(1))
    f = ag.function([x], [value, value.sum(1)])
    of_state = getattr(T, name)(w)
    step = ag.function([], of_state.sum(1), updates={w: of_state})
    rng = np.random.default_rng(0)
    total = ag.function([x], x.sum(1))
    for columns in (*range(41), 63, 64, 65, 100, 127, 128, 129, 143, 300):
        a = rng.uniform(0.1, 2, (3, columns)).astype(dtype)
        if columns:
            a[0, -1], a[1, 0], a[2, -1] = np.inf, -0.0, np.nan
        for given in (a, np.asfortranarray(a), np.repeat(a, 2, axis=1)[:, ::2]):
            expected = alone(given)
            stored, sums = f(given)
            assert bits(stored) == bits(expected), columns
            assert bits(sums) == bits(summed(given)), columns
        w.set_value(a)
        sums = step()
        assert bits(w.get_value()) == bits(alone(a)), columns
        assert bits(sums) == bits(summed(a)), columns
        if dtype != "float16" and columns > 40:
            np.testing.assert_array_equal(summed(a), total(alone(a)), str(columns))
