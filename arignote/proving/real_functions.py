"""Elementwise functions over the reals: each as a value with the condition under which it is defined.

A function that is not algebraic is written with exponentials, logarithms and roots (reals.py), or is a number of which
a few statements hold.  Source of the identities: Abramowitz and Stegun, Handbook of Mathematical Functions, chapters 4
and 7.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np
import z3

from .polynomials import Value, linear, power, real

if TYPE_CHECKING:
    from .reals import Reals

NOT_ON_INTEGERS = (
    "floor_div", "mod", "fmod", "left_shift", "right_shift", "bitwise_and", "bitwise_or", "bitwise_xor",
    "bitwise_not", "reciprocal",
)  # fmt: skip
COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge")


def _both(a: Value, b: Value) -> Any:
    return z3.And(a.defined, b.defined)


def _of_one(function: Callable[[Reals, Any], Any]) -> Callable[..., Value]:
    return lambda r, a: Value(function(r, real(a.x)), a.defined)


def _of_two(function: Callable[[Any, Any], Any]) -> Callable[..., Value]:
    return lambda r, a, b: Value(function(a.x, b.x), _both(a, b))


def _compare(function: Callable[[Any, Any], Any]) -> Callable[..., Value]:
    def compared(r: Reals, a: Value, b: Value) -> Value:
        if a.infinite or b.infinite:
            da, db = (z3.BoolVal(True) if v.infinite else v.defined for v in (a, b))
            x = z3.BoolVal(bool(function(a.infinite, b.infinite)))
            return Value(x, z3.And(da, db))
        return Value(function(a.x, b.x), _both(a, b))

    return compared


def _extremum(largest: bool) -> Callable[..., Value]:
    def chosen(r: Reals, a: Value, b: Value) -> Value:
        for v, other in ((a, b), (b, a)):
            if v.infinite:
                return v if (v.infinite > 0) == largest else other
        first = r.decide(a.x >= b.x if largest else a.x <= b.x)
        return Value((a if first else b).x, _both(a, b))

    return chosen


def _divide(r: Reals, a: Value, b: Value) -> Value:
    return Value(real(a.x) / real(b.x), z3.And(_both(a, b), real(b.x) != 0))


def _log(r: Reals, v: Value, shift: Any = 0) -> Value:
    x = real(v.x) + shift
    defined = z3.And(v.defined, x > 0)
    r.hypotheses = [defined]
    value = r.log(x)
    r.hypotheses = ()
    return Value(value, defined)


def _scaled_log(base: int) -> Callable[..., Value]:
    def scaled(r: Reals, v: Value) -> Value:
        found = _log(r, v)
        return Value(_divided(found.x, r.log(z3.RealVal(base))), found.defined)

    return scaled


def _divided(x: Any, unit: Any) -> Any:
    """x / unit, with the unit cancelled in the terms that have it as a factor; it is not zero."""
    result = z3.RealVal(0)
    for atom, factor in linear(z3.simplify(real(x), som=True)):
        parts = list(atom.children()) if atom is not None and z3.is_mul(atom) else [atom]
        own = next((k for k, part in enumerate(parts) if part is not None and part.eq(unit)), None)
        number = z3.Q(factor.numerator, factor.denominator)
        if own is not None:
            result = result + number * reduce(
                lambda a, b: a * b, [p for k, p in enumerate(parts) if k != own], z3.RealVal(1)
            )
        else:
            result = result + (number if atom is None else number * atom) / unit
    return result


def _exp2(r: Reals, x: Any) -> Any:
    """exp(x * log(2)), with the logarithm cancelled in the terms that are divided by it."""
    unit = r.log(z3.RealVal(2))
    exponent = z3.RealVal(0)
    for atom, factor in linear(z3.simplify(real(x), som=True)):
        number = z3.Q(factor.numerator, factor.denominator)
        whole = number if atom is None else number * atom
        cancelled = atom is not None and z3.is_div(atom) and atom.arg(1).eq(unit)
        exponent = exponent + (number * atom.arg(0) if cancelled else whole * unit)
    return r.exp(exponent)


def _log1mexp(r: Reals, v: Value) -> Value:
    return _log(r, Value(1 - r.exp(v.x), v.defined))


def _sqrt(r: Reals, v: Value) -> Value:
    return Value(r.root(real(v.x), 2), z3.And(v.defined, v.x >= 0))


def _cbrt(r: Reals, v: Value) -> Value:
    x = real(v.x)
    return Value(r.known("cbrt", x, lambda c: [c * c * c == x]), v.defined)


def _abs(r: Reals, v: Value) -> Value:
    return Value(v.x if r.decide(v.x >= 0) else -v.x, v.defined)


def _sign(r: Reals, v: Value) -> Value:
    number = 1 if r.decide(v.x > 0) else -1 if r.decide(v.x < 0) else 0
    return Value(z3.IntVal(number) if z3.is_int(v.x) else z3.RealVal(number), v.defined)


def _copysign(r: Reals, a: Value, b: Value) -> Value:
    size = a.x if r.decide(a.x >= 0) else -a.x
    return Value(size if r.decide(b.x >= 0) else -size, z3.And(_both(a, b), b.x != 0))


def _pow(r: Reals, a: Value, b: Value) -> Value:
    exponent = z3.simplify(real(b.x))
    x = real(a.x)
    if z3.is_rational_value(exponent):
        n = exponent.as_fraction()
        if n.denominator == 1 and abs(n) <= 64:
            return Value(power(x, n.numerator), z3.And(_both(a, b), x != 0 if n < 0 else True))
        if n.denominator <= 16 and abs(n.numerator) <= 16:
            value = power(r.root(x, n.denominator), n.numerator)
            return Value(value, z3.And(_both(a, b), x > 0 if n < 0 else x >= 0))
    defined = z3.And(_both(a, b), x > 0)
    r.hypotheses = [defined]
    value = r.exp(exponent * r.log(x))
    r.hypotheses = ()
    return Value(value, defined)


def _tanh(r: Reals, x: Any) -> Any:
    e = r.exp(x)
    return (e * e - 1) / (e * e + 1)


def _arctanh(r: Reals, v: Value) -> Value:
    x = real(v.x)
    found = _log(r, Value((1 + x) / (1 - x), z3.And(v.defined, x < 1, x > -1)))
    return Value(found.x / 2, found.defined)


def _arcsinh(r: Reals, v: Value) -> Value:
    x = real(v.x)
    return _log(r, Value(x + r.root(x * x + 1, 2), v.defined))


def _arccosh(r: Reals, v: Value) -> Value:
    x = real(v.x)
    return _log(r, Value(x + r.root(x * x - 1, 2), z3.And(v.defined, x >= 1)))


def _inverse(name: str, of: str, low: int | None = None, high: int | None = None) -> Callable[..., Value]:
    """A function whose only known property is that `of` of it is x."""

    def inverse(r: Reals, v: Value) -> Value:
        x = z3.simplify(real(v.x), som=True)
        result = r.odd(name, x) if name != "arccos" else r.known(name, x, lambda a: [])
        defined = v.defined
        if low is not None:
            defined = z3.And(defined, x >= low, x <= high)
        r.inverses[(of, z3.simplify(result, som=True).sexpr())] = x
        r.facts.add(f"{of}({name}(x)) = x")
        return Value(result, defined)

    return inverse


def _circular(name: str) -> Callable[..., Value]:
    def function(r: Reals, v: Value) -> Value:
        x = z3.simplify(real(v.x), som=True)
        found = r.inverses.get((name, x.sexpr()))
        if found is not None:
            return Value(found, v.defined)
        if name == "cos":
            r.facts.add("cos is even")
            parts = list(linear(x))
            x = -x if parts and parts[0][1] < 0 else x
            return Value(r.known("cos", x, lambda c: [c <= 1, c >= -1]), v.defined)
        if name == "tan":
            sine, cosine = (_circular(part)(r, v).x for part in ("sin", "cos"))
            return Value(sine / cosine, z3.And(v.defined, cosine != 0))
        return Value(r.odd("sin", x, lambda s: [s <= 1, s >= -1]), v.defined)

    return function


def _softplus(r: Reals, v: Value) -> Value:
    return _log(r, Value(1 + r.exp(v.x), v.defined))


def _logaddexp(r: Reals, a: Value, b: Value) -> Value:
    return _log(r, Value(r.exp(a.x) + r.exp(b.x), _both(a, b)))


def _xlogy(r: Reals, a: Value, b: Value) -> Value:
    if r.decide(a.x == 0):
        return Value(z3.RealVal(0), _both(a, b))
    found = _log(r, b)
    return Value(real(a.x) * found.x, z3.And(found.defined, a.defined))


def _clip(r: Reals, x: Value, low: Value, high: Value) -> Value:
    return _extremum(False)(r, _extremum(True)(r, x, low), high)


def _hypot(r: Reals, a: Value, b: Value) -> Value:
    return Value(r.root(a.x * a.x + b.x * b.x, 2), _both(a, b))


FUNCTIONS: dict[str, Callable[..., Value]] = {
    "add": _of_two(lambda a, b: a + b), "sub": _of_two(lambda a, b: a - b), "mul": _of_two(lambda a, b: a * b),
    "true_div": _divide, "neg": lambda r, a: Value(-a.x, a.defined, -a.infinite),
    "square": lambda r, a: Value(a.x * a.x, a.defined), "abs": _abs, "sign": _sign, "copysign": _copysign,
    "reciprocal": lambda r, a: _divide(r, Value(z3.RealVal(1)), a),
    "sqrt": _sqrt, "cbrt": _cbrt, "pow": _pow, "maximum": _extremum(True), "minimum": _extremum(False),
    "clip": _clip, "hypot": _hypot, "conj": lambda r, a: a, "real": lambda r, a: a,
    "exp": _of_one(lambda r, x: r.exp(x)), "expm1": _of_one(lambda r, x: r.exp(x) - 1),
    "exp2": _of_one(_exp2),
    "log": _log, "log1p": lambda r, v: _log(r, v, 1), "log2": _scaled_log(2), "log10": _scaled_log(10),
    "logaddexp": _logaddexp, "softplus": _softplus, "log1mexp": _log1mexp, "xlogy": _xlogy,
    "sigmoid": _of_one(lambda r, x: 1 / (1 + 1 / r.exp(x))), "tanh": _of_one(_tanh),
    "sinh": _of_one(lambda r, x: (r.exp(x) - 1 / r.exp(x)) / 2),
    "cosh": _of_one(lambda r, x: (r.exp(x) + 1 / r.exp(x)) / 2),
    "arctanh": _arctanh, "arcsinh": _arcsinh, "arccosh": _arccosh,
    "erf": _of_one(lambda r, x: r.odd("erf", x)), "erfc": _of_one(lambda r, x: 1 - r.odd("erf", x)),
    "ndtr": _of_one(lambda r, x: (1 + r.odd("erf", x * half_root(r))) / 2),
    "log_ndtr": lambda r, v: _log(r, Value((1 + r.odd("erf", real(v.x) * half_root(r))) / 2, v.defined)),
    "sin": _circular("sin"), "cos": _circular("cos"), "tan": _circular("tan"),
    "arcsin": _inverse("arcsin", "sin", -1, 1), "arccos": _inverse("arccos", "cos", -1, 1),
    "arctan": _inverse("arctan", "tan"),
    "deg2rad": _of_one(lambda r, x: x * pi(r) / 180), "rad2deg": _of_one(lambda r, x: x * 180 / pi(r)),
    "eq": _compare(lambda a, b: a == b), "ne": _compare(lambda a, b: a != b), "lt": _compare(lambda a, b: a < b),
    "le": _compare(lambda a, b: a <= b), "gt": _compare(lambda a, b: a > b), "ge": _compare(lambda a, b: a >= b),
    "isnan": lambda r, a: Value(z3.BoolVal(False), a.defined),
    "isinf": lambda r, a: Value(z3.BoolVal(bool(a.infinite))),
    "isfinite": lambda r, a: Value(z3.BoolVal(True), a.defined),
    "trunc": lambda r, a: _whole(r, "trunc", a), "floor": lambda r, a: _whole(r, "floor", a),
    "ceil": lambda r, a: _whole(r, "ceil", a), "rint": lambda r, a: _whole(r, "rint", a),
}  # fmt: skip

TRUTH: dict[str, Callable[..., Value]] = {
    **dict.fromkeys(("add", "maximum", "bitwise_or", "logical_or"), _of_two(z3.Or)),
    **dict.fromkeys(("mul", "minimum", "bitwise_and", "logical_and"), _of_two(z3.And)),
    **dict.fromkeys(("bitwise_xor", "logical_xor", "ne"), _of_two(z3.Xor)),
    **dict.fromkeys(("logical_not", "bitwise_not"), lambda r, a: Value(z3.Not(a.x), a.defined)),
    "eq": _of_two(lambda a, b: a == b),
}


def _whole(r: Reals, name: str, v: Value) -> Value:
    return v if z3.is_int(v.x) else r.call(name, [v], z3.Real)


def pi(r: Reals) -> Any:
    return r.known("pi", z3.RealVal(1), lambda p: [p > z3.Q(314159, 100000), p < z3.Q(314160, 100000)])


def half_root(r: Reals) -> Any:
    """1 / sqrt(2), a number of its own, so that signs of factors are seen."""
    return r.known("1/sqrt(2)", z3.RealVal(1), lambda h: [h * h * 2 == 1, h > 0])


KNOWN: list[tuple[str, float, Callable[[Reals], Any]]] = [
    ("log(2)", float(np.log(2)), lambda r: r.log(z3.RealVal(2))),
    ("1 / log(2)", float(1 / np.log(2)), lambda r: 1 / r.log(z3.RealVal(2))),
    ("log(10)", float(np.log(10)), lambda r: r.log(z3.RealVal(10))),
    ("1 / log(10)", float(1 / np.log(10)), lambda r: 1 / r.log(z3.RealVal(10))),
    ("pi", float(np.pi), pi),
    ("pi / 2", float(np.pi / 2), lambda r: pi(r) / 2),
    ("pi / 180", float(np.pi / 180), lambda r: pi(r) / 180),
    ("180 / pi", float(180 / np.pi), lambda r: 180 / pi(r)),
    ("sqrt(pi)", float(np.sqrt(np.pi)), lambda r: r.root(pi(r), 2)),
    ("1 / sqrt(pi)", float(1 / np.sqrt(np.pi)), lambda r: 1 / r.root(pi(r), 2)),
    ("2 / sqrt(pi)", float(2 / np.sqrt(np.pi)), lambda r: 2 / r.root(pi(r), 2)),
    ("sqrt(2)", float(np.sqrt(2)), lambda r: r.root(z3.RealVal(2), 2)),
    ("1 / sqrt(2)", float(1 / np.sqrt(2)), half_root),
]
"""Real numbers that constants of rules round."""
