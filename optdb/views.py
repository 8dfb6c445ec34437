"""Views of a database: its page, which a notebook shows in a frame and `save` writes to a file."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from .. import pages
from .entries import Entry
from .rule import Rule

if TYPE_CHECKING:
    from .database import Database

About = Callable[[Sequence[Entry]], Mapping[str, tuple[str, str]]]
"""Function that returns an example, and what happened in this process, for the paths of entries."""


def page_of(database: Database, queries: Sequence[str], about: About) -> str:
    """The page of a database: all entries that are no containers, with these queries typed."""
    containers: list[pages.database.page.PageContainer] = []
    found: list[tuple[Entry, int | None, str]] = []
    stack: list[tuple[Entry, int | None, str]] = [(e, None, "") for e in reversed(database.members())]
    while stack:
        entry, above, places = stack.pop()
        here = places if entry.position is None else f"{places}:{entry.position:g}" if places else f"{entry.position:g}"
        if not entry.is_container:
            found.append((entry, above, here))
            continue
        names = tuple(sorted({inner.name for inner in entry.walk()}))
        number = len(containers)
        about_it = (entry.name, above, entry.position, _sorted(entry), names, entry.object.opt_in)
        containers.append(pages.database.page.PageContainer(*about_it))
        stack += [(inner, number, here) for inner in reversed(entry.inside)]
    more = about([entry for entry, _, _ in found])
    entries = [_entry(entry, above, here, *more.get(entry.path, ("", ""))) for entry, above, here in found]
    count = f"{len(entries):,} rules and passes" if len(entries) != 1 else "1 rule or pass"
    kind, name = type(database).__name__, database.name or "without a name"
    return pages.database.page.database_page(f"{kind} {name}: {count}", containers, entries, queries)


def _sorted(entry: Entry) -> tuple[str, ...]:
    return tuple(sorted(entry.tags))


def _entry(entry: Entry, above: int | None, here: str, example: str, cost: str) -> pages.database.page.PageEntry:
    kind = type(entry.object).__name__
    before, after = _texts(entry)
    own = tuple(tag for tag in _sorted(entry) if tag not in (entry.name, kind))
    place = f"position {here}, {entry.path}" if here else entry.path
    return pages.database.page.PageEntry(
        entry.name, above, entry.position, kind, _sorted(entry), own,
        "" if entry.contract is None else str(entry.contract), before, after, example, entry.origin, place, cost,
    )  # fmt: skip


def _texts(entry: Entry) -> tuple[str, str]:
    """Both sides of a rule; of an optimizer the first line of its documentation, and nothing."""
    if isinstance(entry.object, Rule):
        before, _, after = str(entry.object).partition(": ")[2].partition(" -> ")
        return before, after
    return (type(entry.object).__doc__ or "").strip().partition("\n")[0], ""
