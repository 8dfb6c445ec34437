"""Facets: the kinds of knowledge about a class of ops, each declared in the class.

    facet_of(Softmax, "batching")      the batching rule of the class, None if it has none
    reason(Unique, "batching")         the stated reason why it has none
    missing(Softmax)                   the facets that it neither has nor states a reason for

A class has methods for most facets, `picture` is a value, and `lacks` states why it goes without one:

    class Unique(TensorOp):
        name = "unique"
        picture = Kind.OTHER
        lacks = Lacks(batching="its lengths would differ from one example to the next", ...)

A base answers for its subclasses; `Op` itself answers nothing.  The planner and the count of operations for profiles
belong to the C engine, which has a table of them for our classes; `register` adds them to classes from outside.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from enum import Enum
from typing import Any, ClassVar, TypeVar

from ..record import record

OpClass = TypeVar("OpClass", bound="type[Faceted]")
K = TypeVar("K")


class Kind(str, Enum):
    """The kind of an op, by which pictures colour it."""

    ELEMENTWISE = "elementwise"
    REDUCTION = "reduction"
    """Reductions, passes along an axis, pools and sorts."""
    PRODUCT = "product"
    """Products of matrices, convolutions and attention, in all their formats."""
    SHAPE = "shape"
    """Layouts, dtypes, lengths and filled arrays."""
    INDEX = "index"
    FUSED = "fused"
    """Ops made of ops."""
    OTHER = "other"


@record
class Facet:
    """One facet: its name in errors, how to add it (`{kind}` is the class), and the attribute that has it."""

    title: str
    how: str
    attribute: str


FACETS: Mapping[str, Facet] = {
    "type_rule": Facet("type rule", "define infer(self, inputs) in {kind}", "infer"),
    "meaning": Facet("meaning in NumPy", "define evaluate(self, *arrays) in {kind}", "evaluate"),
    "lengths": Facet("rule for lengths", "define dims(self, node, inputs) in {kind}", "dims"),
    "derivative": Facet("derivative", "define vjp(self, node, cotangents) in {kind}", "vjp"),
    "batching": Facet("batching rule", "define batching(self, node, inputs, flags, examples) in {kind}", "batching"),
    "operations": Facet("number of operations", "define operations(self, node) in {kind}", "operations"),
    "picture": Facet("kind in pictures", "define picture, a Kind, in {kind}", "picture"),
    "planner": Facet("planner for C", "ag.register_op({name}, planner=plan)", "__planner__"),
    "work": Facet("count of operations in C", "ag.register_op({name}, work=count)", "__work__"),
}
REGISTERED = ("batching", "planner", "work")
"""Facets that `register` adds to a class from outside."""


class Lacks:
    """The reasons why a class goes without some facets, by name: `Lacks(batching="...")`."""

    def __init__(self, **reasons: str) -> None:
        for name in reasons:
            if name not in FACETS:
                raise TypeError(f"Lacks: {name!r} is no facet; expected one of {', '.join(FACETS)}")
        self.reasons = reasons


class Faceted:
    """A class with facets.  `Op`, which derives from it directly, answers nothing for its subclasses."""

    lacks: ClassVar[Lacks]
    """The reasons why the class goes without some facets."""
    picture: ClassVar[Kind]
    """The kind of op that pictures show."""


def register(kind: OpClass, *, lacks: Mapping[str, str] | None = None, **facets: Any) -> OpClass:
    """Add facets to a class of ops; subclasses have them too.  Returns the class.

    Args:
        kind: The class; it defines the type rule, the meaning, the lengths and the derivative itself.
        lacks: Reasons for facets that it goes without, by name.
        facets: `batching`, `planner` or `work`: the batching rule for `ag.vmap`, a function of the node, its inputs,
            flags that tell which inputs have the axis of the examples, and the examples; the planner of the C engine;
            the count of operations for profiles.
    """
    if not (isinstance(kind, type) and issubclass(kind, Faceted)):
        raise TypeError(f"register_op: expected a class derived from Op, got {kind!r}")
    for name in facets:
        if name not in REGISTERED:
            raise TypeError(f"register_op: {name!r} is no facet; expected one of {', '.join(REGISTERED)}")
    for name, value in facets.items():
        if FACETS[name].attribute in vars(kind):
            raise ValueError(f"register_op: {kind.__name__} has a {FACETS[name].title} already")
        setattr(kind, FACETS[name].attribute, _method_of(value) if name == "batching" else staticmethod(value))
    if lacks:
        own = vars(kind).get("lacks")
        kind.lacks = Lacks(**{**(own.reasons if own else {}), **lacks})
    return kind


def _method_of(rule: Any) -> Any:
    """Return a function of a node and more as a method of the node's op."""
    return lambda self, *arguments: rule(*arguments)


def _answer(kind: type[Faceted], name: str) -> tuple[Any, str] | None:
    """Return (value, reason) from the nearest class of the hierarchy that says something about a facet."""
    found = (own_answer(parent, name, kind) for parent in kind.__mro__)
    return next((answer for answer in found if answer is not None), None)


def own_answer(parent: type, name: str, kind: type | None = None) -> tuple[Any, str] | None:
    """Return (value, reason) if a class itself says something about a facet; the value is bound to `kind`."""
    own, attribute = parent.__dict__, FACETS[name].attribute
    if attribute in own and Faceted not in parent.__bases__:
        return getattr(kind or parent, attribute), ""
    if "lacks" in own and name in own["lacks"].reasons:
        return None, own["lacks"].reasons[name]
    return None


def facet_of(kind: type[Faceted], name: str) -> Any:
    """The facet of a class, from itself or the nearest base that answers; None if there is none."""
    found = _answer(kind, name)
    return found[0] if found else None


def reason(kind: type[Faceted], name: str) -> str:
    """The stated reason why a class has no such facet; empty if it has one or says nothing."""
    found = _answer(kind, name)
    return found[1] if found else ""


def missing(kind: type[Faceted]) -> tuple[str, ...]:
    """The facets that a class lacks without a stated reason."""
    return tuple(name for name in FACETS if _answer(kind, name) is None)


def classes_of(kind: type[K]) -> list[type[K]]:
    """All loaded classes that derive from `kind`, each once."""
    found: dict[type[K], None] = {}
    stack = [kind]
    while stack:
        new = [k for k in stack.pop().__subclasses__() if k not in found]
        found.update(dict.fromkeys(new))
        stack += new
    return list(found)


def lacking(kind: type[Faceted], name: str) -> str:
    """The error text for a missing facet: its name, and the reason or how to add it."""
    why = reason(kind, name)
    return f"no {FACETS[name].title}{f': {why}' if why else f'; {how_to_add(kind, name)}'}"


def how_to_add(kind: type[Faceted], name: str) -> str:
    """How to add a facet to a class, and the file of the class."""
    file = getattr(sys.modules.get(kind.__module__), "__file__", None) or kind.__module__
    return FACETS[name].how.format(kind=f"{kind.__name__} ({file})", name=kind.__name__)
