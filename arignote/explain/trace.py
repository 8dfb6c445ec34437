"""`f.trace`: every rewrite between the user's graph and the optimized one, to count, filter and step through.

    f.trace[3]                          the fourth rewrite: rule, stage, what stood for what, what changed in the text
    f.trace.inside                      the traces of the bodies of loops and choices
    f.trace.filter(rule="local_log1p")  those of a rule; also by stage, by a word of the node, by the user's line
    f.trace.graph(3)                    the graph after three rewrites
    s = f.trace.stepper(); s.next(); s.back(); s.goto(7); print(s)
"""

from __future__ import annotations

import fnmatch
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, overload

from .. import pages
from ..graph import FunctionGraph, Replacement, SourceLine, union
from ..graph.collector import gc_paused
from ..profiling import OptimizerProfile
from ..record import record
from ..record.cached import cached_property
from ..record.spelling import counted
from .delta import Delta
from .replay import Replay, described

SHOWN = 100
"""Rewrites that `str` of a trace shows, half of them from the end."""
LINES = 24
"""Most lines of each rewrite."""
LONG = 20_000
"""Number of rewrites beyond which only the first are replayed: replaying all would take seconds."""


@record
class Rewrite:
    """One rewrite: number `index` of its function, made by `rule` in the optimizer `stage`."""

    index: int
    rule: str
    stage: str
    before: str
    after: str
    lines: tuple[SourceLine, ...]
    delta: Delta
    body: str = ""
    """The loop or the branch in whose body it was made; `index` counts its rewrites then."""

    @property
    def place(self) -> str:
        """The number of the rewrite, and the loop or branch in whose body it was made."""
        return f"{self.index} inside {self.body}" if self.body else str(self.index)

    def __str__(self) -> str:
        where = f"  [{self.lines[0]}]" if self.lines else ""
        head = f"{self.place}: {self.rule} ({self.stage}){where}"
        return f"{head}\n{self.delta}"

    def __repr__(self) -> str:
        return f"<rewrite {self.place}: {self.rule}: {self.before} -> {self.after}>"

    def _repr_html_(self) -> str:
        return pages.notebook.trace_form([self.to_dict()], 1, 1)

    def to_dict(self) -> dict[str, Any]:
        """The rewrite as plain data, ready for JSON."""
        return {
            "index": self.index, "rule": self.rule, "stage": self.stage, "before": self.before, "after": self.after,
            "lines": [{"file": line.file, "line": line.line, "text": str(line)} for line in self.lines],
            "changes": self.delta.to_dict(),
        } | ({"body": self.body} if self.body else {})  # fmt: skip


class Trace(Sequence[Rewrite]):
    """The rewrites of one optimization, in order; a slice or a filter of it is a Trace of some of them."""

    journal: tuple[Replacement, ...]

    def __init__(
        self, graph: FunctionGraph, journal: Sequence[Replacement], profile: OptimizerProfile | None, body: str = ""
    ) -> None:
        self._graph, self.journal, self._profile = graph, tuple(journal), profile
        self.body = body
        """The loop or the branch whose body this is the trace of; empty for a function."""
        self._chosen: tuple[Rewrite, ...] | None = None

    @cached_property
    def inside(self) -> tuple[Trace, ...]:
        """Return the traces of the bodies of loops and choices; of those within bodies these have traces again."""
        runs = (run for entry in self.journal for run in entry.inside)
        return tuple(Trace(run.before, run.journal, run.profile, run.title) for run in runs)

    def _every_inside(self) -> Iterator[Rewrite]:
        """Yield the rewrites of all bodies, those of bodies within others too."""
        stack = list(reversed(self.inside))
        while stack:
            trace = stack.pop()
            yield from trace.every
            stack += reversed(trace.inside)

    @cached_property
    def every(self) -> tuple[Rewrite, ...]:
        """Return all rewrites of the function, whatever part this trace shows."""
        return tuple(self._first_rewrites(len(self.journal)))

    def _first_rewrites(self, count: int) -> list[Rewrite]:
        """The first rewrites of the function."""
        stages, replay, found = self._stage_of_each(), Replay(self._graph, self.journal), []
        with gc_paused:
            for entry in self.journal[:count]:
                found.append(self._rewrite(entry, next(stages, ""), replay.forward()))
        return found

    def _first(self) -> Sequence[Rewrite]:
        """The first SHOWN rewrites of this trace."""
        return self._first_rewrites(SHOWN) if self._chosen is None and len(self) > LONG else self.rewrites[:SHOWN]

    def _rewrite(self, entry: Replacement, stage: str, delta: Delta) -> Rewrite:
        before, after = described(entry.before), described(entry.after)
        lines = union(entry.before.origin, entry.after.origin)
        return Rewrite(entry.index, entry.rule, stage, before, after, lines, delta, self.body)

    def stages(self) -> list[str]:
        """Return the top-level optimizer of each rewrite of the function."""
        found = list(self._stage_of_each())[: len(self.journal)]
        return found + [""] * (len(self.journal) - len(found))

    def _stage_of_each(self) -> Iterator[str]:
        """The name of the top-level optimizer that made each entry of the journal."""
        for child in self._profile.children if self._profile is not None else ():
            yield from (child.name for _ in range(child.replacements))

    def _some(self, chosen: Sequence[Rewrite]) -> Trace:
        some = Trace(self._graph, self.journal, self._profile, self.body)
        some.__dict__["every"], some._chosen = self.every, tuple(chosen)
        return some

    @property
    def rewrites(self) -> tuple[Rewrite, ...]:
        """The rewrites of this trace."""
        return self.every if self._chosen is None else self._chosen

    # --- a sequence
    def __len__(self) -> int:
        return len(self.journal) if self._chosen is None else len(self._chosen)

    @overload
    def __getitem__(self, which: int) -> Rewrite: ...
    @overload
    def __getitem__(self, which: slice) -> Trace: ...
    def __getitem__(self, which: int | slice) -> Rewrite | Trace:
        return self._some(self.rewrites[which]) if isinstance(which, slice) else self.rewrites[which]

    def filter(
        self, rule: str | None = None, node: str | None = None, line: int | str | None = None, stage: str | None = None
    ) -> Trace:
        """Return the rewrites that match all given criteria, those inside loops and branches too.

        Args:
            rule: the name of a rule, or a pattern such as "local_mul*".
            node: a word of what went or came, such as an op ("exp") or a name ("v12", "x").
            line: a line of the user: its number, or text such as "train.py:12".
            stage: the optimizer that made it, or a pattern.
        """
        inside = self._every_inside() if self._chosen is None else ()
        return self._some([r for r in (*self.rewrites, *inside) if _fits(r, rule, node, line, stage)])

    @property
    def changes(self) -> Trace:
        """The rewrites that changed the text of the graph, without merges of equal values."""
        return self._some([r for r in self.rewrites if r.delta.in_text])

    # --- states
    def graph(self, position: int) -> FunctionGraph:
        """Return the graph after the first `position` rewrites: 0 is the user's, `len(f.trace)` the last."""
        if not 0 <= position <= len(self.journal):
            raise IndexError(f"there are {len(self.journal)} rewrites; there is no state number {position}")
        replay = Replay(self._graph, self.journal)
        replay.goto(position)
        return replay.graph()

    @property
    def start(self) -> list[str]:
        """The lines of the user's graph."""
        return Replay(self._graph, ()).lines()

    def stepper(self) -> Stepper:
        """Return a stepper at the user's graph, to move forward and back."""
        return Stepper(self._graph, self.journal, self)

    # --- other forms
    def to_dict(self) -> dict[str, Any]:
        """The trace as plain data: the user's graph as lines, and what each rewrite changed."""
        return {
            "graph": self.start, "total": len(self.journal),
            "rewrites": [r.to_dict() for r in self.rewrites],
            "inside": [trace.to_dict() for trace in self.inside] if self._chosen is None else [], "body": self.body,
        }  # fmt: skip

    def to_json(self) -> str:
        """`to_dict()` as JSON, indented."""
        return json.dumps(self.to_dict(), indent=1)

    def __str__(self) -> str:
        if self._chosen is None and len(self) > LONG:
            return "\n".join(self._long())
        found = self.rewrites
        head = f"{len(found):,} of {len(self.journal):,} rewrites" if self._chosen is not None else None
        lines = [head or counted(len(found), "rewrite")]
        inside = [] if self._chosen is not None else [line for trace in self.inside for line in _indented(trace)]
        if len(found) <= SHOWN:
            return "\n".join([*lines, *map(self._text, found), *inside])
        counts = Counter((r.stage, r.rule) for r in found)
        lines += [f"  {stage}: {n:,} x {rule}" for (stage, rule), n in list(counts.items())[:SHOWN]]
        left = f"... {len(found) - SHOWN:,} more; slice the trace or filter it to see them"
        shown = (*map(self._text, found[: SHOWN // 2]), left, *map(self._text, found[-SHOWN // 2 :]))
        return "\n".join([*lines, "", *shown, *inside])

    def _text(self, r: Rewrite) -> str:
        """The text of a rewrite, without the name of the body whose trace this is."""
        return _shortened(replace(r, body="") if r.body == self.body else r)

    def _long(self) -> Iterator[str]:
        """Yield the lines of a trace that is too long to replay: counts, and the first rewrites."""
        yield f"{len(self):,} rewrites"
        counts = Counter(zip(self.stages(), (entry.rule for entry in self.journal), strict=True))
        yield from (f"  {stage}: {n:,} x {rule}" for (stage, rule), n in counts.most_common(SHOWN))
        yield ""
        yield from map(self._text, self._first_rewrites(SHOWN // 2))
        yield f"... {len(self) - SHOWN // 2:,} more; slice the trace or filter it to see them"

    def __repr__(self) -> str:
        return f"<trace of {counted(len(self), 'rewrite')}>"

    def _repr_html_(self) -> str:
        shown = [r.to_dict() for r in self._first()]
        inside = [] if self._chosen is not None else [(t.body, t._repr_html_()) for t in self.inside]
        return pages.notebook.trace_form(shown, len(self), len(self.journal), inside)


def _indented(trace: Trace) -> Iterator[str]:
    """Yield the text of the trace of a body, below its title."""
    yield f"inside {trace.body}: {str(trace).partition(chr(10))[0]}"
    yield from (f"  {line}" for line in str(trace).splitlines()[1:])


def _shortened(r: Rewrite) -> str:
    """Return the text of a rewrite, shortened if it changed much."""
    lines = str(r).splitlines()
    left = len(lines) - LINES
    more = [f"  ... {counted(left, 'more line')}; print rewrite {r.index} alone"] if left > 0 else []
    return "\n".join([*lines[:LINES], *more])


def _fits(r: Rewrite, rule: str | None, node: str | None, line: int | str | None, stage: str | None) -> bool:
    if rule is not None and not fnmatch.fnmatchcase(r.rule, rule):
        return False
    if stage is not None and not fnmatch.fnmatchcase(r.stage, stage):
        return False
    if node is not None and node not in f"{r.before} {r.after} {r.delta}":
        return False
    if isinstance(line, int):
        return any(source.line == line for source in r.lines)
    return line is None or any(str(line) in f"{source} {source.file}:{source.line}" for source in r.lines)


class Stepper:
    """A state of the graph between two rewrites.  `position` rewrites are done; `rewrite` is the last of them."""

    journal: tuple[Replacement, ...]

    def __init__(self, graph: FunctionGraph, journal: tuple[Replacement, ...], trace: Trace) -> None:
        self._start, self.journal, self._trace = graph, journal, trace
        self._replay = Replay(graph, journal)

    @property
    def position(self) -> int:
        return self._replay.position

    @property
    def rewrite(self) -> Rewrite | None:
        """The rewrite that led to this state; None for the user's graph."""
        return self._trace.every[self.position - 1] if self.position else None

    def _repr_html_(self) -> str:
        """The graph of this state, below the rewrite that led to it."""
        head = pages.markup.element("b", pages.markup.escaped(repr(self)))
        rewrite = "" if self.rewrite is None else self.rewrite._repr_html_()
        return head + rewrite + self.graph._repr_html_()

    @property
    def graph(self) -> FunctionGraph:
        """The graph of this state."""
        return self._replay.graph()

    @property
    def lines(self) -> list[str]:
        """Return the text of the graph of this state, with names that stay from state to state."""
        return self._replay.lines()

    def goto(self, position: int) -> Stepper:
        """Go to the state after `position` rewrites.  Raises IndexError if there are not so many."""
        if not 0 <= position <= len(self.journal):
            raise IndexError(f"there are {len(self.journal)} rewrites; there is no state number {position}")
        if position < self.position:
            self._replay = Replay(self._start, self.journal)
        self._replay.goto(position)
        return self

    def next(self, steps: int = 1) -> Stepper:
        """Go forward, at most to the end."""
        return self.goto(min(self.position + steps, len(self.journal)))

    def back(self, steps: int = 1) -> Stepper:
        """Go back, at most to the user's graph."""
        return self.goto(max(self.position - steps, 0))

    def __str__(self) -> str:
        head = str(self.rewrite) if self.rewrite is not None else "the graph as it was built"
        return "\n".join([f"state {self.position} of {len(self.journal)}", head, "", *self.lines])

    def __repr__(self) -> str:
        return f"<state {self.position} of {len(self.journal)} of a rewriting>"
