"""Sums of products of bytes: values of all signs, shapes, borders and endings; networks of integers; bad input."""

import numpy as np
import pytest
from draws import mostly_long
from hypothesis import given, settings
from hypothesis import strategies as st

import arignote as ag
from arignote import function
from arignote import ops as T
from arignote.graph import TensorType
from arignote.ops.core.tensor import TensorVariable
from arignote.ops.lowered.byte_sums import BYTES, RESULTS, ByteConvolution, ByteProduct


def bytes_of(rng, dtype, shape):
    """Integers of 8 bits, the ends among them."""
    ends = np.iinfo(dtype)
    found = rng.integers(ends.min, ends.max + 1, shape)
    return np.where(rng.random(shape) < 0.2, rng.choice([ends.min, ends.max], shape), found).astype(dtype)


PRODUCTS = {
    (da, db): function([a := T.tensor("a", da, (None, None, None)), b := T.matrix("b", db)], ByteProduct()(a, b))
    for da in BYTES
    for db in BYTES
}


@settings(max_examples=60)
@given(
    st.sampled_from(sorted(PRODUCTS)), st.tuples(*(st.integers(0, 3), st.integers(0, 20))), st.integers(0, 70),
    st.integers(0, 90), st.booleans(), st.integers(0, 2**32 - 1),
)
def test_products_are_exact(dtypes, front, n, k, transposed, seed):
    rng = np.random.default_rng(seed)
    a = bytes_of(rng, dtypes[0], (*front, k))
    b = bytes_of(rng, dtypes[1], (n, k)).T if transposed else bytes_of(rng, dtypes[1], (k, n))
    np.testing.assert_array_equal(PRODUCTS[dtypes](a, b), a.astype("int32") @ b.astype("int32"))


@pytest.mark.parametrize("seed", mostly_long(range(24), range(8)))
def test_convolutions_equal_their_meaning(seed):
    """Bit for bit: any signs, borders, strides, channels, of all channels or of each, any result, something added."""
    rng = np.random.default_rng(seed)
    dtype, out, own = BYTES[seed % 2], RESULTS[seed // 2 % 4], seed % 3 == 0
    channels = int(rng.choice([1, 3, 4, 16, 20, 32]))
    outputs = channels if own else int(rng.choice([1, 10, 16, 17, 64, 70]))
    own = own and channels > 1
    numbers = [tuple(map(int, rng.integers(1, 3, 2))) for _ in range(2)]
    padding = tuple(tuple(map(int, rng.integers(0, 3, 2))) for _ in range(2))
    ends = np.iinfo(out) if out in BYTES else np.iinfo("uint8")
    low, high = sorted(map(int, rng.integers(ends.min, ends.max + 1, 2)))
    op = ByteConvolution(
        *numbers, padding, int(rng.choice([0, np.iinfo(dtype).min, 7])), own, out, int(rng.integers(low, high + 1)),
        low, high, 0.37,
    )
    w = bytes_of(rng, "int8", (outputs, 1 if own else channels, *rng.integers(1, 4, 2)))
    start, totals = rng.integers(-1000, 1000, outputs).astype("int32"), w.reshape(outputs, -1).sum(1, dtype="int32")
    scale, bias = (rng.random(outputs) * 1e-3).astype("float32"), rng.normal(size=outputs).astype("float32")
    weights = w, start, totals, scale, bias
    x = bytes_of(rng, dtype, (int(rng.integers(1, 3)), channels, 9, 13))
    values, variables = [x], [TensorVariable(TensorType(dtype, (None, channels, None, None)), name="x")]
    if out in BYTES and seed % 5:
        shape = op.evaluate(x, *weights)[0].shape
        kind = ("uint8", "int8", "float32")[seed % 3]
        values.append(rng.normal(size=shape).astype(kind) if kind == "float32" else bytes_of(rng, kind, shape))
        variables.append(TensorVariable(TensorType(kind, (None, outputs, None, None)), name="more"))
    f = function(variables, op(variables[0], *map(T.constant, weights), *variables[1:]))
    assert any(getattr(n.op, "weights", ()) for n in f.graph.order)
    (expected,) = op.evaluate(x, *weights, *values[1:])
    for given_x in (x, np.ascontiguousarray(x.transpose(0, 2, 3, 1)).transpose(0, 3, 1, 2)):
        np.testing.assert_array_equal(f(given_x, *values[1:]), expected, strict=True)


EXTREMES = [-(2**31), 2**31 - 1, -(2**30), 2**30, -(2**24) - 1, -1, 0, 1]


@pytest.mark.few(2)
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("own", [False, True])
@pytest.mark.parametrize("out", BYTES)
def test_fixed_point_endings_equal_their_meaning(out, own, threads):
    """All shifts, sums at the ends of int32, multipliers of 31 bits, and bounds: bit for bit."""
    rng = np.random.default_rng(8)
    shifts = np.arange(-31, 32)
    outputs, ends = 2 * len(shifts), np.iinfo(out)
    multiplier = np.where(rng.random(outputs) < 0.3, 2**31 - 1, rng.integers(2**30, 2**31, outputs))
    multiplier[::9] = 0
    w = bytes_of(rng, "int8", (outputs, 1 if own else 8, 1, 1))
    w[::2] = 0
    start = np.where(rng.random(outputs) < 0.5, rng.choice(EXTREMES, outputs), rng.integers(-9999, 9999, outputs))
    numbers = (start, w.reshape(outputs, -1).sum(1), multiplier, np.tile(shifts, 2))
    weights = w, *(v.astype("int32") for v in numbers)
    for zero, low, high in ((ends.min + 5, ends.min, ends.max), (ends.max, ends.min + 9, ends.max - 7)):
        op = ByteConvolution((1, 1), (1, 1), ((0, 0), (0, 0)), 0, own, out, int(zero), int(low), int(high), fixed=True)
        x = T.tensor("x", "uint8", (None, outputs if own else 8, None, None))
        f = function([x], op(x, *map(T.constant, weights)), threads=threads)
        assert any(getattr(n.op, "weights", ()) for n in f.graph.order)
        value = bytes_of(rng, "uint8", (2, outputs if own else 8, 7, 19))
        np.testing.assert_array_equal(f(value), op.evaluate(value, *weights)[0], strict=True)
        slow = op.expand([T.constant(v) for v in (value, *weights)]).eval()
        np.testing.assert_array_equal(slow, f(value), strict=True)


def test_results_do_not_depend_on_threads():
    rng = np.random.default_rng(1)
    x = T.tensor("x", "uint8", (1, 32, None, None))
    y = T.nn.conv2d(x, bytes_of(rng, "int8", (96, 32, 3, 3)), padding=1, out_dtype="int32")
    value = bytes_of(rng, "uint8", (1, 32, 40, 40))
    one, two = (ag.function([x], y, threads=n)(value) for n in (1, 2))
    np.testing.assert_array_equal(one, two)


def layer(x, w, bias, scale, zero):
    """A quantized convolution with ReLU, as a network has it."""
    steps = (np.abs(w).max((1, 2, 3)) / 127).astype("float32")
    narrow = T.dequantize(T.constant(np.rint(w / steps[:, None, None, None]).astype("int8")), steps, axis=0)
    y = T.nn.conv2d(x, narrow, bias, padding=1)
    return T.dequantize(T.quantize(T.relu(y), scale, zero), np.float32(scale), zero)


@pytest.mark.long
def test_a_network_is_computed_in_integers():
    rng = np.random.default_rng(2)
    x = T.tensor("x", "float32", (None, 3, 12, 12))
    first, second = rng.normal(size=(16, 3, 3, 3)), rng.normal(size=(16, 16, 3, 3)) / 9
    biases = [rng.normal(size=16).astype("float32") for _ in range(2)]
    a = layer(T.dequantize(T.quantize(x, 0.05, 128), np.float32(0.05), 128), first, biases[0], 0.1, 3)
    pooled = T.nn.max_pool2d(a, 3, stride=2, padding=1)
    b = layer(T.dequantize(T.quantize(pooled, 0.1, 3), np.float32(0.1), 3), second, biases[1], 0.2, 0)
    y = T.mean(b, axis=(2, 3))
    f = function([x], y)
    convolutions = [n for n in f.graph.order if isinstance(n.op, ByteConvolution)]
    assert [n.op.out for n in convolutions] == ["uint8", "uint8"]
    value = rng.normal(size=(2, 3, 12, 12)).astype("float32")
    exact = ag.function([x], y, mode="fast_compile")(value)  # in floats
    assert np.abs(f(value) - exact).max() <= 0.2 * 4 / 36 + 1e-5  # a few units of the last layer's scale in a mean


@pytest.mark.few(1)
@pytest.mark.parametrize("lead", [(None,), (None, None), (None, 2, None)])
def test_dense_layers_stay_in_bytes(lead):
    """Rows, and stacks of rows: a bias, a residual and a ReLU between products join the sums before them."""
    rng = np.random.default_rng(3)
    x = T.tensor("x", "float32", (*lead, None))
    weights = [rng.integers(-127, 128, shape).astype("int8") for shape in ((20, 16), (16, 16), (16, 5))]
    biases = [rng.normal(size=len(w.T)).astype("float32") for w in weights]

    def rounded(v, scale, zero):
        return T.dequantize(T.quantize(v, scale, zero), np.float32(scale), zero)

    def dense(v, k):
        return T.dot(v, T.dequantize(T.constant(weights[k]), np.float32(0.01))) + biases[k]

    a = rounded(T.relu(dense(rounded(x, 0.05, 128), 0)), 0.1, 3)
    b = rounded(T.relu(dense(a, 1) + a), 0.2, 0)
    y = dense(b, 2)
    f = function([x], y)
    assert [n.op.out for n in f.graph.order if isinstance(n.op, ByteConvolution)] == ["uint8", "uint8", "float32"]
    assert sum(n.op.name == "fused" for n in f.graph.order) == 1  # rounds x
    shape = [3 if n is None else n for n in lead]
    value = rng.normal(size=(*shape, 20)).astype("float32")
    exact = ag.function([x], y, mode="fast_compile")(value)  # in floats
    assert np.abs(f(value) - exact).max() <= 0.2 * 0.01 * 127 * 2 + 1e-4  # two units of the last rounding
    assert f(np.zeros((0, *shape[1:], 20), "float32")).shape == (0, *shape[1:], 5)
    with pytest.raises(ValueError, match=r"expected length 20 on axis \d, got 10"):
        f(np.zeros((*shape, 10), "float32"))


def test_out_dtype_is_exact_and_guarded():
    a, b = T.matrix("a", "uint8"), T.matrix("b", "int8")
    f = function([a, b], T.matmul(a, b, out_dtype="int32"))
    assert "byte_product" in [n.op.name for n in f.graph.order]
    np.testing.assert_array_equal(f([[255, 255]], [[-128], [-128]]), [[-65280]])
    wide = T.tensor("wide", "uint8", (2, 70_000))
    with pytest.raises(ValueError, match="70000 products of uint8 and uint8 can leave int32, which holds 33025"):
        T.matmul(wide, T.tensor("tall", "uint8", (70_000, 3)), out_dtype="int32")
    assert T.dot(wide, T.tensor("tall", "uint8", (70_000, 3)), out_dtype="int64").dtype == "int64"
    with pytest.raises(TypeError, match="byte_product takes matrices of int8 or uint8, got"):
        ByteProduct()(a, T.matrix("c", "int32"))


def test_dtype_of_matmul_is_numpys():
    a, b = T.matrix("a", "uint8"), T.matrix("b", "int8")
    values = np.full((3, 300), 255, "uint8"), np.full((300, 2), -128, "int8")
    for dtype in ("int32", "int64", "float32"):
        f = function([a, b], T.matmul(a, b, dtype=dtype))
        np.testing.assert_array_equal(f(*values), np.matmul(*values, dtype=dtype), strict=True)
    x = T.matrix("x")
    assert T.matmul(x, a, dtype="float32").dtype == "float32"
    with pytest.raises(TypeError, match=r"dtype is int32, to which x \(float64\[\?, \?\]\) is not cast"):
        T.matmul(x, a, dtype="int32")
    with pytest.raises(TypeError, match="out_dtype is int8 and dtype is int32; give one of them"):
        T.matmul(a, b, out_dtype="int8", dtype="int32")


@pytest.mark.parametrize("mode", ["NUMPY", "fast_run", "fast_compile"])
def test_sums_of_unknown_lengths_are_guarded(mode):
    """Lengths that only the call tells: an error that names the way out, and the exact sum up to the last length."""
    a, b = T.matrix("a", "uint8"), T.matrix("b", "uint8")
    f = function([a, b], T.matmul(a, b, out_dtype="int32"), mode=mode)
    for length in (0, 5, 33025):
        value = np.full((1, length), 255, "uint8")
        assert f(value, value.T).tolist() == [[length * 65025]]
    value = np.full((1, 33026), 255, "uint8")
    with pytest.raises(ValueError, match=r'holds sums of 33025 products of uint8 and uint8; use "int64"'):
        f(value, value.T)
    x, w = T.tensor("x", "uint8", (1, None, 1, 1)), T.tensor("w", "int8", (1, None, 1, 1))
    g = function([x, w], T.nn.conv2d(x, w, out_dtype="int32"), mode=mode)
    assert g(np.full((1, 9, 1, 1), 255, "uint8"), np.full((1, 9, 1, 1), -128, "int8")).item() == -9 * 255 * 128
    with pytest.raises(ValueError, match="holds sums of 65793 products of int8 and uint8"):
        g(np.zeros((1, 65794, 1, 1), "uint8"), np.zeros((1, 65794, 1, 1), "int8"))
