"""Writes docs/rules.md, the list of all rules, from the database: `python docs/make_rules.py`."""

from __future__ import annotations

import importlib
import sys
from dataclasses import dataclass
from pathlib import Path

from arignote import pprint
from arignote.graph import Variable
from arignote.optdb import Rule
from arignote.optdb.rules import default_db

PAGE = Path(__file__).with_name("rules.md")
HEAD = """# Rule catalogue

Written by `python docs/make_rules.py`. A rule runs where its database does. A rule with the tag `unsafe` runs only if a
query selects it. The column of tags omits the names of databases and the contract. An example is the first row of
`tests/lib/rules/rule_rows*.py` for the rule; a long result is cut.

| rule | formula | example | position and database | tags | contract |
|---|---|---|---|---|---|
"""
TESTS = PAGE.parent.parent / "tests" / "lib" / "rules"
LONGEST = 140


@dataclass(frozen=True)
class RulePage:
    """All that the catalogue says of a rule."""

    name: str
    formula: str
    example: tuple[str, str] | None
    """An expression before and after."""
    places: tuple[str, ...]
    """Position and path of databases, for each place in which it is registered."""
    tags: tuple[str, ...]
    contract: str
    contract_tags: frozenset[str]

    @property
    def row(self) -> str:
        """The row of the table."""
        example = "`{}` becomes `{}`".format(*self.example) if self.example else ""
        cells = [self.name, f"`{self.formula}`", example, ", ".join(self.places), " ".join(self.tags), self.contract]
        return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


def examples() -> dict[str, tuple[str, str]]:
    """Rule -> its first example: the expression before and after."""
    paths = sys.path[:]
    sys.path[:0] = [str(TESTS), str(TESTS.parent)]
    try:
        tables = [importlib.import_module(path.stem) for path in sorted(TESTS.glob("rule_rows*.py"))]
    finally:
        sys.path[:] = paths
    found: dict[str, tuple[str, str]] = {}
    for name, before, after, *_ in (row for table in tables for row in table.ROWS):
        found.setdefault(name, (shown(before), shown(after)))
    return found


def shown(value: Variable) -> str:
    """The expression as a cell of a table."""
    text = str(pprint(value, simplify=False)).replace("\n", " ")
    return text if len(text) <= LONGEST else f"{text[:LONGEST]} ..."


def rules() -> list[RulePage]:
    """All rules, by name."""
    db = default_db()
    found = [e for e in db.entries() if isinstance(e.object, Rule)]
    tops = {e.name: e.position for e in db.entries() if "/" not in e.path}
    databases = {part for e in found for part in e.path.split("/")}
    places: dict[str, list[str]] = {}
    for e in found:
        top, *inside = e.path.split("/")
        places.setdefault(e.name, []).append(f"{tops[top]:g} {'/'.join([top, *inside[:-1]])}")
    made = examples()
    pages = {}
    for e in found:
        words = e.contract.tags if e.contract else frozenset()
        tags = tuple(sorted(e.tags - databases - {type(e.object).__name__} - words))
        formula = str(e.object).removeprefix(f"{e.name}: ")
        pages[e.name] = RulePage(
            e.name, formula, made.get(e.name), tuple(places[e.name]), tags, str(e.contract), frozenset(words)
        )
    return [pages[name] for name in sorted(pages)]


def page() -> str:
    """The text of the page."""
    return HEAD + "\n".join(rule.row for rule in rules()) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
