"""`ag.tune(f, inputs)`: faster schedules for this processor, found by measurement and kept in the cache."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .. import later
from ..export.sources import function_of
from ..function.compiled import Function
from ..ops.core.checks import shown

if TYPE_CHECKING:
    from .dividing import Division
    from .measuring import Tuning


def tune(function: Function, inputs: Sequence[Any], seconds: float = 5.0, keep: bool = True) -> Tuning | Division:
    """Measure which schedules of the function's kernels are fastest on these inputs.

    Args:
        function: it stays what it is, and so do its shared variables: calls work on copies of their values.
        inputs: arguments of a call, such as will be typical.
        seconds: about how long to try.
        keep: whether later compilations of the same kernels, in this process or another, are to use what was found:
            it lies in the cache, for this processor and compiler (`python -m arignote cache untune` forgets it).

    A function that is divided among engines (`ag.function(engines=)`) is divided again, by times of its parts that
    are measured on each engine; the cache keeps these times for other functions with such nodes.

    The result has `.function`, compiled with the winners, and tells what was tried.  Results of the function are what
    they were, to the bit, but for sums of floats that are added up in another order, with no larger error.

    Raises:
        TypeError, ValueError: NumPy runs the function, or the inputs do not fit.
    """
    function = function_of(function)
    if not isinstance(function, Function):
        raise TypeError(f"tune: expected a function that ag.function made, got {shown(function)}")
    if function.mode.divides:
        return later.dividing.divided(function, inputs, seconds, keep)
    return later.measuring.tuned(function, inputs, seconds, keep)
