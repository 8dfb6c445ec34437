"""The command line beyond its commands: mistakes, options that cannot be read, output that goes nowhere, Ctrl-C."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import warnings

import pytest

import arignote as ag
from arignote import __main__ as command_line
from arignote import ops as T
from arignote import options
from arignote.cbackend.cache.store import Cache
from arignote.cli import doctor
from arignote.explain.recording import recorded

GRAPH = "fn(größe: float64[?]) {\n  a: float64[?] = add(größe, float64(1.0))\n  return a\n}\n"


@pytest.fixture
def run(tmp_path):
    """Runs `python -m arignote ...`; gives exit code, standard output and standard error."""
    (tmp_path / "graph.txt").write_text(GRAPH, encoding="utf-8")

    def ran(*arguments, **how):
        environment = {**os.environ, "ARIGNOTE_CACHE": str(tmp_path / "cache"), **how.pop("environment", {})}
        done = subprocess.run(
            [sys.executable, "-m", "arignote", *arguments], env=environment, cwd=tmp_path, check=False, timeout=120,
            **{"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **how},
        )  # fmt: skip
        return done.returncode, (done.stdout or b"").decode(), done.stderr.decode()

    return ran


@pytest.mark.parametrize("arguments, message", [
    (["docter"], "there is no 'docter'; did you mean 'doctor'?"),
    (["cache", "trimm"], "there is no 'trimm'; did you mean 'trim'?"),
    (["xyzzy"], "invalid choice: 'xyzzy'"),
    ([], "the following arguments are required: command"),
])  # fmt: skip
def test_a_misspelt_command_is_answered_with_the_one_that_was_meant(arguments, message, capsys):
    with pytest.raises(SystemExit) as ended:
        command_line.main(arguments)
    assert ended.value.code == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize("command", [["doctor"], ["cache", "size"], ["opt", "graph.txt"]])
def test_an_option_that_cannot_be_read_is_one_line(command, monkeypatch, capsys):
    monkeypatch.setenv("ARIGNOTE_THREADS", "two")
    monkeypatch.setattr(command_line, "process_options", options.process_options.__wrapped__)  # reads them again
    assert command_line.main(command) == 2
    assert capsys.readouterr().err == (
        "arignote: ARIGNOTE_THREADS is 'two'; expected a whole number of threads, at least 1\n"
    )


def test_files_that_cannot_be_used_are_named(tmp_path, capsys):
    x = T.vector("x")
    trace, binary, lost = tmp_path / "trace.json", tmp_path / "binary", tmp_path / "lost" / "page.html"
    trace.write_text(json.dumps(recorded(ag.function([x], x + 1, mode="NUMPY"))))
    binary.write_bytes(b"\xff\xfe\x00")
    for command, message in {
        ("opt", str(binary)): f"opt: {binary}: is no text in UTF-8\n",
        ("report", str(trace), "-o", str(lost)): f"report: {lost}: cannot be written: No such file or directory\n",
        ("report", str(trace), "-o", str(tmp_path)): f"report: {tmp_path}: cannot be written: Is a directory\n",
    }.items():
        assert command_line.main(command) == 1
        assert capsys.readouterr().err == message


@pytest.mark.skipif(os.name != "posix", reason="devices and signals as POSIX has them")
def test_output_that_goes_nowhere_is_no_traceback(run):
    with open(os.devnull, "w") as closed:
        code, _, error = run("opt", "graph.txt", stdout=closed, preexec_fn=lambda: os.close(1))
    assert (code, error) == (0, "")
    if os.path.exists("/dev/full"):
        with open("/dev/full", "w") as full:
            assert run("opt", "graph.txt", stdout=full)[::2] == (1, "arignote: No space left on device\n")
    reader, writer = os.pipe()
    os.close(reader)
    assert run("opt", "graph.txt", stdout=writer)[::2] == (1, "")
    os.close(writer)


def test_names_of_any_language_are_printed_in_any_locale(run):
    plain = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "PYTHONIOENCODING": "ascii"}
    code, message, error = run("opt", "graph.txt", environment={**plain, "ARIGNOTE_TREADS": "1"})
    assert (code, message.splitlines()[0]) == (0, "fn(gr\\xf6\\xdfe: float64[?]) {")
    assert error == "arignote: ARIGNOTE_TREADS is no option and has no effect; did you mean ARIGNOTE_THREADS?\n"


def test_ctrl_c_ends_a_command_without_a_traceback(monkeypatch, capsys):
    monkeypatch.setattr(command_line, "main", lambda: os.kill(os.getpid(), signal.SIGINT) or 0)
    monkeypatch.setattr(warnings, "formatwarning", warnings.formatwarning)
    assert command_line.run() == 130
    assert capsys.readouterr().err == "arignote: interrupted\n"


def test_the_doctor_tells_of_a_full_disk(tmp_path, monkeypatch):
    usage = type(shutil.disk_usage(tmp_path))
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage(1 << 30, 1 << 30, 1 << 20))
    *_, last = doctor.cache_state(Cache.open(tmp_path / "cache"))
    assert (last.subject, last.state) == ("cache", "warn")
    assert last.found == "its disk has 1.0 MiB left: compiled code may not be kept" and "ARIGNOTE_CACHE=" in last.fix
