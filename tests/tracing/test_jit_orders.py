"""Tests of lists and tuples of symbolic values: comparisons, orders by a key, members of sets, and texts of them."""

import math

import numpy as np
import pytest

import arignote as ag

X = np.array([1.5, -2.0, 0.25, 1.5])


def comparisons(x):
    a, b = [x[0] > 0, x[1]], [x[2] > 0, x[1]]
    some = x[x > 0]
    return [
        a == b, a != b, [x[0]] == [x[0], 1], (x[1], 2) in [(x[0], 2), (x[1] + 0, 2)], x.shape == x[1:].shape,
        some.shape == x.shape, bool((x[0], x[1]) < (x[3], x[2])), bool((x[0], 1) >= (x[3], 2)),
        np.array_equal(x, some), np.array_equiv(x, some), ([x[0], (x[1],)], 1) == ([x[3], (x[1],)], 1),
    ]  # fmt: skip


def orders(x):
    pairs = [(x[0], 1), (x[1], 2), (x[2], 3), (x[3], 4)]
    best = max(pairs, key=lambda p: p[0])
    worst = min(pairs, key=lambda p: (p[0] * 0, -p[1]))
    falling = sorted(pairs, key=lambda p: p[0], reverse=True)
    pairs.sort(key=lambda p: abs(p[0]))
    return (
        best, worst, falling, pairs, max(range(3), key=lambda i: x[i]), min([], key=abs, default=7),
        sorted(range(4), key=lambda i: (x[i] > 0, x[i])), list(map(abs, x)),
    )  # fmt: skip


def numbers_of_the_call(x):
    bits = int(math.log2(x.size))
    return x * bits, f"{math.sqrt(len(x)):.2f}", format(5, f"0{bits + 2}b"), math.log(x[0], 2)


def blocks(x):
    return np.block([[np.outer(x, x), x[:, None]], [-x, 0.0]]), np.block([x[0], 1.0])


@pytest.mark.parametrize("f", [comparisons, orders, numbers_of_the_call, blocks])
def test_a_function_gives_what_python_gives(f):
    assert repr(ag.jit(f)(X.copy())) == repr(f(X.copy()))


@pytest.mark.long
def test_arrays_of_unknown_length_are_compared_when_it_runs():
    def until_still(x):
        old = None
        for step in range(100):
            new = np.minimum(x + step, 5)
            if old is not None and np.array_equal(new, old):
                break
            old = new
        return step

    assert ag.jit(until_still)(np.arange(3.0)) == until_still(np.arange(3.0)) == 6


def test_an_else_of_a_loop_raises_when_it_runs():
    def halved(x, tolerance):
        for step in range(50):  # noqa: B007
            x = x * 0.5
            if np.abs(x).max() < tolerance:
                break
        else:
            raise RuntimeError("no convergence")
        return x, step

    made = ag.jit(halved)
    assert made(X, 1e-3)[1] == halved(X, 1e-3)[1]
    with pytest.raises(RuntimeError, match="no convergence"):
        made(X, 0.0)


def members(x):
    return set(int(v) for v in x) == {1}  # noqa: C401


def listed(x):
    return sorted(x[x > 0], key=abs)


def texts(x):
    return "%.2f" % x.sum()  # noqa: UP031


@pytest.mark.parametrize("f, match", [(members, "has no hash"), (listed, "np.argmax"), (texts, "has no text")])
def test_an_error_names_what_a_graph_does_not_hold(f, match):
    with pytest.raises(TypeError, match=match):
        ag.jit(f)(X)


def test_printed_texts_say_what_values_are(capsys):
    def printed(x):
        print("%.2f of %d" % (x.sum(), 3), f"{x[0]:.3f}", "{:.1f}".format(x[1]), str(x[2]))  # noqa: UP031, UP032
        return x

    ag.jit(printed)(X)
    assert capsys.readouterr().out == "sum(x): float64 of 3 x[0]: float64 x[1]: float64 x[2]: float64\n"
