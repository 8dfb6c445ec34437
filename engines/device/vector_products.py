"""Matrix-vector products on devices: one fused kernel of products and their sum.

The kernels of matrix products work in panels or tiles; a vector would fill only one column of them.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

from ...graph import Apply, FunctionGraph, TensorType
from ...ops.core.tensor import TensorVariable
from ...ops.linalg.blas import Dot, MatMul
from ...ops.lowered.fused import Fused
from ...ops.reductions.reduce import REDUCTIONS, Reduce
from ...ops.shapes.shape import DimShuffle
from .base import Device
from .call import Call, Places

_DTYPES = ("float32", "float64")
"""Dtypes in which a sum is computed."""
_TRANSPOSED = operator.attrgetter("T")


def is_with_vector(node: Apply) -> bool:
    """Whether a node multiplies a vector and a matrix, or two vectors, of float32 or float64."""
    ranks = sorted(i.ndim for i in node.inputs)
    return isinstance(node.op, (Dot, MatMul)) and ranks in ([1, 1], [1, 2]) and node.outputs[0].dtype in _DTYPES


class VectorProductKernel:
    """The product of a matrix and a vector, in either order, or of two vectors.

    On a device that runs chunks of loops, the sum runs along the axis of the matrix with the smaller stride, or adds up
    whole rows.  `kernel_of` returns the kernel of a fused node.
    """

    numbers: Sequence[int] = ()

    def __init__(self, node: Apply, device: Device, kernel_of: Callable[[Apply, Device], Any]) -> None:
        self._node, self._device, self._kernel_of = node, device, kernel_of
        self._matrix = 0 if node.inputs[0].ndim == 2 else 1
        """Index of the matrix operand, if there is one."""
        self._has_matrix = node.inputs[self._matrix].ndim == 2
        self._kernels: dict[bool, Any] = {}
        first = self._kernel(device.in_parts or not self._has_matrix or self._matrix == 0)
        self.text: Any = first.text
        self.name: Any = first.name

    def _kernel(self, along_rows: bool) -> Any:
        """Return the kernel: sum(matrix * vector, axis=1), or sum(matrix * vector[:, None], axis=0)."""
        if along_rows in self._kernels:
            return self._kernels[along_rows]
        operands = [self._node.inputs[k] for k in (self._matrix, 1 - self._matrix)]
        matrix, vector = (TensorVariable(TensorType(i.dtype, (None,) * i.ndim)) for i in operands)
        node = Apply(_sum_of_products(matrix, vector, along_rows), [matrix, vector])
        made = self._kernels[along_rows] = self._kernel_of(node, self._device)
        return made

    def run(self, arrays: Sequence[Any], call: Call, into: Places = None) -> list[Any] | None:
        matrix, vector = arrays[self._matrix], arrays[1 - self._matrix]
        summed = 1 - self._matrix if self._has_matrix else 0
        if matrix.shape[summed] != vector.shape[0]:
            return None
        along_rows = summed == 1 or not self._has_matrix
        if self._device.in_parts and self._has_matrix:
            strides = call.memory.strides(matrix)
            along_rows = abs(strides[summed]) <= abs(strides[1 - summed])
            if (summed == 1) != along_rows:
                matrix = call.memory.view(matrix, _TRANSPOSED)
        found: list[Any] | None = self._kernel(along_rows).run([matrix, vector], call, into)
        return found

    def work(self, arrays: Sequence[Any]) -> int:
        """Return an estimate in picoseconds."""
        found: int = next(iter(self._kernels.values())).work([arrays[self._matrix], arrays[1 - self._matrix]])
        return found


def _sum_of_products(matrix: TensorVariable, vector: TensorVariable, along_rows: bool) -> Fused:
    column = vector if along_rows else DimShuffle((0, "x"))(vector)
    axis = matrix.ndim - 1 if along_rows else 0
    total = Reduce(REDUCTIONS["sum"], (axis,))(matrix * column)
    return Fused(FunctionGraph([matrix, vector], [total]))
