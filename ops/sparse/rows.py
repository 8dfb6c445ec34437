"""Products of a sparse matrix with a dense vector or matrix: an op for compressed rows, columns, and coordinates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from ...graph import Apply, Dim, Kind, TensorType, Variable, dims
from ...record import record
from ..control.batching import Examples, Flags, all_broadcast, require_shared
from ..core.checks import describe, require_count, require_index_scalar
from ..core.namespace import T
from ..core.tensor import TensorOp
from ..elementwise import costs
from ..shapes.joining import RepeatedPositions
from ..shapes.lengths import known_length, tensor_to_dim

DTYPES = ("float32", "float64", "complex64", "complex128")


class SparseProduct(TensorOp):
    """Base of the products: operands `data`, `indices`, `indptr` of a matrix, x, and lengths of the result."""

    picture: ClassVar[Kind] = Kind.PRODUCT
    fallible = True
    error: ClassVar[type[Exception]] = IndexError
    count: ClassVar[int] = 4

    def require(self, inputs: tuple[Variable, ...]) -> None:
        """Raise TypeError for other operands."""
        require_count(self.name, inputs, self.count)
        data, indices, indptr, x = inputs[:4]
        if data.dtype not in DTYPES or x.dtype != data.dtype or {indices.dtype, indptr.dtype} != {"int32"}:
            raise TypeError(f"{self.name} takes floats and int32 positions, got {', '.join(map(describe, inputs))}")
        if {data.ndim, indices.ndim, indptr.ndim} != {1} or x.ndim not in (1, 2):
            raise TypeError(f"{self.name} takes three vectors, then a vector or a matrix, got {describe(x)}")

    def entries(self, data: Any, indices: Any, indptr: Any, columns: int) -> tuple[Any, Any, Any]:
        """Return the elements, their rows and their columns.  Raises IndexError for positions out of bounds."""
        counts = np.diff(indptr)
        is_wrong = (counts < 0).any() or len(data) != len(indices)
        if is_wrong or (len(counts) and (indptr[0] < 0 or indptr[-1] > len(indices))):
            raise IndexError(self.broken())
        of = slice(indptr[0], indptr[-1]) if len(counts) else slice(0, 0)
        found = indices[of]
        if ((found < 0) | (found >= columns)).any():
            raise IndexError(self.broken())
        return data[of], np.repeat(np.arange(len(counts)), counts), found

    def broken(self, *_: int) -> str:
        """The message for positions outside of the matrix."""
        return "sparse product: indices or indptr of the sparse matrix are out of bounds"

    def places(self, indices: Any, indptr: Any) -> tuple[Any, Any]:
        """Return the position in the result, and that in x, of each element."""
        raise NotImplementedError

    def by_x(self, data: Any, indices: Any, indptr: Any, sent: Any, x: Any) -> Any:
        """Return the derivative by x: the product of the transposed matrix with the cotangent."""
        raise NotImplementedError

    def vjp(self, node: Apply, cotangents: Sequence[Variable | None]) -> Sequence[Variable | None]:
        data, indices, indptr, x = node.inputs[:4]
        nothing: list[Variable | None] = [None] * self.count
        sent: Any = cotangents[0]
        if sent is None:
            return nothing
        found: Any = x
        target, source = self.places(indices, indptr)
        is_complex = x.type.kind == "c"
        products = sent[target] * (T.conj(found[source]) if is_complex else found[source])
        nothing[0] = products if x.ndim == 1 else T.sum(products, axis=1)
        nothing[3] = self.by_x(T.conj(data) if is_complex else data, indices, indptr, sent, x)
        return nothing

    def batching(self, node: Apply, inputs: list[Variable], flags: Flags, examples: Examples) -> Any:
        require_shared((flags[1], flags[2], *flags[4:]), "the pattern of a sparse matrix")
        data, indices, indptr, x, *lengths = inputs
        if not flags[0]:  # examples stand beside each other as columns
            found: Any = T.moveaxis(x, 0, 1)
            if x.ndim == 2:
                return T.moveaxis(self(data, indices, indptr, found, *lengths), 1, 0)
            columns = T.lengths_of(x)[2]
            flat = T.reshape(found, (T.lengths_of(found)[0], -1))
            product: Any = self(data, indices, indptr, flat, *lengths)
            return T.moveaxis(T.reshape(product, (T.lengths_of(product)[0], examples.length, columns)), 1, 0)
        data, x = all_broadcast([data, x], (flags[0], flags[3]), examples)
        target, source = self.places(indices, indptr)
        terms: Any = T.moveaxis(x, 0, -1)[source]  # element, (column,) example
        weights: Any = T.moveaxis(data, 0, -1) if node.inputs[3].ndim == 1 else T.dimshuffle(data, 1, "x", 0)
        length = lengths[0] if lengths else T.lengths_of(indptr)[0] - 1
        zeros = T.zeros((length, *T.lengths_of(terms)[1:]), data.dtype)
        return T.moveaxis(T.inc_subtensor(zeros[target], weights * terms), -1, 0)

    def operations(self, node: Apply) -> costs.Operations:
        """A multiplication and an addition for each element and column."""
        columns = costs.lengths(node.inputs[3])[1:]
        terms = costs.size(node.inputs[0]) * (columns[0] if columns else 1)
        return costs.Operations("product", 2.0 * terms, node.out.dtype)


def rows_of(indptr: Any) -> Any:
    """Return the row of each element."""
    return RepeatedPositions()(indptr[1:] - indptr[:-1])


def _summed(length: int, data: Any, target: Any, source: Any, x: Any) -> tuple[np.ndarray, ...]:
    """Return the sums at `target` of the elements times x at `source`."""
    result = np.zeros((length, *x.shape[1:]), x.dtype)
    with np.errstate(all="ignore"):
        np.add.at(result, target, (data if x.ndim == 1 else data[:, None]) * x[source])
    return (result,)


@record(repr=False)
class SparseRows(SparseProduct):
    """`sparse_rows(data, indices, indptr, x)`: row i is the sum of data[e] * x[indices[e]] for e of its elements.

    These lie from indptr[i] to indptr[i + 1], and are summed in their order.  `data` and `x` have one dtype, `indices`
    and `indptr` are int32; x is a vector or a matrix.
    """

    name = "sparse_rows"

    def infer(self, inputs: tuple[Variable, ...]) -> tuple[TensorType, ...]:
        self.require(inputs)
        ends = inputs[2].type.shape[0]
        rows = None if ends is None else max(ends - 1, 0)
        return (TensorType(inputs[0].dtype, (rows, *inputs[3].type.shape[1:])),)

    def evaluate(self, *values: np.ndarray) -> tuple[np.ndarray, ...]:
        data, indices, indptr, x = values
        data, rows, columns = self.entries(data, indices, indptr, len(x))
        return _summed(len(indptr) - 1, data, rows, columns, x)

    def dims(self, node: Apply, inputs: Sequence[tuple[Dim, ...]]) -> tuple[tuple[Dim, ...], ...]:
        return ((dims.sub(inputs[2][0], 1), *inputs[3][1:]),)

    def places(self, indices: Any, indptr: Any) -> tuple[Any, Any]:
        return rows_of(indptr), indices

    def by_x(self, data: Any, indices: Any, indptr: Any, sent: Any, x: Any) -> Any:
        return SparseAcross()(data, indices, indptr, sent, T.lengths_of(x)[0])


class CountedProduct(SparseProduct):
    """Base of the products whose number of rows is the fifth operand."""

    count: ClassVar[int] = 5

    def infer(self, inputs: tuple[Variable, ...]) -> tuple[TensorType, ...]:
        self.require(inputs)
        require_index_scalar(self.name, inputs[4], "the number of rows")
        return (TensorType(inputs[0].dtype, (known_length(inputs[4]), *inputs[3].type.shape[1:])),)

    def dims(self, node: Apply, inputs: Sequence[tuple[Dim, ...]]) -> tuple[tuple[Dim, ...], ...]:
        return ((tensor_to_dim(node.inputs[4]), *inputs[3][1:]),)


@record(repr=False)
class SparseAcross(CountedProduct):
    """`sparse_across(data, indices, indptr, x, n)`: the product of the transposed matrix, with n rows.

    To row indices[e] it adds data[e] * x[i] for the row i of each element, in their order.
    """

    name = "sparse_across"

    def evaluate(self, *values: np.ndarray) -> tuple[np.ndarray, ...]:
        data, indices, indptr, x, n = values
        if len(x) != len(indptr) - 1:
            raise ValueError(f"sparse product: expected length {len(indptr) - 1} of x on axis 0, got {len(x)}")
        data, rows, columns = self.entries(data, indices, indptr, int(n))
        return _summed(int(n), data, columns, rows, x)

    def places(self, indices: Any, indptr: Any) -> tuple[Any, Any]:
        return indices, rows_of(indptr)

    def by_x(self, data: Any, indices: Any, indptr: Any, sent: Any, x: Any) -> Any:
        return SparseRows()(data, indices, indptr, sent)


@record(repr=False)
class SparseEntries(CountedProduct):
    """`sparse_entries(data, rows, columns, x, m)`: row rows[e] of the result, of m, gets data[e] * x[columns[e]] added.

    Elements are added in their order; places may repeat.
    """

    name = "sparse_entries"

    def evaluate(self, *values: np.ndarray) -> tuple[np.ndarray, ...]:
        data, rows, columns, x, m = values
        are_in = ((rows >= 0) & (rows < m)).all() and ((columns >= 0) & (columns < len(x))).all()
        if not (are_in and len(data) == len(rows) == len(columns)):
            raise IndexError(self.broken())
        return _summed(int(m), data, rows, columns, x)

    def broken(self, *_: int) -> str:
        return "sparse product: rows or columns of the sparse matrix are out of bounds"

    def places(self, indices: Any, indptr: Any) -> tuple[Any, Any]:
        return indices, indptr

    def by_x(self, data: Any, indices: Any, indptr: Any, sent: Any, x: Any) -> Any:
        return self(data, indptr, indices, sent, T.lengths_of(x)[0])
