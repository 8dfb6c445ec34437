"""Derivatives of Python functions, and functions over examples: each is a jitted function that calls `f` in its trace.

    ag.grad(f)    ag.value_and_grad(f)    ag.jacobian(f)    ag.hessian(f)    ag.vmap(f)
    ag.jvp(f, primals, tangents)    ag.vjp(f, primals, cotangents)    ag.hvp(f, primals, tangents)
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
from .integers import left_now
from .jitted import Jitted, jit


def gradient(f: Callable[..., Any], argnums: Any, with_value: bool, checkpoint: Any, has_aux: bool) -> Any:
    """Return the function of the derivative of `f` with respect to the positional arguments `argnums`.

    Args:
        f: A function whose result is a real scalar, jitted or not; arguments may be nested lists, tuples and dicts.
        argnums: The position of an argument, or a sequence of positions: the result has that form.
        with_value: Whether the result is the pair of value and derivative.
        checkpoint: The number of steps between the states of a loop that the derivative keeps, or "sqrt".
        has_aux: Whether `f` returns the pair of the scalar and another value, which goes along.
    """
    what = "value_and_grad" if with_value else "grad"
    counts = isinstance(checkpoint, int) and not isinstance(checkpoint, bool) and checkpoint > 0
    if not counts and checkpoint not in (None, "sqrt"):
        raise ValueError(f'{what}: checkpoint is {shown(checkpoint)}; expected a number of steps from 1 on, or "sqrt"')

    def derivative(value: Any, arguments: Any) -> Any:
        if not has_aux:
            found = _of(value, arguments)
            return (value, found) if with_value else found
        if not isinstance(value, tuple) or len(value) != 2:
            raise TypeError(f"{what}: with has_aux, expected a pair of a scalar and more as result, got {shown(value)}")
        found = _of(value[0], arguments)
        return (value, found) if with_value else (found, value[1])

    return _by_arguments(f, argnums, what, derivative, checkpoint)


def all_derivatives(f: Callable[..., Any], argnums: Any, what: str) -> Any:
    """Return the function of the Jacobian or Hessian of `f`, by the name of `what`, by the arguments `argnums`."""

    def derivatives(value: Any, arguments: Any) -> Any:
        if what == "hessian":
            return calculus.hessian(value, arguments, disconnected="zero")
        results: list[Any] = []
        form = flat(value, results)
        found = [calculus.jacobian(as_tensor(v), arguments, disconnected="zero") for v in results]
        return unflat(form, iter(found))

    return _by_arguments(f, argnums, what, derivatives)


def _by_arguments(
    f: Callable[..., Any], argnums: Any, what: str, derived: Callable[[Any, Any], Any], checkpoint: Any = None
) -> Any:
    """Return the jitted function of `derived` of the result of `f` and its arguments of these positions.

    Each call computes on copies, so that `f` does not write into the arrays of the caller.
    """
    several = isinstance(argnums, (tuple, list))
    positions = list(argnums) if several else [0 if argnums is None else argnums]
    if not positions or not all(type(n) is int for n in positions):
        raise TypeError(f"{what}: of a function, expected positions of its arguments, as (0, 1); got {shown(argnums)}")

    def function(*args: Any, **kwargs: Any) -> Any:
        missing = [n for n in positions if not -len(args) <= n < len(args)]
        if missing:
            raise TypeError(f"{what}: argument {missing[0]} is not among the {len(args)} positional arguments")
        given = [_copies(a) for a in args]
        trace: Any = current()
        before, trace.checkpoint = trace.checkpoint, checkpoint
        try:
            value = call(f, *given, **kwargs)
        finally:
            trace.checkpoint = before
        chosen = type(argnums)(given[n] for n in positions) if several else given[positions[0]]
        return derived(_current(value), chosen)

    return _as_jitted(function, f)


def along(f: Callable[..., Any], primals: Any, vectors: Any, what: str) -> tuple[Any, Any]:
    """Return `f(*primals)` and what "jvp", "vjp" or "hvp" is of it: values, or expressions of symbolic arguments."""
    for role, given in (("primals", primals), ("tangents", primals if what == "vjp" else vectors)):
        if not isinstance(given, (tuple, list)) or len(given) != len(primals):
            raise TypeError(
                f"{what}: {role}: expected a tuple with the arguments of the function, as {what}(f, (x,), (v,)); got "
                f"{shown(given)}"
            )
    vectors = vectors if what == "vjp" else tuple(vectors)
    try:
        known = _along[what].get(f)
    except TypeError:  # what has no weak references
        known = None
    if known is None:
        known = _as_jitted(_MAKERS[what](weakref.ref(f) if isinstance(f, FunctionType) else lambda: f), f)
        with suppress(TypeError):
            _along[what][f] = known
    found: tuple[Any, Any] = known(tuple(primals), vectors)
    return found


_along: dict[str, WeakKeyDictionary[Any, Any]] = {what: WeakKeyDictionary() for what in ("jvp", "vjp", "hvp")}
"""The jitted functions of products with derivatives, by their functions."""


def _tangent_of(target: Callable[[], Any]) -> Callable[..., Any]:
    def with_tangent(primals: Any, tangents: Any) -> Any:
        given = [_copies(a) for a in primals]
        results: list[Any] = []
        form = flat(_current(call(target(), *given)), results)
        results = [as_tensor(v) for v in results]
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


def _cotangent_of(target: Callable[[], Any]) -> Callable[..., Any]:
    def with_cotangent(primals: Any, cotangents: Any) -> Any:
        given = [_copies(a) for a in primals]
        value = _current(call(target(), *given))
        results: list[Any] = []
        leaves: list[Any] = []
        inputs: list[Any] = []
        if flat(value, results) != flat(cotangents, leaves):
            raise TypeError(f"vjp: cotangents are {shown(cotangents)}; expected the form of the result, {shown(value)}")
        pairs = [(v, t) for v, t in zip(map(as_tensor, results), leaves, strict=True) if v.type.kind in "fc"]
        form = flat(tuple(given), inputs)
        found = calculus.vjp([v for v, _ in pairs], inputs, [_like(t, v) for v, t in pairs])
        return value, unflat(form, iter(found))

    return with_cotangent


def _curvature_of(target: Callable[[], Any]) -> Callable[..., Any]:
    def with_curvature(primals: Any, tangents: Any) -> Any:
        given = tuple(_copies(a) for a in primals)
        value = _current(call(target(), *given))
        inputs: list[Any] = []
        leaves: list[Any] = []
        form = flat(given, inputs)
        if flat(tuple(tangents), leaves) != form:
            raise TypeError(f"hvp: tangents are {shown(tangents)}; expected the form of the primals, {shown(primals)}")
        found = calculus.hvp(value, inputs, [_like(t, v) for v, t in zip(inputs, leaves, strict=True)])
        return value, unflat(form, iter(found))

    return with_curvature


def _current(value: Any) -> Any:
    """Return the values that the variables of a result have at this point of the trace."""
    trace: Any = current()
    leaves: list[Any] = []
    form = flat(value, leaves)
    return unflat(form, iter([now(trace, v) for v in leaves]))


_MAKERS = {"jvp": _tangent_of, "vjp": _cotangent_of, "hvp": _curvature_of}


def _like(tangent: Any, v: Any) -> Any:
    t = as_tensor(tangent)
    return t if t.dtype == v.type.dtype else T.cast(t, v.type.dtype)


def over_examples(f: Callable[..., Any], in_axes: Any, out_axes: Any) -> Callable[..., Any]:
    """Return the jitted function of arrays that applies `f` to every part along an axis; see `ag.vmap`."""

    def of_one(*args: Any, **keywords: Any) -> Any:
        trace: Any = current()
        checks = len(trace.checks)
        for v in (*args, *keywords.values()):
            leaves: list[Any] = []
            flat(v, leaves)
            for leaf in leaves:
                adopt(trace, leaf)
        value = call(f, *map(_copies, args), **{name: _copies(v) for name, v in keywords.items()})
        if len(trace.checks) > checks:
            raise TypeError("vmap: the function raises by the values of one example; compute whether, and raise after")
        results: list[Any] = []
        form = flat(value, results)
        return unflat(form, iter([now(trace, v) for v in results]))

    def mapped(*args: Any, **keywords: Any) -> Any:
        trace: Any = current()
        before, notes = left_now(trace), list[Any]()

        def noting(*args: Any, **keywords: Any) -> Any:
            found = of_one(*args, **keywords)
            left = left_now(trace)
            if left is not before:
                notes.append(left)
            return found

        found = vectorizing.mapped(noting, in_axes, out_axes, notes)(*args, **keywords)
        if notes:
            trace.stored[trace.overflow] = T.any(notes[0])
        return found

    return _as_jitted(mapped, f)  # type: ignore[no-any-return]


def _as_jitted(function: Any, f: Any) -> Any:
    """Return a function that calls `f` in its trace as a jitted one, with the name and the options of f."""
    made: Any = functools.update_wrapper(function, f)
    del made.__wrapped__
    made.stands_for = f
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
    """Return the derivative of a scalar by one argument, in its form; zeros for a number that depends on nothing."""
    cost = as_tensor(cost) if isinstance(cost, (float, np.floating)) else cost
    leaves: list[Any] = []
    form = flat(argument, leaves)
    wrong = [v for v in leaves if not isinstance(v, Variable)]
    if wrong:
        raise TypeError(f"grad: {shown(wrong[0])} is no array; only arrays and numbers have derivatives")
    moves = moving(form)
    wrt = [v for v, has_derivative in zip(leaves, moves, strict=True) if has_derivative]
    found: Any = iter(calculus.grad(cost, wrt, disconnected="zero"))  # type: ignore[arg-type]
    return unflat(form, iter([next(found) if m else v for v, m in zip(leaves, moves, strict=True)]))
