"""The softmax family, activations and losses: against longer arithmetic, at the edges, and their derivatives."""

import math

import numpy as np
import pytest
from against_numpy import assert_like_numpy, sample
from gradients import assert_gradient

import arignote as ag
import arignote.ops.nn as nn
from arignote import ops as T
from arignote.graph import NoGradient, same_shape
from arignote.ops.core.backward import pull_back

DTYPES = {"float16": 2e-3, "float32": 1e-6, "float64": 1e-14}
SHAPES = [((4,), 0), ((1,), 0), ((2, 3), 1), ((2, 3), 0), ((2, 5, 3), 1), ((0, 3), 1), ((3, 0), 0)]


def reference(x, axis):
    """softmax, log_softmax, logsumexp in long double."""
    wide = x.astype(np.longdouble)
    top = wide.max(axis=axis, keepdims=True)
    e = np.exp(wide - top)
    total = e.sum(axis=axis, keepdims=True)
    return e / total, wide - top - np.log(total), np.squeeze(top + np.log(total), axis)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("shape", "axis"), SHAPES)
def test_softmax_family(shape, axis, dtype):
    x = 5 * sample(shape, dtype)
    for position, op in enumerate([T.Softmax(axis), T.LogSoftmax(axis), T.LogSumExp(axis)]):
        expected = reference(x, axis)[position].astype(dtype)
        assert_like_numpy(op, lambda _, expected=expected: expected, x, rtol=DTYPES[dtype])


def test_functions_of_the_family():
    x = sample((2, 3, 4))
    assert_like_numpy(T.softmax, lambda v: reference(v, 2)[0].astype("float64"), x, rtol=1e-14)
    assert_like_numpy(lambda v: T.log_softmax(v, 1), lambda v: reference(v, 1)[1].astype("float64"), x, rtol=1e-14)
    for axis in (None, 0, -1, (0, 2), (1, 2), (0, 1, 2)):
        for keepdims in (False, True):
            expected = np.log(np.exp(x).sum(axis=axis, keepdims=keepdims))
            ours = lambda v, a=axis, k=keepdims: T.logsumexp(v, a, k)  # noqa: E731
            assert_like_numpy(ours, lambda v, e=expected: e, x, rtol=1e-14)
    assert T.softmax(T.lmatrix()).dtype == "float64"
    with pytest.raises(TypeError, match="takes a floating-point tensor"):
        T.softmax(T.zmatrix())
    with pytest.raises(np.exceptions.AxisError, match="axis 2 is out of bounds"):
        T.softmax(T.matrix(), 2)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_large_and_infinite_elements(dtype):
    big, inf = np.finfo(dtype).max / 2, np.inf
    rows = np.array([[big, 0, -big], [-inf, 0, 1], [-inf, -inf, -inf], [inf, 0, 1], [np.nan, 0, 1]], dtype)
    softmax, logs, total = (op.evaluate(rows)[0] for op in (T.Softmax(1), T.LogSoftmax(1), T.LogSumExp(1)))
    np.testing.assert_array_equal(softmax[0], [1, 0, 0])
    np.testing.assert_array_equal(logs[0][:2], [0, -big])
    assert softmax[1][0] == 0
    assert logs[1][0] == -inf
    assert np.isclose(softmax[1].sum(), 1, atol=1e-3)
    assert np.isnan(softmax[[2, 4]]).all() and np.isnan(logs[[2, 4]]).all()
    assert np.isnan(softmax[3]).all() and np.isnan(logs[3]).all()
    literal = [op.evaluate(rows)[0][3] for op in (T.Softmax(1, literal=True), T.LogSoftmax(1, literal=True))]
    np.testing.assert_array_equal(literal, [[np.nan, 0, 0], [np.nan, -inf, -inf]])  # as exp(x) / sum(exp(x)) has it
    np.testing.assert_array_equal(total[[0, 2, 3, 4]], np.array([big, -inf, inf, np.nan], dtype))


def test_of_no_elements():
    assert T.LogSumExp(1).evaluate(np.ones((2, 0)))[0].tolist() == [-np.inf, -np.inf]
    assert T.Softmax(1).evaluate(np.ones((2, 0)))[0].shape == (2, 0)


@pytest.mark.parametrize("static", [True, False])
@pytest.mark.parametrize(("shape", "axis"), SHAPES)
def test_derivatives_of_the_family(shape, axis, static):
    for function in (T.softmax, T.log_softmax, T.logsumexp):
        assert_gradient(lambda v: function(v, axis), 3 * sample(shape), static=static)  # noqa: B023
    assert_gradient(lambda v: T.logsumexp(v, None, keepdims=True), sample(shape), static=static)


def test_derivatives_at_large_elements():
    x = T.vector("x")
    value = np.array([1000.0, 0, -1000])
    for function, expected in [(T.log_softmax, [0.0, 0, -1]), (T.logsumexp, [1.0, 0, 0])]:
        result = function(x)
        cotangent = T.constant([0.0, 1, 0] if result.ndim else 1.0)
        (g,) = pull_back([result], [cotangent], [x])
        expected = [-1.0, 1, 0] if result.ndim else expected
        np.testing.assert_array_equal(g.eval({x: value}), expected)


# --- activations


@pytest.mark.parametrize(
    ("function", "numpys"),
    [
        (nn.relu, lambda x: np.maximum(x, 0)),
        (nn.silu, lambda x: x / (1 + np.exp(-x))),
        (nn.leaky_relu, lambda x: np.where(x > 0, x, 0.01 * x)),
        (nn.elu, lambda x: np.where(x > 0, x, np.expm1(x))),
        (nn.sigmoid, lambda x: 1 / (1 + np.exp(-x))),
        (nn.softplus, lambda x: np.log1p(np.exp(x))),
        (nn.tanh, np.tanh),
    ],
)
def test_activations(function, numpys):
    x = 3 * sample((3, 5))
    assert_like_numpy(function, numpys, x, rtol=1e-14)
    assert_gradient(function, x)
    assert function(T.fmatrix()).dtype == "float32"


def test_gelu():
    mpmath = pytest.importorskip("mpmath")
    x = np.array([-30.0, -8, -1, -1e-9, 0, 0.5, 4])
    expected = [float(v * mpmath.ncdf(v)) for v in x]
    # The rounding of x / sqrt(2) comes out of the exponential tail x**2 times as large.
    allowed = (4 + x**2) * np.finfo(float).eps * np.abs(expected)
    assert (np.abs(nn.gelu(T.constant(x)).eval({}) - expected) <= allowed).all()
    assert_gradient(nn.gelu, sample(5))
    assert nn.gelu(T.fvector()).dtype == "float32"


def test_compiled_gelu_of_float32_is_exact_in_its_tail():
    """No rounding of x / sqrt(2), which would come out x**2 times as large."""
    x = np.concatenate([np.linspace(-14.5, 14.5, 40001), [0, -0.0, 1e-30, -1e-30, -20, 20, 3e38]]).astype("float32")
    given = T.fvector("x")
    f = ag.function([given], nn.gelu(given))
    assert "normal_tails" in str(f.graph)
    expected = np.array([v / 2 * math.erfc(-v / math.sqrt(2)) for v in x.astype("float64")])
    got, limits = f(x), np.finfo("float32")
    assert (np.abs(got - expected) <= 6 * limits.eps * np.abs(expected) + 16 * limits.smallest_subnormal).all()
    assert np.array_equal(np.signbit(got), np.signbit(expected))
    assert np.isnan(f(np.float32([np.nan]))).all() and f(np.float32([np.inf]))[0] == np.inf


@pytest.mark.parametrize(("name", "role"), [
    ("selu", "alpha"), ("elu", "alpha"), ("celu", "alpha"), ("hardtanh", "min_val"), ("hardsigmoid", "slope"),
    ("leaky_relu", "slope"),
])  # fmt: skip
def test_pytorchs_inplace_is_no_number(name, role):
    with pytest.raises(TypeError, match=f"{name}: {role} is True; expected a number"):
        getattr(T.nn, name)(T.vector("x"), True)


def test_elu_derivative_does_not_overflow():
    x = T.vector("x")
    (g,) = pull_back([T.sum(nn.elu(x))], [T.constant(1.0)], [x])
    np.testing.assert_array_equal(g.eval({x: np.array([2000.0, -2000])}), [1, 0])


# --- losses


def distribution(shape):
    p = np.random.default_rng(3).uniform(0.1, 1, shape)
    return p / p.sum(axis=-1, keepdims=True)


@pytest.mark.parametrize("label", ["int64", "int8", "uint8"])
@pytest.mark.parametrize("shape", [(4,), (3, 4), (2, 3, 4), (0, 4)])
def test_categorical_crossentropy(shape, label):
    p, rng = distribution(shape), np.random.default_rng(4)
    labels = rng.integers(0, 4, shape[:-1]).astype(label)
    picked = lambda p, t: -np.log(np.take_along_axis(p, t[..., None].astype(int), -1)[..., 0])  # noqa: E731
    assert_like_numpy(T.categorical_crossentropy, picked, p, labels, rtol=1e-14)
    assert_like_numpy(nn.softmax_crossentropy, lambda x, t: picked(np.exp(x), t), np.log(p), labels, rtol=1e-13)
    spread = lambda p, t: -(t * np.log(p)).sum(-1)  # noqa: E731
    one_hot = np.eye(4)[labels]
    for targets in (one_hot, one_hot.astype(label), distribution(shape)):
        assert_like_numpy(T.categorical_crossentropy, spread, p, targets, rtol=1e-14)
        assert_like_numpy(nn.softmax_crossentropy, lambda x, t: spread(np.exp(x), t), np.log(p), targets, rtol=1e-13)
    assert_like_numpy(lambda t: nn.one_hot(t, 4), lambda t: np.eye(4)[t], labels)
    for given in ((), (-1,)) if labels.size else ():
        assert_like_numpy(lambda t, given=given: nn.one_hot(t, *given), lambda t: np.eye(t.max() + 1)[t], labels)


def test_losses_keep_float32():
    assert T.categorical_crossentropy(T.fmatrix(), T.lvector()).dtype == "float32"
    assert T.categorical_crossentropy(T.fmatrix(), T.lmatrix()).dtype == "float32"
    assert T.binary_crossentropy(T.fmatrix(), T.lmatrix()).dtype == "float32"
    assert nn.sigmoid_crossentropy(T.fmatrix(), T.tensor("t", "bool", (None, None))).dtype == "float32"


def test_labels_out_of_range_and_of_other_ranks():
    p, t = T.matrix("p"), T.lvector("t")
    with pytest.raises(IndexError, match="index 4 is out of bounds for axis 1 with size 4"):
        T.categorical_crossentropy(p, t).eval({p: np.ones((2, 4)), t: [0, 4]})
    for wrong in (T.vector("t"), T.lscalar("t"), T.tensor3("t")):
        with pytest.raises(TypeError, match=r"targets must be .*rank 1 or a distribution of rank 2 for p"):
            T.categorical_crossentropy(p, wrong)


def test_binary_crossentropy():
    p, t = distribution((3, 4)), np.random.default_rng(5).integers(0, 2, (3, 4))
    numpys = lambda p, t: -(t * np.log(p) + (1 - t) * np.log(1 - p))  # noqa: E731
    for targets in (t, t.astype(float), distribution((3, 4)), t.astype(bool)):
        as_numbers = targets * 1
        assert_like_numpy(T.binary_crossentropy, lambda p, t, n=as_numbers: numpys(p, n), p, targets, rtol=1e-13)
        logits = np.log(p) - np.log1p(-p)
        assert_like_numpy(nn.sigmoid_crossentropy, lambda x, t, n=as_numbers: numpys(p, n), logits, targets, rtol=1e-13)


@pytest.mark.parametrize("static", [True, False])
def test_derivatives_of_losses(static):
    p, x = distribution((3, 4)), sample((3, 4))
    labels, t = T.constant([0, 3, 1]), T.constant(distribution((3, 4)))
    for targets in (labels, t):
        assert_gradient(lambda v: T.categorical_crossentropy(v, targets), p, static=static)  # noqa: B023
        assert_gradient(lambda v: nn.softmax_crossentropy(v, targets), x, static=static)  # noqa: B023
    assert_gradient(lambda v: T.binary_crossentropy(v, t), p, static=static)
    assert_gradient(lambda v: nn.sigmoid_crossentropy(v, t), x, static=static)
    assert_gradient(lambda v: nn.softmax_crossentropy(x, v), p, static=static)


def test_stable_losses_at_the_tails():
    x = T.matrix("x")
    cost = T.sum(nn.softmax_crossentropy(x, T.constant([1, 0])))
    (g,) = pull_back([cost], [T.constant(1.0)], [x])
    value = np.array([[1000.0, -1000], [3, 3]])
    assert cost.eval({x: value}) == 2000 + np.log(2)
    np.testing.assert_array_equal(g.eval({x: value}), [[1, -1], [-0.5, 0.5]])
    for sign, largest in [(1.0, 0), (-1.0, 800)]:
        assert nn.sigmoid_crossentropy(sign * x, T.constant([[1.0, 0]])).eval({x: [[800.0, -800]]}).max() == largest


def test_stop_gradient():
    x = T.vector("x")
    (g,) = pull_back([T.sum(T.stop_gradient(x) * x)], [T.constant(1.0)], [x])
    np.testing.assert_array_equal(g.eval({x: [2.0, 3]}), [2, 3])
    assert same_shape(T.stop_gradient(x), x)
    with pytest.raises(NoGradient, match="stop_gradient or name it in consider_constant"):
        pull_back([T.sum(T.polygamma(x, 1.5))], [T.constant(1.0)], [x])


# --- normalization and tables


@pytest.mark.parametrize("axis", [-1, 0, (1, 2)])
def test_layer_norm_is_the_formula(axis):
    rng = np.random.default_rng(0)
    a = rng.standard_normal((3, 4, 5))
    x, gamma, beta = T.tensor3("x"), T.vector("gamma"), T.vector("beta")
    plain, scaled = T.nn.layer_norm(x, axis=axis), T.nn.layer_norm(x, gamma, beta, axis=axis, eps=1e-3)
    g, b = rng.standard_normal((2, 5))
    found = T.evaluate([plain, scaled], {x: a, gamma: g, beta: b})
    centred = a - a.mean(axis, keepdims=True)
    variance = a.var(axis, keepdims=True)
    np.testing.assert_allclose(found[0], centred / np.sqrt(variance + 1e-5))
    np.testing.assert_allclose(found[1], g * centred / np.sqrt(variance + 1e-3) + b)


@pytest.mark.parametrize("function, name", [(T.nn.layer_norm, "gamma"), (T.nn.rms_norm, "weight")])
def test_lengths_of_axes_are_no_factor(function, name):
    with pytest.raises(TypeError, match=rf"_norm: {name} must be an array, got \(5,\); the axes, .* are axis="):
        function(T.tensor3("x"), (5,))


def test_batch_norm_over_a_batch_and_with_averages():
    rng = np.random.default_rng(0)
    a = rng.standard_normal((6, 3, 4, 5))
    g, b, m = rng.standard_normal((3, 3))
    v = rng.uniform(1, 2, 3)
    x = T.tensor4("x")
    by_batch, by_average = T.nn.batch_norm(x, g, b), T.nn.batch_norm(x, g, b, m, v)
    last = T.nn.batch_norm(x, g, b, axis=-1)
    found = T.evaluate([by_batch, by_average], {x: a})
    column = (slice(None), None, None)
    mean, variance = a.mean((0, 2, 3)), a.var((0, 2, 3))
    expected = g[column] * (a - mean[column]) / np.sqrt(variance[column] + 1e-5) + b[column]
    np.testing.assert_allclose(found[0], expected)
    np.testing.assert_allclose(found[1], g[column] * (a - m[column]) / np.sqrt(v[column] + 1e-5) + b[column])
    moved = np.moveaxis(a, 1, -1)
    np.testing.assert_allclose(T.evaluate([last], {x: moved})[0], np.moveaxis(expected, 1, -1))
    with pytest.raises(TypeError, match="mean and variance are given together or both left out"):
        T.nn.batch_norm(x, g, b, m)


def test_embedding_and_its_gradient():
    w, i = T.matrix("w"), T.lmatrix("i")
    values = np.arange(8.0).reshape(4, 2)
    indices = np.array([[0, 3, 3], [1, 1, -1]])
    rows = T.nn.embedding(i, w)
    (back,) = pull_back([rows], [T.ones_like(rows)], [w])
    found, gradient = T.evaluate([rows, back], {w: values, i: indices})
    np.testing.assert_array_equal(found, values[indices])
    np.testing.assert_array_equal(gradient, np.bincount(indices.ravel() % 4, minlength=4)[:, None] * np.ones(2))
    for padding, row in ((1, 1), (-1, 3)):
        rows = T.nn.embedding(i, w, padding)
        found, padded = T.evaluate([rows, ag.grad(T.sum(rows), w)], {w: values, i: indices})
        np.testing.assert_array_equal(found, values[indices])
        np.testing.assert_array_equal(padded, np.where(np.arange(4)[:, None] == row, 0, gradient))
    assert len(ag.function([i, w], rows).graph.order) == len(ag.function([i, w], w[i]).graph.order)
    with pytest.raises(TypeError, match="embedding: the indices must be integers"):
        T.nn.embedding(T.vector("i"), w)
