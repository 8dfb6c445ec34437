"""Kinds of databases: sequence, equilibrium (fixed point), group, walk, and proxy.

    SequenceDB      members in order of position            -> SeqOptimizer
    EquilibriumDB   rules and optimizers to a fixed point    -> EquilibriumOptimizer
    LocalGroupDB    a group of rules                         -> the rules, where it stands in an equilibrium
    TopoDB          a group of rules                         -> TopoOptimizer, one walk
    ProxyDB         another database, at a second place      -> what that one gives
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from ..graph import Op
from ..record import record
from .conform import Conform
from .database import Database, State, Version
from .entries import Entry
from .equilibrium import EquilibriumOptimizer
from .members import Member, warn_if_hidden
from .optimizers import Optimizer, SeqOptimizer, TopoOptimizer
from .query import Query
from .rule import Rule
from .selection import Settings, as_optimizer

Self = TypeVar("Self", bound="Database")


@record
class Hidden:
    """Ops that no longer occur, or rarely, from a position on, and the reason."""

    position: float
    ops: tuple[type[Op], ...]
    reason: str

    def hides(self, rule: Rule) -> bool:
        """Return whether the rule matches only nodes of these ops."""
        return bool(rule.ops) and all(issubclass(op if isinstance(op, type) else type(op), self.ops) for op in rule.ops)


class SequenceDB(Database):
    """Members in order of position, then name: `query` gives a SeqOptimizer.

    `rules_at`: the position of rules that are registered without one.  `hidden`: ops of which no nodes are left from a
    position on; a rule on such nodes alone is registered there, or in a database that stands there, with a warning.
    """

    has_positions = True

    def __init__(
        self,
        name: str = "",
        *,
        conform: Conform | None = None,
        rules_at: float | None = None,
        hidden: tuple[Hidden, ...] = (),
    ) -> None:
        super().__init__(name, conform=conform)
        self.rules_at = rules_at
        self.hidden = hidden

    def _rules_at(self, obj: Any) -> float | None:
        return self.rules_at if isinstance(obj, (Rule, LocalGroupDB)) else None

    def _place_of(self, member: Member) -> float:
        return math.inf if member.position is None else member.position

    def _warn_of_place(self, member: Member) -> None:
        position = self._place_of(member)
        late = tuple(h for h in self.hidden if h.position <= position)
        if isinstance(member.object, Database):
            member.object.gone = late
        for hidden in late:
            warn_if_hidden(self._label(), member, hidden, f"at position {position:g}")

    def _build(
        self, name: str, query: Query, entries: Sequence[Entry], around: frozenset[str], settings: Settings
    ) -> Any:
        taken = self._taken(query, entries, around, settings)
        members = tuple(as_optimizer(e, built, settings) for e, built in taken)
        members = tuple(member.among(members) for member in members)
        return SeqOptimizer(name=name, optimizers=members, strict=settings.strict) if members else None


class EquilibriumDB(Database):
    """Rules and optimizers run until nothing changes: `query` gives an EquilibriumOptimizer.  See it for the limits."""

    limits: dict[str, int | float | None]

    def __init__(
        self,
        name: str = "",
        *,
        conform: Conform | None = None,
        max_rounds: int = 100,
        max_nodes: int | None = None,
        max_seconds: float | None = None,
    ) -> None:
        super().__init__(name, conform=conform)
        self.limits = {"max_rounds": max_rounds, "max_nodes": max_nodes, "max_seconds": max_seconds}

    def _build(
        self, name: str, query: Query, entries: Sequence[Entry], around: frozenset[str], settings: Settings
    ) -> Any:
        taken = self._taken(query, entries, around, settings)
        if not taken:
            return None
        rules: list[Rule] = []
        members: dict[str, list[Optimizer]] = {"": [], "final": [], "cleanup": []}
        for entry, built in taken:
            if not entry.role and isinstance(built, Rule):
                rules.append(built)
            elif not entry.role and isinstance(entry.object, LocalGroupDB) and not isinstance(entry.object, TopoDB):
                rules.extend(built.rules)
            else:
                members[entry.role].append(as_optimizer(entry, built, settings))
        return EquilibriumOptimizer(
            name=name,
            strict=settings.strict,
            rules=tuple(rules),
            optimizers=tuple(members[""]),
            final=tuple(members["final"]),
            cleanup=tuple(members["cleanup"]),
            conform=settings.conform,
            **self.limits,  # type: ignore[arg-type]
        )


class LocalGroupDB(Database):
    """A group of rules, in order of position, then name.

    In an EquilibriumDB its rules are as good as registered there; elsewhere it is one walk over the graph.
    """

    has_positions = True
    order = "in_to_out"

    def _accepted(self, name: str, obj: Any) -> Any:
        if isinstance(obj, (Rule, LocalGroupDB)):
            return obj
        raise TypeError(f"{self._label()}: {name!r} is {obj!r}; expected a rule or a group of rules")

    def _build(
        self, name: str, query: Query, entries: Sequence[Entry], around: frozenset[str], settings: Settings
    ) -> Any:
        rules: list[Rule] = []
        for _, built in self._taken(query, entries, around, settings):
            rules.extend([built] if isinstance(built, Rule) else built.rules)
        if not rules:
            return None
        return TopoOptimizer(
            name=name, rules=tuple(rules), order=self.order, conform=settings.conform, strict=settings.strict
        )


class OptInDB(EquilibriumDB):
    """An equilibrium that only a query with its name takes: its rules serve another purpose than compilation.

    `content` registers its rules when they are first looked at, since hardly any program does.
    """

    opt_in = True

    def __init__(self, content: Callable[[OptInDB], object]) -> None:
        super().__init__()
        self._content_of: Callable[[OptInDB], object] | None = content
        self._filled_at = self._edits

    def fill(self) -> None:
        """Register the rules, if that is still to be done."""
        content, self._content_of = self._content_of, None
        if content is not None:
            content(self)
            self._filled_at = self._edits

    def state(self) -> State:
        """The state, which is the same before and after the rules were registered."""
        return () if self._edits == self._filled_at else super().state()


class TopoDB(LocalGroupDB):
    """A group of rules tried in one walk over the graph, "in_to_out" or "out_to_in": `query` gives a TopoOptimizer."""

    def __init__(self, name: str = "", *, order: str = "in_to_out", conform: Conform | None = None) -> None:
        super().__init__(name, conform=conform)
        self.order = order


class ProxyDB(Database):
    """The same database at a second position; both share their members."""

    def __init__(self, db: Database) -> None:
        super().__init__(db.name, conform=db.conform)
        self.db = db

    def register(self: Self, name: str, obj: Any, *tags: str, **options: Any) -> Self:
        self.db.register(name, obj, *tags, **options)  # type: ignore[attr-defined]
        return self

    def copy(self: Self) -> Self:
        return type(self)(self.db.copy())  # type: ignore[attr-defined]

    def _version(self) -> Version:
        return self.db._version()

    def _entries(self, path: str = "") -> list[Entry]:
        return self.db._entries(path)

    def _remove(self, path: Sequence[str]) -> None:
        self.db._remove(path)

    def state(self) -> State:
        return self.db.state()

    def _build(
        self, name: str, query: Query, entries: Sequence[Entry], around: frozenset[str], settings: Settings
    ) -> Any:
        return self.db._build(name, query, entries, around, settings)
