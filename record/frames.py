"""The user's frame: the innermost one whose file lies outside of this package, whichever folders of it are between."""

from __future__ import annotations

import contextlib
import functools
import os
import sys
import warnings
from types import FrameType

PACKAGE = os.path.dirname(os.path.dirname(__file__)) + os.sep
"""The folder of the package as its modules name it: frames have the same spelling, links included."""
_DEMO = os.path.join(PACKAGE, "demo", "")
_BETWEEN = (contextlib.__file__, functools.__file__)
"""Modules whose frames stand between ours: of `with` blocks and of decorators."""


class _Own(dict[str, bool]):
    """Whether a file is part of this library, by its name in frames; demonstrations count as programs of users."""

    def __missing__(self, file: str) -> bool:
        own = file in _BETWEEN or (file.startswith(PACKAGE) and not file.startswith(_DEMO))
        self[file] = own
        return own


OWN = _Own()


class _Inside(dict[str, bool]):
    """Whether a file is part of this library, or of NumPy, which stands between it and the program."""

    def __missing__(self, file: str) -> bool:
        numpy = getattr(sys.modules.get("numpy"), "__file__", None)
        is_of_numpy = numpy is not None and file.startswith(os.path.join(os.path.dirname(numpy), ""))
        self[file] = found = OWN[file] or is_of_numpy
        return found


_INSIDE = _Inside()


def users_frame(frame: FrameType | None) -> FrameType | None:
    """Return the innermost frame of the user's program from `frame` outwards; None if there is none."""
    while frame is not None and _INSIDE[frame.f_code.co_filename]:
        frame = frame.f_back
    return frame


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the user's line."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and OWN[frame.f_code.co_filename]:
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)
