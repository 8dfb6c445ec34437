"""Functions that update shared values take turns: one call at a time for each container that is written to."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

from ..cache.forks import fork_safe_lock

Result = TypeVar("Result")

_locks: WeakKeyDictionary[Any, threading.RLock] = WeakKeyDictionary()
_making = fork_safe_lock()


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
