"""Elementwise results of unknown lengths share a kernel with their readers, and are right where they broadcast."""

import itertools

import numpy as np
import pytest

import arignote as ag
from arignote import ops as T

U, V, W = T.vector("U"), T.vector("V"), T.vector("W")
A, B = T.matrix("A"), T.matrix("B")
WITHOUT = "fast_run -assume_equal"


def kernels(f):
    return len(f.program.kernels)


def adam(p, g, m, v):
    """New parameters and moments."""
    m = 0.9 * m + 0.1 * g
    v = 0.999 * v + 0.001 * (g * g)
    return [p - 0.001 * m / v, m, v]


def random(*shape):
    return np.random.default_rng(len(shape)).uniform(0.5, 2, shape)


def assert_all_close(got, want):
    for g, w in zip(got, want, strict=True):
        assert g.shape == w.shape
        np.testing.assert_allclose(g, w, rtol=1e-13)


@pytest.fixture(scope="module", params=["fast_run", WITHOUT])
def step(request):
    inputs = [T.vector(name) for name in "pgmv"]
    return ag.function(inputs, adam(*inputs), mode=request.param)


def test_a_step_of_adam_on_vectors_of_unknown_lengths_is_one_kernel(step):
    assert kernels(step) == 1


@pytest.mark.parametrize("lengths", list(itertools.product((1, 7), repeat=4)))
def test_it_is_right_whichever_vectors_broadcast(step, lengths):
    values = [random(n) for n in lengths]
    assert_all_close(step(*values), adam(*values))


@pytest.mark.parametrize("lengths", list(itertools.product((0, 1), repeat=4)))
def test_it_is_right_where_some_are_empty(step, lengths):
    values = [random(n) for n in lengths]
    assert_all_close(step(*values), adam(*values))


def test_what_is_empty_is_so_in_calls_by_position_by_name_with_strides_and_in_a_binding(step):
    values = [random(0), random(1), random(1), random(1)]
    want = adam(*values)
    for _ in range(70):  # the native entry takes over meanwhile
        assert_all_close(step(*values), want)
    assert_all_close(step(**dict(zip("pgmv", values, strict=True))), want)
    assert_all_close(step(values[0], *(random(4)[::4] for _ in range(3))), adam(values[0], *[random(4)[::4]] * 3))
    assert_all_close(step.bind(*values)(), want)


@pytest.mark.parametrize("threads", [1, 2])
def test_large_vectors_beside_short_ones_are_right_on_threads(threads):
    inputs = [T.vector(name) for name in "pgmv"]
    f = ag.function(inputs, adam(*inputs), threads=threads, mode=WITHOUT)
    for lengths in [(300_000, 1, 1, 1), (300_000, 300_000, 1, 300_000), (1, 1, 300_000, 1), (300_000,) * 4]:
        values = [random(n) for n in lengths]
        assert_all_close(f(*values), adam(*values))


@pytest.mark.few(9)
@pytest.mark.parametrize("first", [(1, 1), (1, 5), (4, 1), (4, 5), (0, 5), (1, 0)])
@pytest.mark.parametrize("second", [(1, 1), (1, 5), (4, 1), (4, 5), (0, 1), (1, 0)])
def test_matrices(first, second):
    a, b = random(*first), random(*second)
    for mode in ("fast_run", WITHOUT):
        f = ag.function([A, B], [A * 2.0, A * 2.0 + B], mode=mode)
        try:
            want = [a * 2.0, a * 2.0 + b]
        except ValueError:
            with pytest.raises(ValueError, match="do not agree"):
                f(a, b)
            continue
        assert kernels(f) == 1
        assert_all_close(f(a, b), want)


def test_a_costly_value_is_not_computed_again_for_each_element_of_a_longer_one():
    f, equal = (ag.function([U, V], [T.exp(U), T.exp(U) + V], mode=mode) for mode in (WITHOUT, "fast_run"))
    assert kernels(f) == 2 and kernels(equal) == 1


def test_what_is_certainly_shorter_stays_separate():
    column = T.col("column")
    assert kernels(ag.function([column, A], [column * 2.0, column * 2.0 + A])) == 2


def test_a_short_value_is_not_written_over_what_is_read_again():
    c, d = ag.shared(random(1)), ag.shared(random(5))
    f = ag.function([U], [], updates=[(c, c + U), (d, (c + U) * d)], mode=WITHOUT)
    before = c.get_value(), d.get_value()
    f(np.ones(1))
    assert_all_close([c.get_value(), d.get_value()], [before[0] + 1, (before[0] + 1) * before[1]])


def test_groups_that_wait_for_each_other_are_not_joined():
    total = (U * 2.0).sum()
    f = ag.function([U, V], [U * 2.0, (U * 2.0 + V) * total], mode=WITHOUT)
    u, v = random(6), random(1)
    assert_all_close(f(u, v), [u * 2, (u * 2 + v) * (u * 2).sum()])
