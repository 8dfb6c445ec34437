"""Programs as other packages write them: SciPy's functions, its distributions, arrays without axes, code of numba."""

import warnings

import numpy as np
import pytest

import arignote as ag

linalg, stats = pytest.importorskip("scipy.linalg"), pytest.importorskip("scipy.stats")
integrate, signal, special = (pytest.importorskip(f"scipy.{n}") for n in ("integrate", "signal", "special"))
distance, optimize = pytest.importorskip("scipy.spatial.distance"), pytest.importorskip("scipy.optimize")

R = np.random.default_rng(4)
M = R.normal(size=(4, 4))
S = M @ M.T + 4 * np.eye(4)
V, X = R.normal(size=4), R.normal(size=30)
P = R.uniform(0.1, 0.9, 30)


def leaves(value):
    return [leaf for part in value for leaf in leaves(part)] if isinstance(value, (tuple, list)) else [value]


def require_equal(function, *arguments, rtol=1e-10):
    """Compare a jitted function with Python: types, dtypes, shapes and values."""
    expected = function(*[np.copy(a) if isinstance(a, np.ndarray) else a for a in arguments])
    found = ag.jit(function, engine="numpy")(*arguments)
    pairs = list(zip(leaves(found), leaves(expected), strict=True))
    for a, b in pairs:
        assert type(a) is type(b) and np.asarray(a).dtype == np.asarray(b).dtype, (type(a), type(b))
        np.testing.assert_allclose(a, b, rtol=rtol, atol=1e-12)


def test_factors_of_scipy():
    def factors(s, m, v):
        low = linalg.cholesky(s, lower=True)
        (u, values, adjoint), (w, vectors) = linalg.svd(m), linalg.eigh(s)  # whose signs are free
        return (
            linalg.cholesky(s), linalg.cho_solve((low, True), v), linalg.cho_solve(linalg.cho_factor(s), v),
            linalg.solve_triangular(low, v, lower=True), linalg.lu_solve(linalg.lu_factor(m), v), linalg.qr(m),
            linalg.qr(m[:, :2], mode="economic"), linalg.qr(m, mode="r"), u * values @ adjoint, linalg.svdvals(m),
            linalg.solve(s, v), linalg.solve(s, v, assume_a="pos"), linalg.pinv(m[:, :2]), w, vectors * w @ vectors.T,
            linalg.eigvalsh(s), linalg.norm(m), linalg.norm(v), linalg.norm(v, 1), linalg.det(m), linalg.inv(s),
        )  # fmt: skip

    require_equal(factors, S, M, V)
    with pytest.raises(ValueError, match="infs or NaNs"):
        ag.jit(lambda s: linalg.inv(s) + 1, engine="numpy")(np.full((2, 2), np.nan))


def test_matrices_of_scipy():
    def matrices(s, m, v):
        return (
            linalg.block_diag(m, s), linalg.toeplitz(v), linalg.hankel(v), linalg.circulant(v), linalg.expm(m),
            linalg.solve_sylvester(m, s, s), linalg.solve_discrete_lyapunov(m / 9, s), linalg.null_space(m[:2]).shape,
            linalg.companion(v), linalg.solve_banded((1, 1), np.array([v, v**2 + 5, v]), v),
        )  # fmt: skip

    require_equal(matrices, S, M, V)


DISTRIBUTIONS = [
    ("norm", (0.2, 1.5)), ("norm", (0.0, -1.0)), ("gamma", (2.3,)), ("beta", (2.0, 3.0)), ("expon", ()),
    ("uniform", (-1, 3)), ("lognorm", (0.5,)), ("rayleigh", ()), ("chi2", (3,)), ("f", (3, 4)), ("cauchy", ()),
]  # fmt: skip


@pytest.mark.few(4)
@pytest.mark.parametrize("name, parameters", DISTRIBUTIONS)
def test_distributions(name, parameters):
    own = getattr(stats, name)

    def values(x, p):
        return (
            own.pdf(x, *parameters), own.logpdf(x, *parameters), own.cdf(x, *parameters), own.sf(x, *parameters),
            own.logcdf(x, *parameters), own.ppf(p, *parameters), own(*parameters).pdf(x[3]),
        )  # fmt: skip

    with np.errstate(all="ignore"):
        require_equal(
            values, np.array([-np.inf, -3, -1, 0, 0.3, 1, 2.5, np.inf, np.nan]), np.array([-0.1, 0, 0.2, 0.5, 1, 1.1])
        )


def test_parameters_of_distributions_have_derivatives():
    def loss(m, s, x):
        return -stats.norm.logpdf(x, m, s).sum()

    found = ag.grad(ag.jit(loss, engine="numpy"), argnums=(0, 1))(0.3, 1.7, X)
    z = (X - 0.3) / 1.7
    np.testing.assert_allclose(found, [-(z / 1.7).sum(), -((z**2 - 1) / 1.7).sum()], rtol=1e-10)


def test_normal_vectors():
    def values(x, rows, mean, cov):
        own = stats.multivariate_normal
        return own.logpdf(x, mean, cov), own.pdf(rows, mean, cov), own.logpdf(x, mean, cov, allow_singular=True)

    require_equal(values, V, R.normal(size=(5, 4)), np.arange(4.0), S)
    with pytest.raises(np.linalg.LinAlgError, match="allow_singular"):
        ag.jit(values, engine="numpy")(V, V[None], V, np.outer(V, V))


def test_integrals_and_statistics():
    def values(x, p):
        return (
            integrate.simpson(x, dx=0.1), integrate.simpson(x, x=np.arange(30.0)), integrate.trapezoid(x, dx=0.5),
            integrate.cumulative_trapezoid(x), stats.skew(x), stats.kurtosis(x), stats.gmean(p), stats.entropy(p),
            stats.zscore(x), stats.sem(x), special.logsumexp(x), special.softmax(x), special.log_softmax(x),
            optimize.rosen(x), optimize.rosen_der(x), signal.detrend(x, type="constant"),
        )  # fmt: skip

    require_equal(values, X, P)


def test_filters_and_distances():
    def values(x, m):
        return (
            signal.lfilter([0.1, 0.2], [1, -0.5, 0.1], x), signal.lfilter([1.0, 2.0, 3.0], [2.0], m, axis=0),
            signal.convolve(x, np.ones(4) / 4), signal.convolve(x, np.ones(4) / 4, mode="same"),
            signal.correlate(x, np.arange(3.0)), distance.cdist(m, m), distance.cdist(m, m, "cityblock"),
            distance.euclidean(m[0], m[1]), distance.cosine(m[0], m[1]),
        )  # fmt: skip

    require_equal(values, X, M)


def test_special_functions_under_names_of_scipy():
    def values(p, z):
        return (
            special.wofz(z), special.wofz(p + 0.5j), special.chdtrc(3, p), special.fdtr(3, 4, p),
            special.loggamma(p), special.zeta(p + 1),
        )  # fmt: skip

    require_equal(values, P, np.array([1.5 + 0j, -2 - 3j, 0j, -0.2 - 0.1j, 5 + 1e-3j]))


def test_arrays_without_axes_are_written():
    def total(x, given):
        t = np.zeros(())
        for v in x:
            t[...] += v
        same = t
        np.multiply(t, 2, out=t)
        given[()] = t
        where = np.true_divide(x[0], x[1], out=np.zeros_like(x[0]), where=x[1] != 0)
        t[x[0] > 100] = 7
        return same, where, float(t), given + 1

    a, b = np.zeros(()), np.zeros(())
    for found, expected in zip(ag.jit(total)(X, a), total(X, b), strict=True):
        assert type(found) is type(expected) and found == expected
    assert a == b != 0
    with pytest.raises(TypeError, match="element of another array"):
        ag.jit(lambda x: x[0, ...].fill(3.0))(X.copy())
    assert ag.jit(total)(np.array([1.0, 0.0]), a)[1] == 0


def test_kinds_of_copies():
    def kinds(x):
        own = np.array(x, copy=np._CopyMode.IF_NEEDED)
        shared = x.astype(float, copy=False)
        shared[0] = 5
        needed = np.require(x, requirements="W")
        needed[1] = 6
        return own, x.astype("float32", casting="same_kind"), np.arange(3, stop=None)

    a, b = X.copy(), X.copy()
    for found, expected in zip(ag.jit(kinds, engine="numpy")(a), kinds(b), strict=True):
        np.testing.assert_array_equal(found, expected)
        assert found.dtype == expected.dtype
    np.testing.assert_array_equal(a, b)
    with pytest.raises(TypeError, match="rule 'safe'"):
        ag.jit(lambda x: x.astype("int64", casting="safe"), engine="numpy")(X)


def test_a_name_is_deleted_after_an_early_return():
    def wrapped(x, *rest):
        if hasattr(x, "nothing"):
            return x
        y = x * (2 + len(rest))
        del rest
        return y

    require_equal(wrapped, X)


def test_warnings_of_branches_are_not_given():
    def scaled(x):
        if x.sum() > 1e9:
            warnings.warn("large", stacklevel=2)
            x = x / 2
        return x * 2

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        require_equal(scaled, X)


def test_an_attribute_that_numpys_arrays_lack_is_caught():
    def filled(x):
        try:
            y = x.fillna(0.0)
        except AttributeError:
            y = np.where(np.isnan(x), 0.0, x)
        return y * 2

    require_equal(filled, np.array([1.0, np.nan]))
    with pytest.raises(TypeError, match="caught AttributeError of the trace"):
        ag.jit(address, engine="numpy")(X)


def address(x):
    try:
        return x + x.ctypes.data
    except AttributeError:
        return x


def test_functions_of_numba_are_rewritten():
    numba = pytest.importorskip("numba")

    @numba.njit
    def clipped(x, limit):
        total = 0.0
        for v in x:
            if v > limit:
                total += v
        return total

    found = ag.jit(lambda x: clipped(x, 0.5) * 2, engine="numpy")(X)
    assert found == clipped.py_func(X, 0.5) * 2


def test_transforms_of_fftpack():
    fftpack = pytest.importorskip("scipy.fftpack")

    def transforms(m, v):
        return (
            fftpack.fft(v), fftpack.fft(v, 8), fftpack.ifft(m, axis=0), fftpack.fft2(m, shape=(8, 4)),
            fftpack.ifftn(m, overwrite_x=True), fftpack.ifft2(m, (4, 4), (0, 1)), fftpack.fft(m, None, 0),
        )  # fmt: skip

    require_equal(transforms, M, V)
