"""Channels removed from inference graphs: values, shapes, the ops between layers, refusals."""

import numpy as np
import pytest
from draws import mostly_long

import arignote as ag
from arignote import ops as T

RNG = np.random.default_rng(9)
X = T.tensor("x", "float32", (None, 3, 8, 8))
ROWS = T.fmatrix("rows")
GONE = [1, 4, 5]


def numbers(*shape):
    return RNG.standard_normal(shape).astype("float32")


def kernels(out=8, channels=3, size=3):
    w = numbers(out, channels, size, size)
    w[GONE] = 0
    return w


def columns(rows=5, count=8):
    w = numbers(rows, count)
    w[:, GONE] = 0
    return w


def conv(x, w, padding=0, **options):
    return T.nn.conv2d(x, w, padding=padding, **options)


def channelwise(v):
    return v.reshape(1, -1, 1, 1)


BIAS, FLAT = channelwise(numbers(8)), numbers(8 * 36, 4)
ZERO_BIAS = channelwise(np.where(np.isin(range(8), GONE), 0, numbers(8)).astype("float32"))
NETWORKS = {
    "relu with a bias, then flat": lambda: T.relu(conv(X, kernels()) + BIAS).reshape((X.shape[0], -1)) @ FLAT,
    "padded convolutions": lambda: conv(T.relu(conv(X, kernels(), 1) + ZERO_BIAS), kernels(8, 8), 1).max(axis=1),
    "a bias, no padding": lambda: conv(T.relu(conv(X, kernels()) + BIAS), numbers(6, 8, 3, 3)),
    "two in a row": lambda: conv(conv(conv(X, kernels()) + BIAS, kernels(8, 8)) + BIAS, numbers(2, 8, 1, 1)),
    "max pooling": lambda: conv(T.nn.max_pool2d(T.tanh(conv(X, kernels(), 1) + BIAS), 2), numbers(6, 8, 2, 2)),
    "mean pooling": lambda: conv(T.nn.avg_pool2d(conv(X, kernels(), 1) + BIAS, 2), numbers(6, 8, 2, 2)),
    "global mean": lambda: T.mean(T.sigmoid(conv(X, kernels())), axis=(2, 3)) @ numbers(8, 4),
    "depthwise": lambda: conv(
        conv(T.relu(conv(X, kernels(size=1)) + BIAS), numbers(8, 1, 3, 3), groups=8), numbers(4, 8, 1, 1)
    ),
    "batch normalization": lambda: conv(
        T.relu(T.nn.batch_norm(conv(X, kernels()), *(ag.shared(np.abs(numbers(8))) for _ in range(4)))),
        numbers(6, 8, 3, 3),
    ),
    "slices": lambda: conv(T.relu(conv(X, kernels()))[:, :, 1:, ::2], numbers(6, 8, 2, 2)),
    "moved axes": lambda: conv(X, kernels()).transpose((0, 2, 3, 1)) @ numbers(8, 4),
    "two operands": lambda: conv(T.nn.silu(conv(X, kernels())), numbers(6, 8, 3, 3)),
    "products": lambda: T.relu(X[:, :, 0, :5].reshape((-1, 5)) @ columns() + numbers(8)) @ columns(8) @ numbers(8, 3),
}
ORDINARY = {"padded convolutions", "max pooling", "depthwise", "batch normalization", "products"}
"""Networks of ordinary tests; the others are long."""


@pytest.mark.parametrize("name", mostly_long(NETWORKS, ORDINARY))
def test_the_function_stays_and_weights_shrink(name):
    y, value = NETWORKS[name](), numbers(2, 3, 8, 8)
    if name == "padded convolutions":
        with pytest.raises(ValueError, match="remove_channels: max reads channels whose weights"):
            ag.freeze(y, remove_channels=True)
        y = conv(T.relu(conv(X, kernels(), 1) + ZERO_BIAS), numbers(8, 8, 3, 3), 1)
    whole, small = ag.freeze(y), ag.freeze(y, remove_channels=True)
    np.testing.assert_allclose(small(value), whole(value), rtol=2e-4, atol=2e-4)
    plain = ag.Mode("fast_run -layout", backend="numpy")  # blocks of channels are filled up with zeros
    sizes = [[c.data.size for c in ag.freeze(y, remove_channels=r, mode=plain).graph.constants] for r in (False, True)]
    assert max(sizes[1]) < max(sizes[0]) and sum(sizes[1]) < 0.85 * sum(sizes[0])
    assert whole.graph.outputs[0].type == small.graph.outputs[0].type


def test_a_function_without_zero_channels_stays():
    y, value = conv(conv(X, numbers(4, 3, 3, 3)), numbers(2, 4, 3, 3)), numbers(1, 3, 8, 8)
    np.testing.assert_array_equal(ag.freeze(y, remove_channels=True)(value), ag.freeze(y)(value))
    nothing = T.relu(conv(X, np.zeros((4, 3, 3, 3), "float32")) + 1) * 1.0
    found = ag.freeze(conv(nothing, w := numbers(2, 4, 3, 3)), remove_channels=True)(value)
    np.testing.assert_allclose(found[0, :, 0, 0], w.sum((1, 2, 3)), rtol=1e-5)


REFUSED = {
    "a computed operand": (lambda: conv(X, kernels(), 1) + conv(X, numbers(8, 3, 3, 3), 1), "add reads .*is computed"),
    "an output": (lambda: T.relu(conv(X, kernels())), "output 0 has channels whose weights are all zero"),
    "padding": (lambda: conv(conv(X, kernels()) + BIAS, numbers(2, 8, 3, 3), 1), "puts another number than"),
    "some of them": (lambda: conv(conv(X, kernels())[:, 2:], numbers(2, 6, 3, 3)), "subtensor reads .*some of them"),
    "all of them": (lambda: conv(X, kernels()).sum(axis=1), "sum reads .*reduces them"),
    "an op without a form": (lambda: T.cumsum(conv(X, kernels()), axis=0), "cumsum reads .*no form without them"),
    "groups": (lambda: conv(conv(X, kernels()), numbers(4, 4, 3, 3), groups=2), "its groups have several channels"),
    "computed weights": (lambda: conv(X, kernels()).reshape((-1, 8)) @ ROWS, "reshape reads"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_removed_is_refused_by_name(name):
    build, message = REFUSED[name]
    with pytest.raises(ValueError, match=message):
        ag.freeze(build(), remove_channels=True)
