"""The pair that `ag.scan` returns: a tuple and a dict with helpful errors if they are used as a tensor."""

from __future__ import annotations

from typing import Any, NamedTuple, NoReturn

from ..graph import Variable
from ..graph.provenance import here
from ..ops.core.shared import SharedVariable


class NotATensor:
    """Arithmetic, attributes and array conversion of tensors: each raises TypeError or AttributeError with the fix."""

    _called = "the result of scan"

    def _refuse(self, use: str, kind: type[Exception] = TypeError) -> NoReturn:
        line = next(iter(here()), None)
        raise kind(
            f"scan: {self._called} is used as a tensor ({use}); scan gives the pair (outputs, updates)"
            f"{f'{chr(10)}  at {line}' if line else ''}\n"
            "unpack it: h, updates = ag.scan(...); with several outputs (h, c), updates = ag.scan(...)"
        )

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        self._refuse(f".{name}", AttributeError)

    def __array__(self, *_: Any, **__: Any) -> Any:
        self._refuse("an array")

    def __matmul__(self, other: Any) -> Any: self._refuse("@")
    def __sub__(self, other: Any) -> Any: self._refuse("-")
    def __rsub__(self, other: Any) -> Any: self._refuse("-")
    def __mul__(self, other: Any) -> Any: self._refuse("*")
    def __rmul__(self, other: Any) -> Any: self._refuse("*")
    def __truediv__(self, other: Any) -> Any: self._refuse("/")
    def __rtruediv__(self, other: Any) -> Any: self._refuse("/")
    def __pow__(self, other: Any) -> Any: self._refuse("**")
    def __neg__(self) -> Any: self._refuse("-")
    def __lt__(self, other: Any) -> Any: self._refuse("<")
    def __le__(self, other: Any) -> Any: self._refuse("<=")
    def __gt__(self, other: Any) -> Any: self._refuse(">")
    def __ge__(self, other: Any) -> Any: self._refuse(">=")


def require_unpacked(value: Any, use: str) -> None:
    """Raise TypeError for the pair that `ag.scan` returns, and for its updates."""
    if isinstance(value, NotATensor):
        value._refuse(use)


class _Pair(NamedTuple):
    outputs: Any
    updates: Updates


class Scanned(NotATensor, _Pair):
    """The result of `ag.scan`: `outputs`, a variable or a list of them (None if there are none), and `updates`."""

    __slots__ = ()

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, (tuple, Variable)) or index is None or index is Ellipsis:
            self._refuse("an index")
        return tuple.__getitem__(self, index)

    def __add__(self, other: Any) -> Any:
        return tuple.__add__(self, other) if isinstance(other, tuple) else self._refuse("+")

    def __radd__(self, other: Any) -> Any:
        self._refuse("+")


class Updates(NotATensor, dict[SharedVariable, Variable]):
    """New values of the shared variables that the steps update, after the last step."""

    _called = "the second result of scan, the updates,"

    def __missing__(self, key: Any) -> Any:
        if isinstance(key, Variable):
            raise KeyError(key)
        self._refuse("an index")
