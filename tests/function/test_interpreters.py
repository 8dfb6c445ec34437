"""Every command and every way out of a program, on each Python that is found on the PATH: nothing begins at the end.

From Python 3.12 on a thread that begins in an atexit callback is a RuntimeError, and only a errors of the interpreter
tells of it; so standard error must be empty.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from arignote.cbackend.cache.store import Cache
from arignote.cbackend.calls import roofline as roofs
from arignote.engines import tiered

pytestmark = pytest.mark.skipif(os.name != "posix", reason="exit codes and forks as POSIX has them")

ROOT = Path(__file__).resolve().parents[2]
NEEDED = "import sys, numpy, cffi, setuptools, threadpoolctl; raise SystemExit(sys.implementation.name != 'cpython')"
VERSIONS = ("this one", "python3.10", "python3.11", "python3.12", "python3.13", "python3.14")
WAYS_OUT = {  # the end of a program, its exit code, what standard error may hold
    "end": ("", 0, ""),
    "exit code": ("sys.exit(3)", 3, ""),
    "error": ("raise KeyError('mine')", 1, "KeyError: 'mine'"),
    "Ctrl-C": ("os.kill(os.getpid(), signal.SIGINT)", -2, "KeyboardInterrupt"),
    "no exit at all": ("os._exit(4)", 4, ""),
    "threads": ("threading.Thread(target=lambda: ag.function([x], T.exp(x).sum())(data)).start()", 0, ""),
    "tiers to come": ("ag.function([x], T.sin(x).sum(), compile_budget=0.0)(data)", 0, ""),
    "a child": ("os.fork() or sys.exit(f(data) is None); sys.exit(os.wait()[1])", 0, ""),
    "a profile at the end": ("atexit.register(lambda: print(f.profile))", 0, ""),
    "compiling at the end": ("atexit.register(lambda: ag.function([x], T.exp(x).sum())(data))", 0, ""),
    "tiers at the end": ("atexit.register(lambda: ag.function([x], T.cos(x), compile_budget=0.0)(data))", 0, ""),
}
PROGRAM = """
import atexit, os, signal, sys, threading
import numpy as np, arignote as ag
from arignote import ops as T
name, way, trace = None, "", sys.argv[1]
for line in sys.argv[2:]:
    name, way, traced = line.split("|")
    child = os.fork()
    if child == 0:
        os.dup2(os.open(name, os.O_CREAT | os.O_WRONLY), 2)
        break
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    print(f"{name}|{code}", flush=True)
else:
    os._exit(0)
if traced:
    os.environ["ARIGNOTE_TRACE"] = trace
x, data = T.vector("x"), np.ones(300_000)
f = ag.function([x], T.exp(x).sum(), profile=not traced)
f(data)
exec(way)
"""
COMMANDS = """
import sys
from arignote.__main__ import main
graph, trace, page = sys.argv[1:]
for command in (["doctor"], ["cache", "list"], ["cache", "size"], ["opt", graph], ["bisect", graph],
                ["report", trace, "-o", page]):
    code = main(command)
    sys.stdout.flush()
    assert code == 0, (command, code)
"""
GRAPH = "fn(x: float64[?]) {\n  a: float64[?] = add(x, float64(1.0))\n  b: float64[?] = log(a)\n  return b\n}\n"


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder to run programs in."""
    folder = tmp_path_factory.mktemp("place")
    (folder / "graph.txt").write_text(GRAPH)
    return folder


@pytest.fixture(params=VERSIONS)
def python(request):
    """An interpreter with the packages that Arignote needs; skipped by name if there is none."""
    if request.param == "this one":
        return sys.executable
    here = f"python3.{sys.version_info[1]}"
    found = shutil.which(request.param)
    if request.param == here or found is None:
        pytest.skip(f"{request.param}: " + ("runs these tests" if request.param == here else "not on the PATH"))
    if subprocess.run([found, "-c", NEEDED], capture_output=True, check=False, cwd="/").returncode:
        pytest.skip(f"{request.param}: {found} does not start, or lacks NumPy, cffi, setuptools or threadpoolctl")
    return found


def run(python, place, program, *arguments, **environment):
    """Exit code, standard output and standard error of a program on another interpreter."""
    settings = {"PYTHONPATH": str(ROOT), "HOME": str(place), **environment}
    kept = {name: value for name, value in os.environ.items() if not name.startswith("ARIGNOTE_")}
    done = subprocess.run(
        [python, "-W", "error", "-c", program, *map(str, arguments)], cwd=place, env={**kept, **settings}, text=True,
        capture_output=True, timeout=300, check=False,
    )  # fmt: skip
    return done.returncode, done.stdout, done.stderr


@pytest.mark.few(2)
def test_ways_out_and_commands(python, place, tmp_path):
    trace, cache = tmp_path / "trace", str(tmp_path / "cache")
    ways = {f"{name}, {'traced' if traced else 'profiled'}": (*WAYS_OUT[name], traced)
            for traced in (True, False) for name in WAYS_OUT if traced or "the end" in name}  # fmt: skip
    lines = [f"{tmp_path / name}|{way}|{'yes' if traced else ''}" for name, (way, _, _, traced) in ways.items()]
    code, errors, error = run(python, place, PROGRAM, trace, *lines, ARIGNOTE_CACHE=cache)
    assert (code, error) == (0, "")
    codes = dict(line.rsplit("|", 1) for line in errors.splitlines() if line.startswith(str(tmp_path)))
    wrong = []
    for name, (_, expected, allowed, _) in ways.items():
        code, errors = int(codes[str(tmp_path / name)]), (tmp_path / name).read_text().strip()
        if code != expected or not (allowed in errors if allowed else not errors) or "interpreter shutdown" in errors:
            wrong.append(f"{name}: exit code {code}, expected {expected}; {errors}")
    code, _, errors = run(python, place, COMMANDS, place / "graph.txt", trace, tmp_path / "page", ARIGNOTE_CACHE=cache)
    wrong += [f"commands: exit code {code}; {errors}"] if code or errors else []
    assert not wrong, "\n".join(wrong)
    assert any('"roofline": {' in record.read_text() for record in trace.glob("*-0001.json"))


def test_nothing_is_measured_or_begun_when_the_interpreter_ends(tmp_path, monkeypatch):
    for module in (roofs, tiered):
        monkeypatch.setattr(module, "interpreter_ends", lambda: True)
    monkeypatch.setattr(roofs, "measure", lambda *_: pytest.fail("measured at the end"))
    known = type("Known", (), {"fingerprint": "of a test"})()
    assert roofs.roofline(known, Cache.open(tmp_path / "cache")) is None
    late = tiered.Tiered(lambda: 7, lambda: pytest.fail("compiled at the end"), "f")
    assert late.ready and late() == 7
    with pytest.raises(RuntimeError, match="f stays with NumPy: the interpreter is shutting down"):
        late.wait()
