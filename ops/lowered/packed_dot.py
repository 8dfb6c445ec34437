"""A product with constant weights in panels: `packed_dot{rows, columns, lanes}(x, panels)`.

    dot22(x, w)   -->   packed_dot{k, n, lanes}(x, panels of w)

The op comes from the rule of optdb/rules/linalg/panels.py.  A matrix product reads w in panels two vectors wide, and
else copies it into panels in every call.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np

from ...graph import Apply, Dim, Kind, TensorType, Variable
from ...record import record
from ..core.checks import describe, require_count
from ..core.tensor import Lowered
from ..elementwise import costs
from ..networks.weights import unpack_panels


@record(repr=False)
class PackedDot(Lowered):
    """`packed_dot(x, panels)`: x @ w for w of `rows` by `columns`, whose panels are vectors of `lanes` numbers wide."""

    rows: int
    columns: int
    lanes: int
    name = "packed_dot"
    picture: ClassVar[Kind] = Kind.PRODUCT
    operations: ClassVar[Callable[..., Any]] = costs.product

    @property
    def size(self) -> int:
        """Number of elements of all panels, with zeros after the last column."""
        return self.rows * -(-self.columns // self.lanes) * self.lanes

    def infer(self, inputs: tuple[Variable, ...]) -> tuple[TensorType, ...]:
        require_count(self.name, inputs, 2)
        x, panels = inputs
        if x.ndim != 2 or panels.ndim != 1 or x.type.dtype != panels.type.dtype:
            found = f"{describe(x)} and {describe(panels)}"
            raise TypeError(f"{self.name} takes a matrix and a vector of one dtype, got {found}")
        if x.type.shape[1] not in (None, self.rows) or panels.type.shape[0] not in (None, self.size):
            found = f"{describe(x)} and {describe(panels)}"
            raise ValueError(f"{self.name}: {found} do not fit weights of {self.rows} rows, {self.columns} columns")
        return (TensorType(x.type.dtype, (x.type.shape[0], self.columns)),)

    def evaluate(self, *values: np.ndarray) -> tuple[np.ndarray, ...]:
        with np.errstate(all="ignore"):
            return (np.matmul(values[0], unpack_panels(values[1], self.rows, self.columns, self.lanes)),)

    def dims(self, node: Apply, inputs: Sequence[tuple[Dim, ...]]) -> tuple[tuple[Dim, ...], ...]:
        return ((inputs[0][0], self.columns),)
