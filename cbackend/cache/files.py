"""Safe file operations: folders that only this user can change, whole-file reads and writes, optional locks.

The threat is other users of the machine and half-finished writes, not the user: what lies in a folder of mode 0700
that belongs to us was put there by us.  Links are never followed, so that a planted one cannot lead a read or a write
elsewhere.  In a folder that is `shared` on purpose others may own and write files: what is read there counts only by
its seal (entry.py).
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from ...record import lazy

try:
    import fcntl
except ImportError:  # Windows: the module imports, and no compiler is offered there
    fcntl = None  # type: ignore[assignment]

types = lazy.module("...graph.types", __package__)  # libraries are built ahead where there is no NumPy
_LARGE = 1 << 22
"""Bytes of a large file: of arrays of that size NumPy asks for huge pages."""
_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0)
_READ = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)  # a planted FIFO must not block
_APPEND = os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0)


class UntrustedError(PermissionError):
    """A file that is not safe to read: a link, no regular file, or owned or writable by other users."""


def defect(status: os.stat_result, *, folder: bool, shared: bool = False) -> str | None:
    """Return why a file or folder with this status is not to be trusted; None if it is."""
    if folder != stat.S_ISDIR(status.st_mode) or not (folder or stat.S_ISREG(status.st_mode)):
        return "a symbolic link" if stat.S_ISLNK(status.st_mode) else "not a folder" if folder else "not a regular file"
    if not folder and status.st_nlink != 1:
        return f"{status.st_nlink} hard links"
    if shared:
        return None
    if status.st_uid not in (os.geteuid(), 0):  # the system's, such as those of the image of a container
        return f"owned by user {status.st_uid}, not by {os.geteuid()}"
    if status.st_mode & 0o022:
        return f"writable by others (mode {stat.S_IMODE(status.st_mode):04o})"
    return None


@contextmanager
def opened_folder(path: str | os.PathLike[str], *, shared: bool = False) -> Iterator[int]:
    """Return a descriptor of a folder that only this user can change.

    Raises:
        OSError: missing, a link, or, unless it is `shared`, owned or writable by others.
    """
    descriptor = os.open(path, _FOLDER)
    try:
        reason = defect(os.fstat(descriptor), folder=True, shared=shared)
        if reason:
            raise PermissionError(f"{os.fspath(path)}: {reason}")
        yield descriptor
    finally:
        os.close(descriptor)


def read_whole(name: str, folder: int, *, shared: bool = False) -> tuple[bytes | memoryview, os.stat_result]:
    """The bytes and the status of file `name` in the open `folder`.

    Raises:
        UntrustedError: a link, no regular file, or, unless it is `shared`, owned or writable by others.
        OSError: it cannot be read.
    """
    try:
        descriptor = os.open(name, _READ, dir_fd=folder)
    except OSError as error:
        raise UntrustedError("a symbolic link") if error.errno == errno.ELOOP else error from None
    try:
        status = os.fstat(descriptor)
        reason = defect(status, folder=False, shared=shared)
        if reason:
            raise UntrustedError(reason)
        return _content(descriptor, status.st_size), status
    finally:
        os.close(descriptor)


def _content(descriptor: int, size: int) -> bytes | memoryview:
    """Return all bytes of an open file, by one system call if its size is `size`.

    Those of a large file lie in an array of NumPy, which asks for huge pages and begins with a cache line: weights are
    read faster from there.
    """
    if size >= _LARGE:
        return _array_of(descriptor, size)
    content = os.read(descriptor, size + 1)
    if len(content) == size:
        return content
    with open(descriptor, "rb", buffering=0, closefd=False) as file:  # it came in parts, or is being written
        return content + file.readall()


def _array_of(descriptor: int, size: int) -> memoryview:
    """Return the first `size` bytes of an open file; fewer if it is shorter."""
    content: memoryview = types.aligned_bytes(size).data
    at = 0
    while at < size:
        count = os.readv(descriptor, [content[at:]])
        if not count:
            break
        at += count
    return content[:at].toreadonly()


def write_whole(
    path: str | os.PathLike[str], *content: bytes | memoryview, durable: bool = False, mode: int = 0o600
) -> None:  # fmt: skip
    """Write a new file of some parts, which must not exist.  `durable`: flush it to the disk before the return."""
    with open(path, "wb", opener=lambda name, _: os.open(name, _CREATE, mode)) as file:
        os.fchmod(file.fileno(), mode)  # whatever the umask
        file.writelines(content)
        file.flush()
        if durable:
            os.fsync(file.fileno())


def make_folder(path: str | os.PathLike[str], mode: int = 0o700) -> None:
    """Make a folder with the permissions of the cache, whatever the umask.

    Raises:
        OSError: it is there, or cannot be made.
    """
    os.mkdir(path, mode)
    allow(path, 0o700)


def make_parents(path: Path) -> None:
    """Make the missing parents of `path` with the umask's permissions, but always accessible to this user."""
    for folder in reversed(path.parents):
        if not folder.exists():
            with suppress(FileExistsError):
                make_folder(folder, 0o777)


def allow(it: str | os.PathLike[str] | int, mode: int) -> None:
    """Add the permissions that an unusual umask took from a path or descriptor that was just made."""
    status = os.stat(it)
    if status.st_uid == os.geteuid() and status.st_mode & mode != mode:
        os.chmod(it, stat.S_IMODE(status.st_mode) | mode)


def append(path: str | os.PathLike[str], count: int, *, mode: int = 0o600) -> int:
    """Append `count` bytes to the file, which is made if missing; return its length.  Concurrent calls both count.

    Raises:
        OSError: it cannot be written, or is no file of its own.
    """
    descriptor = os.open(path, _APPEND, mode)
    try:
        reason = defect(os.fstat(descriptor), folder=False, shared=True)
        if reason:
            raise UntrustedError(f"{os.fspath(path)}: {reason}")
        allow(descriptor, mode)
        os.write(descriptor, bytes(count))
        return os.fstat(descriptor).st_size
    finally:
        os.close(descriptor)


def seal(descriptor: int) -> None:
    """Seal this memory file against all further writes."""
    fcntl.fcntl(descriptor, fcntl.F_ADD_SEALS, fcntl.F_SEAL_WRITE | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW)


def try_lock(descriptor: int) -> bool | None:
    """Return whether we now hold the advisory lock of the open file; None if the file system has no locks.

    The system drops the lock when its holder dies, however it dies.
    """
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return None
    return True
