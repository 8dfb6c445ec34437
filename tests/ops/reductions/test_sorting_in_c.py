"""Sorts, selections, searches, distinct and nonzero elements as C computes them: no step calls NumPy.

One function for each dtype computes all of them; its results have NumPy's bits, those of a stable sort.
"""

from functools import cache

import numpy as np
import pytest
from draws import rarely_long

import arignote as ag
from arignote import ops as T
from arignote.cbackend.abi._abi import ffi
from arignote.cbackend.kernels import _KINDS
from arignote.cbackend.runtime.runtime import load_runtime
from arignote.function.function import find_toolchain, process_cache
from arignote.ops.reductions.sorting import OrderStatistics, SearchSorted

REAL = [
    "bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float16", "float32", "float64",
]  # fmt: skip
DTYPES = [*REAL, "complex64", "complex128"]
LENGTHS = [0, 1, 2, 7, 32, 33, 64, 65, 127, 300]
"""Beside powers of two: networks of vectors have as many elements."""


@cache
def compiled(dtype: str) -> ag.Function:
    """Return the function of a matrix, numbers to look for, places and a count, and check that no step calls NumPy."""
    x, v, places, k = T.tensor(dtype, (None, None)), T.tensor(dtype, (None,)), T.lvector(), T.lscalar()
    results = [T.sort(x, 0), T.sort(x, 1), T.argsort(x, 0), T.argsort(x, 1), OrderStatistics()(x, places)]
    row = T.ravel(x)
    ordered = T.sort(row)
    results += [T.searchsorted(ordered, v), T.searchsorted(ordered, v, "right")]
    results += [*T.unique(row, True, True, True), T.unique(row), T.unique(row, equal_nan=False), *T.nonzero(x)]
    results += [row[T.ne(row, 0)]]
    if dtype in REAL:
        results += [*T.topk(x, k), *T.topk(x, k, 0, largest=False)]
    function = ag.function([x, v, places, k], results, on_unused_input="ignore")
    assert not function.program.calls_back
    return function


def expected(x: np.ndarray, v: np.ndarray, places: np.ndarray, k: int) -> list[np.ndarray]:
    """Return what NumPy computes, for each result of `compiled`."""
    row = np.sort(x.ravel(), kind="stable")
    results = [np.sort(x, a, kind="stable") for a in (0, 1)] + [np.argsort(x, a, kind="stable") for a in (0, 1)]
    results += [np.sort(x, 1, kind="stable")[:, places], np.searchsorted(row, v), np.searchsorted(row, v, "right")]
    values, *positions = np.unique(x.ravel(), True, True, True)
    results += [x.ravel()[positions[0]] if values.size else values, *positions]
    # np.unique sorts float16 wrong with AVX-512 in NumPy 2.4
    distinct = row[np.concatenate([np.ones(min(row.size, 1), bool), row[1:] != row[:-1]])]
    results += [x.ravel()[positions[0]] if values.size else values, distinct]
    results += [*np.nonzero(x), x.ravel()[np.nonzero(x.ravel())]]
    if x.dtype.name in REAL:
        for axis, of in ((1, -1), (0, 1)):
            n = x.shape[axis]
            flipped = np.flip(x, axis) if of < 0 else x
            order = np.argsort(flipped, axis, kind="stable")
            order = np.flip(n - 1 - order, axis) if of < 0 else order
            order = np.take(order, np.arange(k), axis)
            results += [np.take_along_axis(x, order, axis), order]
    return results


def numbers(rng: np.random.Generator, dtype: str, shape: tuple[int, ...]) -> np.ndarray:
    """Return random elements: few or many distinct ones, with the special ones of the dtype."""
    kind = np.dtype(dtype)
    few = rng.random() < 0.5
    if kind.kind in "biu":
        ends = (0, 1) if kind.kind == "b" else (np.iinfo(kind).min, np.iinfo(kind).max)
        if kind.itemsize == 8 and not few:
            return np.frombuffer(rng.bytes(8 * int(np.prod(shape))), kind).reshape(shape)
        low, high = (max(-3, ends[0]), min(3, ends[1])) if few else ends
        x = rng.integers(low, high, shape, endpoint=True).astype(kind)
        return np.where(rng.random(shape) < 0.05, rng.choice(np.array(ends, kind), shape), x)
    if kind.kind == "c":
        real = "float32" if kind.itemsize == 8 else "float64"
        x = np.empty(shape, kind)
        x.real, x.imag = numbers(rng, real, shape), numbers(rng, real, shape)
        return x
    x = (rng.integers(-3, 4, shape) if few else rng.standard_normal(shape) * 100).astype(kind)
    special = np.array([0.0, -0.0, np.nan, -np.nan, np.inf, -np.inf, np.finfo(kind).tiny, np.finfo(kind).max], kind)
    return np.where(rng.random(shape) < rng.choice([0, 0.1, 0.6]), rng.choice(special, shape), x)


def check(rng: np.random.Generator, dtype: str, shape: tuple[int, int]) -> None:
    x = numbers(rng, dtype, shape)
    x = [x, np.asfortranarray(x), np.repeat(x, 2, 1)[:, ::2], x[::-1, ::-1]][rng.integers(0, 4)]
    places = rng.integers(-shape[1], shape[1], rng.integers(0, 6)) if shape[1] else np.zeros(0, np.int64)
    k, v = int(rng.integers(0, min(shape) + 1)), numbers(rng, dtype, (int(rng.integers(0, 20)),))
    found, wanted = compiled(dtype)(x, v, places, k), expected(x, v, places, k)
    for number, (a, b) in enumerate(zip(found, wanted, strict=True)):
        assert a.dtype == b.dtype and a.shape == b.shape, (number, a.dtype, b.dtype, a.shape, b.shape)
        if number == 4 or number == 12:  # any of equal elements: zeros with or without a sign, any NaN
            np.testing.assert_array_equal(a, b)
        else:
            assert np.ascontiguousarray(a).tobytes() == np.ascontiguousarray(b).tobytes(), (number, x, a, b)


@pytest.mark.parametrize("dtype", rarely_long(DTYPES))
def test_bits_of_numpy(dtype):
    rng = np.random.default_rng(DTYPES.index(dtype))
    for n in LENGTHS:
        check(rng, dtype, (3, n))
    check(rng, dtype, (130, 5))


def test_the_first_of_equal_elements_are_on_top():
    x, k = T.fmatrix(), T.lscalar()
    f = ag.function([x, k], T.topk(x, k)[1])
    value = np.random.default_rng(2).integers(0, 40, (3, 701)).astype("float32")
    value[1, 5::300], value[2] = np.nan, np.arange(701)
    order = np.argsort(-np.where(np.isnan(value), np.inf, value), axis=1, kind="stable")
    for count in (1, 16, 17, 701):
        np.testing.assert_array_equal(f(value, count), order[:, :count])


@pytest.mark.long
def test_bodies_of_loops_and_threads():
    x, rows = T.matrix("x"), T.matrix("rows")

    def step(row, state):
        ordered = T.sort(state + row)
        places = T.nonzero(ordered > 0)[0]
        values, positions = T.topk(ordered, 2)
        total = T.sum(ordered[places]) + values[0] + positions[1] + T.median(row) + T.unique(T.round(row)).shape[0]
        return ordered * 0.5, total + T.abs(T.fft.rfft(row)).sum()

    (states, totals), _ = ag.scan(step, rows, [x[0], None])
    f = ag.function([x, rows], [states, totals])
    assert not f.program.calls_back
    rng = np.random.default_rng(1)
    given, state = rng.standard_normal((20, 9)), np.zeros(9)
    found = f(np.zeros((1, 9)), given)
    for k, row in enumerate(given):
        ordered = np.sort(state + row)
        total = ordered[ordered > 0].sum() + ordered[-1] + 7 + np.median(row) + len(np.unique(np.round(row)))
        np.testing.assert_allclose(found[1][k], total + np.abs(np.fft.rfft(row)).sum(), rtol=1e-12)
        state = ordered * 0.5
        np.testing.assert_array_equal(found[0][k], state)
    results = [T.sort(x), T.argsort(x, 0), *T.topk(x, 5), T.median(x, 1), T.searchsorted(T.sort(x[0]), x)]
    one, several = (ag.function([x], results, threads=threads) for threads in (1, 2))
    value = rng.standard_normal((90, 1500))
    for a, b in zip(one(value), several(value), strict=True):
        assert a.tobytes() == b.tobytes()
    np.testing.assert_array_equal(one(value)[1], np.argsort(value, 0))


@cache
def places_in(dtype: str, side: str, threads: int) -> ag.Function:
    """Return the function of a vector and a matrix of numbers to look for."""
    a, v = T.tensor(dtype, (None,)), T.tensor(dtype, (None, None))
    return ag.function([a, v], T.searchsorted(a, v, side), threads=threads)


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("dtype", ["float64", "complex64"])
@pytest.mark.parametrize("count, wanted", [(3, 6), (40, 300), (5000, 40), (300, 9000), (90_000, 9000)])
def test_places_in_a_vector_in_any_order_are_those_of_bisection(dtype, side, count, wanted):
    """The numbers that are read decide.  NumPy calls these places undefined, and has the same ones since 2.5."""
    rng = np.random.default_rng(count)
    a, v = (rng.integers(0, 50, n).astype(dtype) for n in (count, wanted))
    v[1], a[2] = np.nan, np.nan
    v = v.reshape(2, -1)
    results = [places_in(dtype, side, threads)(a, v) for threads in (1, 2)]
    results.append(SearchSorted(side).evaluate(a, v)[0])
    if np.lib.NumpyVersion(np.__version__) >= "2.5.0":
        results.append(np.searchsorted(a, v, side))
    for places in results:
        np.testing.assert_array_equal(places, results[0])
    ordered = np.sort(a)
    np.testing.assert_array_equal(places_in(dtype, side, 2)(ordered, v), np.searchsorted(ordered, v, side))


def test_errors():
    x, k, places = T.matrix("x"), T.lscalar("k"), T.lvector("places")
    top = ag.function([x, k], T.topk(x, k)[0])
    for count in (-1, 6):
        with pytest.raises(ValueError, match=f"topk: k must be from 0 to .*, got {count}"):
            top(np.ones((2, 5)), count)
    chosen = ag.function([x, places], OrderStatistics()(x, places))
    for place in (-6, 5):
        with pytest.raises(IndexError, match=f"index {place} is out of bounds for axis 1 of x with size 5"):
            chosen(np.ones((2, 5)), [0, place])
    with pytest.raises(IndexError, match="size 0"):
        chosen(np.ones((0, 0)), [0])
    mask = T.tensor("mask", dtype="bool", shape=(None,))
    masked = ag.function([x, mask], x[mask])
    with pytest.raises(IndexError, match="mask has length 3 along axis 0, the axis that it selects from has length 2"):
        masked(np.ones((2, 5)), [True, False, True])
    assert masked(np.ones((2, 5)), np.zeros(0, bool)).shape == (0, 5)
    with pytest.raises(np.exceptions.AxisError):
        T.sort(x, 2)


@pytest.mark.long
@pytest.mark.parametrize("dtype", ["int16", "uint32", "float64", "complex64"])
def test_processors_without_vectors(dtype):
    """Digits sort where there is no AVX2; the values are the same."""
    x, rng = T.tensor(dtype, (None, None)), np.random.default_rng(9)
    outputs = [T.sort(x), T.argsort(x, 0), T.unique(T.ravel(x)), T.median(x) if dtype != "complex64" else T.sort(x, 0)]
    here, plain = (ag.function([x], outputs, target=target) for target in (None, "x86_64-linux"))
    for shape in ((3, 20), (2, 200), (1, 3000), (40, 3)):
        value = numbers(rng, dtype, shape)
        for a, b in zip(here(value), plain(value), strict=True):
            assert a.tobytes() == b.tobytes()


def test_the_kernel_refuses_places_out_of_bounds_as_well():
    runtime, x, y = load_runtime(find_toolchain(), process_cache()), np.arange(5.0), np.empty(1)
    runtime.require_blas(["sorts"])
    table, strides = runtime.table_for(1), ffi.new("i64[]", [1])
    for place, fits in ((-6, False), (-5, True), (4, True), (5, False)):
        places = np.array([place])
        arrays = {name: ffi.cast("void *", a.ctypes.data) for name, a in (("x", x), ("y", y))}
        given = ffi.cast("i64 *", places.ctypes.data)
        counts = {"kind": _KINDS["float64"], "n": 5, "count": 1}
        call = ffi.new("ag_select *", {**counts, **arrays, "x_strides": strides, "places": given})
        assert (table.sorts.select(table, call) == 0) == fits
        assert not fits or y[0] == x[place]


@pytest.mark.long
@pytest.mark.parametrize("dtype", DTYPES)
def test_campaign(dtype):
    """Lengths, layouts, ties and special values by chance; now and then a long row."""
    rng = np.random.default_rng(100 + DTYPES.index(dtype))
    for _ in range(400):
        rows, n = int(rng.integers(0, 5)), int(rng.choice([*LENGTHS, rng.integers(0, 3000)]))
        check(rng, dtype, (rows, n) if rng.random() < 0.7 else (n, rows))
    check(rng, dtype, (2, 70_001))
