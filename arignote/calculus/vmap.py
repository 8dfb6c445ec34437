"""Vectorization: expressions of one example become expressions of many, with one operation for all."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import wraps
from typing import Any

import numpy as np

from .. import later
from ..graph import Constant, Variable
from ..graph import leaves as graph_leaves
from ..ops.core.checks import shown
from ..ops.core.tracing import current
from ..record import lazy
from ..tree import flat, leaves

gradients: Any = lazy.module("...tracing.gradients", __name__)
_TRACING = f"{__name__.partition('.')[0]}.tracing."


def vectorize(outputs: Variable | Sequence[Variable], replace: Mapping[Variable, Any]) -> Any:
    """Return `outputs` for many examples, with a new first axis along which keys of `replace` are parts of values.

    `replace` gives for a variable, an input or an intermediate one, a value of its dtype with one more axis in front;
    the length of that axis is the same in all of them (a length of 1 that is known only at run time is broadcast).  The
    result is as `outputs` is: a variable, a list or a tuple.  Nothing is looped over: each op is applied once.  Random
    draws are values like others: they are the same for all examples, while those in a function of `vmap` are not.

    Raises TypeError for a value of another dtype or rank, ValueError for numbers of examples known to differ, and
    NoBatch (a TypeError), naming op and line, where the lengths of a result would differ from example to example.
    Source: `vectorize_graph` of PyTensor, and JAX's `vmap`.
    """
    wanted = [outputs] if isinstance(outputs, (Variable, int, float)) else outputs
    if not isinstance(wanted, Sequence) or isinstance(wanted, str):
        raise TypeError(f"vectorize: outputs is {shown(outputs)}; expected a variable or a list of variables")
    if not isinstance(replace, Mapping):
        raise TypeError(f"vectorize: replace is {shown(replace)}; expected a dict {{variable: many of it}}")
    for v in [*wanted, *replace]:
        if not isinstance(v, Variable):
            raise TypeError(f"vectorize: expected a variable, got {v!r}")
    found = later.vectorizing.vectorized(wanted, replace)
    if isinstance(outputs, Variable):
        return found[0]
    return tuple(found) if isinstance(outputs, tuple) else found


def vmap(function: Callable[..., Any], in_axes: Any = 0, out_axes: Any = 0) -> Callable[..., Any]:
    """Return `function`, applied to every part along an axis: an expression of variables, a value of arrays.

        vmap(lambda row, w: T.dot(row, w), in_axes=(0, None))(matrix, weights)

    Arrays and numbers are computed at once, as `ag.grad` does, by code that is compiled for their dtypes and ranks.
    The result is an expression if an argument is a variable, if `function` uses variables of its environment or draws
    random numbers, and while another function is traced.

    Args:
        in_axes: the axis of the examples in each argument, or None for an argument that is the same for all; one value
            for all arguments, or a sequence.  For an argument that is a tree it is one value, or a tree of them:
            `in_axes=({"x": 0, "mask": None}, 0)`.  Keyword arguments have their examples along axis 0.
        out_axes: where the axis of the examples stands in the results; one value, or a tree of them.

    The function is called once, with variables that lack the axis, and returns a variable or a tree of them.  A jitted
    function, with loops and assignments, gives a jitted one, which takes arrays and leaves them as they are:
    `vmap(ag.jit(f))(rows)`.

    Each example has random draws of its own: example e draws with the key `threefry(key, 2**64 - 1 - e)`, also in loops
    and branches.  Draws by `rng.shared`, and those made outside of the function, are the same for all examples.

    Errors are those of `vectorize`, and ValueError for axes that arguments or results do not have.
    """
    if not callable(function):
        raise TypeError(f"vmap: expected a function of variables, got {function!r}")
    for axis in leaves(in_axes):
        if isinstance(axis, bool) or not isinstance(axis, (int, np.integer)):
            raise TypeError(f"vmap: in_axes is {shown(in_axes)}; expected an axis, None, or a list of them")
    for axis in leaves(out_axes) or [None]:
        if isinstance(axis, bool) or not isinstance(axis, (int, np.integer)):
            raise TypeError(f"vmap: out_axes is {shown(out_axes)}; expected an axis, an int")
    if type(function).__module__.startswith(_TRACING):  # of `ag.jit`, without loading it
        return gradients.over_examples(function, in_axes, out_axes)  # type: ignore[no-any-return]
    return _of_values(function, in_axes, out_axes)


def _of_values(function: Callable[..., Any], in_axes: Any, out_axes: Any) -> Callable[..., Any]:
    """Return the function over examples that computes values of arrays, and builds expressions of all else."""
    expression: Callable[..., Any] = later.vectorizing.mapped(function, in_axes, out_axes)
    jitted: list[Callable[..., Any]] = []

    @wraps(function)
    def over_examples(*arguments: Any, **keywords: Any) -> Any:
        if current() is not None or not all(map(_is_given, (*arguments, *keywords.values()))):
            return expression(*arguments, **keywords)
        if not jitted:
            with suppress(TypeError, AttributeError):  # of a program that only a trace can follow
                built = expression(*arguments, **keywords)
                if not _is_closed(built):
                    return built
            jitted.append(gradients.over_examples(function, in_axes, out_axes))
        return jitted[0](*arguments, **keywords)

    over_examples.stands_for = function  # type: ignore[attr-defined]
    return over_examples


def _is_given(argument: Any) -> bool:
    """Whether an argument is an array or a number, or a tree of them."""
    found: list[Any] = []
    flat(argument, found)
    return bool(found) and all(
        v.dtype.kind in "biufc" if isinstance(v, (np.ndarray, np.generic)) else isinstance(v, (int, float, complex))
        for v in found
    )


def _is_closed(built: Any) -> bool:
    """Whether expressions depend on constants and shared variables alone, without random draws."""
    found: list[Any] = []
    flat(built, found)
    roots: list[Any] = list(graph_leaves([v for v in found if isinstance(v, Variable)]))
    return all(isinstance(v, Constant) or (hasattr(v, "get_value") and v.default_update is None) for v in roots)
