"""NumPy's constructors of arrays in a trace, of symbolic values, lengths and bounds; the function may write to them."""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import ops as T
from ...graph import Variable
from ...graph.provenance import line
from ...ops.core.tensor import as_tensor
from ...ops.core.traced import array_of, is_of_call
from ...ops.shapes.array_members import contiguous, laid_out
from ...ops.shapes.stored import copied
from ..iterables import Steps
from .strided import as_strided, frombuffer


def _shape(shape: Any) -> Any:
    if isinstance(shape, Variable) and shape.ndim:
        return tuple(shape)  # type: ignore[arg-type]
    return shape if isinstance(shape, (tuple, list)) else (shape,)


def _dtype(dtype: Any, default: str = "float64") -> str:
    return default if dtype is None else np.dtype(dtype).name


def _filled(value: Any) -> Any:
    def function(shape: Any, dtype: Any = None, order: str = "C", *, device: Any = None, like: Any = None) -> Any:
        return array_of(laid_out(copied(T.full(_shape(shape), value, dtype=_dtype(dtype))), order))

    return function


def _full(
    shape: Any, fill_value: Any, dtype: Any = None, order: str = "C", *, device: Any = None, like: Any = None
) -> Any:
    default = None if dtype is None else np.dtype(dtype).name
    return array_of(laid_out(copied(T.full(_shape(shape), fill_value, dtype=default)), order))


def _eye(
    N: Any, M: Any = None, k: int = 0, dtype: Any = None, order: str = "C", *, device: Any = None, like: Any = None
) -> Any:
    return laid_out(copied(T.eye(N, M, k, dtype=_dtype(dtype))), order)


def _identity(n: Any, dtype: Any = None, *, like: Any = None) -> Any:
    return _eye(n, dtype=dtype)


def _array(
    x: Any, dtype: Any = None, *, copy: Any = True, order: str | None = "K", subok: bool = False, ndmin: int = 0,
    like: Any = None,
) -> Any:  # fmt: skip
    if isinstance(x, Steps):
        x = list(x)
    v = as_tensor(x)
    if dtype is not None and v.dtype != np.dtype(dtype).name:
        v = T.cast(v, np.dtype(dtype).name)
    while v.ndim < ndmin:
        v = T.expand_dims(v, 0)
    is_kept = (copy is None or copy is np._CopyMode.IF_NEEDED or not copy) and v is x
    if order in (None, "A", "K"):
        return array_of(v if is_kept else copied(v))
    return array_of(contiguous(v, order.upper()) if is_kept and is_of_call() else laid_out(copied(v), order, v))


def _copy(a: Any, order: str = "K", subok: bool = False) -> Any:
    return _array(a, order=order)


def _asarray(
    x: Any, dtype: Any = None, order: Any = None, *, device: Any = None, copy: Any = None, like: Any = None
) -> Any:
    return _array(x, dtype, copy=copy, order=order)


def _require(a: Any, dtype: Any = None, requirements: Any = None, *, like: Any = None) -> Any:
    wanted = {str(r).upper() for r in ((requirements,) if isinstance(requirements, str) else requirements or ())}
    found = _array(a, dtype, copy=bool(wanted & {"O", "OWNDATA"}))
    if not is_of_call() or not wanted & {"C", "C_CONTIGUOUS", "CONTIGUOUS", "F", "F_CONTIGUOUS", "FORTRAN"}:
        return found
    return contiguous(found, "F" if wanted & {"F", "F_CONTIGUOUS", "FORTRAN"} else "C")


def _contiguous(order: str) -> Any:
    def function(a: Any, dtype: Any = None, *, like: Any = None) -> Any:
        found = T.atleast_1d(_array(a, dtype, copy=None))
        return contiguous(found, order) if is_of_call() else found

    return function


def _fromiter(iter: Any, dtype: Any, count: int = -1, *, like: Any = None) -> Any:
    return _array(iter if count < 0 else iter[:count], dtype)


def _arange(*bounds: Any, **options: Any) -> Any:
    if len(bounds) == 1 and options.get("stop") is None:
        bounds, options = (0, *bounds), {k: v for k, v in options.items() if k != "stop"}
    return _steps(*bounds, **options)


def _steps(
    start: Any = 0, stop: Any = None, step: Any = 1, dtype: Any = None, *, device: Any = None, like: Any = None
) -> Any:
    if stop is None:
        raise TypeError(f"arange: no stop is given{line()}")
    found = T.arange(0 if start is None else start, stop, 1 if step is None else step)
    return found if dtype is None else T.cast(found, np.dtype(dtype).name)


def _linspace(start: Any, stop: Any, num: Any = 50, **options: Any) -> Any:
    return T.linspace(start, stop, num, **options)


def _like(name: str) -> Any:
    def filled(
        x: Any, fill_value: Any, dtype: Any = None, order: str = "K", subok: bool = True, shape: Any = None, *,
        device: Any = None,
    ) -> Any:  # fmt: skip
        like = as_tensor(x)
        lengths = _shape(shape) if shape is not None else T.lengths_of(like)
        made = copied(T.full(lengths, fill_value, dtype=_dtype(dtype, str(like.dtype))))
        return array_of(laid_out(made, order, like))

    def with_number(x: Any, *args: Any, **options: Any) -> Any:
        return filled(x, int(name == "ones_like"), *args, **options)

    return filled if name == "full_like" else with_number


_steps.__qualname__ = "arange"

CONSTRUCTORS: dict[Any, Any] = {
    np.zeros: _filled(0), np.ones: _filled(1), np.empty: _filled(0), np.full: _full, np.ndarray: _filled(0),
    np.eye: _eye, np.identity: _identity, np.array: _array, np.copy: _copy,
    np.asarray: _asarray, np.asanyarray: _asarray,
    np.ascontiguousarray: _contiguous("C"), np.require: _require, np.fromiter: _fromiter,
    np.arange: _arange, np.linspace: _linspace, np.lib.stride_tricks.as_strided: as_strided,
    np.frombuffer: frombuffer,
    np.asfortranarray: _contiguous("F"),
    np.zeros_like: _like("zeros_like"), np.ones_like: _like("ones_like"), np.empty_like: _like("empty_like"),
    np.full_like: _like("full_like"),
}
