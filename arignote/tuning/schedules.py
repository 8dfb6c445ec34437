"""`f.schedule()`: the schedules of a function's kernels, to read, change and pass back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from .. import pages
from ..cbackend.ir.kernel import Kernel
from ..cbackend.ir.schedule import DEFAULT, Schedule
from ..record.spelling import counted


class Schedules(Mapping[str, Schedule]):
    """The schedules of a function by the names of its kernels.

        s = f.schedule()
        print(s)
        g = ag.function(inputs, outputs, schedule=s.changed(tiles={0: 32, 1: 256}))

    A kernel's name is a digest of what it is under the default schedule: it is the same in every process.
    """

    def __init__(self, schedules: Mapping[str, Schedule], comments: Mapping[str, str]) -> None:
        self._schedules, self._comments = dict(schedules), dict(comments)

    def __getitem__(self, name: str) -> Schedule:
        return self._schedules[self._one(name)]

    def __iter__(self) -> Iterator[str]:
        return iter(self._schedules)

    def __len__(self) -> int:
        return len(self._schedules)

    def changed(self, kernel: str | None = None, /, **choices: Any) -> Schedules:
        """Return these schedules with other choices for one kernel, given by name or prefix; None: the only one.

        Raises:
            LookupError: there is no such kernel, or there are several.
            ScheduleError: a ValueError, for choices that no kernel has.
        """
        name = self._one(kernel)
        return Schedules({**self._schedules, name: self._schedules[name].changed(**choices)}, self._comments)

    def _one(self, name: str | None) -> str:
        found = [k for k in self._schedules if k == name] or [k for k in self._schedules if k.startswith(name or "k_")]
        if len(found) != 1:
            which = "no kernel" if not found else counted(len(found), "kernel")
            called = f"{which} called {name!r}" if name else which
            raise LookupError(f"the function has {called}; its kernels are {', '.join(self._schedules) or 'none'}")
        return found[0]

    def _rows(self) -> list[tuple[str, str, str]]:
        return [(name, str(schedule), self._comments.get(name, "")) for name, schedule in self._schedules.items()]

    def __str__(self) -> str:
        rows = [("kernel", "schedule", "computes"), *self._rows()]
        widths = [max(len(row[c]) for row in rows) for c in (0, 1)]
        return "\n".join(f"{name:<{widths[0]}}  {how:<{widths[1]}}  {what}".rstrip() for name, how, what in rows)

    def __repr__(self) -> str:
        changed = sum(s != DEFAULT for s in self._schedules.values())
        return f"<schedules of {counted(len(self), 'kernel')}, {changed} changed>"

    def _repr_html_(self) -> str:
        return pages.notebook.facts("schedules", [(name, f"{how}: {what}") for name, how, what in self._rows()])


def schedules_of(kernels: Sequence[Kernel]) -> Schedules:
    """The schedules of the kernels whose loops can be scheduled."""
    chosen = [k for k in kernels if k.takes_schedule]
    return Schedules(
        {k.default or k.name: k.schedule for k in chosen}, {k.default or k.name: k.comment for k in chosen}
    )  # fmt: skip
