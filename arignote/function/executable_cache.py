"""Keys of the executable cache: a function that was compiled before skips optimization and planning.

    graph, query, engine, target, compiler, this package  --key-->  what calls need to know (cbackend/calls/recall.py)

The key covers all that the C of a function depends on.  A function that cannot be covered has no key: one with an
edited database, the user's rules or ops, or a division among engines by measured times.
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Iterator
from functools import lru_cache

import numpy as np

from ..database import PRISTINE, optdb
from ..graph import FunctionGraph
from ..graph.digest import Unnamed, digest
from ..optdb import Query
from ..targets.target import Target
from .mode import Mode

_SUBPACKAGES = ("cbackend", "engines", "graph", "ops", "optdb", "record", "targets")
"""Subpackages whose files determine the C of a function, as those of the package itself do."""
_CODE = (".py", ".c", ".h")


def key_of(graph: FunctionGraph, mode: Mode, engine: str, target: Target | None = None) -> bytes | None:
    """Return the key of the user's `graph` under `mode` for `target`; None if the function is not cacheable.

    `engine`: the name of the engine and everything else that its executables depend on.
    """
    query, package = mode.optimizer, _package()
    own = isinstance(query, Query) and query.extra
    if package is None or own or mode.divides or optdb.state() != PRISTINE:
        return None
    asked = f"{query} {mode.max_changes}"
    try:
        machine = str(target.code) if target is not None else ""  # this one, whose extensions the engine names
        parts = (digest(graph).hex(), asked, machine, engine, package, np.__version__, sys.version)
    except Unnamed:
        return None
    return hashlib.sha256("\0".join(parts).encode()).digest()


@lru_cache(maxsize=1)
def _package() -> str | None:
    """A digest of the files of this package, by names, sizes and times; None if they cannot be listed."""
    try:
        package = os.path.dirname(__file__)
        lines = [*_files(os.path.realpath(package), inner=False)]  # a checkout may be imported by several paths
        for name in _SUBPACKAGES:
            lines += _files(os.path.realpath(os.path.join(package, name)))
    except OSError:
        return None
    return hashlib.sha256("".join(sorted(lines)).encode()).hexdigest()


def _files(folder: str, inner: bool = True) -> Iterator[str]:
    """A line for each file of code in a folder and, if `inner`, those inside it."""
    with os.scandir(folder) as items:
        for item in items:
            if item.name.endswith(_CODE):
                status = item.stat()
                yield f"{item.path} {status.st_size} {status.st_mtime_ns}\n"
            elif inner and "." not in item.name and item.name != "__pycache__" and item.is_dir():
                yield from _files(item.path)
