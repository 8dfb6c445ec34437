"""Integer ops of ONNX: as sums of bytes, bit for bit as 32 bits have it, and as ONNX Runtime has it."""

import tempfile
from pathlib import Path

import numpy as np
import pytest

import arignote as ag
from arignote import ops as T
from arignote.ops.lowered.byte_sums import ByteConvolution, ByteProduct
from arignote.targets.named import host

onnx = pytest.importorskip("onnx")
F, U8, I8, I32 = 1, 2, 3, 6
RNG = np.random.default_rng(11)
KERNELS = RNG.integers(-128, 128, (8, 4, 3, 3)).astype("int8")
MATRIX = RNG.integers(-128, 128, (16, 10)).astype("int8")
EACH = RNG.integers(-128, 128, (4, 1, 3, 3)).astype("int8")
POINT, FAR = np.uint8(7), np.int8(-90)


def node(kind, *inputs, outputs=("y",), **attributes):
    return onnx.helper.make_node(kind, list(inputs), list(outputs), **attributes)


def steps(sw, zw, sy, zy):
    """The operands of an op whose result is rounded to 8 bits."""
    return {"sx": np.float32(0.1), "zx": POINT, "sw": sw, "zw": zw, "sy": np.float32(sy), "zy": zy}


CONV = node("QLinearConv", "x", "sx", "zx", "w", "sw", "zw", "sy", "zy", "b", pads=[1, 0, 1, 2])
BIAS = RNG.integers(-9999, 9999, 8).astype("int32")
SCALES = (RNG.random(8) / 9).astype("float32")
IMAGE = ("x", U8, ["n", 4, 7, 6])
CASES = {
    # nodes, inputs, dtype of the result, weights, how many sums of bytes there are
    "convolution": ([CONV], [IMAGE], U8, {"w": KERNELS, "b": BIAS, **steps(SCALES, np.zeros(8, "int8"), 9, POINT)}, 1),
    "asymmetric": (
        [CONV], [IMAGE], U8,
        {"w": KERNELS.astype("uint8"), "b": BIAS, **steps(np.float32(0.2), np.uint8(131), 9, np.uint8(200))}, 2,
    ),
    "sums of windows": (
        [node("ConvInteger", "x", "w", "zx", "zw", pads=[1, 1, 1, 1], strides=[2, 1])], [IMAGE], I32,
        {"w": KERNELS, "zx": POINT, "zw": np.int8(3)}, 2,
    ),
    "each channel": (
        [node("ConvInteger", "x", "w", "zx", pads=[1, 1, 1, 1], group=4)], [IMAGE], I32, {"w": EACH, "zx": POINT}, 1,
    ),
    "product": (
        [node("MatMulInteger", "x", "w", "zx", "zw")], [("x", U8, ["n", 16])], I32,
        {"w": MATRIX, "zx": POINT, "zw": FAR}, 1,
    ),
    "zero points of columns": (
        [node("MatMulInteger", "x", "w", "zx", "zw")], [("x", U8, [2, "n", 16]), ("zx", U8, [])], I32,
        {"w": MATRIX, "zw": RNG.integers(-128, 128, 10).astype("int8")}, 1,
    ),
    "nothing constant": (
        [node("MatMulInteger", "x", "w", "zx", "zw")],
        [("x", U8, ["n", 16]), ("w", I8, [16, "k"]), ("zx", U8, []), ("zw", I8, ["k"])], I32, {}, 1,
    ),
    "rounded product": (
        [node("QLinearMatMul", "x", "sx", "zx", "w", "sw", "zw", "sy", "zy")], [("x", U8, ["n", 16])], U8,
        {"w": MATRIX, **steps(np.float32(0.03), np.int8(3), 1, np.uint8(100))}, 1,
    ),
    "dynamic": (
        [node("DynamicQuantizeLinear", "x", outputs=("q", "s", "z")), node("MatMulInteger", "q", "w", "z")],
        [("x", F, ["n", 16])], I32, {"w": MATRIX}, 1,
    ),
}  # fmt: skip


def made(nodes, inputs, result, weights):
    info = onnx.helper.make_tensor_value_info
    graph = onnx.helper.make_graph(
        nodes, "g", [info(*i) for i in inputs], [info("y", result, None)],
        [onnx.numpy_helper.from_array(np.asarray(v), n) for n, v in weights.items()],
    )  # fmt: skip
    return onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 21)], ir_version=10)


def filled(dtype, shape):
    sizes = [n if isinstance(n, int) else {"n": 3, "k": 5}[n] for n in shape]
    if dtype == F:
        return RNG.normal(size=sizes).astype("float32")
    ends = np.iinfo({U8: "uint8", I8: "int8"}[dtype])
    return RNG.integers(ends.min, ends.max + 1, sizes).astype(ends.dtype)


@pytest.mark.few(1)
@pytest.mark.parametrize("case", CASES)
def test_results_are_those_of_integers_and_of_onnx_runtime(case):
    nodes, inputs, result, weights, count = CASES[case]
    model = made(nodes, inputs, result, weights)
    f = ag.from_onnx(model).function()
    assert sum(isinstance(n.op, (ByteConvolution, ByteProduct)) for n in f.graph.order) == count
    assert not any(n.op.name in ("dot", "matmul", "convolution") for n in f.graph.order)
    values = [filled(*i[1:]) for i in inputs]
    exact = ag.from_onnx(model).function(mode="fast_compile")(*values)
    np.testing.assert_array_equal(f(*values), exact, strict=True)
    if not any("vnni" in feature for feature in host().features):
        return  # ONNX Runtime sums in 16 bits then, which saturate
    session = pytest.importorskip("onnxruntime").InferenceSession(model.SerializeToString())
    Path(tempfile.gettempdir(), ".ses").unlink(missing_ok=True)  # it leaves one
    (theirs,) = session.run(None, dict(zip([i[0] for i in inputs], values, strict=True)))
    np.testing.assert_array_equal(f(*values), theirs, strict=True)


def test_a_rounded_convolution_ends_in_registers():
    """Bias, scale, zero point and rounding are parts of one sum of bytes."""
    f = ag.from_onnx(made(*CASES["convolution"][:4])).function()
    assert [n.op.name for n in f.graph.order] == ["to_blocks", "byte_convolution", "from_blocks"]


def test_sums_wrap_as_those_of_int32():
    """Zero points of int32 that no byte holds, and sums beyond 2^31."""
    x, z = T.matrix("x", "int8"), T.iscalar("z")
    w = np.full((40, 3), 127, "int32")
    f = ag.function([x, z], T.dot(T.cast(x, "int32") - z, w))
    assert any(isinstance(n.op, ByteConvolution) for n in f.graph.order)
    value = RNG.integers(-128, 128, (5, 40)).astype("int8")
    for point in (0, -7, 2**31 - 1, -(2**31)):
        with np.errstate(over="ignore"):
            expected = (value.astype("int32") - np.int32(point)) @ w
        np.testing.assert_array_equal(f(value, np.int32(point)), expected, strict=True)
