"""`ag.jit`: the decorator form of `function`; traces once for each combination of dtypes and ranks."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from .compiled import Function
from .function import function
from .graph import DTYPES, Variable
from .ops.checks import is_dask, shown
from .ops.tensor import as_tensor
from .ops.variables import tensor
from .record.forks import ProcessLock

Structure = Any
"""None for a leaf, else the type of a container (list, tuple, dict, named tuple) and its structures; hashable."""


def jit(python_function: Callable[..., Any] | None = None, **options: Any) -> Any:
    """Compile the expression of a function: `@ag.jit` or `@ag.jit(mode=..., profile=...)`.

    Arguments are arrays and numbers, also in nested lists, tuples and dicts; the result has the form that the Python
    function gives it.  The first call for a combination of dtypes and ranks traces the function with symbolic
    variables and compiles it; other lengths use the same code.  A Python number is taken as NumPy takes it: `2.5` is a
    float64 of rank 0.

    Args:
        options: the keywords of `ag.function`.

    The result has `.traces`: the compiled functions by what they were traced for.
    """
    for name in options:
        if name not in _OPTIONS:
            raise TypeError(f"jit: no option is called {name!r}; expected one of {', '.join(_OPTIONS)}")
    if python_function is None:
        return lambda f: jit(f, **options)
    if not callable(python_function):
        raise TypeError(f"jit: expected a function of arrays, got {shown(python_function)}")
    return Jitted(python_function, options)


_OPTIONS = function.__code__.co_varnames[2 : function.__code__.co_argcount]
"""The keywords of `ag.function` that `jit` passes on: all but inputs and outputs."""


class Jitted:
    """The result of `jit`: callable as the function it wraps."""

    def __init__(self, python_function: Callable[..., Any], options: dict[str, Any]) -> None:
        functools.update_wrapper(self, python_function)
        self._function = python_function
        self._options = {"name": getattr(python_function, "__name__", "jitted"), "on_unused_input": "ignore", **options}
        self._lock = ProcessLock()
        self.traces: dict[Any, tuple[Function, Structure]] = {}

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        leaves: list[Any] = []
        structure = flatten((args, kwargs), leaves)
        try:
            arrays = [a if isinstance(a, np.ndarray) or is_dask(a) else np.asarray(a) for a in leaves]
        except TypeError:
            self._require_values(leaves)
            raise
        key = structure, tuple((a.dtype.str, a.ndim) for a in arrays)
        found = self.traces.get(key)
        if found is None:
            found = self._trace(key, structure, arrays)
        compiled, form = found
        return unflatten(form, iter(compiled(*arrays)))

    def _trace(self, key: Any, structure: Structure, arrays: list[np.ndarray]) -> tuple[Function, Structure]:
        with self._lock:
            if key not in self.traces:
                names = self._names(structure, arrays)
                self._require_numbers(names, arrays)
                variables = [
                    tensor(name, dtype=a.dtype.newbyteorder("=").name, shape=(None,) * a.ndim)
                    for name, a in zip(names, arrays, strict=True)
                ]
                args, kwargs = unflatten(structure, iter(variables))
                outputs: list[Any] = []
                form = flatten(self._function(*args, **kwargs), outputs)
                results = [self._as_output(n, o) for n, o in enumerate(outputs)]
                self.traces[key] = function(variables, results, **self._options), form
            return self.traces[key]

    def _require_values(self, leaves: list[Any]) -> None:
        for position, value in enumerate(leaves):
            if isinstance(value, Variable):
                raise TypeError(
                    f"{self._options['name']}: argument {position} is the symbolic {value!r}; a jitted function takes "
                    "numbers and arrays; call the plain function to build an expression"
                )

    def _require_numbers(self, names: list[str], arrays: list[np.ndarray]) -> None:
        for position, (name, array) in enumerate(zip(names, arrays, strict=True)):
            if array.dtype.name not in DTYPES:
                value = array.item() if array.ndim == 0 else array
                raise TypeError(
                    f"{self._options['name']}: argument {position} ({name}) is {type(value).__name__} {shown(value)}; "
                    "expected numbers, arrays, or lists, tuples and dicts of them"
                )

    def _as_output(self, position: int, value: Any) -> Any:
        try:
            return as_tensor(value)
        except TypeError:
            raise TypeError(
                f"{self._options['name']}: output {position} is {shown(value)}; "
                "expected variables, numbers, arrays, or lists, tuples and dicts of them"
            ) from None

    def _names(self, structure: Structure, arrays: list[np.ndarray]) -> list[str]:
        """Return the parameters' names if each argument is one array, else x0, x1, ..."""
        code = getattr(self._function, "__code__", None)
        (_, positional), (_, keywords) = structure[1]
        names = [*(code.co_varnames[: code.co_argcount][: len(positional)] if code else ()), *[k for k, _ in keywords]]
        flat = all(p is None for p in positional) and all(v is None for _, v in keywords)
        return list(names) if flat and len(names) == len(arrays) else [f"x{n}" for n in range(len(arrays))]


def flatten(value: Any, leaves: list[Any]) -> Structure:
    """Return the structure of nested lists, tuples and dicts; append their leaves to `leaves` in order."""
    if isinstance(value, (list, tuple)):
        return type(value), tuple(flatten(v, leaves) for v in value)
    if isinstance(value, Mapping):
        return dict, tuple((k, flatten(v, leaves)) for k, v in value.items())
    leaves.append(value)
    return None


def unflatten(structure: Structure, leaves: Iterator[Any]) -> Any:
    """Return the nested value of that structure with the next leaves."""
    if structure is None:
        return next(leaves)
    kind, parts = structure
    if kind is dict:
        return {k: unflatten(v, leaves) for k, v in parts}
    values = [unflatten(p, leaves) for p in parts]
    return kind(values) if kind in (list, tuple) else kind(*values)  # a named tuple takes its fields one by one


def in_form(value: Any, structure: Structure) -> list[Any]:
    """Return the leaves of a value with this structure, keys of dicts in its order.

    Raises TypeError or KeyError for a value of another structure.
    """
    if structure is None:
        if isinstance(value, (list, tuple, Mapping)):
            raise TypeError("expected a value")
        return [value]
    kind, parts = structure
    if kind is dict:
        if not isinstance(value, Mapping) or len(value) != len(parts):
            raise TypeError("expected a dict with other keys")
        return [leaf for key, part in parts for leaf in in_form(value[key], part)]
    if not isinstance(value, kind) or len(value) != len(parts):
        raise TypeError("expected another sequence")
    return [leaf for v, part in zip(value, parts, strict=True) for leaf in in_form(v, part)]
