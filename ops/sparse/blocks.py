"""Sparse matrices of others: blocks, Kronecker products, triangles.

Each is written as coordinates, and merged into the format that is asked for.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..core.checks import shown
from ..core.namespace import T
from ..shapes.specify import CheckLengths
from .entries import kept, merged
from .making import eye, matrix
from .sparse_matrix import SparseMatrix, issparse, sparse

__all__ = [
    "block_array", "block_diag", "bmat", "find", "hstack", "identity", "kron", "kronsum", "tril", "triu", "vstack",
]  # fmt: skip


def block_array(blocks: Sequence[Sequence[Any]], format: str = "csr") -> SparseMatrix:
    """Return the matrix of a grid of blocks, sparse or dense matrices, in a format; None stands for zeros.

    A row or column of None alone has the length 0.  Raises ValueError for no block and for rows of different lengths; a
    call raises ValueError for blocks that do not fit beside one another.
    """
    grid = [list(row) for row in blocks]
    if not grid or not grid[0] or any(len(row) != len(grid[0]) for row in grid):
        raise ValueError(f"block_array: expected rows of as many blocks each, one at least, got {shown(blocks)}")
    found = [[None if b is None else _block(b, format) for b in row] for row in grid]
    tops = _begins([_joint_length(row, 0) for row in found])
    lefts = _begins([_joint_length(column, 1) for column in zip(*found, strict=True)])
    placed = [
        (b, tops[i], lefts[j]) for i, row in enumerate(found) for j, b in enumerate(row) if b is not None
    ]  # fmt: skip
    return _assembled(placed, (tops[-1], lefts[-1]), format)


bmat = block_array


def vstack(blocks: Sequence[Any], format: str = "csr") -> SparseMatrix:
    """Return matrices one below the other, in a format.

    Raises ValueError for no block; a call raises ValueError for different numbers of columns.
    """
    return block_array([[b] for b in _stack("vstack", blocks)], format)


def hstack(blocks: Sequence[Any], format: str = "csr") -> SparseMatrix:
    """Return matrices side by side, in a format.  Errors are those of `vstack`."""
    return block_array([_stack("hstack", blocks)], format)


def _stack(name: str, blocks: Sequence[Any]) -> list[SparseMatrix]:
    """Return the matrices of a stack.  Raises ValueError if there are none."""
    found = [sparse(b, name) for b in blocks]
    if not found:
        raise ValueError(f"{name}: there are no blocks; expected one matrix at least")
    return found


def block_diag(mats: Sequence[Any], format: str = "csr") -> SparseMatrix:
    """Return the matrix with matrices, sparse or dense, along its diagonal.  Raises ValueError for no matrix."""
    found = [_block(b, format) for b in mats]
    if not found:
        raise ValueError("block_diag: there are no matrices; expected one at least")
    tops, lefts = (_begins([b.lengths[axis] for b in found]) for axis in (0, 1))
    return _assembled(list(zip(found, tops, lefts, strict=False)), (tops[-1], lefts[-1]), format)


def kron(A: Any, B: Any, format: str = "csr") -> SparseMatrix:
    """Return the Kronecker product of two matrices, sparse or dense: blocks `A[i, j] * B`."""
    a, b = _block(A, "csr"), _block(B, "csr")
    outer, inner = ([T.cast(p, "int64") for p in x.places] for x in (a, b))
    places = [
        T.ravel(T.expand_dims(p * n, 1) + T.expand_dims(q, 0)) for p, q, n in zip(outer, inner, b.lengths, strict=True)
    ]
    data = T.ravel(T.expand_dims(a.data, 1) * T.expand_dims(b.data, 0))
    lengths = [m * n for m, n in zip(a.lengths, b.lengths, strict=True)]
    return _of_coordinates(data, places, lengths, format)


def kronsum(A: Any, B: Any, format: str = "csr") -> SparseMatrix:
    """Return the Kronecker sum of two square matrices: `kron(eye(n), A) + kron(B, eye(m))`.

    A call raises ValueError for matrices that are not square.
    """
    a, b = (_square(_block(x, "csr")) for x in (A, B))
    units = [eye(x.lengths[0], dtype=x.dtype) for x in (a, b)]
    found: SparseMatrix = kron(units[1], a) + kron(b, units[0])
    return found.asformat(format)


def tril(A: Any, k: int = 0, format: str | None = None) -> SparseMatrix:
    """Return the elements of a matrix on and below the diagonal `k`."""
    return _triangle(A, format, lambda rows, columns: T.le(columns - rows, k))


def triu(A: Any, k: int = 0, format: str | None = None) -> SparseMatrix:
    """Return the elements of a matrix on and above the diagonal `k`."""
    return _triangle(A, format, lambda rows, columns: T.ge(columns - rows, k))


def find(A: Any) -> tuple[Any, Any, Any]:
    """Return the rows, the columns and the values of the elements that are not zero, in the order of their rows."""
    x = merged(_block(A, "csr"), "csr").eliminate_zeros()
    return (*x.places, x.data)


def identity(n: Any, dtype: Any = "float64", format: str = "csr") -> SparseMatrix:
    """Return the identity matrix of `n` rows."""
    return eye(n, dtype=dtype, format=format)


def _triangle(given: Any, format: str | None, condition: Any) -> SparseMatrix:
    x = _block(given, format or "csr")
    found = kept(x, condition(*x.places))
    return found if format is None else found.asformat(format)


def _block(value: Any, format: str) -> SparseMatrix:
    """Return a sparse matrix as it is, a dense one in a format."""
    return sparse(value, "block") if issparse(value) else matrix(format, value)


def _square(x: SparseMatrix) -> SparseMatrix:
    rows, columns = x.lengths
    subject = (("the square matrix of kronsum", 1),)
    return SparseMatrix(x.format, (*x.parts[:3], CheckLengths(subject, declared=False)(rows, columns, rows), columns))


def _joint_length(blocks: Sequence[SparseMatrix | None], axis: int) -> Any:
    """Return the length that blocks share; a call raises ValueError if they differ."""
    lengths = [b.lengths[axis] for b in blocks if b is not None]
    if not lengths:
        return T.constant(0, "int64")
    others = [n for n in lengths[1:] if n is not lengths[0]]
    if not others:
        return lengths[0]
    subjects = (("a block beside another one", axis),) * len(others)
    return CheckLengths(subjects, declared=False)(lengths[0], *(n for other in others for n in (other, lengths[0])))


def _begins(lengths: Sequence[Any]) -> list[Any]:
    """Return where each part begins, and where the last one ends."""
    found: list[Any] = [T.constant(0, "int64")]
    for n in lengths:
        found.append(found[-1] + n)
    return found


def _assembled(placed: Sequence[tuple[SparseMatrix, Any, Any]], lengths: Any, format: str) -> SparseMatrix:
    """Return the matrix of blocks, each with the row and the column where it begins."""
    if not placed:
        return _of_coordinates(T.zeros(0), (T.zeros(0, "int64"),) * 2, lengths, format)
    places = [
        T.concatenate([T.cast(b.places[axis], "int64") + begin[axis] for b, *begin in placed]) for axis in (0, 1)
    ]
    return _of_coordinates(T.concatenate([b.data for b, *_ in placed]), places, lengths, format)


def _of_coordinates(data: Any, places: Sequence[Any], lengths: Any, format: str) -> SparseMatrix:
    found = SparseMatrix("coo", (data, *(T.cast(p, "int32") for p in places), *lengths))
    return found if format == "coo" else merged(found, format)
