"""`python -m arignote onnx`: contents, runs with random inputs, profile, report, export, and what cannot be read."""

import re

import numpy as np
import pytest

from arignote import __main__ as command_line

onnx = pytest.importorskip("onnx")
from onnx import TensorProto, helper, numpy_helper  # noqa: E402

F = TensorProto.FLOAT


@pytest.fixture
def ran(capsys):
    """Runs a command; gives exit code, standard output and standard error."""

    def run(*arguments):
        code = command_line.main(["onnx", *map(str, arguments)])
        reported = capsys.readouterr()
        return code, reported.out, reported.err

    return run


@pytest.fixture
def path(tmp_path):
    """A file with a model of a product and an activation; the batch is open."""
    w = np.arange(12, dtype="float32").reshape(3, 4) / 10
    nodes = [helper.make_node("MatMul", ["x", "w"], ["m"], name="dense"), helper.make_node("Tanh", ["m"], ["y"])]
    infos = [[helper.make_tensor_value_info(n, F, s)] for n, s in (("x", ["n", 3]), ("y", ["n", 4]))]
    graph = helper.make_graph(nodes, "net", *infos, [numpy_helper.from_array(w, "w")])
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
    file = tmp_path / "net.onnx"
    file.write_bytes(made.SerializeToString())
    return file


def test_contents_and_a_run(ran, path):
    code, out, err = ran(path, "--run", "--profile", "--seed", 3)
    assert (code, err) == (0, "")
    for line in (
        f"{path}: net, 2 nodes, op sets: standard 18", "parameters: 12 numbers in 1 tensor", "ops: 1 MatMul, 1 Tanh",
        "input x: float32[?, 3]", "output y: float32[?, 4]", "inputs drawn with --seed 3: x (1, 3)",
        "result y: float32[1, 4], from ", "MatMul dense",
    ):  # fmt: skip
        assert line in out
    again = ran(path, "--run", "--seed", 3)[1]
    assert re.findall("result.*", again) == re.findall("result.*", out) != re.findall("result.*", ran(path, "--run")[1])


def test_report_and_export(ran, path, tmp_path):
    code, out, _ = ran(path, "--shape", "x=5,3", "--report", tmp_path / "r.html", "--export", tmp_path / "c")
    assert code == 0 and "input x: float32[5, 3]" in out and "output y: float32[5, 4]" in out
    assert "MatMul dense" in (tmp_path / "r.html").read_text() and (tmp_path / "c" / "net.h").is_file()


def test_what_cannot_be_done_is_reported(ran, path, tmp_path):
    code, out, err = ran(tmp_path / "none.onnx")
    assert (code, out) == (1, "") and err.startswith("onnx: ") and "No such file" in err
    assert ran(path, "--shape", "x")[0::2] == (
        2, "onnx: --shape x: expected a name and lengths, as in --shape image=1,3,224,224\n"
    )  # fmt: skip
    assert "shapes names 'z'; the inputs are x" in ran(path, "--shape", "z=1")[2]
    made = onnx.load(path)
    made.graph.node[1].op_type = "Frob"
    path.write_bytes(made.SerializeToString())
    code, out, err = ran(path, "--run")
    assert code == 1 and "ops: 1 MatMul, 1 Frob" in out and "no converter for Frob (-> y)" in err
