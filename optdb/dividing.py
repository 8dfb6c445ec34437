"""Interface between the pass `partition` and the layer that has engines: `current()` divides a graph among them.

A context variable holds it, as `targets/current.py` holds the target: optimizers get a graph and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar

from ..graph import FunctionGraph, Variable
from ..profiling.partition import PartitionProfile

Divide = Callable[[FunctionGraph], tuple[Sequence[Variable], PartitionProfile] | str]
"""Return the outputs of a graph with `region` nodes, and the profile of the division; text says why there is none."""
_current: ContextVar[Divide | None] = ContextVar("arignote_dividing", default=None)


def current() -> Divide | None:
    """The division of the function that is optimized; None outside of `dividing`."""
    return _current.get()


@contextmanager
def dividing(divide: Divide | None) -> Iterator[None]:
    """A block in which `current()` is `divide`."""
    token = _current.set(divide)
    try:
        yield
    finally:
        _current.reset(token)
