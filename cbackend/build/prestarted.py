"""Pre-started compiler: a compiler process that starts while the graph is optimized and waits for the C.

gcc takes 10 ms to load and to set up its tables before it reads its first line.  Its source is one line that includes
a pipe; there it waits.  Its object is the same, byte for byte, as that of a file.  If it fails, a compiler that reads
the file reports why.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress

from ..cache.files import write_whole
from ..cache.interrupts import postponed
from ..cache.scratch import create_scratch, remove_scratch
from ..cache.store import Cache
from .compiler_process import CompileError, Finished, start
from .toolchain import Toolchain

TIMEOUT_SECONDS = 600.0
_PIPE = "/dev/fd/0"


class PrestartedCompiler:
    """A compiler process that waits for the text of a program or unit.  The owner must `kill` it in any case."""

    def __init__(self, toolchain: Toolchain, cache: Cache) -> None:
        self.toolchain = toolchain
        self._owner = os.getpid()
        self._folder, self._lock = create_scratch(cache.work_parents())
        try:
            write_whole(self._folder / "code.c", f'#include "{_PIPE}"\n'.encode())
            argv = toolchain.object_argv("code.c", "code.o")
            self._running = start(argv, self._folder, TIMEOUT_SECONDS, fed=True)
        except BaseException:
            remove_scratch(self._folder, self._lock)
            raise
        self.object: str = str(self._folder / "code.o")
        """The path of its object file."""

    def begin(self, text: str, macros: Mapping[str, str]) -> bool:
        """Compile `text` with `macros` defined; return False if the process has ended."""
        defined = "".join(f"#define {name} {value}\n" for name, value in macros.items())
        return self._running.feed(f'{defined}# 1 "code.c"\n{text}'.encode())

    def wait(self) -> Finished:
        """Wait for its output and exit code, as `Running.wait`."""
        return self._running.wait()

    def kill(self) -> None:
        """End the process and remove its files; the child of a fork leaves its parent's compiler alone."""
        if os.getpid() == self._owner:
            self._running.kill()
            remove_scratch(self._folder, self._lock)


_waiting: list[PrestartedCompiler] = []
_missed = [False]
"""Whether the last program was a cache miss."""


def note(missed: bool) -> None:
    """Note a cache miss or hit: after a miss, another is likely."""
    _missed[0] = missed


@contextmanager
def prestarted_compiler(toolchain: Toolchain, cache: Cache) -> Iterator[None]:
    """Keep a compiler waiting during the block if a compilation is likely."""
    waiting = _started(toolchain, cache) if toolchain.linker and (_missed[0] or cache.has_no_libraries()) else None
    try:
        yield
    finally:
        if waiting is not None and _taken(waiting):
            waiting.kill()


@postponed()
def _started(toolchain: Toolchain, cache: Cache) -> PrestartedCompiler | None:
    with suppress(OSError, CompileError):  # the compilation itself will report the error
        waiting = PrestartedCompiler(toolchain, cache)
        _waiting.append(waiting)
        return waiting
    return None


def _taken(waiting: PrestartedCompiler) -> bool:
    """Claim the compiler; return False if another caller has claimed it."""
    with suppress(ValueError):
        _waiting.remove(waiting)
        return True
    return False


def take(toolchain: Toolchain) -> PrestartedCompiler | None:
    """Claim a waiting compiler, which the caller must then kill; None if there is none."""
    mine = (waiting for waiting in list(_waiting) if waiting.toolchain == toolchain)
    return next((waiting for waiting in mine if _taken(waiting)), None)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_waiting.clear)
