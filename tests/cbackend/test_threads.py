"""Threads: results whose bits do not depend on their number, a team that many callers share, forks, the option."""

from __future__ import annotations

import ctypes
import os
import pickle
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from draws import mostly_long

import arignote as ag
from arignote import ops as T
from arignote.cbackend.abi._abi import ffi
from arignote.cbackend.runtime.runtime import load_runtime
from arignote.function.function import find_toolchain, process_cache
from arignote.options import Options
from arignote.targets.processors import processors_under

COUNTS = (1, 2, 3, 8)
RNG = np.random.default_rng(3)
LARGE = RNG.normal(size=(700, 901))

# Each is larger than what a thread does alone, and of odd lengths, so that parts are of different sizes.
KERNELS = {
    "elementwise": lambda x: T.exp(x) * 2 + x,
    "broadcast": lambda x: x * x[:1] + x[:, :1],
    "transposed": lambda x: T.sin(x.T) + 1,
    "strided": lambda x: T.tanh(x[::-1, ::2]),
    "several outputs": lambda x: (T.exp(x), T.exp(x) + x, x > 0),
    "full sum": lambda x: T.sum(x * x),
    "full mean and max": lambda x: (T.mean(x), T.max(x), T.min(T.abs(x))),
    "sum of rows": lambda x: T.sum(x, axis=1),
    "sum of columns": lambda x: T.sum(x, axis=0),
    "sum of few columns": lambda x: T.sum(T.reshape(x, (-1, 7)), axis=0),
    "long sum": lambda x: T.sum(T.reshape(x, (-1,)) + 1),
    "two long rows": lambda x: T.sum(T.reshape(x, (2, -1)), axis=1),
    "product": lambda x: (T.prod(T.sign(x)), T.prod(T.sign(x), axis=0)),
    "any and all": lambda x: (T.any(x > 4.2, axis=0), T.all(x > -9), T.any(x > 99)),
    "integer sum": lambda x: T.sum(T.cast(x * 100, "int32")),
    "complex sum": lambda x: T.sum(T.cast(x, "complex128") * 1j, axis=0),
    "softmax": lambda x: T.softmax(x, axis=1),
    "softmax of columns": lambda x: T.softmax(x, axis=0),
    "logsumexp": lambda x: (T.logsumexp(x, axis=1), T.logsumexp(x, axis=0)),
    "argmax": lambda x: (T.argmax(x, axis=1), T.argmin(x, axis=0), T.argmax(x)),
    "copy": lambda x: T.concatenate([x.T, x.T[::-1]], axis=1),
    "gather": lambda x: x[T.cast(T.abs(x[:, 0]) * 100, "int64")],
    "product of matrices": lambda x: T.dot(x, x.T),
    "normalized rows": lambda x: (x - T.mean(x, axis=1, keepdims=True)) / T.std(x, axis=1, keepdims=True),
}


def as_list(result: object) -> list[np.ndarray]:
    return list(result) if isinstance(result, (list, tuple)) else [result]


@pytest.mark.few(8)
@pytest.mark.parametrize("dtype", mostly_long(["float64", "float32"], {"float32"}))
@pytest.mark.parametrize("name", KERNELS)
def test_bits_do_not_depend_on_the_number_of_threads(name, dtype):
    x = T.matrix("x", dtype)
    outputs = KERNELS[name](x)
    outputs = list(outputs) if isinstance(outputs, tuple) else [outputs]
    value = LARGE.astype(dtype)
    found = [ag.function([x], outputs, threads=n)(value) for n in COUNTS]
    for other in found[1:]:
        for first, second in zip(found[0], other, strict=True):
            assert first.tobytes() == second.tobytes()
    tolerance = 1e-12 if dtype == "float64" else 3e-4
    for got, want in zip(found[0], T.evaluate(outputs, {x: value}), strict=True):
        np.testing.assert_allclose(got, want, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("dtype", ["float64", "float32", "complex128"])
@pytest.mark.parametrize("shape", [(300, 301), (1003, 1000), (30_001, 19), (19, 30_001), (1, 40_000), (40_000, 1)])
def test_bits_of_a_matrix_times_a_vector_do_not_depend_on_the_number_of_threads(shape, dtype):
    """Where NumPy's BLAS has several threads: alone it cuts sums as their number suggests."""
    a, x, y = T.matrix("a", dtype), T.vector("x", dtype), T.vector("y", dtype)
    outputs = [T.dot(a, x), 2 * T.dot(y, a) - x, T.dot(a[:, ::-1], x), T.dot(y[::-1], a)]
    values = [RNG.normal(size=n).astype(dtype) for n in (shape, shape[1], shape[0])]
    found = [ag.function([a, x, y], outputs, threads=n)(*values) for n in COUNTS]
    assert len({b"".join(r.tobytes() for r in results) for results in found}) == 1
    largest = np.sqrt(max(shape)) * (1e-12 if dtype != "float32" else 2e-5)
    m, p, q = (v.astype(np.result_type(dtype, "float64")) for v in values)  # NumPy's own rounding is as large as ours
    for got, want in zip(found[0], (m @ p, 2 * (q @ m) - p, m[:, ::-1] @ p, q[::-1] @ m), strict=True):
        np.testing.assert_allclose(got, want, rtol=0, atol=largest)


@pytest.mark.parametrize("dtype", ["float64", "float32", "complex64", "complex128"])
@pytest.mark.parametrize("length", [9_999, 20_001, 300_003])
def test_bits_of_a_product_of_vectors_do_not_depend_on_the_number_of_threads(length, dtype):
    x, y, a = T.vector("x", dtype), T.vector("y", dtype), T.matrix("a", dtype)
    outputs = [T.dot(x, y), T.dot(x[::-1], y), T.dot(x[::2], y[::-2]), a + T.outer(x[:400], y[:500])]
    values = [RNG.normal(size=n).astype(dtype) for n in (length, length, (400, 500))]
    found = [ag.function([x, y, a], outputs, threads=n)(*values) for n in COUNTS]
    assert len({b"".join(r.tobytes() for r in results) for results in found}) == 1
    largest = np.sqrt(length) * (1e-12 if dtype in ("float64", "complex128") else 2e-5)
    p, q, m = (v.astype(np.result_type(dtype, "float64")) for v in values)  # NumPy's own rounding is as large as ours
    wanted = p @ q, p[::-1] @ q, p[::2] @ q[::-2], m + np.outer(p[:400], q[:500])
    for got, want in zip(found[0], wanted, strict=True):
        np.testing.assert_allclose(got, want, rtol=0, atol=largest)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("rows", [2, 8, 11, 16, 31, 70])
def test_bits_of_a_product_of_matrices_do_not_depend_on_the_number_of_threads(rows, dtype):
    a, b = T.matrix("a", dtype), T.matrix("b", dtype)
    values = [RNG.normal(size=shape).astype(dtype) for shape in ((rows, 801), (801, 1203))]
    found = [ag.function([a, b], a @ b, threads=n)(*values) for n in COUNTS]
    assert len({result.tobytes() for result in found}) == 1
    np.testing.assert_allclose(found[0], values[0] @ values[1], rtol=0, atol=1e-11 if dtype == "float64" else 2e-3)


def test_bits_of_columns_do_not_depend_on_the_width_of_tasks():
    """Tasks of few columns are what a loop with much work an element is split into, so that Ctrl-C is seen."""
    x = T.matrix("x")
    y = x
    for _ in range(12):
        y = T.exp(T.sin(y))
    value = RNG.normal(size=(2500, 533))
    for threads in (1, 3):
        f = ag.function([x], [T.sum(y, axis=0), T.max(y * x, axis=0)], threads=threads)
        for whole, alone, few in zip(f(value), f(value[:, 259:262]), f(value[:, 510:]), strict=True):
            assert whole[259:262].tobytes() == alone.tobytes()
            assert whole[510:].tobytes() == few.tobytes()


def test_what_is_combined_along_one_axis_and_not_along_the_other():
    """Parts of the mean along rows are combined; the largest of a column, a float16, is whole in each part."""
    x = T.tensor("x", "float16", (None, None))
    f = ag.function([x], [T.exp(x - T.max(x, axis=0, keepdims=True)), x - T.mean(x, axis=1, keepdims=True)])
    for shape in ((2, 3), (300, 400), (3, 200_000)):
        given = (np.arange(np.prod(shape)) % 7).reshape(shape).astype("float16")
        largest, mean = f(given)
        np.testing.assert_allclose(largest, np.exp(given - given.max(axis=0, keepdims=True)), rtol=2e-3)
        np.testing.assert_allclose(mean, given - given.mean(axis=1, keepdims=True), rtol=2e-3, atol=4e-3)


@pytest.mark.parametrize("change", ["inc_subtensor", "set_subtensor"])
@pytest.mark.parametrize("threads", [1, 2, 3])
def test_a_scatter_comes_to_an_element_in_the_order_of_the_indices(change, threads):
    """Of values that are set the last one stays; sums round as NumPy's do, one number after the other."""
    rng = np.random.default_rng(3)

    def scattered(x, i, y):
        whole = x.copy()
        if change == "set_subtensor":
            whole[i] = y
        else:
            np.add.at(whole, i, y)
        return whole

    x, v = T.matrix("x"), T.vector("v")
    i, rows, columns = T.lvector("i"), T.lmatrix("rows"), T.lvector("columns")
    y, w = T.matrix("y"), T.vector("w")
    f = ag.function([x, i, y], getattr(T, change)(x[i], y), threads=threads)
    given = rng.normal(size=(9, 700)), rng.integers(-9, 9, 5000), rng.normal(size=(5000, 700))
    assert np.array_equal(f(*given), scattered(*given))
    g = ag.function([v, i, w], getattr(T, change)(v[i], w), threads=threads)
    given = rng.normal(size=100), rng.integers(-100, 100, 500_003), rng.normal(size=500_003)
    assert np.array_equal(g(*given), scattered(*given))
    h = ag.function([x, rows, columns, y], getattr(T, change)(x[rows, columns], y), threads=threads)
    pair, many = (rng.integers(0, 9, (3, 1)), rng.integers(0, 700, 200_000)), rng.normal(size=(3, 200_000))
    x0 = rng.normal(size=(9, 700))
    assert np.array_equal(h(x0, *pair, many), scattered(x0, pair, many))
    pair[1][[150_000, 199_999]] = 777, 888
    with pytest.raises(IndexError, match="index 777 is out of bounds"):
        h(x0, *pair, many)


@pytest.mark.parametrize("threads", [1, 2])
def test_large_arrays_that_are_made_from_lengths(threads):
    n, m, k = T.lscalar("n"), T.lscalar("m"), T.lscalar("k")
    eye, arange = (
        ag.function([n, m, k], T.eye(n, m, k), threads=threads),
        ag.function([n], T.arange(n), threads=threads),
    )
    for shape in ((1500, 1500, 0), (2000, 700, -900), (300, 9000, 8999), (5, 0, 0), (0, 5, 1), (3, 400_000, -1)):
        assert np.array_equal(eye(*shape), np.eye(*shape))
    for count in (0, 1, (1 << 17) - 1, 1 << 17, (1 << 17) + 1, 1_000_003):
        assert np.array_equal(arange(count), np.arange(count))


def test_nan_infinity_and_signed_zero_survive_the_cuts():
    x = T.matrix("x")
    f = ag.function([x], [T.max(x), T.min(x, axis=0), T.sum(x, axis=1), T.sum(x)], threads=3)
    value = np.full((3000, 301), -0.0)
    value[1500, 7], value[7, 1], value[8, 1], value[2999, 300] = np.nan, np.inf, -np.inf, np.inf
    with np.errstate(invalid="ignore"):
        for got, want in zip(f(value), [value.max(), value.min(0), value.sum(1), value.sum()], strict=True):
            np.testing.assert_array_equal(got, want)


def test_integers_wrap_as_in_numpy():
    x = T.matrix("x", "int64")
    value = RNG.integers(-(2**63), 2**63 - 1, (900, 1001))
    f = ag.function([x], [T.sum(x), T.sum(x, axis=0), T.prod(x, axis=0), T.max(x), T.min(x)], threads=2)
    with np.errstate(over="ignore"):
        for got, want in zip(
            f(value), [value.sum(), value.sum(0), value.prod(0), value.max(), value.min()], strict=True
        ):
            np.testing.assert_array_equal(got, want)


def test_the_first_bad_index_and_power_are_named_whoever_meets_them():
    x, i = T.matrix("x"), T.vector("i", "int64")
    gather = ag.function([x, i], x[i], threads=4)
    index = np.zeros(2000, int)
    index[[300, 1999]] = 5000, 6000
    for _ in range(20):
        with pytest.raises(IndexError, match="index 5000 is out of bounds for axis 0 of x with size 50"):
            gather(np.ones((50, 400)), index)
    n = T.matrix("n", "int64")
    power = ag.function([n], n**n, threads=4)
    exponents = np.ones((1000, 1000), int)
    exponents[999, 999] = -1
    with pytest.raises(ValueError, match="negative integer powers"):
        power(exponents)


def test_small_calls_start_no_thread():
    code = """
import numpy as np, arignote as ag
from arignote import ops as T
from arignote.cbackend.runtime.runtime import load_runtime
from arignote.function.function import find_toolchain, process_cache
x = T.matrix("x")
f = ag.function([x], [T.exp(x), T.sum(x)], threads=4)
team = load_runtime(find_toolchain(), process_cache()).team
f(np.ones((10, 10)))
print(team().size, end=" ")
f(np.ones((2000, 2000)))
print(team().size, team().helping, team().callers)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False)
    assert done.stdout.split() == ["0", "3", "0", "0"], done.stderr


def claimed(count, work, *clocks):
    """The tasks of a job of two threads that the caller claims, and those that a helper claims; `work` is each task.

    The team has cost nothing before.
    """
    load_runtime(find_toolchain(), process_cache()).judge_team(*clocks)
    return claimed_from(table_of_two(), count, work)


def table_of_two():
    return load_runtime(find_toolchain(), process_cache()).table_for(2)


def claimed_from(table, count, work):
    mine, theirs, caller = [], [], threading.get_ident()

    @ffi.callback("void(void *, i64)")
    def task(_, index):
        (mine if threading.get_ident() == caller else theirs).append(index)
        work(index, len(mine) + len(theirs))

    assert not table.parallel(table, count, task, ffi.NULL)
    assert sorted(mine + theirs) == list(range(count))
    return mine, theirs


def test_a_thread_begins_with_its_share_of_the_tasks():
    in_step = threading.Barrier(2)  # task n and task 10 + n wait for each other: they are of two threads

    def work(index, begun):
        if index % 10 < 5 and index < 20:
            in_step.wait(60)

    for _ in range(3):
        mine, theirs = claimed(21, work)
        assert mine[:5] == [0, 1, 2, 3, 4]
        assert theirs[:5] == [10, 11, 12, 13, 14]


def test_a_thread_takes_over_what_is_left_of_another_share():
    the_first, all_others = threading.Event(), threading.Event()

    def work(index, begun):
        if begun == 30:
            all_others.set()
        if index == 0:
            the_first.set()
            assert all_others.wait(60)
        elif index == 15:
            assert the_first.wait(60)

    mine, theirs = claimed(30, work)
    assert mine == [0] and theirs == [*range(15, 30), *range(1, 15)]


def test_a_team_that_costs_time_rests_until_eight_times_the_loss_is_computed():
    wall, spent = [0], {}  # clocks of this test: a task takes 100 ns of its thread's time
    now = ffi.callback("i64(void)", lambda: wall[0])
    used = ffi.callback("i64(void)", lambda: spent.get(threading.get_ident(), 0))
    in_step = threading.Barrier(2)

    def takes(ns, meets=()):
        def work(index, begun):
            wall[0] += ns
            spent[threading.get_ident()] = spent.get(threading.get_ident(), 0) + 100
            if index in meets:
                in_step.wait(60)

        return work

    try:
        claimed(10, takes(50, (0, 5)), now, used)  # half the time of one thread
        again = claimed_from(table_of_two(), 10, takes(1000, (0, 5)))  # ten times the time of one thread: 9000 ns lost
        assert 0 in again[0] and 5 in again[1]
        for _ in range(7):
            assert claimed_from(table_of_two(), 100, takes(1000)) == ([*range(100)], [])
        mine, theirs = claimed_from(table_of_two(), 100, takes(10, (20, 50)))
        assert mine[:21] == [*range(21)] and theirs[0] == 50  # 20 tasks more, then together
    finally:
        load_runtime(find_toolchain(), process_cache()).judge_team()


@pytest.mark.skipif(sys.platform != "linux", reason="counts by a semaphore of the C library")
def test_threads_that_meet_in_one_share_claim_each_task_once():
    """A helper wakes late, so the caller is done with its share first, and joins the helper in the other one."""
    library, count, jobs = ctypes.CDLL(None), 20_000, 300
    semaphore, found = ctypes.create_string_buffer(64), ctypes.c_int()
    task = ffi.cast("void(*)(void *, i64)", ctypes.cast(library.sem_post, ctypes.c_void_p).value)
    context, still = ffi.cast("void *", ctypes.addressof(semaphore)), ffi.callback("i64(void)", lambda: 0)
    runtime = load_runtime(find_toolchain(), process_cache())
    try:
        runtime.judge_team(still, still)
        for _ in range(jobs):
            assert library.sem_init(semaphore, 0, 0) == 0
            table = table_of_two()
            assert not table.parallel(table, count, task, context)
            assert library.sem_getvalue(semaphore, ctypes.byref(found)) == 0
            assert found.value == count
    finally:
        runtime.judge_team()


@pytest.mark.parametrize(("n", "threads"), [(20, 4), (300, 1), (1200, 4)])  # the BLAS does not share the first
def test_factorizations_keep_to_one_thread_of_the_blas_until_they_are_large(n, threads):
    load_runtime(find_toolchain(), process_cache()).require_lapack(["float64"])
    table, found = table_of_two(), []
    table.threads = 4
    enter = ffi.callback("void(ag_runtime *)", lambda rt: found.append(rt.threads))
    leave = ffi.callback("void(ag_runtime *)", lambda rt: None)
    table.enter_blas, table.leave_blas = enter, leave
    matrix = np.eye(n) * 4
    factor, strides = np.empty_like(matrix), ffi.new("i64[]", [n, 1])
    a, l = (ffi.cast("void *", x.ctypes.data) for x in (matrix, factor))
    call = ffi.new("ag_cholesky *", {"n": n, "a": a, "a_strides": strides, "l": l})
    assert table.solve_f64.cholesky(table, call) == 0
    np.testing.assert_array_equal(factor, np.eye(n) * 2)
    assert found == [threads]


def test_eight_python_threads_share_the_team():
    x = T.matrix("x")
    functions = [ag.function([x], [T.sum(T.exp(x) + k), T.dot(x, x.T), x * k], threads=2 + k % 3) for k in range(4)]
    value = LARGE[:300]
    expected = [f(value) for f in functions]
    wrong: list[int] = []

    def work(number: int) -> None:
        for turn in range(12):
            k = (number + turn) % 4
            if not all(map(np.array_equal, functions[k](value), expected[k])):
                wrong.append(k)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not any(thread.is_alive() for thread in threads)
    assert not wrong
    use = load_runtime(find_toolchain(), process_cache()).team()
    assert (use.helping, use.callers) == (0, 0)


FORKS = """
import os, sys, threading, time, warnings
import numpy as np, arignote as ag
from arignote import ops as T
warnings.simplefilter("ignore", DeprecationWarning)  # Python 3.12 warns of every fork beside threads
x, z = T.matrix("x"), T.matrix("z", "complex128")
f = ag.function([x], [T.exp(x), T.sum(x), T.dot(x, x)], threads=2)
g = ag.function([z], T.dot(z, z), threads=2)
a, b = np.ones((300, 300)), np.ones((200, 200), complex)
wanted = f(a)
g(b)
stop = False
def churn():
    while not stop:
        f(a), g(b)
threads = [threading.Thread(target=churn) for _ in range(2)]
for thread in threads: thread.start()
ended = 0
for _ in range(40):
    child = os.fork()  # from the main thread, while others are inside of kernels and products
    if child == 0:
        os._exit(7 if all(map(np.array_equal, f(a), wanted)) and g(b)[0, 0] == 200 else 8)
    begun = time.monotonic()
    while time.monotonic() - begun < 60:
        pid, status = os.waitpid(child, os.WNOHANG)
        if pid:
            ended += os.waitstatus_to_exitcode(status) == 7
            break
        time.sleep(0.0005)
    else:
        os.kill(child, 9)
stop = True
for thread in threads: thread.join()
print(ended)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_children_forked_from_parallel_work_have_a_team_of_their_own():
    done = subprocess.run([sys.executable, "-c", FORKS], capture_output=True, text=True, timeout=240, check=False)
    assert done.stdout.strip() == "40", done.stderr[-2000:]


# --- the option


def test_threads_is_a_whole_number_from_one_on():
    x = T.vector("x")
    for wrong, error in ((0, ValueError), (-2, ValueError), (1.5, TypeError), (True, TypeError), ("2", TypeError)):
        with pytest.raises(error, match="threads is"):
            ag.function([x], x + 1, threads=wrong)


def test_a_function_keeps_its_threads_when_pickled():
    x = T.vector("x")
    assert pickle.loads(pickle.dumps(ag.function([x], x + 1, threads=3))).threads == 3
    assert pickle.loads(pickle.dumps(ag.function([x], x + 1))).threads is None


@pytest.mark.parametrize("text", ["0", "-1", "two", "1.5"])
def test_what_the_environment_asks_for_is_checked(text):
    with pytest.raises((ValueError, TypeError), match="ARIGNOTE_THREADS"):
        Options.from_environment({"ARIGNOTE_THREADS": text})
    assert Options.from_environment({"ARIGNOTE_THREADS": "3"}).threads == 3
    assert Options.from_environment({"ARIGNOTE_THREADS": ""}).threads is None


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({}, 64),
        ({"sys/fs/cgroup/cpu.max": "max 100000"}, 64),
        ({"sys/fs/cgroup/cpu.max": "150000 100000"}, 2),
        ({"sys/fs/cgroup/cpu.max": "20000 100000"}, 1),
        ({"proc/self/cgroup": "0::/a/b", "sys/fs/cgroup/a/b/cpu.max": "max 1", "sys/fs/cgroup/a/cpu.max": "3 1"}, 3),
        ({"proc/self/cgroup": "0::/host/only", "sys/fs/cgroup/cpu.max": "400000 100000"}, 4),
        (
            {
                "proc/self/cgroup": "3:cpuset:/\n2:cpu,cpuacct:/box\n",
                "sys/fs/cgroup/cpu,cpuacct/box/cpu.cfs_quota_us": "250000",
                "sys/fs/cgroup/cpu,cpuacct/box/cpu.cfs_period_us": "100000",
            },
            3,
        ),
        (
            {
                "proc/self/cgroup": "1:cpu:/",
                "sys/fs/cgroup/cpu/cpu.cfs_quota_us": "-1",
                "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000",
            },
            64,
        ),
        ({"proc/self/cgroup": "nonsense", "sys/fs/cgroup/cpu.max": "what"}, 64),
    ],
)
def test_quotas_of_containers_are_obeyed(tmp_path, monkeypatch, files, expected):
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: range(64), raising=False)
    for name, text in {"proc/self/cgroup": "0::/", **files}.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    assert processors_under(tmp_path) == expected


def test_the_blas_keeps_to_the_threads_of_the_function():
    threadpoolctl = pytest.importorskip("threadpoolctl")
    pools = threadpoolctl.ThreadpoolController().select(internal_api="openblas").lib_controllers
    if not pools or pools[0].num_threads < 2:
        pytest.skip("needs an OpenBLAS with threads")
    x = T.matrix("x")
    f = ag.function([x], T.dot(x, x), threads=1)
    value, seen, stop = np.ones((900, 900)), set(), threading.Event()

    def watch() -> None:
        while not stop.is_set():
            seen.add(pools[0].get_num_threads())

    before, watcher = pools[0].get_num_threads(), threading.Thread(target=watch)
    watcher.start()
    for _ in range(10):
        f(value)
    stop.set()
    watcher.join()
    assert seen <= {1, before}
    assert pools[0].get_num_threads() == before


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="needs Linux")
def test_helpers_keep_the_processors_that_they_are_allowed():
    """A helper that is woken beside its caller moves away, and may come back later."""
    x = T.matrix("x")
    f = ag.function([x], T.dot(x, x), threads=2)
    value = np.ones((300, 300))
    for pause in (0.0, 0.05, 0.05, 0.0):
        time.sleep(pause)
        np.testing.assert_array_equal(f(value), value @ value)
    allowed, end = os.sched_getaffinity(0), time.monotonic() + 30

    def all_may_come_back():
        return all(os.sched_getaffinity(int(thread)) == allowed for thread in os.listdir("/proc/self/task"))

    while not all_may_come_back() and time.monotonic() < end:  # a helper may be moving at the moment
        time.sleep(0.01)
    assert all_may_come_back()
