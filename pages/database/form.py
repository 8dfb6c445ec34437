"""A database of rules as a table in which one chooses tags and queries; style sheets filter it, no script is needed."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Sequence

from ...record import record
from ..markup import element, escaped

_STYLE = """
.{0}{{counter-reset:rows}}
.{0} table{{border-collapse:collapse}}
.{0} table td,.{0} table th{{text-align:left;vertical-align:top;padding:2px 10px 2px 0}}
.{0} tbody tr{{counter-increment:rows}}
.{0} .count::after{{content:counter(rows) " shown"}}
.{0} label{{margin-right:1em}}
.{0} table .answer{{display:none}}
.{0} td{{overflow-wrap:anywhere}}
@media (max-width:640px){{
.{0} thead,.{0} td:nth-child(1),.{0} td:nth-child(3){{display:none}}
.{0} tr,.{0} td{{display:block}}
.{0} td:nth-child(2){{font-weight:600}}
.{0} select{{max-width:150px}}
}}
"""


@record
class FormRow:
    """An entry: its cells, its tags and those of its containers, and each query's answer: "yes" or "no" and why."""

    cells: tuple[str, ...]
    tags: tuple[str, ...]
    answers: tuple[str, ...]


def database_form(
    title: str, header: Sequence[str], rows: Sequence[FormRow], queries: Sequence[str], chosen: int = -1
) -> str:
    """The form with menus for a tag to include, a tag to exclude, and a query whose rules are shown.

    Tags of a single entry are not in the menus.
    """
    counts = Counter(tag for row in rows for tag in row.tags)
    tags = sorted(tag for tag, count in counts.items() if count > 1)
    name = "ag-" + hashlib.sha256("\0".join([title, *tags, *queries]).encode()).hexdigest()[:10]
    number = {tag: n for n, tag in enumerate(tags)}
    numbered = [f"{tag} ({counts[tag]})" for tag in tags]
    choices = [
        _choice("with the tag", "with", ["any", *numbered]), _choice("without the tag", "without", ["none", *numbered]),
        _choice("query", "query", ["none", *queries], chosen), _choice("show", "show", ["all", "taken", "left out"]),
    ]  # fmt: skip
    heads = [*(element("th", escaped(word)) for word in header), *_answer_heads(queries)]
    body = [_row(row, number) for row in rows]
    table = element("table", [element("thead", element("tr", heads)), element("tbody", body)])
    parts = [
        element("style", "\n".join(_rules(name, len(tags), len(queries)))), element("b", escaped(title)),
        element("div", choices), element("div", table, style="max-height:480px;overflow:auto"),
        element("div", class_="count"),
    ]  # fmt: skip
    return element("div", parts, class_=name)


def _choice(label: str, name: str, words: Iterable[str], chosen: int = -1) -> str:
    """A menu; the value of its first word is -1."""
    options = [
        element("option", escaped(word), value=n, selected="selected" if n == chosen else None)
        for n, word in enumerate(words, -1)
    ]
    return element("label", [f"{label} ", element("select", options, class_=name)])


def _answer_heads(queries: Sequence[str]) -> list[str]:
    return [element("th", escaped(query), class_=f"answer a{n}") for n, query in enumerate(queries)]


def _row(row: FormRow, number: dict[str, int]) -> str:
    cells = [element("td", escaped(cell)) for cell in row.cells]
    answers = [
        element("td", escaped(answer), class_=f"answer a{n}") for n, answer in enumerate(row.answers)
    ]
    classes = [f"t{number[tag]}" for tag in row.tags if tag in number]
    classes += [f"y{n}" for n, answer in enumerate(row.answers) if answer.startswith("yes")]
    return element("tr", [*cells, *answers], class_=" ".join(classes))


def _rules(name: str, tags: int, queries: int) -> Iterable[str]:
    """The style sheet: the choices in the menus hide rows."""
    yield _STYLE.format(name).strip()
    for n in range(tags):
        yield f'.{name}:has(.with [value="{n}"]:checked) tbody tr:not(.t{n}){{display:none}}'
        yield f'.{name}:has(.without [value="{n}"]:checked) tbody tr.t{n}{{display:none}}'
    for n in range(queries):
        asked = f'.{name}:has(.query [value="{n}"]:checked)'
        yield f"{asked} table .a{n}{{display:revert}}"
        yield f"{asked} tbody tr:not(.y{n}){{opacity:.6}}"
        yield f'{asked}:has(.show [value="0"]:checked) tbody tr:not(.y{n}){{display:none}}'
        yield f'{asked}:has(.show [value="1"]:checked) tbody tr.y{n}{{display:none}}'
