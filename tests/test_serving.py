"""Calls gathered into batches: results, errors, room, ends of threads, processes and programs."""

import asyncio
import os
import subprocess
import sys
import threading
import time

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
        future = serve.submit(np.ones(6), 2.0)
        assert np.allclose(future.result(timeout=30), 2 * np.tanh(np.ones(6) @ W))
        assert serve.calls == 1


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


def test_a_cancelled_call_is_left_out():
    with ag.batched(predictor(), max_batch=3, max_delay=60) as serve:
        first = serve.submit(np.ones(6), 1.0)
        assert first.cancel()
        rest = [serve.submit(np.ones(6), 1.0) for _ in range(2)]
        assert all(future.result(timeout=30).shape == (3,) for future in rest)
        assert serve.calls == 2


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


@pytest.mark.parametrize(("call", "kind", "said"), REFUSED)
def test_mistakes_are_named(call, kind, said):
    with pytest.raises(kind, match=said):
        call()


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
