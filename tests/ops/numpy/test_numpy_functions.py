"""NumPy's functions that are compositions of ops: values, dtypes and shapes against NumPy, and their derivatives."""

import numpy as np
import pytest
from against_numpy import assert_like_numpy, sample
from gradients import assert_gradient

import arignote as ag
from arignote import ops as T

REAL = ["bool", "int8", "int64", "uint16", "float16", "float32", "float64"]
FLOATS = ["float16", "float32", "float64"]
ROUNDING = {"float16": 2e-3, "float32": 2e-6, "complex64": 2e-6}


def like(name, *values, spaces=(T, np), rtol=None, **options):
    """`T.name` of the arrays among `values` is `np.name` of them."""
    arrays = [v for v in values if isinstance(v, np.ndarray)]
    others = {k: v for k, v in enumerate(values) if not isinstance(v, np.ndarray)}

    def call(namespace, given):
        given = iter(given)
        operands = [others[k] if k in others else next(given) for k in range(len(values))]
        return getattr(namespace, name)(*operands, **options)

    expected = call(spaces[1], arrays)
    dtype = np.asarray(expected[0] if isinstance(expected, (tuple, list)) else expected).dtype.name
    rtol = ROUNDING.get(dtype, 1e-13) if rtol is None else rtol
    if not isinstance(expected, (tuple, list)):
        assert_like_numpy(lambda *vs: call(spaces[0], vs), lambda *vs: call(spaces[1], vs), *arrays, rtol=rtol)
        return
    for k in range(len(expected)):
        ours, numpys = (lambda *vs, k=k, of=of: call(of, vs)[k] for of in spaces)
        assert_like_numpy(ours, numpys, *arrays, rtol=rtol)


def with_nan(shape, dtype="float64"):
    x = sample(shape, dtype)
    x.reshape(-1)[::3] = np.nan
    return x


# --- order, means, counts


@pytest.mark.few(12)
@pytest.mark.parametrize("dtype", REAL)
@pytest.mark.parametrize("shape", [(1,), (4,), (5,), (2, 3), (3, 1, 4)])
def test_medians_and_quantiles(shape, dtype):
    x = sample(shape, dtype)
    for axis in (None, 0, -1, tuple(range(len(shape)))):
        for keepdims in (False, True):
            like("median", x, axis=axis, keepdims=keepdims)
            if dtype != "bool":
                like("quantile", x, 0.3, axis=axis, keepdims=keepdims)
                like("percentile", x, [0, 25, 80.5, 100], axis=axis, keepdims=keepdims)
    if dtype != "bool":
        like("quantile", x, np.array([[0.1, 0.5], [0.9, 1.0]]), axis=0)
        for method in ("lower", "higher", "nearest", "midpoint"):
            like("quantile", x, 0.4, axis=-1, method=method)


def test_medians_of_nan_and_of_nothing():
    with np.errstate(all="ignore"), pytest.warns(RuntimeWarning):
        like("median", np.zeros(0))
    x = T.vector("x", "int8")
    assert T.quantile(x, 0.5).eval({x: [-128, 127]}) == -0.5  # no difference of int8 wraps around
    like("median", with_nan((3, 4)), axis=1)
    like("median", np.array([1.0, np.inf, np.inf, -np.inf]))
    like("quantile", with_nan((3, 4)), 0.5, axis=1)
    for q in (-0.1, 1.5, [0.5, 2.0]):
        with pytest.raises(ValueError, match="quantile: q must be from 0 to 1"):
            T.quantile(T.vector(), q)
    with pytest.raises(ValueError, match=r"quantile: method must be one of linear, .*, got 'newton'"):
        T.quantile(T.vector(), 0.5, method="newton")


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("dtype", REAL)
@pytest.mark.parametrize("axis", [None, 0, -1, (0, 1)])
def test_without_nan(axis, dtype):
    x = sample((3, 4), dtype)
    if np.dtype(dtype).kind == "f":
        x[0], x[1, ::2] = np.nan, np.nan
    for name in ("nansum", "nanprod", "nanmean", "nanmax", "nanmin", "nanmedian"):
        for keepdims in (False, True):
            like(name, x, axis=axis, keepdims=keepdims)
    for ddof in (0, 1, 2):
        like("nanvar", x, axis=axis, ddof=ddof, rtol=4e-3 if dtype == "float16" else None)
        like("nanstd", x, axis=axis, ddof=ddof, rtol=4e-3 if dtype == "float16" else None)
    if not isinstance(axis, tuple):
        like("nancumsum", x, axis=axis)
        like("nancumprod", x, axis=axis)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("dtype", REAL)
def test_reductions_of_what_a_mask_chooses(dtype):
    x, row = sample((3, 4), dtype), np.array([True, False, True, False])
    for name in ("sum", "prod", "mean", "any", "all"):
        for mask in (row, sample((3, 4), "bool"), row[:3, None]):
            for axis in (None, 0, 1):
                like(name, x, axis=axis, keepdims=True, where=mask)
    rtol = ROUNDING.get(dtype, 1e-13)
    assert_like_numpy(lambda v, m: v.mean(0, where=m), lambda v, m: v.mean(0, where=m), x, row, rtol=rtol)
    if dtype == "float64":
        assert_gradient(lambda v: T.mean(v, 1, where=row), x)
    with pytest.raises(ValueError, match=r"sum: where broadcasts to x \(float64\[\?\]\), got m"):
        T.vector("x").sum(where=T.matrix("m", "bool"))


def test_numbers_for_nan():
    x = np.array([1.0, np.nan, np.inf, -np.inf, -2.0])
    for dtype in FLOATS:
        like("nan_to_num", x.astype(dtype), rtol=0)
        like("nan_to_num", x.astype(dtype), nan=3.0, posinf=7.0, neginf=-7.0, rtol=0)
    like("nan_to_num", sample(3, "int8"))
    for name in ("fmax", "fmin"):
        like(name, x, x[::-1].copy(), rtol=0)
        like(name, sample(4, "int8"), sample(4, "uint8", seed=1))
        like(name, x.astype("float32"), 0.5, rtol=0)
    for name in ("isposinf", "isneginf"):
        like(name, x)
        like(name, x.astype("float32")[:, None])


@pytest.mark.parametrize("dtype", [*REAL, "complex128"])
def test_averages_and_covariances(dtype):
    x, w = sample((3, 4), dtype), sample(4, seed=2) ** 2
    for axis in (None, 0, 1):
        like("average", x, axis=axis)
    like("average", x, axis=1, weights=w)
    like("average", x, weights=np.ones((3, 4), "float32"))
    like("average", x, axis=1, weights=w, returned=True)
    like("average", x, axis=0, returned=True)
    if dtype not in ("bool", "float16"):
        for options in ({}, {"rowvar": False}, {"bias": True}, {"ddof": 0}):
            like("cov", x, rtol=1e-12, **options)
        like("cov", x[0].copy(), rtol=1e-12)
        like("cov", x[0].copy(), x[1].copy(), rtol=1e-12)
    if dtype == "float64":
        like("corrcoef", x)
        like("corrcoef", x, rowvar=False)
        like("corrcoef", x[0].copy(), x[1].copy())


def test_counts():
    like("count_nonzero", sample((3, 4), "int8"))
    like("count_nonzero", sample((3, 4), "bool"), axis=1)
    for dtype in ("int64", "uint8", "int8"):
        x = sample(20, dtype)
        like("bincount", x)
        like("bincount", x, minlength=13)
        like("bincount", x, weights=sample(20))
    like("bincount", np.zeros(0, "int64"), minlength=3)
    edges = np.array([-1.0, 0.0, 0.5, 2.0])
    for right in (False, True):
        like("digitize", np.array([-2.0, -1.0, 0.0, 0.2, 0.5, 3.0, np.nan]), edges, right=right)
    x = sample(50)
    for options in ({}, {"bins": 7}, {"bins": edges}, {"bins": 4, "range": (-1, 2)}, {"density": True, "bins": 3}):
        like("histogram", x, **options)
    like("histogram", x, weights=sample(50, seed=3), rtol=1e-12)
    like("histogram", sample(50, "int64"), bins=3)
    like("histogram", np.ones(4))
    on_edges = np.array([0.0, 1.0, 2.0, 3.0, -1.0, 4.0, np.nan, 0.1 + 0.2, 0.3])
    for dtype in ("float16", "float32", "float64"):
        for options in ({"bins": 3, "range": (0, 3)}, {"bins": 30, "range": (0.0, 3.0)}, {"bins": np.arange(4.0)}):
            like("histogram", on_edges[:-3].astype(dtype), **options)
    like("histogram", on_edges, bins=10, range=(0, 3))
    like("histogram", on_edges, bins=10, range=(0, 3), weights=np.arange(9.0), density=True)
    like("histogram", sample(50, "uint8"), bins=4)
    like("histogram", np.array([2**63, 1, 5, 2**64 - 1], "uint64"), bins=3)
    with pytest.raises(ValueError, match="x must not be negative, got -1"):
        T.bincount(T.as_tensor([1, -1]))


# --- comparisons and further elementwise functions


def test_closeness():
    a = np.array([1.0, 1.0 + 1e-9, np.inf, np.inf, np.nan, 0.0, 1e-9])
    b = np.array([1.0, 1.0, np.inf, -np.inf, np.nan, 1e-9, np.inf])
    for options in ({}, {"equal_nan": True}, {"rtol": 0, "atol": 0}, {"atol": 1.0}):
        like("isclose", a, b, **options)
        like("allclose", a[:2].copy(), b[:2].copy(), **options)
    like("isclose", np.array([1, 2, 10**6]), np.array([1, 3, 10**6 + 1]))
    like("isin", sample((3, 4), "int8"), [1, 2, 5])
    like("isin", sample((3, 4), "int8"), np.array([[1], [7]]), invert=True)
    like("isin", sample(3), np.zeros(0))


@pytest.mark.parametrize("dtype", REAL)
def test_further_elementwise_functions(dtype):
    x = sample((2, 3), dtype)
    if dtype != "bool":
        like("heaviside", x, 0.5)
        like("heaviside", np.zeros(3, dtype), x)
        like("float_power", x + x.dtype.type(3), 1.5)
    like("sinc", x, rtol=4e-3 if dtype == "float16" else None)
    assert_like_numpy(T.fix, np.trunc, x)  # np.fix warns that np.trunc is to be called
    if np.dtype(dtype).kind == "f":
        like("logaddexp2", x, x[:1].copy())
        like("heaviside", with_nan(4, dtype), 0.5)
    like("sinc", np.zeros(2, dtype))


def test_select():
    x = sample((3, 4))
    assert_like_numpy(
        lambda x: T.select([x < 0, x > 1], [-x, x * 2], 0.5), lambda x: np.select([x < 0, x > 1], [-x, x * 2], 0.5), x
    )
    with pytest.raises(ValueError, match="select: 1 conditions for 2 choices"):
        T.select([True], [1, 2])


# --- arrangements


@pytest.mark.parametrize("shape", [(), (3,), (2, 3), (2, 3, 2)])
def test_ranks_and_stacks(shape):
    x = sample(shape)
    for name in ("atleast_1d", "atleast_2d", "atleast_3d"):
        like(name, x)
        assert len(getattr(T, name)(x, x)) == 2
    assert_like_numpy(lambda v: T.dstack([v, v]), lambda v: np.dstack([v, v]), x)
    assert_like_numpy(lambda v: T.append(v, [7.0]), lambda v: np.append(v, [7.0]), x)
    if shape:
        assert_like_numpy(lambda v: T.column_stack([v, v]), lambda v: np.column_stack([v, v]), x)
        assert_like_numpy(lambda v: T.append(v, v, axis=0), lambda v: np.append(v, v, axis=0), x)
        assert_like_numpy(lambda v: T.concat([v, v], axis=-1), lambda v: np.concat([v, v], axis=-1), x)
        like("flipud", x)
        parts = [T.unstack(T.tensor(shape=shape), axis=k) for k in range(len(shape))]
        assert [len(p) for p in parts] == list(shape)
    if len(shape) > 1:
        for k in range(-1, 5):
            like("rot90", x, k)
            like("rot90", x, k, axes=(1, 0))
        like("fliplr", x)
        like("matrix_transpose", x)
        like("permute_dims", x, tuple(reversed(range(len(shape)))))
        like("hsplit", x[:, :2].copy(), 2)
        like("vsplit", x, [1])
    with pytest.raises(ValueError, match=r"unstack: the length of axis 0 of x \(float64\[\?\]\) is not known"):
        T.unstack(T.vector("x"))


def test_grids_and_positions():
    x, y, z = sample(3), sample(2, "float32"), sample(4, "int8")
    for indexing in ("xy", "ij"):
        for sparse in (False, True):
            like("meshgrid", x, y, z, indexing=indexing, sparse=sparse)
            like("meshgrid", x, y, indexing=indexing, sparse=sparse)
    like("meshgrid", x)
    like("broadcast_arrays", x, sample((2, 1)), np.float64(3) * np.ones(()))
    for arguments in ((3,), (3, 1), (3, -1, 4)):
        like("tril_indices", *arguments)
        like("triu_indices", *arguments)
        found = T.tril_indices(T.as_tensor(arguments[0]), *arguments[1:])
        np.testing.assert_array_equal(T.stack(found).eval(), np.stack(np.tril_indices(*arguments)))
    like("diag_indices", 4, 3)
    like("unravel_index", np.array([0, 5, 11]), (3, 4))
    like("argwhere", sample((3, 4), "bool"))
    assert_like_numpy(lambda v: T.extract(v > 0, v), lambda v: np.extract(v > 0, v), sample((3, 4)))
    like("compress", np.array([True, False, True]), sample((3, 4)), axis=0)
    for name in ("empty_like", "zeros_like"):
        assert getattr(T, name)(T.fvector()).dtype == "float32"
    like("logspace", 0, 2, 5)
    like("logspace", 0.0, 3.0, 4, base=2.0, endpoint=False)
    like("geomspace", 1.0, 1000.0, 4)
    like("geomspace", -1.0, -16.0, 5, endpoint=False)


# --- samples


@pytest.mark.parametrize("dtype", [*REAL, "complex128"])
@pytest.mark.parametrize("shape", [(4,), (3, 5)])
def test_differences_and_integrals(shape, dtype):
    x, places = sample(shape, dtype), np.array([0.0, 0.5, 2.0, 2.5, 4.0])[: shape[-1]]
    for n in (0, 1, 2):
        like("diff", x, n)
        like("diff", x, n=n, axis=0)
    like("diff", x, prepend=x.dtype.type(1), append=x[..., :1].copy())
    like("trapezoid", x)
    like("trapezoid", x, dx=0.5, axis=0)
    like("trapezoid", x, places)
    if dtype not in ("bool", "int8", "uint16"):
        like("gradient", x)
        like("gradient", x, 0.5)
        like("gradient", x, axis=-1)
        if dtype == "float64":
            like("gradient", x, places, axis=-1)


def test_interpolation():
    at, values = np.array([-1.0, 0.0, 0.5, 2.0]), np.array([1.0, 3.0, -2.0, 0.0])
    x = np.array([[-3.0, -1.0, -0.5, 0.0], [0.25, 2.0, 5.0, np.nan]])
    like("interp", x, at, values)
    like("interp", x, at, values, left=7.0, right=-7.0)
    like("interp", x, at, values * (1 + 2j))
    like("interp", x, at[:1].copy(), values[:1].copy())
    like("interp", np.array(0.1, "float32"), at.astype("float32"), values.astype("int64"))
    assert_gradient(lambda x, y: T.interp(x, at, y), np.array([-0.6, 0.2, 1.0]), values)


@pytest.mark.parametrize("dtype", ["int64", "float32", "float64", "complex128"])
def test_polynomials(dtype):
    p, x = sample(4, dtype), sample((2, 3), dtype, seed=6)
    like("polyval", p, x, rtol=1e-4 if dtype == "float32" else 1e-11)
    like("polyval", [1, -2, 3], x)
    for options in ({}, {"N": 3}, {"increasing": True}):
        like("vander", x[0].copy(), rtol=1e-5 if dtype == "float32" else 1e-12, **options)


@pytest.mark.parametrize("dtype", ["int64", "float32", "float64", "complex128"])
@pytest.mark.parametrize("lengths", [(5, 3), (5, 2), (3, 5), (2, 5), (1, 4), (4, 1), (3, 3)])
def test_convolutions(lengths, dtype):
    a, v = sample(lengths[0], dtype), sample(lengths[1], dtype, seed=6)
    for mode in ("full", "same", "valid"):
        like("convolve", a, v, mode=mode, rtol=1e-5 if dtype == "float32" else 1e-12)
        like("correlate", a, v, mode=mode, rtol=1e-5 if dtype == "float32" else 1e-12)
    with pytest.raises(ValueError, match='convolve: mode must be "full", "same" or "valid"'):
        T.convolve(a, v, "middle")


@pytest.mark.parametrize("dtype", ["int64", "float32", "complex128"])
def test_products_of_vectors(dtype):
    a, b = sample((2, 3), dtype), sample((2, 3), dtype, seed=6)
    like("cross", a, b)
    like("cross", a.T.copy(), b.T.copy(), axis=0)
    like("vecdot", a, b)
    like("vecdot", a, b[0].copy())
    with pytest.raises(ValueError, match=r"cross: .* expected length 3 on axis 0, got 2"):
        T.cross(np.ones(2), np.ones(2))


# --- linear algebra


def test_least_squares():
    spaces = (T.linalg, np.linalg)
    tall, wide, low = sample((5, 3)), sample((2, 4)), sample((5, 3))
    low[:, 2] = low[:, 0]
    for a in (tall, wide, low):
        for b in (sample(len(a), seed=7), sample((len(a), 2), seed=7)):
            like("lstsq", a, b, rcond=1e-10, spaces=spaces, rtol=1e-10)
            like("lstsq", a, b, spaces=spaces, rtol=1e-10)
    assert_gradient(lambda a, b: T.linalg.lstsq(a, b)[0], tall, sample(5, seed=7))


def test_further_linear_algebra():
    spaces = (T.linalg, np.linalg)
    x, square = sample((2, 3, 4)), sample((2, 3, 3))
    like("matrix_rank", x, spaces=spaces)
    like("matrix_rank", np.array([[1.0, 2.0], [2.0, 4.0]]), spaces=spaces)
    like("matrix_rank", np.array([[1.0, 2.0], [2.0, 4.0]]), hermitian=True, spaces=spaces)
    like("matrix_rank", x, tol=1.0, spaces=spaces)
    for p in (None, 2, -2, 1, np.inf, "fro"):
        like("cond", square, p, spaces=spaces, rtol=1e-11)
    assert_like_numpy(lambda a, b: T.linalg.multi_dot([a, b, a]), lambda a, b: np.linalg.multi_dot([a, b, a]),
                      x[0], x[1].T.copy(), rtol=1e-12)  # fmt: skip
    for offset in (-1, 0, 1):
        like("diagonal", x, offset=offset, spaces=spaces)
        like("trace", x, offset=offset, spaces=spaces)
    like("outer", x[0, 0].copy(), x[1, 1].copy(), spaces=spaces)
    for axis in (None, 0, (0, 2)):
        for order in (1, 2, np.inf):
            like("vector_norm", x, axis=axis, ord=order, keepdims=True, spaces=spaces)
    like("matrix_norm", x, spaces=spaces)
    like("matrix_norm", x, ord=2, keepdims=True, spaces=spaces)
    assert T.linalg.LinAlgError is np.linalg.LinAlgError


# --- derivatives, and all of it compiled

SMOOTH = [
    lambda x: T.median(x, axis=1), lambda x: T.quantile(x, [0.2, 0.7], axis=0), lambda x: T.average(x, 1, [1, 2, 3, 4]),
    T.cov, T.corrcoef, lambda x: T.nanmean(T.switch(x > 0.2, np.nan, x), axis=0),
    lambda x: T.nanvar(T.switch(x > 0.5, np.nan, x)), lambda x: T.nanmax(T.switch(x > 0.5, np.nan, x), 1), T.sinc,
    lambda x: T.logaddexp2(x, 2 * x), lambda x: T.fmax(x, 0.1), lambda x: T.diff(x, 2), lambda x: T.gradient(x, axis=1),
    lambda x: T.trapezoid(x, axis=0), lambda x: T.polyval([1.0, 2.0, 3.0], x), lambda x: T.vander(x[0], 3),
    lambda x: T.convolve(x[0], x[1, :2], "same"), lambda x: T.correlate(x[0], x[1], "full"),
    lambda x: T.cross(x[:, :3], x[:, 1:]), lambda x: T.vecdot(x, x), lambda x: T.meshgrid(x[0], x[1])[0] * x[2, 0],
    lambda x: T.rot90(x) ** 2, lambda x: T.nan_to_num(x) ** 2, lambda x: T.nanmedian(x, axis=0),
    T.linalg.vector_norm, lambda x: T.linalg.cond(x[:, :3]), lambda x: T.column_stack([x[:, 0], x]),
    lambda x: T.dstack([x, x * x]),
    lambda x: T.histogram(x, 3, weights=x)[0], lambda x: T.nanprod(x, axis=1),
]  # fmt: skip


@pytest.mark.parametrize("k", range(len(SMOOTH)))
def test_derivatives(k):
    assert_gradient(SMOOTH[k], sample((3, 4), seed=12))
    assert_gradient(SMOOTH[k], sample((3, 4), seed=12), static=False)


@pytest.mark.long
@pytest.mark.parametrize("part", range(3))
def test_compiled(part):
    """A third of the functions and their derivatives in one function; each has an input of its own."""
    several = SMOOTH[part::3]
    inputs = [T.matrix(None) for _ in several]
    results = [function(x) for function, x in zip(several, inputs, strict=True)]
    outputs = [v for y, x in zip(results, inputs, strict=True) for v in (y, ag.grad(T.sum(T.square(y)), x))]
    values = [sample((3, 4), seed=12)] * len(inputs)
    compiled, by_numpy = (ag.function(inputs, outputs, mode=mode)(*values) for mode in ("FAST_RUN", "NUMPY"))
    for k, (found, expected) in enumerate(zip(compiled, by_numpy, strict=True)):
        np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-12, err_msg=f"SMOOTH[{part + 3 * (k // 2)}]")


def test_derivative_of_sinc_at_0_is_0():
    x = T.vector("x")
    np.testing.assert_array_equal(ag.grad(T.sinc(x).sum(), x).eval({x: np.zeros(2)}), np.zeros(2))
