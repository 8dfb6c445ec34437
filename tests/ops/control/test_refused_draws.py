"""Draws whose parameters NumPy's generator refuses are refused: by constants when built, by inputs when called."""

import itertools
from functools import partial

import numpy as np
import pytest

import arignote as ag
from arignote import ops as T

REFUSALS = (ValueError, OverflowError, TypeError)
NUMBERS = [-1.0, -0.0, 0.0, 0.5, 2.0, 1e308, -1e308, np.inf, np.nan]
INTEGERS = [-129, -1, 0, 1, 2, 127, 128, 255, 256, 300, 2**31, 2**62]
SHARES = [0.0, 0.5, 1.0, 1.0 + 1e-9, -0.5, np.nan, np.inf]
"""Shares of success, and weights."""


def refusal(call, *arguments, **options):
    """The class of the exception that a call raises; None for a result."""
    try:
        with np.errstate(all="ignore"):
            call(*arguments, **options)
    except REFUSALS as error:
        return type(error)
    return None


def agree(numpys, ours, *arguments):
    """Check that both functions raise errors of one class, or neither does."""
    expected, found = refusal(numpys, *arguments), refusal(ours, *arguments)
    assert found is expected, f"{arguments}: NumPy {expected}, ours {found}"


NUMPYS = np.random.default_rng(0)


@pytest.mark.few(1)
@pytest.mark.parametrize("name", ["uniform", "normal", "gumbel", "laplace", "logistic", "lognormal"])
def test_distributions_of_two_parameters(name):
    a, b, v, w = T.scalar("a"), T.scalar("b"), T.vector("v"), T.vector("w")
    draw = getattr(T.random.RandomStream(1), name)
    numpys = getattr(NUMPYS, name)
    of_scalars, of_vectors = ag.function([a, b], draw(a, b, size=3)), ag.function([v, w], draw(v, w))
    in_numpy = ag.function([v, w], draw(v, w), mode="NUMPY")
    fixed = ag.function([b], draw(0.0, b))
    for pair in itertools.product(NUMBERS, repeat=2):
        agree(numpys, draw, *pair)
        agree(numpys, of_scalars, *pair)
        agree(numpys, of_vectors, [0.0, pair[0]], [1.0, pair[1]])
    for x in NUMBERS:
        agree(partial(numpys, 0.0), fixed, x)
        agree(numpys, in_numpy, [0.0], [x])
    assert of_vectors(np.zeros(0), np.zeros(0)).shape == (0,)


@pytest.mark.parametrize(
    "name, numpys", [("exponential", NUMPYS.exponential), ("bernoulli", partial(NUMPYS.binomial, 1))]
)
def test_distributions_of_one_parameter(name, numpys):
    x = T.vector("x")
    draw = getattr(T.random.RandomStream(1), name)
    f = ag.function([x], draw(x))
    for number in {*NUMBERS, *SHARES}:
        agree(numpys, f, [0.5, number])
        agree(numpys, draw, [0.5, number])


@pytest.mark.few(2)
@pytest.mark.parametrize("dtype", ["bool", "int8", "uint8", "int16", "uint32", "int64", "uint64"])
def test_integers(dtype):
    rng = T.random.RandomStream(1)
    a, b, v, u = T.lscalar("a"), T.lscalar("b"), T.lvector("v"), T.tensor("u", "uint64", ())
    numpys = partial(NUMPYS.integers, dtype=np.dtype(dtype))
    f = ag.function([a, b], rng.integers(a, b, size=4, dtype=dtype))
    below = ag.function([v], rng.integers(v, dtype=dtype))
    unsigned = ag.function([u], rng.integers(0, u, dtype=dtype))
    for low, high in itertools.product(INTEGERS, repeat=2):
        agree(numpys, f, low, high)
        if refusal(numpys, low, high) is None:
            found = f(low, high)
            assert found.dtype == dtype and all(low <= n < high for n in found.tolist())
    for high in [*INTEGERS, 2**63, 2**64 - 1, 2**64]:
        agree(partial(numpys, 0), partial(rng.integers, 0, dtype=dtype), high)
        if high < 2**63 and dtype != "bool":  # NumPy takes no vectors for bool
            agree(numpys, below, [2, high])
        if 0 <= high < 2**64:
            agree(partial(numpys, 0), unsigned, np.uint64(high))


def test_integers_take_the_whole_range_of_64_bits():
    rng = T.random.RandomStream(3)
    signed, unsigned, high = ag.function(
        [], [rng.integers(-(2**63), 2**63, size=200), rng.integers(0, 2**64, size=200, dtype="uint64"),
             rng.integers(2**63, 2**64 - 1, size=200, dtype="uint64")],
    )()  # fmt: skip
    assert signed.min() < -(2**61) and signed.max() > 2**61
    assert unsigned.min() < 2**61 and unsigned.max() > 2**63 and high.min() >= 2**63


@pytest.mark.few(1)
@pytest.mark.parametrize("replace", [True, False])
def test_choice(replace):
    rng = T.random.RandomStream(1)
    n, k, p, x = T.lscalar("n"), T.lscalar("k"), T.vector("p"), T.vector("x")
    numpys, ours = partial(NUMPYS.choice, replace=replace), partial(rng.choice, replace=replace)
    f = ag.function([n, k], ours(n, size=k))
    of_vector = ag.function([x, k], ours(x, size=k))
    weighted = ag.function([p, k], ours(3, size=k, p=p))
    for count, size in itertools.product([-1, 0, 1, 3, 5], [0, 1, 2, 4, (1, 2), (2, 2)]):
        agree(numpys, ours, count, size)
        if isinstance(size, int):
            agree(numpys, f, count, size)
            agree(numpys, of_vector, np.arange(max(count, 0.0)), size)
    others = [[0.2, 0.3, 0.5], [0.5, 0.5], [0.25] * 4, [0.2, 0.3, 0.5 + 1e-7], []]
    for weights in [*map(list, itertools.product(SHARES, repeat=3)), *others]:
        for size in (0, 1, 2, 3):
            agree(lambda w, s: numpys(3, s, p=w), weighted, weights, size)


@pytest.mark.long
def test_sizes_that_parameters_do_not_fit():
    rng = T.random.RandomStream(1)
    v, w = T.vector("v"), T.matrix("w")
    for size in ((), 1, 3, (3, 2), (2, 1), (2, 3)):
        found = refusal(lambda s: ag.function([v], rng.normal(v, size=s))([1.0, 2.0]), size)
        assert found is refusal(NUMPYS.normal, [1.0, 2.0], size=size)
        if np.size(size) == 2:
            g = ag.function([w], rng.uniform(w, w + 1, size=size))
            for shape in ((2, 1), (1, 3), (2, 3), (3, 2)):
                low = np.zeros(shape)
                assert refusal(g, low) is refusal(NUMPYS.uniform, low, low + 1, size=size)


@pytest.mark.long
def test_messages():
    rng = T.random.RandomStream(1)
    n, p, low = T.lscalar("n"), T.vector("p"), T.scalar("low")
    cases = [
        (lambda: ag.function([n], rng.choice(3, size=n, replace=False))(5), "no more elements .* got 5 of 3"),
        (lambda: rng.integers(0, 300, dtype="uint8"), "high must be from 1 to 256 for uint8, got 300"),
        (lambda: ag.function([n], rng.integers(0, n, dtype="uint8"))(300), "from 1 to 256 for uint8, got 300"),
        (lambda: rng.uniform(3, 1), r"high - low must not be negative, got -2.0"),
        (lambda: ag.function([low], rng.uniform(low, 1))(3.0), r"must not be negative, got -2.0\n.*uniform"),
        (lambda: rng.integers(5, 2), "high must be above low"),
        (
            lambda: ag.function([p], rng.choice(3, size=2, replace=False, p=p))([1.0, 0.0, 0.0]),
            "1 elements above 0, fewer than the 2 to take",
        ),
        (lambda: ag.function([p], rng.bernoulli(p))([0.0, 1.5]), "p must be from 0 to 1"),
        (lambda: ag.function([p], rng.normal(0.0, p))([0.0, -1.5]), "scale must not be negative"),
        (lambda: rng.normal(0.0, [0.0, -1.5, -2.0]), "scale must not be negative, got -1.5"),
        (lambda: ag.function([low], T.nn.dropout(T.ones(3), low, rng))(-0.5), "p must be from 0 to 1, got -0.5"),
    ]
    for call, message in cases:
        with pytest.raises(ValueError, match=f"(?s){message}"):
            call()
