"""A matrix of many zeros along outputs: `sparse_dot{rows, columns, lanes}(x, w, starts, places)`.

A vector is one row of `lanes` columns, and such columns of all rows are a panel.  Vectors that are all zero are not
stored.  Those of panel p have the numbers starts[p] to starts[p + 1]; places has the row of each.  The order is that of
cbackend/kernels/packed/real/sparse_vectors.c.  An infinity or NaN of x is multiplied by the zeros that are not stored
as well, so the result is NaN where that of the dense product is.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ....graph import TensorType, Variable
from ....record import record
from ....targets.costs import ITEMS
from ....targets.current import current
from . import REAL, Format, Packed, Stored, has_more_nonzeros, require_indices, require_vectors


@record
class SparseVectors(Format):
    """A matrix of `rows` by `columns`, of which some vectors of `lanes` columns are stored."""

    rows: int
    columns: int
    lanes: int
    name = "sparse_dot"
    kernel = "sparse_vectors"
    dtypes = REAL
    multiplies_stored = True
    relaxes = ("rounding", "signed zero")
    rule = "local_sparse_dot"
    formula = "dot(x, w) -> sparse_dot(x, vectors of w, starts, places)  for constant w of many zeros"
    order = 1

    @property
    def panels(self) -> int:
        return -(-self.columns // self.lanes)

    @classmethod
    def of(cls, x: TensorType, w: np.ndarray) -> Packed | None:
        """Take a matrix with few nonzero vectors."""
        limits, lanes = current().limits.products, current().vector // ITEMS[x.dtype]
        if lanes < 2 or w.size < limits.sparse_numbers or w.shape[1] < lanes:
            return None
        if has_more_nonzeros(w, limits.sparse_share * w.size):
            return None
        rows, columns = w.shape
        own = cls(rows, columns, lanes)
        vectors, starts, places = own.packed(w)
        fits = len(places) <= limits.sparse_share * own.rows * own.panels
        return (own, (vectors, starts, places)) if fits else None

    def storage(self) -> tuple[Stored, ...]:
        return Stored("w"), Stored("starts", "int32", self.panels + 1), Stored("places", "int32")

    def require_fitting(self, stored: Sequence[Variable]) -> None:
        w, starts, places = stored
        require_vectors(self.name, w, places, self.lanes)
        require_indices(self.name, starts, places, self.rows)

    def packed(self, w: np.ndarray, *more: np.ndarray) -> tuple[np.ndarray, ...]:
        """Return the nonzero vectors of a matrix, starts and places; zeros after the last column."""
        filled = np.zeros((self.rows, self.panels * self.lanes), w.dtype)
        filled[:, : self.columns] = w
        vectors = filled.reshape(self.rows, self.panels, self.lanes).swapaxes(0, 1)
        stored = (vectors != 0).any(2)
        starts = np.concatenate([[0], stored.sum(1).cumsum()])
        return vectors[stored].reshape(-1), starts.astype("int32"), np.nonzero(stored)[1].astype("int32")

    def dense(self, *stored: np.ndarray) -> np.ndarray:
        w, starts, places = stored
        found = np.zeros((self.rows, self.panels, self.lanes), w.dtype)
        found[places, np.repeat(np.arange(self.panels), np.diff(starts))] = w.reshape(-1, self.lanes)
        return found.reshape(self.rows, self.panels * self.lanes)[:, : self.columns]

    def count(self, *places: np.ndarray) -> int:
        return len(places[1]) * self.lanes
