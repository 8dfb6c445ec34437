"""Models that are damaged or hostile: each is refused with a short error that names the node, or it is read."""

import random

import numpy as np
import pytest

import arignote as ag

onnx = pytest.importorskip("onnx")
from onnx import TensorProto, helper, numpy_helper  # noqa: E402
from onnx_cases import cases  # noqa: E402
from test_onnx import F, chain, convolutional, damaged, model  # noqa: E402

from arignote.frontends.onnx import OnnxError  # noqa: E402

HOSTILE = [-1, 0, -5, 2**31, 2**62, -(2**63), 2**63 - 1, 7, 1_000_003]
LONGEST = 1500
"""Characters of an error."""


def read(made):
    """Read a model; gives the error, which is short, or None.  All other errors leave the test."""
    try:
        ag.from_onnx(made)
    except OnnxError as error:
        reported = str(error)
    else:
        return None
    assert len(reported) < LONGEST
    return reported


# --- damage at random


@pytest.mark.parametrize("seed", range(3))
def test_damaged_bytes(seed):
    rng = random.Random(seed)
    whole = convolutional().SerializeToString()
    for _ in range(100):
        data = bytearray(whole)
        kind = rng.randrange(3)
        if kind == 0:
            del data[rng.randrange(len(data)) :]
        elif kind == 1:
            for _ in range(rng.randint(1, 3)):
                data[rng.randrange(len(data))] = rng.randrange(256)
        else:
            start = rng.randrange(len(data))
            del data[start : start + rng.randint(1, 8)]
        read(bytes(data))


def _spoil(made, rng):
    """One attribute, operand, length or dtype of a model becomes another."""
    places = [(a, kind) for n in made.graph.node for a in n.attribute for kind in ("value",) if a.type in (1, 2, 3, 7)]
    places += [(n, "operand") for n in made.graph.node]
    places += [(i.type.tensor_type, kind) for i in made.graph.input for kind in ("length", "dtype")]
    place, kind = rng.choice(places)
    number = rng.choice(HOSTILE)
    if kind == "operand":
        del place.input[-1:]
    elif kind == "dtype":
        place.elem_type = rng.randint(1, 27)
    elif kind == "length" and place.shape.dim:
        place.shape.dim[rng.randrange(len(place.shape.dim))].dim_value = number
    elif kind == "length":
        place.shape.dim.add().dim_value = 3
    elif place.type == 1:
        place.f = rng.choice([float("nan"), float("inf"), -1.0, 0.0])
    elif place.type == 2:
        place.i = number
    elif place.type == 3:
        place.s = b"what"
    else:
        place.ints.append(number)


@pytest.mark.long
def test_spoiled_models():
    """Nodes of the format's own suite, each with one thing in it changed."""
    rng = random.Random(0)
    every = list(cases())
    found = []
    for case in rng.sample(every, 250):
        made = onnx.ModelProto()
        made.CopyFrom(case.model)
        if made.graph.node:
            _spoil(made, rng)
            found.append(read(made))
    assert sum(error is not None for error in found) > 80


# --- damage with a name


def with_input(name):
    def change(made):
        made.graph.input.add().CopyFrom(helper.make_tensor_value_info(name, F, [3]))

    return change


def with_initializers(*names):
    def change(made):
        made.graph.initializer.extend(numpy_helper.from_array(np.ones(3, "f4"), n) for n in names)

    return change


def with_attribute(**attributes):
    def change(made):
        made.graph.node[0].attribute.extend(helper.make_attribute(n, v) for n, v in attributes.items())

    return change


def with_sparse(shape, index):
    def change(made):
        values = numpy_helper.from_array(np.ones(1, "f4"), "s")
        places = numpy_helper.from_array(np.array([index]), "places")
        made.graph.sparse_initializer.append(helper.make_sparse_tensor(values, places, shape))

    return change


def circle(made):
    made.graph.node[0].input[0] = "v1"
    made.graph.node[1].input[0] = "v0"


NAMED = [
    (circle, "node Relu reads 'v1', which is made from it: the nodes go in a circle"),
    (with_input("x"), "two inputs have the name 'x', expected one"),
    (with_initializers("w", "w"), "two initializers have the name 'w', expected one"),
    (with_initializers("v0"), "node Relu makes 'v0', which is also another output, an input or an initializer"),
    (lambda m: m.graph.node[1].input.append("x"), "node Neg .* -> v1: has 2 operands, expected 1: X"),
    (lambda m: m.graph.node[0].__setattr__("op_type", "Add"), "node Add .* -> v0: has 1 operand, expected 2: A, B"),
    (with_sparse([2**40], 0), r"sparse tensor 's' has the shape \(1099511627776,\), expected up to 268,435,456"),
    (with_sparse([4], 9), r"sparse tensor 's' of shape \(4,\): index 9 is out of bounds"),
    (lambda m: m.opset_import[0].__setattr__("version", 99), "needs version 99 of the ONNX op set; the newest"),
    (lambda m: m.opset_import[0].__setattr__("domain", "new"), "is a standard op, but the model declares no version"),
]  # fmt: skip


@pytest.mark.parametrize(("change", "words"), NAMED)
def test_what_is_wrong_is_named(change, words):
    with pytest.raises(OnnxError, match=words):
        ag.from_onnx(damaged(change, chain("Relu", "Neg")))


def test_attributes_and_operands_are_reported():
    pad = helper.make_node("Pad", ["x", "pads"], ["y"], mode="what", name="around")
    made = model([pad], [("x", [3])], [("y", [5])], {"pads": np.array([1, 1])})
    with pytest.raises(OnnxError) as refused:
        ag.from_onnx(made)
    lines = str(refused.value).splitlines()
    assert lines[0] == "node 'around' Pad (version 18) -> y: 'what' is no value that it takes"
    assert lines[1:] == ["  operands: float32[3], int64[2]", "  attributes: mode='what'"]


def test_long_shapes_take_no_memory():
    """Lengths of 2**62: the model is read without its arrays, and a call with other lengths is refused."""
    made = model([helper.make_node("Relu", ["x"], ["y"])], [("x", [2**62])], [("y", [2**62])])
    net = ag.from_onnx(made)
    assert net.inputs["x"].type.shape == (2**62,)
    with pytest.raises(ValueError, match="4611686018427387904"):
        net(np.zeros(3, "float32"))
    filled = helper.make_node("ConstantOfShape", ["n"], ["y"])
    made = model([filled], [], [("y", None)], {"n": np.array([2**40, 2**20])})
    assert ag.from_onnx(made).outputs["y"].owner is not None


def test_functions_without_end_are_refused():
    inner = helper.make_node("Twice", ["a"], ["b"], domain="mine")
    function = helper.make_function("mine", "Twice", ["a"], ["b"], [inner], [helper.make_opsetid("mine", 1)])
    node = helper.make_node("Twice", ["x"], ["y"], domain="mine")
    made = model([node], [("x", [3])], [("y", [3])], functions=[function])
    made.opset_import.append(helper.make_opsetid("mine", 1))
    with pytest.raises(OnnxError, match="functions call each other recursively"):
        ag.from_onnx(made)


def test_links_out_of_the_folder_are_not_followed(tmp_path):
    (tmp_path / "secret").write_bytes(b"1234" * 4)
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "weights").symlink_to(tmp_path / "secret")
    for place in ("weights", str(tmp_path / "secret"), "../secret", "a/../../secret"):
        tensor = TensorProto(name="w", data_type=F, dims=[4], data_location=TensorProto.EXTERNAL)
        tensor.external_data.add(key="location", value=place)
        made = chain("Relu")
        made.graph.initializer.append(tensor)
        (folder / "m.onnx").write_bytes(made.SerializeToString())
        with pytest.raises(OnnxError, match="outside of the model's folder"):
            ag.from_onnx(folder / "m.onnx")


def test_weights_that_are_no_numbers_are_numbers_of_the_format():
    """NaN and infinities in weights are read as they are, and computed with."""
    w = np.array([[np.nan, np.inf, -np.inf, 1]], "float32")
    made = model([helper.make_node("Add", ["x", "w"], ["y"])], [("x", [1, 4])], [("y", [1, 4])], {"w": w})
    y = ag.from_onnx(made)(np.ones((1, 4), "float32"))
    np.testing.assert_array_equal(y, w + 1)
