"""Non-maximum suppression: the best boxes of each class, without those that a better one overlaps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from ...graph import Kind, Lacks, TensorType, Variable
from ...record import record
from ..core.checks import describe
from ..core.tensor import TensorOp
from ..elementwise import costs

FLOATS = ("float32", "float64")


@record
class NonMaxSuppression(TensorOp):
    """Indices (batch, class, box) of boxes that no better box of their class overlaps; int64[n, 3].

    Inputs: boxes [batches, boxes, 4], scores [batches, classes, boxes], both float32 or both float64; an int64 scalar,
    the most boxes a class; and float64 scalars: the overlap (intersection over union) above which the worse box goes,
    and the score that a box must exceed.  `centred`: boxes are given as (x, y, width, height) about their centres.
    """

    centred: bool
    name = "non_max_suppression"
    picture: ClassVar[Kind] = Kind.OTHER
    operations: ClassVar[Callable[..., Any]] = costs.sorting
    lacks: ClassVar[Lacks] = Lacks(
        lengths="the values decide them",
        derivative="its results are positions",
        batching="its lengths would differ from one example to the next",
    )

    fallible = True
    error: ClassVar[type[Exception]] = ValueError

    def infer(self, inputs: tuple[Variable, ...]) -> tuple[TensorType, ...]:
        boxes, scores, *numbers = inputs
        if boxes.ndim != 3 or scores.ndim != 3 or boxes.dtype != scores.dtype or boxes.dtype not in FLOATS:
            raise TypeError(
                f"{self.name} takes boxes and scores of rank 3, float32 or float64, got {describe(boxes)} and "
                f"{describe(scores)}"
            )
        if [(n.dtype, n.ndim) for n in numbers] != [("int64", 0), ("float64", 0), ("float64", 0)]:
            raise TypeError(f"{self.name} takes an int64 and two float64 scalars, got {', '.join(map(describe, numbers))}")
        return (TensorType("int64", (None, 3)),)

    def evaluate(self, *values: np.ndarray) -> tuple[np.ndarray, ...]:
        boxes, scores, most, overlap, least = values
        for axis, want in enumerate((scores.shape[0], scores.shape[2], 4)):
            if boxes.shape[axis] != want:
                raise ValueError(self.broken(axis, boxes.shape[axis], want))
        low, high = self._corners(boxes)
        found = [
            (batch, kind, box)
            for batch, rows in enumerate(scores)
            for kind, row in enumerate(rows)
            for box in _kept(low[batch], high[batch], row, int(most), float(overlap), float(least))
        ]
        return (np.array(found, np.int64).reshape(-1, 3),)

    def broken(self, axis: int, have: int, want: int) -> str:
        """The message for boxes that do not fit the scores."""
        return f"{self.name}: boxes have length {have} along axis {axis}, expected {want}"

    def _corners(self, boxes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        first, second = boxes[..., :2], boxes[..., 2:]
        if self.centred:
            return first - second / 2, first + second / 2
        return np.minimum(first, second), np.maximum(first, second)


def _kept(low: np.ndarray, high: np.ndarray, scores: np.ndarray, most: int, overlap: float, least: float) -> list[int]:
    """The boxes of one class that are kept, the best first."""
    areas = (high - low).prod(axis=-1)
    kept: list[int] = []
    for box in np.argsort(-scores, kind="stable"):
        if len(kept) >= most:
            break
        if not scores[box] > least and np.isfinite(least):
            continue
        sides = np.maximum(np.minimum(high[kept], high[box]) - np.maximum(low[kept], low[box]), 0)
        common = sides.prod(axis=-1)
        if not np.any(common / np.maximum(areas[kept] + areas[box] - common, 1e-30) > overlap):
            kept.append(int(box))
    return kept
