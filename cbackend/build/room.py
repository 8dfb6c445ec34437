"""Where a compiler works: a private folder on the first disk that has room for what it makes."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

from ..cache.scratch import scratch_folder
from .compiler_process import CompileError

Made = TypeVar("Made")
_ROOM_TO_WORK = 1 << 20


def with_room(parents: Sequence[Path], work: Callable[[Path], Made]) -> Made:
    """The result of `work` in a fresh folder, gone afterwards, in the first of `parents` that is not full.

    Raises:
        CompileError: that of `work`, or there is no such folder.
    """
    failure: Exception = CompileError("no folder to compile in")
    for parent in parents:
        try:
            with scratch_folder((parent,)) as folder:
                return work(folder)
        except OSError as error:
            failure = error
        except CompileError as error:
            if not _is_full(parent, str(error)):
                raise
            failure = error
    raise CompileError(f"no folder to compile in: {failure}")


def _is_full(folder: Path, message: str) -> bool:
    """Whether a compiler failed for want of space rather than for its input."""
    if any(os.strerror(code) in message for code in (errno.ENOSPC, errno.EDQUOT, errno.EROFS)):
        return True
    try:
        status = os.statvfs(folder)
    except OSError:
        return True
    return status.f_bavail * status.f_frsize < _ROOM_TO_WORK
