"""Sparse matrices: values against SciPy's, gradients against dense ones, `ag.vmap` against a loop."""

import pickle
import subprocess
import sys

import numpy as np
import pytest

import arignote as ag
from arignote import ops as T

sp = pytest.importorskip("scipy.sparse", reason="values of sparse matrices are SciPy's")
S = T.sparse


def drawn(seed, shape=(7, 5), dtype="float64", format="csr", density=0.4):
    """A matrix with an empty row, unsorted elements (csr, csc) and repeated ones (coo)."""
    rng = np.random.default_rng(seed)
    dense = (rng.random(shape) < density) * rng.integers(1, 9, shape)
    dense = dense.astype(dtype) * (1.25 if np.dtype(dtype).kind in "fc" else 1)
    if np.dtype(dtype).kind == "c":
        dense = dense * (1 - 2j)
    dense = dense.astype(dtype)
    dense[shape[0] // 2 :][:1] = 0
    coo = sp.coo_array(dense)
    order = rng.permutation(coo.nnz)
    row, col, data = coo.row[order], coo.col[order], coo.data[order]
    if format == "coo":
        again = [np.concatenate([v, v[:3]]) for v in (data, row, col)]
        return sp.coo_array((again[0], (again[1], again[2])), shape=shape)
    made = sp.coo_array((data, (row, col)), shape=shape).asformat(format)
    for k in range(len(made.indptr) - 1):  # each row backwards
        part = slice(made.indptr[k], made.indptr[k + 1])
        made.indices[part], made.data[part] = made.indices[part][::-1].copy(), made.data[part][::-1].copy()
    made.has_sorted_indices = False
    return made


def dense(value):
    return value.toarray() if sp.issparse(value) else np.asarray(value)


CASES = {
    "A @ x": lambda a, b, x, X: a @ x, "A @ X": lambda a, b, x, X: a @ X, "X @ A.T": lambda a, b, x, X: X.T @ a.T,
    "x @ A": lambda a, b, x, X: x @ a.T, "A.T @ (A @ x)": lambda a, b, x, X: a.T @ (a @ x),
    "A @ B.T": lambda a, b, x, X: a @ b.T, "A.T @ B": lambda a, b, x, X: a.T @ b,
    "A + B": lambda a, b, x, X: a + b, "A - B": lambda a, b, x, X: a - b, "A * B": lambda a, b, x, X: a * b,
    "A * 2": lambda a, b, x, X: a * 2, "3 * A": lambda a, b, x, X: 3 * a, "-A": lambda a, b, x, X: -a,
    "A * x": lambda a, b, x, X: a * x, "A * column": lambda a, b, x, X: a * (a @ x)[:, None],
    "A * dense": lambda a, b, x, X: a * (b + 1), "A / 2": lambda a, b, x, X: a / 2,
    "A + dense": lambda a, b, x, X: a + b,
    "dense - A": lambda a, b, x, X: b - a, "abs(A)": lambda a, b, x, X: abs(a),
    "A.square()": lambda a, b, x, X: a * a,
    "A.conj()": lambda a, b, x, X: a.conj(), "A.real": lambda a, b, x, X: a.real, "A.T": lambda a, b, x, X: a.T,
    "sum": lambda a, b, x, X: a.sum(), "sum 0": lambda a, b, x, X: a.sum(0),
    "sum 1": lambda a, b, x, X: a.sum(axis=-1),
    "mean": lambda a, b, x, X: a.mean(), "mean 0": lambda a, b, x, X: a.mean(0),
    "diagonal": lambda a, b, x, X: a.diagonal(), "diagonal 1": lambda a, b, x, X: a.diagonal(1),
    "diagonal -2": lambda a, b, x, X: a.diagonal(-2), "trace": lambda a, b, x, X: a.trace(),
    "A[1:4]": lambda a, b, x, X: a[1:4],
    "A[::-2, 1:]": lambda a, b, x, X: a[::-2, 1:], "A[:0]": lambda a, b, x, X: a[:0],
    "A[:, 3:0:-1]": lambda a, b, x, X: a[:, 3:0:-1],
}  # fmt: skip
EXTREMA = {
    "max": lambda a: a.max(), "min": lambda a: a.min(), "max 0": lambda a: a.max(0), "min 1": lambda a: a.min(1),
}  # fmt: skip
TAKEN = {
    "A[[3, 0, -1]]": lambda a: a[np.array([3, 0, -1])], "A[:, [2, 2]]": lambda a: a[:, np.array([2, 2])],
    "A[mask]": lambda a: a[np.arange(7) % 2 == 0], "A[2, 3]": lambda a: a[2, 3], "A[-1, -2]": lambda a: a[-1, -2],
}  # fmt: skip


FEW = (
    "A @ x", "X @ A.T", "A.T @ B", "A + B", "A * B", "A * x", "A.square()", "A.conj()", "sum", "sum 0", "mean 0",
    "diagonal 1", "A[::-2, 1:]",
)  # fmt: skip
"""Cases for the other dtypes and formats."""


def symbolic(name, case, A, B, x, X):
    if name in ("A * dense", "A + dense", "dense - A"):
        B = B.toarray()
    if name == "A.square()":
        return A.square()
    return case(A, B, x, X)


@pytest.mark.few(2)
@pytest.mark.parametrize("dtype, format, other", [("float64", "csr", "csc"), ("float32", "csc", "coo"),
                                                  ("int64", "coo", "csr"), ("complex128", "csr", "coo")])  # fmt: skip
def test_values_are_scipys(dtype, format, other):
    A, B = S.matrix(format, "A", dtype), S.matrix(other, "B", dtype)
    x, X = T.vector("x", dtype=dtype), T.matrix("X", dtype=dtype)
    few = dtype != "float64"
    names = [n for n in CASES if not few or n in FEW]
    results = [symbolic(n, CASES[n], A, B, x, X) for n in names]
    if not few:
        results += [case(A) for case in TAKEN.values()]
        names += TAKEN
    if dtype in ("float64", "int64"):
        results += [case(A) for case in EXTREMA.values()]
        names += EXTREMA
    f = ag.function([A, B, x, X], results)
    tables = {**CASES, **{n: lambda a, b, x, X, c=c: c(a) for n, c in {**TAKEN, **EXTREMA}.items()}}
    for seed, shape in [(0, (7, 5)), (1, (7, 7)), (2, (7, 5))]:
        a, b = drawn(seed, shape, dtype, format, 0 if seed == 2 else 0.5), drawn(seed + 9, shape, dtype, other)
        rng = np.random.default_rng(seed)
        vector, many = (rng.integers(-4, 5, n).astype(dtype) for n in (shape[1], (shape[1], 3)))
        if shape[0] != shape[1]:
            many = np.ascontiguousarray(many)
        found = f(a, b, vector, many)
        for name, got in zip(names, found, strict=True):
            wanted = np.asarray(tables[name](dense(a), dense(b), vector, many))
            assert dense(got).shape == wanted.shape, name
            assert dense(got).dtype == wanted.dtype, name
            np.testing.assert_allclose(dense(got), wanted, rtol=1e-5 if dtype == "float32" else 1e-12, err_msg=name)


@pytest.mark.long
def test_gradients_have_the_pattern_of_sparse_operands_and_are_those_of_dense_ones():
    a, b, rng = drawn(3), drawn(4, format="csc"), np.random.default_rng(5)
    w = rng.standard_normal((5, 3))
    A, B, W = S.csr_matrix("A"), S.csc_matrix("B"), T.matrix("W")
    D, E = T.matrix("D"), T.matrix("E")

    def cost(A, B, W, product, tanh):
        parts = T.sqr(A @ W).sum() + tanh(A).sum() + (product(A, B) * 1.5).sum() + (A @ B.T).sum(0)[0]
        return parts + A[1:4].sum(1)[0] + T.exp(A.diagonal() if isinstance(A, S.SparseMatrix) else T.diagonal(A)).sum()

    sparse = cost(A, B, W, lambda a, b: a.multiply(b), lambda a: a.tanh())
    full = cost(D, E, W, T.mul, T.tanh)
    f = ag.function([A, B, W], [sparse, ag.grad(sparse, [A, B, W])])
    g = ag.function([D, E, W], [full, ag.grad(full, [D, E, W])], mode="FAST_COMPILE")
    (value, (by_a, by_b, by_w)), (wanted, (by_d, by_e, by_dense)) = f(a, b, w), g(dense(a), dense(b), w)
    np.testing.assert_allclose(value, wanted)
    np.testing.assert_allclose(by_w, by_dense)
    for found, like, expected in ((by_a, a, by_d), (by_b, b, by_e)):
        assert found.format == like.format
        np.testing.assert_array_equal(found.indices, like.indices)
        np.testing.assert_allclose(dense(found), expected * (dense(like) != 0), atol=1e-12)


def test_scipys_matrices_are_arguments_before_any_name_of_t_sparse_is_used():
    """In a process of its own, since fixtures load `T.sparse`."""
    script = """
import numpy as np, scipy.sparse as sp, arignote as ag
x = np.arange(4.0)
for seed in (0, 1):
    a = sp.random_array((4, 4), density=0.5, rng=seed, format="csr")
    np.testing.assert_allclose(ag.jit(lambda d: d["a"] @ x)({"a": a}), a @ x)
    np.testing.assert_allclose(ag.jit(lambda a: a.sum(0))(a), a.sum(0))
    np.testing.assert_allclose(ag.grad(lambda x: ((a @ x) ** 2).sum())(x), 2 * a.T @ (a @ x))
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False, timeout=300)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("format", ["bsr", "dia", "dok", "lil"])
def test_other_formats_of_scipy_are_refused_with_the_way_round(format):
    a = sp.random_array((4, 4), density=0.5, rng=0).asformat(format)
    for given in (a, {"a": a}):
        with pytest.raises(TypeError, match=rf"expected .* csr, csc or coo, got {format} .*; use x.tocsr\(\)"):
            ag.jit(lambda a: a)(given)
    for way in (T.as_tensor, ag.shared, lambda x: T.dot(x, T.vector())):
        with pytest.raises(TypeError, match=r"use T.sparse.constant\(x\), or x.toarray\(\)"):
            way(a)


@pytest.mark.long
def test_jit_grad_vmap_and_shared_take_sparse_values():
    a, x = drawn(6), np.arange(5.0)
    f = ag.jit(lambda A, x: {"y": A @ x, "A": A * 2})
    found = f(a, x)
    np.testing.assert_allclose(found["y"], a @ x)
    np.testing.assert_allclose(dense(found["A"]), 2 * dense(a))
    by_a = ag.grad(lambda A, x: ((A @ x) ** 2).sum())(a, x)
    np.testing.assert_allclose(dense(by_a), 2 * np.outer(dense(a) @ x, x) * (dense(a) != 0))

    A, X = S.csr_matrix("A"), T.matrix("X")
    many = T.matrix("many")
    of_rows = ag.vmap(lambda x: A @ x)(X)
    of_data = ag.vmap(lambda A, x: (A @ x).sum() + A.sum(0)[1], in_axes=(A.axes(data=0), 0))(A.with_data(many), X)
    rows, datas = np.random.default_rng(7).standard_normal((4, 5)), np.random.default_rng(8).standard_normal((4, a.nnz))
    found, sums = ag.function([A, many, X], [of_rows, of_data])(a, datas, rows)
    np.testing.assert_allclose(found, [a @ row for row in rows])
    examples = [sp.csr_array((d, a.indices, a.indptr), shape=a.shape) for d in datas]
    np.testing.assert_allclose(sums, [(e @ row).sum() + e.sum(0)[1] for e, row in zip(examples, rows, strict=True)])

    state = S.shared(a, "state")
    step = ag.function([A], state + A, updates=[(state, state * 2)])
    np.testing.assert_allclose(dense(step(a)), 2 * dense(a))
    np.testing.assert_allclose(dense(state.get_value()), 2 * dense(a))
    state.set_value(drawn(9, (3, 4)))
    assert state.get_value().shape == (3, 4)
    again = pickle.loads(pickle.dumps(ag.function([A], A * 3)))
    np.testing.assert_allclose(dense(again(a)), 3 * dense(a))


@pytest.mark.long
def test_constants_conversions_stacks_and_theanos_names():
    a, b = drawn(10), drawn(11, format="coo")
    w = np.random.default_rng(12).standard_normal((5, 3))
    A, B, W = S.csr_matrix(a), S.coo_matrix(b), T.matrix("W")
    values = {
        "constant": (A, a), "csc": (A.tocsc(), a), "coo": (B.tocoo(), b), "csr of coo": (B.tocsr(), b),
        "of dense": (S.csc_matrix(W), w), "of parts": (S.csr_matrix((A.data * 2, *A.parts[1:3]), shape=a.shape), 2 * a),
        "vstack": (S.vstack([A, B]), sp.vstack([a, b])), "hstack": (S.hstack([A, B], "csc"), sp.hstack([a, b])),
        "eye": (S.eye(3), np.eye(3)), "diags": (S.diags(W[:, 0], format="csc"), np.diag(w[:, 0])),
        "usmm": (S.usmm(2.0, A, W, T.ones((7, 3))), 2 * (a @ w) + 1), "ordered": (A.sorted_indices(), a),
        "structured_dot": (S.structured_dot(A, W), a @ w), "zeros": ((A - A).eliminate_zeros(), 0 * dense(a)),
        "sampling_dot": (S.sampling_dot(T.ones((7, 3)), W, A), a.multiply(np.ones((7, 3)) @ w.T)),
        "scipy @ W": (S.dot(a, W), a @ w), "structured": (S.structured(T.add, A, 1.0), dense(a) + (dense(a) != 0)),
        "W.T @ A.T": (W.T @ A.T, w.T @ a.T), "array @ A": (np.ones((2, 7)) @ A, np.ones((2, 7)) @ a),
        "sqrt": (B.sqrt(), np.sqrt(dense(b))), "power": (A**2, dense(a) ** 2), "0 x n": (A[:0] @ W, np.zeros((0, 3))),
    }  # fmt: skip
    found = ag.function([W], {name: value for name, (value, _) in values.items()})(w)
    for name, (_, wanted) in values.items():
        np.testing.assert_allclose(dense(found[name]), dense(wanted), atol=1e-12, err_msg=name)
    assert found["csc"].format == "csc"
    assert found["vstack"].has_canonical_format
    assert not (A - A).eliminate_zeros().nnz.eval()


def test_errors_name_the_matrix_and_the_fix():
    A, B, x = S.csr_matrix("A"), S.csr_matrix("B"), T.vector("x")
    f = ag.function([A, x], A @ x)
    a = drawn(13)
    wrong = a.copy()
    many = T.matrix("many")
    by_matrix = ag.function([A, many], A @ many)
    for beyond in (5, -1):
        wrong.indices[2] = beyond
        for run, operand in ((f, np.ones(5)), (by_matrix, np.ones((5, 2)))):
            with pytest.raises(IndexError, match="indices or indptr of the sparse matrix are out of bounds"):
                run(wrong, operand)
    with pytest.raises(IndexError, match="indices or indptr of the sparse matrix are out of bounds"):
        ag.function([A], T.ones(7) @ A)(wrong)
    for given, words in [
        (a.tocsc(), r"A: its static data is the format csc \(A.tocsc\(\) converts\), expected the format csr"),
        (dense(a), r"A: expected a SparseMatrix, got .*; use scipy\.sparse\.csr_matrix\(value\)"),
        (sp.dia_array(dense(a)), "A: expected a SparseMatrix"),
    ]:  # fmt: skip
        with pytest.raises(TypeError, match=words):
            f(given, np.ones(5))
    with pytest.raises(TypeError, match=r"A.data"):
        f(a.astype("complex128"), np.ones(5))
    with pytest.raises(ValueError, match="dense operand of a sparse product: expected length 5 on axis 0, got 4"):
        f(a, np.ones(4))
    with pytest.raises(ValueError, match="second sparse matrix: expected length 5 on axis 1, got 4"):
        ag.function([A, B], A + B)(a, drawn(14, (7, 4)))
    with pytest.raises(ValueError, match="rows of the second sparse matrix: expected length 5 on axis 0, got 7"):
        ag.function([A, B], A @ B)(a, a)
    with pytest.raises(IndexError):
        ag.function([A], A[7, 0])(a)
    for call, kind, words in [
        (lambda: A + 1, NotImplementedError, "toarray"), (lambda: A / B, TypeError, "divisor is sparse"),
        (lambda: A @ T.tensor3(), ValueError, "3 axes"), (lambda: A @ 2, ValueError, r"A \* s"),
        (lambda: A[1, 2, 3], IndexError, "2 axes, got 3"), (lambda: A[x], IndexError, "vectors of integers"),
        (lambda: A**0, NotImplementedError, "dense"), (lambda: S.matrix("dia"), ValueError, "'csr', 'csc' or 'coo'"),
        (lambda: A.sum(2), ValueError, "axis"), (lambda: S.shared(np.ones(3)), TypeError, "csr_array"),
        (lambda: bool(A), TypeError, "truth value"), (lambda: S.dot(x, x), TypeError, "use T.dot"),
        (lambda: ag.hessian(x.sum(), A), TypeError, "A.data"), (A.get_value, TypeError, "not shared"),
        (lambda: S.vstack([]), ValueError, "no blocks"), (lambda: A.axes(indices=0, row=1), TypeError, "no row"),
        (lambda: S.csr_matrix((x, x, x), shape=(1, 1)), TypeError, "indices is x"),
    ]:  # fmt: skip
        with pytest.raises(kind, match=words):
            call()


def test_products_have_the_same_bits_on_one_thread_and_on_two():
    rng = np.random.default_rng(15)
    places = rng.integers(0, 20_000, (2, 200_000))
    a = sp.coo_array((rng.standard_normal(200_000), tuple(places)), shape=(20_000, 20_000)).tocsr()
    many = rng.standard_normal((20_000, 43))
    A, X = S.csr_matrix("A"), T.matrix("X")
    results = [A @ X, A @ X[:, 0], A.T @ X, X[:, 1] @ A]
    found = [ag.function([A, X], results, threads=n)(a, many) for n in (1, 2)]
    wanted = [a @ many, a @ many[:, 0], a.T @ many, many[:, 1] @ a]
    for one, two, expected in zip(*found, wanted, strict=True):
        np.testing.assert_array_equal(one, two)
        np.testing.assert_allclose(one, expected, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("format", ["csr", "csc", "coo"])
def test_transposed_arguments_are_views_as_scipys_are(format):
    a = drawn(3, format=format)
    A, x = S.matrix(format, "A"), T.vector("x")
    f = ag.function([A, x], {"t": A.T, "y": A @ x, "whole": [A], "twice": A.T * 2})
    bound = f.bind(a, np.arange(5.0))
    calls = [lambda: f(a, np.arange(5.0)) for _ in range(70)]  # the last ones by the generated source
    frozen = ag.freeze(f)
    for call in [*calls, bound, lambda: frozen(a, np.arange(5.0))]:
        found = call()
        assert found["t"].format == a.T.format
        np.testing.assert_array_equal(found["t"].toarray(), a.T.toarray())
        np.testing.assert_array_equal(found["twice"].toarray(), 2 * a.T.toarray())
        np.testing.assert_array_equal(found["y"], a @ np.arange(5.0))
        assert all(np.shares_memory(m.data, a.data) for m in (found["t"], *found["whole"]))
        assert not np.shares_memory(found["twice"].data, a.data)
    for mode in ("DEBUG", "NUMPY", "NAN"):
        np.testing.assert_array_equal(ag.function([A], A.T, mode=mode)(a).toarray(), a.T.toarray())
    narrow = f(a.astype("float32"), np.arange(5.0))["t"]
    assert narrow.dtype == np.float64
    held = S.shared(a)
    assert not np.shares_memory(ag.function([], held.T)().data, held.data.get_value(borrow=True))


def test_sums_of_coordinates_have_the_same_bits_in_runs():
    rng = np.random.default_rng(8)
    A, x = S.coo_matrix("A"), T.vector("x")
    f = ag.function([A, x], [A.sum(0), A.sum(1), A @ x])
    for count in (0, 1, 5, 5000):
        values, data = rng.standard_normal(30), rng.standard_normal(count)
        rows, columns = rng.integers(0, 40, count), rng.integers(0, 30, count)
        wanted = np.zeros(30), np.zeros(40)
        np.add.at(wanted[0], columns, data)
        np.add.at(wanted[1], rows, data)
        of_rows = np.argsort(rows, kind="stable")
        matrices = [sp.coo_array((data[k], (rows[k], columns[k])), shape=(40, 30)) for k in (slice(None), of_rows)]
        found = [f(matrix, values) for matrix in matrices]
        np.testing.assert_array_equal(found[0][0], wanted[0])
        np.testing.assert_array_equal(found[0][1], wanted[1])
        for one, other in zip(found[0][1:], found[1][1:], strict=True):
            np.testing.assert_array_equal(one, other)


def test_extremes_of_no_elements_of_bools_and_of_complex_numbers():
    A = S.csr_matrix("A")
    for (rows, columns), axes in (((0, 3), (None, 0)), ((3, 0), (None, 1))):
        for axis in (None, 0, 1):
            f = ag.function([A], A.max(axis=axis))
            if axis not in axes:
                assert f(sp.csr_array((rows, columns))).shape == (0,)
                continue
            with pytest.raises(ValueError, match="zero-size"):
                f(sp.csr_array((rows, columns)))
    B = S.csr_matrix("B", dtype="bool")
    mask = sp.csr_array(np.array([[True, False], [True, True], [False, False]]))
    for extreme, wanted in ((B.max(axis=1), [True, True, False]), (B.min(axis=1), [False, True, False])):
        found = ag.function([B], extreme)(mask)
        assert found.dtype == "bool" and found.tolist() == wanted
    with pytest.raises(TypeError, match="complex numbers, which have no order here"):
        S.csr_matrix("C", dtype="complex128").max()


def test_lengths_that_are_known_are_checked_when_a_product_is_built():
    with pytest.raises(ValueError, match="dense operand of a sparse product: expected length 2 on axis 0"):
        S.csr_matrix(sp.csr_array(np.eye(2))) @ np.ones(3)
