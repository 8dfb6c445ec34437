"""Types of Theano: dtype and broadcast pattern of a tensor, and the generic type."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .... import graph
from ....record.spelling import counted
from ..flags import config
from .dtypes import ALL, autocast, float_x


class Type:
    """The base of types: makes variables and checks their values."""

    Variable: Any = None
    Constant: Any = None
    SharedVariable: Any = None

    def __call__(self, name: str | None = None) -> Any:
        return self.make_variable(name)

    def make_variable(self, name: str | None = None) -> Any:
        """A new variable of this type; no function computes with it unless it is a tensor."""
        return Type.Variable(self, name=name)

    def filter(self, data: Any, strict: bool = False, allow_downcast: bool | None = None) -> Any:
        """The value as this type holds it."""
        return data

    def is_valid_value(self, data: Any) -> bool:
        """Whether `filter` with `strict` takes the value."""
        try:
            self.filter(data, strict=True)
        except (TypeError, ValueError):
            return False
        return True

    def in_same_class(self, other: Any) -> bool:
        """Whether two types differ in their broadcast patterns alone."""
        return bool(self == other)

    def is_super(self, other: Any) -> bool:
        """Whether each value of the other type is one of this."""
        return bool(self == other)

    def values_eq(self, a: Any, b: Any) -> bool:
        """Whether two values are equal."""
        return bool(np.array_equal(a, b))

    def values_eq_approx(self, a: Any, b: Any, **tolerances: float) -> bool:
        """Whether two values are equal but for rounding."""
        return bool(np.allclose(a, b, equal_nan=True, **tolerances))


class Generic(Type):
    """The type of any Python object; no tensor has it."""

    ndim = 0

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other)

    def __hash__(self) -> int:
        return hash(type(self))

    def __repr__(self) -> str:
        return "<theano.gof.type.Generic>"


generic = Generic()


class TensorType(Type):
    """The type of an array: a dtype, and for each axis whether its length is known to be 1.

    Axes of a pattern that is False have a length that the function learns at run time.  Equal types are equal values.
    """

    context_name = "cpu"

    def __init__(self, dtype: Any, broadcastable: Sequence[Any], name: str | None = None, sparse_grad: bool = False):
        self.dtype: str = float_x(dtype)
        if self.dtype not in ALL:
            raise TypeError(f"TensorType: dtype is {dtype!r}; expected one of {', '.join(ALL)}")
        self.broadcastable: tuple[bool, ...] = tuple(bool(b) for b in broadcastable)
        self.name: str | None = name
        self.sparse_grad: bool = sparse_grad

    @property
    def ndim(self) -> int:
        return len(self.broadcastable)

    @property
    def numpy_dtype(self) -> np.dtype:
        """NumPy's dtype."""
        return np.dtype(self.dtype)

    @property
    def core(self) -> graph.TensorType:
        """The type of the core: a length of 1 for each broadcastable axis."""
        return graph.TensorType(self.dtype, tuple(1 if b else None for b in self.broadcastable))

    def clone(self, dtype: Any = None, broadcastable: Sequence[Any] | None = None) -> TensorType:
        """The same type with another dtype or pattern."""
        return TensorType(
            self.dtype if dtype is None else dtype,
            self.broadcastable if broadcastable is None else broadcastable,
            self.name, self.sparse_grad,
        )  # fmt: skip

    def make_variable(self, name: str | None = None) -> Any:
        """A new variable of this type."""
        return self.Variable(self, name=name)

    def filter(self, data: Any, strict: bool = False, allow_downcast: bool | None = None) -> np.ndarray:
        """The value as an array of this type.  Raises TypeError if it is none."""
        if strict and not (isinstance(data, np.ndarray) and data.dtype.name == self.dtype):
            raise TypeError(f"{self} with strict=True takes an array of {self.dtype}, got {type(data).__name__}")
        given = np.asarray(data)
        found = given.astype(self.dtype)
        lossless = np.can_cast(given.dtype, self.dtype) or np.array_equal(found, given)
        allowed = lossless or (allow_downcast is None and isinstance(data, float) and self.dtype == config.floatX)
        if not (allowed or allow_downcast):
            raise TypeError(
                f"{self} cannot hold {given.dtype} without loss; cast it, or pass allow_input_downcast=True"
            )
        if found.ndim != self.ndim:
            raise TypeError(f"{self} has {counted(self.ndim, 'dimension')}, got a value of shape {given.shape}")
        if any(b and n != 1 for b, n in zip(self.broadcastable, found.shape, strict=True)):
            raise TypeError(f"{self} has length 1 where its pattern is True, got a value of shape {given.shape}")
        return found

    def filter_variable(self, other: Any, allow_convert: bool = True) -> Any:
        """A variable of this type for a variable or value.  Raises TypeError for another dtype or rank."""
        if not hasattr(other, "owner"):
            other = self.Constant(self, self.filter(autocast(other, self.dtype)))
        if other.type != self and (other.dtype != self.dtype or other.ndim != self.ndim):
            raise TypeError(f"cannot convert {other.type} (of {other}) to {self}; cast it or change its rank")
        return other

    convert_variable = filter_variable

    def in_same_class(self, other: Any) -> bool:
        """Whether dtypes and ranks are equal."""
        return isinstance(other, TensorType) and (other.dtype, other.ndim) == (self.dtype, self.ndim)

    def is_super(self, other: Any) -> bool:
        """Whether each value of the other type is one of this."""
        return self.in_same_class(other) and all(
            theirs or not ours for ours, theirs in zip(self.broadcastable, other.broadcastable, strict=True)
        )

    def value_zeros(self, shape: Any) -> np.ndarray:
        """An array of zeros."""
        return np.zeros(shape, self.dtype)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TensorType) and (other.dtype, other.broadcastable) == (self.dtype, self.broadcastable)

    def __hash__(self) -> int:
        return hash((TensorType, self.dtype, self.broadcastable))

    def __str__(self) -> str:
        kinds = {0: "scalar", 1: "vector", 2: "matrix"}
        patterns: dict[Any, str] = {(False, True): "col", (True, False): "row"}
        kind = patterns.get(tuple(self.broadcastable), "" if any(self.broadcastable) else kinds.get(self.ndim, ""))
        kind = kind or (f"{self.ndim}D" if not any(self.broadcastable) else str(self.broadcastable))
        return self.name or f"TensorType({self.dtype}, {kind})"

    __repr__ = __str__


def type_of(core: graph.Variable) -> TensorType:
    """Theano's type of a variable of the core: broadcastable where the length is known to be 1."""
    return TensorType(core.type.dtype, tuple(n == 1 for n in core.type.shape))
