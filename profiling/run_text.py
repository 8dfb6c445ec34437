"""A run profile as text: rows of nodes at most 140 wide, then op classes, lines, memory, advice."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ..record.spelling import counted
from .advice import SMALL

if TYPE_CHECKING:
    from .run import Cost, Roofline, RunProfile, StepProfile

_NODE, _KERNEL, _LINE = 28, 18, 26
"""Columns: with those of the figures, rows are at most 140 wide."""
_ENGINE, _LESS = 11, 16
"""The column of engines, and the width that other columns give up for it and for copies."""
TOP = 8
"""Op classes and lines that are shown."""
STEPS = 40
"""Nodes that are shown."""


FIRST = 10
"""Nodes that a summary shows."""


def run_lines(profile: RunProfile) -> Iterator[str]:
    """The lines of the report."""
    if not profile.calls:
        yield from _head(profile)
        return
    roofline = profile.roofline
    yield from _head(profile)
    yield from _nodes(profile, STEPS, roofline)
    yield from _sums(profile, "op class", profile.ops(), roofline)
    yield from _sums(profile, "line", profile.user_lines(), roofline)
    yield ""
    yield from _rest(profile, roofline)


def summary_lines(profile: RunProfile) -> Iterator[str]:
    """The lines of one screen: the slowest nodes, memory, advice."""
    yield from _head(profile)
    if profile.calls:
        yield from _nodes(profile, FIRST, profile.roofline)
        yield from _rest(profile, profile.roofline)


def _head(profile: RunProfile) -> Iterator[str]:
    each = profile.seconds / profile.calls if profile.calls else 0.0
    outside = max(profile.seconds - profile.step_seconds, 0.0)
    skipped = f", {profile.skipped} more left out as warm-up" if profile.skipped else ""
    steps = profile.steps
    yield "Run Profile"
    yield "-----------"
    calls = counted(profile.calls, "call")
    yield f" {profile.name}  {calls}  {profile.seconds:.6f}s in calls ({1e6 * each:.1f} us each){skipped}"
    yield f"   {profile.step_seconds:.6f}s in {len(steps)} nodes, {outside:.6f}s around them"
    yield f"   {profile.compile_seconds:.3f}s to compile, not part of the above"
    if not profile.calls:
        yield "   it has not been called"


def _nodes(profile: RunProfile, most: int, roofline: Roofline | None) -> Iterator[str]:
    steps = profile.steps
    divided = any(s.engine for s in steps)
    more = f"{'engine':<{_ENGINE}} {'copied':>8} {'copy us':>8}  " if divided else ""
    columns = f"{'node':<{_NODE - _LESS * divided}}  {'kernel':<{_KERNEL}}  line"
    yield f"   share        time   calls   us each    GB/s  GFLOP/s   roof  {more}{columns}"
    yield from (_row(profile, s, roofline, divided) for s in steps[:most])
    if len(steps) > most:
        rest = steps[most:]
        yield f"  {profile.share(sum(s.seconds for s in rest)):5.1f}% in {counted(len(rest), 'more node')}"


def _rest(profile: RunProfile, roofline: Roofline | None) -> Iterator[str]:
    yield from _memory(profile)
    if roofline is not None:
        yield (
            f" roof: {roofline.bandwidth:.1f} GB/s, {roofline.float32:.0f} GFLOP/s float32, "
            f"{roofline.float64:.0f} float64, measured on {roofline.threads} threads"
        )
    for text in profile.advice:
        yield from textwrap.wrap(text, 100, initial_indent=" - ", subsequent_indent="   ", break_long_words=False)


def _row(profile: RunProfile, s: StepProfile, roofline: Roofline | None, divided: bool) -> str:
    times = f"{profile.share(s.seconds):5.1f}% {s.seconds:10.6f}s {s.calls:7d} {1e6 * s.seconds / s.calls:9.2f}"
    wide = _NODE - _LESS * divided
    node, kernel = _short(s.text, wide), _first(s.kernel.split(", "), _KERNEL)
    line = _first(s.lines, _LINE - _LESS * divided)
    roof = "" if s.has_body else _roof(s.cost, roofline)
    rates = f"{s.bandwidth:7.2f} {s.gflops:8.2f} {roof:>6}"
    more = _of_region(s) if divided else ""
    return f"  {times} {rates}  {more}{node:<{wide}}  {kernel:<{_KERNEL}}  {line}".rstrip()


def _of_region(s: StepProfile) -> str:
    """The columns of a function that is divided: engine, and bytes and time of the copies of a call."""
    copies = f"{_bytes(s.copied // s.calls):>8} {1e6 * s.copy_seconds / s.calls:8.2f}" if s.engine else f"{'':17}"
    return f"{_short(s.engine, _ENGINE):<{_ENGINE}} {copies}  "


def _roof(cost: Cost, roofline: Roofline | None) -> str:
    """The fraction of the roofline reached; empty for nodes that move too few bytes for it to mean anything."""
    if roofline is None or cost.bytes < SMALL * cost.calls:
        return ""
    reached = cost.of_roofline(roofline)
    return f"{100 * reached:.0f}%" if reached <= 1 else ">100%"


def _sums(profile: RunProfile, title: str, costs: Sequence[Cost], roofline: Roofline | None) -> Iterator[str]:
    yield ""
    yield f"   share        time   calls  nodes    GB/s  GFLOP/s   roof  by {title}"
    for c in costs[:TOP]:
        times = f"{profile.share(c.seconds):5.1f}% {c.seconds:10.6f}s {c.calls:7d} {c.nodes:6d}"
        yield f"  {times} {c.bandwidth:7.2f} {c.gflops:8.2f} {_roof(c, roofline):>6}  {_first([c.name], 60)}"


def _memory(profile: RunProfile) -> Iterator[str]:
    memory = profile.memory
    if memory.without_in_place:
        planned = f", planned in one block of {_bytes(memory.planned)}" if memory.planned else ""
        saved = f"; {_bytes(memory.without_in_place)} if nothing were done in place"
        yield f" memory: {_bytes(memory.peak)} of intermediate values at the peak{planned}{saved}"
    else:
        yield " memory: no intermediate value needs a block of its own"


def _bytes(count: int) -> str:
    for unit, size in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= size:
            return f"{count / size:.1f} {unit}"
    return f"{count} bytes"


def _short(text: str, width: int) -> str:
    return text if len(text) <= width else text[: width - 3] + "..."


def _first(texts: Sequence[str], width: int) -> str:
    """The first of the texts, cut on the left, and how many more there are."""
    more = f" +{len(texts) - 1}" if len(texts) > 1 else ""
    room = width - len(more)
    first = texts[0] if texts else ""
    return (first if len(first) <= room else f"...{first[3 - room :]}") + more
