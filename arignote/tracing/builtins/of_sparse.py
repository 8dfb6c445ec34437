"""Functions of `scipy.sparse` in a trace: matrices made of constants, and `spsolve`, which SciPy computes.

    sp.eye_array(n) @ x    -->    T.sparse.constant(sp.eye_array(n)) @ x
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ... import ops as T
from ...calculus.callbacks import pure_callback
from ...calculus.custom import custom_vjp
from ...graph import Constant
from ...ops.core.checks import is_sparse
from ...ops.core.tensor import as_tensor
from ...ops.core.tracing import current
from ...ops.sparse.scipys import constant, of_arrays
from ...ops.sparse.sparse_matrix import SparseMatrix


def of_sparse(f: Any, name: str) -> Callable[..., Any] | None:
    """Return our function in the place of one of `scipy.sparse` or `scipy.sparse.linalg`; None for any other."""
    if f.__module__.endswith("._construct"):
        return getattr(T.sparse, name, None)
    return _spsolve if name == "spsolve" else None


def given(
    args: Sequence[Any], options: Mapping[str, Any], symbolic: bool
) -> tuple[tuple[Any, ...], dict[str, Any], bool]:
    """Return arguments with SciPy's matrices in the place of constant ones, and whether any is symbolic."""
    found = tuple(map(_constant, args)), {name: _constant(a) for name, a in options.items()}
    return *found, symbolic or any(isinstance(a, SparseMatrix) for a in (*found[0], *found[1].values()))


def _constant(value: Any) -> Any:
    if isinstance(value, SparseMatrix) and all(isinstance(p, Constant) for p in value.parts):
        return of_arrays(value.format, [p.data for p in value.parts])
    return value


def held(found: Any) -> Any:
    """Return a matrix of SciPy's as one of the trace; anything else as it is."""
    return constant(found) if is_sparse(type(found)) and getattr(found, "ndim", 2) == 2 else found


# --- spsolve


def _spsolve(A: Any, b: Any, permc_spec: Any = None, use_umfpack: bool = True) -> Any:
    """`scipy.sparse.linalg.spsolve`, of a dense right side."""
    if isinstance(b, SparseMatrix):
        raise TypeError("scipy.sparse.linalg.spsolve: a compiled function takes a dense right side; use b.toarray()")
    matrix = A if isinstance(A, SparseMatrix) else constant(A)
    matrix = matrix if matrix.format in ("csr", "csc") else matrix.tocsr()
    b = as_tensor(b)
    dtype = np.result_type(*(d if np.dtype(d).kind in "fc" else "float64" for d in (matrix.data.dtype, b.dtype))).name
    data, first, second, *lengths = matrix.parts
    found = _Solve(matrix.format, permc_spec)(T.cast(data, dtype), first, second, *lengths, T.cast(b, dtype))
    trace: Any = current()
    if b.ndim == 2:  # SciPy returns a vector for one column
        known = trace.known_length(b, 1)
        if known is not None and not isinstance(known, int):
            trace.require(f"({known.text} == 1) is {known.value == 1}")
            known = known.value
        found = found[:, 0] if known == 1 else found
    return found


class _Solve:
    """The solution by SciPy, whose derivative solves with the transposed matrix."""

    def __init__(self, format: str, ordering: Any, transposed: bool = False) -> None:
        self.format, self.ordering, self.transposed = format, ordering, transposed

    def __call__(self, *parts: Any) -> Any:
        solve: Any = custom_vjp(self._solved)
        solve.defvjp(lambda *given: ((x := self._solved(*given)), (given, x)), self._pulled_back)
        return solve(*parts)

    def _solved(self, *parts: Any) -> Any:
        return pure_callback(self._by_scipy, parts[-1], *parts)

    def _by_scipy(self, *values: Any) -> Any:
        from scipy.sparse.linalg import spsolve

        *parts, b = values
        matrix = of_arrays(self.format, parts)
        found = spsolve(matrix.T if self.transposed else matrix, b, permc_spec=self.ordering)
        return np.asarray(found, b.dtype).reshape(b.shape)

    def _pulled_back(self, kept: Any, cotangent: Any) -> Any:
        (data, first, second, rows, columns, _), x = kept
        g = _Solve(self.format, self.ordering, not self.transposed)(
            T.conj(data), first, second, rows, columns, cotangent
        )
        lines = T.repeat(T.arange(T.lengths_of(second)[0] - 1), T.diff(T.cast(second, "int64")))
        row, column = (lines, first) if (self.format == "csr") != self.transposed else (first, lines)
        products = -g[row] * T.conj(x)[column]
        of_data = products if products.ndim == 1 else T.sum(products, 1)
        return of_data, None, None, None, None, g
