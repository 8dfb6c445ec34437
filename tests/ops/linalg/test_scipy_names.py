"""SciPy's linear algebra: residuals that need no SciPy, SciPy's own values where it is installed, derivatives, vmap."""

import numpy as np
import pytest
from gradients import assert_gradient
from matrices import adjoint, hermitian, matrices

import arignote as ag
from arignote import ops as T
from arignote.graph import NoGradient

L = T.linalg
EYE = np.eye(5)


def draws(dtype, *shapes, seed=0):
    rng = np.random.default_rng(seed)
    found = [rng.standard_normal(s) + (1j * rng.standard_normal(s) if dtype[0] == "c" else 0) for s in shapes]
    return [x.astype(dtype) for x in found]


def run(function, *values, static=False):
    inputs = [T.tensor(f"x{k}", v.dtype.name, v.shape if static else (None,) * v.ndim) for k, v in enumerate(values)]
    outputs = function(*inputs)
    several = isinstance(outputs, (list, tuple))
    found = ag.function(inputs, list(outputs) if several else outputs, mode="NUMPY")(*values)
    promised = outputs if several else [outputs]
    for v, got in zip(promised, found if several else [found]):
        assert (got.dtype, got.ndim) == (v.dtype, v.ndim)
        assert all(n is None or n == m for n, m in zip(v.type.shape, got.shape))
    return found


def close(a, b, tolerance=1e-9):
    a, b = np.asarray(a), np.asarray(b)
    assert a.shape == b.shape
    scale = max(1.0, np.abs(b).max(initial=0))
    np.testing.assert_allclose(a / scale, b / scale, atol=tolerance, rtol=0)


def tolerance_of(dtype):
    return 2e-3 if dtype in ("float32", "complex64") else 1e-9


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
def test_functions_of_matrices_and_factors_hold_their_equations(dtype):
    tolerance = tolerance_of(dtype)
    a, e, x, wide, tall = draws(dtype, (2, 5, 5), (2, 5, 5), (2, 5, 3), (2, 3, 5), (2, 6, 4))
    h, q3 = hermitian((2, 5, 5), dtype), hermitian((2, 3, 3), dtype)
    near = (a / 4 + 2 * EYE).astype(dtype)
    close(run(lambda m: L.logm(L.expm(m / 8)), a), a / 8, tolerance)
    close(run(lambda m: L.sqrtm(m) @ L.sqrtm(m), near), near, tolerance)
    close(run(lambda m: L.expm(m) @ L.expm(-m), a / 2), np.broadcast_to(EYE, a.shape), tolerance)
    for m in (a, wide, tall):
        p, lower, upper = run(L.lu, m)
        close(p @ lower @ upper, m, tolerance)
        close(lower, np.tril(lower), 0)
        u, pos = run(L.polar, m)
        close(u @ pos, m, tolerance)
        close(pos, adjoint(pos), tolerance)
        q, r, order = run(lambda v: L.qr(v, pivoting=True), m)
        close(q @ r, np.take_along_axis(m, order[:, None].astype(int), -1), tolerance)
        size = np.abs(np.diagonal(r, axis1=-2, axis2=-1))
        assert (np.diff(size, axis=-1) <= tolerance).all()
    for trans, whole in ((0, a), (1, np.swapaxes(a, -1, -2)), (2, adjoint(a))):
        close(whole @ run(lambda m, y, t=trans: L.lu_solve(L.lu_factor(m), y, t), a, x), x, tolerance)
    close(h @ run(lambda m, y: L.cho_solve(L.cho_factor(m), y), h, x), x, 10 * tolerance)
    for output in ("real", "complex"):
        t, z = run(lambda m, o=output: L.schur(m, o), a)
        close(z @ t @ adjoint(z), a, tolerance)
        aa, bb, q, z = run(lambda m, n, o=output: L.qz(m, n, o), a, e)
        close(q @ aa @ adjoint(z), a, tolerance)
        close(q @ bb @ adjoint(z), e, tolerance)
    y = run(L.solve_sylvester, near, (q3 / 40).astype(dtype), x)
    close(near @ y + y @ (q3 / 40), x, tolerance)
    y = run(L.solve_discrete_lyapunov, (a / 9).astype(dtype), h)
    close(a / 9 @ y @ adjoint(a / 9) - y + h, 0 * h, 10 * tolerance)


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_riccati_equations_hold_and_their_solutions_stabilize(dtype):
    a, b, s, e = draws(dtype, (4, 4), (4, 2), (4, 2), (4, 4))
    q, r, s, e = hermitian((4, 4), dtype), hermitian((2, 2), dtype), s / 10, np.eye(4) + e / 10
    x = run(L.solve_continuous_are, a, b, q, r, e, s)
    cross = adjoint(e) @ x @ b + s
    gain = np.linalg.solve(r, adjoint(cross))
    close(adjoint(e) @ x @ a + adjoint(a) @ x @ e - cross @ gain + q, 0 * q, 1e-7)
    assert (np.linalg.eigvals(np.linalg.solve(e, a - b @ gain)).real < 0).all()
    singular = np.diag([1.0, 0.0]).astype(dtype)
    for weight, given in ((r, s), (singular, s)):
        x = run(L.solve_discrete_are, a, b, q, weight, e, given)
        cross = adjoint(a) @ x @ b + given
        gain = np.linalg.solve(weight + adjoint(b) @ x @ b, adjoint(cross))
        close(adjoint(a) @ x @ a - adjoint(e) @ x @ e - cross @ gain + q, 0 * q, 1e-6)
        assert (np.abs(np.linalg.eigvals(np.linalg.solve(e, a - b @ gain))) < 1).all()


def test_structured_matrices_subspaces_and_bands():
    (c, r, ab, y), (m,) = draws("float64", (4,), (3,), (4, 6), (6, 2)), draws("float64", (2, 3))
    t, h, w = run(lambda c, r: (L.toeplitz(c, r), L.hankel(c, r), L.circulant(c)), c, r)
    for i in range(4):
        assert [t[i, j] for j in range(3)] == [c[i - j] if i >= j else r[j - i] for j in range(3)]
        assert [h[i, j] for j in range(3)] == [c[i + j] if i + j < 4 else r[i + j - 3] for j in range(3)]
        assert [w[i, j] for j in range(4)] == [c[(i - j) % 4] for j in range(4)]
    symmetric = np.array([[c[abs(i - j)] for j in range(4)] for i in range(4)])
    close(run(lambda c: L.toeplitz(c)[1], np.stack([c, 2 * c])), 2 * symmetric)
    ab[1] += 4
    dense = sum(np.diag(ab[1 - k, max(k, 0) : 6 + min(k, 0)], k) for k in (1, 0, -1, -2))
    close(dense @ run(lambda p, q: L.solve_banded((2, 1), p, q), ab, y), y)
    blocks = run(L.block_diag, m, c, np.ones((2, 1, 1)))
    assert blocks.shape == (2, 4, 8)
    zeros = np.zeros
    close(blocks[1], np.block([[m, zeros((2, 5))], [zeros((1, 3)), c[None], zeros((1, 1))], [zeros((1, 7)), 1.0]]))
    low = np.outer(c, r)
    basis, span = run(lambda m: (L.null_space(m), L.orth(m)), low)
    close(low @ basis, np.zeros((4, 2)))
    close(span @ (span.T @ low), low)
    assert run(L.null_space, np.eye(3)).shape == (3, 0)


def test_exponentials_where_a_norm_says_too_much():
    """Source: Moler and Van Loan, Nineteen dubious ways to compute the exponential of a matrix (2003)."""
    stiff = np.array([[-49.0, 24.0], [-64.0, 31.0]])
    close(run(L.expm, stiff), [[-0.735759, 0.551819], [-1.471518, 1.103638]], 1e-6)
    nilpotent = np.array([[0.0, 1e8], [0.0, 0.0]])
    np.testing.assert_allclose(run(L.expm, nilpotent), [[1, 1e8], [0, 1]], rtol=1e-15)
    assert np.isnan(run(L.expm, np.full((2, 2), np.nan))).all()
    assert run(L.expm, np.zeros((0, 3, 3))).shape == (0, 3, 3)
    assert run(L.expm, np.zeros((0, 0))).shape == (0, 0)
    jordan = np.array([[2.0, 1.0], [0.0, 2.0]])
    close(run(L.logm, jordan), [[np.log(2), 0.5], [0, np.log(2)]], 1e-14)
    close(run(L.sqrtm, -np.eye(2)), 1j * np.eye(2), 1e-14)


def hermitian_part(x):
    return (x + T.conj(T.swapaxes(x, -1, -2))) / 2


def joined(*xs):
    return T.concatenate([T.ravel(x) for x in xs])


A, E, Q, B = (3, 3), (3, 3), (3, 2), (2, 2)
DERIVATIVES = {
    "expm": (L.expm, (2, 3, 3)),
    "expm_frechet": (lambda a, e: L.expm_frechet(a, e, compute_expm=False), A, E),
    "logm": (lambda a: L.logm(a @ T.conj(a.mT) + a / 3 + 2 * np.eye(3)), A),
    "sqrtm": (lambda a: L.sqrtm(a @ T.conj(a.mT) + a / 3 + 2 * np.eye(3)), A),
    "lu": (lambda a: joined(*L.lu(a)[1:]), (2, 3, 3)),
    "lu_tall": (lambda a: joined(*L.lu(a)[1:]), (4, 3)),
    "lu_wide": (lambda a: joined(*L.lu(a)[1:]), (3, 4)),
    "lu_solve": (lambda a, y: L.lu_solve(L.lu_factor(a), y, 2), A, Q),
    "cho_solve": (lambda a, y: L.cho_solve(L.cho_factor(a @ T.conj(a.mT) + np.eye(3)), y), A, Q),
    "polar": (lambda a: joined(*L.polar(a)), (4, 3)),
    "polar_left": (lambda a: joined(*L.polar(a, "left")), (4, 3)),
    "solve_sylvester": (L.solve_sylvester, A, B, Q),
    "solve_discrete_lyapunov": (lambda a, q: L.solve_discrete_lyapunov(a / 9, q), A, A),
    "solve_continuous_are": (
        lambda a, b, q, r, s: L.solve_continuous_are(
            a, b, hermitian_part(q) + 6 * np.eye(3), hermitian_part(r) + 6 * np.eye(2), np.eye(3) + q / 9, s / 9
        ), A, Q, A, B, Q,
    ),
    "solve_discrete_are": (
        lambda a, b, q, r, s: L.solve_discrete_are(
            a, b, hermitian_part(q) + 6 * np.eye(3), hermitian_part(r) + 6 * np.eye(2), np.eye(3) + q / 9, s / 9
        ), A, Q, A, B, Q,
    ),
    "block_diag": (L.block_diag, A, Q),
    "toeplitz": (L.toeplitz, (3,), (4,)),
    "hankel": (L.hankel, (3,), (4,)),
    "circulant": (L.circulant, (2, 4)),
    "solve_banded": (
        lambda ab, b: L.solve_banded((1, 2), ab + np.array([0, 0, 6, 0])[:, None], b), (2, 4, 5), (2, 5, 1)
    ),
    "qr_pivoted": (lambda a: joined(*L.qr(a, pivoting=True)[:2]), (4, 3)),
    "eigh_b": (lambda a, b: L.eigh(a @ T.conj(a.mT), b=b @ T.conj(b.mT) + np.eye(3))[0], A, A),
}  # fmt: skip


@pytest.mark.few(5)
@pytest.mark.parametrize("name", DERIVATIVES)
def test_derivatives_are_those_of_differences(name):
    function, *shapes = DERIVATIVES[name]
    assert_gradient(function, *draws("float64", *shapes, seed=3))


@pytest.mark.long
@pytest.mark.parametrize("name", DERIVATIVES)
@pytest.mark.parametrize("static", [True, False])
def test_derivatives_of_complex_matrices_and_of_unknown_lengths(name, static):
    function, *shapes = DERIVATIVES[name]
    assert_gradient(function, *draws("complex128", *shapes, seed=5), static=static)


BATCHED = {
    name: DERIVATIVES[name] for name in (
        "expm", "logm", "lu", "lu_solve", "cho_solve", "polar", "solve_sylvester", "solve_continuous_are",
        "solve_discrete_are", "toeplitz", "circulant", "solve_banded", "qr_pivoted",
    )
} | {"schur": (lambda a: joined(*L.schur(a)), A), "qz": (lambda a, b: joined(*L.qz(a, b)), A, A)}  # fmt: skip


def test_examples_together_are_examples_one_by_one():
    for name, (function, *shapes) in BATCHED.items():
        values = draws("float64", *((3, *s) for s in shapes), seed=7)
        inputs = [T.tensor(f"x{k}", "float64", v.shape) for k, v in enumerate(values)]
        alone = [T.tensor(f"y{k}", "float64", s) for k, s in enumerate(shapes)]
        many = ag.vmap(function)(*inputs).eval(dict(zip(inputs, values)))
        one = function(*alone)
        loop = [one.eval(dict(zip(alone, parts))) for parts in zip(*values)]
        close(many, np.stack(loop), 1e-8), name


def test_factors_without_a_derivative_say_so():
    x = T.matrix("x", shape=(3, 3))
    for build in (lambda: L.schur(x)[0], lambda: L.qz(x, x)[0]):
        with pytest.raises(NoGradient, match="signs, phases"):
            ag.grad(T.sum(build()), x)


M, V = T.matrix("m"), T.vector("v")


@pytest.mark.parametrize(("build", "error", "words"), [
    (lambda: L.expm(T.matrix("m", shape=(2, 3))), ValueError, "expm: expected a square matrix, got m"),
    (lambda: L.expm(V), TypeError, "expm takes matrices"),
    (lambda: L.expm_frechet(T.matrix(shape=(2, 2)), T.matrix(shape=(3, 3))), ValueError, "of one shape"),
    (lambda: L.solve_sylvester(*(T.matrix(shape=s) for s in ((2, 2), (3, 3), (3, 2)))), ValueError, "do not agree"),
    (lambda: L.schur(M, "triangular"), ValueError, 'output must be "real" or "complex"'),
    (lambda: L.schur(M, sort="up"), ValueError, "a function or one of lhp, rhp, iuc, ouc"),
    (lambda: L.eig(M, V), TypeError, "eig takes matrices in the last two axes, got v"),
    (lambda: L.eig(T.matrix(shape=(2, 2)), T.matrix("b", shape=(2, 3))), ValueError, "takes square matrices"),
    (lambda: L.qz(M, M, sort="lhp"), ValueError, "has to be None"),
    (lambda: L.polar(M, "up"), ValueError, "side must be"),
    (lambda: L.null_space(T.tensor3("t")), ValueError, "would differ from place to place"),
    (lambda: L.solve_banded((1, 1), T.matrix("ab", shape=(2, 5)), V), ValueError, r"l\+u\+1"),
    (lambda: L.solve_banded((-1, 1), M, V), ValueError, "must not be negative"),
    (lambda: L.lu_solve((M, T.ivector("p")), V, trans=3), ValueError, "trans must be 0, 1 or 2"),
    (lambda: L.solve(M, V, assume_a="sparse"), ValueError, "not a recognized matrix structure"),
    (lambda: L.solve_triangular(M, V, "X"), ValueError, "trans must be"),
    (lambda: L.eigh(M, subset_by_index=(2, 1)), ValueError, "indices are not valid"),
    (lambda: L.eigh(M, subset_by_value=(2, 1)), ValueError, "bounds are not valid"),
    (lambda: L.eigh(M, b=M, type=4), ValueError, "type must be 1, 2 or 3"),
    (lambda: L.qr(M, "raw"), ValueError, "mode"),
])  # fmt: skip
def test_mistakes_when_a_graph_is_built(build, error, words):
    with pytest.raises(error, match=words):
        build()


def test_mistakes_that_a_run_finds():
    x = T.matrix("x")
    bad = np.array([[1.0, np.nan], [0, 1]])
    for build in (lambda: L.lu(x)[1], lambda: L.schur(x)[0], lambda: L.cho_factor(x)[0], lambda: L.qz(x, x)[0]):
        with pytest.raises(ValueError, match="must not contain infs or NaNs"):
            ag.function([x], build(), mode="NUMPY")(bad)
    zero = np.zeros((2, 2))
    for build in (lambda: L.lu_solve(L.lu_factor(x), T.ones(2)), lambda: L.solve(x, T.ones(2), assume_a="diagonal"),
                  lambda: L.solve_banded((0, 1), x, T.ones(2))):  # fmt: skip
        with pytest.raises(np.linalg.LinAlgError, match=r"(S|s)ingular"):
            ag.function([x], build(), mode="NUMPY")(zero)
    with pytest.raises(np.linalg.LinAlgError, match="Failed to find a finite solution"):
        ag.function([x], L.solve_continuous_are(x, x, x, T.eye(2)), mode="NUMPY")(zero)
    with pytest.raises(ValueError, match="solve_sylvester: lengths do not agree"):
        ag.function([x], L.solve_sylvester(x, x, T.ones((3, 3))), mode="NUMPY")(zero)


# --- SciPy's own values


def compare(function, reference, *values, tolerance=1e-8, **options):
    got, want = run(lambda *v: function(*v, **options), *values), reference(*values, **options)
    pairs = zip(got, want) if isinstance(want, tuple) else [(got, want)]
    for g, w in pairs:
        close(g, w, tolerance)


@pytest.fixture
def global_generator():
    """SciPy's estimates of norms draw from NumPy's global generator, which stays as it was."""
    state = np.random.get_state()
    yield
    np.random.set_state(state)


@pytest.mark.usefixtures("global_generator")
@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_values_are_scipys(dtype):
    scipy = pytest.importorskip("scipy.linalg")
    a, e, q, m = draws(dtype, (5, 5), (5, 5), (5, 2), (4, 6))
    h, p = hermitian((5, 5), dtype), hermitian((5, 5), dtype, 1)
    for name, values in (("expm", [a]), ("expm_frechet", [a, e]), ("logm", [a]), ("sqrtm", [a]), ("lu", [m]),
                         ("lu_factor", [m]), ("schur", [a]), ("qz", [a, e]), ("polar", [m]),
                         ("solve_sylvester", [a, h[:2, :2].copy(), q]), ("solve_continuous_lyapunov", [a, h]),
                         ("toeplitz", [a[0], a[1, :3]]), ("hankel", [a[0], a[1, :3]]), ("circulant", [a[0]]),
                         ("block_diag", [a, m, a[0]])):  # fmt: skip
        compare(getattr(L, name), getattr(scipy, name), *values)
    for order in ("lhp", "rhp", "iuc", "ouc"):
        compare(lambda x, o=order: L.schur(x, sort=o), lambda x, o=order: scipy.schur(x, sort=o), a)
    for name, values in (("permute_l", [m]), ("p_indices", [m])):
        compare(L.lu, scipy.lu, *values, **{name: True})
    band = np.triu(np.tril(a, 1), -1) + 4 * np.eye(5)
    for kind, x in (("gen", a), ("sym", a + a.T), ("her", h), ("pos", h), ("diagonal", np.diag(np.diag(a))),
                    ("tridiagonal", band), ("banded", band), ("lower triangular", a),
                    ("upper triangular", a)):  # fmt: skip
        for lower in (False, True):
            compare(L.solve, scipy.solve, x, q, assume_a=kind, lower=lower)
    for trans in (0, 1, 2, "N", "T", "C"):
        compare(L.solve_triangular, scipy.solve_triangular, a, q, trans=trans, lower=True, unit_diagonal=True)
    for kind in (1, 2, 3):
        compare(L.eigvalsh, lambda x, b, type: scipy.eigh(x, b, type=type, eigvals_only=True), h, p, type=kind)
    w = np.linalg.eigvalsh(h)
    compare(lambda x: L.eigvalsh(x, subset_by_index=(1, 3)), lambda x: w[1:4], h)
    compare(lambda x: L.eigvalsh(x, subset_by_value=(w[0], w[2])), lambda x: w[1:3], h)
    compare(lambda x: L.cholesky(x, lower=False), scipy.cholesky, h)
    for mode in ("full", "economic"):
        compare(L.qr, scipy.qr, matrices((6, 4), dtype), mode=mode, pivoting=True)


@pytest.mark.long
def test_compiled_functions_are_those_of_numpy():
    a, q = draws("float64", (4, 4), (4, 2))
    x, y = T.matrix("x"), T.matrix("y")
    outputs = [L.expm(x), *L.lu(x), L.lu_solve(L.lu_factor(x), y), L.solve_sylvester(x, x, x), L.toeplitz(x[0]),
               ag.grad(T.sum(L.expm(x)), x), L.solve(x, y, assume_a="sym")]  # fmt: skip
    for got, want in zip(ag.function([x, y], outputs)(a, q), ag.function([x, y], outputs, mode="NUMPY")(a, q)):
        close(got, want, 1e-12)


@pytest.mark.parametrize("shape", [(2, 30), (30, 2), (1, 0)])
def test_matrices_that_turn_out_not_to_be_square_are_refused(shape):
    """LAPACK would read and write beyond them."""
    m, n = T.matrix("m"), T.matrix("n")
    wide, fits = np.ones(shape), np.eye(shape[1])
    for outputs, values in (
        (T.Schur()(m), [wide]), (T.Schur("lhp")(m), [wide]), (T.QZ()(m, n), [fits, wide]), (T.QZ()(m, n), [wide, wide]),
        (T.Sylvester()(m, n, n), [wide, fits]), (T.linalg.logm(m), [wide]), (T.linalg.sqrtm(m), [wide]),
    ):  # fmt: skip
        f = ag.function([m, n][: len(values)], outputs, mode=ag.Mode("fast_run", backend="numpy"))
        with pytest.raises(ValueError, match=r"square|shape|expected"):
            f(*values)


def test_powers_0_and_1_take_square_matrices_alone():
    x = T.matrix("x")
    for n in (0, 1):
        f = ag.function([x], T.linalg.matrix_power(x, n))
        np.testing.assert_array_equal(f(np.ones((2, 2))), np.linalg.matrix_power(np.ones((2, 2)), n))
        with pytest.raises(ValueError, match="matrix_power: expected length 3 on axis 0, got 2"):
            f(np.ones((2, 3)))
    assert T.linalg.toeplitz(np.array([True, False])).dtype == "bool"


def test_riccati_equations_take_numbers_and_vectors_as_scipys():
    scipy_linalg = pytest.importorskip("scipy.linalg")
    a, b, q = np.array([[0.5, 1.0], [0.0, 0.3]]), np.array([[0.0], [1.0]]), np.eye(2)
    for name in ("solve_continuous_are", "solve_discrete_are"):
        wanted = getattr(scipy_linalg, name)(a, b, q, 1)
        np.testing.assert_allclose(getattr(T.linalg, name)(a, b, q, 1).eval(), wanted, rtol=1e-10)
        np.testing.assert_allclose(getattr(T.linalg, name)(a, b, q, [2.0]).eval(),
                                   getattr(scipy_linalg, name)(a, b, q, [2.0]), rtol=1e-10)  # fmt: skip


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("n", [0, 1, 2, 6])
def test_eigenvectors_of_both_sides_and_of_pencils(dtype, n):
    a, b = draws(dtype, (2, n, n), (2, n, n), seed=4)
    tolerance = tolerance_of(dtype)
    w, vl, vr = run(lambda x: L.eig(x, left=True), a)
    close(a @ vr, vr * w[:, None, :], tolerance)
    close(adjoint(vl) @ a, w[:, :, None] * adjoint(vl), tolerance)
    w, vl, vr = run(lambda x, y: L.eig(x, y, left=True), a, b)
    close(a @ vr, b @ vr * w[:, None, :], tolerance * max(1, np.abs(w).max(initial=1)))
    close(adjoint(vl) @ a, w[:, :, None] * (adjoint(vl) @ b), tolerance * max(1, np.abs(w).max(initial=1)))
    for v in (vl, vr):
        close(np.linalg.norm(v, axis=-2), np.ones((2, n)), tolerance)
    for options, count in (({"right": False}, 1), ({"left": True, "right": False}, 2), ({}, 2)):
        found = run(lambda x, y, o=options: L.eig(x, y, **o), a, b)
        found = found if isinstance(found, list) else [found]
        assert len(found) == count
        close(found[0], w, tolerance)
    close(run(L.eigvals, a, b), w, tolerance)


def test_eigenvalues_of_singular_pencils_are_infinite():
    scipy = pytest.importorskip("scipy.linalg")
    a, b = np.diag([1.0, 0.0, 3.0]), np.diag([0.0, 0.0, 2.0])
    np.testing.assert_array_equal(run(L.eigvals, a, b), scipy.eigvals(a, b))


@pytest.mark.few(1)
@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_derivatives_of_eigenvalues_of_pencils(dtype):
    def loss(a, b):
        w = L.eigvals(a, b)
        return T.sum(T.real(w * w * w))

    a, b = draws(dtype, (4, 4), (4, 4), seed=6)
    A, B = T.matrix("a", dtype=dtype), T.matrix("b", dtype=dtype)
    f, slopes = ag.function([A, B], loss(A, B)), ag.function([A, B], ag.grad(loss(A, B), [A, B]))(a, b)
    ways = [(1e-6, np.real)] + ([(1e-6j, np.imag)] if dtype[0] == "c" else [])
    for way, part in ways:
        for place in range(2):
            def moved(d, place=place):
                return f(*(v + d * (k == place) for k, v in enumerate((a, b))))

            steps = [way * e.reshape(4, 4) for e in np.eye(16)]
            numeric = np.reshape([(moved(d) - moved(-d)) / 2e-6 for d in steps], (4, 4))
            close(part(slopes[place]) / np.abs(numeric).max(), numeric / np.abs(numeric).max(), 1e-5)


def test_schur_is_sorted_by_a_function():
    scipy = pytest.importorskip("scipy.linalg")
    (a,), (c,) = draws("float64", (6, 6)), draws("complex128", (6, 6))
    for values, output, sort in ((a, "real", lambda x, y: x > 0 and y < 1), (a, "complex", lambda z: abs(z) < 1.5),
                                 (c, "real", lambda z: z.imag > 0)):  # fmt: skip
        found = run(lambda x, o=output, s=sort: L.schur(x, o, sort=s), values)
        wanted = scipy.schur(values, output, sort=sort)
        assert found[2] == wanted[2]
        t, z = found[:2]
        close(z @ t @ adjoint(z), values)
        close(np.abs(np.diag(t)), np.abs(np.diag(wanted[0])), 1e-8)

    def fails(x, y):
        raise KeyError("the user's")

    with pytest.raises(KeyError, match="the user's"):
        run(lambda x: L.schur(x, sort=fails), a)
