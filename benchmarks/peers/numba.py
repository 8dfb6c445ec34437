"""numba: array expressions and loops under njit."""

from __future__ import annotations

import math
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


def _column_sums(x: Any) -> Any:
    return (x * x).sum(0)


def _long_chain(x: Any, y: Any) -> Any:
    result = np.empty_like(x)
    for n in numba.prange(len(x)):
        z, step = np.abs(x[n]), np.abs(y[n])
        for k in range(50):
            z = np.float32(0.9) * np.sqrt(z * step + np.float32(0.5 + 0.01 * k))
        result[n] = z
    return result


def _black_scholes(price: Any, strike: Any, years: Any) -> Any:
    call, put = np.empty_like(price), np.empty_like(price)
    for n in numba.prange(len(price)):
        spread = 0.3 * math.sqrt(years[n])
        d1 = (math.log(price[n] / strike[n]) + (0.02 + 0.5 * 0.3**2) * years[n]) / spread
        d2 = d1 - spread
        discounted = strike[n] * math.exp(-0.02 * years[n])
        n1, n2 = 0.5 + 0.5 * math.erf(d1 * 0.5**0.5), 0.5 + 0.5 * math.erf(d2 * 0.5**0.5)
        call[n] = price[n] * n1 - discounted * n2
        put[n] = discounted * (1 - n2) - price[n] * (1 - n1)
    return call, put


def _adam(p: Any, g: Any, m: Any, v: Any) -> Any:
    f = np.float32
    new_p, new_m, new_v = np.empty_like(p), np.empty_like(p), np.empty_like(p)
    for n in numba.prange(len(p)):
        new_m[n] = f(0.9) * m[n] + f(0.1) * g[n]
        new_v[n] = f(0.999) * v[n] + f(0.001) * (g[n] * g[n])
        step = new_m[n] / f(1 - 0.9**10) / (np.sqrt(new_v[n] / f(1 - 0.999**10)) + f(1e-8))
        new_p[n] = p[n] - f(0.001) * step
    return new_p, new_m, new_v


def _stencil(x: Any) -> Any:
    rows, columns = x.shape[0] - 2, x.shape[1] - 2
    result = np.empty((rows, columns))
    for i in numba.prange(rows):
        for j in range(columns):
            centre = x[i + 1, j + 1]
            result[i, j] = x[i, j + 1] + x[i + 2, j + 1] + x[i + 1, j] + x[i + 1, j + 2] - 4 * centre
    return result


def _gather_scatter(table: Any, source: Any, target: Any) -> Any:
    result = table.copy()
    for k in range(len(source)):
        for j in range(table.shape[1]):
            result[target[k], j] += np.float32(0.5) * table[source[k], j]
    return result


FUNCTIONS = {
    "x+1": _plus_one, "exp(x)*y+sin(x)-y/3": _chain, "2.5*x+y": _axpy, "(x*x).sum(1)": _row_sums,
    "(x*x).sum(0)": _column_sums, "gather and scatter": _gather_scatter,
}  # fmt: skip
LOOPS = {
    "chain of 200": _long_chain, "Black-Scholes": _black_scholes, "Adam": _adam, "stencil": _stencil,
}  # fmt: skip
"""Written as loops, over both processors."""


def build(case: Case) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    name = case.name.split(",")[0]
    if name in LOOPS:
        return numba.njit(LOOPS[name], parallel=True), case.inputs()
    if name in FUNCTIONS:
        return numba.njit(FUNCTIONS[name]), case.inputs()
    raise NotOffered("written for elementwise cases, reductions and indexing")
