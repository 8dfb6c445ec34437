"""What processor this is, cheaply read: the cache never hands code to a processor it was not built for."""

from __future__ import annotations

import hashlib
import platform
from functools import cache

# The lines of /proc/cpuinfo that say what code may run; frequencies and microcode revisions come and go.
_FIELDS = (
    "vendor_id", "cpu family", "model", "model name", "stepping", "flags",  # x86
    "CPU implementer", "CPU architecture", "CPU variant", "CPU part", "Features",  # Arm
    "isa", "uarch", "cpu", "machine",  # RISC-V, POWER
)  # fmt: skip


@cache
def processor() -> dict[str, str]:
    """The fields of the first processor: name and value.  Where there is no /proc/cpuinfo, what `platform` knows."""
    try:
        with open("/proc/cpuinfo", "rb", buffering=0) as file:
            text = file.read(16384).decode(errors="replace")
    except OSError:
        return {"machine": platform.machine(), "model name": platform.processor()}
    fields = {name.strip(): value.strip() for name, _, value in (line.partition(":") for line in _first_block(text))}
    return {name: fields[name] for name in _FIELDS if name in fields} or {"machine": platform.machine()}


def _first_block(text: str) -> list[str]:
    return text.partition("\n\n")[0].splitlines()


@cache
def features() -> tuple[str, ...]:
    """The instruction set extensions the system reports, sorted."""
    known = processor()
    return tuple(sorted((known.get("flags") or known.get("Features") or "").split()))


@cache
def identity() -> bytes:
    """A sha256 digest of the processor, the system and the width of a pointer."""
    parts = (platform.machine(), platform.system(), *(f"{name}={value}" for name, value in processor().items()))
    return hashlib.sha256("\n".join(parts).encode()).digest()
