"""`theano.grad` and related functions, and functions that change gradients."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from .... import ops as T
from ....calculus.calculus import jacobian as core_jacobian
from ....calculus.calculus import jvp, vjp
from ....calculus.stable import stable_forms
from ....graph import NoGradient
from ....ops.core.backward import pull_back
from ....record.frames import warn
from ..flags import config
from ..running.functions import function
from ..stored.bundles import parts_of
from ..stored.types import SparseVariable
from ..tensors import slopes
from ..tensors.dtypes import DISCRETE
from ..tensors.variables import Variable, as_tensor_variable, lower, wrap, wrapped
from .graphs import as_list
from .user_ops import no_derivative


class DisconnectedInputError(ValueError):
    """A gradient by a variable that the cost is not computed from."""


class NullTypeGradError(TypeError):
    """A gradient through an op without one."""


class GradientError(Exception):
    """A gradient that differs from finite differences."""


class DisconnectedType:
    """The type of a gradient that does not exist."""


def format_as(use_list: bool, use_tuple: bool, outputs: Any) -> Any:
    """The outputs as a list, a tuple or one variable."""
    found = as_list(outputs)
    return found if use_list else tuple(found) if use_tuple else found[0]


def _like(given: Any, found: Sequence[Any]) -> Any:
    return format_as(isinstance(given, list), isinstance(given, tuple), list(found))


def grad(
    cost: Any, wrt: Any, consider_constant: Sequence[Any] | None = None, disconnected_inputs: str = "raise",
    add_names: bool = True, known_grads: Mapping[Any, Any] | None = None, return_disconnected: str = "zero",
    null_gradients: str = "raise",
) -> Any:  # fmt: skip
    """The derivatives of a scalar by each variable of `wrt`, of its shape and dtype.

    `disconnected_inputs`: "raise", "warn" or "ignore" variables that the cost is not computed from; their derivative
    is zero, or as `return_disconnected` says ("zero", "None").  `known_grads`: derivatives by intermediate values that
    are given instead of computed; with a cost of None they are all there is.  By and of integers it is zeros.  By a
    sparse matrix it is a sparse matrix of its pattern.

    Raises TypeError for a cost that is no real scalar, DisconnectedInputError, and NullTypeGradError for an op without
    derivative.
    """
    if disconnected_inputs not in ("raise", "warn", "ignore"):
        raise ValueError(f"grad: disconnected_inputs is {disconnected_inputs!r}; expected 'raise', 'warn' or 'ignore'")
    if return_disconnected not in ("zero", "None", "Disconnected"):
        raise ValueError(f"grad: return_disconnected is {return_disconnected!r}; expected 'zero' or 'None'")
    if any(isinstance(v, SparseVariable) for v in as_list(wrt)):
        how = (consider_constant, disconnected_inputs, add_names, known_grads, return_disconnected, null_gradients)
        return _like(wrt, _in_pattern(as_list(wrt), grad(cost, [parts_of(v)[0] for v in as_list(wrt)], *how)))
    variables = [_variable(v) for v in as_list(wrt)]
    known = {lower(v): lower(_cotangent(g, v)) for v, g in (known_grads or {}).items()}
    costs = _costs(cost, known)
    seeds = [T.constant(1, c.dtype) if c.dtype not in DISCRETE else None for c in costs]
    fixed = [lower(parts_of(v)[0]) for v in as_list(consider_constant or [])]
    by = [v.core for v in variables]
    try:
        found = pull_back(stable_forms(costs, [*by, *fixed, *known]), seeds, by, constant=fixed, known=known)
    except NoGradient as error:
        raise NullTypeGradError(f"grad: {error}") from None
    undefined = no_derivative([g for g in found if g is not None])
    if undefined:
        raise NullTypeGradError(f"grad: {undefined}; hold it constant by consider_constant, or by disconnected_grad(x)")
    results = [
        _connected(v, g, disconnected_inputs, return_disconnected, cost) for v, g in zip(variables, found, strict=True)
    ]
    if add_names and getattr(cost, "name", None):
        for v, g in zip(variables, results, strict=True):
            if g is not None and v.name and g.name is None and g.core.owner is not None:
                g.name = f"(d{cost.name}/d{v.name})"
    return _like(wrt, results)


def _in_pattern(variables: list[Any], found: list[Any]) -> list[Any]:
    """The derivatives by sparse variables as sparse variables of their patterns."""
    return [
        v.with_data(g) if isinstance(v, SparseVariable) and g is not None else g
        for v, g in zip(variables, found, strict=True)
    ]


def _variable(v: Any) -> Any:
    if not isinstance(v, Variable):
        raise TypeError(f"grad: wrt must be a variable or a list of them, got {type(v).__name__} {v!r}"[:200])
    return v


def _cotangent(value: Any, like: Any) -> Any:
    """A derivative that is given, in the dtype of its variable."""
    found = as_tensor_variable(value)
    return found.astype(like.dtype) if found.dtype != like.dtype else found


def _costs(cost: Any, known: Mapping[Any, Any]) -> list[Any]:
    if cost is None:
        if not known:
            raise ValueError("grad: cost is None and known_grads are missing; give one of them")
        return []
    cost = as_tensor_variable(cost)
    if cost.ndim:
        message = f"got {cost} of type {cost.type}; use cost.sum() or cost.mean()"
        raise TypeError(f"grad: the cost must be a scalar, {message}")
    if cost.dtype.startswith("complex"):
        raise TypeError(f"grad: the cost must be a real scalar, got {cost} of dtype {cost.dtype}")
    return [cost.core]


def _connected(variable: Any, found: Any, disconnected: str, wanted: str, cost: Any) -> Any:
    """The derivative, or its replacement if no path connects the cost to the variable."""
    if found is not None:
        return wrap(found, variable, cost)
    integral = _reads(cost, variable) and (variable.dtype in DISCRETE or cost.dtype in DISCRETE)
    if not integral:
        message = f"grad: the cost is not computed from {variable}, or only through values that have no derivative"
        if disconnected == "raise":
            raise DisconnectedInputError(f"{message}; pass disconnected_inputs='ignore' for zeros, or drop it from wrt")
        if disconnected == "warn":
            warn(message)
        if wanted != "zero":
            return None
    dtype = config.floatX if variable.dtype in DISCRETE else variable.dtype
    return wrap(T.zeros_like(variable.core, dtype), variable)


def _reads(cost: Any, variable: Any) -> bool:
    """Whether a cost is computed from a variable."""
    return cost is not None and variable.core in _ancestors(cost.core)


def _ancestors(core: Any) -> set[Any]:
    """All values that one is computed from."""
    found, waiting = {core}, [core]
    while waiting:
        node = waiting.pop().owner
        fresh = [] if node is None else [i for i in node.inputs if i not in found]
        found.update(fresh)
        waiting += fresh
    return found


def Lop(f: Any, wrt: Any, eval_points: Any, consider_constant: Any = None, disconnected_inputs: str = "raise") -> Any:
    """The vector-Jacobian product: `eval_points` times the derivatives of `f` by `wrt`."""
    return wrapped(vjp(lower(f), lower(wrt), lower(_points(eval_points))))


def Rop(f: Any, wrt: Any, eval_points: Any, disconnected_outputs: str = "raise", **options: Any) -> Any:
    """The Jacobian-vector product: how `f` changes as `wrt` moves along `eval_points`."""
    return wrapped(jvp(lower(f), lower(wrt), lower(_points(eval_points))))


def _points(points: Any) -> Any:
    if isinstance(points, (list, tuple)):
        return type(points)([as_tensor_variable(p) for p in points])
    return as_tensor_variable(points)


def jacobian(expression: Any, wrt: Any, consider_constant: Any = None, disconnected_inputs: str = "raise") -> Any:
    """The derivatives of a scalar or vector by `wrt`: a row for each element."""
    if expression.ndim > 1:
        raise ValueError(f"jacobian: the expression must be a scalar or a vector, got {expression.type}; flatten it")
    if not expression.ndim:
        return grad(expression, wrt, consider_constant, disconnected_inputs)
    how = "raise" if disconnected_inputs == "raise" else "zero"
    try:
        return wrapped(core_jacobian(lower(expression), lower(wrt), disconnected=how))
    except ValueError as error:
        raise DisconnectedInputError(str(error)) from None


def hessian(cost: Any, wrt: Any, consider_constant: Any = None, disconnected_inputs: str = "raise") -> Any:
    """The second derivatives of a scalar by each vector of `wrt`: a matrix for each."""
    found = []
    for v in as_list(wrt):
        if v.ndim != 1:
            raise ValueError(f"hessian: wrt must be a vector or a list of them, got {v} of type {v.type}; flatten it")
        found.append(jacobian(grad(cost, v, consider_constant, disconnected_inputs), v, None, "ignore"))
    return _like(wrt, found)


def subgraph_grad(wrt: Any, end: Any, start: Any = None, cost: Any = None, details: bool = False) -> Any:
    """Derivatives by `wrt` and by `end`, from the derivatives `start` and a cost, without going beyond `end`."""
    ends, variables = as_list(end), as_list(wrt)
    both = [*variables, *ends]
    total = grad(cost, both, list(ends), "ignore", known_grads=start) if cost is not None or start else []
    return total[: len(variables)], total[len(variables) :]


# --- what a gradient is


def disconnected_grad(x: Any) -> Any:
    """`x`, which gradients treat as a constant."""
    x = as_tensor_variable(x)
    return wrap(T.stop_gradient(x.core), x)


def grad_clip(x: Any, lower_bound: Any, upper_bound: Any) -> Any:
    """`x`, whose derivative is clipped."""
    x = as_tensor_variable(x)
    return wrap(slopes.clipping(float(lower_bound), float(upper_bound))(x.core), x)


def grad_scale(x: Any, multiplier: Any) -> Any:
    """`x`, whose derivative is multiplied."""
    x = as_tensor_variable(x)
    return wrap(slopes.scaling(float(multiplier))(x.core), x)


def zero_grad(x: Any) -> Any:
    """`x`, whose derivative is zero."""
    x = as_tensor_variable(x)
    return wrap(slopes.zeroing()(x.core), x)


def undefined_grad(x: Any) -> Any:
    """`x`, whose derivative does not exist: gradients that need it raise NullTypeGradError."""
    x = as_tensor_variable(x)
    return wrap(slopes.refusing()(x.core), x)


# --- checks


class numeric_grad:  # noqa: N801  # Theano's name
    """The derivatives of a Python function by finite differences: `gf`."""

    def __init__(self, f: Callable[..., Any], pt: Any, eps: float | None = None, out_type: Any = None) -> None:
        points = [np.array(p, dtype="float64") for p in as_list(pt)]
        step = eps or 1e-7
        found = []
        for point in points:
            derivative = np.empty_like(point)
            for k in np.ndindex(point.shape):
                kept = point[k]
                point[k] = kept + step
                above = float(np.asarray(f(*points)))
                point[k] = kept - step
                derivative[k] = (above - float(np.asarray(f(*points)))) / (2 * step)
                point[k] = kept
            found.append(derivative)
        self.gf: Any = found if isinstance(pt, (list, tuple)) else found[0]


def verify_grad(
    fun: Callable[..., Any], pt: Sequence[Any], n_tests: int = 2, rng: Any = None, eps: float | None = None,
    out_type: Any = None, abs_tol: float | None = None, rel_tol: float | None = None, mode: Any = None,
    cast_to_output_type: bool = False, no_debug_ref: bool = True,
) -> None:  # fmt: skip
    """Compare the derivatives of an expression with finite differences at the point `pt`.

    Raises GradientError, naming the argument and the worst difference.
    """
    generator = np.random.RandomState(0) if rng is None else rng
    points = [np.asarray(p, dtype="float64") for p in pt]
    inputs = [as_tensor_variable(p).type() for p in points]
    output = fun(*inputs)
    value = function(inputs, output, mode=mode, on_unused_input="ignore")
    for _ in range(n_tests):
        weights = np.asarray(generator.uniform(0.5, 1.5, np.shape(value(*points))))
        cost = (output * weights).sum()
        found = grad(cost, inputs, disconnected_inputs="ignore")
        derivatives = function(inputs, found, mode=mode, on_unused_input="ignore")
        numeric = numeric_grad(lambda *p, w=weights: (np.asarray(value(*p)) * w).sum(), points, eps).gf
        for n, (ours, theirs) in enumerate(zip(derivatives(*points), numeric, strict=True)):
            if not np.allclose(ours, theirs, rtol=rel_tol or 1e-4, atol=abs_tol or 1e-4):
                worst = float(np.abs(ours - theirs).max())
                raise GradientError(f"the derivative by argument {n} differs from finite differences by {worst:g}")
