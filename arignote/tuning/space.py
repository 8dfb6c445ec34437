"""The schedules that `ag.tune` may give a kernel: values of each choice, all combinations, samples and neighbours."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..cbackend.ir.kernel import Kernel
from ..cbackend.ir.schedule import DEFAULT, Schedule

TILES = (16, 32, 64, 128, 256, 512, 1024)
UNROLLS = (1, 2, 4, 8, 16)
VECTORS = (None, 1, 4, 8, 16)
GRAINS = (40, 10, 20, 80, 160)
BLOCKS = (None, 32, 64, 256, 512)
_RANK = 4
"""Loops of a kernel whose orders are all tried; of more only the innermost one moves."""
_TILED = 2
"""Innermost kept loops that are tiled."""
_FAR_STEPS = 3
"""Choices that a far neighbour changes at most."""


class Space:
    """The schedules of one kernel for loops of some extents.  Some may not fit it: lowering says which.

    `choices`: values of each field of a schedule, the default first; fields of one value are left out.
    """

    choices: Mapping[str, Sequence[Any]]

    def __init__(self, kernel: Kernel, extents: Sequence[int], threads: int, work: float = math.inf) -> None:
        """`work`: estimated microseconds of a call, below which threads are no choice."""
        rank, reduced = kernel.rank, reduced_loops(kernel)
        kept = [l for l in range(rank) if l not in reduced]
        found: dict[str, Sequence[Any]] = {"vector": VECTORS}
        if rank >= 2:
            found["unroll"] = UNROLLS
            found["order"] = (None, *_orders(kept, reduced))
            found["tiles"] = ((), *_tiles(kept[-_TILED:], extents))
        if reduced:
            found["block"] = BLOCKS
        if threads > 1 and work > GRAINS[1]:
            found["grain"] = GRAINS
            found["parallel"] = (True, False)
        self.choices = {name: values for name, values in found.items() if len(values) > 1}

    def __len__(self) -> int:
        return math.prod(len(values) for values in self.choices.values())

    def grid(self) -> Iterator[Schedule]:
        """Yield all schedules; the last choice changes fastest."""
        for values in itertools.product(*self.choices.values()):
            yield Schedule(**dict(zip(self.choices, values, strict=True)))

    def sample(self, rng: random.Random) -> Schedule:
        """Return a random schedule; each choice is the default as often as all others together."""
        drawn = {n: v[0] if rng.random() < 0.5 else rng.choice(v) for n, v in self.choices.items()}
        return Schedule(**drawn)

    def uniform(self, rng: random.Random) -> Schedule:
        """Return a random schedule, all with one probability."""
        return Schedule(**{name: rng.choice(values) for name, values in self.choices.items()})

    def neighbour(self, schedule: Schedule, rng: random.Random) -> Schedule:
        """Return the schedule with one to three choices changed."""
        names = rng.sample(sorted(self.choices), min(rng.randint(1, _FAR_STEPS), len(self.choices)))
        return schedule.changed(**{name: rng.choice(self.choices[name]) for name in names})

    def singles(self) -> Iterator[Schedule]:
        """Yield the schedules that differ from the default in one choice."""
        for name, values in self.choices.items():
            for value in values[1:]:
                yield DEFAULT.changed(**{name: value})


def reduced_loops(kernel: Kernel) -> list[int]:
    """The loops along which some output does not move."""
    loops = [frozenset(o.loops) for o in kernel.outputs]
    return [l for l in range(kernel.rank) if any(l not in some for some in loops)]


def _orders(kept: Sequence[int], reduced: Sequence[int]) -> list[tuple[int, ...]]:
    rank = len(kept) + len(reduced)
    if rank <= _RANK:
        return list(itertools.permutations(range(rank)))
    return [(*(k for k in range(rank) if k != l), l) for l in range(rank)]


def _tiles(loops: Sequence[int], extents: Sequence[int]) -> Iterator[tuple[tuple[int, int], ...]]:
    """Yield tiles of one loop and of both, smaller than the loops."""
    sizes = {l: [n for n in TILES if n < extents[l]] for l in loops}
    for l in loops:
        yield from (((l, n),) for n in sizes[l])
    if len(loops) == _TILED:
        first, second = loops
        yield from (((first, a), (second, b)) for a in sizes[first] for b in sizes[second])
