"""Whether the interpreter is shutting down: no thread may begin then, and nothing is measured.

Since Python 3.12 a thread that begins in an atexit callback is a RuntimeError; before, nobody waits for it.
"""

from __future__ import annotations

import threading


def interpreter_ends() -> bool:
    """Whether the main thread has ended, so that atexit callbacks and finalizers are all that still runs."""
    return not threading.main_thread().is_alive()
