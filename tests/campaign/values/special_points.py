"""First and second derivatives at special values, against limits by mpmath: NaN only where mathematics has none.

Each elementwise op at zeros of both signs, ones, infinities, NaN and numbers at the ends of the range; ops that move or
add elements with infinities among them: their second derivatives do not depend on values.  At full size with more
points, and compiled with optimizations as well as run by NumPy without.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from typing import Any

import numpy as np

import arignote as ag
from arignote import ops as T

from ..scorecard import Row, Trials
from .limits import slope

INF = math.inf
POWERS = (3, -1, 0.5, -0.5, 2.5, 1, 0)
UNARY_POINTS = (0.0, -0.0, 1.0, -1.0, 0.25, INF, -INF)
MORE_UNARY_POINTS = (-0.75, 2.25, -2.75, 30.25, -30.25, 700.25, -700.25, 1e-60, -1e-60, 1e60, -1e60)
BINARY_POINTS = (0.0, -0.0, 2.0, INF, -INF)
MORE_BINARY_POINTS = (1.0, -1.0, 0.5, -2.5)
TOLERANCE = 1e-9


def _power(b: float, x: Any) -> Any:
    return x**b


@cache
def unary() -> dict[str, Callable[[Any], Any]]:
    import mpmath as mp

    return {
        "neg": lambda x: -x, "abs": abs, "square": lambda x: x * x, "sqrt": mp.sqrt, "reciprocal": lambda x: 1 / x,
        "cbrt": lambda x: mp.sign(x) * mp.cbrt(abs(x)), "exp": mp.exp, "exp2": lambda x: mp.mpf(2) ** x,
        "expm1": mp.expm1, "log": mp.log, "log2": lambda x: mp.log(x) / mp.log(2), "log1p": lambda x: mp.log(1 + x),
        "log10": lambda x: mp.log(x) / mp.log(10), "log1mexp": lambda x: mp.log(-mp.expm1(x)),
        "sin": mp.sin, "cos": mp.cos, "tan": mp.tan, "arcsin": mp.asin, "arccos": mp.acos, "arctan": mp.atan,
        "sinh": mp.sinh, "cosh": mp.cosh, "tanh": mp.tanh, "arcsinh": mp.asinh, "arccosh": mp.acosh,
        "arctanh": mp.atanh, "deg2rad": mp.radians, "rad2deg": mp.degrees, "erf": mp.erf,
        "erfc": lambda x: 1 - mp.erf(x), "gamma": mp.gamma, "gammaln": lambda x: mp.log(abs(mp.gamma(x))),
        "digamma": mp.digamma, "sigmoid": lambda x: 1 / (1 + mp.exp(-x)), "softplus": lambda x: mp.log(1 + mp.exp(x)),
        "identity": lambda x: x, "real": lambda x: x, "conj": lambda x: x, "imag": lambda x: 0 * x,
        "sign": mp.sign, "floor": mp.floor, "ceil": mp.ceil, "rint": mp.nint,
        "trunc": lambda x: mp.sign(x) * mp.floor(abs(x)), **{f"power {b}": partial(_power, b) for b in POWERS},
    }  # fmt: skip


@cache
def binary() -> dict[str, Callable[[Any, Any], Any]]:
    import mpmath as mp

    return {
        "add": lambda a, b: a + b, "sub": lambda a, b: a - b, "mul": lambda a, b: a * b,
        "true_div": lambda a, b: a / b, "pow": lambda a, b: a**b,
        "hypot": lambda a, b: mp.sqrt(a * a + b * b), "arctan2": mp.atan2,
        "logaddexp": lambda a, b: max(a, b) + mp.log(1 + mp.exp(-abs(a - b))),
        "maximum": max, "minimum": min, "mod": lambda a, b: a - b * mp.floor(a / b),
        "fmod": lambda a, b: a - b * mp.sign(a / b) * mp.floor(abs(a / b)),
        "floor_div": lambda a, b: mp.floor(a / b),
        "copysign": lambda a, b: abs(a) * mp.sign(b), "fill": lambda like, value: value,
        "switch": lambda a, b: a if a > b else 3 * b, "clip": lambda a, b: min(max(a, -1.5), b),
    }  # fmt: skip


BUILT = {
    **{f"power {b}": partial(_power, b) for b in POWERS},
    "switch": lambda a, b: T.switch(a > b, a, 3 * b), "clip": lambda a, b: T.clip(a, -1.5, b),
}  # fmt: skip
LEFT_OUT = {
    *((name, "-0.0") for name in ("sqrt", "log", "log2", "log10", "power 0.5", "power -0.5", "power 2.5")),  # outside
    ("gammaln", "-inf"),  # poles at all integers before
}
"""Points whose values are a convention: there is no limit, or one from where the function is not real."""


def is_left_out(name: str, point: tuple[float, ...]) -> bool:
    """Whether the derivatives at this point are a convention, or those of a kink or jump beside it."""
    if len(point) == 1:
        jumps = name in ("floor", "ceil", "trunc", "rint") and abs(point[0]) > 1 and point[0].is_integer()
        return jumps or (name, str(point[0])) in LEFT_OUT
    a, b = point
    if name in ("mod", "fmod", "floor_div"):
        return a == b or (math.isfinite(a / (b or 1)) and a % (b or 1) == 0 and a != 0)
    if name == "pow":  # 0**0, 1**inf, log(-0), and the mixed derivative at 0, a sum of opposite infinities
        return (a == 0 and (np.signbit(a) or 0 <= b <= 1)) or (a == 1 and math.isinf(b))
    if name == "arctan2":
        return a == b == 0
    return name in ("maximum", "minimum", "switch", "clip") and a == b


def derivatives(f: Callable[..., Any], inputs: Sequence[Any]) -> tuple[list[tuple[int, ...]], list[Any]]:
    """The orders of all first and second derivatives of an elementwise expression, and the derivatives."""
    orders, found = [], []
    n = len(inputs)
    y = f(*inputs)
    first = ag.grad(T.sum(y), list(inputs), disconnected="zero")
    for i in range(n):
        orders.append(tuple(int(k == i) for k in range(n)))
        found.append(first[i])
        second = ag.grad(T.sum(first[i]), list(inputs), disconnected="zero")
        for j in range(i, n):
            orders.append(tuple((k == i) + (k == j) for k in range(n)))
            found.append(second[j])
    return orders, [y, *found]


def trial(name: str, truth: Callable[..., Any], points: Sequence[tuple[float, ...]], mode: str) -> Iterator[str | None]:
    """For each derivative at each point None, or what is wrong with it."""
    columns = [np.array(c) for c in zip(*points)]
    inputs = [T.vector(n) for n in "ab"[: len(columns)]]
    orders, outputs = derivatives(BUILT.get(name) or T.ELEMENTWISE[name], inputs)
    y, *found = ag.function(inputs, outputs, mode=mode, on_unused_input="ignore")(*columns)
    for k, point in enumerate(points):
        if is_left_out(name, point) or np.isnan(y[k]):
            continue
        for order, values in zip(orders, found):
            allowed = slope(truth, order, point)
            yield (
                None if not allowed or any(_near(values[k], a) for a in allowed)
                else f"{mode}: {name}{point}: derivative {order} is {values[k]}, not {sorted(allowed)}"
            )  # fmt: skip


def _near(value: float, allowed: float) -> bool:
    if math.isinf(allowed) or math.isinf(value):
        return value == allowed
    return bool(abs(value - allowed) <= TOLERANCE * max(1.0, abs(allowed)))


W = np.array([[1.0, -2.0, 0.5], [0.25, 3.0, -1.0], [2.0, 1.0, 1.0]])
LINEAR: dict[str, Callable[[Any], Any]] = {
    "reshape": lambda x: x.reshape((9,)), "transpose": lambda x: x.T, "part": lambda x: x[1:, ::-1],
    "index": lambda x: x[[0, 2, 0]], "join": lambda x: T.concatenate([x, 2 * x]), "stack": lambda x: T.stack([x, x]),
    "broadcast_to": lambda x: T.broadcast_to(x, (2, 3, 3)), "diagonal": T.diagonal, "tril": T.tril,
    "set": lambda x: T.set_subtensor(x[0], 1.0), "inc": lambda x: T.inc_subtensor(x[0], x[1]),
    "sum": lambda x: x.sum(axis=0), "mean": lambda x: x.mean(axis=1), "cumsum": lambda x: T.cumsum(x, axis=0),
    "fill": lambda x: T.fill(x, x[0]), "zeros_like": lambda x: T.zeros_like(x) + x, "roll": lambda x: T.roll(x, 1),
    "take_along": lambda x: T.take_along_axis(x, T.argsort(x, axis=1), axis=1), "sort": lambda x: T.sort(x, axis=1),
    "full_like": lambda x: T.full_like(x, x[0, 0]) + x, "alloc": lambda x: T.alloc(x[0], x.shape[0], x.shape[1]),
    "where": lambda x: T.where(T.eye(3) > 0, x, 2 * x), "floor": lambda x: T.floor(x) + x,
    "one of two": lambda x: ag.cond(T.isnan(x).any(), x, 3 * x), "repeat": lambda x: T.repeat(x, 2, axis=0),
    "scan": lambda x: ag.scan(lambda row: row * 2, sequences=x)[0], "pad": lambda x: T.pad(x, 1),
    "running": lambda x: ag.scan(lambda row, h: row + h, sequences=x, outputs_info=T.zeros(3))[0],
    "shape": lambda x: x * x.shape[0], "max": lambda x: x.max(axis=1), "min": lambda x: x.min(axis=1),
    "argmax": lambda x: x[T.argmax(x, axis=0), T.arange(3)], "comparison": lambda x: x + T.cast(x > 0, "float64"),
    "stop": lambda x: x + T.stop_gradient(x), "one_hot": lambda x: x + T.cast(T.eq(T.arange(3), 1), "float64"),
}  # fmt: skip
"""Ops that are linear in elements, or piecewise so: the second derivatives of their squares do not depend on values."""


def linear(name: str, mode: str, special: float) -> str | None:
    """Fault of the second derivative where one element is special, beside those where none is."""
    x = T.matrix("x", shape=(3, 3))
    first = ag.grad(T.sum(T.square(LINEAR[name](x))), x)
    f = ag.function([x], ag.grad(T.sum(first), x, disconnected="zero"), mode=mode, on_unused_input="ignore")
    plain = np.array([[1.0, -20.0, 3.0], [40.0, 5.5, -6.0], [7.0, 8.0, -9.0]])
    values = plain.copy()
    values.flat[3 if special > 0 else 1] = special
    expected, got = f(plain), f(values)
    if np.array_equal(expected, got):
        return None
    return f"{mode}: {name} with {special}: {got.tolist()}, not {expected.tolist()}"


def products(length: int, mode: str) -> Iterator[str | None]:
    """Hessians of products of zeros, small integers and, for the gradient, one infinity, against sums of products."""
    x = T.vector("x")
    for name, cost, lasts in (("prod", T.prod(x), [length]), ("cumprod", T.sum(T.cumprod(x)), range(1, length + 1))):
        gradient = ag.grad(cost, x)
        f = ag.function([x], [gradient, ag.jacobian(gradient, x)], mode=mode)
        for values in itertools.product((0.0, 2.0, -3.0), repeat=length):
            first, second = np.zeros(length), np.zeros((length, length))
            for last, i, j in itertools.product(lasts, range(length), range(length)):
                rest = math.prod(v for k, v in enumerate(values[:last]) if k not in (i, j))
                (first if i == j else second)[i if i == j else (i, j)] += rest if max(i, j) < last else 0
            found = f(np.array(values))
            good = np.allclose(found[0], first, 1e-14, 0) and np.allclose(found[1], second, 1e-13, 1e-13)
            yield None if good else f"{mode}: {name} of {values}: {found[1].tolist()}, not {second.tolist()}"
    for place in range(length):
        values = [2.0, -3.0, 0.5, 4.0][:length]
        values[place] = INF
        expected = [math.prod(v for k, v in enumerate(values) if k != i) for i in range(length)]
        found = ag.grad(T.prod(x), x).eval({x: values})
        yield None if np.array_equal(found, expected) else f"prod of {values}: {found.tolist()}, not {expected}"


def run(full: bool) -> list[Row]:
    elementwise = Trials("G39", "first and second derivatives of elementwise ops at special values: limits")
    of_linear = Trials("G39", "second derivatives of what moves or adds elements, with infinities: no NaN")
    one = UNARY_POINTS + (MORE_UNARY_POINTS if full else ())
    two = BINARY_POINTS + (MORE_BINARY_POINTS if full else ())
    for mode in ("NUMPY", "FAST_RUN", "FAST_COMPILE") if full else ("FAST_COMPILE",):
        for name, truth in unary().items():
            for wrong in trial(name, truth, [(p,) for p in one], mode):
                elementwise.check(wrong is None, wrong or "")
        for name, truth in binary().items():
            for wrong in trial(name, truth, list(itertools.product(two, two)), mode):
                elementwise.check(wrong is None, wrong or "")
        for name, special in itertools.product(LINEAR, (INF, -INF)):
            wrong = linear(name, mode, special)
            of_linear.check(wrong is None, wrong or "")
    of_products = Trials("G39", "derivatives of products of zeros, and with one infinity: sums of products")
    for wrong in products(4 if full else 3, "FAST_RUN" if full else "NUMPY"):
        of_products.check(wrong is None, wrong or "")
    return [elementwise.row(), of_linear.row(), of_products.row()]
