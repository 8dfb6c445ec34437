"""Meanings of Theano's functions where they differ from NumPy's: dtypes, derivatives at ties, windows, patterns.

Expected dtypes and derivatives are those that Theano 1.0.5 gives.
"""

import numpy as np
import pytest

from arignote.frontends import theano
from arignote.frontends.theano import modules

T = theano.tensor
DTYPES = [
    ("f + 1", "float32", "float32"),
    ("f * 0.5", "float32", "float32"),
    ("f * 0.1", "float64", "float32"),
    ("f * i", "float64", "float64"),
    ("f + l", "float64", "float64"),
    ("f + b", "float32", "float32"),
    ("i / 2", "float64", "float32"),
    ("i / i", "float64", "float32"),
    ("b / b", "float64", "float32"),
    ("i // 2", "int32", "int32"),
    ("i ** 2", "int32", "int32"),
    ("T.exp(b)", "float32", "float32"),
    ("T.exp(i)", "float64", "float64"),
    ("T.sqrt(u)", "float32", "float32"),
    ("i.mean()", "float64", "float64"),
    ("f.mean()", "float32", "float32"),
    ("b.sum()", "int64", "int64"),
    ("u.sum()", "uint64", "uint64"),
    ("f.sum(dtype=\"float64\")", "float64", "float64"),
    ("T.eq(f, 1)", "bool", "bool"),
    ("T.constant(1)", "int8", "int8"),
    ("T.constant(1.0)", "float32", "float32"),
    ("T.constant(0.1)", "float64", "float32"),
    ("T.constant(300)", "int16", "int16"),
    ("T.zeros((3,))", "float64", "float32"),
    ("T.ones((2,), \"int8\")", "int8", "int8"),
    ("T.arange(3)", "int64", "int64"),
    ("T.arange(0.0, 3.0, 0.5)", "float32", "float32"),
    ("T.arange(i.shape[0])", "int64", "int64"),
    ("T.argmax(f)", "int64", "int64"),
    ("T.clip(f, 0, 1)", "float32", "float32"),
    ("T.switch(f > 0, f, 0)", "float32", "float32"),
    ("T.switch(f > 0, 1.0, 0.0)", "float32", "float32"),
    ("T.nnet.sigmoid(i)", "float64", "float64"),
    ("T.sqr(b)", "int8", "int8"),
    ("-b", "int8", "int8"),
    ("l + 1.5", "float64", "float64"),
    ("u + b", "int16", "int16"),
    ("f.shape[0] * f", "float64", "float64"),
    ("T.true_div(f, i)", "float64", "float64"),
    ("f ** 2", "float32", "float32"),
    ("f ** 0.5", "float32", "float32"),
    ("T.eye(3)", "float64", "float32"),
    ("T.alloc(0.0, 3)", "float32", "float32"),
    ("T.cast(i, \"floatX\")", "float64", "float32"),
    ("T.maximum(f, i)", "float64", "float64"),
    ("f % 2", "float32", "float32"),
    ("T.eq(f, 0) + 1", "int8", "int8"),
    ("T.eq(f, 0).sum()", "int64", "int64"),
    ("T.eq(f, 0).mean()", "float64", "float64"),
    ("i.var()", "float64", "float64"),
    ("f.std()", "float32", "float32"),
    ("T.grad(f.sum(), f)", "float32", "float32"),
    ("T.stack([f.sum(), i.sum()])", "float64", "float64"),
    ("T.as_tensor_variable([1, 2])", "int64", "int64"),
    ("T.as_tensor_variable([1.0, 2])", "float64", "float64"),
    ("T.as_tensor_variable([f.sum(), 1])", "float32", "float32"),
    ("T.set_subtensor(f[0], 1)", "float32", "float32"),
    ("f * np.float64(2)", "float64", "float64"),
    ("f * np.float32(2)", "float32", "float32"),
    ("i + np.int64(1)", "int64", "int64"),
    ("f + np.ones(3, \"int32\")", "float64", "float64"),
    ("T.round(f)", "float32", "float32"),
    ("T.iround(f)", "int64", "int64"),
    ("T.sgn(b)", "int8", "int8"),
    ("T.dot(f, f)", "float32", "float32"),
    ("T.dot(i, f)", "float64", "float64"),
    ("b.prod()", "int64", "int64"),
    ("b.max()", "int8", "int8"),
    ("T.any(b)", "bool", "bool"),
    ("T.extra_ops.cumsum(b)", "int8", "int8"),
    ("T.constant(1j) * f", "complex128", "complex128"),
]
"""(expression, its dtype for floatX=float64, its dtype for floatX=float32)."""


@pytest.fixture
def config():
    before = dict(theano.config._values)
    yield theano.config
    theano.config._values.clear()
    theano.config._values.update(before)


@pytest.mark.parametrize("floatX", ["float64", "float32"])
def test_dtypes(config, floatX):
    config.floatX = floatX
    scope = {"T": T, "np": np}
    kinds = {"f": "float32", "i": "int32", "l": "int64", "b": "int8", "d": "float64", "u": "uint8"}
    scope.update({name: T.TensorType(dtype, (False,))(name) for name, dtype in kinds.items()})
    found = [(text, eval(text, scope).dtype) for text, *_ in DTYPES]
    assert found == [(text, wide if floatX == "float64" else narrow) for text, wide, narrow in DTYPES]
    assert T.matrix().dtype == T.vectors(2)[0].dtype == T.scalar().dtype == floatX


def test_the_policy_that_keeps_floatX(config):
    config.floatX, config.cast_policy = "float32", "numpy+floatX"
    assert T.constant(1).dtype == "int64"
    assert T.constant(0.5).dtype == "float32"
    config.int_division = "raise"
    with pytest.raises(TypeError, match="x // y"):
        T.ivector("a") / 2


X = np.array([[1.0, 1, 0, -1], [1, 0, 2, 2], [0, 0, 0, 0], [3, -3, 0.5, 2]])
Y = np.array([[1.0, 2, 0, 1], [1, 1, -2, 2], [0, 0.5, 0, 1], [3, 3, -0.5, 2]])
TIES = {
    "max": (lambda x, y: x.max(axis=1), [[1, 1, 0, 0], [0, 0, 1, 1], [1, 1, 1, 1], [1, 0, 0, 0]]),
    "min": (lambda x, y: x.min(axis=0), [[0, 0, 1, 1], [0, 0, 0, 0], [1, 0, 1, 0], [0, 1, 0, 0]]),
    "maximum": (T.maximum, [[1, 0, 1, 0], [1, 0, 1, 1], [1, 0, 1, 0], [1, 0, 1, 1]]),
    "minimum": (T.minimum, [[1, 1, 1, 1], [1, 1, 0, 1], [1, 1, 1, 1], [1, 1, 0, 1]]),
    "relu": (lambda x, y: T.nnet.relu(x), [[1, 1, 0.5, 0], [1, 0.5, 1, 1], [0.5] * 4, [1, 0, 1, 1]]),
    "pool": (
        lambda x, y: T.signal.pool.pool_2d(x, (2, 2), ignore_border=True),
        [[1, 1, 0, 0], [1, 0, 1, 1], [0, 0, 0, 0], [1, 0, 0, 1]],
    ),
}


def test_derivatives_where_numbers_are_equal():
    x, y = T.dmatrices("x", "y")
    slopes = [T.grad(make(x, y).sum(), x) for make, _ in TIES.values()]
    f = theano.function([x, y], slopes, on_unused_input="ignore", mode="FAST_COMPILE")
    for name, found, (_, wanted) in zip(TIES, f(X, Y), TIES.values()):
        assert np.array_equal(found, wanted), name


def test_changed_derivatives():
    x = T.dvector("x")
    change = theano.gradient
    costs = [change.grad_clip(x, -0.1, 0.2) ** 2, change.grad_scale(x, 0.5) ** 2, change.zero_grad(x) * x,
             change.disconnected_grad(x) * x]  # fmt: skip
    slopes = [T.grad(c.sum(), x) for c in costs]
    f = theano.function([x], slopes + costs)
    found = f([1.0, -2.0])
    assert np.array_equal(found[:4], [[0.2, -0.1], [1.0, -2.0], [1.0, -2.0], [1.0, -2.0]])
    assert np.array_equal(found[4:], [[1.0, 4.0]] * 4)
    assert not any("grad_" in line for line in str(f.core.unoptimized_graph).splitlines())
    with pytest.raises(change.DisconnectedInputError, match="not computed from x"):
        T.grad(change.disconnected_grad(x).sum(), x)


def convolved(image, kernel, border, step, dilation):
    """The convolution by its definition: flipped kernels, zeros around."""
    kernel = kernel[:, :, ::-1, ::-1]
    wide = np.zeros((*kernel.shape[:2], *((n - 1) * dilation + 1 for n in kernel.shape[2:])))
    wide[:, :, ::dilation, ::dilation] = kernel
    image = np.pad(image, [(0, 0), (0, 0), *[(b, b) for b in border]])
    windows = np.lib.stride_tricks.sliding_window_view(image, wide.shape[2:], axis=(2, 3))[:, :, ::step, ::step]
    return np.einsum("bcxyij,ocij->boxy", windows, wide)


def test_convolutions():
    rng = np.random.default_rng(0)
    image, kernel = rng.standard_normal((2, 3, 7, 6)), rng.standard_normal((4, 3, 3, 2))
    x, w = T.dtensor4("x"), T.dtensor4("w")
    conv, plain = T.nnet.conv2d, T.nnet.conv2d(x, w)
    given = [
        (plain, ((0, 0), 1, 1)), (conv(x, w, border_mode="full"), ((2, 1), 1, 1)),
        (conv(x, w, border_mode="half", subsample=(2, 2)), ((1, 1), 2, 1)),
        (conv(x, w, border_mode=(2, 1)), ((2, 1), 1, 1)), (conv(x, w, filter_dilation=(2, 2)), ((0, 0), 1, 2)),
        (conv(x, w[:, :, ::-1, ::-1], input_shape=(2, 3, 7, 6), filter_shape=(4, 3, 3, 2), filter_flip=False),
         ((0, 0), 1, 1)),
    ]  # fmt: skip
    back = T.nnet.abstract_conv
    slopes = T.grad((plain**2).sum() / 2, [x, w])
    pulled = [back.conv2d_grad_wrt_inputs(plain, w, (2, 3, 7, 6)), back.conv2d_grad_wrt_weights(x, plain, (4, 3, 3, 2))]
    found = theano.function([x, w], [e for e, _ in given] + slopes + pulled, mode="FAST_COMPILE")(image, kernel)
    for n, (result, (_, how)) in enumerate(zip(found, given)):
        np.testing.assert_allclose(result, convolved(image, kernel, *how), rtol=1e-12, atol=1e-12, err_msg=str(n))
    np.testing.assert_allclose(found[-4], found[-2], rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(found[-3], found[-1], rtol=1e-10, atol=1e-12)
    hinted = theano.function([x, w], conv(x, w, border_mode="half", input_shape=(9, 3, 7, 6)), mode="FAST_COMPILE")
    np.testing.assert_allclose(hinted(image, kernel), convolved(image, kernel, (1, 1), 1, 1))  # another batch
    with pytest.raises(ValueError, match="border_mode is 'same'"):
        conv(x, w, border_mode="same")
    with pytest.raises(TypeError, match="4 dimensions, got x of type"):
        conv(T.matrix("x"), w)


def test_pools():
    image = np.arange(20.0).reshape(4, 5)
    x, pool = T.dmatrix("x"), T.signal.pool.pool_2d
    wanted = [
        (pool(x, (2, 2), ignore_border=True), [[6, 8], [16, 18]]),
        (pool(x, (2, 2), ignore_border=False), [[6, 8, 9], [16, 18, 19]]),
        (pool(x, (3, 3), ignore_border=False, stride=(2, 2)), [[12, 14], [17, 19]]),
        (pool(x, (2, 3), ignore_border=False, mode="sum"), [[21, 24], [81, 64]]),
        (pool(x, (3, 3), ignore_border=False, mode="average_exc_pad"), [[6, 8.5], [16, 18.5]]),
        (pool(x, (2, 2), ignore_border=True, pad=(1, 1)), [[0, 2, 4], [10, 12, 14], [15, 17, 19]]),
        (pool(x, (2, 2), ignore_border=True, pad=(1, 1), mode="average_inc_pad"),
         [[0, 0.75, 1.75], [3.75, 9, 11], [3.75, 8.25, 9.25]]),
    ]  # fmt: skip
    found = theano.function([x], [e for e, _ in wanted], mode="FAST_COMPILE")(image)
    for n, (result, (_, numbers)) in enumerate(zip(found, wanted)):
        np.testing.assert_allclose(result, numbers, err_msg=str(n))


def test_broadcast_patterns():
    row, col, m = T.row("r"), T.col("c"), T.matrix("m")
    assert (row.broadcastable, col.broadcastable) == ((True, False), (False, True))
    assert (row + col).broadcastable == (False, False)
    assert m.sum(axis=0, keepdims=True).broadcastable == (True, False)
    assert m.dimshuffle(0, "x", 1).broadcastable == (False, True, False)
    assert T.addbroadcast(m, 1).broadcastable == T.patternbroadcast(m, (False, True)).broadcastable == (False, True)
    assert T.unbroadcast(row, 0).broadcastable == (False, False)
    assert theano.shared(np.zeros((1, 3))).broadcastable == (False, False)
    assert theano.shared(np.zeros((1, 3)), broadcastable=(True, False)).type == row.type
    assert T.zeros((1, 4)).broadcastable == (True, False)
    assert (str(row.type), str(m.type)) == ("TensorType(float64, row)", "TensorType(float64, matrix)")
    with pytest.raises(ValueError, match="drops axis 1"):
        m.dimshuffle(0)
    f = theano.function([m], T.addbroadcast(m, 0).dimshuffle(1))
    assert f(np.ones((1, 3))).tolist() == [1, 1, 1]
    with pytest.raises(ValueError, match="1"):
        f(np.ones((2, 3)))


def test_functions_beside_numpy():
    x, v, i = T.dmatrix("x"), T.dvector("v"), T.lvector("i")
    data, vector, labels = np.arange(6.0).reshape(2, 3) - 2, np.array([1.0, -2, 3]), np.array([1, 0])
    extra = T.extra_ops
    cases = [
        (T.nnet.softmax(v), (np.exp(vector) / np.exp(vector).sum())[None]), (x.flatten(), data.ravel()),
        (T.round(v * 0.5, mode="half_away_from_zero"), [1.0, -1, 2]), (x.norm(2), np.linalg.norm(data)),
        (x[T.arange(2), i], data[[0, 1], labels]), (T.set_subtensor(x[:, 0], 9.0), [[9, -1, 0], [9, 2, 3]]),
        (T.inc_subtensor(v[[0, 0, 1]], 1.0), [3, -1, 3]), (extra.to_one_hot(i, 3), np.eye(3)[labels]),
        (T.fill_diagonal(x, 7.0), [[7, -1, 0], [1, 7, 3]]), (extra.cumsum(x, axis=1), data.cumsum(1)),
        (T.tile(v, (2, 1)), np.tile(vector, (2, 1))), (T.join(0, v, [1.0, 2.0]), [1, -2, 3, 1, 2]),
        (T.stack(v, v), [vector, vector]), (T.stack([v, v], axis=1), np.stack([vector, vector], 1)),
        (T.batched_dot(x, x), (data**2).sum(1)), (T.sort(v)[::-1], [3, 1, -2]), (v.argsort(), [1, 0, 2]),
        (T.nnet.categorical_crossentropy(T.nnet.softmax(x), i)[0],
         -np.log(np.exp(data[0, 1]) / np.exp(data[0]).sum())),
        (T.mgrid[0:2, 0:3][1], [[0, 1, 2], [0, 1, 2]]), (T.alloc(v, 2, 3), [vector, vector]),
        (x.T.reshape((2, 3)), data.T.reshape(2, 3)), (T.ptp(v), 5), (T.nlinalg.trace(x[:, :2]), 0.0),
        (T.tensordot(x, x, [[0], [0]]), data.T @ data), (abs(v) % 2, [1, 0, 1]), (2**v, [2, 0.25, 8]),
        (np.float64(2) * v, vector * 2), (np.ones(3) + v, vector + 1), (np.exp(v), np.exp(vector)),
        (T.switch(T.lt(v, 0), 0, v), [1, 0, 3]), (v.max() - v.min(), 5), (T.eq(i, 1), [True, False]),
        (T.clip(v, -1, 1), [1, -1, 1]), (v.nonzero()[0], [0, 1, 2]), (T.tril(x), np.tril(data)),
        (T.permute_row_elements(x, [2, 0, 1]), data[:, [2, 0, 1]]), (T.argmax(x, axis=1), [2, 2]),
        (T.nnet.elu(v), np.where(vector > 0, vector, np.expm1(vector))), (T.xlogx(abs(v) * 0), [0, 0, 0]),
        (T.topk(v, 2).sum(), 4), (T.unravel_index(5, (2, 3))[1], 2), (T.diag(v)[1, 1], -2), (x.mean(0), data.mean(0)),
        (T.split(v, [1, 2], 2)[1], [-2, 3]), (T.nnet.sigmoid_binary_crossentropy(v * 0, 1.0), [np.log(2)] * 3),
        (x.dimshuffle(1, 0).take([0], axis=0), data.T[:1]), (T.roll(v, 1), [3, 1, -2]), (v.repeat(2)[:3], [1, 1, -2]),
    ]  # fmt: skip
    f = theano.function([x, v, i], [e for e, _ in cases], mode="FAST_COMPILE", on_unused_input="ignore")
    for n, (found, (e, wanted)) in enumerate(zip(f(data, vector, labels), cases)):
        np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-12, err_msg=f"case {n}: {e}")


def test_unknown_and_refused_names():
    with pytest.raises(AttributeError, match="did you mean 'sigmoid'"):
        modules["theano.tensor.nnet"].sigmoit  # noqa: B018
    with pytest.raises(NotImplementedError, match="no tensors are sent between processes"):
        T.MPISend(1, 2)


def test_batch_normalization():
    rng = np.random.default_rng(1)
    data, gamma, beta = rng.standard_normal((4, 3, 2, 2)), np.array([1.0, 2, 3]), np.array([0.5, 0, -1])
    x, bn = T.dtensor4("x"), T.nnet.bn
    trained = bn.batch_normalization_train(
        x, gamma, beta, "spatial", epsilon=1e-3, running_mean=np.zeros(3), running_var=np.ones(3)
    )
    tested = bn.batch_normalization_test(x, gamma, beta, np.zeros(3), np.ones(3), "spatial")
    y, mean, inverse, new_mean, new_var, plain = theano.function([x], [*trained, tested], mode="FAST_COMPILE")(data)
    m, v = data.mean((0, 2, 3)), data.var((0, 2, 3))
    np.testing.assert_allclose(mean, m)
    np.testing.assert_allclose(inverse, 1 / np.sqrt(v + 1e-3))
    each = [a[None, :, None, None] for a in (m, v, gamma, beta)]
    np.testing.assert_allclose(y, (data - each[0]) / np.sqrt(each[1] + 1e-3) * each[2] + each[3])
    np.testing.assert_allclose(new_mean, 0.1 * m)
    np.testing.assert_allclose(new_var, 0.9 + 0.1 * v * 16 / 15)
    np.testing.assert_allclose(plain, data / np.sqrt(1.0001) * each[2] + each[3])
    with pytest.raises(ValueError, match="expected 'per-activation'"):
        bn.batch_normalization_test(x, 1, 1, 1, 1, "nowhere")


def test_convolutions_as_classes():
    x, w, kinds = T.dtensor4("x"), T.dtensor4("w"), T.nnet.abstract_conv
    data, filters = np.arange(40.0).reshape(1, 2, 4, 5), np.arange(8.0).reshape(1, 2, 2, 2)
    y = kinds.AbstractConv2d(border_mode="half")(x, w)
    slopes = T.grad((y**2).sum() / 2, [x, w])
    pulled = [kinds.AbstractConv2d_gradInputs(border_mode="half")(w, y, (4, 5)),
              kinds.AbstractConv2d_gradWeights(border_mode="half")(x, y, (2, 2))]  # fmt: skip
    v, k = (T.TensorType("float64", (False,) * 5)(name) for name in "vk")
    z = kinds.AbstractConv3d()(v, k)
    deep = [*T.grad((z**2).sum() / 2, [v, k]), kinds.AbstractConv3d_gradInputs()(k, z, (4, 1, 5)),
            kinds.AbstractConv3d_gradWeights()(v, z, (2, 1, 2))]  # fmt: skip
    f = theano.function([x, w, v, k], [*slopes, *pulled, *deep], mode="FAST_COMPILE")
    found = f(data, filters, data[:, :, :, None], filters[:, :, :, None])
    for a, b in ((0, 2), (1, 3), (4, 6), (5, 7)):
        np.testing.assert_allclose(found[a], found[b])


def test_windows_as_rows_and_shapes_of_convolutions():
    x = T.dtensor4("x")
    data = np.arange(32.0).reshape(1, 2, 4, 4)
    f = theano.function([x], T.nnet.neighbours.images2neibs(x, (2, 2)), mode="FAST_COMPILE")
    assert f(data)[[0, 1, 4]].tolist() == [[0, 1, 4, 5], [2, 3, 6, 7], [16, 17, 20, 21]]
    shape = T.nnet.abstract_conv.get_conv_output_shape
    assert shape((2, 3, 7, 6), (4, 3, 3, 2), "half", (2, 1)) == (2, 4, 4, 7)
    assert shape((2, 3, 7, None), (4, 3, 3, 2), (1, 0), (1, 1), (2, 1)) == (2, 4, 5, None)
    v, w = T.dtensor3("v"), T.dtensor3("w")
    causal = T.nnet.abstract_conv.causal_conv1d(v, w, (1, 1, 2))
    found = theano.function([v, w], causal, mode="FAST_COMPILE")([[[1.0, 2, 3]]], [[[1.0, 10]]])
    assert found.tolist() == [[[1, 12, 23]]]


def test_windows_of_shared_variables_are_those_of_the_build():
    x, ws = T.dmatrix("x"), theano.shared(np.array([2, 2]), "ws")
    step = theano.shared(np.int64(1), "step")
    pool = modules["theano.tensor.signal.pool"].pool_2d
    f = theano.function([x], [pool(x, ws, True), pool(x, (ws[0] + 1, T.constant(1)), True, stride=(step, 1))])
    values = np.arange(16.0).reshape(4, 4)
    one, two = f(values)
    np.testing.assert_array_equal(one, [[5, 7], [13, 15]])
    np.testing.assert_array_equal(two, values[2:])
    step.set_value(2)
    with pytest.raises(ValueError, match="stride was 1 when the graph was built: expected length 1 on axis 0, got 2"):
        f(values)
    with pytest.raises(TypeError, match=r"ws is .* integers that are known when the graph is built"):
        pool(x, T.lvector("ws"), True)
