"""Libraries that are compiled when the package is installed (setup.py), so that no first call compiles them.

These are entries as the cache has them, in a folder of the package: what the compiler was found to be, the core of the
runtime, native entries, products and factorizations.  They are used by the same rules as the cache's own: under the
digest of text, compiler, flags, processor and ABI, on a processor that has every extension they were built for, and if
every byte is as it was.  Where anything differs, and where no compiler was found at the time, they are built on demand
as ever.

Nothing here needs NumPy, which is not there while a wheel is built.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from ...record import record
from ..build.compilation import compile_text, library_key
from ..build.compiler_process import CompileError
from ..build.toolchain import Toolchain, search
from ..build.trial import defect
from ..cache.entry import Kind
from ..cache.folder import BAD, ENTRIES, WORK, CacheFolder
from ..cache.scratch import scratch_folder
from ..cache.store import Cache
from .sources import core_source, libraries, native_source, product_source, solver_source

_REAL = ("float32", "float64")


def part_sources() -> list[str]:
    """Return the C texts to compile: all that functions of real numbers may need, and products of complex numbers.

    The products count on a BLAS in the process, which NumPy brings.
    """
    products = [product_source(name, fallback=True) for name in libraries()]
    return [core_source(), native_source(), *products, *(solver_source(dtype) for dtype in _REAL)]


def prebuild(folder: Path) -> str:
    """Fill `folder`, whatever it held before, and return a line that says what was done.

    Raises:
        OSError: it cannot be written.
    """
    shutil.rmtree(folder, ignore_errors=True)
    with scratch_folder([Path(tempfile.gettempdir())]) as scratch:
        for name in (ENTRIES, WORK, BAD):
            (scratch / name).mkdir(mode=0o700)
        cache = Cache(CacheFolder(scratch, writable=True))
        found = search(cache)
        if found.toolchain is None:
            return f"nothing was built ahead: {found.reason}"
        refused = _build(part_sources(), found.toolchain, cache)
        folder.mkdir(parents=True)
        entries = [path for path in (scratch / ENTRIES).iterdir() if path.suffix != ".c"]
        for path in entries:
            shutil.copyfile(path, folder / path.name)
    return f"{len(entries)} files were built ahead by {found.toolchain.command[0]}" + "".join(refused[:1])


def _build(texts: Sequence[str], toolchain: Toolchain, cache: Cache) -> list[str]:
    """Compile `texts` into the cache; return why some failed."""

    def made(text: str) -> str | None:
        try:
            payload = compile_text(text, toolchain, cache)
        except CompileError as error:
            return f"; {error}"
        reason = defect(payload, toolchain, cache)
        if reason is None:
            cache.store(Kind.LIBRARY, library_key(text, toolchain), payload)
        return reason and f"; {reason}"

    with ThreadPoolExecutor(min(4, os.cpu_count() or 1)) as pool:
        return [reason for reason in pool.map(made, texts) if reason]


@record
class Parts:
    """The parts of an installed package: their number, that of unusable ones, and whether one is damaged."""

    count: int
    missing: int
    damaged: bool


def usable_parts(toolchain: Toolchain, folder: Path) -> Parts:
    """Return the parts in `folder` that fit this compiler and this machine."""
    cache = Cache(CacheFolder(None, writable=False), prebuilt=folder)
    keys = [library_key(text, toolchain) for text in part_sources()]
    missing = sum(cache.load(Kind.LIBRARY, key) is None for key in keys)
    return Parts(len(keys), missing, damaged=cache.prebuilt is None)
