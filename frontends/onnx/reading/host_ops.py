"""Ops of ONNX that no expression of ours has: host steps, which NumPy computes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np

from ....graph import Apply, Dim, Kind, Lacks, TensorType, Variable
from ....graph.types import numpy_dtype
from ....ops.control.batching import on_last_axes
from ....ops.core.tensor import HostOp
from ....ops.elementwise import costs
from ....record import record


@record
class Bits(HostOp):
    """The bits of a value under another dtype of the same size."""

    dtype: str
    name = "bits"
    picture: ClassVar[Kind] = Kind.SHAPE
    operations: ClassVar[Callable[..., Any]] = costs.moving
    batching: ClassVar[Callable[..., Any]] = on_last_axes
    lacks: ClassVar[Lacks] = Lacks(derivative="bits are discrete")

    def infer(self, inputs: tuple[Variable, ...]) -> tuple[TensorType, ...]:
        (x,) = inputs
        if numpy_dtype(x.dtype).itemsize != numpy_dtype(self.dtype).itemsize:
            raise TypeError(f"bits: {x.dtype} and {self.dtype} are of different sizes")
        return (TensorType(self.dtype, x.type.shape),)

    def evaluate(self, *values: np.ndarray) -> tuple[np.ndarray, ...]:
        return (np.ascontiguousarray(values[0]).reshape(values[0].shape).view(numpy_dtype(self.dtype)),)

    def dims(self, node: Apply, inputs: Sequence[tuple[Dim, ...]]) -> tuple[tuple[Dim, ...], ...]:
        return (inputs[0],)


@record
class MelWeights(HostOp):
    """Weights of frequencies in bands of the mel scale, a column a band; `dtype`[size // 2 + 1, bands].

    Inputs: scalars, the number of bands, the size of the transform, the sampling rate, the least and the largest
    frequency.  Source: the ONNX specification, op `MelWeightMatrix`.
    """

    dtype: str
    name = "mel_weights"
    picture: ClassVar[Kind] = Kind.OTHER
    operations: ClassVar[Callable[..., Any]] = costs.moving
    lacks: ClassVar[Lacks] = Lacks(
        lengths="the values decide them",
        derivative="its results are constants of its settings",
        batching="its lengths would differ from one example to the next",
    )

    def infer(self, inputs: tuple[Variable, ...]) -> tuple[TensorType, ...]:
        return (TensorType(self.dtype, (None, None)),)

    def evaluate(self, *values: np.ndarray) -> tuple[np.ndarray, ...]:
        bands, size, rate, low, high = (value.item() for value in values)
        spectrum = np.arange(bands + 2, dtype=np.float64)
        low_mel, high_mel = 2595 * np.log10(1 + low / 700), 2595 * np.log10(1 + high / 700)
        hertz = 700 * (10 ** ((spectrum * (high_mel - low_mel) / (bands + 2) + low_mel) / 2595) - 1)
        bins = ((size + 1) * hertz // rate).astype(int)
        matrix = np.zeros((size // 2 + 1, bands))
        for k in range(bands):
            lower, centre, higher = bins[k : k + 3]
            if centre == lower:
                matrix[centre, k] = 1
            for j in range(lower, centre + 1):
                matrix[j, k] = (j - lower) / (centre - lower) if centre != lower else matrix[j, k]
            for j in range(centre, higher):
                matrix[j, k] = (higher - j) / (higher - centre)
        return (matrix.astype(self.dtype),)
