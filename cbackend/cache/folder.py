"""Choice of the cache folder: the first safe candidate, and the reasons against the others.

    ARIGNOTE_CACHE (or an explicit path)  ->  $XDG_CACHE_HOME/arignote or ~/.cache/arignote  ->  none: work in private
    folders

A candidate that takes no entries but has some is read behind the folder that is chosen: a warm cache in the image of a
container, which is read-only there, or belongs to root.

A folder that several people use is accepted only together with a secret that they share (ARIGNOTE_CACHE_KEY names the
file): others may write there, and what they write is loaded only if it is sealed with the secret.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from ...record import record
from .files import UntrustedError, make_folder, make_parents, opened_folder, read_whole, write_whole

ENTRIES, WORK, BAD = "entries", "work", "bad"
SECRET_BYTES = 64


@record
class CacheFolder:
    """The chosen folder (`root`, None: no cache), whether it takes entries, and what was wrong with earlier choices.

    `behind`: the folder of an earlier choice that is only read.
    """

    root: Path | None
    writable: bool
    problems: tuple[str, ...] = ()
    secret: bytes = b""  # not empty: the folder is shared, and entries are sealed with this
    behind: CacheFolder | None = None

    @property
    def shared(self) -> bool:
        return bool(self.secret)

    @property
    def entries(self) -> Path | None:
        return self.root / ENTRIES if self.root else None

    def work_parents(self) -> tuple[Path, ...]:
        """Return folders in which a compiler may work, best first: the cache's own, then the system's."""
        own = (self.root / WORK,) if self.root and self.writable and not self.shared else ()
        return (*own, *_temporary())

    def make_again(self) -> None:
        """Make the folder, which was deleted while this process runs.

        Raises:
            OSError: it cannot be made, or is not safe any more.
        """
        if self.root and self.writable:
            _prepare(self.root, shared=self.shared)

    def file_mode(self) -> int:
        """Return the mode of a new file: private, or, in a shared folder, accessible to the users of the folder."""
        return 0o600 | (stat.S_IMODE(os.stat(self.root).st_mode) & 0o066 if self.root and self.shared else 0)


def _temporary() -> Iterator[Path]:
    folders = (os.environ.get("TMPDIR", ""), "/tmp", "/var/tmp", "/dev/shm")
    yield from (Path(folder) for folder in dict.fromkeys(folders) if os.path.isabs(folder) and os.path.isdir(folder))


def find_cache_folder(
    path: str | os.PathLike[str] | None = None, key_file: str | os.PathLike[str] | None = None
) -> CacheFolder:
    """Return the cache folder: `path` if given, else by the environment.  A missing one is made; nothing is raised.

    `key_file`: where the secret of a shared `path` lies; the file is made if missing.
    """
    problems: list[str] = []
    behind: CacheFolder | None = None
    key_path = _spelled_out(key_file, problems) if key_file else None
    secret = _secret(key_path, problems) if key_path else b""
    explicit = path or os.environ.get("ARIGNOTE_CACHE")
    chosen = _spelled_out(explicit, problems) if explicit and not (key_file and not secret) else None
    if chosen:
        try:
            _prepare(chosen, shared=bool(secret))
            return CacheFolder(chosen, True, tuple(problems), secret)
        except OSError as error:
            if _is_readable(chosen / ENTRIES, shared=bool(secret)):
                behind = CacheFolder(chosen, False, secret=secret)
            else:
                problems.append(_text(chosen, error))
    for candidate in _own(problems):
        try:
            _prepare(candidate)
            return CacheFolder(candidate, True, tuple(problems), behind=behind)
        except OSError as error:
            problems.append(_text(candidate, error))
            if behind is None and _is_readable(candidate / ENTRIES):
                behind = CacheFolder(candidate, False)
    return replace(behind or CacheFolder(None, False), problems=tuple(problems))


def _spelled_out(path: str | os.PathLike[str], problems: list[str]) -> Path | None:
    """Return the absolute path; None, with a problem, if there is no home folder or the working folder is gone."""
    try:
        return Path(path).expanduser().absolute()
    except (RuntimeError, OSError) as error:
        problems.append(f"{os.fspath(path)}: {getattr(error, 'strerror', None) or error}")
        return None


def _text(folder: Path, error: OSError) -> str:
    return f"{folder}: {error.strerror}" if error.strerror else str(error)


def _own(problems: list[str]) -> Iterator[Path]:
    xdg = os.environ.get("XDG_CACHE_HOME", "")
    if os.path.isabs(xdg):  # the XDG specification: a relative path is to be ignored
        yield Path(xdg, "arignote")
        return
    try:
        yield Path.home() / ".cache" / "arignote"
    except RuntimeError as error:  # no HOME and no entry in the list of users
        problems.append(f"~/.cache: {error}")


def _prepare(root: Path, *, shared: bool = False) -> None:
    """Make the folder and its parents where missing; check that they are private and writable.

    Raises:
        OSError: with what is wrong.
    """
    make_parents(root)
    for folder in (root, root / ENTRIES, root / WORK, root / BAD):
        made = not folder.exists()
        with suppress(FileExistsError):
            make_folder(folder)
        if shared and made and folder is not root:  # for everybody who may use the folder around it
            folder.chmod(stat.S_IMODE(root.stat().st_mode))
        with opened_folder(folder, shared=shared):
            pass
        if not os.access(folder, os.W_OK | os.X_OK):
            raise PermissionError(f"{folder}: read-only")


def _secret(path: Path, problems: list[str]) -> bytes:
    """Return the content of the key file, or b"" with a problem: only this user may own and read it."""
    try:
        if not path.exists():
            make_parents(path)
            write_whole(path, os.urandom(SECRET_BYTES), durable=True)
        with opened_folder(path.parent, shared=True) as folder:
            content, status = read_whole(path.name, folder)
        if status.st_mode & 0o077:
            raise UntrustedError(f"others may read it (mode {stat.S_IMODE(status.st_mode):04o})")
        if len(content) < SECRET_BYTES // 2:
            raise UntrustedError(f"{len(content)} bytes are too few for a key")
        return bytes(content[:SECRET_BYTES])
    except OSError as error:
        problems.append(f"{path}: {error.strerror or error}")
        return b""


def _is_readable(folder: Path, *, shared: bool = False) -> bool:
    try:
        with opened_folder(folder, shared=shared):
            return True
    except OSError:
        return False
