"""A database of rules as a page: a query with completion, tags as chips, rows that open; the script is page.js."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from ...record import record
from ..markup import element, escaped

_FOLDER = Path(__file__).parent
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'"
_SPACES = str.maketrans("\t\n\r", "   ")
HEIGHT = 560
"""Pixels of the page within a notebook."""


@record
class PageContainer:
    """A database inside: `above` is the number of the container around it; `names` are those of all inside it.

    `opt_in`: Whether only a query with its name takes it.
    """

    name: str
    above: int | None
    position: float | None
    tags: tuple[str, ...]
    names: tuple[str, ...]
    opt_in: bool


@record
class PageEntry:
    """A rule or a pass.  `tags`: what queries match; `own`: those that are shown; `container`: a number."""

    name: str
    container: int | None
    position: float | None
    kind: str
    tags: tuple[str, ...]
    own: tuple[str, ...]
    contract: str
    before: str
    after: str
    example: str
    origin: str
    place: str
    cost: str


def database_page(
    title: str, containers: Sequence[PageContainer], entries: Sequence[PageEntry], queries: Sequence[str] = ()
) -> str:
    """The text of the page; `queries`: the first is typed in the field, the second beside it."""
    every = [*(c.tags for c in containers), *(e.tags for e in entries)]
    tags = sorted({tag for some in every for tag in some})
    number = {tag: str(n) for n, tag in enumerate(tags)}

    def numbers(some: Iterable[str]) -> str:
        return " ".join(number[tag] for tag in some if tag in number)

    data = {
        "tags": ["\t".join(tags)],
        "containers": [
            _line(c.name, c.above, c.position, numbers(c.tags), " ".join(c.names), "opt-in" if c.opt_in else "")
            for c in containers
        ],
        "entries": [
            _line(e.name, e.container, e.position, e.kind, numbers(e.tags), numbers(e.own), e.contract, e.before,
                  e.after, e.example, e.origin, e.place, e.cost)
            for e in entries
        ],
    }  # fmt: skip
    first, second = (*queries, "", "")[:2]
    fields = [_field("query", "a query: fast_run -inplace; or any text", first),
              _field("second query", "compare with a second query", second)]  # fmt: skip
    head = [
        '<meta charset="utf-8">', '<meta name="viewport" content="width=device-width,initial-scale=1">',
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">', element("title", escaped(title)),
        element("style", (_FOLDER / "page.css").read_text("utf-8")),
    ]  # fmt: skip
    body = [
        element("h1", escaped(title)), element("div", fields, class_="fields"), element("div", class_="said"),
        element("div", class_="chips", role="group", aria_label="tags"), element("div", class_="bar"),
        element("div", class_="rows"), element("div", class_="foot"),
        element("noscript", "The rows need JavaScript; print the table of the database for text."),
        *(element("pre", escaped("\n".join(lines)), id=name, hidden="hidden") for name, lines in data.items()),
        element("script", (_FOLDER / "page.js").read_text("utf-8")),
    ]  # fmt: skip
    return "<!DOCTYPE html>\n" + element("html", [element("head", head), element("body", body)], lang="en") + "\n"


def framed(page: str, title: str) -> str:
    """The page in a frame of its own, for a notebook; its script sees nothing of the notebook."""
    return element(
        "iframe", srcdoc=page, title=title, sandbox="allow-scripts", loading="lazy",
        style=f"width:100%;height:{HEIGHT}px;border:1px solid #8888;border-radius:6px",
    )  # fmt: skip


def _field(label: str, hint: str, value: str) -> str:
    field = element(
        "input", type="search", placeholder=hint, aria_label=label, value=value, autocomplete="off", spellcheck="false"
    )
    return element("div", field, class_="field")


def _line(*cells: str | float | None) -> str:
    """Cells of a line of data."""
    return "\t".join("" if c is None else str(c).translate(_SPACES) for c in cells)
