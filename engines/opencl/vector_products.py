"""Matrix-vector products on a device that runs chunks of loops: one fused kernel of products and their sum.

The kernel of matrix products packs one operand in panels; a vector would fill only one column of a panel.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

from ...graph import Apply, FunctionGraph, TensorType
from ...ops.blas import Dot, MatMul
from ...ops.fused import Fused
from ...ops.reduce import REDUCTIONS, Reduce
from ...ops.shape import DimShuffle
from ...ops.tensor import TensorVariable
from .base import Device
from .call import Call, Places
from .launches import PartsKernel

_DTYPES = ("float32", "float64")
"""Dtypes in which a sum is computed."""
_TRANSPOSED = operator.attrgetter("T")


def is_with_vector(node: Apply) -> bool:
    """Whether a node multiplies a vector and a matrix, or two vectors, of float32 or float64."""
    ranks = sorted(i.ndim for i in node.inputs)
    return isinstance(node.op, (Dot, MatMul)) and ranks in ([1, 1], [1, 2]) and node.outputs[0].dtype in _DTYPES


class VectorProductKernel:
    """The product of a matrix and a vector, in either order, or of two vectors.

    The sum runs along the axis of the matrix with the smaller stride, or adds up whole rows.
    """

    numbers: Sequence[int] = ()

    def __init__(self, node: Apply, device: Device) -> None:
        self._node, self._device = node, device
        self._matrix = 0 if node.inputs[0].ndim == 2 else 1
        """Index of the matrix operand, if there is one."""
        self._has_matrix = node.inputs[self._matrix].ndim == 2
        first = self._along_rows = self._made(True)
        self._down_columns: PartsKernel | None = None
        self.text, self.name = first.text, first.name

    def _made(self, along_rows: bool) -> PartsKernel:
        """Return the kernel: sum(matrix * vector, axis=1), or sum(matrix * vector[:, None], axis=0)."""
        operands = [self._node.inputs[k] for k in (self._matrix, 1 - self._matrix)]
        matrix, vector = (TensorVariable(TensorType(i.dtype, (None,) * i.ndim)) for i in operands)
        return PartsKernel(Apply(_sum_of_products(matrix, vector, along_rows), [matrix, vector]), self._device)

    def run(self, arrays: Sequence[Any], call: Call, into: Places = None) -> list[Any] | None:
        matrix, vector = arrays[self._matrix], arrays[1 - self._matrix]
        summed = 1 - self._matrix if self._has_matrix else 0
        if matrix.shape[summed] != vector.shape[0]:
            return None
        if not self._has_matrix:
            return self._along_rows.run([matrix, vector], call, into)
        strides = call.memory.strides(matrix)
        along_rows = abs(strides[summed]) <= abs(strides[1 - summed])
        if (summed == 1) != along_rows:
            matrix = call.memory.view(matrix, _TRANSPOSED)
        if along_rows:
            return self._along_rows.run([matrix, vector], call, into)
        if self._down_columns is None:
            self._down_columns = self._made(False)
        return self._down_columns.run([matrix, vector], call, into)

    def work(self, arrays: Sequence[Any]) -> int:
        """Return an estimate in picoseconds."""
        return self._along_rows.work([arrays[self._matrix], arrays[1 - self._matrix]])


def _sum_of_products(matrix: TensorVariable, vector: TensorVariable, along_rows: bool) -> Fused:
    column = vector if along_rows else DimShuffle((0, "x"))(vector)
    axis = matrix.ndim - 1 if along_rows else 0
    total = Reduce(REDUCTIONS["sum"], (axis,))(matrix * column)
    return Fused(FunctionGraph([matrix, vector], [total]))
