"""A compiled function as plain data, ready for JSON: what reports show and what trace files hold.

    function -> recorded(function) -> pages.page([...])          f.report("report.html")
                                   -> a file of a trace folder    ARIGNOTE_TRACE=folder, then `arignote report folder`

No values of arrays are in it but constants of a few numbers, which stand in the text of the graph and of the C.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from . import pages
from .cbackend.calls.rows import texts
from .cbackend.driver.spelling import spelled
from .cbackend.program.program import Allocate, Buffer, Call, Finish, Host, Pack, Program, arrays_of
from .database import optdb
from .graph import Apply, FunctionGraph
from .graph.picture import boxes_of
from .optdb import Rule

if TYPE_CHECKING:
    from .compiled import Function

FORMAT = "arignote trace"
VERSION = 1
MOST_NODES = 2_000
"""Graphs with more nodes are recorded as the few boxes that a picture of them has."""
MOST_REWRITES = 2_000
MOST_C = 400_000
"""Characters of C."""


def recorded(function: Function) -> dict[str, Any]:
    """All there is to say about a function."""
    program = function.program
    kernels = kernels_of_nodes(program)
    source = function.c_source(lines=True)
    few = len(function.journal) <= MOST_REWRITES and len(function.unoptimized_graph) <= MOST_NODES
    trace = function.trace.to_dict() if few else None
    rules = {node: function.why(node).rules for node in function.graph.order} if few else {}
    return {
        "format": FORMAT, "version": VERSION, "name": function.name,
        "mode": function.mode.name or str(function.mode.optimizer), "backend": function.backend,
        "compile_seconds": function.compile_seconds, "from_cache": function.from_cache,
        "graphs": {
            "before": graph_data(function.unoptimized_graph),
            "after": graph_data(function.graph, rules, kernels),
        },
        "trace": trace, "rules": statements({r.rule for r in function.journal}) if trace else {},
        "optimizer": function.optimizer_profile.to_dict() if function.optimizer_profile is not None else None,
        "run": function.profile.to_dict() if function.profile else None,
        "program": program_data(program) if program is not None else None,
        "remarks": function.remarks.to_dict() if few else [],
        "c": source if len(source) <= MOST_C else source[:MOST_C] + f"\n... of {len(source):,} characters\n",
    }  # fmt: skip


# --- graphs
def graph_data(
    graph: FunctionGraph, rules: dict[Apply, tuple[str, ...]] | None = None, kernels: dict[Apply, str] | None = None
) -> dict[str, Any]:
    """The boxes of a graph with the user's lines, and the rules and the kernel of each node where they are known."""
    boxes = boxes_of(graph)
    if len(graph) > MOST_NODES:
        found = pages.boxes.folded(boxes)
        return {"nodes": len(graph), "boxes": [_box(box, box.title) for box in found.boxes]}
    data = [_box(box, box.title) for box in boxes]
    for box, node in zip(data[len(data) - len(graph) :], graph.order, strict=True):
        box["lines"] = [str(line) for line in node.origin]
        box["rules"] = list((rules or {}).get(node, ()))
        box["kernel"] = (kernels or {}).get(node, "")
    return {"nodes": len(graph), "boxes": data}


def _box(box: pages.boxes.Box, title: str) -> dict[str, Any]:
    return {
        "label": box.label, "detail": box.detail, "kind": box.kind, "inputs": list(box.inputs), "title": title,
        "output": box.output,
    }  # fmt: skip


def statements(names: set[str]) -> dict[str, str]:
    """The statements of the rules of these names, as far as the database knows them."""
    known = {entry.name: entry.object for entry in optdb.entries() if isinstance(entry.object, Rule)}
    return {name: str(known[name]) for name in sorted(names & known.keys())}


# --- programs
def kernels_of_nodes(program: Program | None) -> dict[Apply, str]:
    """For each node the C function that computes it."""
    calls = [step for step in program.steps if isinstance(step, Call)] if program is not None else []
    sites = program.sites if program is not None else ()
    return {sites[step.site].node: spelled(step) for step in calls if step.site < len(sites)}


def program_data(program: Program) -> dict[str, Any]:
    """The steps that do work, and for each buffer its memory and the steps between which it lives."""
    steps = [s for s in program.steps if isinstance(s, (Call, Host, Pack, Finish))]
    place = {id(step): n for n, step in enumerate(steps)}
    works = [said.partition("(")[0] for said in texts(program)]  # v3 = mul+exp
    names = {a.buffer: works[a.site] for a in program.steps if isinstance(a, Allocate) and a.site < len(works)}
    used: dict[Buffer, list[int]] = {}
    for step, buffer in _uses(program):
        if id(step) in place:
            used.setdefault(buffer, []).append(place[id(step)])
    lives = [
        {"slot": f"slot {program.slots[buffer]}", "first": min(at), "last": max(at),
         "name": names.get(buffer, "a copy") + ("" if buffer.output is None else f" (output {buffer.output})")}
        for buffer, at in used.items() if buffer in program.slots
    ]  # fmt: skip
    return {"steps": [_step(works, program, s) for s in steps], "lives": lives}


def _uses(program: Program) -> Iterator[tuple[Any, Buffer]]:
    for step in program.steps:
        for array in arrays_of(step):
            yield from ((step, buffer) for buffer in array.buffers)


def _step(works: Sequence[str], program: Program, step: Call | Host | Pack | Finish) -> dict[str, str]:
    if isinstance(step, Finish):
        return {"name": f"output {step.output}", "kind": "input"}
    if isinstance(step, Pack):
        return {"name": "copy", "kind": "shape"}
    node = program.sites[step.site].node.op.name if step.site < len(program.sites) else "copy"
    by = spelled(step) if isinstance(step, Call) else "NumPy"
    return {
        "name": f"{works[step.site]}, by {by}" if step.site < len(works) else by,
        "kind": "fused" if isinstance(step, Call) and step.kernel else pages.theme.kind_of(node),
    }
