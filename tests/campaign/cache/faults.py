"""System calls that fail: each of compile, store and load in turn, with each errno; the user's call is right.

`strace` makes them fail, in the process and in the compiler that it starts.  A worker is forked from a process in
which everything is imported, so that what fails belongs to a compilation; strace attaches to it while it waits.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import arignote as ag
from arignote import ops as T
from arignote.function.function import find_toolchain, head_start, process_cache
from arignote.options import process_options

from ..sandbox import ended, forked
from ..scorecard import Row, Trials

ERRORS = ("ENOSPC", "EDQUOT", "EIO", "EMFILE", "EROFS", "EACCES", "ESTALE", "EBUSY")
CALLS = (
    "openat", "read", "write", "fsync", "rename", "mkdir", "rmdir", "unlink", "newfstatat", "flock", "memfd_create",
    "fcntl", "getdents64", "pipe2", "vfork", "execve", "access", "readlink", "lseek", "utimensat", "poll", "fchmod",
)  # fmt: skip
_PATIENCE = 400.0  # gcc that cannot start its assembler retries for 15 s, and it is called several times


def call_with(folder: str) -> bool:
    """Steps of a user's process: find the compiler, compile, store, load, call; then again, from the cache."""
    os.environ["ARIGNOTE_CACHE"] = folder
    for known in (process_options, process_cache, head_start, find_toolchain):
        known.cache_clear()
    x = T.vector("x")
    a = np.arange(4.0)
    for _ in range(2):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = ag.function([x], [T.exp(x) + 1, T.sum(x * x)])(a)
        if not (np.allclose(found[0], np.exp(a) + 1, rtol=1e-14) and found[1] == 14.0):
            return False
    return True


def cases(occurrences: dict[str, int], full: bool) -> Iterator[tuple[str, str, str]]:
    """(system call, errno, which occurrences): each single one, and all from some on."""
    for call in CALLS if full else ("openat", "rename", "execve"):
        count = min(occurrences.get(call, 0), 6 if full else 1)
        for error in ERRORS if full else ERRORS[:1]:
            yield from ((call, error, str(k)) for k in range(1, count + 1))
            yield from ((call, error, f"{k}+") for k in {1, 1 + count // 2} if count)


def traced(expression: list[str], folder: str, log: Path) -> tuple[str, bool]:
    """How a worker ended while strace did its work, and whether strace was attached in time."""
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1})
    worker = forked(lambda: signal.sigwait({signal.SIGUSR1}) and call_with(folder))
    command = ["strace", "-f", "-o", str(log), *expression, "-p", str(worker)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as tracer:
        assert tracer.stderr is not None
        attached = "attached" in tracer.stderr.readline()
        os.kill(worker, signal.SIGUSR1)
        how, _ = ended(worker, _PATIENCE)
        tracer.send_signal(signal.SIGTERM)
    return how, attached


def run(full: bool) -> list[Row]:
    trials = Trials("G13", "one system call of compile, store, load fails: the user's call is right")
    if shutil.which("strace") is None:
        trials.check(True, "")
        return [trials.row("not tried: no strace")]
    failed = 0
    with tempfile.TemporaryDirectory() as top:
        log = Path(top, "log")
        how, attached = traced(["-e", f"trace={','.join(CALLS)}"], f"{top}/first", log)
        if not attached:
            trials.check(True, "")
            return [trials.row("not tried: no leave to trace")]
        names = re.findall(r"^\d+ +(\w+)\(", log.read_text(), re.M)
        occurrences = {name: names.count(name) for name in set(names)}
        for number, (call, error, which) in enumerate(cases(occurrences, full)):
            inject = ["-e", f"trace={call}", "-e", f"inject={call}:error={error}:when={which}"]
            how, attached = traced(inject, f"{top}/{number}", log)
            trials.check(attached and not how, f"{call} {which}: {error}: {how or 'not traced'}")
            failed += "(INJECTED)" in log.read_text()
            shutil.rmtree(f"{top}/{number}", ignore_errors=True)
    trials.check(failed > 0, "nothing was made to fail", 0)
    return [trials.row(f"{failed} of them met a call; strace -e inject")]
