"""Stages of long work, reported to this thread's progress callback.

    with told(show):          show("optimizing: canonicalize, 3 of 19"), show("compiling 840 lines of C") ...
        compile()

Without a listener a report costs one look at a variable of the thread.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class _Listeners(threading.local):
    tell: Callable[[str], None] | None = None
    depth = 0


_of_this_thread = _Listeners()


@contextmanager
def reported(tell: Callable[[str], None]) -> Iterator[None]:
    """Report the stages of the block to `tell`."""
    before, _of_this_thread.tell = _of_this_thread.tell, tell
    try:
        yield
    finally:
        _of_this_thread.tell = before


def report(stage: str) -> None:
    """Report that a stage begins."""
    if _of_this_thread.tell is not None:
        _of_this_thread.tell(stage)


@contextmanager
def in_turn() -> Iterator[Callable[[str, int, int], None]]:
    """Yield a function that reports steps of the outermost sequence by name, number and count."""
    _of_this_thread.depth += 1
    is_outermost = _of_this_thread.depth == 1
    try:
        yield lambda name, number, count: report(f"{name}, {number} of {count}") if is_outermost else None
    finally:
        _of_this_thread.depth -= 1
