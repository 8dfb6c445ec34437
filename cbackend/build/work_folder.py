"""Work folder of a compiler: a private folder on the first disk with enough space."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

from ..cache.scratch import scratch_folder
from .compiler_process import CompileError

Made = TypeVar("Made")
_SPACE_TO_WORK = 1 << 20


def in_work_folder(parents: Sequence[Path], work: Callable[[Path], Made]) -> Made:
    """Run `work` in a temporary folder inside the first of `parents` that is not full; return its result.

    Raises:
        CompileError: raised by `work`, or no parent has space.
    """
    failure: Exception = CompileError("no folder to compile in")
    for parent in parents:
        gone = False
        try:
            with scratch_folder((parent,)) as folder:
                try:
                    return work(folder)
                finally:
                    gone = not folder.exists()  # the cache was deleted meanwhile
        except OSError as error:
            failure = error
        except CompileError as error:
            if not gone and not _is_full(parent, str(error)):
                raise
            failure = error
    raise CompileError(f"no folder to compile in: {failure}")


def _is_full(folder: Path, message: str) -> bool:
    """Return whether a compiler failed because the disk is full, not because of its input."""
    if any(os.strerror(code) in message for code in (errno.ENOSPC, errno.EDQUOT, errno.EROFS)):
        return True
    try:
        status = os.statvfs(folder)
    except OSError:
        return True
    return status.f_bavail * status.f_frsize < _SPACE_TO_WORK
