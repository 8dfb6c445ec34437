"""The joint profile of all functions compiled and run in a part of a program.

    with ag.profile() as p:
        train()
    print(p)

Collections that are open, in whatever thread or task, are told of each function that is compiled; a function compiled
inside keeps a run profile and is counted as long as the collection is open.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from .. import pages
from ..record.forks import ProcessLock
from ..record.spelling import counted
from .chrome import optimizer_events, run_events
from .optimizer import OptimizerProfile, summed
from .passes import SeqProfile
from .run import RunProfile
from .summary import SHOWN_WAITING


def total(profiles: Iterable[OptimizerProfile], name: str = "all functions") -> SeqProfile:
    """The profiles as members of one: times, changes and rules are summed, nodes are counted together."""
    members = tuple(profiles)
    return SeqProfile(
        name=name,
        optimizer="SeqOptimizer",
        time=sum(p.time for p in members),
        waiting=sum(p.waiting for p in members),
        validate_time=sum(p.validate_time for p in members),
        callback_time=sum(p.callback_time for p in members),
        nodes_before=sum(p.nodes_before for p in members),
        nodes_after=sum(p.nodes_after for p in members),
        replacements=sum(p.replacements for p in members),
        nodes_created=sum(p.nodes_created for p in members),
        children=members,
    )


class Collection:
    """The profiles of the functions that were compiled inside a `with` block."""

    def __init__(self) -> None:
        self._lock = ProcessLock()
        self._functions: list[tuple[str, OptimizerProfile, RunProfile | None]] = []

    def __enter__(self) -> Collection:
        with _lock:
            _open.append(self)
        return self

    def __exit__(self, *exception: object) -> None:
        with _lock:
            _open.remove(self)
        with self._lock:
            self._functions = [
                (name, optimizer, None if run is None else run.snapshot()) for name, optimizer, run in self._functions
            ]

    def add(self, name: str, optimizer: OptimizerProfile, run: RunProfile | None) -> None:
        """Add one compiled function."""
        with self._lock:
            self._functions.append((name, optimizer, run))

    # --- what it says
    def __len__(self) -> int:
        return len(self._functions)

    @property
    def optimizer_profile(self) -> SeqProfile:
        """The cost of optimizing all the functions."""
        with self._lock:
            return total([p for _, p, _ in self._functions])

    @property
    def runs(self) -> list[RunProfile]:
        """The run profiles, the function that ran longest first."""
        with self._lock:
            found = [run for _, _, run in self._functions if run is not None]
        return sorted(found, key=lambda run: -run.seconds)

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain data, ready for JSON."""
        with self._lock:
            functions = list(self._functions)
        return {
            "functions": [
                {"name": name, "optimizer_profile": p.to_dict(), "profile": run.to_dict() if run else None}
                for name, p, run in functions
            ],
            "rules": [row.to_dict() for row in summed(row for _, p, _ in functions for row in p.rules())],
        }

    def to_json(self) -> str:
        """`to_dict()` as JSON, indented."""
        return json.dumps(self.to_dict(), indent=1)

    def to_chrome(self) -> dict[str, Any]:
        """A Chrome trace: the optimizers of all functions in a row, then a thread for the nodes of each function."""
        return {"traceEvents": list(self._events()), "displayTimeUnit": "ms"}

    def _events(self) -> Iterator[dict[str, Any]]:
        yield from optimizer_events(self.optimizer_profile)
        for thread, run in enumerate(self.runs, start=1):
            yield from run_events(run, thread=thread)

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        header = ("function", "calls", "seconds", "us a call", "C, seconds")
        rows = [
            (run.name, run.calls, run.seconds, 1e6 * run.seconds / max(run.calls, 1), run.compile_seconds)
            for run in self.runs
        ]
        return pages.notebook.listed_form(next(self._lines()), [("", header, rows)], str(self))

    def _lines(self) -> Iterator[str]:
        optimizing, runs = self.optimizer_profile, self.runs
        compiling = sum(run.compile_seconds for run in runs)
        running = sum(run.seconds for run in runs)
        head = counted(len(self), "function")
        waited = f" (and {optimizing.waiting:.3f} s waiting)" if optimizing.waiting >= SHOWN_WAITING else ""
        yield f"{head}: optimizing {optimizing.time:.3f} s{waited}, C {compiling:.3f} s, running {running:.3f} s"
        yield f"  {'function':<40}  {'calls':>8}  {'seconds':>10}  {'us a call':>10}  {'C, seconds':>10}"
        for run in runs:
            each = 1e6 * run.seconds / run.calls if run.calls else 0.0
            name = run.name if len(run.name) <= 40 else f"{run.name[:37]}..."
            yield f"  {name:<40}  {run.calls:8,}  {run.seconds:10.4f}  {each:10.1f}  {run.compile_seconds:10.3f}"
        if len(self):
            yield ""
            yield optimizing.summary()


def profile() -> Collection:
    """A context that collects what the functions cost that are compiled in it: `with ag.profile() as p: ...`."""
    return Collection()


_lock = ProcessLock()
_open: list[Collection] = []


def collecting() -> bool:
    """Whether a collection is open: functions compiled now keep run profiles."""
    return bool(_open)


def collect(name: str, optimizer: OptimizerProfile, run: RunProfile | None) -> None:
    """Add a compiled function to the open collections."""
    with _lock:
        collections = tuple(_open)
    for collection in collections:
        collection.add(name, optimizer, run)
