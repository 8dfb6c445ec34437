"""Optimizer profiles: one profile an optimizer, nested as optimizers are, in the layout that Theano's users know.

    SeqProfile          time for A/B nodes, validate, callback; its children in order of time
    EquilibriumProfile  passes with their node counts and busiest rules, rules applied, rules not used
    TopoProfile, MergeProfile, FusionProfile, GemmProfile, InplaceProfile

Sums add up: the time of a sequence is that of its children, the time of an equilibrium that of its passes; what fired
in the passes is what the table says; the times of the table are those in local, global, final and cleanup optimizers.
Profiles are values: optimizers fill in what they alone know, the base of all optimizers the rest.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any, ClassVar

from ..pages.text import Text
from ..record import lazy, record
from .chrome import optimizer_trace
from .summary import excluding, headline, summary_lines

forms: Any = lazy.module(".forms", __package__)


@record
class RuleProfile:
    """The counts of one rule: nodes it was tried on, times it was applied, seconds (of both), nodes that it made."""

    name: str
    tried: int = 0
    fired: int = 0
    time: float = 0.0
    nodes_created: int = 0

    def __add__(self, other: RuleProfile) -> RuleProfile:
        return RuleProfile(
            self.name,
            self.tried + other.tried,
            self.fired + other.fired,
            self.time + other.time,
            self.nodes_created + other.nodes_created,
        )

    def to_dict(self) -> dict[str, Any]:
        return {
            "name": self.name, "tried": self.tried, "fired": self.fired, "time": self.time,
            "nodes_created": self.nodes_created,
        }  # fmt: skip


@record
class Failure:
    """A rule or optimizer that raised or offered a wrong type: the first node, the text of the error, and how often."""

    rule: str
    node: str
    error: str
    count: int = 1

    def to_dict(self) -> dict[str, Any]:
        return {"rule": self.rule, "node": self.node, "error": self.error, "count": self.count}


def summed(rows: Iterable[RuleProfile]) -> list[RuleProfile]:
    """One row a name, the slowest first."""
    sums: dict[str, RuleProfile] = {}
    for row in rows:
        sums[row.name] = sums[row.name] + row if row.name in sums else row
    return sorted(sums.values(), key=lambda row: -row.time)


@record(kw_only=True, repr=False)
class OptimizerProfile:
    """The cost of one run of an optimizer; times in seconds of its thread's processor time, sizes in nodes."""

    name: str = ""
    optimizer: str = ""
    """The class of the optimizer."""
    time: float = 0.0
    waiting: float = 0.0
    """Seconds beside `time` in which that thread did not run: another one had the processor or the GIL."""
    validate_time: float = 0.0
    """Spent on checking types."""
    callback_time: float = 0.0
    """Spent in the watcher."""
    nodes_before: int = 0
    nodes_after: int = 0
    replacements: int = 0
    """Changes that were admitted."""
    nodes_created: int = 0
    """Nodes of the result that were not there before."""
    table: tuple[RuleProfile, ...] = ()
    """The rules it tried itself."""
    failures: tuple[Failure, ...] = ()
    children: tuple[OptimizerProfile, ...] = ()
    adds_up: ClassVar[bool] = False
    """Whether `time` is the sum of the times of its parts."""
    is_sequence: ClassVar[bool] = False
    """Whether members ran one after the other, each once; an equilibrium adds up and is no sequence."""

    def own_row(self) -> RuleProfile:
        """This optimizer seen as one rule."""
        return RuleProfile(self.name, 1, self.replacements, self.time, self.nodes_created)

    def walk(self) -> Iterator[OptimizerProfile]:
        """This profile and all below it, from the top down."""
        stack = [self]
        while stack:
            profile = stack.pop()
            yield profile
            stack.extend(reversed(profile.children))

    def rules(self) -> list[RuleProfile]:
        """Every rule of the tree with its sums, the slowest first; an optimizer without rules counts as one."""
        leaves = (p.table or (() if p.children else (p.own_row(),)) for p in self.walk())
        return summed(row for rows in leaves for row in rows)

    def all_failures(self) -> list[Failure]:
        """The failures of the tree."""
        return [failure for p in self.walk() for failure in p.failures]

    def to_dict(self) -> dict[str, Any]:
        """The profile as plain data, ready for JSON."""
        return {
            "name": self.name, "class": self.optimizer, "time": self.time, "validate_time": self.validate_time,
            "callback_time": self.callback_time, "waiting": self.waiting,
            "nodes_before": self.nodes_before, "nodes_after": self.nodes_after, "changes": self.replacements,
            "passes": [], "rules": [row.to_dict() for row in self.table],
            "failures": [failure.to_dict() for failure in self.failures], "details": dict(self.facts()),
            "children": [child.to_dict() for child in self.children],
        }  # fmt: skip

    def to_json(self) -> str:
        """`to_dict()` as JSON, indented."""
        return json.dumps(self.to_dict(), indent=1)

    def to_chrome(self) -> dict[str, Any]:
        """The profile as a Chrome trace: `json.dump` it to a file that Perfetto or chrome://tracing opens."""
        return optimizer_trace(self)

    # --- text
    @property
    def excluding(self) -> str:
        """The line to copy: `mode.excluding(...)` with the rules that only cost time here; empty if none did."""
        return excluding(self)

    def summary(self) -> str:
        """The first screen: where the time went, the top ten passes and rules, the rules that only cost time."""
        return Text("\n".join(summary_lines(self)))

    @property
    def headline(self) -> list[str]:
        """The total, the passes that took most of it, and the rules to leave out, each in a sentence."""
        return list(headline(self))

    def report(self) -> str:
        """The report field by field, in the layout that Theano's users know."""
        return Text("\n".join(["Optimizer Profile", "-----------------", *self.lines()]))

    @property
    def has_body(self) -> bool:
        """Whether there is more to print than name, class and time."""
        return type(self) is not OptimizerProfile or bool(self.failures)

    def lines(self, level: int = 0) -> Iterator[str]:
        """The report, a line at a time; `level` is the depth of nesting, four blanks each."""
        yield f"{'    ' * level} {self.optimizer}"
        for label, number in self.facts():
            yield f"{'    ' * level}  {label} {_figure(number)}"
        yield from self.failure_lines(level)

    def facts(self) -> Iterator[tuple[str, Any]]:
        """The facts specific to this kind of optimizer: labels and numbers."""
        yield from ()

    def failure_lines(self, level: int) -> Iterator[str]:
        for failure in self.failures:
            error = failure.error.strip().splitlines()[-1] if failure.error.strip() else ""
            yield f"{'    ' * level}   failed: {failure.rule}, {failure.count} times, first on {failure.node}: {error}"

    def __str__(self) -> str:
        return f"{self.summary()}\n\n{self.report()}"

    def __repr__(self) -> str:
        return self.summary()

    def _repr_html_(self) -> str:
        form: str = forms.optimizer_form(self.to_dict() | {"headline": self.headline}, str(self))
        return form


_SHOWN_SECONDS = 0.0005
"""Shortest time with a row of its own: less would print as 0.000s, in dozens of rows for a training step."""


def _figure(number: Any) -> str:
    return f"{number:.6f}" if isinstance(number, float) else str(number)
