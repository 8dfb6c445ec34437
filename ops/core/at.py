"""`x.at[...]`, as JAX writes it: `x` with a part of it replaced or added to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .namespace import T

if TYPE_CHECKING:
    from .tensor import TensorVariable
    from .typing import TensorLike


class At:
    """The value of `x.at`: `x.at[i].set(v)` is `x` with v there, `x.at[i].add(v)` with v added there, and so on.

    An element that the index names several times keeps the last value that is set, and is combined with every value
    by the other methods.
    """

    __slots__ = ("_x",)

    def __init__(self, x: TensorVariable) -> None:
        self._x = x

    def __getitem__(self, key: Any) -> Part:
        return Part(self._x, key)

    def __getattr__(self, name: str) -> Any:
        hint = f"; an index comes first: x.at[index].{name}(value)" if hasattr(Part, name) else ""
        raise AttributeError(f"x.at has no attribute {name!r}{hint}")


class Part:
    """`x.at[key]`."""

    __slots__ = ("_key", "_part", "_x")

    def __init__(self, x: TensorVariable, key: Any) -> None:
        self._x, self._key, self._part = x, key, T.getitem(x, key)

    def get(self) -> TensorVariable:
        """`x[key]`."""
        return self._part

    def set(self, value: TensorLike) -> TensorVariable:
        """`x` with `value` in that place; see `T.set_subtensor`."""
        return T.set_subtensor(self._part, value)

    def add(self, value: TensorLike) -> TensorVariable:
        """`x` with `value` added in that place, each time for an element indexed several times."""
        return T.inc_subtensor(self._part, value)

    def subtract(self, value: TensorLike) -> TensorVariable:
        """`x` with `value` subtracted in that place."""
        return T.inc_subtensor(self._part, T.neg(value))

    def multiply(self, value: TensorLike) -> TensorVariable:
        """`x` with that place multiplied by `value`."""
        return T.combine_subtensor(self._part, value, T.mul)

    def divide(self, value: TensorLike) -> TensorVariable:
        """`x` with that place divided by `value`, by the product of the values that are named there; as `/` a float."""
        dtype = T.true_div(self._x, value).dtype
        return T.true_div(self._x, self._products(value, dtype))

    def power(self, value: TensorLike) -> TensorVariable:
        """`x` with that place to the power `value`, that of the product of the values that are named there."""
        return T.pow(self._x, self._products(value, T.pow(self._x, value).dtype))

    def _products(self, value: TensorLike, dtype: str) -> TensorVariable:
        """The product of the values for each element, and ones elsewhere."""
        return Part(T.ones_like(self._x, dtype=dtype), self._key).multiply(value)

    def min(self, value: TensorLike) -> TensorVariable:
        """`x` with the smaller of that place and `value`; NaN if one of them is."""
        return T.combine_subtensor(self._part, value, T.minimum)

    def max(self, value: TensorLike) -> TensorVariable:
        """`x` with the larger of that place and `value`; NaN if one of them is."""
        return T.combine_subtensor(self._part, value, T.maximum)
