"""Sines on processors by OpenCL: far arguments run in a second loop."""

import numpy as np
import pytest
from opencl_devices import device_of, lacking

import arignote as ag
from arignote import ops as T
from arignote.cbackend.ctext import vector_forms
from arignote.cbackend.ir.loops import Assign, Const, For, If, Let, Load, Local, ScalarOp, Store, Var
from arignote.cbackend.lowering.devices.far_arguments import FAR, near_first
from arignote.engines.device.dialects import opencl as devices

RNG = np.random.default_rng(11)
I, N = Local("int64", "i"), Local("int64", "n")
X = Load("float64", "x", I)
SINE = ScalarOp("sin", "float64", (Local("float64", "v"),))


@pytest.fixture
def opencl(monkeypatch):
    """The mode of the engine, on a device that runs parts of loops."""
    if lacking():
        pytest.skip(f"no OpenCL: {lacking()}")
    monkeypatch.setattr(devices, "device", lambda: device_of("parts"))
    return ag.Mode("fast_run", backend="opencl")


def loop(*body, **options):
    return For("i", Const("int64", 0), N, body, simd=True, **options)


def test_far_arguments_run_in_a_second_loop():
    whole = loop(Let("v", X), Store("y", I, SINE))
    far, near, again = near_first([whole])
    assert far == Var("far0", Const("int64", 0))
    assert near.body[1] == Store("y", I, ScalarOp("sin_near", "float64", SINE.args))
    assert isinstance(near.body[2], Assign) and near.body[2].name == "far0" and near.reductions == (("|", "far0"),)
    assert isinstance(again, If) and again.body == (whole,)


@pytest.mark.parametrize(
    "kept",
    [
        loop(Let("v", X), Store("x", I, SINE)),
        loop(Let("v", X), Assign("total", SINE), reductions=(("+", "total"),)),
        loop(Let("v", X), Store("y", I, Local("float64", "v"))),
        For("i", Const("int64", 0), N, (Let("v", X), Store("y", I, SINE))),
    ],
    ids=["reads what it stores", "adds up", "no sine", "no vectors"],
)
def test_other_loops_stay(kept):
    assert near_first([kept]) == (kept,)


def test_arguments_are_far_from_where_the_helpers_say():
    assert {dtype: float.fromhex(text.rstrip("f")) for dtype, text in vector_forms.FAR.items()} == FAR


@pytest.mark.few(2)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("op, numpys", [(T.sin, np.sin), (T.cos, np.cos), (T.tan, np.tan)])
def test_near_far_and_special_arguments_are_numpys(opencl, op, numpys, dtype):
    x = T.vector("x", dtype=dtype)
    f = ag.function([x], 2 * op(x), mode=opencl)
    values = RNG.uniform(-50, 50, 5000).astype(dtype)
    near = f(values)
    np.testing.assert_allclose(near, 2 * numpys(values), rtol=2e-5 if dtype == "float32" else 1e-12)
    values[1500:1503] = 3e9, -1e30, 40000
    values[4000:4003] = np.inf, np.nan, -0.0
    found = f(values)
    with np.errstate(invalid="ignore"):
        expected = 2 * numpys(values.astype("float64")).astype(dtype)
    np.testing.assert_allclose(found, expected, rtol=2e-5 if dtype == "float32" else 1e-12)
    same = np.r_[0:1500, 1503:4000, 4003:5000]
    assert found[same].tobytes() == near[same].tobytes(), "a far argument changes the bits of its neighbours"
    assert f(values[::-1])[::-1].tobytes() == found.tobytes()
