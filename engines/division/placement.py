"""The engines of one function for its division: supported nodes, costs of nodes and copies.

Prices are estimates (engines/estimates.py) until a node with the same op and types was measured here (times.py).
"""

from __future__ import annotations

from collections.abc import Sequence

from ...graph import Apply
from .. import registry
from ..engine import Engine
from .times import EngineTimes


class Placement:
    """Implements `Prices` for the engines that are named, by default the `host` and all that are ready here."""

    def __init__(self, named: Sequence[str], host: str, threads: int | None) -> None:
        names = tuple(named) or tuple(dict.fromkeys((host, *registry.ready())))
        self.engines: tuple[str, ...] = names
        self.host: str = host
        self.threads: int | None = threads
        self._engines: dict[str, Engine] = {name: registry.engine(name) for name in (*names, host)}
        self._times = EngineTimes(threads)

    def refusal(self, engine: str, node: Apply) -> str:
        """The reason why an engine cannot run a node; empty if it can."""
        found = self._engines[engine]
        return "" if found.hosts_refused else found.refusal(node)

    def cost(self, engine: str, node: Apply) -> int:
        """Picoseconds of a node on an engine, measured or estimated."""
        found = self._times(self._engines[engine], node)
        return self.estimate(engine, node) if found is None else found

    def estimate(self, engine: str, node: Apply) -> int:
        """Return picoseconds of a node by the engine's prices."""
        return self._engines[engine].cost(node)

    def is_measured(self, engine: str, node: Apply) -> bool:
        """Whether the cost of a node was measured here."""
        return self._times(self._engines[engine], node) is not None

    def launch(self, engine: str) -> int:
        """Picoseconds of one call of a region."""
        found = self._times(self._engines[engine], None)
        return self._engines[engine].launch if found is None else found

    def copy(self, engine: str, count: int) -> int:
        """Return picoseconds of a copy of so many bytes between an engine and the host."""
        return self._engines[engine].copied_byte * count
