"""Facets: the record of a class of ops, which each layer fills with the functions that implement its part.

    record_of(Softmax)["batching"]     the batching rule, from ops/control/batching.py
    record_of(Softmax)["planner"]      the planner, from cbackend/program/plan.py
    missing(Softmax)                   the facets that it lacks, without those that it lacks for a reason

The class itself defines the type rule, the meaning, the lengths and the derivative.  Facets of other layers are given
to `register` where their functions are, for `import` runs one way; the tables by class are lookups in the records.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from ..record import record
from . import op as base

if TYPE_CHECKING:
    from .op import Op

Kind = TypeVar("Kind", bound="type[Op]")


@record
class Facet:
    """One kind of knowledge about ops: its name in errors, and how to add it; `{kind}` is the class."""

    title: str
    how: str
    method: str = ""
    """The method of `Op` that a class overrides; empty for what is registered."""


FACETS: Mapping[str, Facet] = {
    "type_rule": Facet("type rule", "define infer(self, inputs) in {kind}", "infer"),
    "meaning": Facet("meaning in NumPy", "define evaluate(self, *arrays) in {kind}", "evaluate"),
    "lengths": Facet("rule for lengths", "define dims(self, node, inputs) in {kind}", "dims"),
    "derivative": Facet("derivative", "define vjp(self, node, cotangents) in {kind}", "vjp"),
    "batching": Facet("batching rule", "ag.register_op({name}, batching=rule)"),
    "planner": Facet("planner for C", "ag.register_op({name}, planner=plan)"),
    "work": Facet("count of operations", "ag.register_op({name}, work=count)"),
}
_LACKS = "lacks"
"""Key of a record's entry that states why facets are missing."""


def _own(kind: type) -> Mapping[str, Any]:
    """The facets that are registered for a class itself."""
    found: Mapping[str, Any] = vars(kind).get("__facets__", {})
    return found


def register(kind: Kind, *, lacks: Mapping[str, str] | None = None, **facets: Any) -> Kind:
    """Add facets to the record of a class of ops; subclasses have them too.  Returns the class.

    Args:
        kind: The class; it defines the type rule, the meaning, the lengths and the derivative itself.
        lacks: Reasons for facets that it goes without, by name.
        facets: `batching`, `planner` or `work`: the batching rule for `ag.vmap`, a function of the node, its inputs,
            flags that tell which inputs have the axis of the examples, and the examples; the planner of the C engine;
            the count of operations for profiles.
    """
    if not (isinstance(kind, type) and issubclass(kind, base.Op)):
        raise TypeError(f"register_op: expected a class derived from Op, got {kind!r}")
    registered = [name for name, facet in FACETS.items() if not facet.method]
    for name in facets:
        if name not in registered:
            raise TypeError(f"register_op: {name!r} is no facet; expected one of {', '.join(registered)}")
    own = _own(kind)
    for name in facets:
        if name in own:
            raise ValueError(f"register_op: {kind.__name__} has a {FACETS[name].title} already")
    kind.__facets__ = {**own, **facets, _LACKS: {**own.get(_LACKS, {}), **(lacks or {})}}
    return kind


def facet_of(kind: type[Op], name: str) -> Any:
    """The registered facet of a class, or of the nearest base that has it; None if there is none."""
    for parent in kind.__mro__:
        own = _own(parent)
        if name in own:
            return own[name]
    return None


def classes_with(name: str) -> set[type[Op]]:
    """The classes for which a facet is registered."""
    found, stack = set(), [base.Op]
    while stack:
        kind = stack.pop()
        stack += kind.__subclasses__()
        if name in _own(kind):
            found.add(kind)
    return found


def record_of(kind: type[Op]) -> dict[str, Any]:
    """The functions that implement each facet of a class; None for a missing facet."""
    found = {name: _inherited(kind, f.method) if f.method else facet_of(kind, name) for name, f in FACETS.items()}
    return found | {"unread": kind.unread, "fallible": kind.fallible}


def _inherited(kind: type[Op], method: str) -> Any:
    """The method of a class; None if it inherits that of `Op`, which raises."""
    own = getattr(kind, method)
    return None if own is getattr(base.Op, method) else own


def reason(kind: type[Op], name: str) -> str:
    """The stated reason why a class has no such facet; empty if none was given."""
    for parent in kind.__mro__:
        found = _own(parent).get(_LACKS, {}).get(name)
        if found is not None:
            return str(found)
    return ""


def missing(kind: type[Op]) -> tuple[str, ...]:
    """The facets of loaded layers that a class lacks without a stated reason."""
    return tuple(n for n in FACETS if record_of(kind)[n] is None and not reason(kind, n))


def lacking(kind: type[Op], name: str) -> str:
    """The error text for a missing facet: its name, and the reason or how to add it."""
    why = reason(kind, name)
    return f"no {FACETS[name].title}{f': {why}' if why else f'; {how_to_add(kind, name)}'}"


def how_to_add(kind: type[Op], name: str) -> str:
    """How to add a facet to a class, and the file of the class."""
    file = getattr(sys.modules.get(kind.__module__), "__file__", None) or kind.__module__
    return FACETS[name].how.format(kind=f"{kind.__name__} ({file})", name=kind.__name__)
