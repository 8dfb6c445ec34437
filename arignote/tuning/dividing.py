"""`ag.tune` for a function that is divided among engines: measure the engines, then divide again.

The graph is cut into intervals of its order.  Each engine runs the nodes of an interval that it supports, on the values
that a call gives them; the time is shared among these nodes in proportion to their estimates.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ..database import optdb
from ..engines.division import regions, times
from ..engines.division.placement import Placement
from ..engines.engine import Engine, Request, executable_of
from ..engines.registry import engine as engine_of
from ..engines.registry import title
from ..function.compile_progress import Progress, Silence, progress
from ..function.compiled import Function
from ..function.function import divided_again
from ..function.optimization import for_any_lengths
from ..graph import Apply, Constant, FunctionGraph, Variable, rebuild
from ..ops.core.interpret import evaluate_node
from ..ops.core.tensor import TensorVariable
from ..optdb import Query
from ..optdb.optimizers import SeqOptimizer
from ..optdb.rules.engines.partition import PartitionOptimizer
from ..record import record
from ..targets.current import using as using_target
from .regions import optimized_for

INTERVALS = 12
"""Number of intervals of a graph that are measured."""
_FEWEST, _MOST = 3, 50
"""Calls per measurement, unless a call exceeds its share of the time."""
_LEAST_SHARE = 0.02
"""Least part of a measured time that counts, after the time of an empty call is subtracted."""


@record
class Measurement:
    """The time of an interval on an engine, in seconds."""

    interval: int
    engine: str
    nodes: int
    ops: str
    seconds: float


class Division:
    """The findings of `ag.tune` for a divided function.  `function` is divided by the measured times."""

    function: Function
    measured: tuple[Measurement, ...]
    before: float
    after: float
    kept: bool

    def __init__(
        self, function: Function, measured: Sequence[Measurement], before: float, after: float, kept: bool
    ) -> None:
        self.function, self.measured, self.before, self.after = function, tuple(measured), before, after
        self.kept = kept
        """Whether the times were stored in the cache."""

    @property
    def gain(self) -> float:
        """The speed-up of the function."""
        return self.before / self.after

    def __str__(self) -> str:
        times = f"{self.before * 1e6:.1f} us before, {self.after * 1e6:.1f} us after"
        rows = [
            f"  interval {m.interval}, {title(m.engine)}: {m.seconds * 1e6:.1f} us, {m.nodes} nodes: {m.ops}"
            for m in self.measured
        ]
        return "\n".join([f"{self.function.name}: {times}, {self.gain:.2f} times as fast", *rows])

    __repr__ = __str__


def divided(function: Function, inputs: Sequence[Any], seconds: float, keep: bool) -> Division:
    """See `tune`."""
    arrays = function.arrays(list(inputs))
    with progress(function.name, "measuring its engines") as shown, using_target(function.target):
        graph, placement = graph_to_divide(function), _placement(function)
        known: times.Times = {}
        found = list(_measured(function, graph, placement, arrays, seconds, known, shown))
    with times.using(known):
        made = divided_again(function)
    before, after = _race((function, made), inputs)
    kept = keep and _kept(graph, placement, known)
    return Division(made if after <= before else function, found, before, min(before, after), kept)


def _placement(function: Function) -> Placement:
    return Placement(function.mode.engines, function.mode.backend, function.threads)


def graph_to_divide(function: Function) -> FunctionGraph:
    """Return the graph of a function as the pass `partition` gets it."""
    query = function.mode.optimizer
    assert isinstance(query, Query)
    optimizer = optdb.query(for_any_lengths(query, optdb))
    at = next(k for k, member in enumerate(optimizer.optimizers) if isinstance(member, PartitionOptimizer))
    graph, _ = SeqOptimizer(optimizers=optimizer.optimizers[:at])(function.unoptimized_graph)
    return graph


def intervals(graph: FunctionGraph, placement: Placement, sized: Mapping[Apply, Apply]) -> list[list[Apply]]:
    """Return the nodes in intervals of about equal time, by the estimates of the slowest engine for each."""
    weights = []
    for node in graph.order:
        runs = [name for name in placement.engines if not placement.refusal(name, node)]
        weights.append(max((placement.estimate(name, sized[node]) for name in runs), default=0))
    least, found, held = sum(weights) / INTERVALS, [[]], 0.0  # type: ignore[var-annotated]
    for node, weight in zip(graph.order, weights, strict=True):
        if found[-1] and held + weight / 2 > least:
            found.append([])
            held = 0.0
        found[-1].append(node)
        held += weight
    return [part for part in found if part]


def _measured(
    function: Function, graph: FunctionGraph, placement: Placement, arrays: Sequence[np.ndarray], seconds: float,
    known: times.Times, shown: Progress | Silence,
) -> Iterator[Measurement]:  # fmt: skip
    """Fill `known` and print each measurement."""
    values: dict[Variable, np.ndarray] = dict(zip(graph.inputs, arrays, strict=True))
    for node in graph.order:
        operands = [i.data if isinstance(i, Constant) else values[i] for i in node.inputs]
        with np.errstate(all="ignore"):
            values.update(zip(node.outputs, evaluate_node(node, operands, function.name), strict=True))
    sized = _sized(graph, arrays)
    parts = intervals(graph, placement, sized)
    share = seconds / (len(parts) * len(placement.engines))
    for name in placement.engines:
        engine, idle = engine_of(name), _idle_seconds(function, name)
        known[name, times.signature(None)] = int(1e12 * idle)
        for number, part in enumerate(parts):
            shown.stage = f"interval {number + 1} of {len(parts)} on {title(name)}"
            nodes = [node for node in part if not placement.refusal(name, node)]
            spent = _interval_seconds(function, engine, graph, nodes, values, share) if nodes else None
            if spent is None:
                continue
            spent = max(spent - idle, _LEAST_SHARE * spent)
            estimates = [placement.estimate(name, sized[node]) for node in nodes]
            for node, estimate in zip(nodes, estimates, strict=True):
                known[name, times.signature(node)] = int(1e12 * spent * estimate / max(sum(estimates), 1))
            yield Measurement(number, name, len(nodes), ", ".join(dict.fromkeys(n.op.name for n in nodes)), spent)


def _sized(graph: FunctionGraph, arrays: Sequence[np.ndarray]) -> dict[Apply, Apply]:
    """Return each node with the lengths that it has for these arrays."""
    known: dict[Variable, Variable] = {
        i: TensorVariable(i.type.with_shape(a.shape)) for i, a in zip(graph.inputs, arrays, strict=True)
    }
    rebuild(graph.outputs, known)
    images = {node: known[node.outputs[0]].owner if node.outputs[0] in known else node for node in graph.order}
    return {node: image or node for node, image in images.items()}


def _interval_seconds(
    function: Function, engine: Engine, graph: FunctionGraph, nodes: Sequence[Apply],
    values: dict[Variable, np.ndarray], seconds: float,
) -> float | None:  # fmt: skip
    """The time of a call of some nodes; None if the engine fails."""
    inner, reads, _ = regions.inner_graph(graph, nodes)
    try:
        return _call_seconds(function, engine, inner, [values[v] for v in reads], seconds)
    except Exception:  # engines raise what they like; the estimate stays
        return None


def _idle_seconds(function: Function, name: str) -> float:
    """Return the time of a nearly empty call."""
    x = TensorVariable(function.graph.outputs[0].type.with_shape(()), name="x")
    zero = np.zeros((), x.type.numpy)
    graph = FunctionGraph([x], [x + x] if zero.dtype.kind != "b" else [x | x])
    try:
        return _call_seconds(function, engine_of(name), graph, [zero], 0.01)
    except Exception:  # it lacks the dtype
        return engine_of(name).launch / 1e12


def _call_seconds(
    function: Function, engine: Engine, graph: FunctionGraph, arrays: Sequence[np.ndarray], seconds: float
) -> float:
    """The shortest of some calls of a graph on an engine."""
    made = optimized_for(engine.name, graph, function.mode, function.target)
    request = Request(f"{function.name}, measured", (None,) * len(graph.inputs), threads=function.threads)
    run = executable_of(engine, made, request)
    run(*arrays)
    best, begun = float("inf"), time.perf_counter()
    for count in range(_MOST):
        start = time.perf_counter()
        run(*arrays)
        best = min(best, time.perf_counter() - start)
        if count + 1 >= _FEWEST and time.perf_counter() - begun > seconds:
            break
    return best


def _kept(graph: FunctionGraph, placement: Placement, known: times.Times) -> bool:
    """Store the times in the cache; return whether that succeeded."""
    keeper, left = times.EngineTimes(placement.threads), dict(known)
    for node in (None, *graph.order):
        for name in placement.engines:
            found = left.pop((name, times.signature(node)), None)
            if found is not None and not keeper.keep(engine_of(name), node, found):
                return False
    return True


def _race(functions: Sequence[Function], inputs: Sequence[Any]) -> list[float]:
    """The shortest time of a call of each function; shared variables get their values back."""
    shared = functions[0].shared
    values = [np.array(s.container.value) for s in shared]
    best = [float("inf")] * len(functions)
    try:
        for count in range(2 * _FEWEST + 1):
            for k, function in enumerate(functions):
                start = time.perf_counter()
                function.results(*inputs)
                best[k] = min(best[k], time.perf_counter() - start) if count else best[k]
    finally:
        for variable, value in zip(shared, values, strict=True):
            variable.container.value = value
    return best
