"""C text -> assembly for people to read, by the compiler and flags of libraries."""

from __future__ import annotations

from pathlib import Path

from ..cache.files import write_whole
from ..cache.store import Cache
from .compilation import TIMEOUT_SECONDS
from .compiler_process import CompileError, run
from .toolchain import Toolchain, zig_environment
from .work_folder import in_work_folder


def assembly_of(text: str, toolchain: Toolchain, cache: Cache) -> str:
    """Return the assembly that the toolchain makes of a C file; no file is left on disk.

    Raises:
        CompileError: the compiler fails or takes longer than ten minutes.
    """
    return in_work_folder(cache.work_parents(), lambda folder: _in_folder(folder, text, toolchain, cache))


def _in_folder(folder: Path, text: str, toolchain: Toolchain, cache: Cache) -> str:
    write_whole(folder / "code.c", text.encode())
    command = toolchain.object_argv("code.c", "code.s")
    command[command.index("-c")] = "-S"
    done = run(command, folder, TIMEOUT_SECONDS, extra=zig_environment(cache, toolchain.command))
    if done.code != 0:
        raise CompileError(f"{toolchain.command[0]} failed with exit code {done.code}:\n{done.first_lines()}")
    return (folder / "code.s").read_text("utf-8", "replace")
