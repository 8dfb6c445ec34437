"""`Length`: a length of the call that `ag.jit` traces, as Python and NumPy see it in the traced function.

It is an int to Python.  In expressions it stays symbolic, so that one trace serves all lengths; what Python must know,
as for a branch or a `range`, it answers by the length of the call, and this answer becomes a guard of the trace.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from ...graph import Variable
from ...record import lazy
from .namespace import T
from .tracing import ADD, DIV, FLOORDIV, MOD, MUL, SUB, Known, Operation, Trace

traced: Any = lazy.module("..traced", __name__)

_COMPARISONS = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "==": operator.eq,
                "!=": operator.ne}  # fmt: skip
_UFUNCS = {"less": "<", "less_equal": "<=", "greater": ">", "greater_equal": ">=", "equal": "==", "not_equal": "!="}


class Length:
    """A number computed from lengths of the call: its value, its expression, and the symbolic scalar."""

    __slots__ = ("_make", "_made", "known", "trace")

    def __init__(self, trace: Trace, known: Known, make: Callable[[], Variable]) -> None:
        self.trace: Trace = trace
        self.known: Known = known
        self._make = make
        self._made: Variable | None = None

    @property  # type: ignore[misc]
    def __class__(self) -> type:  # isinstance(n, int) holds
        return type(self.known.value)

    @property
    def variable(self) -> Variable:
        """The symbolic scalar."""
        if self._made is None:
            self._made = self._make()
        return self._made

    def exact(self) -> Any:
        """Return the number in this call; a guard requires it of later calls."""
        self.trace.require(f"{self.known.text} == {self.known.value!r}")
        return self.known.value

    # --- arithmetic stays symbolic
    def __add__(self, other: Any) -> Any: return _joined(ADD, "add", self, other)
    def __radd__(self, other: Any) -> Any: return _joined(ADD, "add", other, self)
    def __sub__(self, other: Any) -> Any: return _joined(SUB, "sub", self, other)
    def __rsub__(self, other: Any) -> Any: return _joined(SUB, "sub", other, self)
    def __mul__(self, other: Any) -> Any: return _joined(MUL, "mul", self, other)
    def __rmul__(self, other: Any) -> Any: return _joined(MUL, "mul", other, self)
    def __floordiv__(self, other: Any) -> Any: return _joined(FLOORDIV, "floor_div", self, other)
    def __rfloordiv__(self, other: Any) -> Any: return _joined(FLOORDIV, "floor_div", other, self)
    def __mod__(self, other: Any) -> Any: return _joined(MOD, "mod", self, other)
    def __rmod__(self, other: Any) -> Any: return _joined(MOD, "mod", other, self)
    def __truediv__(self, other: Any) -> Any: return _joined(DIV, "true_div", self, other)
    def __rtruediv__(self, other: Any) -> Any: return _joined(DIV, "true_div", other, self)
    def __neg__(self) -> Any: return _joined(SUB, "sub", 0, self)
    def __pos__(self) -> Any: return self

    # --- comparisons are decided, and guarded
    def __lt__(self, other: Any) -> Any: return _decided("<", self, other)
    def __le__(self, other: Any) -> Any: return _decided("<=", self, other)
    def __gt__(self, other: Any) -> Any: return _decided(">", self, other)
    def __ge__(self, other: Any) -> Any: return _decided(">=", self, other)
    def __eq__(self, other: object) -> Any: return _decided("==", self, other)
    def __ne__(self, other: object) -> Any: return _decided("!=", self, other)
    def __bool__(self) -> bool: return bool(_decided("!=", self, 0))

    # --- all else needs the number
    def __hash__(self) -> int: return hash(self.exact())
    def __int__(self) -> int: return int(self.exact())
    def __index__(self) -> int: return operator.index(self.exact())
    def __float__(self) -> float: return float(self.exact())
    def __complex__(self) -> complex: return complex(self.exact())
    def __abs__(self) -> Any: return self if self >= 0 else -self
    def __round__(self, *digits: Any) -> Any: return round(self.exact(), *digits)
    def __trunc__(self) -> Any: return int(self.exact())
    def __floor__(self) -> Any: return self.exact().__floor__()
    def __ceil__(self) -> Any: return self.exact().__ceil__()
    def __pow__(self, other: Any) -> Any: return _plain(operator.pow, self, other)
    def __rpow__(self, other: Any) -> Any: return _plain(operator.pow, other, self)
    def __divmod__(self, other: Any) -> Any: return self // other, self % other
    def __rdivmod__(self, other: Any) -> Any: return other // self, other % self
    def __and__(self, other: Any) -> Any: return _plain(operator.and_, self, other)
    def __rand__(self, other: Any) -> Any: return _plain(operator.and_, other, self)
    def __or__(self, other: Any) -> Any: return _plain(operator.or_, self, other)
    def __ror__(self, other: Any) -> Any: return _plain(operator.or_, other, self)
    def __xor__(self, other: Any) -> Any: return _plain(operator.xor, self, other)
    def __lshift__(self, other: Any) -> Any: return _plain(operator.lshift, self, other)
    def __rlshift__(self, other: Any) -> Any: return _plain(operator.lshift, other, self)
    def __rshift__(self, other: Any) -> Any: return _plain(operator.rshift, self, other)
    def __invert__(self) -> Any: return ~self.exact()
    def __repr__(self) -> str: return repr(self.exact())
    def __format__(self, form: str) -> str: return format(self.exact(), form)
    def __reduce__(self) -> Any: return type(self.known.value), (self.exact(),)
    def __copy__(self) -> Any: return self
    def __deepcopy__(self, memo: Any) -> Any: return self

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        found = getattr(self.known.value, name)  # a name that numbers lack needs no guard
        self.exact()
        return found

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        return np.array(self.exact(), dtype=dtype)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        symbol = _UFUNCS.get(ufunc.__name__)
        plain = not any(isinstance(i, (np.ndarray, Variable)) for i in inputs)
        if method == "__call__" and not kwargs:
            if symbol is not None and plain:
                return np.bool_(_COMPARISONS[symbol](*map(_python, inputs)))
            function = getattr(T, ufunc.__name__, None)
            if function is not None and symbol is None:
                return function(*inputs)
        return getattr(ufunc, method)(*[i.exact() if type(i) is Length else i for i in inputs], **kwargs)


def _python(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _parts(value: Any) -> Any:
    """Return what an operation works on: a `Known`, or the number itself; None for other values."""
    if type(value) is Length:
        return value.known
    return value if type(value) in (int, float, bool) else None


def _joined(operation: Operation, name: str, a: Any, b: Any) -> Any:
    parts = _parts(a), _parts(b)
    if complex in (type(a), type(b)):
        return traced.operated(name, a, b)
    if None in parts:
        return NotImplemented
    length = a if type(a) is Length else b
    trace: Trace = length.trace
    if operation in (FLOORDIV, MOD, DIV) and type(b) is Length:
        bool(b)  # the guard: no division by zero
    found = trace.joined(operation, *parts)
    return Length(trace, found, lambda: getattr(T, name)(a, b)) if isinstance(found, Known) else found


def _decided(symbol: str, length: Length, other: Any) -> Any:
    other = _python(other)
    known: Any = other if type(other) is complex and symbol in ("==", "!=") else _parts(other)
    if known is None:
        return NotImplemented
    value, text = known if isinstance(known, Known) else (known, repr(known))
    found = _COMPARISONS[symbol](length.known.value, value)
    length.trace.require(f"({length.known.text} {symbol} {text}) is {found}")
    return found


def _plain(function: Callable[[Any, Any], Any], a: Any, b: Any) -> Any:
    if None in (_parts(a), _parts(b)) and complex not in (type(a), type(b)):
        return NotImplemented
    return function(*(v.exact() if type(v) is Length else v for v in (a, b)))
