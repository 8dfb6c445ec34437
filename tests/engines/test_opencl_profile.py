"""The run profile of OpenCL functions: rows of steps with their engine, and of all copies with their bytes."""

import numpy as np
import pytest
from draws import mostly_long
from opencl_devices import WAYS, device_of, lacking

import arignote as ag
from arignote import ops as T
from arignote.engines.device.dialects import opencl as devices


@pytest.fixture(params=mostly_long(WAYS, ("parts",)))
def opencl(request, monkeypatch):
    """The mode of the engine, on one device in three ways; skips the test where no device compiles kernels."""
    if lacking():
        pytest.skip(f"no OpenCL: {lacking()}")
    monkeypatch.setattr(devices, "device", lambda: device_of(request.param))
    return ag.Mode("fast_run", backend="opencl")


def rows(profile):
    return {s.text.split("(")[0]: s for s in profile.steps}


def test_copies_have_rows_with_their_bytes_and_time(opencl):
    x, w = T.matrix("x"), ag.shared(np.ones((4, 4)), name="w")
    f = ag.function([x], T.sort(T.exp(x)).sum(), updates={w: w * 2}, mode=opencl, profile=True)
    for _ in range(3):
        f(np.ones((4, 4)))
    found, traffic = rows(f.profile), f._run.traffic
    assert f.profile.calls == 3 and {found["exp"].engine, found["sum"].engine} == {"opencl"}
    assert found["sort"].engine == "numpy" and found["sort"].calls == 3
    assert found["exp"].bytes == 3 * 2 * 128 and found["sort"].bytes == 3 * 2 * 128 and found["sum"].bytes == 3 * 136
    if devices.device().shares:
        assert "to device" not in found and "to host" not in found and not traffic.to_device
        return
    ahead, back = found["to device"], found["to host"]
    assert ahead.copied == ahead.bytes == traffic.to_device and back.copied == back.bytes == traffic.to_host
    # x and the sorted values in each call, w and the constant once; the values to sort, and the sum
    assert (ahead.calls, ahead.bytes, back.calls, back.bytes) == (8, 3 * 2 * 128 + 128 + 8, 6, 3 * (128 + 8))
    assert ahead.seconds > 0 and back.seconds > 0
    assert found["exp"].copied == 3 * 128 and found["sum"].copied == 3 * 128 and found["sort"].copied == 3 * 128
    text = str(f.profile)
    assert "engine" in text and "copied" in text and "to device" in text and "copies" in text


def test_the_body_of_a_loop_has_rows(opencl):
    x = T.matrix("x")
    rows_of, _ = ag.scan(lambda row, s: T.tanh(T.cumsum(row) + s) @ T.eye(3), x, T.zeros((3,)))
    nested, _ = ag.scan(lambda row: ag.scan(lambda r, s: T.exp(r) * s, row, T.ones(()))[0][-1], x)
    f = ag.function([x], [rows_of, nested], mode=opencl, profile=True)
    for length in (12, 1, 12):
        value = np.linspace(0, 1, 3 * length).reshape(length, 3)
        for a, b in zip(f(value), ag.function([x], [rows_of, nested], mode="NUMPY")(value), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-6)
    loops = [s for s in f.profile.steps if s.op == "Scan"]
    assert len(loops) == 2 and f.profile.calls == 3
    for loop in loops:
        (body,) = loop.bodies
        assert body.title == "step" and body.steps == 25 and body.timed == 4 + 1 + 4
        assert {node.calls for node in body.nodes} == {25} and all(node.seconds > 0 for node in body.nodes)
        assert body.node_seconds <= body.seconds * 1.0001 and body.seconds == pytest.approx(loop.seconds)
    (inner,) = [node for loop in loops for node in loop.bodies[0].nodes if node.bodies]
    assert inner.bodies[0].steps == 75 and inner.bodies[0].nodes


def test_a_loop_is_one_row_and_warm_up_is_left_out(opencl):
    x = T.matrix("x")
    rows_of, _ = ag.scan(lambda row, s: T.tanh(row + s), x, T.zeros((3,)))
    f = ag.function([x], rows_of, mode=opencl, profile=True)
    f.profile.reset(warm_up=1)
    for _ in range(3):
        f(np.ones((5, 3)))
    (loop,) = [s for s in f.profile.steps if s.op == "Scan"]
    assert loop.calls == 2 == f.profile.calls and f.profile.skipped == 1
    assert loop.kernel.startswith("k_") and loop.has_body
    found = rows(f.profile)
    if not devices.device().shares:
        assert found["to host"].bytes == 2 * 5 * 3 * 8


def test_profiled_values_are_the_same(opencl):
    x = T.matrix("x")
    build = lambda profile: ag.function([x], [T.exp(x) @ x, x.T.sum(axis=0)], mode=opencl, profile=profile)  # noqa: E731
    value = np.arange(9.0).reshape(3, 3)
    for a, b in zip(build(False)(value), build(True)(value), strict=True):
        np.testing.assert_array_equal(a, b)
