"""The cost sections of a report: optimization, calls, memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..record.spelling import counted
from .flame import Flame, flame
from .held import Held, held
from .markup import element, escaped
from .memory import Life, Step, memory
from .roofline import Kernel, roofline
from .run_rows import run_rows
from .script_data import works_of
from .tables import amount, seconds, table
from .threads import Bar, Lane, threads
from .timeline import Span, timeline

Record = Mapping[str, Any]

SHOWN_WAITING = 0.0005
"""Seconds."""


def spans_of(profile: Record) -> list[Span]:
    """The members of an optimizer profile, one after the other; those without effect are one, at the end."""
    begin, found, idle = 0.0, [], []
    for child in profile.get("children") or [profile]:
        took = float(child["time"])
        if not changed(child):
            idle.append(took)
            continue
        waited = float(child.get("waiting") or 0)
        note = counted(child["nodes_after"], "node")
        note += f", waited {seconds(waited)}" if waited >= SHOWN_WAITING else ""
        found.append(Span(str(child["name"]), begin, took, "fused" if child.get("passes") else "elementwise", note))
        begin += took
    if idle:
        found.append(Span(f"{counted(len(idle), 'pass')} without effect", begin, sum(idle), "shape"))
    return found


def changed(profile: Record) -> bool:
    """Whether an optimizer changed something; records without counts say so by what fired in them."""
    if "changes" in profile or profile.get("failures"):
        return bool(profile.get("changes") or profile.get("failures"))
    return True


def flame_of(profile: Record) -> Flame:
    """An optimizer profile as a flame graph: its members, and the rules of members that have no members."""
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


def rule_tables(profile: Record) -> Iterator[str]:
    """The rules that fired, and, folded away, those that never fired."""
    rows = [(name, tried, fired, time * 1e3, made) for name, tried, fired, time, made in rule_rows(profile)]
    header = ("rule", "tried", "fired", "ms", "nodes made")
    fired, idle = ([row for row in rows if bool(row[2]) is wanted] for wanted in (True, False))
    yield element("div", table(header, fired), class_="scroll") if fired else element("p", "No rule fired.")
    if idle:
        words = f"{counted(len(idle), 'rule')} never fired: {seconds(sum(row[3] for row in idle) / 1e3)} of trying"
        inside = element("div", table(header, idle), class_="scroll")
        yield element("details", [element("summary", words), inside], class_="rows")


def optimizer_parts(record: Record) -> Iterator[str]:
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
    yield from rule_tables(profile)


def run_parts(record: Record) -> Iterator[str]:
    run = record.get("run")
    if not run:
        return
    calls = int(run["calls"])
    each = float(run["seconds"]) / calls if calls else 0.0
    facts = f"{counted(calls, 'call')}, {seconds(float(run['seconds']))} in all, {seconds(each)} each."
    yield element("p", escaped(facts if calls else "It was never called."), class_="facts")
    yield from (element("p", escaped(str(words))) for words in (run.get("headline") or ())[:1] if calls)
    machine, steps = run.get("roofline"), run.get("steps") or ()
    works = works_of(steps)
    points = [_point(kernel, works) for kernel in run.get("kernels") or steps if kernel["seconds"]]
    yield from (element("div", escaped(str(words)), class_="remark") for words in run.get("advice") or ())
    if machine and points and machine["bandwidth"]:
        peak = max(float(machine["float32"]), float(machine["float64"]))
        plot = roofline(points, float(machine["bandwidth"]), peak, style=False)
        yield element("div", plot, class_="figure")
    yield from _call(record)
    if steps:
        yield from _run_tables(run, works)


def _run_tables(run: Record, works: Mapping[str, str]) -> Iterator[str]:
    """The kernels by what they compute, and the nodes."""
    rates = ("calls", "us each", "share, %", "GB/s", "GFLOP/s")
    kernels = [
        (works.get(str(k["kernel"])) or "copies", int(k["nodes"]), *_figures(k), str(k["kernel"]))
        for k in run.get("kernels") or ()
    ]
    if kernels:
        yield element("h3", "Kernels")
        yield element("div", table(("computes", "nodes", *rates, "function in the C"), kernels), class_="scroll")
    yield element("h3", "Nodes")
    nodes = [
        ("\u00b7 " * row.depth + row.text, *_figures({**row.record, "share": row.share}),
         ", ".join(row.record.get("lines") or ()), str(row.record["kernel"]))
        for row in run_rows(run)
    ]  # fmt: skip
    yield element("div", table(("node", *rates, "line", "function in the C"), nodes), class_="scroll")


def _figures(cost: Record) -> tuple[int | float | None, ...]:
    """Calls, microseconds of each, share in percent, GB/s and GFLOP/s."""
    took, calls, flops = float(cost["seconds"]), int(cost["calls"]), cost.get("flops")
    return (
        calls, 1e6 * took / calls if calls else 0.0, float(cost["share"]),
        float(cost["bytes"]) / took / 1e9 if took else 0.0, flops / took / 1e9 if flops and took else None,
    )  # fmt: skip


def _point(kernel: Record, works: Mapping[str, str]) -> Kernel:
    took = float(kernel["seconds"])
    rates = float(kernel.get("flops") or 0) / took / 1e9, float(kernel["bytes"]) / took / 1e9
    name = str(kernel["kernel"] or kernel.get("text", ""))
    kind = "fused" if name.startswith("k_") else "product" if "gem" in name or "product" in name else "shape"
    return Kernel(works.get(name) or name, *rates, float(kernel["share"]) / 100, kind, name)


def _call(record: Record) -> Iterator[str]:
    """The last call over time: nodes, and the work of the team."""
    call, program = record.get("call"), record.get("program")
    if not call or not program:
        return
    kinds = {int(step["site"]): str(step["kind"]) for step in program["steps"]}
    names = [str(name) for name in program["nodes"]]
    nodes = tuple(
        Bar(names[n].rpartition(" = ")[2] if n < len(names) else "outputs", float(moment[0]), float(moment[1]),
            kinds.get(n, "other"), names[n] if n < len(names) else "copies into outputs")
        for n, moment in enumerate(call["nodes"]) if moment
    )  # fmt: skip
    shares: dict[int, list[Bar]] = {}
    for thread, begin, end in call["work"]:
        shares.setdefault(int(thread), []).append(_share(nodes, float(begin), float(end)))
    lanes = [Lane("nodes", nodes)]
    lanes += [Lane(f"helper {n}" if n else "caller", tuple(shares[n])) for n in sorted(shares)]
    team = counted(len(shares), "thread") if shares else "no thread but the caller's"
    yield element("h3", "The last call across threads")
    words = f"{seconds(float(call['seconds']))}; {team} took part in parallel loops. The threads of a BLAS are its own."
    yield element("p", words, class_="facts")
    drawn = threads(lanes, float(call["seconds"]), "the last call", style=False)
    yield element("div", drawn, class_="figure", tabindex=0)


def _share(nodes: Sequence[Bar], begin: float, end: float) -> Bar:
    """A share of the work of the node during which it began."""
    of = next((bar for bar in nodes if bar.begin <= begin <= bar.end), None)
    return Bar(of.name if of else "work", begin, end, of.kind if of else "other", of.title if of else "")


def memory_parts(record: Record) -> Iterator[str]:
    """Bytes over time if measured, and the buffers that share memory."""
    program = record.get("program")
    if not program or not program["lives"]:
        return
    steps = [Step(str(s["name"]), str(s["kind"])) for s in program["steps"]]
    lives = [Life(str(b["slot"]), int(b["first"]), int(b["last"]), str(b["name"])) for b in program["lives"]]
    slots = len({life.slot for life in lives})
    facts = f"{counted(len(lives), 'buffer')} in {counted(slots, 'piece')} of memory; {counted(len(steps), 'step')}."
    if planned := _planned(record):
        facts += f"  The pieces share one block of {amount(planned)}, planned from their lives and sizes."
    yield element("p", facts, class_="facts")
    shared = element("div", memory(steps, lives, style=False), class_="figure")
    measured = _held(program, record.get("call"))
    if not measured:
        yield shared
        return
    yield element("div", held(measured, style=False), class_="figure")
    yield element("details", [element("summary", "Which buffers share a piece of memory"), shared])


def _planned(record: Record) -> int:
    """Bytes of the block that the buffers share, by the run profile; 0 without one."""
    profile = record.get("run")
    return int(profile["memory"].get("planned", 0)) if profile else 0


def _held(program: Record, call: Record | None) -> list[Held]:
    """The buffers of the last call, from the node that makes each to the node that reads it last."""
    steps, found = program["steps"], []
    for life in program["lives"] if call else ():
        first, last = (call["nodes"][int(steps[int(life[end])]["site"])] for end in ("first", "last"))  # type: ignore[index]
        if first and last:
            size = int(call["sizes"][int(life["buffer"])])  # type: ignore[index]
            kind = str(steps[int(life["first"])]["kind"])
            found.append(Held(str(life["name"]), size, float(first[0]), float(last[1]), kind))
    return found
