"""Operands of any strides: right values, and results that lie in memory as NumPy's ufuncs lay them out."""

import itertools

import numpy as np
import pytest

import arignote as ag
from arignote import ops as T

X, Y = T.matrix("X"), T.matrix("Y")
A, B = T.tensor3("A"), T.tensor3("B")
DTYPES = ["float64", "float32", "int8", "bool", "complex128", "float16"]


def base(*shape, dtype="float64"):
    r = np.random.default_rng(sum(shape))
    return (r.standard_normal(shape) * 3).astype(dtype)


LAYOUTS = {
    "C": base,
    "F": lambda n, m: base(m, n).T,
    "reversed": lambda n, m: base(n, m)[::-1, ::-1],
    "rows apart": lambda n, m: base(2 * n, m)[::2],
    "columns apart": lambda n, m: base(n, 3 * m)[:, ::3],
    "F apart": lambda n, m: base(3 * m, 2 * n)[::3, ::2].T,
    "one row": lambda n, m: np.broadcast_to(base(1, m), (n, m)),
    "one column": lambda n, m: np.broadcast_to(base(n, 1), (n, m)),
    "one number": lambda n, m: np.broadcast_to(base(1, 1), (n, m)),
}


@pytest.fixture(scope="module")
def add():
    return ag.function([X, Y], X + Y)


def assert_same(got, want):
    assert got.dtype == want.dtype and got.shape == want.shape
    np.testing.assert_array_equal(got, want)


def assert_same_order(got, want):
    assert_same(got, want)
    assert got.strides == want.strides


@pytest.mark.parametrize("second", LAYOUTS)
@pytest.mark.parametrize("first", LAYOUTS)
def test_a_sum_of_any_two_layouts(add, first, second):
    for n, m in [(1, 1), (3, 5), (17, 65), (16, 64), (70, 1), (1, 70), (0, 4), (4, 0)]:
        x, y = LAYOUTS[first](n, m), LAYOUTS[second](n, m)
        assert_same(add(x, y), x + y)


@pytest.mark.parametrize("dtype", DTYPES)
def test_every_kind_of_element(dtype):
    x = T.tensor("x", dtype=dtype, shape=(None, None))
    f = ag.function([x], T.where(T.eq(x, x.T), x, x[::-1]))
    square = base(37, 37, dtype=dtype)
    for a in (square, square.T, square[:, ::-1], base(74, 111, dtype=dtype)[::2, ::3]):
        assert_same(f(a), np.where(a == a.T, a, a[::-1]))


@pytest.mark.parametrize("n", [3, 40, 600])
def test_results_have_the_order_of_numpy(add, n):
    orders = {o: np.array(base(n, n + 1), order=o) for o in "CF"}
    for first, second in itertools.product("CF", repeat=2):
        assert_same_order(add(orders[first], orders[second]), orders[first] + orders[second])


@pytest.mark.parametrize("axes", list(itertools.permutations(range(3))))
def test_results_of_three_axes_have_the_order_of_numpy(axes):
    f = ag.function([A, B], [A * B, A - 1.0])
    inverse = np.argsort(axes)
    for shape in [(4, 5, 6), (40, 30, 70)]:
        a, b = (base(*np.array(shape)[list(axes)]).transpose(inverse) for _ in range(2))
        for got, want in zip(f(a, b), [a * b, a - 1.0], strict=True):
            assert_same_order(got, want)
        for got, want in zip(f(a, np.ascontiguousarray(b)), [a * b, a - 1.0], strict=True):
            assert_same(got, want)


def test_a_result_that_is_read_inside_and_one_that_updates_a_container_are_right_as_well():
    state = ag.shared(base(40, 30))
    f = ag.function([X], [X * 2.0, T.dot(X * 2.0, X.T)], updates=[(state, state + X)])
    x = np.asfortranarray(base(40, 30))
    before = state.get_value()
    twice, product = f(x)
    assert_same(twice, x * 2)
    np.testing.assert_allclose(product, (x * 2) @ x.T)
    assert_same(state.get_value(), before + x)
    assert_same(ag.function([], state * 1.0)(), before + x)


@pytest.mark.parametrize("threads", [1, 2])
def test_large_operands_on_threads(threads):
    f = ag.function([X, Y], [T.exp(X) * Y, X.T - Y.T], threads=threads)
    c, g = base(700, 600), np.asfortranarray(base(700, 600))
    for x, y in [(c, g), (g, c), (g, g), (c[::-1], g[:, ::-1]), (c[::2], g[::2])]:
        product, difference = f(x, y)
        np.testing.assert_allclose(product, np.exp(x) * y, rtol=1e-14)
        assert_same(difference, x.T - y.T)


def test_a_function_is_called_again_with_its_own_result(add):
    x = np.asfortranarray(base(300, 200))
    y = want = x
    for _ in range(5):
        y, want = add(y, x), want + x
    assert_same_order(y, want)


def test_a_result_has_axes_that_are_known_to_be_1_long_and_have_no_loop():
    x = T.lmatrix("x")
    data = np.asfortranarray(np.arange(12).reshape(3, 4))
    result = ag.function([x], T.expand_dims(x, 0) + T.cumsum(x, axis=1))(data)
    np.testing.assert_array_equal(result, data[None] + data.cumsum(axis=1))


def test_every_call_gives_the_same_bits_in_the_same_order():
    """The first call goes another way than those after it."""
    f = ag.function([X], T.sin(X).T)
    x = base(17, 7)
    first, *others = [f(x) for _ in range(4)]
    assert all(y.tobytes() == first.tobytes() and y.strides == first.strides for y in others)


@pytest.mark.few(1)
@pytest.mark.parametrize("dtype", ["float32", "float64", "int8", "bool", "complex64", "float16"])
def test_every_other_column_of_several_operands(dtype):
    """Five operands and more are copied by vectors, which read nothing behind the last column."""
    x = T.matrix("x", dtype)
    parts = [x[k % 2 :, k::2][: x.shape[0] - 1, : x.shape[1] // 2 - 3] for k in range(6)]
    f = ag.function([x], sum(parts[1:], parts[0]))
    rng = np.random.default_rng(0)
    for rows, columns in [(1, 6), (2, 7), (3, 9), (5, 23), (20, 40), (9, 71), (4, 1030), (3, 5001)]:
        given = (rng.normal(size=(rows, columns)) * 9).astype(dtype)
        parts = [given[k % 2 :, k::2][: rows - 1, : columns // 2 - 3] for k in range(6)]
        np.testing.assert_array_equal(f(given), sum(parts[1:], parts[0]), strict=True)


@pytest.mark.few(1)
@pytest.mark.parametrize("dtype", ["uint8", "float16", "float32", "float64", "complex128"])
def test_copies_of_permuted_arrays(dtype):
    """Two long axes that change places are transposed by squares of 2 to 16 elements, with remainders."""
    x = T.tensor3("x", dtype=dtype)
    rng = np.random.default_rng(0)
    for order in itertools.permutations(range(3)):
        f = ag.function([x], T.array(x.transpose(order)))
        for shape in [(7, 8, 9), (16, 17, 33), (3, 64, 40), (50, 3, 70), (1, 47, 31), (200, 100, 5)]:
            a = rng.integers(0, 100, shape).astype(dtype)
            for given in (a, a[:, ::-1], a[::2, :, 1:]):
                found = f(given)
                assert found.flags.c_contiguous and np.array_equal(found, given.transpose(order))
