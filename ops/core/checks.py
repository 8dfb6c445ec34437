"""Checks that many ops share, and the names of operands in their messages."""

from __future__ import annotations

import operator
import sys
from collections.abc import Iterable
from typing import Any, TypeVar

import numpy as np

from ...graph import Constant, Variable
from ...record.spelling import counted
from .tracing import current

Named = TypeVar("Named", bound=Variable)


def describe(variable: Variable) -> str:
    """Return the operand as errors name it: the user's name, or the op it comes from, and its type."""
    if variable.name:
        return f"{variable.name} ({variable.type})"
    if variable.owner is not None:
        return f"the result of {variable.owner.op.produced_by(variable)} ({variable.type})"
    data = getattr(variable, "data", None)
    if data is not None and data.ndim == 0:
        return f"{data} ({variable.type})"
    return f"a {'constant' if data is not None else 'variable'} of type {variable.type}"


def shown(value: Any) -> str:
    """Return a Python value as errors show it: on one line, shortened if it is long."""
    text = " ".join(repr(value).split())
    return text if len(text) <= 60 else text[:57] + "..."


def by_position(value: Any) -> str:
    """Return the fix for a tensor with named axes where a variable must stand; empty for any other value."""
    return "; use .variable, its value by position" if hasattr(type(value), "rename") and hasattr(value, "axes") else ""


def is_masked(value: Any) -> bool:
    """Whether the value is a masked array.  `numpy.ma` is not imported to find out: it takes 17 ms, and where
    nobody has imported it there is no such array.
    """
    module = sys.modules.get("numpy.ma")
    return isinstance(value, getattr(module, "MaskedArray", ()))


def is_dask(value: Any) -> bool:
    """Whether the value is a Dask array.  Dask is never imported to find out."""
    return isinstance(value, getattr(sys.modules.get("dask.array"), "Array", ()))


def is_sparse(kind: type) -> bool:
    """Whether a class is or extends one of SciPy's sparse matrices.  SciPy is not imported to find out."""
    return hasattr(kind, "tocsr") and any(base.__module__.startswith("scipy.sparse.") for base in kind.__mro__)


def large_integers_as(dtype: np.dtype, array: np.ndarray) -> np.ndarray:
    """Integers beyond 64 bits, of which NumPy makes objects, as float64 for a floating-point or complex `dtype`.

    Any other array as it is, and one of integers that float64 cannot hold either.
    """
    if array.dtype != object or dtype.kind not in "fc" or not all(isinstance(v, int) for v in array.flat):
        return array
    try:
        return array.astype(np.float64)
    except OverflowError:
        return array


def unpacked(value: Any) -> Any:
    """Return an array or a constant as the Python number or list that it holds; anything else as it is."""
    if isinstance(value, Constant):
        value = value.data
    return value.tolist() if isinstance(value, (np.ndarray, np.generic)) else value


def normalize_axis(axis: Any, ndim: int, what: str) -> int:
    """Return `axis` counted from the front.  Raises TypeError for no integer, AxisError if there is no such axis."""
    try:
        number = operator.index(unpacked(axis))
    except TypeError:
        trace = current()
        fix = "; ag.jit(f, static_argnames=...) makes it static" if trace is not None and trace.of_call else ""
        known = "an axis must be an integer known when the graph is built"
        raise TypeError(f"{what}: {known}, got {axis!r}{fix}") from None
    if not -ndim <= number < ndim:
        accepted = f"expected an axis from {-ndim} to {ndim - 1}" if ndim else "a scalar has no axes"
        raise np.exceptions.AxisError(f"{what}: axis {number} is out of bounds for rank {ndim}; {accepted}")
    return number % ndim


def normalize_axes(axes: Any, ndim: int, what: str) -> tuple[int, ...]:
    """Return one axis or several, counted from the front, in order.  Raises ValueError for an axis given twice."""
    single = isinstance(axes, Variable) or not isinstance(axes, Iterable) or getattr(axes, "ndim", 1) == 0
    several = (axes,) if single else tuple(axes)
    found = tuple(normalize_axis(axis, ndim, what) for axis in several)
    if len(set(found)) != len(found):
        raise ValueError(f"{what}: axis {next(a for a in found if found.count(a) > 1)} is given twice in {several}")
    return found


def require_count(name: str, inputs: tuple[Variable, ...], count: int) -> None:
    """Raises TypeError unless there are `count` inputs."""
    if len(inputs) != count:
        raise TypeError(f"{name} takes {counted(count, 'input')}, got {len(inputs)}")


def require_rank(name: str, variable: Variable, least: int) -> None:
    """Raises ValueError unless `variable` has at least as many axes."""
    if variable.ndim < least:
        raise ValueError(f"{name} takes arrays of {counted(least, 'axis')} or more, got {describe(variable)}")


def require_index_scalar(name: str, variable: Variable, role: str) -> None:
    """Raises TypeError unless `variable` is an int64 scalar, as lengths and indices are."""
    if variable.type.shape or variable.dtype != "int64":
        raise TypeError(f"{name}: {role} must be an int64 scalar, got {describe(variable)}")


def require_keepdims(keepdims: object, where: str) -> None:
    """Raise TypeError unless `keepdims` is a bool.

    Raises TypeError that names the function `where`, the argument and what it got.
    """
    if not isinstance(keepdims, (bool, int, np.bool_, np.integer)):
        raise TypeError(f"{where}: keepdims must be True or False, got {shown(keepdims)}")


def one_or_several(arguments: tuple[Any, ...]) -> Any:
    """Return the argument of `x.reshape(shape)`, or all those of `x.reshape(n, m)`."""
    return arguments[0] if len(arguments) == 1 else arguments


def named(x: Named, name: Any) -> Named:
    """Return `x`, which is new, with this name.  Raises TypeError for a name that is no text."""
    if name is not None and not isinstance(name, str):
        raise TypeError(f"the name of a variable must be a str, got {shown(name)}")
    x.name = name
    return x
