"""Derivatives of Python functions, and functions over examples: each is a jitted function that calls `f` in its trace.

    ag.grad(f)    ag.value_and_grad(f)    ag.jvp(f, primals, tangents)    ag.vmap(f)
"""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable
from contextlib import suppress
from types import FunctionType
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from .. import ops as T
from ..calculus import calculus, vectorizing
from ..graph import Variable
from ..ops.core.checks import shown
from ..ops.core.tensor import as_tensor
from ..ops.core.traced import adopt
from ..ops.core.tracing import Number, current
from ..ops.shapes.stored import copied, now
from ..tree import flat, moving, unflat
from .calls import call
from .jitted import Jitted, jit


def gradient(f: Callable[..., Any], argnums: Any, with_value: bool, checkpoint: Any = None) -> Callable[..., Any]:
    """Return the function of the derivative of `f` with respect to the positional arguments `argnums`.

    Args:
        f: A function whose result is a real scalar, jitted or not; arguments may be nested lists, tuples and dicts.
        argnums: The position of an argument, or a sequence of positions: the result has that form.
        with_value: Whether the result is the pair of value and derivative.
        checkpoint: The number of steps between the states of a loop that the derivative keeps, or "sqrt".

    Each call computes on copies, so that `f` does not write into the arrays of the caller.
    """
    what = "value_and_grad" if with_value else "grad"
    several = isinstance(argnums, (tuple, list))
    places = list(argnums) if several else [0 if argnums is None else argnums]
    if not places or not all(type(n) is int for n in places):
        raise TypeError(f"{what}: of a function, expected positions of its arguments, as (0, 1); got {shown(argnums)}")
    counts = isinstance(checkpoint, int) and not isinstance(checkpoint, bool) and checkpoint > 0
    if not counts and checkpoint not in (None, "sqrt"):
        raise ValueError(f'{what}: checkpoint is {shown(checkpoint)}; expected a number of steps from 1 on, or "sqrt"')

    def derivative(*args: Any, **kwargs: Any) -> Any:
        missing = [n for n in places if not -len(args) <= n < len(args)]
        if missing:
            raise TypeError(f"{what}: argument {missing[0]} is not among the {len(args)} positional arguments")
        given = [_copies(a) for a in args]
        trace: Any = current()
        before, trace.checkpoint = trace.checkpoint, checkpoint
        try:
            value = call(f, *given, **kwargs)
        finally:
            trace.checkpoint = before
        cost = now(trace, value)
        found = [_of(cost, given[n]) for n in places]
        derivatives = type(argnums)(found) if several else found[0]
        return (value, derivatives) if with_value else derivatives

    return _as_jitted(derivative, f)  # type: ignore[no-any-return]


def forward(f: Callable[..., Any], primals: Any, tangents: Any) -> tuple[Any, Any]:
    """Return `f(*primals)` and its change along `tangents`: values, or expressions of symbolic arguments."""
    for what, given in (("primals", primals), ("tangents", tangents)):
        if not isinstance(given, (tuple, list)) or len(given) != len(primals):
            raise TypeError(
                f"jvp: {what}: expected a tuple with the arguments of the function, as jvp(f, (x,), (v,)); got "
                f"{shown(given)}"
            )
    try:
        known = _forward.get(f)
    except TypeError:  # what has no weak references
        known = None
    if known is None:
        known = _as_jitted(_tangent_of(f), f)
        with suppress(TypeError):
            _forward[f] = known
    found: tuple[Any, Any] = known(tuple(primals), tuple(tangents))
    return found


_forward: WeakKeyDictionary[Any, Any] = WeakKeyDictionary()
"""The jitted functions of forward mode by their functions."""


def _tangent_of(f: Any) -> Callable[..., Any]:
    target = weakref.ref(f) if isinstance(f, FunctionType) else lambda: f

    def with_tangent(primals: Any, tangents: Any) -> Any:
        given = [_copies(a) for a in primals]
        value = call(target(), *given)
        trace: Any = current()
        results: list[Any] = []
        form = flat(value, results)
        results = [as_tensor(now(trace, v)) for v in results]
        inputs: list[Any] = []
        along: list[Any] = []
        shape = flat(tuple(given), inputs)
        if flat(tuple(tangents), along) != shape:
            raise TypeError(f"jvp: tangents are {shown(tangents)}; expected the form of the primals, {shown(primals)}")
        pairs = [(v, t) for v, t in zip(inputs, along, strict=True) if isinstance(v, Variable) and v.type.kind in "fc"]
        moving_ones = [k for k, r in enumerate(results) if r.type.kind in "fc"]
        found = calculus.jvp(
            [results[k] for k in moving_ones], [v for v, _ in pairs], [_like(t, v) for v, t in pairs]
        ) if pairs and moving_ones else []  # fmt: skip
        changes = dict(zip(moving_ones, found, strict=True))
        slopes = [changes[k] if k in changes else T.zeros_like(r, "float64") for k, r in enumerate(results)]
        return unflat(form, iter(results)), unflat(form, iter(slopes))

    return with_tangent


def _like(tangent: Any, v: Any) -> Any:
    t = as_tensor(tangent)
    return t if t.dtype == v.type.dtype else T.cast(t, v.type.dtype)


def over_examples(f: Callable[..., Any], in_axes: Any, out_axes: Any) -> Callable[..., Any]:
    """Return the jitted function of arrays that applies `f` to every part along an axis; see `ag.vmap`."""

    def of_one(*args: Any) -> Any:
        trace: Any = current()
        checks = len(trace.checks)
        for v in args:
            leaves: list[Any] = []
            flat(v, leaves)
            for leaf in leaves:
                adopt(trace, leaf)
        value = call(f, *map(_copies, args))
        if len(trace.checks) > checks:
            raise TypeError("vmap: the function raises by the values of one example; compute whether, and raise after")
        results: list[Any] = []
        form = flat(value, results)
        return unflat(form, iter([now(trace, v) for v in results]))

    def mapped(*args: Any) -> Any:
        return vectorizing.mapped(of_one, in_axes, out_axes)(*args)

    return _as_jitted(mapped, f)  # type: ignore[no-any-return]


def _as_jitted(function: Any, f: Any) -> Any:
    """Return a function that calls `f` in its trace as a jitted one, with the name and the options of f."""
    made: Any = functools.update_wrapper(function, f)
    del made.__wrapped__
    options: Any = f._given if isinstance(f, Jitted) else {}
    static = f._static if isinstance(f, Jitted) else None
    chosen: Any = {} if static is None else {"static_argnames": static.names, "static_argnums": static.numbers}
    return jit(made, **chosen, **options)


def _copies(value: Any) -> Any:
    """Return an argument with arrays of its own; constants of a trace that may have a derivative become variables."""
    leaves: list[Any] = []
    form = flat(value, leaves)
    return unflat(form, iter([_copy(v) for v in leaves]))


def _copy(value: Any) -> Any:
    trace: Any = current()
    if isinstance(value, Variable):
        return copied(value) if value.ndim else value
    if type(value) in (float, complex):
        found = copied(as_tensor(value))
        trace.numbers[found] = Number(type(value))
        return found
    return copied(as_tensor(value)) if isinstance(value, (np.ndarray, np.inexact)) else value


def _of(cost: Any, argument: Any) -> Any:
    """Return the derivative of a scalar by one argument, in its form."""
    leaves: list[Any] = []
    form = flat(argument, leaves)
    wrong = [v for v in leaves if not isinstance(v, Variable)]
    if wrong:
        raise TypeError(f"grad: {shown(wrong[0])} is no array; only arrays and numbers have derivatives")
    moves = moving(form)
    wrt = [v for v, has_derivative in zip(leaves, moves, strict=True) if has_derivative]
    found: Any = iter(calculus.grad(cost, wrt, disconnected="zero"))  # type: ignore[arg-type]
    return unflat(form, iter([next(found) if m else v for v, m in zip(leaves, moves, strict=True)]))
