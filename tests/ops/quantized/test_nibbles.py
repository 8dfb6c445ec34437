"""Weights of 4 bits: quantized by blocks, packed two to a byte, multiplied by rows of floats."""

import tempfile
from pathlib import Path

import numpy as np
import pytest
from compiled import product_names

import arignote as ag
from arignote import ops as T
from arignote.ops.lowered.formats import PackedProduct
from arignote.ops.lowered.formats.nibbles import Nibbles

CASES = [
    # outputs, depth, block, rows, dtype, whether there are zero points
    (128, 64, 32, 1, "int4", False), (130, 100, 32, 1, "uint4", True), (17, 40, 8, 6, "uint4", True),
    (300, 96, None, 3, "int4", False), (1, 8, 8, 9, "uint4", True), (47, 72, 16, 4, "int4", True),
]  # fmt: skip


def weights(rng, outputs, depth, block, dtype, zeros):
    """Random integers of 4 bits, their scales and zero points, which blocks along the sum share."""
    low, high = (-8, 8) if dtype == "int4" else (0, 16)
    held = "int8" if dtype == "int4" else "uint8"
    shape = outputs, -(-depth // (block or depth))
    q, zero = (rng.integers(low, high, s).astype(held) for s in ((outputs, depth), shape))
    return q, (rng.random(shape) / 8 + 0.01).astype("float32"), zero if zeros else 0


def within_bound(found, x, w):
    """Whether a product is as near to the exact one as sums of float32 are."""
    exact, sizes = x.astype("float64") @ w.T.astype("float64"), np.abs(x).astype("float64") @ np.abs(w.T)
    return (np.abs(found - exact) <= (w.shape[1] + 8) * 2.0**-23 * sizes + 1e-30).all()


@pytest.mark.parametrize("case", CASES, ids=str)
def test_products_stay_packed_and_near(case):
    """All ways agree with the exact numbers within the bound of a sum; a row does not depend on others."""
    outputs, depth, block, rows, dtype, zeros = case
    rng = np.random.default_rng(sum(case[:2]))
    q, scale, zero = weights(rng, outputs, depth, block, dtype, zeros)
    x, w = T.fmatrix("x"), T.dequantize(q, scale, zero, axis=1, block=block or depth)
    f = ag.function([x], T.dot(x, w.T))
    (node,) = f.graph.order
    assert isinstance(node.op.format, Nibbles)
    assert node.inputs[1].data.nbytes <= (outputs + 16) * (depth + (block or 8)) / 2
    value, exact = rng.normal(size=(rows, depth)).astype("float32"), w.eval()
    found = f(value)
    others = node.op.evaluate(value, *(i.data for i in node.inputs[1:]))[0], ag.function(
        [x], node.op.expand([x, *node.inputs[1:]]), mode="NUMPY"
    )(value)
    assert all(within_bound(y, value, exact) for y in (found, *others))
    for k in range(rows):
        np.testing.assert_array_equal(f(value[k : k + 1])[0], found[k])


def test_results_do_not_depend_on_threads():
    rng = np.random.default_rng(1)
    q, scale, zero = weights(rng, 1000, 640, 32, "uint4", True)
    x, v = T.tensor3("x", "float32"), T.fvector("v")
    w = T.dequantize(q, scale, zero, axis=1, block=32)
    one, two = (ag.function([x, v], [T.matmul(x, w.T), T.dot(w, v)], threads=n) for n in (1, 2))
    assert product_names(one).count("nibble_product") == 2
    values = rng.normal(size=(2, 3, 640)).astype("float32"), rng.normal(size=640).astype("float32")
    for a, b in zip(one(*values), two(*values), strict=True):
        np.testing.assert_array_equal(a, b, strict=True)
    assert within_bound(one(*values)[1][None], values[1][None], w.eval())
    with pytest.raises(ValueError, match="640"):
        one(values[0][..., 1:], values[1])


@pytest.mark.parametrize("mode", ["NUMPY", "fast_run"])
def test_there_and_back(mode):
    """Blocks along an axis, the last one shorter, share a scale; 4 bits are held in 8."""
    x = T.fmatrix("x")
    steps = np.array([[0.5, 0.25]], "float32")
    low = T.quantize(x, steps, 0, "int4", axis=1, block=2)
    high = T.quantize(x, steps, 3, "uint4", axis=1, block=2)
    f = ag.function([x], [low, high, T.dequantize(high, steps, 3, axis=1, block=2)], mode=mode)
    signed, unsigned, back = f([[-9, 0.75, 1], [99, np.nan, -0.1]])
    assert (signed.dtype, unsigned.dtype) == ("int8", "uint8")
    assert signed.tolist() == [[-8, 2, 4], [7, 0, 0]]
    assert unsigned.tolist() == [[0, 5, 7], [15, 3, 3]]
    np.testing.assert_array_equal(back, (unsigned - np.float32(3)) * np.float32([0.5, 0.5, 0.25]))
    (slope,) = ag.function([x], [ag.grad(T.sum(T.dequantize(low, steps, axis=1, block=2)), x)], mode=mode)(
        [[-9, 0.75, 1], [99, 0, -0.1]]
    )
    assert slope.tolist() == [[0, 1, 1], [0, 1, 1]]


def test_bad_input():
    x, q = T.fmatrix("x"), T.constant(np.zeros((4, 64), "int8"))
    with pytest.raises(ValueError, match=r"scale must have the shape \(4, 2\) for blocks of 32, got"):
        T.dequantize(q, np.ones((4, 3), "float32"), axis=1, block=32)
    with pytest.raises(ValueError, match="block must be a positive integer with axis= given, got 0 and axis=1"):
        T.dequantize(q, np.ones((4, 3), "float32"), axis=1, block=0)
    with pytest.raises(ValueError, match="zero_point must be integers from -8 to 7 for int4, got 8"):
        T.quantize(x, 1.0, 8, "int4")
    with pytest.raises(TypeError, match=r"dtype must be one of .*, int4, uint4, got float32"):
        T.quantize(x, 1.0, 0, "float32")
    with pytest.raises(ValueError, match="block must be a multiple of 8, got 12"):
        PackedProduct(Nibbles(16, 12, 12, 16))(x, T.bvector("w").astype("uint8"), T.fvector("s"))


def onnx_weights(zeros, block):
    onnx = pytest.importorskip("onnx")
    rng = np.random.default_rng(7)
    q, scale, zero = weights(rng, 20, 70 if block == 32 else 64, block, "uint4", zeros)
    return onnx, rng, q, scale, zero


def runtime(model, x):
    """The result of ONNX Runtime."""
    session = pytest.importorskip("onnxruntime").InferenceSession(model.SerializeToString())
    Path(tempfile.gettempdir(), ".ses").unlink(missing_ok=True)  # it leaves one
    return session.run(None, {"x": x})[0]


@pytest.mark.parametrize(("zeros", "block"), [(True, 32), (False, 16)])
def test_products_of_onnx_runtime(zeros, block):
    """`MatMulNBits` of com.microsoft: the same numbers, by packed weights."""
    onnx, rng, q, scale, zero = onnx_weights(zeros, block)
    outputs, depth = q.shape
    blocks = scale.shape[1]
    filled = np.zeros((outputs, blocks * block), "uint8")
    filled[:, :depth] = q
    given = {"w": (filled[:, ::2] | filled[:, 1::2] << 4).reshape(outputs, blocks, -1), "s": scale.reshape(-1)}
    if zeros:
        even = np.pad(zero, ((0, 0), (0, blocks % 2)))
        given["z"] = (even[:, ::2] | even[:, 1::2] << 4).reshape(-1)
    node = onnx.helper.make_node(
        "MatMulNBits", ["x", *given], ["y"], domain="com.microsoft", K=depth, N=outputs, bits=4, block_size=block
    )
    info = onnx.helper.make_tensor_value_info
    graph = onnx.helper.make_graph(
        [node], "g", [info("x", 1, ["m", depth])], [info("y", 1, ["m", outputs])],
        [onnx.numpy_helper.from_array(a, n) for n, a in given.items()],
    )  # fmt: skip
    opsets = [onnx.helper.make_opsetid("", 21), onnx.helper.make_opsetid("com.microsoft", 1)]
    model = onnx.helper.make_model(graph, opset_imports=opsets, ir_version=10)
    f = ag.from_onnx(model).function()
    assert product_names(f) == ["nibble_product"]
    x = rng.normal(size=(3, depth)).astype("float32")
    np.testing.assert_allclose(f(x), runtime(model, x), rtol=1e-4, atol=1e-4)
    node.attribute[2].i = 8
    graph.node[0].CopyFrom(node)
    with pytest.raises(ValueError, match=r"takes constant weights of 4 bits in their own order, got 8 bits"):
        ag.from_onnx(onnx.helper.make_model(graph, opset_imports=opsets, ir_version=10))


@pytest.mark.parametrize(("zeros", "block"), [(True, 32), (False, 16)])
def test_blocks_are_written_and_read(zeros, block):
    """`DequantizeLinear` with block_size and integers of 4 bits."""
    onnx, rng, q, scale, zero = onnx_weights(zeros, block)
    x = T.fmatrix("x")
    y = T.dot(x, T.dequantize(q, scale, zero, axis=1, block=block).T)
    model = ag.to_onnx(ag.function([x], y))
    assert {t.data_type for t in model.graph.initializer} >= {onnx.TensorProto.UINT4}
    assert model.ByteSize() < q.size / 2 + scale.nbytes + 900
    value = rng.normal(size=(3, q.shape[1])).astype("float32")
    back = ag.from_onnx(model)
    assert [n.op.name for n in back.function().graph.order] == ["nibble_product"]
    np.testing.assert_array_equal(back(value), ag.function([x], y)(value))
    np.testing.assert_allclose(runtime(model, value), back(value), rtol=1e-4, atol=1e-4)
