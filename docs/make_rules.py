"""Writes docs/rules.md, the list of all rules, from the database: `python docs/make_rules.py`."""

import importlib
import sys
from pathlib import Path

from arignote import pprint
from arignote.graph import Variable
from arignote.optdb import Rule
from arignote.optdb.rules import default_db

PAGE = Path(__file__).with_name("rules.md")
HEAD = """# The rules

Written by `python docs/make_rules.py`.  A rule runs where its database does; what has the tag `unsafe` runs only if a
query asks for it.  Tags are those besides the names of databases and the contract.  Examples are the first of
`tests/rule_rows*.py`, to which the tests hold the rules; of a long result the beginning is shown.

| rule | formula | example | position and database | tags | contract |
|---|---|---|---|---|---|
"""
TESTS = PAGE.parent.parent / "tests"
LONGEST = 140


def examples() -> dict[str, str]:
    """Rule -> its first example: what it makes of what."""
    sys.path.insert(0, str(TESTS))
    try:
        tables = [importlib.import_module(path.stem) for path in sorted(TESTS.glob("rule_rows*.py"))]
    finally:
        sys.path.remove(str(TESTS))
    found: dict[str, str] = {}
    for name, before, after, *_ in (row for table in tables for row in table.ROWS):
        found.setdefault(name, f"`{shown(before)}` becomes `{shown(after)}`")
    return found


def shown(value: Variable) -> str:
    """The expression as a cell of a table."""
    text = pprint(value).replace("\n", " ").replace("|", "\\|")
    return text if len(text) <= LONGEST else f"{text[:LONGEST]} ..."


def page() -> str:
    """The text of the page."""
    db = default_db()
    found = [e for e in db.entries() if isinstance(e.object, Rule)]
    tops = {e.name: e.position for e in db.entries() if "/" not in e.path}
    databases = {part for e in found for part in e.path.split("/")}
    rows: dict[str, list[str]] = {}
    places: dict[str, list[str]] = {}
    for e in found:
        top, *inside = e.path.split("/")
        places.setdefault(e.name, []).append(f"{tops[top]:g} {'/'.join([top, *inside[:-1]])}")
        tags = e.tags - databases - {type(e.object).__name__} - (e.contract.tags if e.contract else set())
        formula = str(e.object).removeprefix(f"{e.name}: ").replace("|", "\\|")
        rows[e.name] = [f"`{formula}`", " ".join(sorted(tags)), str(e.contract)]
    made = examples()
    lines = [
        f"| {name} | {formula} | {made.get(name, '')} | {', '.join(places[name])} | {tags} | {contract} |"
        for name, (formula, tags, contract) in sorted(rows.items())
    ]
    return HEAD + "\n".join(lines) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
