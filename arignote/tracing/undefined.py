"""The value of a name that is not assigned so far."""

from __future__ import annotations

from typing import Any, NoReturn


class Undefined:
    """Stands for a local variable before its first assignment; use raises UnboundLocalError."""

    __slots__ = ("_name",)

    def __init__(self, name: str) -> None:
        self._name = name

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Undefined) and self._name == other._name

    def __hash__(self) -> int:
        return hash(self._name)

    def _raise(self, *_: Any) -> NoReturn:
        raise UnboundLocalError(f"cannot access local variable {self._name!r} where it is not associated with a value")

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("__"):
            raise AttributeError(name)
        self._raise()

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = _raise
    __bool__ = __iter__ = __getitem__ = __call__ = __neg__ = __lt__ = __gt__ = __le__ = __ge__ = __matmul__ = _raise
    __array__ = __len__ = __float__ = __int__ = _raise


def defined(value: Any) -> Any:
    """Return a value.  Raises UnboundLocalError for one that is not assigned."""
    if type(value) is Undefined:
        value._raise()
    return value
