"""Running a compiler: one process group, a private folder, a clean environment, a time limit, and nothing left when interrupted."""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

_KEPT_OUTPUT = 65536
_SHOWN_LINES = 6

# All that a compiler inherits: how to find its parts, and where macOS keeps headers.  CPATH, LIBRARY_PATH, LD_PRELOAD,
# GCC_EXEC_PREFIX, COMPILER_PATH and the like would change its output behind the cache's back.
_INHERITED = ("PATH", "SDKROOT", "DEVELOPER_DIR")


class CompileError(Exception):
    """The compiler was not found, failed, produced no usable library, or took too long; the text shows its first lines."""


@dataclass(frozen=True)
class Finished:
    """What a process said (stdout and stderr together, at most 64 KiB) and its exit code."""

    code: int
    output: str

    def first_lines(self) -> str:
        """The lines that say what is wrong, few enough to read."""
        lines = [line for line in self.output.splitlines() if line.strip()]
        telling = [line for line in lines if "error" in line.lower() or "undefined" in line.lower()] or lines
        return "\n".join(line[:200] for line in telling[:_SHOWN_LINES]) or "(it printed nothing)"


def run(
    argv: Sequence[str], folder: Path, timeout: float, *, extra: Mapping[str, str] | None = None,
    pass_fds: Sequence[int] = (),
) -> Finished:  # fmt: skip
    """Run `argv` (no shell) in `folder` and wait; `extra` joins its environment.

    On any exception, Ctrl-C too, its whole process group is killed first.

    Raises:
        CompileError: it cannot be started, or `timeout` seconds have passed.
    """
    try:
        process = subprocess.Popen(
            argv, cwd=folder, env={**_environment(folder), **(extra or {})}, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True, pass_fds=pass_fds,
        )  # fmt: skip
    except OSError as error:
        raise CompileError(f"{argv[0]} cannot be started: {error.strerror or error}") from None
    try:
        output = _drain(process, time.monotonic() + timeout)
        return Finished(process.wait(timeout=5), output.decode(errors="replace"))
    except subprocess.TimeoutExpired:
        _kill_group(process)
        raise CompileError(f"{argv[0]} did not finish within {timeout:g} s") from None
    except BaseException:
        _kill_group(process)
        raise


def _environment(folder: Path) -> dict[str, str]:
    inherited = {name: os.environ[name] for name in _INHERITED if name in os.environ}
    return {"PATH": os.defpath, **inherited, "HOME": str(folder), "TMPDIR": str(folder), "LC_ALL": "C"}


def _drain(process: subprocess.Popen[bytes], deadline: float) -> bytes:
    """The first bytes of what it prints; the rest is read and dropped until it closes its output."""
    assert process.stdout is not None
    kept = bytearray()
    with selectors.DefaultSelector() as selector, process.stdout as pipe:
        selector.register(pipe, selectors.EVENT_READ)
        while True:
            left = deadline - time.monotonic()
            if left <= 0 or not selector.select(left):
                raise subprocess.TimeoutExpired(process.args, left)
            chunk = os.read(pipe.fileno(), 65536)
            if not chunk:
                return bytes(kept)
            kept += chunk[: _KEPT_OUTPUT - len(kept)]


def _kill_group(process: subprocess.Popen[bytes]) -> None:
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        pass  # all of the group are gone
    process.wait()
