"""A lazy call of a function over Dask arrays means the values at the call; equal calls have equal tasks."""

import subprocess
import sys
import threading

import numpy as np
import pytest

import arignote as ag
from arignote import ops as T

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
X = np.random.default_rng(3).normal(size=(50, 4))
x, v = T.matrix("x"), T.vector("v")


@pytest.fixture(autouse=True)
def one_thread():
    with dask.config.set(scheduler="synchronous"):
        yield


def chunked(array=X, chunks=10):
    return da.from_array(array, chunks=(chunks, *array.shape[1:]))


@pytest.mark.parametrize("mode", ["NUMPY", "FAST_RUN"])
@pytest.mark.parametrize("made", [lambda f: f, ag.on_dask, lambda f: ag.on_dask(f, gather=True)])
def test_a_lazy_result_has_the_weights_of_the_call(mode, made):
    w, b = ag.shared(np.zeros(4), name="w"), ag.shared(np.zeros(3), name="b")
    predict = made(ag.function([x], x @ w + b.sum(), mode=mode))
    step = ag.function([], [], updates={w: w + 1, b: b - 1}, mode=mode)
    changes = [step, lambda: w.set_value(np.full(4, 5.0)), lambda: w.get_value(borrow=True).__setitem__(slice(2), 7)]
    for change in changes:
        want, lazy = X @ w.get_value() + b.get_value().sum(), predict(chunked())
        change()
        np.testing.assert_allclose(lazy.compute(), want)


def test_operands_and_results_may_be_changed_after_the_call():
    f = ag.function([x, v], [x * v, v, x, T.constant(np.ones(3)), v[::2], x.T, T.sum(v)], mode="NUMPY")
    factors, array = np.ones(4), chunked()
    lazy, want = f(array, factors), f(X, np.ones(4))
    factors[:], array[0] = 9, 5
    for result, expected in zip(lazy, want, strict=True):
        found = result.compute()
        np.testing.assert_array_equal(found, expected)
        found[...] = 77
        np.testing.assert_array_equal(result.compute(), expected)
    given = chunked()
    ag.function([x], x, mode="NUMPY")(given)[0] = 5
    np.testing.assert_array_equal(given.compute(), X)


def test_blocks_of_one_call_see_one_set_of_weights_while_a_thread_steps():
    w, b = ag.shared(np.zeros(500_000), name="w"), ag.shared(np.zeros(500_000), name="b")
    predict, stopped = ag.function([v], [v.sum() * 0 + w, b]), threading.Event()
    step = ag.function([], [], updates={w: w + 1, b: b - 1})

    def steps():
        while not stopped.is_set():
            step()

    thread = threading.Thread(target=steps)
    thread.start()
    try:
        for _ in range(20):
            first, second = dask.compute(*predict(da.ones(50, chunks=10)))
            assert first.min() == first.max() == -second.min() == -second.max()
    finally:
        stopped.set()
        thread.join()


def test_updates_of_threads_have_the_effect_of_calls_in_turn():
    count, other = ag.shared(0.0, name="count"), ag.shared(0.0, name="other")
    updates = {count: count + v.sum() / 50, other: other + count}
    tick, compiled = ag.on_dask(ag.function([v], count, updates=updates)), ag.function([v], count, updates=updates)
    ones, seen = da.ones(50, chunks=25), []
    calls = [lambda: tick(ones), lambda: tick(ones), lambda: compiled(np.ones(50))]
    threads = [threading.Thread(target=lambda c=c: seen.extend(float(c()) for _ in range(8))) for c in calls]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(seen) == list(range(24)) and (count.get_value(), other.get_value()) == (24, sum(range(24)))


def test_equal_calls_are_computed_once_and_others_are_not():
    read = []
    source = da.map_blocks(lambda block: read.append(1) or block, chunked(), dtype="float64", meta=X[:0])
    w = ag.shared(np.ones(4), name="w")
    f = ag.function([x, v], [x @ w + v[0], T.sum(x)], mode="NUMPY", name="f")
    same = ag.function([x, v], [x @ w + v[0], T.sum(x)], mode="NUMPY", name="f")
    calls = [g(source, np.ones(4)) for g in (f, f, same)]
    for results in zip(*calls, strict=True):
        assert len({r.name for r in results}) == 1
    read.clear()
    dask.compute(calls)
    assert len(read) == 5
    other = [f(source, np.full(4, 2.0)), f(chunked() * 2, np.ones(4)), f(chunked(chunks=25), np.ones(4))]
    other.append(ag.on_dask(f, arity=2)(source, np.ones(4)))
    other.append(ag.function([x, v], [x @ w - v[0], T.sum(x)], mode="NUMPY", name="f")(source, np.ones(4)))
    w.set_value(np.full(4, 3.0))
    other.append(f(source, np.ones(4)))
    assert len({results[0].name for results in [calls[0], *other]}) == 7


NAMES = """
import numpy as np, dask.array as da, arignote as ag
from arignote import ops as T
x, w = T.matrix("x"), ag.shared(np.ones(4), name="w")
f = ag.function([x], [T.exp(x) @ w, T.sum(x)], mode="NUMPY")
print([result.name for result in f(da.ones((50, 4), chunks=(10, 4)))])
"""


def test_names_of_tasks_are_equal_in_every_process():
    first, second = (subprocess.check_output([sys.executable, "-c", NAMES], text=True) for _ in range(2))
    assert first == second


def test_two_ops_of_a_program_have_two_names():
    made = [ag.elementwise_op("shifted", lambda x, k=k: x + k) for k in (1, 2)]
    results = [ag.function([x], op(x), mode="NUMPY")(chunked()) for op in made]
    assert results[0].name != results[1].name
    np.testing.assert_array_equal(results[1].compute(), X + 2)
