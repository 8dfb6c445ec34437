"""Branches on values that write numbers to slices of an array: the other branch writes to no element."""

import numpy as np
import pytest

import arignote as ag


def crossed_out(n):
    prime = np.ones(n, dtype=np.bool_)
    prime[:2] = False
    i = 2
    while i * i < n:
        if prime[i]:
            prime[i * i :: i] = False
        i += 1
    return prime


def both_write(x, n):
    for i in range(1, 6):
        if x[i] > 0:
            x[i::-i] = i
        else:
            x[:i] = -1.0
    if x[1] > 0:
        x[n:] = 1.0
    else:
        x[n:] = 2.0
    return x


def one_writes(x, n):
    for i in range(3):
        if x[i] > 0:
            x[i : n - 1] = 2.0
        if x[i] < 0:
            x[:] = 1.5
        if x[i + 1] > 0.2:
            x[-3:] = 9.0
    return x


def several_writes(x, n):
    if x[0] > 0:
        x[1:3] = 3.0
        x[2] = 5.0
        x[::2] = 7.0
    return x


def rows(x, n):
    q = x.reshape(2, -1)
    for i in range(2):
        if q[i, 0] > 0:
            q[i:, 1::2] = i + 4.0
        if q[1, i] > 0:
            q[:i] = 0.0
    return q


@pytest.mark.parametrize("program", [both_write, one_writes, several_writes, rows])
def test_writes_to_slices_in_branches(program):
    jitted = ag.jit(program)
    for seed in range(12):
        x = np.random.default_rng(seed).standard_normal(12)
        theirs, ours = x.copy(), x.copy()
        np.testing.assert_array_equal(jitted(ours, 5), program(theirs, 5))
        np.testing.assert_array_equal(ours, theirs)


def test_a_loop_that_writes_slices_in_a_branch_copies_no_array():
    jitted = ag.jit(crossed_out)
    for n in (5, 30, 200):
        np.testing.assert_array_equal(jitted(n), crossed_out(n))
    (trace,) = jitted.traces.values()
    text = str(trace.function.graph)
    assert "cond(" not in text and "inplace{op=inc_subtensor{spec=('s111',), set=True}" in text


def deletes(x, n):
    out = np.zeros(n)
    for i in range(n):
        t = x * i
        if t.sum() > 40:
            u = t + 1
            del t
            out[i] = u.sum()
            del u
        else:
            out[i] = t.sum()
    return out


def test_del_of_a_name_in_loops_and_branches():
    x = np.arange(4.0)
    np.testing.assert_array_equal(ag.jit(deletes)(x, 20), deletes(x, 20))


def reads_in_a_branch(tokens, x):
    """A branch inside of a branch reads what only the outer one may compute."""
    s = 0.0
    for t in tokens:
        if t >= 0:
            s = s + 1.0
        else:
            a = x[len(x) + t]
            if t == -1:
                s = s + a
            else:
                s = s - a
    return s


def test_a_branch_inside_of_a_branch_computes_nothing_outside():
    tokens, x = np.array([1, 2, -1, 3, -2]), np.arange(3.0)
    assert ag.jit(reads_in_a_branch)(tokens, x) == reads_in_a_branch(tokens, x)
