"""Targets known by name, the host among them, and the check that one can be compiled for here."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import cache
from pathlib import Path

from ..record.spelling import nearest
from . import processor
from .processors import processors
from .target import EXTREMA, LEVELS, VECTORS, Target, TargetError, x86_64

NAMED = {f"x86_64-linux{level}": x86_64(f"x86_64-linux{level}", found) for level, found in LEVELS.items()}
NAMED["aarch64-linux"] = Target("aarch64-linux", "aarch64", "linux", ("asimd", "fp"), registers=32)
NAMED["riscv64-linux"] = Target("riscv64-linux", "riscv64", "linux", vector=8, integers=8, registers=0)
NAMED |= {
    f"wasm32-{system}": Target(
        f"wasm32-{system}", "wasm32", system, ("simd128",), threads=1, l2=0, compiler=(VECTORS, EXTREMA)
    )
    for system in ("wasi", "web")
}
"""Targets that are no host.  Those of other architectures have their costs from the table of x86_64 until fitted."""


@cache
def host() -> Target:
    """This machine."""
    arch, system = processor.architecture(), processor.system()
    name = f"{arch}-{system}"
    found = tuple(sorted(set(processor.features()).intersection(processor.extensions_of(arch))))
    base = x86_64(name, found) if arch == "x86_64" else NAMED.get(name, Target(name, arch, system))
    l1, l2, l3 = processor.caches(Path("/"))
    return replace(
        base, system=system, features=found, l1=l1 or base.l1, l2=l2 or base.l2, l3=l3, threads=processors()
    )


def by_name(name: str) -> Target:
    """The target of a name: "host", or a row of NAMED.

    Raises:
        TargetError: nothing is known by that name.
    """
    if name == "host":
        return host()
    found = NAMED.get(name)
    if found is None and name == host().name:
        return host()
    if found is None:
        raise TargetError(f"target: {unknown('target', name, ['host', *NAMED])}")
    return found


def unknown(kind: str, name: str, known: Iterable[str]) -> str:
    """The error message for an unknown name: the closest known name, or else all of them."""
    known = list(known)
    near = nearest(name, known, least=0.7)  # another architecture is no misspelling
    meant = f"did you mean {near[0]!r}?" if near else f"expected one of {', '.join(known)}"
    return f"no {kind} is called {name!r}; {meant}"


def refusal(target: Target) -> str | None:
    """The reason why this machine cannot compile or run code for the target, with the fix; None if it can."""
    here = host()
    if (target.arch, target.system) != (here.arch, here.system):
        return (
            f"target {target.name} is another machine than this {here.name}, and its code does not run here; "
            f"f.export(folder, target={target.name!r}) writes C for it"
        )
    missing = here.lacks(target)
    if missing:
        runs = [name for name, other in NAMED.items() if here.runs(other)]
        return (
            f"target {target.name} has {', '.join(missing)}, which this processor lacks: its code would not run here; "
            f"take 'host'{''.join(f' or {name!r}' for name in runs[-1:])}"
        )
    return None
