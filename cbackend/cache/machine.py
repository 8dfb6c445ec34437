"""What processor this is, cheaply read: the cache never hands code to a processor it was not built for."""

from __future__ import annotations

import hashlib
import os
import platform
import struct
from collections.abc import Iterable
from functools import cache

from ...record import record

# The lines of /proc/cpuinfo that say what code may run; frequencies and microcode revisions come and go.
_FIELDS = (
    "vendor_id", "cpu family", "model", "model name", "stepping", "flags",  # x86
    "CPU implementer", "CPU architecture", "CPU variant", "CPU part", "Features",  # Arm
    "isa", "uarch", "cpu", "machine",  # RISC-V, POWER
)  # fmt: skip

# Extensions that compilers use by themselves under -march=native, in the system's names; a bit each in an entry.  Only
# ever append: a bit keeps its meaning.
X86_EXTENSIONS = (
    "pni", "ssse3", "sse4_1", "sse4_2", "sse4a", "popcnt", "cx16", "movbe", "lahf_lm", "abm", "bmi1", "bmi2", "avx",
    "f16c", "fma", "fma4", "xop", "tbm", "avx2", "adx", "aes", "pclmulqdq", "vaes", "vpclmulqdq", "sha_ni", "gfni",
    "rdrand", "rdseed", "fsgsbase", "avx512f", "avx512cd", "avx512bw", "avx512dq", "avx512vl", "avx512ifma",
    "avx512vbmi", "avx512_vbmi2", "avx512_vnni", "avx512_bitalg", "avx512_vpopcntdq", "avx512_bf16", "avx512_fp16",
    "avx512_vp2intersect", "avx_vnni", "avx_ifma", "avx_ne_convert", "avx_vnni_int8", "avx_vnni_int16", "amx_tile",
    "amx_int8", "amx_bf16", "amx_fp16", "movdiri", "movdir64b", "clflushopt", "clwb", "clzero", "3dnowprefetch",
    "xsave", "xsaveopt", "xsavec", "sha512", "sm3", "sm4",
)  # fmt: skip
ARM_EXTENSIONS = (
    "fp", "asimd", "aes", "pmull", "sha1", "sha2", "crc32", "atomics", "fphp", "asimdhp", "asimdrdm", "jscvt", "fcma",
    "lrcpc", "dcpop", "sha3", "sm3", "sm4", "asimddp", "sha512", "sve", "asimdfhm", "ilrcpc", "flagm", "sb", "sve2",
    "sveaes", "svebitperm", "svesha3", "flagm2", "frint", "svei8mm", "svebf16", "i8mm", "bf16", "rng", "bti", "sme",
    "sve2p1", "sme2", "mops", "cssc", "lse128", "neon", "vfpv4", "idiva", "half", "thumb",
)  # fmt: skip


@record
class Machine:
    """What code was built for, or what there is to run it: the architecture, and a bit for each extension."""

    architecture: bytes  # 8 bytes
    extensions: int

    def runs(self, built_for: Machine) -> bool:
        """Whether code that was built for that machine runs on this one."""
        missing = built_for.extensions & ~self.extensions
        return self.architecture == built_for.architecture and not missing


@cache
def this_machine() -> Machine:
    """The machine at hand."""
    names = f"{platform.machine()} {platform.system()} {struct.calcsize('P')}"
    return Machine(hashlib.sha256(names.encode()).digest()[:8], bits(features()))


def bits(names: Iterable[str]) -> int:
    """The names of extensions as bits; those in no table are ignored."""
    table = ARM_EXTENSIONS if platform.machine().startswith(("aarch", "arm")) else X86_EXTENSIONS
    present = set(names)
    return sum(1 << position for position, name in enumerate(table) if name in present)


def crowding() -> float:
    """How many threads want to run at this moment for each processor, from 1 to 4: more is taken for 4."""
    try:
        with open("/proc/loadavg", "rb", buffering=0) as file:
            running = int(file.read(256).split()[3].partition(b"/")[0])
    except (OSError, ValueError, IndexError):  # no Linux
        return 1.0
    return min(max(1.0, running / (os.cpu_count() or 1)), 4.0)


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
