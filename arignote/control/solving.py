"""Solutions of equations as expressions: `ag.fixed_point` and `ag.root`, with implicit derivatives.

The search is a `while_loop` through which nothing is differentiated.  The derivative comes from the equation at the
solution, by the implicit function theorem, so it takes neither the steps nor their memory.
Source: Griewank and Walther, Evaluating Derivatives, chapter 15; Blondel et al., "Efficient and modular implicit
differentiation", 2022.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

import numpy as np

from .. import ops as T
from ..calculus.custom import tensor_of
from ..graph import FunctionGraph, Variable, rebuild, same_shape
from ..graph.node import Apply
from ..graph.types import numpy_dtype
from ..ops.control.batching import carried
from ..ops.control.composed import Composed, Derivative
from ..ops.control.scan_ops import closed
from ..ops.core.backward import pull_back
from ..ops.core.checks import describe, shown
from ..ops.core.tensor import TensorVariable, as_tensor
from ..ops.core.tracing import comparing
from ..ops.shapes.lengths import lengths_of
from ..ops.shapes.specify import with_length, with_shape_of
from ..record import record
from ..tree import in_form, symbolic_flat, unflat
from .scan import while_loop

Solver = Callable[[Callable[[Any], Any], Any], Any]
"""A function of the equation's function and the initial value; it returns the solution."""


def fixed_point(
    fn: Callable[[Any], Any], initial: Any, *, tol: float | None = None, max_steps: Any = 1000,
    solver: Solver | None = None,
) -> Any:  # fmt: skip
    """Return x with `fn(x) = x`, found by repeated application from `initial` on.

        ag.fixed_point(lambda x: T.cos(a * x), T.constant(1.0))

    Args:
        fn: A function of x that returns a value of its form, dtypes and shapes.  It may use any other variable.
        initial: A variable, a number or an array of floats, or nested lists, tuples and dicts of them.
        tol: The largest change of a step at which the search ends, relative to 1 and to the largest element.
            Default: eps ** 0.75 of the coarsest dtype, 1.8e-12 for float64.
        max_steps: The number of steps after which it ends in any case, with the value so far.
        solver: A function of `fn` and `initial` that finds x in another way; `tol` and `max_steps` then serve the
            derivative alone.

    Derivatives by the variables that `fn` reads are implicit: u = g + J^T u is solved by the same iteration, which
    converges where the search does.  The derivative by `initial` is zero.  Second derivatives and `ag.vmap` work.

    Raises TypeError for values that are no real floats, and for a `fn` that changes form, dtype or rank.
    """
    equation = _Equation(fn, initial, "fixed_point")
    bound = equation.tolerance(tol)
    rule = _FixedPoint(equation.graph, equation.count, bound, _steps(max_steps))
    if solver is not None:
        return equation.solved(equation.by(solver), rule)

    def far(state: Any) -> Any:
        return T.any(T.stack([_distance(a, b, bound) for a, b in zip(*state, strict=True)]))

    found = while_loop(
        far, lambda state: (state[1], equation.over(state[1])), (equation.firsts, equation.over(equation.firsts)),
        max_steps=max_steps,
    )  # fmt: skip
    return equation.solved(found[1], rule)


def root(
    fn: Callable[[Any], Any], initial: Any, *, tol: float | None = None, max_steps: Any = 50,
    solver: Solver | None = None,
) -> Any:  # fmt: skip
    """Return x with `fn(x) = 0`, found by Newton's method from `initial` on.

        ag.root(lambda x: x ** 3 - a, T.constant(1.0))

    Args:
        fn: A function of x that returns residuals of its form, dtypes and shapes.  It may use any other variable.
        initial: A variable, a number or an array of floats, or nested lists, tuples and dicts of them.
        tol: The largest step at which the search ends, relative to 1 and to the largest element.  Default: eps ** 0.75
            of the coarsest dtype, 1.8e-12 for float64.
        max_steps: The number of steps after which it ends in any case, with the value so far.
        solver: A function of `fn` and `initial` that finds x in another way, such as by bisection.

    A step solves a dense system with the Jacobian of all n elements, and so does a derivative: n^3 operations.
    Derivatives by the variables that `fn` reads are implicit, -(J_x)^-1 J_p; the derivative by `initial` is zero.
    Second derivatives and `ag.vmap` work.

    Raises TypeError as `fixed_point` does, and LinAlgError at run time where the Jacobian is singular.
    """
    equation = _Equation(fn, initial, "root")
    bound = equation.tolerance(tol)
    rule = _Root(equation.graph, equation.count)
    if solver is not None:
        return equation.solved(equation.by(solver), rule)

    def newton(state: Any) -> Any:
        x, _ = state
        values = equation.over(x)
        step = T.linalg.solve(_jacobian(equation.graph, x, equation.taken), _joined(values))
        new = [T.sub(a, part) for a, part in zip(x, _parted(step, x), strict=True)]
        moves = T.any(T.stack([_distance(b, a, bound) for a, b in zip(x, new, strict=True)]))
        return new, moves

    found = while_loop(lambda state: state[1], newton, (equation.firsts, T.constant(True)), max_steps=max_steps)
    return equation.solved(found[0], rule)


class _Equation:
    """A function of nested values as a graph: `count` values, then what it reads besides, `taken`."""

    def __init__(self, fn: Callable[[Any], Any], initial: Any, what: str) -> None:
        if not callable(fn):
            raise TypeError(f"{what}: fn must be a function of the solution, got {shown(fn)}")
        self.fn, self.initial, self.what = fn, initial, what
        flat: list[Any] = []
        self.form = symbolic_flat(initial, flat)
        self.firsts: list[Any] = [_floating(v, f"{what}: initial") for v in flat]
        self.count = len(self.firsts)
        leaves: list[Variable] = [TensorVariable(v.type, name=v.name) for v in self.firsts]
        with comparing() as trace:
            trace.inside([(leaf, v, 0) for leaf, v in zip(leaves, self.firsts, strict=True)])
            made = fn(unflat(self.form, iter(leaves)))
        try:
            new = [as_tensor(v) for v in in_form(made, self.form)]
        except (TypeError, KeyError):
            raise TypeError(f"{what}: fn gives {shown(made)}; expected the form of {shown(initial)}") from None
        for before, after in zip(leaves, new, strict=True):
            if after.dtype != before.dtype or after.ndim != before.ndim:
                raise TypeError(f"{what}: fn gives {describe(after)} for {before.type}; expected its dtype and rank")
        pairs = zip(new, leaves, strict=True)
        new = [v if same_shape(v, leaf) else with_shape_of(v, leaf, f"{what}: the result of fn") for v, leaf in pairs]
        self.graph, self.taken = closed(leaves, new)

    def over(self, values: Sequence[Any]) -> list[Any]:
        return _over(self.graph, values, self.taken)

    def by(self, solver: Solver) -> list[Any]:
        """Return the solution that `solver` finds."""
        if not callable(solver):
            raise TypeError(f"{self.what}: solver is {shown(solver)}; expected a function of fn and initial")
        found = solver(self.fn, self.initial)
        try:
            values = [as_tensor(v) for v in in_form(found, self.form)]
        except (TypeError, KeyError):
            raise TypeError(
                f"{self.what}: solver gives {shown(found)}; expected the form of {shown(self.initial)}"
            ) from None
        for mine, first in zip(values, self.firsts, strict=True):
            if mine.dtype != first.dtype or mine.ndim != first.ndim:
                raise TypeError(f"{self.what}: solver gives {describe(mine)}; expected {first.type}")
        return values

    def tolerance(self, tol: float | None) -> float:
        if tol is None:
            coarsest: float = max(float(np.finfo(numpy_dtype(v.dtype)).eps) for v in self.firsts)
            return coarsest**0.75  # type: ignore[no-any-return]
        if isinstance(tol, bool) or not isinstance(tol, (int, float, np.floating)) or not tol >= 0:
            raise ValueError(f"{self.what}: tol is {shown(tol)}; expected a number of at least 0")
        return float(tol)

    def solved(self, values: Sequence[Any], rule: Derivative) -> Any:
        """Return the solution, in the form of the initial value, as an op with the implicit derivative."""
        inside: list[Variable] = [TensorVariable(v.type) for v in (*values, *self.taken)]
        op = Composed(FunctionGraph(inside, inside[: self.count]), self.what, rule, True)
        fixed = [T.stop_gradient(v) for v in values]
        return unflat(self.form, iter(Apply(op, (*fixed, *self.taken)).outputs))


def _over(graph: FunctionGraph, values: Sequence[Any], taken: Sequence[Variable]) -> list[Any]:
    return rebuild(graph.outputs, dict(zip(graph.inputs, [*values, *taken], strict=True)))


def _floating(value: Any, what: str) -> Any:
    """Return a variable of floats.  Raises TypeError for other values; numbers of Python become float64."""
    found = tensor_of(value, what)
    if found.type.kind in "iub" and not isinstance(value, Variable):
        found = T.cast(found, "float64")
    if found.type.kind != "f":
        raise TypeError(f"{what} is {describe(found)}; expected real floats")
    return found


def _steps(value: Any) -> Any:
    return value if isinstance(value, Variable) else int(value)


def _distance(before: Any, after: Any, bound: float) -> Any:
    """Whether two values differ by more than the bound, relative to 1 and to the largest element."""
    size = T.maximum(1, T.max(T.abs(after))) if after.ndim else T.maximum(1, T.abs(after))
    change = T.max(T.abs(T.sub(after, before))) if after.ndim else T.abs(T.sub(after, before))
    return T.gt(change, T.mul(T.constant(bound, after.dtype), size))


# --- derivatives


@record
class _FixedPoint(Derivative):
    """The implicit derivative of x = f(x, p): J_p^T u with u = g + J_x^T u, which is a fixed point again."""

    graph: FunctionGraph
    count: int
    bound: float
    most: Any

    def pull(
        self, inputs: Sequence[Variable], outputs: Sequence[Variable], cotangents: Sequence[Variable | None]
    ) -> Sequence[Variable | None]:
        taken = inputs[self.count :]
        results = _over(self.graph, outputs, taken)
        sent = [T.zeros_like(o) if g is None else g for o, g in zip(outputs, cotangents, strict=True)]

        def step(u: Sequence[Any]) -> list[Any]:
            pulled = pull_back(results, list(u), outputs, stop_at=set(outputs).union(taken))
            return [a if b is None else T.add(a, b) for a, b in zip(sent, pulled, strict=True)]

        u = fixed_point(step, list(sent), tol=self.bound, max_steps=self.most)
        return [*(None for _ in outputs), *_pulled(results, u, outputs, taken)]


@record
class _Root(Derivative):
    """The implicit derivative of f(x, p) = 0: J_p^T u with J_x^T u = -g."""

    graph: FunctionGraph
    count: int

    def pull(
        self, inputs: Sequence[Variable], outputs: Sequence[Variable], cotangents: Sequence[Variable | None]
    ) -> Sequence[Variable | None]:
        taken = inputs[self.count :]
        results = _over(self.graph, outputs, taken)
        sent = [T.zeros_like(o) if g is None else g for o, g in zip(outputs, cotangents, strict=True)]
        matrix = _jacobian(self.graph, outputs, taken)
        u = _parted(T.neg(T.linalg.solve(T.swapaxes(matrix, 0, 1), _joined(sent))), outputs)
        return [*(None for _ in outputs), *_pulled(results, u, outputs, taken)]


def _pulled(
    results: Sequence[Variable], u: Sequence[Variable], at: Sequence[Variable], taken: Sequence[Variable]
) -> list[Variable | None]:
    """Return the cotangents of what the equation reads besides its solution."""
    wanted = list(dict.fromkeys(v for v in taken if v.type.kind in "fc" and v not in at))
    found = dict(zip(wanted, pull_back(results, u, wanted, stop_at=set(at).union(taken)), strict=True))
    return [found.pop(v, None) for v in taken]


def _joined(values: Sequence[Any]) -> Any:
    """Return all elements as one vector."""
    return T.concatenate([T.ravel(v) for v in values]) if len(values) > 1 else T.ravel(values[0])


def _parted(vector: Any, like: Sequence[Any]) -> list[Any]:
    """Return the inverse of `_joined`."""
    if len(like) == 1:
        return [T.reshape(vector, lengths_of(like[0]))]
    found: list[Any] = []
    first: Any = T.constant(0, "int64")
    for v in like:
        end = T.add(first, T.size(v))
        found.append(T.cast(T.reshape(vector[first:end], lengths_of(v)), v.dtype))
        first = end
    return found


def _jacobian(graph: FunctionGraph, at: Sequence[Any], taken: Sequence[Variable]) -> Any:
    """Return the derivatives of all elements of the graph's outputs by all elements of its first inputs."""
    points = [TensorVariable(v.type) for v in at]
    results = _over(graph, points, taken)
    whole = _joined(results)
    seed = TensorVariable(whole.type)
    pulled = pull_back([whole], [seed], points, stop_at=set(points).union(taken))
    row = _joined([T.zeros_like(p) if g is None else g for p, g in zip(points, pulled, strict=True)])
    count = reduce(T.add, (T.size(v) for v in at))
    seeds = with_length(T.eye(T.size(whole), dtype=whole.dtype), 1, count, "root: the elements of fn's result")
    (rows,) = carried([row], {seed: seeds})
    return rebuild([rows], dict(zip(points, at, strict=True)))[0]
