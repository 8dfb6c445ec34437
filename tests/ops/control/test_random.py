"""Random numbers: the bits against published ones, distributions against their moments, what repeats and what not."""

import math
import re

import numpy as np
import pytest

import arignote as ag
from arignote import ops as T
from arignote.ops.elementwise.records import threefry

MANY = 40_000


def word(high, low):
    return np.array(high << 32 | low, np.uint64)


@pytest.mark.parametrize(
    ("key", "counter", "expected"),
    [
        ((0, 0), (0, 0), (0x6B200159, 0x99BA4EFE)),
        ((0xFFFFFFFF, 0xFFFFFFFF), (0xFFFFFFFF, 0xFFFFFFFF), (0x1CB996FC, 0xBB002BE7)),
        ((0x13198A2E, 0x03707344), (0x243F6A88, 0x85A308D3), (0xC4923A9C, 0x483DF7A0)),
    ],
)  # fmt: skip
def test_bits_are_those_of_the_authors_test_vectors(key, counter, expected):
    key, counter = word(*key), word(*counter)
    assert threefry.evaluate(key, counter)[0] == word(*expected)
    k, c = T.scalar("k", "uint64"), T.vector("c", "uint64")
    assert (ag.function([k, c], threefry(k, c))(key, np.full(19, counter)) == word(*expected)).all()


def test_bits_take_words_without_sign_alone():
    with pytest.raises(TypeError, match="threefry does not take"):
        threefry(T.scalar("k", "uint64"), T.vector("c", "int64"))


@pytest.mark.few(2)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(
    ("name", "arguments", "mean", "deviation", "least", "most"),
    [
        ("uniform", (), 0.5, 1 / math.sqrt(12), 0, 1),
        ("uniform", (-3.0, 5.0), 1.0, 8 / math.sqrt(12), -3, 5),
        ("normal", (), 0.0, 1.0, -7, 7),
        ("normal", (2.0, 3.0), 2.0, 3.0, -20, 24),
        ("exponential", (2.0,), 2.0, 2.0, 0, 80),
        ("gumbel", (1.0, 2.0), 1 + 2 * np.euler_gamma, 2 * math.pi / math.sqrt(6), -10, 90),
        ("laplace", (1.0, 2.0), 1.0, 2 * math.sqrt(2), -80, 80),
        ("logistic", (1.0, 2.0), 1.0, 2 * math.pi / math.sqrt(3), -80, 80),
        ("lognormal", (0.0, 0.25), math.exp(0.03125), math.exp(0.03125) * math.sqrt(math.expm1(0.0625)), 0.1, 6),
        ("random", (), 0.5, 1 / math.sqrt(12), 0, 1),
        ("standard_normal", (), 0.0, 1.0, -7, 7),
    ],
)
def test_distributions_have_their_moments(name, arguments, mean, deviation, least, most, dtype):
    draw = getattr(T.random.RandomStream(11), name)(*arguments, size=MANY, dtype=dtype)
    found = ag.function([], draw)()
    assert found.dtype == dtype
    assert found.shape == (MANY,)
    assert np.isfinite(found).all()
    assert least <= found.min() <= found.max() <= most
    assert abs(found.mean(dtype="float64") - mean) < 4 * deviation / math.sqrt(MANY)
    assert abs(found.std(dtype="float64") / deviation - 1) < 0.03


def test_uniform_numbers_fill_their_range_evenly_and_do_not_follow_from_each_other():
    found = ag.function([], T.random.RandomStream(1).uniform(size=(200, 200)))()
    counts = np.histogram(found, bins=50, range=(0, 1))[0]
    expected = MANY / 50
    assert np.square(counts - expected).sum() / expected < 49 + 4 * math.sqrt(2 * 49)
    for a, b in ((found[:, 1:], found[:, :-1]), (found[1:], found[:-1])):
        assert abs(np.corrcoef(a.ravel(), b.ravel())[0, 1]) < 4 / 200


def test_integers_are_equally_likely_and_stay_within_bounds():
    rng = T.random.RandomStream(5)
    draws = [rng.integers(-3, 4, size=MANY), rng.integers(2**62, size=9), rng.integers(7, 8)]
    found, wide, one = ag.function([], draws)()
    values, counts = np.unique(found, return_counts=True)
    assert list(values) == list(range(-3, 4))
    assert np.abs(counts - MANY / 7).max() < 4 * math.sqrt(MANY / 7)
    assert (wide >= 0).all()
    assert wide.max() > 2**58
    assert one == 7
    small = ag.function([], rng.integers(0, 5, size=(2, 3), dtype="uint8"))()
    assert small.dtype == "uint8"


@pytest.mark.long
def test_bernoulli_permutation_and_choice():
    rng = T.random.RandomStream(5)
    x = T.vector("x")
    coins, order, shuffled, some, without = ag.function(
        [x], [rng.bernoulli(0.3, size=MANY), rng.permutation(50), rng.permutation(x), rng.choice(x, size=7),
              rng.choice(9, size=9, replace=False)],
    )(np.arange(10.0))  # fmt: skip
    assert coins.dtype == bool
    assert abs(coins.mean() - 0.3) < 4 * math.sqrt(0.21 / MANY)
    assert sorted(order) == list(range(50))
    assert list(order) != list(range(50))
    assert sorted(shuffled) == list(range(10))
    assert set(some) <= set(range(10))
    assert sorted(without) == list(range(9))


@pytest.mark.long
def test_choice_by_weights():
    p = np.array([0.1, 0.0, 0.6, 0.3, 0.0])
    draw = T.random.RandomStream(4)
    taken = ag.function([], draw.choice(5, size=MANY, p=p))()
    shares = np.bincount(taken, minlength=5) / MANY
    assert np.abs(shares - p).max() < 4 * np.sqrt(0.25 / MANY) and shares[1] == shares[4] == 0
    assert ag.function([], draw.choice([False, True], size=(2, 3), p=[0.0, 1.0]))().all()
    once = ag.function([], [draw.choice(5, size=3, replace=False, p=p), draw.choice(5, replace=False, p=p)])
    firsts = []
    for _ in range(300):
        three, one = once()
        assert sorted(three) == [0, 2, 3] and one in (0, 2, 3)
        firsts.append(three[0])
    assert abs(firsts.count(2) / 300 - 0.6) < 4 * np.sqrt(0.24 / 300)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", ["gumbel", "laplace", "logistic", "exponential", "normal", "lognormal"])
@pytest.mark.parametrize("word", [0, 2**64 - 1, 2**63, 2**63 - 1])
def test_no_bits_give_an_infinity(name, dtype, word, monkeypatch):
    bits = T.constant(np.array([word], np.uint64))
    monkeypatch.setattr(T.random.RandomStream, "_bits", lambda self, lengths, count: [bits] * count)
    assert np.isfinite(getattr(T.random.RandomStream(1), name)(size=1, dtype=dtype).eval()).all()


def test_draws_that_are_looked_for_in_the_module():
    with pytest.raises(AttributeError, match=r"'normal'; a stream has it: T\.random\.RandomStream\(seed\)"):
        _ = T.random.normal
    assert not hasattr(T.random, "nonsense")


@pytest.mark.long
def test_each_call_has_other_numbers_and_a_seed_brings_them_back():
    rng = T.random.RandomStream(3)
    draw = rng.normal(size=5)
    f = ag.function([], [draw, draw * 2])
    first, second = f(), f()
    np.testing.assert_array_equal(first[1], first[0] * 2)
    assert not (first[0] == second[0]).any()
    rng.seed(3)
    np.testing.assert_array_equal(f()[0], first[0])
    np.testing.assert_allclose(draw.eval(), second[0], rtol=1e-14)
    assert not (draw.eval() == draw.eval()).any()  # which moves on, as a call does
    other = T.random.RandomStream(3).normal(size=5)
    np.testing.assert_array_equal(ag.function([], other)(), first[0])
    assert not (ag.function([], T.random.RandomStream(4).normal(size=5))() == first[0]).any()


def test_draws_of_one_stream_are_different_and_stay_so_when_nodes_are_merged():
    rng = T.random.RandomStream(3)
    a, b = rng.uniform(size=4), rng.uniform(size=4)
    x, y = ag.function([], [a, b])()
    assert not (x == y).any()


@pytest.mark.few(1)
@pytest.mark.parametrize("mode", ["NUMPY", "FAST_COMPILE", "fast_run -fusion -inplace", "fast_run unsafe"])
def test_bits_are_the_same_at_every_level_of_optimization(mode):
    rng = T.random.RandomStream(9)
    draws = [rng.bits(size=(3, 5)), rng.uniform(size=70), rng.uniform(size=70, dtype="float32")]
    draws += [rng.integers(100, size=9), rng.bernoulli(0.5, size=9)]
    expected = ag.function([], draws)()
    rng.seed(9)
    for a, b in zip(ag.function([], draws, mode=mode)(), expected, strict=True):
        np.testing.assert_array_equal(a, b)


def test_bits_are_the_same_for_any_number_of_threads():
    rng = T.random.RandomStream(9)
    draw = rng.uniform(size=300_000)
    found = []
    for threads in (1, 2):
        rng.seed(9)
        found.append(ag.function([], draw, threads=threads)())
    np.testing.assert_array_equal(*found)


@pytest.mark.long
def test_sizes_may_be_symbolic_and_parameters_broadcast():
    rng = T.random.RandomStream(2)
    x, n = T.matrix("x"), T.lscalar("n")
    noisy, vector, joint, one = ag.function(
        [x, n], [x + rng.normal(size=x.shape), rng.uniform(size=(n,)), rng.uniform(x, x[0] + 10), rng.normal()]
    )(np.zeros((3, 4)), 6)
    assert noisy.shape == (3, 4)
    assert vector.shape == (6,)
    assert joint.shape == (3, 4)
    assert one.shape == ()


def test_functions_share_the_state_and_may_give_an_update_of_their_own():
    rng = T.random.RandomStream(2)
    draw = rng.uniform(size=3)
    f, g = ag.function([], draw), ag.function([], draw)
    assert not (f() == g()).any()
    (state,) = rng.states
    still = ag.function([], draw, updates=[(state, state)])
    np.testing.assert_array_equal(still(), still())


def test_gradients_pass_through_the_parameters():
    rng = T.random.RandomStream(2)
    loc, scale = T.scalar("loc"), T.scalar("scale")
    draw = rng.normal(loc, scale, size=1000)
    by_loc, by_scale, values = ag.function([loc, scale], [*ag.grad(T.mean(draw), [loc, scale]), draw])(2.0, 3.0)
    np.testing.assert_allclose(by_loc, 1)
    np.testing.assert_allclose(by_scale, ((values - 2) / 3).mean(), atol=1e-12)


def test_dropout_keeps_the_mean_and_its_gradient_the_mask():
    rng = T.random.RandomStream(2)
    x = T.matrix("x")
    y = T.nn.dropout(x, 0.25, rng)
    f = ag.function([x], [y, ag.grad(T.sum(y), x)])
    values, gradient = f(np.ones((200, 200)))
    assert set(np.unique(values)) == {0, 1 / 0.75}
    assert abs((values == 0).mean() - 0.25) < 0.01
    np.testing.assert_array_equal(values, gradient)
    assert (f(np.ones((200, 200)))[0] != values).any()


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda r: T.random.RandomStream(1.5), TypeError, "the seed must be an integer, got 1.5"),
        (lambda r: T.random.RandomStream(-1), ValueError, "the seed must be at least 0 .*, got -1"),
        (lambda r: r.uniform(dtype="int32"), TypeError, "random numbers are float32 or float64, got int32"),
        (lambda r: r.normal(1j), TypeError, "the parameters of a distribution must be real"),
        (lambda r: r.uniform(size=2.5), TypeError, "the size of a draw: expected an integer"),
        (lambda r: r.integers(0.5), TypeError, "integers: expected integers, got"),
        (lambda r: r.integers(5, dtype="float32"), TypeError, "integers: the dtype must be .*integers, got float32"),
        (lambda r: r.permutation(2.5), TypeError, "permutation: expected integers, got"),
    ],
)  # fmt: skip
def test_mistakes(call, error, message):
    with pytest.raises(error, match=message):
        call(T.random.RandomStream(0))


@pytest.mark.long
def test_streams_that_a_stream_spawns():
    streams = [*(parent := T.random.RandomStream(5)).spawn(2), *parent.spawn(2)]
    again = T.random.RandomStream(5).spawn(4)
    seeds = [int(re.search(r"seed (\d+)", repr(s)).group(1)) for s in (*streams, *again)]
    assert len(set(seeds)) == 4 and seeds[:4] == seeds[4:] and T.random.RandomStream(6).spawn(0) == []
    draws = ag.function([], [s.normal(size=1000) for s in streams])()
    assert abs(np.corrcoef(draws) - np.eye(4)).max() < 0.15
    with pytest.raises(ValueError, match="at least 0"):
        parent.spawn(-1)
    with pytest.raises(TypeError, match="integer"):
        parent.spawn(2.0)
