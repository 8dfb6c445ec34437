"""Tasks of a function over blocks; each runs on the worker that holds its block.

    start      a program and whole values  -->  both, with the values that its first head computes
    block      slices of arguments, whole values  -->  values of one block
    combined   partial values of some blocks  -->  their combination
    finished   the last combination  -->  whole values for the next blocks, with those that the next head computes

Whole values are sent as dicts from the program's numbers to arrays, so a block depends on two tasks at most.
"""

from __future__ import annotations

import hashlib
import math
import os
import pickle
import socket
from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from typing import Any, Union

import numpy as np

from ..record import record
from ..record.cached import cached_property

RowSize = tuple[int, tuple[Any, ...]]
"""Size of an intermediate value per row: bytes of an element, and lengths as numbers or (source, axis)."""
Way = Union[Callable[..., Any], "Concatenation", None]
"""Function that combines two partial results; None: all are equal."""
SLICE_BYTES, SHARE = 1 << 22, 8
"""Bytes of a slice's arguments and intermediate values, which stay in the cache between its loops; and the least ratio
of these bytes to those of the whole values that it reads and the results that it adds."""
WHOLE, OWN, BOUND = range(3)
"""Sources of an argument: a whole value by number; a value of the block by index, or index in results; a bound."""


@record
class Concatenation:
    """The combination of slices of a split value, in the order of blocks or reversed."""

    axis: int
    is_reversed: bool = False

    def all(self, parts: Sequence[np.ndarray]) -> np.ndarray:
        return np.concatenate(parts[::-1] if self.is_reversed else parts, self.axis)


@record
class Part:
    """A compiled head or block, the sources of its arguments, and the numbers of a head's results.

    `row_sizes`: of a block that runs slice by slice; None: it runs whole.
    """

    run: Callable[..., Sequence[Any]]
    sources: tuple[tuple[Any, ...], ...]
    numbers: tuple[int, ...] = ()
    row_sizes: tuple[RowSize, ...] | None = None


@record
class Combination:
    """Functions that combine the partial results of a block, the indices of its results, and the numbers of the totals.

    `is_all`: whether a block has no other results.
    """

    ways: tuple[Way, ...]
    places: tuple[int, ...]
    numbers: tuple[int, ...]
    is_all: bool


@record
class Parts:
    """The compiled functions of all stages.  `read`: numbers of whole values that tasks after `start` read."""

    heads: tuple[Part | None, ...]
    blocks: tuple[Part | None, ...]
    combinations: tuple[Combination, ...]
    read: frozenset[int]

    @property
    def backends(self) -> tuple[str, ...]:
        """Names of the engines that run heads and blocks."""
        return tuple(part.run.backend for part in (*self.heads, *self.blocks) if part is not None)  # type: ignore[attr-defined]


class Program:
    """The parts of a function; each process receives them once for all graphs.

    `numpy`, `backends`: NumPy's version and the engines of the parts in the process that made them.
    """

    def __init__(self, name: str, parts: Parts) -> None:
        self.name: str = name
        self.numpy = np.__version__
        self.backends: tuple[str, ...] = parts.backends
        self.__dict__["parts"] = parts

    @cached_property
    def digest(self) -> bytes:
        return hashlib.sha256(self.shipped).digest()

    @cached_property
    def shipped(self) -> bytes:
        """The pickled parts."""
        return pickle.dumps(self.parts)

    @cached_property
    def parts(self) -> Parts:
        """The parts, compiled at first use.  Raises RuntimeError if this process cannot compute the same results."""
        _require_numpy(self.name, self.numpy)
        parts: Parts = pickle.loads(self.shipped)
        _require_backends(self.name, self.backends, parts.backends)
        return parts

    def with_head(self, stage: int, whole: dict[int, Any], before: Mapping[int, Any]) -> dict[int, Any]:
        """Return whole values together with those that the head of a stage computes from them."""
        head = self.parts.heads[stage] if stage < len(self.parts.heads) else None
        if head is None:
            return whole
        given = [whole[n] if n in whole else before[n] for _, n in head.sources]
        return {**whole, **dict(zip(head.numbers, head.run(*given), strict=True))}

    def __reduce__(self) -> Any:
        return _received, (self.digest, self.shipped, self.name, self.numpy, self.backends)


_here: dict[bytes, Program] = {}
"""Programs that this process has received, by digest."""


def _received(digest: bytes, shipped: bytes, name: str, numpy: str, backends: tuple[str, ...]) -> Program:
    if digest not in _here:
        made = Program.__new__(Program)
        made.__dict__.update(digest=digest, shipped=shipped, name=name, numpy=numpy, backends=backends)
        return _here.setdefault(digest, made)
    return _here[digest]


def _require_numpy(name: str, wanted: str) -> None:
    """Raise RuntimeError if this process has another release of NumPy, whose results may differ."""
    if np.__version__.split(".")[:2] != wanted.split(".")[:2]:
        raise RuntimeError(
            f"{name}: worker {_worker()} has NumPy {np.__version__}, the client {wanted}; install the same on all: "
            f"pip install numpy=={wanted}"
        )


def _require_backends(name: str, wanted: Sequence[str], found: Sequence[str]) -> None:
    """Raise RuntimeError if NumPy runs here what C runs on the client: results would depend on the worker."""
    if any(w == "c" != f for w, f in zip(wanted, found, strict=True)):
        raise RuntimeError(
            f"{name}: worker {_worker()} has no working C compiler, the client has one; install gcc there "
            '(`python -m arignote doctor` says what was tried), or compile the function with mode="NUMPY"'
        )


def _worker() -> str:
    """Return host and process of this worker."""
    return f"{socket.gethostname()}, process {os.getpid()},"


Start = tuple[Program, Mapping[int, Any]]


def start(program: Program, numbers: Sequence[int], *values: Any) -> Start:
    """Return the program and the whole values of its first stage."""
    whole = program.with_head(0, dict(zip(numbers, values, strict=True)), {})
    return program, {number: value for number, value in whole.items() if number in program.parts.read}


def first_block(start: Start, stage: int, bounds: Sequence[int], *own: Any) -> Any:
    """Return the results of one block of the first stage."""
    return block(start, {}, stage, bounds, *own)


def block(start: Start, later: Mapping[int, Any], stage: int, bounds: Sequence[int], *own: Any) -> Any:
    """Return the results of one block.  `later`: whole values of earlier stages."""
    program, first = start
    part = program.parts.blocks[stage]
    assert part is not None
    given: list[Any] = []
    for kind, *place in part.sources:
        if kind == OWN:
            given.append(own[place[0]] if len(place) == 1 else own[place[0]][place[1]])
        elif kind == BOUND:
            given.append(bounds[place[0]])
        else:
            given.append(later[place[0]] if place[0] in later else first[place[0]])
    if part.row_sizes is None:
        return part.run(*given)
    return _of_slices(part, program.parts.combinations[stage].ways, bounds, given)


def _of_slices(part: Part, ways: Sequence[Way], bounds: Sequence[int], given: Sequence[Any]) -> Any:
    """Return the combined results of slices of a block's rows; a slice stays in the cache between loops.

    The lengths of slices depend only on those of the arguments, so equal blocks give equal bits.
    """
    begin, end = bounds
    kinds = [kind for kind, *_ in part.sources]
    own = [value for kind, value in zip(kinds, given, strict=True) if kind == OWN]
    if end == begin or not all(isinstance(value, np.ndarray) and len(value) == end - begin for value in own):
        return part.run(*given)
    row = _row_bytes(part, given) + sum(value.nbytes for value in own) // (end - begin)
    beside = sum(np.asarray(value).nbytes for kind, value in zip(kinds, given, strict=True) if kind == WHOLE)
    found, at = None, begin
    while at < end:
        rows = 1 + max(SLICE_BYTES, SHARE * beside) // (row or 1)
        stop = at + rows if end - at >= 2 * rows else end
        results = part.run(*_cut(part, given, begin, (at, stop)))
        if found is None:
            found, beside = results, beside + sum(np.asarray(value).nbytes for value in results)
        else:
            found = [_total(way, pair) for way, *pair in zip(ways, found, results, strict=True)]
        at = stop
    return found


def _row_bytes(part: Part, given: Sequence[Any]) -> int:
    """Return the bytes of intermediate values per row."""
    return sum(
        item * math.prod(n if isinstance(n, int) else given[n[0]].shape[n[1]] for n in lengths)
        for item, lengths in part.row_sizes or ()
    )


def _cut(part: Part, given: Sequence[Any], begin: int, bounds: tuple[int, int]) -> list[Any]:
    """Return the arguments for a slice of a block that begins at `begin`."""
    rows = slice(bounds[0] - begin, bounds[1] - begin)
    return [
        value[rows] if kind == OWN else bounds[place[0]] if kind == BOUND else value
        for value, (kind, *place) in zip(given, part.sources, strict=True)
    ]


def aligned(axis: int, place: int, slices: Sequence[tuple[int, int]], *results: Sequence[Any]) -> np.ndarray:
    """Return one result of several blocks: a slice of each, concatenated."""
    parts = [part[place][(slice(None),) * axis + (slice(*ends),)] for part, ends in zip(results, slices, strict=True)]
    return parts[0] if len(parts) == 1 else np.concatenate(parts, axis)


def partial(start: Start, stage: int, results: Sequence[Any]) -> list[Any]:
    """Return the partial results of a block, in the order of their combination."""
    return [results[k] for k in start[0].parts.combinations[stage].places]


def combined(start: Start, stage: int, *parts: Sequence[Any]) -> list[Any]:
    """Return several partial results combined."""
    return [_total(way, column) for way, *column in zip(start[0].parts.combinations[stage].ways, *parts, strict=True)]


def _total(way: Way, parts: Sequence[Any]) -> Any:
    if isinstance(way, Concatenation):
        return way.all(parts)
    return parts[0] if way is None else reduce(way, parts)


def finished(start: Start, later: Mapping[int, Any] | None, stage: int, *parts: Sequence[Any]) -> dict[int, Any]:
    """Return the whole values after a stage."""
    program, first = start
    totals = dict(zip(program.parts.combinations[stage].numbers, combined(start, stage, *parts), strict=True))
    return program.with_head(stage + 1, {**(later or {}), **totals}, first)


def picked(number: int, start: Start, later: Mapping[int, Any] | None = None) -> Any:
    """Return a whole value."""
    return later[number] if later is not None and number in later else start[1][number]


def picked_part(place: int, results: Sequence[Any]) -> Any:
    """Return one of a block's results."""
    return results[place]
