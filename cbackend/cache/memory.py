"""Files in memory that nobody can change any more: what was verified stays what was verified."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from .files import seal


@contextmanager
def sealed(payload: bytes, name: str) -> Iterator[int]:
    """A descriptor of memory that holds `payload` and that nobody can change any more: `/proc/self/fd/<it>`.

    Raises:
        OSError: the system has no such memory.
    """
    if not hasattr(os, "memfd_create"):
        raise OSError("no memfd on this system")
    descriptor = os.memfd_create(name, os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    try:
        written = os.write(descriptor, payload)
        while written < len(payload):
            written += os.write(descriptor, payload[written:])
        seal(descriptor)
        yield descriptor
    finally:
        os.close(descriptor)
