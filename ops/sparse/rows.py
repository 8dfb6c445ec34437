"""The product of a matrix in compressed rows with a dense vector or matrix, as one op."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from ...graph import Apply, Dim, Kind, TensorType, Variable, dims
from ...record import record
from ..control.batching import Examples, Flags, all_broadcast
from ..core.checks import describe, require_count
from ..core.namespace import T
from ..core.tensor import TensorOp
from ..elementwise import costs

DTYPES = ("float32", "float64", "complex64", "complex128")


@record(repr=False)
class SparseRows(TensorOp):
    """`sparse_rows(data, indices, indptr, x)`: row i is the sum of data[e] * x[indices[e]] for e of its elements.

    These lie from indptr[i] to indptr[i + 1], and are summed in their order.  `data` and `x` have one dtype, `indices`
    and `indptr` are int32; x is a vector or a matrix.
    """

    name = "sparse_rows"
    picture: ClassVar[Kind] = Kind.PRODUCT
    fallible = True
    error: ClassVar[type[Exception]] = IndexError

    def infer(self, inputs: tuple[Variable, ...]) -> tuple[TensorType, ...]:
        require_count(self.name, inputs, 4)
        data, indices, indptr, x = inputs
        if data.dtype not in DTYPES or x.dtype != data.dtype or {indices.dtype, indptr.dtype} != {"int32"}:
            raise TypeError(f"{self.name} takes floats and int32 positions, got {', '.join(map(describe, inputs))}")
        if {data.ndim, indices.ndim, indptr.ndim} != {1} or x.ndim not in (1, 2):
            raise TypeError(f"{self.name} takes three vectors, then a vector or a matrix, got {describe(x)}")
        ends = indptr.type.shape[0]
        return (TensorType(data.dtype, (None if ends is None else max(ends - 1, 0), *x.type.shape[1:])),)

    def evaluate(self, *values: np.ndarray) -> tuple[np.ndarray, ...]:
        data, indices, indptr, x = values
        counts = np.diff(indptr)
        rows = len(counts)
        if (counts < 0).any() or (rows and (indptr[0] < 0 or indptr[-1] > len(indices))) or len(data) != len(indices):
            raise IndexError(self.broken())
        of = slice(indptr[0], indptr[-1]) if rows else slice(0, 0)
        found = indices[of]
        if ((found < 0) | (found >= len(x))).any():
            raise IndexError(self.broken())
        result = np.zeros((rows, *x.shape[1:]), x.dtype)
        with np.errstate(all="ignore"):
            terms = (data[of] if x.ndim == 1 else data[of, None]) * x[found]
            np.add.at(result, np.repeat(np.arange(rows), counts), terms)
        return (result,)

    def broken(self, *_: int) -> str:
        """The message for positions outside of the matrix."""
        return "sparse product: indices or indptr of the sparse matrix are out of bounds"

    def dims(self, node: Apply, inputs: Sequence[tuple[Dim, ...]]) -> tuple[tuple[Dim, ...], ...]:
        return ((dims.sub(inputs[2][0], 1), *inputs[3][1:]),)

    def rows_of(self, indptr: Any) -> Any:
        """Return the row of each element."""
        counts = indptr[1:] - indptr[:-1]
        return T.repeat(T.arange(T.lengths_of(counts)[0], dtype="int32"), counts)

    def vjp(self, node: Apply, cotangents: Sequence[Variable | None]) -> Sequence[Variable | None]:
        (g,), (data, indices, indptr, x) = cotangents, node.inputs
        if g is None:
            return [None] * 4
        sent: Any = g
        found: Any = x
        of_rows = sent[self.rows_of(indptr)]
        conjugate = T.conj if x.type.kind == "c" else lambda v: v
        products = of_rows * conjugate(found[indices])
        by_data = products if x.ndim == 1 else T.sum(products, axis=1)
        weights = conjugate(data) if x.ndim == 1 else T.dimshuffle(conjugate(data), 0, "x")
        by_x = T.inc_subtensor(T.zeros_like(x)[indices], weights * of_rows)
        return [by_data, None, None, by_x]

    def batching(self, node: Apply, inputs: list[Variable], flags: Flags, examples: Examples) -> Any:
        data, indices, indptr, x = inputs
        if not any(flags[:3]):  # examples stand beside each other as columns
            found: Any = T.moveaxis(x, 0, 1)
            if x.ndim == 2:
                return T.moveaxis(self(data, indices, indptr, found), 1, 0)
            columns = T.lengths_of(x)[2]
            flat = T.reshape(found, (T.lengths_of(found)[0], -1))
            product: Any = self(data, indices, indptr, flat)
            rows = T.lengths_of(product)[0]
            return T.moveaxis(T.reshape(product, (rows, examples.length, columns)), 1, 0)
        if flags[1] or flags[2]:
            raise NotImplementedError(f"{self.name}: the pattern differs from example to example; loop by ag.scan")
        data, x = all_broadcast([data, x], (flags[0], flags[3]), examples)
        places: Any = T.moveaxis(x, 0, -1)[indices]  # element, (column,) example
        weights: Any = T.moveaxis(data, 0, -1) if node.inputs[3].ndim == 1 else T.dimshuffle(data, 1, "x", 0)
        rows_of = self.rows_of(indptr)
        shape = (T.lengths_of(indptr)[0] - 1, *T.lengths_of(places)[1:])
        return T.moveaxis(T.inc_subtensor(T.zeros(shape, data.dtype)[rows_of], weights * places), -1, 0)

    def operations(self, node: Apply) -> costs.Operations:
        """A multiplication and an addition for each element and column."""
        columns = costs.lengths(node.inputs[3])[1:]
        terms = costs.size(node.inputs[0]) * (columns[0] if columns else 1)
        return costs.Operations("product", 2.0 * terms, node.out.dtype)
