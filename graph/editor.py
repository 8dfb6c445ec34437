"""Graph editor: `GraphEditor.admit` checks each change of a graph, asks the watcher and writes the journal.

Trace, explain, bisect, history, provenance and statistics all read the journal that is written here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import field, replace
from typing import TYPE_CHECKING, Any

from ..record import record
from ..record.clock import processor_clock
from .node import Variable

if TYPE_CHECKING:
    from .fgraph import FunctionGraph


@record(slots=True)
class Replacement:
    """One entry of the journal: rule number `index` of this optimization put `after` in the place of `before`."""

    index: int
    rule: str
    before: Variable
    after: Variable
    inside: tuple[InnerRun, ...] = field(default=(), compare=False, repr=False)
    """The optimizations of the bodies that it puts in place; of several outputs the first has them."""
    returned: bool = field(default=False, compare=False, repr=False)
    """Whether only the graph's outputs change: nodes go on to read `before`."""

    def __str__(self) -> str:
        return f"{self.index}: {self.rule}: {_describe(self.before)} -> {_describe(self.after)}"


@record(eq=False)
class InnerRun:
    """The optimization of a body of a loop or a choice: `title` names its node, `again` repeats it with a budget."""

    title: str
    before: FunctionGraph
    after: FunctionGraph
    journal: tuple[Replacement, ...]
    profile: Any
    again: Callable[[Budget], FunctionGraph]

    def changes(self) -> Iterator[tuple[InnerRun, Replacement]]:
        """Yield its changes in order, and in the place of those that put inner bodies in place the changes of these."""
        putting = {entry.rule for entry in self.journal if entry.inside}
        for entry in self.journal:
            for run in entry.inside:
                yield from run.changes()
            if entry.rule not in putting:
                yield self, entry


class Budget:
    """The number of changes that may yet pass in bodies; shared by the editors of all bodies of a graph."""

    def __init__(self, left: int) -> None:
        self.left = left


Watch = Callable[[Replacement], bool]
"""Callback for each replacement before it is accepted; a false result vetoes it."""


class ReplacementRefused(TypeError):
    """A rule proposed a value of another type than the one it replaces."""


class GraphEditor:
    """Checks, journal and watcher of one optimization; `refused` counts the changes that the watcher vetoed.

    `limit`: how many changes pass; all later ones leave the graph as it is, and `withheld` is the first of them.
    `budget`: the same, shared with other editors.
    """

    def __init__(self, watch: Watch | None = None, limit: int | None = None, budget: Budget | None = None) -> None:
        self.watch = watch
        self.limit = limit
        self.budget = budget
        self.withheld: Replacement | None = None
        self.journal: list[Replacement] = []
        self.refused: int = 0
        self.validate_time: float = 0.0
        """Seconds spent on type checks."""
        self.callback_time: float = 0.0
        """Seconds spent in the watcher."""

    def admit(self, rule: str, before: Variable, after: Variable, returned: bool = False) -> bool:
        """Check and journal the replacement of `before` by `after`; return whether it is accepted.

        `returned`: it happens among the graph's outputs only.

        Raises ReplacementRefused, naming the rule and both types, if dtype, rank or a known length would be lost.
        """
        # Equal types are the common case and cost one comparison; only the rest is worth a clock.
        if after.type != before.type:
            clock = processor_clock()
            start = clock.read()
            fits = after.type.refines(before.type)
            self.validate_time += clock.read() - start
            if not fits:
                raise ReplacementRefused(
                    f"rule {rule!r} would change the type {before.type} to {after.type}: "
                    f"{_describe(before)} -> {_describe(after)}"
                )
        entry = Replacement(len(self.journal), rule, before, after, returned=returned)
        if self.limit is not None and entry.index >= self.limit:
            self.withheld = self.withheld or entry
            return False
        if self.budget is not None and self.budget.left <= 0:
            return False
        if self.watch is not None:
            clock = processor_clock()
            start = clock.read()
            wanted = self.watch(entry)
            self.callback_time += clock.read() - start
            if not wanted:
                self.refused += 1
                return False
        self.journal.append(entry)
        if self.budget is not None:
            self.budget.left -= 1
        return True

    def note_inside(self, first: int, runs: Sequence[InnerRun]) -> None:
        """Note the optimizations of bodies at entry number `first` of the journal, if it was admitted."""
        if first < len(self.journal):
            self.journal[first] = replace(self.journal[first], inside=tuple(runs))

    def admit_together(self, rule: str, pairs: Sequence[tuple[Variable, Variable]]) -> bool:
        """Admit all pairs (before, after) or none; return whether they are accepted."""
        entries = len(self.journal)
        if all(self.admit(rule, before, after) for before, after in pairs):
            return True
        del self.journal[entries:]
        return False

    @property
    def stop(self) -> str:
        """The place where the limit stopped the optimization; empty if it did not."""
        if self.withheld is None:
            return ""
        last = f"; the last was {self.journal[-1]}" if self.journal else ""
        return f"limit of {self.limit} changes{last}; the next would be {self.withheld}"


def _describe(variable: Variable) -> str:
    data = getattr(variable, "data", None)
    if data is not None:
        return str(data) if data.size <= 8 else f"constant {variable.type}"
    return repr(variable.owner) if variable.owner is not None else variable.name or f"input {variable.type}"
