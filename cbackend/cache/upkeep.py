"""Maintenance of the cache: listing, verifying, trimming and clearing it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from ...record import record
from .entry import Kind
from .folder import BAD, ENTRIES, WORK
from .interrupts import check
from .scratch import remove_tree, sweep
from .store import SUFFIX, Cache

_DAY = 86400.0
_KINDS = {suffix: kind for kind, suffix in SUFFIX.items()}


@record
class EntryInfo:
    """One entry as the folder lists it, with its content unread."""

    kind: Kind
    key: bytes
    path: Path
    size: int  # bytes, with the text beside it
    used: float  # seconds since the epoch, exact to the hour


@record
class Trimmed:
    """The counts of a trim or a clear: entries removed and left."""

    removed: int
    removed_bytes: int
    kept: int
    kept_bytes: int


def entries(cache: Cache) -> list[EntryInfo]:
    """Return the entries, least recently used first; entries that vanish during the listing are left out."""
    return sorted(_entries(cache.folder.entries), key=lambda info: (info.used, info.path))


def _entries(folder: Path | None) -> Iterator[EntryInfo]:
    found = _scan(folder)
    for name, status in found.items():
        stem, suffix = os.path.splitext(name)
        key = _key(stem)
        if folder and key and suffix in _KINDS:
            text = found.get(f"{stem}.c")
            size = status.st_size + (text.st_size if text else 0)
            yield EntryInfo(_KINDS[suffix], key, folder / name, size, status.st_mtime)


def _scan(folder: Path | None) -> dict[str, os.stat_result]:
    found: dict[str, os.stat_result] = {}
    if folder:
        with suppress(OSError), os.scandir(folder) as items:
            for item in items:
                _note(item, found)
    return found


def _note(item: os.DirEntry[str], found: dict[str, os.stat_result]) -> None:
    with suppress(FileNotFoundError):
        found[item.name] = item.stat(follow_symlinks=False)


def _key(stem: str) -> bytes | None:
    try:
        return bytes.fromhex(stem) if len(stem) == 64 else None
    except ValueError:
        return None


def verify(cache: Cache) -> tuple[int, list[str]]:
    """Count the valid entries and name the damaged ones, which are moved aside."""
    sound, unsound = 0, []
    for info in entries(cache):
        if cache.load(info.kind, info.key) is not None:
            sound += 1
        elif not info.path.exists():
            unsound.append(info.path.name)
    return sound, unsound


def trim(cache: Cache, capacity: int | None = None) -> Trimmed:
    """Remove the least recently used entries until at most `capacity` bytes (the cache's own by default) remain.

    An entry is removed by unlinking it, so a process that is loading it is not disturbed.
    """
    limit = cache.capacity if capacity is None else capacity
    listed = entries(cache)
    total = kept_bytes = sum(info.size for info in listed)
    removed = 0
    for info in listed:
        if kept_bytes <= limit:
            break
        check()
        _remove(info)
        kept_bytes -= info.size
        removed += 1
    _remove_leftovers(cache)
    cache.trimmed()
    return Trimmed(removed, total - kept_bytes, len(listed) - removed, kept_bytes)


def trim_if_due(cache: Cache) -> None:
    """Trim once processes have added a twentieth of the capacity: it is exceeded by no more than what one call adds."""
    if cache.overfull():
        trim(cache, cache.capacity * 9 // 10)


def forget(cache: Cache, kind: Kind) -> Trimmed:
    """Remove every entry of one kind."""
    before = entries(cache)
    for info in before:
        if info.kind is kind:
            _remove(info)
    after = entries(cache)
    sizes = [sum(info.size for info in listed) for listed in (before, after)]
    return Trimmed(len(before) - len(after), sizes[0] - sizes[1], len(after), sizes[1])


def clear(cache: Cache) -> Trimmed:
    """Remove every entry and what was moved aside."""
    result = trim(cache, 0)
    for name in (ENTRIES, BAD):
        for path in _files(cache.folder.root, name):
            path.unlink(missing_ok=True)
    return result


def _remove(info: EntryInfo) -> None:
    for path in (info.path, info.path.with_suffix(".c")):
        with suppress(OSError):
            path.unlink()


def _remove_leftovers(cache: Cache) -> None:
    """Remove work folders of dead processes, and texts and locks that are a day old by the file system's clock."""
    if cache.folder.root is None or not cache.folder.writable:
        return
    while sweep(cache.folder.root / WORK):
        pass
    now = _file_system_time(cache.folder.root / WORK)
    texts = [path for path in _files(cache.folder.root, ENTRIES) if path.suffix not in _KINDS]
    for path in (*_files(cache.folder.root, WORK), *(text for text in texts if not text.with_suffix(".so").exists())):
        with suppress(OSError):
            if now - path.lstat().st_mtime > _DAY:
                remove_tree(path) if path.is_dir() else path.unlink()


def _files(root: Path | None, name: str) -> list[Path]:
    try:
        return list((root / name).iterdir()) if root else []
    except OSError:
        return []


def _file_system_time(folder: Path) -> float:
    """Return the time by the clock of the file system: that of a server may differ from ours."""
    probe = folder / f"clock-{os.getpid()}"
    try:
        probe.touch()
        return probe.stat().st_mtime
    except OSError:
        return 0.0
    finally:
        probe.unlink(missing_ok=True)
