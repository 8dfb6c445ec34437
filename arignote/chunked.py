"""`ag.on_dask`: a function over the blocks of Dask arrays, on any cluster.

    on_dask(f)(x, w)   -->   head_0(w) | block_0(x[0], w), block_0(x[1], w), ... | combine | head_1 | block_1 ...

`scaleout` says what each block computes; here its functions are compiled and become delayed tasks.
"""

from __future__ import annotations

import hashlib
import math
import pickle
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import accumulate, pairwise
from typing import Any, Union

import numpy as np

from .cbackend.calls.caller import parameters
from .cbackend.calls.checks import Parameter
from .compiled import Function
from .function import function, settings_of
from .graph import Constant, FunctionGraph, Variable, rebuild
from .ops.checks import is_dask, shown
from .ops.lengths import shape as shape_of
from .ops.tensor import TensorVariable
from .record import record
from .record.cached import cached_property
from .rewriting import rewrite
from .scaleout import Split, Stage, Staged, staged
from .scaleout.stages import STOP, Length
from .scaleout.stages import Function as Part

QUERY = "canonicalize stabilize useless_sum_to"
"""Passes over the whole graph; the functions of stages are optimized each by itself."""
Bounds = Sequence[tuple[int, int]]
Way = Union[Callable[..., Any], None]
"""How two parts are combined; None: all are equal."""


def on_dask(source: Any, *, arity: int = 8, threads: int = 1) -> OnDask:
    """`source` for Dask arrays: it runs block by block where they lie, and returns Dask arrays.

        loss = ag.on_dask(f)(x, y, w).compute()

    A call of `source` itself with a Dask array does the same, with the defaults of `arity` and `threads`.

    Arrays may be chunked along one axis each, into the same lengths.  How values are split follows from the graph:
    elementwise nodes, products and gathers keep blocks, a reduction of the chunked axis is a partial result of each
    block and their combination.  So the gradient of a mean loss is data-parallel training.  Arguments that are no Dask
    arrays are the same for all blocks, as are shared variables.

    A function with updates is computed at once: it returns arrays, and its shared variables change once, after all
    blocks are done; if one fails, they keep their values.

    Args:
        source: a function of `ag.function`.
        arity: how many partial results a combination takes.
        threads: threads of a task; workers run as many tasks as they have threads.

    Results may differ by rounding from those of one block, and are equal for equal chunks.

    Raises ImportError without Dask; TypeError for what is no function.  Calls raise ValueError for chunks that do not
    fit, and TypeError for an op that cannot run on blocks, naming it, its line and the axis to rechunk.
    """
    if not isinstance(source, Function):
        raise TypeError(f"on_dask: expected a function that ag.function made, got {shown(source)}")
    if isinstance(arity, bool) or not isinstance(arity, int) or arity < 2:
        raise ValueError(f"on_dask: arity is {shown(arity)}; expected an integer from 2 on")
    return OnDask(source, arity, threads)


def require_dask(who: str) -> None:
    """Raise ImportError, naming the extra that brings Dask, where it is missing."""
    try:
        import dask.array  # noqa: F401
    except ImportError as error:
        raise ImportError(f"{who} needs Dask; install it by: pip install 'arignote[dask]'") from error


class ChunkedFunction(Function):
    """A function whose calls all run on Dask: `ag.function(engine="dask")`.

    Only its stages are optimized and compiled; `f.plan` shows them.
    """

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._chunked(*args, **kwargs)

    @cached_property
    def _chunked(self) -> OnDask:
        return on_dask(self, threads=settings_of(self)["threads"] or 1)

    @property
    def backend(self) -> str:
        return "dask"


class Shipped:
    """A function that a process receives once, however many graphs name it."""

    def __init__(self, compiled: Function) -> None:
        self.run = compiled
        self._parts: tuple[bytes, bytes] | None = None

    def __call__(self, *values: Any) -> Any:
        return self.run(*values)

    def __reduce__(self) -> Any:
        if self._parts is None:
            payload = pickle.dumps(self.run)
            self._parts = hashlib.sha256(payload).digest(), payload
        return _received, self._parts


_here: dict[bytes, Shipped] = {}
"""Functions that this process has received, by digest."""


def _received(digest: bytes, payload: bytes) -> Shipped:
    found = _here.get(digest)
    if found is None:
        found = _here.setdefault(digest, Shipped(pickle.loads(payload)))
        found._parts = digest, payload
    return found


def call(compiled: Callable[..., Any], places: Sequence[int | None], *values: Any) -> list[Any]:
    """The task of a head or a block: each argument is a value, or number `place` of the results of another task."""
    found: list[Any] = compiled(*(v if k is None else v[k] for k, v in zip(places, values, strict=True)))
    return found


def combined(ways: Sequence[Way], places: Sequence[int], parts: Sequence[Sequence[Any]]) -> list[Any]:
    """The task of a combination of partial results; None: all parts are equal."""
    total = [parts[0][k] for k in places]
    for part in parts[1:]:
        total = [t if way is None else way(t, part[k]) for t, way, k in zip(total, ways, places, strict=True)]
    return total


def picked(results: Sequence[Any], place: int) -> Any:
    """The task of one result of another task."""
    return results[place]


class OnDask:
    """A function over blocks; see `ag.on_dask`."""

    def __init__(self, source: Function, arity: int, threads: int) -> None:
        require_dask("on_dask")
        self.source, self.arity = source, arity
        self._settings = {**settings_of(source), "threads": threads, "profile": False}
        known = source.unoptimized_graph
        containers = (*[None] * len(source.inputs), *(s.container for s in source.shared))
        self._parameters = parameters(source.name, known, containers, self._settings["allow_input_downcast"])
        held: dict[Variable, Variable] = {s: TensorVariable(s.type, name=s.name) for s in source.shared}
        inputs = [held.get(v, v) for v in known.inputs]
        self._graph = rewrite(FunctionGraph(inputs, rebuild(known.outputs, held)), QUERY)
        self._plans: dict[tuple[int | None, ...], Staged] = {}
        self._compiled: dict[Any, Shipped] = {}

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Dask arrays in the form of the function's results; arrays, if it has updates."""
        import dask

        source = self.source
        given = list(source._plain.bound(args, kwargs) if kwargs else args)
        if len(given) != len(source.inputs):
            raise TypeError(f"on_dask: {source.name} takes {len(source.inputs)} arguments, got {len(given)}")
        fitting = [_fitting(p, value) for p, value in zip(self._parameters, given, strict=False)]
        values = [*fitting, *(s.get_value(borrow=True) for s in source.shared)]
        axes, bounds = _layout(source, values)
        plan = self.plan(axes)
        results = _Run(self, plan, values, bounds).results()
        updates = source.unoptimized_graph.updates
        count = len(results) - len(updates)
        if updates:
            results = list(dask.compute(*results))
            for position, output in updates:
                container = source.shared[position - len(source.inputs)]
                container.set_value(np.asarray(results[output]))
        form, keys = source._signature.form, source._signature.keys
        if form == "dict":
            return dict(zip(keys, results[:count], strict=True))
        return results[0] if form == "one" else None if form == "none" else results[:count]

    def plan(self, axes: tuple[int | None, ...]) -> Staged:
        """The stages for arguments chunked along these axes; it prints."""
        if axes not in self._plans:
            splits = {v: Split(a) for v, a in zip(self._graph.inputs, axes, strict=True) if a is not None}
            self._plans[axes] = staged(self._graph, splits)
        return self._plans[axes]

    def compiled(self, key: Any, inputs: Sequence[Variable], outputs: Any, name: str) -> Shipped:
        """A function of a stage, compiled once."""
        if key not in self._compiled:
            made = list(outputs) if not isinstance(outputs, Variable) else outputs
            settings = {**self._settings, "name": f"{self.source.name} {name}", "on_unused_input": "ignore"}
            self._compiled[key] = Shipped(function(list(inputs), made, **settings))
        return self._compiled[key]


def _fitting(parameter: Parameter, value: Any) -> Any:
    """A Dask array that fits, as it is, or the array of another value.  Raises as a call of the function would."""
    if not is_dask(value):
        return parameter.array(value)
    if any(math.isnan(n) for n in value.shape):
        fix = f"call {parameter.word}.compute_chunk_sizes() first"
        raise ValueError(f"{parameter}: expected chunks of known lengths, got unknown ones (nan); {fix}")
    rank = parameter.type.ndim
    replace(parameter, type=parameter.type.with_shape((None,) * rank)).array(np.empty((0,) * rank, value.dtype))
    parameter.array(_hollow(parameter.type.dtype, value.shape))
    return value


def _hollow(dtype: str, shape: Sequence[int]) -> np.ndarray:
    """An array of one element in memory."""
    return np.broadcast_to(np.zeros((), dtype), shape) if shape else np.zeros((), dtype)


def _layout(source: Function, values: Sequence[Any]) -> tuple[tuple[int | None, ...], Bounds]:
    """The chunked axis of each argument, and the bounds of blocks.  Raises ValueError where they do not fit."""
    import dask.array as da

    axes: list[int | None] = []
    lengths: tuple[int, ...] | None = None
    for k, value in enumerate(values):
        name = source.inputs[k].name or f"argument {k}" if k < len(source.inputs) else ""
        if not isinstance(value, da.Array):
            axes.append(None)
            continue
        split = [a for a, chunks in enumerate(value.chunks) if len(chunks) > 1]
        if len(split) > 1:
            raise ValueError(f"on_dask: {name} is chunked along axes {split}; rechunk it along one of them")
        axes.append(split[0] if split else None)
        if split:
            found = value.chunks[split[0]]
            if lengths is not None and found != lengths:
                raise ValueError(f"on_dask: chunks of {name} are {found}, of another argument {lengths}; rechunk one")
            lengths = found
    ends = list(accumulate(lengths or (), initial=0))
    return tuple(axes), list(pairwise(ends))


@record
class _Result:
    """Number `place` of the results of a task."""

    made: Any
    place: int


class _Run:
    """The Dask graph of one call."""

    def __init__(self, on: OnDask, plan: Staged, values: Sequence[Any], bounds: Bounds) -> None:
        import dask.array as da

        self.on, self.plan, self.bounds, self.values = on, plan, bounds, values
        self.whole: dict[Variable, Any] = {}
        self.blocks: dict[Variable, list[Any]] = {}
        self.lengths = {v: np.shape(value) for v, value in zip(on._graph.inputs, values, strict=True)}
        for v, value in zip(on._graph.inputs, values, strict=True):
            if v in plan.splits:
                self.blocks[v] = list(value.to_delayed().ravel())
            else:
                self.whole[v] = value.to_delayed().item() if isinstance(value, da.Array) and not value.ndim else value
        for number, stage in enumerate(plan.stages):
            if stage.head is not None:
                made = self._called(stage.head, f"head {number}", None)
                self.whole.update({v: _Result(made, k) for k, v in enumerate(stage.head.outputs)})
            if stage.block is not None:
                parts = [self._called(stage.block, f"block {number}", n) for n in range(len(bounds))]
                for k, v in enumerate(stage.block.outputs):
                    self.blocks[v] = [_Result(part, k) for part in parts]
                self._combine(stage, parts)

    def _called(self, part: Part, name: str, block: int | None) -> Any:
        """The delayed results of a head, or of a block."""
        from dask import delayed

        compiled = self.on.compiled((id(part), name), part.graph.inputs, part.graph.outputs, name)
        given = [self._argument(key, block) for key in part.inputs]
        places = [g.place if isinstance(g, _Result) else None for g in given]
        values = [g.made if isinstance(g, _Result) else g for g in given]
        return delayed(call, traverse=False)(_literal(compiled, name), places, *values)

    def _argument(self, key: Any, block: int | None) -> Any:
        if isinstance(key, Length):
            return self.bounds[-1][1] if key.of is None else self.lengths[key.of][key.axis]
        if isinstance(key, str):
            assert block is not None
            return self.bounds[block][key == STOP]
        return self.whole[key] if key in self.whole else self.blocks[key][block]  # type: ignore[index]

    def _combine(self, stage: Stage, parts: list[Any]) -> None:
        """Make the partial results of a stage whole, in a tree."""
        from dask import delayed

        found = [(v, op) for v, op in stage.combined if v in self.blocks]
        if not found:
            return
        assert stage.block is not None
        ways, places = [self._way(v, op) for v, op in found], [stage.block.outputs.index(v) for v, _ in found]
        task, arity = delayed(combined, traverse=True), self.on.arity
        while len(parts) > 1 or places != list(range(len(found))):
            parts = [task(ways, places, parts[k : k + arity]) for k in range(0, len(parts), arity)]
            places = list(range(len(found)))
        for k, (v, _) in enumerate(found):
            del self.blocks[v]
            self.whole[v] = _Result(parts[0], k)

    def _way(self, v: Variable, op: Any) -> Any:
        """The function that combines two parts of a value; None if all are equal."""
        if op is None:
            return None
        a, b = (TensorVariable(v.type) for _ in range(2))
        return _literal(self.on.compiled((op, v.type), [a, b], op(a, b), op.name), op.name)

    def results(self) -> list[Any]:
        """The outputs as Dask arrays."""
        import dask.array as da

        graph, found = self.on._graph, []
        for v, shape in zip(graph.outputs, self._shapes(), strict=True):
            state = self.plan.splits.get(v)
            if state is None:
                value = v.data if isinstance(v, Constant) else self.whole[v]
                found.append(_as_dask(value, shape, v.dtype))
                continue
            rows = [(*shape[: state.axis], stop - start, *shape[state.axis + 1 :]) for start, stop in self.bounds]
            parts = [_as_dask(part, row, v.dtype) for part, row in zip(self.blocks[v], rows, strict=True)]
            found.append(da.concatenate(parts, axis=state.axis))
        return found

    def _shapes(self) -> list[tuple[int, ...]]:
        """The shapes of the results: a function of shapes, which reads no element."""
        graph = self.on._graph
        lengths = self.on.compiled("lengths", graph.inputs, [shape_of(o) for o in graph.outputs], "lengths")
        hollow = [_hollow(v.dtype, np.shape(value)) for v, value in zip(graph.inputs, self.values, strict=True)]
        return [tuple(int(n) for n in found) for found in lengths(*hollow)]


def _literal(compiled: Shipped, name: str) -> Any:
    """A function as one task of its own."""
    from dask import delayed

    return delayed(compiled, name=f"arignote {name} {id(compiled)}", traverse=False)


def _as_dask(value: Any, shape: tuple[int, ...], dtype: str) -> Any:
    import dask.array as da
    from dask import delayed
    from dask.delayed import Delayed

    if isinstance(value, _Result):
        value = delayed(picked, traverse=False)(value.made, value.place)
    if isinstance(value, da.Array):
        return value
    if isinstance(value, Delayed):
        return da.from_delayed(value, shape, dtype)
    return da.from_array(np.asarray(value), chunks=-1)
