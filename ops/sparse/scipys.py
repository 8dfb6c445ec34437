"""Sparse matrices of SciPy's as variables, constants, shared values, and results of calls."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib.util import find_spec
from typing import Any

import numpy as np

from ...record.containers import Registered, registered
from ..core.checks import is_sparse, shown
from ..core.namespace import T
from .sparse_matrix import COMPRESSED, LABELS, Format, SparseMatrix, of_parts

__all__ = ["constant", "shared"]

_WORDS = ("csr_array", "csc_array", "coo_array", "csr_matrix", "csc_matrix", "coo_matrix")
_LONGEST, _INT32 = np.iinfo(np.int32).max, np.dtype("int32")
_FORMATS = {format: Format(format) for format in LABELS}


def parts_of(value: Any) -> tuple[dict[str, np.ndarray], Format]:
    """Return the parts of a matrix of SciPy's by name, and its format; positions are int32.

    Raises TypeError for another format or rank, ValueError for more elements than int32 counts.
    """
    format, shape = value.format, value.shape
    if format not in LABELS or len(shape) != 2:
        raise TypeError(
            f"expected a sparse matrix in the format csr, csc or coo, got {format} of shape {shape}; use x.tocsr()"
        )
    data, (rows, columns) = value.data, shape
    if rows > _LONGEST or columns > _LONGEST or len(data) > _LONGEST:
        raise ValueError(f"a sparse matrix of shape {shape} has positions beyond int32; divide it into parts")
    first, second = (value.row, value.col) if format == "coo" else (value.indices, value.indptr)
    if first.dtype is not _INT32 or second.dtype is not _INT32:  # one object for each dtype of a machine's own order
        first, second = first.astype(np.int32, copy=False), second.astype(np.int32, copy=False)
    places = np.array(rows, np.int64), np.array(columns, np.int64)
    return dict(zip(LABELS[format], (data, first, second, *places))), _FORMATS[format]


def of_arrays(format: str, values: Sequence[Any]) -> Any:
    """Return the matrix of SciPy's of arrays; None if they are none, as axes of `ag.vmap`, or stand for several."""
    if not all(isinstance(v, (np.ndarray, np.generic)) for v in values) or np.ndim(values[0]) != 1:
        return None
    data, first, second, *lengths = values
    shape = tuple(map(int, lengths))
    if format == "coo":
        fits, parts = len(data) == len(first) == len(second), {"coords": (first, second)}
    else:
        ends = int(second[-1]) if len(second) == shape[format == "csc"] + 1 and second[0] == 0 else -1
        fits, parts = len(data) == len(first) == ends, {"indices": first, "indptr": second}
    kind, state = _blank(format)
    if fits and parts.keys() <= state.keys():
        found = object.__new__(kind)  # as pickle does: the constructor reads all positions
        found.__dict__.update(state, data=data, _shape=shape, **parts)
        return found
    return kind((data, (first, second)) if format == "coo" else (data, first, second), shape=shape)


@cache
def _blank(format: str) -> tuple[Any, dict[str, Any]]:
    """Return the class of SciPy's for a format, and the state of an object that nothing is known of."""
    import scipy.sparse

    kind = getattr(scipy.sparse, f"{format}_array")
    state = vars(kind((1, 1)))
    unknown = {"has_canonical_format": False} if "has_canonical_format" in state else {}
    return kind, {**state, **unknown} if "_shape" in state else {}


def constant(value: Any, name: str | None = None) -> SparseMatrix:
    """A sparse matrix of constants for one of SciPy's, in its format (csr for dia, bsr, lil and dok)."""
    return _made(value, name, T.constant)


def shared(value: Any, name: str | None = None) -> SparseMatrix:
    """A sparse matrix of shared variables, for one of SciPy's; its pattern may change as its elements do.

    `A.get_value()` and `A.set_value(value)` read and replace it, `updates=[(A, new)]` as well.  Raises TypeError for
    what is no sparse matrix.
    """
    return _made(value, name, T.shared)


def _made(value: Any, name: str | None, make: Any) -> SparseMatrix:
    if not is_sparse(type(value)):
        raise TypeError(f"expected a sparse matrix of SciPy's, got {shown(value)}; use scipy.sparse.csr_array(x)")
    parts, format = parts_of(value if value.format in LABELS else value.tocsr())
    named = {} if name is None else {label: f"{name}.{label}" for label in parts}
    return SparseMatrix(str(format), [make(part, name=named.get(label)) for label, part in parts.items()])


def value_of(matrix: SparseMatrix) -> Any:
    """Return the value of a shared or a constant matrix.  Raises TypeError for one that a call gives or computes."""
    values = []
    for part in matrix.parts:
        if isinstance(part, T.SharedVariable):
            values.append(part.get_value())
        elif isinstance(part, T.TensorConstant):
            values.append(part.data)
        else:
            raise TypeError(f"get_value: {matrix!r} is not shared; make one by T.sparse.shared(value)")
    return of_arrays(matrix.format, values)


def set_value(matrix: SparseMatrix, value: Any) -> None:
    """Give a shared matrix another value of its format and dtype.  Raises TypeError otherwise."""
    if not all(isinstance(part, T.SharedVariable) for part in matrix.parts):
        raise TypeError(f"set_value: {matrix!r} is not shared; make one by T.sparse.shared(value)")
    if not is_sparse(type(value)) or value.format != matrix.format or value.dtype.name != matrix.dtype:
        raise TypeError(f"set_value: expected {matrix.format} of {matrix.dtype}, got {shown(value)}")
    parts, _ = parts_of(value)
    for own, part in zip(matrix.parts, parts.values(), strict=True):
        own.set_value(part)


if find_spec("scipy") is not None:
    import scipy.sparse as _sparse

    for _word in _WORDS:
        _kind = getattr(_sparse, _word)
        registered[_kind] = Registered(SparseMatrix, parts_of, of_parts, frozenset((*COMPRESSED[1:], "row", "col")))
