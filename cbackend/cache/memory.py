"""Sealed files in memory: verified bytes that no process can change afterwards."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from .files import seal


@contextmanager
def sealed(payload: bytes, name: str) -> Iterator[int]:
    """Return a descriptor of sealed memory that holds `payload`, to be opened as `/proc/self/fd/N`.

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
