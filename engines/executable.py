"""Executables: compiled graphs as callables, and the base class of those that run a Python function of arrays.

This file checks arguments, reads and updates shared values, and copies results for all engines but C, whose native
entry does so (cbackend/calls/).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from ..cbackend.calls.binding import Binding, bind_plain
from ..cbackend.calls.caller import bound, parameters
from ..cbackend.calls.output_lengths import evaluated, output_lengths
from ..cbackend.calls.update_locks import with_update_locks
from ..cbackend.driver.page import CFile
from ..graph import FunctionGraph, Variable
from ..record.cached import cached_property
from ..record.spelling import counted
from .engine import Engine, EngineError, Request

if TYPE_CHECKING:
    from ..cbackend.calls.checks import Parameter
    from ..cbackend.ir.kernel import Kernel
    from ..cbackend.program.program import Program
    from ..profiling import RunProfile

Run = Callable[..., Sequence[Any]]
"""Arrays for the inputs of a graph -> arrays for its outputs."""


class Executable(Protocol):
    """A compiled graph.  Call it with one value for each input that is not shared, in order.

    It returns the outputs that are not updates, as arrays that own their memory.  After success the containers of
    updated inputs hold the new values; calls that update the same container exclude one another.
    """

    @property
    def backend(self) -> str: ...  # the name of the engine
    @property
    def c_file(self) -> CFile: ...
    @property
    def source(self) -> str: ...
    @property
    def path(self) -> Path | None: ...
    @property
    def program(self) -> Program | None: ...
    @property
    def kernels(self) -> tuple[Kernel, ...]: ...
    @property
    def compile_seconds(self) -> float: ...
    @property
    def from_cache(self) -> bool: ...
    @property
    def threads(self) -> int | None: ...
    @property
    def is_tiered(self) -> bool: ...  # whether another executable may take its place; see tiered.py

    def __call__(self, *arguments: Any) -> list[np.ndarray]: ...
    def native(self, other: Callable[..., Any], as_list: bool) -> Callable[..., Any] | None: ...
    def bind(self, arguments: Sequence[Any], out: Sequence[np.ndarray] | None) -> Binding: ...
    def native_bound(self, binding: Binding, result: Any, other: Callable[..., Any]) -> Callable[..., Any] | None: ...
    def entry_on(self, values: Mapping[Any, np.ndarray]) -> Callable[..., list[np.ndarray]] | None: ...
    def watch(
        self, places: Sequence[int], expected: Sequence[int], memory: int, types: Sequence[type], lent: Sequence[Any]
    ) -> Callable[[list[Any]], bool] | None: ...


class CheckedExecutable:
    """An executable around `run` that checks results against the types of the graph's outputs.

    `run` must not change its arguments; it may return them, or views of them.
    """

    backend: str
    graph: FunctionGraph
    name: str
    run: Run
    containers: tuple[Any, ...]
    profile: RunProfile | None

    c_file: CFile = CFile("", ())
    source: str = ""
    path: Path | None = None
    program: Program | None = None
    kernels: tuple[Kernel, ...] = ()
    compile_seconds: float = 0.0
    from_cache = False
    threads: int | None = None
    is_tiered = False

    def __init__(self, engine: Engine, graph: FunctionGraph, request: Request, run: Run) -> None:
        self.backend, self.graph, self.name, self.run = engine.name, graph, request.name, run
        self.containers, self.profile = tuple(request.containers), request.profile
        self.parameters: tuple[Parameter, ...] = parameters(request.name, graph, self.containers, request.downcast)
        written = [self.containers[i] for i, _ in graph.updates]
        self._locked_call = with_update_locks(self._call, written) if written else self._call

    def __call__(self, *arguments: Any) -> list[np.ndarray]:
        return self._locked_call(*arguments)

    def bind(self, arguments: Sequence[Any], out: Sequence[np.ndarray] | None) -> Binding:
        """Bind this executable to arrays; see cbackend/calls/binding.py."""
        return bind_plain(self.name, self.graph, self.containers, self, arguments, out)

    def native(self, other: Callable[..., Any], as_list: bool) -> Callable[..., Any] | None:
        """None: there is no native entry."""
        return None

    def native_bound(self, binding: Binding, result: Any, other: Callable[..., Any]) -> Callable[..., Any] | None:
        """None: there is no native entry."""
        return None

    def entry_on(self, values: Mapping[Any, np.ndarray]) -> Callable[..., list[np.ndarray]] | None:
        """None: calls read containers."""
        return None

    def watch(
        self, places: Sequence[int], expected: Sequence[int], memory: int, types: Sequence[type], lent: Sequence[Any]
    ) -> Callable[[list[Any]], bool] | None:
        """None: there is no builtin."""
        return None

    def _call(self, *arguments: Any) -> list[np.ndarray]:
        start = time.perf_counter()
        results = self._results(bound(self.parameters, self.containers, arguments))
        for i, o in self.graph.updates:
            self.containers[i].value = results[o]
        if self.profile is not None:
            self.profile.record(time.perf_counter() - start)
        updated = {o for _, o in self.graph.updates}
        return [r for k, r in enumerate(results) if k not in updated]

    def _results(self, arrays: list[np.ndarray]) -> list[np.ndarray]:
        """Return copies of the results of `run`.  Raises EngineError if their types differ from the outputs'."""
        with np.errstate(all="ignore"):  # as in C
            found, outputs = self.run(*arrays), self.graph.outputs
        if not isinstance(found, (list, tuple)) or len(found) != len(outputs):
            got = counted(len(found), "result") if isinstance(found, (list, tuple)) else f"a {type(found).__name__}"
            raise self._error(f"returns {got}; expected a list of {len(outputs)}")
        shapes = [array.shape for array in arrays]
        return [self._result(k, value, output, shapes) for k, (value, output) in enumerate(zip(found, outputs))]

    def _result(self, k: int, value: Any, output: Variable, shapes: list[tuple[int, ...]]) -> np.ndarray:
        if not isinstance(value, (np.ndarray, np.generic)):
            raise self._error(f"computes output {k} as {type(value).__name__}; expected an array of {output.type}")
        array = self._owned(value)
        self._require_type(k, array.dtype, array.shape, output, shapes)
        return array

    def _require_type(
        self, k: int, dtype: np.dtype, shape: tuple[int, ...], output: Variable, shapes: list[tuple[int, ...]]
    ) -> None:
        """Raise EngineError if output `k` has another dtype or shape than its type, with inputs of these `shapes`."""
        if dtype != output.type.numpy:
            raise self._error(f"computes output {k} as {dtype}; expected {output.type.dtype}")
        lengths = self._lengths[k]
        expected = output.type.shape if lengths is None else tuple(evaluated(n, shapes) for n in lengths)
        fits = len(shape) == len(expected) and all(n in (None, m) for n, m in zip(expected, shape))
        if not fits:
            shown = f"({', '.join('?' if n is None else str(n) for n in expected)}{',' * (len(expected) == 1)})"
            raise self._error(f"computes output {k} with shape {shape}; expected {shown}")

    def _owned(self, value: Any) -> np.ndarray:
        """Return a result as an array in C order with memory of its own."""
        return np.array(value, order="C")

    @cached_property
    def _lengths(self) -> list[Any]:
        """The programs that compute the lengths of each output; None if they depend on elements."""
        return output_lengths(self.graph)

    def _error(self, message: str) -> EngineError:
        return EngineError(f"{self.name}: engine {self.backend!r} {message}")
