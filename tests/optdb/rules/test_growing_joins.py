"""Joins of which each continues another one lie in one array; what else reads them decides."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import arignote as ag
from arignote import ops as T
from arignote.ops.lowered.fused import unmarked

RNG = np.random.default_rng(6)


def names(f):
    return [unmarked(node.op).name for node in f.graph.order]


def first_of(x, axis):
    return x[(*[slice(None)] * axis, slice(None, 1))]


def dense(x, steps, axis=1, joined=None):
    """The parts that steps make, each of all that came before it, joined."""
    parts = [x]
    for k in range(steps):
        whole = parts[0] if len(parts) == 1 else T.concatenate(parts, axis=axis)
        parts.append(first_of(T.tanh(T.cumsum(whole, axis=axis)) * (k + 1), axis))
        if joined is not None:
            joined.append(whole)
    return T.concatenate(parts, axis=axis)


def test_a_chain_of_joins_is_written_part_by_part():
    x = T.matrix("x", shape=(None, 4))
    y = dense(x, 6)
    f, plain, separate = (ag.function([x], y, mode=mode) for mode in (None, "NUMPY", "fast_run -growing_joins"))
    writes = [node.op for node in f.graph.order if unmarked(node.op).name == "inc_subtensor"]
    assert len(writes) == 5 and all(op is not unmarked(op) for op in writes)  # in place
    assert "join" not in names(f) and names(f).count("assembled") == 2  # the first two parts, and the array
    for rows in (0, 1, 5):
        value = RNG.standard_normal((rows, 4))
        np.testing.assert_array_equal(f(value), separate(value))
        np.testing.assert_allclose(f(value), plain(value), rtol=1e-14)


def test_a_dense_block_of_convolutions():
    x = T.tensor("x", "float32", (1, 16, 9, 8))
    kernels = [RNG.standard_normal((16, 16 * (k + 1), 3, 3)).astype("float32") / 20 for k in range(5)]
    parts = [x]
    for w in kernels:
        whole = parts[0] if len(parts) == 1 else T.concatenate(parts, axis=1)
        scale = RNG.uniform(0.5, 1.5, (1, whole.type.shape[1], 1, 1)).astype("float32")
        parts.append(T.nn.conv2d(T.nn.relu(whole * scale), w, padding=1))
    y = T.concatenate(parts, axis=1)
    f, plain = ag.function([x], y), ag.function([x], y, mode="NUMPY")
    assert names(f).count("join") <= 1
    value = RNG.standard_normal((1, 16, 9, 8)).astype("float32")
    np.testing.assert_allclose(f(value), plain(value), rtol=0, atol=1e-5 * np.abs(plain(value)).max())
    assert np.array_equal(f(value), ag.function([x], y, threads=3)(value))
    assert np.array_equal(f(value), f(value))


@pytest.mark.long
def test_what_is_read_later_or_handed_out_stays_a_join():
    x = T.matrix("x", shape=(None, 4))
    joined = []
    y = dense(x, 5, joined=joined)
    read_later = y.sum() + T.cumsum(joined[3] * y.sum(), axis=0).sum()
    for results in ([y, joined[2]], [read_later], [y, *joined]):
        f, plain = ag.function([x], results), ag.function([x], results, mode="NUMPY")
        value = RNG.standard_normal((3, 4))
        for got, expected in zip(f(value), plain(value), strict=True):
            np.testing.assert_allclose(got, expected, rtol=1e-12)


@pytest.mark.parametrize("mode", ["fast_run -inplace", "fast_run -growing_joins", "fast_compile"])
def test_modes_without_work_in_place_leave_joins(mode):
    x = T.matrix("x", shape=(None, 4))
    f = ag.function([x], dense(x, 5), mode=mode)
    assert "inc_subtensor" not in names(f)


def test_lengths_that_disagree_are_an_error_still():
    x, y, z, w = (T.matrix(name, shape=(None, 2)) for name in "xyzw")
    chain = [T.concatenate(v, axis=1) for v in ([x, y], [x, y, z], [x, y, z, w])]
    f = ag.function([x, y, z, w], [T.exp(v).sum() for v in chain[:2]] + [chain[2]])
    one, two = np.ones((1, 2)), np.ones((2, 2))
    with pytest.raises(ValueError, match=r"lengths|axis 0"):
        f(two, two, one, two)


@pytest.mark.long
@settings(max_examples=5)
@given(st.data())
def test_any_joins(data):
    """Five arrays and their joins in one function."""
    drawn = [any_joins(data) for _ in range(5)]
    inputs, outputs = [x for x, _, _ in drawn], [y for _, several, _ in drawn for y in several]
    values = [np.random.default_rng(1).uniform(-1, 1, lengths) for _, _, lengths in drawn]
    f, plain = ag.function(inputs, outputs), ag.function(inputs, outputs, mode="NUMPY")
    for got, expected in zip(f(*values), plain(*values), strict=True):
        np.testing.assert_allclose(got, expected, rtol=1e-12)


def any_joins(data):
    """An input, joins that are drawn of it, and the lengths of a value."""
    axis, steps = data.draw(st.integers(0, 2)), data.draw(st.integers(2, 7))
    lengths = [data.draw(st.integers(0, 3)) for _ in range(3)]
    shape = [n if k == axis else None for k, n in enumerate(lengths)]
    x = T.tensor("x", "float64", tuple(shape))
    parts, read = [x, x + 1], []
    for k in range(steps):
        whole = T.concatenate(parts, axis=axis)
        if data.draw(st.booleans()):
            read.append(whole)
        extra = [first_of(T.cumsum(whole, axis=axis), axis) for _ in range(data.draw(st.integers(1, 2)))]
        parts = [*parts, *(e + k for e in extra)]
        if data.draw(st.integers(0, 4)) == 0:
            parts = parts[::-1]
    return x, [T.concatenate(parts, axis=axis), *(r * 2 if data.draw(st.booleans()) else r for r in read)], lengths


def test_two_joins_are_too_few():
    x = T.matrix("x", shape=(None, 4))
    f, plain = (ag.function([x], dense(x, 2), mode=mode) for mode in (None, "NUMPY"))  # a failing pass would warn
    value = RNG.normal(size=(3, 4))
    np.testing.assert_allclose(f(value), plain(value), rtol=1e-12)
    assert names(f).count("inc_subtensor") == 0
