"""Theano's dtype rules: narrow constants, upcasts, floats from integers."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..flags import config

BOOL = ("bool",)
INTEGERS = tuple(f"int{n}" for n in (8, 16, 32, 64))
UNSIGNED = tuple(f"uint{n}" for n in (8, 16, 32, 64))
FLOATS = ("float16", "float32", "float64")
COMPLEX = ("complex64", "complex128")
DISCRETE = (*BOOL, *INTEGERS, *UNSIGNED)
CONTINUOUS = (*FLOATS, *COMPLEX)
ALL = (*DISCRETE, *CONTINUOUS)
_NARROW = ("bool", "int8", "int16", "uint8", "uint16")


def float_x(dtype: Any) -> str:
    """The name of a dtype; `config.floatX` for "floatX" and None."""
    if dtype is None or dtype == "floatX":
        return str(config.floatX)
    try:
        return str(np.dtype(dtype).name)
    except TypeError:
        raise TypeError(f"{dtype!r} is no dtype; expected one of {', '.join(ALL)}, floatX") from None


def upcast(*dtypes: Any) -> str:
    """The dtype that holds all of these; with the policy numpy+floatX no float64 comes from integers."""
    names = [np.dtype(d).name for d in dtypes]
    found = str(np.result_type(*names).name)
    if found == "float64" and config.floatX == "float32" and config.cast_policy == "numpy+floatX":
        return found if "float64" in names else "float32"
    return found


def upgraded_to_float(dtype: str) -> str:
    """The dtype in which a function of real numbers is computed."""
    if dtype in CONTINUOUS:
        return dtype
    return "float32" if dtype in _NARROW else "float64"


def autocast(value: Any, dtype: Any = None) -> np.ndarray:
    """A Python value as an array.

    Integers take the narrowest dtype that holds them.  Floats take floatX if that is float32, else the narrowest dtype
    from float32 on that holds them exactly.  Arrays and NumPy's scalars keep their dtype.
    """
    if dtype is not None:
        return np.array(value, dtype=float_x(dtype))
    if isinstance(value, bool) or hasattr(value, "dtype"):
        return np.array(value)
    if isinstance(value, int):
        return _integer(value)
    if isinstance(value, float):
        return np.array(value, dtype=_float_dtype(value))
    found = np.array(value)
    return found.astype(config.floatX) if not found.size and found.dtype == "float64" else found


def _integer(value: int) -> np.ndarray:
    if config.cast_policy == "numpy+floatX":
        return np.array(value, np.int64 if -(2**63) <= value < 2**63 else np.uint64)
    for dtype in (*INTEGERS, "uint64"):
        limits = np.iinfo(dtype)
        if limits.min <= value <= limits.max:
            return np.array(value, dtype)
    raise OverflowError(f"{value} is larger than any integer that a tensor holds; write float({value})")


def _float_dtype(value: float) -> str:
    if config.floatX != "float64" or config.cast_policy == "numpy+floatX":
        return str(config.floatX)
    with np.errstate(over="ignore"):
        narrow = float(np.float32(value))
    return "float32" if narrow == value or value != value else "float64"
