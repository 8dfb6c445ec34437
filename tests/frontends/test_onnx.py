"""Models in the ONNX format: the suite of the format itself, networks beside ONNX Runtime, models that are damaged."""

import tempfile
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from draws import mostly_long

import arignote as ag
from arignote import ops as T

onnx = pytest.importorskip("onnx")
from onnx import TensorProto, helper, numpy_helper  # noqa: E402
from onnx_cases import BEYOND, cases, outcome  # noqa: E402
from onnx_cases import page as page_of  # noqa: E402

from arignote.frontends.onnx import OnnxError  # noqa: E402

RNG = np.random.default_rng(0)
F = TensorProto.FLOAT


def model(nodes, inputs, outputs, initializers=(), version=18, **more):
    """A ModelProto; inputs and outputs are (name, shape) of float32."""
    graph = helper.make_graph(
        nodes, "net", [helper.make_tensor_value_info(n, F, s) for n, s in inputs],
        [helper.make_tensor_value_info(n, F, s) for n, s in outputs],
        [numpy_helper.from_array(a, n) for n, a in dict(initializers).items()],
    )  # fmt: skip
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", version)], ir_version=9, **more)


def runtime(made, feeds):
    """Results of ONNX Runtime."""
    session = pytest.importorskip("onnxruntime").InferenceSession(
        made.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    Path(tempfile.gettempdir(), ".ses").unlink(missing_ok=True)  # it leaves one
    return session.run(None, feeds)


def array(*shape):
    return RNG.standard_normal(shape).astype("float32")


# --- the suite of the format


@pytest.fixture(scope="module")
def suite():
    return list(cases())


def outcomes(cases, mode):
    """The outcome of each case: those of a supported kind pass, and none gives a wrong number."""
    found = {case.name: outcome(case, mode) for case in cases}
    failed = {name: mark for name, mark in found.items() if mark != "passed" and mark not in BEYOND.values()}
    assert not failed, f"{len(failed)} cases fail:\n" + "\n".join(f"{n}: {s}" for n, s in list(failed.items())[:20])
    return found


def test_the_conformance_suite(suite):
    found = outcomes(suite, "NUMPY")
    counts = Counter(found.values())
    assert counts["passed"] >= 0.95 * len(suite), counts
    page = (Path(__file__).parents[2] / "docs/onnx-conformance.md").read_text()
    assert f"(onnx {onnx.__version__})" not in page or page == page_of(found), "run python -m tests.onnx_cases"


@pytest.mark.long
@pytest.mark.parametrize("part", mostly_long(range(4), {0}))
def test_a_sample_of_the_suite_in_c(suite, part):
    outcomes(suite[part * 16 :: 67], "FAST_RUN")


def test_defaults_that_the_suite_has_no_case_for():
    x = RNG.standard_normal((2, 3, 4, 5))
    for op, version, shape, expected in (
        ("Softmax", 12, x.shape, np.exp(x) / np.exp(x).sum((1, 2, 3), keepdims=True)),  # all axes from 1 on
        ("LogSoftmax", 11, x.shape, x - np.log(np.exp(x).sum((1, 2, 3), keepdims=True))),
        ("GlobalLpPool", 18, (2, 3, 1, 1), np.sqrt(np.square(x).sum((2, 3), keepdims=True))),
    ):
        made = model([helper.make_node(op, ["x"], ["y"])], [("x", x.shape)], [("y", shape)], version=version)
        np.testing.assert_allclose(ag.from_onnx(made).function(mode="NUMPY")(x.astype("f4")), expected, rtol=1e-5)


# --- networks


def convolutional():
    weights = {
        "w1": array(8, 3, 3, 3) * 0.2, "scale": array(8) ** 2 + 0.5, "b": array(8), "mean": array(8),
        "var": array(8) ** 2 + 0.5, "w2": array(8, 1, 3, 3), "w3": array(5, 8) * 0.3, "b3": array(5),
    }  # fmt: skip
    nodes = [
        helper.make_node("Conv", ["x", "w1"], ["c"], pads=[1, 1, 1, 1], strides=[2, 2]),
        helper.make_node("BatchNormalization", ["c", "scale", "b", "mean", "var"], ["n"]),
        helper.make_node("Relu", ["n"], ["r"]),
        helper.make_node("Conv", ["r", "w2"], ["d"], group=8, auto_pad="SAME_UPPER"),
        helper.make_node("Add", ["d", "r"], ["s"]),
        helper.make_node("MaxPool", ["s"], ["p"], kernel_shape=[2, 2], strides=[2, 2]),
        helper.make_node("GlobalAveragePool", ["p"], ["g"]),
        helper.make_node("Shape", ["g"], ["shape"]),
        helper.make_node("Gather", ["shape", "zero"], ["batch"], axis=0),
        helper.make_node("Unsqueeze", ["batch", "axes"], ["batch1"]),
        helper.make_node("Concat", ["batch1", "rest"], ["target"], axis=0),
        helper.make_node("Reshape", ["g", "target"], ["flat"]),
        helper.make_node("Gemm", ["flat", "w3", "b3"], ["logits"], transB=1),
        helper.make_node("Softmax", ["logits"], ["y"], axis=-1),
    ]
    integers = {"zero": np.array(0), "axes": np.array([0]), "rest": np.array([-1])}
    return model(nodes, [("x", ["n", 3, 16, 16])], [("y", ["n", 5])], {**weights, **integers})


@pytest.mark.long
def test_a_convolutional_network_with_a_dynamic_batch():
    made = convolutional()
    net = ag.from_onnx(made)
    f = net.function()
    for batch in (1, 3):
        x = array(batch, 3, 16, 16)
        np.testing.assert_allclose(f(x), runtime(made, {"x": x})[0], rtol=1e-4, atol=1e-6)
    assert net(x=x).shape == (3, 5) and list(net.inputs) == ["x"] and net.parameters["w1"].type.shape == (8, 3, 3, 3)
    assert repr(net) == "<ONNX model net(x: float32[?, 3, 16, 16]) -> y>"
    assert not any(op.name in ("shape", "make_vector") for op in net.graph.ops)


@pytest.mark.long
def test_a_network_can_be_trained():
    net = ag.from_onnx(convolutional(), trainable=True)
    x, labels = net.inputs["x"], T.lvector("labels")
    loss = -T.log(net.outputs["y"][T.arange(labels.shape[0]), labels]).mean()
    weights = [w for w in net.parameters.values() if hasattr(w, "get_value")]
    step = ag.function([x, labels], loss, updates=[(w, w - 0.05 * ag.grad(loss, w)) for w in weights])
    data, digits = array(6, 3, 16, 16), np.array([0, 1, 2, 3, 4, 0])
    losses = [float(step(data, digits)) for _ in range(12)]
    assert losses[-1] < 0.8 * losses[0]


@pytest.mark.few(2)
@pytest.mark.parametrize("op", ["LSTM", "GRU", "RNN"])
@pytest.mark.parametrize("direction", ["forward", "bidirectional"])
def test_recurrent_layers(op, direction):
    gates, ways = {"LSTM": 4, "GRU": 3, "RNN": 1}[op], 2 if direction == "bidirectional" else 1
    weights = {"w": array(ways, gates * 4, 3), "r": array(ways, gates * 4, 4), "b": array(ways, gates * 8)}
    more = {"linear_before_reset": 1} if op == "GRU" else {}
    node = helper.make_node(op, ["x", "w", "r", "b"], ["y", "h"], hidden_size=4, direction=direction, **more)
    made = model([node], [("x", [5, 2, 3])], [("y", [5, ways, 2, 4]), ("h", [ways, 2, 4])], weights)
    x = array(5, 2, 3)
    for ours, theirs in zip(ag.from_onnx(made)(x), runtime(made, {"x": x}), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-6)


def test_a_loop_and_a_branch_whose_ways_the_run_decides():
    body = helper.make_graph(
        [helper.make_node("Add", ["s", "s"], ["t"]), helper.make_node("Identity", ["c"], ["d"])], "body",
        [
            helper.make_tensor_value_info("k", TensorProto.INT64, []),
            helper.make_tensor_value_info("c", TensorProto.BOOL, []), helper.make_tensor_value_info("s", F, [2]),
        ],
        [helper.make_tensor_value_info("d", TensorProto.BOOL, []), helper.make_tensor_value_info("t", F, [2])],
    )  # fmt: skip
    nodes = [
        helper.make_node("ReduceSum", ["x"], ["sum"], keepdims=0),
        helper.make_node("Greater", ["sum", "zero"], ["up"]),
        helper.make_node("Cast", ["sum"], ["turns"], to=TensorProto.INT64),
        helper.make_node("Loop", ["turns", "", "x"], ["y"], body=body),
        helper.make_node("If", ["up"], ["z"], then_branch=_branch("Neg"), else_branch=_branch("Identity")),
    ]
    made = model(nodes, [("x", [2])], [("z", [2])], {"zero": np.float32(0)})
    f = ag.from_onnx(made).function()
    for x in (np.array([1, 2], "float32"), np.array([-1, 0.5], "float32")):
        np.testing.assert_allclose(f(x), runtime(made, {"x": x})[0])


def _branch(op):
    return helper.make_graph([helper.make_node(op, ["y"], ["o"])], op, [], [helper.make_tensor_value_info("o", F, [2])])


def test_functions_of_a_model_and_ops_of_the_user():
    function = helper.make_function(
        "mine", "Twice", ["a"], ["b"], [helper.make_node("Add", ["a", "a"], ["b"])], [helper.make_opsetid("", 18)]
    )
    twice = helper.make_node("Twice", ["x"], ["t"], domain="mine")
    nodes = [twice, helper.make_node("Odd", ["t"], ["y"], domain="own")]
    made = model(nodes, [("x", [3])], [("y", [3])], functions=[function])
    made.opset_import.extend([helper.make_opsetid("mine", 1), helper.make_opsetid("own", 1)])
    with pytest.raises(OnnxError, match=r"no converter for own.Odd \(-> y\); give one for each, as in from_onnx"):
        ag.from_onnx(made)
    net = ag.from_onnx(made, ops={"own.Odd": lambda node, x: x * 2 + 1})
    assert net(np.array([1, 2, 3], "float32")).tolist() == [5, 9, 13]


# --- models that cannot be read


def chain(*ops, **more):
    names = ["x", *(f"v{k}" for k in range(len(ops)))]
    nodes = [helper.make_node(op, [a], [b]) for op, a, b in zip(ops, names, names[1:])]
    return model(nodes, [("x", [3])], [(names[-1], [3])], **more)


def damaged(change, made=None):
    made = chain("Relu", "Neg") if made is None else made
    change(made)
    return made


WRONG = [
    (lambda m: m.graph.node[0].input.__setitem__(0, "v1"), "reads 'v1', which is made from it: the nodes go"),
    (lambda m: m.graph.node[0].input.__setitem__(0, "gone"), "node Relu reads 'gone', which is not there"),
    (lambda m: m.graph.node[1].output.__setitem__(0, "v0"), "makes 'v0', which is also another output, an input or"),
    (lambda m: m.graph.output[0].__setattr__("name", "no"), "the output 'no' is made by no node"),
    (lambda m: m.opset_import[0].__setattr__("version", 99), "needs version 99 of the ONNX op set; the newest"),
    (lambda m: m.graph.node[0].__setattr__("op_type", "Frob"), "no converter for Frob"),
    (lambda m: m.graph.input[0].type.tensor_type.__setattr__("elem_type", 8), r"expected numbers, got strings \(x\)"),
    (lambda m: m.graph.node[0].input.append("x"), r"node Relu .* -> v0: has 2 operands, expected 1: X"),
    (lambda m: m.graph.input[0].type.tensor_type.ClearField("shape"), "input 'x' has no rank; say its lengths"),
    (lambda m: m.ClearField("opset_import"), "no op set|names no op set|newest"),
]  # fmt: skip


@pytest.mark.parametrize(("change", "words"), WRONG)
def test_what_cannot_be_is_refused_by_name(change, words):
    with pytest.raises((OnnxError, ValueError), match=words):
        ag.from_onnx(damaged(change).SerializeToString())


def test_hostile_tensors_take_no_memory(tmp_path):
    huge = TensorProto(name="w", data_type=F, dims=[2**31, 2**31])
    short = TensorProto(name="w", data_type=F, dims=[4], raw_data=b"123")
    outside = TensorProto(name="w", data_type=F, dims=[4], data_location=TensorProto.EXTERNAL)
    outside.external_data.add(key="location", value="../secret")
    beyond = TensorProto(name="w", data_type=F, dims=[4], data_location=TensorProto.EXTERNAL)
    beyond.external_data.add(key="location", value="weights")
    (tmp_path / "weights").write_bytes(b"1234")
    words = [
        r"shape \(2147483648, 2147483648\), which is not possible", "has 3 bytes, expected 16",
        "lies in '../secret', outside of the model's folder", "needs bytes 0 to 16 of weights, which has 4",
    ]  # fmt: skip
    for tensor, mark in zip([huge, short, outside, beyond], words, strict=True):
        made = chain("Relu")
        made.graph.initializer.append(tensor)
        path = tmp_path / "model.onnx"
        path.write_bytes(made.SerializeToString())
        with pytest.raises(OnnxError, match=mark):
            ag.from_onnx(path)


def test_files_that_are_no_models(tmp_path):
    with pytest.raises(OnnxError, match="No such file"):
        ag.from_onnx(tmp_path / "none.onnx")
    whole = convolutional().SerializeToString()
    for part in (b"", b"not a model at all", whole[: len(whole) // 2]):
        with pytest.raises(OnnxError, match=r"no ONNX model|is not there|bytes, expected|made by no node"):
            ag.from_onnx(part)
    with pytest.raises(TypeError, match=r"expected a path, bytes or an onnx\.ModelProto, got int"):
        ag.from_onnx(3)


def test_wrong_arrays_and_shapes_are_errors():
    net = ag.from_onnx(convolutional())
    with pytest.raises(TypeError, match="float64"):
        net(RNG.standard_normal((1, 3, 16, 16)))
    with pytest.raises(ValueError, match="3"):
        net(array(1, 4, 16, 16))
    with pytest.raises(OnnxError, match="shapes names 'z'; the inputs are x"):
        ag.from_onnx(convolutional(), shapes={"z": (1,)})
    with pytest.raises(OnnxError, match="shapes gives 2 lengths for the input 'x', which has 4 axes"):
        ag.from_onnx(convolutional(), shapes={"x": (1, 3)})
    assert ag.from_onnx(convolutional(), shapes={"x": (2, 3, 16, 16)}).outputs["y"].type.shape == (2, 5)


@pytest.mark.long
def test_models_stand_where_functions_do(tmp_path):
    """`ag.freeze`, `quantize`, `batched`, `tune`, `to_onnx` and export take them."""
    w = array(4, 8)
    made = model([helper.make_node("MatMul", ["x", "w"], ["p"]), helper.make_node("Relu", ["p"], ["y"])],
                 [("x", ("n", 4))], [("y", ("n", 8))], {"w": w})  # fmt: skip
    m, x = ag.from_onnx(made.SerializeToString()), array(5, 4)
    expected = np.maximum(x @ w, 0)
    np.testing.assert_allclose(ag.freeze(m)(x), expected, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(ag.quantize(m, [x])(x), expected, atol=0.1)
    with ag.batched(m, max_batch=2, max_delay=0) as serve:
        np.testing.assert_allclose(serve(x), expected, rtol=1e-5, atol=1e-6)
    assert ag.tune(m, [x], seconds=0.01, keep=False).gain >= 1
    assert (m.export(tmp_path / "c") / "Makefile").is_file()
    with pytest.raises(TypeError, match="tune: expected a function"):
        ag.tune(made, [x])
