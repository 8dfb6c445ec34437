"""Profiles as Chrome traces, which Perfetto, `chrome://tracing` and speedscope open.

An event is `{"name", "ph": "X", "ts", "dur", "pid", "tid", "args"}` with times in microseconds (Trace Event Format,
"complete events").  Optimizers run one after the other, so the events of members are laid in a row; the time that a
sequence or a fixed point spends around its members comes last.  Events of optimizers are as long as their processor
time; what they waited is one event behind them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .optimizer import OptimizerProfile
    from .run import RunProfile

SHOWN_SECONDS = 1e-6
"""Rules that took less would be events too short to be seen."""


def optimizer_trace(profile: OptimizerProfile) -> dict[str, Any]:
    """`{"traceEvents": [...]}`, ready for JSON."""
    return {"traceEvents": list(optimizer_events(profile)), "displayTimeUnit": "ms"}


def optimizer_events(profile: OptimizerProfile, start: float = 0.0) -> Iterator[dict[str, Any]]:
    """The events of an optimizer, its passes, members and rules, from the top down."""
    stack: list[tuple[OptimizerProfile, float]] = [(profile, start)]
    while stack:
        p, at = stack.pop()
        arguments = {"class": p.optimizer, "nodes before": p.nodes_before, "nodes after": p.nodes_after}
        arguments |= {"changes": p.replacements, "waiting, us": round(1e6 * p.waiting, 3)}
        yield _event(p.name, "optimizer", at, p.time, arguments)
        inner: list[tuple[OptimizerProfile, float]] = []
        for child in p.children:
            inner.append((child, at))
            at += child.time
        stack.extend(reversed(inner))
        for row in p.table:
            if row.time >= SHOWN_SECONDS:
                yield _event(row.name, "rule", at, row.time, {"tried": row.tried, "applied": row.fired})
                at += row.time
    if profile.waiting >= SHOWN_SECONDS:
        yield _event("waiting for the processor or the GIL", "waiting", start + profile.time, profile.waiting, {})


def run_events(profile: RunProfile, start: float = 0.0, thread: int = 1) -> Iterator[dict[str, Any]]:
    """The nodes of a function one after the other, each as long as all its runs together."""
    yield _event(profile.name, "function", start, profile.seconds, {"calls": profile.calls}, thread)
    for step in profile.steps:
        arguments = {"kernel": step.kernel, "lines": list(step.lines), "calls": step.calls, "bytes": step.bytes}
        yield _event(step.text, "node", start, step.seconds, arguments, thread)
        start += step.seconds


def call_events(profile: RunProfile) -> Iterator[dict[str, Any]]:
    """The last call as a process of its own: nodes on the thread of the caller, shares of parallel work on theirs."""
    call = profile.last_call
    if call is None:
        return
    for text, moment in zip(profile.texts, call.nodes, strict=False):
        if moment:
            yield _event(text, "node", moment[0], moment[1] - moment[0], {}, 0, 1)
    for thread, begin, end in call.work:
        yield _event("parallel work", "share", begin, end - begin, {}, thread + 1, 1)


def _event(
    name: str, category: str, start: float, seconds: float, arguments: dict[str, Any], thread: int = 0, process: int = 0
) -> dict[str, Any]:
    return {
        "name": name, "cat": category, "ph": "X", "ts": round(1e6 * start, 3), "dur": round(1e6 * seconds, 3),
        "pid": process, "tid": thread, "args": arguments,
    }  # fmt: skip
