"""Branches that write to arrays: in place, with the values of Python, and without what the other branch would do."""

import numpy as np
import pytest

import arignote as ag


def one_branch(a, b, flags):
    for k in range(flags.shape[0]):
        if flags[k]:
            a[k] = b @ a[k - 1]
    return a


def both_branches(a, b, flags):
    count = 0
    for k in range(flags.shape[0]):
        if flags[k]:
            a[k] += b @ a[k - 1]
            count += k
        else:
            a[0] = a[k] @ b
            count = count - 1
    return a, count


def two_arrays(a, b, flags):
    for k in range(flags.shape[0]):
        if flags[k]:
            a[k] = b @ a[0]
            b[:, k] = a[k] * 0.5
    return a, b


def with_an_index_that_only_one_branch_may_use(a, b, flags):
    for k in range(2 * flags.shape[0]):
        if k < flags.shape[0]:
            a[k] = b @ a[k]
    return a


PROGRAMS = [one_branch, both_branches, two_arrays, with_an_index_that_only_one_branch_may_use]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("size", [0, 1, 2, 7])
def test_values_are_those_of_python(program, size):
    rng = np.random.default_rng(size)
    a, b = rng.normal(size=(2, size, size)) / max(size, 1)
    flags = rng.random(size) < 0.5
    ours, expected = (a.copy(), b.copy(), flags), (a.copy(), b.copy(), flags)
    found, wanted = ag.jit(program)(*ours), program(*expected)
    for one, other in zip((found, ours), (wanted, expected), strict=True):
        leaves = zip(one, other, strict=True) if isinstance(one, tuple) else [(one, other)]
        for x, y in leaves:
            np.testing.assert_allclose(x, y, rtol=1e-12, atol=1e-14)


@pytest.mark.long
def test_gradients_go_through_the_branch_that_ran():
    def cost(a, b, flags):
        return np.sum(one_branch(a.copy(), b, flags) ** 2)

    rng = np.random.default_rng(0)
    a, b, flags = rng.normal(size=(4, 4)), rng.normal(size=(4, 4)), np.array([True, False, True, True])
    found = ag.grad(cost, 0)(a, b, flags)
    for place in ((0, 1), (1, 1), (3, 2)):
        step = np.zeros_like(a)
        step[place] = 1e-6
        slope = (cost(a + step, b, flags) - cost(a - step, b, flags)) / 2e-6
        np.testing.assert_allclose(found[place], slope, rtol=1e-5, atol=1e-6)


def test_the_array_is_not_copied_in_each_step():
    compiled = ag.jit(one_branch)
    compiled(np.ones((3, 3)), np.ones((3, 3)), np.ones(3, bool))
    text = str(next(iter(compiled.traces.values())).function.graph)
    assert "cond" not in text
    assert "inplace{op=scan{sequences=0" in text
    assert "inplace{op=inc_subtensor" in text
