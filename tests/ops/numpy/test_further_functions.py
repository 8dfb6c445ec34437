"""NumPy's further functions: elements edited, counted and chosen, polynomials, sets and bits; values and errors."""

import numpy as np
import pytest
from against_numpy import assert_like_numpy, sample
from gradients import assert_gradient
from hypothesis import given, settings
from hypothesis import strategies as st
from test_numpy_functions import like, with_nan

import arignote as ag
from arignote import ops as T
from arignote.graph import NoGradient

DTYPES = ["bool", "int8", "uint16", "int64", "float16", "float32", "float64", "complex128"]
X = np.arange(12.0).reshape(3, 4)


def named(name, x, *arguments, rtol=0.0, **options):
    """`T.name` of `x` alone as a variable is `np.name` of it; of several results, each."""
    ours, numpys = (lambda v, f=f: f(v, *arguments, **options) for f in (getattr(T, name), getattr(np, name)))
    expected = numpys(x)
    if not isinstance(expected, (tuple, list)):
        assert_like_numpy(ours, numpys, x, rtol=rtol)
        return
    for k in range(len(expected)):
        assert_like_numpy(lambda v, k=k: ours(v)[k], lambda v, k=k: numpys(v)[k], x, rtol=rtol)


# --- parts put in and left out


@pytest.mark.parametrize("obj", [
    0, 2, 3, -1, -3, [1], [0, 2], [2, 0, 0], [-1, 1], [], slice(0, 2), slice(None, None, -2),
    np.array([True, False, True]),
])  # fmt: skip
def test_insert_and_delete(obj):
    if not (isinstance(obj, int) and obj == 3):  # one past the end is a place to insert only
        named("delete", X, obj, 0)
        named("delete", X[:, 0], obj)
    named("insert", X, obj, 7.5, 0)
    named("insert", X[:, 0], obj, 7.5)
    assert_like_numpy(lambda v: T.insert(v, obj, [1, 2, 3, 4], 0), lambda v: np.insert(v, obj, [1, 2, 3, 4], 0), X)


def test_inserted_values_keep_their_shape_and_dtype():
    rows = np.array([[9.5], [8.5]])
    named("insert", np.arange(4), 1, 2.7)
    assert_like_numpy(lambda v: T.insert(v, 1, rows[:, 0], 0), lambda v: np.insert(v, 1, rows[:, 0], 0), X[:, :2])
    assert_like_numpy(lambda v: T.insert(v, [0, 2], rows, 0), lambda v: np.insert(v, [0, 2], rows, 0), X)
    assert_like_numpy(lambda v: T.insert(v, 1, [5, 6, 7], 1), lambda v: np.insert(v, 1, [5, 6, 7], 1), X)
    assert_gradient(lambda v: T.insert(v, [0, 2], v[0] * v[1], 1) ** 2, sample((2, 2)))
    assert_gradient(lambda v: T.delete(v, [0, -1], 1) ** 2, sample((2, 5)))


@pytest.mark.few(1)
@pytest.mark.parametrize("call", [
    lambda x: T.insert(x, 5, 0.0), lambda x: T.insert(x, -5, 0.0), lambda x: T.insert(x, [0, 7], 0.0),
    lambda x: T.delete(x, 4), lambda x: T.delete(x, -5), lambda x: T.delete(x, [0, 9]),
])  # fmt: skip
def test_positions_out_of_range_raise(call):
    x = T.vector("x")
    for mode in ("NUMPY", "fast_run"):
        f = ag.function([x], call(x), mode=mode)
        with pytest.raises(IndexError, match=r"(insert|delete): a position must be from -4 to [34]"):
            f(np.arange(4.0))


def test_integers_that_name_no_choice_raise():
    x, n = T.vector("x"), T.lvector("n")
    for mode in ("NUMPY", "fast_run"):
        f = ag.function([x, n], T.choose(n, [x, x]), mode=mode)
        for integers in ([0, 1, 2, 0], [0, -1, 0, 0]):
            with pytest.raises(ValueError, match="choose: an integer of a must be from 0 to 1"):
                f(np.arange(4.0), integers)


@settings(max_examples=40)
@given(st.lists(st.integers(-4, 3), max_size=5), st.integers(0, 2**31))
def test_any_positions(obj, seed):
    x, positions = T.vector("x"), T.lvector("positions")
    values = np.random.default_rng(seed).normal(size=4)
    given_ = np.array(obj, "int64")
    new = np.arange(len(obj)) + 10.0
    found = T.delete(x, positions).eval({x: values, positions: given_})
    np.testing.assert_array_equal(found, np.delete(values, given_))
    found = T.insert(x, positions, new).eval({x: values, positions: given_}) if len(obj) != 1 else None
    if found is not None:
        np.testing.assert_array_equal(found, np.insert(values, given_, new))


def test_blocks_and_parts():
    a, b = X, X[:, :1]
    assert_like_numpy(lambda p, q: T.block([[p, q], [q, p]]), lambda p, q: np.block([[p, q], [q, p]]), a, b)
    assert_like_numpy(lambda p: T.block([p, 2.0]), lambda p: np.block([p, 2.0]), X[0])
    for count in (1, 2, 3, 5, [1, 3]):
        named("array_split", np.arange(7), count)
        named("array_split", X, count, axis=1)
    named("dsplit", sample((2, 3, 4)), 2)
    for shape in ((2, 7), 5, (0, 3), ()):
        named("resize", X, shape)
        named("resize", np.zeros(0), shape)
    for axis, start in ((0, 2), (1, 0), (2, 3), (-1, 1), (0, 0)):
        named("rollaxis", sample((2, 3, 4)), axis, start)
    for mistake in (
        lambda: T.block([[X], 1.0]), lambda: T.block([]), lambda: T.array_split(X, 0), lambda: T.dsplit(X, 1)
    ):  # fmt: skip
        with pytest.raises(ValueError, match=r"block|split"):
            mistake()


# --- positions


def test_positions_and_grids():
    named("diagflat", X, 1)
    for k in (0, -1, 2):
        named("tril_indices_from", X, k)
        named("triu_indices_from", X, k)
    for name, options in (("indices", {}), ("indices", {"dtype": "int8"})):
        np.testing.assert_array_equal(getattr(T, name)((2, 3), **options).eval(), getattr(np, name)((2, 3), **options))
    for ours, numpys in zip(T.indices((2, 3), sparse=True), np.indices((2, 3), sparse=True)):
        np.testing.assert_array_equal(ours.eval(), numpys)
    assert_like_numpy(lambda v: v[T.ix_([0, 2], [True, False, True, True])],
                      lambda v: v[np.ix_([0, 2], [True, False, True, True])], X)  # fmt: skip
    where = np.array([[0, 2, 1], [3, 0, 1]])
    ours, numpys = (lambda i, j, of=of: of.ravel_multi_index((i, j), (3, 4)) for of in (T, np))
    assert_like_numpy(ours, numpys, *where)
    with pytest.raises(ValueError, match="ravel_multi_index: 1 array of indices for 2 axes"):
        T.ravel_multi_index(([0],), (3, 4))


@pytest.mark.parametrize("dtype", DTYPES)
def test_order(dtype):
    x = sample((4, 5), dtype)
    if dtype != "float16":
        named("sort_complex", x)
    keys = [np.round(sample(9, dtype, seed=k).astype("complex128").real).astype(dtype) for k in range(3)]
    assert_like_numpy(lambda *k: T.lexsort(k), lambda *k: np.lexsort(k), *keys)
    whole = sample((3, 6), dtype)
    np.testing.assert_array_equal(T.lexsort(T.as_tensor(whole)).eval(), np.lexsort(whole))
    for kth in (0, 2, -1):
        v = T.tensor("v", dtype, (None, None))
        found = T.partition(v, kth, 1).eval({v: x})
        np.testing.assert_array_equal(found[:, kth], np.partition(x, kth, 1)[:, kth])
        at = T.argpartition(v, kth, 1).eval({v: x})
        np.testing.assert_array_equal(np.take_along_axis(x, at, 1)[:, kth], np.partition(x, kth, 1)[:, kth])


# --- NaN left out, differences, sums


@pytest.mark.few(1)
@pytest.mark.parametrize("dtype", ["int8", "float16", "float32", "float64"])
def test_without_nan(dtype):
    x = with_nan((4, 5), dtype) if dtype.startswith("float") else sample((4, 5), dtype)
    for axis in (None, 0, 1):
        for name in ("nanargmax", "nanargmin"):
            named(name, x, axis=axis)
        for q in (0.3, [0.0, 0.5, 1.0], [[0.25, 0.75]]):
            for method in ("linear", "lower", "midpoint"):
                like("nanquantile", x, q, axis=axis, method=method)
    like("nanpercentile", x, 30, axis=(0, 1), keepdims=True)
    if dtype == "float64":
        x[:, 1] = np.nan
        v = T.matrix("v")
        for search in (T.nanargmax, T.nanargmin):
            with pytest.raises(ValueError, match="a slice has no element that is not NaN"):
                search(v, 0).eval({v: x})
        with pytest.warns(RuntimeWarning, match="All-NaN"):
            like("nanquantile", x, 0.5, axis=0)
        assert_gradient(lambda v: T.nanquantile(v, [0.3, 0.9], axis=0), sample((4, 3)))


def test_differences_and_sums():
    named("ediff1d", X)
    named("ediff1d", X, to_end=[1, 2], to_begin=-5)
    for dtype in ("int8", "float32", "float64"):
        x = sample((3, 4), dtype)
        for initial in (False, True):
            named("cumulative_sum", x, axis=1, include_initial=initial, rtol=1e-6)
            named("cumulative_prod", x, axis=0, include_initial=initial, rtol=1e-6)
    with pytest.raises(ValueError, match="cumulative_sum: axis is needed for x"):
        T.cumulative_sum(T.matrix("x"))
    phases = np.cumsum(np.random.default_rng(0).uniform(-3, 3, (3, 9)), axis=1)
    for discont in (None, 1.0, 4.0):
        named("unwrap", np.angle(np.exp(1j * phases)), discont, rtol=1e-12)
        named("unwrap", phases.astype("float32"), discont, axis=0, rtol=1e-5)
    named("unwrap", np.array([0, 1, 2, -1, 0]), period=4)
    named("unwrap", np.array([0, 1, 5, -1, 2]), period=3)


@pytest.mark.few(1)
@pytest.mark.parametrize("dtype", ["bool", "int8", "float32", "float64"])
def test_histograms_of_several_axes(dtype):
    x, y, w = sample(40, dtype), sample(40, dtype, seed=1), sample(40, seed=2)
    for bins in (3, [2, 4], [np.array([-1.0, 0.0, 0.5, 3.0]), 3]):
        like("histogram2d", x, y, bins)
        like("histogram2d", x, y, bins, [[-1, 1], [-2, 2]], True)
        like("histogram2d", x, y, bins, None, None, w)
    points = sample((40, 3), dtype)
    v = T.tensor("v", dtype, (None, 3))
    counts, edges = T.histogramdd(v, 3)
    expected, numpys = np.histogramdd(points, 3)
    np.testing.assert_array_equal(counts.eval({v: points}), expected)
    for ours, wanted in zip(edges, numpys):
        np.testing.assert_array_equal(ours.eval({v: points}), wanted)
    if dtype != "bool":  # NumPy warns
        named("histogram_bin_edges", x, 5)
    with pytest.raises(ValueError, match="histogramdd takes a matrix whose number of columns is known"):
        T.histogramdd(T.matrix("x"))


# --- parts of numbers, choices, bits


@pytest.mark.parametrize("dtype", ["bool", "int8", "int64", "float16", "float32", "float64"])
def test_parts_of_numbers(dtype):
    x = sample(6, dtype)
    if dtype.startswith("float"):
        x = np.concatenate([x * 3, [np.inf, -np.inf, np.nan, -0.0, 2.0]]).astype(dtype)
    named("modf", x)
    for name in ("isreal", "iscomplex"):
        named(name, x)
        named(name, np.array([1 + 0j, 2j, np.nan, 1j * np.nan]))
    assert T.ndim(T.tensor3()) == 2 + 1
    named("copy", x)
    if dtype == "float64":
        assert_gradient(lambda v: T.modf(v)[0] ** 2, sample(5) * 3)


def test_choices():
    a = np.array([0, 2, 1, 0])
    options = [np.arange(4) * 1.5, 7, np.arange(4, dtype="int8")]
    assert_like_numpy(lambda i: T.choose(i, options), lambda i: np.choose(i, options), a)
    for mode in ("wrap", "clip"):
        named("choose", np.array([-4, 5, 2, 9]), options, mode=mode)
    for functions in ([-1.0, lambda v: v * 2], [lambda v: -v, 5, lambda v: v + 100]):
        ours, numpys = (lambda v, of=of, f=functions: of.piecewise(v, [v < 0, v > 1], f) for of in (T, np))
        assert_like_numpy(ours, numpys, sample(9) * 3)
    with pytest.raises(ValueError, match="piecewise: 1 function for 3 conditions"):
        T.piecewise(X, [X > 1, X > 2, X > 3], [1])
    with pytest.raises(ValueError, match='choose: mode is "raise", "wrap" or "clip"'):
        T.choose(a, options, mode="no")


@pytest.mark.parametrize("order", ["big", "little"])
def test_bits(order):
    bytes_ = np.arange(30, dtype="uint8").reshape(3, 10) * 7
    for axis in (None, 0, 1):
        named("unpackbits", bytes_, axis, bitorder=order)
        named("unpackbits", bytes_, axis, 5, order)
        named("unpackbits", bytes_, axis, -3, order)
        for dtype in ("bool", "int8"):
            named("packbits", (sample((3, 10), "int8") > 4).astype(dtype), axis, order)
    with pytest.raises(TypeError, match="unpackbits takes uint8, got x"):
        T.unpackbits(T.lvector("x"))


# --- polynomials, windows, sets


def test_polynomials():
    p, q = sample(5), sample(3, seed=1)
    for name in ("polyadd", "polysub"):
        assert_like_numpy(getattr(T, name), getattr(np, name), p, q)
        assert_like_numpy(getattr(T, name), getattr(np, name), np.arange(2), q)
    for m in (0, 1, 3):
        named("polyder", p, m)
        named("polyint", p, m, rtol=1e-15)
    named("polyint", p, 2, [1.0, 2.0], rtol=1e-15)
    x, y = np.linspace(-1, 3, 12), sample((12, 2))
    assert_like_numpy(lambda a, b: T.polyfit(a, b, 3), lambda a, b: np.polyfit(a, b, 3), x, y, rtol=1e-9)
    weights = np.linspace(1, 2, 12)
    ours, numpys = (lambda a, b, of=of: of.polyfit(a, b, 2, w=weights) for of in (T, np))
    assert_like_numpy(ours, numpys, x, y[:, 0], rtol=1e-9)
    for mistake, error in ((lambda: T.polyder(X), ValueError), (lambda: T.polyfit(X, X, 1), TypeError),
                           (lambda: T.polyder(p, -1), ValueError)):  # fmt: skip
        with pytest.raises(error, match="poly"):
            mistake()
    for name in ("bartlett", "blackman", "hamming", "hanning"):
        np.testing.assert_array_equal(getattr(T, name)(9).eval(), getattr(np, name)(9))
    np.testing.assert_array_equal(T.kaiser(9, 2.5).eval(), np.kaiser(9, 2.5))
    with pytest.raises(TypeError, match="hanning: M is an integer known when the graph is built"):
        T.hanning(T.lscalar())


@settings(max_examples=30)
@given(st.lists(st.integers(-3, 3), max_size=6), st.lists(st.integers(-3, 3), max_size=6))
def test_sets(first, second):
    a, b = T.lvector("a"), T.vector("b")
    given_ = {a: np.array(first, "int64"), b: np.array(second, "float64")}
    for name in ("union1d", "intersect1d", "setdiff1d", "setxor1d"):
        found = getattr(T, name)(a, b).eval(given_)
        np.testing.assert_array_equal(found, getattr(np, name)(*given_.values()), err_msg=name)
    np.testing.assert_array_equal(T.setdiff1d(a, b, assume_unique=True).eval(given_),
                                  np.setdiff1d(*given_.values(), assume_unique=True))  # fmt: skip


def test_distinct_elements_by_name():
    x = np.array([[2.0, np.nan, 1.0], [np.nan, 2.0, 5.0]])
    v = T.matrix("v")
    np.testing.assert_array_equal(T.unique_values(v).eval({v: x}), np.sort(np.unique_values(x)))
    for name in ("unique_counts", "unique_inverse", "unique_all"):
        for ours, numpys in zip(getattr(T, name)(v), getattr(np, name)(x), strict=True):
            np.testing.assert_array_equal(ours.eval({v: x}), numpys)


# --- integers, matrices


@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"])
def test_divisors_and_multiples(dtype):
    rng = np.random.default_rng(1)
    limits = np.iinfo(dtype)
    ends = np.array([limits.min, limits.max, 0, 1, limits.max // 2], dtype)
    numbers = np.concatenate([ends, rng.integers(max(limits.min, -100), 100, 40).astype(dtype)])
    a, b = (v.ravel() for v in np.meshgrid(numbers, numbers))
    x, y = T.vector("x", dtype), T.vector("y", dtype)
    for name in ("gcd", "lcm"):
        expected = getattr(np, name)(a, b)
        for mode in ("NUMPY", "fast_run"):
            found = ag.function([x, y], getattr(np, name)(x, y), mode=mode)(a, b)
            assert found.dtype == expected.dtype
            np.testing.assert_array_equal(found, expected)
    for refused in ("bool", "float64"):
        with pytest.raises(TypeError, match="gcd"):
            T.gcd(T.vector("f", refused), T.vector("g", refused))


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128", "int8"])
def test_eigenvalues_of_any_matrix(dtype):
    a = sample((2, 4, 4), dtype)
    tolerance = 1e-4 if dtype in ("float32", "complex64") else 1e-10
    x = T.tensor3("x", dtype)
    for mode in ("NUMPY", "fast_run"):
        w, v, alone = ag.function([x], [*np.linalg.eig(x), np.linalg.eigvals(x)], mode=mode)(a)
        assert w.dtype == v.dtype == alone.dtype == ("complex64" if tolerance == 1e-4 else "complex128")
        np.testing.assert_allclose(a @ v, v * w[:, None, :], atol=tolerance)
        np.testing.assert_allclose(np.sort(alone), np.sort(np.linalg.eigvals(a).astype(w.dtype)), atol=tolerance)
    m = T.matrix("m")
    with pytest.raises(ValueError, match="eig takes square matrices"):
        T.linalg.eig(T.tensor("m", "float64", (2, 3)))
    with pytest.raises(NoGradient, match="eig: eigenvectors are determined but for a factor"):
        ag.grad(T.sum(T.abs(T.linalg.eig(m)[1])), m)


def test_the_derivative_of_eigenvalues():
    weights = np.array([1.0, 0.5, 2.0])
    for seed in range(3):
        a = sample((3, 3), seed=seed)
        assert_gradient(lambda v: T.sum(T.abs(T.linalg.eigvals(v) - 2j) ** 2), a)
        assert_gradient(lambda v: T.real(T.prod(T.linalg.eig(v)[0] + weights[0])), a)
        symmetric = a + a.T + np.diag([1.0, 5.0, 9.0])
        assert_gradient(lambda v: T.sort(T.real(T.linalg.eigvals(v))) * weights, symmetric)


def test_tensors_as_matrices():
    a = sample((2, 3, 6)) + np.eye(6).reshape(2, 3, 6)
    spaces = (T.linalg, np.linalg)
    like("tensorinv", a, ind=2, spaces=spaces, rtol=1e-10)
    like("tensorinv", a.transpose(2, 0, 1).copy(), ind=1, spaces=spaces, rtol=1e-10)
    like("tensorsolve", a, sample((2, 3)), spaces=spaces, rtol=1e-10)
    like("tensorsolve", a.transpose(2, 0, 1).copy(), sample((2, 3)), (0,), spaces=spaces, rtol=1e-10)
    for mistake in (lambda: T.linalg.tensorinv(a, 0), lambda: T.linalg.tensorsolve(a, a)):
        with pytest.raises(ValueError, match=r"tensor(inv|solve): "):
            mistake()
