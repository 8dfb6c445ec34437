"""`theano.sparse`: matrices in compressed rows and columns, compared with SciPy's."""

import pickle

import numpy as np
import pytest

from arignote.frontends import theano

sp = pytest.importorskip("scipy.sparse", reason="values of sparse variables are matrices of SciPy's")
S, T = theano.sparse, theano.tensor


def random(seed, format="csr", shape=(6, 5)):
    return sp.random(*shape, density=0.4, format=format, random_state=np.random.RandomState(seed)) * 3


A, B, C = random(0), random(1), random(2, "csc")
DENSE = np.random.RandomState(3).randn(5, 3)
x, y, c, w = S.csr_matrix("x"), S.csr_matrix("y"), S.csc_matrix("c"), T.dmatrix("w")
SUITE = {
    "x + y": A + B, "x - y": A - B, "x * y": A.multiply(B), "-x": -A, "x.T": A.T, "x * 2": A * 2, "c + x": C + A,
    "x + w.dot(w.T)[0, 0] * T.ones((6, 5))": A.toarray() + (DENSE @ DENSE.T)[0, 0],
    "x * w[:, 0].dimshuffle('x', 0).repeat(6, 0)": A.multiply(DENSE[:, 0]),
    "S.dot(x, w)": A @ DENSE, "S.dot(c, w)": C @ DENSE, "S.dot(w.T, x.T)": (A @ DENSE).T, "T.dot(x, w)": A @ DENSE,
    "S.structured_dot(x, w)": A @ DENSE, "S.structured_dot(x, w[:, 0])": A @ DENSE[:, 0],
    "S.true_dot(x, y.T)": A @ B.T, "S.true_dot(c, x.T)": C @ A.T, "S.dot(x, y.T)": (A @ B.T).toarray(),
    "S.dense_from_sparse(c)": C.toarray(), "c.toarray()": C.toarray(), "S.csr_from_dense(w)": sp.csr_matrix(DENSE),
    "S.csc_from_dense(w * (w > 0))": sp.csc_matrix(DENSE * (DENSE > 0)),
    "S.sp_sum(x)": A.sum(), "S.sp_sum(x, axis=0)": np.asarray(A.sum(0))[0], "c.sum(axis=1)": np.asarray(C.sum(1))[:, 0],
    "x[1:4]": A[1:4], "x[4:]": A[4:], "x[3:3]": A[3:3], "c[:, 1:3]": C[:, 1:3],
    "x[::-2]": A[::-2], "x[[4, 0, 4]]": A[[4, 0, 4]], "c[:, T.constant([2, 1])]": C[:, [2, 1]], "x[-1, 3]": A[5, 3],
    "c[c.shape[0] - 2, 0]": C[4, 0],
    "S.vstack([x, c], 'csr')": sp.vstack([A, C]), "S.hstack([x, c])": sp.hstack([A, C]),
    "S.diag(x)": A.diagonal(), "S.square_diagonal(w[:, 0])": sp.diags(DENSE[:, 0]),
    "S.mul_s_v(x, w[:, 0])": A.multiply(DENSE[:, 0]), "S.col_scale(c, w[:, 0])": C.multiply(DENSE[:, 0]),
    "S.row_scale(x.T, w[:, 0])": A.T.multiply(DENSE[:, :1]), "S.structured_exp(x)": A._with_data(np.exp(A.data)),
    "S.structured_pow(x, 2)": A.power(2), "S.sqrt(abs(x.data).sum() * x)": np.sqrt(A * abs(A.data).sum()),
    "S.fcast(x)": A.astype("float32"),
    "S.sampling_dot(T.ones((6, 3)), w, x)": sp.csr_matrix(A.multiply(np.ones((6, 3)) @ DENSE.T)),
    "S.usmm(2, x, w, T.ones((6, 3)))": 2 * A @ DENSE + 1, "S.clean(S.sub(x, x))": A * 0,
    "S.CSR(*S.csm_properties(x))": A, "S.CSC(c.data * 2, S.csm_indices(c), S.csm_indptr(c), S.csm_shape(c))": C * 2,
}  # fmt: skip


@pytest.mark.long
@pytest.mark.parametrize("mode", ["FAST_RUN", "FAST_COMPILE"])
def test_functions_are_scipys(mode):
    f = theano.function([x, y, c, w], [eval(text) for text in SUITE], mode=mode)
    for text, found, wanted in zip(SUITE, f(A, B, C, DENSE), SUITE.values(), strict=True):
        assert sp.issparse(found) == sp.issparse(wanted), text
        assert np.shape(found) == np.shape(wanted), text
        if sp.issparse(found):
            assert found.has_canonical_format, text
            found, wanted = found.toarray(), wanted.toarray()
        np.testing.assert_allclose(found, wanted, rtol=1e-6, atol=1e-12, err_msg=text)


@pytest.mark.long
def test_gradients_by_dense_and_sparse_operands():
    cost = T.sqr(S.structured_dot(x, w)).sum() + S.sp_sum(x * x) + S.dot(y.T, T.exp(S.dense_from_sparse(x))).sum()
    by_w, by_x = theano.grad(cost, [w, x])
    by_y = theano.grad(cost, y)
    f = theano.function([x, y, w], [by_w, by_x, by_y])
    found_w, found_x, found_y = f(A, B, DENSE)
    a, b = A.toarray(), B.toarray()
    np.testing.assert_allclose(found_w, 2 * a.T @ (a @ DENSE))
    wanted = (2 * a @ DENSE @ DENSE.T + 2 * a + b.sum(1)[:, None] * np.exp(a)) * (a != 0)
    np.testing.assert_allclose(found_x.toarray(), wanted)
    assert found_x.format == "csr"
    np.testing.assert_array_equal(found_x.indices, A.indices)
    np.testing.assert_allclose(found_y.toarray(), np.exp(a).sum(1)[:, None] * (b != 0))


@pytest.mark.long
def test_a_regression_trains_on_rows_of_a_shared_matrix():
    rng = np.random.RandomState(8)
    values = random(9, shape=(60, 20))
    labels = (values @ rng.randn(20) > 0).astype("int64")
    data, weights = theano.shared(values, "data"), theano.shared(np.zeros(20), "weights")
    part, target = T.lscalar("part"), T.lvector("target")
    rows = S.csr_matrix("rows")
    p = T.nnet.sigmoid(S.structured_dot(rows, weights))
    cost = T.nnet.binary_crossentropy(p, target).mean()
    step = theano.function(
        [part, target], cost, updates=[(weights, weights - 0.5 * theano.grad(cost, weights))],
        givens={rows: data[part * 20 : (part + 1) * 20]},
    )  # fmt: skip
    costs = [np.mean([step(k, labels[k * 20 : k * 20 + 20]) for k in range(3)]) for _ in range(60)]
    assert costs[0] == pytest.approx(np.log(2), abs=0.1)
    assert costs[-1] < 0.25
    guess = theano.function([rows], p > 0.5)(data.get_value())
    assert np.mean(guess == labels) > 0.95


def test_functions_take_give_and_keep_sparse_values():
    state = theano.shared(A.copy(), "state")
    f = theano.function([theano.In(x, value=B), w], {"sum": x + state, "w": w}, updates=[(state, state * 2)])
    found = f(w=DENSE)
    np.testing.assert_allclose(found["sum"].toarray(), (A + B).toarray())
    np.testing.assert_allclose(state.get_value().toarray(), 2 * A.toarray())
    state.set_value(B)
    np.testing.assert_allclose((state + x).eval({x: A}).toarray(), (A + B).toarray())
    assert isinstance(S.as_sparse_variable(A), S.SparseConstant)
    assert theano.function([], S.as_sparse_variable(A))().format == "csr"
    assert (x.type, x.T.type, x.ndim, x.dtype) == (S.SparseType("csr", "float64"), S.SparseType("csc", "float64"), 2,
                                                   "float64")  # fmt: skip


def test_errors_name_the_matrix_and_the_fix():
    f = theano.function([x], S.sp_sum(x))
    for given, words in [(C, r"takes the format csr, got csc; use x.tocsr"), (A.astype("float32"), "got float32; use"),
                        (A.toarray(), "sparse matrix of SciPy's, got ndarray")]:  # fmt: skip
        with pytest.raises(TypeError, match=words):
            f(given)
    with pytest.raises(TypeError, match="which is no type of a tensor"):
        T.exp(x)
    with pytest.raises(TypeError, match="use csr_from_dense"):
        S.sp_sum(w)
    for index in ((slice(1, 2), 0), (slice(None), slice(1)), (T.dvector(),)):
        with pytest.raises(NotImplementedError, match=r"is indexed by slices|takes rows"):
            x[index]
    with pytest.raises(NotImplementedError, match="expected 'csr' or 'csc'"):
        S.matrix("coo")
    with pytest.raises(IndexError):
        x[6, 0].eval({x: A})
    with pytest.raises(ValueError, match="axis is 2"):
        S.sp_sum(x, axis=2)
    product = theano.function([x, w], S.dot(x, w))
    with pytest.raises(ValueError, match="dense operand of a sparse product: expected length 5 on axis 0, got 4"):
        product(A, DENSE[:4])
    with pytest.raises(ValueError, match="second sparse matrix: expected length 5 on axis 1, got 4"):
        theano.function([x, y], x + y)(A, sp.csr_matrix(B[:, :4]))


def test_functions_of_sparse_matrices_are_pickled():
    f = theano.function([x, w], [x * 2, S.dot(x, w)])
    for g in (f, pickle.loads(pickle.dumps(f))):
        doubled, product = g(A, DENSE)
        np.testing.assert_allclose(doubled.toarray(), 2 * A.toarray())
        np.testing.assert_allclose(product, A @ DENSE)
    assert pickle.loads(pickle.dumps(x.type)) == x.type
