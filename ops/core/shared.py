"""Shared variables: leaves that keep a value between calls, which functions read and `updates` replace.

The value lies in a `Container`.  Reading and replacing it are single assignments, so threads see the old or the new
array and never a half of each; a program that updates a value in two threads must order them itself.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...graph import TensorType
from ...graph.provenance import remember
from .assigned import assigned_name
from .checks import shown
from .interpret import fitted
from .tensor import TensorVariable, constant
from .typing import TensorLike
from .variables import known_shape, require_name


class Container:
    """A place for one array; `value` is replaced, never written into, except by functions that update it in place."""

    __slots__ = ("__weakref__", "mirror", "value")
    mirror: Any
    """A copy elsewhere, which a subclass of an engine keeps."""

    def __init__(self, value: np.ndarray) -> None:
        self.value: np.ndarray = value

    def __repr__(self) -> str:
        return f"Container({self.value.dtype}{list(self.value.shape)})"


class SharedVariable(TensorVariable):
    """An input whose value lies in `container`: it is given to every function that needs it.

    A `default_update` is its new value after each call of a function that reads it, unless the function gives another.
    """

    __slots__ = ("container", "default_update")
    stem = "shared_"

    def __init__(self, type: TensorType, container: Container, name: str | None = None) -> None:
        super().__init__(type, name=name)
        self.container: Container = container
        self.default_update: Any = None

    def get_value(self, borrow: bool = False) -> np.ndarray:
        """A copy of the value, or for `borrow` the array itself: not to be written to, and it may change in a call."""
        value = self.container.value
        return value if borrow else value.copy()

    def set_value(self, value: TensorLike, borrow: bool = False) -> None:
        """Give the variable another value of its dtype, rank and known lengths.

        `borrow`: keep the array itself where it fits as it is, instead of a copy.  Raises TypeError for another rank
        and for a dtype that would lose something (use `value.astype(...)`), ValueError for another length.  Python
        numbers and lists take the dtype of the variable.
        """
        self.container.value = _own_array(fitted(value, self), value, borrow)

    def clone_leaf(self) -> SharedVariable:
        """Another leaf that reads the same container."""
        return SharedVariable(self.type, self.container, self.name)

    def __reduce__(self) -> Any:
        return SharedVariable, (self.type, self.container, self.name)


def shared(
    value: TensorLike, name: str | None = None, shape: tuple[int | None, ...] | None = None, borrow: bool = False
) -> SharedVariable:
    """A shared variable with this first value (copied, unless `borrow`), whose dtype and rank it keeps.

    `name`: left out, it is what the user's line plainly assigns the variable to, if anything.
    `shape`: the lengths that it promises to keep, None for those that `set_value` may change (all, if it is left out).
    Raises TypeError for a value that no tensor holds, ValueError if it does not have the lengths promised.
    """
    require_name(name)
    array = _first(value, name)
    promised = (None,) * array.ndim if shape is None else known_shape(shape)
    if len(promised) != array.ndim or any(n is not None and n != m for n, m in zip(promised, array.shape, strict=True)):
        raise ValueError(
            f"shared{f' variable {name}' if name else ''}: shape is {promised}, expected that of the value, "
            f"{array.shape}, or None for lengths that may change"
        )
    kind = TensorType(array.dtype.name, promised)
    variable = SharedVariable(kind, Container(array), assigned_name("shared") if name is None else name)
    variable.container.value = _own_array(fitted(array, variable), value, borrow)
    remember(variable)
    return variable


def _first(value: Any, name: str | None) -> np.ndarray:
    """The value as an array.  Raises TypeError or ValueError, naming the variable, if no tensor can hold it."""
    try:
        return constant(value).data
    except (TypeError, ValueError) as error:
        kind = TypeError if isinstance(error, TypeError) else ValueError
        whom = f"shared variable {name}" if name else "a shared variable"
        raise kind(f"{whom} cannot hold {shown(value)}: {error}") from None


def _own_array(array: np.ndarray, given: Any, borrow: bool) -> np.ndarray:
    """A writeable array in C order: the given one itself if it is such an array and is lent."""
    if borrow and isinstance(given, np.ndarray) and given.dtype == array.dtype and given.flags.carray:
        return given
    return np.array(array, order="C")
