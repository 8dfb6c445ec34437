"""Checks: ops without a result that raise where a condition does not hold."""

from __future__ import annotations

from typing import Any

import numpy as np

from .... import ops as T
from ....graph import Variable
from ..dtypes import Unsupported, as_dtype
from ..table import Call, converter, found_for, name_of_op


@converter("aten._assert_async.msg", "aten._assert_async.default", "aten._assert_scalar")
def assert_(call: Call, condition: Any, text: str = "a condition of the module does not hold") -> None:
    if isinstance(condition, Variable):
        call.conversion.conditions.append((as_dtype(condition, "bool"), _plain(text), AssertionError))
    elif not condition:
        raise ValueError(text)


@converter("aten._linalg_check_errors")
def linalg_errors(call: Call, info: Any, api_name: str, *, is_matrix: bool) -> None:
    text = f"{api_name}: a matrix is singular, or LAPACK takes it for no valid argument"
    ok = T.eq(info, as_dtype(0, info.dtype))
    call.conversion.conditions.append((ok, _plain(text), np.linalg.LinAlgError))


@converter("torch.ops.higher_order.with_effects")
def with_effects(call: Call, token: Any, op: Any, *args: Any, **kwargs: Any) -> Any:
    """An op whose effect is an error; tokens order effects, and errors need no order."""
    convert = found_for(op)
    if convert is None:
        raise Unsupported(f"{name_of_op(op)} has an effect")
    found = convert(call, *args, **kwargs)
    return (token, *(found if isinstance(found, tuple) else (found,)))


@converter("prims._make_token", "prims._sink_tokens")
def tokens(call: Call, *args: Any) -> None:
    """Tokens are no values."""


@converter("aten.sym_constrain_range", "aten.sym_constrain_range_for_size", "aten._functional_sym_constrain_range")
def constrained(call: Call, *args: Any, **kwargs: Any) -> None:
    """Ranges of lengths that the export relied on are checked where inputs come in."""


def _plain(text: str) -> str:
    return text.replace("{", "{{").replace("}", "}}")
