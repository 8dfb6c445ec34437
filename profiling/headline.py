"""The first depth of a run profile: where most of the time goes, in one sentence, and what to do first in another.

The second depth is a table of the slowest nodes, those of loops and branches included; the third is `str`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from ..record.spelling import counted
from .bodies import AROUND

if TYPE_CHECKING:
    from .run import RunProfile, StepProfile

THINGS = 3
"""Nodes that the sentence names."""


class Line(NamedTuple):
    """A node in the table: how deep it lies in bodies, the node, and the loop or choice around it."""

    depth: int
    node: StepProfile
    title: str
    """"step", "then" or "otherwise" for the first node of a body; else empty."""


def headline(profile: RunProfile) -> Iterator[str]:
    """One or two sentences: the three things that take most of the time, and what to do first."""
    if not profile.calls:
        yield f"{profile.name} has not been called."
        return
    things = [f"{share:.0f} % {what}" for share, what in _things(profile)[:THINGS] if share >= 1]
    each = duration(profile.seconds / profile.calls)
    calls = counted(profile.calls, "call")
    yield f"{profile.name}: {calls} of {each}" + (f": {', '.join(things)}." if things else ".")
    advice = profile.advice
    yield f"First: {advice[0]}." if advice else "No missed optimization was found in what takes time."


def _things(profile: RunProfile) -> list[tuple[float, str]]:
    """The share of the calls' time of each node and of the work around them, the largest first."""
    total = profile.seconds or profile.step_seconds or 1.0
    found = [(100 * node.seconds / total, _called(node, loops)) for node, loops in _leaves(profile.steps)]
    around = max(profile.seconds - profile.step_seconds, 0.0)
    return sorted([*found, (100 * around / total, "around the nodes")], key=lambda pair: -pair[0])


def _leaves(steps: Sequence[StepProfile]) -> Iterator[tuple[StepProfile, tuple[str, ...]]]:
    """Each node without a body, and what goes by in loops around their nodes, with the ops of the loops around it."""
    stack: list[tuple[StepProfile, tuple[str, ...]]] = [(step, ()) for step in steps]
    while stack:
        step, loops = stack.pop()
        inner = [node for body in step.bodies for node in body.nodes]
        if inner:
            rest = step.seconds - sum(node.seconds for node in inner)
            yield step_around(step, rest), loops
            stack += [(node, (*loops, op_of(step))) for node in inner]
        else:
            yield step, loops


def step_around(step: StepProfile, seconds: float) -> StepProfile:
    """The work of a loop or choice around the nodes of its bodies, as a node."""
    return type(step)(
        f"around the kernels of {op_of(step)}", AROUND, step.lines, step.calls, max(seconds, 0.0), op=step.op
    )


def op_of(step: StepProfile) -> str:
    """The op of a node without its operands and results."""
    return (step.text.partition(" = ")[2] or step.text).partition("(")[0]


def _called(node: StepProfile, loops: Sequence[str]) -> str:
    inside = f" inside {loops[-1]}" if loops else ""
    what = node.text if node.kernel == AROUND else f"in {op_of(node)}"
    return f"{what}{inside}" + (f" ({node.lines[0]})" if node.lines else "")


def outlined(steps: Sequence[StepProfile]) -> Iterator[Line]:
    """The nodes with those of their bodies behind them, deeper, and what goes by around these."""
    stack = [Line(0, step, "") for step in reversed(steps)]
    while stack:
        line = stack.pop()
        yield line
        node, inner = line.node, []
        for body in node.bodies:
            title = f"{body.title}, {body.steps:,} x" if body.nodes else ""
            inner += [Line(line.depth + 1, n, "" if k else title) for k, n in enumerate(body.nodes)]
        if inner:
            rest = node.seconds - sum(part.node.seconds for part in inner)
            inner.append(Line(line.depth + 1, step_around(node, rest), ""))
        stack += inner[::-1]


def duration(seconds: float) -> str:
    """A time with three digits: 1.25 s, 93.5 ms, 12.3 us, 28 ns."""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}" if seconds < 1000 * size else f"{seconds / size:,.0f} {unit}"
    return f"{1e9 * seconds:.0f} ns"
