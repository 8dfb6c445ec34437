"""The garbage collector rests while graphs are rewritten, and runs again afterwards, whatever happened."""

import gc
import os
import threading

import pytest

import arignote as ag
from arignote import ops as T
from arignote.graph import gc_paused


@pytest.fixture(autouse=True)
def running():
    gc.enable()
    yield
    gc.enable()


def test_it_rests_inside_and_runs_outside():
    with gc_paused:
        with gc_paused:
            assert not gc.isenabled()
        assert not gc.isenabled()
    assert gc.isenabled()


def test_it_runs_again_after_an_error():
    with pytest.raises(ValueError, match="mine"), gc_paused:
        raise ValueError("mine")
    assert gc.isenabled()


def test_who_has_stopped_it_finds_it_stopped():
    gc.disable()
    with gc_paused:
        pass
    assert not gc.isenabled()


def test_the_last_thread_to_leave_starts_it():
    entered, leave = threading.Event(), threading.Event()

    def other():
        with gc_paused:
            entered.set()
            leave.wait()

    thread = threading.Thread(target=other)
    with gc_paused:
        thread.start()
        entered.wait()
    assert not gc.isenabled()
    leave.set()
    thread.join()
    assert gc.isenabled()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_child_has_no_part_in_what_other_threads_do():
    entered, leave = threading.Event(), threading.Event()

    def other():
        with gc_paused:
            entered.set()
            leave.wait()

    thread = threading.Thread(target=other)
    thread.start()
    entered.wait()
    child = os.fork()
    if child == 0:
        runs = gc.isenabled()
        with gc_paused:
            rests = not gc.isenabled()
        os._exit(0 if runs and rests and gc.isenabled() else 1)
    leave.set()
    thread.join()
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_rules_run_while_it_rests_and_it_runs_again_when_one_raises():
    x = T.vector("x")
    seen = []

    def watch(replacement):
        seen.append(gc.isenabled())
        raise KeyError("the watcher's own")

    with pytest.warns(UserWarning, match="watcher"):
        ag.rewrite(-(-x), "canonicalize", watch=watch)
    assert seen
    assert not any(seen)
    assert gc.isenabled()
