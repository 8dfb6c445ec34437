"""A decoder with past keys and values from ONNX: one compiled function for growing lengths."""

import tempfile
from pathlib import Path

import numpy as np
import pytest

import arignote as ag
from arignote.engines import c as engine

onnx = pytest.importorskip("onnx")
from onnx import TensorProto, helper, numpy_helper  # noqa: E402

LAYERS, WIDTH, HEADS, VOCABULARY = 2, 24, 3, 17
DEEP = WIDTH // HEADS


class Decoder:
    """The nodes of a decoder as exporters write them: the present is Concat of the past and the new rows."""

    def __init__(self):
        self.rng = np.random.default_rng(0)
        self.nodes, self.initializers, self.inputs, self.outputs = [], [], [], []

    def weight(self, *shape):
        return self.fixed((self.rng.standard_normal(shape) * shape[0] ** -0.5).astype("float32"))

    def fixed(self, value, dtype=None):
        name = f"w{len(self.initializers)}"
        self.initializers.append(numpy_helper.from_array(np.asarray(value, dtype), name))
        return name

    def node(self, op, *inputs, output=None, **attributes):
        output = output or f"v{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, list(inputs), [output], **attributes))
        return output

    def given(self, name, dtype, shape):
        self.inputs.append(helper.make_tensor_value_info(name, dtype, shape))
        return name

    def normalized(self, x):
        return self.node("LayerNormalization", x, self.fixed(np.ones(WIDTH), "float32"), axis=-1)

    def heads(self, x):
        split = self.node("Reshape", x, self.fixed([1, -1, HEADS, DEEP], "int64"))
        return self.node("Transpose", split, perm=[0, 2, 1, 3])

    def remembered(self, name, new):
        past = self.given(f"past.{name}", TensorProto.FLOAT, [1, HEADS, "past", DEEP])
        present = self.node("Concat", past, new, output=f"present.{name}", axis=2)
        self.outputs.append(helper.make_tensor_value_info(present, TensorProto.FLOAT, [1, HEADS, "total", DEEP]))
        return present

    def seen(self, present, tokens):
        """The mask of a causal decoder: the positions up to that of each new token."""
        total = self.node("Gather", self.node("Shape", present), self.fixed(2, "int64"), axis=0)
        count = self.node("Gather", self.node("Shape", tokens), self.fixed(1, "int64"), axis=0)
        first, zero, one = self.node("Sub", total, count), self.fixed(0, "int64"), self.fixed(1, "int64")
        at = self.node("Unsqueeze", self.node("Range", first, total, one), self.fixed([1], "int64"))
        return at, self.node("LessOrEqual", self.node("Range", zero, total, one), at)

    def layer(self, k, x, tokens, seen):
        qkv = self.node("MatMul", self.normalized(x), self.weight(WIDTH, 3 * WIDTH))
        parts = [f"part{k}.{n}" for n in range(3)]
        self.nodes.append(helper.make_node("Split", [qkv], parts, axis=-1, num_outputs=3))
        q, key, value = map(self.heads, parts)
        keys, values = self.remembered(f"{k}.key", key), self.remembered(f"{k}.value", value)
        if seen is None:
            seen = self.seen(keys, tokens)[1]
        scores = self.node("MatMul", q, self.node("Transpose", keys, perm=[0, 1, 3, 2]))
        scores = self.node("Mul", scores, self.fixed(DEEP**-0.5, "float32"))
        scores = self.node("Where", seen, scores, self.fixed(-np.inf, "float32"))
        y = self.node("MatMul", self.node("Softmax", scores, axis=-1), values)
        y = self.node("Transpose", y, perm=[0, 2, 1, 3])
        y = self.node("Reshape", y, self.fixed([1, -1, WIDTH], "int64"))
        x = self.node("Add", x, self.node("MatMul", y, self.weight(WIDTH, WIDTH)))
        up = self.node("Relu", self.node("MatMul", self.normalized(x), self.weight(WIDTH, 4 * WIDTH)))
        return self.node("Add", x, self.node("MatMul", up, self.weight(4 * WIDTH, WIDTH))), seen

    def model(self):
        tokens = self.given("tokens", TensorProto.INT64, [1, "count"])
        x, seen = self.node("Gather", self.weight(VOCABULARY, WIDTH), tokens, axis=0), None
        for k in range(LAYERS):
            x, seen = self.layer(k, x, tokens, seen)
        self.node("MatMul", self.normalized(x), self.weight(WIDTH, VOCABULARY), output="logits")
        logits = helper.make_tensor_value_info("logits", TensorProto.FLOAT, [1, "count", VOCABULARY])
        graph = helper.make_graph(self.nodes, "decoder", self.inputs, [logits, *self.outputs], self.initializers)
        made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
        onnx.checker.check_model(made)
        return made


@pytest.mark.parametrize("mode", [None, "NUMPY"])
def test_one_function_serves_growing_pasts(mode, monkeypatch):
    made = Decoder().model()
    net = ag.from_onnx(made)
    f = net.function(mode=mode) if mode else net.function()
    pasts = [i.name for i in made.graph.input][1:]
    tokens = np.random.default_rng(1).integers(0, VOCABULARY, (1, 12))

    empty = [np.zeros((1, HEADS, 0, DEEP), "float32") for _ in pasts]
    expected = f(tokens, *empty)[0]
    monkeypatch.setattr(engine, "compile_graph", lambda *_, **__: pytest.fail("compiled anew"))
    logits, *past = f(tokens[:, :3], *empty)
    found = [logits]
    for n in range(3, 12):
        logits, *past = f(tokens[:, n : n + 1], *past)
        assert past[0].shape == (1, HEADS, n + 1, DEEP)
        found.append(logits)
    np.testing.assert_allclose(np.concatenate(found, axis=1), expected, atol=1e-5)
    session = pytest.importorskip("onnxruntime").InferenceSession(
        made.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    Path(tempfile.gettempdir(), ".ses").unlink(missing_ok=True)  # it leaves one
    theirs = session.run(["logits"], {"tokens": tokens, **dict(zip(pasts, empty))})
    np.testing.assert_allclose(expected, theirs[0], atol=1e-5)
