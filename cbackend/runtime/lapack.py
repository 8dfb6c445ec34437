"""The LAPACK beside the BLAS of the process as addresses: its Fortran routines, found in the same library."""

from __future__ import annotations

import ctypes
from functools import cache

from ...record import record
from .blas import DTYPES, address, find_blas

ROUTINES = ("getrf", "getrs", "potrf", "trtrs")
"""LU factorization and its solver, Cholesky, triangular systems."""
_LETTERS = dict(zip(DTYPES, "sdcz", strict=True))
_SPELLINGS = {
    "scipy_cblas_{}64_": "scipy_{}_64_",
    "cblas_{}64_": "{}_64_",
    "cblas_{}_64": "{}_64_",
    "cblas_{}$NEWLAPACK$ILP64": "{}$NEWLAPACK$ILP64",
    "scipy_cblas_{}": "scipy_{}_",
    "cblas_{}$NEWLAPACK": "{}$NEWLAPACK",
    "cblas_{}": "{}_",
}
"""Fortran names of a library, by the names of its CBLAS."""


@record
class Lapack:
    """Addresses of the ROUTINES by dtype, 0 where there is none; `wide`: they take 64-bit integers."""

    wide: bool
    addresses: dict[str, tuple[int, ...]]


@cache
def find_lapack() -> Lapack:
    """Return the LAPACK of the library whose BLAS is used."""
    blas = find_blas()
    if blas is None:
        return Lapack(False, dict.fromkeys(DTYPES, (0,) * len(ROUTINES)))
    library, spelling = ctypes.CDLL(blas.path), _SPELLINGS[blas.spelling]
    found = {
        dtype: tuple(address(library, spelling.format(letter + routine)) for routine in ROUTINES)
        for dtype, letter in _LETTERS.items()
    }
    return Lapack(blas.wide, found)
