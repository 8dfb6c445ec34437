"""Calls gathered into batches: results, errors, room, ends of threads, processes and programs."""

import asyncio
import os
import subprocess
import sys
import threading
import time
from concurrent.futures import wait

import numpy as np
import pytest

import arignote as ag
from arignote import ops as T

RNG = np.random.default_rng(4)
W = RNG.standard_normal((6, 3))


def predictor(form=lambda y, z: y):
    x, s = T.vector("x"), T.scalar("s")
    return ag.function([x, s], form(T.tanh(T.dot(x, W)) * s, T.sum(x)), mode="NUMPY", name="predict")


def in_threads(count, work):
    threads = [threading.Thread(target=work, args=(k,)) for k in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


FORMS = {"one": lambda y, z: y, "list": lambda y, z: [y, z], "dict": lambda y, z: {"a": z, "b": y}}


@pytest.mark.parametrize("form", FORMS)
def test_each_caller_gets_its_own_result_in_the_form_of_the_function(form):
    f, rows, found = predictor(FORMS[form]), RNG.standard_normal((40, 6)), [None] * 40
    with ag.batched(f, max_batch=8, max_delay=0.05) as serve:

        def work(k):
            found[k] = serve(rows[k], s=float(k))

        in_threads(40, work)
        assert serve.calls == 40 and 5 <= serve.batches < 40 and 1 < serve.largest <= 8
        assert "40 calls" in repr(serve)
    for k, got in enumerate(found):
        want = f(rows[k], float(k))
        assert type(got) is type(want)
        pairs = zip(got.values(), want.values(), strict=True) if form == "dict" else zip(got, want, strict=True)
        for a, b in [(got, want)] if form == "one" else pairs:
            np.testing.assert_allclose(a, b, rtol=1e-12)


def test_a_full_batch_does_not_wait_and_a_result_is_the_callers_own():
    with ag.batched(predictor(), max_batch=4, max_delay=60) as serve:
        futures = [serve.submit(np.full(6, float(k)), 1.0) for k in range(4)]
        results = [future.result(timeout=30) for future in futures]
        results[0][:] = 7
        assert not (results[1] == 7).any()
        assert serve.batches == 1


def test_arguments_may_change_after_submit():
    row = np.ones(6)
    with ag.batched(predictor(), max_batch=2, max_delay=60) as serve:
        first = serve.submit(row, 1.0)
        row[:] = np.nan
        serve.submit(np.zeros(6), 1.0)
        assert np.isfinite(first.result(timeout=30)).all()


def test_an_error_reaches_its_caller_alone():
    x, i = T.vector("x"), T.lscalar("i")
    f = ag.function([x, i], x[i], mode="NUMPY", name="pick")
    with ag.batched(f, max_batch=4, max_delay=60) as serve:
        futures = [serve.submit(np.arange(3.0), i) for i in (0, 7, 2, 1)]
        with pytest.raises(IndexError, match="pick"):
            futures[1].result(timeout=30)
        assert [float(futures[k].result(timeout=30)) for k in (0, 2, 3)] == [0, 2, 1]
        assert serve.batches == 1


def test_lengths_that_differ_from_example_to_example_are_refused():
    n = T.lscalar("n")
    with pytest.raises(TypeError, match="arange"):
        ag.batched(ag.function([n], T.arange(n), mode="NUMPY"))


def test_shapes_and_dtypes_form_their_own_batches():
    x = T.vector("x")
    f = ag.function([x], T.sum(x * 2), mode="NUMPY")
    with ag.batched(f, max_batch=2, max_delay=60) as serve:
        futures = [serve.submit(np.ones(n, d)) for d in ("float64", "int8") for n in (3, 5, 3, 5)]
        assert [float(future.result(timeout=30)) for future in futures] == [6, 10, 6, 10] * 2
        assert serve.batches == 4


def test_a_rare_shape_is_taken_when_it_is_due():
    x = T.vector("x")
    with ag.batched(ag.function([x], x * 2, mode="NUMPY"), max_batch=2, max_delay=60) as serve:
        queue = serve._queue
        with queue.changed:  # the worker waits meanwhile
            futures = [queue.put((np.ones(n),), blocks=False) for n in (4, 3, 3, 3, 3)]
            now = time.monotonic()
            (full, at), (due, then) = queue.next_group(now), queue.next_group(now + 61)
        assert (full[0][1], at) == ((3,), now)
        assert due[0][1] == (4,) and then <= now + 61
    assert [future.result(timeout=0).size for future in futures] == [4, 3, 3, 3, 3]


def test_what_ends_a_call_does_not_end_the_worker():
    with ag.batched(predictor(), max_batch=2, max_delay=0) as serve:
        assert serve(np.ones(6), 1.0).shape == (3,)
        compute = serve._queue.source
        serve._queue.source = lambda *_: (_ for _ in ()).throw(SystemExit("stop"))
        with pytest.raises(SystemExit, match="stop"):
            serve(np.ones(6), 1.0)
        serve._queue.source = compute
        assert serve(np.ones(6), 1.0).shape == (3,)


def test_an_interrupted_caller_takes_its_call_back(monkeypatch):
    with ag.batched(predictor(), max_batch=2, max_delay=60) as serve:
        with monkeypatch.context() as patched:
            patched.setattr("concurrent.futures.Future.result", lambda self: (_ for _ in ()).throw(KeyboardInterrupt))
            with pytest.raises(KeyboardInterrupt):
                serve(np.ones(6), 1.0)
        future, _ = (serve.submit(np.ones(6), 2.0) for _ in range(2))
        assert np.allclose(future.result(timeout=30), 2 * np.tanh(np.ones(6) @ W))
        assert serve.calls == 2


def test_callers_wait_for_room():
    release, x = threading.Event(), T.vector("x")
    f = ag.function([x], x * 2, mode="NUMPY")
    with ag.batched(f, max_batch=1, max_delay=0, max_waiting=2) as serve:
        compute = serve._queue.run
        serve._queue.run = lambda batch: (release.wait(30), compute(batch))
        futures, accepted = [], []

        def work():
            for k in range(6):
                futures.append(serve.submit(np.full(2, float(k))))
                accepted.append(k)

        thread = threading.Thread(target=work)
        thread.start()
        time.sleep(0.3)
        assert len(accepted) == 3  # one at work, two waiting

        async def several():
            return await asyncio.gather(*(serve.ask(np.full(2, float(k))) for k in range(5)))

        threading.Timer(0.2, release.set).start()
        assert [row[0] for row in asyncio.run(several())] == [0, 2, 4, 6, 8]
        thread.join()
        assert [future.result(timeout=30)[0] for future in futures] == [0, 2, 4, 6, 8, 10]


def test_a_cancelled_call_gives_its_place_to_another():
    with ag.batched(predictor(), max_batch=2, max_delay=60, max_waiting=2) as serve:
        first = serve.submit(np.ones(6), 1.0)
        other = serve.submit(np.ones(6), 1)  # of a group of its own
        wait([first, other], timeout=30)
        assert serve.calls == 2  # a full queue does not wait
        kept = serve.submit(np.ones(6), 1.0)
        for _ in range(5):
            assert serve.submit(np.ones(6), 2).cancel()
        blocked = serve._queue.waiting
        rest = serve.submit(np.ones(6), 3.0)
        assert blocked == 1 and all(future.result(timeout=30).shape == (3,) for future in (kept, rest))
        assert serve.calls == 4


def test_a_full_queue_does_not_wait_for_calls_that_cannot_come():
    with ag.batched(predictor(), max_batch=8, max_delay=60, max_waiting=3) as serve:
        futures = [serve.submit(np.ones(6), 1.0) for _ in range(7)]
        assert all(future.result(timeout=30).shape == (3,) for future in futures[:6])
        assert futures[6].cancel()
    x = T.vector("x")
    with ag.batched(ag.function([x], x * 2, mode="NUMPY"), max_batch=8, max_delay=60, max_waiting=3) as serve:
        futures = [serve.submit(np.ones(n)) for n in (1, 2, 3, 4)]
        assert futures[0].result(timeout=30).size == 1


@pytest.mark.parametrize("most", [1, 64])
def test_callbacks_may_call_submit_and_close(most):
    x, found, ended = T.vector("x"), [], threading.Event()
    serve = ag.batched(ag.function([x], x * 2, mode="NUMPY"), max_batch=2, max_delay=0.001, max_waiting=most)

    def again(future):
        value = future.result()
        found.append(value[0])
        found.append(serve(value)[0])
        found.append(serve.submit(value + 1).result(timeout=30)[0])
        inner = [serve.submit(value) for _ in range(5)]
        assert all(done.result(timeout=30)[0] == 2 * value[0] for done in inner)
        inner[-1].add_done_callback(lambda _: (serve.close(), ended.set()))

    serve.submit(np.ones(1)).add_done_callback(again)
    assert ended.wait(30) and found == [2, 4, 6]


def test_callbacks_run_before_close_returns_and_one_that_fails_is_logged(caplog):
    found = []
    with ag.batched(predictor(), max_batch=4, max_delay=60) as serve:
        future = serve.submit(np.ones(6), 1.0)
        future.add_done_callback(lambda _: 1 // 0)
        future.add_done_callback(lambda done: (time.sleep(0.1), found.append(done.result().shape)))
    assert found == [(3,)] and "ZeroDivisionError" in caplog.text
    future.add_done_callback(lambda done: found.append(threading.current_thread()))  # at once
    assert found[1] is threading.current_thread()


def test_a_result_has_the_same_class_alone_and_in_a_batch():
    x = T.vector("x")
    for outputs in (T.sum(x), [T.sum(x), x], {"a": T.argmax(x), "b": T.sum(x)}, [T.constant(2.0), T.sum(x)]):
        f = ag.function([x], outputs, mode="NUMPY")
        with ag.batched(f, max_batch=3, max_delay=0.2) as serve:
            alone = serve(np.arange(4.0))
            many = [serve.submit(np.arange(4.0)) for _ in range(3)]
            for future in many:
                results = alone, future.result(30), f(np.arange(4.0))
                for a, b, c in zip(*map(listed, results), strict=True):
                    assert (type(a), a.dtype, a.shape) == (type(b), b.dtype, b.shape) == (type(c), c.dtype, c.shape)
                    np.testing.assert_array_equal(a, b)
            assert serve.batches == 2


def listed(found):
    return list(found.values()) if isinstance(found, dict) else found if isinstance(found, list) else [found]


def test_callers_that_wait_for_room_are_informed_of_the_end():
    release, x, message = threading.Event(), T.vector("x"), []
    serve = ag.batched(ag.function([x], x * 2, mode="NUMPY"), max_batch=1, max_delay=0, max_waiting=1)
    compute = serve._queue.run
    serve._queue.run = lambda batch: (release.wait(30), compute(batch))
    accepted = [serve.submit(np.ones(2))]
    while serve._queue.waiting:
        time.sleep(0.001)
    accepted.append(serve.submit(np.ones(2)))

    def submitter():
        with pytest.raises(RuntimeError, match="is closed") as error:
            serve.submit(np.ones(2))
        message.append(error)

    def asker():
        with pytest.raises(RuntimeError, match="is closed") as error:
            asyncio.run(serve.ask(np.ones(2)))
        message.append(error)

    threads = [threading.Thread(target=work) for work in (submitter, asker)]
    for thread in threads:
        thread.start()
    while not serve._queue.listeners:
        time.sleep(0.001)
    threading.Timer(0.1, release.set).start()
    serve.close()
    for thread in threads:
        thread.join(30)
    assert len(message) == 2 and [future.result(timeout=0)[0] for future in accepted] == [2, 2]


def test_a_closed_one_answers_what_waits_and_takes_no_more():
    serve = ag.batched(predictor(), max_delay=60)
    future = serve.submit(np.ones(6), 1.0)
    serve.close()
    assert future.result(timeout=0).shape == (3,)
    serve.close()
    with pytest.raises(RuntimeError, match="predict is closed"):
        serve(np.ones(6), 1.0)


def test_a_forgotten_one_ends_its_thread():
    serve = ag.batched(predictor())
    serve(np.ones(6), 1.0)
    thread = serve._queue.thread
    assert thread.is_alive()
    del serve
    thread.join(30)
    assert not thread.is_alive()


STEP = ag.shared(0.0)
REFUSED = [
    (lambda: ag.batched(lambda x: x), TypeError, "expected a function that ag.function made"),
    (lambda: ag.batched(ag.function([], STEP, updates={STEP: STEP + 1}, mode="NUMPY")), TypeError, "updates"),
    (lambda: ag.batched(ag.function([], T.constant(1.0) * STEP, mode="NUMPY")), TypeError, "no inputs"),
    (lambda: ag.batched(predictor(), max_batch=0), ValueError, "max_batch is 0"),
    (lambda: ag.batched(predictor(), max_batch=True), ValueError, "max_batch is True"),
    (lambda: ag.batched(predictor(), max_waiting=2.5), ValueError, "max_waiting is 2.5"),
    (lambda: ag.batched(predictor(), max_delay=-1), ValueError, "max_delay is -1"),
    (lambda: ag.batched(predictor(), max_delay=float("nan")), ValueError, "max_delay is nan"),
    (lambda: ag.batched(predictor())(np.ones(6)), TypeError, "predict"),
    (lambda: ag.batched(predictor())(np.ones(6), 1.0, t=3), TypeError, "predict"),
]


@pytest.mark.parametrize(("call", "kind", "message"), REFUSED)
def test_mistakes_are_named(call, kind, message):
    with pytest.raises(kind, match=message):
        call()


@pytest.mark.long
@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_a_forked_child_begins_with_an_empty_queue():
    code = """
import os, numpy as np, arignote as ag
from arignote import ops as T
x = T.vector("x")
serve = ag.batched(ag.function([x], x * 2, mode="NUMPY"), max_delay=0.01)
serve(np.ones(2))
child = os.fork()
if child == 0:
    assert serve(np.ones(3)).tolist() == [2, 2, 2]
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
print(serve(np.ones(2)).tolist())
pending = serve.submit(np.ones(2))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "[2.0, 2.0]\n", "")
