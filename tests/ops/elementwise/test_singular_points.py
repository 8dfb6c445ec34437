"""Derivatives at the singular points of every op whose derivative divides, inverts or takes a logarithm.

The tables give what holds there, and why: "differences" is the value of two-sided differences, "limit" that of the
formula nearby, "subgradient" the one of least norm where there are several, "infinite" and "undefined" speak of the
function.
"""

import numpy as np
import pytest
from gradients import assert_gradient

import arignote as ag
from arignote import ops as T
from arignote.graph import toposort
from arignote.ops.linalg.matrix_ops import MatrixOp

INF, NAN = np.inf, np.nan
MODES = ["NUMPY", "FAST_RUN"]

ELEMENTWISE = {
    "true_div": [((1.0, 0.0), (INF, -INF), "infinite"), ((0.0, 0.0), (INF, NAN), "undefined"),
                 ((1.0, INF), (0.0, 0.0), "limit")],
    "mod": [((3.0, 3.0), (1.0, -1.0), "slope from the right"), ((1.0, INF), (1.0, 0.0), "limit")],
    "fmod": [((3.0, 3.0), (1.0, -1.0), "slope from the right"), ((1.0, INF), (1.0, 0.0), "limit")],
    "pow": [((0.0, 2.0), (0.0, 0.0), "differences"), ((0.0, 1.0), (1.0, 0.0), "limit"),
            ((0.0, 0.0), (0.0, 0.0), "x ** 0 is 1 for every x"), ((0.0, 0.5), (INF, 0.0), "infinite"),
            ((-1.0, 2.0), (-2.0, NAN), "undefined for exponents nearby")],
    "sqrt": [((0.0,), (INF,), "infinite")],
    "cbrt": [((0.0,), (INF,), "infinite")],
    "hypot": [((0.0, 0.0), (0.0, 0.0), "subgradient"), ((INF, 2.0), (1.0, 0.0), "limit")],
    "log": [((0.0,), (INF,), "infinite"), ((INF,), (0.0,), "limit")],
    "log2": [((0.0,), (INF,), "infinite")],
    "log10": [((0.0,), (INF,), "infinite")],
    "log1p": [((-1.0,), (INF,), "infinite")],
    "log1mexp": [((0.0,), (-INF,), "infinite"), ((-INF,), (0.0,), "limit")],
    "xlogy": [((0.0, 0.0), (-INF, 0.0), "infinite; 0 * log(y) is 0 for every y"),
              ((0.0, 2.0), (np.log(2), 0.0), "limit")],
    "gamma": [((0.0,), (-INF,), "infinite"), ((-1.0,), (NAN,), "undefined")],
    "gammaln": [((0.0,), (-INF,), "infinite"), ((-1.0,), (NAN,), "infinite, of either sign")],
    "digamma": [((0.0,), (INF,), "infinite"), ((-1.0,), (INF,), "infinite")],
    "polygamma": [((1, 0.0), (-INF,), "infinite"), ((1, INF), (0.0,), "limit")],
    "arcsin": [((1.0,), (INF,), "infinite"), ((-1.0,), (INF,), "infinite")],
    "arccos": [((1.0,), (-INF,), "infinite"), ((-1.0,), (-INF,), "infinite")],
    "arctan": [((INF,), (0.0,), "limit")],
    "arctan2": [((0.0, 0.0), (NAN, NAN), "undefined: it depends on the direction"), ((0.0, INF), (0.0, 0.0), "limit")],
    "arcsinh": [((INF,), (0.0,), "limit"), ((-INF,), (0.0,), "limit")],
    "arccosh": [((1.0,), (INF,), "infinite"), ((INF,), (0.0,), "limit")],
    "arctanh": [((1.0,), (INF,), "infinite"), ((-1.0,), (INF,), "infinite")],
    "maximum": [((2.0, 2.0), (0.5, 0.5), "subgradient")],
    "minimum": [((2.0, 2.0), (0.5, 0.5), "subgradient")],
    "angle": [((0j,), (complex(NAN, INF),), "undefined: it depends on the direction")],
}  # fmt: skip
"""Elementwise op -> (operands, derivatives by the real and complex ones, reference)."""


def _of(op, *operands):
    inputs = [T.tensor(dtype=np.asarray(v).dtype.name, shape=()) for v in operands]
    return inputs, [i for i in inputs if i.type.kind in "fc"], op(*inputs)


@pytest.mark.parametrize("mode", MODES)
def test_elementwise_ops(mode):
    cases = [(name, *row) for name, rows in ELEMENTWISE.items() for row in rows]
    inputs, outputs = [], []
    for name, operands, *_ in cases:
        own, by, y = _of(T.ELEMENTWISE[name], *operands)
        inputs += own
        outputs += ag.grad(y, by, disconnected="zero")
    values = [v for _, operands, *_ in cases for v in operands]
    found = iter(ag.function(inputs, outputs, mode=mode, on_unused_input="ignore")(*values))
    for name, operands, expected, _ in cases:
        got = [next(found) for _ in expected]
        np.testing.assert_allclose(got, expected, rtol=1e-12, err_msg=f"{name}{operands}")


DIVIDING = {
    "true_div", "floor_div", "reciprocal", "log", "log2", "log10", "log1p", "pow", "sqrt", "expm1", "digamma",
    "polygamma", "tan",
}  # fmt: skip


def test_the_table_has_every_elementwise_op_whose_derivative_divides():
    found = set()
    for name, op in T.ELEMENTWISE.items():
        for dtype in ("float64", "complex128"):
            for count in range(1, 4):
                inputs = [T.tensor(dtype="int64" if name == "polygamma" and not k else dtype) for k in range(count)]
                try:
                    y = op(*inputs)
                    back = [] if y.owner is None else y.owner.op.vjp(y.owner, [T.tensor(dtype=y.dtype)])
                except TypeError:  # another number of operands, or none of them complex
                    continue
                nodes = toposort([g for g in back if g is not None], stop_at=[y, *inputs])
                found |= {name} & ({name} if DIVIDING & {node.op.name for node in nodes} else set())
    assert found == set(ELEMENTWISE)


# --- functions of tensors


EYE, ONES = np.eye(3), np.ones((2, 2))
WEIGHTS = np.arange(9.0).reshape(3, 3)
BOTH = WEIGHTS + WEIGHTS.T
COUNTED = np.arange(1.0, 10).reshape(3, 3)


def _lower(m):
    return np.tril(m) - np.diag(np.diag(m)) / 2


def of_eigh(change):
    """The weighted sum of a function of a symmetric matrix by its eigenvalues."""

    def function(a):
        w, v = T.linalg.eigh(a)
        return T.sum((v * change(w)) @ v.T * WEIGHTS)

    return function


def of_svd(change, full=False):
    def function(a):
        u, s, vh = T.linalg.svd(a, full)
        return T.sum((u * change(s)) @ vh * WEIGHTS)

    return function


def projector(a):
    _, v = T.linalg.eigh(a)
    return T.sum(v[:, :2] @ v[:, :2].T * WEIGHTS)


def chosen_vectors(a):
    return T.sum(T.linalg.eigh(a)[1] * WEIGHTS)


def normalized(x):
    n = T.linalg.norm(x)
    return T.where(n > 0, x / n, 0.0)


FUNCTIONS = {
    "det of rank n - 1": (T.linalg.det, ONES, [[1, -1], [-1, 1]], "cofactors"),
    "det of rank n - 2": (T.linalg.det, np.diag([1.0, 0, 0]), np.zeros((3, 3)), "cofactors"),
    "det, rounded": (T.linalg.det, COUNTED, [[-3, 6, -3], [6, -12, 6], [-3, 6, -3]], "cofactors"),
    "det of one element": (T.linalg.det, np.zeros((1, 1)), [[1]], "differences"),
    "det of a batch": (T.linalg.det, np.stack([ONES, 2 * np.eye(2)]), [[[1, -1], [-1, 1]], 2 * np.eye(2)], "cofactors"),
    "det that underflows": (T.linalg.det, np.diag([1e-200] * 2), np.diag([1e-200] * 2), "cofactors"),
    "eigvalsh, equal": (lambda a: T.sum(T.linalg.eigvalsh(a) ** 2), EYE, EYE * 2, "differences"),
    "eigh, equal": (of_eigh(T.exp), EYE, np.e * _lower(BOTH), "differences"),
    "eigh, two equal": (projector, np.diag([1.0, 1, 3]), [[0] * 3, [0] * 3, [-4, -6, 0]], "differences"),
    "eigh, by a choice": (chosen_vectors, np.diag([1.0, 1, 3]), None, "undefined"),
    "svd, equal": (of_svd(lambda s: s), EYE, WEIGHTS, "the product is the matrix"),
    "svd, zeros": (of_svd(lambda s: s + s**3), np.zeros((3, 3)), WEIGHTS, "differences"),
    "svd, one zero": (of_svd(lambda s: s), np.diag([1.0, 2, 0]), WEIGHTS, "the product is the matrix"),
    "svd of a square matrix, full": (of_svd(lambda s: s, True), EYE, WEIGHTS, "the product is the matrix"),
    "svdvals, equal": (lambda a: T.sum(T.linalg.svdvals(a)), EYE, EYE, "subgradient of the nuclear norm"),
    "spectral norm, equal": (lambda a: T.linalg.norm(a, 2), np.eye(2), np.eye(2) / 2, "subgradient"),
    "eig of two, equal": (
        lambda a: T.sum(T.real(T.linalg.eigvals(a, T.constant(2 * EYE)))), EYE, EYE / 2, "the trace"),
    "eig, equal": (lambda a: T.sum(T.real(T.linalg.eigvals(a))), EYE, EYE, "the trace"),
    "pinv at constant rank": (lambda a: T.sum(T.linalg.pinv(a)), ONES, -ONES / 4, "Golub and Pereyra 1973"),
    "slogdet": (lambda a: T.linalg.slogdet(a)[1], ONES, np.linalg.LinAlgError, "infinite"),
    "guarded slogdet": (
        lambda a: T.where(T.ne(T.linalg.det(a), 0), 3 * T.linalg.slogdet(a)[1], 0.0), [ONES, 2 * np.eye(2)],
        [0 * ONES, 1.5 * np.eye(2)], "the branch that is taken"
    ),
    "inv": (T.linalg.inv, ONES, np.linalg.LinAlgError, "undefined, as the value"),
    "solve": (lambda a: T.linalg.solve(a, a), ONES, np.linalg.LinAlgError, "undefined, as the value"),
    "solve_triangular": (lambda a: T.linalg.solve_triangular(a, a), 0 * ONES, np.linalg.LinAlgError, "undefined"),
    "cholesky": (T.linalg.cholesky, np.zeros((2, 2)), np.linalg.LinAlgError, "undefined, as the value"),
    "qr": (lambda a: T.linalg.qr(a)[1], 0 * ONES, np.linalg.LinAlgError, "undefined: q may be chosen"),
    "expm": (lambda a: T.linalg.expm(a) * WEIGHTS, np.zeros((3, 3)), WEIGHTS, "differences"),
    "sqrtm, equal": (lambda a: T.linalg.sqrtm(a) * WEIGHTS, EYE, WEIGHTS / 2, "differences"),
    "logm, equal": (lambda a: T.linalg.logm(a) * WEIGHTS, EYE, WEIGHTS, "differences"),
    "polar, equal": (lambda a: T.linalg.polar(a)[0] * WEIGHTS, EYE, (WEIGHTS - WEIGHTS.T) / 2, "differences"),
    "lu": (lambda a: T.linalg.lu_factor(a)[0] * WEIGHTS, EYE, WEIGHTS, "differences"),
    "solve_sylvester": (lambda a: T.linalg.solve_sylvester(a, np.diag([-1.0, -2]), ONES), np.diag([1.0, 2]),
                        -(2.0**102) * np.eye(2), "LAPACK solves an equation nearby: x is 2**51 on the diagonal"),
    "solve_banded": (lambda a: T.linalg.solve_banded((0, 0), a, a[0]), np.zeros((1, 2)), np.linalg.LinAlgError,
                     "undefined, as the value"),
    "solve_continuous_are": (lambda a: T.linalg.solve_continuous_are(a, a, a, a), 0 * ONES, np.linalg.LinAlgError,
                             "undefined, as the value"),
    "solve_discrete_are": (lambda a: T.linalg.solve_discrete_are(a, a, a, a), 0 * ONES, np.linalg.LinAlgError,
                           "undefined, as the value"),
    "std of zeros": (T.std, np.zeros(3), np.zeros(3), "subgradient"),
    "std of one element": (T.std, np.ones(1), np.zeros(1), "differences"),
    "std along an axis": (lambda x: T.std(x, 1), [[1.0, 1], [0, 2]], [[0, 0], [-0.5, 0.5]], "subgradient"),
    "nanstd": (T.nanstd, [NAN, 1.0], [0, 0], "subgradient"),
    "norm": (T.linalg.norm, np.zeros(3), np.zeros(3), "subgradient"),
    "norm of complex": (T.linalg.norm, np.zeros(2, complex), np.zeros(2), "subgradient"),
    "norm of order 3": (lambda x: T.linalg.norm(x, 3), np.zeros(2), np.zeros(2), "subgradient"),
    "norm of rows": (lambda x: T.linalg.norm(x, axis=1), [[0.0, 0], [3, 4]], [[0, 0], [0.6, 0.8]], "subgradient"),
    "norm of order inf": (lambda x: T.linalg.norm(x, INF), np.zeros(2), np.zeros(2), "subgradient"),
    "Frobenius norm": (lambda x: T.linalg.norm(x, "fro"), np.zeros((2, 2)), np.zeros((2, 2)), "subgradient"),
    "logsumexp of -inf": (T.nn.logsumexp, [-INF, -INF], [0, 0], "every exp(x) is 0; so does PyTorch"),
    "logsumexp, both axes": (lambda x: T.nn.logsumexp(x, (0, 1)), [[-INF], [-INF]], [[0], [0]], "as along one"),
    "logsumexp, some -inf": (T.nn.logsumexp, [-INF, 0.0], [0, 1], "limit"),
    "logaddexp": (lambda x: T.logaddexp(x, x), -INF, 1.0, "limit for equal operands"),
    "softmax": (lambda x: T.nn.softmax(x) * [1.0, 2.0], [-INF, 0.0], [0, 0], "limit"),
    "log_softmax": (lambda x: T.nn.log_softmax(x)[1], [-INF, 0.0], [0, 0], "limit"),
    "prod": (T.prod, [0.0, 2, 3], [6, 0, 0], "differences"),
    "prod, two zeros": (T.prod, [0.0, 2, 0], [0, 0, 0], "differences"),
    "cumprod": (T.cumprod, [0.0, 2, 0], [3, 0, 0], "differences"),
    "guarded log": (lambda x: T.where(x > 0, T.log(x), 0.0), [0.0, -1, 2], [0, 0, 0.5], "the branch that is taken"),
    "guarded root": (lambda x: T.where(x > 0, T.sqrt(x) ** 3, 0.0), [-1.0, 4], [0, 3], "the branch that is taken"),
    "guarded division": (lambda x: T.where(T.eq(x, 0), 0.0, 1 / x**2), [0.0, 1], [0, -2], "the branch that is taken"),
    "guards in guards": (
        lambda x: T.where(x > 0, T.where(x > 1, T.log(x - 1), 0.0), x), [-1.0, 1, 2], [1, 0, 1], "the branches taken"
    ),
    "guarded sum": (
        lambda x: T.where(T.min(x, axis=1) > 0, T.sum(T.log(x), axis=1), 0.0), [[0.0, 1], [1, 2]], [[0, 0], [1, 0.5]],
        "the branch that is taken"
    ),
    "guarded normalization": (normalized, np.zeros(3), np.zeros(3), "the branch that is taken"),
    "guarded std": (lambda x: T.where(T.std(x) > 0, T.std(x), 1.0), np.ones(1), np.zeros(1), "the branch taken"),
}  # fmt: skip
"""(function, point, derivatives of the sum of its values, None if they are not all finite, or an error; reference)."""


def _gradient(function, point):
    x = T.tensor(dtype=np.asarray(point).dtype.name, shape=np.shape(point))
    return x, ag.grad(T.sum(T.real(function(x))), x)


@pytest.mark.few(1)
@pytest.mark.parametrize("mode", MODES)
def test_functions(mode):
    rows = {n: r for n, r in FUNCTIONS.items() if not isinstance(r[2], type)}
    pairs = [_gradient(function, point) for function, point, *_ in rows.values()]
    f = ag.function([x for x, _ in pairs], [g for _, g in pairs], mode=mode)
    for name, got in zip(rows, f(*(np.asarray(r[1]) for r in rows.values())), strict=True):
        expected = rows[name][2]
        if expected is None:
            assert not np.isfinite(got).all(), name
        else:
            np.testing.assert_allclose(got, expected, rtol=1e-7, atol=1e-12, err_msg=name)


@pytest.mark.parametrize("name", [n for n, r in FUNCTIONS.items() if isinstance(r[2], type)])
def test_functions_without_a_finite_derivative_raise(name):
    function, point, error, _ = FUNCTIONS[name]
    x, g = _gradient(function, point)
    with pytest.raises(error):
        g.eval({x: point})


def test_the_table_has_every_op_on_matrices():
    named = {"Inverse": "inv", "PseudoInverse": "pinv at constant rank", "SingularValues": "svdvals, equal",
             "SVD": "svd, equal", "Eigh": "eigh, equal", "Eigvalsh": "eigvalsh, equal", "Eig": "eig, equal",
             "Eigvals": "eig, equal", "EigPencil": "eig of two, equal", "Det": "det of rank n - 1",
             "Cofactors": "det of rank n - 1",
             "SlogDet": "slogdet", "QR": "qr", "Cholesky": "cholesky", "Solve": "solve",
             "CholeskyGradient": "cholesky",
             "SolveTriangular": "solve_triangular", "Exponential": "expm", "SquareRoot": "sqrtm, equal",
             "Logarithm": "logm, equal", "Polar": "polar, equal", "LU": "lu", "Sylvester": "solve_sylvester",
             "SolveBanded": "solve_banded", "ContinuousRiccati": "solve_continuous_are",
             "DiscreteRiccati": "solve_discrete_are"}  # fmt: skip
    without = {"Schur", "QZ", "ColumnOrder", "PivotOrder"}  # no derivative at any point
    for name in T.linalg.__all__:  # loads every class
        getattr(T.linalg, name)
    stack, found = [MatrixOp], set()
    while stack:
        kind = stack.pop()
        stack += kind.__subclasses__()
        found |= {kind.__name__} if "name" in vars(kind) and kind.__module__.startswith("arignote") else set()
    assert found == set(named) | without
    assert set(named.values()) <= set(FUNCTIONS)


# --- differences, near singular points as well


@pytest.mark.parametrize("static", [True, False])
@pytest.mark.parametrize(
    "diagonal", [[1.0, 1, 1], [1, 2, 2], [1, 1 + 1e-9, 3], [2, 2 + 1e-6, 2 - 1e-12], [1, 2, 3]], ids=str
)
def test_functions_of_matrices_with_equal_eigenvalues(diagonal, static):
    q = np.linalg.qr(np.random.default_rng(1).normal(size=(3, 3)))[0]
    a = q * diagonal @ q.T
    w = np.random.default_rng(2).normal(size=(3, 3))

    def of_symmetric(a):
        values, v = T.linalg.eigh((a + a.T) / 2)
        return T.tanh((v * T.log(values)) @ v.T) * w

    def of_any(a):
        u, s, vh = T.linalg.svd(a, False)
        return T.tanh((u * s**3) @ vh) * w

    for function in (of_symmetric, of_any):
        assert_gradient(function, a, static=static, step=1e-3)


def test_functions_of_hermitian_and_of_tall_matrices():
    def of_hermitian(a):
        values, v = T.linalg.eigh((a + T.conj(a.T)) / 2)
        return (v * T.exp(values)) @ T.conj(v.T)

    def of_tall(a):
        u, s, vh = T.linalg.svd(a, False)
        return (u * T.sin(s)) @ vh

    assert_gradient(of_hermitian, np.eye(3).astype(complex), step=1e-3)
    assert_gradient(of_tall, np.eye(4)[:, :2] * 2, step=1e-3)
    assert_gradient(of_tall, np.eye(4)[:2] * 0, step=1e-3)


@pytest.mark.parametrize(
    "a", [ONES, np.zeros((2, 2)), np.diag([1.0, 2, 0]), np.diag([1.0, 0, 0]), COUNTED, np.diag([1.0, 2, 3])]
)
def test_first_and_second_derivatives_of_determinants(a):
    w = np.random.default_rng(2).normal(size=a.shape)
    assert_gradient(T.linalg.det, a)
    assert_gradient(lambda a: T.sum(ag.grad(T.linalg.det(a), a) * w), a)


@pytest.mark.few(1)
@pytest.mark.parametrize("mode", MODES)
def test_examples_of_which_some_are_singular(mode):
    a, x = T.dtensor3("a"), T.dmatrix("x")
    f = ag.function(
        [a, x],
        [ag.vmap(lambda m: ag.grad(T.linalg.det(m), m))(a), ag.vmap(lambda r: ag.grad(T.std(r), r))(x),
         ag.vmap(lambda m: ag.grad(of_eigh(T.exp)(m), m))(a)],
        mode=mode,
    )  # fmt: skip
    points = np.stack([EYE, np.diag([1.0, 2, 0]), np.zeros((3, 3))])
    cofactors, spread, powers = f(points, np.array([[1.0, 1], [0, 2]]))
    np.testing.assert_allclose(cofactors, [EYE, np.diag([0, 0, 2]), 0 * EYE], atol=1e-15)
    np.testing.assert_allclose(spread, [[0, 0], [-0.5, 0.5]])
    np.testing.assert_allclose(powers[0], np.e * _lower(BOTH), rtol=1e-12)
    np.testing.assert_allclose(powers[2], _lower(BOTH), rtol=1e-12)
    assert np.isfinite(powers).all()


@pytest.mark.parametrize("mode", MODES)
def test_guards_of_lengths_that_only_the_call_knows(mode):
    x, rows, all_ = T.dmatrix("x"), T.vector("rows", "bool"), T.tensor("all", "bool", (None, None))
    costs = [
        T.where(all_, T.log(x), 0.0), T.where(rows[:, None], T.log(x), 0.0), T.where(all_, 1 / x, x),
        T.where(rows, T.sum(T.log(x), axis=1), 0.0), T.where(rows, T.std(x, axis=1), 0.0),
    ]  # fmt: skip
    f = ag.function([x, rows, all_], [ag.grad(T.sum(c), x) for c in costs], mode=mode)
    found = f([[0.0, 1], [1, 2]], [False, True], [[False, True], [True, False]])
    by_rows = [[0, 0], [1, 0.5]]
    expected = [[[0, 1], [1, 0]], by_rows, [[1, -1], [-1, 1]], by_rows, [[0, 0], [-0.5, 0.5]]]
    for got, wanted in zip(found, expected, strict=True):
        np.testing.assert_allclose(got, wanted, atol=1e-15)
