"""NumPy's order of arguments: its functions as methods of the arrays of a trace, and its options by position.

    np.clip(x, 0, 1, y)            clip(x, 0, 1), stored in y
    x.std(0, None, None, 1)        std(x, 0, None, ddof=1)
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np

_OPTIONS = frozenset((
    "out", "dtype", "keepdims", "ddof", "order", "subok", "copy", "device", "density", "weights", "overwrite_input",
    "method", "kind", "mode", "assume_unique", "invert", "initial", "where", "nan", "posinf", "neginf",
))  # fmt: skip
"""Arguments of NumPy's functions that ours may have at another place, or by name only."""


def with_options_by_name(
    function: Any, ours: Any, args: Sequence[Any], options: Mapping[str, Any]
) -> tuple[Sequence[Any], Mapping[str, Any]]:
    """Return the arguments of a call of NumPy's `function`: by name from the first option that `ours` has elsewhere.

    Options with NumPy's default are left out.  Raises TypeError for an argument that is given twice.
    """
    if len(args) < 2:
        return args, options
    names, defaults = _positions(function)
    first = _first_option(function, ours)
    if first is None or first >= len(args) or len(args) > len(names):
        return args, options
    given = dict(zip(names[first:], args[first:], strict=False))
    for name in given.keys() & options.keys():
        raise TypeError(f"{function.__name__}() got multiple values for argument {name!r}")
    return args[:first], {**{k: v for k, v in given.items() if v is not defaults[k]}, **options}


@cache
def _positions(function: Any) -> tuple[tuple[str, ...], Mapping[str, Any]]:
    """Return the names of the positional arguments of a function, and their defaults; none without a signature."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return (), {}
    positional = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    return tuple(p.name for p in positional), {p.name: p.default for p in positional}


@cache
def _first_option(function: Any, ours: Any) -> int | None:
    """Return the position of the first option of NumPy's function that is not at this place in ours."""
    names, own = _positions(function)[0], _positions(ours)[0]
    return next((k for k, name in enumerate(names) if name in _OPTIONS and own[k : k + 1] != (name,)), None)


class NumpyMethods:
    """Base of the variables of a trace: methods of NumPy's arrays that are its functions, with all their arguments."""

    __slots__ = ()

    def compress(self: Any, condition: Any, axis: int | None = None, out: Any = None) -> Any:
        """The parts along `axis` where a condition holds; see `T.compress`."""
        return np.compress(condition, self, axis, out)


def _method(name: str) -> Callable[..., Any]:
    """Return NumPy's function `name` as a method."""
    function = getattr(np, name)

    def _call(self: Any, *args: Any, **options: Any) -> Any:
        return self.__array_function__(function, (), (self, *args), options)

    _call.__name__, _call.__qualname__ = name, f"NumpyMethods.{name}"
    _call.__doc__ = f"`np.{name}` of the array; see `T.{name}`."
    return _call


for _name in (
    "all", "any", "argmax", "argmin", "argpartition", "argsort", "choose", "clip", "cumprod", "cumsum", "dot", "max",
    "mean", "min", "prod", "ptp", "round", "std", "sum", "take", "trace", "var",
):  # fmt: skip
    setattr(NumpyMethods, _name, _method(_name))
