"""Queries: a frozen value that selects optimizers by names and tags, and its string form.

    query    ::= item {(" " | ",") item}
    item     ::= ["+"] tag            include what has this tag or name
               | "-" tag              exclude it; this wins over everything
               | "&" tag              require it
               | "<" number           only positions below it, in the database that is asked
               | name "(" query ")"   another query for the container of that name

`str(query)` is a string that reads back as the same query.
"""

from __future__ import annotations

import math
import numbers
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import field, replace
from functools import cache
from typing import Any, Union

from .. import pages
from ..record import record
from ..record.spelling import nearest

Tags = Union[str, Iterable[str]]
_Sub = Union[Mapping[str, "Query"], Iterable[tuple[str, "Query"]]]

_ITEM = re.compile(
    r"(?P<close>\))"
    r"|<(?P<cutoff>[^\s,()]+)"
    r"|(?P<container>[^\s,()<+\-&][^\s,()<]*)\("
    r"|(?P<sign>[+\-&]?)(?P<tag>[^\s,()<+\-&][^\s,()<]*)"
)
_SPACE = re.compile(r"[\s,]*")


MARKS = frozenset("+-&,:()</")
"""Characters with which queries and paths of entries are written, besides space."""


@cache
def can_be_asked_for(name: str) -> bool:
    """Return whether a query can contain the name or tag: it is one word without the signs of queries."""
    return name.split() == [name] and MARKS.isdisjoint(name)


class UnknownNameError(KeyError, ValueError):
    """An unknown name or tag; the message suggests a similar one."""

    def __str__(self) -> str:
        return str(self.args[0])


@record
class Query:
    """Names and tags to include, to require and to exclude; queries of their own for containers, by name; a cutoff.

    An entry is taken if it has an included tag (or name), no excluded one, and all that are required; a requirement is
    met by the entry itself or by a container it stands in.  Containers are taken if they are included, not excluded,
    and anything inside is taken; naming an entry includes the containers it stands in.  `position_cutoff` keeps
    positions below it in the database that is asked, not in those inside.
    """

    include: frozenset[str] = frozenset()
    require: frozenset[str] = frozenset()
    exclude: frozenset[str] = frozenset()
    subquery: tuple[tuple[str, Query], ...] = ()
    """Given as a mapping or as pairs."""
    position_cutoff: float | None = None
    extra: tuple[tuple[Any, float], ...] = ()
    """Extra rules, optimizers or functions with their positions; the string form cannot express them."""
    name: str = field(default="", compare=False)
    """Name of the selected optimizer; the text of the query if empty."""

    def __init__(
        self,
        include: Tags = (),
        require: Tags = (),
        exclude: Tags = (),
        subquery: _Sub = (),
        position_cutoff: float | None = None,
        extra: Iterable[tuple[Any, float]] = (),
        name: str = "",
    ) -> None:
        pairs = subquery.items() if isinstance(subquery, Mapping) else subquery
        fields = {
            "include": _tags("include", include),
            "require": _tags("require", require),
            "exclude": _tags("exclude", exclude),
            "subquery": tuple(sorted(((str(k), _as_query(v)) for k, v in pairs), key=lambda pair: pair[0])),
            "position_cutoff": position_cutoff,
            "extra": tuple(_placed(pair) for pair in extra),
            "name": name,
        }
        if position_cutoff is not None and math.isnan(position_cutoff):
            raise ValueError("Query: position_cutoff is nan; expected a number")
        for key, value in fields.items():
            object.__setattr__(self, key, value)

    # --- other queries from this one
    def including(self, *tags: str) -> Query:
        """The query with these tags included as well; it loses its name."""
        return replace(self, include=self.include | _tags("including", tags), name="")

    def excluding(self, *tags: str) -> Query:
        """The query with these tags excluded as well."""
        return replace(self, exclude=self.exclude | _tags("excluding", tags), name="")

    def requiring(self, *tags: str) -> Query:
        """The query with these tags required as well."""
        return replace(self, require=self.require | _tags("requiring", tags), name="")

    def joined(self, other: Query | str) -> Query:
        """The query with all that another one includes, requires, excludes and adds, and its cutoff and subqueries."""
        other = _as_query(other)
        cutoff = self.position_cutoff if other.position_cutoff is None else other.position_cutoff
        return Query(
            self.include | other.include, self.require | other.require, self.exclude | other.exclude,
            {**dict(self.subquery), **dict(other.subquery)}, cutoff, (*self.extra, *other.extra),
        )  # fmt: skip

    def register(self, *placed: tuple[Any, float]) -> Query:
        """The query with extra rules, optimizers or functions, each given as (object, position).

        They stand in the database that is asked, behind what is registered at the same position.
        """
        return replace(self, extra=(*self.extra, *placed), name="")

    def inside(self, container: str) -> Query:
        """The query for the entries of the container of that name."""
        for name, query in self.subquery:
            if name == container:
                return query
        plain = self.position_cutoff is None and not self.extra
        return self if plain else replace(self, position_cutoff=None, extra=())

    # --- text
    @classmethod
    def parse(cls, text: str) -> Query:
        """Parse a query.  Raises ValueError with the position of a syntax error."""
        if not isinstance(text, str):
            raise TypeError(f"query: expected text such as 'fast_run -inplace', got {text!r}")
        query, end = _parsed(text, 0)
        if end < len(text):
            raise ValueError(f"query {text!r}: ')' at {end} closes nothing")
        return query

    def __str__(self) -> str:
        signed = [("", self.include), ("&", self.require), ("-", self.exclude)]
        items = [sign + tag for sign, tags in signed for tag in sorted(tags)]
        items += [] if self.position_cutoff is None else [f"<{self.position_cutoff!r}"]
        items += [f"{_name_of(what)}@{position:g}" for what, position in self.extra]
        return " ".join([*items, *(f"{name}({query})" for name, query in self.subquery)])

    def __repr__(self) -> str:
        return f"Query.parse({str(self)!r})"

    def _repr_html_(self) -> str:
        return pages.notebook.facts(self.name or str(self) or "nothing", self.facts())

    def facts(self) -> list[tuple[str, str]]:
        """The parts of the query in words."""
        parts = [("includes", self.include), ("requires", self.require), ("excludes", self.exclude)]
        message = [(word, " ".join(sorted(tags))) for word, tags in parts if tags]
        message += [] if self.position_cutoff is None else [("positions below", f"{self.position_cutoff:g}")]
        message += [(f"besides, at {position:g}", _name_of(what)) for what, position in self.extra]
        return [*message, *((f"inside {name}", str(query)) for name, query in self.subquery)]


def as_query(items: Iterable[Query | str], subqueries: Mapping[str, Query | str]) -> Query:
    """Combine the arguments of a call such as `query("fast_run", "-inplace", canonicalize=...)` into one query."""
    items = tuple(items)
    if len(items) == 1 and isinstance(items[0], Query):
        query = items[0]
    else:
        wrong = [item for item in items if not isinstance(item, str)]
        if wrong:
            raise TypeError(f"query: got {wrong[0]!r}; expected one Query, or strings such as 'fast_run -inplace'")
        query = Query.parse(" ".join(map(str, items)))
    if not subqueries:
        return query
    given = {name: _as_query(sub) for name, sub in subqueries.items()}
    return replace(query, subquery={**dict(query.subquery), **given})  # type: ignore[arg-type]


def unknown(name: str, known: Collection[str], what: str) -> UnknownNameError:
    """The error for a name that is not among the known ones: it suggests those that contain it, or similar ones."""
    spelled = {each.casefold(): each for each in sorted(known)}
    within = sorted((each for each in spelled if len(name) > 2 and name.casefold() in each), key=len)
    near = [spelled[each] for each in within[:3] or nearest(name.casefold(), spelled, 3)]
    hint = f"did you mean {' or '.join(near)}?" if near else f"there are {', '.join(sorted(known)[:12])} ..."
    return UnknownNameError(f"no {what} is named {name!r}; {hint}")


def _placed(pair: Any) -> tuple[Any, float]:
    """The pair (entry, position) as it was given.  Raises TypeError or ValueError for another argument."""
    if not isinstance(pair, tuple) or len(pair) != 2 or isinstance(pair[1], bool):
        raise TypeError(f"Query: {pair!r} is no extra entry; expected (rule or optimizer or function, position)")
    what, position = pair
    if not isinstance(position, numbers.Real) or math.isnan(position):
        raise ValueError(f"Query: the position of {_name_of(what)} is {position!r}; expected a number")
    return what, float(position)


def _name_of(what: Any) -> str:
    return str(getattr(what, "name", "") or getattr(what, "__name__", "") or type(what).__name__)


def _as_query(value: Any) -> Query:
    if isinstance(value, Query):
        return value
    if isinstance(value, str):
        return Query.parse(value)
    raise TypeError(f"{value!r} is no query; expected a Query or its text")


def _tags(what: str, tags: Tags) -> frozenset[str]:
    """A set of tags; a string is read as tags with blanks between them."""
    found = tags.split() if isinstance(tags, str) else list(tags)
    for tag in found:
        spelled = _ITEM.fullmatch(tag) if isinstance(tag, str) else None
        if spelled is None or spelled["tag"] != tag:
            raise TypeError(f"{what}: {tag!r} is no tag; expected a name without blanks, sign or brackets")
    return frozenset(found)


def _parsed(text: str, at: int) -> tuple[Query, int]:
    """Parse a query from a position on; return it and its end: the end of the text or an unmatched bracket."""
    tags: dict[str, list[str]] = {"+": [], "&": [], "-": []}
    subqueries: dict[str, Query] = {}
    cutoff: float | None = None
    while (at := _skipped(text, at)) < len(text):
        item = _ITEM.match(text, at)
        if item is None:
            expected = "tag, +tag, -tag, &tag, <number or name(...)"
            raise ValueError(f"query {text!r}: cannot read {text[at:]!r}; expected {expected}")
        if item["close"]:
            break
        if item["cutoff"]:
            cutoff = _number(text, item["cutoff"])
        elif item["container"]:
            subqueries[item["container"]], end = _parsed(text, item.end())
            if end >= len(text):
                raise ValueError(f"query {text!r}: the bracket of {item['container']}( is not closed")
            at = end + 1
            continue
        else:
            tags[item["sign"] or "+"].append(item["tag"])
        at = item.end()
    return Query(tags["+"], tags["&"], tags["-"], subqueries, cutoff), at


def _skipped(text: str, at: int) -> int:
    blank = _SPACE.match(text, at)
    return at if blank is None else blank.end()


def _number(text: str, spelled: str) -> float:
    try:
        return float(spelled)
    except ValueError:
        raise ValueError(f"query {text!r}: <{spelled} is no position; expected a number") from None
