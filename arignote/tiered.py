"""Functions that answer at once: NumPy runs the optimized graph until its C is ready.

    ag.function(..., tiered=True)  ->  Tiered(what NumPy runs)  --a thread compiles-->  Tiered(what C runs)

Both keep the contract of the rules that made the graph, so results differ by no more than the C's elementary functions
and orders of summation do.  A call that has begun ends as it began; the next one goes the new way.
"""

from __future__ import annotations

import atexit
import os
import threading
import time
import weakref
from collections.abc import Callable
from typing import Any

from .cbackend import compilers_ended
from .cbackend.runtime.processors import processors
from .notices import notice
from .record.ending import interpreter_ends

_FAREWELL = 5.0
"""Seconds that threads have to clean up when the interpreter ends."""


class Tiered:
    """What a function runs: `first`, and what `make` gives as soon as it is there.

    All that an executable has and this has not is that of the present tier.
    """

    def __init__(self, first: Any, make: Callable[[], Any], name: str) -> None:
        self.name = name
        self.error: Exception | None = None
        """Why there is no second tier."""
        self._now = first
        self._make: Callable[[], Any] | None = make
        self._follower: Callable[[], Callable[[Any], None] | None] | None = None
        self._done = threading.Event()
        self._lost = False
        _pending.add(self)
        self._begin()

    def __call__(self, *arguments: Any) -> Any:
        if self._lost:
            self._begin()
        return self._now(*arguments)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._now, name)

    def followed_by(self, follower: Callable[[Any], None]) -> None:
        """Let a bound method know what the second tier is, once it is there; its object is not kept alive."""
        with _settling:
            self._follower = weakref.WeakMethod(follower)
            if self.ready and self.error is None:
                follower(self._now)

    @property
    def ready(self) -> bool:
        """Whether nothing more is to come."""
        return self._done.is_set()

    def wait(self, timeout: float | None = None) -> bool:
        """Whether the second tier is there within `timeout` seconds (None: however long it takes).

        Raises what its making raised.
        """
        ready = self.join(timeout)
        if ready and self.error is not None:
            raise self.error
        return ready

    def join(self, timeout: float | None = None) -> bool:
        """Whether nothing more is to come within `timeout` seconds."""
        if self._lost:
            self._begin()
        return self._done.wait(timeout)

    # --- the thread
    def _begin(self) -> None:
        with _settling:
            self._lost = False
            if interpreter_ends():
                self._settle(None, RuntimeError(f"{self.name} stays with NumPy: the interpreter is shutting down"))
                return
            atexit.unregister(_at_exit)  # to be the first that is called: others clean up what compilers work on
            atexit.register(_at_exit)
            thread = threading.Thread(target=_work, args=(weakref.ref(self),), name="arignote compiler", daemon=True)
            _threads.add(thread)
            thread.start()

    def _compile(self) -> None:
        assert self._make is not None
        try:
            made = self._make()
        except Exception as error:
            self._settle(None, error)
            notice(f"{self.name} goes on by NumPy, with the same results: {' '.join(str(error).splitlines()[:2])}")
        else:
            self._settle(made, None)

    def _settle(self, made: Any, error: Exception | None) -> None:
        with _settling:
            self._make, self.error = None, error
            if error is None:
                self._now = made
                follower = self._follower() if self._follower is not None else None
                if follower is not None:
                    follower(made)
            _pending.discard(self)
            self._done.set()


_settling = threading.RLock()
_pending: weakref.WeakSet[Tiered] = weakref.WeakSet()
_threads: weakref.WeakSet[threading.Thread] = weakref.WeakSet()
_room = threading.Semaphore(processors())
"""As many compile at a time as there are processors."""


def _work(reference: Callable[[], Tiered | None]) -> None:
    """Compile, unless the function was forgotten meanwhile."""
    with _room:
        tiered = reference()
        if tiered is not None:
            tiered._compile()


def _at_exit() -> None:
    """End the compilers, so that their threads remove what they made."""
    deadline = time.monotonic() + _FAREWELL
    with compilers_ended():
        for thread in list(_threads):
            thread.join(max(0.0, deadline - time.monotonic()))


def _in_child() -> None:
    """After a fork: the threads stayed behind, so the next call of a function begins anew what they were at."""
    global _settling, _room
    _settling, _room = threading.RLock(), threading.Semaphore(processors())
    _threads.clear()
    for tiered in list(_pending):
        tiered._lost, tiered._done = True, threading.Event()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_in_child)
