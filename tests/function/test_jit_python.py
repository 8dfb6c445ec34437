"""Python in a traced function: recursion, `raise` and `assert` by values, `:=`, conversions, methods of ufuncs."""

import operator

import numpy as np
import pytest

import arignote as ag
from arignote import ops as T

X, M = np.arange(6.0) + 1, np.arange(12.0).reshape(3, 4)


def factorial(n, x):
    if n == 0:
        return x
    return factorial(n - 1, x) * n


def fibonacci(n):
    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)


def divisor(a, b):
    if b == 0:
        return a
    return divisor(b, a % b)


def halves(x):
    if len(x) <= 1:
        return x
    m = len(x) // 2
    return np.sort(np.concatenate([halves(x[:m]), halves(x[m:])]))


def endless(x):
    if x.sum() > 100:
        return x
    return endless(x * 2)


def named(x):
    if (n := x.sum()) > 3:
        return n
    return -n


def named_in_a_loop(x):
    while (n := x.sum()) > 3:
        if n < 9:
            break
        x = x / 2
        if n < 20:
            continue
        x = x - 0.001
    return n


def named_twice(x):
    y = (a := x * 2) + (b := a.sum())
    return y * b


def positive(x):
    if x.sum() < 10:
        raise ValueError("small {x}")
    return x * 2


def asserted(x, y):
    assert x.shape == y.shape, "shapes"
    assert (x > y).all()
    return x - y


def positive_elements(x):
    for i in range(len(x)):
        if x[i] < 0:
            raise ValueError("negative")
    return x * 2


def by_number(x, n):
    if x.sum() > 0:
        if n > 3:
            raise ValueError(f"n is {n}")
        return x * n
    return x


def one_element(x):
    return x.item(2), x.item(-1) * np.float32(2), x[1:2].item(), x.tolist()


def numbered(x):
    s = 0.0
    for (i, j), v in np.ndenumerate(x):
        s += i * v - j
    for i, j in np.ndindex(x.shape):
        x[i, j] += i * j
    for v in np.nditer(x):
        s += v
    return s


def joined(x, n):
    return np.r_[x, 1.0, 0:n], np.c_[x, x], np.mgrid[0:n, 0:2] * x[0]


CASES = [
    (factorial, 3, 2.0), (fibonacci, 10), (divisor, 12, 18), (divisor, 7, 5), (halves, X[::-1].copy()), (named, X),
    (named, X / 100), (named_in_a_loop, X * 9), (named_twice, X), (positive, X), (asserted, X, X - 1),
    (positive_elements, X), (by_number, X, 3), (one_element, X), (numbered, M), (numbered, np.ones((20, 30))),
    (joined, X, 4), (lambda x: f"{x.dtype} {len(x)}", X), (lambda t: t * 2, "abc"), (lambda x: complex(x[0], x[1]), X),
    (lambda x: complex(1, x), 2), (lambda x, n: {f"a{n:02d}": x}, X, 3),
]  # fmt: skip


def same(got, want):
    """Values are equal; sums are, to rounding."""
    if isinstance(want, (tuple, list)):
        assert type(got) is type(want)
        for a, b in zip(got, want, strict=True):
            same(a, b)
    elif isinstance(want, (np.ndarray, float)):
        np.testing.assert_allclose(got, want, rtol=1e-15)
    else:
        np.testing.assert_equal(got, want)


@pytest.mark.few(5)
@pytest.mark.parametrize("case", CASES, ids=[c[0].__name__ for c in CASES])
def test_values_are_pythons(case):
    function, *args = case
    mine, theirs = ([np.copy(a) if isinstance(a, np.ndarray) else a for a in args] for _ in range(2))
    want = function(*theirs)
    same(ag.jit(function)(*mine), want)
    np.testing.assert_equal(mine, theirs)


REFUSED = [
    (positive, (X / 100,), ValueError, "small {x}"), (asserted, (X, X[:3]), AssertionError, "shapes"),
    (asserted, (X, X), AssertionError, "asserted"), (positive_elements, (-X,), ValueError, "negative"),
    (by_number, (X, 5), ValueError, "n is 5"), (endless, (X,), RecursionError, "write a loop"),
    (lambda x: x.item(), (X,), ValueError, "6 elements"),
]  # fmt: skip


@pytest.mark.parametrize(("function", "args", "error", "text"), REFUSED)
def test_exceptions_are_pythons(function, args, error, text):
    with pytest.raises(error, match=text):
        ag.jit(function)(*args)


class Own(Exception):
    pass


def of_own(x):
    if x[0] > 3:
        raise Own("n")
    return x


def test_a_raise_that_cannot_be_compiled_is_refused():
    with pytest.raises(TypeError, match="exceptions of Python and NumPy"):
        ag.jit(of_own)(X)


UFUNCS = (
    "maximum", "minimum", "subtract", "divide", "logaddexp", "hypot", "fmax", "power", "add", "multiply",
    "logical_and", "logical_xor", "arctan2", "copysign",
)  # fmt: skip


@pytest.mark.parametrize("body", ["while x[0] < 3: x = x + 1", "for _ in range(int(x[0])): x = x + 1"])
def test_a_function_without_a_source_is_named_where_its_loop_fails(body):
    space = {}
    exec(f"def typed_in(x):\n    {body}\n    return x", space)
    with pytest.raises(TypeError, match=r"typed_in has no source to read, .*define it in a file\n"):
        ag.jit(space["typed_in"])(np.ones(3))


@pytest.mark.long
def test_ufuncs_fold_and_write_at_positions_as_numpy_does():
    functions = [getattr(np, name) for name in UFUNCS]

    def every(x, m, f, at, values):
        found = []
        for u in functions:
            found += [u.accumulate(x), u.accumulate(m, axis=1), u.accumulate(x[:0]), u.reduce(f, axis=1, keepdims=True)]
            found.append(u.reduce(m, initial=2.0) if u is not np.logical_and else u.reduce(m))
            y, z = x.copy(), m.copy()
            u.at(y, [0, 2, 2], 3.0)
            u.at(z, (at, slice(1, 3)), values)
            found += [y, z]
        y = x.copy()
        np.negative.at(y, [0, 0, 1])
        return [*found, y]

    # in Fortran order: along adjacent elements NumPy 2.4 with AVX-512 folds power and arctan2 wrong
    args = X / 2, M / 5, np.asfortranarray(M / 5), np.array([0, 2, 0]), np.array([3.0, 4.0])
    with np.errstate(all="ignore"):
        want = every(*args)
    for got, one in zip(ag.jit(every)(*args), want, strict=True):
        assert got.dtype == one.dtype
        np.testing.assert_allclose(got, one, rtol=1e-14, atol=1e-16)


def test_options_of_reductions_by_ufuncs():
    def every(m, k):
        return (
            np.maximum.reduce(m, axis=(0, 1), keepdims=True, initial=3.0), np.add.reduce(m, axis=0, where=m > 3),
            np.maximum.reduce(m, axis=0, where=m > 3, initial=-1), np.add.reduce(m, dtype=np.float32),
            np.maximum.reduce(m, dtype=np.float32), np.bitwise_or.reduce(k), np.bitwise_xor.accumulate(k),
            np.gcd.reduce(k, initial=12),
        )  # fmt: skip

    args = M, np.arange(4, 14, 2)
    for got, want in zip(ag.jit(every)(*args), every(*args), strict=True):
        assert np.asarray(got).dtype == want.dtype
        np.testing.assert_array_equal(got, want)
    with pytest.raises(ValueError, match="zero-size"):
        ag.jit(np.subtract.reduce)(X[:0])
    with pytest.raises(TypeError, match="takes one axis"):
        ag.jit(lambda m: np.subtract.reduce(m, axis=(0, 1)))(M)


def test_folds_of_expressions():
    x, m = T.vector("x"), T.matrix("m")
    f = ag.function([x, m], [
        T.accumulate(T.maximum, x), T.reduce_with(operator.sub, m, axis=1), T.apply_at(T.true_div, x, [1, 1], 2.0),
        ag.grad(T.sum(T.accumulate(T.mul, x)), x), ag.grad(T.sum(T.apply_at(T.mul, x, [1, 1], 2.0)), x),
    ])  # fmt: skip
    top, less, divided, slope, written = f(X[::-1], M)
    np.testing.assert_array_equal(top, np.full(6, 6.0))
    np.testing.assert_array_equal(less, np.subtract.reduce(M, axis=1))
    np.testing.assert_array_equal(divided, [6, 1.25, 4, 3, 2, 1])
    h = 1e-6
    sums = [np.cumprod(X[::-1] + h * s * e).sum() for e in np.eye(6) for s in (1, -1)]
    np.testing.assert_allclose(slope, (np.array(sums[::2]) - sums[1::2]) / (2 * h), rtol=1e-6)
    np.testing.assert_array_equal(written, [1, 4, 1, 1, 1, 1])
    with pytest.raises(ValueError, match="axis"):
        T.accumulate(T.add, x, axis=1)


@pytest.mark.long
def test_reductions_of_parts_and_windows():
    def every(m, starts, w):
        return (
            np.add.reduceat(m, starts), np.maximum.reduceat(m, starts, axis=1), np.multiply.reduceat(m[0], [0, 2]),
            np.add.reduceat(m > 2, np.arange(0, len(starts), 2)), np.lib.stride_tricks.sliding_window_view(m, (2, w)),
            np.lib.stride_tricks.sliding_window_view(m, w, axis=-1).max(-1),
            np.lib.stride_tricks.sliding_window_view(m, [2, w], axis=(1, 1)),
        )  # fmt: skip

    args = M, np.array([1, 0, 0, 2]), 2
    for got, want in zip(ag.jit(every)(*args), every(*args), strict=True):
        assert got.dtype == want.dtype
        np.testing.assert_array_equal(got, want)
    with pytest.raises(IndexError, match="starts must be from 0 to"):
        ag.jit(np.add.reduceat)(X, np.array([0, 6]))
    with pytest.raises(ValueError, match="a length of window_shape must be from 0 to 6"):
        ag.jit(np.lib.stride_tricks.sliding_window_view)(X, 7)
    with pytest.raises(ValueError, match="window_shape has 1 length for 2 axes"):
        T.sliding_window_view(T.matrix("m"), 2)


@pytest.mark.long
def test_slope_of_reductions_of_parts():
    x, starts = T.vector("x"), T.lvector("starts")
    slope = ag.function([x, starts], ag.grad(T.sum(T.reduce_parts(T.prod, x, starts) ** 2), x))
    found = slope(np.arange(1.0, 6.0), np.array([0, 2, 1]))
    np.testing.assert_allclose(found, [8, 4 + 120**2, 6 + 2 * 120**2 / 3, 120**2 / 2, 2 * 120**2 / 5])


def ranked(x):
    sums = []
    total = 0
    for v in x:
        total += v
        sums.append(round(float(total), 3))
    return sums, max(sums), min(sums), sum(sums), sorted(sums, reverse=True)[:2], sorted([x[2], x[0]])


@pytest.mark.long
def test_lists_of_numbers_are_sorted():
    found, wanted = ag.jit(ranked)(X - 3.5), ranked(X - 3.5)
    assert found == wanted and [type(v) for v in found[4]] == [type(v) for v in wanted[4]]
