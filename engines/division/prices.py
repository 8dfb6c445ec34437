"""`Prices`: what the division of a graph has to know of the engines of one function."""

from __future__ import annotations

from typing import Protocol

from ...graph import Apply


class Prices(Protocol):
    """Engines of one function and their prices, in picoseconds."""

    @property
    def engines(self) -> tuple[str, ...]: ...  # in the order in which the user names them
    @property
    def host(self) -> str: ...  # the engine that holds inputs and outputs and calls the others
    @property
    def threads(self) -> int | None: ...
    def refusal(self, engine: str, node: Apply) -> str: ...  # empty if the engine runs the node
    def cost(self, engine: str, node: Apply) -> int: ...
    def is_measured(self, engine: str, node: Apply) -> bool: ...  # whether `cost` was measured on this machine
    def launch(self, engine: str) -> int: ...  # one call of a region
    def copy(self, engine: str, count: int) -> int: ...  # so many bytes between the engine and the host
