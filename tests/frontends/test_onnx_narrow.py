"""Dtypes of few bits in ONNX models: every pattern of bits, rounding, arrays at the edges, sequences."""

import pickle
from fractions import Fraction

import numpy as np
import pytest

import arignote as ag
from arignote import ops as T

onnx = pytest.importorskip("onnx")
import ml_dtypes  # noqa: E402
from onnx import TensorProto, helper, numpy_helper  # noqa: E402

from arignote.frontends.onnx import OnnxError  # noqa: E402
from arignote.frontends.onnx.reading.narrow import FORMATS, Float, Powers  # noqa: E402

RNG = np.random.default_rng(0)
FLOATS = [f for f in FORMATS.values() if isinstance(f, Float)]


@pytest.mark.parametrize("number", sorted(FORMATS.keys() - {8}))  # 8: strings
def test_every_pattern_of_bits(number):
    """Packed bytes are the numbers that ml_dtypes says; encoding by the onnx package."""
    form = FORMATS[number]
    codes = np.arange(2**form.bits, dtype="u2" if form.bits == 16 else "u1")
    wanted = codes.view(form.dtype) if form.bits >= 8 else codes.astype("i1").view("u1").view(form.dtype)
    for count in (len(codes), 3):
        packed = numpy_helper.from_array(wanted[:count]).raw_data
        np.testing.assert_array_equal(form.values(packed, count), wanted[:count].astype(form.wide))


def numbers(form):
    """All numbers of a format, what lies between them, ties and their neighbours, and beyond the largest."""
    codes = np.arange(2**form.bits)
    values = form.decoded()[codes]
    values = np.unique(values[np.isfinite(values)])
    between = (values[1:] + values[:-1]) / 2
    if form.bits == 16:
        values, between = values[::101], between[::37]
    ends = np.array([1.01, 1.0624, 1.0626, 1.2, 4, 1e30]) * form.largest
    found = np.concatenate([values, between, ends, -ends, [np.inf, -np.inf, 0.0, -0.0]])
    with np.errstate(over="ignore"):
        found = found.astype("float32")
    return np.concatenate([found, np.nextafter(found, np.float32(9e9)), np.nextafter(found, np.float32(-9e9))])


@pytest.mark.parametrize("mode", ["NUMPY", "FAST_RUN"])
def test_rounding_is_that_of_ml_dtypes(mode):
    x = T.fvector("x")
    f = ag.function([x], [form.rounded(x) for form in FLOATS], mode=mode)
    data = np.concatenate([numbers(form) for form in FLOATS] + [np.array([np.nan], "f4")])
    with np.errstate(all="ignore"):
        for form, result in zip(FLOATS, f(data), strict=True):
            wanted = data.astype(form.dtype).astype("float32")
            reported = np.isnan(wanted) | np.isnan(result)
            np.testing.assert_array_equal(np.isnan(result), np.isnan(wanted), form.name)
            np.testing.assert_array_equal(result[~reported], wanted[~reported], form.name)
            np.testing.assert_array_equal(np.signbit(result[~reported]), np.signbit(wanted[~reported]), form.name)


def nearest(value, form):
    """Nearest number of a format to a float64, by fractions; the even one of two."""
    size = abs(Fraction(value))
    exponent = max(np.frexp(float(size))[1] - 1, form.least)
    step = Fraction(2) ** int(exponent - form.digits)
    return float(round(size / step) * step) * (1 if value >= 0 else -1)


def test_float64_is_rounded_once():
    """A number just beside a tie, where float32 has the tie itself."""
    x = T.dvector("x")
    bfloat, half = FORMATS[16], FORMATS[17]
    ties = np.array([1 + 2.0**-8, 1 + 3 * 2.0**-8, 5.5, 17.0, 1 + 2.0**-4, 2.0**-9 * 1.5])
    data = np.concatenate([ties * (1 + s * 2.0**-k) for k in (30, 40, 51, 52) for s in (-1, 0, 1)])
    scattered = RNG.standard_normal(500) * 2.0 ** RNG.integers(-7, 7, 500)
    data = np.concatenate([data, 2 - 2.0 ** -np.arange(5.0, 53), scattered])
    for form, result in zip((bfloat, half), ag.function([x], [bfloat.rounded(x), half.rounded(x)])(data), strict=True):
        assert result.tolist() == [nearest(v, form) for v in data.tolist()]


def test_powers_of_two():
    x = T.fvector("x")
    form = next(f for f in FORMATS.values() if isinstance(f, Powers))
    modes = ["down", "up", "nearest"]
    data = np.array([1, 1.25, 1.5, 1.75, 2, 3, 2.0**-130, 0, 1.5 * 2.0**-127, 3e38, np.inf, np.nan], "f4")
    f = ag.function([x], [form.rounded(x, s, m) for m in modes for s in (True, False)])
    low, high, nan = 2.0**-127, 2.0**127, np.nan
    wanted = [
        [1, 1, 1, 1, 2, 2, low, low, low, high, high, nan], [1, 1, 1, 1, 2, 2, nan, nan, low, high, nan, nan],
        [1, 2, 2, 2, 2, 4, low, low, 2 * low, high, high, nan], [1, 2, 2, 2, 2, 4, nan, nan, 2 * low, nan, nan, nan],
        [1, 1, 2, 2, 2, 4, low, low, 2 * low, high, high, nan], [1, 1, 2, 2, 2, 4, nan, nan, 2 * low, nan, nan, nan],
    ]  # fmt: skip
    for result, row in zip(f(data), wanted, strict=True):
        np.testing.assert_array_equal(result, np.array(row, "f4"))


# --- models


def model(nodes, inputs, outputs, initializers=(), version=25):
    """A ModelProto; inputs and outputs are (name, type, shape)."""
    infos = [[helper.make_tensor_value_info(*i) for i in values] for values in (inputs, outputs)]
    weights = [numpy_helper.from_array(a, n) for n, a in dict(initializers).items()]
    graph = helper.make_graph(nodes, "net", *infos, weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", version)], ir_version=12)


def test_a_network_in_bfloat16():
    """Each node's result is rounded once; weights and arrays at the edges are those of ml_dtypes."""
    B = TensorProto.BFLOAT16
    w = RNG.standard_normal((5, 4)).astype(ml_dtypes.bfloat16)
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["m"]), helper.make_node("Relu", ["m"], ["r"]),
        helper.make_node("Mul", ["r", "r"], ["y"]),
    ]  # fmt: skip
    net = ag.from_onnx(model(nodes, [("x", B, ["n", 5])], [("y", B, ["n", 4])], {"w": w}))
    x = RNG.standard_normal((3, 5)).astype(ml_dtypes.bfloat16)
    product = (x.astype("f4") @ w.astype("f4")).astype(ml_dtypes.bfloat16).astype("f4")
    wanted = (np.maximum(product, 0) ** 2).astype(ml_dtypes.bfloat16)
    y = net(x)
    assert y.dtype == ml_dtypes.bfloat16 and y.tolist() == wanted.tolist() == net(x=x.astype("f4")).tolist()
    assert net.narrow == {"w": "bfloat16", "x": "bfloat16", "y": "bfloat16"}
    assert repr(net) == "<ONNX model net(x: bfloat16[?, 5]) -> y>"
    again = pickle.loads(pickle.dumps(net.function(mode="NUMPY")))
    assert again(x).dtype == ml_dtypes.bfloat16
    with pytest.raises(OnnxError, match="models with sequences or dtypes of few bits cannot be written"):
        ag.to_onnx(net)
    with pytest.raises(TypeError, match="net: expected x; got 2 arrays"):
        net(x, x)
    with pytest.raises(TypeError, match="net: expected x; x is missing"):
        net()


def test_bfloat16_through_branches_and_functions():
    B = TensorProto.BFLOAT16
    third = np.array(1 / 3, ml_dtypes.bfloat16)
    inner = helper.make_graph(
        [helper.make_node("Mul", ["x", "third"], ["o"])], "then", [], [helper.make_tensor_value_info("o", B, [2])]
    )
    other = helper.make_graph(
        [helper.make_node("Identity", ["x"], ["o"])], "else", [], [helper.make_tensor_value_info("o", B, [2])]
    )
    twice = helper.make_function(
        "mine", "Twice", ["a"], ["b"], [helper.make_node("Add", ["a", "a"], ["b"])], [helper.make_opsetid("", 25)]
    )
    nodes = [
        helper.make_node("If", ["c"], ["t"], then_branch=inner, else_branch=other),
        helper.make_node("Twice", ["t"], ["u"], domain="mine"), helper.make_node("Exp", ["u"], ["y"]),
    ]  # fmt: skip
    made = model(nodes, [("x", B, [2]), ("c", TensorProto.BOOL, [])], [("y", B, [2])], {"third": third})
    made.functions.append(twice)
    made.opset_import.append(helper.make_opsetid("mine", 1))
    x = np.array([1.5, -3], ml_dtypes.bfloat16)
    net = ag.from_onnx(made)
    for c in (True, False):
        wanted = np.exp(2 * (x * third if c else x).astype("f4")).astype(ml_dtypes.bfloat16)
        assert net(x, np.array(c)).tolist() == wanted.tolist()


def test_weights_of_four_bits():
    I4 = TensorProto.INT4
    w = np.array([[-8, 7, 3], [0, -1, 2]]).astype(ml_dtypes.int4)
    nodes = [
        helper.make_node("DequantizeLinear", ["w", "s"], ["d"], axis=0), helper.make_node("MatMul", ["x", "d"], ["m"]),
        helper.make_node("QuantizeLinear", ["m", "half"], ["y"], output_dtype=I4),
    ]  # fmt: skip
    weights = {"w": w, "s": np.array([0.5, 2], "f4"), "half": np.array(0.5, "f4")}
    net = ag.from_onnx(model(nodes, [("x", TensorProto.FLOAT, [1, 2])], [("y", I4, [1, 3])], weights))
    y = net(np.array([[0.5, 1]], "f4"))
    assert y.dtype == ml_dtypes.int4 and y.astype("i1").tolist() == [[-4, -1 + 1 - 0, 7]]


def test_sequences_are_lists():
    item = helper.make_tensor_type_proto(TensorProto.FLOAT, ["n"])
    kind = helper.make_sequence_type_proto(item)
    nodes = [helper.make_node("ConcatFromSequence", ["s"], ["y"], axis=0), helper.make_node("Identity", ["s"], ["t"])]
    infos = [helper.make_value_info("y", item), helper.make_value_info("t", kind)]
    graph = helper.make_graph(nodes, "net", [helper.make_value_info("s", kind)], infos)
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
    with pytest.raises(OnnxError, match=r"input 's' is a sequence; give the lengths of each of its tensors"):
        ag.from_onnx(made)
    net = ag.from_onnx(made, shapes={"s": [(1,), (None,)]})
    parts = [np.array([1], "f4"), np.array([2, 3], "f4")]
    y, t = net(parts)
    assert y.tolist() == [1, 2, 3] and [p.tolist() for p in t] == [[1], [2, 3]]
    with pytest.raises(TypeError, match="s must be a sequence of 2 arrays, got 1 array"):
        net(parts[:1])
