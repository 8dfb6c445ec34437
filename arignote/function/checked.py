"""Functions that check each call: against NumPy's meaning of the graph (DEBUG), or for NaN and infinity (NAN)."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import later
from ..cbackend.calls.binding import Binding, bind_plain
from ..ops.core.checks import is_dask
from ..ops.core.interpret import interpret, unwatched
from .compiled import Function

if TYPE_CHECKING:
    from ..explain.bisect import Verdict
    from .bind import Bound


class CheckedFunction(Function):
    """A function whose every call is compared with the NumPy meaning of the user's graph (mode DEBUG)."""

    def bind(self, *args: Any, out: Any = None, **kwargs: Any) -> Bound:
        """Call the function, and compare its results with NumPy's."""
        values = self._plain.values(args, kwargs)
        return later.bind.bound(self.name, self.compilation.signature, _Compared(self), values, out)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        values = list(self._plain.values(args, kwargs))
        if any(map(is_dask, values)):
            return super().__call__(*args, **kwargs)  # the functions of its blocks are compared
        before = [np.array(s.container.value) for s in self.shared]
        result = super().__call__(*args, **kwargs)
        arrays = [np.asarray(v, dtype=i.dtype) for v, i in zip(values, self.inputs, strict=True)]
        with warnings.catch_warnings(), unwatched():
            warnings.simplefilter("ignore")
            expected = interpret(self.unoptimized_graph, [*arrays, *before])
        got, containers = self._as_list(result), self.compilation.signature.containers
        got += [containers[position].value for position, _ in self.unoptimized_graph.updates]
        for n, (mine, reference) in enumerate(zip(got, expected, strict=False)):
            difference = later.bisect.beyond_rounding(np.asarray(mine), reference)
            if difference:
                what = "differs from the NumPy meaning of the graph as it was built"
                verdict = later.bisect.first_fault(self, [*arrays, *before])
                blame = verdict.blame()
                more = "ag.bisect(f, inputs) gives this verdict as an object; f.trace shows every rewrite"
                small = self._reproducer(verdict, difference, [*arrays, *before])
                raise AssertionError(f"{self.name}: output {n} {what}: {difference}\n{blame}\n{more}{small}")
        return result

    def _reproducer(self, verdict: Verdict, difference: str, arrays: Sequence[np.ndarray]) -> str:
        """The fault on the smallest graph that was found, on lines of its own; empty if none was."""
        if verdict.fault == "none":  # every rewrite is right: the code differs
            verdict = replace(verdict, fault="backend", difference=difference)
        found = later.bisect.with_reproducer(self, arrays, verdict).reproducer
        return "" if found is None else f"\n{found}"

    def _as_list(self, result: Any) -> list[Any]:
        """Return the values in the result of a call, whatever its form."""
        return self.compilation.signature.unformed(result)


class GuardedFunction(CheckedFunction):
    """A function that raises FloatingPointError at the first node that makes a NaN or an infinity (mode NAN)."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        values = self._plain.values(args, kwargs)
        if not any(map(is_dask, values)):
            first = later.debug.debugged(self.name, self.unoptimized_graph, self.arrays(values)).first
            if first is not None:
                raise FloatingPointError(f"{self.name}: {first}")
        return Function.__call__(self, *args, **kwargs)


class _Compared:
    """The calls of a compared function, in the form that binding expects."""

    def __init__(self, function: CheckedFunction) -> None:
        self._function = function

    def bind(self, arguments: Sequence[Any], out: Sequence[np.ndarray] | None) -> Binding:
        function, graph = self._function, self._function.unoptimized_graph
        containers = function.compilation.signature.containers

        def call(*arrays: np.ndarray) -> list[np.ndarray]:
            return function._as_list(function(*function.compilation.signature.as_arguments(arrays)))

        return bind_plain(function.name, graph, containers, call, arguments, out)

    def native_bound(self, *_: Any) -> None:
        """None: compared calls go through Python."""
