"""Random draws in mapped functions: each example of `ag.vmap` has numbers of its own, unless they are shared."""

import numpy as np
import pytest

import arignote as ag
from arignote import ops as T
from arignote.ops.elementwise.special import threefry

MODES = ["NUMPY", "FAST_RUN"]


def alone(build, row, example, calls, seed=3, inner=None):
    """Value of a function of a row for one example by the documented rule: the draws have the keys of the example."""
    rng = T.random.RandomStream(seed)
    x = T.tensor("x", "float64", (None,) * np.ndim(row))
    f = ag.function([x], build(rng, x), mode="NUMPY", on_unused_input="ignore")
    for state in rng.states:
        key, _ = state.get_value()
        for number in (example, inner):
            if number is not None:
                key = threefry(np.uint64(key), ~np.uint64(number))
        state.set_value(np.array([key, calls], np.uint64))
    return f(row)


def of_loop(rng, r):
    return ag.scan(lambda e, s: s + e * rng.normal() + rng.uniform(), sequences=r, outputs_info=T.constant(0.0))[0]


def of_nested_loops(rng, r):
    return ag.scan(lambda e: of_loop(rng, r)[-1] * e, sequences=r)[0]


def of_while_loop(rng, r):
    return ag.while_loop(lambda p: p[1] < 3, lambda p: (p[0] + rng.normal(), p[1] + 1), (r[0], 0))[0]


def of_branch(rng, r):
    return ag.cond(r[0] > 0.5, lambda: r + rng.normal(), lambda: r - rng.uniform(size=3))


def of_dropout_gradient(rng, r):
    return ag.grad(T.sum(T.nn.dropout(r, 0.5, rng) ** 2), r)


DRAWS = {
    "normal": lambda rng, r: r + rng.normal(size=r.shape),
    "a scalar": lambda rng, r: rng.normal() * r,
    "no use of the example": lambda rng, r: rng.normal(size=4),
    "parameters": lambda rng, r: rng.uniform(r, r + 1),
    "float32": lambda rng, r: rng.gumbel(size=2, dtype="float32"),
    "bits": lambda rng, r: rng.bits(size=(2, 2)),
    "integers": lambda rng, r: rng.integers(0, 100, size=3),
    "bernoulli": lambda rng, r: rng.bernoulli(r / 2),
    "permutation": lambda rng, r: rng.permutation(r),
    "choice": lambda rng, r: rng.choice(r, size=2, replace=False),
    "choice by weights": lambda rng, r: rng.choice(3, size=5, p=r / r.sum()),
    "choice by weights, none twice": lambda rng, r: rng.choice(3, size=2, replace=False, p=r / r.sum()),
    "several draws": lambda rng, r: rng.normal() + rng.exponential(size=r.shape) * rng.laplace(),
    "a loop": of_loop,
    "loops in loops": of_nested_loops,
    "a while loop": of_while_loop,
    "a branch": of_branch,
    "the gradient of dropout": of_dropout_gradient,
}


@pytest.mark.long
@pytest.mark.parametrize("mode", MODES)
def test_each_example_has_the_draws_of_its_own_key(mode):
    x = T.dmatrix("x")
    rows = np.random.default_rng(0).uniform(0.1, 1, (3, 3))
    streams = [T.random.RandomStream(3) for _ in DRAWS]
    outputs = [
        ag.vmap(lambda r, build=build, rng=rng: build(rng, r))(x)
        for build, rng in zip(DRAWS.values(), streams, strict=True)
    ]
    f = ag.function([x], outputs, mode=mode)
    for calls in range(2):
        before = [[state.get_value()[1] for state in rng.states] for rng in streams]
        found = f(rows)
        for (name, build), value, counts in zip(DRAWS.items(), found, before, strict=True):
            assert len(set(counts)) == 1, name
            expected = [alone(build, row, k, counts[0]) for k, row in enumerate(rows)]
            np.testing.assert_allclose(value, expected, rtol=1e-6 if value.dtype == "float32" else 1e-12, err_msg=name)
            assert calls == bool(counts[0]), name


@pytest.mark.few(1)
@pytest.mark.parametrize("mode", MODES)
def test_examples_of_examples_divide_the_key_again(mode):
    rng, x = T.random.RandomStream(3), T.dtensor3("x")
    f = ag.function([x], ag.vmap(ag.vmap(lambda r: of_loop(rng, r)))(x), mode=mode)
    values = np.random.default_rng(0).uniform(0.1, 1, (2, 3, 4))
    found = f(values)
    for k, j in np.ndindex(2, 3):
        np.testing.assert_allclose(found[k, j], alone(of_loop, values[k, j], k, 0, inner=j), rtol=1e-12)
    assert [int(s.get_value()[1]) for s in rng.states] == [4, 4]
    assert not np.isclose(f(values), found).any()


@pytest.mark.few(1)
@pytest.mark.parametrize("mode", MODES)
def test_shared_draws_and_draws_from_outside_are_the_same_for_all(mode):
    rng, x = T.random.RandomStream(3), T.dmatrix("x")
    outside = rng.normal(size=3)
    shared = ag.vmap(lambda r: r * 0 + rng.shared.normal(size=3))(x)
    looped = ag.vmap(lambda r: ag.scan(lambda e: e * 0 + rng.shared.uniform(), sequences=r)[0])(x)
    both = ag.vmap(lambda r: rng.shared.normal() - rng.normal() + r * 0)(x)
    captured, own = ag.vmap(lambda r: (outside + r * 0, rng.uniform(size=r.shape)))(x)
    f = ag.function([x], [shared, looped, both, captured, own], mode=mode)
    for found, same in zip(f(np.zeros((4, 3))), (True, True, False, True, False), strict=True):
        assert (found == found[0]).all() == same
        assert len(np.unique(found[:, 0])) == (1 if same else 4)
    assert not (f(np.zeros((4, 3)))[1] == f(np.zeros((4, 3)))[1]).any()


def test_a_view_of_shared_draws_follows_the_seed_of_its_stream():
    rng = T.random.RandomStream(1)
    shared = rng.shared
    rng.seed(3)
    shared.normal()
    own = T.random.RandomStream(3).normal(size=2)
    same = T.random.RandomStream(3).shared.normal(size=2)
    np.testing.assert_array_equal(own.eval(), same.eval())
    assert len(rng.states) == 1
    np.testing.assert_array_equal(rng.states[0].get_value(), T.random.RandomStream(3)._first(0))


@pytest.mark.parametrize("mode", MODES)
def test_no_examples_draw_nothing(mode):
    rng, x = T.random.RandomStream(3), T.dmatrix("x")
    f = ag.function([x], ag.vmap(lambda r: of_loop(rng, r))(x), mode=mode)
    assert f(np.zeros((0, 2))).shape == (0, 2)
    assert f(np.zeros((2, 2))).shape == (2, 2)


def test_examples_are_uncorrelated():
    rng, x = T.random.RandomStream(5), T.dvector("x")
    found = ag.function([x], ag.vmap(lambda e: rng.normal(e * 0, size=4))(x))(np.zeros(20_000))
    assert abs(np.corrcoef(found.T) - np.eye(4)).max() < 0.03
    assert abs(np.corrcoef(found[:-1].ravel(), found[1:].ravel())[0, 1]) < 0.02
    assert abs(found.mean()) < 0.02
    assert abs(found.std() - 1) < 0.02


def test_draws_in_a_while_loop_are_new_in_every_step():
    rng, n = T.random.RandomStream(3), T.lscalar("n")
    trace = ag.while_loop(lambda p: p[1] < n, lambda p: (p[0].at[p[1]].set(rng.normal()), p[1] + 1), (T.zeros(5), 0))[0]
    f = ag.function([n], trace)
    first, second = f(5), f(3)
    assert len(set(first)) == 5
    assert len(np.unique([*first, *second[:3]])) == 8
    assert rng.states[0].get_value()[1] == 8


@pytest.mark.parametrize("side", ["left", "right"])
def test_searchsorted_in_a_vector_of_each_example(side):
    a = np.sort(np.random.default_rng(0).integers(0, 5, (3, 6)).astype(float), axis=1)
    a[1, -2:] = np.nan
    v = np.array([[0.0, 2, np.nan], [5, 1, 1.5], [-1, 4, 3]])
    expected = [np.searchsorted(row, values, side=side) for row, values in zip(a, v, strict=True)]
    x, y = T.dmatrix("x"), T.dmatrix("y")
    many = ag.vmap(lambda row, values: T.searchsorted(row, values, side))(x, y)
    np.testing.assert_array_equal(many.eval({x: a, y: v}), expected)
    assert many.dtype == "int64"
    same = ag.vmap(lambda row: T.searchsorted(row, T.constant(2.0), side))(x)
    np.testing.assert_array_equal(same.eval({x: a}), [np.searchsorted(row, 2.0, side=side) for row in a])
