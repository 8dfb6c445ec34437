"""Advice that refused names of Theano give: what it names exists and works."""

import re

import numpy as np
import pytest
from gradients import assert_gradient

import arignote as ag
from arignote.frontends import theano
from arignote.frontends.theano import modules
from arignote.frontends.theano.refusals import INSTEAD, REASONS, REFUSED
from arignote.frontends.theano.tensors.variables import wrap

T, S, L = theano.tensor, theano.sparse, theano.typed_list
X, V, N = T.dmatrix("x"), T.dvector("v"), T.lvector("n")
M = S.csr_from_dense(X)
ITEMS = L.make_list([V, V + 1])
ARGUMENTS = {
    "theano.tensor": {
        "cumsum": (X, 0), "cumprod": (X, 0), "repeat": (V, 2), "searchsorted": (V, 1.0), "bartlett": (4,),
        "fill_diagonal": (X, 1.0), "fill_diagonal_offset": (X, 1.0, 0), "unique": (V,), "unravel_index": (N, (2, 2)),
        "ravel_multi_index": ((N, N), (2, 2)), "sum": (X,),
    },
    "theano.tensor.nlinalg": {
        "pinv": (X,), "svd": (X,), "qr": (X,), "eigh": (X,), "eig": (X,), "tensorinv": (X, 1),
        "tensorsolve": (X, V),
    },
    "theano.tensor.slinalg": {"expm": (X,), "eigvalsh": (X,)},
    "theano.typed_list": {
        "getitem": (ITEMS, 0), "append": (ITEMS, V), "extend": (ITEMS, ITEMS), "insert": (ITEMS, 0, V),
        "remove": (ITEMS, V), "reverse": (ITEMS,), "index_": (ITEMS, V), "count": (ITEMS, V), "length": (ITEMS,),
        "make_list": ([V],),
    },
    "theano.sparse": {
        "CSR": (V, T.constant([0, 1]), T.constant([0, 1, 2]), (2, 2)), "csm_properties": (M,),
        "dense_from_sparse": (M,), "csr_from_dense": (X,), "transpose": (M,), "neg": (M,), "col_scale": (M, V),
        "row_scale": (M, V), "sp_sum": (M,), "diag": (M,), "square_diagonal": (V,), "ensure_sorted_indices": (M,),
        "hstack": ([M, M],), "vstack": ([M, M],), "remove0": (M,), "add": (M, M), "mul": (M, M), "mul_s_v": (M, V),
        "structured_add_s_v": (M, V), "true_dot": (M, M), "dot": (M, X), "structured_dot": (M, X),
        "sampling_dot": (X, X, M), "usmm": (1.0, M, X, X), "structured_add": (M, 2.0),
        "sparse_grad": (V,),
    },
}  # fmt: skip
"""For each function that advice names, arguments of x, v and n."""
VALUES = {X: np.array([[2.0, 0.5], [0.5, 1.0]]), V: np.array([1.0, 2.0]), N: np.array([0, 1])}


@pytest.mark.few(1)
@pytest.mark.parametrize("module", INSTEAD)
def test_functions_that_advice_names_work(module):
    outputs = []
    for name, refused in INSTEAD[module].items():
        found = getattr(modules[module], name)(*ARGUMENTS[module][name])
        outputs += found if isinstance(found, (tuple, list)) else [found]
        for old in refused.split():
            message = rf"{old} is not available: .* call {re.escape(module)}.{name}$"
            with pytest.raises(NotImplementedError, match=message):
                REFUSED[old]()
    theano.function(list(VALUES), outputs, on_unused_input="ignore")(*VALUES.values())
    assert set(ARGUMENTS[module]) == set(INSTEAD[module])


def test_no_name_is_refused_that_advice_names():
    working = {name for functions in INSTEAD.values() for name in functions}
    assert not working & set(REFUSED)
    for reason in REASONS:
        assert "lower case" not in reason


def test_expressions_that_advice_names():
    """The attributes and modules in the texts of `REASONS`."""
    dense = np.array([[2.0, 0.0], [0.5, 1.0]])
    skipped = theano.function([X], T.prod(T.switch(T.eq(X, 0), 1, X)))(dense)
    assert skipped == 1.0
    assert callable(theano.grad) and callable(theano.printing.debugprint) and callable(theano.printing.pp)
    assert callable(ag.elementwise_op)
    np.testing.assert_array_equal(theano.function([X], M.toarray()[1])(dense), dense[1])
    x = T.dscalar("x")
    x.tag.test_value = 2.0
    assert (x + 1).eval({x: 2.0}) == 3.0
    assert theano.function([x], x, profile=True).profile is not None
    assert {*dir(theano.tensor.nnet)} >= {"relu", "conv2d", "softmax"}
    scipy_sparse = pytest.importorskip("scipy.sparse")
    assert scipy_sparse.bsr_matrix(dense).tocsr().format == "csr"


def test_linear_algebra_that_was_refused():
    rng = np.random.default_rng(3)
    a, b, tensor = rng.normal(size=(4, 4)), rng.normal(size=4), rng.normal(size=(2, 3, 6))
    slinalg, nlinalg = modules["theano.tensor.slinalg"], modules["theano.tensor.nlinalg"]
    f = theano.function([X, V], [*nlinalg.lstsq(X, V, -1), slinalg.solve_symmetric(X + X.T, V), *nlinalg.eig(X)])
    solution, _, rank, singular, solved, values, vectors = f(a, b)
    wanted = np.linalg.lstsq(a, b, -1)
    np.testing.assert_allclose(solution, wanted[0])
    np.testing.assert_allclose(singular, wanted[3])
    assert rank == 4
    np.testing.assert_allclose((a + a.T) @ solved, b)
    np.testing.assert_allclose(a @ vectors, vectors * values, atol=1e-12)
    x3, m = T.dtensor3("x3"), T.dmatrix("m")
    g = theano.function([x3, m], [nlinalg.tensorinv(x3), nlinalg.tensorsolve(x3, m)])
    for found, want in zip(g(tensor, tensor[..., 0]), (np.linalg.tensorinv(tensor), [1, 0, 0, 0, 0, 0]), strict=True):
        np.testing.assert_allclose(found, want, atol=1e-12)


@pytest.mark.long
def test_exponentials_of_matrices():
    rng = np.random.default_rng(4)
    expm = modules["theano.tensor.slinalg"].expm
    f = theano.function([X], expm(X))
    for scale in (0.0, 1e-3, 1.0, 30.0):
        a = rng.normal(size=(4, 4)) * scale / 4
        a = a + a.T
        values, vectors = np.linalg.eigh(a)
        wanted = vectors * np.exp(values) @ vectors.T
        np.testing.assert_allclose(f(a), wanted, rtol=1e-10, atol=1e-10 * np.abs(wanted).max())
    np.testing.assert_allclose(f([[0.0, 1.0], [0.0, 0.0]]), [[1.0, 1.0], [0.0, 1.0]])
    assert_gradient(lambda x: expm(wrap(x)).core, rng.normal(size=(3, 3)))


def test_products_with_logarithms():
    f = theano.function([V], [T.xlogx(V), T.xlogx.xlogx(V), T.xlogx.xlogy0(V, V + 1), T.xlogy0(V, V)])
    wanted = [0, 2 * np.log(2)]
    for found, want in zip(f([0.0, 2.0]), (wanted, wanted, [0, 2 * np.log(3)], wanted), strict=True):
        np.testing.assert_allclose(found, want)
    np.testing.assert_array_equal(T.xlogy0(V, np.nan).eval({V: [0.0, 2.0]}), [0, np.nan])
