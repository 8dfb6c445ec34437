"""C text -> the bytes of a library, and the key under which these are kept.

What is made here was not loaded yet: build.py does that, and a package that is being installed does not.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path

from ..abi import declarations as abi
from ..cache.files import write_whole
from ..cache.interrupts import postponed
from ..cache.store import Cache
from .compiler_process import CompileError, Finished, Running, start
from .elf import elf_defect
from .room import with_room
from .toolchain import Toolchain, zig_environment

TIMEOUT_SECONDS = 600.0
UNITS = (1, 2)
_ENTRY = "\ni32 ag_entry(ag_call *call)\n{"
"""In the text of a program, which needs no start files, as the runtime does."""
_ABI = hashlib.sha256(f"{abi.VERSION}{abi.RUNTIME_DECLARATIONS}{abi.CALL_DECLARATIONS}".encode()).hexdigest()


def library_key(text: str, toolchain: Toolchain) -> bytes:
    """The digest under which the library of `text` is kept: everything that shapes its code."""
    parts = (text, toolchain.fingerprint, _ABI)
    return hashlib.sha256("\0".join(hashlib.sha256(part.encode()).hexdigest() for part in parts).encode()).digest()


@postponed()
def compile_text(text: str, toolchain: Toolchain, cache: Cache) -> bytes:
    """The bytes of the shared object of the C file `text`; nothing is left on the disk.

    The file is called `code.c` in every build, so that equal text gives equal bytes.

    Raises:
        CompileError: the compiler fails, takes longer than ten minutes, or leaves no usable library.
    """
    extra = zig_environment(cache, toolchain.command)
    return with_room(cache.work_parents(), lambda folder: begin(folder, text, toolchain, extra).payload())


def begin(folder: Path, text: str, toolchain: Toolchain, extra: Mapping[str, str]) -> Job:
    """The compilation of `text` in `folder`, begun; `extra` joins the compiler's environment.

    Raises:
        CompileError: the compiler cannot be started.
    """
    write_whole(folder / "code.c", text.encode(), durable=False)
    return Job(folder, toolchain, extra, in_units="#ifdef AG_UNIT" in text, bare=_ENTRY in text)


class Job:
    """`code.c` of a folder on its way to `code.so`: one compiler, or one a unit and then the linker."""

    def __init__(
        self, folder: Path, toolchain: Toolchain, extra: Mapping[str, str] | None, in_units: bool, bare: bool
    ) -> None:
        self._folder, self._toolchain, self._extra = folder, toolchain, extra
        self._running: list[Running] = []
        whole = [toolchain.argv("code.c", "code.so", bare)]
        commands = [toolchain.unit_argv("code.c", unit) for unit in UNITS] if in_units else whole
        try:
            for command in commands:
                self._running.append(self._started(command))
        except BaseException:
            self.kill()
            raise

    def _started(self, command: Sequence[str]) -> Running:
        return start(command, self._folder, TIMEOUT_SECONDS, extra=self._extra)

    def payload(self) -> bytes:
        """The bytes of the library, once it is made; nothing of the job runs any more.

        Raises:
            CompileError: a compiler fails, takes too long, or leaves no usable library.
        """
        done, program = self._wait(), self._toolchain.command[0]
        if done.code != 0:
            raise CompileError(f"{program} failed with exit code {done.code}:\n{done.first_lines()}")
        library = self._folder / "code.so"
        payload = library.read_bytes() if library.is_file() else b""
        reason = elf_defect(payload)
        if reason:
            raise CompileError(f"{program} reported success but left no usable library: {reason}")
        return payload

    def _wait(self) -> Finished:
        """What the last command said, or the first that failed."""
        try:
            finished = [running.wait() for running in self._running]
            failed = next((done for done in finished if done.code != 0), None)
            if failed is not None or len(finished) == 1:
                return failed or finished[0]
            self._running.append(self._started(self._toolchain.link_argv(UNITS, "code.so")))
            return self._running[-1].wait()
        except BaseException:
            self.kill()
            raise

    def kill(self) -> None:
        """End all of it that still runs."""
        for running in self._running:
            running.kill()
