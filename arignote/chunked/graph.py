"""The Dask graph of one call of a function over blocks.

    start --> block0 (a task a block) --> whole0 (a tree of combinations) --> block1 --> ... --> results

Blocks are a `Blockwise` layer, so that Dask fuses them with the layers that make the arguments.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from typing import Any

import dask.array as da
import numpy as np
from dask.base import tokenize
from dask.blockwise import BlockwiseDepDict, blockwise
from dask.highlevelgraph import HighLevelGraph

from ..graph import Constant, Variable
from ..record import record
from ..scaleout.facts import Facts
from ..scaleout.parts import Aligned
from ..scaleout.stages import LOW, NEXT, RANK, START, STEP, STOP, Bound, Length
from . import tasks as tasks
from .plans import Plan

try:
    from dask.task_spec import Task, TaskRef
except ImportError:  # before 2025
    from dask._task_spec import Task, TaskRef

Bounds = Sequence[tuple[int, int]]
Tasks = dict[Any, Any]


@record
class _Layer:
    """A layer of the graph as a Dask collection, on which other layers may depend."""

    name: str
    graph: Any

    def __dask_graph__(self) -> Any:
        return self.graph

    def __dask_layers__(self) -> tuple[str]:
        return (self.name,)


class Call:
    """One call.  `values`: those of the inputs of the whole graph.

    `token`: determines the function and its options.  With the values it gives the names of tasks, so equal calls have
    equal tasks.
    """

    def __init__(
        self, token: Any, plan: Plan, values: Mapping[Variable, Any], bounds: Bounds, arity: int, facts: Facts
    ) -> None:  # fmt: skip
        self.plan, self.values, self.bounds, self.arity, self.facts = plan, values, bounds, arity, facts
        self._token = tokenize(token, list(values.values()), bounds, arity)
        self._spans: dict[Any, Bounds] = {}
        self.whole: list[_Layer] = [self._started()]
        """Layers of one task: `start`, and the last task of each later whole value."""
        self.blocks: dict[int, _Layer] = {}
        for stage, part in enumerate(plan.program.parts.blocks):
            if part is not None:
                self.blocks[stage] = self._block(stage)
                if plan.program.parts.combinations[stage].places:
                    self.whole = [self.whole[0], self._finished(stage)]

    def _layer(self, kind: str, made: Any, *depends: Any) -> _Layer:
        """Return a layer with the tasks that `made` returns for its name."""
        name = f"{self.plan.program.name}-{kind}-{self._token}"
        return _Layer(name, HighLevelGraph.from_collections(name, made(name), dependencies=depends))

    def _refs(self) -> list[Any]:
        return [TaskRef((layer.name,)) for layer in self.whole]

    def _started(self) -> _Layer:
        plan = self.plan
        numbers, keys = tuple(plan.whole_inputs), tuple(plan.whole_inputs.values())
        arrays = [v for v in map(self.values.get, keys) if isinstance(v, da.Array)]

        def made(name: str) -> Tasks:
            return {(name,): Task((name,), tasks.start, plan.program, numbers, *map(self._whole, keys))}

        return self._layer("start", made, *arrays)

    def _whole(self, key: Any) -> Any:
        """Return a length, a value, or the only block of a Dask array."""
        if isinstance(key, Length):
            return self.facts.count(key.rows) if key.of is None else np.shape(self.values[key.of])[key.axis]
        value = self.values[key]
        return TaskRef((value.name, *(0,) * value.ndim)) if isinstance(value, da.Array) else value

    def _block(self, stage: int) -> _Layer:
        """Return one task per block, with the index (block, 0): arguments have one block along other axes."""
        count = len(self.bounds)
        numbers = zip(*map(self._numbers, self.plan.bounds), strict=True)
        spans = BlockwiseDepDict({(k,): found for k, found in enumerate(numbers)}, numblocks=(count,))
        given: list[Any] = [stage, None, spans, (0,)]
        depends: list[Any] = [*self.whole]
        numblocks: dict[str, tuple[int, ...]] = {layer.name: () for layer in self.whole}
        for source in self.plan.own[stage]:
            if isinstance(source, int):
                made: Any = self.blocks[source]
                indices: tuple[int, ...] = (0, 1)
                numblocks[made.name] = count, 1
            elif source not in self.values:
                made, indices = self._aligned(source), (0,)
                numblocks[made.name] = (count,)
            else:
                made, axis = self.values[source], self.plan.staged.splits[source].axis
                indices = tuple(int(a != axis) for a in range(made.ndim))
                numblocks[made.name] = made.numblocks
            given += [made.name, indices]
            depends.append(made)
        whole = [x for layer in self.whole for x in (layer.name, ())]
        task = tasks.block if len(self.whole) > 1 else tasks.first_block

        def layer(name: str) -> Any:
            return blockwise(task, name, (0, 1), *whole, *given, numblocks=numblocks, new_axes={1: 1})

        return self._layer(f"block{stage}", layer, *depends)

    def _aligned(self, v: Variable) -> _Layer:
        """Return a layer with the rows of each block, from the blocks that have them."""
        (stage, place), op = self.plan.places[v], v.owner.op  # type: ignore[union-attr]
        assert isinstance(op, Aligned)
        blocks, have, want = self.blocks[stage], self._span(op.of), self._span(op.rows)
        order = sorted((k for k, (begin, end) in enumerate(have) if begin < end), key=have.__getitem__)
        begins, ends = ([have[k][a] for k in order] for a in (0, 1))

        def made(name: str) -> Tasks:
            found: Tasks = {}
            for k, (begin, end) in enumerate(want):
                near = order[bisect_right(ends, begin) : bisect_left(begins, end)]
                sources = near if begin < end else [0]
                slices = [(max(0, begin - have[j][0]), max(0, end - have[j][0])) for j in sources]
                refs = [TaskRef((blocks.name, j, 0)) for j in sources]
                found[name, k] = Task((name, k), tasks.aligned, op.axis, place, slices, *refs)
            return found

        return self._layer(f"aligned{stage}.{place}", made, blocks)

    def _span(self, rows: Any) -> Bounds:
        """Return the range of each block among some rows of the chunked axis."""
        if rows is None:
            return self.bounds
        if rows not in self._spans:
            self._spans[rows] = [_positions(self.facts.known(rows), begin, end) for begin, end in self.bounds]
        return self._spans[rows]

    def _numbers(self, bound: Bound) -> Sequence[int]:
        """Return a number of each block."""
        if bound.kind in (START, STOP):
            return [ends[bound.kind == STOP] for ends in self._span(bound.rows)]
        count = len(self.bounds)
        if bound.kind in (RANK, NEXT):
            order = range(count)[:: -1 if self.facts.is_reversed(bound.rows, None) else 1]
            return [k + (bound.kind == NEXT) for k in order]
        span, of = self.facts.known(bound.rows), self.facts.known(bound.of)
        if bound.kind == STEP:
            return [max(1, abs(span.step // of.step))] * count
        found = []
        for (begin, end), (first, _) in zip(self._span(bound.rows), self._span(bound.of), strict=True):
            places = sorted(of.index(span[k]) - first for k in (begin, end - 1)) if begin < end else (0, -1)
            found.append(places[0] if bound.kind == LOW else places[1] + 1)
        return found

    def _finished(self, stage: int) -> _Layer:
        """Return the layer that combines the partial results of a stage in a tree and runs the next head."""
        start, arity = self._refs()[0], self.arity

        def made(name: str) -> Tasks:
            found: Tasks = {}

            def add(key: Any, *task: Any) -> Any:
                found[key] = Task(key, *task)
                return TaskRef(key)

            parts = [TaskRef((self.blocks[stage].name, k, 0)) for k in range(len(self.bounds))]
            if not self.plan.program.parts.combinations[stage].is_all:
                parts = [add((name, 0, k), tasks.partial, start, stage, part) for k, part in enumerate(parts)]
            level = 0
            while len(parts) > arity:
                level += 1
                groups = [parts[k : k + arity] for k in range(0, len(parts), arity)]
                parts = [add((name, level, k), tasks.combined, start, stage, *group) for k, group in enumerate(groups)]
            later = self._refs()[1] if len(self.whole) > 1 else None
            add((name,), tasks.finished, start, later, stage, *parts)
            return found

        return self._layer(f"whole{stage}", made, *self.whole, self.blocks[stage])

    # --- results
    def result(self, v: Variable, shape: tuple[float, ...]) -> Any:
        """Return an output as a Dask array."""
        if isinstance(v, Constant):
            return da.from_array(v.data, chunks=-1)
        key = self.plan.staged.lengths.get(v, v)
        if key is not v or v in self.values:
            value = self.values[v] if key is v else np.asarray(self._whole(key), v.dtype)
            return value.copy() if isinstance(value, da.Array) else da.from_array(value, chunks=-1)
        if v in self.plan.numbers:
            return self._whole_result(self.plan.numbers[v], shape, v.dtype)
        return self._split_result(v, shape)

    def _whole_result(self, number: int, shape: tuple[float, ...], dtype: str) -> Any:
        origin = (0,) * len(shape)

        def made(name: str) -> Tasks:
            return {(name, *origin): Task((name, *origin), tasks.picked, number, *self._refs())}

        layer = self._layer(f"result{number}", made, *self.whole)
        return da.Array(layer.graph, layer.name, tuple((n,) for n in shape), dtype)

    def _split_result(self, v: Variable, shape: tuple[float, ...]) -> Any:
        """Return a split value.  Blocks without rows of it are left out."""
        (stage, place), split = self.plan.places[v], self.plan.staged.splits[v]
        blocks, axis, spans = self.blocks[stage], split.axis, self._span(split.rows)
        numbers = [k for k, (begin, end) in enumerate(spans) if begin < end] or [0]
        if self.facts.is_reversed(split.rows, None):
            numbers.reverse()
        lengths = tuple(spans[k][1] - spans[k][0] for k in numbers)

        def made(name: str) -> Tasks:
            keys = [(name, *(k if a == axis else 0 for a in range(len(shape)))) for k in range(len(numbers))]
            refs = [TaskRef((blocks.name, k, 0)) for k in numbers]
            return {key: Task(key, tasks.picked_part, place, ref) for key, ref in zip(keys, refs, strict=True)}

        layer = self._layer(f"result{stage}.{place}", made, blocks)
        return da.Array(
            layer.graph, layer.name, tuple(lengths if a == axis else (n,) for a, n in enumerate(shape)), v.dtype
        )


def _positions(span: range, begin: int, end: int) -> tuple[int, int]:
    """Return the range of positions in `span` of its numbers from `begin` on and below `end`."""
    if span.step < 0:
        first, last = _positions(span[::-1], begin, end)
        return len(span) - last, len(span) - first
    first, last = (min(max(-((span.start - b) // span.step), 0), len(span)) for b in (begin, end))
    return first, max(first, last)
