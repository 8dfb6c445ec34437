"""Linear algebra against NumPy: values, dtypes, batches, errors and derivatives."""

from functools import partial

import numpy as np
import pytest
from matrices import adjoint, hermitian, matrices

import arignote as ag
from arignote import ops as T
from arignote.graph import dims_of, same_shape

DTYPES = ["float32", "float64", "complex64", "complex128", "int64"]
BATCHES = [(), (3,), (2, 1), (0,)]
SIDES = [0, 1, 3, 7]


def rtol(dtype):
    return 2e-3 if np.dtype(dtype).name in ("float16", "float32", "complex64") else 1e-10


def variables(*values, static=False):
    return [T.tensor(f"x{k}", v.dtype, v.shape if static else (None,) * v.ndim) for k, v in enumerate(values)]


def run(function, *values, static=False):
    """Results of the function of variables for the values, one or several, with the promised shapes."""
    inputs = variables(*values, static=static)
    outputs = function(*inputs)
    several = outputs if isinstance(outputs, (list, tuple)) else [outputs]
    results = [v.eval(dict(zip(inputs, values))) for v in several]
    for v, r in zip(several, results):
        assert (r.dtype, r.ndim) == (v.dtype, v.ndim)
        assert all(n is None or n == m for n, m in zip(v.type.shape, r.shape))
    return results if isinstance(outputs, (list, tuple)) else results[0]


def assert_like(function, reference, *values):
    with np.errstate(all="ignore"):
        want = reference(*values)
    for static in (False, True):
        got = run(function, *values, static=static)
        pairs = zip(got, want) if isinstance(got, list) else [(got, want)]
        for g, w in pairs:
            w = np.asarray(w)
            assert (g.dtype, g.shape) == (w.dtype, w.shape)
            np.testing.assert_allclose(g, w, rtol=rtol(g.dtype), atol=0.05 * rtol(g.dtype))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("batch", BATCHES)
@pytest.mark.parametrize("n", SIDES)
def test_square_matrices(n, batch, dtype):
    a = matrices((*batch, n, n), dtype)
    assert_like(T.linalg.inv, np.linalg.inv, a)
    assert_like(T.linalg.det, np.linalg.det, a)
    assert_like(T.linalg.slogdet, np.linalg.slogdet, a)
    h = hermitian((*batch, n, n), dtype)
    assert_like(T.linalg.cholesky, np.linalg.cholesky, h)
    assert_like(T.linalg.eigvalsh, np.linalg.eigvalsh, h)
    if n:
        assert_like(T.linalg.svdvals, lambda x: np.linalg.svd(x, compute_uv=False), a)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    ("a", "b"),
    [((3, 3), (3,)), ((3, 3), (3, 2)), ((2, 3, 3), (3, 2)), ((3, 3), (2, 3, 1)), ((1, 3, 3), (2, 3, 2)),
     ((2, 3, 3), (3,)), ((0, 0), (0, 2)), ((1, 1), (1, 0)), ((4, 3, 3), (4, 3, 3))],
)  # fmt: skip
def test_solve(a, b, dtype):
    rng = np.random.default_rng(1)
    x, y = matrices(a, dtype), (3 * rng.standard_normal(b)).astype(dtype)
    if dtype.startswith("complex"):
        y = y + np.asarray(1j * rng.standard_normal(b)).astype(dtype)
    assert_like(T.linalg.solve, np.linalg.solve, x, y)
    h = hermitian(a, dtype)
    assert_like(lambda p, q: T.linalg.solve(p, q, assume="positive_definite"), np.linalg.solve, h, y)
    assert_like(T.linalg.solve_triangular, lambda p, q: np.linalg.solve(np.triu(p), q), x, y)
    below = partial(T.linalg.solve_triangular, lower=True)
    assert_like(below, lambda p, q: np.linalg.solve(np.tril(p), q), x, y)
    assert_like(
        lambda p, q: T.linalg.solve_triangular(p, q, trans=2, unit_diagonal=True),
        lambda p, q: np.linalg.solve(adjoint(np.triu(p, 1) + np.eye(a[-1], dtype=dtype)), q), x, y,
    )  # fmt: skip
    assert_like(lambda p, q: T.linalg.solve_triangular(p, q, lower=True, trans=1),
                lambda p, q: np.linalg.solve(np.swapaxes(np.tril(p), -1, -2), q), x, y)  # fmt: skip


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(3, 3), (5, 2), (2, 5), (2, 4, 3), (1, 1)])
def test_factorizations(shape, dtype):
    a = matrices(shape, dtype)
    for mode in ("reduced", "complete", "r"):
        assert_like(lambda x, m=mode: T.linalg.qr(x, m), lambda x, m=mode: np.linalg.qr(x, m), a)
    for full in (False, True):
        assert_like(lambda x, f=full: T.linalg.svd(x, f), lambda x, f=full: np.linalg.svd(x, f), a)
    assert_like(T.linalg.pinv, np.linalg.pinv, a)
    square = hermitian((*shape[:-2], shape[-1], shape[-1]), dtype)
    for uplo in "LU":
        w, v = run(lambda x, u=uplo: T.linalg.eigh(x, u), square)
        np.testing.assert_allclose(
            v * w[..., None, :], square @ v, rtol=rtol(dtype), atol=1e-1 * rtol(dtype) * abs(w).max()
        )


@pytest.mark.parametrize("dtype", ["float64", "complex128", "float32", "int64"])
@pytest.mark.parametrize("keepdims", [False, True])
def test_norms(keepdims, dtype):
    a = matrices((3, 4, 5), dtype)
    cases = [(None, None), (None, 1), (2, 1), (1, 0), (0, 2), (3, 1), (np.inf, 0), (-np.inf, 2), (-1, 1), (0.5, 1)]
    cases += [(o, (0, 2)) for o in (None, "fro", "nuc", 1, -1, 2, -2, np.inf, -np.inf)]
    cases += [(o, (2, 1)) for o in (1, -1, 2, np.inf, "fro")]
    for ord, axis in cases:
        assert_like(
            lambda x, o=ord, k=axis: T.linalg.norm(x, o, k, keepdims),
            lambda x, o=ord, k=axis: np.linalg.norm(x, o, k, keepdims), a,
        )  # fmt: skip


@pytest.mark.parametrize("n", [-3, -1, 0, 1, 2, 5])
def test_matrix_power(n):
    assert_like(
        lambda x: T.linalg.matrix_power(x, n), lambda x: np.linalg.matrix_power(x, n), matrices((2, 3, 3), "f8")
    )
    if n >= 0:
        assert_like(
            lambda x: T.linalg.matrix_power(x, n), lambda x: np.linalg.matrix_power(x, n), np.arange(9).reshape(3, 3)
        )


def test_numpy_calls_on_variables():
    a = T.matrix("a")
    assert np.linalg.inv(a).owner.op == T.Inverse()
    assert np.linalg.cholesky(a).owner.op == T.Cholesky()


# --- diagonals and triangles


@pytest.mark.parametrize("dtype", ["float64", "int8", "bool", "complex64", "float16"])
@pytest.mark.parametrize("shape", [(3, 3), (2, 5), (5, 2), (0, 3), (1, 1), (2, 3, 4)])
def test_diagonals_and_triangles(shape, dtype):
    a = (np.arange(np.prod(shape)).reshape(shape) % 7).astype(dtype)
    for k in (0, 1, -1, 4, -4):
        assert_like(lambda x, k=k: T.tril(x, k), lambda x, k=k: np.tril(x, k), a)
        assert_like(lambda x, k=k: T.triu(x, k), lambda x, k=k: np.triu(x, k), a)
        assert_like(lambda x, k=k: T.diagonal(x, k), lambda x, k=k: np.diagonal(x, k), a)
        assert_like(lambda x, k=k: T.trace(x, k), lambda x, k=k: np.asarray(np.trace(x, k)), a)
        if len(shape) == 2:
            assert_like(lambda x, k=k: T.diag(x, k), lambda x, k=k: np.diag(x, k), a)
            assert_like(lambda x, k=k: T.diag(x, k), lambda x, k=k: np.diag(x, k), a[0] if len(a) else a[:, 0])
    assert_like(lambda x: T.diagonal(x, 1, -1, 0), lambda x: np.diagonal(x, 1, -1, 0), a)
    assert_like(T.tril, np.tril, a[..., 0].ravel())


@pytest.mark.parametrize("shapes", [((2, 3), (4, 1)), ((2,), (3, 2)), ((2, 2, 1), (3,)), ((), (2,)), ((0, 2), (3, 3))])
def test_kron(shapes):
    rng = np.random.default_rng(0)
    assert_like(T.kron, np.kron, *(rng.standard_normal(s) for s in shapes))


# --- errors


@pytest.mark.parametrize(
    ("build", "value", "message"),
    [
        (T.linalg.inv, np.ones((2, 2)), "Singular"),
        (lambda a: T.linalg.solve(a, np.ones(2)), np.ones((2, 2)), "Singular"),
        (lambda a: T.linalg.solve_triangular(a, np.ones(2)), np.zeros((2, 2)), "Singular"),
        (T.linalg.cholesky, -np.eye(2), "positive definite"),
    ],
)
def test_a_matrix_that_will_not_do_is_named(build, value, message):
    a = T.matrix("a")
    with pytest.raises(np.linalg.LinAlgError, match=message) as caught:
        build(a).eval({a: value})
    assert "test_linalg.py" in str(caught.value)


@pytest.mark.parametrize(
    ("build", "kind", "message"),
    [
        (lambda: T.linalg.inv(T.tensor("a", shape=(2, 3))), ValueError, "square"),
        (lambda: T.linalg.inv(T.vector("v")), TypeError, "matrices in the last two axes, got v"),
        (lambda: T.linalg.det(T.matrix("a", dtype="float16")), TypeError, "no float16"),
        (lambda: T.linalg.solve(T.matrix("a"), T.scalar("s")), TypeError, "right side"),
        (
            lambda: T.linalg.solve(T.tensor("a", shape=(2, 2)), T.tensor("b", shape=(3, 1))),
            ValueError,
            "differ in length",
        ),
        (lambda: T.linalg.qr(T.matrix("a"), "raw"), ValueError, "mode"),
        (lambda: T.linalg.solve(T.matrix("a"), T.vector("b"), assume="sparse"), ValueError, "sparse"),
        (lambda: T.linalg.norm(T.matrix("a"), "l2"), ValueError, "norm: ord must be .*, got 'l2'"),
        (lambda: T.linalg.norm(T.tensor3("a"), 2), ValueError, "neither"),
        (lambda: T.linalg.eigh(T.matrix("a"), "X"), ValueError, "UPLO"),
        (lambda: T.assume(T.matrix("a"), "banded"), ValueError, "banded"),
        (lambda: T.assume(T.vector("v"), "diagonal"), ValueError, "square"),
        (lambda: T.assume([[1.0, 2.0], [0.0, 1.0]], "lower_triangular"), ValueError, "not lower triangular"),
        (lambda: T.diag(T.tensor3("x")), ValueError, "vector or a matrix"),
    ],
)
def test_mistakes(build, kind, message):
    with pytest.raises(kind, match=message):
        build()


# --- shapes


def test_lengths_are_those_of_the_operands():
    a, b = T.tensor3("a"), T.tensor3("b")
    assert same_shape(T.linalg.inv(a), a)
    assert same_shape(T.linalg.cholesky(a), a)
    assert dims_of(T.linalg.det(a)) == dims_of(a)[:1]
    assert dims_of(T.linalg.solve(a, b))[1:] == dims_of(b)[1:]
    assert dims_of(T.DiagonalMatrix()(a))[-2] is dims_of(a)[-1]
    assert T.linalg.inv(T.tensor("a", shape=(None, 3))).type.shape == (3, 3)


INFINITE = np.array([[1.41120712, -np.inf, -0.3997925], [-np.inf, 1.2773277, -0.48536304], [-np.inf, -np.inf, 0.36]])
"""A matrix on which LAPACK's decomposition of singular values does not end."""


@pytest.mark.parametrize("bad", [INFINITE, np.diag([np.inf, 1.0, 2.0]), np.diag([1.0, np.nan, 2.0])])
def test_singular_vectors_of_infinite_matrices_are_an_error(bad):
    x = T.matrix("x")
    for made in (T.linalg.svd(x), T.linalg.pinv(x), T.linalg.polar(x), T.linalg.orth(x), T.linalg.lstsq(x, x)):
        with pytest.raises(np.linalg.LinAlgError, match="SVD did not converge: an element is infinite or NaN"):
            ag.function([x], made, mode="NUMPY")(bad)


def test_singular_values_of_infinite_matrices_are_nan(capfd):
    x = T.tensor3("x")
    found = ag.function([x], T.linalg.svdvals(x), mode="NUMPY")(np.stack([INFINITE, np.eye(3)]))
    np.testing.assert_array_equal(found, [[np.nan] * 3, [1.0] * 3])
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(("a", "b"), [((2, 3, 3), (3, 0)), ((2, 0, 0), (2, 0, 2)), ((0, 3, 3), (1, 3, 2))])
def test_batches_without_elements(a, b):
    """Their joint lengths are found without an element."""
    x, y = T.tensor("float64", shape=(None,) * len(a)), T.tensor("float64", shape=(None,) * len(b))
    first, second = np.broadcast_to(np.eye(a[-1]), a), np.ones(b)
    found = ag.function([x, y], [
        T.linalg.lu_solve(T.linalg.lu_factor(x), y), T.linalg.solve_sylvester(x, T.eye(y.shape[-1]), y),
        T.linalg.toeplitz(x.sum(-2)[..., :0], y.sum(-2)),
    ], mode="NUMPY")(first, second)  # fmt: skip
    batch = np.broadcast_shapes(a[:-2], b[:-2])
    assert [v.shape for v in found] == [(*batch, *b[-2:])] * 2 + [(*batch, 0, b[-1])]
    np.testing.assert_array_equal(found[0], np.broadcast_to(second, found[0].shape))


@pytest.mark.parametrize("shape", [(0, 0), (0, 3), (3, 0)])
def test_norms_of_no_elements_are_0(shape):
    x = T.matrix("x")
    orders = (2, "nuc", "fro", 1, np.inf)
    assert ag.function([x], [T.linalg.norm(x, o) for o in orders], mode="NUMPY")(np.zeros(shape)) == [0.0] * 5
    assert T.linalg.norm(T.zeros(0), np.inf).eval() == 0
    for p in (None, 1):
        with pytest.raises(np.linalg.LinAlgError, match="cond is not defined on empty arrays"):
            ag.function([x], T.linalg.cond(x, p), mode="NUMPY")(np.zeros((0, 0)))


@pytest.mark.parametrize("function", [T.linalg.sqrtm, T.linalg.logm, T.Cofactors()])
def test_functions_of_matrices_that_are_not_square_are_an_error_also_without_numbers(function):
    x = T.matrix("x")
    for bad in (np.ones((1, 5)), np.full((2, 3), np.nan)):
        with pytest.raises(np.linalg.LinAlgError, match="expected square matrices of one size, got"):
            ag.function([x], function(x), mode="NUMPY")(bad)
