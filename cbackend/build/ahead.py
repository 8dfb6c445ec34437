"""A compiler that is started before there is anything to compile, and is ready by the time Python has the C.

gcc takes 10 ms before it reads its first line: it and its driver are loaded, and it sets up its tables.  That happens
while the graph is rewritten.  Its source is one line that includes what comes through a pipe; there it waits.  What it
makes is what it makes of a file, byte for byte, and where it fails, a compiler that reads the file says why.
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


class Waiting:
    """A compiler that waits for the text of a program, or of a unit of one.  `kill` it, whatever happens."""

    def __init__(self, toolchain: Toolchain, cache: Cache) -> None:
        self.toolchain = toolchain
        self._owner = os.getpid()
        self._folder, self._lock = create_scratch(cache.work_parents())
        try:
            write_whole(self._folder / "code.c", f'#include "{_PIPE}"\n'.encode(), durable=False)
            argv = toolchain.object_argv("code.c", "code.o")
            self._running = start(argv, self._folder, TIMEOUT_SECONDS, fed=True)
        except BaseException:
            remove_scratch(self._folder, self._lock)
            raise
        self.object: str = str(self._folder / "code.o")
        """The path of what it makes."""

    def begin(self, text: str, macros: Mapping[str, str]) -> bool:
        """Let it compile `text` with `macros` defined; False if it cannot."""
        defined = "".join(f"#define {name} {value}\n" for name, value in macros.items())
        return self._running.feed(f'{defined}# 1 "code.c"\n{text}'.encode())

    def wait(self) -> Finished:
        """Its output and exit code; as `Running.wait`."""
        return self._running.wait()

    def kill(self) -> None:
        """End it if it still runs, and remove what it made; a child of fork leaves its parent's alone."""
        if os.getpid() == self._owner:
            self._running.kill()
            remove_scratch(self._folder, self._lock)


_waiting: list[Waiting] = []
_missed = [False]
"""Whether the last program that was wanted was not in the cache."""


def note(missed: bool) -> None:
    """Tell whether a program had to be compiled: the next one will, too, more often than not."""
    _missed[0] = missed


@contextmanager
def compiler_ahead(toolchain: Toolchain, cache: Cache) -> Iterator[None]:
    """A block in which a compiler waits for a program, if one is likely to be compiled."""
    waiting = _started(toolchain, cache) if toolchain.linker and (_missed[0] or cache.has_no_libraries()) else None
    try:
        yield
    finally:
        if waiting is not None and _taken(waiting):
            waiting.kill()


@postponed()
def _started(toolchain: Toolchain, cache: Cache) -> Waiting | None:
    with suppress(OSError, CompileError):  # whoever compiles will say what is wrong
        waiting = Waiting(toolchain, cache)
        _waiting.append(waiting)
        return waiting
    return None


def _taken(waiting: Waiting) -> bool:
    """Take it; False if somebody else has."""
    with suppress(ValueError):
        _waiting.remove(waiting)
        return True
    return False


def take(toolchain: Toolchain) -> Waiting | None:
    """A compiler that waits, which is now the caller's to kill; None if there is none."""
    mine = (waiting for waiting in list(_waiting) if waiting.toolchain == toolchain)
    return next((waiting for waiting in mine if _taken(waiting)), None)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_waiting.clear)
