"""The NumPy engine: it evaluates each node by its meaning.  It runs every graph; the C engine falls back on it."""

from __future__ import annotations

import numpy as np

from ..graph import FunctionGraph
from ..ops.control.laziness import made_lazy
from ..ops.core.interpret import interpret
from ..ops.lowered.assumed import are_equal, compared_lengths
from ..record.cached import cached_property
from .engine import Engine, Request
from .executable import CheckedExecutable


class NumPyEngine(Engine):
    """Runs a graph node by node in NumPy."""

    name = "numpy"
    falls_back: bool = True
    own_errors: tuple[type[Exception], ...] = (Exception,)
    launch = 5_000_000
    copied_byte = 0

    def compile(self, graph: FunctionGraph, request: Request) -> CheckedExecutable:
        return NumPyExecutable(self, graph, request)


class NumPyExecutable(CheckedExecutable):
    """A graph that NumPy runs.  Ops define the types of their results, so these are not checked again."""

    def __init__(self, engine: Engine, graph: FunctionGraph, request: Request) -> None:
        graph = made_lazy(graph)
        self._evaluation = _Evaluation(graph, request)
        super().__init__(engine, graph, request, self._evaluation)

    @property
    def broken(self) -> int:
        """Calls that broke the assumptions of the graph on lengths."""
        return self._evaluation.broken

    def _results(self, arrays: list[np.ndarray]) -> list[np.ndarray]:
        return [np.array(r, order="C") for r in self.run(*arrays)]


class _Evaluation:
    """The meaning of a graph, or of the one without its assumptions where a call breaks them."""

    def __init__(self, graph: FunctionGraph, request: Request) -> None:
        self._graph, self._name, self._general = graph, request.name, request.general
        self._compared = compared_lengths(graph)
        self.broken = 0

    def __call__(self, *arrays: np.ndarray) -> list[np.ndarray]:
        if are_equal(self._compared, arrays):
            return interpret(self._graph, arrays, self._name)
        self.broken += 1
        return interpret(self._without_assumptions, arrays, self._name)

    @cached_property
    def _without_assumptions(self) -> FunctionGraph:
        assert self._general is not None
        return made_lazy(self._general())
