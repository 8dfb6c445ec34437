"""The tiered engine: NumPy runs the optimized graph until another engine has compiled it.

    ag.function(..., tiered=True)  ->  Tiered(NumPy's executable)  --a thread compiles-->  Tiered(C's executable)

Both run the graph that was optimized for the second engine.  So results differ only by elementary functions and orders
of summation.  A running call stays with its tier; the next call uses the new one.
"""

from __future__ import annotations

import atexit
import os
import threading
import time
import weakref
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from ..cbackend import compilers_ended
from ..graph import FunctionGraph
from ..notices import notice
from ..record.ending import interpreter_ends
from ..targets.processors import processors
from .engine import Around, Engine, Request, executable_of
from .registry import run_by_numpy

_FAREWELL = 5.0
"""Seconds for threads to clean up when the interpreter ends."""


class TieredEngine(Around):
    """The NumPy engine, until a thread has compiled the same graph with `engine`."""

    def __init__(self, engine: Engine, budget: float) -> None:
        """`budget`: seconds to wait for the other engine before NumPy begins."""
        super().__init__(engine)
        self._budget = budget

    def compile(self, graph: FunctionGraph, request: Request) -> Tiered:
        first = run_by_numpy(graph, replace(request, key=None))
        tiered = Tiered(first, partial(executable_of, self._engine, graph, request), request.name)
        tiered.join(self._budget)
        return tiered


class Tiered:
    """The executable `first`, replaced by the result of `make` as soon as it is ready.

    Other attributes are those of the current tier.
    """

    is_tiered = True

    def __init__(self, first: Any, make: Callable[[], Any], name: str) -> None:
        self.name = name
        self.error: Exception | None = None
        """Reason why there is no second tier."""
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
        """Call a bound method with the second tier once it is ready; only a weak reference is kept."""
        with _settling:
            self._follower = weakref.WeakMethod(follower)
            if self.ready and self.error is None:
                follower(self._now)

    @property
    def ready(self) -> bool:
        """Whether the second tier is ready, or has failed."""
        return self._done.is_set()

    def wait(self, timeout: float | None = None) -> bool:
        """Wait for the second tier; return whether it is ready within `timeout` seconds (None: no limit).

        Raises the exception of a failed compilation.
        """
        ready = self.join(timeout)
        if ready and self.error is not None:
            raise self.error
        return ready

    def join(self, timeout: float | None = None) -> bool:
        """Wait until the second tier is ready or has failed; return False after `timeout` seconds."""
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
            atexit.unregister(_at_exit)  # register last to run first: other handlers remove files that compilers use
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
            notice(f"{self.name} stays with NumPy, with the same results: {' '.join(str(error).splitlines()[:2])}")
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
"""One compilation per processor at a time."""


def _work(reference: Callable[[], Tiered | None]) -> None:
    """Compile, unless the function no longer exists."""
    with _room:
        tiered = reference()
        if tiered is not None:
            tiered._compile()


def _at_exit() -> None:
    """Stop the compilers so that their threads remove their files."""
    deadline = time.monotonic() + _FAREWELL
    with compilers_ended():
        for thread in list(_threads):
            thread.join(max(0.0, deadline - time.monotonic()))


def _in_child() -> None:
    """Reset the state after a fork: the threads are gone, so the next call of a function compiles again."""
    global _settling, _room
    _settling, _room = threading.RLock(), threading.Semaphore(processors())
    _threads.clear()
    for tiered in list(_pending):
        tiered._lost, tiered._done = True, threading.Event()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_in_child)
