"""Graphs of any size, and the cost of rewriting one: the worker of `benchmarks.rewriting`.

    python -m benchmarks.growing arignote chain 4000 120 [memory]     prints one line of JSON

120: the seconds of processor time after which it gives up.  The same expressions are built in the vocabulary of either
library.
"""

from __future__ import annotations

import gc
import importlib
import json
import resource
import sys
import time
import tracemalloc
from collections.abc import Callable
from typing import Any

Expressions = tuple[list[Any], list[Any]]
"""Inputs and outputs."""


def chain(library: Any, nodes: int) -> Expressions:
    """`sin(v * 1.5 + y)`, again and again: three nodes a link."""
    T = library.T
    v, y = T.vector("v"), T.vector("y")
    value = v
    for _ in range(nodes // 3):
        value = T.sin(value * 1.5 + y)
    return [v, y], [value]


def terms(library: Any, nodes: int) -> Expressions:
    """The sum of `exp(x * c) - y / d` over constants c and d: five nodes a term."""
    T = library.T
    x, y = T.vector("x"), T.vector("y")
    total = T.exp(x) - y
    for n in range(nodes // 5):
        total = total + (T.exp(x * (1.0 + n / 1000)) - y / (2.0 + n / 700))
    return [x, y], [total]


def mlp(library: Any, nodes: int) -> Expressions:
    """The loss of a tanh network and its gradient by all weights and biases: 14 nodes a layer."""
    T = library.T
    layers = max(1, nodes // 14)
    x = T.matrix("x")
    weights = [T.matrix(f"w{n}") for n in range(layers)]
    biases = [T.vector(f"b{n}") for n in range(layers)]
    value = x
    for w, b in zip(weights, biases, strict=True):
        value = T.tanh(T.dot(value, w) + b)
    loss = (value**2).mean()
    return [x, *weights, *biases], [loss, *library.grad(loss, [*weights, *biases])]


CASES: dict[str, Callable[[Any, int], Expressions]] = {"chain": chain, "terms": terms, "mlp": mlp}


class Arignote:
    """Ours."""

    def __init__(self) -> None:
        self.ag = importlib.import_module("arignote")
        self.T = importlib.import_module("arignote.ops")
        self.grad = self.ag.grad

    def graph(self, inputs: list[Any], outputs: list[Any]) -> Any:
        return self.ag.FunctionGraph(inputs, outputs)

    def rewrite(self, graph: Any) -> Any:
        return self.ag.rewrite(graph, "fast_run")

    def size(self, graph: Any) -> int:
        return len(graph)


class PyTensor:
    """PyTensor's FAST_RUN, as `pytensor.function` applies it."""

    def __init__(self) -> None:
        pytensor = importlib.import_module("pytensor")
        self.T = importlib.import_module("pytensor.tensor")
        self.grad = pytensor.grad
        self._graph = importlib.import_module("pytensor.graph.fg").FunctionGraph
        self._supervisor = importlib.import_module("pytensor.compile.aliasing").Supervisor
        self._optimizer = importlib.import_module("pytensor.compile.mode").get_mode("FAST_RUN").optimizer

    def graph(self, inputs: list[Any], outputs: list[Any]) -> Any:
        graph = self._graph(inputs, outputs, clone=True)
        graph.attach_feature(self._supervisor(graph.inputs))  # no input may be overwritten
        return graph

    def rewrite(self, graph: Any) -> Any:
        self._optimizer.rewrite(graph)
        return graph

    def size(self, graph: Any) -> int:
        return len(graph.apply_nodes)


LIBRARIES: dict[str, Callable[[], Any]] = {"arignote": Arignote, "pytensor": PyTensor}


def measured(name: str, case: str, nodes: int, memory: bool) -> dict[str, float]:
    """Seconds of processor time to build and to rewrite a graph; with `memory` the peak of the bytes that rewriting
    takes beyond it, by tracemalloc, and no times."""
    library = LIBRARIES[name]()
    for build in CASES.values():  # work that is done once per process is not counted
        library.rewrite(library.graph(*build(library, 60)))
    start = time.process_time()
    expressions = CASES[case](library, nodes)
    built = time.process_time() - start
    graph = library.graph(*expressions)
    figures = {"nodes": library.size(graph), "build": built}
    gc.collect()
    if memory:
        tracemalloc.start()
        result = library.rewrite(graph)
        figures["bytes"] = tracemalloc.get_traced_memory()[1]
    else:
        start = time.process_time()
        result = library.rewrite(graph)
        figures["rewrite"] = time.process_time() - start
    figures["after"] = library.size(result)
    figures["resident"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return figures


if __name__ == "__main__":
    sys.setrecursionlimit(1_000_000)  # for PyTensor
    resource.setrlimit(resource.RLIMIT_CPU, (int(sys.argv[4]), int(sys.argv[4])))
    print(json.dumps(measured(sys.argv[1], sys.argv[2], int(sys.argv[3]), "memory" in sys.argv[5:])))
