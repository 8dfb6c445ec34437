"""Entries of a database: names, positions, tags, the reason why a query omits one, and the table of all."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from .. import pages
from ..record import record
from ..record.cached import cached_property
from .contract import Contract
from .query import Query


@record
class Entry:
    """One registered object: a rule, an optimizer, or a database."""

    name: str
    object: Any
    tags: frozenset[str]
    """Tags that queries match: its name, class, contract's tags, database's name, and its own tags."""
    position: float | None
    """Position in its database; None in a database ordered by registration."""
    path: str
    """The names of its containers and its own, joined by "/"."""
    contract: Contract | None
    role: str
    """In an equilibrium "final" or "cleanup", else empty."""
    origin: str
    """file:line of the registration."""
    inside: tuple[Entry, ...] = ()
    """Members of a container, in order."""
    is_container: bool = False
    is_extra: bool = False
    """Whether the query itself adds it; it needs no included tag then."""
    provides: frozenset[str] = frozenset()
    """Names that later entries may require, besides its own."""
    requires: frozenset[str] = frozenset()
    """Names that earlier entries must provide."""

    def walk(self) -> Iterator[Entry]:
        """This entry and all inside it."""
        yield self
        for entry in self.inside:
            yield from entry.walk()


@record(eq=False)
class Listing:
    """The entries of a database at one time: its `members` in order, a container with its own inside."""

    members: tuple[Entry, ...]

    @cached_property
    def entries(self) -> tuple[Entry, ...]:
        """The members and all inside them, each container before what it holds."""
        return tuple(inner for entry in self.members for inner in entry.walk())

    @cached_property
    def tags(self) -> frozenset[str]:
        """The tags of all entries."""
        return frozenset().union(*(entry.tags for entry in self.entries))

    @cached_property
    def containers(self) -> frozenset[str]:
        """The names of the containers."""
        return frozenset(entry.name for entry in self.entries if entry.is_container)


def refusal(entry: Entry, query: Query, around: frozenset[str]) -> str:
    """The reason why the query omits the entry; empty if it selects it.  `around`: the tags of its containers.

    Requirements are for what is not a container; that something inside a container is taken is for the caller to see.
    """
    excluded = entry.tags & query.exclude
    if excluded:
        return f"has -{min(excluded)}"
    if entry.is_container and entry.object.opt_in and entry.name not in query.include:
        return f"only by the name {entry.name}"
    if not entry.is_extra and not entry.tags & query.include and not _names_inside(entry) & query.include:
        return "not included"
    if not entry.is_container:
        missing = query.require - entry.tags - around
        if missing:
            return f"lacks &{min(missing)}"
    return ""


def admitting(query: Query, path: Sequence[Entry]) -> Query:
    """The query, changed as little as possible so that it selects the last entry of a path of containers."""
    entry, *rest = path
    named = entry.tags | _names_inside(entry)
    opened = {entry.name} if entry.is_container and entry.object.opt_in else set()
    include = query.include if entry.is_extra or named & query.include else query.include | {path[-1].name}
    query = replace(
        query,
        include=include | opened,
        exclude=query.exclude - entry.tags,
        position_cutoff=None if past_cutoff(entry, query) else query.position_cutoff,
        name="",
    )
    if not rest:
        return replace(query, require=query.require & entry.tags)
    subqueries = dict(query.subquery)
    if entry.name in subqueries:
        inner = admitting(subqueries[entry.name], rest)
        return replace(query, subquery={**subqueries, entry.name: inner})  # type: ignore[arg-type]
    inner = admitting(query.inside(entry.name), rest)
    return replace(
        query, include=inner.include, exclude=inner.exclude, require=query.require & (inner.require | entry.tags)
    )


def _names_inside(entry: Entry) -> set[str]:
    return {inner.name for inner in entry.walk()} if entry.is_container else set()


def past_cutoff(entry: Entry, query: Query) -> str:
    """The reason why the cutoff omits an entry at this position; empty if it does not."""
    cutoff, position = query.position_cutoff, entry.position
    if cutoff is None or position is None or position < cutoff:
        return ""
    return f"position {position:g} is not below {cutoff:g}"


@record
class Row:
    """One line of a table: an entry that is not a container."""

    position: str
    """The positions of its containers and its own."""
    name: str
    path: str
    kind: str
    """The class."""
    tags: tuple[str, ...]
    contract: str
    taken: bool | None
    """None where no query was given."""
    reason: str
    """The reason why it is not selected."""
    because: str = ""
    """Why it is selected: the tag or name that the query includes."""
    around: frozenset[str] = frozenset()
    """The tags of its containers."""


class Table(Sequence[Row]):
    """The rows of a database under a query, printed in columns."""

    HEADER = ("position", "name", "class", "tags", "contract", "taken")

    def __init__(self, rows: Sequence[Row]) -> None:
        self.rows: tuple[Row, ...] = tuple(rows)

    def __getitem__(self, index: Any) -> Any:
        return self.rows[index]

    def __len__(self) -> int:
        return len(self.rows)

    def cells(self) -> list[tuple[str, ...]]:
        """The text of each row."""
        return [
            (row.position, row.path, row.kind, " ".join(row.tags), row.contract, _answer(row)) for row in self.rows
        ]

    def __str__(self) -> str:
        cells = [self.HEADER, *self.cells()]
        widths = [max(len(row[k]) for row in cells) for k in range(len(self.HEADER))]
        return "\n".join("  ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)).rstrip() for row in cells)

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        asked = any(row.taken is not None for row in self.rows)
        return form("database", [self], ["this query"] if asked else [], 0 if asked else -1)


def form(title: str, tables: Sequence[Table], queries: Sequence[str], chosen: int = -1) -> str:
    """The table of a database in HTML, with menus for tags and for these queries, of which each has its table."""
    rows = []
    for answers in zip(*tables, strict=True):
        row = answers[0]
        tags = tuple(sorted({*row.tags} | row.around))
        message = tuple(_answer(each) for each in answers) if queries else ()
        cells = (row.position, row.path, row.kind, " ".join(row.tags), row.contract)
        rows.append(pages.database.form.FormRow(cells, tags, message))
    return pages.database.form.database_form(title, Table.HEADER[:-1], rows, queries, chosen)


def _answer(row: Row) -> str:
    if row.taken is None:
        return ""
    return f"yes: {row.because}" if row.taken else f"no: {row.reason}"


def rows_of(
    entries: Sequence[Entry],
    query: Query | None,
    above: str = "",
    around: frozenset[str] = frozenset(),
    places: tuple[str, ...] = (),
) -> Iterator[Row]:
    """One row per entry that is not a container, in order, with the query's decision.

    `above`: why the container they stand in is left out; `around`: the containers' tags; `places`: their positions.
    """
    for entry in entries:
        reason = above or ("" if query is None else past_cutoff(entry, query) or refusal(entry, query, around))
        here = places if entry.position is None else (*places, f"{entry.position:g}")
        if entry.is_container:
            why = f"{entry.name} {reason}" if reason and not above else reason
            inner = None if query is None else query.inside(entry.name)
            yield from rows_of(entry.inside, inner, why, around | entry.tags, here)
            continue
        kind = type(entry.object).__name__
        tags = tuple(sorted(entry.tags - {entry.name, kind}))
        contract = "" if entry.contract is None else str(entry.contract)
        taken = None if query is None else not reason
        because = "" if query is None or reason else _because(entry, query)
        yield Row(":".join(here), entry.name, entry.path, kind, tags, contract, taken, reason, because, around)


def _because(entry: Entry, query: Query) -> str:
    """The tag or name by which a query selects an entry."""
    found = entry.tags & query.include
    return f"has {min(found)}" if found else "the query adds it"
