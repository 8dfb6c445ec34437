"""The Dask graph of one call of a function over blocks.

    start --> block0 (a task a block) --> whole0 (a tree of combinations) --> block1 --> ... --> results

Blocks are a `Blockwise` layer, so that Dask fuses them with the layers that make the arguments.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import starmap
from typing import Any

import dask.array as da
import numpy as np
from dask.base import tokenize
from dask.blockwise import BlockwiseDepDict, blockwise
from dask.highlevelgraph import HighLevelGraph

from . import block_tasks as tasks
from .block_plans import Plan
from .graph import Constant, Variable
from .record import record
from .scaleout.stages import Length

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

    def __init__(self, token: Any, plan: Plan, values: Mapping[Variable, Any], bounds: Bounds, arity: int) -> None:
        self.plan, self.values, self.bounds, self.arity = plan, values, bounds, arity
        self._token = tokenize(token, list(values.values()), bounds, arity)
        self.whole = [self._started()]
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
            return self.bounds[-1][1] if key.of is None else np.shape(self.values[key.of])[key.axis]
        value = self.values[key]
        return TaskRef((value.name, *(0,) * value.ndim)) if isinstance(value, da.Array) else value

    def _block(self, stage: int) -> _Layer:
        """Return one task per block, with the index (block, 0): arguments have one block along other axes."""
        count = len(self.bounds)
        spans = BlockwiseDepDict({(k,): span for k, span in enumerate(self.bounds)}, numblocks=(count,))
        given: list[Any] = [stage, None, spans, (0,)]
        depends: list[Any] = [*self.whole]
        numblocks: dict[str, tuple[int, ...]] = {layer.name: () for layer in self.whole}
        for source in self.plan.own[stage]:
            if isinstance(source, int):
                made: Any = self.blocks[source]
                indices: tuple[int, ...] = (0, 1)
                numblocks[made.name] = count, 1
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
    def result(self, v: Variable, shape: tuple[int, ...]) -> Any:
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

    def _whole_result(self, number: int, shape: tuple[int, ...], dtype: str) -> Any:
        origin = (0,) * len(shape)

        def made(name: str) -> Tasks:
            return {(name, *origin): Task((name, *origin), tasks.picked, number, *self._refs())}

        layer = self._layer(f"result{number}", made, *self.whole)
        return da.Array(layer.graph, layer.name, tuple((n,) for n in shape), dtype)

    def _split_result(self, v: Variable, shape: tuple[int, ...]) -> Any:
        (stage, place), axis = self.plan.places[v], self.plan.staged.splits[v].axis
        blocks = self.blocks[stage]

        def made(name: str) -> Tasks:
            keys = [(name, *(k if a == axis else 0 for a in range(len(shape)))) for k in range(len(self.bounds))]
            return {
                key: Task(key, tasks.picked_part, place, TaskRef((blocks.name, k, 0))) for k, key in enumerate(keys)
            }

        lengths = tuple(starmap(lambda begin, end: end - begin, self.bounds))
        layer = self._layer(f"result{stage}.{place}", made, blocks)
        return da.Array(
            layer.graph, layer.name, tuple(lengths if a == axis else (n,) for a, n in enumerate(shape)), v.dtype
        )
