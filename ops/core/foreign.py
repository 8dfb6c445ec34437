"""Arrays of other libraries as NumPy's, without copies where both share memory: DLPack, pandas, xarray.

No library is imported to find out: a value of its class exists only where it is loaded.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .checks import is_sparse, shown

_FIXES = (
    ("grad", "x.detach()"), ("conj", "x.resolve_conj()"), ("layout", "x.to_dense()"), ("sparse", "x.to_dense()"),
    ("device", "x.cpu()"), ("meta", "x.to('cpu')"), ("dtype", "x.float()"), ("scalar type", "x.float()"),
    ("scalartype", "x.float()"),
)  # fmt: skip
"""Words in the errors of other libraries -> what makes an array of their value."""


def as_array(value: Any) -> Any:
    """Return an array of another library as NumPy's, which shares its memory if it can; any other value as it is.

    A result of pandas or xarray is a plain array: labels and indices are left out.

    Raises TypeError, with the fix, for values whose meaning as numbers is not clear: categories, objects, columns of
    several dtypes, missing values, sparse matrices, and tensors that lie on a device or need a gradient.
    """
    kind = type(value)
    library = kind.__module__.partition(".")[0]
    if library == "pandas":
        return _of_pandas(value)
    if library == "xarray":
        return _of_xarray(value)
    if is_sparse(kind):
        raise TypeError(f"expected an array, got {shown(value)}; use T.sparse.constant(x), or x.toarray()")
    if hasattr(kind, "__dlpack__") and not isinstance(value, (np.ndarray, np.generic)):
        return _of_dlpack(value, library)
    return value


def _of_dlpack(value: Any, library: str) -> Any:
    try:
        return np.from_dlpack(value)
    except (BufferError, RuntimeError, TypeError, ValueError, AttributeError) as error:
        reason = str(error)
    if library != "torch":
        return value  # NumPy tries again
    words = reason.lower()
    fix = next((fix for word, fix in _FIXES if word in words), "np.asarray(x)")
    raise TypeError(f"a torch.Tensor that shares no memory with NumPy ({reason}); use {fix}")


def _of_pandas(value: Any) -> Any:
    """Return the numbers of a Series, an Index or a DataFrame."""
    name = type(value).__name__
    if hasattr(value, "columns"):
        several: dict[str, Any] = {}
        for column, dtype in zip(value.columns, value.dtypes, strict=True):
            if several.setdefault(str(dtype), column) is column:
                _require_numbers(value[column], f"column {column!r} of a DataFrame", f"x[{column!r}]")
        if len(several) > 1:
            columns = ", ".join(f"{dtype} ({column!r})" for dtype, column in several.items())
            raise TypeError(f"a DataFrame of several dtypes, {columns}; use x.astype('float64'), or one column")
    elif hasattr(value, "dtype"):
        _require_numbers(value, f"a {name} of pandas", "x")
    return np.asarray(value)


def _require_numbers(values: Any, what: str, word: str) -> None:
    """Raise TypeError for values of pandas that are no numbers."""
    dtype = values.dtype
    if str(dtype) == "category":
        raise TypeError(f"{what} of categories; use {word}.cat.codes, or {word}.astype('float64')")
    if not isinstance(dtype, np.dtype) and getattr(values, "hasnans", False):
        fix = f"{word}.fillna(value), or {word}.to_numpy('float64', na_value=float('nan'))"
        raise TypeError(f"{what} with missing values; use {fix}")
    if getattr(dtype, "kind", "O") not in "biufc":
        raise TypeError(f"{what} of dtype {dtype}; use {word}.astype('float64') if these are numbers")


def _of_xarray(value: Any) -> Any:
    if hasattr(value, "data_vars"):
        names = list(value.data_vars)
        raise TypeError(f"a Dataset of xarray; use one of its variables, as in x[{names[0] if names else 'name'!r}]")
    return np.asarray(value)
