"""Schedules: how a kernel runs its loops, separate from what it computes.  Lowering reads them.

    Schedule(order=(2, 0, 1), tiles={0: 32, 1: 256}, unroll=4)

Loops are numbered as in the C, i0, i1, ..., by the axes of the widest result.  What is not set is left to the lowering.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, replace
from typing import Any

from ...record import record


class ScheduleError(ValueError):
    """A schedule that a kernel cannot have; the text says why."""


@record
class Schedule:
    """The choices for one kernel.

    All give the same bits, but sums of floats may be added in another order; see `exact_as`.
    """

    order: tuple[int, ...] | None = None
    """The loops, outermost first; None: kept loops, then reduced ones, but the last axis innermost."""
    tiles: tuple[tuple[int, int], ...] = ()
    """(loop, steps) of each tiled loop: tiles of so many steps, with all other loops inside."""
    unroll: int = 1
    """Unroll-and-jam factor of the loop around the innermost one: 1, 2, 4, 8 or 16."""
    vector: int | None = None
    """Vector length in elements; 1: no vectors; None: the compiler's choice."""
    parallel: bool = True
    """Whether large kernels are shared among threads."""
    grain: int = 40
    """Microseconds of estimated work per chunk of a thread; below 2.5 times that, one thread does all of it."""
    block: int | None = None
    """Elements (or rows where the last axis is kept) per partial sum."""

    def __post_init__(self) -> None:
        tiles = self.tiles.items() if isinstance(self.tiles, Mapping) else self.tiles
        object.__setattr__(self, "tiles", tuple(sorted((_whole("tiles", l, 0), _whole("tiles", n)) for l, n in tiles)))
        if self.order is not None:
            object.__setattr__(self, "order", tuple(_whole("order", l, 0) for l in self.order))
        if self.unroll not in (1, 2, 4, 8, 16):
            raise ScheduleError(f"unroll is {self.unroll!r}; expected 1, 2, 4, 8 or 16")
        if self.vector is not None and self.vector not in (1, 2, 4, 8, 16, 32, 64):
            raise ScheduleError(f"vector is {self.vector!r}; expected a power of 2 up to 64, or None")
        if not isinstance(self.parallel, bool):
            raise ScheduleError(f"parallel is {self.parallel!r}; expected True or False")
        _whole("grain", self.grain)
        if self.block is not None:
            _whole("block", self.block)
        if len(dict(self.tiles)) < len(self.tiles):
            raise ScheduleError(f"tiles are {self.tiles}; expected each loop at most once")

    def tile(self, loop: int) -> int | None:
        """Return the tile size of a loop; None if it is not tiled."""
        return dict(self.tiles).get(loop)

    @property
    def rearranges(self) -> bool:
        """Whether the order of the loops differs from the default."""
        return self.order is not None or bool(self.tiles) or self.unroll > 1

    def exact_as(self, other: Schedule) -> bool:
        """Whether sums are rounded in the same way as under the other schedule."""
        mine, its = ((s.order, s.vector, s.parallel, s.grain, s.block) for s in (self, other))
        return mine == its

    def changed(self, **choices: Any) -> Schedule:
        """Return this schedule with other choices.  Raises ScheduleError for unknown choices."""
        known = [f.name for f in fields(self)]
        for name in choices:
            if name not in known:
                raise ScheduleError(f"a schedule has no {name!r}; it has {', '.join(known)}")
        return replace(self, **choices)

    def choices(self) -> dict[str, Any]:
        """The choices that are set, by name."""
        found = ((f.name, getattr(self, f.name), f.default) for f in fields(self))
        return {name: dict(value) if name == "tiles" else value for name, value, default in found if value != default}

    def __str__(self) -> str:
        return ", ".join(f"{name}={value}" for name, value in self.choices().items()) or "default"


def _whole(name: str, value: Any, least: int = 1) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise ScheduleError(f"{name}: {value!r}; expected a whole number, at least {least}")
    return value


DEFAULT = Schedule()


def check(schedule: Schedule, rank: int, reduced: frozenset[int], movable: bool) -> None:
    """Raise ScheduleError unless a kernel of so many loops can have the schedule.

    `reduced`: the loops that are reduced; `movable`: whether its loops may be rearranged at all.
    """
    if schedule.rearranges and not movable:
        raise ScheduleError(f"{schedule}: this kernel has fixed loops; set only vector, parallel and grain")
    if schedule.order is not None and sorted(schedule.order) != list(range(rank)):
        raise ScheduleError(f"order is {schedule.order}; expected the loops 0 to {rank - 1}, each once")
    for loop, _ in schedule.tiles:
        if loop >= rank:
            raise ScheduleError(f"tiles name loop {loop}; the kernel has {_loops(range(rank))}")
        if loop in reduced:
            raise ScheduleError(f"tiles name loop {loop}, which is reduced; set `block` for its partial sums")
    if schedule.block is not None and not reduced:
        raise ScheduleError(f"block is {schedule.block}; the kernel has no blocked sums")
    if schedule.unroll > 1 and rank < 2:
        raise ScheduleError(f"unroll is {schedule.unroll}; the kernel has no loop around its innermost one")
    if schedule.order is not None and len(_blocks(schedule.order, reduced)) > 3:
        between = f"no kept loop may stand between the reduced {_loops(reduced)}"
        raise ScheduleError(f"order is {schedule.order}; {between}")


def _blocks(order: Sequence[int], reduced: frozenset[int]) -> list[bool]:
    """Return a bool per block of consecutive kept or reduced loops: whether it is reduced; the first is False."""
    blocks = [False]
    for loop in order:
        if (loop in reduced) != blocks[-1]:
            blocks.append(loop in reduced)
    return blocks


def _loops(loops: Sequence[int] | frozenset[int]) -> str:
    return "loops " + ", ".join(map(str, sorted(loops))) if loops else "no loops"


def as_schedules(given: Any) -> dict[str, Schedule]:
    """Schedules by the names of their kernels.  Raises TypeError for anything else."""
    if not isinstance(given, Mapping):
        kind = type(given).__name__
        raise TypeError(f"schedule is {kind}; expected schedules by the names of kernels, such as f.schedule()")
    return dict(_checked(given))


def _checked(given: Mapping[Any, Any]) -> Iterator[tuple[str, Schedule]]:
    for name, schedule in given.items():
        if not isinstance(name, str) or not isinstance(schedule, Schedule):
            kind = type(schedule).__name__
            raise TypeError(f"schedule[{name!r}] is {kind}; expected a Schedule by the name of a kernel")
        yield name, schedule
