"""Compiled regions: each is optimized and compiled for its engine, and attached to its op.

    graph of the host with `region` nodes   --DividedEngine-->   executable of the host; its steps call the regions

A graph that is one region alone is compiled by that engine, without a host.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..database import optdb
from ..engines.engine import Around, Engine, EngineError, Request, executable_of
from ..engines.executable import CheckedExecutable
from ..engines.registry import engine as engine_of
from ..function.mode import Mode
from ..function.optimization import Optimization, for_any_lengths
from ..graph import Apply, FunctionGraph
from ..graph.provenance import modules_of
from ..ops.core.interpret import interpret
from ..ops.lowered.region import Region, regions_of
from ..optdb import Query
from ..options import process_options
from ..profiling import StepProfile
from ..profiling.copies import Copies
from ..profiling.run import COLUMNS
from ..record.spelling import counted

MEMORY = 5
"""Counters of memory behind those of nodes."""

if TYPE_CHECKING:
    from ..engines.executable import Executable
    from ..profiling import RunProfile
    from ..targets.target import Target


class DividedEngine(Around):
    """The host of a divided graph: `engine`, which runs after the regions are compiled."""

    def __init__(self, engine: Engine, mode: Mode) -> None:
        super().__init__(engine)
        self._mode = mode

    def refusal(self, node: Apply) -> str:
        return "" if isinstance(node.op, Region) else super().refusal(node)

    def recall(
        self, graph: FunctionGraph, request: Request, optimized: Callable[[], FunctionGraph]
    ) -> Executable | None:
        return None  # a division by measured times is not stored

    def compile(self, graph: FunctionGraph, request: Request) -> Executable:
        regions = regions_of(graph)
        if len(regions) == len(graph) == 1:
            return self._compiled_alone(regions[0].engine, graph, request)
        runs = [self._run(op, f"{request.name}, region {number}", request) for number, op in enumerate(regions)]
        for op, run in zip(regions, runs, strict=True):
            op.attach(run)
        if request.profile is not None and self.name != "c":
            _profile(request.profile, graph, runs)
        return executable_of(self._engine, graph, request)

    def _compiled_alone(self, name: str, graph: FunctionGraph, request: Request) -> Executable:
        """The executable of a graph that is one region."""
        plain = graph.rebuilt(lambda node: node.op.expand(node.inputs))  # type: ignore[attr-defined]
        return executable_of(engine_of(name), optimized_for(name, plain, self._mode, request.target), request)

    def _run(self, op: Region, name: str, request: Request) -> RegionRun:
        graph = optimized_for(op.engine, op.graph, self._mode, request.target)
        own = replace(
            request, name=name, containers=(None,) * len(graph.inputs), profile=None, schedules=None, key=None,
            threads=op.threads,
        )  # fmt: skip
        return RegionRun(op, executable_of(engine_of(op.engine), graph, own), name)


def optimized_for(engine: str, graph: FunctionGraph, mode: Mode, target: Target | None) -> FunctionGraph:
    """Return the graph after the passes of an engine; unchanged if these make a node that the engine refuses."""
    query = mode.optimizer
    assert isinstance(query, Query)
    own = Mode(for_any_lengths(query.excluding("partition"), optdb), backend=engine)
    found = Optimization(graph, own, process_options().strict, optdb, target).graph
    return found if all(map(engine_of(engine).supports, found.order)) else graph


def _profile(profile: RunProfile, graph: FunctionGraph, runs: Sequence[RegionRun]) -> None:
    """Add a row for each region, which counts for itself, to a profile; C has rows for all nodes."""
    nodes = [node for node in graph.order if isinstance(node.op, Region)]
    steps = [
        StepProfile(
            "+".join(dict.fromkeys(n.op.name for n in node.op.graph.order)), "region",  # type: ignore[attr-defined]
            tuple(map(str, node.origin)), op="Region", dtype=node.outputs[0].dtype, engine=run.engine,
            copies=run.copies, modules=modules_of(node.origin),
        )
        for node, run in zip(nodes, runs, strict=True)
    ]  # fmt: skip
    counters = np.zeros(COLUMNS * (len(steps) + 1) + MEMORY, np.int64)
    for number, run in enumerate(runs):
        run.row = counters[COLUMNS * number : COLUMNS * (number + 1)]
    profile.begin(steps, 0.0)
    profile.attach(counters)


class RegionRun:
    """A compiled region as a function of arrays.  `copies`: bytes that crossed its border; `row`: its counters."""

    row: np.ndarray | None = None

    def __init__(self, op: Region, executable: Any, name: str) -> None:
        self._graph = op.graph
        self.engine: str = op.engine
        self._name = name
        self._compute = executable.run if isinstance(executable, CheckedExecutable) else executable
        self._types = [(o.type.numpy, o.type.shape) for o in op.graph.outputs]
        self.copies: Copies = Copies()

    def __call__(self, *arrays: np.ndarray) -> Sequence[np.ndarray]:
        start = time.perf_counter()
        given = [a if a.flags.c_contiguous else np.array(a, order="C") for a in arrays]
        copied = time.perf_counter() - start
        try:
            with np.errstate(all="ignore"):  # as in C
                found = self._checked(self._compute(*given))
        except Exception:
            interpret(self._graph, arrays, self._name)  # an error of NumPy's meaning is the better one
            raise
        moved = sum(a.nbytes for a in (*arrays, *found))
        self.copies.add(moved, copied)
        if self.row is not None:
            self.row += 1, int(1e9 * (time.perf_counter() - start)), moved, 0
        return found

    def _checked(self, found: Sequence[Any]) -> list[np.ndarray]:
        """Return the results.  Raises EngineError if number, dtypes or shapes differ from the graph's."""
        if len(found) != len(self._types):
            raise self._error(f"returns {counted(len(found), 'result')}; expected {len(self._types)}")
        for k, (value, (dtype, shape)) in enumerate(zip(found, self._types, strict=True)):
            got = getattr(value, "dtype", type(value).__name__)
            if got != dtype:
                raise self._error(f"computes output {k} as {got}; expected {dtype}")
            if value.ndim != len(shape) or any(n not in (None, m) for n, m in zip(shape, value.shape, strict=True)):
                raise self._error(f"computes output {k} with shape {value.shape}; expected {shape}")
        return list(found)

    def _error(self, message: str) -> EngineError:
        return EngineError(f"{self._name}: engine {self.engine!r} {message}")
