"""Differences between two optimizer profiles: before and after another choice of tags, rules or version.

    difference(a, b)  ->  totals, passes and rules by name, with the seconds and changes of both sides

Rows are ordered by how much the time changed.  A name that one side lacks has zeros there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from .. import pages
from ..record import record
from .summary import SHOWN_WAITING, TOP, passes

if TYPE_CHECKING:
    from .optimizer import OptimizerProfile

_NAME = 44


@record
class Change:
    """One pass or rule in two profiles: seconds of processor time and times applied, before and after."""

    name: str
    seconds: tuple[float, float]
    applied: tuple[int, int]
    in_both: bool = True
    """Whether both profiles know the name."""
    waiting: tuple[float, float] = (0.0, 0.0)
    """Seconds in which the thread did not run, before and after; they are no part of `seconds`."""

    @property
    def more(self) -> float:
        """The seconds that the second took beyond the first."""
        return self.seconds[1] - self.seconds[0]

    def to_dict(self) -> dict[str, Any]:
        return {
            "name": self.name, "seconds": list(self.seconds), "applied": list(self.applied), "in_both": self.in_both,
            "waiting": list(self.waiting),
        }  # fmt: skip


@record
class ProfileDifference:
    """Two optimizer profiles side by side; `str` of it fits a screen."""

    total: Change
    nodes: tuple[tuple[int, int], tuple[int, int]]
    """Nodes before and after optimizing, of the first and of the second."""
    passes: tuple[Change, ...]
    rules: tuple[Change, ...]

    def to_dict(self) -> dict[str, Any]:
        """Both profiles as plain data, ready for JSON."""
        return {
            "total": self.total.to_dict(), "nodes": [list(pair) for pair in self.nodes],
            "passes": [change.to_dict() for change in self.passes],
            "rules": [change.to_dict() for change in self.rules],
        }  # fmt: skip

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        header = ("name", "before, ms", "after, ms", "change, ms", "applied before", "applied after")
        tables: list[tuple[str, Sequence[str], Sequence[Sequence[str | float]]]] = [
            (title, header, [(c.name, *(1e3 * s for s in (*c.seconds, c.more)), *c.applied) for c in changes])
            for title, changes in (("passes", self.passes), ("rules", self.rules))
        ]
        return pages.notebook.listed_form(next(self._lines()), tables, str(self))

    def _lines(self) -> Iterator[str]:
        (a, b), ((start, end), (start_b, end_b)) = self.total.seconds, self.nodes
        ratio = f" ({b / a:.1f} times the time)" if a else ""
        yield f"Optimizing took {a:.3f} s before, {b:.3f} s after{ratio}."
        waited = self.total.waiting
        if max(waited) >= SHOWN_WAITING:
            yield f"It also waited for the processor or the GIL: {waited[0]:.3f} s before, {waited[1]:.3f} s after."
        yield f"Nodes: {start:,} -> {end:,} before, {start_b:,} -> {end_b:,} after."
        yield from _rows("passes, the largest change first", self.passes)
        yield from _rows("rules, the largest change first", self.rules)


def difference(a: OptimizerProfile, b: OptimizerProfile) -> ProfileDifference:
    """Costs and counts of optimizing in `b`, compared with `a`: two optimizer profiles, or functions that have them.

    Raises TypeError for anything else.
    """
    a, b = _profile(a, 0), _profile(b, 1)
    left, right = _passes(a), _passes(b)
    rules = ({row.name: (row.time, row.fired, 0.0) for row in p.rules()} for p in (a, b))
    return ProfileDifference(
        Change("total", (a.time, b.time), (a.replacements, b.replacements), waiting=(a.waiting, b.waiting)),
        ((a.nodes_before, a.nodes_after), (b.nodes_before, b.nodes_after)),
        _changes(left, right),
        _changes(*rules),
    )


def _profile(thing: Any, position: int) -> Any:
    """The optimizer profile that a user means."""
    profile = getattr(thing, "optimizer_profile", thing)
    if not hasattr(profile, "children"):
        got = "a function that was not optimized" if profile is None else type(thing).__name__
        raise TypeError(
            f"profile_diff: argument {position}: expected a function or an optimizer profile, as f.optimizer_profile, "
            f"got {got}"
        )
    return profile


Costs = dict[str, tuple[float, int, float]]
"""Seconds, times applied and seconds of waiting, by name."""


def _passes(profile: OptimizerProfile) -> Costs:
    costs: Costs = {}
    for name, p in passes(profile):
        seconds, applied, waited = costs.get(name, (0.0, 0, 0.0))
        costs[name] = (seconds + p.time, applied + p.replacements, waited + p.waiting)
    return costs


def _changes(a: Costs, b: Costs) -> tuple[Change, ...]:
    nothing = (0.0, 0, 0.0)
    found = []
    for name in dict.fromkeys((*a, *b)):
        (t, n, v), (u, m, w) = a.get(name, nothing), b.get(name, nothing)
        found.append(Change(name, (t, u), (n, m), name in a and name in b, (v, w)))
    return tuple(sorted(found, key=lambda change: (-abs(change.more), change.name)))


def _rows(title: str, changes: tuple[Change, ...]) -> Iterator[str]:
    shown = [c for c in changes if any(c.seconds) or any(c.applied)][:TOP]
    if not shown:
        return
    yield ""
    yield f"  {title:<{_NAME}}  {'before':>9}  {'after':>9}  {'change':>9}  {'applied':>15}"
    for c in shown:
        name = c.name if len(c.name) <= _NAME else f"...{c.name[3 - _NAME :]}"
        only = "" if c.in_both else "  new" if not any((c.seconds[0], c.applied[0])) else "  gone"
        applied = f"{c.applied[0]:,} -> {c.applied[1]:,}"
        times = f"{c.seconds[0]:9.4f}  {c.seconds[1]:9.4f}  {c.more:+9.4f}"
        yield f"  {name:<{_NAME}}  {times}  {applied:>15}{only}"
