"""Floats between 0 and 1 of random bits."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.namespace import T
from ..core.tensor import TensorVariable, constant


def fraction(bits: Any, dtype: str) -> TensorVariable:
    """A number from 0 on and below 1, of as many of the bits as the dtype holds."""
    width = 24 if dtype == "float32" else 53
    kept = T.cast(T.right_shift(bits, np.uint64(64 - width)), "int64")
    return T.cast(kept, dtype) * constant(2.0**-width, dtype)


def inside(bits: Any, dtype: str) -> TensorVariable:
    """A number above 0 and below 1: half a step above `fraction`, where that does not round to 1."""
    width = 24 if dtype == "float32" else 53
    return T.minimum(fraction(bits, dtype) + constant(2.0 ** -(width + 1), dtype), constant(1 - 2.0**-width, dtype))


def open_uniform(stream: Any, lengths: Any, dtype: str) -> TensorVariable:
    """Numbers above 0 and below 1 from a new draw of a stream."""
    return inside(stream._bits(lengths, 1)[0], dtype)
