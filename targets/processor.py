"""This machine's processor, cheaply read from the system: name, extensions, caches."""

from __future__ import annotations

import platform
import sys
from functools import cache
from pathlib import Path

# The lines of /proc/cpuinfo that say what code may run; frequencies and microcode revisions come and go.
_FIELDS = (
    "vendor_id", "cpu family", "model", "model name", "stepping", "flags",  # x86
    "CPU implementer", "CPU architecture", "CPU variant", "CPU part", "Features",  # Arm
    "isa", "uarch", "cpu", "machine",  # RISC-V, POWER
)  # fmt: skip

# Extensions that compilers use by themselves under -march=native, in the system's names; a bit each in an entry of the
# cache.  Only ever append: a bit keeps its meaning.
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
WASM_EXTENSIONS = ("simd128",)
_ARCHITECTURES = {"amd64": "x86_64", "arm64": "aarch64"}
_CACHES = "sys/devices/system/cpu/cpu0/cache"
_GATHERING = "sys/devices/system/cpu/vulnerabilities/gather_data_sampling"
_UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


def architecture() -> str:
    """The instruction set of this machine, such as `x86_64`."""
    name = platform.machine().lower()
    return _ARCHITECTURES.get(name, name)


def system() -> str:
    """The operating system, such as `linux`."""
    return sys.platform


def extensions_of(arch: str) -> tuple[str, ...]:
    """The extensions that a target of this architecture may have."""
    return {"x86_64": X86_EXTENSIONS, "aarch64": ARM_EXTENSIONS, "wasm32": WASM_EXTENSIONS}.get(arch, ())


@cache
def processor() -> dict[str, str]:
    """The fields of the first processor by name, from /proc/cpuinfo or else from `platform`."""
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
def gathers_fast(root: Path = Path("/")) -> bool:
    """Whether an instruction that gathers elements takes less time than reads one by one.

    So it is on Intel's processors with AVX-512, unless their microcode mitigates Gather Data Sampling.
    """
    if processor().get("vendor_id") != "GenuineIntel" or "avx512f" not in features():
        return False
    try:
        return (root / _GATHERING).read_text().startswith("Not affected")
    except OSError:
        return False


def caches(root: Path) -> tuple[int, int, int]:
    """Bytes of the data caches of the first processor, levels 1 to 3; 0 where the system does not say."""
    found = [0, 0, 0]
    for index in range(8):
        folder = root / _CACHES / f"index{index}"
        try:
            level, kind, size = ((folder / name).read_text().strip() for name in ("level", "type", "size"))
        except (OSError, UnicodeDecodeError):
            break
        if kind != "Instruction" and level in ("1", "2", "3"):
            found[int(level) - 1] = as_bytes(size)
    return found[0], found[1], found[2]


def as_bytes(text: str) -> int:
    """A size such as `48K`, in bytes.  Raises ValueError for anything else."""
    unit = _UNITS.get(text[-1:].upper(), 0)
    return int(text[:-1]) * unit if unit else int(text)
