"""Builds beside others: processes that race, stop and are killed; a warm start runs no process."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from small_programs import answer, returning

from arignote.cbackend.build.build import build
from arignote.cbackend.build.compilation import library_key
from arignote.cbackend.build.toolchain import Toolchain
from arignote.cbackend.cache.entry import Kind
from arignote.cbackend.cache.folder import BAD, WORK
from arignote.cbackend.cache.store import Cache

# ---- Kills and races -----------------------------------------------------------------------------------------------

_BUILD_ONE = """
import sys
sys.path.insert(0, sys.argv[1])
from arignote.cbackend.cache.store import Cache
from arignote.cbackend.build.build import build
from arignote.cbackend.build.toolchain import Toolchain
from small_programs import answer, returning
cache = Cache.open(sys.argv[2])
toolchain = Toolchain.find(cache)
print("ready", flush=True)
sys.stdin.readline()
library = build(returning(int(sys.argv[3])), toolchain, cache)
print(answer(library), library.from_cache, flush=True)
"""


def _builder(cache: Cache, number: int) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-c", _BUILD_ONE, str(Path(__file__).parent), str(cache.folder.root), str(number)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    assert process.stdout.readline() == "ready\n"
    return process


def _go(process: subprocess.Popen[str]) -> None:
    process.stdin.write("\n")
    process.stdin.flush()


_FORKS = """
import os, random, signal, sys, time
sys.path.insert(0, sys.argv[1])
from arignote.cbackend.cache.store import Cache
from arignote.cbackend.build.build import build
from arignote.cbackend.build.toolchain import Toolchain
from small_programs import returning
cache = Cache.open(sys.argv[2])
toolchain = Toolchain.find(cache)
random_ = random.Random(3)
for number in range(int(sys.argv[3])):
    child = os.fork()
    if child == 0:
        build(returning(1000 + number), toolchain, cache)
        os._exit(0)
    time.sleep(random_.uniform(0, 0.08))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
print("killed")
"""


def test_kill_at_random_moments_leaves_nothing_bad(probed, toolchain):
    """100 builders are killed while they compile or store; every key then builds or loads, and the litter is swept."""
    bad_before = set((probed.folder.root / BAD).iterdir())
    done = subprocess.run(
        [sys.executable, "-c", _FORKS, str(Path(__file__).parent), str(probed.folder.root), "100"],
        capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip
    assert done.stdout == "killed\n", done.stderr[-2000:]
    survivors = 0
    for number in range(100):
        key = library_key(returning(1000 + number), toolchain)
        survivors += probed.load(Kind.LIBRARY, key) is not None  # a damaged entry would warn, and fail here
    assert survivors < 100
    assert set((probed.folder.root / BAD).iterdir()) == bad_before
    for number in range(0, 100, 10):
        assert answer(build(returning(1000 + number), toolchain, probed)) == 1000 + number
    deadline = time.monotonic() + 60  # compilers that lost their parent finish
    while list((probed.folder.root / WORK).iterdir()) and time.monotonic() < deadline:
        probed.work_parents()  # a sweep is bounded; each start of work does one
        time.sleep(0.001)
    assert not list((probed.folder.root / WORK).iterdir())


def test_processes_that_race_for_one_key(probed):
    racers = [_builder(probed, 77) for _ in range(4)]
    for process in racers:
        _go(process)
    outcomes = [process.communicate(timeout=60)[0].split() for process in racers]
    assert [value for value, _ in outcomes] == ["77"] * 4
    assert [from_cache for _, from_cache in outcomes].count("False") <= 2


def test_a_stopped_builder_does_not_hold_up_others(probed, toolchain):
    stopped = _builder(probed, 88)
    _go(stopped)
    time.sleep(0.02)
    os.killpg(stopped.pid, signal.SIGSTOP)
    try:
        assert answer(build(returning(88), toolchain, probed)) == 88
        assert stopped.poll() is None
    finally:
        os.killpg(stopped.pid, signal.SIGKILL)
        stopped.communicate()


# ---- Warm start ----------------------------------------------------------------------------------------------------

_WARM_RUN = """
import sys, time
sys.path.insert(0, sys.argv[1])
import subprocess
def forbidden(*_, **__): raise AssertionError("a process was started")
subprocess.Popen.__init__ = forbidden
import os
os.fork = os.posix_spawn = os.system = forbidden
from arignote.cbackend.cache.store import Cache
from arignote.cbackend.build.build import build
from arignote.cbackend.build.toolchain import Toolchain
from small_programs import answer, returning
start = time.process_time()
cache = Cache.open(sys.argv[2])
library = build(returning(42), Toolchain.find(cache), cache)
assert library.from_cache and answer(library) == 42
print(time.process_time() - start)
"""


def _warm_start(probed):
    """Seconds of processor time that a warm start takes in a process of its own, which starts no other process."""
    done = subprocess.run(
        [sys.executable, "-c", _WARM_RUN, str(Path(__file__).parent), str(probed.folder.root)],
        capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    return float(done.stdout)


def test_a_warm_start_runs_no_process(probed, toolchain):
    build(returning(42), toolchain, probed)
    assert _warm_start(probed) > 0


@pytest.mark.long  # it compares times
def test_a_warm_start_is_quick(probed, toolchain):
    build(returning(42), toolchain, probed)
    assert min(_warm_start(probed) for _ in range(3)) < 0.010


def test_a_changed_compiler_is_probed_again(probed, tmp_path, monkeypatch):
    wrapper = tmp_path / "mycc"
    wrapper.write_text(f'#!/bin/sh\nexec {shutil.which("gcc") or shutil.which("cc")} "$@"\n')
    wrapper.chmod(0o755)
    first = Toolchain.find(probed, str(wrapper))
    assert Toolchain.find(probed, str(wrapper)) == first
    wrapper.write_text(wrapper.read_text() + "# upgraded\n")
    second = Toolchain.find(probed, str(wrapper))
    assert second.is_current()
    assert second.fingerprint != first.fingerprint
