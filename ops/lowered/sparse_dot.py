"""A product with a constant matrix of many zeros: `sparse_dot{rows, columns, lanes}(x, w, starts, places)`.

    dot(x, w)   -->   sparse_dot{k, n, lanes}(x, the vectors of w that are not all zero, starts, places)

A vector is one row of `lanes` columns, and such columns of all rows are a panel.  The vectors of panel p have the
numbers starts[p] to starts[p + 1]; places has the row of each.  The order is that of kernels/products/sparse.c.  An
infinity or NaN of x is multiplied by the zeros that are not stored as well, so the result is NaN where that of the
dense product is.

The op comes from the rule of optdb/rules/linalg/sparse.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from ...graph import Apply, Constant, Dim, Kind, TensorType, Variable
from ...record import record
from ..core.backward import pull_back_to
from ..core.checks import describe, require_count
from ..core.namespace import T
from ..core.tensor import Lowered, constant
from ..elementwise import costs

DTYPES = ("float32", "float64")


@record(repr=False)
class SparseDot(Lowered):
    """`sparse_dot(x, w, starts, places)`: x @ a matrix of `rows` by `columns`, of which some vectors are stored."""

    rows: int
    columns: int
    lanes: int
    name = "sparse_dot"
    picture: ClassVar[Kind] = Kind.PRODUCT

    @property
    def panels(self) -> int:
        return -(-self.columns // self.lanes)

    def infer(self, inputs: tuple[Variable, ...]) -> tuple[TensorType, ...]:
        require_count(self.name, inputs, 4)
        x, w, starts, places = inputs
        found = ", ".join(map(describe, inputs))
        dtypes = [v.dtype for v in inputs]
        if x.dtype not in DTYPES or dtypes[1:] != [x.dtype, "int32", "int32"] or any(v.ndim != 1 for v in inputs[1:]):
            raise TypeError(f"{self.name} takes rows, vectors of their dtype and two of int32, got {found}")
        stored = places.type.shape[0]
        lengths = x.type.shape[-1:], w.type.shape, starts.type.shape
        wanted = self.rows, None if stored is None else stored * self.lanes, self.panels + 1
        pairs = zip(lengths, wanted, strict=True)
        if x.ndim < 1 or any(n is not None and m is not None and n != m for (n,), m in pairs):
            raise ValueError(f"{self.name}: {found} do not fit a matrix of {self.rows} rows, {self.columns} columns")
        self._require_fitting(starts, places)
        return (TensorType(x.dtype, (*x.type.shape[:-1], self.columns)),)

    def _require_fitting(self, starts: Variable, places: Variable) -> None:
        """Raise ValueError unless the indices are in range: C reads at these positions."""
        if not isinstance(starts, Constant) or not isinstance(places, Constant):
            return
        ends, rows = starts.data, places.data
        if ends[0] != 0 or ends[-1] != len(rows) or (ends[1:] < ends[:-1]).any():
            raise ValueError(f"{self.name}: starts must rise from 0 to {len(rows)}")
        if rows.size and not 0 <= rows.min() <= rows.max() < self.rows:
            raise ValueError(f"{self.name}: places must lie in [0, {self.rows})")

    def evaluate(self, *values: np.ndarray) -> tuple[np.ndarray, ...]:
        x, w, starts, places = values
        with np.errstate(all="ignore"):
            return (np.matmul(x, self.dense(w, starts, places)),)

    def dims(self, node: Apply, inputs: Sequence[tuple[Dim, ...]]) -> tuple[tuple[Dim, ...], ...]:
        return ((*inputs[0][:-1], self.columns),)

    def vjp(self, node: Apply, cotangents: Sequence[Variable | None]) -> Sequence[Variable | None]:
        return pull_back_to(node.inputs, [self.expand(node.inputs)], cotangents)

    def expand(self, inputs: Sequence[Variable]) -> Variable:
        """Return the same by a dense product; starts and places are constants."""
        x, w, starts, places = inputs
        if not isinstance(starts, Constant) or not isinstance(places, Constant):
            raise TypeError(f"{self.name} has a derivative only for constant starts and places")
        matrix = T.zeros((self.rows * self.panels, self.lanes), x.dtype)
        at = constant(places.data.astype("int64") * self.panels + self._panel_of(starts.data))
        matrix = T.set_subtensor(matrix[at], T.reshape(w, (-1, self.lanes)))
        return T.dot(x, T.reshape(matrix, (self.rows, self.panels * self.lanes))[:, : self.columns])

    # --- the order of kernels/products/sparse.c
    def packed(self, w: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the nonzero vectors of a matrix, starts and places; zeros after the last column."""
        filled = np.zeros((self.rows, self.panels * self.lanes), w.dtype)
        filled[:, : self.columns] = w
        vectors = filled.reshape(self.rows, self.panels, self.lanes).swapaxes(0, 1)
        stored = (vectors != 0).any(2)
        starts = np.concatenate([[0], stored.sum(1).cumsum()])
        return vectors[stored].reshape(-1), starts.astype("int32"), np.nonzero(stored)[1].astype("int32")

    def dense(self, w: np.ndarray, starts: np.ndarray, places: np.ndarray) -> np.ndarray:
        """Return the dense matrix of `packed`."""
        found = np.zeros((self.rows, self.panels, self.lanes), w.dtype)
        found[places, self._panel_of(starts)] = w.reshape(-1, self.lanes)
        return found.reshape(self.rows, self.panels * self.lanes)[:, : self.columns]

    def _panel_of(self, starts: np.ndarray) -> np.ndarray:
        return np.repeat(np.arange(self.panels), np.diff(starts))

    def operations(self, node: Apply) -> costs.Operations:
        return costs.stored_product(node.inputs[1], node)
