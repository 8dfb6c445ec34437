"""The identity of the files of this package, on which the C of a function depends.

An installed package has the digest of its files in one more file, which `setup.py` writes; nothing changes them.  The
files of a checkout, or of an editable installation, change: their sizes and times are read once a process.  A process
that loaded this module before a file was edited may run the old code, and has no identity.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Iterator
from functools import lru_cache

from .frames import PACKAGE

DIGEST = "files.sha256"
"""File with the digest of the files of an installed package."""
_OTHERS = frozenset([
    "__pycache__", "bundle", "chunked", "cli", "demo", "explain", "frontends", "optim", "pages", "prebuilt",
    "profiling", "proving", "scaleout", "tracing",
])  # fmt: skip
"""Folders whose files have no part in the C of a function."""
_CODE = (".py", ".c", ".h")
_LOADED = time.time_ns()
"""Nanoseconds of the system's clock when this process began to load the package."""


@lru_cache(maxsize=1)
def identity() -> str | None:
    """Return text that is equal for equal files of the package.

    None if they cannot be listed, or if one was edited after this process had begun to load them.
    """
    try:
        with open(os.path.join(PACKAGE, DIGEST), encoding="ascii") as file:
            return file.read()
    except FileNotFoundError:
        pass
    except (OSError, ValueError):
        return None
    try:  # a checkout may be imported by several paths
        lines, changed = sizes_and_times(os.path.realpath(PACKAGE))
    except OSError:
        return None
    return hashlib.sha256(lines.encode()).hexdigest() if changed <= _LOADED else None


def sizes_and_times(folder: str) -> tuple[str, int]:
    """Return a line for each file of code in a folder and those inside it: path, size and time; and the latest change.

    Only texts are made: some 700 tuples more and the collector of garbage would run in each start of a process.

    Raises:
        OSError: a file or folder cannot be read.
    """
    found, changed = [], 0
    for inside, items in _folders(folder):
        for item in items:
            status = item.stat()
            found.append(f"{inside}/{item.name} {status.st_size} {status.st_mtime_ns}")
            changed = max(changed, status.st_ctime_ns)  # no program sets it
    return "\n".join(sorted(found)), changed


def digest_of(folder: str) -> str:
    """Return the digest of the files of a package, by their paths in it and their contents.  Raises OSError."""
    found = hashlib.sha256()
    for path in sorted(os.path.join(inside, item.name) for inside, items in _folders(folder) for item in items):
        with open(path, "rb") as file:
            content = file.read()
        found.update(f"{os.path.relpath(path, folder)} {len(content)}\n".encode())
        found.update(content)
    return found.hexdigest()


def _folders(folder: str) -> Iterator[tuple[str, list[os.DirEntry[str]]]]:
    """Yield a folder and those inside it, each with its files of code, while it is open.

    The system need not look up the whole path of a file in an open folder.
    """
    waiting = [folder]
    while waiting:
        inside, files = waiting.pop(), []
        opened = os.open(inside, os.O_RDONLY)
        try:
            with os.scandir(opened) as items:
                for item in items:
                    name = item.name
                    if name.endswith(_CODE):
                        files.append(item)
                    elif "." not in name and name not in _OTHERS and item.is_dir():
                        waiting.append(f"{inside}/{name}")
                yield inside, files
        finally:
            os.close(opened)
