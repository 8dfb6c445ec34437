"""Optimizers of the entries that a query selects: rules become walks, functions are wrapped, settings apply to all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from functools import reduce
from operator import or_
from typing import Any

from ..record import record
from .conform import Conform
from .contract import Contract
from .entries import Entry
from .optimizers import FromFunctionOptimizer, Optimizer, TopoOptimizer
from .query import Query
from .rule import Rule


@record
class Settings:
    """The settings of all optimizers of one query."""

    conform: Conform | None = None
    strict: bool = False


def as_optimizer(entry: Entry, built: Any, settings: Settings) -> Optimizer:
    """The entry as an optimizer with the entry's name; a rule becomes a walk."""
    if isinstance(built, Rule):
        return TopoOptimizer(name=entry.name, rules=(built,), conform=settings.conform, strict=settings.strict)
    assert isinstance(built, Optimizer)
    return _configured(built, settings).named(entry.name)


def _configured(optimizer: Optimizer, settings: Settings) -> Optimizer:
    """Apply the settings of the query to the optimizer and those inside it."""
    changes: dict[str, Any] = {}
    if settings.strict and not optimizer.strict:
        changes["strict"] = True
    for field in fields(optimizer):
        value = getattr(optimizer, field.name)
        if field.name == "conform" and value is None and settings.conform is not None:
            changes["conform"] = settings.conform
        elif isinstance(value, tuple) and value and all(isinstance(v, Optimizer) for v in value):
            changes[field.name] = tuple(_configured(v, settings) for v in value)
    return replace(optimizer, **changes) if changes else optimizer


def contract_of(obj: Any) -> Contract | None:
    """The contract of a rule, or the union over the rules of an optimizer; None if none is stated."""
    own = getattr(obj, "contract", None)
    if isinstance(own, Contract):
        return own
    rules = [r for r in getattr(obj, "rules", ()) if isinstance(r, Rule)]
    return reduce(or_, (r.contract for r in rules)) if rules else None


def with_extra(entries: Sequence[Entry], query: Query, label: str) -> list[Entry]:
    """The entries and the query's extra optimizers, sorted by position.  Raises TypeError for other objects."""
    extra = [_extra_entry(obj, position, label) for obj, position in query.extra]
    # Sorting keeps the order of equals: behind what is registered at the same position, in the order of the query.
    return sorted([*entries, *extra], key=lambda e: float("inf") if e.position is None else e.position)


def _extra_entry(obj: Any, position: float, label: str) -> Entry:
    if not isinstance(obj, (Rule, Optimizer)):
        if not callable(obj) or isinstance(obj, type):
            raise TypeError(f"{label}: extra entry {obj!r} in the query; expected a rule, an optimizer or a function")
        obj = FromFunctionOptimizer(name=obj.__name__, function=obj)
    name, contract = obj.name or type(obj).__name__, contract_of(obj)
    tags = {name, type(obj).__name__} | (contract.tags if contract is not None else set())
    return Entry(
        name=name, object=obj, tags=frozenset(tags), position=position, path=name, contract=contract, role="",
        origin="the query", is_extra=True,
    )  # fmt: skip
