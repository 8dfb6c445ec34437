"""Private work folders, removed even if their owner was killed.

A folder is locked by its owner for as long as the owner lives.  The maker of the next one removes those whose lock
is free: their owners are dead.  The lock is the system's, so that neither process ids nor clocks nor containers can
mislead us.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from .files import allow, try_lock
from .interrupts import postponed

_SWEEP_AT_MOST = 32


@contextmanager
def scratch_folder(parents: Sequence[Path]) -> Iterator[Path]:
    """Yield a fresh folder of mode 0700 in the first usable one of `parents`; remove it at the end of the block.

    Raises:
        OSError: no parent takes one.
    """
    with postponed():
        path, descriptor = create_scratch(parents)
        try:
            yield path
        finally:
            remove_scratch(path, descriptor)


def remove_scratch(path: Path, descriptor: int) -> None:
    """Remove the scratch folder and release its lock."""
    remove_tree(path)
    os.close(descriptor)


def create_scratch(parents: Sequence[Path]) -> tuple[Path, int]:
    """Return a fresh folder, as `scratch_folder` does, and the lock that protects it from being swept.

    Raises:
        OSError: no parent takes one.
    """
    failure = FileNotFoundError("no folder to work in")
    for parent in parents:
        try:
            return _create(parent)
        except OSError as error:
            failure = FileNotFoundError(f"no folder to work in: {error}")
    raise failure


def _create(parent: Path) -> tuple[Path, int]:
    for _ in range(8):
        path = parent / f"work-{os.urandom(8).hex()}"
        path.mkdir(mode=0o700)
        try:
            allow(path, 0o700)
            descriptor = os.open(path, os.O_RDONLY)
        except FileNotFoundError:  # a sweep took it for one of the dead
            continue
        except OSError:
            remove_tree(path)
            raise
        if try_lock(descriptor) is not False and os.fstat(descriptor).st_nlink:  # a sweep may have come between
            return path, descriptor
        os.close(descriptor)
    raise OSError(f"{parent}: folders vanish as soon as they are made")


def sweep(parent: Path) -> int:
    """Remove the folders and files that dead processes left in `parent`; return their number."""
    removed = 0
    for path in _some(parent):
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
        except OSError:
            continue
        try:
            if try_lock(descriptor) is True:
                _remove(path)
                removed += 1
        finally:
            os.close(descriptor)
    return removed


def _some(parent: Path) -> list[Path]:
    try:
        with os.scandir(parent) as found:
            return [Path(item.path) for _, item in zip(range(_SWEEP_AT_MOST), found)]
    except OSError:
        return []


def remove_tree(path: str | os.PathLike[str]) -> None:
    """Remove a folder and its content as far as possible; links are removed, never followed.

    `shutil` would do it too, but takes 2 ms of every start: it loads the compressors of archives.
    """
    inside: list[os.DirEntry[str]] = []
    with suppress(OSError), os.scandir(path) as items:  # without a free descriptor it cannot be listed; it may be empty
        inside = list(items)
    for item in inside:
        with suppress(OSError):
            remove_tree(item.path) if item.is_dir(follow_symlinks=False) else os.unlink(item.path)
    with suppress(OSError):
        os.rmdir(path)


def _remove(path: Path) -> None:
    if path.is_dir():
        remove_tree(path)
    else:
        path.unlink(missing_ok=True)
