"""Gradient descent: updates for `ag.function` from parameters and gradients.

Every rule takes `parameters`, a list or a tree of shared variables, and `gradients`, as many expressions in the same
form, and returns a list of pairs (shared variable, new value): one for each parameter, and one for each accumulator the
rule keeps (a shared variable of the parameter's shape and dtype, zero at first).  Rates may be numbers or scalar
expressions; numbers take the parameter's dtype.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from . import ops as T
from . import tree
from .graph import Variable
from .ops.core.checks import describe, shown
from .ops.core.shared import SharedVariable, shared

__all__ = ["adadelta", "adagrad", "adam", "adamax", "momentum", "nadam", "nesterov", "rmsprop", "sgd"]

Updates = list[tuple[SharedVariable, Any]]
Parameters = Sequence[SharedVariable]
Gradients = Sequence[Variable]


def __dir__() -> list[str]:
    return __all__


def _pairs(
    parameters: Parameters, gradients: Gradients, rule: str, **rates: Any
) -> list[tuple[SharedVariable, Variable]]:
    """The pairs (parameter, gradient).  Raises TypeError or ValueError for other arguments of `rule`, naming them."""
    fix = f"write ag.optim.{rule}(parameters, ag.grad(loss, parameters)) for a list of shared variables"
    for name, given in (("parameters", parameters), ("gradients", gradients)):
        is_one = isinstance(given, (Variable, str)) or not (isinstance(given, Iterable) or tree.is_tree(given))
        if is_one or given is None or isinstance(parameters, Mapping) < isinstance(given, Mapping):
            raise TypeError(f"{rule}: {name} is {_shown_value(given)}, expected a list; {fix}")
    parameters, gradients = _leaves(rule, parameters, gradients)
    if len(parameters) != len(gradients):
        raise ValueError(f"{rule}: {len(parameters)} parameters, {len(gradients)} gradients; {fix}")
    for n, (p, g) in enumerate(zip(parameters, gradients, strict=True)):
        _require_parameter(rule, n, p)
        if p in parameters[:n]:
            raise ValueError(f"{rule}: parameter {n} ({p.name or p.type}) is given twice")
        if g is None or isinstance(g, str) or (g.ndim if isinstance(g, Variable) else np.ndim(g)) > p.ndim:
            raise TypeError(f"{rule}: gradient {n} is {_shown_value(g)}, expected an expression like {describe(p)}")
    for name, rate in rates.items():
        _require_rate(rule, name, rate)
    return list(zip(parameters, gradients, strict=True))


def _leaves(rule: str, parameters: Any, gradients: Any) -> tuple[list[Any], list[Any]]:
    """Return the leaves of both trees.  Raises TypeError, with the path, if their structures differ."""
    parameters = parameters if tree.is_tree(parameters) else list(parameters)
    if isinstance(parameters, (list, tuple)) and not any(map(tree.is_tree, parameters)):
        return list(parameters), list(gradients)
    found: list[Any] = []
    form = tree.flat(parameters, found)
    return found, tree.in_form(gradients, form, f"{rule}: gradients")


def _require_parameter(rule: str, n: int, p: Any) -> None:
    if not isinstance(p, SharedVariable):
        raise TypeError(f"{rule}: parameter {n} is {_shown_value(p)}; expected a variable made by ag.shared(...)")
    if p.type.kind not in "fc":
        raise TypeError(f"{rule}: parameter {n} is {describe(p)}; expected floating-point numbers")


def _require_rate(rule: str, name: str, rate: Any) -> None:
    is_scalar = rate.ndim == 0 if isinstance(rate, Variable) else isinstance(rate, (int, float, np.number, np.ndarray))
    if not is_scalar or np.ndim(0 if isinstance(rate, Variable) else rate):
        raise TypeError(f"{rule}: {name} is {_shown_value(rate)}; expected a number or a scalar expression")


def _shown_value(value: Any) -> str:
    return describe(value) if isinstance(value, Variable) else f"{type(value).__name__} {shown(value)}"


def _state(parameter: SharedVariable, role: str) -> SharedVariable:
    name = f"{parameter.name}_{role}" if parameter.name else None
    return shared(np.zeros_like(parameter.get_value(borrow=True)), name=name, shape=parameter.type.shape)


def _steps(parameter: SharedVariable) -> tuple[SharedVariable, Any]:
    """A counter in the parameter's dtype, and its value after this step."""
    count = shared(np.zeros((), parameter.dtype), name="steps")
    return count, count + 1


def sgd(parameters: Parameters, gradients: Gradients, learning_rate: Any = 0.01) -> Updates:
    """p - rate * g"""
    pairs = _pairs(parameters, gradients, "sgd", learning_rate=learning_rate)
    return [(p, p - learning_rate * g) for p, g in pairs]


def momentum(parameters: Parameters, gradients: Gradients, learning_rate: Any = 0.01, momentum: Any = 0.9) -> Updates:
    """v = momentum * v - rate * g; p + v  (Polyak 1964)"""
    updates: Updates = []
    for p, g in _pairs(parameters, gradients, "momentum", learning_rate=learning_rate, momentum=momentum):
        velocity = _state(p, "velocity")
        new = momentum * velocity - learning_rate * g
        updates += [(velocity, new), (p, p + new)]
    return updates


def nesterov(parameters: Parameters, gradients: Gradients, learning_rate: Any = 0.01, momentum: Any = 0.9) -> Updates:
    """v = momentum * v - rate * g; p + momentum * v - rate * g  (Sutskever et al. 2013, in Bengio's form)"""
    updates: Updates = []
    for p, g in _pairs(parameters, gradients, "nesterov", learning_rate=learning_rate, momentum=momentum):
        velocity = _state(p, "velocity")
        step = learning_rate * g
        new = momentum * velocity - step
        updates += [(velocity, new), (p, p + momentum * new - step)]
    return updates


def adagrad(parameters: Parameters, gradients: Gradients, learning_rate: Any = 0.01, epsilon: Any = 1e-7) -> Updates:
    """s = s + g^2; p - rate * g / (sqrt(s) + epsilon)  (Duchi, Hazan, Singer 2011)"""
    updates: Updates = []
    for p, g in _pairs(parameters, gradients, "adagrad", learning_rate=learning_rate, epsilon=epsilon):
        squares = _state(p, "squares")
        new = squares + T.square(g)
        updates += [(squares, new), (p, p - learning_rate * g / (T.sqrt(new) + epsilon))]
    return updates


def rmsprop(
    parameters: Parameters, gradients: Gradients, learning_rate: Any = 0.001, rho: Any = 0.9, epsilon: Any = 1e-7
) -> Updates:
    """s = rho * s + (1 - rho) * g^2; p - rate * g / (sqrt(s) + epsilon)  (Tieleman, Hinton 2012)"""
    updates: Updates = []
    for p, g in _pairs(parameters, gradients, "rmsprop", learning_rate=learning_rate, rho=rho, epsilon=epsilon):
        squares = _state(p, "squares")
        new = rho * squares + (1 - rho) * T.square(g)
        updates += [(squares, new), (p, p - learning_rate * g / (T.sqrt(new) + epsilon))]
    return updates


def adadelta(
    parameters: Parameters, gradients: Gradients, learning_rate: Any = 1.0, rho: Any = 0.95, epsilon: Any = 1e-6
) -> Updates:
    """s = rho * s + (1 - rho) * g^2; d = g * sqrt(t + epsilon) / sqrt(s + epsilon); p - rate * d  (Zeiler 2012)

    t is to the steps d what s is to the gradients g.
    """
    updates: Updates = []
    for p, g in _pairs(parameters, gradients, "adadelta", learning_rate=learning_rate, rho=rho, epsilon=epsilon):
        squares, steps = _state(p, "squares"), _state(p, "steps")
        new = rho * squares + (1 - rho) * T.square(g)
        step = g * T.sqrt(steps + epsilon) / T.sqrt(new + epsilon)
        updates += [(squares, new), (steps, rho * steps + (1 - rho) * T.square(step)), (p, p - learning_rate * step)]
    return updates


def adam(
    parameters: Parameters, gradients: Gradients, learning_rate: Any = 0.001, beta1: Any = 0.9, beta2: Any = 0.999,
    epsilon: Any = 1e-8,
) -> Updates:  # fmt: skip
    """Means m of g and v of g^2, corrected for a start at zero; p - rate * m / (sqrt(v) + epsilon)  (Kingma 2015)"""
    updates: Updates = []
    rates = {"learning_rate": learning_rate, "beta1": beta1, "beta2": beta2, "epsilon": epsilon}
    for p, g in _pairs(parameters, gradients, "adam", **rates):
        mean, squares, (count, t) = _state(p, "mean"), _state(p, "squares"), _steps(p)
        m, v = beta1 * mean + (1 - beta1) * g, beta2 * squares + (1 - beta2) * T.square(g)
        rate = learning_rate * T.sqrt(1 - beta2**t) / (1 - beta1**t)
        # The paper's epsilon is added to the corrected sqrt(v): here the correction is in the rate.
        new = p - rate * m / (T.sqrt(v) + epsilon * T.sqrt(1 - beta2**t))
        updates += [(mean, m), (squares, v), (count, t), (p, new)]
    return updates


def adamax(
    parameters: Parameters, gradients: Gradients, learning_rate: Any = 0.002, beta1: Any = 0.9, beta2: Any = 0.999,
    epsilon: Any = 1e-8,
) -> Updates:  # fmt: skip
    """Adam with the largest decayed |g| in place of sqrt(v)  (Kingma, Ba 2015, section 7.1)"""
    updates: Updates = []
    rates = {"learning_rate": learning_rate, "beta1": beta1, "beta2": beta2, "epsilon": epsilon}
    for p, g in _pairs(parameters, gradients, "adamax", **rates):
        mean, largest, (count, t) = _state(p, "mean"), _state(p, "largest"), _steps(p)
        m, u = beta1 * mean + (1 - beta1) * g, T.maximum(beta2 * largest, T.abs(g))
        updates += [(mean, m), (largest, u), (count, t), (p, p - learning_rate / (1 - beta1**t) * m / (u + epsilon))]
    return updates


def nadam(
    parameters: Parameters, gradients: Gradients, learning_rate: Any = 0.001, beta1: Any = 0.9, beta2: Any = 0.999,
    epsilon: Any = 1e-8,
) -> Updates:  # fmt: skip
    """Adam with Nesterov momentum  (Dozat 2016, without the schedule of beta1)"""
    updates: Updates = []
    rates = {"learning_rate": learning_rate, "beta1": beta1, "beta2": beta2, "epsilon": epsilon}
    for p, g in _pairs(parameters, gradients, "nadam", **rates):
        mean, squares, (count, t) = _state(p, "mean"), _state(p, "squares"), _steps(p)
        m, v = beta1 * mean + (1 - beta1) * g, beta2 * squares + (1 - beta2) * T.square(g)
        ahead = beta1 * m / (1 - beta1 ** (t + 1)) + (1 - beta1) * g / (1 - beta1**t)
        updates += [(mean, m), (squares, v), (count, t)]
        updates += [(p, p - learning_rate * ahead / (T.sqrt(v / (1 - beta2**t)) + epsilon))]
    return updates
