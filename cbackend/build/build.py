"""C text -> a loaded library: found in the cache, or compiled, checked and published there.

Two processes that need the same library at the same moment share one compilation if the first is done in time;
neither waits long. Within a process equal text is loaded once, for as long as somebody holds it.
"""

from __future__ import annotations

import hashlib
import time
import weakref
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

from ...record import record
from ..abi import declarations as abi
from ..cache.entry import Kind
from ..cache.interrupts import postponed
from ..cache.scratch import scratch_folder
from ..cache.store import Cache
from ..cache.upkeep import trim_if_due
from .compiler_process import CompileError, Finished, Running, start
from .elf import elf_defect
from .loading import load_library
from .room import with_room
from .toolchain import Toolchain, zig_environment
from .trial import defect

TIMEOUT_SECONDS = 600.0
UNITS = (1, 2)
_ABI = hashlib.sha256(f"{abi.VERSION}{abi.RUNTIME_DECLARATIONS}{abi.CALL_DECLARATIONS}".encode()).hexdigest()


class Image:
    """Code mapped into this process: unmapped when nobody refers to it.  `lib` is a cffi library."""

    __slots__ = ("__weakref__", "lib")

    def __init__(self, lib: Any) -> None:
        self.lib = lib


@record
class Library:
    """A loaded library.  Hold it as long as its functions may run: they do not hold it themselves."""

    image: Image
    key: bytes
    path: Path | None  # its entry in the cache, None if the disk took none
    from_cache: bool  # no compiler ran for it
    seconds: float  # spent in the compiler

    @property
    def lib(self) -> Any:
        """The cffi library: `lib.ag_entry` is the entry of a generated one."""
        return self.image.lib

    @property
    def source_path(self) -> Path | None:
        """Where its C text lies, for people to read."""
        return self.path.with_suffix(".c") if self.path else None


_images: weakref.WeakValueDictionary[bytes, Image] = weakref.WeakValueDictionary()


_begun: dict[bytes, tuple[Path, Job, Callable[[], Any]]] = {}
"""Compilations that nobody has asked for yet, by what they will be asked for as; see headstart.py."""


def expect(text: str, toolchain: Toolchain, folder: Path, job: Job, end: Callable[[], Any]) -> None:
    """Let `job`, which runs in `folder`, be the compilation of `text` when that is next asked for; `end` ends both."""
    _begun[library_key(text, toolchain)] = folder, job, end


def library_key(text: str, toolchain: Toolchain) -> bytes:
    """The digest under which the library of `text` is kept: everything that shapes its code."""
    parts = (text, toolchain.fingerprint, _ABI)
    return hashlib.sha256("\0".join(hashlib.sha256(part.encode()).hexdigest() for part in parts).encode()).digest()


@postponed()
def build(text: str, toolchain: Toolchain, cache: Cache) -> Library:
    """The library of the C file `text`.

    Raises:
        CompileError: the compiler fails, takes longer than ten minutes, or leaves no usable library.
    """
    key = library_key(text, toolchain)
    found = _find(key, cache)
    if found is not None:
        return found
    with cache.claim(key, _patience(text)):
        return _find(key, cache) or _compile(text, key, toolchain, cache)


@postponed()
def build_all(texts: Sequence[str], toolchain: Toolchain, cache: Cache) -> list[Library]:
    """The libraries of several C files, in order; those that are missing are compiled side by side.

    Raises:
        CompileError: as for `build`.
    """
    missing = {library_key(text, toolchain): text for text in texts}
    found = {key: library for key in missing if (library := _find(key, cache)) is not None}
    missing = {key: missing[key] for key in sorted(missing.keys() - found.keys())}  # everybody claims in this order
    if len(missing) > 1 or missing.keys() & _begun.keys():
        found |= _compile_side_by_side(missing, toolchain, cache)
    for key in found.keys() & _begun.keys():  # another process was quicker
        _begun.pop(key)[2]()
    return [found.get(library_key(text, toolchain)) or build(text, toolchain, cache) for text in texts]


def _compile_side_by_side(missing: dict[bytes, str], toolchain: Toolchain, cache: Cache) -> dict[bytes, Library]:
    """What could be compiled in the first folder at hand; `build` tries the rest again and says what is wrong."""
    found: dict[bytes, Library] = {}
    with ExitStack() as stack, suppress(CompileError, OSError):
        begun = time.perf_counter()
        running: list[tuple[bytes, Path, Job]] = []
        for key, text in missing.items():
            stack.enter_context(cache.claim(key, _patience(text)))
            library = _find(key, cache)
            if library is None:
                running.append((key, *_start_in(stack, text, toolchain, cache)))
            else:
                found[key] = library
        for key, folder, process in running:
            payload = _payload(folder, process.wait(), toolchain)
            found[key] = _publish(missing[key], key, payload, time.perf_counter() - begun, toolchain, cache)
    return found


def _start_in(stack: ExitStack, text: str, toolchain: Toolchain, cache: Cache) -> tuple[Path, Job]:
    """A folder and the compiler that works in it; both end with `stack`."""
    begun = _begun.pop(library_key(text, toolchain), None)
    if begun is not None:
        stack.callback(begun[2])
        return begun[:2]
    folder = stack.enter_context(scratch_folder(cache.work_parents()))
    process = _start(folder, text, toolchain, cache)
    stack.callback(process.kill)
    return folder, process


def _find(key: bytes, cache: Cache) -> Library | None:
    image = _images.get(key)
    if image is not None:
        return Library(image, key, cache.path(Kind.LIBRARY, key), True, 0.0)
    return _load_cached(key, cache)


def _patience(text: str) -> float:
    """Seconds to wait for another process that compiles the same text: three times what it takes an idle machine (20 us
    a byte), because processes that race for one text are a load themselves.  A holder that hangs costs as much, once.
    """
    return 0.5 + 60e-6 * len(text)


def _load_cached(key: bytes, cache: Cache) -> Library | None:
    payload = cache.load(Kind.LIBRARY, key)
    if payload is None:
        return None
    try:
        return Library(_image(key, payload, cache), key, cache.path(Kind.LIBRARY, key), True, 0.0)
    except OSError:  # sound, but a library it needs has gone since: built anew
        return None


def _image(key: bytes, payload: bytes, cache: Cache) -> Image:
    image = Image(load_library(payload, f"ag_{key.hex()[:16]}", cache.folder.work_parents()))
    return _images.setdefault(key, image)


def _compile(text: str, key: bytes, toolchain: Toolchain, cache: Cache) -> Library:
    begun = time.perf_counter()
    payload = compile_text(text, toolchain, cache)
    return _publish(text, key, payload, time.perf_counter() - begun, toolchain, cache)


def _publish(text: str, key: bytes, payload: bytes, seconds: float, toolchain: Toolchain, cache: Cache) -> Library:
    reason = defect(payload, toolchain, cache)
    if reason:
        raise CompileError(f"{toolchain.command[0]} made a library that cannot be used: {reason}")
    try:
        image = _image(key, payload, cache)
    except OSError as error:
        raise CompileError(f"the loader refuses what {toolchain.command[0]} made: {error}") from None
    path = cache.store(Kind.LIBRARY, key, payload, text)
    trim_if_due(cache)
    return Library(image, key, path, False, seconds)


@postponed()
def compile_text(text: str, toolchain: Toolchain, cache: Cache) -> bytes:
    """The bytes of the shared object of the C file `text`; nothing is left on the disk.

    The file is called `code.c` in every build, so that equal text gives equal bytes.

    Raises:
        CompileError: see `build`.
    """
    return with_room(
        cache.work_parents(), lambda folder: _payload(folder, _start(folder, text, toolchain, cache).wait(), toolchain)
    )


def _start(folder: Path, text: str, toolchain: Toolchain, cache: Cache) -> Job:
    return begin(folder, text, toolchain, zig_environment(cache, toolchain.command))


def begin(folder: Path, text: str, toolchain: Toolchain, extra: Mapping[str, str]) -> Job:
    """The compilation of `text` in `folder`, begun; `extra` joins the compiler's environment.

    Raises:
        CompileError: the compiler cannot be started.
    """
    (folder / "code.c").write_text(text)
    return Job(folder, toolchain, extra, in_units="#ifdef AG_UNIT" in text)


class Job:
    """`code.c` of a folder on its way to `code.so`: one compiler, or one a unit and then the linker."""

    def __init__(self, folder: Path, toolchain: Toolchain, extra: Mapping[str, str] | None, in_units: bool) -> None:
        self._folder, self._toolchain, self._extra = folder, toolchain, extra
        self._running: list[Running] = []
        whole = [toolchain.argv("code.c", "code.so")]
        commands = [toolchain.unit_argv("code.c", unit) for unit in UNITS] if in_units else whole
        try:
            for command in commands:
                self._running.append(self._started(command))
        except BaseException:
            self.kill()
            raise

    def _started(self, command: Sequence[str]) -> Running:
        return start(command, self._folder, TIMEOUT_SECONDS, extra=self._extra)

    def wait(self) -> Finished:
        """What the last command said, or the first that failed; nothing of it runs any more."""
        try:
            finished = [running.wait() for running in self._running]
            failed = next((done for done in finished if done.code != 0), None)
            if failed is not None or len(finished) == 1:
                return failed or finished[0]
            self._running.append(self._started(self._toolchain.link_argv(UNITS, "code.so")))
            return self._running[-1].wait()
        except BaseException:
            self.kill()
            raise

    def kill(self) -> None:
        """End all of it that still runs."""
        for running in self._running:
            running.kill()


def _payload(folder: Path, done: Finished, toolchain: Toolchain) -> bytes:
    if done.code != 0:
        raise CompileError(f"{toolchain.command[0]} failed with exit code {done.code}:\n{done.first_lines()}")
    library = folder / "code.so"
    payload = library.read_bytes() if library.is_file() else b""
    reason = elf_defect(payload)
    if reason:
        raise CompileError(f"{toolchain.command[0]} reported success but left no usable library: {reason}")
    return payload
