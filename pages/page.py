"""A report as one HTML page that needs nothing else: graphs, rewrites, profiles, memory and C of recorded functions.

A record is the plain data that arignote/recording.py makes of a function and that trace files hold; every part but
`name` and `graphs` may be missing or None.  The page works offline; scripts add only what needs a reader's hand.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from .boxes import Box
from .flame import Flame, flame
from .graph_svg import graph_svg
from .markup import element, escaped
from .memory import Life, Step, memory
from .roofline import Kernel, roofline
from .tables import amount, counted, seconds, table
from .theme import STYLE
from .timeline import Span, timeline

Record = Mapping[str, Any]

MOST_FUNCTIONS = 12
"""Functions that a page shows in full: those that cost most; all are in its table."""
MOST_BOXES = 320
"""More than elsewhere: a reader of the page can enlarge, scroll and search."""
_FOLDER = Path(__file__).parent
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:"


def page(records: Sequence[Record], title: str = "Arignote") -> str:
    """The HTML text of a report on these functions.  Raises ValueError if there are none."""
    if not records:
        raise ValueError("a report needs at least one function")
    ranked = sorted(range(len(records)), key=lambda k: (-cost(records[k]), k))
    shown = [records[k] for k in ranked[:MOST_FUNCTIONS]]
    articles = [_article(record, n) for n, record in enumerate(shown)]
    data = json.dumps([_for_script(record) for record in shown], separators=(",", ":")).replace("<", "\\u003c")
    head = [
        '<meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width,initial-scale=1">',
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">',
        element("title", escaped(title)),
        element("style", (_FOLDER / "page.css").read_text() + STYLE),
    ]
    body = [
        _header(title, shown),
        element("main", [*([_overview(records)] if len(records) > 1 else []), *articles]),
        element("script", data, type="application/json", id="data"),
        element("script", (_FOLDER / "page.js").read_text()),
    ]
    return "<!DOCTYPE html>\n" + element("html", [element("head", head), element("body", body)], lang="en") + "\n"


def cost(record: Record) -> float:
    """Seconds spent on a function: optimizing, compiling and running."""
    run = record.get("run") or {}
    optimizer = record.get("optimizer") or {}
    return (
        float(optimizer.get("time") or 0) + float(record.get("compile_seconds") or 0) + float(run.get("seconds") or 0)
    )


def _for_script(record: Record) -> dict[str, Any]:
    """What the script of the page reads of a record."""
    keep = ("title", "lines", "rules", "kernel")
    graphs = {
        side: [{key: box[key] for key in keep if box.get(key)} for box in graph["boxes"]]
        for side, graph in record["graphs"].items()
    }
    return {"graphs": graphs, "trace": record.get("trace"), "rules": record.get("rules") or {}}


# --- the frame
def _header(title: str, shown: Sequence[Record]) -> str:
    present = [s for s in _PARTS if any(any(_PARTS[s](record)) for record in shown)]
    links = element("nav", [element("a", escaped(_heading(s)), href=f"#{s}") for s in present])
    options = [element("option", escaped(str(r["name"])), value=n) for n, r in enumerate(shown)]
    choice = element("select", options, id="function", aria_label="function") if len(shown) > 1 else ""
    field = element("input", type="search", id="search", placeholder="search nodes, rules, lines", aria_label="search")
    return element("header", [element("h1", escaped(title)), choice, links, field, element("span", id="found")])


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
def boxes_from(graph: Record) -> list[Box]:
    """The boxes of a recorded graph."""
    return [
        Box(str(b["label"]), str(b.get("detail", "")), str(b.get("kind", "other")), tuple(b.get("inputs", ())),
            str(b.get("title", "")), bool(b.get("output")))
        for b in graph["boxes"]
    ]  # fmt: skip


def _graphs(record: Record) -> Iterator[str]:
    before, after = record["graphs"]["before"], record["graphs"]["after"]
    facts = [
        f"{before['nodes']:,} nodes became {after['nodes']:,}", f"mode {record.get('mode', '?')}",
        f"backend {record.get('backend', '?')}",
        f"{'C from the cache, loaded' if record.get('from_cache') else 'compiled'} in "
        + seconds(float(record.get("compile_seconds") or 0)),
    ]  # fmt: skip
    yield element("p", escaped(", ".join(facts)), class_="facts")
    buttons = [
        element("button", sign, data_by=by, aria_label=word)
        for sign, by, word in (("−", 0.8, "smaller"), ("fit", 0, "fit"), ("+", 1.25, "larger"))
    ]
    panes = []
    for side, graph, name in (("before", before, "as you built it"), ("after", after, "optimized")):
        bar = element("div", [name, element("span", class_="space"), *buttons], class_="bar")
        drawn = graph_svg(boxes_from(graph), name, limit=MOST_BOXES, style=False)
        panes.append(element("div", [bar, element("div", drawn)], class_="pane", data_side=side))
    hint = "Click a node: its type, your line, the rules that shaped it and its C. Dashed boxes hold several nodes."
    panes.append(element("div", hint, class_="panel"))
    yield element("div", panes, class_="graphs")


def _rewrites(record: Record) -> Iterator[str]:
    trace = record.get("trace")
    if not trace:
        return
    count, total = len(trace["rewrites"]), trace.get("total", len(trace["rewrites"]))
    if count < total:
        yield element("p", f"{total:,} rewrites; the first {count:,} are shown.", class_="facts")
    yield element("div", [
        element("button", "◀", data_by=-1, aria_label="back"),
        element("input", type="range", min=0, max=count, value=0, aria_label="rewrite"),
        element("button", "▶", data_by=1, aria_label="forward"), element("output", class_="names"),
    ], class_="steps")  # fmt: skip
    change = element("div", element("pre", class_="code change"), class_="scroll")
    state = element("div", element("pre", class_="code state"), class_="scroll")
    yield element("div", [change, state], class_="two")


# --- what it cost
SHOWN_WAITING = 0.0005
"""Seconds."""


def spans_of(profile: Record) -> list[Span]:
    """The members of an optimizer profile, one after the other."""
    begin, found = 0.0, []
    for child in profile.get("children") or [profile]:
        took = float(child["time"])
        waited = float(child.get("waiting") or 0)
        note = f"{child['nodes_after']:,} nodes" + (f", waited {seconds(waited)}" if waited >= SHOWN_WAITING else "")
        found.append(Span(str(child["name"]), begin, took, "fused" if child.get("passes") else "elementwise", note))
        begin += took
    return found


def flame_of(profile: Record) -> Flame:
    """An optimizer profile as a flame: its members, and of those without members their rules."""
    order, stack = [], [profile]
    while stack:
        current = stack.pop()
        order.append(current)
        stack.extend(current.get("children") or ())
    made: dict[int, Flame] = {}
    for current in reversed(order):
        parts = [made[id(child)] for child in current.get("children") or ()]
        parts += [Flame(str(r["name"]), float(r["time"])) for r in current.get("rules") or ()]
        made[id(current)] = Flame(str(current["name"]), float(current["time"]), tuple(parts))
    return made[id(profile)]


def rule_rows(profile: Record) -> list[tuple[str, int, int, float, int]]:
    """Each rule that was tried with its sums: name, tried, fired, seconds, nodes made; the slowest first."""
    sums: dict[str, list[float]] = {}
    stack = [profile]
    while stack:
        current = stack.pop()
        stack.extend(current.get("children") or ())
        for rule in current.get("rules") or ():
            row = sums.setdefault(str(rule["name"]), [0, 0, 0.0, 0])
            for k, field in enumerate(("tried", "fired", "time", "nodes_created")):
                row[k] += rule[field]
    found = [(name, int(r[0]), int(r[1]), float(r[2]), int(r[3])) for name, r in sums.items() if r[0] or r[1]]
    return sorted(found, key=lambda row: (-row[3], row[0]))


def _optimizer(record: Record) -> Iterator[str]:
    profile = record.get("optimizer")
    if not profile:
        return
    waited = float(profile.get("waiting") or 0)
    beside = f", and {seconds(waited)} of waiting for the processor or the GIL" if waited >= SHOWN_WAITING else ""
    yield element("p", f"{seconds(float(profile['time']))} of processor time in all{beside}.", class_="facts")
    yield element("div", timeline(spans_of(profile), style=False), class_="figure")
    yield element("h3", "Where the time went")
    yield element("div", flame(flame_of(profile), style=False), class_="figure")
    yield element("h3", "Rules")
    rows = [(name, tried, fired, time * 1e3, made) for name, tried, fired, time, made in rule_rows(profile)]
    header = ("rule", "tried", "fired", "ms", "nodes made")
    yield element("div", table(header, rows), class_="scroll")


def _run(record: Record) -> Iterator[str]:
    run = record.get("run")
    if not run:
        return
    calls = int(run["calls"])
    each = float(run["seconds"]) / calls if calls else 0.0
    facts = f"{counted(calls, 'call')}, {seconds(float(run['seconds']))} in all, {seconds(each)} each."
    yield element("p", escaped(facts if calls else "It was never called."), class_="facts")
    machine, steps = run.get("roofline"), run.get("steps") or ()
    works = {str(step["kernel"]): _work(step) for step in reversed(steps)}
    points = [_point(kernel, works) for kernel in run.get("kernels") or steps if kernel["seconds"]]
    yield from (element("div", escaped(str(said)), class_="remark") for said in run.get("advice") or ())
    if machine and points and machine["bandwidth"]:
        peak = max(float(machine["float32"]), float(machine["float64"]))
        plot = roofline(points, float(machine["bandwidth"]), peak, style=False)
        yield element("div", plot, class_="figure")
    if steps:
        header = ("node", "kernel", "calls", "us each", "share, %", "GB/s", "GFLOP/s", "line")
        yield element("div", table(header, map(_step_row, steps)), class_="scroll")


def _work(step: Record) -> str:
    """What a node does, in a word: `mul+exp` of `v3 = mul+exp(x, y)`."""
    return str(step["text"]).rpartition(" = ")[2].partition("(")[0]


def _point(kernel: Record, works: Mapping[str, str]) -> Kernel:
    took = float(kernel["seconds"])
    rates = float(kernel.get("flops") or 0) / took / 1e9, float(kernel["bytes"]) / took / 1e9
    name = str(kernel["kernel"] or kernel.get("text", ""))
    kind = "fused" if name.startswith("k_") else "product" if "gem" in name or "product" in name else "shape"
    return Kernel(works.get(name) or name, *rates, float(kernel["share"]) / 100, kind, name)


def _step_row(step: Record) -> tuple[str | int | float | None, ...]:
    took, calls, flops = float(step["seconds"]), int(step["calls"]), step.get("flops")
    return (
        str(step["text"]), str(step["kernel"]), calls, 1e6 * took / calls if calls else 0.0, float(step["share"]),
        float(step["bytes"]) / took / 1e9 if took else 0.0, flops / took / 1e9 if flops and took else None,
        ", ".join(step.get("lines") or ()),
    )  # fmt: skip


def _memory(record: Record) -> Iterator[str]:
    program = record.get("program")
    if not program or not program["lives"]:
        return
    steps = [Step(str(s["name"]), str(s["kind"])) for s in program["steps"]]
    lives = [Life(str(b["slot"]), int(b["first"]), int(b["last"]), str(b["name"])) for b in program["lives"]]
    slots = len({life.slot for life in lives})
    facts = f"{counted(len(lives), 'buffer')} in {counted(slots, 'piece')} of memory; {counted(len(steps), 'step')}."
    yield element("p", facts, class_="facts")
    yield element("div", memory(steps, lives, style=False), class_="figure")


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
    "graph": _graphs, "rewrites": _rewrites, "optimizer": _optimizer, "run": _run, "memory": _memory,
    "remarks": _remarks, "c": _c,
}  # fmt: skip
"""The sections of a report; one that yields nothing is left out."""
