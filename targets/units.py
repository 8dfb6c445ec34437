"""Units of processors that multiply numbers of few bits, by the extensions that have them.

    unit_for(target, "bfloat16")     the unit that our kernels use for such numbers, or None
    lacking(target, "bfloat16")      "avx512_bf16 (vdpbf16ps)": what the target would need; empty if it has a unit

Sources: Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2; Arm Architecture Reference Manual for
A-profile, part C7.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from ..record import lazy, record
from .target import Target


@record
class Unit:
    """An instruction that multiplies numbers of a format and adds the products to wider sums.

    `format`: bfloat16, float16 or int8.  `features`: the extensions, in the system's names.  `vector`: the least bytes
    of vectors.  `products`: how many products it adds to each sum.  `used`: whether our kernels have it.
    """

    instruction: str
    format: str
    arch: str
    features: tuple[str, ...]
    products: int
    vector: int = 16
    used: bool = True

    def __str__(self) -> str:
        return f"{', '.join(self.features)} ({self.instruction})"

    def belongs_to(self, target: Target) -> bool:
        """Whether the target has it."""
        return self.arch == target.arch and target.vector >= self.vector and set(self.features) <= set(target.features)


UNITS: tuple[Unit, ...] = (
    Unit("vdpbf16ps", "bfloat16", "x86_64", ("avx512_bf16",), 2, 64),
    Unit("tdpbf16ps", "bfloat16", "x86_64", ("amx_tile", "amx_bf16"), 32, 64),
    Unit("bfmlalb, bfmlalt", "bfloat16", "aarch64", ("bf16",), 2),
    Unit("tdpfp16ps", "float16", "x86_64", ("amx_tile", "amx_fp16"), 32, 64, used=False),
    Unit("fmlal", "float16", "aarch64", ("asimdfhm",), 1, used=False),
    Unit("vpdpbusd", "int8", "x86_64", ("avx512_vnni",), 4, 64),
    Unit("vpdpbusd", "int8", "x86_64", ("avx_vnni",), 4, 32),
    Unit("tdpbusd", "int8", "x86_64", ("amx_tile", "amx_int8"), 64, 64),
    Unit("usdot", "int8", "aarch64", ("i8mm",), 4),
)
"""The units, those that our kernels prefer first."""

TILES = next(u for u in UNITS if u.instruction == "tdpbusd")
"""The unit of tiles for bytes."""
TILE_BYTES, TILE_WORDS, TILE_BLOCKS = 64, 16, 2
"""Bytes and words of a row of a tile; vectors of outputs whose sums tiles hold at once (kernels/quantized/tiles.c)."""


ctypes: Any = lazy.module("ctypes")
_ARCH_PRCTL, _REQUEST_PERMISSION, _TILE_DATA = 158, 0x1023, 18
"""The number of a system call of Linux on x86-64, its command, and the state of the tiles."""


@cache
def tiles_refused() -> bool:
    """Whether Linux refuses this process the state of AMX's tiles; it is asked once.

    kernels/quantized/tiles.c asks too, and multiplies vectors then.
    """
    try:
        return bool(ctypes.CDLL(None).syscall(_ARCH_PRCTL, _REQUEST_PERMISSION, _TILE_DATA))
    except (OSError, AttributeError):
        return True


def unit_for(target: Target, format: str) -> Unit | None:
    """Return the unit of the target that our kernels use for numbers of a format; None if it has none."""
    return next((u for u in UNITS if u.used and u.format == format and u.belongs_to(target)), None)


def has_tiles(target: Target, format: str) -> bool:
    """Whether tiles of the target multiply numbers of a format."""
    return any(u.used and u.format == format and u.belongs_to(target) and "amx_tile" in u.features for u in UNITS)


def lacking(target: Target, format: str) -> str:
    """Return the unit that the target would need for numbers of a format; empty if it has one."""
    if unit_for(target, format):
        return ""
    known = [u for u in UNITS if u.format == format and u.arch == target.arch]
    used = next((u for u in known if u.used), None)
    if used is not None:
        return str(used)
    return f"{known[0]}, which our kernels do not use" if known else f"an instruction for {format}"
