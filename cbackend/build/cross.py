"""Compilers that make code for another machine: `zig cc`, or a compiler that the user names.

    builder_for(target, None)                        zig, of the package `ziglang`
    builder_for(target, "aarch64-linux-gnu-gcc")     a cross compiler on PATH

A `Builder` is all that a Makefile says of the compiler.  Results depend on none of its flags but those of `REQUIRED`.
"""

from __future__ import annotations

import shlex
import tempfile
from pathlib import Path

from ...record import record
from ...targets.target import Target, TargetError
from .compiler_process import find_programs, run
from .probe import CLANG, GATHERS, GCC, REQUIRED, REQUIRED_LINK, ZIG, optional
from .toolchain import NATIVE, Toolchain, ziglang

ZIG_COMMAND = "$(ZIG)"
"""The command for zig in a Makefile; a variable, because Python packages install programs in many places."""
PACKAGES = {"aarch64-linux": "gcc-aarch64-linux-gnu", "riscv64-linux": "gcc-riscv64-linux-gnu", "x86_64-linux": "gcc"}
"""The packages of Debian that contain a cross compiler."""
_TRIPLES = {
    "aarch64-linux": "aarch64-linux-musl", "riscv64-linux": "riscv64-linux-musl", "x86_64-linux": "x86_64-linux-musl",
    "wasm32-wasi": "wasm32-wasi", "wasm32-web": "wasm32-wasi",
}  # fmt: skip
"""The names of machines that zig knows."""
_SECTIONS = ("-ffunction-sections", "-fdata-sections")
_NO_TABLES = ("-fno-asynchronous-unwind-tables", "-fno-unwind-tables")
"""No exception passes through C, and the tables to unwind it are a tenth of a small program."""
_STATIC = ("-static", "-s", "-Wl,--gc-sections")
_WASM = ("-s", "-Wl,-z,stack-size=1048576")
"""Linker option: a stack that holds the tiles of kernels, up to 128 KiB."""
_REACTOR = ("-mexec-model=reactor",)
_TIMEOUT = 20.0


@record
class Builder:
    """The commands and flags that build a bundle.

    `required`, `required_links`: those that results depend on; `flags`, `link_flags`: speed and size.
    `static`: programs need no library of the machine's.  `alone`: the machine has no threads and no signals.
    `web`: a module that a page calls, in the place of a program.
    """

    compiler: tuple[str, ...]
    archiver: tuple[str, ...]
    arch: tuple[str, ...]
    flags: tuple[str, ...]
    required: tuple[str, ...]
    link_flags: tuple[str, ...]
    required_links: tuple[str, ...]
    libraries: tuple[str, ...]
    static: bool = False
    alone: bool = False
    web: bool = False


def native_builder(toolchain: Toolchain) -> Builder:
    """The builder for the machines that the toolchain makes code for."""
    libraries = (*(f for f in toolchain.link_flags if f.startswith("-l")), "-ldl", "-lpthread")
    arch = toolchain.target_flags or (NATIVE,)
    optimizing = {*GCC.flags, *CLANG.flags}
    flags = (*(f for f in toolchain.flags if f in optimizing), *_NO_TABLES)
    required = tuple(f for f in toolchain.flags if f not in optimizing and f not in (NATIVE, *GATHERS.flags))
    return Builder((), (), arch, flags, required, (), (), libraries)


def builder_for(target: Target, compiler: str | None = None) -> Builder:
    """The builder for another machine, by zig or by the compiler that is named.

    Raises:
        TargetError: there is no such compiler, or it makes code for other machines; the message says what to install.
    """
    machine = f"{target.arch}-{target.system}"
    triple = _TRIPLES.get(machine)
    if compiler is None and ziglang() is None:
        raise TargetError(f"no C compiler for {machine}: {_remedy(machine)}")
    if compiler is None and triple is None:
        raise TargetError(f"zig does not support {machine}; give a compiler, as in compiler='...'")
    alone = target.arch == "wasm32"
    if compiler is None:
        command: tuple[str, ...] = (ZIG_COMMAND, "cc", "-target", str(triple))
        archiver: tuple[str, ...] = (ZIG_COMMAND, "ar")
        family, own = CLANG.flags, ZIG.flags
    else:
        command, is_clang = _named(compiler, target)
        archiver, family, own = _archiver(command), CLANG.flags if is_clang else GCC.flags, ()
    usual = [flag for group in optional(target.arch) for flag in group.flags if flag not in (NATIVE, "-pipe")]
    libraries = REQUIRED_LINK if alone else (*REQUIRED_LINK, "-lpthread")
    web = target.system == "web"
    required_links = (*(_REACTOR if web else ()), *_WASM) if alone else ()
    return Builder(
        command, archiver, target.flags, (*family, *_SECTIONS, *_NO_TABLES), (*REQUIRED, *usual, *own),
        () if alone else _STATIC, required_links, libraries, static=True, alone=alone, web=web,
    )  # fmt: skip


def _remedy(machine: str) -> str:
    package = PACKAGES.get(machine)
    named = f", or name one, compiler='{package[4:]}-gcc' (Debian: apt install {package})" if package else ""
    return f"pip install 'arignote[deploy]' brings zig{named}"


def _named(compiler: str, target: Target) -> tuple[tuple[str, ...], bool]:
    """The words of a compiler's command, and whether it is clang, after a check of the machine it compiles for."""
    machine, words = f"{target.arch}-{target.system}", tuple(shlex.split(compiler))
    if not words or next(find_programs(words[0]), None) is None:
        raise TargetError(f"compiler={compiler!r}: no such program; {_remedy(machine)}")
    with tempfile.TemporaryDirectory() as folder:
        made_for = run([*words, "-dumpmachine"], Path(folder), _TIMEOUT).output.strip()
        version = run([*words, "--version"], Path(folder), _TIMEOUT).output
    if made_for.partition("-")[0] != target.arch:
        other = f"makes code for {made_for[:40]!r}, not for {machine}"
        raise TargetError(f"compiler={compiler!r} {other}; {_remedy(machine)}")
    return words, "clang" in version.lower()


def _archiver(command: tuple[str, ...]) -> tuple[str, ...]:
    """The archiver beside a compiler: `aarch64-linux-gnu-ar` for `aarch64-linux-gnu-gcc`."""
    program = command[0]
    for ending in ("gcc", "clang", "cc"):
        beside = f"{program.removesuffix(ending)}ar"
        if program.endswith(ending) and next(find_programs(beside), None):
            return (beside,)
    return ("ar",)
