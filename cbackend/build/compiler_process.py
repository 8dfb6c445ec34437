"""Running a compiler: its own process group and folder, a clean environment, a time limit, full clean-up."""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import threading
import time
import weakref
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from ...record import record
from ...record.forks import fork_safe_lock
from ...record.package_files import CompileError as CompileError
from ..cache.interrupts import POLL_SECONDS, check

try:
    from fcntl import F_GETPIPE_SZ, F_SETPIPE_SZ, fcntl
except ImportError:  # only Linux has pipes whose length can be told; elsewhere nothing is started `fed`
    fcntl = None  # type: ignore[assignment]

_KEPT_OUTPUT = 65536
_SHOWN_LINES = 6

# All that a compiler inherits: how to find its parts, and where macOS keeps headers.  CPATH, LIBRARY_PATH, LD_PRELOAD,
# GCC_EXEC_PREFIX, COMPILER_PATH and the like would change its output behind the cache's back.
_INHERITED = ("PATH", "SDKROOT", "DEVELOPER_DIR")


class NotStartedError(CompileError):
    """A process that could not be started."""


@record
class Finished:
    """The output of a process (stdout and stderr together, at most 64 KiB) and its exit code."""

    code: int
    output: str

    def first_lines(self) -> str:
        """Return the lines that say what is wrong, at most a few."""
        lines = [line for line in self.output.splitlines() if line.strip()]
        telling = [line for line in lines if "error" in line.lower() or "undefined" in line.lower()] or lines
        return "\n".join(line[:200] for line in telling[:_SHOWN_LINES]) or "(it printed nothing)"


_running: weakref.WeakSet[Running] = weakref.WeakSet()
_ending = threading.Event()
_starting = fork_safe_lock()
"""Lock held while pipes for a new process are open.

A child of fork would inherit their ends and never close them, and this process would wait for it.
"""


@contextmanager
def ended() -> Iterator[None]:
    """A block before which all compilers are ended, and in which none starts: threads that need one end as well.

    It is for a main thread that is about to end the interpreter.
    """
    _ending.set()
    try:
        for running in list(_running):
            running.end()
        yield
    finally:
        _ending.clear()


def _check_not_ending() -> None:
    if _ending.is_set():
        raise SystemExit  # no error: there is no waiting caller, and only the clean-up is left


class Running:
    """A started process, alone in its process group.  `wait` for it or `kill` it, whatever happens."""

    def __init__(self, process: subprocess.Popen[bytes], name: str, timeout: float) -> None:
        self._process = process
        self._name = name
        self._timeout = timeout
        self._deadline = time.monotonic() + timeout
        _running.add(self)

    def wait(self) -> Finished:
        """Return its output and exit code.  On any exception, Ctrl-C too, the whole group is killed first.

        Ctrl-C that is postponed (cache/interrupts.py) is raised here.

        Raises:
            CompileError: the time limit has passed.
        """
        try:
            output = _drain(self._process, self._deadline)
            _check_not_ending()
            return Finished(self._process.wait(timeout=5), output.decode(errors="replace"))
        except subprocess.TimeoutExpired:
            self.kill()
            raise CompileError(f"{self._name} did not finish within {self._timeout:g} s") from None
        except BaseException:
            self.kill()
            raise

    def feed(self, text: bytes) -> bool:
        """Write its whole input, if it was started `fed`; return False if it does not accept the input.

        This never blocks: the pipe is made as long as the text.
        """
        assert self._process.stdin is not None
        try:
            with self._process.stdin as pipe:
                length = fcntl(pipe.fileno(), F_GETPIPE_SZ)
                if len(text) > length:
                    length = fcntl(pipe.fileno(), F_SETPIPE_SZ, len(text))
                return len(text) <= length and pipe.write(text) == len(text)
        except OSError:
            return False

    def end(self) -> None:
        """Kill the whole process group (SIGKILL); a thread that waits for it notices."""
        if self._process.poll() is None:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)

    def kill(self) -> None:
        """Kill the whole process group if it still runs, and wait for its end."""
        self.end()
        self._process.wait()
        self._close()

    def _close(self) -> None:
        """Close our ends of the pipes of the process."""
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe:
                pipe.close()


def _in_child() -> None:
    """Close, in a child of fork, the pipes of the parent's compilers; an open pipe would keep them waiting."""
    for running in list(_running):
        running._close()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_in_child)


def start(
    argv: Sequence[str], folder: Path, timeout: float, *, extra: Mapping[str, str] | None = None,
    pass_fds: Sequence[int] = (), fed: bool = False,
) -> Running:  # fmt: skip
    """Start `argv` (no shell) in `folder` with a time limit in seconds; `extra` joins its environment.

    `fed`: it reads what `Running.feed` gives it; else it finds nothing to read.

    Raises:
        NotStartedError: a CompileError.
    """
    _check_not_ending()
    try:
        with _starting:
            process = subprocess.Popen(
                argv, cwd=folder, env={**_environment(folder), **(extra or {})}, bufsize=0,
                stdin=subprocess.PIPE if fed else subprocess.DEVNULL,
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True, pass_fds=pass_fds,
                umask=0o077,
            )  # fmt: skip
    except OSError as error:
        raise NotStartedError(f"{argv[0]} cannot be started: {error.strerror or error}") from None
    return Running(process, argv[0], timeout)


def run(
    argv: Sequence[str], folder: Path, timeout: float, *, extra: Mapping[str, str] | None = None,
    pass_fds: Sequence[int] = (),
) -> Finished:  # fmt: skip
    """Return the output of `argv` and its exit code; arguments and errors as for `start` and `Running.wait`."""
    return start(argv, folder, timeout, extra=extra, pass_fds=pass_fds).wait()


def find_programs(name: str) -> Iterator[str]:
    """Yield the programs that `name` may mean: itself if it is an absolute path, else those on PATH, in order."""
    if os.path.dirname(name):
        places = [name]
    else:
        places = [os.path.join(folder, name) for folder in os.environ.get("PATH", os.defpath).split(os.pathsep)]
    for path in places:
        if os.path.isabs(path) and os.path.isfile(path) and os.access(path, os.X_OK):
            yield path


def _environment(folder: Path) -> dict[str, str]:
    inherited = {name: os.environ[name] for name in _INHERITED if name in os.environ}
    return {"PATH": os.defpath, **inherited, "HOME": str(folder), "TMPDIR": str(folder), "LC_ALL": "C"}


def _drain(process: subprocess.Popen[bytes], deadline: float) -> bytes:
    """Return the first bytes of its output; the rest is read and dropped until the process closes it."""
    assert process.stdout is not None
    kept = bytearray()
    with selectors.DefaultSelector() as selector, process.stdout as pipe:
        selector.register(pipe, selectors.EVENT_READ)
        while True:
            check()
            left = deadline - time.monotonic()
            if left <= 0:
                raise subprocess.TimeoutExpired(process.args, left)
            if not selector.select(min(left, POLL_SECONDS)):
                continue
            chunk = os.read(pipe.fileno(), 65536)
            if not chunk:
                return bytes(kept)
            kept += chunk[: _KEPT_OUTPUT - len(kept)]
