"""Arrays of other libraries in, results in other libraries, functions as callbacks of SciPy and emcee."""

import gc
import importlib.util
import subprocess
import sys

import numpy as np
import pytest

import arignote as ag
from arignote import ops as T

X = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])


@pytest.fixture(scope="module")
def double():
    x = T.matrix("x")
    return ag.function([x], x * 2, name="double")


class OnlyDlpack:
    """An array of a library that NumPy knows by DLPack alone, as CuPy's in the memory of the host."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


def test_arrays_by_dlpack(double):
    from arignote.ops.core.foreign import as_array

    readonly = X.copy()
    readonly.flags.writeable = False
    jitted = ag.jit(lambda x: x * 2, mode="NUMPY")
    for array in (X, X.T, X[:, ::2], readonly, X[:0]):
        given = OnlyDlpack(array)
        shared = as_array(given)
        assert shared.size == 0 or (np.shares_memory(shared, array) and shared.strides == array.strides)
        for f in (double, jitted):
            np.testing.assert_array_equal(f(given), array * 2)
    assert as_array(OnlyDlpack(np.arange(3, dtype="int8"))).dtype == "int8"
    np.testing.assert_array_equal(T.constant(OnlyDlpack(X)).eval(), X)
    np.testing.assert_array_equal(ag.shared(OnlyDlpack(X)).get_value(), X)
    with pytest.raises(TypeError, match="got dtype complex128"):
        double(OnlyDlpack(X * 1j))


def test_torch(double):
    torch = pytest.importorskip("torch")
    from arignote.ops.core.foreign import as_array

    tensor = torch.arange(6.0, dtype=torch.float64).reshape(2, 3)
    assert as_array(tensor).__array_interface__["data"][0] == tensor.data_ptr()
    for given in (tensor, tensor.T, tensor[:, ::2], tensor.to(torch.float32), tensor.to(torch.int32), tensor > 2):
        np.testing.assert_array_equal(double(given), given.numpy() * 2.0)
    result = double(tensor)
    back = torch.from_dlpack(result)
    assert back.data_ptr() == result.__array_interface__["data"][0]
    large = torch.from_dlpack(double(np.ones((600, 600))))  # memory that is reused once nobody holds it
    gc.collect()
    double(np.zeros((600, 600)))
    assert bool((large == 2).all())
    for given, fix in (
        (torch.ones(2, 2, requires_grad=True), r"x.detach\(\)"),
        (torch.ones(2, 2, dtype=torch.bfloat16), r"x.float\(\)"),
        (torch.ones(2, 2, device="meta"), r"x.to\('cpu'\)"), (torch.eye(2).to_sparse(), r"x.to_dense\(\)"),
        (torch.ones(2, 2, dtype=torch.complex64).conj(), r"x.resolve_conj\(\)"),
    ):  # fmt: skip
        with pytest.raises(TypeError, match=rf"double: argument 0 \(x\): expected float64.*use {fix}"):
            double(given)


JAX = """
import jax, numpy as np, arignote as ag
from arignote import ops as T
x = T.matrix("x")
double = ag.function([x], x * 2, mode="NUMPY")
X = np.arange(6.0).reshape(2, 3)
array = jax.numpy.asarray(X)
assert np.array_equal(double(array), np.asarray(array) * 2) and np.array_equal(double(array > 2), (X > 2) * 2.0)
assert np.array_equal(jax.numpy.from_dlpack(double(X)), X * 2)
assert np.array_equal(ag.jit(lambda x: x * 2, mode="NUMPY")(array), np.asarray(array) * 2)
"""


def test_jax():
    if importlib.util.find_spec("jax") is None:
        pytest.skip("JAX is not installed")
    subprocess.run([sys.executable, "-c", JAX], check=True)  # JAX changes the environment of its process


def test_pandas(double):
    pandas = pytest.importorskip("pandas")
    x = T.vector("x")
    f = ag.function([x], x * 2, name="f", mode="NUMPY")
    frame = pandas.DataFrame({"a": [1.0, 2.0], "b": [3.0, 4.0]})
    assert type(double(frame)) is np.ndarray
    np.testing.assert_array_equal(double(frame), [[2, 6], [4, 8]])
    for series in (frame["a"], pandas.Index([1.0, 2.0]), pandas.Series([1, 2]), pandas.Series([1, 2], dtype="Int64"),
                   pandas.Series([True, False]), pandas.Series([1.5, 2.5], dtype="Float64")):  # fmt: skip
        for called in (f, ag.jit(lambda x: x * 2.0, mode="NUMPY")):
            np.testing.assert_array_equal(called(series), np.asarray(series, "float64") * 2)
    for given, message in (
        (pandas.Series(["a", "b"]), r"a Series of pandas of dtype (str|object); use x.astype\('float64'\)"),
        (pandas.Series([1, "b"]), "of dtype object; use"),
        (pandas.Series([1, 2]).astype("category"), "of categories; use x.cat.codes"),
        (pandas.Series([1, None], dtype="Int64"), "with missing values; use x.fillna"),
        (pandas.to_datetime(pandas.Series(["2020-01-01"])), "of dtype datetime64.*; use x.astype"),
    ):
        with pytest.raises(TypeError, match=rf"f: argument 0 \(x\): expected float64\[\?\].* {message}"):
            f(given)
    for given, message in (
        (frame.assign(b=[1, 2]), r"a DataFrame of several dtypes, float64 \('a'\), int64 \('b'\); use x.astype"),
        (frame.assign(b=["x", "y"]), r"column 'b' of a DataFrame of dtype (str|object); use x\['b'\].astype"),
        (frame.assign(b=frame["b"].astype("category")), r"column 'b' of a DataFrame of categories; use x\['b'\].cat"),
    ):
        with pytest.raises(TypeError, match=message):
            double(given)
    with pytest.raises(TypeError, match="of categories"):
        T.constant(pandas.Series([1, 2]).astype("category"))


def test_xarray(double):
    xarray = pytest.importorskip("xarray")
    array = xarray.DataArray(X, dims=("row", "column"), coords={"row": [5, 6]}, name="data")
    assert type(double(array)) is np.ndarray
    np.testing.assert_array_equal(double(array), X * 2)
    np.testing.assert_array_equal(double(array.T), X.T * 2)
    named = T.named(array)
    assert named.axes == ("row", "column") and named.sum("row").axes == ("column",)
    np.testing.assert_array_equal(named.sum("row").variable.eval(), X.sum(0))
    with pytest.raises(TypeError, match=r"a Dataset of xarray; use one of its variables, as in x\['data'\]"):
        T.constant(array.to_dataset())


def test_callbacks_of_optimizers():
    optimize = pytest.importorskip("scipy.optimize")
    x = T.vector("x")
    cost = (100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()
    slope = ag.grad(cost, x)
    both, plain = ag.function([x], [cost, slope]), ag.function([x], cost)
    gradient, hessian = ag.function([x], slope), ag.function([x], ag.hessian(cost, x))
    start = np.array([-1.2, 1.0, 0.5])
    for options in (
        {"fun": both, "jac": True, "method": "L-BFGS-B"}, {"fun": both, "jac": True, "method": "BFGS"},
        {"fun": plain, "jac": gradient, "hess": hessian, "method": "trust-exact"},
        {"fun": plain, "jac": gradient, "hess": hessian, "method": "Newton-CG"},
        {"fun": plain, "method": "Nelder-Mead"},
    ):  # fmt: skip
        found = optimize.minimize(x0=start, **options)
        np.testing.assert_allclose(found.x, 1, atol=1e-3, err_msg=str(options["method"]))
    assert optimize.check_grad(plain, gradient, start) < 1e-4
    root = optimize.root(gradient, np.array([0.8, 0.8, 0.8]), jac=hessian)
    np.testing.assert_allclose(root.x, 1, atol=1e-6)
    fitted = optimize.least_squares(ag.function([x], T.exp(-x) - 0.5), np.zeros(2))
    np.testing.assert_allclose(fitted.x, np.log(2), atol=1e-6)


def test_callbacks_of_integrators():
    integrate = pytest.importorskip("scipy.integrate")
    t, y, a = T.scalar("t"), T.vector("y"), T.scalar("a")
    rate = T.stack([y[1], -a * y[0] + 0 * t])
    f = ag.function([t, y, a], rate, on_unused_input="ignore")
    slopes = ag.function([t, y, a], ag.jacobian(rate, y), on_unused_input="ignore")
    for method in ("RK45", "Radau", "LSODA"):
        extra = {} if method == "RK45" else {"jac": slopes}
        found = integrate.solve_ivp(f, (0, 2), [1.0, 0.0], method=method, args=(4.0,), rtol=1e-8, atol=1e-8, **extra)
        np.testing.assert_allclose(found.y[0, -1], np.cos(4), atol=1e-5)
    g = ag.function([t, a], T.exp(-a * t))
    assert integrate.quad(g, 0, 1, args=(2.0,))[0] == pytest.approx((1 - np.exp(-2)) / 2)


def test_emcee():
    emcee = pytest.importorskip("emcee")
    x = T.vector("x")
    f = ag.function([x], -0.5 * (x * x).sum(), name="log_density")
    start = np.random.default_rng(0).normal(size=(8, 2))
    sampler = emcee.EnsembleSampler(8, 2, f)
    sampler.random_state = np.random.RandomState(1).get_state()
    sampler.run_mcmc(start, 300)
    xs = T.matrix("xs")
    rows = ag.function([xs], -0.5 * (xs * xs).sum(axis=1))
    vectorized = emcee.EnsembleSampler(8, 2, rows, vectorize=True)
    vectorized.random_state = np.random.RandomState(1).get_state()
    vectorized.run_mcmc(start, 300)
    np.testing.assert_allclose(vectorized.get_chain(), sampler.get_chain())
    assert 0.5 < sampler.get_chain(flat=True, discard=100).std() < 1.6


def test_low_level_callables():
    pytest.importorskip("scipy")
    from scipy import integrate, ndimage

    x, a, v, k = T.dscalar("x"), T.dscalar("a"), T.dvector("v"), T.lvector("k")
    f = ag.function([x, a], T.exp(-a * x * x) * T.cos(x), name="f")
    called = f.low_level("quad")
    expected = integrate.quad(lambda x, a: np.exp(-a * x * x) * np.cos(x), 0, 3, args=(2.0,))[0]
    assert integrate.quad(called, 0, 3, args=(2.0,))[0] == pytest.approx(expected, rel=1e-14)
    with pytest.warns(integrate.IntegrationWarning):  # a number of arguments that it does not take
        assert np.isnan(integrate.quad(called, 0, 3)[0])
    f = None
    gc.collect()
    assert integrate.quad(called, 0, 3, args=(2.0,))[0] == pytest.approx(expected, rel=1e-14)
    product = ag.function([v], T.exp(-T.dot(v, v)))
    assert integrate.nquad(product.low_level("quad"), [(0, 1), (0, 1)])[0] == pytest.approx(0.7468241328124271**2)

    image = np.random.default_rng(1).normal(size=(20, 30))
    spread = ag.function([v], T.max(v) - T.min(v), name="spread")
    np.testing.assert_array_equal(
        ndimage.generic_filter(image, spread.low_level("generic_filter"), size=3),
        ndimage.generic_filter(image, lambda b: b.max() - b.min(), size=3),
    )
    line = ag.function([v], v[2:] + v[:-2])
    expected = image[:, np.minimum(np.arange(30) + 1, 29)] + image[:, np.maximum(np.arange(30) - 1, 0)]
    found = ndimage.generic_filter1d(image, line.low_level("generic_filter1d"), 3, mode="nearest")
    np.testing.assert_allclose(found, expected)
    moved = ag.function([k], T.stack([k[0] * 0.5, k[1] + 1.0]))
    np.testing.assert_allclose(
        ndimage.geometric_transform(image, moved.low_level("geometric_transform")),
        ndimage.geometric_transform(image, lambda p: (p[0] * 0.5, p[1] + 1.0)),
    )
    with pytest.raises(RuntimeError):  # a result of another length than SciPy expects
        ndimage.generic_filter1d(image, ag.function([v], v[1:] + v[:-1]).low_level("generic_filter1d"), 3)
    for function, kind, error, message in (
        (spread, "qua", ValueError, "spread: low_level: kind is 'qua'; expected one of 'quad', .* did you mean 'quad'"),
        (moved, "quad", TypeError, r"'quad' calls a function of .*; this one takes int64\[\?\] and float64\[2\]"),
        (ag.function([v], v.sum(), mode="NUMPY"), "quad", ValueError, "is run by NumPy; low_level needs the C"),
        (ag.function([v], v.sum() * ag.shared(2.0)), "quad", ValueError, "it has updates, shared variables"),
    ):
        with pytest.raises(error, match=message):
            function.low_level(kind)
