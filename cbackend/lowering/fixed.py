"""Operations whose result is the same for every value of a dtype: no integer is NaN, a real has no imaginary part."""

from __future__ import annotations

from ...graph.types import numpy_dtype

_FIXED = {"isnan": ("biu", 0), "isinf": ("biu", 0), "isfinite": ("biu", 1), "imag": ("biuf", 0)}
"""The kinds of dtypes, as NumPy has them, and the result."""


def fixed_value(name: str, dtype: str) -> int | None:
    """The result of an operation on any value of `dtype`; None if it depends on the value."""
    kinds, value = _FIXED.get(name, ("", 0))
    return value if numpy_dtype(dtype).kind in kinds else None
