"""Linear algebra on matrices of NaN, infinities, and the greatest and smallest numbers: a result, or NumPy's error."""

import warnings

import numpy as np
import pytest
from ending import assert_ends

import arignote as ag
from arignote import ops as T

pytestmark = pytest.mark.long
L = T.linalg
FUNCTIONS = {
    **{name: getattr(L, name) for name in (
        "cholesky", "inv", "pinv", "det", "slogdet", "eigh", "eig", "eigvals", "eigvalsh", "svd", "svdvals", "qr",
        "expm", "logm", "sqrtm", "lu", "schur", "polar", "null_space", "orth", "matrix_rank", "cond",
    )},
    **{name: lambda a, name=name: getattr(L, name)(a, a.T) for name in ("solve", "lstsq", "qz", "solve_triangular")},
    "norm": lambda a: [L.norm(a, 2), L.norm(a, "nuc")],
    "matrix_power": lambda a: L.matrix_power(a, 5),
    "solve_sylvester": lambda a: L.solve_sylvester(a, a.T, a),
    "solve_continuous_are": lambda a: L.solve_continuous_are(a, a.T, a, a @ a.T),
    "solve_discrete_are": lambda a: L.solve_discrete_are(a, a.T, a, a @ a.T),
    "roots": lambda a: T.roots(a.ravel()[:8]),
}  # fmt: skip


def matrices():
    """Square matrices of several kinds and sizes."""
    rng = np.random.default_rng(0)
    yield np.zeros((0, 0))
    for n in (1, 2, 3, 5, 8):
        a = rng.standard_normal((n, n))
        s = a @ a.T
        some = rng.random((n, n)) < 0.3
        yield from (a, s, -s, 0 * a, 1e300 * a, 1e-300 * a, 1e160 * a, 1e-160 * s, a * np.logspace(-300, 300, n))
        yield from (np.where(some, special, s) for special in (np.nan, np.inf, -np.inf, 0.0))
        yield from (np.full((n, n), value) for value in (np.nan, 1.0, 5e-324))
        yield from (np.eye(n), np.inf * np.eye(n), np.eye(n)[::-1], np.triu(a), np.eye(n, k=1))


def try_all():
    """Call each function on all matrices."""
    warnings.simplefilter("ignore")
    a = T.matrix("a")
    for name, function in FUNCTIONS.items():
        print(name, flush=True)
        made = function(a)
        f = ag.function([a], list(made) if isinstance(made, list | tuple) else made)
        for matrix in matrices():
            try:
                f(matrix)
            except (np.linalg.LinAlgError, ValueError):
                continue


def test_all_functions_end():
    assert_ends(__file__, "try_all")
