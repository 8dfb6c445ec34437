"""A run profile as text: one screen of at most 80 columns, or all, with rows of nodes at most 140 wide."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ..record.spelling import counted
from .advice import SMALL
from .bodies import AROUND
from .headline import Line, duration, headline, outlined

if TYPE_CHECKING:
    from .run import Cost, Roofline, RunProfile, StepProfile

_NODE, _KERNEL, _LINE = 28, 18, 26
"""Columns: with those of the figures, rows are at most 140 wide."""
_ENGINE, _LESS, _LINE_LESS = 11, 8, 16
"""The column of engines, and the widths that nodes and kernels, and lines, give up for it and for copies."""
TOP = 8
"""Op classes and lines that are shown."""
STEPS = 40
"""Nodes that are shown."""


FIRST = 12
"""Nodes that a summary shows."""
LEAST_SHARE = 0.5
"""Percent of the time from which on a summary shows a node."""
SCREEN = 80
"""Columns of a summary."""
_WIDE = 30
"""Columns of a node in a summary."""


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
    """The lines of one screen: the three things that matter, the slowest nodes, rates, memory, advice."""
    first, *then = headline(profile)
    yield from textwrap.wrap(first, SCREEN, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)
    if not profile.calls:
        return
    yield ""
    lines = list(outlined(profile.steps))
    shown = [line for line in lines if profile.share(line.node.seconds) >= LEAST_SHARE][:FIRST]
    yield f"   share   per call  {'node':<{_WIDE}}  line"
    yield from (_screen_row(profile, line) for line in shown)
    if len(lines) > len(shown):
        yield f"          and {len(lines) - len(shown):,} more: print the profile to see all"
    yield ""
    for text in (*_rates(profile), *_memory(profile)):
        yield from textwrap.wrap(text, SCREEN, subsequent_indent="   ")
    yield from _advice(profile.advice or then, SCREEN)


def _screen_row(profile: RunProfile, line: Line) -> str:
    """A row that fits a screen: share, time a call, the node as deep as it lies, and the user's line."""
    node = line.node
    what = _short(f"{'  ' * line.depth}{f'{line.title} ' if line.title else ''}{_expression(node)}", _WIDE)
    return (
        f"  {profile.share(node.seconds):5.1f}%  {duration(node.seconds / profile.calls):>9}  "
        f"{what:<{_WIDE}}  {_first(node.lines, _LINE)}"
    ).rstrip()


def _expression(node: StepProfile) -> str:
    return node.text.partition(" = ")[2] or node.text


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
    steps, lines = profile.steps, list(outlined(profile.steps))
    divided = any(s.engine for s in steps)
    more = f"{'engine':<{_ENGINE}} {'copied':>8} {'copy us':>8}  " if divided else ""
    columns = f"{'node':<{_NODE - _LESS * divided}}  {'kernel':<{_KERNEL - _LESS * divided}}  line"
    yield f"   share        time   calls   us each    GB/s  GFLOP/s   roof  {more}{columns}"
    yield from (_row(profile, line, roofline, divided) for line in lines[:most])
    if len(lines) > most:
        rest = [line.node.seconds for line in lines[most:] if not line.depth]
        more = f"  {profile.share(sum(rest)):5.1f}% in {counted(len(rest), 'more node')}" if rest else ""
        yield more or f"         {len(lines) - most:,} more nodes inside it"


def _rest(profile: RunProfile, roofline: Roofline | None) -> Iterator[str]:
    yield from _memory(profile)
    if roofline is not None:
        yield f" roof: {_peaks(roofline)}, measured on {roofline.threads} threads"
    yield from _advice(profile.advice, 100)


def _rates(profile: RunProfile) -> Iterator[str]:
    """The rates of all nodes together, beside the peaks of the machine."""
    nodes, roofline = profile.ops(), profile.roofline
    seconds = 1e9 * sum(c.seconds for c in nodes)
    if seconds:
        roof = f"; roof: {_peaks(roofline)}" if roofline is not None else ""
        moved, done = sum(c.bytes for c in nodes) / seconds, sum(c.flops for c in nodes) / seconds
        yield f" rates: {moved:.2f} GB/s, {done:.2f} GFLOP/s{roof}"


def _peaks(roofline: Roofline) -> str:
    return f"{roofline.bandwidth:.1f} GB/s, {roofline.float32:.0f} GFLOP/s float32, {roofline.float64:.0f} float64"


def _advice(texts: Sequence[str], width: int) -> Iterator[str]:
    for text in texts:
        yield from textwrap.wrap(text, width, initial_indent=" - ", subsequent_indent="   ", break_long_words=False)


def _row(profile: RunProfile, line: Line, roofline: Roofline | None, divided: bool) -> str:
    s = line.node
    times = f"{profile.share(s.seconds):5.1f}% {s.seconds:10.6f}s {s.calls:7d} {1e6 * s.seconds / s.calls:9.2f}"
    wide = _NODE - _LESS * divided
    node = _short(f"{'  ' * line.depth}{f'{line.title} ' if line.title else ''}{s.text}", wide)
    narrow = _KERNEL - _LESS * divided
    kernel = "" if s.kernel == AROUND else _first(s.kernel.split(", "), narrow)
    where = _first(s.lines, _LINE - _LINE_LESS * divided)
    roof = "" if s.has_body else _roof(s.cost, roofline)
    rates = f"{s.bandwidth:7.2f} {s.gflops:8.2f} {roof:>6}"
    more = _of_region(s) if divided else ""
    return f"  {times} {rates}  {more}{node:<{wide}}  {kernel:<{narrow}}  {where}".rstrip()


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
