"""Databases of optimizers: ordered, tagged, nested; a query of one gives an optimizer.  Their kinds are in kinds.py.

`register` returns the database, so that a whole order can be written as one expression.  Queries change nothing.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from .. import pages
from ..graph import graph_of
from ..record import lazy
from ..record.spelling import counted
from .conform import Conform
from .contract import CONTRACT_TAGS, Contract
from .entries import Entry, Listing, Table, past_cutoff, refusal, rows_of
from .members import Member, caller, checked_position, names_of, refuse_clash, refuse_known, role_of, warn_if_hidden
from .optimizers import FromFunctionOptimizer, Optimizer, SeqOptimizer
from .order import check_order
from .query import Query, UnknownNameError, as_query, unknown
from .rule import Rule
from .selection import Settings, contract_of, with_extra

if TYPE_CHECKING:
    from .kinds import Hidden
    from .why_not import Explanation

why_not: Any = lazy.module(".why_not", __package__)
views: Any = lazy.module(".views", __package__)
Self = TypeVar("Self", bound="Database")

State = tuple[Any, ...]
"""The members of a database, and then those of each one inside."""

Version = tuple[Any, ...]
"""Numbers of edits: of a database, and then those of each one inside."""

MOST_ANSWERS = 64
"""Queries whose answer a database keeps."""


class Database:
    """The base of all databases: members by name, with tags.

    `conform` says how results of rules are made to fit (conform.py); databases inside inherit it.
    """

    has_positions = False
    about: ClassVar[Callable[..., Mapping[str, tuple[str, str]]]] = staticmethod(lambda entries: {})
    """Function that returns for paths an example, and what happened in this process, as the page shows it."""

    def __init__(self, name: str = "", *, conform: Conform | None = None) -> None:
        self.name = name
        self.conform = conform
        self.gone: tuple[Hidden, ...] = ()
        """Ops that no longer occur in graphs when this database runs."""
        self.known_elsewhere: Callable[[], Mapping[str, Any]] = dict
        """Function that returns names of no entries, each with an explanation; queries may include and exclude them."""
        self._members: dict[str, Member] = {}
        self._edits = 0
        self._inside: tuple[int, tuple[Database, ...]] = (-1, ())
        """Number of edits, and the databases inside."""
        self._content: tuple[int, State] = (-1, ())
        """Number of edits, and the members in order, as `state` compares them."""
        self._listed: tuple[Version, Listing] | None = None
        """The entries of the latest version."""
        self._answers: dict[tuple[Query, str, bool], tuple[State, Any]] = {}
        """Answers of the latest queries, with the state of the database at that time."""
        self._tags: set[str] = set()
        """Every tag that an entry of this database has or had; a superset of the current tags."""

    # --- filling
    opt_in: ClassVar[bool] = False
    """Whether only a query that includes its name takes it: tags of what is inside do not."""

    def register(
        self: Self,
        name: str,
        obj: Any,
        *tags: str,
        position: float | None = None,
        contract: Contract | None = None,
        final: bool = False,
        cleanup: bool = False,
        use_db_name_as_tag: bool = True,
        provides: Iterable[str] = (),
        requires: Iterable[str] = (),
    ) -> Self:
        """This database, with `obj` under `name` and `tags`.

        Args:
            obj: a Rule, an Optimizer, a Database, or a function from a graph to a graph.
            position: where it stands, in a SequenceDB or a group; behind all others if it is not given, but for rules
                in a SequenceDB with `rules_at`.
            contract: what an optimizer promises about numbers; a rule brings its own.
            final, cleanup: in an EquilibriumDB, an optimizer that runs at the end of each pass, or after each change.
            use_db_name_as_tag: whether including the name of this database includes the entry.
            provides, requires: what it does for later entries, and names of entries, or what these provide, without
                which it is of no use; a query that takes it, and nothing before it that provides this, is a ValueError.

        A line or a cell that runs again replaces its entry, with a warning.

        Raises ValueError if the name is taken, a tag is the name of an entry (or the other way round), or the position
        is not a number; TypeError for what cannot stand here.
        """
        label, obj = self._label(), self._accepted(name, obj)
        member = Member(
            name=name,
            object=obj,
            tags=frozenset(tags),
            position=self._place(name, self._default_position(name, obj) if position is None else position),
            contract=contract or contract_of(obj),
            role=role_of(label, name, final, cleanup),
            origin=caller(),
            by_database=use_db_name_as_tag,
            provides=names_of("provides", provides) if provides else frozenset(),
            requires=names_of("requires", requires) if requires else frozenset(),
        )
        refuse_known(label, member, self._members)
        refuse_clash(label, member, self._members, self._tags)
        if isinstance(obj, Database):
            obj.name = obj.name or name
        self._warn_of_place(member)
        self._put(member)
        return self

    def register_all(self: Self, rules: Iterable[Rule], *tags: str, **options: Any) -> Self:
        """This database, with each rule under its own name, these tags and the options of `register`."""
        for rule in rules:
            self.register(rule.name, rule, *tags, **options)
        return self

    def add_tags(self: Self, name: str, *tags: str) -> Self:
        """Add tags to an entry of this database itself, and return the database."""
        member = replace(self._own(name), tags=self._own(name).tags | set(tags))
        refuse_clash(self._label(), member, self._members, self._tags)
        self._put(member)
        return self

    def remove_tags(self: Self, name: str, *tags: str) -> Self:
        """Remove tags from an entry of this database itself, and return the database."""
        self._put(replace(self._own(name), tags=self._own(name).tags - set(tags)))
        return self

    def unregister(self: Self, name: str) -> Self:
        """Remove the entry of a name or path ("canonicalize/my_rule"); a name is removed everywhere.

        What was registered and is removed again leaves a database that equals the one before: see `state`.  Raises
        UnknownNameError for a name that is not there.
        """
        found = [e for e in self.entries() if name in (e.name, e.path)]
        if not found:
            raise unknown(name, {e.name for e in self.entries()}, f"entry of {self._label()}")
        for entry in found:
            self._remove(entry.path.split("/"))
        return self

    def _remove(self, path: Sequence[str]) -> None:
        """Remove the entry at a path, if it is still there."""
        member = self._members.get(path[0])
        if member is not None and len(path) > 1:
            member.object._remove(path[1:])
        elif member is not None:
            del self._members[path[0]]
            self._edits += 1

    def _put(self, member: Member) -> None:
        self._members[member.name] = member
        self._tags |= member.tags
        self._edits += 1

    def copy(self: Self) -> Self:
        """A deep copy: changes to it do not affect this database."""
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__)
        other._members = {
            name: replace(m, object=m.object.copy()) if isinstance(m.object, Database) else m
            for name, m in self._members.items()
        }
        other._tags = set(self._tags)
        other._answers = {}
        other._inside = other._content = (-1, ())
        other._listed = None
        return other

    # --- looking
    def entries(self) -> list[Entry]:
        """Every entry, those of databases inside too, each container before what it holds."""
        self.fill()
        return [*self._listing().entries]

    def tags(self) -> frozenset[str]:
        """Every tag that an entry has, here or in databases inside; names are tags, too."""
        self.fill()
        return self._listing().tags

    def fill(self) -> None:
        """Fill the databases inside that have not been looked at yet."""
        for inner in self._containers():
            inner.fill()

    def __getitem__(self, name: str) -> Any:
        """The entry with a name or a path ("canonicalize/local_mul_zero"), here or in a database inside.

        A member of this database itself comes before those inside, which are then not looked at.  For a name that is
        `known_elsewhere`, such as that of a rewrite of Theano, the answer says what became of it.

        Raises KeyError for an unknown name, with a suggestion, and for one that means several things.
        """
        if not isinstance(name, str):
            raise TypeError(f"{self._label()}: expected a name such as 'local_mul_zero', got {name!r}")
        own = self._members.get(name)
        if own is not None:
            if isinstance(own.object, Database):
                own.object.fill()
            return own.object
        found = [e for e in self.entries() if name in (e.name, e.path)]
        if not found and name in self.known_elsewhere():
            return self.known_elsewhere()[name]
        if not found:
            tagged = [e.name for e in self.entries() if name in e.tags]
            if not tagged:
                known = {word for e in self.entries() for word in (e.name, *e.tags)}
                raise unknown(name, known, f"entry of {self._label()}")
            some = f"{counted(len(tagged), 'entry')}: {', '.join(tagged[:3])}{' ...' if len(tagged) > 3 else ''}"
            raise UnknownNameError(f"no entry of {self._label()} is named {name!r}; it is a tag of {some}")
        if any(e.object is not found[0].object for e in found):
            raise KeyError(f"{name!r} names several entries; use one of {', '.join(e.path for e in found)}")
        return found[0].object

    def __contains__(self, name: object) -> bool:
        return any(name in (e.name, e.path) for e in self.entries()) or name in self.known_elsewhere()

    def __len__(self) -> int:
        """The number of entries directly in it."""
        return len(self._members)

    def _ipython_key_completions_(self) -> list[str]:
        return sorted({e.name for e in self.entries()})

    def table(self, *query: Query | str, **subqueries: Query | str) -> Table:
        """One row a rule or optimizer: position, name, class, tags, contract, taken or why not.

        Without a query the last column is empty.
        """
        self.fill()
        if not query and not subqueries:
            return Table(tuple(rows_of(self._listing().members, None)))
        wanted = as_query(query, subqueries)
        entries = self.asked(wanted)
        return Table(tuple(rows_of(entries, wanted)))

    def __repr__(self) -> str:
        return f"<{self._label()} of {counted(len(self), 'entry')}>"

    def members(self) -> Sequence[Entry]:
        """The entries of this database itself, in order; a database among them has its own in `inside`."""
        self.fill()
        return self._listing().members

    def page(self, *queries: str) -> str:
        """The database as an HTML page: a query with completion, tags as chips, rows that open.

        `queries`: at most two, which are typed in the fields; the rows say what each takes, and why.

        Raises UnknownNameError for a name or tag that nothing here has, ValueError for more than two queries.
        """
        if len(queries) > 2:
            raise ValueError(f"page: got {len(queries)} queries; expected at most two, which stand side by side")
        for query in queries:
            self.asked(as_query((query,), {}))
        text: str = views.page_of(self, queries, type(self).about)
        return text

    def save(self, path: str | os.PathLike[str], *queries: str) -> Path:
        """Write `page(*queries)` to a file, and return its path.  Raises OSError if it cannot be written."""
        file = Path(path)
        file.write_text(self.page(*queries), encoding="utf-8")
        return file

    def _repr_html_(self) -> str:
        """The page in a frame."""
        return pages.database.page.framed(self.page(), self._label())

    def explain(self, name: str | Rule, expression: Any, *query: Query | str, **subqueries: Query | str) -> Explanation:
        """Explain why a rule or optimizer changed nothing in an expression, or where it fired.

        Args:
            name: its name or path; or a Rule that is registered nowhere, whose pattern alone is then compared.
            expression: a variable, a list of variables, or a FunctionGraph.
            query: as for `query`; "fast_run" if there is none.

        Raises UnknownNameError for a name that is not there, TypeError for what is no expression.
        """
        wanted = as_query(query or ("fast_run",), subqueries)
        found: Explanation = why_not.explain(self, name, graph_of(expression, "explain"), wanted)
        return found

    # --- asking
    def query(self, *query: Query | str, strict: bool = False, **subqueries: Query | str) -> Any:
        """The optimizer of the selected entries: `query("fast_run", "-inplace")`, or one Query.

        Keywords give containers a query of their own.  `strict`: rules that fail raise.  Raises UnknownNameError for a
        name or tag that nothing here has.
        """
        wanted = as_query(query, subqueries)
        edits = self.state()
        asked = wanted, wanted.name, strict
        known = self._answers.get(asked)
        if known is not None and known[0] == edits:
            return known[1]
        entries = self.asked(wanted)
        check_order(entries, wanted, self._label())
        label = wanted.name or str(wanted) or "nothing"
        built = self._build(label, wanted, entries, frozenset(), Settings(self.conform, strict))
        if built is None:
            built = SeqOptimizer(name=label, strict=strict)
        if len(self._answers) >= MOST_ANSWERS:
            self._answers.clear()
        self._answers[asked] = edits, built
        return built

    def state(self) -> State:
        """The content of this database and those inside; equal states answer queries equally."""
        if self._content[0] != self._edits:
            self._content = self._edits, tuple(map(_without_content, self._ordered()))
        return (self._content[1], *[inner.state() for inner in self._containers()])

    # --- for the classes below
    def _build(
        self, name: str, query: Query, entries: Sequence[Entry], around: frozenset[str], settings: Settings
    ) -> Any:
        """The optimizer of the `entries` that the query selects; None if it selects none."""
        raise NotImplementedError

    def _accepted(self, name: str, obj: Any) -> Any:
        if isinstance(obj, (Rule, Optimizer, Database)):
            return obj
        if callable(obj) and not isinstance(obj, type):
            return FromFunctionOptimizer(name=name, function=obj)
        raise TypeError(f"{self._label()}: {name!r} is {obj!r}; expected a rule, optimizer, database or function")

    def _taken(
        self, query: Query, entries: Sequence[Entry], around: frozenset[str], settings: Settings
    ) -> list[tuple[Entry, Any]]:
        """Return the selected entries with their objects; for a container, its optimizer."""
        found = []
        for entry in entries:
            if past_cutoff(entry, query) or refusal(entry, query, around):
                continue
            if not entry.is_container:
                found.append((entry, _under(entry.name, entry.object)))
                continue
            inner = settings if entry.object.conform is None else replace(settings, conform=entry.object.conform)
            subquery = query.inside(entry.name)
            built = entry.object._build(entry.name, subquery, entry.inside, around | entry.tags, inner)
            if built is not None:
                found.append((entry, built))
        return found

    def _ordered(self) -> list[Member]:
        """The members in the order in which they run."""
        members = list(self._members.values())
        if self.has_positions:
            members.sort(key=lambda m: (math.inf if m.position is None else m.position, m.name))
        return members

    def _version(self) -> Version:
        """The numbers of edits of this database and of those inside: equal ones have equal entries."""
        return (self._edits, *[inner._version() for inner in self._containers()])

    def _containers(self) -> tuple[Database, ...]:
        """The databases inside, in order."""
        if self._inside[0] != self._edits:
            found = tuple(m.object for m in self._ordered() if isinstance(m.object, Database))
            self._inside = self._edits, found
        return self._inside[1]

    def _listing(self) -> Listing:
        """The entries as they are now; databases that were not filled have none."""
        version = self._version()
        if self._listed is None or self._listed[0] != version:
            self._listed = version, Listing(tuple(self._entries()))
        return self._listed[1]

    def _entries(self, path: str = "") -> list[Entry]:
        return [self._entry(m, path) for m in self._ordered()]

    def _entry(self, member: Member, path: str) -> Entry:
        automatic = (member.name, type(member.object).__name__)
        by_database = (self.name,) if self.name and member.by_database else ()
        by_contract = () if member.contract is None else member.contract.tags
        here = f"{path}{member.name}"
        container = isinstance(member.object, Database)
        return Entry(
            name=member.name,
            object=member.object,
            tags=member.tags.union(automatic, by_database, by_contract),
            position=member.position,
            path=here,
            contract=member.contract,
            role=member.role,
            origin=member.origin,
            inside=tuple(member.object._entries(f"{here}/")) if container else (),
            is_container=container,
            provides=member.provides,
            requires=member.requires,
        )

    def asked(self, query: Query) -> Sequence[Entry]:
        """The members in order, with the query's extra ones.  Raises UnknownNameError for a name that is not there."""
        self._fill_for(query)
        if query.extra and not self.has_positions:
            raise ValueError(f"{self._label()}: the query has extra optimizers, but this database has no positions")
        with suppress(UnknownNameError):  # it may be the name of a rule that has not been looked at yet
            return self._checked(query)
        self.fill()
        return self._checked(query)

    def _fill_for(self, query: Query) -> None:
        """Fill the databases that the query names."""
        for member in self._members.values():
            if isinstance(member.object, Database) and member.object.opt_in and member.name in query.include:
                member.object.fill()

    # --- checks
    def _label(self) -> str:
        return f"{type(self).__name__} {self.name}" if self.name else type(self).__name__

    def _own(self, name: str) -> Member:
        if name not in self._members:
            raise unknown(name, self._members, f"entry of {self._label()}")
        return self._members[name]

    def _place(self, name: str, position: float | None) -> float | None:
        if position is None and self.has_positions:
            return max([m.position for m in self._members.values() if m.position is not None], default=-1.0) + 1
        if position is None:
            return None
        found: float = checked_position(self._label(), name, position, self.has_positions)
        return found

    def _default_position(self, name: str, obj: Any) -> float | None:
        """The position of an entry that is registered again, or of its kind; None: after all others."""
        return self._members[name].position if name in self._members else self._rules_at(obj)

    def _rules_at(self, obj: Any) -> float | None:
        """The default position; None: after all others."""
        return None

    def _warn_of_place(self, member: Member) -> None:
        """Warn of a rule whose position keeps it from firing."""
        for hidden in self.gone:
            warn_if_hidden(self._label(), member, hidden, "in it")

    def _checked(self, query: Query) -> Sequence[Entry]:
        """Return the members with the query's extra ones.  Raises UnknownNameError if the query has an unknown name."""
        listing = self._listing()
        if query.extra:
            listing = Listing(tuple(with_extra(listing.members, query, self._label())))
        known = CONTRACT_TAGS.union({self.name}, listing.tags) - {""}
        containers = listing.containers
        queries = [query]
        while queries:
            current = queries.pop()
            for tag in sorted(current.include | current.require | current.exclude):
                if tag not in known and (tag not in self.known_elsewhere() or tag in current.require):
                    raise unknown(tag, known, f"rule, optimizer or tag in {self._label()}")
            for name, sub in current.subquery:
                if name not in containers:
                    raise unknown(name, containers, f"container in {self._label()}")
                queries.append(sub)
        return listing.members


def _without_content(member: Member) -> Member:
    """The member for comparison; of a database its kind, since its members are compared separately."""
    kind = type(member.object)
    return replace(member, object=kind) if issubclass(kind, Database) else member


def _under(name: str, obj: Any) -> Any:
    """The object; a rule that is registered under another name than its own has that name in journals and advice."""
    return replace(obj, name=name) if isinstance(obj, Rule) and obj.name != name else obj
