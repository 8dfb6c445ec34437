"""C text -> a loaded library: found in the cache, or compiled, checked and published there.

Two processes that need the same library at the same moment share one compilation if the first is done in time;
neither waits long. Within a process equal text is loaded once, for as long as it is referenced.
"""

from __future__ import annotations

import os
import time
import weakref
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

from ...record import record
from ..cache.entry import Kind
from ..cache.interrupts import postponed
from ..cache.scratch import scratch_folder
from ..cache.store import Cache
from ..cache.upkeep import trim_if_due
from .compilation import Job, begin, compile_text, library_key
from .compiler_process import CompileError
from .loading import load_library
from .toolchain import Toolchain, zig_environment
from .trial import defect


class Image:
    """Code mapped into this process and unmapped with its last reference.  `lib` is a cffi library."""

    __slots__ = ("__weakref__", "lib")

    def __init__(self, lib: Any) -> None:
        self.lib: Any = lib


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
        """Path of its C text, for people to read."""
        return self.path.with_suffix(".c") if self.path else None


_images: weakref.WeakValueDictionary[bytes, Image] = weakref.WeakValueDictionary()


_begun: dict[bytes, tuple[Job, Callable[[], Any]]] = {}
"""Running compilations that no caller has asked for yet, by the key of their library; see headstart.py."""
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begun.clear)  # they are the parent's: a child compiles on its own


def expect(text: str, toolchain: Toolchain, job: Job, end: Callable[[], Any]) -> None:
    """Register the running `job` as the compilation of `text`: the next call of `build` for that text waits for it.

    `end` stops the compiler and removes its folder.
    """
    _begun[library_key(text, toolchain)] = job, end


@postponed()
def build(text: str, toolchain: Toolchain, cache: Cache) -> Library:
    """Return the library of the C file `text`.

    Raises:
        CompileError: the compiler fails, takes longer than ten minutes, or leaves no usable library.
    """
    key = library_key(text, toolchain)
    found = find(key, cache)
    if found is not None:
        return found
    with cache.claim(key, _patience(text)):
        return find(key, cache) or _compile(text, key, toolchain, cache)


@postponed()
def build_all(texts: Sequence[str], toolchain: Toolchain, cache: Cache) -> list[Library]:
    """Return the libraries of several C files, in order; missing ones are compiled in parallel.

    Raises:
        CompileError: as for `build`.
    """
    missing = {library_key(text, toolchain): text for text in texts}
    found = {key: library for key in missing if (library := find(key, cache)) is not None}
    missing = {key: missing[key] for key in sorted(missing.keys() - found.keys())}  # everybody claims in this order
    if len(missing) > 1 or missing.keys() & _begun.keys():
        found |= _compile_side_by_side(missing, toolchain, cache)
    for key in found.keys() & _begun.keys():  # another process was quicker
        _begun.pop(key)[1]()
    return [found.get(library_key(text, toolchain)) or build(text, toolchain, cache) for text in texts]


def _compile_side_by_side(missing: dict[bytes, str], toolchain: Toolchain, cache: Cache) -> dict[bytes, Library]:
    """Compile texts in parallel and return the libraries of those that compiled; `build` tries the others again."""
    found: dict[bytes, Library] = {}
    with ExitStack() as stack, suppress(CompileError, OSError):
        begun = time.perf_counter()
        running: dict[bytes, Job] = {}
        for key, text in missing.items():
            stack.enter_context(cache.claim(key, _patience(text)))
            library = find(key, cache)
            if library is None:
                running[key] = _begin_in(stack, key, text, toolchain, cache)
            else:
                found[key] = library
        for key, job in running.items():
            found[key] = _publish(missing[key], key, job.payload(), time.perf_counter() - begun, toolchain, cache)
    return found


def _begin_in(stack: ExitStack, key: bytes, text: str, toolchain: Toolchain, cache: Cache) -> Job:
    """Return a running compilation; leaving `stack` ends it and removes its folder."""
    if key in _begun:
        job, end = _begun.pop(key)
        stack.callback(end)
        return job
    folder = stack.enter_context(scratch_folder(cache.work_parents()))
    job = begin(folder, text, toolchain, zig_environment(cache, toolchain.command))
    stack.callback(job.kill)
    return job


def find(key: bytes, cache: Cache) -> Library | None:
    """Return the library of a key from this process or the cache; None if neither has it."""
    image = _images.get(key)
    if image is not None:
        return Library(image, key, cache.path(Kind.LIBRARY, key), True, 0.0)
    return _load_cached(key, cache)


def _patience(text: str) -> float:
    """Return seconds to wait for another process that compiles the same text: three times the usual 20 us per byte."""
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
