"""Gradients before a rule reads them: clipped, with weight decay, in groups of parameters."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from .. import ops as T
from .. import tree
from ..graph import Variable
from ..ops.core.checks import shown
from ..ops.core.operands import with_dtype
from ..ops.core.tensor import as_tensor
from .common import Gradients, Parameters, Updates, pairs_of, require_rate


def _leaves(rule: str, gradients: Any) -> tuple[list[Any], Callable[[list[Any]], Any]]:
    """The gradients, and the function that gives others their form.  Raises TypeError for one of them alone."""
    is_one = isinstance(gradients, (Variable, str)) or not (isinstance(gradients, Iterable) or tree.is_tree(gradients))
    if is_one:
        raise TypeError(f"{rule}: gradients is {shown(gradients)}, expected a list, as ag.grad(loss, parameters) gives")
    found: list[Any] = []
    form = tree.flat(gradients if tree.is_tree(gradients) else list(gradients), found)
    return [as_tensor(g) for g in found], lambda others: tree.unflat(form, iter(others))


def clip_by_value(gradients: Any, limit: Any) -> Any:
    """Each element of a list or tree of gradients between -limit and limit, in the same form."""
    require_rate("clip_by_value", "limit", limit)
    found, formed = _leaves("clip_by_value", gradients)
    bounds = [_like(limit, g) for g in found]
    return formed([T.minimum(T.maximum(g, -b), b) for g, b in zip(found, bounds, strict=True)])


def _like(bound: Any, g: Any) -> Any:
    return with_dtype(bound, g.dtype) if isinstance(bound, Variable) else bound


def clip_by_norm(gradients: Any, max_norm: Any, norm_type: float = 2.0) -> Any:
    """Each gradient of a list or tree scaled down to a norm of `max_norm` at most, in the same form."""
    require_rate("clip_by_norm", "max_norm", max_norm)
    found, formed = _leaves("clip_by_norm", gradients)
    return formed([g * _factor(global_norm([g], norm_type), _like(max_norm, g)) for g in found])


def clip_by_global_norm(gradients: Any, max_norm: Any, norm_type: float = 2.0) -> Any:
    """A list or tree of gradients scaled by one factor, so that the norm of all elements is `max_norm` at most.

    The factor is max_norm / (norm + 1e-6), or 1, as in PyTorch.  Source: R. Pascanu, T. Mikolov and Y. Bengio, "On the
    difficulty of training recurrent neural networks", 2013.
    """
    require_rate("clip_by_global_norm", "max_norm", max_norm)
    found, formed = _leaves("clip_by_global_norm", gradients)
    norm = global_norm(found, norm_type)
    factor = _factor(norm, _like(max_norm, norm))
    return formed([g * with_dtype(factor, g.dtype) for g in found])


def _factor(norm: Any, bound: Any) -> Any:
    return T.minimum(bound / (norm + 1e-6), 1)


def global_norm(gradients: Any, norm_type: float = 2.0) -> Any:
    """The norm of all elements of all gradients: a scalar; `norm_type` may be infinite.  0 for no gradients."""
    (found, _), p = _leaves("global_norm", gradients), float(norm_type)
    if not found:
        return T.constant(0.0)
    if p == math.inf:
        tops = [T.max(T.abs(g)) for g in found]
        return T.max(T.stack(tops)) if len(tops) > 1 else tops[0]
    parts = [T.sum(T.square(g) if p == 2 else T.abs(g) ** p) for g in found]
    total = parts[0] if len(parts) == 1 else T.add(*parts)
    return T.sqrt(total) if p == 2 else total ** (1 / p)


def with_weight_decay(parameters: Parameters, gradients: Gradients, weight_decay: Any) -> Any:
    """g + weight_decay * p, in the form of the gradients.

    That is the derivative of the loss plus weight_decay / 2 times the sum of p^2.
    """
    pairs = list(pairs_of(parameters, gradients, "with_weight_decay", weight_decay=weight_decay))
    _, formed = _leaves("with_weight_decay", gradients)
    return formed([g + decay * p for p, g, (decay,) in pairs])


def in_groups(rule: Callable[..., Updates], groups: Sequence[Mapping[str, Any]], **common: Any) -> Updates:
    """The updates of `rule` for groups of parameters, each with options of its own.

        ag.optim.in_groups(ag.optim.adamw, [
            {"parameters": weights, "gradients": slopes, "weight_decay": 0.1},
            {"parameters": biases, "gradients": others, "weight_decay": 0.0},
        ], learning_rate=rate)

    A group has "parameters", "gradients" and options of the rule, which stand before those in `common`.  Raises
    TypeError for groups of another form, ValueError for a parameter in two groups.
    """
    updates: Updates = []
    seen: dict[Any, int] = {}
    if isinstance(groups, Mapping) or not isinstance(groups, Iterable):
        raise TypeError(f"in_groups: groups is {shown(groups)}, expected a list of dicts")
    for k, group in enumerate(groups):
        if not isinstance(group, Mapping) or not {"parameters", "gradients"} <= set(group):
            raise TypeError(f'in_groups: group {k} is {shown(group)}, expected a dict with "parameters", "gradients" '
                            f"and options of the rule")  # fmt: skip
        for p in tree.leaves(group["parameters"]):
            if seen.setdefault(p, k) != k:
                raise ValueError(f"in_groups: {p.name or p.type} is in the groups {seen[p]} and {k}")
        updates += rule(**{**common, **group})
    return updates
