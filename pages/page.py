"""A report as one self-contained HTML page: graphs, rewrites, profiles, memory and C of recorded functions.

A record is the plain data that arignote/explain/recording.py makes of a function and that trace files hold; every part
but `name` and `graphs` may be missing or None.  The page works offline; scripts add only what needs a reader's hand.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ..record.spelling import counted
from .costs import memory_parts, optimizer_parts, run_parts
from .markup import element, escaped
from .notebook import change_form, folded
from .script_data import script_data
from .tables import amount, seconds, table
from .theme import KINDS, STYLE

Record = Mapping[str, Any]

MOST_FUNCTIONS = 12
"""Functions that a page shows in full: those that cost most; all are in its table."""
MOST_INSIDE = 60
"""Rewrites of a body that a page shows."""
SCRIPTS = ("groups.js", "layout.js", "drawing.js", "view.js", "rewrites.js", "page.js")
"""Each reads only what stands before it."""
_FOLDER = Path(__file__).parent
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:"


def page(records: Sequence[Record], title: str = "Arignote") -> str:
    """The HTML text of a report on these functions.  Raises ValueError if there are none."""
    if not records:
        raise ValueError("a report needs at least one function")
    ranked = sorted(range(len(records)), key=lambda k: (-cost(records[k]), k))
    shown = [records[k] for k in ranked[:MOST_FUNCTIONS]]
    articles = [_article(record, n) for n, record in enumerate(shown)]
    head = [
        '<meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width,initial-scale=1">',
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">',
        element("title", escaped(title)),
        element("style", _style()),
    ]
    body = [
        _header(title, shown),
        element("main", [*([_overview(records)] if len(records) > 1 else []), *articles]),
        element("script", script_data(shown), type="application/json", id="data"),
        element("script", "".join((_FOLDER / name).read_text() for name in SCRIPTS)),
    ]
    return "<!DOCTYPE html>\n" + element("html", [element("head", head), element("body", body)], lang="en") + "\n"


def cost(record: Record) -> float:
    """Seconds spent on a function: optimizing, compiling and running."""
    run = record.get("run") or {}
    optimizer = record.get("optimizer") or {}
    return (
        float(optimizer.get("time") or 0) + float(record.get("compile_seconds") or 0) + float(run.get("seconds") or 0)
    )


# --- the frame
def _style() -> str:
    """The style sheet; colours of boxes also hold for swatches and minimaps."""
    colours = [*KINDS, *_LEGEND, *(f"heat{n}" for n in range(len(_HEATS)))]
    where = "fill:var(--{0});background:var(--{0})"
    rules = [f".ag-figure rect.{c},.swatch.{c}{{{where.format(c)}}}" for c in dict.fromkeys(colours)]
    sheets = [(_FOLDER / "page.css").read_text(), STYLE, "\n".join(rules), (_FOLDER / "view.css").read_text()]
    return "\n".join(sheets)


def _header(title: str, shown: Sequence[Record]) -> str:
    present = [s for s in _PARTS if any(any(_PARTS[s](record)) for record in shown)]
    links = element("nav", [element("a", escaped(_heading(s)), href=f"#{s}") for s in present])
    options = [element("option", escaped(str(r["name"])), value=n) for n, r in enumerate(shown)]
    choice = element("select", options, id="function", aria_label="function") if len(shown) > 1 else ""
    field = element("input", type="search", id="search", placeholder="search nodes, rules, lines", aria_label="search")
    parts = [element("h1", escaped(title)), choice, links, field, element("span", id="found")]
    if any(record.get("events") for record in shown):
        message = "Save what optimizing and running cost as a file for Perfetto or chrome://tracing"
        parts.append(element("button", "Chrome trace", id="chrome", title=message))
    return element("header", parts)


def _heading(section: str) -> str:
    return "C" if section == "c" else section.capitalize()


def _overview(records: Sequence[Record]) -> str:
    """All functions as a table."""
    rows = []
    for r in records:
        graphs, run = r["graphs"], r.get("run") or {}
        rows.append((
            str(r["name"]), graphs["before"]["nodes"], graphs["after"]["nodes"],
            float((r.get("optimizer") or {}).get("time") or 0), float(r.get("compile_seconds") or 0),
            int(run.get("calls") or 0), float(run.get("seconds") or 0),
        ))  # fmt: skip
    header = ("function", "nodes as built", "optimized", "optimizing, s", "compiling, s", "calls", "running, s")
    more = len(records) - MOST_FUNCTIONS
    note = f" The {MOST_FUNCTIONS} that cost most are shown below." if more > 0 else ""
    facts = element("p", f"{len(records)} functions.{note}", class_="facts")
    return element("section", [element("h2", "Functions"), facts, table(header, rows)], id="functions")


def _article(record: Record, number: int) -> str:
    sections = []
    for name, part in _PARTS.items():
        content = "".join(part(record))
        if content:
            anchor = name if number == 0 else f"{name}-{number}"
            sections.append(element("section", [element("h2", _heading(name)), content], id=anchor, class_=name))
    return element("article", sections, data_function=number, hidden="hidden" if number else None)


# --- graphs and rewrites
def _graphs(record: Record) -> Iterator[str]:
    before, after = record["graphs"]["before"], record["graphs"]["after"]
    facts = [
        f"{counted(before['nodes'], 'node')} became {after['nodes']:,}", f"mode {record.get('mode', '?')}",
        f"backend {record.get('backend', '?')}",
        f"{'C from the cache, loaded' if record.get('from_cache') else 'compiled'} in "
        + seconds(float(record.get("compile_seconds") or 0)),
    ]  # fmt: skip
    yield element("p", escaped(", ".join(facts)), class_="facts")
    panes = [_pane("before", "as you built it"), _pane("after", "optimized")]
    hint = (
        "Click a group to open it, and the title of its frame to close it. A click on a node shows its type, your "
        "line, the rules that shaped it, and its C. The wheel zooms, dragging moves. Keys in a graph: + - 0 and "
        "arrows; n and b choose the next box and the one before, Enter opens it."
    )
    panes.append(element("div", hint, class_="panel"))
    yield element("noscript", "The graphs and the rewrites need JavaScript.")
    yield element("div", panes, class_="graphs")
    yield element("div", _legend(any(box.get("seconds") for box in after["boxes"])), class_="ag-figure legend")


def _pane(side: str, name: str) -> str:
    """A place for a graph, with the buttons that move it."""
    buttons = [
        element("button", sign, data_by=by, aria_label=word)
        for sign, by, word in (("−", 0.8, "smaller"), ("fit", 0, "fit"), ("+", 1.25, "larger"))
    ]
    bar = element("div", [name, element("span", class_="space"), *buttons], class_="bar")
    return element("div", [bar, element("div", class_="canvas")], class_="pane", data_side=side)


_HEATS = ("below 1 %", "1 %", "3 %", "10 %", "above 30 %")
"""As the shares in drawing.js."""
_LEGEND = {
    "input": "input", "elementwise": "element by element", "reduction": "reduction", "product": "product",
    "shape": "shape", "index": "indexing", "fused": "fused", "group": "several kinds",
}  # fmt: skip


def _legend(timed: bool) -> Iterator[str]:
    """The meaning of colours, and where nodes were timed a choice between two."""
    if timed:
        options = [("time", "share of the time"), ("kind", "kind")]
        choice = [element("option", escaped(word), value=by) for by, word in options]
        yield element("label", ["colour: ", element("select", choice, class_="by", aria_label="colour by")])
        swatches = [_swatch(f"heat{n}", word) for n, word in enumerate(_HEATS)]
        yield element("span", swatches, class_="scale", data_by="time")
    kinds = [_swatch(kind, word) for kind, word in _LEGEND.items()]
    yield element("span", kinds, class_="scale", data_by="kind", hidden="hidden" if timed else None)


def _swatch(colour: str, word: str) -> str:
    return element("span", [element("i", class_=f"swatch {colour}"), escaped(word)])


def _rewrites(record: Record) -> Iterator[str]:
    trace = record.get("trace")
    if not trace:
        return
    count, total = len(trace["rewrites"]), trace.get("total", len(trace["rewrites"]))
    if count < total:
        yield element("p", f"{counted(total, 'rewrite')}; the first {count:,} are shown.", class_="facts")
    yield element("div", [
        element("button", "◀", data_by=-1, aria_label="back"),
        element("input", type="range", min=0, max=count, value=0, aria_label="rewrite"),
        element("button", "▶", data_by=1, aria_label="forward"), element("output", class_="names"),
    ], class_="steps")  # fmt: skip
    yield element("div", class_="said")
    legend = [_swatch("gone", "went"), _swatch("came", "came")]
    text = element("div", element("pre", class_="code state"), class_="scroll")
    yield element("div", [text, _pane("step", "the same as a graph")], class_="two")
    yield element("div", element("span", legend, class_="scale"), class_="ag-figure legend")
    yield from _inside(trace)


def _inside(trace: Mapping[str, Any]) -> Iterator[str]:
    """The rewrites in the bodies of loops and branches, folded away."""
    stack = [("", inner) for inner in reversed(trace.get("inside") or ())]
    while stack:
        above, inner = stack.pop()
        rewrites, title = inner["rewrites"], f"inside {inner['body']}{above}"
        parts = [
            folded(f"{r['index']}: {r['rule']} ({r['stage']})", change_form(r["changes"]))
            for r in rewrites[:MOST_INSIDE]
        ]
        parts += [element("p", f"and {len(rewrites) - MOST_INSIDE:,} more")] if len(rewrites) > MOST_INSIDE else []
        yield folded(f"{counted(len(rewrites), 'rewrite')} {title}", "".join(parts))
        stack += [(f", {title}", each) for each in reversed(inner.get("inside") or ())]


# --- the rest
def _remarks(record: Record) -> Iterator[str]:
    for remark in record.get("remarks") or ():
        parts = [
            element("b", escaped(f"{remark['kind']}: {remark['what']}")),
            f"<br>because {escaped(remark['reason'])}",
        ]
        parts += [f"<br>try: {escaped(remark['suggestion'])}"] if remark.get("suggestion") else []
        parts += [f"<br><small>{escaped(', '.join(remark['lines']))}</small>"] if remark.get("lines") else []
        yield element("div", parts, class_="remark")


def _c(record: Record) -> Iterator[str]:
    source = record.get("c")
    if source:
        yield element("p", f"{source.count(chr(10)):,} lines, {amount(len(source))}.", class_="facts")
        yield element("div", element("pre", escaped(source), class_="code c"), class_="scroll")


_PARTS = {
    "graph": _graphs, "rewrites": _rewrites, "optimizer": optimizer_parts, "run": run_parts,
    "memory": memory_parts,
    "remarks": _remarks, "c": _c,
}  # fmt: skip
"""The sections of a report; one that yields nothing is left out."""
