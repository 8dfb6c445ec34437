"""Requirements between entries: `requires` and `provides`, checked when a query is asked."""

from __future__ import annotations

from collections.abc import Sequence

from .entries import Entry, past_cutoff, refusal
from .query import Query


def check_order(entries: Sequence[Entry], query: Query, label: str) -> None:
    """Raise ValueError if a selected entry requires a name that no earlier one provides.

    An entry provides its own name and what it was registered with as `provides`; a container what those inside it do.
    Members of an equilibrium run again and again, so each may rely on what any other of them provides.
    """
    everything = [inner for entry in entries for inner in entry.walk()]
    if any(entry.requires for entry in everything):
        _Order(everything, label).walk(entries, query, frozenset())


class _Order:
    """One walk over entries in the order in which they run."""

    def __init__(self, everything: Sequence[Entry], label: str) -> None:
        self.everything = everything
        self.label = label
        self.provided: set[str] = set()

    def walk(self, entries: Sequence[Entry], query: Query, around: frozenset[str]) -> bool:
        """Walk over the entries, recursively; return whether the query selects any."""
        taken = [e for e in entries if not past_cutoff(e, query) and not refusal(e, query, around)]
        for entry in taken:
            if entry.position is None:
                self.provided |= {entry.name, *entry.provides}
        runs = False
        for entry in taken:
            missing = entry.requires - self.provided
            if missing:
                raise ValueError(f"{self.label}: {self._complaint(entry, min(missing))}")
            if entry.is_container and not self.walk(entry.inside, query.inside(entry.name), around | entry.tags):
                continue
            self.provided |= {entry.name, *entry.provides}
            runs = True
        return runs

    def _complaint(self, entry: Entry, what: str) -> str:
        text = f"{_where(entry)} requires {what!r}, but no earlier entry of the query provides it"
        able = [e for e in self.everything if what == e.name or what in e.provides]
        return f"{text}; {_where(able[0])} does" if able else f"{text}; register an entry that provides it"


def _where(entry: Entry) -> str:
    return repr(entry.path) if entry.position is None else f"{entry.path!r} at position {entry.position:g}"
