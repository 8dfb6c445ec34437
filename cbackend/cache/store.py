"""The store of compiled libraries: content-addressed, verified, healed when damaged, shared without a lock.

A key is a digest of everything the bytes depend on, so an entry is never out of date.  An entry is written to a
private folder and published by `rename`; it is never opened for writing again.  A damaged one is a miss: it is moved
aside and the next store replaces it.  No failure here reaches the caller: without a usable folder everything is
compiled anew and still right, with one warning. Nothing that was read is ever executed or unpickled before its
checksum, key and machine were verified.

The protocol follows Go's build cache and ccache, the two that treat damage as a miss.
"""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from . import machine
from .entry import DamagedError, Kind, pack, unpack
from .files import UntrustedError, opened_folder, read_whole, try_lock, write_whole
from .folder import BAD, WORK, CacheFolder, find_cache_folder
from .scratch import scratch_folder, sweep

SUFFIX = {Kind.LIBRARY: ".so", Kind.RECORD: ".rec"}
CAPACITY = 512 << 20
_BAD_KEPT = 16
_HOUR = 3600.0
_POLL_SECONDS = 0.005


class CacheWarning(UserWarning):
    """The cache is not at its best; results are right all the same."""


class Cache:
    """Entries of one folder by kind and key.

    All methods are safe in threads and among processes; none raises for what the disk does.
    """

    def __init__(self, folder: CacheFolder, capacity: int = CAPACITY, identity: bytes | None = None) -> None:
        self.folder = folder
        self.capacity = capacity
        self._machine = identity or machine.identity()
        self._warned = False
        self._stored_bytes = 0

    @classmethod
    def open(cls, path: str | os.PathLike[str] | None = None, capacity: int = CAPACITY) -> Cache:
        """The cache at `path`, else at ARIGNOTE_CACHE, else under XDG_CACHE_HOME or ~/.cache."""
        cache = cls(find_cache_folder(path), capacity)
        if cache.folder.problems:
            where = "another folder is used" if cache.folder.writable else "compiled code is not kept"
            cache._warn(f"cache folder refused, {where}: {'; '.join(cache.folder.problems)}")
        return cache

    def path(self, kind: Kind, key: bytes) -> Path | None:
        """Where the entry lies if it exists; None without a cache folder."""
        return self.folder.entries / (key.hex() + SUFFIX[kind]) if self.folder.entries else None

    def load(self, kind: Kind, key: bytes) -> bytes | None:
        """The verified payload, or None: missing, unreadable or damaged (then it is moved aside)."""
        path = self.path(kind, key)
        if path is None:
            return None
        try:
            with opened_folder(path.parent) as folder:
                content, status = read_whole(path.name, folder)
            payload = unpack(content, kind, key, self._machine)
        except (UntrustedError, DamagedError) as error:
            self._set_aside(path, str(error))
            return None
        except OSError:  # not there, or the system is short of something: no reason to doubt the entry
            return None
        _touch(path, status.st_mtime)
        return payload

    def store(self, kind: Kind, key: bytes, payload: bytes, source: str | None = None) -> Path | None:
        """Publish a payload and, beside it, the text it was made from (for people: it is never read back as truth).

        Returns the path of the entry, None if the disk did not take it.
        """
        path = self.path(kind, key)
        if path is None or not self.folder.writable:
            return None
        try:
            with scratch_folder((path.parent.parent / WORK,)) as scratch:
                write_whole(scratch / "entry", pack(kind, key, payload, self._machine))
                if source is not None:
                    write_whole(scratch / "source", source.encode(), durable=False)
                    os.replace(scratch / "source", path.with_suffix(".c"))
                os.replace(scratch / "entry", path)
        except OSError as error:
            self._warn(f"compiled code could not be kept: {error.strerror or error}")
            return None
        self._stored_bytes += len(payload)
        return path

    def overfull(self) -> bool:
        """Whether this process has stored enough since it last asked that trimming is worth a look."""
        due = self._stored_bytes > self.capacity // 20
        if due:
            self._stored_bytes = 0
        return due

    def work_parents(self) -> tuple[Path, ...]:
        """Folders in which to make a private one to work in, best first; what dead processes left there is removed."""
        if self.folder.root and self.folder.writable:
            sweep(self.folder.root / WORK)
        return self.folder.work_parents()

    @contextmanager
    def claim(self, key: bytes, patience: float) -> Iterator[None]:
        """Wait until nobody else makes the entry of `key`, at most `patience` seconds.  It only saves work."""
        descriptor = self._lock_file(key)
        if descriptor is None:
            yield
            return
        held = False
        try:
            held = self._wait(descriptor, key, time.monotonic() + patience)
            yield
        finally:
            if held:
                self._lock_path(key).unlink(missing_ok=True)
            os.close(descriptor)

    def _lock_path(self, key: bytes) -> Path:
        return Path(self.folder.root or "", WORK, key.hex() + ".lock")

    def _lock_file(self, key: bytes) -> int | None:
        if not self.folder.writable:
            return None
        try:
            return os.open(self._lock_path(key), os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
        except OSError:
            return None

    def _wait(self, descriptor: int, key: bytes, deadline: float) -> bool:
        path = self.path(Kind.LIBRARY, key)
        while (held := try_lock(descriptor)) is False:
            if time.monotonic() > deadline or (path and path.exists()):
                return False
            time.sleep(_POLL_SECONDS)
        return held is True

    def _set_aside(self, path: Path, reason: str) -> None:
        self._warn(f"{path.name}: {reason}; it was moved aside and is compiled anew", once=False)
        bad = path.parent.parent / BAD
        with suppress(OSError):  # a later store replaces it, or nobody can
            os.replace(path, bad / f"{path.name}-{os.urandom(4).hex()}")
            for old in sorted(bad.iterdir(), key=lambda item: item.lstat().st_mtime)[:-_BAD_KEPT]:
                old.unlink()

    def _warn(self, text: str, *, once: bool = True) -> None:
        if once and self._warned:
            return
        self._warned = self._warned or once
        warnings.warn(f"arignote: {text}", CacheWarning, stacklevel=3)


def _touch(path: Path, modified: float) -> None:
    """Note a use, at most hourly: trimming goes by it."""
    if abs(time.time() - modified) > _HOUR:
        with suppress(OSError):
            os.utime(path)
