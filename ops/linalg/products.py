"""NumPy's products as users call them: mixed dtypes, ranks and axes, converted for the ops of `blas`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import reduce
from typing import Any

import numpy as np

from ...graph import Variable, dims_of
from ...graph.types import dtype_name
from ...record.spelling import counted
from ..core.checks import describe, normalize_axes, normalize_axis, unpacked
from ..core.namespace import T
from ..core.operands import in_joint_dtype
from ..core.tensor import TensorVariable, as_tensor, constant
from ..core.typing import DTypeLike, TensorLike
from ..shapes.lengths import lengths_of
from ..shapes.shape import DimShuffle, expand_dims, ravel, reshape, squeeze
from ..shapes.specify import CheckLengths, with_length
from .blas import Dot, MatMul, require_inner

__all__ = ["dot", "inner", "matmul", "matvec", "outer", "tensordot", "vdot", "vecdot", "vecmat"]


def dot(a: TensorLike, b: TensorLike, *, out_dtype: DTypeLike = None) -> TensorVariable:
    """NumPy's `dot`: the last axis of `a` summed against the second last of `b` (its only one); a scalar multiplies.

    out_dtype: as for `matmul`.
    """
    a, b = _operands("dot", a, b, out_dtype)
    if a.ndim == 0 or b.ndim == 0:
        return T.mul(a, b)
    if a.ndim <= 2 and b.ndim <= 2:
        return Dot()(a, b)
    return tensordot(a, b, axes=((-1,), (max(b.ndim - 2, 0),)))


def matmul(
    a: TensorLike, b: TensorLike, *, out_dtype: DTypeLike = None, dtype: DTypeLike = None
) -> TensorVariable:
    """NumPy's `matmul`: matrices in the last two axes, vectors as rows or columns; leading axes broadcast.

    Args:
        a, b: Of rank 1 or more.
        out_dtype: The dtype in which numbers are multiplied and added, and of the result; None: their joint dtype.
            Integers of 8 bits with out_dtype="int32" are multiplied as they are, by instructions for bytes.
        dtype: NumPy's name for `out_dtype`.  As in NumPy, floats are not cast to integers.

    Raises:
        TypeError: an operand is a scalar, or cannot be cast to `dtype` within its kind.
        ValueError: lengths are known not to agree; or products of 8 bits are so many that int32 could overflow, which
            a run finds where the length is not known before.
    """
    if dtype is not None:
        out_dtype = _within_kind("matmul", a, b, out_dtype, dtype)
    a, b = _operands("matmul", a, b, out_dtype)
    for operand in (a, b):
        if operand.ndim == 0:
            raise TypeError(f"matmul takes no scalars, got {describe(operand)}; multiply with *")
    if a.ndim <= 2 and b.ndim <= 2:
        return Dot()(a, b)
    if a.ndim == 1:
        return squeeze(MatMul()(expand_dims(a, 0), b), -2)
    if b.ndim == 1:
        return squeeze(MatMul()(a, expand_dims(b, 1)), -1)
    return MatMul()(a, b)


def _operands(what: str, a: TensorLike, b: TensorLike, out_dtype: DTypeLike) -> tuple[TensorVariable, TensorVariable]:
    """Return both in their joint dtype, or in the requested one."""
    if out_dtype is None:
        a, b = in_joint_dtype((a, b))
        return a, b
    a, b = as_tensor(a), as_tensor(b)
    found = dtype_name(out_dtype)
    if a.ndim and b.ndim:
        rows = max(b.ndim - 2, 0)
        if a.type.shape[-1] is None and b.type.shape[rows] is not None:
            b = with_room(what, b, a, (rows,), found)
        else:
            a = with_room(what, a, b, (-1,), found)
    return T.cast(a, found), T.cast(b, found)


def _within_kind(what: str, a: TensorLike, b: TensorLike, out_dtype: DTypeLike, dtype: DTypeLike) -> str:
    """Return `dtype` if NumPy's casting "same_kind" converts both operands to it."""
    found = dtype_name(dtype)
    if out_dtype is not None and dtype_name(out_dtype) != found:
        raise TypeError(f"{what}: out_dtype is {dtype_name(out_dtype)} and dtype is {found}; give one of them")
    for operand in map(as_tensor, (a, b)):
        if not np.can_cast(operand.dtype, found, "same_kind"):
            raise TypeError(f"{what}: dtype is {found}, to which {describe(operand)} is not cast; use out_dtype")
    return found


def with_room(what: str, a: TensorVariable, b: Variable, axes: Sequence[int], dtype: str) -> TensorVariable:
    """Return `a`, checked: int32 holds its products with `b` summed along `axes`, if both are 8-bit integers.

    Unknown lengths are checked in each run.

    Raises:
        ValueError: they can.
    """
    if dtype != "int32" or not {a.dtype, b.dtype} <= {"int8", "uint8"}:
        return a
    largest = [128 if v.dtype == "int8" else 255 for v in (a, b)]
    most = (2**31 - 1) // (largest[0] * largest[1])
    lengths = [a.type.shape[axis] for axis in axes]
    count = math.prod(n for n in lengths if n is not None)
    if None in lengths and count:
        subject = f'{what}: out_dtype="int32" holds sums of {most} products of {a.dtype} and {b.dtype}; use "int64"'
        found = reduce(T.mul, [T.shape(a)[axis] for axis in axes])
        pairs = T.maximum(found, constant(most)), constant(most)
        return CheckLengths(((subject, axes[-1] % a.ndim),), declared=False)(a, *pairs)  # type: ignore[return-value]
    if count > most:
        raise ValueError(
            f"{what}: the sum of {count} products of {a.dtype} and {b.dtype} can leave int32, which holds {most}; "
            'use out_dtype="int64"'
        )
    return a


def outer(a: TensorLike, b: TensorLike) -> TensorVariable:
    """The matrix of all products of an element of `a` and one of `b`, both taken as vectors."""
    a, b = (x if x.ndim == 1 else ravel(x) for x in in_joint_dtype((a, b)))
    return Dot()(expand_dims(a, 1), expand_dims(b, 0))


def inner(a: TensorLike, b: TensorLike) -> TensorVariable:
    """NumPy's `inner`: the last axes summed against one another; a scalar multiplies."""
    a, b = in_joint_dtype((a, b))
    if a.ndim == 0 or b.ndim == 0:
        return T.mul(a, b)
    return tensordot(a, b, axes=((-1,), (-1,)))


def vecdot(a: TensorLike, b: TensorLike, *, axis: int = -1) -> TensorVariable:
    """The sums along `axis` of the products of elements of `a`, conjugated, and `b`, in their joint dtype.

    The other axes broadcast; along `axis` both have one length, or ValueError is raised: where lengths are known only
    at run time, then.
    """
    a, b = (T.moveaxis(x, normalize_axis(axis, x.ndim, "vecdot"), -1) for x in in_joint_dtype((a, b)))
    require_inner("vecdot", a, b, a.ndim - 1, b.ndim - 1)
    a = T.conj(a) if a.type.kind == "c" else a
    if a.ndim == b.ndim == 1:
        return Dot()(a, b)
    if dims_of(a)[-1] is dims_of(b)[-1] and a.dtype != "bool":
        return T.sum(T.mul(a, b), -1, dtype=a.dtype)
    a, b = (expand_dims(x, 0) if x.ndim == 1 else x for x in (a, b))
    return squeeze(MatMul()(expand_dims(a, -2), expand_dims(b, -1)), (-2, -1))


def matvec(a: TensorLike, b: TensorLike) -> TensorVariable:
    """The products of the matrices in the last two axes of `a` and the vectors in the last axis of `b`."""
    a, b = in_joint_dtype((a, b))
    _require_ranks("matvec", a, 2, b, 1)
    return matmul(a, b) if b.ndim == 1 else squeeze(MatMul()(a, expand_dims(b, -1)), -1)


def vecmat(a: TensorLike, b: TensorLike) -> TensorVariable:
    """The products of the vectors in the last axis of `a`, conjugated, and the matrices in the last two axes of `b`."""
    a, b = in_joint_dtype((a, b))
    _require_ranks("vecmat", a, 1, b, 2)
    a = T.conj(a) if a.type.kind == "c" else a
    return matmul(a, b) if a.ndim == 1 else squeeze(MatMul()(expand_dims(a, -2), b), -2)


def _require_ranks(what: str, a: Variable, least_a: int, b: Variable, least_b: int) -> None:
    for x, least in ((a, least_a), (b, least_b)):
        if x.ndim < least:
            raise TypeError(f"{what} takes rank {least} or more here, got {describe(x)}")


def vdot(a: TensorLike, b: TensorLike) -> TensorVariable:
    """The sum of the products of elements of `a`, conjugated, and `b`."""
    a, b = in_joint_dtype((a, b))
    return Dot()(ravel(T.conj(a) if a.type.kind == "c" else a), ravel(b))


def tensordot(a: TensorLike, b: TensorLike, axes: int | Sequence[Any] = 2) -> TensorVariable:
    """NumPy's `tensordot`: axes `axes[0]` of `a` summed against `axes[1]` of `b`; the last n against the first n for n.

    Raises ValueError for axes of different lengths, at run time where these are known only then.
    """
    a, b = in_joint_dtype((a, b))
    axes = unpacked(axes)
    if isinstance(axes, int):
        if not 0 <= axes <= min(a.ndim, b.ndim):
            raise ValueError(
                f"tensordot: {counted(axes, 'axis')} of {describe(a)} and {describe(b)} cannot be summed over"
            )
        over_a, over_b = tuple(range(a.ndim - axes, a.ndim)), tuple(range(axes))
    else:
        over_a, over_b = (normalize_axes(x, v.ndim, "tensordot") for x, v in zip(axes, (a, b), strict=True))
    if len(over_a) != len(over_b):
        raise ValueError(f"tensordot: axes is {axes!r}, expected as many axes of {describe(a)} as of {describe(b)}")
    for axis_a, axis_b in zip(over_a, over_b, strict=True):
        require_inner("tensordot", a, b, axis_a, axis_b)
    kept_a, kept_b = ([k for k in range(v.ndim) if k not in over] for v, over in ((a, over_a), (b, over_b)))
    rows = _as_matrix(DimShuffle((*kept_a, *over_a))(a), len(kept_a))
    lengths_a, lengths_b = lengths_of(a), lengths_of(b)
    b_in_order = DimShuffle((*over_b, *kept_b))(b)
    if len(over_a) > 1:  # lengths that differ must not hide in a product that agrees
        for place, axis in enumerate(over_a):
            b_in_order = with_length(b_in_order, place, lengths_a[axis], "tensordot: an axis that is summed over")
    columns = _as_matrix(b_in_order, len(over_b))
    return reshape(Dot()(rows, columns), [*(lengths_a[k] for k in kept_a), *(lengths_b[k] for k in kept_b)])


def _as_matrix(x: Variable, rows: int) -> Variable:
    """`x` with its first `rows` axes made one, and the others too."""
    if x.ndim == 2 and rows == 1:
        return x
    sizes: list[Any] = [T.constant(1, "int64"), T.constant(1, "int64")]
    for axis, length in enumerate(lengths_of(x)):
        side = int(axis >= rows)
        sizes[side] = length if getattr(sizes[side], "data", None) == 1 else T.mul(sizes[side], length)
    return reshape(x, sizes)
