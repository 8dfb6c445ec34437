"""Symbolic arrays: arrays of terms with a dtype."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..record.spelling import counted
from .terms import NotTranslated

LARGEST = 400
"""Elements of an array that are translated."""


class Array:
    """An array of terms with its dtype."""

    def __init__(self, items: np.ndarray, dtype: str) -> None:
        self.items = items
        self.dtype = dtype

    @property
    def shape(self) -> tuple[int, ...]:
        return self.items.shape


Known = Any
"""A NumPy array, or an Array."""


def objects(shape: Sequence[int], items: Sequence[Any]) -> np.ndarray:
    made = np.empty(len(items), dtype=object)
    made[:] = items
    return made.reshape(shape)


def leaf(theory: Any, name: str, dtype: str, shape: Sequence[int]) -> Array:
    """An unknown array."""
    positions = list(np.ndindex(*shape))
    if len(positions) > LARGEST:
        raise NotTranslated(f"an array of {counted(len(positions), 'element')}")
    names = [f"{name}[{','.join(map(str, p))}]" for p in positions]
    return Array(objects(shape, [theory.leaf(n, dtype) for n in names]), dtype)


def lifted(theory: Any, value: Known, dtype: str) -> Array:
    if isinstance(value, Array):
        return value
    if value.size > LARGEST:
        raise NotTranslated(f"an array of {counted(value.size, 'element')}")
    return Array(objects(value.shape, [theory.constant(v, dtype) for v in value.flat]), dtype)


def trial(dtype: str, shape: Sequence[int]) -> np.ndarray:
    """Numbers with which most ops run: ones, and positive definite matrices."""
    made = np.ones(shape, dtype=dtype)
    if made.ndim >= 2 and shape[-1] == shape[-2] and made.dtype.kind in "fc":
        made = made + np.asarray(2 * np.eye(shape[-1]), dtype=dtype)
    return made
