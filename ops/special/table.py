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

_LIKE = {1: np.cbrt}
_NARROW = frozenset((
    "airyai", "airyaip", "airybi", "airybip", "betainc", "betaincc", "betainccinv", "betaincinv", "entr", "erfcinv",
    "erfinv", "exp1", "expi", "huber", "hyp1f1", "iv", "ive", "jv", "kl_div", "kv", "kve", "ndtri", "ndtri_exp",
    "owens_t", "pseudo_huber", "rel_entr", "spence", "yv",
))  # fmt: skip
"""Functions that take int8 and int16 in float32; SciPy's others take them in float64."""


def special_op(
    function: Callable[..., float], *derivative: Callable[..., Any] | None, cost: int, **facts: Any
) -> Any:
    """Return the op of a scalar function; `derivative`: an entry for each operand, as in other records."""
    name, code = function.__name__, function.__code__
    count = code.co_argcount
    rule = promotion.by_scipy(_LIKE.get(count, np.arctan2), "float32" if name in _NARROW else "float64")
    op = SpecialFunction(
        name, meaning(function), rule, function.__doc__ or "",
        arity=count, operands=code.co_varnames[:count], cost=cost, derivative=derivative,
        c={"f": call(f"ag_{name}_f64", count)}, **facts,
    )  # fmt: skip
    SPECIAL[name] = op
    return add_special(op)
