"""`Target`: the machine that a function is compiled for, an immutable value.

    Target("x86_64-linux-v3", "x86_64", "linux", ("avx2", "fma"), vector=32, integers=32, registers=16)
    str(target)                x86_64-linux-v3 avx2,fma vector=32 integers=32 registers=16 ...
    parse_target(str(target))  the same value

Passes ask `current()` for it; compilers get its `flags`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import fields, is_dataclass, replace
from typing import Any

from ..record import record
from .costs import Costs
from .limits import Limits

VECTORS, CLONES, EXTREMA = "vectors", "clones", "extrema"
"""Abilities of a compiler: GNU vector types, `declare simd` clones, extrema by builtins alone.

clang vectorizes the maximum of floats by `__builtin_elementwise_maximumnum` alone: no `a > b ? a : b`, for NaN.
"""
_V2 = ("cx16", "lahf_lm", "pni", "popcnt", "sse4_1", "sse4_2", "ssse3")
_V3 = (*_V2, "abm", "avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "movbe", "xsave")
_V4 = (*_V3, "avx512bw", "avx512cd", "avx512dq", "avx512f", "avx512vl")
LEVELS = {"": (), "-v2": _V2, "-v3": _V3, "-v4": _V4}
"""The extensions of the levels of the x86-64 psABI, in the names of the system."""
_FLAGS = {
    "pni": "sse3", "sse4_1": "sse4.1", "sse4_2": "sse4.2", "abm": "lzcnt", "lahf_lm": "sahf", "bmi1": "bmi",
    "sha_ni": "sha", "rdrand": "rdrnd", "3dnowprefetch": "prfchw", "amx_tile": "amx-tile", "amx_int8": "amx-int8",
    "amx_bf16": "amx-bf16", "amx_fp16": "amx-fp16", "pclmulqdq": "pclmul",
}  # fmt: skip
"""Compilers' names of extensions, where they differ by more than an underscore."""


_ARM_FLAGS = {"asimddp": "dotprod", "asimdhp": "fp16", "asimdfhm": "fp16fml", "i8mm": "i8mm", "bf16": "bf16"}
"""Compilers' names of the extensions of aarch64 that our kernels ask for."""

NUMBERS = ("vector", "integers", "registers", "l1", "l2", "l3", "threads")
"""The fields of a target that are whole numbers."""
GROUPS: dict[str, Any] = {"limits": Limits(), "costs": Costs()}
"""The fields that are records, with their defaults."""


class TargetError(ValueError):
    """A target that is unknown, or that cannot be compiled for here."""


@record
class Target:
    """A machine, its compiler and their numbers.  Sizes are in bytes; 0 stands for an unknown one.

    `features`: extensions of the instruction set in the system's names, sorted.  `vector`, `integers`: widths of the
    vectors of floats and of integers.  `registers`: vector registers.  `threads`: 0 for as many as the process may use.
    `compiler`: what the C compiler can do, "vectors" (GNU vector types), "clones" (functions with vector
    forms), "extrema" (loops for maxima, by builtins alone).
    """

    name: str
    arch: str
    system: str
    features: tuple[str, ...] = ()
    vector: int = 16
    integers: int = 16
    registers: int = 16
    l1: int = 32 << 10
    l2: int = 1 << 20
    l3: int = 0
    threads: int = 0
    compiler: tuple[str, ...] = (VECTORS, CLONES)
    limits: Limits = Limits()
    costs: Costs = Costs()

    def __str__(self) -> str:
        words = [self.name, *([",".join(self.features)] if self.features else [])]
        words += [f"{key}={_size(getattr(self, key))}" for key in NUMBERS]
        words.append(f"compiler={','.join(self.compiler)}")
        for group, default in GROUPS.items():
            usual = dict(numbers_of(default, group))
            own = numbers_of(getattr(self, group), group)
            words += [f"{key}={_word(value)}" for key, value in own if value != usual[key]]
        return " ".join(words)

    @property
    def code(self) -> Target:
        """This target reduced to the fields that generated code depends on: no name, no thread count."""
        return replace(self, name="", threads=0)

    @property
    def panel(self) -> int:
        """The blocks of outputs of a convolution or product that are computed together, in registers."""
        return self.registers // self.limits.convolutions.panel_registers

    @property
    def picks_in_registers(self) -> bool:
        """Whether any element of a vector can be selected per lane; else some sparse products lose to dense ones."""
        return self.vector >= 32 and "avx2" in self.features

    def lacks(self, other: Target) -> tuple[str, ...]:
        """The extensions of `other` that this target does not have."""
        return tuple(f for f in other.features if f not in self.features)

    def runs(self, other: Target) -> bool:
        """Whether code for `other` runs on this target."""
        return (self.arch, self.system) == (other.arch, other.system) and not self.lacks(other)

    @property
    def flags(self) -> tuple[str, ...]:
        """The flags of gcc and clang for this target."""
        if self.arch == "aarch64":
            added = "".join(f"+{flag}" for name, flag in _ARM_FLAGS.items() if name in self.features)
            return (f"-march=armv8.2-a{added}",) if added else ()
        if self.arch != "x86_64":
            return tuple(f"-m{f.replace('_', '-')}" for f in self.features) if self.arch == "wasm32" else ()
        level = max((l for l, of in LEVELS.items() if set(of) <= set(self.features)), key=lambda l: len(LEVELS[l]))
        more = (f for f in self.features if f not in LEVELS[level])
        narrow = (f"-mprefer-vector-width={8 * self.vector}",) if self.vector < width_of(self.features) else ()
        return (f"-march=x86-64{level}", *(f"-m{_FLAGS.get(f, f.replace('_', ''))}" for f in more), *narrow)


def numbers_of(held: Any, key: str) -> Iterator[tuple[str, Any]]:
    """Yield the numbers of a record and of the records in it, with their keys: "limits.fusion.nodes"."""
    for f in fields(held):
        value = getattr(held, f.name)
        if is_dataclass(value):
            yield from numbers_of(value, f"{key}.{f.name}")
        else:
            yield f"{key}.{f.name}", value


def width_of(features: Iterable[str]) -> int:
    """Bytes of the widest vectors of floats of an x86-64 processor."""
    found = set(features)
    return 64 if "avx512f" in found else 32 if "avx" in found else 16


def x86_64(name: str, features: Iterable[str]) -> Target:
    """A target of the x86-64 architecture with these extensions."""
    found = tuple(sorted(features))
    wide = width_of(found)
    integers = wide if wide != 32 or "avx2" in found else 16
    return Target(name, "x86_64", "linux", found, wide, integers, 32 if wide == 64 else 16)



def _word(value: Any) -> str:
    return ",".join(map(str, value)) if isinstance(value, tuple) else str(value)


def _size(value: int) -> str:
    for unit, size in (("M", 1 << 20), ("K", 1 << 10)):
        if value >= size and value % size == 0:
            return f"{value // size}{unit}"
    return str(value)
