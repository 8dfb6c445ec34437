"""Locks that a child of fork finds open: the fork waits until no other thread holds them."""

from __future__ import annotations

import os
import threading


def fork_safe_lock() -> threading.RLock:
    """A lock that no thread of the parent holds at the moment of a fork.  It must be held for moments only."""
    lock = threading.RLock()
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(before=lock.acquire, after_in_parent=lock.release, after_in_child=lock.release)
    return lock
