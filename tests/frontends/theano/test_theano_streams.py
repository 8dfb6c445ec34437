"""Theano's random streams: MRG31k3p bit for bit, and NumPy's Mersenne Twister."""

import pickle

import numpy as np
import pytest

from arignote.frontends import theano
from arignote.frontends.theano.running import mrg
from arignote.frontends.theano.running.streams import decoded, encoded

T = theano.tensor
MRG = theano.sandbox.rng_mrg.MRG_RandomStreams
Streams = theano.tensor.shared_randomstreams.RandomStreams


def power(matrix, exponent, modulus):
    """A matrix to the power 2**exponent, in Python's integers."""
    rows = [[int(n) for n in row] for row in matrix]
    for _ in range(exponent):
        rows = [[sum(a * b for a, b in zip(row, column)) % modulus for column in zip(*rows)] for row in rows]
    return rows


def states(seed, count):
    """The states of streams 2**72 draws apart, from the recurrences of the paper."""
    jumps = [power(m, 72, modulus) for m, modulus in ((mrg.A1, mrg.M1), (mrg.A2, mrg.M2))]
    found = [[seed] * 6]
    while len(found) < count:
        halves = (found[-1][:3], found[-1][3:])
        parts = [
            [sum(a * b for a, b in zip(row, half)) % modulus for row in jump]
            for jump, half, modulus in zip(jumps, halves, (mrg.M1, mrg.M2))
        ]
        found.append(parts[0] + parts[1])
    return found


def reference(seed, streams, count, calls):
    """Draws of the recurrences of the paper, stream after stream."""
    rows, found = states(seed, streams), []
    for _ in range(calls):
        found.append([])
        for k in range(count):
            row = rows[k % streams]
            x = (2**22 * row[1] + (2**7 + 1) * row[2]) % mrg.M1
            y = (2**15 * row[3] + (2**15 + 1) * row[5]) % mrg.M2
            row[:] = [x, row[0], row[1], y, row[3], row[4]]
            found[-1].append((x - y if x > y else x - y + mrg.M1) * 2.0**-31)
    return np.array(found)


@pytest.mark.few(1)
@pytest.mark.parametrize("mode", ["FAST_RUN", "FAST_COMPILE"])
def test_uniform_numbers_are_those_of_the_paper(mode):
    stream, n = MRG(12345), T.lscalar("n")
    u, v = stream.uniform((3,)), stream.uniform((4, 5), nstreams=3)
    stream.rstate[:] = 12345
    loop = stream.uniform((61,), nstreams=2)
    stream.rstate[:] = 12345
    free = stream.uniform((n,), nstreams=4)
    f = theano.function([n], [u, v, loop, free], mode=mode)
    calls = [f(6), f(9)]
    assert np.array_equal([c[0] for c in calls], reference(12345, 3, 3, 2))
    assert calls[0][0] == pytest.approx([0.7353244530968368, 0.25856858, 0.69408069])  # as Theano prints it
    assert calls[0][1].shape == (4, 5)
    assert np.array_equal([c[2] for c in calls], reference(12345, 2, 61, 2))
    assert np.array_equal(calls[0][3], reference(12345, 4, 6, 1)[0])
    # Six draws of the first call: streams 2 and 3 moved on once, so that the second call goes on with draw 6 of all.
    assert calls[1][3][2:4].tolist() == reference(12345, 4, 8, 1)[0][6:].tolist()


@pytest.mark.long
def test_mrg_distributions():
    stream = MRG(7)
    p = T.dmatrix("p")
    wanted = [
        stream.uniform((2000,), low=-1.0, high=3.0), stream.normal((2001,), avg=2.0, std=3.0),
        stream.binomial((2000,), p=0.25), stream.multinomial(pvals=p), stream.uniform((5,), dtype="float32"),
    ]  # fmt: skip
    f = theano.function([p], wanted)
    uniform, normal, binomial, multinomial, narrow = f(np.tile([0.2, 0.3, 0.5], (3000, 1)))
    assert -1 <= uniform.min() < -0.9 < 2.9 < uniform.max() <= 3
    assert normal.shape == (2001,)
    assert (normal.mean(), normal.std()) == (pytest.approx(2, abs=0.3), pytest.approx(3, abs=0.2))
    assert (binomial.dtype.name, binomial.mean()) == ("int64", pytest.approx(0.25, abs=0.04))
    assert multinomial.mean(axis=0) == pytest.approx([0.2, 0.3, 0.5], abs=0.04)
    assert (multinomial.sum(axis=1) == 1).all()
    assert narrow.dtype.name == "float32"
    assert MRG(1).normal((5,)).eval() == pytest.approx(MRG(1).normal((5,)).eval())


def test_mrg_states_and_seeds():
    stream = MRG(12345)
    u = stream.uniform((3,))
    f = theano.function([], u)
    first = f()
    stream.seed(12345)
    assert np.array_equal(f(), first)
    fixed = theano.function([], u, no_default_updates=True)
    assert np.array_equal(fixed(), fixed())
    for seed in (0, mrg.M2, [0, 0, 0, 1, 1, 1]):
        with pytest.raises(ValueError, match="seed"):
            MRG(seed)
    assert mrg.guess_n_streams((3,)) == 3
    assert mrg.guess_n_streams((20,)) == 3
    assert mrg.guess_n_streams((10**6,)) == 15360
    assert np.array_equal(mrg.substreams(np.full(6, 9), 7).tolist(), states(9, 7))


def test_mersenne_streams_are_numpys():
    stream = Streams(234)
    n = T.lscalar("n")
    wanted = {
        "uniform": stream.uniform((2, 2)), "normal": stream.normal((n,)), "binomial": stream.binomial((6,)),
        "integers": stream.random_integers((4,), 0, 9), "permutation": stream.permutation(n=5),
        "choice": stream.choice((3,), a=6), "poisson": stream.poisson(lam=[4.0, 5.0]),
        "multinomial": stream.multinomial(n=3, pvals=[0.2, 0.3, 0.5]),
        "rows": stream.shuffle_row_elements(T.constant(np.arange(6.0).reshape(2, 3))),
    }  # fmt: skip
    f = theano.function([n], list(wanted.values()))
    seeds = np.random.RandomState(234)
    generators = [np.random.RandomState(int(seeds.randint(2**30))) for _ in wanted]
    for _ in range(2):
        found = dict(zip(wanted, f(3)))
        r = dict(zip(wanted, generators))
        assert np.array_equal(found["uniform"], r["uniform"].uniform(size=(2, 2)))
        assert np.array_equal(found["normal"], r["normal"].normal(size=3))
        assert np.array_equal(found["binomial"], r["binomial"].binomial(1, 0.5, 6))
        assert np.array_equal(found["integers"], r["integers"].randint(0, 10, 4))
        assert np.array_equal(found["permutation"], r["permutation"].permutation(5))
        assert np.array_equal(found["choice"], r["choice"].choice(6, 3))
        assert np.array_equal(found["poisson"], r["poisson"].poisson([4.0, 5.0]))
        assert np.array_equal(found["multinomial"], r["multinomial"].multinomial(3, [0.2, 0.3, 0.5]))
        orders = [r["rows"].permutation(3) for _ in range(2)]
        assert np.array_equal(found["rows"], [row[o] for row, o in zip(np.arange(6.0).reshape(2, 3), orders)])


def test_a_generator_is_read_seeded_and_pickled():
    stream = Streams(1)
    u = stream.uniform((2,))
    f = theano.function([], u)
    generator = u.rng.get_value()
    assert np.array_equal(f(), generator.uniform(size=2))
    generator.seed(89234)
    u.rng.set_value(generator)
    wanted = np.random.RandomState(89234).uniform(size=(2, 2))
    assert np.array_equal(f(), wanted[0])
    assert np.array_equal(pickle.loads(pickle.dumps(u.rng)).get_value().uniform(size=2), wanted[1])
    stream.seed(5)
    assert np.array_equal(f(), np.random.RandomState(int(np.random.RandomState(5).randint(2**30))).uniform(size=2))
    state = np.random.RandomState(3)
    state.normal()  # a normal number is left over
    assert decoded(encoded(state)).normal() == state.normal()
    with pytest.raises(TypeError, match="RandomState"):
        u.rng.set_value(3)


@pytest.mark.parametrize("kind", [Streams, MRG])
def test_draws_in_a_scan_move_on(kind):
    stream = kind(1234)
    drawn, updates = theano.scan(lambda: stream.uniform((2,)), n_steps=3)
    f = theano.function([], drawn, updates=updates)
    found = np.concatenate([f(), f()])
    if kind is Streams:
        generator = np.random.RandomState(int(np.random.RandomState(1234).randint(2**30)))
        assert np.array_equal(found, generator.uniform(size=(6, 2)))
    else:
        assert np.array_equal(found, reference(1234, 2, 2, 6))


def test_draws_of_a_given_shape_follow_the_given():
    x, y = T.dmatrix("x"), T.dmatrix("y")
    noise = Streams(3).binomial(size=x.shape, n=1, p=0.5)
    f = theano.function([y], noise.shape, givens={x: y})
    assert f(np.zeros((2, 3))).tolist() == [2, 3]
    assert f(np.zeros((4, 1))).tolist() == [4, 1]
