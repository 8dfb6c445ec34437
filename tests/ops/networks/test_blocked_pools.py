"""Pools of channels in blocks: windows over borders, special values, epilogues, pairs with convolutions, joins."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import arignote as ag
from arignote import ops as T
from arignote.ops.lowered.blocked_pool import BlockedPool
from arignote.targets.current import current

RNG = np.random.default_rng(5)
SPECIAL = np.array([np.nan, np.inf, -np.inf, -0.0, 0.0])


def largest(x, op):
    """The largest number of each window, position by position, by NumPy's maximum."""
    around = np.pad(x, ((0, 0), (0, 0), *op.padding, (0, 0)), constant_values=-np.inf)
    windows = op._plain.windows(around, (*op.kernel, 1))
    flat = windows.reshape(*windows.shape[:2], op.kernel[0] * op.kernel[1], *windows.shape[5:])
    found = flat[:, :, 0]
    for k in range(1, flat.shape[2]):
        found = np.maximum(found, flat[:, :, k])
    return found


def names(f):
    return [getattr(node.op, "product", node.op).name for node in f.graph.order]


@settings(max_examples=15)
@given(st.data())
def test_any_pool(data):
    """Four pools in one function, each with a result that only an epilogue reads and one that nothing else reads."""
    pools = [any_pool(data) for _ in range(4)]
    inputs, outputs, values = [], [], []
    for op, x, value in pools:
        alone, y = T.tensor(None, x.dtype, x.type.shape), op(x)
        inputs += [x, alone]
        outputs += [y, T.exp(y), op(alone)]
        values += [value, value]
    one, two = (ag.function(inputs, outputs, threads=threads)(*values) for threads in (1, 2))
    for k, (op, _, value) in enumerate(pools):
        got, more, alone = one[3 * k : 3 * k + 3]
        if op.sums:
            np.testing.assert_allclose(got, op.evaluate(value)[0], rtol=1e-5, atol=1e-6)
        else:
            want = largest(value, op)
            np.testing.assert_array_equal(got, want)
            if min(value.shape[2:4]) >= max(max(p) for p in op.padding) + 1:
                np.testing.assert_array_equal(np.isnan(got), np.isnan(op.evaluate(value)[0]))
        with np.errstate(all="ignore"):
            np.testing.assert_allclose(more, np.exp(got), rtol=1e-5)
        assert got.tobytes() == alone.tobytes() == two[3 * k].tobytes() == two[3 * k + 2].tobytes()


def any_pool(data):
    """A drawn pool, an input for it, and a value of the input."""
    draw = lambda *a: data.draw(st.integers(*a))  # noqa: E731
    dtype = data.draw(st.sampled_from(["float32", "float64"]))
    size = data.draw(st.sampled_from([current().vector // np.dtype(dtype).itemsize, 4, 3]))
    pairs = lambda most, least=1: (draw(least, most), draw(least, most))  # noqa: E731
    kernel, stride, dilation, sums = pairs(4), pairs(3), pairs(2), data.draw(st.booleans())
    op = BlockedPool(kernel, stride, dilation, (pairs(3, 0), pairs(3, 0)), sums)
    lengths = [draw(d * (k - 1) + 1, 24) for k, d in zip(kernel, dilation, strict=True)]
    fixed = np.random.default_rng(draw(0, 9))
    value = fixed.uniform(-1, 1, (draw(0, 3), draw(1, 3), *lengths, size)).astype(dtype)
    if not sums:
        places = fixed.random(value.shape) < 0.2
        value[places] = fixed.choice(SPECIAL, places.sum())
    return op, T.tensor("x", dtype, value.shape if data.draw(st.booleans()) else (None, None, None, None, size)), value


@pytest.mark.few(6)
@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("channels", [16, 40])
@pytest.mark.parametrize(("kernel", "stride", "padding"), [(3, 2, 1), (3, 2, 0), (2, 2, 0), (3, 1, 1), (7, 3, 2)])
def test_networks(kernel, stride, padding, channels, known):
    """Of few products a pool is one call with its convolution, and no border is copied."""
    w, v = (RNG.uniform(-0.3, 0.3, shape).astype("float32") for shape in ((channels, 3, 3, 3), (24, channels, 1, 1)))
    x = T.tensor("x", "float32", (2, 3, 43, 38) if known else (None, 3, None, None))
    y = T.nn.max_pool2d(T.nn.relu(T.nn.conv2d(x, w, stride=2)), kernel, stride, padding)
    y = T.nn.conv2d(T.nn.avg_pool2d(y, 2, 1), v)
    f, plain = ag.function([x], y), ag.function([x], y, mode="NUMPY")
    assert "convolution_pair" in names(f) and "inc_subtensor" not in names(f)
    assert not {"max_pool", "sum_pool", "alloc"} & set(names(f))
    value = RNG.uniform(-1, 1, (2, 3, 43, 38)).astype("float32")
    value[0, 1, 5, 7] = np.nan
    np.testing.assert_allclose(f(value), plain(value), rtol=1e-5, atol=1e-5)
    assert np.array_equal(f(value), ag.function([x], y, threads=3)(value), equal_nan=True)
    separate = ag.function([x], y, mode="fast_run -local_convolution_pair")
    assert "convolution_pair" not in names(separate)
    assert np.array_equal(f(value), separate(value), equal_nan=True)


def test_parts_of_a_join():
    """A pool is computed in its place of a join."""
    w = RNG.uniform(-0.3, 0.3, (32, 3, 3, 3)).astype("float32")
    x = T.tensor("x", "float32", (1, 3, 20, 20))
    y = T.nn.relu(T.nn.conv2d(x, w))
    y = T.join(1, T.nn.max_pool2d(y, 3, 2, 1), T.nn.conv2d(y, T.constant(w[:, :1].repeat(32, 1)), stride=2, padding=1))
    f, plain = ag.function([x], T.exp(y)), ag.function([x], T.exp(y), mode="NUMPY")
    value = RNG.uniform(-1, 1, (1, 3, 20, 20)).astype("float32")
    np.testing.assert_allclose(f(value), plain(value), rtol=1e-4)


@pytest.mark.long
def test_pools_as_other_ops_and_their_gradient():
    x = T.tensor("x", "float64", (2, 2, 6, 5, 4))
    value = RNG.uniform(-1, 1, x.type.shape)
    for sums in (False, True):
        op = BlockedPool((3, 2), (2, 1), (1, 2), ((1, 1), (0, 1)), sums)
        in_ops, itself = ag.function([x], [op.expand([x]), op(x)], mode="NUMPY")(value)
        np.testing.assert_array_equal(in_ops, itself)
        for mode in ("NUMPY", "fast_run"):
            gradients = [ag.grad(T.square(v).sum(), x) for v in (op(x), op.expand([x]))]
            slopes = ag.function([x], gradients, mode=mode)(value)
            np.testing.assert_allclose(*slopes, rtol=1e-12)


def test_profiles_of_a_pool_count_its_epilogue():
    x = T.tensor("x", "float32", (1, 1, 4, 4, 4))
    op = BlockedPool((2, 2), (2, 2), (1, 1), ((0, 0), (0, 0)), False)
    f = ag.function([x], T.exp(op(x)), profile=True)
    f(np.ones((1, 1, 4, 4, 4), "float32"))
    assert len([s for s in f.profile.steps if "blocked_pool" in s.text and s.flops > 0]) == 1


def test_bad_input():
    op = BlockedPool((3, 3), (1, 1), (1, 1), ((0, 0), (0, 0)))
    with pytest.raises(TypeError, match="blocked_pool takes float32 or float64 of rank 5, got"):
        op(T.tensor("x", "int8", (1, 1, 4, 4, 8)))
    with pytest.raises(ValueError, match="extends over 3 positions"):
        op(T.tensor("x", "float32", (1, 1, 2, 4, 8)))
