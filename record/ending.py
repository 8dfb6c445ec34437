"""Shutdown of the interpreter, when no thread may begin and nothing is measured.

Since Python 3.12 a thread that begins in an atexit callback is a RuntimeError; before, it is not waited for.
"""

from __future__ import annotations

import threading


def interpreter_ends() -> bool:
    """Return whether the main thread has ended and only atexit callbacks and finalizers still run."""
    return not threading.main_thread().is_alive()
