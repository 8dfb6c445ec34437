"""Where the cache lies: the first folder of a short ladder that is really ours, and why the others were not taken.

    ARIGNOTE_CACHE (or an explicit path)  ->  $XDG_CACHE_HOME/arignote or ~/.cache/arignote  ->  none: work in private
    folders
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from ...record import record
from .files import opened_folder

ENTRIES, WORK, BAD = "entries", "work", "bad"


@record
class CacheFolder:
    """The chosen folder (`root`, None: no cache), whether it takes entries, and what was wrong with earlier choices."""

    root: Path | None
    writable: bool
    problems: tuple[str, ...] = ()

    @property
    def entries(self) -> Path | None:
        return self.root / ENTRIES if self.root else None

    def work_parents(self) -> tuple[Path, ...]:
        """Folders in which a compiler may work, best first: the cache's own, then the system's temporary ones."""
        own = (self.root / WORK,) if self.root and self.writable else ()
        return (*own, *_temporary())


def _temporary() -> Iterator[Path]:
    folders = (os.environ.get("TMPDIR", ""), "/tmp", "/var/tmp", "/dev/shm")
    yield from (Path(folder) for folder in dict.fromkeys(folders) if os.path.isabs(folder) and os.path.isdir(folder))


def find_cache_folder(path: str | os.PathLike[str] | None = None) -> CacheFolder:
    """The cache folder: `path` if given, else by the environment.  It is made if missing; it never raises."""
    problems: list[str] = []
    readable: Path | None = None
    for candidate in _candidates(path, problems):
        try:
            _prepare(candidate)
            return CacheFolder(candidate, True, tuple(problems))
        except OSError as error:
            problems.append(f"{candidate}: {error.strerror}" if error.strerror else str(error))
            readable = readable or (candidate if _is_ours(candidate / ENTRIES) else None)
    return CacheFolder(readable, False, tuple(problems))


def _candidates(path: str | os.PathLike[str] | None, problems: list[str]) -> Iterator[Path]:
    explicit = path or os.environ.get("ARIGNOTE_CACHE")
    if explicit:
        yield Path(explicit).expanduser().absolute()
    xdg = os.environ.get("XDG_CACHE_HOME", "")
    if os.path.isabs(xdg):  # the XDG specification: a relative path is to be ignored
        yield Path(xdg, "arignote")
        return
    try:
        yield Path.home() / ".cache" / "arignote"
    except RuntimeError as error:  # no HOME and no entry in the list of users
        problems.append(f"~/.cache: {error}")


def _prepare(root: Path) -> None:
    """Make the folder and its parts where missing; see that they are ours and take files.

    Raises:
        OSError: with what is wrong.
    """
    root.parent.mkdir(parents=True, exist_ok=True)
    for folder in (root, root / ENTRIES, root / WORK, root / BAD):
        folder.mkdir(mode=0o700, exist_ok=True)
        with opened_folder(folder):
            pass
        if not os.access(folder, os.W_OK | os.X_OK):
            raise PermissionError(f"{folder}: read-only")


def _is_ours(folder: Path) -> bool:
    try:
        with opened_folder(folder):
            return True
    except OSError:
        return False
