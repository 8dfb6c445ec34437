"""Writes in one branch of a choice become writes in a branch of C: values, and errors of the branch that is taken."""

import numpy as np
import pytest

import arignote as ag


def pushed(x, least):
    """Several pushes, each in a branch of its own."""
    stack, n = np.zeros(4 * len(x)), 0
    for i in range(len(x)):
        if x[i] > least:
            stack[n] = x[i]
            n += 1
        if x[i] > 2 * least:
            stack[n] = -x[i]
            n += 1
        if x[i] > 3 * least:
            stack[n] = 2 * x[i]
            n += 1
    return stack, n


def marked(x, least):
    """Two axes; places from the end; the front itself is written, too."""
    seen, hits = np.zeros((5, 4), bool), np.zeros((5, 4))
    for i in range(len(x)):
        if x[i] > least:
            seen[i % 5, -1 - i % 4] = True
            hits[-1 - i % 5, i % 4] = x[i]
        if x[i] < -least:
            seen[i % 3 - 1, 0] = False
            hits[0, 0] = x[i]
    return seen, hits


def either(x, least):
    a, count = np.zeros(3), 0
    for i in range(len(x)):
        if x[i] > least:
            a[i % 3] = x[i]
        else:
            a[0] = a[0] + 1.0
            count += 1
        if a[0] > 3:
            a[2] = a[0]
            a[1] = a[2]
    return a, count


@pytest.mark.few(3)
@pytest.mark.parametrize("f", [pushed, marked, either])
@pytest.mark.parametrize("least", [-2.0, 0.0, 0.3, 2.0])
def test_values_are_those_of_python(f, least):
    for n in (0, 1, 2, 40):
        x = np.sin(np.arange(float(n)) * 1.7) + 0.1
        for ours, theirs in zip(ag.jit(f)(x, least), f(x, least), strict=True):
            np.testing.assert_array_equal(ours, theirs)


def placed(x, places):
    a = np.zeros(len(x))
    for i in range(len(x)):
        if x[i] > 0:
            a[places[i]] = x[i]
    return a


def test_a_place_outside_is_an_error_where_it_is_written():
    x = np.array([1.0, -1.0, 2.0])
    np.testing.assert_array_equal(ag.jit(placed)(x, np.array([2, 99, -1])), placed(x, np.array([2, 99, -1])))
    np.testing.assert_array_equal(ag.jit(placed)(x[:0], np.zeros(0, int)), [])
    with pytest.raises(IndexError, match=r"index 3 is out of bounds for axis 0.*with size 3[\s\S]*a\[places\[i\]\]"):
        ag.jit(placed)(x, np.array([0, 0, 3]))
