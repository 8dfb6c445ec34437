"""`ag.vmap` of searches, interpolations and counts whose tables differ from example to example: against calls."""

import itertools

import numpy as np
import pytest

import arignote as ag
from arignote import ops as T

rng = np.random.default_rng(0)


def rising(n):
    return lambda: np.sort(rng.normal(size=n))


def falling(n):
    return lambda: -np.sort(rng.normal(size=n))


def repeated(n):
    return lambda: np.sort(rng.integers(0, 5, size=n).astype(float))


def with_nan(n):
    return lambda: np.append(np.sort(rng.normal(size=n - 1)), np.nan)


def normal(*shape):
    return lambda: rng.normal(size=shape)


def counted(n):
    return lambda: rng.integers(0, 9, size=n)


CASES = {
    "searchsorted": (T.searchsorted, [rising(6), normal(2, 3)]),
    "searchsorted right": (lambda a, v: T.searchsorted(a, v, side="right"), [repeated(6), repeated(4)]),
    "searchsorted complex": (lambda a, v: T.searchsorted(a + 0j, v + 1j), [rising(6), repeated(4)]),
    "searchsorted nan": (T.searchsorted, [with_nan(5), with_nan(5)]),
    "interp": (T.interp, [normal(4), rising(6), normal(6)]),
    "interp ends": (lambda x, a, f: T.interp(x, a, f, left=-1.0, right=2.0), [normal(2, 4), rising(6), normal(6)]),
    "histogram": (lambda x: T.concatenate(T.histogram(x, 5)), [normal(20)]),
    "density": (lambda x: T.histogram(x, 4, range=(-1, 1), density=True)[0], [normal(20)]),
    "histogram edges": (lambda x, b: T.histogram(x, b)[0], [normal(20), rising(5)]),
    "histogram weights": (lambda x, b, w: T.histogram(x, b, weights=w)[0], [normal(20), rising(5), normal(20)]),
    "histogram2d": (lambda x, y: T.histogram2d(x, y, 4)[0], [normal(20), normal(20)]),
    "digitize": (T.digitize, [normal(7), rising(5)]),
    "digitize falling": (lambda x, b: T.digitize(x, b, right=True), [normal(7), falling(5)]),
    "bincount": (lambda x: T.bincount(x, length=6), [counted(12)]),
    "bincount weights": (lambda x, w: T.bincount(x, w, length=12), [counted(12), normal(12)]),
    "quantile": (T.quantile, [normal(20), lambda: rng.uniform(size=3)]),
}  # fmt: skip


def check(name, flags):
    function, makers = CASES[name]
    values = [
        np.array([make() for _ in range(3)]) if f else np.array(make()) for make, f in zip(makers, flags, strict=True)
    ]
    ones = [T.tensor(dtype=str(v.dtype), shape=(None,) * (v.ndim - f)) for v, f in zip(values, flags, strict=True)]
    many = [T.tensor(dtype=str(v.dtype), shape=(None,) * v.ndim) for v in values]
    one, mapped = function(*ones), ag.vmap(function, in_axes=tuple(0 if f else None for f in flags))(*many)
    parts = ([v[e] if f else v for v, f in zip(values, flags, strict=True)] for e in range(3))
    wanted = np.array([one.eval(dict(zip(ones, row, strict=True))) for row in parts])
    np.testing.assert_allclose(mapped.eval(dict(zip(many, values, strict=True))), wanted, rtol=1e-12, err_msg=name)


@pytest.mark.parametrize("name", CASES)
def test_all_arguments_differ(name):
    check(name, [True] * len(CASES[name][1]))


@pytest.mark.long
@pytest.mark.parametrize("name", CASES)
def test_some_arguments_differ(name):
    for flags in itertools.product((True, False), repeat=len(CASES[name][1])):
        if any(flags):
            check(name, flags)


def test_compiled_and_in_two_levels():
    m, q = T.tensor3("m"), T.tensor3("q")
    mapped = ag.vmap(ag.vmap(lambda a, x: T.interp(x, a, a * 2)))(m, q)
    knots, points = np.sort(rng.normal(size=(2, 3, 5)), -1), rng.normal(size=(2, 3, 4))
    wanted = [[np.interp(x, a, a * 2) for a, x in zip(*rows, strict=True)] for rows in zip(knots, points, strict=True)]
    np.testing.assert_allclose(ag.function([m, q], mapped)(knots, points), wanted, rtol=1e-12)


def test_counts_of_a_fixed_length():
    x = T.lvector("x")
    f = ag.function([x], T.bincount(x, length=3))
    assert f([0, 2, 2, 7]).tolist() == [1, 0, 2] and f(np.array([], int)).tolist() == [0, 0, 0]
    with pytest.raises(ValueError, match="bincount: x must not be negative"):
        f([1, -1])
    with pytest.raises(ValueError, match="bincount: length"):
        T.bincount(x, length=-1)
