"""A special function: an elementwise op whose meaning is a scalar function, which also has C (scalars.py)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ...graph import Op
from ..core import promotion
from ..core.namespace import T
from ..elementwise.c_forms import call
from ..elementwise.pointwise import Elementwise
from ..elementwise.records import add_special
from .scalars import meaning

SPECIAL: dict[str, SpecialFunction] = {}
"""Every special function by name."""
_RULES = {1: promotion.by_ufunc(np.cbrt)}


class SpecialFunction(Elementwise):
    """An elementwise op of `T.special`: float64 inside, rounded once; integers promote as SciPy's do."""

    @classmethod
    def printed(cls) -> Mapping[str, Op | Callable[..., Op]]:
        return SPECIAL

    def __reduce__(self) -> Any:
        return T.special.function_named, (self.name,)


def special_op(
    function: Callable[..., float], *derivative: Callable[..., Any] | None, cost: int, name: str = "", **facts: Any
) -> Any:
    """Return the op of a scalar function; `derivative`: an entry for each operand, as in other records."""
    name = name or function.__name__
    code = function.__code__
    count = code.co_argcount
    op = SpecialFunction(
        name, meaning(function), _RULES.get(count) or promotion.by_ufunc(np.arctan2), function.__doc__ or "",
        arity=count, operands=code.co_varnames[:count], cost=cost, derivative=derivative,
        c={"f": call(f"ag_{function.__name__}_f64", count)}, **facts,
    )  # fmt: skip
    SPECIAL[name] = op
    return add_special(op)
