"""The first screen of an optimizer profile: where the time went, which rules worked, which only cost time.

At most 100 columns; Theano's text, field by field, follows it in print.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ..record.spelling import counted

if TYPE_CHECKING:
    from .optimizer import OptimizerProfile, RuleProfile

TOP = 10
"""Rows of each table."""
WIDTH = 100
SHOWN_WAITING = 0.0005
"""Seconds of waiting; less would be 0.000."""
_NAME = 44
_IDLE_SHARE = 0.005
"""Rules that took less of the time than this are not worth being excluded."""


def summary_lines(profile: OptimizerProfile) -> Iterator[str]:
    """The lines of the first screen."""
    yield _total(profile)
    stop: str = getattr(profile, "stop", "") if profile.is_sequence else ""
    if stop:
        yield from textwrap.wrap(f"Stopped: {stop}.", WIDTH, subsequent_indent="  ")
    if profile.waiting >= SHOWN_WAITING:
        yield f"It also waited {profile.waiting:.3f} s for the processor or the GIL."
    if not profile.children and not profile.table:
        yield "No optimizer ran." if not profile.time else ""
        return
    yield from _pass_lines(profile)
    yield from _rule_lines(profile)
    yield from _idle_lines(profile)
    failures = profile.all_failures()
    if failures:
        yield ""
        were = "rule or optimizer failed and was" if len(failures) == 1 else "rules or optimizers failed and were"
        yield f"{len(failures)} {were} left out: {_few_names([f.rule for f in failures])}"


def headline(profile: OptimizerProfile) -> Iterator[str]:
    """The total, the three passes that took most of the time, and the rules that only cost time; each a sentence."""
    yield _total(profile)
    if not profile.time:
        return
    slow = [
        f"{100 * p.time / profile.time:.0f} % in {name}{'' if p.replacements or p.failures else ' (without effect)'}"
        for name, p in passes(profile)[:3]
    ]
    yield f"{', '.join(slow)}."
    advice = excluding(profile)
    idle = idle_rules(profile)
    if advice:
        share = 100 * sum(row.time for row in idle) / profile.time
        count = counted(len(idle), "rule")
        yield f"{count} took {share:.0f} % and changed nothing here; {advice} leaves them out."


def _total(profile: OptimizerProfile) -> str:
    nodes = f"{counted(profile.nodes_before, 'node')} became {profile.nodes_after:,}"
    return f"Optimizing took {profile.time:.3f} s: {nodes}, by {_changes(profile)}."


def _changes(profile: OptimizerProfile) -> str:
    """The number of changes of the graph, and of those in bodies of loops and choices."""
    runs = [run for p in profile.walk() if p.optimizer == "InnerGraphs" for run in p.children]
    inside = f", and {sum(r.replacements for r in runs):,} inside loops and branches" if runs else ""
    return f"{profile.replacements:,} change{'s' * (profile.replacements != 1)}{inside}"


def passes(profile: OptimizerProfile) -> list[tuple[str, OptimizerProfile]]:
    """The optimizers that are not sequences, with the names of their parents; the slowest first."""
    found: list[tuple[str, OptimizerProfile]] = []
    stack = [("", child) for child in profile.children]
    while stack:
        path, p = stack.pop()
        name = f"{path}{p.name}"
        if p.is_sequence:
            stack.extend((f"{name}/", child) for child in p.children)
        else:
            found.append((name, p))
    return sorted(found, key=lambda pair: (-pair[1].time, pair[0]))


def idle_rules(profile: OptimizerProfile) -> list[RuleProfile]:
    """The rules that were tried and never applied, and took noticeable time; the slowest first.

    Optimizers that are no rules, and the merging that sweeps do, are not among them.
    """
    least = _IDLE_SHARE * profile.time
    names = {row.name for p in profile.walk() for row in p.table} - {"MergeOptimizer"}
    return [r for r in profile.rules() if r.name in names and r.tried and not r.fired and r.time >= least and r.time]


def excluding(profile: OptimizerProfile) -> str:
    """The expression `mode.excluding(...)` with the rules that only cost time; empty if there are none."""
    names = ", ".join(f'"{row.name}"' for row in idle_rules(profile)[:TOP])
    return f"mode.excluding({names})" if names else ""


def _share(seconds: float, total: float) -> str:
    return f"{100 * seconds / total if total else 0:5.1f} %"


def _table(head: str, columns: str, rows: Sequence[str], left: int, what: str) -> Iterator[str]:
    yield ""
    yield f"  {head:<{_NAME}}  {columns}"
    yield from rows
    if left > 0:
        yield f"  and {left:,} more {what}"


def _pass_lines(profile: OptimizerProfile) -> Iterator[str]:
    every = passes(profile)
    found = [(name, p) for name, p in every if p.replacements or p.failures] or every[:1]
    idle = [p for _, p in every if all(p is not other for _, other in found)]
    rows = [
        f"  {_cut(name):<{_NAME}}  {p.time:9.4f}  {_share(p.time, profile.time)}  {p.replacements:9,}  "
        f"{f'{p.nodes_before:,} -> {p.nodes_after:,}':>17}"
        for name, p in found[:TOP]
    ]
    if idle and rows:
        seconds = sum(p.time for p in idle)
        name = f"{len(idle)} passes without effect"
        rows.append(f"  {name:<{_NAME}}  {seconds:9.4f}  {_share(seconds, profile.time)}  {0:9,}")
    if rows:
        columns = f"{'seconds':>9}  {'share':>7}  {'changes':>9}  {'nodes':>17}"
        yield from _table("passes, the slowest first", columns, rows, len(found) - TOP, "passes")


def _rule_lines(profile: OptimizerProfile) -> Iterator[str]:
    used = [row for row in profile.rules() if row.fired]
    rows = [
        f"  {_cut(r.name):<{_NAME}}  {r.time:9.4f}  {_share(r.time, profile.time)}  {r.fired:9,}  {r.tried:7,}  "
        f"{r.nodes_created:9,}"
        for r in used[:TOP]
    ]
    if rows:
        columns = f"{'seconds':>9}  {'share':>7}  {'applied':>9}  {'tried':>7}  {'new nodes':>9}"
        yield from _table("rules that were applied, the slowest first", columns, rows, len(used) - TOP, "rules")


def _idle_lines(profile: OptimizerProfile) -> Iterator[str]:
    idle = idle_rules(profile)
    if not idle:
        return
    seconds = sum(row.time for row in idle)
    tried = sum(row.tried for row in idle)
    share = _share(seconds, profile.time).strip()
    yield ""
    what = f"{seconds:.4f} s ({share}), tried {tried:,} times, never applied."
    yield f"  {counted(len(idle), 'rule')} only cost time here: {what}"
    yield "  Without the slowest of them:"
    yield from textwrap.wrap(
        excluding(profile), WIDTH - 4, initial_indent="    ", subsequent_indent=" " * 19, break_long_words=False
    )


def _cut(name: str) -> str:
    return name if len(name) <= _NAME else f"...{name[3 - _NAME :]}"


def _few_names(names: Sequence[str]) -> str:
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
