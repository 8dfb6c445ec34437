"""`theano.shared`: variables that keep a value between calls."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ....ops.core.shared import Container
from ....ops.core.shared import SharedVariable as CoreShared
from ..tensors.types import TensorType
from ..tensors.variables import TensorOperators, Variable, lower, shared_kind, wrap


class SharedVariable(Variable):
    """The base of variables with a value of their own."""

    @property
    def default_update(self) -> Any:
        """Its new value after each call of a function that reads it; None if it keeps it."""
        found = self.core.default_update
        return None if found is None else wrap(found)

    @default_update.setter
    def default_update(self, value: Any) -> None:
        self.core.default_update = lower(value)

    @property
    def container(self) -> Any:
        """The place of the value: `value` and `storage`."""
        return self.core.container

    def get_value(self, borrow: bool = False, return_internal_type: bool = False) -> Any:
        """A copy of the value, or the array itself."""
        return self.core.get_value(borrow=borrow)

    def set_value(self, new_value: Any, borrow: bool = False) -> None:
        """Another value of its dtype and rank."""
        data = new_value if isinstance(new_value, np.ndarray) else np.asarray(new_value)
        if data.dtype.name != self.core.type.dtype:
            data = self.type.filter(new_value, allow_downcast=None)
        self.core.set_value(data, borrow=borrow)

    def zero(self, borrow: bool = False) -> None:
        """Make all numbers zero."""
        self.core.set_value(np.zeros_like(self.core.get_value(borrow=True)))

    def clone(self) -> Any:
        """Another variable of the same container."""
        return wrap(self.core.clone_leaf())

    @property
    def value(self) -> Any:
        raise AttributeError("shared variables have no `value`; use get_value() and set_value(v)")

    def __str__(self) -> str:
        return self.name or f"<{self.type}>"

    __repr__ = __str__


class TensorSharedVariable(TensorOperators, SharedVariable):
    """A shared array."""

    __str__ = SharedVariable.__str__
    __repr__ = SharedVariable.__repr__
    clone = SharedVariable.clone


class ScalarSharedVariable(TensorSharedVariable):
    """A shared array of rank 0."""


def _wrapper(core: CoreShared) -> Any:
    kind = TensorSharedVariable if core.type.shape else ScalarSharedVariable
    found = kind.__new__(kind)
    found._hold(core)
    return found


shared_kind.append(_wrapper)
TensorType.SharedVariable = TensorSharedVariable
_constructors: list[Any] = []


def shared_constructor(function: Any, remove: bool = False) -> Any:
    """Register a constructor that `shared` asks, the latest first; it raises TypeError for values of others."""
    if remove:
        _constructors.remove(function)
    else:
        _constructors.append(function)
    return function


def shared(
    value: Any, name: str | None = None, strict: bool = False, allow_downcast: bool | None = None,
    borrow: bool = False, broadcastable: Sequence[bool] | None = None, target: str = "cpu", **options: Any,
) -> Any:  # fmt: skip
    """A shared variable with this first value, copied unless `borrow`.

    Its dtype is that of the array; Python integers give int64, floats float64.  `broadcastable`: the axes whose
    length stays 1; by default none.  Raises TypeError for a variable and for values that no tensor holds.
    """
    if isinstance(value, Variable):
        raise TypeError(f"theano.shared takes a value, and {value} is symbolic; give x.get_value(), or use x itself")
    for constructor in reversed(_constructors):
        try:
            return constructor(value, name=name, strict=strict, allow_downcast=allow_downcast, **options)
        except TypeError:
            continue
    if strict and not isinstance(value, (np.ndarray, np.generic)):
        raise TypeError(f"theano.shared with strict=True takes an array, got {type(value).__name__} {value!r}")
    array = np.asarray(value)
    pattern = (False,) * array.ndim if broadcastable is None else tuple(broadcastable)
    if len(pattern) != array.ndim or any(b and n != 1 for b, n in zip(pattern, array.shape, strict=True)):
        raise ValueError(f"theano.shared: broadcastable is {pattern}, and the value has shape {array.shape}")
    try:
        kind = TensorType(array.dtype, pattern)
    except TypeError:
        raise TypeError(
            f"theano.shared{f' variable {name}' if name else ''} cannot hold {type(value).__name__} {value!r}"[:200]
        ) from None
    core = CoreShared(kind.core, Container(np.empty(())), name)
    keeps = borrow and isinstance(value, np.ndarray) and value.flags.carray
    core.container.value = value if keeps else np.array(array, order="C")
    return wrap(core)
