"""Careful file handling: folders that are really ours, whole-file reads and writes, locks that may be missing.

The threat is other users of the machine and half-finished writes, not the user: what lies in a folder of mode 0700
that belongs to us was put there by us.  Links are never followed, so that a planted one cannot lead a read or a write
elsewhere.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager

try:
    import fcntl
except ImportError:  # Windows: the module imports, and no compiler is offered there
    fcntl = None  # type: ignore[assignment]

_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0)
_READ = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)  # a planted FIFO must not block
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0)


class UntrustedError(PermissionError):
    """A file that may not be read as ours: a link, no regular file, or one that others own or may write."""


def defect(status: os.stat_result, *, folder: bool) -> str | None:
    """Why a file or folder of this status is not to be trusted; None if it is fine."""
    if folder != stat.S_ISDIR(status.st_mode) or not (folder or stat.S_ISREG(status.st_mode)):
        return "a symbolic link" if stat.S_ISLNK(status.st_mode) else "not a folder" if folder else "not a regular file"
    if status.st_uid != os.geteuid():
        return f"owned by user {status.st_uid}, not by {os.geteuid()}"
    if status.st_mode & 0o022:
        return f"writable by others (mode {stat.S_IMODE(status.st_mode):04o})"
    if not folder and status.st_nlink != 1:
        return f"{status.st_nlink} hard links"
    return None


@contextmanager
def opened_folder(path: str | os.PathLike[str]) -> Iterator[int]:
    """A descriptor of a folder that is ours.

    Raises:
        OSError: missing, a link, owned or writable by others.
    """
    descriptor = os.open(path, _FOLDER)
    try:
        reason = defect(os.fstat(descriptor), folder=True)
        if reason:
            raise PermissionError(f"{os.fspath(path)}: {reason}")
        yield descriptor
    finally:
        os.close(descriptor)


def read_whole(name: str, folder: int) -> tuple[bytes, os.stat_result]:
    """The bytes and the status of file `name` in the open `folder`.

    Raises:
        UntrustedError: a link, no regular file, or owned or writable by others.
        OSError: it cannot be read.
    """
    try:
        descriptor = os.open(name, _READ, dir_fd=folder)
    except OSError as error:
        raise UntrustedError("a symbolic link") if error.errno == errno.ELOOP else error from None
    try:
        status = os.fstat(descriptor)
        reason = defect(status, folder=False)
        if reason:
            raise UntrustedError(reason)
        with open(descriptor, "rb", buffering=0, closefd=False) as file:
            return file.readall(), status
    finally:
        os.close(descriptor)


def write_whole(path: str | os.PathLike[str], content: bytes, *, durable: bool = True) -> None:
    """Write a new file of mode 0600; it must not exist.  `durable`: on the disk before this returns."""
    with open(os.open(path, _CREATE, 0o600), "wb") as file:
        file.write(content)
        file.flush()
        if durable:
            os.fsync(file.fileno())


def seal(descriptor: int) -> None:
    """Let nobody, ourselves included, change this memory file any more."""
    fcntl.fcntl(descriptor, fcntl.F_ADD_SEALS, fcntl.F_SEAL_WRITE | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW)


def try_lock(descriptor: int) -> bool | None:
    """True if we now hold the advisory lock of the open file, False if another does, None if the file system has none.

    The system drops the lock when its holder dies, however it dies.
    """
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return None
    return True
