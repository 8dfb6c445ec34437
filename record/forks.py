"""Locks that survive a fork: the child has only the forking thread, so it could wait forever for others' locks.

`fork_safe_lock` guards what must be whole in the child, and is held for moments: the fork waits.  A `ProcessLock`
guards what may be left half done, or is held for long: the child has it open.  A fork waits for modules of this package
that other threads are loading, since the child would find them half loaded for ever.
"""

from __future__ import annotations

import os
import sys
import threading
from contextlib import suppress
from importlib import import_module
from types import TracebackType
from weakref import WeakSet


def fork_safe_lock() -> threading.RLock:
    """A lock that no other thread of the parent holds at the moment of a fork, for as long as the program runs.

    Where one is taken inside of another, the inner one is made first: forks take those that were made last first.
    """
    lock = threading.RLock()
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(before=lock.acquire, after_in_parent=lock.release, after_in_child=lock.release)
    return lock


class ProcessLock:
    """A reentrant lock for the threads of one process: `with lock: ...`."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        _process_locks.add(self)

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, kind: type[BaseException] | None, error: object, traceback: TracebackType | None) -> None:
        self._lock.release()

    def __reduce__(self) -> tuple[type[ProcessLock], tuple[()]]:
        """Pickle and copy as a lock of its own, which is open."""
        return ProcessLock, ()

    def _in_child(self) -> None:
        """Replace the lock unless it is free or held by the forking thread."""
        if self._lock.acquire(blocking=False):
            self._lock.release()
        else:
            self._lock = threading.RLock()


_process_locks: WeakSet[ProcessLock] = WeakSet()


def _in_child() -> None:
    for lock in list(_process_locks):
        lock._in_child()


def _modules_loaded() -> None:
    """Wait until no other thread is loading a module of this package."""
    seen: set[str] = set()
    while half_loaded := [name for name in _half_loaded() if name not in seen]:
        seen.update(half_loaded)  # one that this thread loads itself stays half loaded
        for name in half_loaded:
            with suppress(Exception):  # it is the other thread's to raise
                import_module(name)  # waits for the lock of the module


def _half_loaded() -> list[str]:
    """Names of the modules of this package whose code runs now."""
    inside = __name__.partition(".")[0] + "."
    modules = [(name, module) for name, module in sys.modules.copy().items() if name.startswith(inside)]
    return [name for name, module in modules if getattr(getattr(module, "__spec__", None), "_initializing", False)]


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_modules_loaded, after_in_child=_in_child)
