"""Changes of shared state by a test are named and undone, and the order of tests follows from a seed."""

import gc
import locale
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from types import SimpleNamespace

import held_product
import isolation
import numpy as np
import pytest
from compiled import check
from draws import leave_few, share_of_cases
from isolation import ProcessState

import arignote as ag
from arignote import ops as T
from arignote.cbackend.runtime import runtime
from arignote.function.function import find_toolchain
from arignote.function.mode import MODES
from arignote.ops.reductions.reduce import Reduce
from arignote.optdb import rule, wilds

TESTS = Path(__file__).parents[1]
HELPERS = [TESTS / folder for folder in ("lib", "lib/rules", "lib/devices")]


def registered():
    (a,) = wilds("a")
    ag.optdb["specialize"].register("planted", rule("planted", T.exp(a), T.log(a)), "planted_tag")


HELD = threading.Event()
"""Event that ends the planted thread."""
CHANGES = {
    "os.environ: PLANTED was absent, is 'yes'": lambda: os.environ.update(PLANTED="yes"),
    "working folder": lambda: os.chdir("/"),
    "umask": lambda: os.umask(0o123),
    "temporary folder": lambda: setattr(tempfile, "tempdir", "nowhere"),
    "sys.path": lambda: sys.path.append("planted"),
    "recursion limit": lambda: sys.setrecursionlimit(sys.getrecursionlimit() + 1),
    "switch interval": lambda: sys.setswitchinterval(0.25),
    "profile function": lambda: sys.setprofile(lambda *_: None),
    "hooks of sys: excepthook": lambda: setattr(sys, "excepthook", print),
    "signal handlers: SIGTERM": lambda: signal.signal(signal.SIGTERM, print),
    "alarm": lambda: signal.alarm(1000),
    "gc enabled": gc.disable,
    "gc thresholds": lambda: gc.set_threshold(12345),
    "gc callbacks": lambda: gc.callbacks.append(print),
    "locale": lambda: locale.setlocale(locale.LC_ALL, "C.UTF-8"),
    "np.errstate: divide": lambda: np.seterr(divide="raise"),
    "np.printoptions: precision": lambda: np.set_printoptions(precision=2),
    "random": random.random,
    "np.random": np.random.rand,
    "arignote.optdb (specialize): planted was absent": registered,
    "arignote.optdb (optdb): merge1": lambda: ag.optdb.remove_tags("merge1", "fast_run"),
    "arignote.function.mode.MODES: PLANTED was absent": lambda: MODES.update(PLANTED=MODES["FAST_RUN"]),
    "arignote.ops.reductions.reduce.Reduce: infer was": lambda: setattr(Reduce, "infer", None),
    "arignote.ops: planted was absent": lambda: setattr(T, "planted", 1),
    "sys.modules['arignote.function.mode']": lambda: sys.modules.pop("arignote.function.mode"),
    "thread 'planted' still runs": lambda: threading.Thread(target=HELD.wait, name="planted").start(),
    "sleep 1000' still runs": lambda: subprocess.Popen(["sleep", "1000"]),
}


@pytest.mark.filterwarnings("ignore:subprocess:ResourceWarning")
@pytest.mark.parametrize("message", CHANGES)
def test_a_change_is_named_and_undone(message, monkeypatch, process_state):
    monkeypatch.setattr(isolation, "PATIENCE", 0.05)
    before = process_state.read()
    HELD.clear()
    CHANGES[message]()
    (line,) = process_state.restore(before)
    assert message in line
    HELD.set()
    for thread in threading.enumerate():
        if thread.name == "planted":
            thread.join()
    assert process_state.restore(before) == []


def test_a_temporary_file_that_is_left_is_named(process_state):
    before, path = process_state.read(), Path(tempfile.gettempdir(), "planted")
    path.touch()
    assert process_state.restore(before) == ["temporary file 'planted' is left"]
    path.unlink()
    assert process_state.restore(before) == []


@pytest.mark.skipif(find_toolchain() is None, reason="needs a C compiler")
def test_another_function_for_compiled_code_is_named_and_undone(process_state):
    x = T.dmatrix("x")
    check([x], [x @ x], [np.ones((3, 3))])
    before = process_state.read()
    table = runtime._loaded[0].table
    alloc, threads = table.alloc, table.threads
    table.alloc, table.threads = held_product.ffi.NULL, threads + 1
    assert process_state.restore(before) == ["functions that compiled code calls: alloc, threads"]
    assert table.alloc == alloc and table.threads == threads


def test_a_held_database_is_as_if_nothing_had_happened(process_state):
    state, query = ag.optdb.state(), ag.optdb.query("fast_run")
    registered()
    assert process_state.restore(process_state.read()) and "planted" not in ag.optdb
    assert ag.optdb.state() == state and ag.optdb.query("fast_run") == query


def test_a_module_that_a_test_loads_is_held_from_then_on():
    process_state = ProcessState()
    name = f"{held_product.PRODUCT}.planted"
    before, module = process_state.read(), type(sys)(name)
    module.TABLE, sys.modules[name] = {"one": 1}, module
    try:
        assert process_state.restore(before) == []
        module.TABLE["two"] = 2
        assert process_state.restore(before) == [f"{name}.TABLE: two was absent, is 2"]
        assert module.TABLE == {"one": 1}
    finally:
        del sys.modules[name]


SUITE = {
    "test_a.py": "import os\ndef test_bad(): os.environ['PLANTED'] = '1'\n"
    + "".join(f"def test_{k}(): assert 'PLANTED' not in os.environ\n" for k in range(12)),
    "test_b.py": "".join(f"def test_{k}(): pass\n" for k in range(12)),
}


def outcome(folder, *options, suite=SUITE):
    """The exit code, the output, and the names of tests in the order of their runs, of a small suite."""
    for name, text in suite.items():
        (folder / name).write_text(text)
    shutil.copy(TESTS / "conftest.py", folder)
    environment = {**os.environ, "PYTEST_ADDOPTS": "", "PYTHONPATH": os.pathsep.join(map(str, HELPERS))}
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "no:benchmark", "-v", *options]
    command += [f"--basetemp={folder / 'temporary'}", "."]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    lines = [line.split("::") for line in done.stdout.splitlines() if " PASSED" in line]
    return done.returncode, done.stdout, [f"{file}::{rest.split()[0]}" for file, rest in lines]


def test_the_test_that_changes_something_fails_and_no_other_one(tmp_path):
    code, message, order = outcome(tmp_path, "--order=file")
    assert code == 1 and "25 passed, 1 error" in message and "ERROR at teardown of test_bad" in message
    assert order[:3] == ["test_a.py::test_bad", "test_a.py::test_0", "test_a.py::test_1"]


CASES = """
import numpy as np, pytest
from arignote import ops as T
{}
@pytest.mark.parametrize("case", range(3))
def test_cases(case):
    if case == 0:
        T.planted = 1
    assert draws() == 0.5118216247002567
def test_later():
    assert draws() == 0.5118216247002567
"""


@pytest.mark.parametrize("options, blamed", [([], "test_later"), (["--blame"], "test_cases[0]")])
def test_a_change_of_the_product_is_blamed_on_its_file_or_its_test_and_generators_start_again(
    tmp_path, options, blamed
):
    draws = "RNG = np.random.default_rng(1)\ndef draws(): return RNG.random()\n"
    alone = "from test_a import draws\ndef test_first(): assert not hasattr(T, 'planted')"
    suite = {"test_a.py": CASES.format(draws), "test_b.py": CASES.format(alone)}
    code, report, order = outcome(tmp_path, "--order=file", *options, suite=suite)
    assert code == 1 and "9 passed, 2 errors" in report and report.count(f"ERROR at teardown of {blamed}") == 2
    assert report.count("arignote.ops: planted was absent, is 1") >= 2
    assert order[3:5] == ["test_a.py::test_later", "test_b.py::test_first"]


def test_a_seed_gives_an_order_of_files_and_of_tests(tmp_path):
    (_, _, one), (_, _, other) = (outcome(tmp_path, "--order=1") for _ in range(2))
    assert one == other and len(one) == 25 and one != sorted(one)
    files = [name.partition("::")[0] for name in one]
    assert files in (sorted(files), sorted(files, reverse=True))


@pytest.mark.long
def test_workers_take_the_seed_of_the_process_that_starts_them_which_prints_it(tmp_path):
    code, message, _ = outcome(tmp_path, "-n", "2", "-qq", "--order=random")
    assert code == 1 and "25 passed, 1 error" in message and message.partition("--order=")[2].split()[0].isdigit()


def test_shares_divide_the_long_tests():
    """Each long test is in one share, one of many cases case by case; ordinary tests are in all."""

    def item(name, *markers):
        return SimpleNamespace(nodeid=name, iter_markers=lambda name: (m for m in markers if m == name))

    many = [item(f"test_a.py::test_many[{k}]", "long") for k in range(20)]
    few = [item(f"test_a.py::test_few_{n}[{k}]", "long") for n in range(9) for k in range(3)]
    ordinary = [item(f"test_a.py::test_ordinary[{k}]") for k in range(20)]
    shares = [share_of_cases([*many, *few, *ordinary], f"{k}/3") for k in (1, 2, 3)]
    assert all(share[-20:] == ordinary for share in shares)
    divided = [one.nodeid for share in shares for one in share[:-20]]
    assert sorted(divided) == sorted(one.nodeid for one in (*many, *few))
    assert all(any(one in many for one in share) for share in shares)
    assert all(sum(one in few for one in share) % 3 == 0 for share in shares)
    assert share_of_cases(many, "1/1") == many
    with pytest.raises(pytest.UsageError, match="expected K/N with K from 1 to N"):
        share_of_cases(many, "4/3")


def test_a_few_cases_of_a_test_are_ordinary():
    """They stand at equal distances; long cases stay long, and other tests as they are."""

    class Item(SimpleNamespace):
        def get_closest_marker(self, name):
            return next((marker for marker in self.markers if marker.name == name), None)

        def add_marker(self, name):
            self.markers.append(getattr(pytest.mark, name).mark)

    def item(name, *markers):
        return Item(nodeid=name, markers=[marker.mark for marker in markers])

    few = [item(f"test_a.py::test_few[{k}]", pytest.mark.few(3)) for k in range(8)]
    one = [item("test_a.py::test_one", pytest.mark.few(2))]
    rest = [item("test_a.py::test_other"), item("test_a.py::test_few[long]", pytest.mark.few(3), pytest.mark.long)]
    leave_few([*few, *one, *rest])
    ordinary = [case for case in [*few, *one, *rest] if case.get_closest_marker("long") is None]
    assert ordinary == [few[0], few[2], few[5], *one, rest[0]]
