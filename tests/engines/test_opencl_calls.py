"""Calls with arguments of known shapes: recorded launches run again, small graphs run in NumPy; the bits stay."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from draws import mostly_long
from opencl_devices import WAYS, device_of, lacking
from random_programs import random_program

import arignote as ag
from arignote import ops as T
from arignote.engines.device.dialects import opencl as devices
from arignote.engines.device.replay import OnHost, Replay

RNG = np.random.default_rng(7)
SHARING = mostly_long([way for way in WAYS if WAYS[way]["shares"]], ("parts",))


@pytest.fixture(params=SHARING)
def opencl(request, monkeypatch):
    """The mode of the engine, on a device that shares the host's memory in two ways."""
    if lacking():
        pytest.skip(f"no OpenCL: {lacking()}")
    monkeypatch.setattr(devices, "device", lambda: device_of(request.param))
    return ag.Mode("fast_run", backend="opencl")


@pytest.fixture
def ran(monkeypatch):
    """The calls that were run again, or by NumPy."""
    found = []
    for kind in (Replay, OnHost):

        def run(self, *given, own=kind.run):
            found.append(self)
            return own(self, *given)

        monkeypatch.setattr(kind, "run", run)
    return found


def same(a, b):
    return all(x.dtype == y.dtype and x.tobytes() == y.tobytes() for x, y in zip(a, b, strict=True))


@pytest.mark.parametrize("seed", mostly_long(range(6), {0, 1}))
def test_all_calls_of_a_random_program_give_equal_bits(opencl, seed):
    program = random_program(seed)
    made, arrays = program.made(), program.arrays(program.lengths)
    inputs = [i for i in program.inputs if not i.shared]
    f = ag.function([made[i.name] for i in inputs], made["outputs"], mode=opencl, on_unused_input="ignore")
    values = [arrays[i.name] for i in inputs]
    first = f(*values)
    for _ in range(4):
        assert same(f(*values), first)


def test_new_arguments_are_read_and_results_are_new(opencl, ran):
    x, w = T.matrix("x"), T.matrix("w")
    f = ag.function([x, w], [T.exp(x) @ w, (x + 1).sum(axis=0), x.T * 2], mode=opencl)
    results = []
    for k in range(5):
        a, b = RNG.normal(size=(2, 6, 6)) + k
        results.append((f(a, b), (np.exp(a) @ b, (a + 1).sum(axis=0), a.T * 2)))
    assert len(ran) == 3 and isinstance(ran[0], Replay)
    for found, wanted in results:  # later calls left these alone
        for got, expected in zip(found, wanted, strict=True):
            np.testing.assert_allclose(got, expected, rtol=1e-12)
            assert got.flags.c_contiguous and got.flags.writeable


def test_shapes_and_strides_are_distinguished(opencl, ran):
    x, y = T.matrix("x"), T.matrix("y")
    f = ag.function([x, y], (x * y).sum(axis=1), mode=opencl)
    a, b = RNG.normal(size=(6, 6)), RNG.normal(size=(6, 6))
    for _ in range(4):
        for one, other in ((a, b), (a.T, b), (a[::2], b[1::2]), (a[:1], b), (a[::-1], b[:, ::-1]), (a[:0], b[:0])):
            np.testing.assert_allclose(f(one, other), (one * other).sum(axis=1), rtol=1e-12)
    assert len([r for r in ran if isinstance(r, Replay)]) >= 8


def test_arguments_that_overlap(opencl, ran):
    """The second call, which is recorded, gets one array twice: its launches cannot be told apart."""
    x, y = T.matrix("x"), T.matrix("y")
    f = ag.function([x, y], x - 2 * y, mode=opencl)
    a, b = RNG.normal(size=(2, 4, 4))
    for one, other in ((a, b), (a, a), (a, b), (b, a), (b, b)):
        np.testing.assert_array_equal(f(one, other), one - 2 * other)
    assert not ran
    g = ag.function([x, y], x - 2 * y, mode=opencl)
    for one, other in ((a, b), (a, b), (a, a), (b, a)):
        np.testing.assert_array_equal(g(one, other), one - 2 * other)
    assert len(ran) == 2


def test_results_that_are_views_of_one_array_share_nothing(opencl, ran):
    x = T.matrix("x")
    y = T.exp(x)
    f = ag.function([x], [y, y.T, y[1], y.reshape((-1,)), y], mode=opencl)
    a = RNG.normal(size=(3, 4))
    for _ in range(4):
        found = f(a)
        wanted = np.exp(a)
        for got, expected in zip(found, (wanted, wanted.T, wanted[1], wanted.reshape(-1), wanted), strict=True):
            np.testing.assert_allclose(got, expected, rtol=1e-12)
        assert not any(np.shares_memory(p, q) for k, p in enumerate(found) for q in found[:k])


def test_updates_of_shared_variables(opencl, ran):
    w, x = ag.shared(np.zeros((4, 4)), name="w"), T.matrix("x")
    f = ag.function([x], w.sum(), updates={w: w + x}, mode=opencl)
    assert [float(f(np.ones((4, 4)))) for _ in range(6)] == [16.0 * k for k in range(6)] and ran
    kept = w.get_value()
    f(np.ones((4, 4)))
    assert kept[0, 0] == 6 and w.get_value()[0, 0] == 7


def test_errors_of_later_calls_are_named(opencl, ran):
    x, i = T.matrix("x"), T.lvector("i")
    f = ag.function([x, i], x[i] * 2, mode=opencl)
    value, good = np.ones((3, 2)), np.array([0, 2])
    for _ in range(3):
        f(value, good)
    for _ in range(2):
        with pytest.raises(IndexError, match=r"index 7 .* size 3"):
            f(value, np.array([0, 7]))
        assert f(value, good).tolist() == [[2, 2], [2, 2]]
    assert any(isinstance(r, Replay) for r in ran)


def test_positions_that_the_host_reads_are_read_in_each_call(opencl, ran):
    x, k = T.vector("x"), T.lscalar("k")
    f = ag.function([x, k], T.exp(x[k:]) + 1, mode=opencl)
    a = np.arange(6.0)
    for k in (1, 1, 1, 2, 0, 5, 1):
        np.testing.assert_allclose(f(a, k), np.exp(a[k:]) + 1)
    assert not ran


def test_arrays_that_are_not_aligned(opencl, ran):
    x = T.vector("x")
    f = ag.function([x], T.exp(x) * 2, mode=opencl)
    raw = np.zeros(8 * 5 + 1, np.uint8)
    odd = raw[1:].view(np.float64)
    for k in range(4):
        odd[:] = np.arange(5.0) + k
        np.testing.assert_allclose(f(odd), np.exp(odd) * 2)
        np.testing.assert_allclose(f(odd.copy()), np.exp(odd) * 2)


def test_small_graphs_are_numpys(opencl, ran, monkeypatch):
    monkeypatch.setattr(devices.device(), "small", 5_000_000)
    x = T.vector("x")
    f = ag.function([x], [x + 1, x[1:], x, T.constant(2.0) * 1, x + 1], mode=opencl)
    a = np.arange(3.0)
    for _ in range(3):
        found = f(a)
        assert [r.tolist() for r in found] == [[1, 2, 3], [1, 2], [0, 1, 2], 2.0, [1, 2, 3]]
        assert not any(np.shares_memory(p, q) for k, p in enumerate([*found, a]) for q in found[:k])
    assert len(ran) == 2 and isinstance(ran[0], OnHost)
    before = f._run.traffic.launches
    large = np.arange(1e6)
    np.testing.assert_array_equal(f(large)[0], large + 1)
    assert f._run.traffic.launches > before


def test_a_small_node_before_a_large_one_runs_on_the_device(opencl, monkeypatch):
    monkeypatch.setattr(devices.device(), "small", 5_000_000)
    x, y = T.vector("x"), T.matrix("y")
    f = ag.function([x, y], T.exp(x).sum() * T.exp(y @ y), mode=opencl)
    values = np.arange(3.0), RNG.normal(size=(300, 300)) / 300
    first = f(*values)
    launches = [f._run.traffic.launches]
    for _ in range(3):
        assert same([f(*values)], [first])
        launches.append(f._run.traffic.launches)
    assert len(set(np.diff(launches))) == 1


def test_threads_have_results_of_their_own(opencl):
    x = T.vector("x")
    f = ag.function([x], [T.exp(x * 0) * x, x.sum()], mode=opencl)
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda k: (k, f(np.full(50 + k % 2, float(k)))), range(80)))
    for k, (same_again, total) in found:
        assert (same_again == k).all() and total == k * (50 + k % 2)


@pytest.mark.long
def test_sums_to_a_shape(opencl):
    x, b = T.matrix("x"), T.matrix("b")
    loss = (T.exp(x) * b).sum()
    f = ag.function([x, b], ag.grad(loss, [x, b]), mode=opencl)
    assert not f._run.hosted
    for shape in ((1, 4), (3, 1), (1, 1), (3, 4)):
        values = RNG.normal(size=(3, 4)), RNG.normal(size=shape)
        wanted = ag.function([x, b], ag.grad(loss, [x, b]), mode="NUMPY")(*values)
        for _ in range(3):
            for got, expected in zip(f(*values), wanted, strict=True):
                np.testing.assert_allclose(got, expected, rtol=1e-12)
