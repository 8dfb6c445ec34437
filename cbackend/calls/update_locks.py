"""Update locks: one call at a time for each container of a shared value that the call overwrites.

`fork` acquires every update lock first, so the child finds every value whole and no lock held.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

Result = TypeVar("Result")

_locks: WeakKeyDictionary[Any, threading.RLock] = WeakKeyDictionary()
_making = threading.RLock()
_held: dict[int, list[threading.RLock]] = {}
"""Locks that a pending fork holds, by thread."""


def lock_of(container: Any) -> threading.RLock:
    """Return the lock that a function holds while it overwrites the value of a container."""
    with _making:
        return _locks.setdefault(container, threading.RLock())


def with_update_locks(function: Callable[..., Result], containers: Iterable[Any]) -> Callable[..., Result]:
    """Wrap `function` so that it holds the update locks of `containers` while it runs.

    All callers acquire locks in one order, so there is no deadlock.
    """
    locks = [lock_of(c) for c in sorted(containers, key=id)]

    def locked(*arguments: Any) -> Result:
        for lock in locks:
            lock.acquire()
        try:
            return function(*arguments)
        finally:
            for lock in locks:
                lock.release()

    return locked


@contextmanager
def update_locks(containers: Iterable[Any]) -> Iterator[None]:
    """Hold the update locks of containers: no call overwrites one of them meanwhile."""
    with ExitStack() as stack:
        for container in sorted(containers, key=id):
            stack.enter_context(lock_of(container))
        yield


def _before_fork() -> None:
    """Acquire every update lock, then the lock of the table; repeat if locks were added meanwhile."""
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
