"""Deferred Ctrl-C: noted while a compiler works, raised where no work is left half done.

A KeyboardInterrupt may otherwise arise between any two instructions, such as after a folder was made and before
anybody knew of it.  Inside `postponed()` the signal is only noted; `check()`, which every wait calls at least each
POLL_SECONDS, raises it there.  The handler that was installed before decides what Ctrl-C means, as ever.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

POLL_SECONDS = 0.03

Handler = Callable[[int, Any], Any]


class _Note:
    """Signal handler that keeps the signal for the handler that was installed before."""

    def __init__(self, handler: Handler) -> None:
        self.handler = handler

    def __call__(self, number: int, frame: Any) -> None:
        _pending[:] = [(self.handler, frame)]


_pending: list[tuple[Handler, Any]] = []
"""Noted signals, each with the handler to call."""


@contextmanager
def postponed() -> Iterator[None]:
    """Defer Ctrl-C during the block to calls of `check()` and to the end of the block.

    Python runs its handlers in the main thread alone, so in others there is nothing to do, nor where Ctrl-C is not
    Python's, nor inside of another such block.
    """
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(before) or isinstance(before, _Note):
        yield
        return
    _pending.clear()
    signal.signal(signal.SIGINT, _Note(before))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        _deliver()


def check() -> None:
    """Raise the KeyboardInterrupt of a deferred Ctrl-C, in the main thread."""
    if _pending and threading.current_thread() is threading.main_thread():
        _deliver()


def _deliver() -> None:
    while _pending:
        handler, frame = _pending.pop()
        handler(signal.SIGINT, frame)
