"""A shared library whose functions a user's C calls: its path, and the declarations of the functions."""

from __future__ import annotations

import hashlib
import os
from typing import Any

import cffi

from ...record import record

_HOW = "expected C declarations such as 'double smooth(const double *x, long n);'"


@record
class Library:
    """The path of a library, the C declarations of its functions, and their names."""

    path: str
    prototypes: str
    names: tuple[str, ...]

    @property
    def key(self) -> str:
        """Digest of path and declarations."""
        return hashlib.sha256(f"{self.path}\0{self.prototypes}".encode()).hexdigest()[:12]

    @staticmethod
    def opened(op: str, path: Any, prototypes: str) -> Library:
        """Return the library at a path, which has the declared functions.

        Raises OSError for a path without a library, ValueError for declarations that are none, and AttributeError for
        a function that the library lacks.
        """
        where = os.path.abspath(os.fspath(path)) if os.sep in os.fspath(path) else os.fspath(path)
        ffi = cffi.FFI()
        try:
            ffi.cdef(prototypes)
        except Exception as error:  # those of pycparser, too
            raise ValueError(f"array_op: {op!r}: prototypes: {str(error).splitlines()[0]}; {_HOW}") from None
        try:
            library = ffi.dlopen(where)
        except OSError as error:
            reason = str(error).partition(".  Additionally")[0]
            raise OSError(f"array_op: {op!r}: library: {reason}") from None
        names = tuple(dir(library))
        if not names:
            raise ValueError(f"array_op: {op!r}: prototypes declares no function; {_HOW}")
        missing = next((name for name in names if not hasattr(library, name)), None)
        ffi.dlclose(library)
        if missing is not None:
            raise AttributeError(f"array_op: {op!r}: the library {where} has no function {missing}")
        return Library(where, prototypes, names)
