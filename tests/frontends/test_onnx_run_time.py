"""Ranks, axes and lengths of ONNX models that only the run decides, and the order of nodes in the file."""

from itertools import pairwise

import numpy as np
import pytest

import arignote as ag

onnx = pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")
from onnx import TensorProto, helper, numpy_helper  # noqa: E402
from test_onnx import runtime  # noqa: E402

from arignote.frontends.onnx import OnnxError  # noqa: E402

I, B, F = TensorProto.INT64, TensorProto.BOOL, TensorProto.FLOAT
info, node = helper.make_tensor_value_info, helper.make_node


def built(nodes, inputs, outputs, constants=(), version=18):
    """A model; inputs and outputs are (name, dtype, shape)."""
    tensors = [numpy_helper.from_array(np.asarray(a), n) for n, a in dict(constants).items()]
    graph = helper.make_graph(nodes, "net", [info(*i) for i in inputs], [info(*o) for o in outputs], tensors)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", version)], ir_version=9)


def compared(made, *calls, modes=("FAST_RUN", "NUMPY")):
    """Results of each call beside ONNX Runtime, compiled and by the meaning of the ops."""
    net = ag.from_onnx(made)
    for mode in modes:
        f = net.function(mode=mode)
        for feeds in calls:
            ours, theirs = f(*feeds.values()), runtime(made, feeds)
            for one, other in zip(ours if len(theirs) > 1 else [ours], theirs, strict=True):
                assert np.shape(one) == other.shape and np.asarray(one).dtype == other.dtype
                np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)
    return net


def floats(*shape):
    return np.random.default_rng(len(shape)).standard_normal(shape).astype("float32")


# --- the order of nodes


def test_nodes_in_any_order():
    body = helper.make_graph([node("Add", ["late", "x"], ["o"])], "body", [], [info("o", F, [3])])
    nodes = [
        node("If", ["up", ], ["y"], then_branch=body, else_branch=body), node("Neg", ["early"], ["late"]),
        node("Greater", ["total", "zero"], ["up"]), node("ReduceSum", ["early"], ["total"], keepdims=0),
        node("Exp", ["x"], ["early"]),
    ]  # fmt: skip
    made = built(nodes, [("x", F, [3])], [("y", F, [3])], {"zero": np.float32(0)})
    ours = ag.from_onnx(made)(floats(3))
    np.testing.assert_allclose(ours, floats(3) - np.exp(floats(3)), rtol=1e-6)
    nodes[4].input[0] = "y"
    with pytest.raises(OnnxError, match=r"reads '\w+', which is made from it: the nodes go in a circle"):
        ag.from_onnx(built(nodes, [("x", F, [3])], [("y", F, [3])], {"zero": np.float32(0)}))


def test_a_long_chain_in_reverse_order():
    names = [f"v{k}" for k in range(3001)]
    nodes = [node("Neg", [a], [b]) for a, b in pairwise(names)][::-1]
    assert ag.from_onnx(built(nodes, [("v0", F, [1])], [("v3000", F, [1])]), shapes={"v0": (1,)}).outputs


# --- ranks


def _branch(op, *operands):
    return helper.make_graph([node(op, list(operands), ["o"])], "branch", [], [info("o", F, None)])


SQUEEZED = [
    node("Shape", ["x"], ["lengths"]), node("Gather", ["lengths", "one"], ["n"]),
    node("Equal", ["n", "one"], ["is_one"]),
    node("If", ["is_one"], ["z"], then_branch=_branch("Squeeze", "x", "axis"), else_branch=_branch("Identity", "x")),
]  # fmt: skip
"""The squeeze of an axis that may be longer than 1, as exporters of PyTorch write it."""
CONSTANTS = {"one": np.array(1), "axis": np.array([1]), "w": floats(3, 2)}


@pytest.mark.parametrize(("more", "rank"), [
    ([node("Neg", ["z"], ["y"])], None), ([node("Exp", ["z"], ["e"]), node("ReduceSum", ["e"], ["y"], keepdims=0)], 0),
    ([node("Shape", ["z"], ["s"]), node("Reshape", ["x", "s"], ["r"]),
      node("Concat", ["r", "r"], ["y"], axis=0)], None),
])  # fmt: skip
def test_branches_of_different_rank(more, rank):
    made = built([*SQUEEZED, *more], [("x", F, [2, None])], [("y", F, [] if rank == 0 else None)], CONSTANTS)
    net = compared(made, {"x": floats(2, 1)}, {"x": floats(2, 3)})
    assert isinstance(net.outputs["y"], list) == (rank is None)


def test_a_branch_that_the_next_node_cannot_take():
    made = built([*SQUEEZED, node("MatMul", ["z", "w"], ["y"])], [("x", F, [2, None])], [("y", F, None)], CONSTANTS)
    compared(made, {"x": floats(2, 3)})
    flat = node("Concat", ["z", "x"], ["y"], axis=1)
    made = built([*SQUEEZED, flat], [("x", F, [2, None])], [("y", F, [2, None])], CONSTANTS)
    f = ag.from_onnx(made).function(mode="NUMPY")
    assert f(floats(2, 3)).shape == (2, 6)
    with pytest.raises(ValueError, match="the call takes an alternative that its model cannot compute: node Concat"):
        f(floats(2, 1))


@pytest.mark.long
def test_a_squeeze_of_open_axes():
    made = built([node("Squeeze", ["x"], ["y"])], [("x", F, [None, None])], [("y", F, None)])
    compared(made, *({"x": floats(*shape)} for shape in ((1, 1), (1, 3), (2, 1), (2, 3))))
    nodes = [
        node("Squeeze", ["x"], ["q"]), node("Relu", ["q"], ["r"]), node("ReduceMax", ["r"], ["m"], keepdims=0),
        node("Add", ["x", "m"], ["y"]),
    ]  # fmt: skip
    made = built(nodes, [("x", F, [None, 1, None])], [("y", F, [None, 1, None])])
    net = compared(made, *({"x": floats(*shape)} for shape in ((1, 1, 1), (1, 1, 3), (2, 1, 1))))
    assert net.outputs["y"].ndim == 3


# --- axes


def test_axes_that_the_run_computes():
    x = floats(2, 3, 4)

    def same(op, axes, shape, operands=("x", "axes"), version=18, before=None, **attributes):
        feeds = {"x": x, "axes": np.array(axes, "int64")}
        inputs = [("x", F, list(x.shape)), ("axes", I, shape)]
        made = built([node(op, list(operands), ["y"], **attributes)], inputs, [("y", F, None)], before or (), version)
        compared(made, feeds, modes=("NUMPY",))

    for axes in ([0], [2], [-2]):
        same("ReduceSum", axes, [1], keepdims=0)
        same("ReduceLogSumExp", axes, [1])
    for axes in ([0, 2], [-1, 1], []):
        same("ReduceMax", axes, [None], keepdims=1)
        same("ReduceMean", axes, [None], keepdims=0)
        same("ReduceSum", axes, [None], noop_with_empty_axes=1)
    same("Unsqueeze", [0, 3], [2])
    same("Unsqueeze", [-1], [1])
    same("CumSum", -1, [], version=14)
    ends = {"b": np.array([1, 0]), "e": np.array([3, 2])}
    same("Slice", [2, 0], [2], ("x", "b", "e", "axes"), before=ends)
    pads = {"p": np.array([1, 0, 2, 3]), "v": np.float32(7)}
    same("Pad", [-1, 0], [2], ("x", "p", "v", "axes"), before=pads)
    inputs = [("x", F, [2, 3]), ("axes", I, [1])]
    made = built([node("ReduceSum", ["x", "axes"], ["y"])], inputs, [("y", F, [None, None])])
    with pytest.raises(IndexError, match="out of bounds"):
        ag.from_onnx(made)(floats(2, 3), np.array([5]))


def test_steps_amounts_and_diagonals_that_the_run_computes():
    x = floats(5, 4)
    inputs = [("x", F, [None, None]), *((n, I, [2]) for n in "bes")]
    made = built([node("Slice", ["x", "b", "e", "", "s"], ["y"])], inputs, [("y", F, None)])
    backwards = [np.array([4, 0]), np.array([-(2**60), 3]), np.array([-2, 1])]
    compared(made, {"x": x, **dict(zip("bes", backwards))}, modes=("NUMPY",))
    made = built([node("Trilu", ["x", "k"], ["y"], upper=0)], [("x", F, [5, 4]), ("k", I, [])], [("y", F, None)])
    compared(made, *({"x": x, "k": np.array(k)} for k in (-1, 0, 2)), modes=("NUMPY",))
    made = built([node("Pad", ["x", "p"], ["y"])], [("x", F, [5, 4]), ("p", I, [4])], [("y", F, None)])
    compared(made, *({"x": x, "p": np.array(p)} for p in ([1, 0, -2, 3], [-1, -1, 0, 0])), modes=("NUMPY",))


# --- loops


def test_a_state_that_grows():
    body = helper.make_graph(
        [node("Concat", ["s", "x"], ["t"], axis=0), node("Identity", ["c"], ["d"]),
         node("ReduceSum", ["t"], ["r"], keepdims=0)],
        "body", [info("k", I, []), info("c", B, []), info("s", F, [None])],
        [info("d", B, []), info("t", F, [None]), info("r", F, [])],
    )  # fmt: skip
    loop = node("Loop", ["n", "", "x"], ["y", "sums"], body=body)
    made = built([loop], [("x", F, [2]), ("n", I, [])], [("y", F, [None]), ("sums", F, [None])])
    compared(made, *({"x": floats(2), "n": np.array(n)} for n in (0, 1, 5)))


def test_a_loop_that_collects_and_has_no_maximum():
    body = helper.make_graph(
        [node("Add", ["s", "s"], ["t"]), node("Identity", ["t"], ["u"]), node("Less", ["t", "limit"], ["d"])],
        "body", [info("k", I, []), info("c", B, []), info("s", F, [])],
        [info("d", B, []), info("t", F, []), info("u", F, [])],
    )  # fmt: skip
    loop = node("Loop", ["", "go", "x"], ["y", "every"], body=body)
    outputs = [("y", F, []), ("every", F, [None])]
    made = built([loop], [("x", F, []), ("go", B, [])], outputs, {"limit": np.float32(50)})
    compared(made, *({"x": np.array(3, "float32"), "go": np.array(go)} for go in (True, False)))


def test_a_state_of_steady_lengths_stays_in_compiled_loops():
    body = helper.make_graph(
        [node("Mul", ["s", "x"], ["t"]), node("Identity", ["c"], ["d"])], "body",
        [info("k", I, []), info("c", B, []), info("s", F, [None])], [info("d", B, []), info("t", F, [None])],
    )  # fmt: skip
    made = built([node("Loop", ["n", "", "x"], ["y"], body=body)], [("x", F, [None]), ("n", I, [])], [("y", F, [None])])
    net = compared(made, {"x": floats(3), "n": np.array(4)})
    assert not any(op.name == "free_loop" for op in net.graph.ops)
