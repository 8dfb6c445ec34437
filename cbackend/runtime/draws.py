"""The C functions of NumPy's random generator as addresses."""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any

import numpy as np

from ...ops.random.generator_states import layout_holds
from ..kernels.draws.spec import Distribution

_OTHERS = {"halfnormal": "normal", "integers": "bounded_uint64_fill"}
"""Functions of other names than their distributions."""
_NAMES = [d.name.lower() for d in Distribution]
_SYMBOLS = [f"random_{_OTHERS.get(name, name)}" for name in (*_NAMES, "bounded_uint64")]
COUNT = 1 + len(_SYMBOLS)


@cache
def numpy_symbols() -> tuple[int, ...]:
    """Return the addresses of the bit generator of a PCG64 and of the functions that draws.c takes.

    All are 0 where this NumPy exports none, or where its bit generator has another layout.
    """
    from numpy.random import _generator  # type: ignore[attr-defined]

    if not layout_holds():
        return (0,) * COUNT
    library = ctypes.CDLL(_generator.__file__)
    try:
        functions = [ctypes.cast(getattr(library, name), ctypes.c_void_p).value or 0 for name in _SYMBOLS]
    except AttributeError:
        return (0,) * COUNT
    return (_bit_generator().ctypes.bit_generator.value, *functions)


@cache
def _bit_generator() -> Any:
    """Return the bit generator whose functions all draws use; it stays alive."""
    return np.random.PCG64(0)
