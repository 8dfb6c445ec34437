"""Memory of the expressions that derivatives were taken of: `ag.function` counts their free variables as used.

The derivative of `3 * s` by s is 3, which depends on nothing; still `ag.function([s], ag.grad(3 * s, s))` is meant.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any
from weakref import WeakKeyDictionary

from .. import ops as T
from ..graph import Variable, leaves, toposort

_sources: WeakKeyDictionary[Variable, tuple[Variable, ...]] = WeakKeyDictionary()
"""Derivative -> the expressions that it was taken of; weak, so it dies with the derivative."""


def derived(derivatives: Iterable[Variable], of: Sequence[Variable]) -> list[Any]:
    """Record that the derivatives belong to the expressions `of`; return the derivatives."""
    same = T.ELEMENTWISE["identity"]
    found = [same(d) if d.owner is None else d for d in derivatives]  # a leaf is not this derivative alone
    _sources.update((d, tuple(of)) for d in found)
    return found


def variables_of_derivatives(outputs: Sequence[Variable]) -> set[Variable]:
    """The free variables of all expressions that derivatives among `outputs`, and below them, were taken of."""
    found: set[Variable] = set()
    pending, seen = list(outputs), set(outputs)
    while pending:
        reached = [*pending, *(o for node in toposort(pending) for o in node.outputs)]
        pending = [s for v in reached for s in _sources.get(v, ())]
        pending = [s for s in dict.fromkeys(pending) if s not in seen]
        seen.update(pending)
        found.update(leaves(pending))
    return found
