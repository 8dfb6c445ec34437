"""Notebook views: forms in HTML and SVG that need no JavaScript, with the text of a terminal folded away below."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ..record.spelling import counted
from .boxes import Box
from .costs import SHOWN_WAITING, changed, flame_of, rule_rows, spans_of
from .flame import flame
from .graph_svg import graph_svg
from .markup import element, escaped
from .run_rows import Row, run_rows
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
    """An optimizer profile: what matters in sentences, a narrow table of the passes, and folded away all."""
    rows = [
        (name, time * 1e3, fired, tried, made) for name, tried, fired, time, made in rule_rows(profile)[:_MOST_ROWS]
    ]
    waited = float(profile.get("waiting") or 0)
    first, *then = map(str, profile["headline"])
    sentences = [element("div", element("b", escaped(first)))]
    if waited >= SHOWN_WAITING:
        sentences.append(element("div", f"It also waited {seconds(waited)} for the processor or the GIL."))
    return element("div", [
        *sentences, *(element("div", escaped(words)) for words in then),
        scrolled(("pass", "share", "time", "changes"), _pass_rows(profile)),
        folded("passes over time", timeline(spans_of(profile)) + "<br>" + flame(flame_of(profile))),
        folded("rules, the slowest first", scrolled(("rule", "ms", "fired", "tried", "nodes made"), rows)),
        folded_text("text", text),
    ])  # fmt: skip


def _pass_rows(profile: Mapping[str, Any]) -> list[tuple[str, str, str, int]]:
    """The passes that changed something, the slowest first, with bodies of loops below theirs; others in one row."""
    total = float(profile["time"]) or 1.0
    members = profile.get("children") or [profile]
    idle = [m for m in members if not changed(m)]
    rows: list[tuple[str, str, str, int]] = []

    def row(name: str, took: float, changes: int) -> tuple[str, str, str, int]:
        return name, _percent(100 * took / total), _unbroken(seconds(took)), changes

    for member in sorted((m for m in members if changed(m)), key=lambda m: -float(m["time"])):
        rows.append(row(str(member["name"]), float(member["time"]), int(member.get("changes") or 0)))
        bodies = member["children"] if member["class"] == "InnerGraphs" else ()
        rows += [row(f"\u00b7 inside {b['name']}", float(b["time"]), int(b["changes"])) for b in bodies]
    if idle:
        took = sum(float(m["time"]) for m in idle)
        rows.append(row(f"{counted(len(idle), 'pass')} without effect", took, 0))
    return rows


def run_form(run: Mapping[str, Any], text: str) -> str:
    """A run profile: what matters in two sentences, a narrow table of the slowest nodes, and folded away all."""
    calls = int(run["calls"])
    if not calls:
        return element("b", escaped(f"{run['name']} was not called yet"))
    first, *then = map(str, run["headline"])
    rows = list(run_rows(run))
    slow = [r for r in rows if r.share >= _LEAST_SHARE][:_MOST_ROWS]
    figures = [
        (_indented(r), _percent(r.share), _unbroken(seconds(r.seconds / calls)), _place(r.record["lines"]))
        for r in slow
    ]
    parts = [element("div", element("b", escaped(first)))]
    parts += [element("div", escaped(words)) for words in (run.get("advice") or then)]
    parts.append(scrolled(("node", "share", "per call", "line"), figures))
    header = ("node", "calls", "us each", "share, %", "GB/s", "GFLOP/s", "line", "kernel")
    whole = [
        (_indented(r), r.calls, 1e6 * r.seconds / max(r.calls, 1), r.share, _rate(r, "bytes"), _rate(r, "flops"),
         ", ".join(r.record["lines"]), str(r.record["kernel"]))
        for r in rows
    ]  # fmt: skip
    parts.append(folded(f"all {counted(len(rows), 'row')}, with rates and kernels", scrolled(header, whole)))
    return element("div", [*parts, folded_text("text", text)])


def _percent(share: float) -> str:
    return f"{share:.1f} %"


def _unbroken(text: str) -> str:
    return text.replace(" ", "")


_LEAST_SHARE = 0.5
"""Percent of the time from which on the narrow table shows a node."""
_NARROW = 34
"""Characters of a node in a table that fits 400 pixels."""


def _indented(row: Row) -> str:
    """The name of a node without its result, as deep as it lies."""
    name = row.text.partition(" = ")[2] if " = " in row.text and ": " not in row.text else row.text
    blanks = "\u00b7 " * row.depth
    return blanks + (name if len(name) <= _NARROW else f"{name[: _NARROW - 1]}\u2026")


def _place(lines: Sequence[str]) -> str:
    """The first line of the user without its folder."""
    return lines[0].replace("\\", "/").rpartition("/")[2] if lines else ""


def _rate(row: Row, what: str) -> float | None:
    """Billions a second of what a node does."""
    amount = float(row.record.get(what) or 0)
    return amount / row.seconds / 1e9 if row.seconds and amount else None


def listed_form(head: str, tables: Iterable[tuple[str, Sequence[str], Sequence[Sequence[Cell]]]], text: str) -> str:
    """A sentence, tables (title, header, rows; those without rows are left out), and the text folded away below."""
    parts = [element("b", escaped(head))]
    for title, header, rows in tables:
        if rows:
            parts += [element("div", escaped(title)) if title else "", scrolled(header, rows[:_MOST_ROWS])]
            rest = len(rows) - _MOST_ROWS
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
