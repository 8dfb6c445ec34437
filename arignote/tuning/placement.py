"""The engines of one function for the pass `partition`: supported nodes, costs of nodes and copies.

Prices are estimates (engines/estimates.py) until a node with the same op and types was measured here
(engine_times.py).
"""

from __future__ import annotations

from ..engines.engine import Engine
from ..engines.registry import engine as engine_of
from ..engines.registry import ready
from ..function.mode import Mode
from ..graph import Apply
from .engine_times import EngineTimes


class Placement:
    """Implements `optdb.placing.Placing` for the engines of a mode."""

    def __init__(self, mode: Mode, threads: int | None) -> None:
        names = mode.engines or tuple(dict.fromkeys((mode.backend, *ready())))
        self.engines, self.host, self.threads = names, mode.backend, threads
        self._engines: dict[str, Engine] = {name: engine_of(name) for name in (*names, mode.backend)}
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
