"""A compiled function: what `ag.function` returns.

It is immutable but for the values of its shared variables, and safe in threads.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from .graph import FunctionGraph, Replacement, Variable
from .mode import Mode
from .ops.interpret import interpret
from .profiling import RunProfile
from .signature import Signature


class Function:
    """Arrays in, arrays out.  Call it with the inputs by position or by the names of their variables.

    It returns one array, a list, a dict or None, as `outputs` was given to `ag.function`.
    """

    def __init__(
        self, signature: Signature, graph: FunctionGraph, executable: Any, mode: Mode, name: str,
        optimizer_profile: Any, journal: tuple[Replacement, ...], profile: RunProfile | None,
        restore: Callable[..., Function],
    ) -> None:  # fmt: skip
        self._signature = signature
        self._run = executable
        self._form = signature.form
        self.graph = graph
        """The optimized graph."""
        self.mode = mode
        self.name = name
        self.optimizer_profile = optimizer_profile
        """What each pass and each rule cost and did."""
        self.journal = journal
        """Every replacement that was made, in order."""
        self.profile = profile
        """The run profile, or None if the function was compiled without."""
        self._restore = restore

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        results = self._run(*self._bound(args, kwargs)) if kwargs else self._run(*args)
        form = self._form
        if form == "one":
            return results[0]
        if form == "list":
            return results
        return dict(zip(self._signature.keys, results, strict=True)) if form == "dict" else None

    def _bound(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
        """Positional arguments for a call with keywords.  Raises TypeError as a Python function would."""
        names = self._signature.names
        values: dict[int, Any] = dict(enumerate(args))
        for key, value in kwargs.items():
            if key not in names:
                known = ", ".join(n or f"(input {i} has no name)" for i, n in enumerate(names))
                raise TypeError(f"{self.name}: no input is named {key!r}; the inputs are: {known or 'none'}")
            position = names.index(key)
            if position in values:
                raise TypeError(f"{self.name}: input {position} ({key}) is given by position and by name")
            values[position] = value
        missing = [names[i] or f"input {i}" for i in range(len(names)) if i not in values]
        if missing or len(args) > len(names):
            raise TypeError(f"{self.name}: takes {len(names)} arguments; missing: {', '.join(missing) or 'none'}")
        return [values[i] for i in range(len(names))]

    # --- what it is made of
    @property
    def unoptimized_graph(self) -> FunctionGraph:
        """The graph as the user built it."""
        return self._signature.graph

    @property
    def inputs(self) -> tuple[Variable, ...]:
        return self._signature.graph.inputs[: self._signature.n_inputs]

    @property
    def shared(self) -> tuple[Variable, ...]:
        """The shared variables that are read or updated."""
        return self._signature.shared

    @property
    def backend(self) -> str:
        """What runs it: "c", or "numpy" where that was asked for or nothing compiles."""
        return "c" if self._run.source else "numpy"

    def c_source(self) -> str:
        """The generated C; empty where NumPy runs the function."""
        return self._run.source  # type: ignore[no-any-return]

    @property
    def c_path(self) -> Path | None:
        """Where the compiled library lies in the cache, its C beside it; None where NumPy runs the function."""
        return self._run.path  # type: ignore[no-any-return]

    @property
    def compile_seconds(self) -> float:
        """Seconds spent on generating, compiling and loading C; optimization is not counted."""
        return self._run.compile_seconds  # type: ignore[no-any-return]

    @property
    def from_cache(self) -> bool:
        """Whether the compiled library was found in the cache."""
        return self._run.from_cache  # type: ignore[no-any-return]

    def explain(self) -> str:
        """The way from the user's graph to C, as text: both graphs, the rules that fired, where the C lies."""
        fired = "\n".join(f"  {r.fired:6d} x {r.name}" for r in self.optimizer_profile.rules() if r.fired) or "  none"
        how = "found in the cache" if self.from_cache else "compiled"
        where = f"{self.c_path} ({how})" if self.c_path else "run by NumPy"
        return "\n".join(
            [f"{self.name}: as built, {len(self.unoptimized_graph)} nodes", str(self.unoptimized_graph), "",
             f"rules that fired, mode {self.mode.name or self.mode.optimizer}", fired, "",
             f"optimized, {len(self.graph)} nodes", str(self.graph), "", f"C: {where}"]
        )  # fmt: skip

    def __repr__(self) -> str:
        inputs = ", ".join(f"{i.name or '_'}: {i.type}" for i in self.inputs)
        return f"<function {self.name}({inputs}), {len(self.graph)} nodes, backend {self.backend}>"

    def __reduce__(self) -> Any:
        return self._restore, (self._signature, self.graph, self.mode, self.name, self.profile is not None)


class CheckedFunction(Function):
    """A function whose every call is compared with the NumPy meaning of the graph as the user built it (mode DEBUG)."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        values = self._bound(args, kwargs) if kwargs else list(args)
        before = [np.array(s.container.value) for s in self._signature.shared]
        result = super().__call__(*values)
        arrays = [np.asarray(v, dtype=i.dtype) for v, i in zip(values, self.inputs, strict=True)]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            expected = interpret(self.unoptimized_graph, [*arrays, *before])
        got = self._as_list(result)
        for position, _ in self.unoptimized_graph.updates:
            got.append(self._signature.shared[position - self._signature.n_inputs].container.value)
        for n, (mine, reference) in enumerate(zip(got, expected, strict=False)):
            _compare(self.name, n, np.asarray(mine), reference)
        return result

    def _as_list(self, result: Any) -> list[Any]:
        """The values in the result of a call, whatever its form."""
        if self._form == "one":
            return [result]
        if self._form == "none":
            return []
        return list(result.values() if self._form == "dict" else result)


def _compare(name: str, output: int, got: np.ndarray, expected: np.ndarray) -> None:
    tolerance = 0.0 if expected.dtype.kind in "biu" else 2048 * float(np.finfo(expected.dtype).eps)
    same = got.shape == expected.shape and np.allclose(got, expected, rtol=tolerance, atol=tolerance, equal_nan=True)
    if got.dtype != expected.dtype or not same:
        comparable = got.shape == expected.shape and got.size
        raise AssertionError(
            f"{name}: output {output} differs from the NumPy meaning of the graph as it was built: "
            f"got {got.dtype}{list(got.shape)}, expected {expected.dtype}{list(expected.shape)}"
            + (f", largest difference {np.nanmax(np.abs(got - expected)):.3g}" if comparable else "")
        )
