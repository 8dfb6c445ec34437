"""Measured times of nodes on engines: stored in the cache for this machine, and read by `partition`.

A time belongs to an op, the types of its operands, an engine with its version, a machine and a number of threads.
Other functions with such nodes use it too.  Without records the estimates of the engines hold.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from ...cbackend.cache import machine
from ...cbackend.cache.entry import Kind
from ...graph import Apply, Constant, FunctionGraph, Variable
from ...graph.digest import Unnamed, digest
from ...ops.core.tensor import TensorVariable
from ..compiler import process_cache
from ..engine import Engine

_KEPT = 16
"""Most elements of a constant whose values are part of a signature; longer ones count by type."""
Times = dict[tuple[str, Any], int]
"""Picoseconds by engine and signature."""
_given: ContextVar[Times | None] = ContextVar("arignote_engine_times", default=None)


@contextmanager
def using(times: Times) -> Iterator[None]:
    """Use these times before those of the cache during the block."""
    token = _given.set(times)
    try:
        yield
    finally:
        _given.reset(token)


class EngineTimes:
    """Measured times for one function."""

    def __init__(self, threads: int | None) -> None:
        self._threads = threads
        self._given = _given.get() or {}
        self._read: dict[tuple[str, Any], int | None] = {}

    def __call__(self, engine: Engine, node: Apply | None) -> int | None:
        """Return picoseconds of a node, or of an empty call for None; None if it was never measured here."""
        key = engine.name, signature(node)
        if key in self._given:
            return self._given[key]
        if key not in self._read:
            self._read[key] = self._from_cache(engine, node)
        return self._read[key]

    def keep(self, engine: Engine, node: Apply | None, picoseconds: int) -> bool:
        """Store a time; return whether that succeeded."""
        key = self._key(engine, node)
        if key is None:
            return False
        named = node.op.name if node is not None else "a call"
        content = json.dumps({"picoseconds": picoseconds, "engine": engine.name, "op": named}).encode()
        return process_cache().store(Kind.SCHEDULE, key, content) is not None

    def _from_cache(self, engine: Engine, node: Apply | None) -> int | None:
        key = self._key(engine, node)
        path = process_cache().path(Kind.SCHEDULE, key) if key is not None else None
        if key is None or path is None or not path.exists():
            return None
        found = process_cache().load(Kind.SCHEDULE, key)
        try:
            return None if found is None else max(0, int(json.loads(found)["picoseconds"]))
        except (ValueError, TypeError, KeyError):  # of another version
            return None

    def _key(self, engine: Engine, node: Apply | None) -> bytes | None:
        """Return the key in the cache; None for an op without a digest."""
        try:
            named = digest(alone(node)).hex() if node is not None else "call"
        except Unnamed:
            return None
        parts = ("engine time", named, engine.identity(), machine.identity().hex(), str(self._threads))
        return hashlib.sha256("\0".join(parts).encode()).digest()


def signature(node: Apply | None) -> Any:
    """Return the key of nodes with equal time: the op, types of operands, and short constants; None: an empty call."""
    if node is None:
        return None
    return node.op, tuple(i.key if _counts(i) else i.type for i in node.inputs)  # type: ignore[attr-defined]


def alone(node: Apply) -> FunctionGraph:
    """Return the node as a graph over inputs and its short constants."""
    leaves: list[Variable] = [i if _counts(i) else TensorVariable(i.type) for i in node.inputs]
    return FunctionGraph([v for v in leaves if not isinstance(v, Constant)], node.with_inputs(tuple(leaves)).outputs)


def _counts(variable: Variable) -> bool:
    return isinstance(variable, Constant) and variable.data.size <= _KEPT
