"""Files that the workers of one run share: each is made once, by the worker that needs it first."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable
from pathlib import Path

SHARED_FOLDER = "SHARED_BY_TEST_WORKERS"
"""The variable that names a folder for what the workers of one run share."""


def made_once(name: str, make: Callable[[Path], None]) -> Path:
    """Return the file or folder `name` of the shared folder; `make` makes it at the path that it is given."""
    folder = Path(os.environ[SHARED_FOLDER])
    finished, part = folder / name, folder / f"part-{name}"
    with open(folder / f"{name}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not finished.exists():
            make(part)
            part.rename(finished)
    return finished
