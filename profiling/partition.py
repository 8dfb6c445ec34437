"""The profile of the pass `partition`: the regions that it made, and the estimates that it compared."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..record import record
from .optimizer import OptimizerProfile


@record
class RegionPlan:
    """One region: `ops` are the names of its nodes with their counts; times are picoseconds."""

    engine: str
    nodes: int
    ops: tuple[tuple[str, int], ...]
    price: int
    """Estimate of its nodes."""
    copied: int
    """Bytes that cross its border in a call, where lengths are known."""
    measured: int
    """Nodes whose time was measured."""
    lines: tuple[str, ...] = ()
    """The user's lines that it comes from."""

    def to_dict(self) -> dict[str, Any]:
        """The plan as plain data."""
        return {
            "engine": self.engine, "nodes": self.nodes, "ops": dict(self.ops), "picoseconds": self.price,
            "copied_bytes": self.copied, "measured_nodes": self.measured, "lines": list(self.lines),
        }  # fmt: skip


@record(kw_only=True, repr=False)
class PartitionProfile(OptimizerProfile):
    """A graph divided among engines.  `alone`: for each engine the estimate of all nodes on it, in picoseconds;
    nodes that it does not run are on the first engine that runs them.
    """

    host: str = ""
    regions: tuple[RegionPlan, ...] = ()
    on_host: int = 0
    """Nodes that the host runs."""
    divided: int = 0
    """Estimate of the plan."""
    alone: tuple[tuple[str, int], ...] = ()
    unsupported: tuple[tuple[str, int], ...] = ()
    """For each engine how many nodes it does not run."""

    def to_dict(self) -> dict[str, Any]:
        more = {"host": self.host, "picoseconds": self.divided, "alone": dict(self.alone), "on_host": self.on_host}
        return super().to_dict() | more | {"regions": [region.to_dict() for region in self.regions]}

    def facts(self) -> Iterator[tuple[str, Any]]:
        yield "regions", len(self.regions)
        yield "nodes on the host", self.on_host
