"""Models in the NNEF format, beside the interpreter of the package `nnef`."""

import random

import numpy as np
import pytest

import arignote as ag

nnef = pytest.importorskip("nnef")

from arignote.frontends.nnef import NnefError  # noqa: E402

RNG = np.random.default_rng(0)


def normal(*shape):
    return RNG.standard_normal(shape).astype("float32")


def folder(path, lines, inputs="x", outputs="y", **weights):
    """A folder with a model; `lines` are its operations, `weights` its variables."""
    path.mkdir(exist_ok=True)
    made = [f"{n} = variable<scalar>(shape = {list(a.shape)}, label = '{n}');" for n, a in weights.items()]
    body = "\n".join([lines[0], *made, *lines[1:]])
    (path / "graph.nnef").write_text(f"version 1.0;\ngraph net({inputs}) -> ({outputs})\n{{\n{body}\n}}\n")
    for name, array in weights.items():
        with (path / f"{name}.dat").open("wb") as file:
            nnef.write_tensor(file, array)
    return path


def interpreted(path, *arrays):
    """Results of the package's interpreter."""
    with nnef.Session(str(path), stdlib="", lowered=["clamp", "batch_normalization", "l2_normalization"]) as session:
        return session(*arrays)


def external(*shape):
    return f"x = external<scalar>(shape = {list(shape)});"


OPS = [
    *(f"{op}(x)" for op in (
        "neg", "exp", "sin", "cos", "tanh", "abs", "sign", "floor", "ceil", "round", "sqr", "relu", "sigmoid",
        "softplus", "elu", "copy", "asinh", "atan",
    )),
    "log(sqr(x) + 1.0)", "rsqrt(sqr(x) + 1.0)", "leaky_relu(x, alpha = 0.1)", "copy(x * 2.0 - 1.0)", "max(x, 0.5)",
    "min(x, -x)", "select(x > 0.0, x, x * 0.1)", "clamp(x, -0.5, 0.5)", "softmax(x, axes = [1])",
    "sum_reduce(x, axes = [1, 2])", "mean_reduce(x, axes = [0])",
    "max_reduce(x, axes = [2])", "min_reduce(x, axes = [0, 1])", "reshape(x, shape = [0, -1])",
    "reshape(x, shape = [2, 6], axis_start = 1, axis_count = 2)", "transpose(x, axes = [1, 0, 2])",
    "squeeze(unsqueeze(x, axes = [0, 2]), axes = [0])", "concat([x, x], axis = 1)", "stack([x, x], axis = 1)",
    "slice(x, axes = [1, 2], begin = [1, 0], end = [0, -1])", "pad(x, padding = [(0, 0), (1, 2), (0, 1)])",
    "tile(x, repeats = [1, 2, 1])", "matmul(x, x, transposeB = true)", "l2_normalization(x, axes = [2])",
]  # fmt: skip


@pytest.fixture(scope="module")
def everything(tmp_path_factory):
    """A model with an output for each op."""
    lines = [external(2, 3, 4), *(f"y{k} = {op};" for k, op in enumerate(OPS))]
    return folder(
        tmp_path_factory.mktemp("nnef"), lines, outputs=", ".join(f"y{k}" for k in range(len(lines) - 1))
    )


def test_ops(everything):
    x = normal(2, 3, 4)
    found, wanted = ag.from_nnef(everything).function(mode="NUMPY")(x), interpreted(everything, x)
    for op, ours, theirs in zip(OPS, found, wanted, strict=True):
        assert ours.shape == theirs.shape, op
        np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-6, err_msg=op)


WINDOWS = [
    "conv(x, w, b)", "conv(x, w, 0.5, stride = [2, 1])", "conv(x, g, groups = 0)",
    "conv(x, w, padding = [(1, 0), (0, 2)], dilation = [2, 1])",
    "max_pool(x, size = [1, 1, 2, 3], stride = [1, 1, 2, 2], border = 'ignore')",
    "avg_pool(x, size = [1, 1, 3, 3], border = 'ignore')",
    "avg_pool(x, size = [1, 1, 2, 2], stride = [1, 1, 2, 2], border = 'constant')",
    "box(x, size = [1, 1, 2, 2], padding = [(0,0), (0,0), (0,1), (1,0)])",
    "batch_normalization(x, m, v, b3, s, epsilon = 0.01)", "linear(reshape(x, shape = [0, -1]), l, c)",
]


@pytest.mark.long
def test_a_network(tmp_path):
    weights = {
        "w": normal(4, 3, 3, 2), "b": normal(1, 4), "g": normal(3, 1, 3, 3), "m": normal(1, 3), "v": normal(1, 3) ** 2,
        "b3": normal(1, 3), "s": normal(1, 3), "l": normal(5, 3 * 7 * 8), "c": normal(1, 5),
    }  # fmt: skip
    lines = [external(2, 3, 7, 8), *(f"y{k} = {op};" for k, op in enumerate(WINDOWS))]
    path = folder(tmp_path / "net", lines, outputs=", ".join(f"y{k}" for k in range(len(WINDOWS))), **weights)
    x = normal(2, 3, 7, 8)
    net = ag.from_nnef(path)
    for op, ours, theirs in zip(WINDOWS, net(x), interpreted(path, x), strict=True):
        assert ours.shape == theirs.shape, op
        np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-5, err_msg=op)
    assert net.parameters["w"].type.shape == (4, 3, 3, 2)
    assert repr(net).startswith("<NNEF model net(x: float32[2, 3, 7, 8]) -> y0, y1")


def test_weights_can_be_trained(tmp_path):
    path = folder(tmp_path / "net", [external(5, 3), "y = linear(x, w);"], w=normal(2, 3))
    net = ag.from_nnef(path, trainable=True)
    loss = (net.outputs["y"] ** 2).mean()
    w = net.parameters["w"]
    step = ag.function(list(net.inputs.values()), loss, updates=[(w, w - 0.1 * ag.grad(loss, w))])
    x = normal(5, 3)
    assert step(x) > step(x)


WRONG = [
    ("y = frob(x);", "no converter for frob"), ("y = deconv(x, x);", "no converter for deconv"),
    ("y = relu(x;", r"graph.nnef:5: expected ',', got ';'"),
    ("y = conv(x);", "conv -> y: there is no filter; expected input"),
    ("k = constant(shape = [99999, 99999], value = [1.0]); y = relu(x);", r"\[99999, 99999\], which is not possible"),
    ("y = relu(x, axis = 1);", "relu -> y: expected x, got axis"), ("x = relu(x);", "two lines define x, expected one"),
    ("y = " + "(" * 99 + "x" + ")" * 99 + ";", "expected at most 64 levels of nesting"),
    ("y = relu(z);", "line 5: z is read, but no earlier line defines it"),
    ("y = concat([x, x], axis = 7);", r"concat -> y: .*\n  attributes: .*'axis': 7"),
    ("w = variable<scalar>(shape = [2], label = 'none'); y = mul(x, w);", "variable -> w: none.dat: No such file"),
    ("w = variable<scalar>(shape = [2], label = '../up'); y = mul(x, w);", "'../up' is outside of the model's folder"),
    ("w = variable<scalar>(shape = [3], label = 'two'); y = mul(x, w);",
    r"two.dat has the shape \[2\], expected \[3\]"),
    ("w = variable<scalar>(shape = [2], label = 'cut'); y = mul(x, w);", "cut.dat has 132 bytes, expected 136"),
    ("w = variable<scalar>(shape = [2], label = 'text'); y = mul(x, w);", "text.dat is no tensor of the format"),
]  # fmt: skip


@pytest.mark.parametrize(("line", "words"), WRONG)
def test_what_cannot_be_is_refused(tmp_path, line, words):
    path = folder(tmp_path / "net", [external(2, 3), line])
    with (path / "two.dat").open("wb") as file:
        nnef.write_tensor(file, normal(2))
    whole = (path / "two.dat").read_bytes()
    (path / "cut.dat").write_bytes(whole[:-4])
    (path / "text.dat").write_bytes(b"text" * 40)
    with pytest.raises(NnefError, match=words):
        ag.from_nnef(path)
    with pytest.raises(NnefError, match="No such file"):
        ag.from_nnef(tmp_path / "none")


def test_damaged_text(everything, tmp_path):
    """Any damage is refused with an error of ours, or it is read."""
    rng = random.Random(0)
    whole = (everything / "graph.nnef").read_text()
    refused = 0
    for _ in range(150):
        text = list(whole)
        start = rng.randrange(len(text))
        if rng.randrange(2):
            text[start] = chr(rng.randrange(32, 127))
        else:
            del text[start : start + rng.choice([1, 3, 6, len(text)])]
        (tmp_path / "graph.nnef").write_text("".join(text))
        try:
            ag.from_nnef(tmp_path)
        except NnefError:
            refused += 1
    assert refused > 75
