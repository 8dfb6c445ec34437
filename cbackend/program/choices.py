"""Choice of the schedule of each kernel: the given one, else the one found by measuring."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace

from ...graph import Apply
from ..ir.kernel import Kernel
from ..ir.schedule import DEFAULT, Schedule, ScheduleError
from ..lowering.lower import Alias, lower


def _none(name: str) -> Schedule | None:
    return None


class Choices:
    """Schedules by the names that kernels have under the default schedule.

    `measured` knows of schedules from earlier runs; one of these that does not fit is passed over.
    """

    def __init__(
        self, given: Mapping[str, Schedule] | None = None, measured: Callable[[str], Schedule | None] = _none
    ) -> None:
        self._given = dict(given or {})
        self._measured = measured
        self._met: dict[str, str] = {}

    def lowered(self, node: Apply, aliases: tuple[Alias, ...]) -> Kernel:
        """Return the kernel of `node` under its schedule.

        Raises ScheduleError, with the name of the kernel, if its given schedule does not fit.
        """
        kernel = lower(node, aliases)
        self._met[kernel.name] = kernel.title
        schedule = self._given.get(kernel.name)
        if schedule is not None:
            try:
                return self._under(schedule, kernel, node, aliases)
            except ScheduleError as error:
                raise ScheduleError(f"kernel {kernel.name}, {kernel.title}: {error}") from None
        with suppress(ScheduleError):
            return self._under(self._measured(kernel.name) or DEFAULT, kernel, node, aliases)
        return kernel

    def _under(self, schedule: Schedule, kernel: Kernel, node: Apply, aliases: tuple[Alias, ...]) -> Kernel:
        if schedule == DEFAULT:
            return kernel
        return replace(lower(node, aliases, schedule), default=kernel.name, schedule=schedule)

    def check(self) -> None:
        """Raise ScheduleError if a schedule was given for a name that is no kernel of the program."""
        for name in self._given.keys() - self._met.keys():
            known = "; ".join(f"{k}, {comment}" for k, comment in self._met.items()) or "none whose loops can be chosen"
            raise ScheduleError(f"no kernel is called {name!r}; the kernels are {known}")
