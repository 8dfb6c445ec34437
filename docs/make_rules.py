"""Writes docs/rules.md, the list of all rules, from the database: `python docs/make_rules.py`."""

from pathlib import Path

from arignote.optdb import Rule
from arignote.optdb.rules import default_db

PAGE = Path(__file__).with_name("rules.md")
HEAD = """# The rules

Written by `python docs/make_rules.py`.  A rule runs where its database does; what has the tag `unsafe` runs only if a
query asks for it.  Tags are those besides the names of databases and the contract.  Examples: `tests/rule_rows*.py`.

| rule | formula | position and database | tags | contract |
|---|---|---|---|---|
"""


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
    lines = [f"| {n} | {f} | {', '.join(places[n])} | {t} | {c} |" for n, (f, t, c) in sorted(rows.items())]
    return HEAD + "\n".join(lines) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
