"""`ag.on_dask`: functions over the blocks of Dask arrays, on any cluster.

    on_dask(f)(x, w)   -->   head_0(w) | block_0(x[0], w), block_0(x[1], w), ... | combine | head_1 | block_1 ...

`scaleout` partitions the graph, `block_plans` compiles its functions, `block_graph` builds the tasks that run them.
"""

from __future__ import annotations

import math
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import accumulate, pairwise, product
from typing import Any

import numpy as np

from .. import later
from ..cbackend.calls.caller import parameters
from ..cbackend.calls.checks import Parameter
from ..cbackend.calls.update_locks import update_locks
from ..export.sources import function_of
from ..function.compilation import FunctionOptions
from ..function.compiled import Function
from ..function.function import function
from ..function.rewriting import rewrite
from ..graph import FunctionGraph, Variable, rebuild
from ..graph.digest import Unnamed, digest
from ..graph.dims import dims_of
from ..ops.core.checks import is_dask, shown
from ..ops.core.tensor import TensorVariable
from ..record import record
from ..record.cached import cached_property
from ..record.spelling import counted
from ..scaleout import Split, Unsplittable, staged
from ..scaleout.facts import Facts, Question
from .plans import Plan, planned

QUERY = "canonicalize stabilize useless_sum_to"
"""Passes over the whole graph, before each function of a stage is optimized."""
Bounds = Sequence[tuple[int, int]]


def on_dask(source: Any, *, arity: int = 8, threads: int = 1, gather: bool = False) -> OnDask:
    """Return `source` as a function of Dask arrays: it runs on the worker of each block and returns Dask arrays.

        loss = ag.on_dask(f)(x, y, w).compute()

    A call of `source` itself with a Dask array does the same, with the defaults of `arity` and `threads`.

    Arrays are chunked along one axis each, into the same lengths; of several axes one is kept, and `remarks` says so.
    The graph determines the split of all values: elementwise nodes, products and gathers keep blocks; a reduction of
    the chunked axis combines a partial result of each block.  So the gradient of a mean loss is data-parallel training.
    Other arguments and shared variables are the same for all blocks.  They are copied: a call means their values at
    the call.  Equal calls have equal names of tasks, so Dask computes them once.

    A function with updates is computed at once: it returns arrays, and its shared variables change once, after all
    blocks are done; if one fails, they keep their values.  If another call changes them meanwhile, this one is
    computed again.

    Args:
        source: a function of `ag.function`.
        arity: the number of partial results that one task combines.
        threads: threads of a task; workers run as many tasks as they have threads.
        gather: whether to gather the operands of ops that cannot run on blocks on one worker, which runs the op, and to
            rechunk arguments whose chunks do not fit; `remarks` of the result lists them.

    Results may differ by rounding from those of one block, and are equal for equal chunks.

    Raises ImportError without Dask, and TypeError for a source that is not a function.  Calls raise ValueError for
    chunks that do not fit, and TypeError for an op that cannot run on blocks, with its line and the arguments to
    rechunk.
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
        return on_dask(self, threads=self.compilation.threads or 1)

    @property
    def backend(self) -> str:
        return "dask"


class OnDask:
    """A function over blocks; see `ag.on_dask`."""

    def __init__(self, source: Function, arity: int, threads: int, gather: bool) -> None:
        require_dask("on_dask")
        self.source: Function = source
        self.arity: int = arity
        self.gather: bool = gather
        self._settings = source.compilation.options(threads=threads, profile=False)
        known = source.unoptimized_graph
        containers = source.compilation.signature.containers
        self._parameters = parameters(source.name, known, containers, source.compilation.downcast)
        held: dict[Variable, Variable] = {s: TensorVariable(s.type, name=s.name) for s in source.shared}
        self._containers = [s.container for s in source.shared]
        inputs = [held.get(v, v) for v in known.inputs]
        self._graph = rewrite(FunctionGraph(inputs, rebuild(known.outputs, held)), QUERY)
        self._plans: dict[tuple[int | None, ...], list[tuple[Mapping[Question, Any], Plan]]] = {}
        self._compiled: dict[Any, Function] = {}
        self._remarks: list[str] = []
        self._token = _token(known, self._settings, self.gather)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Return Dask arrays in the form of the function's results; NumPy arrays if it has updates.

        The call reads copies of its arguments and of the shared variables, so later changes do not reach its blocks.
        """
        source = self.source
        given = list(source._plain.values(args, kwargs))
        if len(given) != len(source.inputs):
            raise TypeError(f"on_dask: {source.name} takes {counted(len(source.inputs), 'argument')}, got {len(given)}")
        arguments = [_fitting(p, value) for p, value in zip(self._parameters, given, strict=False)]
        updates, read = source.unoptimized_graph.updates, self._held()
        results = (self._updated if updates else self._results)(arguments, read)
        count = len(results) - len(updates)
        return source.compilation.signature.formed(results[:count], arguments)

    def _held(self) -> list[np.ndarray]:
        """Return copies of the values of the shared variables, all from between two updates."""
        containers = self._containers
        with update_locks(containers):
            return [c.value.copy() for c in containers]

    def _results(self, arguments: Sequence[Any], read: Sequence[np.ndarray]) -> list[Any]:
        """Return the outputs of the graph as Dask arrays."""
        values = [*arguments, *read]
        layout, plan, facts = self._planned(values)
        self._remarks += [text for text in (*layout.remarks, *plan.staged.remarks) if text not in self._remarks]
        of = dict(zip(self._graph.inputs, layout.values, strict=True))
        call = later.block_graph.Call(self._token, plan, of, layout.bounds, self.arity, facts)
        shapes = (self._shape(o, facts) for o in self._graph.outputs)
        return list(map(call.result, plan.staged.outputs, shapes))

    def _planned(self, values: Sequence[Any]) -> tuple[_Layout, Plan, Facts]:
        """Return the first layout that the graph can be split by, its plan, and the facts of the call.

        Raises the error of the first layout if there is none.
        """
        first: Exception | None = None
        for layout in _layouts(self.source, values, self.gather):
            if isinstance(layout, ValueError):
                first = first or layout
                continue
            of = dict(zip(self._graph.inputs, layout.values, strict=True))
            arrays = {v: value for v, value in of.items() if not is_dask(value)}
            total = layout.bounds[-1][1] if layout.bounds else 0
            facts = Facts({v: np.shape(value) for v, value in of.items()}, arrays, total)
            try:
                return layout, self.plan(layout.axes, facts), facts
            except Unsplittable as error:
                first = first or error
        assert first is not None
        raise first

    def _updated(self, arguments: Sequence[Any], read: list[np.ndarray]) -> list[np.ndarray]:
        """Compute the outputs and write the new values of shared variables.

        If another call has changed a shared variable that this one read, compute again from the new values: the calls
        have the effect of calls in turn, and no lock is held while blocks run.
        """
        from dask import compute

        containers = self._containers
        while True:
            results = [np.asarray(r) for r in compute(*self._results(arguments, read))]
            with update_locks(containers):
                if all(map(_same_bits, (c.value for c in containers), read)):
                    for position, output in self.source.unoptimized_graph.updates:
                        self.source.shared[position - len(self.source.inputs)].set_value(results[output])
                    return results
                read = [c.value.copy() for c in containers]

    @property
    def remarks(self) -> list[str]:
        """The operands that were gathered and the arguments that were rechunked in calls so far, with the reasons."""
        return list(self._remarks)

    def plan(self, axes: tuple[int | None, ...], facts: Facts) -> Plan:
        """Return the compiled stages for arguments chunked along these axes, in a call with these facts."""
        known = self._plans.setdefault(axes, [])
        for answers, plan in known:
            if facts.agree(answers):
                return plan
        splits = {v: Split(a) for v, a in zip(self._graph.inputs, axes, strict=True) if a is not None}
        found = staged(self._graph, splits, self.gather, facts)
        known.append((facts.answers, planned(self.source.name, found, partial(self._made, axes))))
        return known[-1][1]

    def _made(self, axes: Any, key: Any, inputs: Sequence[Variable], outputs: Any, name: str) -> Any:
        """Return a function of a stage, compiled once."""
        if (axes, key) not in self._compiled:
            how: FunctionOptions = {
                **self._settings, "name": f"{self.source.name} {name}", "on_unused_input": "ignore"
            }  # fmt: skip
            self._compiled[axes, key] = function(list(inputs), outputs, **how)
        return self._compiled[axes, key]

    def _shape(self, output: Variable, facts: Facts) -> tuple[float, ...]:
        """Return the lengths of a result; NaN for one that depends on values of chunks, as in Dask."""
        lengths = (facts.length(d) for d in dims_of(output))
        return tuple(math.nan if n is None else n for n in lengths)


def _token(graph: FunctionGraph, *options: Any) -> Any:
    """Return text that is equal for equal functions in every process; of a graph without a digest, for this one only.

    It is a part of the names of tasks, so Dask computes equal calls once.
    """
    try:
        return digest(graph).hex(), str(options)
    except Unnamed:
        return uuid.uuid4().hex


def _same_bits(a: np.ndarray, b: np.ndarray) -> bool:
    return a.shape == b.shape and a.tobytes() == b.tobytes()


def _fitting(parameter: Parameter, value: Any) -> Any:
    """Return a copy of a valid Dask array, or of another value as an array.  Raises as a call of the function does."""
    if not is_dask(value):
        return np.array(parameter.array(value), order="C")
    if any(math.isnan(n) for n in value.shape):
        fix = f"call {parameter.word}.compute_chunk_sizes() first"
        raise ValueError(f"{parameter}: expected chunks of known lengths, got unknown ones (nan); {fix}")
    rank = parameter.type.ndim
    replace(parameter, type=parameter.type.with_shape((None,) * rank)).array(np.empty((0,) * rank, value.dtype))
    parameter.array(_hollow(parameter.type.dtype, value.shape))
    return value.copy()


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


def _layouts(source: Function, values: Sequence[Any], gather: bool) -> Iterator[_Layout | ValueError]:
    """Yield layouts of arguments, of which those chunked along several axes keep one; or the reasons against them.

    The others of their axes have one chunk, and so has every argument with the same chunks as one of these axes.
    """
    values = [_without_empty_chunks(value) if is_dask(value) else value for value in values]
    axes = [_chunked_axes(value) for value in values]
    several = [k for k, split in enumerate(axes) if len(split) > 1]
    for kept in product(*(axes[k] for k in several)):
        dropped = {k: [a for a in axes[k] if a != keep] for k, keep in zip(several, kept, strict=True)}
        merged = {values[k].chunks[a] for k, others in dropped.items() for a in others}
        merged -= {values[k].chunks[keep] for k, keep in zip(several, kept, strict=True)}
        for k, split in enumerate(axes):
            if len(split) == 1 and values[k].chunks[split[0]] in merged:
                dropped[k] = split
        found = [v.rechunk(dict.fromkeys(dropped[k], -1)) if k in dropped else v for k, v in enumerate(values)]
        remarks = [f"{_name(source, k)} is chunked along axes {axes[k]}.  It is rechunked" for k in several]
        try:
            yield _layout(source, found, gather, remarks)
        except ValueError as problem:
            yield problem


def _name(source: Function, k: int) -> str:
    return source.inputs[k].name or f"argument {k}"


def _layout(source: Function, values: Sequence[Any], gather: bool, remarks: list[str]) -> _Layout:
    """Return the layout of arguments that are chunked along one axis each.

    Unequal chunks raise ValueError; `gather`: they are rechunked.
    """
    found, axes = list(values), [_chunked_axes(value) for value in values]
    lengths: tuple[int, ...] | None = None
    for k, split in enumerate(axes):
        if not split:
            continue
        chunks, (axis,) = values[k].chunks[split[0]], split
        lengths = lengths or chunks
        if chunks == lengths:
            continue
        is_fitting = sum(chunks) == sum(lengths)
        wanted = {axis: lengths if is_fitting else -1}
        problem = f"chunks of {_name(source, k)} are {chunks}, of another argument {lengths}"
        if not gather:
            raise ValueError(f"on_dask: {problem}; rechunk one, by {_name(source, k)}.rechunk({wanted})")
        found[k] = values[k].rechunk(wanted)
        axes[k] = split if is_fitting else []
        remarks.append(f"{problem}.  It is rechunked")
    ends = list(accumulate(lengths or (), initial=0))
    return _Layout(tuple(found), tuple(s[0] if s else None for s in axes), list(pairwise(ends)), tuple(remarks))


def _without_empty_chunks(value: Any) -> Any:
    """Return the Dask array without empty chunks, whose maximum is undefined."""
    full = tuple(tuple(n for n in lengths if n) or (0,) for lengths in value.chunks)
    return value if full == value.chunks else value.rechunk(full)


def _chunked_axes(value: Any) -> list[int]:
    return [a for a, chunks in enumerate(value.chunks) if len(chunks) > 1] if is_dask(value) else []

