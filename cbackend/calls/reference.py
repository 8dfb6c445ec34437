"""The backend without a compiler: each node evaluated by NumPy.  The interface, the checks and the results are those of
the executor.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ...graph import FunctionGraph
from ...ops.interpret import interpret
from ...ops.laziness import made_lazy
from ...profiling import RunProfile
from ..driver.page import CFile
from .binding import Binding, bind_plain
from .caller import bound, parameters
from .turns import one_at_a_time


class Reference:
    """A graph that NumPy runs; see `Executable` for what calls take and give."""

    backend = "numpy"
    c_file = CFile("", ())
    source = ""
    path: Path | None = None
    program = None
    kernels = ()
    compile_seconds = 0.0
    from_cache = False
    threads = None

    def __init__(
        self, graph: FunctionGraph, name: str, shared: Sequence[Any], profile: RunProfile | None, downcast: bool | None
    ) -> None:
        self.graph = made_lazy(graph)
        self.name, self.shared, self.profile = name, tuple(shared), profile
        self.parameters = parameters(name, graph, self.shared, downcast)
        written = [self.shared[i] for i, _ in graph.updates]
        self._turn = one_at_a_time(self._call, written) if written else self._call

    def native(self, other: Callable[..., Any], as_list: bool) -> None:
        """Nothing: there is no C to enter."""

    def bind(self, arguments: Sequence[Any], out: Sequence[np.ndarray] | None) -> Binding:
        """This graph bound to arrays; see binding.py."""
        return bind_plain(self.name, self.graph, self.shared, self, arguments, out)

    def native_bound(self, binding: Binding, result: Any, other: Callable[..., Any]) -> None:
        """Nothing: there is no C to enter."""

    def __call__(self, *arguments: Any) -> list[np.ndarray]:
        return self._turn(*arguments)

    def _call(self, *arguments: Any) -> list[np.ndarray]:
        start = time.perf_counter()
        arrays = bound(self.parameters, self.shared, arguments)
        results = [np.array(r, order="C") for r in interpret(self.graph, arrays, self.name)]
        for i, o in self.graph.updates:
            self.shared[i].value = results[o]
        if self.profile is not None:
            self.profile.record(time.perf_counter() - start)
        updated = {o for _, o in self.graph.updates}
        return [r for k, r in enumerate(results) if k not in updated]


def reference_graph(
    graph: FunctionGraph, *, name: str, shared: Sequence[Any], toolchain: Any = None, cache: Any = None,
    profile: RunProfile | None = None, allow_input_downcast: bool | None = None, threads: int | None = None,
    debug_info: bool = False, schedule: Any = None,
) -> Reference:  # fmt: skip
    """The graph as a callable that NumPy runs; the arguments are those of `compile_graph`."""
    return Reference(graph, name, shared, profile, allow_input_downcast)
