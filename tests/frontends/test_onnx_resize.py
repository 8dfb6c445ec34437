"""Resize beside the reference of the format: integers, open lengths, computed scales and sizes; other ops that compute
integers in floats."""

import numpy as np
import pytest

import arignote as ag

onnx = pytest.importorskip("onnx")
from onnx import TensorProto, helper, numpy_helper  # noqa: E402
from onnx.reference import ReferenceEvaluator  # noqa: E402

RNG = np.random.default_rng(0)
MODES = [
    {"mode": "linear"}, {"mode": "cubic"}, {"mode": "cubic", "exclude_outside": 1}, {"mode": "linear", "antialias": 1},
    {"mode": "cubic", "antialias": 1}, {"mode": "linear", "coordinate_transformation_mode": "align_corners"},
    {"mode": "linear", "coordinate_transformation_mode": "half_pixel_symmetric"},
    {"mode": "cubic", "coordinate_transformation_mode": "asymmetric"}, {"mode": "nearest"},
    {"mode": "nearest", "nearest_mode": "ceil", "coordinate_transformation_mode": "asymmetric"},
]  # fmt: skip


def kind_of(dtype):
    return helper.np_dtype_to_tensor_dtype(np.dtype(dtype))


def one_node(op, feeds, shapes=None, constants=(), version=19, **attributes):
    """A model of one node; `feeds` are its operands by name, of which `constants` are initializers."""
    shapes = shapes or {}
    infos = [
        helper.make_tensor_value_info(n, kind_of(a.dtype), shapes.get(n, a.shape))
        for n, a in feeds.items() if n not in constants
    ]  # fmt: skip
    names = [n if n[0] != "_" else "" for n in feeds]
    graph = helper.make_graph(
        [helper.make_node(op, names, ["y"], **attributes)], "one", [i for i in infos if i.name[0] != "_"],
        [onnx.ValueInfoProto(name="y")], [numpy_helper.from_array(feeds[n], n) for n in constants],
    )  # fmt: skip
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", version)], ir_version=9)


def run(made, *arrays, mode="NUMPY"):
    """The results of a model by the meaning of its ops, or compiled."""
    return ag.from_onnx(made).function(mode=mode)(*arrays)


NONE = np.zeros(0, "float32")


@pytest.mark.parametrize("dtype", ["uint8", "int8", "int32"])
def test_integer_images_are_rounded_and_saturated_once(dtype):
    """Cubic samples of dark and bright pixels lie beyond both ends of the dtype."""
    info = np.iinfo(dtype)
    x = RNG.choice([info.min, info.min + 1, 0, 7, info.max - 1, info.max], (1, 2, 4, 5)).astype(dtype)
    for attributes in MODES:
        feeds = {"x": x, "_": NONE, "s": np.array([1, 1, 1.5, 2.4], "float32")}
        ours = run(one_node("Resize", feeds, constants=("s",), **attributes), x)
        wide = {**feeds, "x": x.astype("float64")}
        reference = ReferenceEvaluator(one_node("Resize", wide, constants=("s",), **attributes))
        (exact,) = reference.run(None, {"x": wide["x"]})
        expected = np.clip(np.rint(exact), info.min, info.max).astype(dtype)
        away = np.abs(ours.astype("int64") - expected.astype("int64"))
        digits = max(1, info.max * 4e-6)  # the reference has coordinates of float32
        assert ours.dtype == dtype and away.max() <= digits, (attributes, away.max())
        assert dtype == "int32" or (away > 0).mean() < 0.03, attributes
    crop = {"mode": "linear", "coordinate_transformation_mode": "tf_crop_and_resize", "extrapolation_value": 1e9}
    feeds = {"x": x, "roi": np.array([0, 0, 0, 0, 1, 1, 1, 1.5], "float32"), "s": np.array([1, 1, 1, 2], "float32")}
    y = run(one_node("Resize", feeds, constants=("roi", "s"), **crop), x)
    assert (y[..., -1] == min(info.max, 10**9)).all()


def test_float16_images_are_rounded_once():
    x = (RNG.standard_normal((1, 1, 6, 5)) * 100).astype("float16")
    feeds = {"x": x, "_": NONE, "s": np.array([1, 1, 1.5, 1.5], "float32")}
    y = ag.from_onnx(one_node("Resize", feeds, constants=("s",), mode="cubic"))(x)
    wide = {**feeds, "x": x.astype("float32")}
    exact = ag.from_onnx(one_node("Resize", wide, constants=("s",), mode="cubic"))(wide["x"])
    np.testing.assert_array_equal(y, exact.astype("float16"))


@pytest.mark.few(1)
@pytest.mark.parametrize("attributes", MODES, ids=lambda a: "-".join(map(str, a.values())))
def test_open_lengths_computed_scales_and_sizes(attributes):
    """The same numbers as with lengths and scales that are known, which the conformance suite checks."""
    open_shape = {"x": [None] * 4}
    for shape, scales in (((1, 2, 5, 6), [1, 1, 0.6, 1.7]), ((2, 1, 4, 3), [1, 1, 2, 0.4])):
        x = RNG.standard_normal(shape).astype("float32")
        feeds = {"x": x, "_": NONE, "s": np.array(scales, "float32")}
        expected = run(one_node("Resize", feeds, constants=("s",), **attributes), x)
        near = {"rtol": 1e-5, "atol": 1e-5}
        fixed = one_node("Resize", feeds, open_shape, constants=("s",), **attributes)
        np.testing.assert_allclose(run(fixed, x, mode="FAST_RUN" if shape[0] == 1 else "NUMPY"), expected, **near)
        made = one_node("Resize", feeds, open_shape, **attributes)
        np.testing.assert_allclose(run(made, x, feeds["s"]), expected, **near)
        sizes = {"x": x, "_": NONE, "_1": NONE, "n": np.array([*shape[:2], 7, 2])}
        expected = run(one_node("Resize", sizes, constants=("n",), **attributes), x)
        made = one_node("Resize", sizes, open_shape, **attributes)
        np.testing.assert_allclose(run(made, x, sizes["n"]), expected, **near)


@pytest.mark.long
def test_a_size_computed_from_another_image():
    """As decoders do: lengths of the batch and the channels are known to stay, so two axes alone are resized."""
    nodes = [
        helper.make_node("Shape", ["z"], ["lengths"]),
        helper.make_node("Resize", ["x", "", "", "lengths"], ["y"], mode="linear"),
    ]
    infos = [helper.make_tensor_value_info(n, TensorProto.FLOAT, ["n", 2, None, None]) for n in "xz"]
    graph = helper.make_graph(nodes, "net", infos, [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)])
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 19)], ir_version=9)
    x, z = RNG.standard_normal((3, 2, 4, 5)).astype("float32"), np.zeros((3, 2, 8, 3), "float32")
    (expected,) = ReferenceEvaluator(made).run(None, {"x": x, "z": z})
    np.testing.assert_allclose(ag.from_onnx(made)(x, z), expected, rtol=1e-5, atol=1e-5)


def test_integers_that_other_ops_compute_in_floats():
    def value(op, *operands, constants=(), **attributes):
        return run(one_node(op, dict(zip("abc", operands)), constants=constants, **attributes), *operands)

    x = np.array([[-3, 100_000], [40, 9]], "int32")
    assert value("ReduceL2", x, np.array([1])).tolist() == [[100_000], [41]]
    assert value("Shrink", np.array([0, 1, 2, 200, 255], "uint8"), lambd=1.5, bias=1.5).tolist() == [0, 0, 0, 198, 253]
    signed = np.array([-128, -2, 1, 127], "int8")
    assert value("Shrink", signed, lambd=0.5, bias=-100.0).tolist() == [-128, -102, 101, 127]
    a, b = np.array([[1, 2]], "int32"), np.array([[3], [5]], "int32")
    assert value("Gemm", a, b, alpha=0.25).tolist() == [[3]]
    powers = value("Pow", np.array([3, -4, 300], "int32"), np.array([0.5, 2, 4], "float32"))
    assert powers.tolist() == [1, 16, 2**31 - 1]
    image, grid = np.array([[[[0, 255], [255, 0]]]], "uint8"), np.array([[[[-1.2, -0.5], [0.25, 0.25]]]], "float32")
    how = {"mode": "cubic", "padding_mode": "border"}
    made = one_node("GridSample", {"x": image, "g": grid}, **how)
    (exact,) = ReferenceEvaluator(made).run(None, {"x": image.astype("float64"), "g": grid.astype("float64")})
    np.testing.assert_array_equal(run(made, image, grid), np.clip(np.rint(exact), 0, 255))
    hot = np.full((1, 1, 8, 8), 60000, "float16")
    assert (value("AveragePool", hot, kernel_shape=[4, 4]) == 60000).all()
    assert (value("GlobalLpPool", hot / 256, p=2) == 234.375 * 8).all()
