"""Tasks of a function over blocks: they run where the blocks lie, on any worker.

    start      a program and whole values  -->  both, with the values that its first head computes
    block      slices of arguments, whole values  -->  values of one block
    combined   partial values of some blocks  -->  their combination
    finished   the last combination  -->  whole values for the next blocks, with those that the next head computes

Whole values travel as one dict, by numbers that the program gives them: a block has one dependency on each of them.
"""

from __future__ import annotations

import hashlib
import pickle
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Union

from .record import record

Way = Union[Callable[..., Any], None]
"""The function that combines two parts; None: all parts are equal."""
WHOLE, OWN, BOUND = range(3)
"""Sources of an argument: a whole value by its number; a value of the block by place, or place in results; a bound."""


@record
class Part:
    """A compiled head or block, where its arguments come from, and numbers of a head's results."""

    run: Callable[..., Sequence[Any]]
    sources: tuple[tuple[Any, ...], ...]
    numbers: tuple[int, ...] = ()


@record
class Combination:
    """Functions that combine the partial results of a block, places among its results, and numbers of the totals.

    `is_all`: whether a block has no other results.
    """

    ways: tuple[Way, ...]
    places: tuple[int, ...]
    numbers: tuple[int, ...]
    is_all: bool


class Program:
    """The compiled functions of all stages.  A process receives it once, however many graphs name it.

    `read`: numbers of whole values that tasks after `start` read.
    """

    def __init__(
        self, heads: Sequence[Part | None], blocks: Sequence[Part | None], combinations: Sequence[Combination],
        read: frozenset[int],
    ) -> None:  # fmt: skip
        self.heads, self.blocks, self.combinations = tuple(heads), tuple(blocks), tuple(combinations)
        self.read = read
        self._shipped: tuple[bytes, bytes] | None = None

    def with_head(self, stage: int, whole: dict[int, Any], before: Mapping[int, Any]) -> dict[int, Any]:
        """Whole values, and those that the head of a stage computes of them and of earlier ones."""
        head = self.heads[stage] if stage < len(self.heads) else None
        if head is None:
            return whole
        given = [whole[n] if n in whole else before[n] for _, n in head.sources]
        return {**whole, **dict(zip(head.numbers, head.run(*given), strict=True))}

    def __reduce__(self) -> Any:
        if self._shipped is None:
            payload = pickle.dumps((self.heads, self.blocks, self.combinations, self.read))
            self._shipped = hashlib.sha256(payload).digest(), payload
        return _received, self._shipped


_here: dict[bytes, Program] = {}
"""Programs that this process has received, by digest."""


def _received(digest: bytes, payload: bytes) -> Program:
    found = _here.get(digest)
    if found is None:
        found = _here.setdefault(digest, Program(*pickle.loads(payload)))
        found._shipped = digest, payload
    return found


Start = tuple[Program, Mapping[int, Any]]


def start(program: Program, numbers: Sequence[int], *values: Any) -> Start:
    """The program and the whole values of its first stage."""
    whole = program.with_head(0, dict(zip(numbers, values, strict=True)), {})
    return program, {number: value for number, value in whole.items() if number in program.read}


def first_block(start: Start, stage: int, bounds: Sequence[int], *own: Any) -> Any:
    """The results of one block of the first stage."""
    return block(start, {}, stage, bounds, *own)


def block(start: Start, later: Mapping[int, Any], stage: int, bounds: Sequence[int], *own: Any) -> Any:
    """The results of one block.  `later`: whole values that earlier stages have computed."""
    program, first = start
    part = program.blocks[stage]
    assert part is not None
    given: list[Any] = []
    for kind, *place in part.sources:
        if kind == OWN:
            given.append(own[place[0]] if len(place) == 1 else own[place[0]][place[1]])
        elif kind == BOUND:
            given.append(bounds[place[0]])
        else:
            given.append(later[place[0]] if place[0] in later else first[place[0]])
    return part.run(*given)


def partial(start: Start, stage: int, results: Sequence[Any]) -> list[Any]:
    """The partial ones of a block's results, in the order of their combination."""
    return [results[k] for k in start[0].combinations[stage].places]


def combined(start: Start, stage: int, *parts: Sequence[Any]) -> list[Any]:
    """Several partial results as one."""
    total = list(parts[0])
    for part in parts[1:]:
        pairs = zip(start[0].combinations[stage].ways, total, part, strict=True)
        total = [t if way is None else way(t, p) for way, t, p in pairs]
    return total


def finished(start: Start, later: Mapping[int, Any] | None, stage: int, *parts: Sequence[Any]) -> dict[int, Any]:
    """The whole values after a stage."""
    program, first = start
    totals = dict(zip(program.combinations[stage].numbers, combined(start, stage, *parts), strict=True))
    return program.with_head(stage + 1, {**(later or {}), **totals}, first)


def picked(number: int, start: Start, later: Mapping[int, Any] | None = None) -> Any:
    """A whole value."""
    return later[number] if later is not None and number in later else start[1][number]


def picked_part(place: int, results: Sequence[Any]) -> Any:
    """One of a block's results."""
    return results[place]
