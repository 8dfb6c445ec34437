"""Types of the arguments of the vocabulary's functions, named for annotations, editors and type checkers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, TypeAlias, Union

import numpy as np

from ...graph import Variable


class SupportsArray(Protocol):
    """A value that NumPy makes an array of: an array, a column of pandas, a tensor of another library."""

    def __array__(self) -> np.ndarray: ...


TensorLike: TypeAlias = Union[Variable, SupportsArray, complex, Sequence["TensorLike"]]
"""A variable, or a value that becomes a constant: a number, an array, a nested list of numbers and variables."""
LengthLike: TypeAlias = Union[Variable, int, "np.integer[Any]"]
"""A length or a count: an integer, or a scalar variable of integers."""
ShapeLike: TypeAlias = Union[LengthLike, Sequence[LengthLike]]
"""One length, or the length of each axis; a vector variable holds them too."""
KnownShape: TypeAlias = Union[int, Sequence[Union[int, None]], None]
"""The length of each axis of an input; None stands for a length that only the values tell."""
DTypeLike: TypeAlias = Union[str, type[Any], "np.dtype[Any]", None]
"""A dtype by its name, by its type in Python or NumPy, or itself; None stands for the default."""
Axis: TypeAlias = Union[int, Sequence[int], None]
"""An axis, several of them, or None for all."""
