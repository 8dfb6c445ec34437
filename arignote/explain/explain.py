"""`f.explain()`: the way from the user's graph to C on a few screens.

    the graph as it was built
    what each stage changed, as a difference in names that stay
    the kernels and the steps, with the user's lines
    where the C lies, and whether it came from the cache
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

from ..cbackend.driver.spelling import spelled
from ..engines.registry import title
from ..graph.editor import InnerRun
from ..profiling.saturation import EGraphProfile
from ..record.spelling import counted
from .replay import Replay
from .trace import LONG, Trace

if TYPE_CHECKING:
    from ..function.compiled import Function

LINES = 40
"""Most lines of a graph, or of a stage's changes, that are shown."""


def explanation(f: Function) -> Iterator[str]:
    """The lines of `f.explain()`."""
    replay, reported = Replay(f.unoptimized_graph, f.journal), len(f.journal) <= LONG
    yield f"{f.name}: as built, {counted(len(f.unoptimized_graph), 'node')}"
    before = replay.lines()
    yield from _cut(before)
    for stage, numbers in stages(f.trace):
        counts = Counter(entry.rule for entry in f.journal[numbers[0] : numbers[-1] + 1])
        yield ""
        yield f"{stage}: {', '.join(f'{n} x {rule}' for rule, n in counts.most_common(8))}{', ...' * (len(counts) > 8)}"
        if not reported:
            continue
        inside = [run for n in numbers for run in f.journal[n].inside]
        for run in inside:
            yield from _inside(run)
        replay.goto(numbers[-1] + 1)
        after = replay.lines()
        yield from _cut(changed_lines(before, after) or ([] if inside else ["only made equal values one"]))
        before = after
    yield ""
    yield f"optimized, mode {f.mode.name or f.mode.optimizer}: {counted(len(f.graph), 'node')}"
    if getattr(f.optimizer_profile, "stop", ""):
        yield f"  stopped: {f.optimizer_profile.stop}"
    yield from _cut(str(f.graph).splitlines())
    yield ""
    yield from _code(f)


def saturated(f: Function) -> Iterator[str]:
    """The lines on equality saturation."""
    profile = f.optimizer_profile
    found = [p for p in profile.walk() if isinstance(p, EGraphProfile)] if profile is not None else []
    if not found:
        yield f'{f.name}: no equality saturation; with it: mode="fast_run +egraph"'
    for each in found:
        yield from each.sentences()


def _inside(run: InnerRun) -> Iterator[str]:
    """The lines on the body of a loop or a choice: what it was, which rules changed it, what it became."""
    counts = Counter(entry.rule for _, entry in run.changes())
    rules = ", ".join(f"{n} x {rule}" for rule, n in counts.most_common(8)) or "no rule changed it"
    yield f"  inside {run.title}: {rules}{', ...' * (len(counts) > 8)}"
    if counts:
        yield from (f"    - {line}" for line in _cut(Replay(run.before, ()).lines()))
        yield from (f"    + {line}" for line in _cut(Replay(run.after, ()).lines()))


def stages(trace: Trace) -> Iterator[tuple[str, list[int]]]:
    """Yield the optimizers that changed something, in order, with the numbers of their rewrites."""
    names = trace.stages()
    for stage, group in groupby(enumerate(names), key=lambda pair: pair[1]):
        yield stage, [number for number, _ in group]


def changed_lines(before: Sequence[str], after: Sequence[str]) -> list[str]:
    """Removed (`-`) and added (`+`) lines, a value's old and new line together."""
    old, new = ({line.partition(":")[0]: line for line in lines} for lines in (before, after))
    found = []
    for name, line in old.items():
        if name not in new:
            found.append(f"- {line}")
        elif new[name] != line:
            found += [f"- {line}", f"+ {new[name]}"]
    return found + [f"+ {line}" for name, line in new.items() if name not in old]


def _cut(lines: Sequence[str]) -> Iterator[str]:
    shown = lines if len(lines) <= LINES else [*lines[: LINES // 2], *lines[-LINES // 2 :]]
    for number, line in enumerate(shown):
        if len(lines) > LINES and number == LINES // 2:
            yield f"  ... {counted(len(lines) - LINES, 'more line')}"
        yield f"  {line}"


def _code(f: Function) -> Iterator[str]:
    program: Any = f.program
    if program is None:
        yield f"run by {title(f.backend)}"
        return
    launched: dict[str, list[int]] = {}
    for step in program.steps:
        if getattr(step, "kernel", False):
            launched.setdefault(spelled(step), []).append(step.site)
    yield f"{counted(len(program.kernels), 'kernel')}, {counted(len(program.sites), 'step')}"
    rows = []
    for kernel in program.kernels:
        sites = launched.get(kernel.name, [])
        nodes = [program.sites[s].node for s in sites if s < len(program.sites)]
        origin = dict.fromkeys(str(line) for node in nodes for line in node.origin)
        comment = kernel.title
        rows.append(f"{kernel.name}  {len(sites)} x  {comment}  [{', '.join(list(origin)[:3])}]")
    yield from _cut(rows)
    yield ""
    how = "found in the cache" if f.from_cache else f"compiled in {f.compile_seconds:.3f} s"
    yield f"C: {f.c_path or 'in memory alone'} ({how})"
    count = len(f.remarks)
    yield f"{count} remark{'s' * (count > 1)} on what was not done: see f.remarks" if count else "nothing to remark"
