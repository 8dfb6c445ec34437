"""Phrases: ops that stand for a composition in what readers see.  Rules of the query `print` make them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ...graph import Apply, Dim, Kind, Lacks, TensorType, Variable
from ...record import record
from ..core.checks import require_count
from ..core.tensor import Lowered
from ..writing import latex

if TYPE_CHECKING:
    from ..writing import code


@record(repr=False)
class Mean(Lowered):
    """The mean along the axes `axis`."""

    axis: tuple[int, ...]
    name = "mean"
    picture: ClassVar[Kind] = Kind.REDUCTION
    lacks: ClassVar[Lacks] = Lacks(
        planner="no function is compiled from it", work="no function is compiled from it",
        operations="no engine is chosen for it",
    )  # fmt: skip

    def infer(self, inputs: tuple[Variable, ...]) -> tuple[TensorType, ...]:
        require_count(self.name, inputs, 1)
        (x,) = inputs
        if any(not 0 <= axis < x.ndim for axis in self.axis):
            raise np.exceptions.AxisError(f"mean: {x.type} has no axes {self.axis}")
        return (x.type.with_shape(tuple(n for k, n in enumerate(x.type.shape) if k not in self.axis)),)

    def evaluate(self, *values: np.ndarray) -> tuple[np.ndarray, ...]:
        (x,) = values
        count = math.prod(x.shape[axis] for axis in self.axis)
        with np.errstate(all="ignore"):
            return (np.asarray(x.sum(axis=self.axis) / x.dtype.type(count), dtype=x.dtype),)

    def dims(self, node: Apply, inputs: Sequence[tuple[Dim, ...]]) -> tuple[tuple[Dim, ...], ...]:
        return (tuple(n for k, n in enumerate(inputs[0]) if k not in self.axis),)

    def formula(self, output: Variable, operands: Sequence[latex.Written], /) -> latex.Written:
        return latex.called(self, output, operands)

    def code(self, output: Variable, speaker: code.Speaker, /) -> code.Code:
        """`mean(x, axis=0)`, and `mean(x)` for all axes."""
        assert output.owner is not None
        (x,) = output.owner.inputs
        whole = len(self.axis) == x.ndim
        axes = {} if whole else {"axis": self.axis[0] if len(self.axis) == 1 else self.axis}
        return speaker.call("mean", speaker.text(x), **axes)
