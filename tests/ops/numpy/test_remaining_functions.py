"""Functions of NumPy that write, apply functions or decide lengths, against NumPy; and `topk`."""

import numpy as np
import pytest
from gradients import assert_gradient

import arignote as ag
from arignote import ops as T

RNG = np.random.default_rng(0)
X, V, MASK = RNG.standard_normal((3, 4)), RNG.standard_normal(3), RNG.standard_normal((3, 4)) > 0
PLACES = RNG.integers(0, 12, 5)
X3 = RNG.standard_normal((2, 3, 4))


def run(function, *values, static=False):
    inputs = [T.tensor(f"x{k}", v.dtype.name, v.shape if static else (None,) * v.ndim) for k, v in enumerate(values)]
    outputs = function(*inputs)
    several = isinstance(outputs, (tuple, list))
    compiled = ag.function(inputs, list(outputs) if several else outputs, mode="NUMPY", on_unused_input="ignore")
    return compiled(*values)


def like(ours, numpys, *values, statics=(False, True)):
    want = numpys(*values)
    for static in statics:
        got = run(ours, *values, static=static)
        pairs = zip(got, want, strict=True) if isinstance(want, (tuple, list)) else [(got, want)]
        for g, w in pairs:
            w = np.asarray(w)
            assert (g.dtype, g.shape) == (w.dtype, w.shape)
            np.testing.assert_allclose(g, w, rtol=1e-9, atol=1e-9)


def written(function):
    def on_a_copy(x, *arguments):
        y = x.copy()
        function(y, *arguments)
        return y

    return on_a_copy


def test_functions_that_write_return_what_they_wrote():
    like(T.put, written(np.put), X, PLACES, V)
    for mode in ("wrap", "clip"):
        like(lambda a, i, v, m=mode: T.put(a, i, v, m), written(lambda a, i, v, m=mode: np.put(a, i, v, m)),
             X, PLACES - 20, V)  # fmt: skip
    like(T.place, written(np.place), X, MASK, V)
    like(T.putmask, written(np.putmask), X, MASK, V)
    like(lambda a, b, m: T.copyto(a, b, where=m), written(lambda a, b, m: np.copyto(a, b, where=m)), X, X[0] * 2, MASK)
    like(lambda a: T.copyto(a, 3), written(lambda a: np.copyto(a, 3)), X)
    order, rows = np.argsort(X, 0)[:2], RNG.standard_normal((2, 4))
    like(lambda a, i, v: T.put_along_axis(a, i, v, 0), written(lambda a, i, v: np.put_along_axis(a, i, v, 0)),
         X, order, rows)  # fmt: skip
    like(lambda a, i, v: T.put_along_axis(a, i, v, None), written(lambda a, i, v: np.put_along_axis(a, i, v, None)),
         X, PLACES, RNG.standard_normal(5))  # fmt: skip
    for shape in ((3, 3), (7, 3), (3, 5), (2, 2, 2)):
        for wrap in (False, True):
            like(lambda a, v, w=wrap: T.fill_diagonal(a, v, w), written(lambda a, v, w=wrap: np.fill_diagonal(a, v, w)),
                 RNG.standard_normal(shape), V)  # fmt: skip


def test_functions_of_parts_are_applied_to_all():
    for axis in (0, -1):
        for of_line, of_array in ((lambda v: T.sort(v)[::-1], lambda v: np.sort(v)[::-1]), (T.sum, np.sum),
                                  (lambda v: T.outer(v, v), lambda v: np.outer(v, v))):  # fmt: skip
            like(lambda a, f=of_line, k=axis: T.apply_along_axis(f, k, a),
                 lambda a, f=of_array, k=axis: np.apply_along_axis(f, k, a), X3)  # fmt: skip
    like(lambda a: T.apply_over_axes(T.sum, a, [0, 2]), lambda a: np.apply_over_axes(np.sum, a, [0, 2]), X3)
    chosen = T.vectorize(lambda a, b: T.switch(a > b, a - b, a * b))
    like(chosen, lambda a, b: np.where(a > b, a - b, a * b), X, V[:, None])
    for signature, ours, numpys, values in (
        ("(m,n),(n)->(m)", lambda a, b: a @ b, lambda a, b: a @ b, (X3, RNG.standard_normal((5, 1, 4)))),
        ("(n)->(),(n)", lambda a: (T.sum(a), 2 * a), lambda a: (np.sum(a), 2 * a), (X3,)),
    ):
        like(T.vectorize(ours, signature=signature), np.vectorize(numpys, signature=signature), *values)
    scaled = T.vectorize(lambda a, by: a * by, excluded={"by"}, otypes="f")
    assert scaled(T.constant(X), by=3).dtype == "float32"
    np.testing.assert_allclose(scaled(T.constant(X), by=3).eval(), X * 3, rtol=1e-6)


def test_polynomials_are_numpys():
    like(T.polymul, np.polymul, np.array([0, 0, 1.0, 2]), np.array([0, 3.0, 1]))
    for u, v in (([1.0, 5, 6, 1], [1.0, 2]), ([1.0, 2], [1.0, 2, 3]), ([1.0, 3, 3, 1], [1.0, 1]), ([3.0, 1.0], [2.0])):
        like(T.polydiv, np.polydiv, np.array(u), np.array(v))
    for p in ([1.0, 2, 3], [0, 0, 1.0, 2, 0, 0], [0.0, 0], [3.0], [2, 0, -8.0]):
        like(lambda p: T.sort(T.roots(p)), lambda p: np.sort_complex(np.roots(p).astype(complex)), np.array(p))
    like(T.poly, np.poly, np.array([1.0, 2, 3]), statics=[True])
    like(lambda a: T.real(T.poly(a)), np.poly, X[:, :3].copy(), statics=[True])


def test_lengths_and_answers_that_values_decide():
    for trim in ("fb", "f", "b"):
        for values in ([0, 0, 1, 0, 2, 0], [0, 0, 0], [1, 2], []):
            like(lambda v, t=trim: T.trim_zeros(v, t), lambda v, t=trim: np.trim_zeros(v, t), np.array(values, float))
    block = np.zeros((5, 6))
    block[1:3, 2:4] = 1
    like(T.trim_zeros, np.trim_zeros, block)
    for a, b in ((X, X), (X, X + 1), (X, X[:2]), (X, X[0]), (X[:1], X[0]), (V, V)):
        like(T.array_equal, np.array_equal, a, b)
        like(T.array_equiv, np.array_equiv, a, b)
    nan = np.array([1, np.nan])
    like(lambda a, b: T.array_equal(a, b, equal_nan=True), lambda a, b: np.array_equal(a, b, equal_nan=True), nan, nan)
    like(T.diag_indices_from, np.diag_indices_from, X[:, :3].copy())
    like(lambda a: T.mask_indices(3, T.triu, 1), lambda a: np.mask_indices(3, np.triu, 1), V)
    like(lambda a: T.linspace(0, a, 5, axis=1), lambda a: np.linspace(0, a, 5, axis=1), V)
    shapes = (2, 3), (3, 4), (4, 5)
    found = T.einsum_path("ij,jk,kl->il", *(T.matrix(shape=s) for s in shapes))
    assert found == np.einsum_path("ij,jk,kl->il", *(np.ones(s) for s in shapes))


def test_the_greatest_elements_and_their_positions():
    x = np.array([[3.0, np.nan, 1, 3], [2, 2, 2, 2]])
    values, places = run(lambda a: T.topk(a, 3), x)
    np.testing.assert_array_equal(values, [[np.nan, 3, 3], [2, 2, 2]])
    np.testing.assert_array_equal(places, [[1, 0, 3], [0, 1, 2]])
    values, places = run(lambda a: T.topk(a, 2, axis=0, largest=False), x)
    np.testing.assert_array_equal(places, [[1, 1, 0, 1], [0, 0, 1, 0]])
    k = T.lscalar("k")
    assert T.topk(T.constant(x), k)[0].eval({k: 2}).shape == (2, 2)
    np.testing.assert_array_equal(ag.vmap(lambda r: T.topk(r, 2)[1])(T.constant(X)).eval(), np.argsort(-X, 1)[:, :2])
    with pytest.raises(ValueError, match="topk: k must be from 0 to 4"):
        T.topk(T.constant(x), k)[0].eval({k: 5})
    with pytest.raises(ValueError, match="topk: k must be from 0 to the length"):
        T.topk(T.matrix(shape=(2, 3)), 4)


def test_derivatives_of_writes_and_choices():
    assert_gradient(lambda a, v: T.put(a, PLACES, v), X, V)
    assert_gradient(lambda a, v: T.place(a, MASK, v), X, V)
    assert_gradient(T.fill_diagonal, X, V)
    assert_gradient(lambda a: T.topk(a, 2)[0] ** 2, X)
    assert_gradient(lambda a: T.apply_along_axis(lambda v: v * T.sum(v**2), 0, a), X)
    assert_gradient(T.polymul, X[0], V)
    assert_gradient(lambda a: T.percentile(a, 40, axis=1, method="weibull") ** 2, X)
    assert_gradient(lambda a: T.frexp(a)[0] * T.ldexp(a, 3), X)
    flag = T.scalar("flag", dtype="bool")
    x = T.matrix("x")
    g = ag.grad(T.sum(x[flag] ** 2), x)
    for value in (True, False):
        np.testing.assert_array_equal(g.eval({x: X, flag: value}), 2 * X * value)
        assert x[flag].eval({x: X, flag: value}).shape == X[value].shape
        np.testing.assert_array_equal(T.set_subtensor(x[flag], 1.0).eval({x: X, flag: value}), np.where(value, 1.0, X))


METHODS = """inverted_cdf averaged_inverted_cdf closest_observation interpolated_inverted_cdf hazen weibull
median_unbiased normal_unbiased"""


def test_quantiles_by_the_methods_of_hyndman_and_fan():
    shares = np.array([0, 0.1, 0.25, 0.5, 0.6, 0.9, 1.0])
    for values in (X, X[:, :1], (X * 10).astype("int64"), X.astype("float32")):
        holes = np.where(MASK[:, : values.shape[1]], np.nan, values) if values.dtype == float else None
        for method in METHODS.split():
            like(lambda a, m=method: T.quantile(a, shares, axis=1, method=m),
                 lambda a, m=method: np.quantile(a, shares, axis=1, method=m), values, statics=[False])  # fmt: skip
            if holes is not None and not np.isnan(holes).all(1).any():
                like(lambda a, m=method: T.nanpercentile(a, 30, axis=1, method=m),
                     lambda a, m=method: np.nanpercentile(a, 30, axis=1, method=m), holes, statics=[False])  # fmt: skip


@pytest.mark.parametrize(("build", "error", "words"), [
    (lambda: T.put(X, [0.5], 1), TypeError, "put: positions must be integers"),
    (lambda: T.put(X, [0], 1, mode="up"), ValueError, "put: clipmode"),
    (lambda: T.place(X, MASK[:2], V), ValueError, "place: mask and data must be the same size"),
    (lambda: T.putmask(X, MASK[:2], V), ValueError, "putmask: mask and data"),
    (lambda: T.copyto(T.ivector("d"), T.vector("s")), TypeError, "copyto: cannot cast s"),
    (lambda: T.copyto(X, 1, where=X), TypeError, "copyto: where must be a mask"),
    (lambda: T.put_along_axis(X, [0], 1, 0), ValueError, "not of the same rank"),
    (lambda: T.fill_diagonal(V, 1), ValueError, "at least 2-d"),
    (lambda: T.fill_diagonal(X3, 1), ValueError, "equal length"),
    (lambda: T.vectorize(T.sum, signature="(n->()"), ValueError, "not a valid gufunc signature"),
    (lambda: T.vectorize(T.dot, signature="(n),(n)->()")(V, X), ValueError, "core dimension 'n': 4 vs 3"),
    (lambda: T.vectorize(T.sum, signature="(m,n)->()")(V), ValueError, "expected 2 axes"),
    (lambda: T.vectorize(T.sum, signature="(n)->()")(V, V), TypeError, "number of positional arguments"),
    (lambda: T.apply_over_axes(lambda a, k: T.sum(a), X, [0]), ValueError, "correct shape"),
    (lambda: T.poly(T.vector("r")), ValueError, "number of roots must be known, got r"),
    (lambda: T.polymul(X, V), ValueError, "coefficients are a vector"),
    (lambda: T.trim_zeros(V, "x"), ValueError, "unexpected character"),
    (lambda: T.einsum_path("i,i", T.vector("a"), V), ValueError, "known lengths, got a"),
    (lambda: T.diag_indices_from(V), ValueError, "at least 2-d"),
    (lambda: T.nextafter(T.cvector("z"), 1), TypeError, "nextafter does not take z"),
])  # fmt: skip
def test_mistakes_are_refused_as_in_numpy(build, error, words):
    with pytest.raises(error, match=words):
        build()


@pytest.mark.long
def test_neighbours_exponents_and_bits_in_c():
    special = [0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 5e-324, -2.5e-310, np.finfo(float).max, 3e-45]
    for dtype in ("float64", "float32", "float16"):
        with np.errstate(all="ignore"):
            x = np.concatenate([special, RNG.standard_normal(200)]).astype(dtype)
            y, n = np.roll(x, 3), np.resize(np.array([3, -1074, 2**40, -(2**40), 1000, -1030]), x.size)
            want = [np.nextafter(x, y), np.spacing(x), np.ldexp(x, n), *np.frexp(x)]
        v, w, k = T.vector("v", dtype), T.vector("w", dtype), T.lvector("k")
        got = ag.function([v, w, k], [T.nextafter(v, w), T.spacing(v), T.ldexp(v, k), *T.frexp(v)])(x, y, n)
        for g, e in zip(got, want, strict=True):
            assert g.dtype == e.dtype
            np.testing.assert_array_equal(g, e)
            np.testing.assert_array_equal(np.signbit(g)[g == 0], np.signbit(e)[e == 0])
    i, u = T.vector("i", "int8"), T.vector("u", "uint64")
    numbers = np.int8([-128, -1, 127, 0]), np.uint64([2**64 - 1, 5, 0, 2**40])
    counted = ag.function([i, u], [T.bitwise_count(i), T.bitwise_count(u)])
    for g, e in zip(counted(*numbers), map(np.bitwise_count, numbers)):
        np.testing.assert_array_equal(g, e)
    inf, nan = np.inf, np.nan
    z = np.array([0j, complex(-0.0, 0), inf, complex(-inf, nan), complex(inf, inf), complex(nan, 0), 1 + 2j])
    c = T.zvector("c")
    for mode in (None, "NUMPY"):
        got = ag.function([c], T.expm1(c), mode=mode)(z)
        np.testing.assert_array_equal(got[:2], 0)
        np.testing.assert_array_equal(got.real[[2, 3, 4]], [np.inf, -1, np.inf])
        np.testing.assert_array_equal(got.imag[[2, 3, 5]], 0)
        assert np.isnan(got.imag[4])
        assert np.isnan(got.real[5])
        np.testing.assert_allclose(got[6], np.expm1(1 + 2j), rtol=1e-15)


SAMPLES, STEPS = RNG.standard_normal(7), np.cumsum(RNG.random(7))
TIMES, POINTS = np.array([-190.0, 185, -10, 0, 365, np.nan, 720]), (np.array([190.0, -190, 350, -350]), np.arange(4.0))
OBSERVED, OFTEN, WEIGHTS = RNG.standard_normal((3, 6)), np.array([1, 2, 0, 3, 1, 1]), RNG.random(6)
SYMMETRIC = np.stack([m + m.T for m in RNG.standard_normal((2, 4, 4))])
THRESHOLDS = np.array([0.5, 1e-9])
OPTIONS = {
    "gradient of second order": (lambda n, x: n.gradient(x, edge_order=2), SAMPLES),
    "gradient of the least samples": (lambda n, x: n.gradient(x, 0.5, edge_order=2), SAMPLES[:3]),
    "gradient at coordinates": (lambda n, x, at: n.gradient(x, at, edge_order=2), SAMPLES, STEPS),
    "gradient along axes": (lambda n, x: n.gradient(x, 0.5, 2.0, edge_order=2), OBSERVED),
    "interp with a period": (lambda n, x, xp, fp: n.interp(x, xp, fp, period=360), TIMES, *POINTS),
    "interp with a negative period": (lambda n, x, xp, fp: n.interp(x, xp, fp, 9.0, 9.0, -360), TIMES, *POINTS),
    "complex interp with a period": (lambda n, x, xp, fp: n.interp(x, xp, fp + 1j * fp**2, period=360), TIMES, *POINTS),
    "cov by counts": (lambda n, x, f: n.cov(x, fweights=f), OBSERVED, OFTEN),
    "cov by weights": (lambda n, x, a: n.cov(x, aweights=a), OBSERVED, WEIGHTS),
    "cov by both": (lambda n, x, f, a: n.cov(x, None, True, False, 2, f, a), OBSERVED, OFTEN, WEIGHTS),
    "complex cov by both": (
        lambda n, x, f, a: n.cov(x + 1j * x**2, bias=True, fweights=f, aweights=a), OBSERVED, OFTEN, WEIGHTS,
    ),
    "intersect1d": (lambda n, a, b: n.intersect1d(a, b, return_indices=True), PLACES[::-1], np.r_[PLACES, PLACES[:2]]),
    "intersect1d of distinct": (
        lambda n, a, b: n.intersect1d(a, b, True, True), np.array([5, 1, 3]), np.array([3.0, 9, 1, 4]),
    ),
    "intersect1d of nothing": (lambda n, a, b: n.intersect1d(a, b, return_indices=True), PLACES[:0], PLACES),
    "wrapped indices": (lambda n, i, j: n.ravel_multi_index((i, j), (4, 5), mode="wrap"), PLACES - 6, PLACES),
    "clipped indices": (lambda n, i, j: n.ravel_multi_index((i, j), (4, 5), ("clip", "wrap")), PLACES - 6, PLACES),
    "polyfit in full": (lambda n, x, y: n.polyfit(x, y, 2, full=True), STEPS, SAMPLES),
    "polyfit with covariances": (lambda n, x, y: n.polyfit(x, y, 2, cov=True), STEPS, SAMPLES),
    "polyfit of two with covariances": (lambda n, x, y: n.polyfit(x[:6], y.T, 2, cov=True), STEPS, OBSERVED),
    "polyfit unscaled": (lambda n, x, y: n.polyfit(x, y, 2, cov="unscaled"), STEPS, SAMPLES),
    "values of Hermitian matrices": (lambda n, x: n.linalg.svd(x, True, False, True), SYMMETRIC),
    "inverses of Hermitian matrices": (lambda n, x: n.linalg.pinv(x, hermitian=True), SYMMETRIC),
    "inverse of less rank": (lambda n, x: n.linalg.pinv(n.outer(x, x), hermitian=True), SAMPLES),
    "thresholds by matrix": (lambda n, x, r: n.linalg.pinv(x, r), SYMMETRIC, THRESHOLDS),
    "one threshold of a batch": (lambda n, x, r: n.linalg.pinv(x[:, :2], rtol=r[:1]), SYMMETRIC, THRESHOLDS),
    "thresholds of Hermitian matrices": (lambda n, x, r: n.linalg.pinv(x, r, hermitian=True), SYMMETRIC, THRESHOLDS),
}  # fmt: skip


@pytest.mark.parametrize("call", OPTIONS)
def test_options_give_numpys_values(call):
    function, *values = OPTIONS[call]
    like(lambda *v: function(T, *v), lambda *v: function(np, *v), *values)


def test_factors_of_hermitian_matrices():
    u, s, vh = run(lambda x: tuple(T.linalg.svd(x, hermitian=True)), SYMMETRIC)
    np.testing.assert_allclose(u * s[..., None, :] @ vh, SYMMETRIC, atol=1e-12)
    np.testing.assert_allclose(s, np.linalg.svd(SYMMETRIC).S, rtol=1e-12)
    assert_gradient(lambda x: T.sum(T.linalg.pinv(x + x.T, hermitian=True) ** 2), SYMMETRIC[0])
    assert_gradient(lambda x: T.sum(T.linalg.pinv(x, [1e-9, 1e-8]) ** 2), np.stack([SYMMETRIC[0], SYMMETRIC[0] + 1]))
    assert_gradient(lambda x: T.gradient(x, edge_order=2), SAMPLES)
    assert_gradient(lambda x, w: T.cov(x, aweights=w), OBSERVED, WEIGHTS)


@pytest.mark.parametrize("call, error, text", [
    (lambda: T.gradient(SAMPLES, edge_order=3), ValueError, "edge_order must be 1 or 2, got 3"),
    (lambda: T.gradient(SAMPLES[:2], edge_order=2), ValueError, "must have 3 samples or more, got 2"),
    (lambda: T.interp(TIMES, *POINTS, period=0), ValueError, "period must not be 0"),
    (lambda: T.interp(TIMES, *POINTS, period=SAMPLES), TypeError, "period must be a number"),
    (lambda: T.cov(OBSERVED, fweights=OFTEN + 0.5), TypeError, "fweights must be integers"),
    (lambda: T.cov(OBSERVED, fweights=-OFTEN), ValueError, "fweights must not be negative"),
    (lambda: T.cov(OBSERVED, aweights=OBSERVED), ValueError, "aweights must be a vector"),
    (lambda: T.cov(OBSERVED, aweights=WEIGHTS[:3]), ValueError, "aweights, one for each observation"),
    (lambda: T.cov(OBSERVED, aweights=WEIGHTS * 0), ZeroDivisionError, "must not add up to 0"),
    (lambda: T.ravel_multi_index((PLACES, PLACES), (4, 5), "no"), ValueError, "mode must be"),
    (lambda: T.ravel_multi_index((PLACES, PLACES), (4, 5), ("wrap",)), ValueError, "1 modes for 2 axes"),
    (lambda: T.polyfit(STEPS[:3], SAMPLES[:3], 2, cov=True), ValueError, "more samples than coefficients"),
    (lambda: T.linalg.pinv(SYMMETRIC, SAMPLES[:3]), ValueError, "rcond must broadcast to the batch of a"),
    (lambda: T.linalg.pinv(SYMMETRIC, THRESHOLDS[None], hermitian=True), ValueError, "rcond must broadcast to"),
    (lambda: T.linalg.pinv(SYMMETRIC[0], rtol=THRESHOLDS), ValueError, "rcond must broadcast to the batch of a"),
])  # fmt: skip
def test_options_that_are_refused(call, error, text):
    with pytest.raises(error, match=text):
        call().eval()


@pytest.mark.long
def test_weights_along_several_axes_are_those_of_numpy():
    rng = np.random.default_rng(0)
    a, x = rng.random((2, 3, 4)), T.tensor3("x")
    for axes in ((0, 1), (2, 0), (1,), (-1, 1)):
        w = rng.random([a.shape[k] for k in axes])
        found = ag.function([x], T.average(x, axis=axes, weights=w))(a)
        np.testing.assert_allclose(found, np.average(a, axis=axes, weights=w))
    with pytest.raises(TypeError, match="or of its lengths along the axes"):
        T.average(x, axis=0, weights=np.ones((2, 3)))
    with pytest.raises(ValueError, match="weights"):
        ag.function([x], T.average(x, axis=(0, 1), weights=np.ones((3, 2))))(a)


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_nan_to_num_replaces_parts_of_complex_numbers(dtype):
    a = np.array([complex(np.inf, np.nan), complex(np.nan, 0), complex(-np.inf, np.inf), 1 - 2j], dtype)
    z = T.vector("z", dtype=dtype)
    for options in ({}, {"nan": 7.0, "posinf": 2.0, "neginf": -3.0}):
        found = ag.function([z], T.nan_to_num(z, **options))(a)
        np.testing.assert_array_equal(found, np.nan_to_num(a, **options))
        assert found.dtype == dtype


def test_positions_in_fortrans_order():
    i = T.lvector("i")
    found = ag.function([i], list(T.unravel_index(i, (7, 6), order="F")))([31, 41, 13])
    np.testing.assert_array_equal(found, np.unravel_index([31, 41, 13], (7, 6), order="F"))
    places = np.array([[3, 6, 6], [4, 5, 1]])
    rows = T.lmatrix("rows", shape=(2, None))
    found = ag.function([rows], T.ravel_multi_index((rows[0], rows[1]), (7, 6), order="F"))(places)
    np.testing.assert_array_equal(found, np.ravel_multi_index(places, (7, 6), order="F"))
    with pytest.raises(ValueError, match='order must be "C" or "F", got'):
        T.unravel_index(i, (7, 6), order="A")
    assert T.zeros((2, 3), order="F").eval().shape == (2, 3)


@pytest.mark.parametrize("a", [np.array([True, False, True]), np.array([0.5, 2, 3], "f4"), 1, 2.0, np.arange(1, 4)])
@pytest.mark.parametrize("b", [np.array([True, True, False]), np.array([0.5, 2, 3], "f4"), 3, 0.5])
def test_dtypes_of_mixed_ends_and_of_unions(a, b):
    def f(a, b):
        return np.linspace(a, b, 4), np.linspace(a, b, 4, retstep=True)[1], np.logspace(a, b, 3), np.union1d(a, b)

    for got, expected in zip(ag.jit(f, engine="numpy")(a, b), f(a, b), strict=True):
        assert got.dtype == expected.dtype
        np.testing.assert_allclose(got, expected, rtol=1e-6)


def test_widths_that_are_arrays_and_periods_of_the_call():
    y = np.random.default_rng(0).random((4, 4))
    for f, given in [
        (lambda y, d: np.trapezoid(y, dx=d), (y[0, :], y[:, :3])), (lambda y, d: np.trapezoid(y, dx=d), (y, y[0, :3])),
        (np.unwrap, (y[0] * 20, 4.0)), (lambda y, d: np.unwrap(y, period=d), (y[0] * 20, 3)),
        (lambda y, d: np.unwrap(y, period=d), (np.array([0, 5, 9, 2]), 5)),
        (lambda y, d: np.unwrap(y, period=d), (np.array([0, 5, 9, 2]), 4)),
    ]:  # fmt: skip
        got, expected = ag.jit(f, engine="numpy")(*given), f(*given)
        assert got.dtype == expected.dtype
        np.testing.assert_allclose(got, expected, rtol=1e-12)
