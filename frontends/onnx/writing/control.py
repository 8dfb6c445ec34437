"""Branches and loops as ONNX: If and Loop, whose subgraphs read the values around them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ....graph import Apply, FunctionGraph, TensorType
from ....ops.control.cond import Cond
from ....ops.control.scan_ops import ENDLESS, Scan
from .writer import Writer, writes

TRUTH = TensorType("bool")
COUNT = TensorType("int64")


@writes(Cond)
def cond(w: Writer, node: Apply) -> list[str]:
    condition, *operands = node.inputs
    names, flag = w.values(operands), w.value(condition)
    then, otherwise = (_branch(w, g, names) for g in node.op.branches)  # type: ignore[attr-defined]
    return w.several("If", [flag], len(node.outputs), then_branch=then, else_branch=otherwise)


def _branch(w: Writer, graph: FunctionGraph, names: Sequence[str]) -> Any:
    with w.body() as nodes:
        w.names.update(zip(graph.inputs, names, strict=True))
        outputs = [w.op("Identity", w.value(o)) for o in graph.outputs]
        infos = [w.info(name, o.type) for name, o in zip(outputs, graph.outputs, strict=True)]
        return w.onnx.helper.make_graph(nodes, w.name("branch"), [], infos)


@writes(Scan)
def scan(w: Writer, node: Apply) -> list[str]:
    """A Loop whose iterations read their slices of the sequences by the loop counter."""
    op: Any = node.op
    n, sequences, states, others = op.parts(node)
    endless = getattr(n, "data", 0) >= ENDLESS
    count = "" if endless else w.value(n)
    firsts = w.values(states)
    body = _turn(w, op, w.values(sequences), w.values(others))
    kept = len(op.graph.outputs) - op.until
    rows = [k for k in range(kept) if k >= len(states) or op.traced[k]]
    found = w.several("Loop", [count, w.const(True), *firsts], len(states) + len(rows), body=body)
    last, stacked = found[: len(states)], dict(zip(rows, found[len(states) :], strict=True))
    stacked.update((k, _rows_like(w, stacked[k], last[k])) for k in rows if k < len(states))
    return [stacked.get(k) or last[k] for k in range(kept)]


def _rows_like(w: Writer, rows: str, state: str) -> str:
    """The rows of a state reshaped to its lengths, which a Loop without iterations leaves open."""
    lengths = w.op("Concat", w.op("Shape", rows, start=0, end=1), w.op("Shape", state), axis=0)
    return w.op("Reshape", rows, lengths, allowzero=1)


def _turn(w: Writer, op: Any, sequences: Sequence[str], others: Sequence[str]) -> Any:
    """The body of a Loop: number and flag, states -> flag, states, rows of traced states and of values."""
    graph = op.graph
    with w.body() as nodes:
        turn, flag = w.name("turn"), w.name("goes")
        states = graph.inputs[op.states]
        before = [w.name("state") for _ in states]
        slices = [w.op("Gather", s, turn, axis=0) for s in sequences]
        w.names.update(zip(graph.inputs, [*slices, *before, *others], strict=True))
        outputs = graph.outputs
        goes = w.op("Not", w.value(outputs[-1])) if op.until else w.op("Identity", flag)
        kept = outputs[: len(outputs) - op.until]
        after = [w.op("Identity", w.value(o)) for o in kept[: len(states)]]
        rows = [o for k, o in enumerate(kept) if k >= len(states) or op.traced[k]]
        described = [w.op("Identity", w.value(o)) for o in rows]
        inputs = [w.info(turn, COUNT), w.info(flag, TRUTH)]
        inputs += [w.info(name, s.type) for name, s in zip(before, states, strict=True)]
        results = [w.info(goes, TRUTH)]
        results += [w.info(n, o.type) for n, o in zip([*after, *described], [*kept[: len(states)], *rows], strict=True)]
        return w.onnx.helper.make_graph(nodes, w.name("body"), inputs, results)
