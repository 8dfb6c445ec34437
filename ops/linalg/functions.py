"""Linear algebra as NumPy's `numpy.linalg` has it, batched over leading axes.  `T.linalg` for users.

bools and integers are taken as float64; float16 is refused, as in NumPy.  Where NumPy raises LinAlgError, so does a
run, with the op and the user's line.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any, Literal, overload

import numpy as np

from ...graph import Variable
from ..core.checks import describe, normalize_axes, require_keepdims, shown
from ..core.keywords import with_numpys_keywords
from ..core.namespace import T
from ..core.operands import several, with_dtype
from ..core.promotion import result_type
from ..core.tensor import TensorVariable, as_tensor, outputs_of
from ..core.typing import Axis, DTypeLike, TensorLike
from ..reductions.quantiles import as_lines
from ..reductions.sampled import cross
from ..reductions.statistics import root_of_powers
from ..shapes.arranging import matrix_transpose
from ..shapes.conditions import checked
from ..shapes.lengths import lengths_of
from ..shapes.shape import expand_dims, squeeze
from ..shapes.specify import CheckLengths
from .determinants import Det, SlogDet
from .eigenproblems import EigPencil, eigenpairs, part_of_spectrum
from .equations import together
from .factorizations import QR, SVD, Cholesky, Eig, Eigvals, SingularValues
from .lu_factors import ColumnOrder
from .matrix_ops import adjoint, as_matrices, real_dtype
from .matrix_ops import transposed as transposed_matrix
from .products import matmul, tensordot, vecdot
from .products import outer as outer_of_elements
from .results import EighResult, EigResult, QRResult, SlogdetResult, SVDResult
from .scipys import finite
from .solving import Inverse, PseudoInverse, Solve, SolveTriangular, require_thresholds

__all__ = [
    "LinAlgError", "cholesky", "cond", "cross", "det", "diagonal", "eig", "eigh", "eigvals", "eigvalsh", "inv",
    "lstsq", "matmul", "matrix_norm", "matrix_power", "matrix_rank", "matrix_transpose", "multi_dot", "norm", "outer",
    "pinv", "qr", "slogdet", "solve", "solve_triangular", "svd", "svdvals", "tensordot", "tensorinv", "tensorsolve",
    "trace", "vecdot", "vector_norm",
]  # fmt: skip

LinAlgError = np.linalg.LinAlgError
_NOT_GIVEN = object()


def cholesky(
    a: TensorLike, lower: bool | None = None, overwrite_a: bool = False, check_finite: bool = False, *,
    upper: bool = False,
) -> TensorVariable:  # fmt: skip
    """The lower triangular l of a = l @ l^H, or its adjoint with `upper`; a is Hermitian and positive definite.

    Only that triangle of `a` is read.  `lower`: SciPy's name of the opposite of `upper`, without its default.  A run
    raises LinAlgError for a matrix that is not positive definite, ValueError for NaN with `check_finite`.
    """
    if lower is not None and lower == upper:
        upper = not lower
    a = finite(a, "cholesky", check_finite)
    return adjoint(Cholesky()(adjoint(a))) if upper else Cholesky()(a)


_ASSUMED = {
    "gen": "general", "general": "general", "sym": "sym", "symmetric": "sym", "her": "her", "hermitian": "her",
    "pos": "positive_definite", "positive definite": "positive_definite", "positive_definite": "positive_definite",
    "lower triangular": "lower_triangular", "lower_triangular": "lower_triangular",
    "upper triangular": "upper_triangular", "upper_triangular": "upper_triangular", "diagonal": "diagonal",
    "tridiagonal": "tridiagonal", "banded": "general",
}  # fmt: skip
"""SciPy's words for a matrix, and ours."""


def solve(
    a: TensorLike, b: TensorLike, assume: str | None = None, *, lower: bool = False, overwrite_a: bool = False,
    overwrite_b: bool = False, check_finite: bool = False, assume_a: str | None = None, transposed: bool = False,
) -> TensorVariable:  # fmt: skip
    """x with a @ x = b, in the joint dtype: b is a vector, or a batch of matrices whose columns are right sides.

    `assume`, or SciPy's `assume_a`: "general", "positive_definite" (half the work), "sym" and "her" (one triangle is
    read, the upper one unless `lower`), "lower_triangular", "upper_triangular", "diagonal", "tridiagonal", "banded",
    and SciPy's abbreviations.  "positive_definite" given by `assume` reads the lower triangle, as `lower` makes it.
    `transposed`: a.T @ x = b, for real matrices only.  A run raises LinAlgError for a singular matrix.
    """
    if assume is not None and assume_a is not None:
        raise TypeError("solve: assume and assume_a say the same thing; give one of them")
    kind = _ASSUMED.get(assume or assume_a or "general")
    if kind is None:
        expected = ", ".join(sorted(_ASSUMED))
        raise ValueError(f"solve: {shown(assume or assume_a)} is not a recognized matrix structure; use {expected}")
    a, b = finite(a, "solve", check_finite), finite(b, "solve", check_finite, vectors=True)
    if transposed:
        if a.type.kind == "c":
            raise NotImplementedError("scipy.linalg.solve can currently not solve a^T x = b for complex matrices; "
                                      "T.linalg.solve(a.T, b) can")  # fmt: skip
        a, lower = transposed_matrix(a), not lower
        kind = {"lower_triangular": "upper_triangular", "upper_triangular": "lower_triangular"}.get(kind, kind)
    if kind in ("lower_triangular", "upper_triangular"):
        return solve_triangular(a, b, lower=kind == "lower_triangular")
    if kind == "positive_definite":
        return _solved(Solve(kind), a if lower or assume is not None else adjoint(a), b)
    if kind in ("sym", "her"):
        half, turn = (T.tril if lower else T.triu), adjoint if kind == "her" else transposed_matrix
        a = T.add(half(a), turn(half(a, -1 if lower else 1)))
    elif kind == "diagonal":
        middle = T.diagonal(a, 0, -2, -1)
        middle = checked(middle, T.all(T.ne(middle, 0)), "A singular matrix detected.", error=LinAlgError)
        return T.true_div(b, middle if b.ndim == 1 else expand_dims(middle, -1))
    elif kind == "tridiagonal":
        bands = [T.diagonal(a, k, -2, -1) for k in (1, 0, -1)]
        ends = [(0, 0)] * (bands[0].ndim - 1)
        rows = [T.pad(bands[0], [*ends, (1, 0)]), bands[1], T.pad(bands[2], [*ends, (0, 1)])]
        return T.linalg.solve_banded((1, 1), T.stack(rows, -2), b, check_finite=False)
    return _solved(Solve("general"), a, b)


def solve_triangular(
    a: TensorLike, b: TensorLike, trans: int | str = 0, lower: bool = False, unit_diagonal: bool = False,
    overwrite_b: bool = False, check_finite: bool = False,
) -> TensorVariable:  # fmt: skip
    """x with a @ x = b for the upper (or `lower`) triangle of a; the other is not read.

    `trans`: 0 or "N" for a, 1 or "T" for its transpose, 2 or "C" for its adjoint; `unit_diagonal`: the diagonal counts
    as ones and is not read.  The shapes are those of `solve`.  A run raises LinAlgError for a zero on the diagonal.
    """
    if isinstance(trans, str) and trans in "NTC" and len(trans) == 1:
        trans = "NTC".index(trans)
    if trans not in (0, 1, 2):
        raise ValueError(f'solve_triangular: trans must be 0, 1 or 2, or "N", "T" or "C", got {trans!r}')
    a, b = finite(a, "solve_triangular", check_finite), finite(b, "solve_triangular", check_finite, vectors=True)
    if trans:
        a = (transposed_matrix if trans == 1 else adjoint)(a)
        lower = not lower
    return _solved(SolveTriangular(bool(lower), bool(unit_diagonal)), a, b)


def _solved(op: Solve | SolveTriangular, a: Any, b: Any) -> TensorVariable:
    a, b = as_matrices(a, op.name), as_tensor(b)
    if b.ndim == 0:
        raise TypeError(f"{op.name}: the right side must be a vector or matrices, got {describe(b)}")
    columns = as_matrices(expand_dims(b, 1) if b.ndim == 1 else b, op.name)
    dtype = result_type([a.dtype, columns.dtype])
    x = op(with_dtype(a, dtype), with_dtype(columns, dtype))
    return squeeze(x, -1) if b.ndim == 1 else x


def inv(a: TensorLike) -> TensorVariable:
    """The inverses of square matrices.  A run raises LinAlgError for a singular one."""
    return Inverse()(as_matrices(a, "inv"))


def pinv(
    a: TensorLike, rcond: TensorLike | None = None, hermitian: bool = False, *, rtol: Any = _NOT_GIVEN
) -> TensorVariable:
    """The Moore-Penrose inverses; singular values up to `rcond` (1e-15, as in NumPy) times the largest count as 0.

    `rcond`: a number, or an array that broadcasts to the batch of matrices, one per matrix.  `rtol`: another name of
    `rcond`, for which None are as many units in the last place as a has rows or columns.
    `hermitian`: the matrices are Hermitian, and their eigenvalues are taken; the lower triangle is read.
    """
    a = as_matrices(a, "pinv")
    if rtol is not _NOT_GIVEN:
        if rcond is not None:
            raise ValueError("pinv: rcond and rtol say the same thing; give one of them")
        rcond = _precision(a) if rtol is None else rtol
    share = with_dtype(as_tensor(1e-15 if rcond is None else rcond), real_dtype(a.dtype))
    if not hermitian:
        return PseudoInverse()(a, share)
    require_thresholds(a, share)
    share = T.broadcast_to(share, lengths_of(a)[:-2]) if share.ndim else share
    w, v = eigh(a)
    size = T.abs(w)
    counts = T.gt(size, T.expand_dims(share, -1) * T.max(size, axis=-1, keepdims=True, initial=0))
    inverse = T.switch(counts, 1 / T.switch(counts, w, 1), 0)
    return T.matmul(v * T.expand_dims(inverse, -2), adjoint(v))


def det(a: TensorLike) -> TensorVariable:
    """The determinants of square matrices."""
    return Det()(as_matrices(a, "det"))


def slogdet(a: TensorLike) -> SlogdetResult:
    """The signs of the determinants of square matrices and the logarithms of their moduli: 0 and -inf if singular."""
    return SlogdetResult(*outputs_of(SlogDet(), as_matrices(a, "slogdet")))


@overload
def eigh(
    a: TensorLike, UPLO: Any = ..., *, b: TensorLike | None = ..., lower: bool | None = ...,
    eigvals_only: Literal[True], overwrite_a: bool = ..., overwrite_b: bool = ..., type: int = ...,
    check_finite: bool = ..., subset_by_index: Any = ..., subset_by_value: Any = ..., driver: str | None = ...,
) -> TensorVariable: ...  # fmt: skip
@overload
def eigh(
    a: TensorLike, UPLO: Any = ..., *, b: TensorLike | None = ..., lower: bool | None = ...,
    eigvals_only: Literal[False] = ..., overwrite_a: bool = ..., overwrite_b: bool = ..., type: int = ...,
    check_finite: bool = ..., subset_by_index: Any = ..., subset_by_value: Any = ..., driver: str | None = ...,
) -> EighResult: ...  # fmt: skip
def eigh(
    a: TensorLike, UPLO: Any = "L", *, b: TensorLike | None = None, lower: bool | None = None,
    eigvals_only: bool = False, overwrite_a: bool = False, overwrite_b: bool = False, type: int = 1,
    check_finite: bool = False, subset_by_index: Any = None, subset_by_value: Any = None, driver: str | None = None,
) -> EighResult | TensorVariable:  # fmt: skip
    """(w, v): the ascending eigenvalues of Hermitian matrices and eigenvectors as columns; reads the triangle `UPLO`.

    SciPy's options: `lower` in the place of `UPLO`; `b`, positive definite, for a @ v = b @ v @ diag(w) (`type` 1),
    a @ b @ v = v @ diag(w) (2) or b @ a @ v = v @ diag(w) (3); `eigvals_only`; the pairs of `subset_by_index`, first
    and last included, or of values above the first and up to the second of `subset_by_value`.
    """
    if isinstance(UPLO, (Variable, np.ndarray)):  # SciPy's second argument
        UPLO, b = "L", UPLO
    UPLO = UPLO if lower is None else "L" if lower else "U"
    matrix = _read_lower(finite(a, "eigh", check_finite), UPLO, "eigh")
    found = eigenpairs(matrix, b, type, UPLO == "L", eigvals_only)
    pair: tuple[Any, Any] = (found, None) if eigvals_only else found
    w, v = pair
    if subset_by_index is not None or subset_by_value is not None:
        w, v = part_of_spectrum(w, v, subset_by_index, subset_by_value)
    return w if eigvals_only else EighResult(w, v)


def eigvalsh(a: TensorLike, UPLO: Any = "L", **options: Any) -> TensorVariable:
    """The ascending eigenvalues of Hermitian matrices; reads the triangle `UPLO`, "L" or "U".

    `options`: SciPy's, those of `eigh`.
    """
    return eigh(a, UPLO, eigvals_only=True, **options)  # type: ignore[no-any-return]


@overload
def eig(a: TensorLike, b: TensorLike | None = None, left: Literal[False] = False, *, check_finite: bool = True) -> (
    EigResult
): ...
@overload
def eig(
    a: TensorLike, b: TensorLike | None = None, left: bool = False, right: bool = True, overwrite_a: bool = False,
    overwrite_b: bool = False, check_finite: bool = True,
) -> Any: ...  # fmt: skip
def eig(
    a: TensorLike, b: TensorLike | None = None, left: bool = False, right: bool = True, overwrite_a: bool = False,
    overwrite_b: bool = False, check_finite: bool = True,
) -> EigResult | TensorVariable | tuple[TensorVariable, ...]:  # fmt: skip
    """(w, v): eigenvalues and eigenvectors, as columns, of square matrices: a @ v = v @ diag(w), or b @ v @ diag(w).

    Both are complex; NumPy makes them real where all imaginary parts are 0.  `left` gives the eigenvectors of the left
    before them, `right=False` leaves v out, as SciPy does.  Derivatives go by way of w, which must be distinct.
    """
    if b is None and not left and right:
        return EigResult(*outputs_of(Eig(), as_matrices(a, "eig")))
    w, vl, vr = outputs_of(EigPencil(), *_pencil("eig", a, b, check_finite))
    if not left:
        return EigResult(w, vr) if right else w
    return (w, vl, vr) if right else (w, vl)


def eigvals(
    a: TensorLike, b: TensorLike | None = None, overwrite_a: bool = False, check_finite: bool = True
) -> TensorVariable:
    """The eigenvalues of square matrices, or of pencils, complex; see `eig`."""
    if b is None:
        return Eigvals()(as_matrices(a, "eigvals"))
    return outputs_of(EigPencil(), *_pencil("eigvals", a, b, check_finite))[0]


def _pencil(what: str, a: TensorLike, b: TensorLike | None, check_finite: bool) -> list[TensorVariable]:
    return together(what, *(finite(x, what, check_finite) for x in (a, b) if x is not None))


def tensorinv(a: TensorLike, ind: int = 2) -> TensorVariable:
    """The inverse of `a` as a map from its last axes to its first `ind`: tensordot(tensorinv(a), b, ind) undoes it."""
    a = as_tensor(a)
    if isinstance(ind, bool) or not isinstance(ind, (int, np.integer)) or not 0 < ind < a.ndim:
        raise ValueError(f"tensorinv: ind is from 1 to {a.ndim - 1} for {describe(a)}, got {shown(ind)}")
    lengths = T.lengths_of(a)
    rows, columns = (_product_of_lengths(part) for part in (lengths[:ind], lengths[ind:]))
    return T.reshape(inv(T.reshape(a, (rows, columns))), (*lengths[ind:], *lengths[:ind]))


def tensorsolve(a: TensorLike, b: TensorLike, axes: Sequence[int] | None = None) -> TensorVariable:
    """x with tensordot(a, x, x.ndim) = b; `axes` of `a` are moved to its end first."""
    a, b = as_tensor(a), as_tensor(b)
    if axes is not None:
        if min(axes, default=0) < 0:
            raise ValueError(f"tensorsolve: axes must be counted from the front, got {shown(axes)}")
        a = T.moveaxis(a, tuple(axes), tuple(range(a.ndim - len(axes), a.ndim)))
    if not 0 < b.ndim < a.ndim:
        raise ValueError(f"tensorsolve: a has more axes than b, got {describe(a)} and {describe(b)}")
    lengths = T.lengths_of(a)[b.ndim :]
    flat = T.ravel(b)
    x = solve(T.reshape(a, (T.lengths_of(flat)[0], _product_of_lengths(lengths))), flat)
    return T.reshape(x, lengths)


def _product_of_lengths(lengths: Sequence[Variable]) -> TensorVariable:
    return T.prod(T.stack(lengths), dtype="int64")


def _read_lower(a: Any, uplo: str, what: str) -> TensorVariable:
    if uplo not in ("L", "U"):
        raise ValueError(f'{what}: UPLO must be "L" or "U", got {uplo!r}')
    a = as_matrices(a, what)
    return a if uplo == "L" else adjoint(a)


def svd(
    a: TensorLike, full_matrices: bool = True, compute_uv: bool = True, hermitian: bool = False
) -> TensorVariable | SVDResult:
    """u, s, vh with a = u @ diag(s) @ vh and s descending; s alone without `compute_uv`.

    `full_matrices` makes u and vh square; without it they have as many columns and rows as there are values.
    `hermitian`: the matrices are Hermitian, and the values are the moduli of their eigenvalues; the lower triangle is
    read.
    """
    a = as_matrices(a, "svd")
    if hermitian:
        return _svd_of_hermitian(a, compute_uv)
    return SVDResult(*outputs_of(SVD(full_matrices), a)) if compute_uv else SingularValues()(a)


def _svd_of_hermitian(a: TensorVariable, compute_uv: bool) -> TensorVariable | SVDResult:
    if not compute_uv:
        return T.flip(T.sort(T.abs(eigvalsh(a))), -1)
    w, v = eigh(a)
    order = T.flip(T.argsort(T.abs(w)), -1)
    w, v = T.take_along_axis(w, order, -1), T.take_along_axis(v, expand_dims(order, -2), -1)
    return SVDResult(v, T.abs(w), adjoint(v * T.expand_dims(T.cast(T.sign(w), v.dtype), -2)))


def svdvals(a: TensorLike) -> TensorVariable:
    """The singular values of matrices, descending."""
    return SingularValues()(as_matrices(a, "svd"))


@overload
def qr(  # type: ignore[overload-overlap]  # "r" is a str as well
    a: TensorLike, mode: Literal["r"], *, pivoting: Literal[False] = ..., overwrite_a: bool = ..., lwork: Any = ...,
    check_finite: bool = ...,
) -> TensorVariable: ...  # fmt: skip
@overload
def qr(
    a: TensorLike, mode: str = ..., *, pivoting: Literal[False] = ..., overwrite_a: bool = ..., lwork: Any = ...,
    check_finite: bool = ...,
) -> QRResult: ...  # fmt: skip
@overload
def qr(
    a: TensorLike, mode: str = ..., *, pivoting: Literal[True], overwrite_a: bool = ..., lwork: Any = ...,
    check_finite: bool = ...,
) -> tuple[TensorVariable, ...]: ...  # fmt: skip
def qr(
    a: TensorLike, mode: str = "reduced", *, pivoting: bool = False, overwrite_a: bool = False, lwork: Any = None,
    check_finite: bool = False,
) -> QRResult | TensorVariable | tuple[TensorVariable, ...]:  # fmt: skip
    """q with orthonormal columns and r, upper triangular, with a = q @ r; r alone for mode "r".

    `mode` is "reduced" (or SciPy's "economic"), "complete" (or "full": q is square) or "r".  `pivoting`: a third
    result, the order of columns for which the moduli on the diagonal of r do not increase: a[:, p] = q @ r; mode "r"
    gives (r, p).
    """
    if mode == "raw":
        raise ValueError('qr: the mode "raw" is not there, since reflectors have no derivative; use "reduced"')
    a = finite(a, "qr", check_finite)
    op = QR({"economic": "reduced", "full": "complete"}.get(mode, mode))
    if not pivoting:
        return op(a) if mode == "r" else QRResult(*outputs_of(op, a))
    order = ColumnOrder()(a)
    batch = order if a.ndim == 2 else expand_dims(order, -2)
    permuted = T.take(a, order, axis=-1) if a.ndim == 2 else T.take_along_axis(a, batch, -1)
    found = outputs_of(op, permuted)
    return (*found, order)


def matrix_power(a: TensorLike, n: int) -> TensorVariable:
    """The product of `n` equal square matrices, of -n inverses for a negative n; `n` is an integer known now."""
    a = as_tensor(a)
    if isinstance(n, bool) or not isinstance(n, (int, np.integer)):
        raise TypeError(f"matrix_power: n must be an integer known when the graph is built, got {shown(n)}")
    if a.ndim < 2:
        raise TypeError(f"matrix_power takes matrices in the last two axes, got {describe(a)}")
    if n in (0, 1):  # no product checks the lengths
        rows, columns = T.lengths_of(a)[-2:]
        a = CheckLengths((("the square matrix of matrix_power", a.ndim - 2),), declared=False)(a, rows, columns)
    if n == 0:
        return T.add(T.zeros_like(a), T.eye(T.shape(a)[a.ndim - 1], dtype=a.dtype))
    square = a if n > 0 else inv(a)
    result: Any = None
    for digit in reversed(bin(abs(n))[2:]):
        if digit == "1":
            result = square if result is None else T.matmul(result, square)
        square = T.matmul(square, square)
    return as_tensor(result)


def multi_dot(arrays: Sequence[TensorLike]) -> TensorVariable:
    """The product of two or more matrices, the first and the last perhaps vectors, from the left to the right."""
    arrays = several("linalg.multi_dot", arrays)
    if len(arrays) < 2:
        raise ValueError(f"multi_dot takes two matrices or more, got {len(arrays)}")
    matrices = [as_tensor(a) for a in arrays]
    for k, a in enumerate(matrices if len(matrices) > 2 else ()):
        if a.ndim != 2 and (a.ndim != 1 or 0 < k < len(matrices) - 1):
            raise np.linalg.LinAlgError(f"multi_dot takes matrices, at its ends vectors too, got {describe(a)}")
    return functools.reduce(T.dot, matrices)


def diagonal(x: TensorLike, /, *, offset: int = 0) -> TensorVariable:
    """The diagonals of the matrices in the last two axes."""
    return T.diagonal(x, offset, -2, -1)


def trace(x: TensorLike, /, *, offset: int = 0, dtype: DTypeLike = None) -> TensorVariable:
    """The sums of the diagonals of the matrices in the last two axes."""
    return T.trace(x, offset, -2, -1, dtype)


# --- least squares and rank


def lstsq(
    a: TensorLike, b: TensorLike, rcond: Any = None
) -> tuple[TensorVariable, TensorVariable, TensorVariable, TensorVariable]:
    """(x, residuals, rank, s): the shortest x for which |a @ x - b| is smallest; b is a vector or columns.

    Residuals: the squared distance of each column, no element where a has less rank than columns or no more rows than
    columns.  `s`: the singular values of a; those up to `rcond` (by default as many units in the last place as a has
    rows or columns, and half a unit for what is not between 0 and 1) times the largest count as 0.
    """
    a, b = as_matrices(a, "lstsq"), as_tensor(b)
    if a.ndim != 2 or b.ndim not in (1, 2):
        raise ValueError(f"lstsq takes a matrix and a vector or a matrix, got {describe(a)} and {describe(b)}")
    dtype = result_type([a.dtype, b.dtype if b.type.kind in "fc" else "float64"])
    a, b = with_dtype(a, dtype), with_dtype(b, dtype)
    rows, columns = T.lengths_of(a)
    s = svdvals(a)
    eps = float(np.finfo(s.dtype).eps)
    if rcond is None:
        rcond = T.maximum(rows, columns) * eps
    else:  # LAPACK takes what is not between 0 and 1 for its own precision, half a unit in the last place
        rcond = as_tensor(rcond)
        rcond = T.switch(T.logical_and(T.gt(rcond, 0), T.lt(rcond, 1)), rcond, eps / 2)
    rank = T.cast(T.sum(T.gt(s, T.mul(rcond, T.max(s, initial=0)))), "int32")
    x = T.dot(pinv(a, rcond), b)
    squares = T.sum(_squares(T.sub(T.dot(a, x), b)), axis=0, keepdims=b.ndim == 1)
    determined = T.logical_and(T.eq(rank, columns), T.gt(rows, columns))
    return x, squares[: T.switch(determined, T.lengths_of(squares)[0], 0)], rank, s


def _precision(a: Any) -> TensorVariable:
    """Return eps times the number of rows or columns of the matrices, whichever is larger."""
    rows, columns = T.lengths_of(a)[-2:]
    eps = float(np.finfo(real_dtype(a.dtype)).eps)
    return T.cast(T.maximum(rows, columns) * eps, real_dtype(a.dtype))


def matrix_rank(
    a: TensorLike, tol: Any = None, hermitian: bool = False, *, rtol: TensorLike | None = None
) -> TensorVariable:
    """How many singular values are greater than `tol`: by default the rounding of the largest one (int64).

    `rtol`: the same as a multiple of the largest one.
    """
    if tol is not None and rtol is not None:
        raise ValueError("matrix_rank: tol and rtol say the same thing; give one of them")
    a = as_tensor(a)
    if a.ndim < 2:
        return T.cast(T.any(T.ne(a, 0)), "int64")
    s = T.abs(eigvalsh(a)) if hermitian else svdvals(a)
    if tol is None:
        share = _precision(as_matrices(a, "matrix_rank")) if rtol is None else as_tensor(rtol)
        tol = T.max(s, axis=-1, initial=0) * share
    return T.sum(T.gt(s, expand_dims(as_tensor(tol), -1)), axis=-1)


def cond(x: TensorLike, p: TensorLike | None = None) -> TensorVariable:
    """The condition numbers of matrices: |x| |x^-1| by the norm `p`; for None and 2 the ratio of singular values.

    A run raises LinAlgError for a matrix without elements.
    """
    x = as_matrices(x, "cond")
    x = checked(x, T.gt(x.size, 0), "cond is not defined on empty arrays", error=np.linalg.LinAlgError)
    if p in (None, 2, -2):
        s = svdvals(x)
        found = s[..., -1] / s[..., 0] if p == -2 else s[..., 0] / s[..., -1]
        singular = T.and_(T.isnan(found), T.logical_not(T.any(T.isnan(x), axis=(-2, -1))))
        return T.switch(singular, with_dtype(as_tensor(np.inf), found.dtype), found)
    return matrix_norm(x, ord=p) * matrix_norm(inv(x), ord=p)


def outer(x: TensorLike, y: TensorLike, /) -> TensorVariable:
    """The matrix of all products of an element of `x` and one of `y`.  Raises ValueError unless both are vectors."""
    x, y = as_tensor(x), as_tensor(y)
    if x.ndim != 1 or y.ndim != 1:
        raise ValueError(f"outer takes vectors, got {describe(x)} and {describe(y)}")
    return outer_of_elements(x, y)


# --- norms


def vector_norm(x: TensorLike, /, *, axis: Axis = None, keepdims: bool = False, ord: Any = 2) -> TensorVariable:
    """The norms of vectors along `axis`; several axes, or all by default, count as one vector."""
    x = as_tensor(x)
    axes = tuple(range(x.ndim)) if axis is None else normalize_axes(axis, x.ndim, "vector_norm")
    lines, restored = as_lines("vector_norm", x, axes, keepdims)
    return restored(norm(lines, ord, axis=-1))


def matrix_norm(x: TensorLike, /, *, keepdims: bool = False, ord: Any = "fro") -> TensorVariable:
    """The norms of the matrices in the last two axes; see `norm`."""
    return norm(x, ord, axis=(-2, -1), keepdims=keepdims)


def norm(x: TensorLike, ord: Any = None, axis: Axis = None, keepdims: bool = False) -> TensorVariable:
    """NumPy's norms of vectors (`axis` is one axis) and matrices (two axes); of all of `x` for None.

    `ord`: for vectors any real number, inf or -inf; for matrices "fro", "nuc", 1, -1, 2, -2, inf or -inf; None: the
    root of the sum of squares, whose derivative at 0 is 0.  Raises ValueError for another one.
    """
    require_keepdims(keepdims, "norm")
    x = as_tensor(x)
    x = x if x.type.kind in "fc" else T.cast(x, "float64")
    if axis is None and ord is None:
        flat = root_of_powers(T.sum(_squares(x)))
        return expand_dims(flat, tuple(range(x.ndim))) if keepdims else flat
    axes = tuple(range(x.ndim)) if axis is None else normalize_axes(axis, x.ndim, "norm")
    if len(axes) == 1:
        return _vector_norm(x, ord, axes[0], keepdims)
    if len(axes) != 2:
        raise ValueError(f"norm: {describe(x)} along axes {axes} is neither a vector nor a matrix")
    return _matrix_norm(x, ord, axes, keepdims)


def _squares(x: Variable) -> TensorVariable:
    return T.add(T.square(T.real(x)), T.square(T.imag(x))) if x.type.kind == "c" else T.square(x)


def _vector_norm(x: Variable, ord: Any, axis: int, keepdims: bool) -> TensorVariable:
    if ord is None or ord == 2:
        return root_of_powers(T.sum(_squares(x), axis, keepdims=keepdims))
    if not isinstance(ord, (int, float, np.number)):
        raise ValueError(f"norm: ord must be a number, inf or -inf for vectors, got {ord!r}")
    size = T.abs(x)
    if abs(ord) == np.inf:
        return _extremum(ord, size, axis, keepdims)
    if ord == 0:
        return T.sum(T.cast(T.ne(x, 0), size.dtype), axis, keepdims=keepdims)
    if ord == 1:
        return T.sum(size, axis, keepdims=keepdims)
    total = T.sum(T.pow(size, float(ord)), axis, keepdims=keepdims)
    return root_of_powers(total, float(ord)) if ord > 1 else T.pow(total, 1 / float(ord))


def _extremum(ord: Any, sizes: Variable, axis: Any, keepdims: bool = False) -> TensorVariable:
    """Return the largest size for a positive `ord`, 0 of none; the smallest for a negative one."""
    if ord < 0:
        return T.min(sizes, axis, keepdims=keepdims)
    return T.max(sizes, axis, keepdims=keepdims, initial=0)


def _matrix_norm(x: Variable, ord: Any, axes: tuple[int, ...], keepdims: bool) -> TensorVariable:
    rows, columns = axes
    if ord in (None, "fro"):
        return root_of_powers(T.sum(_squares(x), axes, keepdims=keepdims))
    if ord in (2, -2, "nuc"):
        values = svdvals(T.moveaxis(x, axes, (-2, -1)))
        result = T.sum(values, -1) if ord == "nuc" else _extremum(ord, values, -1)
    elif ord in (1, -1, np.inf, -np.inf):
        summed, kept = (rows, columns) if abs(ord) == 1 else (columns, rows)
        sums = T.sum(T.abs(x), summed)
        result = _extremum(ord, sums, kept - (kept > summed))
    else:
        raise ValueError(f'norm: ord must be "fro", "nuc", 1, -1, 2, -2, inf or -inf for matrices, got {ord!r}')
    return expand_dims(result, tuple(sorted(axes))) if keepdims else result


with_numpys_keywords(globals(), "linalg.")
