"""Head start on the first run on a machine: find and start the compiler while Python still optimizes the graph.

The first function of all waits for the probe of the compiler, for the part of the runtime that every function needs,
and for its own C.  The first two depend on no graph.  They are begun together, the runtime with the flags that the
probe is about to try; where it takes other ones, the early runtime is thrown away.
"""

from __future__ import annotations

import os
import weakref
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack, nullcontext, suppress
from pathlib import Path

from ..cache.interrupts import postponed
from ..cache.scratch import create_scratch, remove_scratch
from ..cache.store import Cache
from .build import expect
from .compilation import Job, begin
from .compiler_process import CompileError
from .prestarted import prestarted_compiler
from .probe import begin as begin_probe
from .probe import first_groups, flags_of, link_flags_of
from .toolchain import (
    Attempt,
    Begun,
    Search,
    Toolchain,
    absent,
    candidates,
    missing,
    remembered,
    search,
    zig_environment,
)


class HeadStart:
    """The search for a compiler and the compilation of `text()`, which begins unless the compiler is in the cache.

    `text` is None where there is nothing to compile; it is called only if the compiler is not in the cache.

    Nothing is waited for before `search`.  Compilers that still run when this object is collected, or when the process
    ends, are killed.
    """

    @postponed()
    def __init__(self, cache: Cache, compiler: str | None, text: Callable[[], str] | None) -> None:
        self._cache, self._compiler, self._text = cache, compiler, text
        self._probe: Begun | None = None
        self._job: Job | None = None
        self._found: Search | None = None
        self.absent: tuple[Toolchain, ...] = ()
        """Without a compiler: those that filled the cache, whose functions run from there."""
        stack = ExitStack()
        self._end = weakref.finalize(self, _close, stack, os.getpid())
        command = next(candidates(compiler), None)
        known = remembered(cache, command) if command else None
        if known is not None:
            self._found = Search(known, (*missing(compiler), Attempt(known.command, None)))
        elif command is None:
            self.absent = absent(cache)
        else:
            with suppress(OSError, CompileError):  # the search itself will say what is wrong
                self._begin(command, stack)

    def _begin(self, command: tuple[str, ...], stack: ExitStack) -> None:
        extra = zig_environment(self._cache, command)
        folder = _folder(self._cache, stack)
        running = begin_probe(command, folder, extra)
        stack.callback(running.kill)
        self._probe = Begun(command, folder, running)
        if self._text is None:
            return
        folder = _folder(self._cache, stack)
        self._job = begin(folder, self._text(), _expected(command), extra)
        stack.callback(self._job.kill)

    @property
    def known(self) -> Toolchain | None:
        """Return the compiler if it is known without waiting."""
        return self._found.toolchain if self._found else None

    @property
    def refused_cc(self) -> Attempt | None:
        """Return the compiler that the variable CC names, if it is already known not to work."""
        return self._found.refused_cc if self._found else None

    def prestarted_compiler(self) -> AbstractContextManager[None]:
        """Keep a known compiler waiting for a program during the block, if a compilation is likely."""
        return prestarted_compiler(self.known, self._cache) if self.known else nullcontext()

    def search(self) -> Search:
        """Return the toolchain that was found and the commands that were tried; see `toolchain.search`."""
        if self._found is None:
            self._found = search(self._cache, self._compiler, self._probe)
            toolchain = self._found.toolchain
            taken = toolchain and toolchain.argv("", "") == _expected(toolchain.command).argv("", "")
            if toolchain and taken and self._text and self._job:
                expect(self._text(), toolchain, self._job, self._end)
            else:
                self._end()
        return self._found


def _folder(cache: Cache, stack: ExitStack) -> Path:
    path, lock = create_scratch(cache.work_parents())
    stack.callback(remove_scratch, path, lock)
    return path


def _expected(command: tuple[str, ...]) -> Toolchain:
    """Return the toolchain that the probe will find, as far as its commands are concerned, if all tests pass."""
    return Toolchain(command, "", flags_of(first_groups()), link_flags_of(first_groups()), (), (), ())


def _close(stack: ExitStack, owner: int) -> None:
    """End the processes that still run; a child of fork leaves its parent's processes alone."""
    if os.getpid() == owner:
        stack.close()
