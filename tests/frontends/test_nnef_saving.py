"""`ag.to_nnef`: folders that `ag.from_nnef` and the interpreter of the package `nnef` read as the same function."""

import numpy as np
import pytest

import arignote as ag
from arignote import ops as T
from arignote.demo import cnn as demo_cnn
from arignote.frontends.nnef import NnefError

RNG = np.random.default_rng(0)


def normal(*shape):
    return RNG.standard_normal(shape).astype("float32")


x, y, v = (T.tensor(n, "float32", s) for n, s in (("x", (3, 4)), ("y", (3, 4)), ("v", (4,))))
cube = T.tensor("cube", "float32", (2, 3, 5))
image, kernels = T.tensor("image", "float32", (2, 4, 9, 8)), T.tensor("kernels", "float32", (6, 2, 3, 2))
chosen = T.tensor("chosen", "int64", (2,))
ARRAYS = {
    x: normal(3, 4), y: normal(3, 4), v: normal(4), cube: normal(2, 3, 5), image: normal(2, 4, 9, 8),
    kernels: normal(6, 2, 3, 2), chosen: np.array([2, 0]),
}  # fmt: skip
up, nn = abs(x) + 0.5, T.nn
CASES = [
    *(f(x) for f in (T.exp, T.tanh, T.sigmoid, T.softplus, T.sin, T.floor, T.ceil, T.sign, T.square, T.arctan, T.cosh,
                     T.arcsinh, T.neg, T.abs, T.relu, nn.silu)),
    T.log(up), T.log2(up), T.sqrt(up), up**v, x + y - v, T.add(x, y, v), x * 2 / y, T.maximum(x, v), T.clip(x, -0.5, y),
    T.where((x < y) & ~(y > v), x, 0.25), T.where(T.isnan(x), 1.0, x), T.cast(x > 0, "float32"), x / np.float32(1e-20),
    x.sum(), x.mean(axis=1, keepdims=True), T.var(cube, axis=(0, 2)), cube.max(axis=1), cube.min(), x.argmax(axis=1),
    T.argmin(cube), T.any(x > 1, axis=0), T.all(x > -9), cube.T, cube.dimshuffle(2, "x", 0, 1), cube.reshape((3, 10)),
    T.reshape(cube, (cube.shape[0], -1)), T.concatenate([x, y, x], axis=1), T.stack([x, y]), cube[:, 1:, ::2],
    cube[1, -2:], cube[..., -1], x[:, None, 1:-1], T.tile(v, (2, 3)), T.broadcast_to(v, (2, 4)),
    T.zeros((2, 2), "float32") + x[0, 0],
    T.pad(x, ((1, 0), (2, 1)), constant_values=0.5), T.take(x, chosen, axis=1), T.dot(x, v), T.dot(v, v), x @ y.T,
    T.matmul(cube, normal(5, 2)), nn.softmax(x, axis=0), nn.log_softmax(cube, axis=1), T.logsumexp(x, axis=1),
    nn.conv2d(image, kernels, stride=(2, 1), padding=1, groups=2), nn.max_pool2d(image, 3, 2, padding=1),
    nn.avg_pool2d(image, 2, padding=1, count_include_pad=False), nn.max_pool2d(image, (2, 3), ceil_mode=True),
    T.constant(np.array([[True], [False], [True]])) & (x > 0), T.constant(np.float32(np.inf)) * up, x,
]  # fmt: skip


@pytest.fixture(scope="module")
def everything(tmp_path_factory):
    """A folder with an output for each case, its text, and the values that are expected."""
    outputs = {f"y{k}": T.cast(c, "float32") if c.dtype == "float64" else c for k, c in enumerate(CASES)}
    folder = tmp_path_factory.mktemp("nnef") / "model"
    text = ag.to_nnef(outputs, folder, inputs=list(ARRAYS))
    expected = ag.function(list(ARRAYS), outputs, mode="NUMPY", on_unused_input="ignore")(*ARRAYS.values())
    return folder, text, [expected[name] for name in outputs]


def test_models_are_read_back(everything):
    folder, text, expected = everything
    net = ag.from_nnef(folder)
    assert list(net.inputs) == [variable.name for variable in ARRAYS]
    found = net.function(mode="NUMPY")(*ARRAYS.values())
    for case, ours, wanted in zip(CASES, found, expected, strict=True):
        assert ours.dtype == wanted.dtype and ours.shape == wanted.shape, case
        np.testing.assert_allclose(ours, wanted, rtol=1e-5, atol=1e-6, err_msg=str(case))
    assert "padding = [(1, 1), (1, 1)]" in text  # of the convolution itself
    again = ag.to_nnef(net, folder.parent / "again")
    for ours, wanted in zip(ag.from_nnef(folder.parent / "again").function(mode="NUMPY")(*ARRAYS.values()), expected):
        np.testing.assert_allclose(ours, wanted, rtol=1e-5, atol=1e-6)
    assert again.count(";") <= 1.2 * text.count(";")


def test_the_interpreter_of_the_package_reads_them(tmp_path):
    """But integers as inputs, and batches of products that are broadcast, which it lacks."""
    nnef = pytest.importorskip("nnef")
    cases = [c for c in CASES if c.owner is None or c.owner.op.name not in ("matmul", "advanced_subtensor")]
    outputs = [T.cast(c, "float32") if c.dtype == "float64" else c for c in cases]
    digits = T.tensor("digits", "float32", (6, 64))
    given = {k: a for k, a in ARRAYS.items() if k is not chosen} | {digits: normal(6, 64)}
    outputs.append(T.nn.softmax(demo_cnn.lenet().logits(digits)))
    ag.to_nnef(outputs, tmp_path / "net", inputs=list(given))
    expected = ag.function(list(given), outputs, mode="NUMPY")(*given.values())
    with nnef.Session(str(tmp_path / "net"), stdlib="", lowered=[]) as session:
        found = session(*given.values())
    for case, theirs, wanted in zip(outputs, found, expected, strict=True):
        assert theirs.shape == wanted.shape, case
        np.testing.assert_allclose(theirs, wanted, rtol=1e-4, atol=1e-5, err_msg=str(case))


def test_functions_with_updates_and_open_lengths(tmp_path):
    rows = T.matrix("rows", "float32")
    w = ag.shared(normal(4, 2), name="w", shape=(4, 2))
    f = ag.function([rows], {"loss": T.square(rows @ w).sum()}, updates=[(w, w * 0.5)], name="step 1", mode="NUMPY")
    text = ag.to_nnef(f, tmp_path / "net")
    assert text.startswith("version 1.0;\n\ngraph step_1(rows) -> (loss, w_next)\n{\n")
    assert "rows = external<scalar>(shape = [0, 0]);" in text
    net, value, before = ag.from_nnef(tmp_path / "net", trainable=True), normal(3, 4), w.get_value()
    found, after = net(value)
    np.testing.assert_allclose(found, f(value)["loss"], rtol=1e-5)
    np.testing.assert_array_equal(after, before * np.float32(0.5))
    assert net.parameters["w"].get_value().shape == (4, 2)


@pytest.mark.parametrize("optimized", [False, True])
def test_optimized_graphs(tmp_path, optimized):
    """BLAS ops, groups and in-place work are written as what they stand for."""
    w = T.constant(normal(4, 3))
    out = T.tanh(T.dot(x, w) + 1) * 2
    f = ag.function([x], out, mode="NUMPY")
    ag.to_nnef(f.graph if optimized else f, tmp_path / "net")
    np.testing.assert_allclose(ag.from_nnef(tmp_path / "net")(ARRAYS[x]), f(ARRAYS[x]), rtol=1e-5)


def test_mistakes_are_named_together(tmp_path):
    outputs = [T.erf(x), T.cumsum(x, axis=0), T.sort(x, axis=1), x.sum(axis=0).astype("float64")]
    with pytest.raises(NnefError, match=r"NNEF has no op for erf.*; cumsum.*; sort.*; .*float64") as error:
        ag.to_nnef(outputs, tmp_path / "net")
    assert error.value.args[0].count("test_nnef_saving.py") >= 3
    assert not (tmp_path / "net").exists()
    with pytest.raises(NnefError, match=r"input d: float64\[\?, \?\], expected float32, int64, bool"):
        ag.to_nnef(T.matrix("d") + 1, tmp_path / "net")
    with pytest.raises(TypeError, match="to_nnef: expected a function, expressions or a FunctionGraph, got int"):
        ag.to_nnef(3, tmp_path / "net")
    open_length = T.fvector("open")
    with pytest.raises(NnefError, match="only the call tells"):
        ag.to_nnef(T.stack([open_length[1:], open_length[chosen[0] :]]), tmp_path / "net")


def test_names_are_identifiers_of_their_own(tmp_path):
    a, b = T.tensor("größe 1", "float32", (2,)), T.tensor("max", "float32", (2,))
    text = ag.to_nnef({"1st": a + b, "größe 1": a, "same": a + b}, tmp_path / "net")
    found = ag.from_nnef(tmp_path / "net")(np.float32([1, 2]), np.float32([3, 4]))
    np.testing.assert_array_equal(found, [[4, 6], [1, 2], [4, 6]])
    assert "graph expressions(" in text and text.isascii()
