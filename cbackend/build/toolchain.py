"""Toolchain: find a C compiler and its flags, probe them on a small program, and cache the result.

    Toolchain.find(cache)  ->  the first of  option, $CC, gcc, clang, cc, the `ziglang` package  that works, or None

A found toolchain is a value; its `fingerprint` is part of every cache key.  Results of probes are kept in the
cache under the compiler's path and the processor, and holds until one of the compiler's own files changes: a warm start
asks `stat` and starts no process.
"""

from __future__ import annotations

import hashlib
import json
import os
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import asdict, fields, replace
from pathlib import Path
from typing import Any

from ...record import lazy, record
from ...record.cached import cached_property
from ...targets.named import host
from ...targets.target import Target
from ..cache import machine
from ..cache.entry import Kind
from ..cache.files import write_whole
from ..cache.interrupts import postponed
from ..cache.store import Cache
from .compiler_process import CompileError, Running, find_programs, run
from .probe import PROBE, PROBE_LINK, WANTED_TEXT, probe
from .work_folder import in_work_folder

_importers: Any = lazy.module("importlib.util")

PREBUILT_FLAG = "-DAG_PREBUILT"
"""Macro that tells a program's C text that the runtime contains the functions of the driver."""
NATIVE = "-march=native"
"""The flag for this machine."""
_TIMEOUT = 60.0
_WRAPPERS = ("ccache", "sccache", "distcc")


@record
class Toolchain:
    """A compiler that works.  `files`: path, size and modification time of the programs it consists of."""

    command: tuple[str, ...]
    version: str
    flags: tuple[str, ...]
    link_flags: tuple[str, ...]
    dropped: tuple[tuple[str, str], ...]  # optional flags it refused, and its message
    features: tuple[str, ...]  # the features that -march=native enables on this processor
    files: tuple[tuple[str, int, int], ...]
    bare_link: tuple[str, ...] = ()  # links a library that needs no start files, nor the C library that is there anyway
    linker: tuple[str, ...] = ()  # linker and options that the compiler starts on this system; () if unknown
    libraries: tuple[str, ...] = ()  # how the linker finds what C text may call, the C library excepted
    target_flags: tuple[str, ...] = ()  # of a target other than this machine, in the place of -march=native

    @staticmethod
    def find(cache: Cache, compiler: str | None = None) -> Toolchain | None:
        """Return the first toolchain that works, or None; `search` also says why others do not."""
        return search(cache, compiler).toolchain

    @cached_property
    def fingerprint(self) -> str:
        """Return a hexadecimal digest of all facts that shape the generated code."""
        return hashlib.sha256(json.dumps(asdict(self), sort_keys=True).encode()).hexdigest()

    def under(self, target: Target | None) -> Toolchain:
        """Return this toolchain with the flags for a target that this machine runs; None: this machine."""
        if target is None or (target.features, target.vector) == (host().features, host().vector):
            return self
        return replace(self, features=target.features, target_flags=target.flags)

    @property
    def native(self) -> Toolchain:
        """Return this toolchain with the flags for this machine."""
        return replace(self, features=(), target_flags=()) if self.target_flags else self

    @property
    def all_flags(self) -> tuple[str, ...]:
        """Return the flags of each compilation."""
        return (*(f for f in self.flags if f != NATIVE), *self.target_flags) if self.target_flags else self.flags

    @property
    def debugging(self) -> Toolchain:
        """Return this toolchain with debugging information."""
        return replace(self, flags=(*self.flags, "-g"), linker=())

    def argv(self, source: str, target: str, bare: bool = False) -> list[str]:
        """Return the command that compiles the C file `source` to the library `target`; `bare`: without C library."""
        reported = (PREBUILT_FLAG,) if bare else ()
        return [*self.command, *self.all_flags, *reported, "-shared", "-fPIC", "-o", target, source, *self._link(bare)]

    def object_argv(self, source: str, target: str, *reported: str) -> list[str]:
        """Return the command that compiles the C file `source`, a program or unit of one, to the object `target`."""
        return [*self.command, *self.all_flags, PREBUILT_FLAG, *reported, "-fPIC", "-c", "-o", target, source]

    def link_argv(self, objects: Sequence[str], target: str) -> list[str]:
        """Return the command that links objects to the library `target` without the C library."""
        return [*self.command, *self.all_flags, "-shared", "-fPIC", "-o", target, *objects, *self._link(bare=True)]

    def short_link_argv(self, objects: Sequence[str], target: str, libraries: bool) -> list[str]:
        """Return the same command by `linker` directly; `libraries`: whether the objects call their functions."""
        return [*self.linker, "-shared", "-o", target, *objects, *(self.libraries if libraries else ())]

    def _link(self, bare: bool) -> tuple[str, ...]:
        return (*self.link_flags, *self.bare_link) if bare else self.link_flags

    def is_current(self) -> bool:
        """Whether none of the compiler's files has changed since it was probed."""
        return bool(self.files) and all(file_identity(path) == (path, size, time) for path, size, time in self.files)


@record(eq=False)
class Begun:
    """A probe of `command` that runs in a folder of its own."""

    command: tuple[str, ...]
    folder: Path
    running: Running


@record
class Attempt:
    """A compiler that was tried; `problem` is None if it works."""

    command: tuple[str, ...]
    problem: str | None
    variable: str = ""
    """CC if that variable names it."""


@record
class Search:
    """The toolchain that was found and the commands that were tried."""

    toolchain: Toolchain | None
    attempts: tuple[Attempt, ...]

    @property
    def reason(self) -> str:
        """Return in one line why there is no toolchain."""
        tried = "; ".join(f"{shlex.join(a.command)}: {a.problem}" for a in self.attempts if a.problem)
        return tried or "no gcc, clang or cc on PATH, and no ziglang package"

    @property
    def refused_cc(self) -> Attempt | None:
        """Return the compiler that the variable CC names, if it does not work."""
        return next((attempt for attempt in self.attempts if attempt.variable and attempt.problem), None)


@postponed()
def search(cache: Cache, compiler: str | None = None, begun: Begun | None = None) -> Search:
    """Try `compiler` alone if it is given (a path or name, options allowed), else the usual ones in order.

    `begun`: a probe that is under way.
    """
    attempts = list(missing(compiler))
    for command in candidates(compiler):
        found = remembered(cache, command)
        if found is None:
            found = _probed(cache, command, attempts, begun)
        if found is not None:
            return Search(found, (*attempts, Attempt(command, None)))
    return Search(None, tuple(attempts))


def missing(compiler: str | None = None) -> tuple[Attempt, ...]:
    """Return the attempt at `compiler`, else at the variable CC, if it names no program that exists."""
    name = compiler or os.environ.get("CC")
    if not name or os.name != "posix" or _resolve(name):
        return ()
    return (Attempt(tuple(_words(name)), "no such program", "" if compiler else "CC"),)


def candidates(compiler: str | None = None) -> Iterator[tuple[str, ...]]:
    """Yield the commands to try, each program as an absolute path, without duplicates under other names."""
    if os.name != "posix":
        return
    seen = set()
    for name in (compiler,) if compiler else (os.environ.get("CC"), "gcc", "clang", "cc"):
        command = _resolve(name) if name else None
        meant = command and (_followed(command[0]), *command[1:])
        if command and meant not in seen:
            seen.add(meant)
            yield command
    zig = None if compiler else ziglang()
    if zig:
        yield (zig, "cc")


def _resolve(name: str) -> tuple[str, ...] | None:
    """Return program and options without a compiler cache (ccache) in front, which hides the real compiler."""
    words = _words(name)
    if words and os.path.basename(words[0]) in _WRAPPERS:
        words = words[1:]
    if not words:
        return None
    found = (path for path in find_programs(words[0]) if os.path.basename(_followed(path)) not in _WRAPPERS)
    path = next(found, None)
    return (path, *words[1:]) if path else None


def _words(name: str) -> list[str]:
    """Return the words of a command line; a single word if its quotes do not close."""
    try:
        return shlex.split(name)
    except ValueError:
        return [name]


def _followed(path: str) -> str:
    try:
        return os.path.realpath(path)
    except OSError:  # a link that cannot be read
        return path


def ziglang() -> str | None:
    """Return the program of the package `ziglang`; None if it is not installed."""
    try:
        spec = _importers.find_spec("ziglang")
    except (OSError, ImportError, ValueError):  # a folder on sys.path that cannot be listed, a broken package
        return None
    program = Path(spec.origin).with_name("zig") if spec and spec.origin else None
    return str(program) if program and os.access(program, os.X_OK) else None


def file_identity(path: str) -> tuple[str, int, int] | None:
    """Return path, size and modification time; None if the file is gone."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    return path, status.st_size, status.st_mtime_ns


def zig_environment(cache: Cache, command: tuple[str, ...]) -> dict[str, str]:
    """Return the environment that gives zig a permanent folder for its own libraries, which it builds on first use."""
    if os.path.basename(command[0]) != "zig" or not (cache.folder.root and cache.folder.writable):
        return {}
    return {"ZIG_GLOBAL_CACHE_DIR": str(cache.folder.root / "zig")}


def _record_key(command: tuple[str, ...]) -> bytes:
    names = (field.name for field in fields(Toolchain))
    parts = ("toolchain", *names, *command, PROBE.text(), WANTED_TEXT, machine.identity().hex())
    return hashlib.sha256("\0".join(parts).encode()).digest()


_programs: dict[bytes, bytes | None] = {}
"""The compiled `probe.c` by toolchain; None if it does not compile."""


def probe_program(toolchain: Toolchain, cache: Cache) -> bytes | None:
    """Return the compiled `probe.c`, which tries new libraries; None if it does not compile."""
    key = _probe_key(toolchain)
    if key not in _programs:
        _programs[key] = cache.load(Kind.RECORD, key) or _built_probe(toolchain, cache)
    return _programs[key]


def _built_probe(toolchain: Toolchain, cache: Cache) -> bytes | None:
    """Compile `probe.c` again, after the cache was trimmed."""

    def work(folder: Path) -> bytes | None:
        write_whole(folder / "probe.c", PROBE.text().encode())
        argv = [*toolchain.command, *toolchain.all_flags, "-o", "probe", "probe.c", *toolchain.link_flags, *PROBE_LINK]
        done = run(argv, folder, _TIMEOUT, extra=zig_environment(cache, toolchain.command))
        return (folder / "probe").read_bytes() if done.code == 0 else None

    try:
        program = in_work_folder(cache.work_parents(), work)
    except CompileError:
        return None
    if program:
        cache.store(Kind.RECORD, _probe_key(toolchain), program)
    return program


def _probe_key(toolchain: Toolchain) -> bytes:
    parts = ("probe", toolchain.fingerprint, PROBE.text())
    return hashlib.sha256("\0".join(parts).encode()).digest()


def remembered(cache: Cache, command: tuple[str, ...]) -> Toolchain | None:
    """Return the cached facts of a command whose files have not changed since."""
    try:
        record = cache.load(Kind.RECORD, _record_key(command))
    except CompileError:  # the search will say that the probe cannot be read
        return None
    toolchain = _from_json(record) if record else None
    return toolchain if toolchain and toolchain.is_current() else None


_MOST_ABSENT = 4
"""Compilers of one cache that are known where there is none."""


def absent(cache: Cache) -> tuple[Toolchain, ...]:
    """Return the compilers that filled the cache, the last one first: what they made runs where there is none."""
    record = cache.load(Kind.RECORD, _absent_key())
    try:
        found = map(_from_json, map(str.encode, json.loads(record or b"[]")))
        return tuple(toolchain for toolchain in found if toolchain is not None)
    except (ValueError, TypeError):
        return ()


def _absent_key() -> bytes:
    parts = ("absent", PROBE.text(), WANTED_TEXT, machine.identity().hex())
    return hashlib.sha256("\0".join(parts).encode()).digest()


def _from_json(record: bytes) -> Toolchain | None:
    try:
        fields: dict[str, Any] = json.loads(record)
        return Toolchain(**{name: _frozen(value) for name, value in fields.items()})
    except (ValueError, TypeError):  # written by another version
        return None


def _frozen(value: Any) -> Any:
    return tuple(map(_frozen, value)) if isinstance(value, list) else value


def _probed(cache: Cache, command: tuple[str, ...], attempts: list[Attempt], begun: Begun | None) -> Toolchain | None:
    try:
        extra = zig_environment(cache, command)
        if begun is not None and begun.command == command:
            result = probe(command, begun.folder, extra, begun.running)
        else:
            result = in_work_folder(cache.work_parents(), lambda folder: probe(command, folder, extra))
    except CompileError as error:
        named = os.environ.get("CC")
        attempts.append(Attempt(command, str(error), "CC" if named and _resolve(named) == command else ""))
        return None
    files = tuple(identity for path in result.programs if (identity := file_identity(path)))
    toolchain = Toolchain(
        command, result.version, result.flags, result.link_flags, result.dropped, result.features, files,
        result.bare_link, result.linker, result.libraries,
    )  # fmt: skip
    _programs[_probe_key(toolchain)] = result.probe
    cache.store(Kind.RECORD, _probe_key(toolchain), result.probe)
    reported = json.dumps(asdict(toolchain))
    cache.store(Kind.RECORD, _record_key(command), reported.encode())
    others = [json.dumps(asdict(other)) for other in absent(cache) if other.command != command]
    cache.store(Kind.RECORD, _absent_key(), json.dumps([reported, *others][:_MOST_ABSENT]).encode())
    return toolchain
