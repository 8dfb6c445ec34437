"""Check that cached libraries are reproducible: compile each again from the text beside it and compare.

The text is for people and is not verified; but an entry's key is a digest of text and toolchain, so a text that
belongs to an entry is known by that.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...record import record
from ..cache.entry import Kind
from ..cache.files import opened_folder, read_whole
from ..cache.store import Cache
from ..cache.upkeep import EntryInfo, entries
from .compilation import compile_text, library_key
from .compiler_process import CompileError
from .toolchain import Toolchain


@record
class Reproduced:
    """One library compiled again; `equal`: whether the bytes are equal, None without a text to compile."""

    info: EntryInfo
    equal: bool | None


def reproduce(cache: Cache, toolchain: Toolchain) -> Iterator[Reproduced]:
    """Compile each sound library of the cache again; a library whose bytes differ is moved aside.

    There is nothing to compile one from if its text is gone, or it was made by another compiler or another version.
    """
    for info in entries(cache):
        payload = cache.load(info.kind, info.key) if info.kind is Kind.LIBRARY else None
        if payload is None:
            continue
        text = _text(info, cache)
        if text is None or library_key(text, toolchain) != info.key:
            yield Reproduced(info, None)
            continue
        try:
            equal = compile_text(text, toolchain, cache) == payload
        except CompileError:
            equal = False
        if not equal:
            cache.reject(info.kind, info.key, "the compiler makes other code of its text")
        yield Reproduced(info, equal)


def _text(info: EntryInfo, cache: Cache) -> str | None:
    path = info.path.with_suffix(".c")
    try:
        with opened_folder(path.parent, shared=cache.folder.shared) as folder:
            return bytes(read_whole(path.name, folder, shared=cache.folder.shared)[0]).decode()
    except (OSError, ValueError):
        return None
