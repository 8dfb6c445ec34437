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
from typing import Any

from .. import pages
from ..record import record
from .chrome import optimizer_trace
from .summary import excluding, summary_lines


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
            "nodes_before": self.nodes_before, "nodes_after": self.nodes_after,
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
    def is_sequence(self) -> bool:
        """Whether its time is that of its members and nothing more."""
        return False

    @property
    def excluding(self) -> str:
        """The line to copy: `mode.excluding(...)` with the rules that only cost time here; empty if none did."""
        return excluding(self)

    def summary(self) -> str:
        """The first screen: where the time went, the top ten passes and rules, the rules that only cost time."""
        return "\n".join(summary_lines(self))

    def report(self) -> str:
        """The report field by field, in the layout that Theano's users know."""
        return "\n".join(["Optimizer Profile", "-----------------", *self.lines()])

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
        """The facts that this kind of optimizer alone reports: labels and numbers."""
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
        return pages.notebook.optimizer_form(self.to_dict(), str(self))


_SHOWN_SECONDS = 0.0005
"""What is less would be a row that says 0.000s: dozens of them in the profile of a training step."""


def _figure(number: Any) -> str:
    return f"{number:.6f}" if isinstance(number, float) else str(number)


@record(kw_only=True, repr=False)
class SeqProfile(OptimizerProfile):
    """A sequence: `children` are its members in order of position."""

    stop: str = ""
    """Where a limit of changes stopped it; empty if nothing was withheld."""

    def to_dict(self) -> dict[str, Any]:
        return super().to_dict() | ({"stop": self.stop} if self.stop else {})

    @property
    def is_sequence(self) -> bool:
        return True

    def lines(self, level: int = 0) -> Iterator[str]:
        blanks = "    " * level
        sizes = f"{self.nodes_before}/{self.nodes_after} nodes before/after optimization"
        yield f"{blanks} {self.optimizer} {blanks} {self.name}  time {self.time:.3f}s for {sizes}"
        yield f"{blanks}   {self.validate_time:.3f}s for fgraph.validate()"
        yield f"{blanks}   {self.callback_time:.3f}s for callback"
        if self.stop:
            yield f"{blanks}   stopped: {self.stop}"
        if self.waiting >= _SHOWN_SECONDS:
            yield f"{blanks}   {self.waiting:.3f}s for waiting (processor or GIL), in no other time"
        if level == 0:
            yield f"{blanks}   time      - (name, class, index) - validate time"
        for index, child in sorted(enumerate(self.children), key=lambda pair: (-pair[1].time, pair[0])):
            title = (child.name, child.optimizer, index)
            yield f"{blanks}   {child.time:.6f}s - {title} - {child.validate_time:.3f}s"
            if child.has_body:
                yield from child.lines(level + 1)
        yield from self.failure_lines(level)


@record
class PassProfile:
    """One pass of an equilibrium."""

    time: float
    global_time: float
    """In global and final optimizers."""
    toposort_time: float
    nodes: int
    """Nodes when the sweep began."""
    fired: tuple[tuple[str, int], ...]
    """What was applied, and how often, most often first."""
    children: tuple[OptimizerProfile, ...] = ()
    """What the global, final and cleanup optimizers report."""
    waiting: float = 0.0

    @property
    def count(self) -> int:
        return sum(count for _, count in self.fired)

    def line(self, index: int) -> str:
        busiest = " ".join(str(pair) for pair in self.fired[:5]) + (" ..." if len(self.fired) > 5 else "")
        times = f"({self.global_time:.3f}s in global opts, {self.toposort_time:.3f}s io_toposort)"
        return f"{index:2d} - {self.time:.3f}s {self.count} {times} - {self.nodes} nodes - {busiest}".rstrip(" ")

    def to_dict(self) -> dict[str, Any]:
        return {
            "time": self.time, "waiting": self.waiting, "global_time": self.global_time,
            "toposort_time": self.toposort_time, "nodes": self.nodes, "fired": self.count, "rules": dict(self.fired),
        }  # fmt: skip


@record(kw_only=True, repr=False)
class EquilibriumProfile(OptimizerProfile):
    """A fixed point: `table` holds the rules of its sweeps (and the merging), `children` what its optimizers report."""

    passes: tuple[PassProfile, ...] = ()
    max_nodes: int = 0
    local_time: float = 0.0
    global_time: float = 0.0
    final_time: float = 0.0
    cleanup_time: float = 0.0
    stop: str = "fixed point"
    """Why it stopped: "fixed point", or the limit that was reached."""

    def rows(self) -> list[RuleProfile]:
        """One row a rule and an optimizer, the slowest first."""
        return summed([*self.table, *(child.own_row() for child in self.children)])

    def to_dict(self) -> dict[str, Any]:
        extra = {"stop": self.stop, "local_time": self.local_time, "global_time": self.global_time}
        extra |= {"final_time": self.final_time, "cleanup_time": self.cleanup_time, "max_nodes": self.max_nodes}
        return super().to_dict() | {"passes": [p.to_dict() for p in self.passes]} | extra

    def lines(self, level: int = 0) -> Iterator[str]:
        blanks = "    " * level
        yield f"{blanks} {self.optimizer} {blanks} {self.name}"
        yield f"{blanks}   time {self.time:.3f}s for {len(self.passes)} passes"
        yield f"{blanks}   nb nodes (start, end,  max) {self.nodes_before} {self.nodes_after} {self.max_nodes}"
        yield f"{blanks}   time io_toposort {sum(p.toposort_time for p in self.passes):.3f}s"
        yield f"{blanks}   time in local optimizers {self.local_time:.3f}s"
        yield f"{blanks}   time in global optimizers {self.global_time:.3f}s"
        yield f"{blanks}   time in final optimizers {self.final_time:.3f}s"
        yield f"{blanks}   time in cleanup optimizers {self.cleanup_time:.3f}s"
        if self.stop != "fixed point":
            yield f"{blanks}   stopped: {self.stop}"
        yield from (f"{blanks}   {p.line(i)}" for i, p in enumerate(self.passes))
        yield from self._table_lines(blanks)
        yield from self.failure_lines(level)
        yield from self._part_lines(level)

    def _table_lines(self, blanks: str) -> Iterator[str]:
        rows = self.rows()
        used, unused = [r for r in rows if r.fired], [r for r in rows if not r.fired]
        if used:
            yield f"{blanks}   times - times applied - nb node created - name:"
            yield from (f"{blanks}   {r.time:.3f}s - {r.fired} - {r.nodes_created} - {r.name}" for r in used)
        yield (
            f"{blanks}   {sum(r.time for r in unused):.3f}s - in {len(unused)} optimization that were not used "
            "(display only those with a runtime > 0)"
        )
        yield from (f"{blanks}     {r.time:.3f}s - {r.name}" for r in unused if r.time >= _SHOWN_SECONDS)

    def _part_lines(self, level: int) -> Iterator[str]:
        blanks = "    " * level
        if any(child.has_body for child in self.children):
            yield f"{blanks}   Global, final and clean up optimizers"
        for i, p in enumerate(self.passes):
            parts = [child for child in p.children if child.has_body]
            if parts:
                yield f"{blanks}   Iter {i}"
            for part in parts:
                yield from part.lines(level + 1)


@record(kw_only=True, repr=False)
class TopoProfile(OptimizerProfile):
    """One walk over the graph."""

    toposort_time: float = 0.0
    loop_time: float = 0.0
    stop: str = ""
    """The limit that was reached, if one was."""

    def facts(self) -> Iterator[tuple[str, Any]]:
        yield "init io_toposort", self.toposort_time
        yield "loop time", self.loop_time
        yield "callback_time", self.callback_time

    def lines(self, level: int = 0) -> Iterator[str]:
        blanks = "    " * level
        yield f"{blanks} {self.optimizer}"
        yield f"{blanks}   nb_node (start, end, changed) {(self.nodes_before, self.nodes_after, self.replacements)}"
        yield from (f"{blanks}   {label} {_figure(number)}" for label, number in self.facts())
        tried = [row for row in summed(self.table) if row.tried]
        if len(self.table) > 1 and tried:
            yield f"{blanks}   time taken - times applied - times tried - name - node_created:"
            for r in tried:
                yield f"{blanks}   {r.time:.3f}s - {r.fired} - {r.tried} - {r.name} - {r.nodes_created}"
        yield from self.failure_lines(level)


@record(kw_only=True, repr=False)
class MergeProfile(OptimizerProfile):
    """Equal nodes made one."""

    nb_fail: int = 0
    """Merges that the watcher did not let pass."""
    nb_merged: int = 0
    """Values of nodes that were merged."""
    nb_constant: int = 0
    """Constants that were merged."""
    replace_time: float = 0.0

    def facts(self) -> Iterator[tuple[str, Any]]:
        yield "nb_fail", self.nb_fail
        yield "nb_merged", self.nb_merged
        yield "nb_constant", self.nb_constant
        yield "replace_time", self.replace_time

    def lines(self, level: int = 0) -> Iterator[str]:
        blanks = "    " * level
        yield f"{blanks} {self.optimizer}"
        yield f"{blanks}   nb fail={self.nb_fail:5d} merged={self.nb_merged:5d} constant={self.nb_constant:5d}"
        yield (
            f"{blanks}   time replace={self.replace_time:2.2f} validate={self.validate_time:2.2f} "
            f"callback={self.callback_time:2.2f}"
        )


@record(kw_only=True, repr=False)
class FusionProfile(OptimizerProfile):
    """Elementwise groups made one kernel each."""

    nb_iter: int = 0
    """Sweeps over the graph, the last empty one included."""
    nb_replacement: int = 0
    nb_inconsistency_replace: int = 0
    """Groups that were given up since the graph would have had a cycle."""
    toposort_time: float = 0.0

    def facts(self) -> Iterator[tuple[str, Any]]:
        yield "nb_iter", self.nb_iter
        yield "nb_replacement", self.nb_replacement
        yield "nb_inconsistency_replace", self.nb_inconsistency_replace
        yield "validate_time", self.validate_time
        yield "callback_time", self.callback_time
        yield "time_toposort", self.toposort_time


@record(kw_only=True, repr=False)
class GemmProfile(OptimizerProfile):
    """Sums of scaled matrix products made calls of a BLAS."""

    nb_iter: int = 0
    nb_replacement: int = 0
    nb_replacement_didn_t_remove: int = 0
    """Candidates given up since the product would have stayed for another user."""
    nb_inconsistency_make: int = 0
    nb_inconsistency_replace: int = 0
    canonicalize_time: float = 0.0
    """Reading a node as a sum of scaled matrices."""
    factor_can_time: float = 0.0
    """Joining equal matrices of that sum."""
    factor_list_time: float = 0.0
    """Trying pairs of terms."""
    toposort_time: float = 0.0

    def facts(self) -> Iterator[tuple[str, Any]]:
        yield "nb_iter", self.nb_iter
        yield "nb_replacement", self.nb_replacement
        yield "nb_replacement_didn_t_remove", self.nb_replacement_didn_t_remove
        yield "nb_inconsistency_make", self.nb_inconsistency_make
        yield "nb_inconsistency_replace", self.nb_inconsistency_replace
        yield "time_canonicalize", self.canonicalize_time
        yield "time_factor_can", self.factor_can_time
        yield "time_factor_list", self.factor_list_time
        yield "time_toposort", self.toposort_time
        yield "validate_time", self.validate_time
        yield "callback_time", self.callback_time


@record(kw_only=True, repr=False)
class InplaceProfile(OptimizerProfile):
    """Nodes allowed to write over an input."""

    nb_call_replace: int = 0
    nb_call_validate: int = 0
    nb_inconsistent: int = 0
    """Candidates that the analysis refused."""
    by_ndim: tuple[tuple[str, int], ...] = ()
    """How many nodes write in place, by the rank of what they overwrite."""

    def facts(self) -> Iterator[tuple[str, Any]]:
        yield "node_before", self.nodes_before
        yield "nb_call_replace", self.nb_call_replace
        yield "nb_call_validate", self.nb_call_validate
        yield "nb_inconsistent", self.nb_inconsistent
        if self.by_ndim:
            yield "ndim  nb", " ".join(f"({ndim}, {count})" for ndim, count in self.by_ndim)
