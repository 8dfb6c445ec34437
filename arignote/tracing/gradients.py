"""Derivatives of Python functions: `ag.grad(f)` and `ag.value_and_grad(f)` take the same arguments."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from ..calculus import calculus
from ..graph import Variable
from ..ops.core.checks import shown
from ..ops.core.tracing import current
from ..ops.shapes.stored import copied, now
from ..tree import flat, moving, unflat
from .calls import call
from .jitted import Jitted, jit


def gradient(f: Callable[..., Any], argnums: Any, with_value: bool) -> Callable[..., Any]:
    """Return the function of the derivative of `f` with respect to the positional arguments `argnums`.

    Args:
        f: A function whose result is a real scalar, jitted or not; arguments may be nested lists, tuples and dicts.
        argnums: The position of an argument, or a sequence of positions: the result has that form.
        with_value: Whether the result is the pair of value and derivative.

    Each call computes on copies, so that `f` does not write into the arrays of the caller.
    """
    what = "value_and_grad" if with_value else "grad"
    several = isinstance(argnums, (tuple, list))
    places = list(argnums) if several else [0 if argnums is None else argnums]
    if not places or not all(type(n) is int for n in places):
        raise TypeError(f"{what}: of a function, expected positions of its arguments, as (0, 1); got {shown(argnums)}")

    def derivative(*args: Any, **kwargs: Any) -> Any:
        missing = [n for n in places if not -len(args) <= n < len(args)]
        if missing:
            raise TypeError(f"{what}: argument {missing[0]} is not among the {len(args)} positional arguments")
        given = [_copies(a) for a in args]
        value = call(f, *given, **kwargs)
        trace: Any = current()
        cost = now(trace, value)
        found = [_of(cost, given[n]) for n in places]
        derivatives = type(argnums)(found) if several else found[0]
        return (value, derivatives) if with_value else derivatives

    made: Any = functools.update_wrapper(derivative, f)
    del made.__wrapped__
    options: Any = f._given if isinstance(f, Jitted) else {}
    static = f._static if isinstance(f, Jitted) else None
    chosen: Any = {} if static is None else {"static_argnames": static.names, "static_argnums": static.numbers}
    return jit(made, **chosen, **options)  # type: ignore[no-any-return]


def _copies(value: Any) -> Any:
    """Return an argument with arrays of its own."""
    leaves: list[Any] = []
    form = flat(value, leaves, records=None)
    return unflat(form, iter([copied(v) if isinstance(v, Variable) and v.ndim else v for v in leaves]))


def _of(cost: Any, argument: Any) -> Any:
    """Return the derivative of a scalar by one argument, in its form."""
    leaves: list[Any] = []
    form = flat(argument, leaves, records=None)
    wrong = [v for v in leaves if not isinstance(v, Variable)]
    if wrong:
        raise TypeError(f"grad: {shown(wrong[0])} is no array; only arrays and numbers have derivatives")
    moves = moving(form)
    wrt = [v for v, has_derivative in zip(leaves, moves, strict=True) if has_derivative]
    found: Any = iter(calculus.grad(cost, wrt, disconnected="zero"))  # type: ignore[arg-type]
    return unflat(form, iter([next(found) if m else v for v, m in zip(leaves, moves, strict=True)]))
