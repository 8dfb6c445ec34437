"""Checks: ops without a result that raise where a condition does not hold."""

from __future__ import annotations

from typing import Any

from .... import ops as T
from ....graph import Variable
from ..dtypes import as_dtype
from ..table import Call, converter


@converter("aten._assert_async.msg", "aten._assert_async.default", "aten._assert_scalar")
def assert_(call: Call, condition: Any, text: str = "a condition of the module does not hold") -> None:
    if isinstance(condition, Variable):
        call.conversion.conditions.append((as_dtype(condition, "bool"), _plain(text)))
    elif not condition:
        raise ValueError(text)


@converter("aten._linalg_check_errors")
def linalg_errors(call: Call, info: Any, api_name: str, *, is_matrix: bool) -> None:
    zero = as_dtype(0, info.dtype)
    call.conversion.conditions.append(
        (T.eq(info, zero), _plain(f"{api_name}: LAPACK reports an error, the matrix is singular or invalid"))
    )


@converter("aten.sym_constrain_range", "aten.sym_constrain_range_for_size", "aten._functional_sym_constrain_range")
def constrained(call: Call, *args: Any, **kwargs: Any) -> None:
    """Ranges of lengths that the export relied on are checked where inputs come in."""


def _plain(text: str) -> str:
    return text.replace("{", "{{").replace("}", "}}")
