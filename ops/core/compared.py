"""`x == y` and `x != y`: elementwise, but for two variables outside of a trace, which compare identity."""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np

from ...graph import Variable
from ...graph.provenance import asked_by_us
from .checks import shown
from .namespace import T
from .traced import operated
from .tracing import current


class Compared:
    """Whether two objects are the same variable (for `!=`: not).  Use as an array raises an error that names `T.eq`."""

    __slots__ = ("_operands", "_same", "_symbol")

    def __init__(self, symbol: str, a: Any, b: Any) -> None:
        self._symbol, self._operands, self._same = symbol, (a, b), symbol == "!="

    def __bool__(self) -> bool:
        return self._same

    def __repr__(self) -> str:
        return repr(self._same)

    def __eq__(self, other: object) -> bool:
        return self._same == bool(other)

    def __hash__(self) -> int:
        return hash(self._same)

    def _message(self) -> str:
        a, b = map(shown, self._operands)
        call = "T.eq(a, b)" if self._symbol == "==" else "T.ne(a, b)"
        return f"{a} {self._symbol} {b} compares identity and is {self._same}; element by element it is {call}"

    def _refuse(self, *arguments: Any, **options: Any) -> NoReturn:
        raise TypeError(self._message())

    __array__ = __and__ = __rand__ = __or__ = __ror__ = __xor__ = __rxor__ = __invert__ = __getitem__ = _refuse
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __neg__ = __len__ = __iter__ = _refuse

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("__"):  # names that Python and NumPy look up on any object
            raise AttributeError(name)
        raise AttributeError(f"a truth value has no {name}: {self._message()}")


_OPERANDS = (Variable, int, float, complex, np.generic, list, tuple)


def compared(symbol: str, x: Variable, other: object) -> Any:
    """Return the result of `x == other` or `x != other`; NotImplemented if `other` is no operand.

    Two variables compare identity outside of a trace, and in this library everywhere; anything else is elementwise.  To
    an array of a trace, as to NumPy's, an object that is no number is different from all elements.
    """
    if asked_by_us(3):
        return (x is other) == (symbol == "==")
    trace = current()
    if trace is None and isinstance(other, Variable):
        return symbol == "==" if x is other else Compared(symbol, x, other)
    if isinstance(other, _OPERANDS):
        return operated("eq" if symbol == "==" else "ne", x, other)
    if trace is not None and (other is None or isinstance(other, (str, bytes))):
        return T.full_like(x, symbol == "!=", dtype="bool")
    return NotImplemented
