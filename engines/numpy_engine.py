"""The NumPy engine: it evaluates each node by its meaning.  It runs every graph; the C engine falls back on it."""

from __future__ import annotations

from functools import partial

import numpy as np

from ..graph import FunctionGraph
from ..ops.control.laziness import made_lazy
from ..ops.core.interpret import interpret
from ..ops.lowered.assumed import BrokenAssumption
from .engine import Engine, Request
from .executable import CheckedExecutable


class NumPyEngine(Engine):
    """Runs a graph node by node in NumPy."""

    name = "numpy"
    own_errors: tuple[type[Exception], ...] = (Exception,)
    launch = 5_000_000
    copied_byte = 0

    def compile(self, graph: FunctionGraph, request: Request) -> CheckedExecutable:
        return NumPyExecutable(self, graph, request)


class NumPyExecutable(CheckedExecutable):
    """A graph that NumPy runs.  Ops define the types of their results, so these are not checked again."""

    def __init__(self, engine: Engine, graph: FunctionGraph, request: Request) -> None:
        graph = made_lazy(graph)
        super().__init__(engine, graph, request, partial(_evaluated, graph, request))

    def _results(self, arrays: list[np.ndarray]) -> list[np.ndarray]:
        return [np.array(r, order="C") for r in self.run(*arrays)]


def _evaluated(graph: FunctionGraph, request: Request, *arrays: np.ndarray) -> list[np.ndarray]:
    try:
        return interpret(graph, arrays, request.name)
    except BrokenAssumption:
        if request.general is None:
            raise
    return interpret(made_lazy(request.general()), arrays, request.name)
