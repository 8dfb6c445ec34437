"""The target that passes, planners and printers ask: `current()`, this machine unless `using` says otherwise.

A context variable holds it, because node rules get a node and nothing else.  Values kept beyond a block (results of
`optdb.query`, indices of rules) depend on no target: rules and planners ask when they run.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from .named import host
from .target import Target

_current: ContextVar[Target | None] = ContextVar("arignote_target", default=None)


def current() -> Target:
    """The target of the current optimization or compilation."""
    return _current.get() or host()


def chosen() -> Target | None:
    """The target of the innermost `using` block; None outside of any."""
    return _current.get()


@contextmanager
def using(target: Target | None) -> Iterator[None]:
    """A block in which `current()` is `target`; None: no change."""
    token = _current.set(target) if target is not None else None
    try:
        yield
    finally:
        if token is not None:
            _current.reset(token)
