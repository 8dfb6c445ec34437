"""Products of matrices against NumPy, and the BLAS ops against what they stand for."""

import numpy as np
import pytest
from against_numpy import assert_like_numpy, sample
from gradients import assert_gradient

import arignote as ag
from arignote import ops as T
from arignote.graph import dims_of, same_shape

DTYPES = ["bool", "int8", "uint16", "int64", "float16", "float32", "float64", "complex64", "complex128"]
BLAS = ["float32", "float64", "complex64", "complex128"]
TOLERANCE = {"float16": 1e-2, "float32": 1e-5, "complex64": 1e-5}
SHAPES = [
    ((3,), (3,)), ((2, 3), (3,)), ((3,), (3, 4)), ((2, 3), (3, 4)), ((0, 3), (3, 1)), ((2, 0), (0, 4)),
    ((1, 1), (1, 1)),
]  # fmt: skip
BATCHED = [
    ((5, 2, 3), (5, 3, 4)), ((5, 2, 3), (3, 4)), ((2, 3), (5, 3, 4)), ((1, 2, 3), (5, 3, 4)), ((6, 1, 2, 3), (5, 3, 1)),
    ((3,), (5, 3, 4)), ((5, 2, 3), (3,)), ((0, 2, 3), (3, 4)), ((5, 2, 0), (0, 4)),
]  # fmt: skip


def rtol(dtype):
    return TOLERANCE.get(dtype, 1e-13)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("a", "b"), SHAPES)
def test_dot(a, b, dtype):
    x, y = sample(a, dtype), sample(b, dtype, seed=6)
    assert_like_numpy(T.dot, np.dot, x, y, rtol=rtol(dtype))
    assert_like_numpy(T.matmul, np.matmul, x, y, rtol=rtol(dtype))
    assert_like_numpy(lambda v, w: v @ w, np.matmul, x, y, rtol=rtol(dtype))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("a", "b"), BATCHED)
def test_matmul_of_batches(a, b, dtype):
    assert_like_numpy(T.matmul, np.matmul, sample(a, dtype), sample(b, dtype, seed=6), rtol=rtol(dtype))


@pytest.mark.parametrize(
    ("left", "right"),
    [("float32", "float64"), ("int8", "float32"), ("bool", "int16"), ("float64", "complex64"), ("uint64", "int64")],
)
def test_mixed_dtypes(left, right):
    x, y = sample((2, 3), left), sample((3, 2), right)
    assert_like_numpy(T.dot, np.dot, x, y, rtol=1e-6)
    assert_like_numpy(T.matmul, np.matmul, x, y, rtol=1e-6)


@pytest.mark.parametrize("dtype", ["int64", "float64", "complex128"])
def test_other_products(dtype):
    x, y, z = sample(3, dtype), sample(4, dtype), sample((2, 3), dtype)
    assert_like_numpy(T.outer, np.outer, x, y, rtol=1e-13)
    assert_like_numpy(T.outer, np.outer, z, y, rtol=1e-13)
    assert_like_numpy(T.inner, np.inner, z, z, rtol=1e-13)
    assert_like_numpy(T.inner, np.inner, x, z, rtol=1e-13)
    assert_like_numpy(T.vdot, np.vdot, z, z, rtol=1e-13)
    assert_like_numpy(T.dot, np.dot, z[0, 0], x, rtol=1e-13)
    assert_like_numpy(T.dot, np.dot, sample((2, 3, 4), dtype), sample((5, 4, 2), dtype), rtol=1e-13)
    assert_like_numpy(T.dot, np.dot, sample((2, 3, 4), dtype), y, rtol=1e-13)


@pytest.mark.parametrize("axes", [0, 1, 2, ((0,), (1,)), ((1, 0), (0, 1)), ((-1, 0), (-2, -1))])
def test_tensordot(axes):
    x, y = sample((2, 3)), sample((3, 2) if axes != 2 else (2, 3))
    assert_like_numpy(lambda a, b: T.tensordot(a, b, axes), lambda a, b: np.tensordot(a, b, axes), x, y, rtol=1e-13)
    assert_like_numpy(lambda a: T.tensordot(a, a, 2), lambda a: np.tensordot(a, a, 2), sample((3, 3)), rtol=1e-13)


def test_tensordot_compares_each_length():
    x, y = T.matrix("x"), T.matrix("y")
    with pytest.raises(ValueError, match="expected length 2 on axis 0, got 3"):
        T.tensordot(x, y, 2).eval({x: np.ones((2, 3)), y: np.ones((3, 2))})
    with pytest.raises(ValueError, match="differ in length, 2 and 3"):
        T.tensordot(T.tensor("x", shape=(2, 3)), T.tensor("y", shape=(3, 2)), 2)


def test_what_is_refused():
    x = T.tensor("x", shape=(2, 3))
    with pytest.raises(ValueError, match=r"dot: axis -1 of x \(.*\) and axis 0 of y .* differ in length, 3 and 2"):
        T.dot(x, T.tensor("y", shape=(2, 3)))
    with pytest.raises(ValueError, match=r"matmul: batch axis 0 has lengths \(2, 3\)"):
        T.matmul(T.tensor("x", shape=(2, 1, 1)), T.tensor("y", shape=(3, 1, 1)))
    with pytest.raises(TypeError, match="matmul takes no scalars"):
        T.matmul(x, 2.0)
    with pytest.raises(TypeError, match="dot takes vectors and matrices"):
        T.Dot()(T.tensor3(), x)
    with pytest.raises(TypeError, match="one dtype"):
        T.Dot()(x, T.fmatrix())
    y = T.matrix("y")
    with pytest.raises(ValueError, match="aligned"):
        T.dot(y, y).eval({y: np.ones((2, 3))})


def test_shapes_of_products():
    x, y, z = T.matrix("x"), T.matrix("y"), T.tensor3("z")
    assert dims_of(x @ y) == (dims_of(x)[0], dims_of(y)[1])
    assert dims_of(z @ y) == (dims_of(z)[0], dims_of(z)[1], dims_of(y)[1])
    assert same_shape(T.Gemm()(x, 1.0, y, y, 1.0), x)


# --- derivatives


@pytest.mark.few(20)
@pytest.mark.parametrize("static", [True, False])
@pytest.mark.parametrize("dtype", ["float64", "complex128"])
@pytest.mark.parametrize(("a", "b"), SHAPES + BATCHED)
def test_derivatives(a, b, dtype, static):
    x, y = sample(a, dtype), sample(b, dtype, seed=6)
    assert_gradient(T.matmul, x, y, static=static)


def test_derivatives_of_other_products():
    x, y = sample((2, 3)), sample((4,))
    assert_gradient(T.outer, x, y)
    assert_gradient(lambda a, b: T.tensordot(a, b, ((0, 1), (1, 0))), x, sample((3, 2, 2)), static=False)
    assert_gradient(T.vdot, sample(3, "complex128"), sample(3, "complex128", seed=6))


# --- BLAS


def operands(dtype):
    """z, alpha, x, y, beta and two vectors."""
    shapes = [(2, 4), (), (2, 3), (3, 4), (), (2,), (3,), (4,)]
    return [sample(shape, dtype, seed) for seed, shape in enumerate(shapes)]


@pytest.mark.parametrize("dtype", BLAS)
def test_meanings(dtype):
    z, alpha, x, y, beta, u, v, w = operands(dtype)
    same = lambda op, numpys, *values: assert_like_numpy(op, numpys, *values, rtol=rtol(dtype))  # noqa: E731
    same(T.Dot22(), np.dot, x, y)
    same(T.Dot22Scalar(), lambda x, y, s: s * (x @ y), x, y, alpha)
    same(T.Gemm(), lambda z, a, x, y, b: b * z + a * (x @ y), z, alpha, x, y, beta)
    same(T.Gemv(), lambda y, a, A, x, b: b * y + a * (A @ x), u, alpha, x, v, beta)
    same(T.Ger(), lambda A, a, x, y: A + a * np.outer(x, y), z, alpha, u, w)


@pytest.mark.parametrize("dtype", BLAS)
def test_what_is_not_used_is_not_read(dtype):
    z, alpha, x, y, _, u, v, _ = operands(dtype)
    zero, nans = np.zeros((), dtype), np.full_like(z, np.nan)
    (found,) = T.Gemm().evaluate(nans, alpha, x, y, zero)
    np.testing.assert_allclose(found, alpha * (x @ y), rtol=rtol(dtype))
    (found,) = T.Gemv().evaluate(np.full_like(u, np.nan), alpha, x, v, zero)
    np.testing.assert_allclose(found, alpha * (x @ v), rtol=rtol(dtype))


def test_empty_products():
    zero_inner = np.ones((2, 0)), np.ones((0, 4))
    z, half = np.ones((2, 4)), np.float64(0.5)
    assert_like_numpy(T.Gemm(), lambda z, a, x, y, b: 0.5 * z, z, half, *zero_inner, half)
    assert_like_numpy(T.Dot22(), np.dot, np.ones((0, 3)), np.ones((3, 0)))


def test_derivatives_of_blas_ops():
    z, alpha, x, y, beta, u, v, w = operands("float64")
    for static in (True, False):
        assert_gradient(T.Dot22(), x, y, static=static)
        assert_gradient(T.Dot22Scalar(), x, y, alpha, static=static)
        assert_gradient(T.Gemm(), z, alpha, x, y, beta, static=static)
        assert_gradient(T.Gemv(), u, alpha, x, v, beta, static=static)
        assert_gradient(T.Ger(), z, alpha, u, w, static=static)


def test_what_blas_ops_refuse():
    x = T.matrix("x")
    with pytest.raises(TypeError, match="dot22 takes float32, float64, complex64, complex128, got int64"):
        T.Dot22()(T.lmatrix(), T.lmatrix())
    with pytest.raises(TypeError, match=r"gemv takes operands of ranks \(1, 0, 2, 1, 0\), got x"):
        T.Gemv()(x, 1.0, x, T.vector(), 1.0)
    with pytest.raises(ValueError, match=r"gemm: z \(float64\[1, 4\]\) is added to a product of shape \(2, 4\)"):
        T.Gemm()(T.tensor("z", shape=(1, 4)), 1.0, T.tensor(shape=(2, 3)), T.tensor(shape=(3, 4)), 1.0)
    with pytest.raises(ValueError, match="is added to a product of shape"):
        T.Gemm().evaluate(np.ones((1, 4)), np.float64(1), np.ones((2, 3)), np.ones((3, 4)), np.float64(1))


@pytest.mark.few(1)
@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64"])
@pytest.mark.parametrize("threads", [1, 2])
def test_a_matrix_times_itself_has_the_bits_of_any_product(dtype, threads):
    """Half of it is copied from the other half where the right operand is the left one, transposed."""
    x, y = T.matrix("x", dtype=dtype), T.matrix("y", dtype=dtype)
    mode = ag.Mode("fast_run", backend="c")
    itself = ag.function([x], [x @ x.T, x.T @ x, T.tanh(x @ x.T)], mode=mode, threads=threads)
    product = ag.function([x, y], [x @ y, y @ x, T.tanh(x @ y)], mode=mode, threads=threads)
    for rows, columns in [(63, 70), (64, 64), (97, 130), (200, 65), (300, 460), (70, 1000)]:
        for a in (sample((rows, columns), dtype), sample((2 * rows, columns), dtype)[::-2]):
            for found, wanted in zip(itself(a), product(a, a.T.copy()), strict=True):
                assert found.tobytes() == wanted.tobytes()
    batch = T.tensor3("batch", dtype=dtype)
    f = ag.function([batch], batch @ batch.transpose(0, 2, 1), mode=mode, threads=threads)
    matrices = sample((3, 80, 90), dtype)
    found = f(matrices)
    for one, matrix in zip(found, matrices, strict=True):
        assert one.tobytes() == product(matrix, matrix.T.copy())[0].tobytes()
    if dtype != "complex64":  # there the order of a sum's two parts depends on which factor is the left one
        np.testing.assert_array_equal(found, found.transpose(0, 2, 1))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(
    "m, n, k", [(1, 1, 1), (2, 1, 2), (3, 1, 3), (3, 1, 4), (5, 1, 9), (1, 1, 30), (3, 3, 3), (8, 16, 5)]
)
def test_batches_of_little_products_have_one_result_in_any_layout_and_batch(dtype, m, n, k):
    """Products of a few numbers run one after the other, and an epilogue takes several at once."""
    rng = np.random.default_rng(5)
    a, b = rng.normal(size=(2, 700, m, k)).astype(dtype), rng.normal(size=(2, 700, k, n)).astype(dtype)
    x, y, c = T.tensor4("x", dtype), T.tensor4("y", dtype), T.tensor4("c", dtype)
    f = ag.function([x, y, c], [x @ y, T.relu(T.matmul(x, y) + c)])
    bias = rng.normal(size=(1, 700, m, 1)).astype(dtype)
    every = f(a, b, bias)
    np.testing.assert_allclose(every[0], a @ b, rtol=1e-4 if dtype == "float32" else 1e-11, atol=1e-5)
    np.testing.assert_array_equal(every[1], np.maximum(every[0] + bias, 0))
    transposed = a.swapaxes(2, 3).copy().swapaxes(2, 3)
    backwards = b[:, ::-1].copy()[:, ::-1]
    few = np.s_[:, 5:8]
    cases = [(transposed, b, bias, np.s_[:]), (a, backwards, bias, np.s_[:]), (a[few], b[few], bias[few], few)]
    for left, right, added, part in cases:
        for found, expected in zip(f(left, right, added), every, strict=True):
            assert found.tobytes() == expected[part].tobytes()
    for found, expected in zip(f(a[:, :1], b, bias), f(np.repeat(a[:, :1], 700, 1), b, bias), strict=True):
        assert found.tobytes() == expected.tobytes()
