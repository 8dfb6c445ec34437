"""Direct linking: learn gcc's linker command once, then run the linker without gcc's driver and plugin.

The driver starts a program that starts the linker, which opens each library and reads what is in it: 9 ms, of which the
linking of a program that calls no library takes 3.  Options that differ between systems are read from the
commands that the driver prints.  Where our own command fails, the driver links instead (compilation.py).
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from .compiler_process import find_programs
from .elf import symbols

_KEPT = ("--build-id", "--eh-frame-hdr", "--hash-style=")
_KEPT_WITH_VALUE = ("-m", "-z")
IN_PROCESS = frozenset({"memcpy", "memmove", "memset", "memcmp", "_GLOBAL_OFFSET_TABLE_"})
"""Functions of the C library that gcc may call by itself and every process has, and a name that the linker defines."""


def linking(message: str, flags: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the linker with its options, and the options that name libraries, parsed from gcc's output with `-v`.

    `flags`: what we tell gcc of linking.  Both are empty if gcc starts another program than it is known to.
    """
    line = next((line for line in message.splitlines() if line.startswith(" ") and "/collect2 " in line), None)
    linker = next(_linkers(message), None)
    if line is None or linker is None:
        return (), ()
    words = line.split()
    options = [word for word in words if word.startswith(_KEPT)]
    for name, value in pairwise(words):
        if name in _KEPT_WITH_VALUE:
            options += [name, value]
    reported = [word for flag in flags if flag.startswith("-Wl,") for word in flag.split(",")[1:]]
    folders = [word for word in words if word.startswith("-L")]
    return (linker, *options), (*reported, *folders, *(flag for flag in flags if flag.startswith("-l")), "-lgcc")


def _linkers(message: str) -> Iterator[str]:
    """Yield the linkers that gcc would start, in the order in which it looks for them."""
    folders = re.search(r"(?m)^COMPILER_PATH=(.*)", message)
    for folder in folders[1].split(":") if folders else ():
        yield from find_programs(os.path.join(os.path.abspath(folder), "ld"))
    yield from find_programs("ld")


def needs_libraries(objects: Sequence[bytes]) -> bool:
    """Return whether the objects call functions that neither they nor every process define."""
    missing, defined = set[str](), set[str]()
    for content in objects:
        for name, is_defined in symbols(content):
            (defined if is_defined else missing).add(name)
    return not missing - defined <= IN_PROCESS
