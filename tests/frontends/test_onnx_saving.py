"""`ag.to_onnx`: models that the checker takes, and whose numbers ONNX Runtime and `ag.from_onnx` reproduce."""

import pickle
import tempfile
from pathlib import Path

import numpy as np
import pytest
from random_programs import random_program

import arignote as ag
from arignote import ops as T

onnx = pytest.importorskip("onnx")
from program_trials import differs, samples_of  # noqa: E402

from arignote.frontends.onnx import OnnxError, same_ops  # noqa: E402
from arignote.graph.walk import leaves  # noqa: E402

RNG = np.random.default_rng(0)


def normal(*shape):
    return RNG.standard_normal(shape).astype("float32")


def runtime(made, arrays):
    """Results of ONNX Runtime."""
    session = pytest.importorskip("onnxruntime").InferenceSession(made.SerializeToString())
    Path(tempfile.gettempdir(), ".ses").unlink(missing_ok=True)  # it leaves one
    return session.run(None, {i.name: a for i, a in zip(session.get_inputs(), arrays, strict=True)})


def listed(values):
    return values if isinstance(values, list) else [values]


x, y = T.fmatrix("x"), T.fmatrix("y")
i, k, j = T.lmatrix("i"), T.lscalar("k"), T.lvector("j")
small, unsigned = T.tensor("small", "int8", (None,)), T.tensor("unsigned", "uint8", (None,))
cube, image, kernels = T.ftensor3("cube"), T.ftensor4("image"), T.ftensor4("kernels")
ARRAYS = {
    x: normal(3, 4), y: normal(3, 4), i: RNG.integers(-9, 9, (3, 4)), k: np.array(-3), j: np.array([2, 0, -1, 1]),
    small: np.array([-128, -1, 0, 5, 127], "int8"), unsigned: np.array([0, 1, 2, 200, 255], "uint8"),
    cube: normal(2, 3, 5), image: normal(2, 4, 9, 8), kernels: normal(6, 2, 3, 2),
}  # fmt: skip
up = abs(x) + 0.5
CASES = {
    "functions": [
        *(f(x) for f in (
            T.exp, T.expm1, T.tanh, T.sigmoid, T.softplus, T.erf, T.erfc, T.sin, T.floor, T.ceil, T.trunc, T.rint,
            T.sign, T.square, T.cbrt, T.exp2, T.deg2rad, T.isnan, T.isinf, T.isfinite, T.signbit, T.arctan,
            T.arcsinh, T.cosh,
            T.sinh, T.tan, T.neg, T.abs, T.reciprocal,
        )),
        *(f(up) for f in (T.log, T.log1p, T.log2, T.log10, T.sqrt)), T.arccosh(up + 1), T.log1mexp(-up),
    ],
    "quantized": [
        T.quantize(x, 0.05, 128), T.quantize(x, [0.1, 0.2, 0.3], [1, 0, -3], "int8", axis=0),
        T.quantize(x, 0.1, 3, "int32"),
        T.dequantize(small, 0.5, 3), T.dequantize(unsigned, T.exp(x[0, 0]), 7), *T.dynamic_quantize(y),
    ],
    "pairs": [
        x + y, x - y, x * y, x / y, x // y, x % y, T.fmod(x, y), T.maximum(x, y), T.hypot(x, y), T.arctan2(y, x), up**y,
        T.logaddexp(x, y), T.copysign(x, y), x < y, T.ne(x, y), T.where(x < y, x, 2 * y), T.clip(x, -0.5, y),
    ],
    "integers": [
        *(f(i, b) for f in (T.floor_div, T.mod, T.fmod) for b in (k, k + 3, k + 2)), i + k, -i, abs(i), i / k, i**3,
        i & 7, ~i, i | k, i ^ k, T.eq(i, k), i > T.cast(j, "uint64"), T.cast(i, "int8"), T.cast(i, "bool"),
        i << 2, i >> 1,
    ],
    "small integers": [
        small + small, small * small, -small, abs(small), small // 3, small % 3, small < 0, unsigned + unsigned,
        unsigned // 7, T.maximum(small, -small), small + unsigned, unsigned << 1, unsigned >> 2, ~unsigned, -unsigned,
        small >> 1, T.sum(small), T.max(small), T.argmax(small), T.sort(small), T.argsort(unsigned),
    ],
    "bools": [
        (x < 0) + (y < 0), (x < 0) * (y < 0), T.maximum(x < 0, y < 0), ~(x < 0), (x < 0) ^ (y < 0), T.sum(x < 0),
        T.any(x < 0, axis=0), T.all(x < 0), (x < 0) < (y < 0), T.logical_and(x, i), T.where(i > 0, x < 0, y < 0),
    ],
    "reductions": [
        x.sum(), x.mean(axis=0), x.prod(axis=1), x.max(axis=1, keepdims=True), x.min(), x.argmax(axis=1), x.argmin(),
        x.std(), T.logsumexp(x, axis=1), T.nn.softmax(x, axis=0), T.nn.log_softmax(x), T.cumsum(x, axis=1),
        T.cumprod(x, axis=0), ag.grad((x * y[:1]).sum(), y), ag.grad((x * (j + 0.0).astype("float32")).sum(), x),
    ],
    "shapes": [
        x.T, x.reshape((-1, 2)), x.ravel(), x[None], x.dimshuffle(1, "x", 0), T.concatenate([x, y], axis=1),
        T.stack([x, y]), T.tile(x, (2, 1)), T.broadcast_to(x, (2, 3, 4)), x.shape, T.ones_like(x),
        T.zeros((2, x.shape[1]), "float32"), T.eye(3, 4, dtype="float32"), T.flip(x, 0), T.roll(x, 1, axis=1),
        T.pad(x, 1),
        T.arange(k + 6), T.arange(0, 10, k + 5), T.arange(k + 6, dtype="int32"), T.fill(x[:1], y),
    ],
    "indices": [
        x[1], x[-1, 2], x[1:], x[:, ::-1], x[::2, 1:3], x[k], x[:k], x[j[:2]], x[j[:2], j[:2]], x[:, j], x[k, j],
        x[j[:3][:, None], j[None, :]], T.take_along_axis(x, T.argsort(x, axis=1), axis=1), cube[0, :, j],
        cube[:, j[:2], j[:2]], cube[j[:2] % 2, :, j[:2]], cube[..., 1], cube[1, ..., ::2],
    ],
    "writes": [
        T.set_subtensor(x[1], y[0]), T.inc_subtensor(x[:, 1:3], y[:, :2]), T.inc_subtensor(x[j[:3]], y),
        T.set_subtensor(x[::-2], 0.0), T.inc_subtensor(x[:, j], y),
    ],
    "products": [
        x @ y.T, T.dot(x[0], y[0]), T.dot(x, y[0]), T.tensordot(x, y, 2), T.outer(x[0], y[1]), i @ i.T,
        T.einsum("ij,kj->ik", x, y), cube @ cube.transpose(0, 2, 1), T.diagonal(cube, axis1=1, axis2=2), T.tril(cube),
        T.triu(x, 1), T.diag(x[0]), cube.trace(axis1=1, axis2=2),
    ],
    "windows": [
        T.nn.conv2d(image, kernels, stride=(2, 1), padding=1, groups=2), T.nn.max_pool2d(image, 3, 2, padding=1),
        T.nn.avg_pool2d(image, 2),
        *ag.grad((T.nn.conv2d(image, kernels[:, :1].repeat(4, axis=1), stride=2) ** 2).sum(), [image, kernels]),
    ],
    "sorting": [
        T.sort(x, axis=0), T.argsort(x, axis=1), T.nonzero(x > 0)[0], T.searchsorted(T.sort(x[0]), x[1]),
        *T.unique(j % 2, return_index=True, return_inverse=True, return_counts=True), T.one_hot(j % 4, 4),
    ],
    "networks": [
        T.nn.layer_norm(x), T.nn.gelu(x), T.nn.relu(x), T.nn.silu(x), ag.grad(T.nn.gelu(x).sum(), x),
        T.nn.categorical_crossentropy(T.nn.softmax(x), T.nn.softmax(y)),
    ],
    "control": [
        ag.cond(k > 0, lambda: x * 2, lambda: x - 1),
        ag.scan(lambda row, s: s * 0.5 + row, sequences=[x], outputs_info=[T.zeros_like(x[0])])[0],
        ag.scan(lambda s: (s * 2, ag.until((s > 50).all())), outputs_info=[abs(x[0]) + 1], n_steps=20)[0],
    ],
}  # fmt: skip


@pytest.mark.parametrize("optimized", [False, True])
@pytest.mark.parametrize("case", CASES)
def test_ops(case, optimized):
    """The numbers of ONNX Runtime and of the model read back are those of the graph."""
    outputs = CASES[case]
    inputs = [v for v in leaves(outputs) if v in ARRAYS]
    arrays = [ARRAYS[v] for v in inputs]
    wanted = ag.function(inputs, outputs, mode="NUMPY")(*arrays)
    made = ag.to_onnx(outputs, inputs=inputs, optimized=optimized)
    onnx.checker.check_model(made, full_check=True)
    for found in (runtime(made, arrays), ag.from_onnx(made).function(mode="NUMPY")(*arrays)):
        for output, a, b in zip(outputs, wanted, listed(found), strict=True):
            assert (np.asarray(b).dtype, np.shape(b)) == (a.dtype, a.shape), output
            np.testing.assert_allclose(b, a, rtol=2e-5, atol=2e-5, err_msg=str(output))


def test_a_loop_of_no_turns_keeps_the_lengths_of_its_state():
    x, s = T.fmatrix("x"), T.fvector("s")
    sums = ag.scan(lambda row, s: s * 0.5 + row, sequences=[x], outputs_info=[s])[0]
    arrays = [np.zeros((0, 3), "float32"), np.ones(3, "float32")]
    made = ag.to_onnx([sums, T.cumprod(x, axis=0)], inputs=[x, s])
    for found in (runtime(made, arrays), ag.from_onnx(made).function(mode="NUMPY")(*arrays)):
        assert [np.shape(f) for f in found] == [(0, 3), (0, 3)]


@pytest.mark.parametrize("seed", [*range(16), 105])
def test_random_programs_come_back(seed):
    """Written, checked, read and run: any dtype, any layout, updates too."""
    program = random_program(seed)
    if np.prod(program.lengths) > 3000:
        return
    made, arrays = program.made(), program.arrays(program.lengths)
    given = [made[i.name] for i in program.inputs if not i.shared]
    results = [*made["outputs"], *(new for _, new in made["updates"])]
    samples = samples_of([made[i.name] for i in program.inputs], results, [arrays[i.name] for i in program.inputs])
    f = ag.function(given, made["outputs"], updates=made["updates"], mode="NUMPY", on_unused_input="ignore")
    try:
        saved = ag.to_onnx(f, optimized=bool(seed % 2))
    except OnnxError as error:
        if "ONNX has no op for" in str(error) or "complex" in str(error):
            return
        raise
    onnx.checker.check_model(saved, full_check=True)
    found = ag.from_onnx(saved).function(mode="NUMPY")(*(arrays[v.name] for v in given))
    for n, value in enumerate(listed(found) if samples is not None else []):
        assert not differs(value, [sample[n] for sample in samples])


def test_special_numbers():
    """NaN, infinities, zeros of both signs, small and large numbers: every pair of them."""
    a, b = T.fvector("a"), T.fvector("b")
    every = np.array([0.0, -0.0, 1, -1, np.inf, -np.inf, np.nan, 2.5, -2.5, 1e30, 1e-30, -3], "float32")
    arrays = [np.array(grid.ravel()) for grid in np.meshgrid(every, every)]
    pairs = (T.floor_div, T.mod, T.fmod, T.true_div, T.maximum, T.minimum, T.hypot, T.arctan2, T.logaddexp, T.copysign,
             T.lt, T.le, T.eq, T.ne, T.pow)  # fmt: skip
    single = (T.expm1, T.tanh, T.sigmoid, T.softplus, T.erfc, T.trunc, T.rint, T.sign, T.cbrt, T.isnan, T.isinf,
              T.isfinite, T.signbit, T.log1p, T.reciprocal)  # fmt: skip
    outputs = [*(op(a, b) for op in pairs), *(op(a) for op in single)]
    wanted = ag.function([a, b], outputs, mode="NUMPY")(*arrays)
    for op, ours, theirs in zip(pairs + single, wanted, runtime(ag.to_onnx(outputs), arrays), strict=True):
        np.testing.assert_allclose(theirs, ours, rtol=1e-5, err_msg=op.name)
        if op.name in ("copysign", "arctan2", "true_div", "fmod", "rint", "reciprocal"):
            known = ~np.isnan(ours)
            np.testing.assert_array_equal(np.signbit(theirs[known]), np.signbit(ours[known]), op.name)


# --- models


@pytest.mark.long
def test_names_axes_and_shared_variables(tmp_path):
    w = ag.shared(normal(4, 2), name="w")
    out = T.tanh(x @ w)
    f = ag.function([x], {"scores": out, "x": x * 2}, updates=[(w, w - out.sum())], name="net")
    made = ag.to_onnx(f, tmp_path / "net.onnx")
    assert onnx.load(tmp_path / "net.onnx") == made and made.graph.name == "net"
    assert {t.name for t in made.graph.initializer} >= {"w"} and [v.name for v in made.graph.input] == ["x"]
    assert [v.name for v in made.graph.output] == ["scores", "x_1", "w_next"]
    lengths = [[d.dim_param or d.dim_value for d in v.type.tensor_type.shape.dim] for v in made.graph.output]
    assert lengths == [["x_0", 2], ["x_0", "x_1"], [4, 2]]
    again = ag.from_onnx(tmp_path / "net.onnx", trainable=True)
    a = normal(3, 4)
    np.testing.assert_allclose(again(a)[0], f(a)["scores"], rtol=1e-5)
    assert again.parameters["w"].get_value().shape == (4, 2)


def test_what_can_be_given():
    out = x * 2 + y
    for source in (out, [out], {"z": out}, ag.function([x, y], out), ag.function([x, y], out).unoptimized_graph):
        assert [v.name for v in ag.to_onnx(source).graph.input] == ["x", "y"]
    assert [v.name for v in ag.to_onnx(out, inputs=[y, x]).graph.input] == ["y", "x"]
    model = ag.from_onnx(ag.to_onnx({"z": out}))
    assert ag.to_onnx(model).graph.output[0].name == "z"
    with pytest.raises(TypeError, match="to_onnx: expected a function, expressions or a FunctionGraph, got int"):
        ag.to_onnx(3)


def test_all_missing_ops_are_named():
    out = T.linalg.inv(x) + T.gammaln(x) + T.linalg.cholesky(y)
    with pytest.raises(OnnxError, match=r"ONNX has no op for inv \(.*\); gammaln of float32 \(.*\); cholesky \("):
        ag.to_onnx(out)
    z = T.zvector("z")
    with pytest.raises(OnnxError, match=r"z: complex128\[\?\] of complex128 cannot be an input or output"):
        ag.to_onnx(z + 1)


@pytest.mark.long
def test_a_step_of_training_runs_elsewhere():
    """Gradients and updates in one model; ONNX Runtime makes the same step."""
    w, b = ag.shared(normal(4, 3), name="w"), ag.shared(normal(3), name="b")
    labels = T.lvector("labels")
    loss = -T.log(T.nn.softmax(x @ w + b))[T.arange(labels.shape[0]), labels].mean()
    step = ag.function([x, labels], loss, updates=[(p, p - 0.1 * ag.grad(loss, p)) for p in (w, b)])
    a, digits = normal(5, 4), np.array([0, 1, 2, 1, 0])
    found = runtime(ag.to_onnx(step, optimized=True), [a, digits])
    for theirs, ours in zip(found, [step(a, digits), w.get_value(), b.get_value()], strict=True):
        np.testing.assert_allclose(theirs, ours, rtol=1e-5, atol=1e-6)


def test_an_optimized_convolution_keeps_the_layout_of_onnx():
    x = T.tensor("x", "float32", (1, 3, 8, 8))
    y = T.nn.relu(T.nn.conv2d(x, np.ones((32, 3, 3, 3), "float32"), padding=1))
    made = ag.to_onnx({"y": y}, optimized=True)
    assert [node.op_type for node in made.graph.node if node.op_type == "Conv"] == ["Conv"]


def test_each_op_of_the_shared_table_is_written_and_read():
    """Conversions stand between them, but each op of ONNX in the table is there, and each of ours comes back."""
    logical = ("And", "Or", "Xor", "Not")
    written = {}
    for name, op in same_ops.ELEMENTWISE.items():
        dtype = "bool" if name in logical else "int32" if name.startswith("Bitwise") else "float32"
        count = op.arity or 2
        dtypes = ["bool", dtype, dtype] if name == "Where" else [dtype] * count
        written[name] = op(*(T.tensor(f"{name}_{n}", d, (None,)) for n, d in enumerate(dtypes)))
    reduced = T.fmatrix("reduced")
    for name, function in {**same_ops.REDUCTIONS, **same_ops.ALONG_AXIS}.items():
        written[name] = function(reduced, axis=1)
    model = ag.to_onnx(written)
    assert {*written} <= {node.op_type for node in model.graph.node}
    for name, found in ag.from_onnx(model).outputs.items():
        assert found.type == written[name].type, name


def test_a_model_pickles_with_its_parameters():
    x, w = T.fmatrix("x"), ag.shared(normal(3, 2), "w")
    model = ag.from_onnx(ag.to_onnx([T.tanh(x @ w), T.exp(x @ w)], inputs=[x]), trainable=True)
    twin, given = pickle.loads(pickle.dumps(model)), normal(4, 3)
    assert repr(twin) == repr(model) and list(twin.parameters) == ["w"]
    for got, want in zip(*(m.function(mode="NUMPY")(given) for m in (twin, model)), strict=True):
        np.testing.assert_array_equal(got, want)
    twin.parameters["w"].set_value(normal(3, 2))
    np.testing.assert_array_equal(model.parameters["w"].get_value(), w.get_value())
