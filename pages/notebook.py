"""Notebook views: forms in HTML and SVG that need no JavaScript, with the text of a terminal folded away below."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ..record import lazy
from ..record.spelling import counted
from .boxes import Box
from .markup import element, escaped
from .tables import BROKEN, UNBROKEN, Cell, table

graphs: Any = lazy.module(".graph_svg", __package__)

MOST_ROWS = 20
_MOST_AS_BUILT = 40
"""Most boxes of the graph as built."""
_LONGEST_TEXT = 200_000
_GONE, _CAME = "color:#cf222e", "color:#1a7f37"
_SCROLLED = "max-height:420px;overflow:auto"
_LEFT = "text-align:left"
_CODE = "margin:2px 0 6px 12px"
_GUILTY = "text-decoration:underline wavy #cf222e;text-underline-offset:3px"


def text_form(text: str) -> str:
    """Preformatted text that scrolls."""
    return element("pre", escaped(shortened(text)), style=_SCROLLED)


def folded_text(title: str, text: str) -> str:
    """Text behind a title that is clicked to see it."""
    return folded(title, text_form(text))


def folded(title: str, content: str) -> str:
    """Markup behind a title that is clicked to see it."""
    return element("details", [element("summary", escaped(title)), content])


def shortened(text: str) -> str:
    """The text, cut off if it is very long."""
    return text if len(text) <= _LONGEST_TEXT else text[:_LONGEST_TEXT] + f"\n... {len(text):,} characters in all"


def scrolled(header: Sequence[str], rows: Iterable[Sequence[Cell]]) -> str:
    """A table that scrolls."""
    return element("div", table(header, rows, class_="arignote", text_style=_LEFT), style=_SCROLLED)


def facts(title: str, rows: Iterable[tuple[str, str]]) -> str:
    """A title and a few facts, each with its name."""
    cells = [
        element("tr", [
            element("th", escaped(name), style=f"{_LEFT};{UNBROKEN}"),
            element("td", escaped(value), style=f"{_LEFT};{BROKEN}"),
        ])
        for name, value in rows
    ]  # fmt: skip
    return element("b", escaped(title)) + element("table", element("tbody", cells))


def error_form(
    kind: str, message: str, op: str, operands: Iterable[tuple[str, bool]], shapes: Sequence[tuple[str, str]],
    places: Iterable[tuple[str, str, str]],
) -> str:  # fmt: skip
    """An error: its message, the operation with the guilty operands underlined, their shapes, the user's lines.

    `operands`: what each is called, and whether it is guilty; `places`: a word, a line, its code.
    """
    body = element("b", escaped(kind), style=_GONE) + ": " + escaped(message).replace("\n", "<br>")
    parts = [element("div", body)]
    if op:
        words = [element("span", escaped(name), style=_GUILTY if guilty else None) for name, guilty in operands]
        parts.append(element("pre", f"{escaped(op)}({', '.join(words)})", style=_CODE))
    if shapes:
        rows = [
            element("tr", [element("td", element("code", escaped(cell)), style=_LEFT) for cell in row])
            for row in shapes
        ]
        head = element("tr", [element("th", name, style=_LEFT) for name in ("operand", "shape")])
        parts.append(element("table", head + "".join(rows)))
    for word, line, code in places:
        parts.append(element("div", f"{escaped(word)} {element('code', escaped(line))}"))
        parts += [element("pre", escaped(code), style=_CODE)] if code else []
    return element("div", parts, style="border-left:4px solid #cf222e;padding:2px 12px")


def function_form(
    title: str, rows: Iterable[tuple[str, str]], before: Sequence[Box], after: Sequence[Box], c: str, profile: str
) -> str:
    """A compiled function: its facts and its optimized graph; folded away the graph as built, the C, the profile.

    A large graph as built is summarized, for its picture would take longer than all the rest.
    """
    draw = graphs.graph_svg
    small = len(before) <= _MOST_AS_BUILT
    built = "as built" if small else "as built, in short; f.unoptimized_graph shows all"
    parts = [facts(title, rows), draw(after, "optimized graph")]
    parts.append(folded(built, draw(before, "as built", limit=_MOST_AS_BUILT)))
    parts += [folded_text("C", c)] if c else []
    parts += [folded_text("optimizer profile", profile)] if profile else []
    return "".join(parts)


def listed_form(head: str, tables: Iterable[tuple[str, Sequence[str], Sequence[Sequence[Cell]]]], text: str) -> str:
    """A sentence, tables (title, header, rows; those without rows are left out), and the text folded away below."""
    parts = [element("b", escaped(head))]
    for title, header, rows in tables:
        if rows:
            parts += [element("div", escaped(title)) if title else "", scrolled(header, rows[:MOST_ROWS])]
            rest = len(rows) - MOST_ROWS
            parts += [element("i", f"... {rest:,} more")] if rest > 0 else []
    return "".join([*parts, folded_text("text", text)])


def trace_form(
    shown: Sequence[Mapping[str, Any]], count: int, total: int, inside: Iterable[tuple[str, str]] = ()
) -> str:
    """The first of `count` rewrites, each under its rule: lines removed and added.  `total`: all of the function.

    `inside`: the loops and branches with the forms of their bodies.
    """
    parts = [folded(_rewrite_title(r), change_form(r["changes"])) for r in shown]
    rest = count - len(shown)
    parts += [element("i", f"... {rest:,} more: slice the trace or filter it")] if rest else []
    bodies = [folded(f"inside {title}", form) for title, form in inside]
    head = element("b", f"{count:,} of {counted(total, 'rewrite')}")
    return head + element("div", parts, style=_SCROLLED) + "".join(bodies)


def _rewrite_title(r: Mapping[str, Any]) -> str:
    where = f" inside {r['body']}" if r.get("body") else ""
    return f"{r['index']}{where}: {r['rule']} ({r['stage']})"


def change_form(changes: Mapping[str, Any]) -> str:
    """The lines that a rewrite removed and added."""
    gone = [(f"- {line}", _GONE) for line in changes["removed"]]
    both = [(f"{sign} {line}", how) for pair in changes["changed"]
            for sign, line, how in zip("-+", pair, (_GONE, _CAME), strict=True)]  # fmt: skip
    came = [(f"+ {line}", _CAME) for line in changes["added"]]
    lines = [element("span", escaped(line), style=how) for line, how in (*gone, *both, *came)]
    return element("pre", "\n".join([*lines, *map(escaped, merges(changes["equal"]))]))


def merges(equal: Iterable[Sequence[str]]) -> list[str]:
    """A sentence for each two values that became one: the name that stays, the name that goes, their expression."""
    return [
        f"  {kept} and {gone} are equal: both are {how}" if kept != gone else f"  equal values became one: {how}"
        for kept, gone, how in equal
    ]
