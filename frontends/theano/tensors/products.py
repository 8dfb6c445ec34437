"""Products of tensors and linear algebra."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .... import ops as T
from ....control.scan import scan
from .elementwise import FUNCTIONS, exported
from .variables import as_tensor_variable, wrap, wrapped


@exported
def dot(a: Any, b: Any) -> Any:
    """NumPy's product: of matrices, of vectors, of numbers; over the last axis and the last but one."""
    if hasattr(a, "__dot__"):
        return a.__dot__(b)
    if hasattr(b, "__rdot__"):
        return b.__rdot__(a)
    x, y = as_tensor_variable(a), as_tensor_variable(b)
    return wrap(T.dot(x.core, y.core), x, y)


@exported
def tensordot(a: Any, b: Any, axes: Any = 2) -> Any:
    """The sum over pairs of axes."""
    x, y = as_tensor_variable(a), as_tensor_variable(b)
    return wrap(T.tensordot(x.core, y.core, axes), x, y)


@exported
def batched_dot(a: Any, b: Any) -> Any:
    """The products of the parts along the first axis."""
    x, y = as_tensor_variable(a), as_tensor_variable(b)
    if not x.ndim or not y.ndim:
        raise TypeError(f"batched_dot takes tensors with a first axis of examples, got {x.type} and {y.type}")
    left = x.core if x.ndim > 2 else T.dimshuffle(x.core, *range(x.ndim - 1), "x", x.ndim - 1)
    if x.ndim == 1 or y.ndim == 1:
        return _each_scaled(x, y)
    right = y.core if y.ndim > 2 else T.dimshuffle(y.core, 0, 1, "x")
    found = T.matmul(left, right)
    if x.ndim > 3 or y.ndim > 3:
        found = batched_tensordot(x, y, [x.ndim - 1, y.ndim - 2]).core
    drop = ([x.ndim - 1] if x.ndim == 2 else []) + ([found.ndim - 1] if y.ndim == 2 else [])
    return wrap(T.squeeze(found, tuple(drop)) if drop and found.ndim > 1 else found, x, y)


def _each_scaled(x: Any, y: Any) -> Any:
    """Examples of one tensor times the numbers of a vector."""
    rank = max(x.ndim, y.ndim)
    both = [v.dimshuffle(*range(v.ndim), *["x"] * (rank - v.ndim)) for v in (x, y)]
    return both[0] * both[1]


@exported
def batched_tensordot(x: Any, y: Any, axes: Any = 2) -> Any:
    """`tensordot` of the parts along the first axis; the numbers of axes count it."""
    x, y = as_tensor_variable(x), as_tensor_variable(y)
    if isinstance(axes, int):
        axes = [list(range(x.ndim - axes, x.ndim)), list(range(1, 1 + axes))]
    pairs = [[a] if isinstance(a, int) else list(a) for a in axes]
    left, right = list(range(x.ndim)), [x.ndim, *range(x.ndim + 1, x.ndim + y.ndim)]
    right[0] = 0
    for a, b in zip(*pairs, strict=True):
        right[b] = left[a]
    summed = {left[a] for a in pairs[0]}
    kept = [0, *(n for n in left[1:] if n not in summed), *(n for n in right[1:] if n not in summed)]
    letters = [chr(ord("a") + n) for n in range(26)]
    text = ["".join(letters[n] for n in part) for part in (left, right, kept)]
    return wrap(T.einsum(f"{text[0]},{text[1]}->{text[2]}", x.core, y.core), x, y)


@exported
def outer(x: Any, y: Any) -> Any:
    """The products of all pairs of elements."""
    x, y = as_tensor_variable(x), as_tensor_variable(y)
    return wrap(T.outer(x.core, y.core), x, y)


def _lifted(core: Callable[..., Any], name: str, doc: str) -> Callable[..., Any]:
    def function(*values: Any, **options: Any) -> Any:
        given = [as_tensor_variable(v) for v in values]
        return wrapped(core(*(v.core for v in given), **options), *given)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    return function


def svd(a: Any, full_matrices: bool = True, compute_uv: bool = True) -> Any:
    """Singular values and vectors."""
    x = as_tensor_variable(a)
    return wrapped(T.linalg.svd(x.core, full_matrices=full_matrices) if compute_uv else T.linalg.svdvals(x.core), x)


def qr(a: Any, mode: str = "reduced") -> Any:
    """The factors of an orthogonal and a triangular matrix."""
    return wrapped(T.linalg.qr(as_tensor_variable(a).core, mode))


def matrix_power(M: Any, n: int) -> Any:
    """A power of a square matrix."""
    return wrap(T.linalg.matrix_power(as_tensor_variable(M).core, n))


def trace(X: Any) -> Any:
    """The sum of the diagonal."""
    return wrap(T.trace(as_tensor_variable(X).core))


def solve(a: Any, b: Any, A_structure: str = "general", lower: bool = False) -> Any:
    """The solution of a linear system; `A_structure` may say that the matrix is triangular."""
    x, y = as_tensor_variable(a), as_tensor_variable(b)
    if A_structure in ("lower_triangular", "upper_triangular"):
        return wrap(T.linalg.solve_triangular(x.core, y.core, lower=A_structure == "lower_triangular"), x, y)
    return wrap(T.linalg.solve(x.core, y.core), x, y)


def cholesky(a: Any) -> Any:
    """The lower triangular factor of a positive definite matrix."""
    return wrap(T.linalg.cholesky(as_tensor_variable(a).core))


def eig(a: Any) -> Any:
    """Eigenvalues and eigenvectors of a square matrix, complex."""
    return wrapped(T.linalg.eig(as_tensor_variable(a).core))


def tensorinv(a: Any, ind: int = 2) -> Any:
    """The inverse of a tensor for products over its first `ind` axes."""
    return wrap(T.linalg.tensorinv(as_tensor_variable(a).core, ind))


def tensorsolve(a: Any, b: Any, axes: Any = None) -> Any:
    """The solution x of tensordot(a, x, x.ndim) = b."""
    x, y = as_tensor_variable(a), as_tensor_variable(b)
    return wrap(T.linalg.tensorsolve(x.core, y.core, axes), x, y)


def lstsq(x: Any, y: Any, rcond: Any) -> Any:
    """The least-squares solution of x @ s = y, the residuals, the rank and the singular values of `x`."""
    a, b, least = map(as_tensor_variable, (x, y, rcond))
    return list(wrapped(T.linalg.lstsq(a.core, b.core, least.core)))


_PADE = (64764752532480000, 32382376266240000, 7771770303897600, 1187353796428800, 129060195264000, 10559470521600,
         670442572800, 33522128640, 1323241920, 40840800, 960960, 16380, 182, 1)  # fmt: skip
_LARGEST_NORM = 5.371920351148152
"""Norm up to which the approximant of degree 13 is exact to rounding in float64."""


def expm(A: Any) -> Any:
    """The exponential of a square matrix, by scaling and squaring.

    Source: N. J. Higham, "The scaling and squaring method for the matrix exponential revisited", 2005.
    """
    given = as_tensor_variable(A)
    a: Any = given.core if given.core.type.kind in "fc" else T.cast(given.core, "float64")
    norm = T.linalg.matrix_norm(a, ord=1)
    halvings = T.cast(T.clip(T.ceil(T.log2(norm / _LARGEST_NORM)), 0, 1100), "int64")
    a = a * T.cast(T.exp2(-T.cast(halvings, "float64")), a.dtype)
    powers = [T.eye(a.shape[0], dtype=a.dtype), a @ a]
    powers += [powers[1] @ powers[1], powers[1] @ powers[1] @ powers[1]]

    def polynomial(first: int) -> Any:
        low, high = (sum(_PADE[first + 2 * k + shift] * powers[k] for k in some)
                     for shift, some in ((0, range(4)), (6, range(1, 4))))  # fmt: skip
        return powers[3] @ high + low

    odd, even = a @ polynomial(1), polynomial(0)
    found = T.linalg.solve(even - odd, even + odd)
    squares, _ = scan(lambda x: x @ x, outputs_info=found, n_steps=halvings)
    return wrap(T.concatenate([found[None], squares])[-1], given)


NLINALG = {
    "matrix_inverse": _lifted(T.linalg.inv, "matrix_inverse", "The inverse of a square matrix."),
    "pinv": _lifted(T.linalg.pinv, "pinv", "The pseudo-inverse of a matrix."),
    "det": _lifted(T.linalg.det, "det", "The determinant."),
    "eigh": _lifted(T.linalg.eigh, "eigh", "Eigenvalues and eigenvectors of a symmetric matrix."),
    "matrix_dot": _lifted(lambda *m: T.linalg.multi_dot(m), "matrix_dot", "The product of several matrices."),
    "kron": _lifted(T.kron, "kron", "The Kronecker product."),
    "norm": lambda x, ord: wrap(T.linalg.norm(as_tensor_variable(x).core, ord)),
    "eig": eig, "tensorinv": tensorinv, "tensorsolve": tensorsolve, "lstsq": lstsq,
    "svd": svd, "qr": qr, "matrix_power": matrix_power, "trace": trace,
    "diag": FUNCTIONS["diag"], "alloc_diag": FUNCTIONS["diag"], "extract_diag": FUNCTIONS["diagonal"],
}  # fmt: skip
SLINALG = {
    "solve": solve, "solve_symmetric": solve, "cholesky": cholesky, "expm": expm, "kron": NLINALG["kron"],
    "solve_lower_triangular": lambda a, b: solve(a, b, "lower_triangular"),
    "solve_upper_triangular": lambda a, b: solve(a, b, "upper_triangular"),
    "eigvalsh": _lifted(T.linalg.eigvalsh, "eigvalsh", "The eigenvalues of a symmetric matrix."),
}  # fmt: skip
