"""Functions that update shared values take turns: one call at a time for each container that is written to.

A fork is one of those that wait: its child finds every value whole, and the turns of its parent's threads over.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

Result = TypeVar("Result")

_locks: WeakKeyDictionary[Any, threading.RLock] = WeakKeyDictionary()
_making = threading.RLock()
_held: dict[int, list[threading.RLock]] = {}
"""By thread: the locks that its fork has taken."""


def _lock_of(container: Any) -> threading.RLock:
    with _making:
        return _locks.setdefault(container, threading.RLock())


def one_at_a_time(function: Callable[..., Result], containers: Iterable[Any]) -> Callable[..., Result]:
    """`function`, waiting for all calls of functions that overwrite one of the same containers.

    Locks are taken in one order everywhere, so nobody waits in a circle.
    """
    locks = [_lock_of(c) for c in sorted(containers, key=id)]

    def in_turn(*arguments: Any) -> Result:
        for lock in locks:
            lock.acquire()
        try:
            return function(*arguments)
        finally:
            for lock in locks:
                lock.release()

    return in_turn


def _before_fork() -> None:
    """Wait for all turns, and for whoever makes a lock; nobody makes one then who is in a turn."""
    count = -1
    while count != len(_locks):
        _after_fork()
        held = _held[threading.get_ident()] = []
        with _making:
            known = list(_locks.items())
        count = len(known)
        for lock in (*(lock for _, lock in sorted(known, key=lambda item: id(item[0]))), _making):
            lock.acquire()
            held.append(lock)


def _after_fork() -> None:
    for lock in _held.pop(threading.get_ident(), ()):
        lock.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_parent=_after_fork, after_in_child=_after_fork)
