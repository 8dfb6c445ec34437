"""Profiles in notebooks: what matters in a sentence, a narrow table, and folded away all of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..pages.costs import SHOWN_WAITING, changed, flame_of, rule_rows, spans_of
from ..pages.flame import flame
from ..pages.markup import element, escaped
from ..pages.notebook import MOST_ROWS, folded, folded_text, scrolled
from ..pages.run_rows import Row, run_rows
from ..pages.tables import BROKEN, seconds
from ..pages.timeline import timeline
from ..record.spelling import counted

_LEAST_SHARE = 0.5
"""Percent of the time from which on the narrow table shows a node."""
_NARROW = 34
"""Characters of a node in a table that fits 400 pixels."""


def optimizer_form(profile: Mapping[str, Any], text: str) -> str:
    """An optimizer profile: what matters in sentences, a narrow table of the passes, and folded away all."""
    rows = [
        (name, time * 1e3, fired, tried, made) for name, tried, fired, time, made in rule_rows(profile)[:MOST_ROWS]
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
        return name, _percent(100 * took / total), seconds(took), changes

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
    slow = [r for r in rows if r.share >= _LEAST_SHARE][:MOST_ROWS]
    figures = [(_indented(r), _percent(r.share), seconds(r.seconds / calls), _place(r.record["lines"])) for r in slow]
    parts = [element("div", element("b", escaped(first)), style=BROKEN)]
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
