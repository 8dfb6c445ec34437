"""LAPACK's routines for host steps: those of the library that NumPy's linear algebra calls.

    factor, pivots = lu_of(a)

Matrices here are Fortran-ordered copies, so results may be written into them.  NumPy has no Schur factorization, and
no library of ours has one; the process has LAPACK's as soon as NumPy is loaded.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np
from numpy.linalg import _umath_linalg

_LETTERS = {"float32": "s", "float64": "d", "complex64": "c", "complex128": "z"}
_SPELLINGS = (
    ("scipy_{}_64_", True), ("{}_64_", True), ("{}64_", True), ("{}$NEWLAPACK$ILP64", True), ("scipy_{}_", False),
    ("{}$NEWLAPACK", False), ("{}_", False),
)  # fmt: skip
"""Names of Fortran routines, and whether those take integers of 64 bits."""
ORDERS = ("lhp", "rhp", "iuc", "ouc")
"""Half planes and the unit circle: left, right, inside, outside."""


@cache
def _library() -> tuple[Any, str, bool]:
    """Return the library, how it spells a routine, and whether its integers have 64 bits.

    Raises NotImplementedError where NumPy was built without LAPACK.
    """
    library = ctypes.CDLL(_umath_linalg.__file__)  # the library that it was linked to is searched as well
    for spelling, wide in _SPELLINGS:
        if hasattr(library, spelling.format("dgees")):
            return library, spelling, wide
    raise NotImplementedError("NumPy in this environment was built without LAPACK, which this function calls")


class Routine:
    """A routine of LAPACK by its name without the letter of the dtype; calls return `info`.

    Arguments: text for a flag, a Python integer, an array, None for no pointer, or a callback; `info` goes last, behind
    it the lengths of the flags.
    """

    def __init__(self, name: str, dtype: np.dtype) -> None:
        library, spelling, wide = _library()
        self.name: str = _LETTERS[dtype.name] + name
        self.function: Any = getattr(library, spelling.format(self.name))
        self.function.restype = None
        self.integer: Any = ctypes.c_int64 if wide else ctypes.c_int32
        self.integers = np.dtype("int64" if wide else "int32")

    def __call__(self, *arguments: Any) -> int:
        info = self.integer(0)
        passed = [self._pointer(a) for a in arguments]
        flags = sum(isinstance(a, str) for a in arguments)
        self.function(*passed, ctypes.byref(info), *[ctypes.c_size_t(1)] * flags)
        if info.value < 0:
            raise ValueError(f"LAPACK's {self.name} refused argument {-info.value}")
        return int(info.value)

    def _pointer(self, a: Any) -> Any:
        if isinstance(a, str):
            return ctypes.c_char_p(a.encode())
        if isinstance(a, int):
            return ctypes.byref(self.integer(a))
        return a.ctypes.data_as(ctypes.c_void_p) if isinstance(a, np.ndarray) else a


def stacked(function: Callable[..., Sequence[np.ndarray]], *operands: np.ndarray, ranks: Sequence[int] = ()) -> Any:
    """Return the results of `function` for each place of a batch, stacked; for no place those of zeros, without places.

    The operands have equal leading axes, in front of `ranks` axes of their own, two by default.
    """
    ranks = ranks or (2,) * len(operands)
    batch = operands[0].shape[: operands[0].ndim - ranks[0]]
    if not batch:
        return tuple(function(*operands))
    places = [function(*(x[k] for x in operands)) for k in np.ndindex(batch)]
    if not places:
        made = function(*(np.zeros(x.shape[x.ndim - r :], x.dtype) for x, r in zip(operands, ranks, strict=True)))
        return tuple(np.zeros((*batch, *part.shape), part.dtype) for part in made)
    return tuple(np.stack(parts).reshape(*batch, *parts[0].shape) for parts in zip(*places, strict=True))


def _fortran(x: np.ndarray) -> np.ndarray:
    return np.array(x, order="F")


def order_of(name: str, *matrices: np.ndarray) -> int:
    """Return n for matrices of n by n.  Raises LinAlgError for others, beyond whose bounds LAPACK would write."""
    n = int(matrices[0].shape[-1])
    if any(a.shape[-2:] != (n, n) for a in matrices):
        shapes = " and ".join(str(a.shape) for a in matrices)
        raise np.linalg.LinAlgError(f"{name}: expected square matrices of one size, got {shapes}")
    return n


def lu_of(a: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return l and u in one m by n matrix, without the unit diagonal of l, and the row that each was swapped with."""
    m, n = a.shape
    factor, least = _fortran(a), min(m, n)
    if not least:
        return factor, np.zeros(0, "int32")
    routine = Routine("getrf", a.dtype)
    pivots = np.zeros(least, routine.integers)
    routine(m, n, factor, m, pivots)
    return factor, (pivots - 1).astype("int32")


def pivoted_columns(a: np.ndarray) -> np.ndarray:
    """Return the order of columns by which the diagonal of r does not increase, of a QR factorization with pivoting."""
    m, n = a.shape
    if not min(m, n):
        return np.arange(n, dtype="int32")
    routine = Routine("geqp3", a.dtype)
    order, tau = np.zeros(n, routine.integers), np.zeros(min(m, n), a.dtype)
    work = np.zeros(max(1, 32 * (n + 1) + 2 * n), a.dtype)
    real = [np.zeros(2 * n, a.real.dtype)] if a.dtype.kind == "c" else []
    routine(m, n, _fortran(a), m, order, tau, work, work.size, *real)
    return (order - 1).astype("int32")


def _selected(order: Any, dtype: np.dtype, parts: int, raised: list[BaseException]) -> Any:
    """Return the callback that tells LAPACK whether an eigenvalue, of one or two numbers and perhaps a divisor, goes
    first.

    `order`: one of ORDERS, or a function of these numbers; what it raises is appended to `raised`.
    """

    def read(pointer: int) -> Any:
        count = 2 if dtype.kind == "c" else 1
        kind: Any = ctypes.c_float if dtype.itemsize // count == 4 else ctypes.c_double
        numbers = (kind * count).from_address(pointer)
        return complex(*numbers) if dtype.kind == "c" else float(numbers[0])

    def select(*pointers: int) -> int:
        numbers = [read(p) for p in pointers]
        if callable(order):
            try:
                return int(bool(order(*numbers)))
            except BaseException as error:
                raised.append(error)
                return 0
        by = numbers.pop() if parts == 2 else 1.0
        value = numbers[0] if len(numbers) == 1 else complex(numbers[0], numbers[1])
        inside = {"lhp": (value * np.conj(by)).real < 0, "rhp": (value * np.conj(by)).real >= 0,
                  "iuc": abs(value) <= abs(by), "ouc": abs(value) > abs(by)}  # fmt: skip
        return int(bool(inside[order]))

    arity = (1 if dtype.kind == "c" else 2) + parts - 1
    return ctypes.CFUNCTYPE(ctypes.c_int, *[ctypes.c_void_p] * arity)(select)


def schur_of(a: np.ndarray, order: Any = None) -> tuple[np.ndarray, np.ndarray, int]:
    """Return t, z and how many eigenvalues stand first: a = z @ t @ z^H, t (quasi-)triangular, z unitary.

    Raises LinAlgError where the iteration does not converge, eigenvalues cannot be ordered, and for a matrix that is
    not square.
    """
    n = order_of("schur", a)
    t, z = _fortran(a), np.zeros((n, n), a.dtype, order="F")
    if not n:
        return t, z, 0
    routine = Routine("gees", a.dtype)
    count, work = np.zeros(1, routine.integers), np.zeros(max(1, 34 * n), a.dtype)
    values = [np.zeros(n, a.dtype)] * 1 if a.dtype.kind == "c" else [np.zeros(n, a.dtype), np.zeros(n, a.dtype)]
    real = [np.zeros(n, a.real.dtype)] if a.dtype.kind == "c" else []
    raised: list[BaseException] = []
    select = None if order is None else _selected(order, a.dtype, 1, raised)
    info = routine("V", "N" if order is None else "S", select, n, t, n, count, *values, z, n, work, work.size, *real,
                   np.zeros(n, routine.integers))  # fmt: skip
    if 0 < info <= n:
        raise np.linalg.LinAlgError("Schur form not found. Possibly ill-conditioned.")
    if raised:
        raise raised[0]
    if info == n + 1:
        raise np.linalg.LinAlgError("Eigenvalues could not be separated for reordering.")
    if info == n + 2:
        raise np.linalg.LinAlgError("Leading eigenvalues do not satisfy sort condition.")
    return t, z, int(count[0])


def qz_of(a: np.ndarray, b: np.ndarray, order: str | None = None) -> tuple[Any, ...]:
    """Return aa, bb, q, z and how many eigenvalues stand first: a = q @ aa @ z^H and b = q @ bb @ z^H, aa
    (quasi-)triangular, bb triangular.

    Raises LinAlgError where the iteration does not converge, and for matrices that are not square or not of one size.
    """
    n = order_of("qz", a, b)
    aa, bb = _fortran(a), _fortran(b)
    q, z = (np.zeros((n, n), a.dtype, order="F") for _ in range(2))
    if not n:
        return aa, bb, q, z, 0
    routine = Routine("gges", a.dtype)
    is_complex = a.dtype.kind == "c"
    count, work = np.zeros(1, routine.integers), np.zeros(8 * n + 16 + 64 * n, a.dtype)
    values = [np.zeros(n, a.dtype) for _ in range(2 if is_complex else 3)]
    real = [np.zeros(8 * n, a.real.dtype)] if is_complex else []
    select = None if order is None else _selected(order, a.dtype, 2, [])
    info = routine("V", "V", "N" if order is None else "S", select, n, aa, n, bb, n, count, *values, q, n, z, n, work,
                   work.size, *real, np.zeros(n, routine.integers))  # fmt: skip
    if 0 < info <= n + 1:
        raise np.linalg.LinAlgError("Something other than QZ iteration failed")
    return aa, bb, q, z, int(count[0])


def eigenpairs_of(a: np.ndarray, b: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return w, vl, vr, complex: a @ vr = b @ vr @ diag(w), vl^H @ a = diag(w) @ vl^H @ b; columns have the length 1.

    Without b it is the identity.  Raises LinAlgError where the iteration does not converge, and for matrices that are
    not square or not of one size.
    """
    n = order_of("eig", a, *(() if b is None else (b,)))
    dtype = np.result_type(a.dtype, np.complex64)
    if not n:
        return np.zeros(0, dtype), np.zeros((0, 0), dtype), np.zeros((0, 0), dtype)
    is_complex = a.dtype.kind == "c"
    left, right = (np.zeros((n, n), a.dtype, order="F") for _ in range(2))
    values = [np.zeros(n, a.dtype) for _ in range(1 if is_complex else 2)]
    divisors = [] if b is None else [np.ones(n, a.dtype)]
    matrices = [_fortran(a), n] if b is None else [_fortran(a), n, _fortran(b), n]
    work, real = np.zeros(32 * n + 32, a.dtype), [np.zeros(8 * n, a.real.dtype)] if is_complex else []
    routine = Routine("geev" if b is None else "ggev", a.dtype)
    if routine("V", "V", n, *matrices, *values, *divisors, left, n, right, n, work, work.size, *real):
        raise np.linalg.LinAlgError("eig algorithm did not converge")
    w = (values[0] if is_complex else values[0] + 1j * values[1]).astype(dtype)
    if divisors:
        with np.errstate(all="ignore"):
            w = np.where(divisors[0] != 0, w / divisors[0], np.where(w != 0, np.inf, np.nan))
    vl, vr = (v if is_complex else _with_conjugates(v, values[1]) for v in (left, right))
    if divisors:  # LAPACK makes the largest part of a column 1
        vl, vr = (v / np.linalg.norm(v, axis=0) for v in (vl, vr))
    return w.astype(dtype), vl, vr


def _with_conjugates(v: np.ndarray, imaginary: np.ndarray) -> np.ndarray:
    """Return complex columns of real ones: of a conjugate pair the first is the real part."""
    found = v.astype(np.result_type(v.dtype, np.complex64))
    for k in np.nonzero(imaginary > 0)[0]:
        found[:, k] = v[:, k] + 1j * v[:, k + 1]
        found[:, k + 1] = v[:, k] - 1j * v[:, k + 1]
    return found


def sylvester_of(a: np.ndarray, b: np.ndarray, q: np.ndarray) -> np.ndarray:
    """Return x with a @ x + x @ b = q: Bartels and Stewart, Solution of the Matrix Equation AX + XB = C (1972).

    Raises LinAlgError for matrices of other sizes than the axes of q.
    """
    m, n = q.shape
    if (a.shape, b.shape) != ((m, m), (n, n)):
        raise np.linalg.LinAlgError(f"solve_sylvester: a is {a.shape} and b is {b.shape}, expected {m, m} and {n, n}")
    if not q.size:
        return np.zeros_like(q)
    (r, u, _), (s, v, _) = schur_of(a), schur_of(np.conj(b.T))
    x = _fortran(np.conj(u.T) @ q @ v)
    scale = np.ones(1, q.real.dtype)
    Routine("trsyl", q.dtype)("N", "C", 1, m, n, r, m, s, n, x, m, scale)
    solution: np.ndarray = u @ (x * scale[0]) @ np.conj(v.T)
    return solution


def banded_solution(lower: int, upper: int, ab: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return x for the matrix whose diagonals are the rows of `ab`, the highest one first, and right sides b.

    Raises LinAlgError for a singular matrix.
    """
    n, k = b.shape
    if not b.size:
        return np.zeros_like(b)
    routine = Routine("gbsv", b.dtype)
    rows, x = np.zeros((2 * lower + upper + 1, n), b.dtype, order="F"), _fortran(b)
    rows[lower:] = ab
    info = routine(n, lower, upper, k, rows, rows.shape[0], np.zeros(n, routine.integers), x, n)
    if info > 0:
        raise np.linalg.LinAlgError("singular matrix")
    return x
