"""Keys cover everything that shapes the code: such a change compiles anew, any other does not.

Processors that lack each extension in turn replace other processors, which one machine does not have.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from arignote.cbackend.build import compilation
from arignote.cbackend.build.build import build
from arignote.cbackend.build.compilation import library_key
from arignote.cbackend.build.toolchain import Toolchain
from arignote.cbackend.cache.entry import Kind
from arignote.cbackend.cache.machine import Machine, this_machine
from arignote.cbackend.cache.store import Cache

from ..sandbox import cache_and_toolchain, returning
from ..scorecard import Row, Trials

EXTENSIONS = 64


def compiler_in(folder: Path, more: str = "") -> str:
    """A compiler of its own that can be changed: a script that starts the real one."""
    path = folder / "mycc"
    path.write_text(f'#!/bin/sh\n{more}\nexec {shutil.which("gcc") or shutil.which("cc")} "$@"\n')
    path.chmod(0o755)
    return str(path)


def planted(folder: Path, cache: Cache) -> Iterator[tuple[str, Toolchain | None]]:
    """Toolchains that came of one change each."""
    compiler = compiler_in(folder)
    first = Toolchain.find(cache, compiler)
    assert first is not None
    os.utime(compiler, ns=(0, 10**18))
    yield "a compiler of another date", Toolchain.find(cache, compiler)
    compiler_in(folder, "# upgraded")
    yield "a compiler of another size", Toolchain.find(cache, compiler)
    yield "another option of the compiler", Toolchain.find(cache, f"{compiler} -fno-inline")
    compiler_in(folder, 'echo "mycc version 99"')
    yield "another version text", Toolchain.find(cache, compiler)
    compiler_in(folder, 'case "$*" in *-march=native*) exit 1;; esac')
    yield "a flag that is refused", Toolchain.find(cache, compiler)
    for field, value in {
        "flags": (*first.flags, "-g"), "link_flags": (*first.link_flags, "-lc"), "features": ("-mother",),
        "files": (("/usr/bin/as", 1, 1),), "command": ("/usr/bin/other",),
    }.items():  # fmt: skip
        yield f"another value of {field}", replace(first, **{field: value})


def changes(trials: Trials, cache: Cache, toolchain: Toolchain) -> None:
    """Each planted change gives another key; so do another text and another ABI."""
    text = returning(1)
    seen = {library_key(text, toolchain), library_key(returning(2), toolchain)}
    trials.check(len(seen) == 2, "another text has the same key")
    interface = compilation._interface
    compilation._interface = lambda: "another"
    try:
        trials.check(library_key(text, toolchain) not in seen, "another ABI has the same key")
    finally:
        compilation._interface = interface
    with tempfile.TemporaryDirectory() as folder:
        for what, changed in planted(Path(folder), cache):
            key = library_key(text, changed) if changed else b""
            trials.check(bool(key) and key not in seen, f"{what}: the same key, or no toolchain")
            seen.add(key)


@contextmanager
def environment_of(**settings: str) -> Iterator[None]:
    before = {name: os.environ.get(name) for name in settings}
    os.environ.update(settings)
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name) if value is None else os.environ.update({name: value})


def no_changes(trials: Trials, cache: Cache) -> None:
    """HOME, folder for temporary files, locale, umask, working folder, clock: none compiles anything anew."""
    compiler = Toolchain.find(cache)
    assert compiler is not None and cache.folder.root is not None
    build(returning(3), compiler, cache)

    def is_hit(what: str) -> None:
        again = Cache.open(cache.folder.root)
        found = Toolchain.find(again)
        hit = found is not None and build(returning(3), found, again).from_cache
        trials.check(hit, f"compiled anew because of another {what}")

    with tempfile.TemporaryDirectory() as folder:
        for name, value in {"HOME": folder, "TMPDIR": folder, "LC_ALL": "tr_TR.UTF-8", "COLUMNS": "7"}.items():
            with environment_of(**{name: value}):
                is_hit(name)
        here, mask = os.getcwd(), os.umask(0)
        os.chdir(folder)
        try:
            is_hit("umask or working folder")
        finally:
            os.umask(mask)
            os.chdir(here)
    for skew in (-10, 10):  # years: what the entries' stamps say when a clock was wrong
        for path in cache.folder.root.rglob("*"):
            os.utime(path, (0, time.time() + skew * 365 * 86400))
        is_hit("clock")


def processors(trials: Trials, cache: Cache) -> None:
    """An entry that needs an extension is a miss where the processor lacks it, and a hit where it has it."""
    key, every = b"p" * 32, (1 << EXTENSIONS) - 1
    architecture = this_machine().architecture
    for bit in range(EXTENSIONS):
        Cache(cache.folder, machine=Machine(architecture, 1 << bit)).store(Kind.LIBRARY, key, b"code")
        lacks, has = Machine(architecture, every ^ 1 << bit), Machine(architecture, every)
        trials.check(Cache(cache.folder, machine=lacks).load(Kind.LIBRARY, key) is None, f"loaded without bit {bit}")
        trials.check(Cache(cache.folder, machine=has).load(Kind.LIBRARY, key) == b"code", f"refused with bit {bit}")
    other = Machine(b"another.", every)
    trials.check(Cache(cache.folder, machine=other).load(Kind.LIBRARY, key) is None, "loaded on another architecture")


def run(full: bool) -> list[Row]:
    keys = Trials("G15", "changes of compiler, flags, text, ABI: compiled anew; of surroundings: not")
    bits = Trials("G16", "entries for processors with an extension that this one lacks: not loaded")
    with cache_and_toolchain() as (cache, toolchain):
        no_changes(keys, cache)
        changes(keys, cache, toolchain)
        processors(bits, cache)
    return [keys.row(), bits.row("each of 64 bits; no second processor at hand")]
