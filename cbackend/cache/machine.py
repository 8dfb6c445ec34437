"""The identity of the processor: the cache hands out only code that was built for the same extensions."""

from __future__ import annotations

import hashlib
import os
import platform
import struct
from collections.abc import Iterable
from functools import cache

from ...record import record
from ...targets.processor import ARM_EXTENSIONS, X86_EXTENSIONS, features, processor

__all__ = ["Machine", "bits", "crowding", "features", "identity", "processor", "this_machine"]

@record
class Machine:
    """The processor that code was built for, or that runs it: the architecture, and one bit per extension."""

    architecture: bytes  # 8 bytes
    extensions: int

    def runs(self, built_for: Machine) -> bool:
        """Whether code that was built for that machine runs on this one."""
        missing = built_for.extensions & ~self.extensions
        return self.architecture == built_for.architecture and not missing


@cache
def this_machine() -> Machine:
    """Return this machine."""
    names = f"{platform.machine()} {platform.system()} {struct.calcsize('P')}"
    return Machine(hashlib.sha256(names.encode()).digest()[:8], bits(features()))


def bits(names: Iterable[str]) -> int:
    """Return the bits of extensions by name; unknown names are ignored."""
    table = ARM_EXTENSIONS if platform.machine().startswith(("aarch", "arm")) else X86_EXTENSIONS
    present = set(names)
    return sum(1 << position for position, name in enumerate(table) if name in present)


def crowding() -> float:
    """Return the current load: runnable threads per processor, clamped to 1..4."""
    try:
        with open("/proc/loadavg", "rb", buffering=0) as file:
            running = int(file.read(256).split()[3].partition(b"/")[0])
    except (OSError, ValueError, IndexError):  # no Linux
        return 1.0
    return min(max(1.0, running / (os.cpu_count() or 1)), 4.0)


@cache
def identity() -> bytes:
    """Return a SHA-256 digest of the processor, the system and the width of a pointer."""
    parts = (platform.machine(), platform.system(), *(f"{name}={value}" for name, value in processor().items()))
    return hashlib.sha256("\n".join(parts).encode()).digest()
