"""Parts of all rules of gradient descent: checks of parameters and gradients, rates in a dtype, accumulators."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from .. import ops as T
from .. import tree
from ..graph import Variable
from ..ops.core.checks import describe, shown
from ..ops.core.operands import with_dtype
from ..ops.core.shared import SharedVariable, shared
from ..record.spelling import counted

Updates = list[tuple[SharedVariable, Any]]
Parameters = Sequence[SharedVariable]
Gradients = Sequence[Variable]


def pairs_of(
    parameters: Parameters, gradients: Gradients, rule: str, **rates: Any
) -> Iterator[tuple[SharedVariable, Any, list[Any]]]:
    """Yield each parameter, its gradient, and the rates, expressions among them in the parameter's dtype.

    Raises TypeError or ValueError for other arguments of `rule`, naming them.
    """
    for p, g in _checked(parameters, gradients, rule, rates):
        real = p.type.kind == "f"
        yield p, g, [with_dtype(r, p.dtype) if real and isinstance(r, Variable) else r for r in rates.values()]


def _checked(
    parameters: Parameters, gradients: Gradients, rule: str, rates: Mapping[str, Any]
) -> list[tuple[SharedVariable, Variable]]:
    """The pairs (parameter, gradient).  Raises TypeError or ValueError for other arguments of `rule`, naming them."""
    fix = f"write ag.optim.{rule}(parameters, ag.grad(loss, parameters)) for a list of shared variables"
    for name, given in (("parameters", parameters), ("gradients", gradients)):
        is_one = isinstance(given, (Variable, str)) or not (isinstance(given, Iterable) or tree.is_tree(given))
        if is_one or given is None or isinstance(parameters, Mapping) < isinstance(given, Mapping):
            raise TypeError(f"{rule}: {name} is {_shown_value(given)}, expected a list; {fix}")
    parameters, gradients, names = _leaves(rule, parameters, gradients)
    if len(parameters) != len(gradients):
        raise ValueError(f"{rule}: {counted(len(parameters), 'parameter')}, {len(gradients)} gradients; {fix}")
    for n, (p, g) in enumerate(zip(parameters, gradients, strict=True)):
        _require_parameter(rule, names[n], p)
        if p in parameters[:n]:
            raise ValueError(f"{rule}: {names[n]} ({p.name or p.type}) is given twice")
        if g is None or isinstance(g, str) or (g.ndim if isinstance(g, Variable) else np.ndim(g)) > p.ndim:
            raise TypeError(f"{rule}: gradient {n} is {_shown_value(g)}, expected an expression like {describe(p)}")
    for name, rate in rates.items():
        require_rate(rule, name, rate)
    return list(zip(parameters, gradients, strict=True))


def _leaves(rule: str, parameters: Any, gradients: Any) -> tuple[list[Any], list[Any], list[str]]:
    """Return the leaves of both trees, and their names.  Raises TypeError, with the path, if structures differ."""
    parameters = parameters if tree.is_tree(parameters) else list(parameters)
    if isinstance(parameters, (list, tuple)) and not any(map(tree.is_tree, parameters)):
        return list(parameters), list(gradients), [f"parameter {n}" for n in range(len(parameters))]
    found: list[Any] = []
    form = tree.flat(parameters, found)
    return found, tree.in_form(gradients, form, f"{rule}: gradients"), tree.places(form, "parameters")


def _require_parameter(rule: str, name: str, p: Any) -> None:
    if not isinstance(p, SharedVariable):
        raise TypeError(f"{rule}: {name} is {_shown_value(p)}; expected a variable made by ag.shared(...)")
    if p.type.kind not in "fc":
        raise TypeError(f"{rule}: {name} is {describe(p)}; expected floating-point numbers")


def require_rate(rule: str, name: str, rate: Any) -> None:
    is_scalar = rate.ndim == 0 if isinstance(rate, Variable) else isinstance(rate, (int, float, np.number, np.ndarray))
    if not is_scalar or np.ndim(0 if isinstance(rate, Variable) else rate):
        raise TypeError(f"{rule}: {name} is {_shown_value(rate)}; expected a number or a scalar expression")


def _shown_value(value: Any) -> str:
    return describe(value) if isinstance(value, Variable) else f"{type(value).__name__} {shown(value)}"


def state_of(parameter: SharedVariable, role: str) -> SharedVariable:
    """An accumulator of the parameter's shape and dtype, zero at first."""
    name = f"{parameter.name}_{role}" if parameter.name else None
    return shared(np.zeros_like(parameter.get_value(borrow=True)), name=name, shape=parameter.type.shape)


def steps_of(parameter: SharedVariable) -> tuple[SharedVariable, Any]:
    """A counter in the parameter's dtype, and its value after this step."""
    count = shared(np.zeros((), parameter.dtype), name="steps")
    return count, count + 1


def decayed(state: Any, rate: Any, value: Any) -> Any:
    """The next value of a moving average: rate * state + (1 - rate) * value."""
    return rate * state + (1 - rate) * value


def moments_of(parameter: SharedVariable, gradient: Any, beta1: Any, beta2: Any) -> tuple[Any, Any, Any, Updates]:
    """Moving averages of g and of g^2 after this step, the number of steps, and the updates of all three."""
    mean, squares, (count, t) = state_of(parameter, "mean"), state_of(parameter, "squares"), steps_of(parameter)
    m, v = decayed(mean, beta1, gradient), decayed(squares, beta2, T.square(gradient))
    return m, v, t, [(mean, m), (squares, v), (count, t)]
