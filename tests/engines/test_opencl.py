"""The OpenCL engine: printed kernels everywhere, values where a device compiles kernels."""

import itertools
import pickle
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest
from draws import mostly_long
from opencl_devices import WAYS, calls, device_of, lacking
from program_trials import trouble
from random_programs import random_program

import arignote as ag
from arignote import ops as T
from arignote.cbackend.ctext.device import source
from arignote.cbackend.ctext.device_groups import group_source
from arignote.cbackend.ir.work_items import Groups
from arignote.cbackend.lowering.devices.work_items import work_items
from arignote.engines import EngineError
from arignote.engines.device.dialects import opencl as devices
from arignote.engines.device.dialects.cuda import CUDA
from arignote.engines.device.dialects.opencl import OPENCL
from arignote.ops.networks.convolution import Convolution

INTEGERS = ("int8", "uint8", "int32", "uint32", "int64", "uint64")


@pytest.fixture(params=mostly_long(WAYS, ("parts",)))
def opencl(request, monkeypatch):
    """The mode of the engine, on one device in three ways; skips the test where no device compiles kernels."""
    if lacking():
        pytest.skip(f"no OpenCL: {lacking()}")
    monkeypatch.setattr(devices, "device", lambda: device_of(request.param))
    return ag.Mode("fast_run", backend="opencl")


def text_of(variable, dialect):
    items = work_items(variable.owner)
    if not items.reduced:
        return source(items, dialect)
    return group_source(items, dialect, Groups(8, 8, kept=items.kept, loops=items.reduced, unroll=4))


# --- the printer: no device needed


def test_an_elementwise_kernel_takes_strides_and_finds_its_place():
    text = text_of(T.matrix("x") + T.vector("b"), OPENCL)
    assert "const i64 i1 = get_global_id(0);" in text and "const i64 i0 = get_global_id(1);" in text
    assert "x1_s1" in text and "x1_s0" not in text  # the vector is broadcast along the rows
    assert "__global const f64 *x0" in text and "omp" not in text


def test_a_reduction_is_a_tree_in_local_memory():
    text = text_of(T.matrix("x").sum(axis=0), OPENCL)
    assert "__local f64 tree0[8];" in text and "at += 32" in text and text.count("barrier(") == 2


def test_cuda_is_the_same_body_under_another_prelude():
    expression = T.vector("x", dtype="float32").max()
    ours, theirs = text_of(expression, OPENCL), text_of(expression, CUDA)
    assert "__shared__ f32 tree0[8];" in theirs and "__syncwarp();" in theirs and "__global " not in theirs
    assert 'extern "C" __global__ void __launch_bounds__(8, 16) k_' in theirs and "static __device__ inline" in theirs
    total = next(line for line in ours.splitlines() if "total0 = ag_maximum" in line)
    assert total in theirs


@pytest.mark.parametrize(
    ("build", "reason"),
    [
        (lambda: T.matrix("x").argmax(axis=0), "positions"),
        (lambda: T.vector("z", dtype="complex128") + 1, "complex128"),
        (lambda: T.vector("n", dtype="int64") ** T.vector("m", dtype="int64"), "refuse an element"),
    ],
)
def test_nodes_without_kernels_say_why(build, reason):
    with pytest.raises(TypeError, match=reason):
        work_items(build().owner)


# --- errors


def test_missing_parts_are_named(monkeypatch):
    def absent():
        raise ImportError("No module named 'pyopencl'")

    monkeypatch.setattr(devices, "opencl", absent)
    with pytest.raises(EngineError, match=r"pyopencl does not load.*pip install 'arignote\[opencl\]'"):
        ag.function([], T.constant(1.0) + 1, mode=ag.Mode("fast_run", backend="opencl"))


def test_no_platform_and_devices_that_compile_nothing_are_named(monkeypatch):
    monkeypatch.setattr(devices, "opencl", lambda: None)
    monkeypatch.setattr(devices, "_found", lambda: (None, ()))
    assert "no OpenCL platform has a device" in devices.trouble()
    monkeypatch.setattr(devices, "_found", lambda: (None, ("the OpenCL device d compiles no kernels (e)",)))
    assert "d compiles no kernels (e); install the driver" in devices.trouble()


def test_a_full_device_leaves_shared_variables_alone(opencl, monkeypatch):
    w = ag.shared(np.zeros(100), name="w")
    f = ag.function([], w.sum(), updates={w: w + 1}, mode=opencl)
    f()
    monkeypatch.setattr(devices.device(), "largest", 100)
    with pytest.raises(EngineError, match=r"out of memory: an array takes 800 bytes.*smaller arrays"):
        f()
    monkeypatch.undo()
    assert w.get_value().tolist() == [1.0] * 100 and f() == 100


@pytest.mark.parametrize("before", mostly_long([1, 2, 3], (2,)))
def test_a_device_that_fails_leaves_shared_variables_alone(opencl, monkeypatch, before):
    """In the first call, in the one that is recorded, and when recorded launches run again."""
    import pyopencl

    w, x = ag.shared(np.zeros((40, 40)), name="w"), T.matrix("x")
    f = ag.function([x], w.sum(), updates={w: w + T.exp(x) @ x}, mode=opencl)
    zeros, launches = np.zeros((40, 40)), []

    def lost(queue, *given):
        launches.append(given)
        raise pyopencl.RuntimeError("clEnqueueNDRangeKernel failed: DEVICE_NOT_AVAILABLE")

    for _ in range(before - 1):
        f(zeros + 1)
    kept = w.get_value()
    monkeypatch.setattr(devices.device(), "_enqueue", lost)
    with pytest.raises(EngineError, match=r"^the OpenCL device .* fails: .*DEVICE_NOT_AVAILABLE"):
        f(zeros + 1)
    monkeypatch.undo()
    monkeypatch.setattr(devices, "device", lambda: f._run._device)
    assert launches and w.get_value().tobytes() == kept.tobytes()
    f(zeros + 1)
    np.testing.assert_allclose(w.get_value(), before * 40 * np.e)


def test_a_device_that_fails_while_it_is_waited_for(opencl, monkeypatch):
    w, x = ag.shared(np.zeros((40, 40)), name="w"), T.matrix("x")
    f = ag.function([x], w.sum(), updates={w: w + T.exp(x)}, mode=opencl)
    device, ones = devices.device(), np.zeros((40, 40))
    for _ in range(3):
        f(ones)
    finish = device.finish

    def lost():
        finish()
        raise EngineError(f"the OpenCL device {device.name} fails: DEVICE_NOT_AVAILABLE")

    monkeypatch.setattr(device, "finish", lost)
    with pytest.raises(EngineError, match="DEVICE_NOT_AVAILABLE"):
        f(ones)
    monkeypatch.setattr(device, "finish", finish)
    assert (w.get_value() == 3).all()
    f(ones)
    assert (w.get_value() == 4).all()


def test_devices_without_float64_leave_it_to_the_host(opencl, monkeypatch):
    """Also a float64 that stands inside of a kernel of float32 alone, such as a sum by parts."""
    monkeypatch.setattr(devices.device(), "has_float64", False)
    x, y = T.matrix("x", dtype="float32"), T.matrix("y")
    f = ag.function([x, y], [x + 1, x @ x, y * 2, x.sum(axis=1), T.cast(x, "float64")], mode=opencl)
    reasons = [reason for _, reason in f._run.hosted]
    assert reasons and all("it takes float64, which the device" in reason for reason in reasons)
    assert "float64" in str(f.remarks.of("in Python"))
    hosted = {v.dtype for node, _ in f._run.hosted for v in node.inputs + node.outputs}
    launched = {v.dtype for p in f._run.placements if p.kernel for v in p.node.inputs + p.node.outputs}
    assert "float64" in hosted and launched == {"float32"}
    value = np.ones((3, 3), "float32")
    assert f(value, value.astype("float64") / 3)[2][0, 0] == 2 / 3


# --- values


@pytest.mark.parametrize("seed", mostly_long(range(5), (2,)))
def test_random_programs_have_numpys_values(opencl, seed):
    assert trouble(replace(random_program(seed), mode=opencl), seed) is None


@pytest.mark.parametrize("dtype", mostly_long(INTEGERS, ("uint64",)))
def test_integers_are_numpys(opencl, dtype):
    a, b = T.vector("a", dtype=dtype), T.vector("b", dtype=dtype)
    outputs = [a + b, a * b, a // b, a % b, a << b, a >> b, T.minimum(a, b), T.eq(a, b), a.max(), a.sum(), a.prod()]
    low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
    values = np.array([low, low, high, 7, 7, 5, 100, 0], dtype)
    others = np.array([high, 1, 2, 0, 3, 70, 64, 9], dtype)
    if low:
        others[1] = -1
    check([a, b], outputs, [values, others], opencl)


@pytest.mark.long
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_floats_bools_and_broadcasting_are_numpys(opencl, dtype):
    special = [np.nan, np.inf, -np.inf, -0.0, 1e-310, 2.5]
    x, b = T.matrix("x", dtype=dtype), T.vector("b", dtype=dtype)
    outputs = [
        x.T - x[0], T.maximum(x, b), x.max(axis=0), x.min(), T.exp(x) * b, T.tanh(x + b), x // b, x % b, T.sqrt(b),
        (x > b).any(axis=1), (x > b).all(), x.sum(axis=1), x.astype("int32"), T.switch(x > 0, b, x), T.log(b),
    ]  # fmt: skip
    value = np.resize(np.array(special, dtype), (6, 6)) * np.arange(1, 7, dtype=dtype)[:, None]
    check([x, b], outputs, [value.astype(dtype), np.array([3, -2, 0, np.nan, 1, 0.5], dtype)], opencl)


@pytest.mark.long
def test_long_reductions_are_cut_in_parts(opencl):
    """Parts have results of their own; positions of extrema are found whole."""
    x, n = T.matrix("x"), T.vector("n", dtype="int32")
    outputs = [x.sum(), x.max(), x.argmax(), x.min(), (x > 5).any(), n.sum(), n.max(), n.argmin(), x.sum(axis=0)]
    check([x, n], outputs, [np.arange(2e6).reshape(-1, 4) % 1013, np.arange(3_000_000, dtype="int32")[::-1]], opencl)


def test_one_kernel_serves_all_shapes_and_empty_ones(opencl):
    x = T.tensor4("x")
    f = ag.function([x], [x * 2, x.sum(axis=(1, 3)), x.prod()], mode=opencl)
    for shape in ((2, 3, 4, 5), (1, 1, 1, 1), (3, 0, 2, 2), (1, 2, 300, 1)):
        value = np.random.default_rng(0).normal(size=shape)
        for got, wanted in zip(f(value), (value * 2, value.sum(axis=(1, 3)), value.prod())):
            np.testing.assert_allclose(got, wanted, rtol=1e-12)


def test_a_constant_is_broadcast_to_the_lengths_of_each_call(opencl):
    x = T.vector("x")
    f = ag.function([x], [T.set_subtensor(T.alloc(2.0, x.shape[0])[1:], x[1:]), T.exp(x).sum()], mode=opencl)
    for n in (5, 5, 3, 7, 3):
        found, _ = f(np.arange(n) + 3.0)
        assert found.tolist() == [2.0, *(np.arange(1, n) + 3.0)]


def test_copies_are_in_the_program_and_counted(opencl):
    x = T.matrix("x")
    f = ag.function([x], T.sort(T.exp(x)).sum(), mode=opencl)
    value = np.ones((4, 4))
    np.testing.assert_allclose(f(value), np.e * 16)
    traffic, shared = f._run.traffic, devices.device().shares
    assert (traffic.to_device, traffic.to_host) == ((0, 0) if shared else (2 * 128, 128 + 8))
    assert traffic.launches == 2
    listed = str(f.c_source())
    assert listed.count("copy to the device") == listed.count("copy to the host") == (0 if shared else 2)
    assert "run on the host by NumPy, not by OpenCL" in str(f.remarks.of("in Python"))


def check(inputs, outputs, values, mode):
    f, wanted = ag.function(inputs, outputs, mode=mode), ag.function(inputs, outputs, mode="NUMPY")
    for (got, expected), output in zip(calls(f, wanted, values), itertools.cycle(outputs)):
        assert got.dtype == expected.dtype
        rtol = {"f": 1e-5 if got.dtype == np.float32 else 1e-12}.get(got.dtype.kind, 0)
        np.testing.assert_allclose(got, expected, rtol=rtol, err_msg=f"{output.owner} {inputs[0].dtype}")


# --- products


@pytest.mark.long
def test_products_of_all_ranks_are_numpys(opencl):
    rng = np.random.default_rng(0)
    for dtype in ("float32", "float64", "int32", "uint8"):
        a, b, v = T.matrix("a", dtype=dtype), T.matrix("b", dtype=dtype), T.vector("v", dtype=dtype)
        stack, three = T.tensor4("stack", dtype=dtype), T.tensor3("three", dtype=dtype)
        outputs = [a @ b, a.T @ b.T, T.dot(a[:, :40], v), T.dot(v, b[:40]), T.dot(v, v), T.matmul(stack, three)]
        shapes = ((70, 70), (70, 70), (40,), (2, 3, 5, 6), (1, 6, 40))
        values = [rng.integers(0, 9, s).astype(dtype) for s in shapes]  # sums are exact in any order
        check([a, b, v, stack, three], outputs, values, opencl)
        assert not ag.function([a, b], a @ b, mode=opencl).remarks.of("in Python")


@pytest.mark.long
def test_convolutions_and_their_gradients_are_products_of_windows(opencl):
    rng = np.random.default_rng(0)
    x, w = T.tensor4("x", dtype="float32"), T.tensor4("w", dtype="float32")
    for stride, dilation, groups in (((1, 1), (1, 1), 1), ((2, 1), (1, 2), 2)):
        y = Convolution(stride, dilation, groups)(x, w)
        values = [rng.integers(-3, 3, s).astype("float32") for s in ((2, 4, 9, 11), (6, 4 // groups, 3, 2))]
        check([x, w], [y, *ag.grad((y * y).sum(), [x, w])], values, opencl)


def test_windows_that_cross_rows_of_x_are_no_contiguous_columns(opencl):
    """Offsets of 16 columns may be 15 apart at their ends and not follow one another."""
    for dtype in ("float64", "int8"):
        x, w = T.tensor4("x", dtype=dtype), T.tensor4("w", dtype=dtype)
        values = [np.arange(s, dtype=dtype) % 5 for s in (192, 48)]
        check(
            [x, w],
            [Convolution((1, 1), (1, 1), 2)(x, w)],
            [values[0].reshape(1, 4, 8, 6), values[1].reshape(4, 2, 3, 2)],
            opencl,
        )


@pytest.mark.long
def test_pooling_reduces_a_view_of_windows(opencl):
    x = T.tensor4("x")
    value = np.random.default_rng(0).normal(size=(2, 3, 7, 8))
    pooled = [T.nn.max_pool2d(x, 2), T.nn.avg_pool2d(x, 3, stride=2)]
    check([x], pooled, [value], opencl)
    assert not ag.function([x], pooled[0], mode=opencl).remarks.of("in Python")


def test_a_product_that_does_not_fit_is_numpys_error(opencl):
    a, b = T.matrix("a"), T.matrix("b")
    f = ag.function([a, b], a @ b, mode=opencl)
    with pytest.raises(ValueError, match=r"not aligned|mismatch|differ"):
        f(np.ones((2, 3)), np.ones((4, 5)))
    assert f(np.ones((2, 0)), np.ones((0, 5))).tolist() == [[0.0] * 5] * 2


# --- moves


def test_parts_of_arrays_are_read_joined_and_written(opencl):
    x, y, k = T.matrix("x"), T.vector("y"), T.iscalar("k")
    outputs = [
        T.join(1, x, x[:, ::-2], T.zeros((5, 2))),
        x[1:4, k] + 1,
        T.set_subtensor(x[k:, 1], y[0]),
        T.inc_subtensor(x[::2], y),
        x.reshape((k, -1)) * 2,
        x.T.reshape((-1,)) * 2,
        T.alloc(y, k, 6).sum(axis=0),
    ]
    check([x, y, k], outputs, [np.arange(30.0).reshape(5, 6), np.arange(6.0), np.int32(3)], opencl)
    f = ag.function([x, y], T.set_subtensor(x[1], y), mode=opencl)
    assert not f.remarks.of("in Python")
    with pytest.raises(ValueError, match=r"broadcast|length"):
        f(np.zeros((2, 3)), np.zeros(4))


@pytest.mark.long
def test_rows_are_gathered_and_scattered(opencl):
    x, v = T.matrix("x", dtype="float32"), T.matrix("v", dtype="float32")
    i, j = T.lvector("i"), T.lmatrix("j")
    outputs = [x[i], x[i, j], x[1:, j], x[i, 2], T.set_subtensor(x[i], 2.0), T.inc_subtensor(x[i], v), x[j, :, None]]
    values = [
        np.arange(20, dtype="f4").reshape(5, 4),
        np.ones((3, 4), "f4"),
        np.array([4, -1, 0]),
        np.array([[1, -2, 3]]),
    ]
    check([x, v, i, j], outputs, values, opencl)
    f = ag.function([x, i], x[i], mode=opencl)
    with pytest.raises(IndexError, match=r"index 7 .* size 5"):
        f(values[0], np.array([0, 7]))
    assert f(values[0], np.array([-5])).tolist() == [[0, 1, 2, 3]]


@pytest.mark.long
def test_rows_of_softmaxes_are_kernels(opencl):
    x = T.matrix("x")
    value = np.array([[1.0, np.nan, 2.0], [np.inf, 0.0, 1.0], [-np.inf, -1e300, 3.0], [5.0, 5.0, 5.0]])
    outputs = [T.nn.softmax(x), T.nn.log_softmax(x), T.logsumexp(x, axis=0), x - x.mean(axis=1, keepdims=True)]
    check([x], outputs, [value], opencl)
    loss = ag.function([x], ag.grad(-T.nn.log_softmax(x)[:, 0].sum(), x), mode=opencl)
    assert not loss.remarks.of("in Python")


def test_shared_variables_stay_on_the_device_between_calls(opencl):
    w, x = ag.shared(np.zeros((4, 4)), name="w"), T.matrix("x")
    f = ag.function([x], [], updates={w: w + x}, mode=opencl)
    for _ in range(3):
        f(np.ones((4, 4)))
    ahead, back = f._run.traffic.to_device, f._run.traffic.to_host
    assert (ahead, back) == ((0, 0) if devices.device().shares else (4 * 128, 0))
    total = ag.function([], w.sum(), mode=opencl)
    assert total() == 48 and total._run.traffic.to_device == 0
    assert w.get_value().tolist() == [[3.0] * 4] * 4  # read back here
    assert f._run.traffic.to_host == (0 if devices.device().shares else 128)
    w.set_value(np.ones((4, 4)))
    f(np.ones((4, 4)))
    assert ag.function([], w * 2)().tolist() == [[4.0] * 4] * 4  # in C
    assert pickle.loads(pickle.dumps(w)).get_value()[0, 0] == 2


def test_threads_wait_and_get_results_of_their_own(opencl):
    x = T.vector("x")
    f = ag.function([x], [x * 2, x + 1, x], mode=opencl)
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda k: (k, f(np.full(50, float(k)))), range(60)))
    for k, (twice, more, same) in found:
        assert (twice == 2 * k).all() and (more == k + 1).all() and (same == k).all()
