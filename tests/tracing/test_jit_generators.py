"""Generators of NumPy in functions under `ag.jit`: draws have NumPy's bits, and advance the caller's generator."""

import random

import numpy as np
import pytest

import arignote as ag

X = np.arange(1.0, 5.0)


def same_as_numpy(f, *args, bits=np.random.PCG64, calls=2, **options):
    ours, theirs = np.random.Generator(bits(3)), np.random.Generator(bits(3))
    compiled = ag.jit(f, **options)
    for _ in range(calls):
        found, expected = compiled(*args, ours), f(*args, theirs)
        pairs = zip(found, expected, strict=True) if isinstance(expected, tuple) else [(found, expected)]
        for k, (a, b) in enumerate(pairs):
            np.testing.assert_array_equal(np.asarray(a), np.asarray(b), strict=True, err_msg=f"{f.__name__} {k}")
        np.testing.assert_array_equal(ours.random(2), theirs.random(2))
    assert len(compiled.traces) == options.get("strict", True)


def in_c(x, rng):
    return (
        rng.random(3), rng.standard_normal(3), rng.standard_exponential(2), rng.standard_gamma(x), rng.uniform(x, 9.0),
        rng.normal(x, 2), rng.exponential(x), rng.gamma(x, 2.0), rng.beta(x, 3), rng.lognormal(size=2),
        rng.laplace(size=2), rng.logistic(x, 1.0), rng.vonmises(0.0, x), rng.wald(x, 1.0), rng.weibull(x),
        rng.triangular(0, x, 10), rng.poisson(x), rng.geometric(0.3, 4), rng.binomial(10, 0.3, size=4), rng.poisson(),
        rng.normal(x, x[:, None]), rng.normal(size=(2, x.shape[0])), rng.integers(10, size=5), rng.integers(0, 5),
        rng.integers(1, 7, size=(2, 3), endpoint=True), rng.normal(), rng.choice(x, 3), rng.choice(10, (2, 2)),
        x.astype(np.float32) * rng.normal(), x.astype(np.int8) * rng.binomial(5, 0.5),
    )  # fmt: skip


def by_numpy(x, rng):
    y, z = np.empty(4), x.copy()
    rng.random(out=y)
    rng.shuffle(z)
    return (
        y, z, rng.chisquare(x), rng.f(x, 2), rng.noncentral_chisquare(x, 1.0), rng.noncentral_f(x, 2.0, 1.0),
        rng.pareto(x), rng.power(x), rng.standard_t(x), rng.standard_cauchy(3), rng.gumbel(size=3), rng.rayleigh(),
        rng.negative_binomial(3, 0.4, 3), rng.hypergeometric(5, 6, 3, size=3), rng.logseries(0.4, 2),
        rng.zipf(2.0, 4), rng.multivariate_normal(np.zeros(2), np.eye(2), 3), rng.dirichlet(x), rng.permutation(6),
        rng.multinomial(10, np.array([0.2, 0.3, 0.5]), size=2), rng.standard_normal(3, dtype=np.float32),
        rng.integers(0, 100, size=4, dtype=np.int32), rng.permutation(x), rng.choice(x, 3, replace=False),
        rng.choice(4, p=np.array([0.1, 0.2, 0.3, 0.4])), rng.standard_exponential(2, method="inv"),
    )  # fmt: skip


def test_samples_have_numpys_bits():
    same_as_numpy(in_c, X)
    same_as_numpy(by_numpy, X)


@pytest.mark.parametrize("bits", [np.random.MT19937, np.random.Philox, np.random.SFC64, np.random.PCG64DXSM])
def test_other_bit_generators(bits):
    def few(x, rng):
        return rng.normal(x), rng.integers(9, size=3), rng.gamma(2.0), rng.choice(x)

    same_as_numpy(few, X, bits=bits)


def walk(n, rng):
    x = np.zeros(n)
    for i in range(1, n):
        x[i] = x[i - 1] + rng.normal(0, 1)
        if x[i] > 0.5:
            x[i] -= rng.random()
    return x


def until(x, rng):
    n = 0
    while rng.random() < 0.9:
        n += 1
    return n + x


def one_branch(x, rng):
    y = rng.normal(size=2) if x.sum() > 3 else rng.uniform(size=(2,))
    return y, rng.random()


def own_generator(x, rng):
    own, s = np.random.default_rng(5), np.zeros(20)
    for i in range(20):
        s[i] = own.normal()
    return s + x[0], rng.normal(), np.random.Generator(np.random.PCG64(3)).random()


@pytest.mark.long
def test_draws_in_loops_and_branches():
    same_as_numpy(walk, 40)
    same_as_numpy(walk, 40, strict=False)
    same_as_numpy(until, X, calls=4)
    same_as_numpy(one_branch, X)
    same_as_numpy(own_generator, X)


def seeded(n, rng):
    return np.random.default_rng(n).normal(size=3), rng.normal(size=n)


def test_a_seed_among_the_arguments_is_static():
    same_as_numpy(seeded, 4)


GENERATOR = np.random.default_rng(1)


def of_global(x):
    return GENERATOR.normal() + x


class Model:
    def __init__(self):
        self.rng, self.w = np.random.default_rng(4), np.ones(3)

    @ag.jit
    def step(self, x):
        return self.w * x + self.rng.normal(size=3)


def test_generators_outside_of_the_arguments(monkeypatch):
    monkeypatch.setitem(globals(), "GENERATOR", np.random.default_rng(1))
    compiled, theirs = ag.jit(of_global), np.random.default_rng(1)
    for _ in range(3):
        np.testing.assert_array_equal(compiled(X), X + theirs.normal())
    monkeypatch.setitem(globals(), "GENERATOR", np.random.default_rng(7))
    np.testing.assert_array_equal(compiled(X), X + np.random.default_rng(7).normal())
    model, theirs = Model(), np.random.default_rng(4)
    for _ in range(3):
        np.testing.assert_array_equal(model.step(2.0), 2 + theirs.normal(size=3))


def test_two_arguments_may_be_one_generator():
    def both(a, b):
        return a.normal(), b.random()

    compiled = ag.jit(both)
    ours, theirs = (tuple(map(np.random.default_rng, (1, 2))) for _ in range(2))
    for k in (0, 1, 0):
        assert tuple(map(float, compiled(ours[0], ours[k]))) == both(theirs[0], theirs[k])
    assert len(compiled.traces) == 2


def test_what_cannot_be_drawn():
    def older(x):
        return x + np.random.normal()

    def of_python(x):
        return x + random.gauss(0, 1)

    def without_seed(x):
        return x + np.random.default_rng().normal()

    def of_several(x, rng):
        return rng.multivariate_hypergeometric([1, 2], 2) + x

    rng = np.random.default_rng(0)
    before = rng.bit_generator.state
    cases = [
        (older, (X,), r"np\.random\.normal: .*default_rng\(seed\) as an argument.*\n  at .*generators\.py:"),
        (of_python, (X,), r"random\.gauss: .*default_rng\(seed\) as an argument.*\n  at .*generators\.py:"),
        (without_seed, (X,), r"default_rng\(\) takes another seed in each call.*\n  at .*generators\.py:"),
        (of_several, (X, rng), r"rng\.multivariate_hypergeometric: .*strict=False.*\n  at .*generators\.py:"),
        (walk, (5, np.random.RandomState(3)), r"RandomState.* pass np\.random\.default_rng\(seed\)"),
    ]
    for f, arguments, expected in cases:
        with pytest.raises(TypeError, match=expected):
            ag.jit(f)(*arguments)
    with pytest.raises(ValueError, match="normal: a parameter is out of bounds"):
        ag.jit(lambda x, rng: rng.normal(x, -1.0))(X, rng)
    with pytest.raises(ValueError, match="scale < 0"):
        ag.jit(lambda x, rng: rng.rayleigh(-x))(X, rng)
    assert rng.bit_generator.state == before  # a call that fails draws nothing


def test_draws_that_run_in_python():
    def of_several(x, rng):
        y = rng.multivariate_hypergeometric([1, 2], 2) + x[:2]
        return np.exp(y).sum()

    same_as_numpy(of_several, X / 9, strict=False, calls=1)
