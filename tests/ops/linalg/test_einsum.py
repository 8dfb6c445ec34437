"""Einstein summation against NumPy's, and the products that it becomes."""

import numpy as np
import pytest
from against_numpy import assert_like_numpy, sample
from compiled import compiled
from gradients import assert_gradient
from hypothesis import given, settings
from hypothesis import strategies as st

from arignote import ops as T
from arignote.graph import FunctionGraph
from arignote.ops.linalg.blas import Dot, MatMul

LENGTHS = dict(zip("abcdefghijklmnop", [2, 3, 4, 1, 5, 3, 2, 2, 3, 4, 2, 5, 3, 2, 1, 2]))
CASES = [
    "ii->i", "ii->", "ij->", "ij->ji", "ijk->kj", "i->i", "iij->j", "iji->j", "->", "i,i->", "i,j->ij", "ij,j->i",
    "ij,jk->ik", "ji,jk->ik", "ij,kj->ik", "ij,ij->", "ij,ij->i", "ij,ji->", "bij,bjk->bik", "bij,jk->bik",
    "ij,bjk->bik", "bi,bi->b", "bij,bj->bi", "bijk,bljk->bil", "bijc,bjkc->bikc", "abij,abjk->abik", "ijk,jkl->il",
    "ijk,kjl->li", "iij,jk->k", "ij,k->ij", "ij,jk,kl->il", "i,i,i->i", "ij,jk,kl,lm->im", "ab,bc,cd,de,ea->",
    "ij,ik,il->jkl", "i,ij,j->", "ij,jk", "i,j", "ji", "ijj", "...ij,...jk->...ik", "...i,...i->...", "i...,i...->...",
    "...,...", "ij...,jk...->ik...", "...ii->...i", "b...,b->...",
]  # fmt: skip


def operands(subscripts, dtype="float64"):
    lengths = {**LENGTHS, "*": 4}
    parts = subscripts.split("->")[0].replace("...", "*").split(",")
    shapes = [tuple(lengths[c] for c in p) for p in parts]
    return [sample(shape, dtype, seed=k) for k, shape in enumerate(shapes)]


@pytest.mark.parametrize("dtype", ["float64", "int32", "bool", "complex64", "float32"])
@pytest.mark.parametrize("subscripts", CASES)
def test_like_numpy(subscripts, dtype):
    def ours(*x):
        return T.einsum(subscripts, *x)

    def numpys(*x):
        return np.asarray(np.einsum(subscripts, *x))

    tolerance = {"float32": 1e-4, "complex64": 1e-4}.get(dtype, 1e-12)
    assert_like_numpy(ours, numpys, *operands(subscripts, dtype), rtol=tolerance)


@pytest.mark.parametrize("shapes", [((1, 3), (4, 2)), ((3, 4), (1, 2)), ((3, 1), (1, 2))])
def test_a_length_known_to_be_one_broadcasts(shapes):
    x, y = (sample(s, seed=k) for k, s in enumerate(shapes))
    inputs = [T.tensor("x", shape=shapes[0]), T.tensor("y", shape=shapes[1])]
    for subscripts in ("ij,jk->ik", "ij,jk->ijk", "ij,ik->jk"):
        try:
            want = np.einsum(subscripts, x, y)
        except ValueError:
            continue
        np.testing.assert_allclose(T.einsum(subscripts, *inputs).eval(dict(zip(inputs, (x, y)))), want)


@pytest.mark.parametrize(
    "subscripts", ["ij,jk->ik", "bij,bjk->bik", "ijk,jkl->il", "ii->i", "ij,jk,kl->il", "i,ij,j->"]
)
def test_gradient(subscripts):
    assert_gradient(lambda *x: T.einsum(subscripts, *x), *operands(subscripts))
    assert_gradient(lambda *x: T.einsum(subscripts, *x), *operands(subscripts), static=False)


def test_products_go_to_blas():
    x, y, z = T.matrix("x"), T.matrix("y"), T.tensor3("z")
    ops = [n.op for n in FunctionGraph([x, y], [T.einsum("ij,jk->ik", x, y)]).order]
    assert sum(isinstance(op, Dot) for op in ops) == 1
    ops = [n.op for n in FunctionGraph([z], [T.einsum("bij,bkj->bik", z, z)]).order]
    assert sum(isinstance(op, MatMul) for op in ops) == 1


def test_the_cheap_order_is_taken():
    """A chain with a vector at its end is evaluated from the vector on."""
    a, b = (T.tensor(n, shape=(100, 100)) for n in "ab")
    v = T.tensor("v", shape=(100,))
    out = T.einsum("ij,jk,k->i", a, b, v)
    dots = [n for n in FunctionGraph([a, b, v], [out]).order if isinstance(n.op, Dot)]
    assert len(dots) == 2
    assert all(n.out.type.shape != (100, 100) for n in dots)


@pytest.mark.parametrize(
    ("subscripts", "count", "message"),
    [
        ("ij,jk", 1, "operands"), ("ijk", 1, "'ijk' names 3 axes, operand 0 is"),
        ("ij->k", 1, "'k', which no operand has"),
        ("ij->ii", 1, "'i' more than once"), ("i1->i", 1, "has '1', and an axis is a letter"),
        ("i->i", 1, "'i' names 1 axis, operand 0 is .*'...' stands for further axes"),
    ],
)  # fmt: skip
def test_mistakes(subscripts, count, message):
    with pytest.raises(ValueError, match=message):
        T.einsum(subscripts, *[T.matrix()] * count)
    with pytest.raises(TypeError, match="text"):
        T.einsum([0, 1], T.matrix())


@pytest.mark.parametrize("subscripts", ["ii->i", "ii->", "ii", "jiij->j", "iji,j->i", "iii->i"])
def test_repeated_letters_of_different_lengths_raise(subscripts):
    first = subscripts.split("->")[0].split(",")[0]
    x, y = T.tensor("x", shape=(None,) * len(first)), T.vector("y")
    result = T.einsum(subscripts, *(x, y)[: 1 + ("," in subscripts)])
    f, inputs = compiled([x, y], [result]), np.ones(2)
    right = np.ones([2] * len(first))
    np.testing.assert_allclose(f(right, inputs)[0], np.einsum(subscripts, *(right, inputs)[: 1 + ("," in subscripts)]))
    for axis in {k for k, c in enumerate(first) if first.count(c) > 1}:
        for n in (0, 1, 3):
            wrong = np.ones([n if k == axis else 2 for k in range(len(first))])
            for call in (f, lambda *a: result.eval(dict(zip((x, y), a, strict=True)))):
                with pytest.raises(ValueError, match=r"einsum: '.' is repeated: expected length \d on axis \d, got \d"):
                    call(wrong, inputs)
    with pytest.raises(ValueError, match=r"'i' has lengths 2 and 3 in x \(float64\[2, 3\]\); expected one length"):
        T.einsum("ii->i", T.matrix("x", shape=(2, 3)))


def test_lengths_that_do_not_agree_raise():
    x, y = T.tensor3("x"), T.tensor3("y")
    for subscripts in ("bij,bij->b", "bij,bij->", "bij,bik->bjk", "bij,ijk->bk"):
        with pytest.raises(ValueError):
            T.einsum(subscripts, x, y).eval({x: np.ones((2, 3, 4)), y: np.ones((2, 4, 3))})


@settings(max_examples=60)
@given(st.data())
def test_any_summation(data):
    letters = "abcde"
    parts = data.draw(st.lists(st.text(letters, min_size=0, max_size=3), min_size=1, max_size=4))
    found = sorted(set("".join(parts)))
    right = "".join(data.draw(st.permutations(found))[: data.draw(st.integers(0, len(found)))])
    lengths = {c: data.draw(st.integers(0, 4)) for c in letters}
    values = [sample(tuple(lengths[c] for c in p), seed=k) for k, p in enumerate(parts)]
    subscripts = f"{','.join(parts)}->{right}"
    assert_like_numpy(
        lambda *x: T.einsum(subscripts, *x), lambda *x: np.asarray(np.einsum(subscripts, *x)), *values, rtol=1e-10
    )


def test_lists_of_integers_name_axes_as_in_numpy():
    a, b = np.arange(25.0).reshape(5, 5), np.arange(5.0)
    x, y = np.arange(6.0).reshape(2, 3), np.arange(12.0).reshape(3, 4)
    for call in (
        (a, [0, 0]), (a, [0, 0], [0]), (a, [0, 1], b, [1]), (x, [0, 1], y, [1, 2], [2, 0]), (x, (0, 1), y, (1, 51)),
        (a, [Ellipsis, 0]),
    ):  # fmt: skip
        np.testing.assert_array_equal(T.einsum(*call).eval(), np.einsum(*call))
    for wrong in ((a,), (a, b), (a, [0, -1]), (a, [0, 1], b)):
        with pytest.raises(TypeError, match="expected text as in"):
            T.einsum(*wrong)
