"""Notebook views: forms in HTML and SVG that need no JavaScript, with the text of a terminal folded away below."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ..record.spelling import counted
from .boxes import Box
from .costs import SHOWN_WAITING, flame_of, rule_rows, spans_of
from .flame import flame
from .graph_svg import graph_svg
from .markup import element, escaped
from .tables import Cell, seconds, table
from .timeline import timeline

_MOST_ROWS = 20
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
    cells = [element("tr", [element(tag, escaped(body), style=_LEFT) for tag, body in (("th", name), ("td", value))])
             for name, value in rows]  # fmt: skip
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
    """A compiled function: its facts and its optimized graph; folded away the graph as built, the C, the profile."""
    parts = [facts(title, rows), graph_svg(after, "optimized graph"), folded("as built", graph_svg(before, "as built"))]
    parts += [folded_text("C", c)] if c else []
    parts += [folded_text("optimizer profile", profile)] if profile else []
    return "".join(parts)


def optimizer_form(profile: Mapping[str, Any], text: str) -> str:
    """An optimizer profile: passes over time, a flame graph, and the rules that took longest."""
    rows = [
        (name, tried, fired, time * 1e3, made) for name, tried, fired, time, made in rule_rows(profile)[:_MOST_ROWS]
    ]
    waited = float(profile.get("waiting") or 0)
    beside = f" (and {seconds(waited)} waiting)" if waited >= SHOWN_WAITING else ""
    before = counted(profile["nodes_before"], "node")
    head = f"optimizing took {seconds(float(profile['time']))}{beside}: {before} became "
    return "".join([
        element("b", escaped(f"{head}{profile['nodes_after']:,}")), "<br>",
        timeline(spans_of(profile)), "<br>", flame(flame_of(profile)),
        folded("rules, the slowest first", scrolled(("rule", "tried", "fired", "ms", "nodes made"), rows)),
        folded_text("text", text),
    ])  # fmt: skip


def run_form(run: Mapping[str, Any], text: str) -> str:
    """A run profile: one row a node, the slowest first."""
    calls, took = int(run["calls"]), float(run["seconds"])
    if not calls:
        return element("b", escaped(f"{run['name']} was not called yet"))
    head = f"{run['name']}: {counted(calls, 'call')}, {seconds(took)}, {seconds(took / calls)} each"
    header = ("node", "kernel", "calls", "us each", "share, %", "GB/s", "line")
    rows = [
        (str(s["text"]), str(s["kernel"]), int(s["calls"]), 1e6 * float(s["seconds"]) / int(s["calls"]),
         float(s["share"]), float(s["bytes"]) / float(s["seconds"]) / 1e9 if s["seconds"] else 0.0,
         ", ".join(s["lines"]))
        for s in run["steps"]
    ]  # fmt: skip
    return element("b", escaped(head)) + scrolled(header, rows) + folded_text("text", text)


def listed_form(head: str, tables: Iterable[tuple[str, Sequence[str], Sequence[Sequence[Cell]]]], text: str) -> str:
    """A sentence, tables (title, header, rows; those without rows are left out), and the text folded away below."""
    parts = [element("b", escaped(head))]
    for title, header, rows in tables:
        if rows:
            parts += [element("div", escaped(title)) if title else "", scrolled(header, rows[:_MOST_ROWS])]
            rest = len(rows) - _MOST_ROWS
            parts += [element("i", f"... {rest:,} more")] if rest > 0 else []
    return "".join([*parts, folded_text("text", text)])


def trace_form(shown: Sequence[Mapping[str, Any]], count: int, total: int) -> str:
    """The first of `count` rewrites, each under its rule: lines removed and added.  `total`: all of the function."""
    parts = [folded(f"{r['index']}: {r['rule']} ({r['stage']})", _change(r["changes"])) for r in shown]
    rest = count - len(shown)
    parts += [element("i", f"... {rest:,} more: slice the trace or filter it")] if rest else []
    return element("b", f"{count:,} of {counted(total, 'rewrite')}") + element("div", parts, style=_SCROLLED)


def _change(changes: Mapping[str, Any]) -> str:
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
