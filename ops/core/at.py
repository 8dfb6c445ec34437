"""`x.at[...]`, as JAX writes it: `x` with a part of it replaced or added to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ... import ops as T  # the namespace; read when a method is called

if TYPE_CHECKING:
    from .tensor import TensorVariable
    from .typing import TensorLike


class At:
    """The value of `x.at`: `x.at[i].set(v)` and `x.at[i].add(v)` are `x` with v there, or v added there."""

    __slots__ = ("_x",)

    def __init__(self, x: TensorVariable) -> None:
        self._x = x

    def __getitem__(self, key: Any) -> Part:
        return Part(T.getitem(self._x, key))

    def __getattr__(self, name: str) -> Any:
        hint = f"; an index comes first: x.at[index].{name}(value)" if hasattr(Part, name) else ""
        raise AttributeError(f"x.at has no attribute {name!r}{hint}")


class Part:
    """`x.at[key]`."""

    __slots__ = ("_part",)

    def __init__(self, part: TensorVariable) -> None:
        self._part = part

    def get(self) -> TensorVariable:
        """`x[key]`."""
        return self._part

    def set(self, value: TensorLike) -> TensorVariable:
        """`x` with `value` in that place; see `T.set_subtensor`."""
        return T.set_subtensor(self._part, value)

    def add(self, value: TensorLike) -> TensorVariable:
        """`x` with `value` added in that place, each time for an element indexed several times."""
        return T.inc_subtensor(self._part, value)
