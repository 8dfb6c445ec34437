"""Writes the compilation database of our C: `python -m arignote.cbackend.compile_commands [folder]`.

Each unit has an entry for each way in which it is compiled, with the macros that runtime/sources.py puts in front.  A
file that a unit includes has one as well, so that an editor opens it with the same macros.  The default folder is that
of the checkout, where clangd finds the file.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from .abi.amalgamation import included
from .build.probe import REQUIRED
from .runtime.sources import units

FOLDER = Path(__file__).resolve().parent
WARNINGS = ("-Wall", "-Wextra", "-Wno-unknown-pragmas")
PART_OF_A_UNIT = (
    "-Wno-unused", "-Wno-pragma-once-outside-header", "-Wno-undefined-internal", "-Wno-shift-count-overflow",
)  # fmt: skip
"""Warnings that mean nothing in a file of which other files of the unit use the functions."""


class Entry(NamedTuple):
    """A C file and the flags with which it compiles; `unit`: it is compiled, other files are included by one."""

    file: Path
    flags: tuple[str, ...]
    unit: bool


def entries() -> Iterator[Entry]:
    """Yield the entries, units first."""
    macros: dict[Path, Mapping[str, str]] = {}
    for unit in units():
        yield Entry(unit.path.resolve(), _flags(unit.macros), True)
        for part in included(unit.path, unit.macros):
            macros.setdefault(part.resolve(), unit.macros)
    for header in sorted(FOLDER.rglob("*.h")):  # those that Python alone reads
        macros.setdefault(header, {})
    yield from (Entry(part, (*_flags(found), *PART_OF_A_UNIT), False) for part, found in macros.items())


def _flags(macros: Mapping[str, str]) -> tuple[str, ...]:
    return (*REQUIRED, *WARNINGS, *(f"-D{name}={value}" for name, value in macros.items()))


def database() -> str:
    """Return the text of compile_commands.json."""
    rows = [
        {"directory": str(FOLDER), "file": str(e.file), "arguments": ["cc", *e.flags, "-c", str(e.file)]}
        for e in entries()
    ]
    return json.dumps(rows, indent=1) + "\n"


def main(arguments: Sequence[str]) -> None:
    """Write the database to the folder that the arguments name, if they do."""
    folder = Path(*arguments) if arguments else FOLDER.parent
    target = folder / "compile_commands.json"
    target.write_text(database(), encoding="utf-8")
    print(f"{target}: {len(list(entries()))} entries")


if __name__ == "__main__":
    main(sys.argv[1:])
