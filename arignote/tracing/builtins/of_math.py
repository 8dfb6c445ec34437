"""Python's `math` and `cmath` for symbolic numbers: their results are Python numbers.

Where Python raises ValueError or OverflowError, as for `math.sqrt(-1.0)`, the trace notes it.  Such a call runs in
Python, which raises the error.
"""

from __future__ import annotations

import cmath
import math
from collections.abc import Callable, Iterable
from typing import Any

from ... import ops as T
from ...graph import Constant
from ...ops.core.tensor import as_tensor
from ...ops.core.traced import keep_class, known_of, number_of
from ...ops.core.tracing import Known, Number, current
from ..integers import note_domain


def _number(found: Any) -> Any:
    """Return a result as the Python number or bool that it stands for."""
    keep_class(current(), found, {"f": float, "c": complex, "b": bool, "i": int}[found.type.kind])  # type: ignore[arg-type]
    return found


def _wide(x: Any, dtype: str = "float64") -> Any:
    """Return a number or a length as a scalar of the dtype in which Python computes."""
    return T.cast(as_tensor(x.variable if hasattr(x, "known") else x), dtype)


def _of_math(python: str, name: str) -> Callable[..., Any]:
    """Return a function of `math` that is one of ours."""

    fails = _FAILS.get(python)

    def function(*args: Any) -> Any:
        trace: Any = current()
        if name in _OF_FLOATS and all(n is not None and n.kind is int for n in map(number_of, args)):
            return name == "isfinite"
        given = [known_of(a) or (Known(a, repr(a)) if type(a) in (bool, int, float) else None) for a in args]
        wide = [_wide(a) for a in args]
        found = T.log(wide[0]) / T.log(wide[1]) if name == "log" and len(wide) == 2 else getattr(T, name)(*wide)
        if len(wide) == 2 and name == "log":
            note_domain(trace, T.logical_or(T.le(wide[0], 0), T.logical_or(T.le(wide[1], 0), T.eq(wide[1], 1))))
        elif fails is not None:
            note_domain(trace, fails(found, *wide))
        _number(found)
        known = [k for k in given if k is not None]
        if len(known) == len(args) and found.type.kind == "f":
            value = getattr(math, python)(*(k.value for k in known))
            trace.numbers[found] = Number(float, Known(value, f"math.{python}({', '.join(k.text for k in known)})"))
        return found

    return function


def _of_cmath(name: str) -> Callable[..., Any]:
    """Return a function of `cmath` that is one of ours."""

    def function(z: Any) -> Any:
        wide = _wide(z, "complex128")
        found = getattr(T, name)(wide)
        if found.type.kind == "c":
            note_domain(current(), _is_lost(found, wide))
        return _number(found)

    return function


def _is_lost(found: Any, *args: Any) -> Any:
    """Return whether a result is not finite though the arguments are, or NaN though none of them is."""
    finite, nan = (T.logical_not(_all(f, args)) for f in (T.isfinite, lambda x: T.logical_not(T.isnan(x))))
    return T.logical_not(T.logical_or(T.isfinite(found), T.switch(T.isnan(found), nan, finite)))


def _all(test: Callable[[Any], Any], values: Iterable[Any]) -> Any:
    first, *rest = map(test, values)
    for other in rest:
        first = T.logical_and(first, other)
    return first


def _above(limit: float) -> Callable[..., Any]:
    return lambda found, x: T.gt(x, limit)


def _beyond(limit: float) -> Callable[..., Any]:
    return lambda found, x: T.gt(T.abs(x), limit)


def _up_to(limit: float) -> Callable[..., Any]:
    return lambda found, x: T.le(x, limit)


def _infinite(found: Any, x: Any) -> Any:
    return T.isinf(x)


def _log_gamma_fails(found: Any, x: Any) -> Any:
    """Return whether `math.lgamma` differs: it is infinite at -inf, where SciPy's is -inf."""
    return T.logical_or(_is_lost(found, x), T.eq(x, -math.inf))


def _is_negative(found: Any, x: Any) -> Any:
    """Return whether a number is below zero; None for one that never is by its formula."""
    return None if _is_nonnegative(x) else T.lt(x, 0)


def _is_nonnegative(v: Any, depth: int = 8) -> bool:
    """Whether a number is a square, an absolute value, a root, an exponential or a sum or product of such; or NaN."""
    if isinstance(v, Constant):
        return not v.ndim and v.type.kind in "biuf" and bool(v.data >= 0)
    if v.owner is None or not depth or v.type.kind != "f":
        return bool(v.type.kind == "b")
    name, parts = v.owner.op.name, v.owner.inputs
    if name in ("square", "abs", "sqrt", "exp") or (name in ("mul", "pow") and _is_square(name, parts)):
        return True
    return name in _KEEP_SIGN and all(_is_nonnegative(p, depth - 1) for p in parts)


def _is_square(name: str, parts: Any) -> bool:
    """Whether a product or power is the square of a number."""
    if name == "mul":
        return len(parts) == 2 and _is_same(*parts)
    power = parts[1].owner.inputs[0] if parts[1].owner is not None and parts[1].owner.op.name == "cast" else parts[1]
    return isinstance(power, Constant) and not power.ndim and power.type.kind in "iuf" and power.data in (2, 4)


def _is_same(a: Any, b: Any, depth: int = 3) -> bool:
    """Whether two values are one, or made alike, such as an element that is read twice."""
    if isinstance(a, Constant) and isinstance(b, Constant):
        return a.ndim == b.ndim == 0 and a.dtype == b.dtype and bool(a.data == b.data)
    if a is b or a.owner is None or b.owner is None or not depth:
        return a is b
    pairs = zip(a.owner.inputs, b.owner.inputs, strict=False)
    return a.owner.op == b.owner.op and all(_is_same(i, j, depth - 1) for i, j in pairs)


_KEEP_SIGN = frozenset(("add", "mul", "true_div", "cast", "identity", "sum", "prod", "maximum", "minimum", "subtensor"))
"""Operations whose results are not negative if no operand is."""
_FAILS: dict[str, Callable[..., Any]] = {
    "sqrt": _is_negative, "log": _up_to(0), "log2": _up_to(0), "log10": _up_to(0), "log1p": _up_to(-1),
    "asin": _beyond(1), "acos": _beyond(1), "acosh": lambda found, x: T.lt(x, 1),
    "atanh": lambda found, x: T.ge(T.abs(x), 1), "sin": _infinite, "cos": _infinite, "tan": _infinite,
    "exp": _above(709.78), "expm1": _above(709.78), "exp2": _above(1023.9), "sinh": _beyond(710.4),
    "cosh": _beyond(710.4), "gamma": _is_lost, "lgamma": _log_gamma_fails, "pow": _is_lost, "fmod": _is_lost,
}  # fmt: skip
"""Functions of `math` -> whether Python may raise an error, by the result and the arguments; None if it never does."""


_MATH = {
    "sqrt": "sqrt", "exp": "exp", "log": "log", "log2": "log2", "log10": "log10", "log1p": "log1p", "expm1": "expm1",
    "sin": "sin", "cos": "cos", "tan": "tan", "asin": "arcsin", "acos": "arccos", "atan": "arctan", "sinh": "sinh",
    "cosh": "cosh", "tanh": "tanh", "atan2": "arctan2", "fabs": "abs", "pow": "pow", "fmod": "fmod",
    "copysign": "copysign", "isnan": "isnan", "isinf": "isinf", "isfinite": "isfinite", "erf": "erf", "erfc": "erfc",
    "degrees": "rad2deg", "radians": "deg2rad", "gamma": "gamma", "lgamma": "gammaln", "asinh": "arcsinh",
    "acosh": "arccosh", "atanh": "arctanh", "cbrt": "cbrt", "exp2": "exp2",
}  # fmt: skip
_OF_FLOATS = ("isnan", "isinf", "isfinite")
"""Functions of `math` whose results integers decide."""
_CMATH = {
    "sqrt": "sqrt", "exp": "exp", "log10": "log10", "sin": "sin", "cos": "cos", "tan": "tan", "asin": "arcsin",
    "acos": "arccos", "atan": "arctan", "sinh": "sinh", "cosh": "cosh", "tanh": "tanh", "asinh": "arcsinh",
    "acosh": "arccosh", "atanh": "arctanh", "phase": "angle", "isnan": "isnan", "isinf": "isinf",
    "isfinite": "isfinite",
}  # fmt: skip


def _hypot(*coordinates: Any) -> Any:
    """`math.hypot`."""
    if len(coordinates) == 2:
        return _number(T.hypot(*map(_wide, coordinates)))
    return _norm([_wide(c) for c in coordinates])


def _dist(p: Any, q: Any) -> Any:
    """`math.dist`: the distance of two points."""
    return _norm(T.sub(_vector(p), _vector(q)))


def _fsum(values: Any) -> Any:
    """`math.fsum`, rounded as other sums are."""
    return _number(T.sum(_vector(values)))


def _norm(values: Any) -> Any:
    return _number(T.linalg.vector_norm(_vector(values)))


def _vector(values: Any) -> Any:
    """Return the items of an iterable as a vector of float64."""
    items = T.stack([*map(_wide, values)]) if isinstance(values, Iterable) and not hasattr(values, "type") else values
    return T.cast(as_tensor(items), "float64")


def _frexp(x: Any) -> Any:
    """`math.frexp`: the pair of a fraction and an int."""
    fraction, exponent = T.frexp(_wide(x))
    return _number(fraction), _number(T.cast(exponent, "int64"))


def _modf(x: Any) -> Any:
    """`math.modf`: the fractional and the whole part."""
    fraction, whole = T.modf(_wide(x))
    return _number(fraction), _number(whole)


def _ldexp(x: Any, i: Any) -> Any:
    """`math.ldexp`."""
    wide = _wide(x)
    found = T.ldexp(wide, _wide(i, "int64"))
    note_domain(current(), _is_lost(found, wide))
    return _number(found)


def _remainder(x: Any, y: Any) -> Any:
    """`math.remainder`: what lies between x and the nearest multiple of y, which is even at a tie."""
    a, b = _wide(x), T.abs(_wide(y))
    note_domain(current(), T.logical_or(T.isinf(a), T.eq(b, 0)))
    rest = T.fmod(T.abs(a), b)
    above = b - rest
    twice = T.fmod(T.abs(a), 2 * b) >= b  # whether the multiple below is odd
    nearer = T.switch(T.logical_or(T.lt(above, rest), T.logical_and(T.eq(above, rest), twice)), -above, rest)
    return _number(T.copysign(T.cast(1.0, "float64"), a) * T.switch(T.isinf(b), T.abs(a), nearer))


def _isclose(a: Any, b: Any, *, rel_tol: Any = 1e-09, abs_tol: Any = 0.0) -> Any:
    """`math.isclose` and `cmath.isclose`."""
    x, y = _wide(a, "complex128"), _wide(b, "complex128")
    if "c" not in (as_tensor(a).type.kind, as_tensor(b).type.kind):
        x, y = _wide(a), _wide(b)
    bound = T.maximum(_wide(rel_tol) * T.maximum(T.abs(x), T.abs(y)), _wide(abs_tol))
    finite = T.logical_and(T.isfinite(x), T.isfinite(y))
    return _number(T.logical_or(T.eq(x, y), T.logical_and(finite, T.le(T.abs(x - y), bound))))


def _log(z: Any, base: Any = None) -> Any:
    """`cmath.log`."""
    wide = [_wide(v, "complex128") for v in ((z,) if base is None else (z, base))]
    found = T.log(wide[0]) if base is None else T.log(wide[0]) / T.log(wide[1])
    note_domain(current(), _is_lost(found, *wide))
    return _number(found)


def _polar(z: Any) -> Any:
    """`cmath.polar`: the absolute value and the phase."""
    w = _wide(z, "complex128")
    return _number(T.abs(w)), _number(T.angle(w))


def _rect(r: Any, phi: Any) -> Any:
    """`cmath.rect`."""
    radius, angle = _wide(r), _wide(phi)
    return _number(T.cast(radius * T.cos(angle), "complex128") + 1j * (radius * T.sin(angle)))


OF_MATH: dict[Any, Callable[..., Any]] = {
    **{getattr(math, k): _of_math(k, v) for k, v in _MATH.items() if hasattr(math, k) and hasattr(T, v)},
    **{getattr(cmath, k): _of_cmath(v) for k, v in _CMATH.items()},
    math.hypot: _hypot, math.dist: _dist, math.fsum: _fsum, math.frexp: _frexp, math.modf: _modf, math.ldexp: _ldexp,
    math.remainder: _remainder, math.isclose: _isclose, cmath.isclose: _isclose, cmath.log: _log, cmath.polar: _polar,
    cmath.rect: _rect,
}  # fmt: skip
"""Functions of `math` and `cmath` -> those for symbolic numbers."""
