"""Batch normalization folded into weights: before and after, values, and what must not be folded."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import arignote as ag
from arignote import ops as T
from arignote.ops.core.interpret import interpret
from arignote.ops.networks.convolution import Convolution

RNG = np.random.default_rng(5)
RULE = "local_fold_factor_into_weights"


def numbers(*shape, low=0.5, high=1.5, dtype="float32"):
    return RNG.uniform(low, high, shape).astype(dtype)


def normalized(y, channels, axis):
    shape = [1] * y.ndim
    shape[axis] = channels
    mean, deviation, scale, shift = (numbers(channels, dtype=y.dtype).reshape(shape) for _ in range(4))
    return (y - mean) / deviation * scale + shift


def ops_of(f):
    return [node.op for node in f.graph.order]


NETWORKS = {
    "a convolution": lambda x: normalized(T.nn.conv2d(x, numbers(6, 3, 3, 3), padding=1), 6, 1),
    "by channels": lambda x: normalized(T.nn.conv2d(x, numbers(3, 1, 3, 3), groups=3), 3, 1),
    "strided": lambda x: normalized(T.nn.conv2d(x, numbers(4, 3, 2, 2), stride=2), 4, 1),
    "a product": lambda x: normalized(T.dot(x[:, 0, 0], numbers(8, 5)), 5, 1),
    "rows of products": lambda x: normalized(T.matmul(x[:, 0], numbers(8, 5)), 5, 2),
    "with a bias": lambda x: normalized(T.nn.conv2d(x, numbers(6, 3, 3, 3)) + numbers(6, 1, 1), 6, 1),
    "twice": lambda x: normalized(normalized(T.nn.conv2d(x, numbers(6, 3, 1, 1)), 6, 1), 6, 1),
}


@pytest.mark.few(1)
@pytest.mark.parametrize("name", NETWORKS)
def test_nothing_is_scaled_in_a_call(name):
    x = T.tensor("x", "float32", (None, 3, None, 8))
    y = NETWORKS[name](x)
    f = ag.function([x], y, mode="fast_run -fusion -inplace")
    names = [op.name for op in ops_of(f)]
    assert not {"mul", "true_div", "sub"} & {n for n, o in zip(names, f.graph.order, strict=True) if o.out.ndim > 1}
    for shape in ((2, 3, 7, 8), (1, 3, 3, 8), (0, 3, 5, 8)):
        value = numbers(*shape, low=-1)
        expected = interpret(ag.FunctionGraph([x], [y]), [value])[0]
        np.testing.assert_allclose(f(value), expected, rtol=2e-5, atol=2e-5)
        np.testing.assert_allclose(ag.function([x], y)(value), expected, rtol=2e-5, atol=2e-5)


@pytest.mark.parametrize("name", ["a convolution", "a product", "with a bias"])
def test_both_factors_of_a_normalization_are_folded_at_once(name):
    x = T.tensor("x", "float32", (None, 3, None, 8))
    f = ag.function([x], NETWORKS[name](x), mode="fast_run -fusion -inplace")
    assert sum(entry.rule == RULE for entry in f.journal) == 1


def test_factors_that_differ_along_other_axes_stop_no_folding():
    x, rows = T.matrix("x"), numbers(5, 1, dtype="float64")
    y = T.dot(x, numbers(8, 5, dtype="float64")) * numbers(5, dtype="float64") * rows
    f = ag.function([x], y, mode="fast_run -fusion -inplace")
    assert sum(op.name == "mul" for op in ops_of(f)) == 1
    value = numbers(5, 8, dtype="float64")
    np.testing.assert_allclose(f(value), interpret(ag.FunctionGraph([x], [y]), [value])[0], rtol=1e-12)


@settings(max_examples=25)
@given(st.lists(st.sampled_from(["add", "sub", "rsub", "mul", "div", "neg"]), min_size=1, max_size=6), st.booleans())
def test_chains_keep_their_values(steps, is_convolution):
    x = T.tensor4("x") if is_convolution else T.matrix("x")
    rng = np.random.default_rng(len(steps))
    shape = (3, 1, 1) if is_convolution else (3,)
    weights = rng.normal(size=(3, 2, 2, 2) if is_convolution else (4, 3))
    y = T.nn.conv2d(x, weights) if is_convolution else T.dot(x, weights)
    for step in steps:
        c = T.constant(rng.uniform(0.5, 2, shape) * rng.choice([-1, 1]))
        y = {"add": y + c, "sub": y - c, "rsub": c - y, "mul": y * c, "div": y / c, "neg": -y}[step]
    value = rng.normal(size=(2, 2, 5, 4) if is_convolution else (6, 4))
    f = ag.function([x], y, mode=ag.Mode("fast_run", backend="numpy"))
    expected = interpret(ag.FunctionGraph([x], [y]), [value])[0]
    np.testing.assert_allclose(f(value), expected, rtol=1e-9, atol=1e-9)


def test_special_values_come_through():
    x = T.tensor("x", "float64", (None, 2))
    y = T.dot(x, np.array([[1.0, 2.0], [3.0, -4.0]])) * np.array([2.0, -3.0]) + 1.0
    value = np.array([[np.nan, 1], [np.inf, 1], [-np.inf, 1], [np.inf, np.inf], [0.0, -0.0]])
    expected = interpret(ag.FunctionGraph([x], [y]), [value])[0]
    np.testing.assert_array_equal(ag.function([x], y)(value), expected)


@pytest.mark.parametrize(
    "between",
    [
        lambda y, c: T.nn.relu(y) * c,  # a ReLU is no licence to fold
        lambda y, c: T.nn.max_pool2d(y, 2) * c,
        lambda y, c: T.stack([y, y * c]),  # a second reader wants the product itself
        lambda y, c: y * T.constant(numbers(1, 1, 4, 4)),
        lambda y, c: y * 0.0,
        lambda y, c: y * T.constant(np.float32([1e-41, 1, 1, 1]).reshape(4, 1, 1)),  # weights would lose bits
    ],
)
def test_nothing_else_is_folded(between):
    x = T.tensor("x", "float32", (None, 3, 6, 6))
    weights = numbers(4, 3, 3, 3)
    y = between(T.nn.conv2d(x, weights), T.constant(numbers(4, 1, 1)))
    f = ag.function([x], y, mode="fast_run -fusion -inplace")
    kept = [node.inputs[1] for node in f.graph.order if isinstance(node.op, Convolution)]
    assert all(np.array_equal(w.data, weights) for w in kept)


def test_weights_that_are_trained_are_left_alone():
    x, w = T.tensor("x", "float32", (None, 3, 6, 6)), ag.shared(numbers(4, 3, 3, 3))
    y = T.nn.conv2d(x, w) * numbers(4, 1, 1)
    assert "mul" in str(ag.function([x], y, mode="fast_run -fusion").graph)


def test_borders_of_equal_zeros_are_filled_in_place():
    """Equal arrays of zeros are merged; still no border is copied from another array."""
    x = T.tensor("x", "float32", (1, 4, 9, 9))
    y = x
    for _ in range(3):
        y = T.tanh(T.nn.conv2d(y, numbers(4, 4, 3, 3), padding=1))
    f = ag.function([x], y)
    assert sum(op.name == "assembled" for op in ops_of(f)) == 3
    assert not [op for op in ops_of(f) if op.name == "inc_subtensor"]
    value = numbers(1, 4, 9, 9, low=-1)
    np.testing.assert_allclose(f(value), interpret(ag.FunctionGraph([x], [y]), [value])[0], rtol=1e-4, atol=1e-5)
