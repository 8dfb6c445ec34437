"""Quantized ops of com.microsoft beside ONNX Runtime: equal up to one unit, where a float32 is between two integers."""

import numpy as np
import pytest
from draws import mostly_long

import arignote as ag

onnx = pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")
from onnx import TensorProto, helper, numpy_helper  # noqa: E402
from test_onnx import runtime  # noqa: E402

RNG = np.random.default_rng(0)
KIND = {"uint8": TensorProto.UINT8, "int8": TensorProto.INT8, "bool": TensorProto.BOOL, "float32": TensorProto.FLOAT}


def quantized(dtype, *shape):
    info = np.iinfo(dtype)
    return RNG.integers(info.min, info.max + 1, shape).astype(dtype)


def built(op, operands, outputs=("y",), constants=(), **attributes):
    """A model of one node: arrays are inputs, or constants if their number is in `constants`."""
    names = [f"i{k}" if v is not None else "" for k, v in enumerate(operands)]
    node = helper.make_node(op, names, list(outputs), domain="com.microsoft", **attributes)
    given = {n: v for k, (n, v) in enumerate(zip(names, operands, strict=True)) if n and k not in constants}
    fixed = [numpy_helper.from_array(np.asarray(operands[k]), names[k]) for k in constants if operands[k] is not None]
    infos = [helper.make_tensor_value_info(n, KIND[v.dtype.name], v.shape) for n, v in given.items()]
    dtype = TensorProto.FLOAT if op == "QGemm" and len(operands) < 8 else KIND[first(operands).dtype.name]
    graph = helper.make_graph([node], "one", infos, [helper.make_tensor_value_info("y", dtype, None)], fixed)
    opsets = [helper.make_opsetid("", 18), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=9), given


def first(operands):
    return next(v for v in operands if v is not None and v.dtype in (np.uint8, np.int8))


def cases(dtype):
    s, t, u = np.float32(0.0213), np.float32(0.0517), np.float32(0.0431)  # whose ratios make no ties
    z, w, v = (np.array(n, dtype) for n in (3, 7, 11))
    x, y = quantized(dtype, 2, 3, 8, 6), quantized(dtype, 2, 3, 8, 6)
    yield "QLinearAdd", [x, s, z, y, t, w, u, v], (1, 2, 4, 5, 6, 7), {}
    yield "QLinearAdd", [x, s, z, y[:, :1], s, z, u, v], (1, 2, 4, 5, 6, 7), {}
    yield "QLinearMul", [x, s, z, y, t, w, u, v], (1, 2, 4, 5, 6, 7), {}
    yield "QLinearSigmoid", [x, s, z, np.float32(1 / 256), v], (1, 2, 3, 4), {}
    yield "QLinearLeakyRelu", [x, s, z, t, w], (1, 2, 3, 4), {"alpha": 0.2}
    yield "QLinearAveragePool", [x, s, z, t, w], (1, 2, 3, 4), {"kernel_shape": [3, 2], "strides": [2, 1]}
    padding = {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1], "count_include_pad": 1}
    yield "QLinearAveragePool", [x, s, z, s, z], (1, 2, 3, 4), padding
    yield "QLinearGlobalAveragePool", [x, s, z, s, w], (1, 2, 3, 4), {}
    yield "QLinearGlobalAveragePool", [x, s, z, s, w], (1, 2, 3, 4), {"channels_last": 1}
    yield "QLinearConcat", [u, v, x, s, z, y, t, w], (0, 1, 3, 4, 6, 7), {"axis": 1}
    yield "QLinearSoftmax", [x, s, z, np.float32(1 / 256), np.array(0, dtype)], (1, 2, 3, 4), {"axis": -1, "opset": 13}
    yield "QLinearSoftmax", [x, s, z, np.float32(1 / 256), np.array(0, dtype)], (1, 2, 3, 4), {"axis": 1, "opset": 11}
    condition = RNG.random((8, 6)) < 0.5
    yield "QLinearWhere", [condition, x, s, z, y, t, w, u, v], (2, 3, 5, 6, 7, 8), {}
    a, b = quantized(dtype, 5, 8), quantized(dtype, 8, 6)
    bias = RNG.integers(-1000, 1000, 6).astype("int32")
    columns = RNG.uniform(0.01, 0.05, 6).astype("float32"), np.zeros(6, dtype)
    yield "QGemm", [a, s, z, b, t, w, bias, np.float32(0.5), v], (1, 2, 3, 4, 5, 6, 7, 8), {"alpha": 0.5}
    yield "QGemm", [a, s, z, b.T.copy(), *columns, None, np.float32(0.5), v], (1, 2, 3, 4, 5, 7, 8), {"transB": 1}
    yield "QGemm", [a, s, z, b, t, w, bias], (1, 2, 3, 4, 5, 6), {}


@pytest.mark.long
@pytest.mark.parametrize("dtype", mostly_long(["uint8", "int8"], {"uint8"}))
def test_quantized_ops_beside_onnx_runtime(dtype):
    for op, operands, constants, attributes in cases(dtype):
        made, feeds = built(op, operands, constants=constants, **attributes)
        ours, (theirs,) = np.asarray(ag.from_onnx(made)(**feeds)), runtime(made, feeds)
        assert ours.dtype == theirs.dtype and ours.shape == theirs.shape, (op, attributes)
        away = np.abs(ours.astype("float64") - theirs)
        if ours.dtype == np.float32:
            np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-4, err_msg=op)
        else:
            assert away.max() <= 1 and (away > 0).mean() < 0.02, (op, attributes, away.max(), (away > 0).mean())
