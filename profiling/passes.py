"""Profiles of each kind of optimizer, with the facts specific to it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

from ..record import record
from .optimizer import _SHOWN_SECONDS, OptimizerProfile, RuleProfile, _figure, summed


@record(kw_only=True, repr=False)
class SeqProfile(OptimizerProfile):
    """A sequence: `children` are its members in order of position."""

    adds_up = is_sequence = True
    stop: str = ""
    """Where a limit of changes stopped it; empty if nothing was withheld."""

    def to_dict(self) -> dict[str, Any]:
        return super().to_dict() | ({"stop": self.stop} if self.stop else {})

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


@record(kw_only=True, repr=False)
class InnerProfile(OptimizerProfile):
    """Optimizations of the bodies of loops and choices: `children` has a sequence for each body."""

    def lines(self, level: int = 0) -> Iterator[str]:
        yield from super().lines(level)
        for child in self.children:
            yield f"{'    ' * level}   inside {child.name}:"
            yield from child.lines(level + 1)


@record
class PassProfile:
    """One pass of an equilibrium."""

    time: float
    global_time: float
    """In global and final optimizers."""
    toposort_time: float
    """Spent on putting nodes in order: nothing in our optimizers, since graphs are in order from the start."""
    nodes: int
    """Nodes when the sweep began."""
    fired: tuple[tuple[str, int], ...]
    """Rules that were applied and their counts, largest first."""
    children: tuple[OptimizerProfile, ...] = ()
    """Profiles of the global, final and cleanup optimizers."""
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
    """Profile of a fixed point: `table` has the rules of its sweeps and of merging, `children` the optimizers."""

    adds_up: ClassVar[bool] = True
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
    """Profile of merging: equal nodes become one."""

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
    """Profile of fusion: each elementwise group becomes one kernel."""

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
    """Profile of the pass that makes BLAS calls of sums of scaled matrix products."""

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
    """Profile of in-place ops: nodes that may overwrite an input."""

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
