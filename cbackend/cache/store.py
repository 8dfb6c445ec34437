"""The store of compiled libraries: content-addressed, verified, repaired when damaged, shared without a lock.

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
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from ...record.frames import warn
from ...record.quoting import one_line
from .entry import DamagedError, ForeignError, Kind, footer, unpack
from .files import UntrustedError, allow, append, opened_folder, read_whole, try_lock, write_whole
from .folder import BAD, WORK, CacheFolder, find_cache_folder
from .interrupts import check
from .machine import Machine, crowding, this_machine
from .scratch import remove_tree, scratch_folder, sweep

SUFFIX = {Kind.LIBRARY: ".so", Kind.RECORD: ".rec", Kind.SCHEDULE: ".sch", Kind.TRIALS: ".try"}
CAPACITY = 2 << 30
"""Capacity in bytes: some 20,000 libraries, or the records of 40 networks with 50 MB of weights."""
GROWTH = "growth"
_GROWTH_UNIT = 4096  # bytes stored for each byte of the file GROWTH
_BAD_KEPT = 16
_HOUR = 3600.0
_POLL_SECONDS = 0.005


class CacheWarning(UserWarning):
    """A problem of the cache that costs time but does not change results."""


class Cache:
    """Entries of one folder by kind and key.

    All methods are safe in threads and among processes; none raises for what the disk does.
    """

    def __init__(
        self, folder: CacheFolder, capacity: int = CAPACITY, machine: Machine | None = None,
        prebuilt: Path | None = None,
    ) -> None:  # fmt: skip
        self.folder = folder
        self.prebuilt = prebuilt
        self._behind = Cache(folder.behind, machine=machine) if folder.behind else None
        self._entries = os.fspath(folder.entries) if folder.entries else None  # a text: paths cost 5 us a hit
        self.capacity = capacity
        self._machine = machine or this_machine()
        self._warned = False
        self._overfull = False

    @classmethod
    def open(
        cls, path: str | os.PathLike[str] | None = None, capacity: int = CAPACITY,
        key_file: str | os.PathLike[str] | None = None, prebuilt: Path | None = None,
    ) -> Cache:  # fmt: skip
        """Open the cache at `path`, else at ARIGNOTE_CACHE, else under XDG_CACHE_HOME or ~/.cache.

        `key_file`: the folder is shared, and what is loaded must be sealed with the secret in that file.
        `prebuilt`: a folder of entries that came with the package, for what is not in the cache.
        """
        cache = cls(find_cache_folder(path, key_file), capacity, prebuilt=prebuilt)
        if cache.folder.problems:
            where = "another folder is used" if cache.folder.writable else "compiled code is not kept"
            cache._warn(f"cache folder refused, {where}: {'; '.join(cache.folder.problems)}")
        return cache

    def path(self, kind: Kind, key: bytes) -> Path | None:
        """Return where the entry lies if it exists; None without a cache folder."""
        return self.folder.entries / _name(kind, key) if self.folder.entries else None

    def has_no_libraries(self) -> bool:
        """Whether the folder, and the one behind it, contain no compiled code."""
        if self._behind is not None and not self._behind.has_no_libraries():
            return False
        if self._entries is None:
            return True
        with suppress(OSError), os.scandir(self._entries) as items:
            return not any(item.name.endswith(SUFFIX[Kind.LIBRARY]) for item in items)
        return True

    def load(self, kind: Kind, key: bytes) -> bytes | None:
        """Return the verified payload; None if it is missing, unreadable or damaged (then the entry is moved aside)."""
        payload = self.view(kind, key)
        return None if payload is None else bytes(payload)

    def view(self, kind: Kind, key: bytes) -> memoryview | None:
        """Return the same as `load`, for large payloads: the bytes that were read, without a copy."""
        payload = self._load_own(kind, key)
        if payload is None and self._behind is not None:
            payload = self._behind.view(kind, key)
        return self._load_prebuilt(kind, key) if payload is None and self.prebuilt else payload

    def _load_prebuilt(self, kind: Kind, key: bytes) -> memoryview | None:
        """Return the verified payload of an entry that came with the package, which is trusted if it is complete."""
        name = _name(kind, key)
        try:
            with open(f"{self.prebuilt}/{name}", "rb", buffering=0) as file:
                return unpack(file.read(), kind, key, self._machine)
        except DamagedError as error:
            self._warn(f"{self.prebuilt}/{name}: {error}; it is compiled anew, and a new installation fixes it")
            self.prebuilt = None
        except (OSError, ForeignError):
            pass
        return None

    def _load_own(self, kind: Kind, key: bytes) -> memoryview | None:
        if self._entries is None:
            return None
        try:
            with opened_folder(self._entries, shared=self.folder.shared) as folder:
                content, status = read_whole(_name(kind, key), folder, shared=self.folder.shared)
            payload = unpack(content, kind, key, self._machine, self.folder.secret)
        except (UntrustedError, DamagedError) as error:
            self.reject(kind, key, str(error))
            return None
        except (OSError, ForeignError):  # not there, the system is short of something, or another processor's
            return None
        if abs(time.time() - status.st_mtime) > _HOUR:
            with suppress(OSError):  # note a use, at most hourly: trimming goes by it
                os.utime(os.path.join(self._entries, _name(kind, key)))
        return payload

    def store(
        self, kind: Kind, key: bytes, payload: bytes | Sequence[bytes | memoryview], source: str | None = None
    ) -> Path | None:
        """Publish a payload, perhaps in parts of bytes, and, for people to read, the text it was made from.

        Nothing waits for the disk: where a power cut damages an entry, `load` finds that out.
        Returns the path of the entry, None if the disk did not take it.
        """
        path = self.path(kind, key)
        if path is None or not self.folder.writable:
            return None
        parts = (payload,) if isinstance(payload, bytes) else payload
        entry = (*parts, footer(kind, key, parts, self._machine, self.folder.secret))
        try:
            try:
                self._publish(path, entry, source)
            except FileNotFoundError:
                self.folder.make_again()
                self._publish(path, entry, source)
        except OSError as error:
            self._warn(f"compiled code could not be kept: {error.strerror or error}")
            return None
        self._grow(sum(map(len, entry)) + len(source or ""))
        return path

    def _publish(self, path: Path, entry: Sequence[bytes | memoryview], source: str | None) -> None:
        mode = self.folder.file_mode()
        with scratch_folder((path.parent.parent / WORK,)) as scratch:
            write_whole(scratch / "entry", *entry, mode=mode)
            if source is not None:
                write_whole(scratch / "source", source.encode(), mode=mode)
                os.replace(scratch / "source", path.with_suffix(".c"))
            os.replace(scratch / "entry", path)

    def _grow(self, count: int) -> None:
        """Record that `count` bytes were added.

        The length of a file counts the bytes of all processes since the last trim, without a lock or a clock.
        """
        if not self.folder.root:
            return
        try:
            units = append(self.folder.root / GROWTH, 1 + count // _GROWTH_UNIT, mode=self.folder.file_mode())
        except OSError:  # the disk is full, or something was planted there: a trim puts it in order
            self._overfull = True
        else:
            self._overfull = self._overfull or units * _GROWTH_UNIT > self.capacity // 20

    def overfull(self) -> bool:
        """Whether all processes together stored so much since the last trim that another is due."""
        return self._overfull

    def trimmed(self) -> None:
        """Reset the count of stored bytes."""
        self._overfull = False
        if self.folder.root and self.folder.writable:
            with suppress(OSError):
                (self.folder.root / GROWTH).unlink(missing_ok=True)

    def work_parents(self) -> tuple[Path, ...]:
        """Return folders for private work folders, best first, after removing what dead processes left there."""
        if self.folder.root and self.folder.writable:
            sweep(self.folder.root / WORK)
        return self.folder.work_parents()

    @contextmanager
    def claim(self, key: bytes, patience: float) -> Iterator[None]:
        """Wait until no other process makes the entry of `key`.  This only saves work.

        `patience`: the seconds to wait at most on an idle machine; on one where more is running than there are
        processors, what is waited for takes longer, and so does the wait, up to four times.
        """
        descriptor = self._lock_file(key)
        if descriptor is None:
            yield
            return
        held = False
        try:
            held = self._wait(descriptor, key, patience)
            yield
        finally:
            if held:
                with suppress(OSError):  # the next process takes the lock of the same file
                    self._lock_path(key).unlink(missing_ok=True)
            os.close(descriptor)

    def _lock_path(self, key: bytes) -> Path:
        return Path(self.folder.root or "", WORK, key.hex() + ".lock")

    def _lock_file(self, key: bytes) -> int | None:
        if not self.folder.writable:
            return None
        mode = self.folder.file_mode()
        try:
            descriptor = os.open(self._lock_path(key), os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, mode)
        except OSError:
            return None
        with suppress(OSError):  # others then make what we make
            allow(descriptor, mode)
        return descriptor

    def _wait(self, descriptor: int, key: bytes, patience: float) -> bool:
        path, begun = self.path(Kind.LIBRARY, key), time.monotonic()
        while (held := try_lock(descriptor)) is False:
            waited = time.monotonic() - begun
            if (waited > patience and waited > patience * crowding()) or (path and path.exists()):
                return False
            check()
            time.sleep(_POLL_SECONDS)
        return held is True

    def reject(self, kind: Kind, key: bytes, reason: str) -> None:
        """Move an entry aside with a warning that says why; it is compiled again when it is needed."""
        path = self.path(kind, key)
        if path is None:
            return
        if self.folder.writable:
            self._set_aside(path, reason)
        else:
            self._warn(f"{path}: {reason}; it is compiled anew")

    def _set_aside(self, path: Path, reason: str) -> None:
        self._warn(f"{path.name}: {reason}; it was moved aside and is compiled anew", once=False)
        bad = path.parent.parent / BAD
        with suppress(OSError):  # a later store replaces it, if that is possible
            os.replace(path, bad / f"{path.name}-{os.urandom(4).hex()}")
            for old in sorted(bad.iterdir(), key=lambda item: item.lstat().st_mtime)[:-_BAD_KEPT]:
                old.unlink() if not old.is_dir() or old.is_symlink() else remove_tree(old)

    def _warn(self, text: str, *, once: bool = True) -> None:
        if once and self._warned:
            return
        self._warned = self._warned or once
        warn(f"arignote: {one_line(text)}", CacheWarning)


def _name(kind: Kind, key: bytes) -> str:
    return key.hex() + SUFFIX[kind]
