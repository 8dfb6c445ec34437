"""Python's operators between patterns: `1 + T.abs(u)` is the pattern `add(1, abs(u))`.

This package knows no op by name, so the ops that operators stand for are told to it: `OPERATORS` by the name of the
special method, as in `OPERATORS["add"] = add`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

OPERATORS: dict[str, Callable[..., Any]] = {}
"""Op of each operator, by the name of its special method without underscores."""

BINARY = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and", "or", "xor", "lshift", "rshift")
COMPARISONS = ("lt", "le", "gt", "ge")
UNARY = ("neg", "abs", "invert")


class WithOperators:
    """Base of patterns: each operator applies its op.  `==` stays identity, as it does between variables."""

    __slots__ = ()
    __array_ufunc__ = None
    """NumPy's numbers leave `number + pattern` to the pattern."""


def _op_of(name: str) -> Callable[..., Any]:
    if name not in OPERATORS:
        raise TypeError(f"no op is known for the operator {name!r} between patterns; apply an op, as in op(x, y)")
    return OPERATORS[name]


def _forward(name: str) -> Callable[..., Any]:
    def apply(self: Any, *others: Any) -> Any:
        return _op_of(name)(self, *others)

    return apply


def _reflected(name: str) -> Callable[..., Any]:
    return lambda self, other: _op_of(name)(other, self)


for _name in (*BINARY, *COMPARISONS, *UNARY):
    setattr(WithOperators, f"__{_name}__", _forward(_name))
for _name in BINARY:
    setattr(WithOperators, f"__r{_name}__", _reflected(_name))
