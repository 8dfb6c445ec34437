"""Steps of loops that are traced one by one: few constant ones, and those of loops that are no loops of arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from ...graph.provenance import line
from ...ops.core.tracing import current
from ..branches import if_, truth
from ..growing.changes import refused
from ..growing.wanted import Wanted
from ..saved import Saved

UNROLLED = 16
"""Most constant steps that are traced one by one."""
GRAPHS = 64
"""Most graphs of loops and branches in all of these steps."""
MOST = 1000
"""Most steps of a loop that is no loop of arrays, which are traced one by one."""
Get = Callable[[], tuple[Any, ...]]
Put = Callable[[tuple[Any, ...]], None]


class ForStatement(NamedTuple):
    """`for item in ...: body(item)` until `stop` holds; `names` are those that the loop hands on."""

    body: Callable[[Any], None]
    stop: Callable[[], Any] | None
    names: Sequence[str]
    get: Get
    put: Put
    seen: Get

    def step(self, item: Any) -> Any:
        """Trace a step, unless the loop has ended; return the truth value of this."""
        ended = False if self.stop is None else truth(self.stop())
        if ended is False:
            self.body(item)
        elif ended is not True:
            if_(ended, nothing, lambda: self.body(item), self.names, self.get, self.put, self.seen)
        return ended


def one_by_one(values: Any, statement: ForStatement) -> None:
    """Trace the steps of a loop one by one."""
    open_ends = 0
    for item in values:
        ended = statement.step(item)
        if ended is True:
            return
        open_ends += ended is not False
        if open_ends > MOST:
            raise TypeError(f"loop: {type(values).__name__} is traced item by item, and has more than {MOST:,} that "
                            f"values may end; write it as a while{line()}")  # fmt: skip


def few_steps(values: range, statement: ForStatement) -> bool:
    """Trace few constant steps one by one; return whether that was done.

    If the first step has so many loops and branches that those of all steps would be too many, as in nested loops of
    few steps, the trace is as before.
    """
    trace: Any = current()
    code = getattr(statement.body, "__code__", None)
    if code in trace.rolled:
        return False
    saved, before = Saved(trace, statement.get(), statement.seen()), trace.graphs
    statement.step(values[0])
    if (trace.graphs - before) * len(values) > GRAPHS and not saved.changed():
        saved.restore(statement.put)
        trace.graphs = before
        trace.rolled.add(code)
        return False
    one_by_one(values[1:], statement)
    return True


def nothing() -> None:
    """The branch without statements."""


def known_steps(wanted: Wanted, goes_on: Callable[[], Any], body: Callable[[], None], put: Put) -> bool:
    """Trace the steps of a `while` one by one as far as they are known to be made; return whether they were all.

    If they were not, the trace is as before.
    """
    saved, count = wanted.saved, 0
    while True:
        found = goes_on()
        if found is False:
            return True
        if found is not True or count == UNROLLED:
            if not saved.changed():
                saved.restore(put)
                return False
            if found is not True:
                raise refused(saved, wanted.where)
            count = -MOST
            continue
        body()
        count += 1
