"""Diagonals and triangles of matrices, which lie in the last two axes.

    Diagonal()(x)            the main diagonal: a view
    DiagonalMatrix()(v)      the square matrices with v on the main diagonal and zeros elsewhere
    Triangle(lower)(x, k)    x with zeros above (lower) or below diagonal k

Other diagonals and axes are slices and transposes around these.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np

from ...graph import Apply, Constant, Dim, Kind, TensorType, Variable, dims, dims_of
from ...record import record
from ..control.batching import on_last_axes
from ..core.checks import describe, normalize_axes, require_count, require_index_scalar, unpacked
from ..core.namespace import T
from ..core.operands import in_joint_dtype
from ..core.tensor import TensorOp, TensorVariable, as_tensor
from ..core.typing import DTypeLike, LengthLike, TensorLike
from ..elementwise import costs
from ..writing import code
from .lengths import ShapeI, as_length, lengths_of
from .shape import DimShuffle, expand_dims, reshape

__all__ = ["diag", "diagflat", "diagonal", "kron", "trace", "tri", "tril", "triu"]

# --- ops


@record(repr=False)
class Diagonal(TensorOp):
    """The main diagonals of the matrices in the last two axes; a view."""

    name = "diagonal"
    picture: ClassVar[Kind] = Kind.SHAPE
    operations: ClassVar[Callable[..., Any]] = costs.moving
    batching: ClassVar[Callable[..., Any]] = on_last_axes

    def infer(self, inputs: tuple[Variable, ...]) -> tuple[TensorType, ...]:
        require_count(self.name, inputs, 1)
        (x,) = inputs
        if x.ndim < 2:
            raise ValueError(f"diagonal: {describe(x)} has no matrix in its last two axes")
        n, m = x.type.shape[-2:]
        known = min(n, m) if n is not None and m is not None else None
        return (x.type.with_shape((*x.type.shape[:-2], known)),)

    def evaluate(self, *values: np.ndarray) -> tuple[np.ndarray, ...]:
        return (np.diagonal(values[0], axis1=-2, axis2=-1),)

    def dims(self, node: Apply, inputs: Sequence[tuple[Dim, ...]]) -> tuple[tuple[Dim, ...], ...]:
        (x,) = inputs
        return ((*x[:-2], dims.minimum(x[-2], x[-1])),)

    def vjp(self, node: Apply, cotangents: Sequence[Variable | None]) -> Sequence[Variable | None]:
        (g,), (x,) = cotangents, node.inputs
        if g is None:
            return [None]
        if dims_of(x)[-1] == dims_of(x)[-2]:
            return [DiagonalMatrix()(g)]
        along = T.arange(ShapeI(g.ndim - 1)(g))
        return [T.set_subtensor(T.zeros_like(x)[..., along, along], g)]

    def views(self) -> dict[int, int]:
        return {0: 0}

    def code(self, output: Variable, speaker: code.Speaker, /) -> code.Code:
        """`diagonal(x)`, for stacks with their last two axes."""
        assert output.owner is not None
        (x,) = output.owner.inputs
        axes = {"axis1": -2, "axis2": -1} if x.ndim > 2 else {}
        return speaker.call("diagonal", speaker.text(x), **axes)


@record(repr=False)
class DiagonalMatrix(TensorOp):
    """The square matrices whose main diagonals lie in the last axis; zeros elsewhere."""

    name = "diagonal_matrix"
    picture: ClassVar[Kind] = Kind.SHAPE
    operations: ClassVar[Callable[..., Any]] = costs.moving
    batching: ClassVar[Callable[..., Any]] = on_last_axes

    def infer(self, inputs: tuple[Variable, ...]) -> tuple[TensorType, ...]:
        require_count(self.name, inputs, 1)
        (v,) = inputs
        if v.ndim < 1:
            raise ValueError(f"diagonal_matrix takes vectors in its last axis, got {describe(v)}")
        return (v.type.with_shape((*v.type.shape, v.type.shape[-1])),)

    def evaluate(self, *values: np.ndarray) -> tuple[np.ndarray, ...]:
        (v,) = values
        result = np.zeros((*v.shape, v.shape[-1]), v.dtype)
        along = np.arange(v.shape[-1])
        result[..., along, along] = v
        return (result,)

    def dims(self, node: Apply, inputs: Sequence[tuple[Dim, ...]]) -> tuple[tuple[Dim, ...], ...]:
        (v,) = inputs
        return ((*v, v[-1]),)

    def vjp(self, node: Apply, cotangents: Sequence[Variable | None]) -> Sequence[Variable | None]:
        (g,) = cotangents
        return [None if g is None else Diagonal()(g)]

    def code(self, output: Variable, speaker: code.Speaker, /) -> code.Code:
        """`diag(v)` of a vector."""
        assert output.owner is not None
        (v,) = output.owner.inputs
        return speaker.call("diag", speaker.text(v)) if v.ndim == 1 else code.of_class(self, output, speaker)


@record(repr=False)
class Triangle(TensorOp):
    """`triangle(x, k)`: the elements on and below diagonal `k` (on and above it if not `lower`); zeros elsewhere.

    The matrices lie in the last two axes; `k` is an int64 scalar, 0 for the main diagonal, positive above it.
    """

    lower: bool
    name = "triangle"
    picture: ClassVar[Kind] = Kind.SHAPE
    operations: ClassVar[Callable[..., Any]] = costs.moving
    batching: ClassVar[Callable[..., Any]] = on_last_axes

    def infer(self, inputs: tuple[Variable, ...]) -> tuple[TensorType, ...]:
        require_count(self.name, inputs, 2)
        x, k = inputs
        if x.ndim < 2:
            raise ValueError(f"triangle: {describe(x)} has no matrix in its last two axes")
        require_index_scalar(self.name, k, "the diagonal")
        return (x.type,)

    def evaluate(self, *values: np.ndarray) -> tuple[np.ndarray, ...]:
        x, k = values
        return ((np.tril if self.lower else np.triu)(x, int(k)),)

    def dims(self, node: Apply, inputs: Sequence[tuple[Dim, ...]]) -> tuple[tuple[Dim, ...], ...]:
        return (inputs[0],)

    def vjp(self, node: Apply, cotangents: Sequence[Variable | None]) -> Sequence[Variable | None]:
        (g,) = cotangents
        return [None if g is None else self(g, node.inputs[1]), None]

    def code(self, output: Variable, speaker: code.Speaker, /) -> code.Code:
        """`tril(x, k)`, `triu(x, k)`."""
        assert output.owner is not None
        x, k = output.owner.inputs
        main = isinstance(k, Constant) and not k.data.any()
        return speaker.call("tril" if self.lower else "triu", *speaker.texts([x] if main else [x, k]))


# --- NumPy's functions


def diagonal(x: TensorLike, offset: int = 0, axis1: int = 0, axis2: int = 1) -> TensorVariable:
    """NumPy's `diagonal`: the elements x[i, i + offset] of the matrices in axes `axis1` and `axis2`, as the last axis.

    `offset` is an integer known when the graph is built.  Raises ValueError for a vector or for equal axes.
    """
    x, offset = as_tensor(x), operator.index(unpacked(offset))
    if x.ndim < 2:
        raise ValueError(f"diagonal: expected a tensor of two axes or more, got {describe(x)}")
    rows, columns = normalize_axes((axis1, axis2), x.ndim, "diagonal")
    others = tuple(k for k in range(x.ndim) if k not in (rows, columns))
    order = (*others, rows, columns)
    x = x if order == tuple(range(x.ndim)) else DimShuffle(order)(x)
    if offset:
        x = x[..., offset:] if offset > 0 else x[..., -offset:, :]
    return Diagonal()(x)


def diag(x: TensorLike, k: int = 0) -> TensorVariable:
    """NumPy's `diag`: diagonal `k` of a matrix; for a vector the square matrix that has it there.

    Raises ValueError for another rank.
    """
    x, k = as_tensor(x), operator.index(unpacked(k))
    if x.ndim == 2:
        return diagonal(x, k)
    if x.ndim != 1:
        raise ValueError(f"diag takes a vector or a matrix, got {describe(x)}")
    square = DiagonalMatrix()(x)
    return T.pad(square, ((max(-k, 0), max(k, 0)), (max(k, 0), max(-k, 0)))) if k else square


def trace(x: TensorLike, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: DTypeLike = None) -> TensorVariable:
    """The sum along a diagonal; see `diagonal`.  The dtype is that of `sum` unless it is given."""
    return T.sum(diagonal(x, offset, axis1, axis2), axis=-1, dtype=dtype)


def tril(x: TensorLike, k: LengthLike = 0) -> TensorVariable:
    """The lower triangles of the matrices in the last two axes: zeros above diagonal `k`; a vector gives rows of it."""
    return _triangle(x, k, lower=True)


def triu(x: TensorLike, k: LengthLike = 0) -> TensorVariable:
    """The upper triangles of the matrices in the last two axes: zeros below diagonal `k`; a vector gives rows of it."""
    return _triangle(x, k, lower=False)


def _triangle(x: Any, k: Any, lower: bool) -> TensorVariable:
    x = as_tensor(x)
    if x.ndim == 1:  # NumPy broadcasts it to a square
        x = T.broadcast_to(x, (*lengths_of(x), *lengths_of(x)))
    return Triangle(lower)(x, as_length(k, "tril" if lower else "triu"))


def tri(n: LengthLike, m: LengthLike | None = None, k: LengthLike = 0, dtype: DTypeLike = "float64") -> TensorVariable:
    """An n by m matrix (n by n without m) with ones on and below diagonal `k` and zeros above it."""
    given = [as_length(v, "tri") for v in (n, n if m is None else m)]
    lengths = [max(int(v.data), 0) if isinstance(v, Constant) else T.maximum(v, 0) for v in given]  # as NumPy
    return tril(T.ones(lengths, dtype), k)


def diagflat(v: TensorLike, k: int = 0) -> TensorVariable:
    """The matrix with the flattened `v` on its diagonal `k` and zeros elsewhere."""
    return diag(T.ravel(as_tensor(v)), k)


def kron(a: TensorLike, b: TensorLike) -> TensorVariable:
    """NumPy's `kron`: blocks of `b`, each times one element of `a`; the lower rank gets axes of length 1 in front."""
    a, b = in_joint_dtype((a, b))
    rank = max(a.ndim, b.ndim)
    if not rank:
        return T.mul(a, b)
    a, b = (expand_dims(x, tuple(range(rank - x.ndim))) if x.ndim < rank else x for x in (a, b))
    outer = DimShuffle(tuple(o for k in range(rank) for o in (k, "x")))(a)
    inner = DimShuffle(tuple(o for k in range(rank) for o in ("x", k)))(b)
    sizes = [T.mul(n, m) for n, m in zip(lengths_of(a), lengths_of(b), strict=True)]
    return reshape(T.mul(outer, inner), sizes)
