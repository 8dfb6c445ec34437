"""Sparse matrices made of others: values against SciPy's, gradients against dense ones, errors."""

import numpy as np
import pytest

import arignote as ag
from arignote import ops as T

sp = pytest.importorskip("scipy.sparse", reason="values of sparse matrices are SciPy's")
S = T.sparse


def drawn(seed, shape, format):
    rng = np.random.default_rng(seed)
    return sp.random_array(shape, density=0.5, format=format, rng=rng)


def dense(value):
    return value.toarray() if sp.issparse(value) else np.asarray(value)


V, D = np.array([1.0, 2.0, 3.0]), np.arange(6.0).reshape(2, 3)
CASES = {
    "kron": lambda s, a, b, c, q, v: s.kron(a, b), "kron csc": lambda s, a, b, c, q, v: s.kron(q, q, format="csc"),
    "kronsum": lambda s, a, b, c, q, v: s.kronsum(q, s.eye_array(2).tocsr()),
    "tril": lambda s, a, b, c, q, v: s.tril(a), "triu": lambda s, a, b, c, q, v: s.triu(q, 1),
    "tril coo": lambda s, a, b, c, q, v: s.tril(b, -1), "triu csc": lambda s, a, b, c, q, v: s.triu(a, -1, "csc"),
    "corners": lambda s, a, b, c, q, v: s.block_array([[a, None], [None, b]]),
    "grid": lambda s, a, b, c, q, v: s.block_array([[a, c], [b, None]], format="csc"),
    "empty row": lambda s, a, b, c, q, v: s.bmat([[a, c], [None, None]], format="coo"),
    "block_diag": lambda s, a, b, c, q, v: s.block_diag([a, b, D], format="csr"),
    "vstack": lambda s, a, b, c, q, v: s.vstack([a, b], format="csr"),
    "hstack": lambda s, a, b, c, q, v: s.hstack([a, c], format="coo"),
    "identity": lambda s, a, b, c, q, v: s.identity(3, format="csr"),
    "find": lambda s, a, b, c, q, v: s.find(q.tocsr()),
    "maximum": lambda s, a, b, c, q, v: a.maximum(c), "minimum": lambda s, a, b, c, q, v: (-a).minimum(c),
    "at least": lambda s, a, b, c, q, v: (a - 2 * c).maximum(-0.1),
    "at most": lambda s, a, b, c, q, v: (a - 2 * c).minimum(0.0),
    "dense minimum": lambda s, a, b, c, q, v: dense_of(b.minimum(D / 9)),
    "count_nonzero": lambda s, a, b, c, q, v: (a * 1).count_nonzero(),
    "counts of rows": lambda s, a, b, c, q, v: a.count_nonzero(1), "trace": lambda s, a, b, c, q, v: a.trace(-1),
    "nonzero": lambda s, a, b, c, q, v: q.tocsr().nonzero(), "conjugate": lambda s, a, b, c, q, v: b.conjugate(),
}  # fmt: skip


def dense_of(value):
    return value.toarray() if sp.issparse(value) else value


@pytest.mark.long
def test_blocks_and_functions_of_matrices():
    given = drawn(0, (4, 3), "csr"), drawn(1, (2, 3), "coo"), drawn(2, (4, 3), "csr"), drawn(3, (3, 3), "csc")
    A, B, C, Q, v = S.csr_array("A"), S.coo_array("B"), S.csr_matrix("C"), S.csc_array("Q"), T.vector("v")
    built = {name: f(S, A, B, C, Q, v) for name, f in CASES.items()}
    values = ag.function([A, B, C, Q, v], built, on_unused_input="ignore")(*given, V)
    for name, f in CASES.items():
        expected, found = f(sp, *given, V), values[name]
        if isinstance(expected, tuple):
            order = np.lexsort(expected[1::-1])
            for mine, other in zip(found, expected, strict=True):
                np.testing.assert_allclose(mine, other[order], err_msg=name)
            continue
        assert dense(found).shape == dense(expected).shape, name
        np.testing.assert_allclose(dense(found), dense(expected), rtol=1e-14, err_msg=name)
    assert values["grid"].format == values["triu csc"].format == "csc" and values["hstack"].format == "coo"


def test_diagonals():
    v = T.vector("v")
    cases = {
        "one": (S.diags(v), np.diag(V)), "above": (S.diags(v, 1), np.diag(V, 1)),
        "numbers": (S.diags([1, -2, 1], [-1, 0, 1], shape=(4, 4)),
                    sp.diags_array([1.0, -2.0, 1.0], offsets=[-1, 0, 1], shape=(4, 4))),
        "several": (S.diags([v, [0, 1, 2, 3], [9, 8]], [1, 0, 2]),
                    sp.diags_array([V, [0, 1, 2, 3], [9, 8]], offsets=[1, 0, 2])),
        "rectangle": (S.diags([v], [-1], shape=(5, 3), format="csc"),
                      sp.diags_array([V], offsets=[-1], shape=(5, 3))),
        "dtype": (S.diags(v, dtype="float32"), np.diag(V)), "eye": (S.eye(3, 4, 1), np.eye(3, 4, 1)),
        "below": (S.eye(4, 2, -1, "float32", format="csc"), np.eye(4, 2, -1)),
        "far": (S.eye(2, 2, 5), np.zeros((2, 2))),
        "by length": (S.eye(v.shape[0]), np.eye(3)),
    }  # fmt: skip
    found = ag.function([v], {name: value for name, (value, _) in cases.items()})(V)
    for name, (_, expected) in cases.items():
        np.testing.assert_array_equal(dense(found[name]), dense(expected), err_msg=name)
    assert found["dtype"].dtype == "float32" and found["below"].format == "csc"


def test_parts_as_scipy_takes_them():
    data, row, column = T.vector("data"), T.lvector("row"), T.lvector("column")
    indptr = T.lvector("indptr")
    given = np.array([1.0, 2.0, 4.0, 8.0]), np.array([0, 1, 2, 0]), np.array([0, 1, 1, 0]), np.array([0, 2, 3, 4])
    cases = {
        "csr": (S.csr_array((data, (row, column)), shape=(3, 4)), sp.csr_array((given[0], given[1:3]), shape=(3, 4))),
        "csc": (S.csc_array((data, (row, column))), sp.csc_array((given[0], given[1:3]))),
        "coo": (S.coo_array((data, (row, column))), sp.coo_array((given[0], given[1:3]))),
        "rows": (S.csr_array((data, column, indptr)), sp.csr_array((given[0], given[2], given[3]))),
        "columns": (S.csc_array((data, column, indptr)), sp.csc_array((given[0], given[2], given[3]))),
        "zeros": (S.csr_array((3, 4), dtype="int8"), sp.csr_array((3, 4), dtype="int8")),
        "coo zeros": (S.coo_array((row.shape[0], 2)), sp.coo_array((4, 2))),
    }
    found = ag.function([data, row, column, indptr], {name: value for name, (value, _) in cases.items()})(*given)
    for name, (_, expected) in cases.items():
        assert found[name].shape == expected.shape and found[name].dtype == expected.dtype, name
        np.testing.assert_array_equal(dense(found[name]), dense(expected), err_msg=name)


@pytest.mark.long
def test_gradients_are_those_of_dense_matrices():
    a, b = drawn(5, (3, 4), "csr"), drawn(6, (2, 4), "coo")
    A, B = S.csr_array("A"), S.coo_array("B")
    weights = np.cos(np.arange(48.0 + 1)[1:]).reshape(6, 8)[:5, :4]
    loss = T.sum(S.block_array([[A], [B]]).toarray() ** 2 * weights) + T.sum(S.kron(A, B).data ** 3)
    loss = loss + S.triu(A).sum() * 2 + A.maximum(A * 2).sum()
    slopes = ag.function([A, B], ag.grad(loss, [A, B]))(a, b)
    X, Y = T.matrix("X"), T.matrix("Y")
    plain = T.sum(T.concatenate([X, Y]) ** 2 * weights) + T.sum(T.kron(X, Y) ** 3)
    plain = plain + T.sum(T.triu(X)) * 2 + T.sum(T.maximum(X, X * 2))
    expected = ag.function([X, Y], ag.grad(plain, [X, Y]))(a.toarray(), b.toarray())
    for found, whole, pattern in zip(slopes, expected, (a, b)):
        np.testing.assert_allclose(found.toarray(), whole * (pattern.toarray() != 0), rtol=1e-12, atol=1e-15)


A0, B0 = S.csr_array("A"), S.coo_array("B")


@pytest.mark.parametrize(("build", "kind", "message"), [
    (lambda: S.block_array([]), ValueError, "block_array: expected rows of as many blocks each"),
    (lambda: S.block_array([[A0], [A0, B0]]), ValueError, "block_array: expected rows of as many blocks each"),
    (lambda: S.hstack([]), ValueError, "hstack: there are no blocks"),
    (lambda: S.block_diag([]), ValueError, "block_diag: there are no matrices"),
    (lambda: S.vstack([np.ones((2, 2))]), TypeError, "vstack: expected a sparse matrix"),
    (lambda: S.diags([1, 2], [0, 0], shape=(2, 2)), ValueError, "an offset of its own for each of 2 diagonals"),
    (lambda: S.diags([1, 2], [0]), ValueError, "an offset of its own for each of 2 diagonals"),
    (lambda: S.diags([np.ones((2, 2))], [0]), TypeError, "diags: expected a number or a vector"),
    (lambda: A0.maximum(1.0), NotImplementedError, r"use T.maximum\(A.toarray\(\), s\)"),
    (lambda: S.minimum(-1.0, A0), NotImplementedError, r"use T.minimum\(A.toarray\(\), s\)"),
    (lambda: S.csr_array((np.ones(2), (np.ones(2), [0, 1]))), TypeError, "csr_matrix: row is .*vector of integers"),
    (lambda: S.csr_array((np.ones(2), ([0, 1], [0, 1])), shape=3), TypeError, "shape is 3; expected two lengths"),
    (lambda: S.csr_array((2.5, 3)), TypeError, "expected two lengths"),
    (lambda: A0.setdiag(1), AttributeError, r"use m - T.sparse.diags\(m.diagonal\(\)\)"),
])  # fmt: skip
def test_errors(build, kind, message):
    with pytest.raises(kind, match=message):
        build()


@pytest.mark.long
def test_lengths_that_do_not_fit_are_refused_by_a_call():
    a, b = drawn(7, (4, 3), "csr"), drawn(8, (2, 3), "coo")
    for build, words in (
        (lambda: S.hstack([A0, B0]), "a block beside another one: expected length 4 on axis 0, got 2"),
        (lambda: S.block_array([[A0], [B0.T]]), "a block beside another one: expected length 3 on axis 1, got 2"),
        (lambda: S.kronsum(A0, B0), "the square matrix of kronsum: expected length 4 on axis 1, got 3"),
        (lambda: A0.maximum(B0), "second sparse matrix: expected length 4 on axis 0, got 2"),
        (lambda: A0 + B0, "second sparse matrix: expected length 4 on axis 0, got 2"),
        (lambda: A0.tocsc() * B0, "second sparse matrix: expected length 4 on axis 0, got 2"),
    ):
        with pytest.raises(ValueError, match=words):
            ag.function([A0, B0], build())(a, b)
    v = T.vector("v")
    with pytest.raises(ValueError, match="lengths 3 and 2 do not agree on axis 0"):
        ag.function([v], S.diags([v], [0], shape=(2, 2)))(V)
