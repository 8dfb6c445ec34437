"""Tests of sums over the whole array in the place of additions to its parts: derivatives of differences of slices."""

import itertools

import numpy as np
import pytest

import arignote as ag
from arignote import ops as T


def forward(x):
    return T.sum(T.square(x[1:] - x[:-1]))


def variation(x):
    return T.sum(T.square(x[:, 1:] - x[:, :-1])) + T.sum(T.square(x[1:] - x[:-1]))


def laplacian(x):
    y = 4 * x[1:-1, 1:-1] - x[:-2, 1:-1] - x[2:, 1:-1] - x[1:-1, :-2] - x[1:-1, 2:]
    return T.sum(T.square(y)) + T.sum(x[:, 3:] * x[:, :-3])


def expensive(x):
    return T.sum(T.exp(x[1:]) * T.tanh(x[:-1]))


def of_volumes(x):
    return T.sum(T.square(x[1:, :-1, 1:] - x[:-1, 1:, :-1])) + T.sum(T.square(x[:, :, 1:] - x[:, :, :-1]))


CASES = [(forward, 1), (variation, 2), (laplacian, 2), (expensive, 1), (of_volumes, 3)]


def compiled(f, rank, dtype="float64", mode=None):
    x = T.tensor("x", dtype, (None,) * rank)
    options = {} if mode is None else {"mode": mode}
    return ag.function([x], ag.grad(f(x), x), **options)


@pytest.mark.few(2)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("f, rank", CASES)
def test_of_all_lengths(f, rank, dtype):
    ours, plain = compiled(f, rank, dtype), compiled(f, rank, dtype, "fast_compile")
    draw = np.random.default_rng(0)
    for shape in itertools.product((0, 1, 2, 3, 4, 17) if rank < 3 else (0, 1, 2, 5), repeat=rank):
        x = draw.standard_normal(shape).astype(dtype)
        np.testing.assert_allclose(ours(x), plain(x), rtol=1e-5 if dtype == "float32" else 1e-12, atol=1e-6)
        flipped = np.ascontiguousarray(x[..., ::-1])[..., ::-1]
        np.testing.assert_array_equal(ours(flipped), ours(x))


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("f, rank", CASES[:3])
def test_special_values_stay_where_they_are(f, rank, bad):
    ours, plain = compiled(f, rank), compiled(f, rank, mode="fast_compile")
    for place in (0, 3, -1):
        x = np.random.default_rng(1).standard_normal((6,) * rank)
        x[(place,) * rank] = bad
        np.testing.assert_allclose(ours(x), plain(x), rtol=1e-12)


def test_equal_inputs_give_equal_bits():
    x = np.resize(np.random.default_rng(2).standard_normal(7), (40, 41, 7)).transpose(2, 0, 1).copy()
    x[:] = x[:, :1, :1]
    made = compiled(variation, 2)(x[:, 0, :]), compiled(variation, 2)(x[:, 0, :30])
    np.testing.assert_array_equal(made[0][:, 1:29], made[1][:, 1:29])


@pytest.mark.parametrize("f, rank", [*CASES[:2], CASES[4]])
def test_no_part_is_added_to(f, rank):
    nodes = compiled(f, rank).graph.order
    assert not [node for node in nodes if "inc_subtensor" in str(node.op) and node.out.dtype != "bool"]


@pytest.mark.parametrize("f, rank", CASES[2:4])
def test_long_work_is_not_done_again(f, rank):
    assert [n for n in compiled(f, rank).graph.order if "inc_subtensor" in str(n.op) and n.out.dtype != "bool"]


def test_values_that_are_read_between_stay():
    x = T.vector("x")
    first = T.set_subtensor(T.zeros_like(x)[1:], x[:-1])
    both = T.inc_subtensor(first[:-1], x[1:])
    a, b = ag.function([x], [first, both])(np.arange(4.0))
    np.testing.assert_array_equal(a, [0, 0, 1, 2])
    np.testing.assert_array_equal(b, [1, 2, 4, 2])
