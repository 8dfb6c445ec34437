"""A tiered function answers at once, by NumPy, and goes on in C when that is ready; nothing is lost on the way."""

import gc
import importlib
import itertools
import os
import signal
import subprocess
import sys
import textwrap
import threading
import weakref

import numpy as np
import pytest

import arignote as ag
from arignote import ops as T
from arignote.cbackend import CompileError
from arignote.options import Options, as_budget

X = T.vector("X")
building = importlib.import_module("arignote.engines.c")


@pytest.fixture
def gate(monkeypatch):
    """Compilation waits until the gate is opened."""
    opened, compile_graph = threading.Event(), building.compile_graph

    def late(*args, **kwargs):
        opened.wait(60)
        return compile_graph(*args, **kwargs)

    monkeypatch.setattr(building, "compile_graph", late)
    yield opened
    opened.set()


def test_first_answers_come_from_numpy_and_later_ones_from_c(gate):
    f = ag.function([X], T.exp(X).sum(), compile_budget=0)
    x = np.linspace(0, 1, 1000)
    assert f.backend == "numpy" and not f.ready and not f.wait(0.01)
    first = f(x)
    gate.set()
    assert f.wait(60) and f.ready and f.backend == "c"
    np.testing.assert_allclose(f(x), first, rtol=1e-13)
    for _ in range(100):
        f(x)
    assert type(f._path).__name__ == "builtin_function_or_method"


def test_values_change_no_more_than_the_contract_allows(gate):
    rng = np.random.default_rng(0)
    x = rng.standard_normal((50, 40))
    M = T.matrix("M")
    outputs = [T.nn.softmax(M), (M * M).sum(0), M[::-1] + 1, T.tanh(M) @ M.T, (M * 7).astype("int32")]
    f = ag.function([M], outputs, compile_budget=0)
    before = f(x)
    gate.set()
    f.wait()
    for one, other in zip(before, f(x), strict=True):
        assert one.dtype == other.dtype and one.flags.c_contiguous
        np.testing.assert_allclose(one, other, rtol=1e-12)


def test_updates_go_on_where_they_were(gate):
    w = ag.shared(np.zeros(3), name="w")
    step = ag.function([X], w.sum(), updates=[(w, w + X)], compile_budget=0)
    for _ in range(5):
        step(np.ones(3))
    gate.set()
    step.wait()
    for _ in range(5):
        step(np.ones(3))
    assert (w.get_value() == 10).all()


def test_calls_from_threads_while_it_changes(gate):
    w = ag.shared(np.zeros(3), name="w")
    step = ag.function([X], w.sum(), updates=[(w, w + X)], compile_budget=0)

    def work():
        for _ in range(300):
            step(np.ones(3))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    gate.set()
    for thread in threads:
        thread.join()
    step.wait()
    assert step.backend == "c" and (w.get_value() == 1200).all()


def test_what_asks_for_c_waits_for_it(gate):
    f = ag.function([X], X * 2 + 1, compile_budget=0)
    threading.Timer(0.1, gate.set).start()
    assert "k_" in f.c_source() and f.program is not None and f.ready
    g = ag.function([X], X * 2 + 2, compile_budget=0)
    assert (g.bind(np.ones(2))() == 4).all() and g.ready


def test_c_that_does_not_compile_leaves_it_to_numpy(monkeypatch):
    def refused(*args, **kwargs):
        raise CompileError("gcc is not in the mood")

    monkeypatch.setattr(building, "compile_graph", refused)
    with pytest.warns(UserWarning, match="not in the mood"):
        f = ag.function([X], X * 3, compile_budget=60)
    assert f.ready and f.backend == "numpy" and (f(np.ones(2)) == 3).all()


def test_an_error_on_the_way_is_reported_and_loses_no_result(monkeypatch):
    def broken(*args, **kwargs):
        raise RuntimeError("out of order")

    monkeypatch.setattr(building, "compile_graph", broken)
    with pytest.warns(UserWarning, match="stays with NumPy.*out of order"):
        f = ag.function([X], X * 4, compile_budget=60)
    with pytest.raises(RuntimeError, match="out of order"):
        f.wait()
    assert (f(np.ones(2)) == 4).all() and f.ready and f.c_source() == ""


def test_a_budget_that_is_enough_is_waited_for():
    f = ag.function([X], X * 5 + 2, compile_budget=60)
    assert f.ready and f.backend == "c"


def test_what_is_cached_is_there_at_once():
    ag.function([X], X * 5 + 3)
    found = [ag.function([X], X * 5 + 3, tiered=True).ready for _ in range(5)]
    assert any(found)


def test_a_function_that_nobody_holds_goes(gate):
    f = ag.function([X], X * 6, compile_budget=0)
    gone = weakref.ref(f)
    del f
    gc.collect()
    assert gone() is None


def test_profiled_functions_wait():
    f = ag.function([X], X * 7, profile=True, tiered=True)
    f(np.ones(2))
    assert f.backend == "c" and f.profile.calls == 1


@pytest.mark.parametrize(("tiered", "budget", "expected"), [
    (None, None, None), (False, None, None), (True, None, 0.05), (None, 2, 2.0), (True, 0, 0.0),
    (False, 1, ValueError), (None, -1, ValueError), (None, "soon", TypeError), (1, None, TypeError),
    (None, float("nan"), ValueError), (None, True, ValueError),
])  # fmt: skip
def test_budgets(tiered, budget, expected):
    if isinstance(expected, type):
        with pytest.raises(expected, match=r"tiered|compile_budget"):
            as_budget(tiered, budget, Options())
    else:
        assert as_budget(tiered, budget, Options()) == expected


def test_the_environment_decides_where_nothing_is_given():
    options = Options.from_environment({"ARIGNOTE_TIERED": "1", "ARIGNOTE_COMPILE_BUDGET": "0.5"})
    assert as_budget(None, None, options) == 0.5 and as_budget(False, None, options) is None
    alone = Options.from_environment({"ARIGNOTE_COMPILE_BUDGET": "2"})
    assert as_budget(None, None, alone) == 2 and as_budget(False, None, alone) is None
    with pytest.raises(TypeError, match="ARIGNOTE_COMPILE_BUDGET"):
        Options.from_environment({"ARIGNOTE_COMPILE_BUDGET": "soon"})


SLOW_COMPILER = """\
#!/bin/sh
case "$*" in *code.c*) sleep {seconds};; esac
exec gcc "$@"
"""


@pytest.fixture
def slowly(tmp_path):
    """Run a program in a process of its own whose compiler takes seconds; interrupt it when it prints "waiting"."""

    def run(program, seconds=5):
        compiler = tmp_path / "slowcc"
        compiler.write_text(SLOW_COMPILER.format(seconds=seconds))
        compiler.chmod(0o755)
        cache = tmp_path / "cache"
        env = {**os.environ, "ARIGNOTE_CACHE": str(cache), "ARIGNOTE_CC": str(compiler)}
        process = subprocess.Popen([sys.executable, "-c", textwrap.dedent(program)], env=env, text=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT)  # fmt: skip
        output = ""
        if "waiting" in program:
            output = "".join(itertools.takewhile("waiting\n".__ne__, iter(process.stdout.readline, "")))
            process.send_signal(signal.SIGINT)
        output += process.communicate(timeout=240)[0]
        work = [p for p in cache.rglob("*") if p.name == "code.c"]
        assert not work, f"left behind: {work}"
        return output, process.returncode

    return run


PROGRAM = """
    import numpy as np, arignote as ag, time, os
    from arignote import ops as T
    x = T.vector("x")
    f = ag.function([x], T.exp(x) * 2 + 1, compile_budget=0)
    print("running", flush=True)
    assert np.allclose(f(np.zeros(3)), 3) and f.backend == "numpy"
"""


def test_the_end_of_the_interpreter_ends_the_compiler(slowly):
    assert slowly(PROGRAM, seconds=3600) == ("running\n", 0)


def test_ctrl_c_reaches_the_program_and_not_the_compiler(slowly):
    outcome = slowly(PROGRAM + """
    try:
        print("waiting", flush=True)
        time.sleep(60)
    except KeyboardInterrupt:
        print("interrupted")
    print(f.wait(60), f.backend, f(np.zeros(2)))
    """, seconds=1)  # fmt: skip
    assert outcome == ("running\ninterrupted\nTrue c [3. 3.]\n", 0)


def test_ctrl_c_ends_waiting_for_the_c(slowly):
    outcome = slowly(PROGRAM + """
    try:
        print("waiting", flush=True)
        f.wait()
    except KeyboardInterrupt:
        print("interrupted", f.ready, f(np.zeros(2)))
    """, seconds=3600)  # fmt: skip
    assert outcome == ("running\ninterrupted False [3. 3.]\n", 0)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_children_of_fork_compile_on_their_own(slowly):
    outcome = slowly(PROGRAM + """
    child = os.fork()
    if child == 0:
        assert not f.ready and np.allclose(f(np.zeros(3)), 3)
        assert f.wait(60) and f.backend == "c" and np.allclose(f(np.zeros(3)), 3)
        print("child", flush=True)
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    assert f.wait(60) and f.backend == "c" and np.allclose(f(np.zeros(3)), 3)
    print("parent")
    """, seconds=1)  # fmt: skip
    assert outcome == ("running\nchild\nparent\n", 0)
