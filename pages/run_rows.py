"""The nodes of a run profile as rows: those inside loops and branches behind their loop, deeper."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

Record = Mapping[str, Any]


class Row(NamedTuple):
    """A node: its depth in bodies, its text, seconds, share in percent, runs, and its record."""

    depth: int
    text: str
    seconds: float
    share: float
    calls: int
    record: Record


def run_rows(run: Record) -> Iterator[Row]:
    """Each node of a run profile, the slowest first, and after a loop or a choice the nodes of its bodies."""
    total = float(run.get("step_seconds") or 0) or sum(float(s["seconds"]) for s in run["steps"])
    stack: list[tuple[int, str, Record]] = [(0, "", step) for step in reversed(run["steps"])]
    while stack:
        depth, title, step = stack.pop()
        took = float(step["seconds"])
        text = str(step["text"])
        name = f"{title}: {text.partition(' = ')[2] or text}" if title else text
        yield Row(depth, name, took, 100 * took / total if total else 0.0, int(step["calls"]), step)
        inner = [
            (depth + 1, "" if k else f"{body['title']}, {body['steps']:,} times", node)
            for body in step.get("bodies") or () for k, node in enumerate(body["nodes"])
        ]  # fmt: skip
        if inner:
            rest = max(took - sum(float(node["seconds"]) for _, _, node in inner), 0.0)
            around = {"text": "around these", "seconds": rest, "calls": step["calls"], "bytes": 0, "flops": 0}
            inner.append((depth + 1, "", {**around, "kernel": "", "lines": step["lines"]}))
        stack += inner[::-1]
