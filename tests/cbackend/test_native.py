"""The native entry returns what the Python entry returns, and leaves arguments that it does not know to it."""

import ctypes
import gc
import pickle
import subprocess
import sys
import threading
import time
import weakref

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

import arignote as ag
from arignote import ops as T
from arignote.cbackend.abi._abi import ffi
from arignote.cbackend.calls import native
from arignote.cbackend.calls.outputs import LARGE
from arignote.function.compiled import NATIVE_AFTER

pytestmark = pytest.mark.skipif(not native.layouts_hold(), reason="objects of this Python lie in memory otherwise")


def warmed(f, *arguments):
    """`f` after so many calls that it has its native entry."""
    for _ in range(NATIVE_AFTER + 1):
        f(*arguments)
    assert type(f._path).__name__ == "builtin_function_or_method", f._path
    return f


@pytest.fixture(scope="module")
def several():
    x, y = T.matrix("x"), T.vector("y", dtype="float32")
    f = ag.function([x, y], [x + y, x[1:, ::2], (x * x).sum(0), x.shape[0] + 1, T.concatenate([y, y * 2])])
    return warmed(f, np.ones((3, 4)), np.ones(4, "float32"))


def meaning(x, y):
    return [x + y, x[1:, ::2], (x * x).sum(0), np.asarray(x.shape[0] + 1), np.concatenate([y, y * 2])]


def same(got, expected):
    assert [g.dtype for g in got] == [e.dtype for e in expected]
    for g, e in zip(got, expected, strict=True):
        np.testing.assert_allclose(g, e, rtol=1e-12)
        assert type(g) is np.ndarray and g.flags.writeable and g.flags.c_contiguous


class Subclass(np.ndarray):
    """The classes that NumPy lets users derive."""


SHAPES = st.tuples(st.integers(0, 5), st.integers(0, 5))


@given(SHAPES.flatmap(lambda s: arrays.arrays("float64", s, elements=st.floats(-9, 9))), st.data())
def test_values_dtypes_and_shapes(several, x, data):
    columns = data.draw(st.sampled_from([x.shape[1], 1]))
    y = data.draw(arrays.arrays("float32", columns, elements=st.floats(-9, 9, width=32)))
    same(several(x, y), meaning(x, y))


@pytest.mark.parametrize("change", [
    lambda x: x.T.copy().T, lambda x: x[::-1], lambda x: x.astype("float32"), lambda x: x.astype(">f8"),
    lambda x: x.tolist(), lambda x: np.broadcast_to(x[:1], x.shape), lambda x: x.view(Subclass),
    lambda x: np.frombuffer(b"\0" + x.tobytes(), "f8", offset=1).reshape(x.shape),
], ids=["F", "reversed", "float32", "swapped", "list", "broadcast", "subclass", "misaligned"])  # fmt: skip
def test_other_arguments_take_the_other_way(several, change):
    x, y = np.arange(12.0).reshape(3, 4), np.ones(4, "float32")
    same(several(change(x), y), meaning(np.asarray(change(x), "float64"), y))


def test_keywords(several):
    x, y = np.arange(12.0).reshape(3, 4), np.ones(4, "float32")
    same(several(x, y=y), meaning(x, y))
    same(several(y=y, x=x), meaning(x, y))


@pytest.mark.parametrize(("arguments", "error"), [
    ((np.ones((3, 4)),), TypeError), ((np.ones((3, 4)), np.ones(4, "f"), 1), TypeError), ((), TypeError),
    ((np.ones((3, 4)), np.ones(3, "f")), ValueError), ((np.ones(3), np.ones(4, "f")), TypeError),
    ((None, np.ones(4, "f")), TypeError), ((np.ones((3, 4)), np.ones(4, "complex64")), TypeError),
])  # fmt: skip
def test_errors_are_those_of_a_first_call(several, arguments, error):
    fresh = pickle.loads(pickle.dumps(several))
    with pytest.raises(error) as native_error:
        several(*arguments)
    with pytest.raises(error) as first_error:
        fresh(*arguments)
    assert str(native_error.value) == str(first_error.value)


def test_results_are_new_arrays_each_time():
    x = T.vector("x")
    f = warmed(ag.function([x], x + 1), np.zeros(3))
    first = f(np.zeros(3))
    assert not np.shares_memory(first, f(np.ones(3))) and (first == 1).all()


def test_no_reference_is_lost_or_kept():
    x = T.vector("x")
    f = warmed(ag.function([x], [x + 1, x * 2]), np.zeros(3))
    a = np.zeros(3)

    def counts():
        gc.collect()
        return [sys.getrefcount(it) for it in (a, np.dtype("float64"), None, f)]

    def change():
        before = counts()
        for _ in range(5000):
            f(a)
            with pytest.raises(TypeError):
                f(None)
        return [late - early for early, late in zip(before, counts(), strict=True)]

    # A lost reference recurs in every run of 5,000 calls; other threads of the process move None's count once.
    least = [min(several, key=abs) for several in zip(change(), change(), change(), strict=True)]
    assert least == pytest.approx([0] * 4, abs=100)


def test_a_watch_tells_whether_memory_moved():
    memory = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.py_object)(lambda it: it.ctypes.data)
    first, second, third = np.ones(3), np.ones(3), np.ones(3).view(Subclass)
    given = [None, first, 0, second, third]
    x = T.vector("x")
    executable = ag.function([x], x + 1).executable
    kinds = (np.ndarray, Subclass)
    address = ctypes.cast(memory, ctypes.c_void_p).value
    watch = executable.watch([1, 3, 4], [a.ctypes.data for a in (first, second, third)], address, kinds, ())
    assert watch(given) is True
    others = ([*given[:3], first, third], [*given[:3], [], third], given[:4], (), None)
    assert [watch(other) for other in others] == [False] * 5
    assert watch() is False and watch(given, given) is False and watch(given) is True
    assert executable.watch([], [], address, kinds, ())([]) is True


def test_a_watch_tells_whether_lent_memory_was_written():
    memory = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.py_object)(lambda it: it.ctypes.data)
    names, writes = ffi.dlopen(None), np.arange(2, dtype="int32")
    arrays = [np.zeros((names.AG_SAMPLES, names.AG_SAMPLE_WORDS + 3 * k), "int64") for k in range(2)]
    samples = [a[:, : names.AG_SAMPLE_WORDS] for a in arrays]
    lent = [(n.ctypes.data, int(n[0]), s, s.copy()) for n, s in zip(writes.reshape(2, 1), samples, strict=True)]
    address, x = ctypes.cast(memory, ctypes.c_void_p).value, T.vector("x")
    executable = ag.function([x], x + 1).executable
    places = [a.ctypes.data for a in arrays]
    watch = executable.watch([0, 1], places, address, (np.ndarray,), lent)
    assert watch(arrays) is True
    for s in samples:
        for place in np.ndindex(s.shape):
            s[place] += 1
            assert watch(arrays) is False
            s[place] -= 1
            assert watch(arrays) is True
    arrays[1][:, names.AG_SAMPLE_WORDS :] += 1
    assert watch(arrays) is True
    writes[1] += 1
    assert watch(arrays) is False and watch(arrays[::-1]) is False
    with pytest.raises(ValueError, match=r"watch: expected int64 samples of \(4, 4\)"):
        executable.watch([0], places[:1], address, (np.ndarray,), [(0, 0, arrays[1], arrays[1])])


SMALL = ffi.dlopen(None).AG_SMALL


@pytest.mark.parametrize("rows", [0, 1, SMALL // 9, SMALL // 9 + 1, 2000, *(LARGE // 32 + k for k in (-1, 0, 1))])
def test_any_size_is_served(several, rows):
    x, y = np.arange(4.0 * rows).reshape(rows, 4) / 7, np.ones(4, "float32")
    same(several(x, y), meaning(x, y))


def test_a_large_argument_of_a_small_result():
    x = T.matrix("x")
    f = warmed(ag.function([x], T.max(x, axis=0)), np.ones((2, 2)))
    value = np.random.default_rng(0).normal(size=(LARGE // 8, 3))
    np.testing.assert_array_equal(f(value), value.max(axis=0))


@pytest.mark.parametrize("dtype", ["float64", "int8"])
def test_results_from_a_mebibyte_on_lie_in_blocks(dtype):
    x = T.vector("x", dtype=dtype)
    f = warmed(ag.function([x], x + x), np.zeros(3, dtype))
    most = LARGE // np.dtype(dtype).itemsize
    owned = [f(np.ones(size, dtype)).flags.owndata for size in (most - 1, most, most + 1)]
    assert owned == [True, False, False]


@pytest.mark.parametrize(("rows", "lets_go"), [(SMALL // 2, False), (300_000, True)])
def test_pythons_lock_is_let_go_in_long_calls(rows, lets_go):
    x = T.vector("x")
    f = warmed(ag.function([x], T.sum(T.exp(T.sin(T.exp(T.cos(x))))), threads=1), np.zeros(3))
    ticks, done, before = [0], [], sys.getswitchinterval()

    def tick():
        while not done:
            ticks[0] += 1
            time.sleep(1e-5)

    value, moved = np.ones(rows), 0
    sys.setswitchinterval(10)  # who has the lock keeps it unless he lets it go
    try:
        other = threading.Thread(target=tick)
        other.start()
        for k in range(10_000):  # on a busy machine the other thread may come late
            time.sleep(1e-3)
            start = ticks[0]
            f(value)
            moved += ticks[0] - start
            if k >= 20 and (moved or not lets_go):
                break
    finally:
        sys.setswitchinterval(before)
        done.append(True)
        other.join()
    assert (moved > 0) == lets_go


def test_a_dropped_function_goes_with_its_entry():
    x = T.vector("x")
    f = warmed(ag.function([x], T.tanh(x) * 1.25), np.zeros(3))
    gone, entry = weakref.ref(f), f._path
    del f
    gc.collect()
    assert gone() is None
    np.testing.assert_allclose(entry(np.ones(3)), np.tanh(1) * 1.25)  # and the entry lives alone


def test_functions_with_side_effects_have_none():
    x, s = T.vector("x"), ag.shared(np.zeros(3), shape=(3,))
    f = ag.function([x], x + s, updates=[(s, s + 1)])
    for _ in range(NATIVE_AFTER + 5):
        f(np.zeros(3))
    assert s.get_value()[0] == NATIVE_AFTER + 5 and type(f._path).__name__ == "CallPath"


def test_threads():
    x = T.vector("x")
    f = ag.function([x], x * 2 + 1)
    wrong = []

    def work(k):
        a = np.full(5, float(k))
        wrong.extend(1 for _ in range(3000) if (f(a) != 2 * k + 1).any())

    threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


def test_a_compiler_that_is_gone_changes_nothing(monkeypatch):
    from arignote.cbackend.calls import caller

    def gone(*_):
        raise OSError

    monkeypatch.setattr(caller, "build_unit", gone)
    x = T.vector("x")
    f = ag.function([x], x + 1)
    for _ in range(NATIVE_AFTER + 2):
        assert (f(np.zeros(2)) == 1).all()


def test_layouts_are_compared_with_live_objects(monkeypatch):
    native.layouts_hold.cache_clear()
    monkeypatch.setattr(ctypes, "sizeof", lambda _: 4)
    assert not native.layouts_hold()
    monkeypatch.undo()
    native.layouts_hold.cache_clear()
    assert native.layouts_hold()


def layouts(x):
    """`x` by rows, by columns, backwards, with gaps, broadcast."""
    gaps = np.zeros((2 * x.shape[0], 3 * x.shape[1]))[::2, ::3]
    gaps[...] = x
    return [
        x,
        np.asfortranarray(x),
        x[::-1, ::-1],
        np.asfortranarray(x)[::-1],
        gaps,
        np.broadcast_to(x[:, :1], x.shape),
    ]


@pytest.mark.parametrize("shape", [(3, 4), (1, 5), (5, 1), (0, 3), (3, 0), (40, 50), (1, 1)])
def test_arrays_of_any_strides_give_what_the_other_way_gives(shape):
    x, y = T.matrix("x"), T.matrix("y")
    outputs = [x * 2 + y, (x * y).sum(1), x.T + 1]
    quick, other = warmed(ag.function([x, y], outputs), *np.ones((2, 3, 4))), ag.function([x, y], outputs)
    a, b = np.random.default_rng(0).normal(size=(2, *shape))
    for left in layouts(a):
        for right in layouts(b):
            assert type(other._path).__name__ != "builtin_function_or_method"
            for g, e in zip(quick(left, right), other(left, right), strict=True):
                np.testing.assert_array_equal(g, e, strict=True)
                assert [s for s, n in zip(g.strides, g.shape, strict=True) if n > 1 and g.size] == [
                    s for s, n in zip(e.strides, e.shape, strict=True) if n > 1 and e.size
                ]
                known = np.lib.stride_tricks.as_strided(g)  # NumPy's own flags of these strides
                assert g.flags.c_contiguous == known.flags.c_contiguous
                assert g.flags.f_contiguous == known.flags.f_contiguous
                assert g.flags.owndata and g.flags.writeable


def test_strides_of_no_whole_number_of_elements_and_misaligned_arrays_go_the_other_way():
    x = T.vector("x")
    f = warmed(ag.function([x], x * 2), np.ones(3))
    records = np.zeros(4, [("a", "i1"), ("b", "f8")])
    records["b"] = [1, 2, 3, 4]
    assert not records["b"].flags.aligned
    np.testing.assert_array_equal(f(records["b"]), [2, 4, 6, 8])
    odd = np.zeros(3, np.dtype({"names": ["b", "c"], "formats": ["f8", "i4"], "offsets": [0, 8], "itemsize": 12}))
    odd["b"] = [1, 2, 3]
    np.testing.assert_array_equal(f(odd["b"]), [2, 4, 6])


def test_a_builtin_outlives_what_holds_its_library():
    """As when a process ends: modules are cleared before the last objects are collected."""
    script = """
import gc
import numpy as np
import arignote as ag
from arignote import ops as T
from arignote.cbackend.calls import native
x = T.vector("x")
f = ag.function([x], x + 1)
for _ in range(100):
    f(np.ones(3))
native._methods.clear()
gc.collect()
gc.collect()
print(f(np.ones(3)))
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout) == (0, "[2. 2. 2.]\n"), done.stderr
