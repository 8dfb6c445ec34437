"""Rules of linear algebra: by example, by value on matrices of the promised kinds, and what is known of a matrix."""

import numpy as np
import pytest
from matrices import matrices
from rewriting import graph_of, rewritten
from rule_rows_linalg import ROWS, arrays, rows

from arignote import ops as T
from arignote.graph import FunctionGraph
from arignote.ops.core.interpret import interpret
from arignote.ops.linalg.factorizations import Cholesky
from arignote.ops.linalg.solving import Solve, SolveTriangular
from arignote.optdb import MergeOptimizer
from arignote.optdb.rules import default_db
from arignote.optdb.rules.linalg.structure import Structure, structure

DB = default_db()
FAST = DB.query("fast_run -fusion -inplace", strict=True)
UNSAFE = DB.query("fast_run unsafe -fusion -inplace", strict=True)
A, P, D, L, U, Q = (T.matrix(name) for name in "APDLUQ")


def merged(graph):
    return MergeOptimizer()(graph)[0]


@pytest.mark.parametrize("dtype", ["float64", "complex64"])
def test_rows(dtype):
    for name, before, after in rows(dtype):
        graph = graph_of(before)
        result = rewritten(graph, DB[name])
        assert result is not graph, f"{name} does not fire on\n{graph}"
        want = FunctionGraph(graph.inputs, [after])
        assert merged(result) == merged(want), f"{name}\n{graph}\n->\n{result}\nexpected\n{want}"


def test_every_rule_has_a_row():
    found = {e.name for e in DB.entries() if "linalg" in e.tags}
    assert found == {name for name, *_ in ROWS} - {"drain_specify_assumptions"}


def compare(graph, result, n, dtype):
    values = [arrays(n, dtype)[v.name] for v in graph.inputs]
    (want,), (got,) = interpret(graph, values), interpret(result, values)
    assert (want.dtype, want.shape) == (got.dtype, got.shape)
    eps = 2e3 * np.finfo(want.dtype).eps
    scale = np.abs(np.nan_to_num(want)).max(initial=0)
    np.testing.assert_allclose(got, want, rtol=eps, atol=eps * scale, err_msg=f"{graph}\n{result}")


@pytest.mark.few(4)
@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("n", [1, 2, 5])
def test_values_stay(n, dtype):
    for name, before, _ in rows(dtype):
        graph = graph_of(before)
        compare(graph, rewritten(graph, DB[name]), n, dtype)
        compare(graph, FAST(graph)[0], n, dtype)


@pytest.mark.parametrize("optimizer", [FAST, UNSAFE], ids=["fast_run", "unsafe"])
def test_rules_come_to_rest(optimizer):
    for name, before, _ in ROWS:
        once = optimizer(graph_of(before))[0]
        assert optimizer(once)[0] == once, name


def ops_of(*outputs):
    return [node.op for node in FAST(graph_of(*outputs))[0].order]


def test_systems_and_determinant_of_one_matrix_share_its_factorization():
    """The density of a normal distribution with its gradient: one factorization, no inverse, no LU."""
    x, cov = T.vector("x"), T.assume(P, "positive_definite")
    density = -0.5 * (x @ T.linalg.inv(cov) @ x) - 0.5 * T.log(T.linalg.det(cov))
    found = ops_of(density)
    assert sum(isinstance(op, Cholesky) for op in found) == 1
    assert not any(isinstance(op, (Solve, T.Inverse, T.Det, T.SlogDet)) for op in found)


def test_a_product_with_an_inverse_is_a_system_before_the_inverse_is_anything_else():
    b = T.vector("b")
    assert T.SolveTriangular(lower=True) in ops_of(T.linalg.inv(T.tril(A)) @ b)
    assert not any(isinstance(op, T.Eye) for op in ops_of(T.linalg.inv(T.tril(A)) @ b))
    assert not any(isinstance(op, (T.DiagonalMatrix, T.Dot)) for op in ops_of(T.linalg.inv(T.diag(b)) @ b))


def test_an_inverse_that_others_read_stays():
    inverse = T.linalg.inv(A)
    assert T.Inverse() in ops_of(inverse @ U, inverse)


def test_nothing_is_promised_without_a_reason():
    assert not any(isinstance(op, (Cholesky, SolveTriangular)) for op in ops_of(T.linalg.solve(A @ A.T + T.eye(3), U)))


def test_logarithm_of_a_determinant_that_overflows():
    n = 400
    graph = graph_of(T.log(T.linalg.det(A)))
    a = matrices((n, n), "f8") * 10
    sign, want = np.linalg.slogdet(a)
    a[0] *= sign
    assert interpret(graph, [a])[0] == np.inf
    np.testing.assert_allclose(interpret(FAST(graph)[0], [a])[0], want)


@pytest.mark.parametrize(
    ("value", "facts"),
    [
        (A, Structure.NONE),
        (T.linalg.cholesky(A), Structure.LOWER | Structure.POSITIVE_DIAGONAL),
        (T.linalg.cholesky(A).T, Structure.UPPER | Structure.POSITIVE_DIAGONAL),
        (T.tril(A), Structure.LOWER),
        (T.tril(A, 1), Structure.NONE),
        (T.triu(T.tril(A)), Structure.DIAGONAL),
        (T.triu(A, 1), Structure.UPPER),
        (T.tril(A) @ T.tril(U), Structure.LOWER),
        (T.tril(A) @ T.triu(U), Structure.NONE),
        (T.linalg.inv(T.triu(A)), Structure.UPPER),
        (2.0 * T.tril(A), Structure.LOWER),
        (np.inf * T.tril(A), Structure.NONE),
        (T.tril(A) - T.tril(A) * 3, Structure.LOWER),
        (T.tril(A) + T.scalar("s"), Structure.NONE),
        (T.tril(A) + T.tril(U), Structure.NONE),
        (A @ A.T, Structure.SYMMETRIC),
        (A.T @ A, Structure.SYMMETRIC),
        (A @ U.T, Structure.NONE),
        (T.linalg.qr(A)[0], Structure.ORTHOGONAL),
        (T.linalg.qr(A)[1], Structure.UPPER),
        (T.linalg.svd(A, False)[2], Structure.NONE),
        (T.linalg.svd(A)[2], Structure.ORTHOGONAL),
        (T.linalg.eigh(A)[1], Structure.ORTHOGONAL),
        (T.diag(T.vector("v")), Structure.DIAGONAL),
        (T.eye(3, 4), Structure.NONE),
        (T.eye(3, 3, 1), Structure.NONE),
        (T.constant([[1.0, 2.0], [0.0, 3.0]]), Structure.UPPER | Structure.POSITIVE_DIAGONAL),
        (T.constant([[1, 2], [0, 3]]), Structure.NONE),
        (T.constant([[1.0, 2.0], [2.0, -3.0]]), Structure.SYMMETRIC),
        (T.assume(A, "symmetric") + A, Structure.NONE),
        (-T.assume(A, "symmetric"), Structure.SYMMETRIC),
        (T.assume(A, "symmetric", "lower_triangular"), Structure.DIAGONAL),
        (T.expand_dims(T.tril(A), 0), Structure.LOWER),
        (T.expand_dims(T.tril(A), 2), Structure.NONE),
    ],
    ids=str,
)
def test_structure(value, facts):
    found = structure(value)
    assert found & ~Structure.SYMMETRIC == facts & ~Structure.SYMMETRIC
    assert Structure.SYMMETRIC not in facts or Structure.SYMMETRIC in found


def test_a_long_chain_of_facts_is_worked_out_without_recursion():
    x = T.tril(A)
    for _ in range(5000):
        x = x + T.tril(A)
    assert structure(x) == Structure.LOWER
