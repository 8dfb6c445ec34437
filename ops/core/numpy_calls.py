"""Calls of NumPy's functions on variables: `np.sum(x)`, `np.add.reduce(x)`, `x * array`."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ...graph import Variable
from .namespace import T
from .traced import is_of_call, line

_FOLDS = {
    "reduce": {"add": "sum", "multiply": "prod", "maximum": "max", "minimum": "min", "logical_and": "all",
               "logical_or": "any"},
    "accumulate": {"add": "cumsum", "multiply": "cumprod"},
}  # fmt: skip
"""Methods of NumPy's elementwise functions -> our functions; the axis is the first one by default."""
_WRITERS = frozenset(("copyto", "fill_diagonal", "place", "put", "put_along_axis", "putmask"))


def call_ufunc(x: Variable, ufunc: np.ufunc, method: str, inputs: Sequence[Any], options: Mapping[str, Any]) -> Any:
    """Return `ufunc` or one of its methods on inputs among which is `x`.  Raises TypeError for what has no graph."""
    name = ufunc.__name__
    if options.get("out") is not None:
        raise TypeError(
            f"{_named(ufunc)}: the symbolic {x!r} cannot be written into an array; assign the result, as in y = y + x "
            f"in the place of y += x{line()}"
        )
    function: Any = getattr(T, name, None) or getattr(T.special, name, None)  # SciPy's are ufuncs too
    if method == "__call__" and not options and function is not None:
        return function(*inputs)
    if method == "outer" and not options and len(inputs) == 2 and function is not None:
        a, b = map(T.as_tensor, inputs)
        return function(T.reshape(a, (*T.lengths_of(a), *[1] * b.ndim)), b)
    fold = _FOLDS.get(method, {}).get(name)
    if fold is not None and len(inputs) == 1 and options.keys() <= {"axis", "keepdims", "dtype"}:
        return getattr(T, fold)(*inputs, **{"axis": 0, **options})
    call = _named(ufunc) + (f".{method}" if method != "__call__" else "")
    given = f" with {', '.join(options)}" if options else ""
    raise TypeError(f"{call}{given} does not take the symbolic {x!r}; {_absent(name, T, T.special)}")


def _absent(name: str, *spaces: Any) -> str:
    """Return that we lack a function, and what one of our namespaces says to use in its place."""
    for space in spaces:
        try:
            getattr(space, name)
        except AttributeError as error:
            _, mark, advice = str(error).partition("; ")
            if mark:
                return f"arignote.ops has no such function{mark}{advice}"
    return "arignote.ops has no such function"


def _named(ufunc: np.ufunc) -> str:
    """The name of a ufunc with the module that has it: NumPy, or SciPy where it is loaded."""
    name = ufunc.__name__
    for module in ("numpy", "scipy.special"):
        if getattr(sys.modules.get(module), name, None) is ufunc:
            return f"{module}.{name}"
    return name


def call_function(x: Variable, function: Any, args: Sequence[Any], options: Mapping[str, Any]) -> Any:
    """Return a function of NumPy on arguments among which is `x`.

    Raises TypeError for a function that we do not have, and for one that writes into an array.
    """
    name = f"{function.__module__}.{function.__name__}"
    writes = function is np.nan_to_num and not (*args[1:2], options.get("copy", True))[0]
    if writes or function.__name__ in _WRITERS:
        returned = f"T.{function.__name__}(x, ...), which returns the result"
        raise TypeError(
            f"{name} writes into an array, and the symbolic {x!r} never changes; use "
            + ("np.where(np.isnan(x), value, x)" if writes else returned)
            + f", T.set_subtensor(x[index], value), or a copy{line()}"
        )
    if is_of_call() and function in _OF_SHAPES:
        return _OF_SHAPES[function](*args, **options)
    namespace = {"numpy": T, "numpy.linalg": T.linalg, "numpy.fft": T.fft}.get(function.__module__)
    ours = getattr(namespace, function.__name__, None)
    if ours is None and namespace is T:
        ours = getattr(T.special, function.__name__, None)  # i0
    if ours is None:
        raise TypeError(f"{name} does not take the symbolic {x!r}; {_absent(function.__name__, namespace or T)}")
    return ours(*args, **options)


def _array_equal(a1: Any, a2: Any, equal_nan: bool = False) -> Any:
    a, b = T.as_tensor(a1), T.as_tensor(a2)
    if a.shape != b.shape:
        return False
    same = T.eq(a, b)
    return T.all(T.logical_or(same, T.logical_and(T.isnan(a), T.isnan(b))) if equal_nan else same)


def _array_equiv(a1: Any, a2: Any) -> Any:
    a, b = T.as_tensor(a1), T.as_tensor(a2)
    ranks = range(1, 1 + min(a.ndim, b.ndim))
    fit = all(a.shape[-k] == b.shape[-k] or a.shape[-k] == 1 or b.shape[-k] == 1 for k in ranks)
    return T.all(T.eq(a, b)) if fit else False


def _size(a: Any, axis: int | None = None) -> Any:
    return a.size if axis is None else a.shape[axis]


_OF_SHAPES: dict[Any, Any] = {
    np.shape: lambda a: a.shape, np.size: _size, np.array_equal: _array_equal, np.array_equiv: _array_equiv,
}  # fmt: skip
"""Functions that ask for lengths, which a traced call knows."""
