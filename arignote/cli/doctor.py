"""`python -m arignote doctor`: a check of this machine: each finding with its state and the command that fixes it."""

from __future__ import annotations

import os
import platform
import shlex
import shutil
import stat
import sys
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import metadata

from .. import __version__
from ..cbackend.abi import declarations as abi
from ..cbackend.abi._abi import ffi
from ..cbackend.build.compilation import compile_text
from ..cbackend.build.compiler_process import CompileError
from ..cbackend.build.loading import load_library
from ..cbackend.build.toolchain import Search, Toolchain, search
from ..cbackend.cache import machine
from ..cbackend.cache.store import Cache, CacheWarning
from ..cbackend.cache.upkeep import entries
from ..cbackend.runtime.blas import find_blas
from ..cbackend.runtime.prebuilt import usable_parts
from ..cbackend.runtime.sources import PREBUILT
from ..options import process_options, unknown_variables

OK, WARN, FAIL = "ok", "warn", "fail"
_ROOM = 16 << 20
"""Least free disk space for a cache, in bytes: some dozens of functions."""
_OWN_CACHE = 'export ARIGNOTE_CACHE="$HOME/.cache/arignote"  (or another folder of your own)'
_INSTALL_ANEW = "pip install --force-reinstall --no-deps arignote"
_INSTALL_COMPILER = "pip install 'arignote[compiler]'  (or your system's package, e.g. apt install gcc)"


@dataclass(frozen=True)
class Finding:
    """One line of the report: subject, state (ok, warn, fail), finding, fix."""

    subject: str
    state: str
    found: str
    fix: str = ""

    def __str__(self) -> str:
        line = f"{self.state:<5}{self.subject:<14}{self.found}"
        return f"{line}\n{'':19}fix: {self.fix}" if self.fix and self.state != OK else line


def main() -> int:
    """Print the report; 1 if anything failed, else 0."""
    findings = examine()
    print("\n".join(map(str, findings)))
    counts = {state: sum(finding.state == state for finding in findings) for state in (OK, WARN, FAIL)}
    print(f"\n{counts[OK]} ok, {counts[WARN]} to look at, {counts[FAIL]} failed")
    return 1 if counts[FAIL] else 0


def examine() -> list[Finding]:
    """Return all findings, each after those it depends on."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".* is no option and has no effect")  # a finding says it, and the next one
        warnings.simplefilter("ignore", CacheWarning)
        options = process_options()
        cache = Cache.open(options.cache, key_file=options.cache_key)
        found = search(cache, options.cc)
        code = compiled_code(found.toolchain, cache)
        said = (*versions(), *variables(), *compiler(found), *code, *prebuilt(found))
        return [*said, processor(), blas(), *cache_state(cache)]


def versions() -> Iterator[Finding]:
    """Report the versions of Python and of the packages in use."""
    yield Finding("arignote", OK, f"{__version__} on Python {platform.python_version()}, {platform.platform()}")
    for package in ("numpy", "cffi", "threadpoolctl"):
        try:
            yield Finding(package, OK, metadata.version(package))
        except metadata.PackageNotFoundError:
            yield Finding(package, FAIL, "not installed", f"pip install {package}")


def variables() -> Iterator[Finding]:
    """Report variables of the environment that look like options but are none."""
    for name, meant in unknown_variables(os.environ):
        fix = f"unset {name}" + (f", or set {meant} instead" if meant else "")
        yield Finding("environment", WARN, f"{name} is no option and has no effect", fix)


def compiler(found: Search) -> Iterator[Finding]:
    """Report the compiler in use, its flags, and the compilers that were tried before it."""
    for attempt in found.attempts:
        if attempt.problem is not None:
            first = attempt.problem.splitlines()[0]
            command = shlex.join(attempt.command)
            named = f"{attempt.variable} names {command}, which" if attempt.variable else command
            fix = f"unset {attempt.variable}" if attempt.variable else _INSTALL_COMPILER
            yield Finding("compiler", WARN, f"{named} does not work: {first}", fix)
    toolchain = found.toolchain
    if toolchain is None:
        yield Finding("compiler", WARN, "none: functions run on NumPy, with the same results", _INSTALL_COMPILER)
        return
    yield Finding("compiler", OK, f"{shlex.join(toolchain.command)}: {toolchain.version}")
    yield Finding("flags", OK, shlex.join((*toolchain.flags, *toolchain.link_flags)))
    for flag, reason in toolchain.dropped:
        yield Finding("flags", WARN, f"refused: {flag}: {reason.splitlines()[0]}", "a newer compiler, if speed matters")


def compiled_code(toolchain: Toolchain | None, cache: Cache) -> Iterator[Finding]:
    """Build, load and run a program; report the time."""
    if toolchain is None:
        return
    head = abi.C_TYPES + abi.RUNTIME_DECLARATIONS + abi.CALL_DECLARATIONS
    text = f"{head}i32 ag_entry(ag_call *call) {{ return call == 0 ? 7 : 0; }}\n"
    try:
        begun = time.perf_counter()
        payload = compile_text(text, toolchain, cache)
        seconds = time.perf_counter() - begun
        library = load_library(payload, "doctor", cache.work_parents())
        answer = library.ag_entry(ffi.NULL)
    except (CompileError, OSError) as error:
        yield Finding("compiled code", FAIL, str(error).splitlines()[0], _INSTALL_COMPILER)
        return
    state = OK if answer == 7 else FAIL
    yield Finding("compiled code", state, f"built in {seconds * 1e3:.0f} ms, loaded and run", _INSTALL_COMPILER)


def prebuilt(found: Search) -> Iterator[Finding]:
    """Report whether the prebuilt parts of the runtime are in use."""
    if found.toolchain is None:
        return
    if not process_options().prebuilt:
        yield Finding("runtime", OK, "built on demand, because ARIGNOTE_PREBUILT says so")
        return
    parts = usable_parts(found.toolchain, PREBUILT)
    if parts.damaged:
        yield Finding("runtime", WARN, f"a file in {PREBUILT} is damaged: built on demand", _INSTALL_ANEW)
    elif parts.missing:
        why = "not built when this was installed, or for another processor, compiler or version"
        yield Finding("runtime", OK, f"{parts.missing} of {parts.count} parts are built on demand: {why}")
    else:
        yield Finding("runtime", OK, f"all {parts.count} parts as they were built when this was installed")


def processor() -> Finding:
    """Report the processor and its vector extensions."""
    known = machine.processor()
    name = known.get("model name") or known.get("CPU part") or known.get("machine") or platform.machine()
    units = [unit for unit in ("sse4_2", "avx2", "fma", "avx512f", "asimd", "sve") if unit in machine.features()]
    return Finding("processor", OK, f"{name}, {os.cpu_count()} threads, {' '.join(units) or 'features not reported'}")


def blas() -> Finding:
    """Report the BLAS library."""
    found = find_blas()
    if found is None:
        return Finding("BLAS", WARN, "none: our own loops multiply matrices", "pip install --force-reinstall numpy")
    width = 64 if found.wide else 32
    detail = f"{found.architecture + ', ' if found.architecture else ''}{found.threads} threads"
    symbol = found.spelling.format("dgemm")
    return Finding("BLAS", OK, f"{found.name} {found.version} ({detail}), {symbol}, {width}-bit sizes")


def cache_state(cache: Cache) -> Iterator[Finding]:
    """Report the cache folder, its safety and its size."""
    folder = cache.folder
    for problem in folder.problems:
        path = problem.partition(": ")[0]
        fix = f"chmod go-w {shlex.quote(path)}" if "writable by others" in problem else _OWN_CACHE
        yield Finding("cache", WARN, f"refused: {problem}", fix)
    if folder.root is None:
        yield Finding("cache", WARN, "none: every process compiles anew", _OWN_CACHE)
        return
    mode = stat.S_IMODE(os.stat(folder.root).st_mode)
    listed = entries(cache)
    size = sum(entry.size for entry in listed)
    state = OK if folder.writable else WARN
    kind = "" if folder.writable else ", read-only"
    used = f"{len(listed):,} entries, {size / 2**20:.1f} of {cache.capacity >> 20} MiB"
    found = f"{folder.root} (mode {mode:04o}{kind}): {used}"
    yield Finding("cache", state, found, f"chmod u+w {shlex.quote(str(folder.root))}")
    free = shutil.disk_usage(folder.root).free
    if free < _ROOM and folder.writable:
        found = f"its disk has {free / 2**20:.1f} MiB left: compiled code may not be kept"
        yield Finding("cache", WARN, found, _OWN_CACHE)


if __name__ == "__main__":
    sys.exit(main())
