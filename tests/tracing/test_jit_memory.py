"""Memory of the caller under `ag.jit`: `donate=`, `write_back=False`, and arrays that share elements."""

import pickle

import numpy as np
import pytest

import arignote as ag


def twice(x):
    return x * 2 + 1


def sweep(x, n):
    for i in range(1, n):
        x[i] = x[i] + x[i - 1]
    return x.sum()


def both(x, y):
    return x + y, x - y


def test_a_donated_array_may_hold_the_result():
    f = ag.jit(twice, donate="x")
    for n in (5, 1000, 3):
        x = np.arange(float(n))
        expected = twice(x)
        found = f(x)
        np.testing.assert_array_equal(found, expected)
        assert np.shares_memory(found, x)
    g = ag.jit(lambda d: {k: v + 1 for k, v in d.items()}, donate=0)
    d = {"a": np.ones(3), "b": np.zeros((2, 2))}
    found = g(d)
    assert all(np.shares_memory(found[k], d[k]) for k in d)
    np.testing.assert_array_equal(found["a"], np.full(3, 2.0))


def test_donated_arrays_that_cannot_be_overwritten():
    f, x = ag.jit(both, donate=("x", 1)), np.arange(12.0)
    fixed = np.arange(6.0)
    fixed.flags.writeable = False
    arguments = [(x[::2], x[1::2]), (x, x), (x[:6], x[3:9]), (fixed, fixed), (x[:3], np.ones((2, 3)))]
    for a, b in arguments:
        expected = both(a.copy(), b.copy())
        for found, wanted in zip(f(a, b), expected, strict=True):
            np.testing.assert_array_equal(found, wanted, strict=True)
        x[:] = np.arange(12.0)
    np.testing.assert_array_equal(fixed, np.arange(6.0))


def test_a_donated_array_that_is_written():
    f, x, theirs = ag.jit(sweep, donate="x"), np.arange(30.0), np.arange(30.0)
    assert f(x, 30) == sweep(theirs, 30)
    np.testing.assert_array_equal(x, theirs)
    with pytest.raises(IndexError):
        f(x, 31)
    np.testing.assert_array_equal(f(x, 3), sweep(theirs, 3))  # the function goes on after an error


def test_writes_as_results():
    f, x, theirs = ag.jit(sweep, write_back=False), np.arange(30.0), np.arange(30.0)
    x.flags.writeable = False
    value, written = f(x, 30)
    assert value == sweep(theirs, 30) and list(written) == ["x"]
    np.testing.assert_array_equal(written["x"], theirs)
    np.testing.assert_array_equal(x, np.arange(30.0))
    assert ag.jit(twice, write_back=False)(1.0)[1] == {}

    class Counter:
        def __init__(self):
            self.sums = np.zeros(2)

        def add(self, d):
            self.sums[0] += d["x"].sum()
            d["x"][0] = 7.0

    counter, d = Counter(), {"x": np.ones(3)}
    value, written = ag.jit(counter.add, write_back=False)(d)
    assert value is None and sorted(written) == ['d["x"]', "sums"]
    np.testing.assert_array_equal(written["sums"], [3.0, 0.0])
    assert not counter.sums.any() and d["x"].all()


def test_options_in_pickles_and_errors():
    f = pickle.loads(pickle.dumps(ag.jit(sweep, write_back=False)))
    assert f(np.ones(3), 3)[1].keys() == {"x"}
    for options, expected in (
        ({"donate": "z"}, "donate: twice has no argument 'z'; expected one of x"),
        ({"donate": 3}, "donate: twice has no argument 3; it has 1"),
        ({"write_back": False, "strict": False}, "write_back=False needs strict=True"),
    ):
        with pytest.raises(TypeError, match=expected):
            ag.jit(twice, **options)


def filled_where_writeable(x):
    found = np.zeros(())
    if found.flags.writeable:
        found[...] = x[0]
    return found


def test_an_array_without_axes_is_writeable():
    assert ag.jit(filled_where_writeable)(np.array([3.0, 4.0])) == 3.0
