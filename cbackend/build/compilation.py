"""C text -> the bytes of a library, and the key under which these are kept.

This module does not load the libraries that it makes: build.py loads them; the installation of a package does not.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

from ..abi.declarations import VERSION, declarations
from ..cache.files import write_whole
from ..cache.interrupts import postponed
from ..cache.store import Cache
from .compiler_process import CompileError, Finished, Running, start
from .elf import elf_defect
from .linking import needs_libraries
from .prestarted import PrestartedCompiler, take
from .toolchain import Toolchain, zig_environment
from .units import text_digest
from .work_folder import in_work_folder

TIMEOUT_SECONDS = 600.0
UNITS = (1, 2)
_ENTRY = "\ni32 ag_entry(ag_call *call)\n{"
"""The beginning of the entry, by which the text of a program is known; programs link without start files."""


def library_key(text: str, toolchain: Toolchain) -> bytes:
    """Return the digest under which the library of `text` is stored, over all that shapes its code."""
    return library_key_of_digest(text_digest(text), toolchain)


def library_key_of_digest(digest: str, toolchain: Toolchain) -> bytes:
    """Return the digest under which the library of a text is stored.  `digest`: the `text_digest` of the text."""
    parts = (digest, text_digest(toolchain.fingerprint), text_digest(_interface()))
    return hashlib.sha256("\0".join(parts).encode()).digest()


@lru_cache(maxsize=1)
def _interface() -> str:
    """Return the digest of the binary interface."""
    return hashlib.sha256(f"{VERSION}{declarations()}".encode()).hexdigest()


@postponed()
def compile_text(text: str, toolchain: Toolchain, cache: Cache) -> bytes:
    """Return the bytes of the shared object of the C file `text`; no file is left on disk.

    The file is called `code.c` in every build, so that equal text gives equal bytes.

    Raises:
        CompileError: the compiler fails, takes longer than ten minutes, or leaves no usable library.
    """
    extra = zig_environment(cache, toolchain.command)
    return in_work_folder(cache.work_parents(), lambda folder: begin(folder, text, toolchain, extra).payload())


def begin(folder: Path, text: str, toolchain: Toolchain, extra: Mapping[str, str]) -> Job:
    """Begin the compilation of `text` in `folder`; `extra` joins the compiler's environment.

    Raises:
        CompileError: the compiler cannot be started.
    """
    write_whole(folder / "code.c", text.encode())
    return Job(folder, text, toolchain, extra)


class Job:
    """Compilation of `code.c` in a folder to `code.so`: one compiler and the linker, or two compilers, one per unit."""

    def __init__(self, folder: Path, text: str, toolchain: Toolchain, extra: Mapping[str, str] | None) -> None:
        self._folder, self._text, self._toolchain, self._extra = folder, text, toolchain, extra
        self._running: list[Running | PrestartedCompiler] = []
        self._objects: list[str] = []
        self._begin(toolchain.linker != ())

    def _begin(self, ahead: bool) -> None:
        """Start the compilers; `ahead` allows the use of pre-started ones."""
        in_units, bare = "#ifdef AG_UNIT" in self._text, _ENTRY in self._text
        try:
            if in_units or (bare and self._toolchain.linker):
                for unit in UNITS if in_units else (0,):
                    self._begin_object(f"code{unit}.o", {"AG_UNIT": str(unit)} if unit else {}, ahead)
            else:
                self._running.append(self._started(self._toolchain.argv("code.c", "code.so", bare)))
        except BaseException:
            self.kill()
            raise

    def _begin_object(self, name: str, macros: Mapping[str, str], ahead: bool) -> None:
        waiting = take(self._toolchain) if ahead else None
        if waiting is not None:
            self._running.append(waiting)
            if waiting.begin(self._text, macros):
                self._objects.append(waiting.object)
                return
            self._running.pop().kill()
        reported = [f"-D{macro}={value}" for macro, value in macros.items()]
        self._running.append(self._started(self._toolchain.object_argv("code.c", name, *reported)))
        self._objects.append(name)

    def _started(self, command: Sequence[str]) -> Running:
        return start(command, self._folder, TIMEOUT_SECONDS, extra=self._extra)

    def payload(self) -> bytes:
        """Return the bytes of the library once it is made; no process of the job is left.

        Raises:
            CompileError: a compiler fails, takes too long, or leaves no usable library.
        """
        try:
            done, program = self._wait(), self._toolchain.command[0]
        finally:
            self.kill()
        if done.code != 0:
            raise CompileError(f"{program} failed with exit code {done.code}:\n{done.first_lines()}")
        library = self._folder / "code.so"
        payload = library.read_bytes() if library.is_file() else b""
        reason = elf_defect(payload)
        if reason:
            raise CompileError(f"{program} reported success but left no usable library: {reason}")
        return payload

    def _wait(self) -> Finished:
        """Return the output of the last command, or of the first that failed."""
        finished = [running.wait() for running in self._running]
        failed = next((done for done in finished if done.code != 0), None)
        if failed is not None and any(isinstance(running, PrestartedCompiler) for running in self._running):
            self.kill()
            self._begin(ahead=False)
            return self._wait()
        if failed is not None or not self._objects:
            return failed or finished[0]
        return self._linked()

    def _linked(self) -> Finished:
        """Return the output of the linker; if it failed, that of the compiler, which calls the linker itself."""
        if not all((self._folder / name).is_file() for name in self._objects):
            return Finished(0, "")  # of a compiler that made nothing the linker says no more than that
        if self._toolchain.linker:
            with suppress(OSError, ValueError, struct.error):  # none that we understand
                libraries = needs_libraries([(self._folder / name).read_bytes() for name in self._objects])
                done = self._run(self._toolchain.short_link_argv(self._objects, "code.so", libraries))
                if done.code == 0:
                    return done
        return self._run(self._toolchain.link_argv(self._objects, "code.so"))

    def _run(self, command: Sequence[str]) -> Finished:
        self._running.append(self._started(command))
        return self._running[-1].wait()

    def kill(self) -> None:
        """Kill the processes of the job that still run."""
        while self._running:
            self._running.pop().kill()
        self._objects.clear()
