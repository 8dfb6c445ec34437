"""Small programs to build, what they answer, and compilers that are scripts."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from pathlib import Path

from arignote.cbackend.abi.declarations import declarations
from arignote.cbackend.build.loading import ffi

HEAD = declarations(tables=False)


def returning(number: int) -> str:
    """A program whose entry returns `number`."""
    return f"{HEAD}i32 ag_entry(ag_call *call) {{ return {number} + (call == 0); }}\n"


def answer(library: object) -> int:
    return library.lib.ag_entry(ffi.new("ag_call *"))


def all_end(path: Path, seconds: float = 30.0) -> bool:
    """Whether all processes whose ids a file lists end in time: the system takes a moment to kill them."""
    deadline = time.monotonic() + seconds
    while any(_runs(number) for number in path.read_text().split()):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.001)
    return True


def _runs(number: str) -> bool:
    with suppress(ProcessLookupError):
        os.kill(int(number), 0)
        state = Path(f"/proc/{number}/stat")
        return not state.exists() or state.read_text().rpartition(")")[2].split()[0] != "Z"
    return False


def fake(folder: Path, body: str) -> str:
    path = folder / "fakecc"
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)
    return str(path)
