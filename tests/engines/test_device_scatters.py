"""Scatters on devices whose work items run side by side: NumPy's bits, also where items write to one element."""

import numpy as np
import pytest
from draws import mostly_long
from hypothesis import given, settings
from hypothesis import strategies as st
from opencl_devices import calls, device_of, lacking

import arignote as ag
from arignote import ops as T
from arignote.engines.device.dialects import opencl as devices
from arignote.engines.device.segments import Segments

RNG = np.random.default_rng(2)
DTYPES = ("float32", "float64", "int8", "uint64", "bool")


@pytest.fixture(params=["items", "buffers"])
def opencl(request, monkeypatch):
    if lacking():
        pytest.skip(lacking())
    made = device_of(request.param)
    monkeypatch.setattr(devices, "device", lambda: made)
    return ag.Mode("fast_run", backend="opencl")


def numbers(*shape, dtype):
    return (RNG.normal(size=shape) * 3).astype(dtype)


def require_equal(inputs, outputs, values, mode):
    f = ag.function(inputs, outputs, mode=mode)
    for got, expected in calls(f, ag.function(inputs, outputs, mode="NUMPY"), values):
        assert got.dtype == expected.dtype
        np.testing.assert_array_equal(got, expected)
    return f


@pytest.mark.long
@pytest.mark.parametrize("dtype", mostly_long(DTYPES, ("float32", "uint64")))
def test_rows_and_elements_by_arrays(opencl, dtype):
    x, v, w = T.matrix("x", dtype=dtype), T.matrix("v", dtype=dtype), T.vector("w", dtype=dtype)
    i, j = T.lvector("i"), T.lvector("j")
    for n in (1, 20):
        values = [numbers(6, 5, dtype=dtype), numbers(n, 5, dtype=dtype), RNG.integers(-6, 6, n)]
        f = require_equal([x, v, i], [T.inc_subtensor(x[i], v), T.set_subtensor(x[i], v)], values, opencl)
        assert not f._run.hosted
    places = RNG.integers(-5, 5, 9), RNG.integers(-5, 5, 9)
    outputs = [T.inc_subtensor(x[i, j], w), T.set_subtensor(x[::2][:, i], w[0]), T.inc_subtensor(x[1:, i], w)]
    require_equal([x, w, i, j], outputs, [numbers(6, 5, dtype=dtype), numbers(9, dtype=dtype), *places], opencl)


def test_indices_of_few_bits_in_their_own_dtype(opencl):
    """Where a query asks for them; 250 + 300 is no byte."""
    x, v, i, j = T.matrix("x"), T.matrix("v"), T.vector("i", dtype="uint8"), T.vector("j", dtype="int8")
    mode = ag.Mode("fast_run narrow_indices", backend="opencl")
    outputs = [x[i], T.inc_subtensor(x[i], v), T.set_subtensor(x[j], v)]
    values = [numbers(300, 5, dtype="float64"), numbers(4, 5, dtype="float64"), np.array([1, 250, 250, 3], "uint8")]
    f = require_equal([x, v, i, j], outputs, [*values, np.array([-1, -128, 127, -1], "int8")], mode)
    assert not any(node.op.name == "cast" for node in f.graph.order)


@settings(max_examples=20)
@given(st.integers(1, 9), st.integers(1, 4), st.integers(0, 40), st.booleans(), st.booleans())
def test_any_number_of_items_at_any_place(rows, columns, count, adds, transposed):
    if lacking():
        pytest.skip(lacking())
    x, v, i = T.matrix("x", dtype="float32"), T.matrix("v", dtype="float32"), T.lvector("i")
    into = x.T if transposed else x
    rows, columns = (columns, rows) if transposed else (rows, columns)
    result = (T.inc_subtensor if adds else T.set_subtensor)(into[i], v)
    height, width = (columns, rows) if transposed else (rows, columns)
    index = RNG.integers(-height, height, count)
    values = [numbers(rows, columns, dtype="float32"), numbers(count, width, dtype="float32"), index]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(devices, "device", lambda: device_of("buffers"))
        require_equal([x, v, i], [result], values, ag.Mode("fast_run", backend="opencl"))


def test_the_order_of_constant_indices_is_found_once(opencl, monkeypatch):
    """And such a call is replayed."""
    x, w, edges = T.matrix("x"), T.vector("w"), np.array([1, 1, 0, 5, -1, 1])
    found = []
    tables = Segments._tables
    monkeypatch.setattr(Segments, "_tables", lambda *given: found.append(tables(*given)) or found[-1])
    f = require_equal(
        [x, w],
        [T.inc_subtensor(x[T.constant(edges), 1:4], w[:, None])],
        [numbers(6, 5, dtype="float64"), numbers(6, dtype="float64")],
        opencl,
    )
    assert not f._run.hosted
    if not devices.device().shares:
        assert len(found) == 2 and all(a is b for a, b in zip(*found))


@pytest.mark.few(1)
def test_an_index_that_counts_up_needs_no_order(opencl, monkeypatch):
    monkeypatch.setattr(Segments, "run", None)
    x, y = T.matrix("x"), T.lvector("y")
    loss = -T.nn.log_softmax(x)[T.arange(x.shape[0]), y].mean()
    f = ag.function([x, y], [loss, ag.grad(loss, x)], mode=opencl)
    wanted = ag.function([x, y], [loss, ag.grad(loss, x)], mode="NUMPY")
    for got, expected in calls(f, wanted, [RNG.normal(size=(7, 4)), RNG.integers(0, 4, 7)]):
        np.testing.assert_allclose(got, expected, rtol=1e-12, atol=1e-15)


def test_a_replayed_call_follows_indices_in_a_shared_variable(opencl):
    group, x = ag.shared(np.array([0, 2, 2, 1]), name="group"), T.vector("x")
    f = ag.function([x], T.inc_subtensor(T.zeros(3)[group], x), mode=opencl)
    for index in ([0, 2, 2, 1], [1, 1, 1, 0], [2, 0, 2, 0]):
        group.set_value(np.array(index))
        for _ in range(4):
            value = RNG.normal(size=4)
            wanted = np.zeros(3)
            np.add.at(wanted, index, value)
            np.testing.assert_array_equal(f(value), wanted)


def test_indices_out_of_range_are_named(opencl):
    x, i = T.vector("x"), T.lvector("i")
    f = ag.function([x, i], T.inc_subtensor(x[i], 1.0), mode=opencl)
    for index in ([0, 3], [-4, 0]):
        with pytest.raises(IndexError, match=rf"index {max(index, key=abs)} .* size 3"):
            f(np.ones(3), np.array(index))
    np.testing.assert_array_equal(f(np.ones(3), np.array([2, 2])), [1, 1, 3])
