"""Python's `math` and `cmath` for symbolic numbers: their results are Python numbers."""

from __future__ import annotations

import cmath
import math
from collections.abc import Callable, Iterable
from typing import Any

from ... import ops as T
from ...ops.core.tensor import as_tensor
from ...ops.core.traced import keep_class, known_of, number_of
from ...ops.core.tracing import Known, Number, current


def _number(found: Any) -> Any:
    """Return a result as the Python number or bool that it stands for."""
    keep_class(current(), found, {"f": float, "c": complex, "b": bool, "i": int}[found.type.kind])  # type: ignore[arg-type]
    return found


def _wide(x: Any, dtype: str = "float64") -> Any:
    """Return a number or a length as a scalar of the dtype in which Python computes."""
    return T.cast(as_tensor(x.variable if hasattr(x, "known") else x), dtype)


def _of_math(python: str, name: str) -> Callable[..., Any]:
    """Return a function of `math` that is one of ours."""

    def function(*args: Any) -> Any:
        trace: Any = current()
        if name in _OF_FLOATS and all(n is not None and n.kind is int for n in map(number_of, args)):
            return name == "isfinite"
        given = [known_of(a) or (Known(a, repr(a)) if type(a) in (bool, int, float) else None) for a in args]
        wide = [_wide(a) for a in args]
        found = T.log(wide[0]) / T.log(wide[1]) if name == "log" and len(wide) == 2 else getattr(T, name)(*wide)
        _number(found)
        known = [k for k in given if k is not None]
        if len(known) == len(args) and found.type.kind == "f":
            value = getattr(math, python)(*(k.value for k in known))
            trace.numbers[found] = Number(float, Known(value, f"math.{python}({', '.join(k.text for k in known)})"))
        return found

    return function


def _of_cmath(name: str) -> Callable[..., Any]:
    """Return a function of `cmath` that is one of ours."""
    return lambda z: _number(getattr(T, name)(_wide(z, "complex128")))


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
    return _number(T.ldexp(_wide(x), _wide(i, "int64")))


def _remainder(x: Any, y: Any) -> Any:
    """`math.remainder`: what lies between x and the nearest multiple of y, which is even at a tie."""
    a, b = _wide(x), T.abs(_wide(y))
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
    found = T.log(_wide(z, "complex128"))
    return _number(found if base is None else found / T.log(_wide(base, "complex128")))


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
