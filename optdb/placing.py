"""Interface between the pass `partition` and the engines: `current()`, set by the layer that has the engines.

A context variable holds them, as `targets/current.py` holds the target: optimizers get a graph and nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Protocol

from ..graph import Apply


class Placing(Protocol):
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


_current: ContextVar[Placing | None] = ContextVar("arignote_placing", default=None)


def current() -> Placing | None:
    """The engines of the function that is optimized; None outside of `placing`."""
    return _current.get()


@contextmanager
def placing(engines: Placing | None) -> Iterator[None]:
    """A block in which `current()` is `engines`."""
    token = _current.set(engines)
    try:
        yield
    finally:
        _current.reset(token)
