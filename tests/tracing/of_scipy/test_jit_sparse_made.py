"""Matrices that a traced function makes by `scipy.sparse`, and `spsolve`."""

import numpy as np
import pytest

import arignote as ag

sp = pytest.importorskip("scipy.sparse")
linalg = pytest.importorskip("scipy.sparse.linalg")
A = sp.csr_array(np.array([[4.0, 1, 0], [1, 3, 0], [0, 0, 2]]))
D = np.arange(9.0).reshape(3, 3)
X = np.array([1.0, 2, 3])


def laplacian(x):
    line = sp.diags_array([1.0, -2.0, 1.0], offsets=[-1, 0, 1], shape=(3, 3))
    return (sp.kron(line, sp.eye_array(3)) + sp.kron(sp.eye_array(3), line)) @ x


def implicit_steps(u):
    step = sp.eye_array(3, format="csc") - 0.1 * sp.diags_array([1.0, -2.0, 1.0], offsets=[-1, 0, 1], shape=(3, 3))
    for _ in range(20):
        u = linalg.spsolve(step.tocsc(), u)
    return u


@pytest.mark.parametrize("function, given", [
    (lambda d: sp.eye_array(3) @ d, (D,)), (lambda d: sp.eye_array(d.shape[0]) @ d, (D,)),
    (lambda x: sp.eye(3, format="csr") @ x, (X,)), (lambda x: sp.diags_array(x) @ x, (X,)),
    (lambda a, x: (sp.eye_array(3, format="csr") - 0.1 * a) @ x, (A, X)),
    (lambda a, x: (sp.identity(3) + a) @ x, (A, X)), (laplacian, (D.ravel(),)), (implicit_steps, (X,)),
    (linalg.spsolve, (A, X)), (linalg.spsolve, (A.tocsc(), D)), (linalg.spsolve, (A, D[:, :1])),
    (lambda b: linalg.spsolve(A, b), (X,)), (linalg.spsolve, (A.astype(int), np.arange(3))),
])  # fmt: skip
def test_values_are_scipys(function, given):
    def called(*args):
        return function(*args)

    expected = function(*given)
    got = ag.jit(called)(*given)
    assert got.shape == expected.shape and got.dtype == expected.dtype
    np.testing.assert_allclose(got, expected, rtol=1e-12, atol=1e-13)


def test_a_made_matrix_is_a_result():
    found = ag.jit(lambda x: sp.eye_array(3) * x.sum())(X)
    np.testing.assert_array_equal(found.toarray(), np.eye(3) * 6)


@pytest.mark.parametrize("matrix", [A, A.tocsc()])
def test_spsolve_has_derivatives(matrix):
    def f(a, b):
        return linalg.spsolve(a, b)[0] ** 2

    of_matrix, of_right = ag.grad(f, argnums=(0, 1))(matrix, X)
    for k in range(matrix.nnz):
        up, down = matrix.copy(), matrix.copy()
        up.data[k] += 1e-6
        down.data[k] -= 1e-6
        assert of_matrix.data[k] == pytest.approx((f(up, X) - f(down, X)) / 2e-6, abs=1e-7)
    for k in range(3):
        step = 1e-6 * (np.arange(3) == k)
        assert of_right[k] == pytest.approx((f(matrix, X + step) - f(matrix, X - step)) / 2e-6, abs=1e-7)


def test_a_sparse_right_side_is_refused():
    with pytest.raises(TypeError, match="takes a dense right side"):
        ag.jit(lambda a: linalg.spsolve(a, a))(A)
