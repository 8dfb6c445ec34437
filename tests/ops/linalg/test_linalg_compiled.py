"""Linear algebra, diagonals and sorting as compiled functions, against the NumPy meaning of the same graphs."""

import numpy as np
import pytest
from compiled import check, compiled, tools
from draws import mostly_long
from matrices import hermitian, matrices

import arignote as ag
from arignote import ops as T
from arignote.cbackend.build.build import build
from arignote.cbackend.runtime.lapack import find_lapack
from arignote.cbackend.runtime.runtime import load_runtime
from arignote.cbackend.runtime.sources import solver_source

DTYPES = ["float32", "float64", "complex64", "complex128"]


def shaped(rank, dtype="float64", name="x"):
    return T.tensor(name, dtype=dtype, shape=(None,) * rank)


@pytest.mark.few(1)
@pytest.mark.parametrize("dtype", ["float64", "int8", "bool", "complex64", "float16"])
def test_diagonals_and_triangles(dtype):
    x, v, k = shaped(2, dtype), shaped(1, dtype, "v"), T.lscalar("k")
    outputs = [
        T.diag(x),
        T.diagonal(x, 1),
        T.diag(v),
        T.diag(v, -2),
        T.tril(x),
        T.triu(x, k),
        T.trace(x),
        T.diag(x[::-1]),
    ]
    values = []
    for n, m in [(3, 3), (2, 5), (5, 2), (0, 3), (1, 1), (64, 33)]:
        a = (np.arange(n * m).reshape(n, m) % 7).astype(dtype)
        values += [(a, a[0] if n else a[:, 0], np.int64(k)) for k in (-1, 0, 2)]
        values.append((a.T[::-1], a[:, 0][::-1], np.int64(1)))
    check([x, v, k], outputs, *values, exact=True)


def test_diagonals_of_batches():
    x, v = shaped(4), shaped(3, name="v")
    outputs = [
        T.diagonal(x, 0, -2, -1),
        T.diagonal(x, -1, 0, 2),
        T.DiagonalMatrix()(v),
        T.tril(x, 1),
        T.assume(x, "symmetric") + 1,
    ]
    check(
        [x, v], outputs, *[(np.random.default_rng(0).random(s), np.ones(s[:3])) for s in [(2, 3, 4, 4), (1, 2, 5, 5)]]
    )
    check([x, v], outputs[:-1], (np.ones((2, 2, 0, 3)), np.ones((2, 0, 3))))


def test_a_diagonal_is_a_view_and_what_is_returned_is_not():
    x = shaped(2)
    f = compiled([x], [T.diag(x), T.assume(x, "symmetric")])
    a = np.eye(3)
    first, second = f(a)
    first[:] = 7
    second[:] = 7
    np.testing.assert_array_equal(a, np.eye(3))


def test_sorting_and_searching():
    x, v = shaped(2), shaped(1, name="v")
    outputs = [
        T.sort(x, 0),
        T.argsort(x),
        *T.nonzero(x > 0),
        T.unique(v),
        T.searchsorted(T.sort(v), x),
        x[T.nonzero(x > 0)],
    ]
    rng = np.random.default_rng(3)
    check(
        [x, v],
        outputs,
        *[(rng.standard_normal((n, m)), rng.integers(0, 4, 9) * 0.5) for n, m in [(3, 5), (0, 2), (1, 1)]],
    )


@pytest.mark.parametrize("dtype", mostly_long(DTYPES, {"float64", "complex64"}))
def test_matrices(dtype):
    a, b = shaped(2, dtype), shaped(2, dtype, "b")
    h = a @ T.conj(a).T + T.eye(a.shape[0], dtype=dtype)
    triangular = T.linalg.solve_triangular
    outputs = [
        T.linalg.inv(a), T.linalg.det(a), *T.linalg.slogdet(a), T.linalg.cholesky(h), T.linalg.solve(a, b),
        T.linalg.solve(h, b, "positive_definite"), triangular(a, b), triangular(a, b, lower=True, trans=1),
        triangular(a, b, unit_diagonal=True, trans=2), triangular(a.T, b[::-1]), T.linalg.svdvals(a),
        T.linalg.inv(a.T[::-1]), T.linalg.solve(a.T, b.T[:1].T),
    ]  # fmt: skip
    f = compiled([a, b], outputs)
    for n, k in [(3, 2), (1, 1), (7, 1), (40, 5), (0, 2), (3, 0)]:
        for order in ("C", "F"):
            x = np.asarray(matrices((n, n), dtype), order=order)
            y = np.asarray(matrices((n, max(k, 1)), dtype, 1)[:, :k], order=order)
            if n and k:
                near(f(x, y), outputs, [a, b], x, y)


@pytest.mark.parametrize("dtype", DTYPES)
def test_batches(dtype):
    a, b = shaped(4, dtype), shaped(3, dtype, "b")
    outputs = [T.linalg.inv(a), T.linalg.det(a), *T.linalg.slogdet(a), T.linalg.solve(a, b),
               T.linalg.solve_triangular(a, b), T.linalg.cholesky(a @ T.conj(T.swapaxes(a, -1, -2)))]  # fmt: skip
    f = compiled([a, b], outputs)
    for batch, other in [((2, 3), (3,)), ((2, 1), (4,)), ((1, 3), (1,)), ((0, 3), (1,))]:
        for n in (3, 9):  # by our own loops, and by LAPACK
            x, y = matrices((*batch, n, n), dtype), matrices((*other, n, 2), dtype, 1)
            near(f(x, y), outputs, [a, b], x, y)


@pytest.mark.parametrize("n", [1, 3, 8, 9])
def test_a_matrix_has_the_same_bits_in_a_batch_and_alone(n):
    """Also in another order of its elements; pivots differ from matrix to matrix."""
    a, b = shaped(3, name="a"), shaped(3, name="b")
    f = compiled([a, b], [T.linalg.solve(a, b), T.linalg.inv(a), *T.linalg.slogdet(a), T.linalg.cholesky(a)])
    h = hermitian((5, n, n), "float64")
    y = matrices((5, n, 2), "float64", 1)
    whole = f(h, y)
    for k in range(5):
        for x in (h[k : k + 1], np.asfortranarray(h)[k : k + 1], np.repeat(h[k : k + 1], 2, 1)[:, ::2]):
            for found, expected in zip(f(x, y[k : k + 1]), whole, strict=True):
                np.testing.assert_array_equal(found, expected[k : k + 1])


@pytest.mark.parametrize("dtype", ["float64", "complex128"])  # NumPy's gesv rounds otherwise than getrf in float32
def test_rounding_makes_those_matrices_singular_that_are_for_numpy(dtype):
    """Our own loops take small matrices, and LAPACK those of which rounding decides whether they have an inverse."""
    if not all(find_lapack().addresses.get(dtype, (0,))):
        pytest.skip("needs a LAPACK")
    a, b = shaped(2, dtype, "a"), shaped(2, dtype, "b")
    solve = ag.function([a, b], T.linalg.solve(a, b))

    def refuses(f, *values):
        try:
            f(*values)
        except np.linalg.LinAlgError:
            return True
        return False

    rng = np.random.default_rng(0)
    seen = set()
    for case in range(200):
        n = 2 + case % 4
        product = rng.integers(-5, 6, (n, n - 1)) / 10 @ rng.integers(-5, 6, (n - 1, n)) / 10
        for matrix in (product, np.arange(case, case + n * n).reshape(n, n) / 10):
            given = matrix.astype(dtype), np.ones((n, 1), dtype)
            expected = refuses(np.linalg.solve, *given)
            assert refuses(solve, *given) == expected, given
            seen.add(expected)
    assert seen == {True, False}


@pytest.mark.parametrize("dtype", DTYPES)
def test_gradients_of_cholesky(dtype):
    """In panels, the last of which may be narrow; what lies above the diagonals is not read."""
    l, g = shaped(3, dtype, "l"), shaped(3, dtype, "g")
    outputs = [T.CholeskyGradient()(l, g)]
    f = compiled([l, g], outputs)
    for shape in [(2, 70, 70), (1, 32, 32), (1, 33, 33), (3, 4, 4), (1, 0, 0), (0, 3, 3)]:
        factor, cotangent = np.linalg.cholesky(hermitian(shape, dtype)), matrices(shape, dtype, 1)
        (found,) = f(factor, cotangent)
        near([found], outputs, [l, g], factor, cotangent)
        noise = np.triu(np.full(shape, np.nan, dtype), 1)
        (again,) = f(*(np.asarray(v + noise, order="F") for v in (factor, cotangent)))
        np.testing.assert_array_equal(found, again)
    with pytest.raises(np.linalg.LinAlgError):
        f(np.zeros((1, 3, 3), dtype), np.ones((1, 3, 3), dtype))


def near(results, outputs, inputs, *values):
    wanted = T.evaluate(outputs, dict(zip(inputs, values)))
    for got, want, output in zip(results, wanted, outputs):
        assert (got.dtype, got.shape) == (want.dtype, want.shape), output
        eps = 5e3 * float(np.finfo(want.dtype).eps)
        scale = float(np.abs(want).max(initial=0))
        np.testing.assert_allclose(got, want, rtol=eps, atol=eps * scale, err_msg=str(output))


@pytest.mark.parametrize(
    ("build", "value", "message"),
    [
        (T.linalg.inv, np.ones((2, 2)), "Singular"),
        (lambda a: T.linalg.solve(a, np.ones(2)), np.ones((2, 2)), "Singular"),
        (lambda a: T.linalg.solve_triangular(a, np.ones(2)), np.zeros((2, 2)), "Singular"),
        (T.linalg.cholesky, -np.eye(2), "positive definite"),
        (T.linalg.inv, np.stack([np.eye(2), np.ones((2, 2))]), "Singular"),
    ],
)
def test_a_matrix_that_will_not_do_is_named(build, value, message):
    a = shaped(value.ndim, name="a")
    f = compiled([a], [build(a)])
    with pytest.raises(np.linalg.LinAlgError, match=message) as caught:
        f(value)
    assert "test_linalg_compiled.py" in str(caught.value)
    assert len(f(np.broadcast_to(2 * np.eye(2), value.shape).copy())) == 1


def test_singular_matrices_have_determinants():
    a = shaped(2)
    check([a], [T.linalg.det(a), *T.linalg.slogdet(a)], (np.ones((3, 3)),), (np.zeros((2, 2)),), (np.empty((0, 0)),))
    assert not np.signbit(ag.function([a], T.linalg.slogdet(a)[0])(np.array([[1.0, 2], [2, 4]])))  # 0, as NumPy's


def test_shapes_that_are_no_system_are_reported():
    a, b = shaped(2, name="a"), shaped(2, name="b")
    f = compiled([a, b], [T.linalg.solve(a, b)])
    for x, y in [((2, 3), (2, 1)), ((3, 3), (2, 1))]:
        with pytest.raises(ValueError):
            f(np.ones(x), np.ones(y))


def test_memory_is_given_back():
    a = hermitian((2, 3, 3), "f8")
    x = shaped(3)
    f = compiled([x], [T.linalg.inv(x), T.linalg.cholesky(x)])
    first = [r.copy() for r in f(a)]
    for _ in range(50):
        again = f(a)
    for one, two in zip(first, again):
        np.testing.assert_array_equal(one, two)


@pytest.fixture
def own_loops():
    """The runtime without a LAPACK, for a test."""
    toolchain, cache = tools()
    runtime, lapack = load_runtime(toolchain, cache), find_lapack()

    def install(addresses, wide):
        for dtype in DTYPES:
            library = build(solver_source(dtype), toolchain, cache)
            runtime.install_lapack(dtype, library, addresses(dtype), wide)

    install(lambda dtype: (0, 0, 0, 0), False)
    yield
    install(lapack.addresses.__getitem__, lapack.wide)


@pytest.mark.parametrize("dtype", DTYPES)
def test_without_a_lapack(dtype, own_loops):
    a, b = shaped(3, dtype), shaped(3, dtype, "b")
    h = a @ T.conj(T.swapaxes(a, -1, -2))
    outputs = [T.linalg.inv(a), *T.linalg.slogdet(a), T.linalg.solve(a, b), T.linalg.cholesky(h)]
    outputs += [T.linalg.solve_triangular(v, b, lower=k) for v in (a, T.swapaxes(a, -1, -2)) for k in (False, True)]
    f = compiled([a, b], outputs)
    for n in (0, 1, 2, 9):
        x, y = matrices((2, n, n), dtype), matrices((2, n, 3), dtype, 1)
        near(f(x, y), outputs, [a, b], x, y)
    with pytest.raises(np.linalg.LinAlgError):
        f(np.ones((1, 3, 3), dtype), np.ones((1, 3, 3), dtype))


def test_the_lapack_of_numpy_is_found():
    """Wheels bring one; a NumPy built against something else may not, and then our own loops work."""
    lapack = find_lapack()
    assert set(lapack.addresses) == set(DTYPES)
    assert all(all(found) or not any(found) for found in lapack.addresses.values())
