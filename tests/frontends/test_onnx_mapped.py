"""ONNX files whose weights are mapped: the same values, damaged files, the memory of a process that loads one."""

import mmap
import subprocess
import sys

import numpy as np
import pytest

import arignote as ag
from arignote.frontends.onnx.reading.mapped import LEAST, without_weights

onnx = pytest.importorskip("onnx")
helper, numpy_helper = onnx.helper, onnx.numpy_helper
RNG = np.random.default_rng(7)


def saved(path, layers, n):
    """A file of products, biases and activations; its weights and biases by name."""
    held, nodes, value = {}, [], "x"
    for k in range(layers):
        held |= {
            f"w{k}": RNG.standard_normal((n, n), "float32") / np.float32(n**0.5), f"b{k}": RNG.standard_normal(n, "f4"),
        }  # fmt: skip
        nodes += [helper.make_node("MatMul", [value, f"w{k}"], [f"m{k}"])]
        nodes += [helper.make_node("Add", [f"m{k}", f"b{k}"], [f"a{k}"])]
        nodes += [helper.make_node("Relu", [f"a{k}"], [f"r{k}"])]
        value = f"r{k}"
    info = [helper.make_tensor_value_info(name, 1, [3, n]) for name in ("x", value)]
    graph = helper.make_graph(
        nodes, "g", info[:1], info[1:], [numpy_helper.from_array(v, name) for name, v in held.items()]
    )  # fmt: skip
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    return held


def test_weights_stay_in_the_file_and_have_the_same_values(tmp_path):
    path = tmp_path / "net.onnx"
    held = saved(path, 2, 160)
    whole, x = path.read_bytes(), RNG.standard_normal((3, 160), "float32")
    small = without_weights(whole, path.name)
    assert len(small) < 4000 < 2 * 160 * 160 * 4 < len(whole) and LEAST <= 160 * 160 * 4
    net, read = ag.from_onnx(path), ag.from_onnx(whole)
    np.testing.assert_array_equal(net(x), read(x))
    for name, weight in held.items():
        data = net.parameters[name].data
        np.testing.assert_array_equal(data, weight)
        assert not data.flags.writeable
    base = net.parameters["w0"].data
    while isinstance(base, np.ndarray):
        base = base.base
    assert isinstance(base, mmap.mmap)
    trained = ag.from_onnx(path, trainable=True).parameters["w0"]
    trained.set_value(trained.get_value() + 1)
    np.testing.assert_array_equal(ag.from_onnx(path).parameters["w0"].data, held["w0"])


def test_damaged_files_are_refused(tmp_path):
    path = tmp_path / "net.onnx"
    saved(path, 1, 160)
    whole = path.read_bytes()
    for cut in (len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:cut])
        with pytest.raises(ValueError, match=r"net\.onnx is no ONNX model, or it is cut short"):
            ag.from_onnx(path)
    for damaged in (b"\x0f" + whole, b"\x80" * len(whole)):
        with pytest.raises(ValueError, match=r"wire type|without an end"):
            without_weights(damaged, "net.onnx")


def printed(program, path):
    """The whole numbers that a program prints in a process of its own, given the path of a model."""
    command = [sys.executable, "-c", program, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=200)
    return [*map(int, done.stdout.split())]


GROWTH = """
import re, sys
import numpy as np
import onnx
import arignote as ag
def held(name): return int(re.search(name + r":\\s+(\\d+)", open("/proc/self/status").read())[1]) << 10
before = held("RssFile")
net = ag.from_onnx(sys.argv[1])
f = net.function()
mapped = held("RssFile") - before
x = np.ones([d or 1 for d in net.inputs["x"].type.shape], "float32")
first = f(x)
assert (net.function()(x) == first).all()  # the weights are read from the file again
print(mapped)
"""


@pytest.mark.long
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_packed_weights_leave_no_pages_of_the_file(tmp_path):
    path = tmp_path / "net.onnx"
    saved(path, 6, 1024)
    (mapped,) = printed(GROWTH, path)
    assert mapped < 20 << 20 < path.stat().st_size  # libraries that were loaded


PROGRAM = """
import re, sys
import onnx
import arignote as ag
def held(name): return int(re.search(name + r":\\s+(\\d+)", open("/proc/self/status").read())[1]) << 10
before = held("VmHWM")
net = ag.from_onnx(sys.argv[1])
print(held("VmHWM") - before, held("RssAnon"))
"""


@pytest.mark.long
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_the_peak_while_loading_is_the_size_of_the_file(tmp_path):
    path = tmp_path / "net.onnx"
    saved(path, 6, 1024)
    peak, _ = printed(PROGRAM, path)
    assert peak <= 1.2 * path.stat().st_size + (8 << 20)  # and what imports take
