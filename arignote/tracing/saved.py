"""The state of a trace before a statement, to go back to, and the lists, dicts and sets that the statement sees."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..graph import Variable
from ..ops.core.call_lengths import Length
from ..ops.core.tracing import Trace

LISTS = (list, deque)
"""Types of lists that may change by values."""


def is_value(value: Any) -> bool:
    """Whether it is symbolic, a number or an array."""
    return isinstance(value, (Variable, bool, int, float, complex, np.generic, np.ndarray)) or type(value) is Length


class Saved:
    """The state of a trace before a statement, to go back to."""

    def __init__(self, trace: Trace, values: tuple[Any, ...], seen: tuple[Any, ...]) -> None:
        self.trace: Trace = trace
        self.values: tuple[Any, ...] = values
        self.stored: dict[Variable, Any] = dict(trace.stored)
        self.guards: dict[str, None] = dict(trace.guards)
        self.held, self.frozen, self.open = dict(trace.held), dict(trace.frozen), list(trace.open)
        self.checks: int = len(trace.checks)
        self.watched: int = len(trace.watched)
        self.containers: list[tuple[Any, list[int], Any]] = contents([*values, *seen])
        """The lists, dicts and sets, with the identities of what they are to hold, and what they hold before."""
        self.own: list[Any] = []
        """The lists that names have for themselves while the statement runs."""
        self.rooms: list[tuple[Any, Any]] = [(r, (r.appended, r.taken)) for r in trace.rooms]

    def restore(self, put: Callable[[tuple[Any, ...]], None]) -> None:
        """Go back.  Containers must be as they were."""
        trace = self.trace
        trace.stored, trace.guards = dict(self.stored), dict(self.guards)
        trace.held, trace.frozen, trace.open = dict(self.held), dict(self.frozen), list(self.open)
        del trace.checks[self.checks :], trace.watched[self.watched :]
        trace.rooms[:] = [room for room, _ in self.rooms]
        for room, (appended, taken) in self.rooms:
            room.appended, room.taken = appended, taken
        put(self.values)

    def expect(self, lists: Sequence[Any]) -> None:
        """Take what lists hold now for what they are to hold."""
        own = set(map(id, lists))
        self.containers = [(c, inside(c) if id(c) in own else parts, copy) for c, parts, copy in self.containers]

    def changed(self) -> bool:
        """Whether a list, dict or set that the statement sees was changed."""
        return any(inside(c) != parts for c, parts, _ in self.containers)

    def undo_changes(self) -> None:
        """Give changed containers their old contents."""
        for container, _, copy in self.containers:
            container.clear()
            (container.extend if type(container) in LISTS else container.update)(copy)


def inside(container: Any) -> list[int]:
    """Return the identities of what a container holds."""
    if isinstance(container, dict):
        return [i for pair in container.items() for i in map(id, pair)]
    return list(map(id, container))


def contents(values: Sequence[Any]) -> list[tuple[Any, list[int], Any]]:
    """Return the lists, dicts and sets among values with what they hold."""
    found, waiting, met = [], list(values), set()
    while waiting:
        one = waiting.pop()
        kind = type(one)
        if kind not in (list, dict, set, tuple, deque) or id(one) in met:
            continue
        met.add(id(one))
        parts = list(one.values()) if kind is dict else list(one)
        if kind is not tuple:
            found.append((one, inside(one), kind(one)))
        waiting += parts
    return found
