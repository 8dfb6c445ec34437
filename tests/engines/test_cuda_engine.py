"""The CUDA engine over a stand-in for the driver: its host code, and the values of the CUDA text as g++ compiles it.

No GPU runs here: see cuda_stand_in.py for what the stand-in checks.
"""

import gc
import pickle
import shutil
from concurrent.futures import ThreadPoolExecutor

import cuda_stand_in
import numpy as np
import pytest
from opencl_devices import calls

import arignote as ag
from arignote import ops as T
from arignote.engines import EngineError
from arignote.engines.device.dialects import cuda as devices

pytestmark = pytest.mark.long

RNG = np.random.default_rng(11)
COMPILER = cuda_stand_in.Compiler()


@pytest.fixture
def stand_in(monkeypatch):
    """A driver without a GPU."""
    if shutil.which("g++") is None:
        pytest.skip("no g++")
    made = cuda_stand_in.Driver()
    monkeypatch.setattr(devices, "driver", lambda: made)
    monkeypatch.setattr(devices, "nvrtc", lambda: COMPILER)
    devices._found.cache_clear()
    yield made
    devices._found.cache_clear()


@pytest.fixture
def cuda(stand_in):
    return ag.Mode("fast_run", backend="cuda")


def check(inputs, outputs, values, mode):
    f = ag.function(inputs, outputs, mode=mode)
    for got, expected in calls(f, ag.function(inputs, outputs, mode="NUMPY"), values):
        assert got.dtype == expected.dtype
        rtol = {"f": 1e-5 if got.dtype == np.float32 else 1e-12}.get(got.dtype.kind, 0)
        np.testing.assert_allclose(got, expected, rtol=rtol, atol=rtol)
    return f


def test_elementwise_nodes_and_reductions(cuda, stand_in):
    x, b = T.matrix("x"), T.vector("b", dtype="float32")
    n = T.vector("n", dtype="int64")
    outputs = [
        T.exp(x) * b,
        x.T - x[0],
        x.sum(axis=0),
        x.max(),
        (x > 0).any(axis=1),
        n // 3 - n % 4,
        n.prod(),
        T.tanh(b),
    ]
    f = check([x, b, n], outputs, [RNG.normal(size=(7, 7)), np.arange(7, dtype="f4"), np.arange(-3, 4)], cuda)
    assert not f._run.hosted and "__global__" in str(f.c_source()) and len(stand_in.calls) >= 10
    assert f._run.backend == "cuda"


def test_products_convolutions_and_moves(cuda):
    a, b = T.matrix("a", dtype="float32"), T.matrix("b", dtype="float32")
    i = T.lvector("i")
    outputs = [a @ b, a.T @ b.T, T.join(0, a, b.T), a[i], T.set_subtensor(a[1:3], 2.0), T.nn.softmax(a)]
    values = [RNG.integers(-4, 4, s).astype("f4") for s in ((70, 40), (40, 70))]
    check([a, b, i], outputs, [*values, np.array([3, -1, 0])], cuda)
    x, w = T.tensor4("x"), T.tensor4("w")
    values = [RNG.integers(-3, 3, s).astype("f8") for s in ((2, 3, 8, 8), (4, 3, 3, 3))]
    check([x, w], [T.nn.conv2d(x, w), T.nn.max_pool2d(x, 2)], values, cuda)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_products_with_a_vector_are_sums(cuda, dtype):
    a, v, w = T.matrix("a", dtype=dtype), T.vector("v", dtype=dtype), T.vector("w", dtype=dtype)
    f = ag.function([a, v, w], [a @ v, w @ a, v @ v, a[:, ::-2] @ v[::2], a.T @ w], mode=cuda)
    assert not f._run.hosted and "product_" not in str(f.c_source())
    for m, n in ((70, 300), (1, 5), (3, 1), (0, 4), (4, 0)):
        x, y, z = (RNG.normal(size=s).astype(dtype) for s in ((m, n), n, m))
        y = y[: 2 * (n // 2)] if n % 2 else y
        x = x[:, : len(y)]
        wanted = [x @ y, z @ x, y @ y, x[:, ::-2] @ y[::2], x.T @ z]
        for got, expected in zip(f(x, y, z), wanted, strict=True):
            np.testing.assert_allclose(got, expected, rtol=1e-4 if dtype == "float32" else 1e-11, atol=1e-4)
            assert got.dtype == expected.dtype
        assert f(np.asfortranarray(x), y, z)[0].tobytes() == f(x, y, z)[0].tobytes()
    with pytest.raises(ValueError, match=r"not aligned|mismatch"):
        f(np.ones((3, 1), dtype), np.ones(2, dtype), np.ones(3, dtype))


def test_a_training_step_keeps_its_variables_on_the_device(cuda):
    x, w = T.matrix("x"), ag.shared(np.ones((4, 3)), name="w")
    loss = -T.nn.log_softmax(x @ w)[:, 0].mean()
    f = ag.function([x], loss, updates={w: w - 0.1 * ag.grad(loss, w)}, mode=cuda)
    plain = ag.shared(np.ones((4, 3)), name="w")
    loss = -T.nn.log_softmax(x @ plain)[:, 0].mean()
    g = ag.function([x], loss, updates={plain: plain - 0.1 * ag.grad(loss, plain)}, mode="NUMPY")
    for _ in range(4):
        value = RNG.normal(size=(5, 4))
        np.testing.assert_allclose(f(value), g(value), rtol=1e-12)
    assert f._run.traffic.to_host == 4 * 8
    np.testing.assert_allclose(w.get_value(), plain.get_value(), rtol=1e-12)


def test_loops_run_on_the_device(cuda):
    x, h, w = T.matrix("x"), T.vector("h"), T.matrix("w")
    hs, _ = ag.scan(lambda x, h, w: T.tanh(x + h @ w), x, h, [w])
    values = [RNG.normal(size=s) / 2 for s in ((8, 4), (4,), (4, 4))]
    f = check([x, h, w], [hs, hs[-1]], values, cuda)
    assert not f._run.hosted
    last = ag.while_loop(lambda s: s.sum() < 1e3, lambda s: s * 1.5 + 1, h)
    check([h], [last], [np.ones(4)], cuda)


def test_a_profile_has_rows_for_the_kernels_of_a_loop(cuda):
    """Clocks are those of the host: it waits for each node of a few steps."""
    x, h, w = T.matrix("x"), T.vector("h"), T.matrix("w")
    hs, _ = ag.scan(lambda x, h, w: T.tanh(x + h @ w) / T.exp(h).sum(), x, h, [w])
    last = ag.while_loop(lambda s: s.sum() < 1e3, lambda s: s * 1.5 + 1, h)
    f = ag.function([x, h, w], [hs, last], mode=cuda, profile=True, name="recurrence")
    for _ in range(3):
        f(np.ones((20, 4)), np.ones(4), np.eye(4))
    loops = [step for step in f.profile.steps if step.bodies]
    assert {loop.op for loop in loops} == {"Scan", "While"} and {loop.engine for loop in loops} == {"cuda"}
    for loop in loops:
        (body,) = loop.bodies
        assert body.steps > 3 * 10 and all(node.seconds > 0 and node.calls == body.steps for node in body.nodes)
        assert body.node_seconds <= body.seconds * 1.0001
    (scan,) = [loop.bodies[0] for loop in loops if loop.op == "Scan"]
    assert scan.steps == 60 and len(scan.nodes) > 1
    rows = str(f.profile).partition("\n\n")[0].splitlines()
    assert sum(" 60 " in row and " cuda " in row for row in rows) == len(scan.nodes)
    assert {node.text.partition("(")[0] for node in scan.nodes} >= {"dot", "exp+sum", "add+tanh+true_div"}
    summary = str(f.profile.summary())
    assert "step, 60 x" in summary and "inside scan" in summary and "inside scan(" not in summary


def test_launches_with_many_groups_are_cut(cuda, stand_in, monkeypatch):
    """Devices take 65,535 groups along the second and the third axis."""
    monkeypatch.setattr(devices, "_MOST_GROUPS", 2)
    x = T.tensor4("x")
    value = RNG.normal(size=(5, 3, 4, 70))
    f = check(
        [x], [T.exp(x[:, :, ::2, ::2]), x[::2, :, ::2].sum(axis=3), x[:2, 0, 0, :2] @ x[0, 0, 0, :2]], [value], cuda
    )
    assert max(max(grid[1:]) for grid, _ in stand_in.calls) <= 2 < len(stand_in.calls)
    monkeypatch.undo()
    del f


def test_kernels_of_one_text_agree_on_their_first_group(cuda, monkeypatch):
    """Products share a module, and with it the constant that a launch in pieces moves."""
    monkeypatch.setattr(devices, "_MOST_GROUPS", 2)
    x, y = T.tensor3("x"), T.tensor3("y")
    many, few = (ag.function([x, y], x @ y * k, mode=cuda) for k in (1, 2))
    a, b = RNG.normal(size=(5, 4, 3)), RNG.normal(size=(5, 3, 6))
    np.testing.assert_allclose(few(a[:2], b[:2]), 2 * (a[:2] @ b[:2]), rtol=1e-12)
    np.testing.assert_allclose(many(a, b), a @ b, rtol=1e-12)
    np.testing.assert_allclose(few(a[:2], b[:2]), 2 * (a[:2] @ b[:2]), rtol=1e-12)


def test_a_launch_without_room_is_no_large_array(cuda, stand_in, monkeypatch):
    x = T.vector("x")
    f = ag.function([x], T.exp(x), mode=cuda)
    monkeypatch.setattr(stand_in, "cuLaunchKernel", lambda *given: (cuda_stand_in.CUresult.CUDA_ERROR_OUT_OF_MEMORY,))
    with pytest.raises(EngineError, match=r"Stand-in fails in cuLaunchKernel: CUDA_ERROR_OUT_OF_MEMORY"):
        f(np.ones(3))


def test_calls_with_known_buffers_run_as_graphs(cuda, stand_in):
    """The graph of earlier addresses has the arguments of this call."""
    x, w = T.matrix("x"), ag.shared(np.ones((4, 4)), name="w")
    f = ag.function([x], [T.tanh(x @ w).sum(axis=0), x.max()], updates={w: w * 0.5}, mode=cuda)
    weights = np.ones((4, 4))
    for _ in range(12):
        value = RNG.normal(size=(3, 4))
        total, top = f(value)
        np.testing.assert_allclose(total, np.tanh(value @ weights).sum(axis=0), rtol=1e-12)
        assert top == value.max()
        weights *= 0.5
    assert stand_in.graphs > 4
    np.testing.assert_array_equal(w.get_value(), weights)


def test_a_graph_starts_at_the_first_group_of_its_kernels(cuda, stand_in, monkeypatch):
    """Another call leaves the constant of their module at its last group; a launch in pieces is in no graph."""
    monkeypatch.setattr(devices, "_MOST_GROUPS", 2)
    x, y = T.tensor3("x"), T.tensor3("y")
    f = ag.function([x, y], x @ y, mode=cuda)
    a, b = RNG.normal(size=(5, 4, 3)), RNG.normal(size=(5, 3, 6))
    for count in (2, 2, 2, 5, 2, 5, 5, 5, 2, 2):
        np.testing.assert_allclose(f(a[:count], b[:count]), a[:count] @ b[:count], rtol=1e-12)
    assert stand_in.graphs > 0


def test_shared_variables_are_copied_once(cuda):
    w, x = ag.shared(np.arange(4.0), name="w"), T.vector("x")
    f, on_processor = ag.function([x], x * w, mode=cuda), ag.function([x], x + w)
    traffic, one = f._run.traffic, np.ones(4)

    def copied():
        before = traffic.to_device
        np.testing.assert_array_equal(f(one), w.get_value())
        f(one)
        before, after = traffic.to_device, f(one)
        assert after.size == 4
        return traffic.to_device - before

    assert copied() == one.nbytes
    w.set_value(np.arange(4.0) * 2)
    assert copied() == one.nbytes
    on_processor(one)
    assert copied() == one.nbytes
    assert pickle.loads(pickle.dumps(w)).get_value()[3] == 6
    array = w.get_value(borrow=True)
    array[0] = 7  # against the documentation of `borrow`, and still no wrong number
    assert f(one)[0] == 7
    array[1] = 9
    assert f(one)[1] == 9
    del array
    ag.function([], [], updates={w: w + 1})()
    np.testing.assert_array_equal(f(one), [8, 10, 5, 7])


def test_a_value_set_by_another_thread_is_not_lost(cuda):
    w, x = ag.shared(np.zeros(3), name="w"), T.vector("x")
    f = ag.function([x], x + w, mode=cuda)

    def sets():
        for k in range(300):
            w.set_value(np.full(3, float(k)))

    with ThreadPoolExecutor(1) as pool:
        done = pool.submit(sets)
        while not done.done():
            assert len(set(f(np.zeros(3)))) == 1
        done.result()
    assert list(w.get_value()) == [299] * 3 and list(f(np.zeros(3))) == [299] * 3


def test_memory_is_freed(cuda, stand_in):
    x = T.matrix("x")
    f = ag.function([x], T.exp(x @ x).sum(axis=0), mode=cuda)
    sizes = []
    for _ in range(4):
        f(np.ones((20, 20)))
        sizes.append(len(stand_in.memory))
    assert sizes[1:] == sizes[1:2] * 3  # the second call keeps its intermediate values
    before = sizes[0]
    del f
    gc.collect()
    assert len(stand_in.memory) < before


def test_a_full_device_is_named(cuda, stand_in):
    w = ag.shared(np.zeros(1000), name="w")
    f = ag.function([], w.sum(), updates={w: w + 1}, mode=cuda)
    f()
    stand_in.total = 100
    with pytest.raises(EngineError, match=r"the CUDA device Stand-in is out of memory: an array takes [0-9,]+ bytes"):
        f()
    stand_in.total = 1 << 30
    assert f() == 1000 and w.get_value()[0] == 2


def test_copies_of_shared_variables_make_room(cuda, stand_in):
    big, x = ag.shared(np.ones(1000), name="big"), T.vector("x")
    total = ag.function([], big.sum(), mode=cuda)
    assert total() == 1000
    stand_in.total = sum(map(len, stand_in.memory.values())) + 100
    np.testing.assert_array_equal(ag.function([x], x + 1, mode=cuda)(np.zeros(400)), np.ones(400))
    stand_in.total = 1 << 30
    assert total() == 1000


def test_errors_of_elements_and_of_the_driver_are_named(cuda, stand_in, monkeypatch):
    x, i = T.vector("x"), T.lvector("i")
    f = ag.function([x, i], x[i] * 2, mode=cuda)
    with pytest.raises(IndexError, match=r"index 7 .* size 3"):
        f(np.ones(3), np.array([0, 7]))
    monkeypatch.setattr(stand_in, "cuLaunchKernel", lambda *given: (cuda_stand_in.CUresult.CUDA_ERROR_INVALID_VALUE,))
    with pytest.raises(EngineError, match=r"Stand-in fails in cuLaunchKernel: CUDA_ERROR_INVALID_VALUE"):
        f(np.ones(3), np.array([0]))


def test_the_stand_in_has_the_functions_of_cuda_python():
    """Each has as many arguments as the real one."""
    driver, nvrtc = (pytest.importorskip(f"cuda.bindings.{name}") for name in ("driver", "nvrtc"))
    for own, module in ((cuda_stand_in.Driver, driver), (cuda_stand_in.Compiler, nvrtc)):
        for name, function in vars(own).items():
            if name.startswith(("cu", "nvrtc")) and not isinstance(function, type):
                shown = getattr(module, name).__doc__.splitlines()[0]
                inside = shown[shown.index("(") + 1 : shown.rindex(")")]
                count = function.__code__.co_argcount - 1
                assert count == (inside.count(",") + 1 if inside else 0), shown
    for kind in (*cuda_stand_in.CUdevice_attribute, *cuda_stand_in.CUresult, *cuda_stand_in.CUstream_flags):
        assert int(getattr(getattr(driver, type(kind).__name__), kind.name)) == kind


def test_a_text_that_does_not_compile_is_named(stand_in):
    with pytest.raises(EngineError, match=r"NVRTC does not compile a kernel for the CUDA device Stand-in: .*error"):
        devices.device().kernel("nonsense;", "k", [])


def test_missing_parts_are_named(monkeypatch):
    def absent():
        raise ImportError("No module named 'cuda'")

    def no_driver(flags):
        raise RuntimeError("libcuda.so is not found\nmore")

    function = lambda: ag.function([], T.constant(1.0) + 1, mode=ag.Mode("fast_run", backend="cuda"))  # noqa: E731
    for made, reason in (
        (absent, r"cuda-python does not load.*pip install 'arignote\[cuda\]'"),
        (lambda: type("D", (), {"cuInit": staticmethod(no_driver)}), r"no CUDA driver \(libcuda.so is not found\)"),
        (_Without, "the CUDA driver has no device; install NVIDIA's driver"),
    ):
        monkeypatch.setattr(devices, "driver", made)
        monkeypatch.setattr(devices, "nvrtc", lambda: COMPILER)
        devices._found.cache_clear()
        with pytest.raises(EngineError, match=reason):
            function()
    devices._found.cache_clear()


class _Without(cuda_stand_in.Driver):
    def cuDeviceGetCount(self):
        return 0, 0
