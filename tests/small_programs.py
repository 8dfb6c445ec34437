"""Small programs to build, what they answer, and compilers that are scripts."""

from __future__ import annotations

from pathlib import Path

from arignote.cbackend.abi import declarations as abi
from arignote.cbackend.build.loading import ffi

HEAD = abi.C_TYPES + abi.RUNTIME_DECLARATIONS + abi.CALL_DECLARATIONS


def returning(number: int) -> str:
    """A program whose entry returns `number`."""
    return f"{HEAD}i32 ag_entry(ag_call *call) {{ return {number} + (call == 0); }}\n"


def answer(library: object) -> int:
    return library.lib.ag_entry(ffi.new("ag_call *"))


def fake(folder: Path, body: str) -> str:
    path = folder / "fakecc"
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)
    return str(path)
