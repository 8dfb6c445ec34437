"""The C functions of NumPy's random generator as addresses."""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any

import numpy as np

from ..kernels import distributions

_OTHERS = {"halfnormal": "normal", "integers": "bounded_uint64_fill"}
"""Functions of other names than their distributions."""


@cache
def numpy_symbols() -> tuple[int, ...]:
    """Return the addresses of the bit generator of a PCG64 and of the functions that draws.c takes.

    All are 0 where this NumPy does not export them.
    """
    generator: Any = np.random._generator  # type: ignore[attr-defined]
    library = ctypes.CDLL(generator.__file__)
    names = [f"random_{_OTHERS.get(name, name)}" for name in (*distributions(), "bounded_uint64")]
    try:
        functions = [ctypes.cast(getattr(library, name), ctypes.c_void_p).value or 0 for name in names]
    except AttributeError:
        return (0,) * (1 + len(names))
    return (_bit_generator().ctypes.bit_generator.value, *functions)


@cache
def _bit_generator() -> Any:
    """Return the bit generator whose functions all draws use; it stays alive."""
    return np.random.PCG64(0)
