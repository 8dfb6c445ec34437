"""The base of the ops on matrices: matrices in the last two axes, one floating-point dtype, batches in front."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from ...graph import Kind, TensorType, Variable
from ..control.batching import on_last_axes
from ..core.checks import describe, require_count
from ..core.namespace import T, classes
from ..core.tensor import TensorOp, TensorVariable, as_tensor
from ..core.typing import TensorLike
from ..elementwise import costs
from ..elementwise.records import cast
from ..shapes.shape import DimShuffle
from .blas import BLAS_DTYPES

_REAL = {"complex64": "float32", "complex128": "float64"}


def real_dtype(dtype: str) -> str:
    """The dtype of absolute values."""
    return _REAL.get(dtype, dtype)


class MatrixOp(TensorOp):
    """The base of the ops on matrices.  They take float32, float64, complex64 and complex128."""

    picture: ClassVar[Kind] = Kind.OTHER
    operations: ClassVar[Callable[..., Any]] = costs.cubic
    batching: ClassVar[Callable[..., Any]] = on_last_axes

    def matrices(self, inputs: tuple[Variable, ...], count: int = 1) -> Variable:
        """The first of `count` inputs, all of one dtype and of rank 2 or more.

        Raises TypeError for another number, dtype or rank.
        """
        require_count(self.name, inputs, count)
        for i in inputs:
            if i.ndim < 2:
                raise TypeError(f"{self.name} takes matrices in the last two axes, got {describe(i)}")
            if i.dtype not in BLAS_DTYPES or i.dtype != inputs[0].dtype:
                raise TypeError(f"{self.name} takes one dtype of {', '.join(BLAS_DTYPES)}, got {describe(i)}")
        return inputs[0]

    def square(self, inputs: tuple[Variable, ...], count: int = 1) -> TensorType:
        """The type of the first input, whose matrices are square: a length known for one axis is known for both.

        Raises ValueError for lengths known not to be equal; else see `matrices`.
        """
        a = self.matrices(inputs, count)
        n, m = a.type.shape[-2:]
        if n is not None and m is not None and n != m:
            raise ValueError(f"{self.name} takes square matrices, got {describe(a)}")
        side = m if n is None else n
        return a.type.with_shape((*a.type.shape[:-2], side, side))


def of_numbers(a: np.ndarray) -> np.ndarray:
    """Return `a`; LAPACK does not end on some matrices with infinite elements.

    Raises LinAlgError for an element that is infinite or NaN.
    """
    if not np.isfinite(a).all():
        raise np.linalg.LinAlgError("SVD did not converge: an element is infinite or NaN")
    return a


def as_matrices(x: TensorLike, what: str) -> TensorVariable:
    """`x` as a variable that the ops on matrices take: bools and integers become float64, as in NumPy.

    Raises TypeError for float16, which LAPACK lacks, and for rank 0 or 1.
    """
    x = as_tensor(x)
    if x.dtype == "float16":
        raise TypeError(f"{what} has no float16: got {describe(x)}; use T.cast(x, 'float32')")
    if x.ndim < 2:
        raise TypeError(f"{what} takes matrices in the last two axes, got {describe(x)}")
    return x if x.type.kind in "fc" else cast(x, "float64")


def transposed(x: Variable) -> TensorVariable:
    """`x` with its last two axes interchanged."""
    n = x.ndim
    return DimShuffle((*range(n - 2), n - 1, n - 2))(x)


def adjoint(x: Variable) -> TensorVariable:
    """The conjugate of `x` with its last two axes interchanged."""
    return transposed(T.conj(x) if x.type.kind == "c" else x)


def lower_half(x: Variable) -> TensorVariable:
    """The lower triangle with its diagonal halved, of which complex dtypes keep the real part.

    `lower_half(S + S^H)` is the derivative by the lower triangle of a Hermitian matrix where it is S by the whole.
    """
    strict = T.tril(x, -1)
    middle = T.diagonal(x, 0, -2, -1)
    middle = T.cast(T.real(middle), x.dtype) if x.type.kind == "c" else middle
    return T.add(strict, classes.DiagonalMatrix()(T.mul(middle, T.constant(0.5, x.dtype))))


def on_columns(v: Variable) -> TensorVariable:
    """A batch of vectors as rows that scale the columns of matrices: v[..., None, :]."""
    return DimShuffle((*range(v.ndim - 1), "x", v.ndim - 1))(v)


def product(*factors: Variable) -> TensorVariable:
    """The product of matrices, from the left."""
    result: Any = factors[0]
    for factor in factors[1:]:
        result = T.matmul(result, factor)
    return result  # type: ignore[no-any-return]


def with_joint_batch(*operands: tuple[Any, int]) -> list[TensorVariable]:
    """Return values whose leading axes are broadcast together; each comes with the number of axes that stay."""
    batches = (T.zeros(T.lengths_of(x)[: x.ndim - own], "bool") for x, own in operands)  # no element: there may be none
    batch = T.lengths_of(T.broadcast_arrays(*batches)[0])
    return [T.broadcast_to(x, (*batch, *T.lengths_of(x)[x.ndim - own :])) for x, own in operands]
