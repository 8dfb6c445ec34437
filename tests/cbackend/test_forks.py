"""Children of fork find open, or whole, what threads of their parent were at."""

import importlib
import os
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from product_files import FILES

import arignote as ag
from arignote import ops as T
from arignote.cbackend.build import compiler_process
from arignote.cbackend.calls.update_locks import with_update_locks
from arignote.record.cached import cached_property
from arignote.record.forks import ProcessLock, fork_safe_lock

PATIENCE = 60.0

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork"),
    pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning"),
]


def in_child(work):
    """The exit code of a forked child: 0 if `work` returned something true; it is killed after PATIENCE seconds."""
    child = os.fork()
    if child == 0:
        code = 2
        try:
            code = 0 if work() else 1
        finally:
            os._exit(code)
    return ending_of(child)


def ending_of(child):
    begun = time.monotonic()
    while time.monotonic() - begun < PATIENCE:
        pid, status = os.waitpid(child, os.WNOHANG)
        if pid:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.001)
    os.kill(child, 9)
    os.waitpid(child, 0)
    return "hung"


class Meeting:
    """A thread does `work(pause)`: `pause()` lets the block begin, and waits for its end or `seconds`."""

    def __init__(self, work, seconds=PATIENCE):
        self._inside, self._over = threading.Event(), threading.Event()

        def pause():
            self._inside.set()
            self._over.wait(seconds)

        self._thread = threading.Thread(target=work, args=(pause,))

    def __enter__(self):
        self._thread.start()
        assert self._inside.wait(PATIENCE)

    def __exit__(self, *error):
        self._over.set()
        self._thread.join()


def test_a_property_that_a_thread_is_computing():
    class Slow:
        pause = None

        @cached_property
        def answer(self):
            """A docstring."""
            if self.pause:
                self.pause()
            return [42]

    def work(pause):
        slow = Slow()
        slow.pause = pause
        assert slow.answer is slow.answer

    with Meeting(work):
        assert in_child(lambda: Slow().answer == [42]) == 0
    assert Slow.answer.__doc__ == "A docstring."


def test_no_property_of_ours_is_computed_under_a_lock():
    texts = {path: path.read_text() for path in FILES}
    assert len(texts) > 200
    assert not [path for path, text in texts.items() if "functools" in text and "cached_property" in
                text.split("functools", 1)[1].split("\n", 1)[0]]  # fmt: skip


def test_a_lock_of_the_process_is_open():
    lock, free = ProcessLock(), ProcessLock()

    def work(pause):
        with lock:
            pause()

    def both():
        with lock, free, lock:
            return True

    with Meeting(work):
        assert in_child(both) == 0
    with lock:  # held by the thread that forks, which is the child's, too
        assert in_child(both) == 0


def test_a_fork_waits_for_locks_that_are_held_for_moments():
    lock, halves = fork_safe_lock(), [0, 0]

    def work(pause):
        with lock:
            halves[0] = 1
            pause()
            halves[1] = 1

    with Meeting(work, 0.3):
        assert in_child(lambda: halves == [1, 1] and lock.acquire(timeout=PATIENCE)) == 0


def test_a_fork_waits_for_modules_that_threads_are_loading(tmp_path, monkeypatch):
    name = "arignote.slowly_loaded"
    (tmp_path / "slowly_loaded.py").write_text("import arignote\narignote.pauses.pop()()\nanswer = 42\n")
    monkeypatch.setattr(ag, "__path__", [*ag.__path__, str(tmp_path)])

    def work(pause):
        ag.pauses = [pause]
        importlib.import_module(name)

    try:
        with Meeting(work, 0.3):
            assert in_child(lambda: importlib.import_module(name).answer == 42) == 0
        (tmp_path / "slowly_loaded.py").write_text("import arignote\nchild = arignote.pauses.pop()()\n")
        del sys.modules[name]
        importlib.invalidate_caches()
        ag.pauses = [lambda: in_child(lambda: True)]  # a module that forks
        assert importlib.import_module(name).child == 0
    finally:
        del ag.pauses, sys.modules[name]


def test_a_jitted_function_that_a_thread_is_tracing():
    pauses = []

    @ag.jit
    def f(x):
        if pauses:
            pauses.pop()()
        return T.exp(x) + 1

    def work(pause):
        pauses.append(pause)
        f(np.zeros(3))

    with Meeting(work):
        assert in_child(lambda: np.array_equal(f(np.zeros(3)), [2, 2, 2])) == 0
    assert np.array_equal(f(np.zeros(3)), [2, 2, 2])


def test_an_update_that_a_thread_is_at_is_whole():
    class Value:
        halves = 0, 0

    value, count = Value(), [0]

    def update(pause):
        count[0] += 1
        value.halves = count[0], 0
        pause()
        value.halves = count[0], count[0]

    locked = with_update_locks(update, [value])

    def again():
        whole = value.halves == (1, 1)
        locked(lambda: None)
        return whole and value.halves == (2, 2)

    with Meeting(locked, 0.3):
        assert in_child(again) == 0
    locked(lambda: None)
    assert value.halves == (2, 2)


def test_updates_of_shared_values_go_on_in_children():
    w = ag.shared(np.zeros(100_000), name="w")
    f = ag.function([], [], updates=[(w, w + 1)])
    stop = threading.Event()

    def churn(pause):
        f()
        pause()
        while not stop.is_set():
            f()

    def update():
        before = w.get_value()
        f()
        return len(set(before)) == 1 and np.array_equal(w.get_value(), before + 1)

    with Meeting(churn, 0):
        endings = [in_child(update) for _ in range(20)]
        stop.set()
    assert endings == [0] * 20


def test_a_compiler_is_not_waited_for_until_a_child_ends(tmp_path, monkeypatch):
    """A child that inherited the writing end of the compiler's pipe would keep it open as long as it lives."""
    message = []

    class Slow(subprocess.Popen):
        def _execute_child(self, *arguments):
            Slow.pause()  # the pipes are open
            super()._execute_child(*arguments)

    def work(pause):
        Slow.pause = pause
        message.append(compiler_process.run([sys.executable, "-c", "print('done')"], tmp_path, PATIENCE))

    monkeypatch.setattr(compiler_process.subprocess, "Popen", Slow)
    with Meeting(work, 0.3):
        child = os.fork()
        if child == 0:
            time.sleep(2 * PATIENCE)
            os._exit(0)
    os.kill(child, 9)
    assert ending_of(child) == -9
    assert [done.output.strip() for done in message] == ["done"]
