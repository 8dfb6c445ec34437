"""Compiled stages of a function over blocks: a program for workers, and the arguments and results of its tasks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Union

import numpy as np

from ..graph import Apply, Variable
from ..graph.dims import dims_of, extent
from ..ops.core.tensor import TensorVariable
from ..ops.shapes.conditions import Check
from ..ops.shapes.indexing import Subtensor
from ..ops.shapes.lengths import ShapeI
from ..ops.shapes.shape import DimShuffle, Reshape
from ..ops.shapes.specify import CheckLengths, SpecifyShape
from ..record import record
from ..scaleout import Collect, Stage, Staged
from ..scaleout.stages import START, STOP, Bound, Length, is_aligned
from ..scaleout.stages import Function as Unit
from .tasks import BOUND, OWN, WHOLE, Combination, Concatenation, Part, Parts, Program, RowSize

Compile = Callable[[Any, Sequence[Variable], Any, str], Callable[..., Any]]
"""Key, inputs, outputs, name  -->  a function, compiled once per key."""
Own = Union[Variable, int]
"""A sliced argument of blocks: an input, an aligned value, or the index of an earlier stage whose results they read."""
_VIEWS = (Check, CheckLengths, DimShuffle, Reshape, ShapeI, SpecifyShape, Subtensor)


@record
class Plan:
    """Stages as tasks.  `whole_inputs`: arguments of `start`, by number.  `own`: per stage, arguments of a block.
    `numbers`: of whole values.  `places`: stage of the block that computes a value, and the place among its results.
    """

    staged: Staged
    program: Program
    whole_inputs: Mapping[int, Any]
    own: tuple[tuple[Own, ...], ...]
    numbers: Mapping[Variable, int]
    places: Mapping[Variable, tuple[int, int]]
    bounds: tuple[Bound, ...]
    """Numbers of a block that its tasks get: its start and stop, then others."""


def planned(name: str, staged: Staged, compiled: Compile) -> Plan:
    """Return the plan of a staged graph."""
    return _Planner(name, staged, compiled).plan()


def _loops(block: Part) -> list[Apply]:
    """Return the nodes that loop over arrays, as opposed to views and lengths."""
    order = block.run.graph.order  # type: ignore[attr-defined]
    return [n for n in order if not isinstance(n.op, _VIEWS) and any(i.ndim for i in n.inputs)]


def _row_sizes(block: Part) -> tuple[RowSize, ...]:
    """Return the row sizes of the results of loops with an axis of rows, that is, a length of no argument."""
    inputs = block.run.graph.inputs  # type: ignore[attr-defined]
    axes = [(k, a) for k, v in enumerate(inputs) for a in range(v.ndim) if a or block.sources[k][0] != OWN]
    places = {extent(inputs[k], a): (k, a) for k, a in axes}
    found = []
    for o in (o for node in _loops(block) for o in node.outputs):
        lengths = [n if isinstance(n, int) else places.get(n) for n in dims_of(o)]
        if None in lengths:
            found.append((np.dtype(o.dtype).itemsize, tuple(n for n in lengths if n is not None)))
    return tuple(found)


class _Planner:
    def __init__(self, name: str, staged: Staged, compiled: Compile) -> None:
        self.name, self.staged, self.compiled = name, staged, compiled
        self.numbers: dict[Any, int] = {}
        self.places: dict[Variable, tuple[int, int]] = {}
        self.own: list[tuple[Own, ...]] = []
        self.bounds: dict[Bound, int] = {Bound(START): 0, Bound(STOP): 1}
        self.read: set[int] = set()
        """Numbers of whole values that some task after `start` reads."""

    def plan(self) -> Plan:
        made = [self._stage(k, stage) for k, stage in enumerate(self.staged.stages)]
        heads, blocks, combinations = zip(*made, strict=True)
        self.read |= {self.numbers[v] for v in self.staged.outputs if v in self.numbers}
        program = Program(self.name, Parts(heads, blocks, combinations, frozenset(self.read)))
        given = {n: key for key, n in self.numbers.items() if isinstance(key, Length) or key.owner is None}
        numbers = {v: n for v, n in self.numbers.items() if isinstance(v, Variable)}
        return Plan(self.staged, program, given, tuple(self.own), numbers, self.places, tuple(self.bounds))

    def _stage(self, k: int, stage: Stage) -> tuple[Part | None, Part | None, Combination]:
        head = self._head(k, stage.head) if stage.head is not None else None
        self.own.append(())
        block = self._block(k, stage.block) if stage.block is not None else None
        combination = self._combination(stage)
        if block is not None and self._runs_in_slices(k, block, combination):
            block = replace(block, row_sizes=_row_sizes(block))
        return head, block, combination

    def _runs_in_slices(self, k: int, block: Part, combination: Combination) -> bool:
        """Whether a block has several loops over rows of its arguments and only partial results."""
        splits = [self.staged.splits[key].axis for key in self.own[k] if not isinstance(key, int)]
        is_of_rows = len(splits) == len(self.own[k]) and set(splits) == {0}
        adds = combination.is_all and not any(isinstance(way, Concatenation) for way in combination.ways)
        of_slices = all(place < 2 for kind, place, *_ in block.sources if kind == BOUND)  # other bounds: whole blocks
        return adds and of_slices and is_of_rows and len(_loops(block)) > 1

    def _number(self, key: Any) -> int:
        return self.numbers.setdefault(key, len(self.numbers))

    def _run(self, k: int, unit: Unit, kind: str) -> Any:
        return self.compiled((id(unit), kind), unit.graph.inputs, list(unit.graph.outputs), f"{kind} {k}")

    def _head(self, k: int, unit: Unit) -> Part:
        sources = tuple((WHOLE, self._number(key)) for key in unit.inputs)
        if k:
            self.read |= {n for _, n in sources}
        return Part(self._run(k, unit, "head"), sources, tuple(map(self._number, unit.outputs)))

    def _block(self, k: int, unit: Unit) -> Part:
        own: dict[Own, int] = {}
        sources = tuple(self._source(key, own) for key in unit.inputs)
        self.own[k] = tuple(own)
        self.read |= {n for kind, n, *_ in sources if kind == WHOLE}
        self.places.update((v, (k, place)) for place, v in enumerate(unit.outputs))
        return Part(self._run(k, unit, "block"), sources)

    def _source(self, key: Any, own: dict[Own, int]) -> tuple[Any, ...]:
        """Return the source of one argument of a block."""
        if isinstance(key, Bound):
            return BOUND, self.bounds.setdefault(key, len(self.bounds))
        if isinstance(key, Variable) and is_aligned(key):
            return OWN, own.setdefault(key, len(own))
        if key in self.places:
            stage, place = self.places[key]
            return OWN, own.setdefault(stage, len(own)), place
        if isinstance(key, Variable) and key.owner is None and key in self.staged.splits:
            return OWN, own.setdefault(key, len(own))
        return WHOLE, self._number(key)

    def _combination(self, stage: Stage) -> Combination:
        found = [(v, op) for v, op in stage.combined if v in self.places]
        places = tuple(self.places.pop(v)[1] for v, _ in found)
        is_all = stage.block is not None and places == tuple(range(len(stage.block.outputs)))
        ways, numbers = tuple(self._way(v, op) for v, op in found), tuple(self._number(v) for v, _ in found)
        return Combination(ways, places, numbers, is_all)

    def _way(self, v: Variable, op: Any) -> Any:
        if op is None:
            return None
        if isinstance(op, Collect):
            return Concatenation(op.axis, op.is_reversed)
        a, b = (TensorVariable(v.type) for _ in range(2))
        return self.compiled((op, v.type), [a, b], op(a, b), op.name)
