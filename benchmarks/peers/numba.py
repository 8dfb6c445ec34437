"""numba: array expressions under njit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba
import numpy as np

from ..cases import Case
from . import NotOffered


def version() -> str:
    return numba.__version__


def _plus_one(x: Any) -> Any:
    return x + 1


def _chain(x: Any, y: Any) -> Any:
    return np.exp(x) * y + np.sin(x) - y / x.dtype.type(3)


def _axpy(x: Any, y: Any) -> Any:
    return 2.5 * x + y


def _row_sums(x: Any) -> Any:
    return (x * x).sum(1)


FUNCTIONS = {"x+1": _plus_one, "exp(x)*y+sin(x)-y/3": _chain, "2.5*x+y": _axpy, "(x*x).sum(1)": _row_sums}


def build(case: Case) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    function = FUNCTIONS.get(case.name.split(",")[0])
    if function is None:
        raise NotOffered("written for the elementwise and reduction cases only")
    return numba.njit(function), case.inputs()
