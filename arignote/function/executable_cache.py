"""Keys of the executable cache: a function that was compiled before skips optimization and planning.

    graph, query, engine, target, compiler, this package  --key-->  what calls need to know (cbackend/calls/recall.py)

The key covers all that the C of a function depends on.  A function that cannot be covered has no key: one with an
edited database, the user's rules or ops, or a division among engines by measured times.
"""

from __future__ import annotations

import hashlib
import sys

import numpy as np

from ..database import PRISTINE, optdb
from ..graph import FunctionGraph
from ..graph.digest import Unnamed, digest
from ..optdb import Query
from ..record import package
from ..targets.target import Target
from .mode import Mode


def key_of(graph: FunctionGraph, mode: Mode, engine: str, target: Target | None = None) -> bytes | None:
    """Return the key of the user's `graph` under `mode` for `target`; None if the function is not cacheable.

    `engine`: the name of the engine and everything else that its executables depend on.
    """
    query, files = mode.optimizer, package.identity()
    own = isinstance(query, Query) and query.extra
    if files is None or own or mode.divides or optdb.state() != PRISTINE:
        return None
    asked = f"{query} {mode.max_changes}"
    try:
        machine = str(target.code) if target is not None else ""  # this one, whose extensions the engine names
        parts = (digest(graph).hex(), asked, machine, engine, files, np.__version__, sys.version)
    except Unnamed:
        return None
    return hashlib.sha256("\0".join(parts).encode()).digest()
