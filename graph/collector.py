"""Pause Python's cyclic garbage collector while graphs are built and rewritten.

Nodes and their outputs refer to each other, and next to nothing of a growing graph is garbage; yet each time a quarter
more objects are alive the collector walks over all of them.  Measured on the gradient of a 600-layer network (12,000
nodes): 308 us a node with it, 177 without.
"""

from __future__ import annotations

import gc
import os
import threading
from contextlib import ContextDecorator


class _GcPaused(ContextDecorator):
    """Pause automatic garbage collection; a context manager and a decorator.

    It counts who is inside, in all threads: the last one to leave, by whatever way, starts the collector again if it
    was running when the first one came.  `gc.collect()` works as ever.
    """

    def __init__(self) -> None:
        self._nobody_inside()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._left_alone)

    def _nobody_inside(self) -> None:
        self._lock = threading.Lock()
        self._inside = 0
        self._was_running = False

    def _left_alone(self) -> None:
        """Reset the count in the child of a fork: its other threads are gone and will never leave the block."""
        if self._inside and self._was_running:
            gc.enable()
        self._nobody_inside()

    def __enter__(self) -> None:
        with self._lock:
            if self._inside == 0:
                self._was_running = gc.isenabled()
                gc.disable()
            self._inside += 1

    def __exit__(self, *error: object) -> None:
        with self._lock:
            self._inside -= 1
            if self._inside == 0 and self._was_running:
                gc.enable()


gc_paused: _GcPaused = _GcPaused()
