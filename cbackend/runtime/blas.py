"""The BLAS of the process as addresses: NumPy's own, found through threadpoolctl; nothing is linked.

Distributions name the same function differently: `cblas_dgemm`, with 64-bit integers `cblas_dgemm64_`, in NumPy's and
SciPy's wheels `scipy_cblas_dgemm64_`.  The name says how wide the integers are.
"""

from __future__ import annotations

import ctypes
import os
from functools import cache
from typing import Any

import numpy as np

from ...record import record

DTYPES = ("float32", "float64", "complex64", "complex128")

_ROUTINES = {
    "float32": ("sgemm", "sgemv", "sger", "sdot"),
    "float64": ("dgemm", "dgemv", "dger", "ddot"),
    "complex64": ("cgemm", "cgemv", "cgeru", "cdotu_sub"),
    "complex128": ("zgemm", "zgemv", "zgeru", "zdotu_sub"),
}
# (pattern, whether its integers have 64 bits); the 64-bit names first, where a library has both they are the better
# ones.
_SPELLINGS = (
    ("scipy_cblas_{}64_", True),
    ("cblas_{}64_", True),
    ("cblas_{}_64", True),
    ("cblas_{}$NEWLAPACK$ILP64", True),
    ("scipy_cblas_{}", False),
    ("cblas_{}$NEWLAPACK", False),
    ("cblas_{}", False),
)


_TUNING = (
    "scipy_openblas_{}_num_threads64_", "openblas_{}_num_threads64_", "openblas_{}_num_threads_64",
    "scipy_openblas_{}_num_threads", "openblas_{}_num_threads",
)  # fmt: skip
"""Names of the functions that get and set the number of threads of OpenBLAS; other libraries are not adjusted."""

_OPENBLAS_ALONE = 2**18
"""SMP_THRESHOLD_MIN * GEMM_MULTITHREAD_THRESHOLD of OpenBLAS (interface/gemm.c, as its Makefile.rule sets them)."""


@record
class Blas:
    """A BLAS library of this process.

    `addresses`: for each of DTYPES its functions gemm, gemv, ger and dot, 0 where it lacks one; `wide`: they take
    64-bit integers; `tuning`: the addresses of what asks for and sets its number of threads, 0 where unknown.
    """

    name: str
    version: str
    architecture: str
    threads: int
    path: str
    spelling: str
    wide: bool
    addresses: dict[str, tuple[int, int, int, int]]
    tuning: tuple[int, int] = (0, 0)

    @property
    def quiet(self) -> int:
        """Return the number of multiplications up to which a product uses this thread only; 0: not known, or always."""
        return _OPENBLAS_ALONE if self.name == "openblas" and self.threads > 1 else 0


@cache
def find_blas() -> Blas | None:
    """Return the BLAS to use; None if the process has no library with CBLAS names."""
    return next(iter(all_blas()), None)


def all_blas() -> list[Blas]:
    """Return every BLAS of the process with CBLAS names: NumPy's own first, then those with 64-bit integers."""
    # Imported on first use: the import takes 2 ms, and a process that compiles no function does not need it.
    from threadpoolctl import ThreadpoolController

    found = [
        blas for library in ThreadpoolController().select(user_api="blas").lib_controllers if (blas := _speaks(library))
    ]
    return sorted(found, key=lambda blas: (not _belongs_to_numpy(blas.path), not blas.wide))


def _speaks(library: Any) -> Blas | None:
    for spelling, wide in _SPELLINGS:
        addresses = {dtype: _addresses(library.dynlib, spelling, dtype) for dtype in DTYPES}
        if addresses["float64"][0]:
            return Blas(
                library.internal_api, library.version or "", getattr(library, "architecture", None) or "",
                library.num_threads or 0, library.filepath, spelling, wide, addresses, _tuning(library),
            )  # fmt: skip
    return None


def _tuning(library: Any) -> tuple[int, int]:
    """Return the addresses of the functions that get and set the number of threads."""
    for spelling in _TUNING:
        get, set_ = (address(library.dynlib, spelling.format(verb)) for verb in ("get", "set"))
        if get and set_:
            return get, set_
    return 0, 0


def _belongs_to_numpy(path: str) -> bool:
    installed = os.path.dirname(os.path.dirname(os.path.realpath(np.__file__)))
    return os.path.realpath(path).startswith((os.path.join(installed, "numpy.libs"), os.path.join(installed, "numpy")))


def _addresses(library: ctypes.CDLL, spelling: str, dtype: str) -> tuple[int, int, int, int]:
    gemm, gemv, ger, dot = (address(library, spelling.format(routine)) for routine in _ROUTINES[dtype])
    return gemm, gemv, ger, dot


def address(library: ctypes.CDLL, symbol: str) -> int:
    """Return the address of a function of a library; 0 if it has none of that name."""
    try:
        return ctypes.cast(getattr(library, symbol), ctypes.c_void_p).value or 0
    except AttributeError:
        return 0
