"""Tensors from other values, under NumPy's names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from ...graph import Variable
from ..core.checks import shown
from ..core.namespace import T
from ..core.tensor import TensorVariable, as_tensor, holds_variables
from ..core.typing import DTypeLike, TensorLike
from ..shapes.conditions import checked

__all__ = [
    "array", "asanyarray", "asarray", "asarray_chkfinite", "ascontiguousarray", "asfortranarray", "c_", "from_dlpack",
    "fromfunction", "fromiter", "index_exp", "mgrid", "ogrid", "r_", "real_if_close", "require", "row_stack", "s_",
]  # fmt: skip
R = TypeVar("R")


def asarray(a: TensorLike, dtype: DTypeLike = None, order: str | None = None, *, copy: Any = None) -> TensorVariable:
    """`a` as a tensor of `dtype`: a variable as it is, anything else as a constant.

    `copy`: True for another variable; False where none may be made, which raises ValueError if `a` needs a cast or is
    no variable.
    """
    _require_order("asarray", order)
    kept = isinstance(a, Variable) and (dtype is None or np.dtype(dtype) == a.dtype)
    if copy is False and not kept:
        raise ValueError("asarray: a constant or a cast is a copy, but copy=False; use copy=None")
    symbolic = dtype is None or isinstance(a, Variable) or (isinstance(a, (list, tuple)) and holds_variables(a))
    x = as_tensor(a) if symbolic else T.constant(a, dtype)
    x = x if dtype is None or x.dtype == np.dtype(dtype) else T.cast(x, dtype)
    return x.copy() if copy and kept else x


def _require_order(what: str, order: Any) -> None:
    if order not in (None, "C", "F", "A", "K"):
        kind = ValueError if isinstance(order, str) else TypeError
        raise kind(f'{what}: order must be one of "C", "F", "A" or "K", got {shown(order)}')


def array(
    object: TensorLike, dtype: DTypeLike = None, *, copy: Any = True, order: str | None = "K", ndmin: int = 0
) -> TensorVariable:
    """A tensor of `dtype` with `object`'s values; axes of length 1 go in front up to rank `ndmin`."""
    x = asarray(object, dtype, order, copy=None if copy in (True, None) else copy)
    return T.expand_dims(x, tuple(range(ndmin - x.ndim))) if x.ndim < ndmin else x


def asanyarray(a: TensorLike, dtype: DTypeLike = None, order: str | None = None, *, copy: Any = None) -> TensorVariable:
    """`asarray`: tensors have no subclasses."""
    return asarray(a, dtype, order, copy=copy)


def ascontiguousarray(a: TensorLike, dtype: DTypeLike = None) -> TensorVariable:
    """`a` as a tensor of rank 1 or more; the memory of results is contiguous in any case."""
    x = asarray(a, dtype)
    return x if x.ndim else T.expand_dims(x, 0)


def asfortranarray(a: TensorLike, dtype: DTypeLike = None) -> TensorVariable:
    """`ascontiguousarray`: the order of memory is the compiler's, and no program sees it."""
    return ascontiguousarray(a, dtype)


def asarray_chkfinite(a: TensorLike, dtype: DTypeLike = None, order: str | None = None) -> TensorVariable:
    """`a` as a tensor without NaN or infinities.  Raises ValueError for others, for run-time values when it runs."""
    x = asarray(a, dtype)
    return checked(x, T.all(T.isfinite(x)), "asarray_chkfinite: array must not contain infs or NaNs")


def require(a: TensorLike, dtype: DTypeLike = None, requirements: Any = None) -> TensorVariable:
    """`asarray`: results are contiguous, aligned and writable in any case."""
    return asarray(a, dtype)


def from_dlpack(x: Any, /, *, device: Any = None, copy: Any = None) -> TensorVariable:
    """A constant with the elements of an array of another library, read by DLPack; a tensor as it is.

    Raises ValueError for copy=False, since constants are copies, and TypeError for what has no `__dlpack__`.
    """
    if isinstance(x, TensorVariable):
        return asarray(x, copy=copy)
    if copy is False:
        raise ValueError("from_dlpack: a constant is a copy, but copy=False; pass the array to a function instead")
    if not hasattr(x, "__dlpack__"):
        raise TypeError(f"from_dlpack: expected an array with __dlpack__, got {shown(x)}")
    return T.constant(np.from_dlpack(x))


def fromfunction(function: Callable[..., R], shape: Any, *, dtype: DTypeLike = float, **kwargs: Any) -> R:
    """`function` of the coordinates of all elements of `shape`, an array of `dtype` for each axis."""
    return function(*T.indices(shape, dtype=dtype), **kwargs)


def fromiter(iter: Any, dtype: DTypeLike, count: int = -1) -> TensorVariable:
    """A constant vector of the numbers that an iterator gives, `count` of them.  Raises ValueError for fewer."""
    return T.constant(np.fromiter(iter, np.dtype(dtype), count))


def real_if_close(a: TensorLike, tol: float = 100) -> TensorVariable:
    """A real tensor as it is.  Raises TypeError for a complex one: the dtype would depend on values.

    NumPy drops imaginary parts that are all tiny; here `T.real(x)` drops them.
    """
    x = as_tensor(a)
    if x.type.kind == "c":
        raise TypeError(f"real_if_close: the dtype of {x!r} would depend on its values; use T.real(x)")
    return x


def row_stack(tup: Any, *, dtype: DTypeLike = None, casting: str = "same_kind") -> TensorVariable:
    """`vstack`, under its former name."""
    return T.vstack(tup, dtype=dtype, casting=casting)


class _Grid:
    """NumPy's `mgrid` and `ogrid`: coordinates of a grid given by slices, whose step may be a count, as `5j`."""

    def __init__(self, sparse: Any) -> None:
        self.sparse = sparse

    def __getitem__(self, key: Any) -> Any:
        several = isinstance(key, tuple)
        vectors = [_counted(s) for s in (key if several else (key,))]
        if not several:
            return vectors[0]
        vectors = [T.cast(v, T.result_type(*(w.dtype for w in vectors))) for v in vectors]
        found = T.meshgrid(*vectors, indexing="ij", sparse=self.sparse)
        return found if self.sparse else T.stack(found)


def _counted(s: Any) -> TensorVariable:
    """The numbers of a slice: an arange, or a linspace where the step is an imaginary count."""
    if not isinstance(s, slice):
        raise TypeError(f"a grid is given by slices, as in T.mgrid[0:3, 0:1:5j], got {shown(s)}")
    start, step = 0 if s.start is None else s.start, 1 if s.step is None else s.step
    if isinstance(step, complex):
        return T.linspace(start, s.stop, int(abs(step)))
    return T.arange(start, s.stop, step)


class _Joined:
    """NumPy's `r_` and `c_`: tensors, numbers and slices, concatenated."""

    def __init__(self, columns: Any) -> None:
        self.columns = columns

    def __getitem__(self, key: Any) -> TensorVariable:
        pieces = key if isinstance(key, tuple) else (key,)
        if any(isinstance(p, str) for p in pieces):
            raise TypeError(f"T.r_ and T.c_ take no text, got {shown(key)}; use T.concatenate or T.stack with an axis")
        found = [_counted(p) if isinstance(p, slice) else T.atleast_1d(p) for p in pieces]
        if self.columns:
            return T.concatenate([T.expand_dims(p, 1) if p.ndim == 1 else p for p in found], axis=-1)
        return T.concatenate(found, axis=0)


mgrid, ogrid = _Grid(sparse=False), _Grid(sparse=True)
r_, c_ = _Joined(columns=False), _Joined(columns=True)
s_, index_exp = np.s_, np.index_exp
