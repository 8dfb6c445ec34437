"""The data that the script of a report reads: graphs with places and shares of time, rewrites with their lines shared.

Texts of lines are written once, in a table; rewrites hold positions in it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ..record.quoting import page_json

Record = Mapping[str, Any]

_MOST_WORKS = 3
_FIELDS = ("label", "detail", "kind", "title", "rules", "kernel")


def script_data(records: Sequence[Record]) -> str:
    """The JSON text of some records, safe inside a script element."""
    return page_json([_one(record) for record in records])


class _Table:
    """Texts with a position each."""

    def __init__(self) -> None:
        self.texts: dict[str, int] = {}

    def __getitem__(self, text: str) -> int:
        return self.texts.setdefault(str(text), len(self.texts))

    def all(self, texts: Iterable[str]) -> list[int]:
        """The positions of some texts."""
        return [self[text] for text in texts]


def _one(record: Record) -> dict[str, Any]:
    lines = _Table()
    total = float((record.get("run") or {}).get("step_seconds") or 0)
    graphs = {side: [_node(box, lines, total) for box in graph["boxes"]] for side, graph in record["graphs"].items()}
    trace = _trace(record["trace"], lines) if record.get("trace") else None
    known = record.get("places") or {}
    return {
        "name": str(record["name"]), "graphs": graphs, "trace": trace, "rules": record.get("rules") or {},
        "computes": computes(record), "events": record.get("events") or [],
        "places": [{"text": text, **known.get(text, _unknown(text))} for text in lines.texts],
    }  # fmt: skip


def _unknown(text: str) -> dict[str, Any]:
    """The position of a line recorded only as text."""
    return {"file": text, "line": 0, "function": "", "code": ""}


def _node(box: Record, lines: _Table, total: float) -> dict[str, Any]:
    found = {field: box[field] for field in _FIELDS if box.get(field)}
    found |= {"label": str(box["label"]), "inputs": list(box.get("inputs") or ())}
    if box.get("lines"):
        found["lines"] = lines.all(box["lines"])
    if box.get("output"):
        found["output"] = 1
    if total and box.get("seconds"):
        found["share"] = round(float(box["seconds"]) / total, 5)
    return found


def _trace(trace: Record, lines: _Table) -> dict[str, Any]:
    texts = _Table()
    nodes = trace.get("nodes") or {}
    rewrites = [
        {
            "rule": r["rule"], "stage": r["stage"], "before": r["before"], "after": r["after"],
            "lines": lines.all(line["text"] for line in r["lines"]),
            "removed": texts.all(r["changes"]["removed"]), "added": texts.all(r["changes"]["added"]),
            "changed": [texts.all(pair) for pair in r["changes"]["changed"]], "equal": r["changes"].get("equal") or [],
            "returned": texts.all(r["changes"].get("returned") or ()),
        }
        for r in trace["rewrites"]
    ]  # fmt: skip
    graph = texts.all(trace["graph"])
    parts = [_parts(nodes.get(text), lines) for text in texts.texts]
    return {"graph": graph, "rewrites": rewrites, "texts": list(texts.texts), "nodes": parts}


def _parts(node: Record | None, lines: _Table) -> list[Any] | None:
    """[results, op, kind, reads, lines] of a line of a graph; None for the line of the results."""
    if node is None:
        return None
    return [node["results"], node["op"], node["kind"], node["reads"], lines.all(node["lines"])]


def computes(record: Record) -> dict[str, str]:
    """For each kernel the operations of the nodes that it runs: `mul+exp` of `v3 = mul+exp(x, y)`."""
    found = works_of((record.get("run") or {}).get("steps") or ())
    for box in record["graphs"]["after"]["boxes"]:
        if box.get("kernel"):
            found.setdefault(str(box["kernel"]), str(box["label"]).partition("(")[0])
    return found


def works_of(steps: Iterable[Record]) -> dict[str, str]:
    """The operations of each timed node."""
    works: dict[str, dict[str, None]] = {}
    for step in steps:
        works.setdefault(str(step["kernel"]), {})[work(str(step["text"]))] = None
    shown = {kernel: [*list(each)[:_MOST_WORKS], *["…"] * (len(each) > _MOST_WORKS)] for kernel, each in works.items()}
    return {kernel: ", ".join(each) for kernel, each in shown.items()}


def work(text: str) -> str:
    """The operations in the text of a node."""
    return text.rpartition(" = ")[2].partition("(")[0]
