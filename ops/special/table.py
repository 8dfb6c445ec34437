"""How a row of the table of special functions makes an op (functions.py)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..core import promotion
from ..elementwise.c_forms import call
from ..elementwise.records import add_special
from .function import SPECIAL, SpecialFunction
from .scalars import meaning

_RULES = {1: promotion.by_ufunc(np.cbrt)}


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
