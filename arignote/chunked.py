"""`ag.on_dask`: functions over the blocks of Dask arrays, on any cluster.

    on_dask(f)(x, w)   -->   head_0(w) | block_0(x[0], w), block_0(x[1], w), ... | combine | head_1 | block_1 ...

`scaleout` partitions the graph, `block_plans` compiles its functions, `block_graph` builds the tasks that run them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import accumulate, pairwise
from typing import Any

import numpy as np

from . import later
from .block_plans import Plan, planned
from .cbackend.calls.caller import parameters
from .cbackend.calls.checks import Parameter
from .compiled import Function
from .function import function, settings_of
from .graph import FunctionGraph, Variable, rebuild
from .ops.checks import is_dask, shown
from .ops.lengths import shape as shape_of
from .ops.tensor import TensorVariable
from .record import record
from .record.cached import cached_property
from .rewriting import rewrite
from .scaleout import Split, staged
from .sources import function_of

QUERY = "canonicalize stabilize useless_sum_to"
"""Passes over the whole graph, before each function of a stage is optimized."""
Bounds = Sequence[tuple[int, int]]


def on_dask(source: Any, *, arity: int = 8, threads: int = 1, gather: bool = False) -> OnDask:
    """Return `source` as a function of Dask arrays: it runs on the worker of each block and returns Dask arrays.

        loss = ag.on_dask(f)(x, y, w).compute()

    A call of `source` itself with a Dask array does the same, with the defaults of `arity` and `threads`.

    Arrays may be chunked along one axis each, into the same lengths.  The graph determines the split of all values:
    elementwise nodes, products and gathers keep blocks; a reduction of the chunked axis combines a partial result of
    each block.  So the gradient of a mean loss is data-parallel training.  Other arguments and shared variables are
    the same for all blocks.

    A function with updates is computed at once: it returns arrays, and its shared variables change once, after all
    blocks are done; if one fails, they keep their values.

    Args:
        source: a function of `ag.function`.
        arity: the number of partial results that one task combines.
        threads: threads of a task; workers run as many tasks as they have threads.
        gather: whether to gather the operands of ops that cannot run on blocks on one worker, which runs the op, and to
            rechunk arguments whose chunks do not fit; `remarks` of the result lists them.

    Results may differ by rounding from those of one block, and are equal for equal chunks.

    Raises ImportError without Dask, and TypeError for a source that is not a function.  Calls raise ValueError for
    chunks that do not fit, and TypeError for an op that cannot run on blocks, with its line and the axis to rechunk.
    """
    source = function_of(source)
    if not isinstance(source, Function):
        raise TypeError(f"on_dask: expected a function that ag.function made, got {shown(source)}")
    if isinstance(arity, bool) or not isinstance(arity, int) or arity < 2:
        raise ValueError(f"on_dask: arity must be an integer of at least 2, got {shown(arity)}")
    return OnDask(source, arity, threads, bool(gather))


def require_dask(who: str) -> None:
    """Raise ImportError, with the extra to install, if Dask is missing."""
    try:
        import dask.array  # noqa: F401
    except ImportError as error:
        raise ImportError(f"{who} needs Dask; install it by: pip install 'arignote[dask]'") from error


class ChunkedFunction(Function):
    """A function whose calls all run on Dask: `ag.function(engine="dask")`.

    Only the functions of its stages are optimized and compiled.
    """

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._chunked(*args, **kwargs)

    @cached_property
    def _chunked(self) -> OnDask:
        return on_dask(self, threads=settings_of(self)["threads"] or 1)

    @property
    def backend(self) -> str:
        return "dask"


class OnDask:
    """A function over blocks; see `ag.on_dask`."""

    def __init__(self, source: Function, arity: int, threads: int, gather: bool) -> None:
        require_dask("on_dask")
        self.source, self.arity, self.gather = source, arity, gather
        self._settings = {**settings_of(source), "threads": threads, "profile": False}
        known = source.unoptimized_graph
        containers = (*[None] * len(source.inputs), *(s.container for s in source.shared))
        self._parameters = parameters(source.name, known, containers, self._settings["allow_input_downcast"])
        held: dict[Variable, Variable] = {s: TensorVariable(s.type, name=s.name) for s in source.shared}
        inputs = [held.get(v, v) for v in known.inputs]
        self._graph = rewrite(FunctionGraph(inputs, rebuild(known.outputs, held)), QUERY)
        self._plans: dict[tuple[int | None, ...], Plan] = {}
        self._compiled: dict[Any, Function] = {}
        self._remarks: list[str] = []

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Return Dask arrays in the form of the function's results; NumPy arrays if it has updates."""
        import dask

        source = self.source
        given = list(source._plain.bound(args, kwargs) if kwargs else args)
        if len(given) != len(source.inputs):
            raise TypeError(f"on_dask: {source.name} takes {len(source.inputs)} arguments, got {len(given)}")
        fitting = [_fitting(p, value) for p, value in zip(self._parameters, given, strict=False)]
        values = [*fitting, *(s.get_value(borrow=True) for s in source.shared)]
        layout = _layout(source, values, self.gather)
        of = dict(zip(self._graph.inputs, layout.values, strict=True))
        plan = self.plan(layout.axes)
        self._remarks += [text for text in (*layout.remarks, *plan.staged.remarks) if text not in self._remarks]
        call = later.block_graph.Call(source.name, plan, of, layout.bounds, self.arity)
        results = list(map(call.result, plan.staged.outputs, self._shapes(values)))
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

    @property
    def remarks(self) -> list[str]:
        """The operands that were gathered and the arguments that were rechunked in calls so far, with the reasons."""
        return list(self._remarks)

    def plan(self, axes: tuple[int | None, ...]) -> Plan:
        """Return the compiled stages for arguments chunked along these axes."""
        if axes not in self._plans:
            splits = {v: Split(a) for v, a in zip(self._graph.inputs, axes, strict=True) if a is not None}
            found = staged(self._graph, splits, self.gather)
            self._plans[axes] = planned(self.source.name, found, partial(self._made, axes))
        return self._plans[axes]

    def _made(self, axes: Any, key: Any, inputs: Sequence[Variable], outputs: Any, name: str) -> Any:
        """Return a function of a stage, compiled once."""
        if (axes, key) not in self._compiled:
            settings = {**self._settings, "name": f"{self.source.name} {name}", "on_unused_input": "ignore"}
            self._compiled[axes, key] = function(list(inputs), outputs, **settings)
        return self._compiled[axes, key]

    def _shapes(self, values: Sequence[Any]) -> list[tuple[int, ...]]:
        """Return the shapes of the results, computed from shapes alone."""
        graph = self._graph
        lengths = self._made(None, "lengths", graph.inputs, [shape_of(o) for o in graph.outputs], "lengths")
        hollow = [_hollow(v.dtype, np.shape(value)) for v, value in zip(graph.inputs, values, strict=True)]
        return [tuple(int(n) for n in found) for found in lengths(*hollow)]


def _fitting(parameter: Parameter, value: Any) -> Any:
    """Return a valid Dask array unchanged, or another value as an array.  Raises as a call of the function does."""
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
    """Return an array with a single element in memory, broadcast to its shape."""
    return np.broadcast_to(np.zeros((), dtype), shape) if shape else np.zeros((), dtype)


@record
class _Layout:
    """Arguments, the chunked axis of each, the bounds of blocks, and remarks on arguments that are rechunked."""

    values: tuple[Any, ...]
    axes: tuple[int | None, ...]
    bounds: Bounds
    remarks: tuple[str, ...]


def _layout(source: Function, values: Sequence[Any], gather: bool) -> _Layout:
    """Return the layout of arguments.  Chunks that do not fit raise ValueError; `gather`: they are rechunked."""
    values = [_without_empty_chunks(value) if is_dask(value) else value for value in values]
    found, axes, remarks = list(values), [_chunked_axes(value) for value in values], []
    lengths: tuple[int, ...] | None = None
    for k, split in enumerate(axes):
        if not split:
            continue
        chunks = values[k].chunks[split[0]]
        problem = _problem(source.inputs[k].name or f"argument {k}", split, chunks, lengths)
        if problem and not gather:
            raise ValueError(f"on_dask: {problem}")
        lengths = lengths or chunks
        if problem:
            is_fitting = sum(chunks) == sum(lengths)
            found[k] = values[k].rechunk({a: lengths if is_fitting and a == split[0] else -1 for a in split})
            axes[k] = split[:1] if is_fitting else []
            remarks.append(f"{problem}.  It is rechunked")
    ends = list(accumulate(lengths or (), initial=0))
    return _Layout(tuple(found), tuple(s[0] if s else None for s in axes), list(pairwise(ends)), tuple(remarks))


def _without_empty_chunks(value: Any) -> Any:
    """Return the Dask array without empty chunks, whose maximum is undefined."""
    full = tuple(tuple(n for n in lengths if n) or (0,) for lengths in value.chunks)
    return value if full == value.chunks else value.rechunk(full)


def _chunked_axes(value: Any) -> list[int]:
    return [a for a, chunks in enumerate(value.chunks) if len(chunks) > 1] if is_dask(value) else []


def _problem(name: str, split: Sequence[int], chunks: Sequence[int], lengths: Sequence[int] | None) -> str:
    """Return the reason why the chunks of an argument do not fit; empty if they do."""
    if len(split) > 1:
        return f"{name} is chunked along axes {list(split)}; rechunk it along one of them"
    if lengths is not None and chunks != lengths:
        return f"chunks of {name} are {chunks}, of another argument {lengths}; rechunk one"
    return ""
