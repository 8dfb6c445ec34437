"""Lists of launches: one kernel runs the small launches of a call, with the bits of launches one by one."""

import os
import subprocess
import sys

import numpy as np
import pytest
from draws import mostly_long
from opencl_devices import device_of, lacking
from random_programs import random_program

import arignote as ag
from arignote import ops as T
from arignote.cbackend.ctext.device_lists import list_source
from arignote.cbackend.ctext.device_products import packed_items
from arignote.engines.device.dialects import opencl as devices
from arignote.engines.device.tape import LaunchList, Single

RNG = np.random.default_rng(3)


@pytest.fixture
def opencl(monkeypatch):
    """The mode of the engine, on a device that runs parts of loops."""
    if lacking():
        pytest.skip(f"no OpenCL: {lacking()}")
    monkeypatch.setattr(devices, "device", lambda: device_of("parts"))
    return ag.Mode("fast_run", backend="opencl")


@pytest.fixture
def one_by_one(monkeypatch, opencl):
    """A context in which no launch is listed."""

    def run(call, *arguments):
        with monkeypatch.context() as patch:
            patch.setattr(devices.device(), "lists", lambda kernel, work: False)
            return [call(*arguments) for _ in range(3)]

    return run


def runs_of(f):
    (replay,) = f._run._replays.values()
    return replay._tape._runs


def same(a, b):
    return all(x.dtype == y.dtype and x.tobytes() == y.tobytes() for x, y in zip(a, b, strict=True))


def statistics_of(x, w):
    y = T.tanh(x @ w)
    return [y.sum(axis=0), T.nn.softmax(y, axis=1), (y * y).max(), T.concatenate([y, x @ w], axis=1)]


def test_small_launches_are_one_list_with_equal_bits(opencl, one_by_one):
    x, w = T.matrix("x"), T.matrix("w")
    values = RNG.normal(size=(7, 5)), RNG.normal(size=(5, 6))
    f, g = (ag.function([x, w], statistics_of(x, w), mode=opencl) for _ in range(2))
    separate = one_by_one(g, *values)
    assert all(isinstance(run, Single) for run in runs_of(g)) and len(runs_of(g)) > 4
    for _ in range(4):
        assert same(f(*values), separate[-1])
    (run,) = runs_of(f)
    assert isinstance(run, LaunchList)
    for _ in range(3):  # other arguments of these shapes
        values = RNG.normal(size=(7, 5)), RNG.normal(size=(5, 6))
        assert same(f(*values), g(*values))


def test_large_launches_stand_between_lists(opencl, one_by_one):
    x, w = T.matrix("x"), T.matrix("w")
    large = T.exp(x) @ w
    outputs = [T.exp(w.sum(axis=0)), T.tanh(large.sum(axis=0) * w[0])]
    values = RNG.normal(size=(2000, 70)), RNG.normal(size=(70, 70))
    f, g = (ag.function([x, w], outputs, mode=opencl) for _ in range(2))
    separate = one_by_one(g, *values)
    for _ in range(4):
        assert same(f(*values), separate[-1])
    assert {type(run) for run in runs_of(f)} == {Single, LaunchList}


@pytest.mark.parametrize("seed", mostly_long(range(6, 12), {6}))
def test_random_programs_have_equal_bits(opencl, one_by_one, seed):
    program = random_program(seed)
    made, arrays = program.made(), program.arrays(program.lengths)
    inputs = [i for i in program.inputs if not i.shared]
    f, g = (
        ag.function([made[i.name] for i in inputs], made["outputs"], mode=opencl, on_unused_input="ignore")
        for _ in range(2)
    )
    values = [arrays[i.name] for i in inputs]
    separate = one_by_one(g, *values)[-1]
    for _ in range(3):
        assert same(f(*values), separate)


def test_the_steps_of_a_loop_are_lists(opencl, one_by_one):
    x, w = T.matrix("x"), T.matrix("w")
    states, _ = ag.scan(lambda row, state: T.tanh(state @ w + row), sequences=[x], outputs_info=[x[0] * 0])
    values = RNG.normal(size=(50, 8)), RNG.normal(size=(8, 8))
    f, g = (ag.function([x, w], states, mode=opencl) for _ in range(2))
    assert same([f(*values)], [one_by_one(g, *values)[-1]])
    state = np.zeros(8)
    for row, found in zip(values[0], f(*values), strict=True):
        state = np.tanh(state @ values[1] + row)
        np.testing.assert_allclose(found, state, rtol=1e-10, atol=1e-12)


def test_a_launch_of_a_list_refuses_an_index(opencl):
    x, i = T.vector("x"), T.lvector("i")
    f = ag.function([x, i], (x[i] * 2).sum(), mode=opencl)
    value, good = np.arange(5.0), np.array([0, 4])
    assert [float(f(value, good)) for _ in range(4)] == [8.0] * 4
    assert isinstance(runs_of(f)[0], LaunchList)
    with pytest.raises(IndexError, match=r"index 9 .* size 5"):
        f(value, np.array([0, 9]))
    assert float(f(value, good)) == 8.0


def test_the_kernel_of_a_list(golden):
    golden("device_list.cl", list_source(packed_items("float64", devices.OPENCL))[len(devices.OPENCL.prelude) :])


IN_CALLER = """
import numpy as np
import arignote as ag
from arignote import ops as T
from arignote.engines.device.dialects.opencl import device

found = device()
assert found.name.startswith("pthread"), found.name
assert found._caller is not None and found._caller.name.startswith("basic")
x, w = T.matrix("x"), T.matrix("w")
f = ag.function([x, w], [T.tanh(x @ w).sum(axis=0), T.exp(x) @ w], mode=ag.Mode("fast_run", backend="opencl"))
a, b = np.random.default_rng(0).normal(size=(2, 40, 40))
for _ in range(5):
    print(*(r.tobytes().hex() for r in f(a, b)))
large = np.random.default_rng(0).normal(size=(2, 300, 300))
for _ in range(4):
    print(*(hash(r.tobytes()) for r in f(*large)))
"""
PIPES = {"capture_output": True, "text": True}


@pytest.mark.long
def test_small_calls_run_in_the_calling_thread():
    """PoCL can have a device without threads beside its own: lists run there."""
    if lacking() or device_of("parts")._queue.device.platform.name != "Portable Computing Language":
        pytest.skip("no PoCL")
    environment = {**os.environ, "POCL_DEVICES": "pthread basic", "PYTHONHASHSEED": "0"}
    done = subprocess.run([sys.executable, "-c", IN_CALLER], env=environment, check=False, **PIPES)
    assert done.returncode == 0, done.stderr[-2000:]
    lines = done.stdout.splitlines()
    assert len(lines) == 9 and len(set(lines[:5])) == len(set(lines[5:])) == 1
