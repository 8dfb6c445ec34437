"""A compiled function as plain data for JSON: the content of reports and trace files.

    function -> recorded(function) -> pages.page([...])          f.report("report.html")
                                   -> a file of a trace folder    ARIGNOTE_TRACE=folder, then `arignote report folder`

No values of arrays are in it but constants of a few numbers, which stand in the text of the graph and of the C.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from .. import pages
from ..cbackend.calls.profile_rows import texts
from ..cbackend.driver.spelling import spelled
from ..cbackend.program.program import Allocate, Buffer, Call, Finish, Host, Pack, Program, arrays_of
from ..database import optdb
from ..graph import Apply, FunctionGraph, Op, SourceLine
from ..graph.picture import boxes_of, headline
from ..optdb import Rule
from ..profiling import RunProfile
from ..profiling.chrome import call_events, optimizer_events, run_events
from ..profiling.last_call import LastCall
from .delta import Line
from .places import places_of

if TYPE_CHECKING:
    from ..function.compiled import Function
    from .trace import Trace

FORMAT = "arignote trace"
VERSION = 1
MOST_NODES = 2_000
"""Graphs with more nodes are recorded as the few boxes of their drawing."""
MOST_REWRITES = 2_000
MOST_C = 400_000
"""Most characters of C."""
_NOTHING: Mapping[Any, Any] = MappingProxyType({})


def recorded(function: Function) -> dict[str, Any]:
    """The full record of a function."""
    program = function.program
    kernels = kernels_of_nodes(program)
    source = function.c_source(lines=True)
    few = len(function.journal) <= MOST_REWRITES and len(function.unoptimized_graph) <= MOST_NODES
    trace = trace_data(function.trace) if few else None
    rules = {node: function.why(node).rules for node in function.graph.order} if few else {}
    return {
        "format": FORMAT, "version": VERSION, "name": function.name,
        "mode": function.mode.name or str(function.mode.optimizer), "backend": function.backend,
        "compile_seconds": function.compile_seconds, "from_cache": function.from_cache,
        "graphs": {
            "before": graph_data(function.unoptimized_graph),
            "after": graph_data(function.graph, rules, kernels, seconds_of_nodes(function)),
        },
        "places": places_of(lines_of(function)) if few else {},
        "trace": trace, "rules": statements({r.rule for r in function.journal}) if trace else {},
        "optimizer": function.optimizer_profile.to_dict() if function.optimizer_profile is not None else None,
        "run": function.profile.to_dict() if function.profile else None,
        "call": call.to_dict() if (call := last_call(function)) is not None else None,
        "events": list(events_of(function)) if few else [],
        "program": program_data(program) if program is not None else None,
        "remarks": function.remarks.to_dict() if few else [],
        "c": source if len(source) <= MOST_C else source[:MOST_C] + f"\n... of {len(source):,} characters\n",
    }  # fmt: skip


def events_of(function: Function) -> Iterator[dict[str, Any]]:
    """The events of a Chrome trace: the optimizer, and the nodes of a profiled function."""
    if function.optimizer_profile is not None:
        yield from optimizer_events(function.optimizer_profile)
    if isinstance(function.profile, RunProfile):
        yield from run_events(function.profile)
        yield from call_events(function.profile)


# --- graphs
def graph_data(
    graph: FunctionGraph, rules: Mapping[Apply, tuple[str, ...]] = _NOTHING, kernels: Mapping[Apply, str] = _NOTHING,
    seconds: Mapping[Apply, float] = _NOTHING,
) -> dict[str, Any]:
    """The boxes of a graph with the user's lines, and the rules, kernel and time of each node where they are known."""
    boxes = boxes_of(graph)
    if len(graph) > MOST_NODES:
        found = pages.boxes.folded(boxes)
        return {"nodes": len(graph), "boxes": [_box(box, box.title) for box in found.boxes]}
    data = [_box(box, box.title) for box in boxes]
    for box, node in zip(data[len(data) - len(graph) :], graph.order, strict=True):
        box["lines"] = [str(line) for line in node.origin]
        box["rules"] = list(rules.get(node, ()))
        box["kernel"] = kernels.get(node, "")
        box["seconds"] = seconds.get(node, 0.0)
    return {"nodes": len(graph), "boxes": data}


def _box(box: pages.boxes.Box, title: str) -> dict[str, Any]:
    return {
        "label": box.label, "detail": box.detail, "kind": box.kind, "inputs": list(box.inputs), "title": title,
        "output": box.output,
    }  # fmt: skip


def lines_of(function: Function) -> Iterator[SourceLine]:
    """Yield the user's lines that occur in a record of a function."""
    for graph in (function.unoptimized_graph, function.graph):
        for node in graph.order:
            yield from node.origin
    for rewrite in function.trace:
        yield from rewrite.lines


def trace_data(trace: Trace) -> dict[str, Any]:
    """Return a trace with the parts of each line, from which the states between are drawn."""
    lines = [*trace.start, *(line for rewrite in trace for line in rewrite.delta.lines)]
    words: dict[Op, tuple[str, str]] = {}
    nodes = {}
    for line in lines:
        if isinstance(line, Line):
            name, kind = words.get(line.op) or words.setdefault(line.op, headline(line.op))
            nodes[str(line)] = {
                "results": line.results, "op": name, "kind": kind, "reads": line.reads,
                "lines": [str(source) for source in line.origin],
            }  # fmt: skip
    return trace.to_dict() | {"nodes": nodes}


def statements(names: set[str]) -> dict[str, str]:
    """Return the statements of the rules of these names, if the database has them."""
    known = {entry.name: entry.object for entry in optdb.entries() if isinstance(entry.object, Rule)}
    return {name: str(known[name]) for name in sorted(names & known.keys())}


# --- programs
def kernels_of_nodes(program: Program | None) -> dict[Apply, str]:
    """For each node the C function that computes it."""
    calls = [step for step in program.steps if isinstance(step, Call)] if program is not None else []
    sites = program.sites if program is not None else ()
    return {sites[step.site].node: spelled(step) for step in calls if step.site < len(sites)}


def seconds_of_nodes(function: Function) -> dict[Apply, float]:
    """The measured time of each node of a profiled program."""
    program = function.program
    if program is None or not function.profile:
        return {}
    return {site.node: took for site, took in zip(program.sites, function.profile.node_seconds, strict=False)}


def last_call(function: Function) -> LastCall | None:
    """The last call of a profiled function."""
    return function.profile.last_call if isinstance(function.profile, RunProfile) else None


def program_data(program: Program) -> dict[str, Any]:
    """Return the steps that do work, and for each buffer its memory and the steps between which it lives."""
    steps = [s for s in program.steps if isinstance(s, (Call, Host, Pack, Finish))]
    place = {id(step): n for n, step in enumerate(steps)}
    works = [said.partition("(")[0] for said in texts(program)]  # v3 = mul+exp
    names = {a.buffer: works[a.site] for a in program.steps if isinstance(a, Allocate) and a.site < len(works)}
    numbers = {buffer: n for n, buffer in enumerate(program.slots)}
    used: dict[Buffer, list[int]] = {}
    for step, buffer in _uses(program):
        if id(step) in place:
            used.setdefault(buffer, []).append(place[id(step)])
    lives = [
        {"slot": f"slot {program.slots[buffer]}", "first": min(at), "last": max(at),
         "buffer": numbers[buffer],
         "name": names.get(buffer, "a copy") + ("" if buffer.output is None else f" (output {buffer.output})")}
        for buffer, at in used.items() if buffer in program.slots
    ]  # fmt: skip
    return {"steps": [_step(works, program, s) for s in steps], "lives": lives, "nodes": list(works)}


def _uses(program: Program) -> Iterator[tuple[Any, Buffer]]:
    for step in program.steps:
        for array in arrays_of(step):
            yield from ((step, buffer) for buffer in array.buffers)


def _step(works: Sequence[str], program: Program, step: Call | Host | Pack | Finish) -> dict[str, Any]:
    """Return the name and kind of a step, and the number of its node."""
    if isinstance(step, Finish):
        return {"name": f"output {step.output}", "kind": "input", "site": step.site}
    if isinstance(step, Pack):
        return {"name": "copy", "kind": "shape", "site": step.site}
    kind = headline(program.sites[step.site].node.op)[1] if step.site < len(program.sites) else "shape"
    by = spelled(step) if isinstance(step, Call) else "NumPy"
    return {
        "name": f"{works[step.site]}, by {by}" if step.site < len(works) else by,
        "kind": kind, "site": step.site,
    }
