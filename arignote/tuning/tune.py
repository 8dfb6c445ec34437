"""`ag.tune(f, inputs)`: faster schedules for this processor, found by measurement and kept in the cache."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import later
from ..export.sources import function_of
from ..function.compiled import Function
from ..ops.core.checks import shown

if TYPE_CHECKING:
    from ..tracing.jitted import Jitted
    from .dividing import Division
    from .measuring import Tuning
    from .records import Records

UNKNOWN_LENGTH = 64
"""Length of an axis of made inputs, if the type of the input does not tell it."""


class Tune:
    """Measure which schedules of a function's kernels are fastest, on inputs of a call.

    `ag.tune(function, inputs, budget="2min")` measures; `ag.tune.save`, `ag.tune.load` and `ag.tune.merge` write, read
    and join files of measurements.
    """

    __name__: str = "tune"

    def __call__(
        self, function: Any, inputs: Sequence[Any] | None = None, seconds: float = 5.0, keep: bool = True,
        budget: float | str | None = None,
    ) -> Tuning | Division:  # fmt: skip
        """Measure which schedules of the function's kernels are fastest on these inputs.

        Args:
            function: a function or a model; it stays what it is, and so do its shared variables: calls work on copies
                of their values.  Of a function of `ag.jit` the trace of these inputs is tuned, and used from then on.
            inputs: arguments of a call, such as will be typical; None: random numbers of the declared lengths, and
                64 where a length is unknown.  A function of `ag.jit` needs them.
            seconds: about how long to try.
            keep: whether later compilations of the same kernels, in this process or another, are to use what was
                found: it lies in the cache, for this processor and compiler (`python -m arignote cache untune` forgets
                it).
            budget: the same as `seconds`, as a number or as text such as "30s" or "2min"; with 0 nothing is measured.

        A function that is divided among engines (`ag.function(engines=)`) is divided again, by times of its parts that
        are measured on each engine; the cache keeps these times for other functions with such nodes.

        Ctrl-C ends the search; the best so far counts.  A terminal or notebook shows a table while it runs.

        The result has `.function`, compiled with the winners, and tells what was tried; `.notes` names what was
        skipped.  Results of the function are what they were, to the bit, but for sums of floats that are added up in
        another order, with no larger error.

        Raises:
            TypeError, ValueError: NumPy runs the function, the inputs do not fit, or the budget is no time.
        """
        seconds = later.budget.as_seconds("tune", seconds if budget is None else budget)
        if isinstance(function, later.jitted.Jitted):
            return self._jitted(function, inputs, seconds, keep)
        function = function_of(function)
        if not isinstance(function, Function):
            raise TypeError(f"tune: expected a function of ag.function or ag.jit, or a model, got {shown(function)}")
        given = list(made_inputs(function)) if inputs is None else inputs
        if function.mode.divides:
            return later.dividing.divided(function, given, seconds, keep)
        return later.measuring.tuned(function, given, seconds, keep)

    def _jitted(self, jitted: Jitted, inputs: Sequence[Any] | None, seconds: float, keep: bool) -> Tuning | Division:
        """Tune the trace that serves a call with these inputs."""
        if inputs is None:
            raise TypeError(f"tune: inputs is None; expected the arguments of a call of {jitted!r}")
        trace, arrays = jitted.trace_of(inputs)
        result: Tuning | Division = self(trace.function, [np.array(a) for a in arrays], seconds, keep)
        if result.function is not trace.function:
            jitted.exchange(trace, result.function)
        return result

    def save(self, path: str | os.PathLike[str]) -> Records:
        """Write all measurements in the cache to a file; return their counts.

        Raises ValueError without a C compiler, OSError if the file cannot be written.
        """
        return later.records.save(path)

    def load(self, *paths: str | os.PathLike[str]) -> Records:
        """Take measurements from files into the cache; return the counts, with what was skipped and why.

        Winners of this processor and compiler are used by later compilations.  Those of others of the same target are
        measured first by later tunings, and never used unmeasured.  All others are skipped.

        Raises ValueError for a file that `save` did not write, OSError if it cannot be read.
        """
        return later.records.load(*paths)

    def merge(self, into: str | os.PathLike[str], *paths: str | os.PathLike[str]) -> Records:
        """Write the measurements of several files into one, for any targets; return the counts.

        Raises ValueError for a file that `save` did not write, OSError if one cannot be read or written.
        """
        return later.records.merge(into, *paths)

    def __repr__(self) -> str:
        return "<arignote.tune>"


tune = Tune()


def made_inputs(function: Function) -> Iterator[np.ndarray]:
    """Yield random arguments of the declared lengths: floats between 0.1 and 0.9, and zeros, which index anything."""
    rng = np.random.default_rng(0)
    for variable in function.inputs:
        shape = tuple(UNKNOWN_LENGTH if n is None else n for n in variable.type.shape)
        dtype = variable.type.numpy
        yield rng.uniform(0.1, 0.9, shape).astype(dtype) if dtype.kind in "fc" else np.zeros(shape, dtype)
