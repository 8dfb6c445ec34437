"""Derivatives of the elementwise ops, one row an op.

A row has one entry an operand: a function of the cotangent g, the result y and the operands (in the dtypes that the
op computes in) that gives the cotangent of that operand; None where the derivative is zero wherever it is defined.

Complex numbers: the cotangent of z = a + ib for a real cost L is dL/da + i dL/db, so `z - rate * cotangent` descends.
 For a holomorphic f that is g * conj(f'(z)), obtained from the row of the real case as conj(row(conj(g))).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .. import ops as T  # the namespace; read when a derivative is built
from ..graph import Apply, Constant, NoGradient, Variable
from .checks import describe

Partial = Callable[..., Any]
Row = tuple["Partial | None", ...]

_LN2, _LN10 = math.log(2), math.log(10)
_TWO_OVER_ROOT_PI = 2 / math.sqrt(math.pi)

ROWS: dict[str, Row] = {
    # arithmetic
    "sub": (lambda g, y, a, b: g, lambda g, y, a, b: -g),
    "true_div": (lambda g, y, a, b: g / b, lambda g, y, a, b: -(g * y) / b),
    "mod": (lambda g, y, a, b: g, lambda g, y, a, b: -g * T.floor_div(a, b)),
    "fmod": (lambda g, y, a, b: g, lambda g, y, a, b: -g * T.trunc(a / b)),
    "pow": (
        lambda g, y, a, b: g * _slope_of_power(a, b),
        lambda g, y, a, b: g * y * T.log(T.switch(_is_flat(a, b), 1, a)),
    ),
    "neg": (lambda g, y, x: -g,),
    "abs": (lambda g, y, x: g * T.sign(x),),
    "square": (lambda g, y, x: 2 * g * x,),
    "sqrt": (lambda g, y, x: 0.5 * g / y,),
    "cbrt": (lambda g, y, x: g / 3 / y / y,),  # of 1 / y**2 the derivative at 0 would be inf * 0
    "reciprocal": (lambda g, y, x: -g * T.square(y),),
    "hypot": (lambda g, y, a, b: g * _cosine(a, b, y), lambda g, y, a, b: g * _cosine(b, a, y)),
    # exponentials and logarithms
    "exp": (lambda g, y, x: g * y,),
    "exp2": (lambda g, y, x: g * y * _LN2,),
    "expm1": (lambda g, y, x: g * T.exp(x),),  # y + 1 would cancel for large negative x
    "log": (lambda g, y, x: g / x,),
    "log2": (lambda g, y, x: g / (x * _LN2),),
    "log10": (lambda g, y, x: g / (x * _LN10),),
    "log1p": (lambda g, y, x: g / (1 + x),),
    "logaddexp": (lambda g, y, a, b: g * _share(a, b), lambda g, y, a, b: g * _share(b, a)),
    "log1mexp": (lambda g, y, x: g * _slope_of_log1mexp(x),),
    # trigonometric and hyperbolic
    "sin": (lambda g, y, x: g * T.cos(x),),
    "cos": (lambda g, y, x: -g * T.sin(x),),
    "tan": (lambda g, y, x: g * (1 + T.square(y)),),
    "arcsin": (lambda g, y, x: g * _slope_of_arcsin(x),),
    "arccos": (lambda g, y, x: -g * _slope_of_arcsin(x),),
    "arctan": (lambda g, y, x: g / (1 + T.square(_finite(x))),),
    "arctan2": (
        lambda g, y, a, b: g * (_cosine(b, a, T.hypot(a, b)) / T.hypot(a, b)),
        lambda g, y, a, b: -g * (_cosine(a, b, T.hypot(a, b)) / T.hypot(a, b)),
    ),
    "sinh": (lambda g, y, x: g * T.cosh(x),),
    "cosh": (lambda g, y, x: g * T.sinh(x),),
    "tanh": (lambda g, y, x: g * (1 - T.square(y)),),
    "arcsinh": (lambda g, y, x: g / _root_of_square_plus_one(x),),
    "arccosh": (lambda g, y, x: g / T.sqrt(x - 1) / T.sqrt(x + 1),),
    "arctanh": (lambda g, y, x: 0.5 * g / (1 - x) + 0.5 * g / (1 + x),),
    "deg2rad": (lambda g, y, x: g * (math.pi / 180),),
    "rad2deg": (lambda g, y, x: g * (180 / math.pi),),
    # special functions
    "erf": (lambda g, y, x: g * _TWO_OVER_ROOT_PI * T.exp(-T.square(_finite(x))),),
    "erfc": (lambda g, y, x: -g * _TWO_OVER_ROOT_PI * T.exp(-T.square(_finite(x))),),
    "gamma": (lambda g, y, x: g * y * T.digamma(_finite(x)),),
    "gammaln": (lambda g, y, x: g * T.digamma(x),),
    "digamma": (lambda g, y, x: g * T.polygamma(1, x),),
    "polygamma": (lambda g, y, n, x: _refuse_order(n), lambda g, y, n, x: g * T.polygamma(_one_more(n), x)),
    "sigmoid": (lambda g, y, x: g * y * T.sigmoid(-x),),  # 1 - y would cancel for large x
    "softplus": (lambda g, y, x: g * T.sigmoid(x),),
    # selection
    "switch": (
        None,
        lambda g, y, c, a, b: T.switch(c, g, 0),
        lambda g, y, c, a, b: T.switch(c, 0, g),
    ),
    "clip": (  # at a bound everything goes to x
        lambda g, y, x, low, high: T.switch(T.eq(x, y), g, 0),
        lambda g, y, x, low, high: T.switch(T.logical_and(T.lt(x, low), T.lt(low, high)), g, 0),
        lambda g, y, x, low, high: T.switch(T.logical_and(T.ne(x, y), T.ge(T.maximum(x, low), high)), g, 0),
    ),
    "copysign": (lambda g, y, a, b: T.switch(T.eq(T.signbit(a), T.signbit(b)), g, -g), None),
    "fill": (None, lambda g, y, like, value: g),
    "identity": (lambda g, y, x: g,),
    "cast": (lambda g, y, x: g,),
    "conj": (lambda g, y, x: g,),
    "real": (lambda g, y, x: g,),
    # piecewise constant
    "imag": (None,), "angle": (None,), "sign": (None,), "floor": (None,), "ceil": (None,), "trunc": (None,),
    "rint": (None,), "floor_div": (None, None),
}  # fmt: skip

NOT_HOLOMORPHIC: dict[str, Row] = {
    "abs": (lambda g, y, z: g * T.sign(z),),
    "real": (lambda g, y, z: g,),
    "imag": (lambda g, y, z: g * 1j,),
    "conj": (lambda g, y, z: T.conj(g),),
    "angle": (lambda g, y, z: g * 1j / T.conj(z),),  # i z / |z|**2
}
"""Rows for complex operands of functions that are not holomorphic; g has the dtype of the result."""

REASONS = {
    "sign": "z / |z| is not holomorphic",
    "maximum": "complex numbers are ordered by their parts, which is not differentiable",
    "minimum": "complex numbers are ordered by their parts, which is not differentiable",
    "clip": "complex numbers are ordered by their parts, which is not differentiable",
}
"""Why there is no derivative for complex numbers."""


# --- pieces of rows


def _refuse_order(n: Any) -> Any:
    if _counts(n):
        return None
    raise NoGradient(f"polygamma has no derivative by its order, {describe(n)}, which counts; make it an integer")


def _counts(n: Any) -> bool:
    """Whether `n` is a constant or an integer, perhaps cast to a float."""
    cast = n.owner is not None and isinstance(n.owner.op, T.elementwise.Cast)
    return isinstance(n, Constant) or n.type.kind in "biu" or (cast and _counts(n.owner.inputs[0]))


def _one_more(n: Any) -> Any:
    """n + 1; computed as an integer where `n` was one, so that it is still known to count."""
    if isinstance(n, Constant):
        return T.constant(n.data + 1)
    if n.type.kind == "f" and _counts(n):
        return T.cast(_one_more(n.owner.inputs[0]), n.dtype)
    return n + 1


def _finite(x: Any) -> Any:
    """`x`, the largest number of its dtype in the place of an infinity.

    For functions that have reached their limit there: the factor x of a further derivative would give 0 * inf.
    """
    largest = float(np.finfo(x.dtype).max)
    return T.clip(x, -largest, largest) if x.type.kind == "f" else x


def _nonzero(x: Any) -> Any:
    return T.switch(T.eq(x, 0), 1, x)


def _both_zero(a: Any, b: Any) -> Any:
    return T.logical_and(T.eq(a, 0), T.eq(b, 0))


def _is_flat(a: Any, b: Any) -> Any:
    """Where a ** b is 0 around b though log(a) is infinite: 0 ** b, and inf ** -b; 0 ** 0 counts as that."""
    zero = T.logical_and(T.eq(a, 0), T.ge(b, 0))
    if a.type.kind != "f" or b.type.kind != "f":
        return zero if b.type.kind != "c" else T.eq(a, 0)
    return T.logical_or(zero, T.logical_and(T.eq(a, math.inf), T.lt(b, 0)))


def _slope_of_power(a: Any, b: Any) -> Any:
    """b * a ** (b - 1); 0 for 0 ** 0, and an infinite exponent does not meet a power of 0."""
    if isinstance(b, Constant):
        return b * (a if b.data.all() else T.switch(_both_zero(a, b), 1, a)) ** _one_less(b)
    return _finite(b) * T.switch(_both_zero(a, b), 1, a) ** (b - 1)


def _one_less(b: Any) -> Any:
    if not isinstance(b, Constant):
        return b - 1
    less = b.data - 1
    return T.constant(less) if less.ndim else T.elementwise.scalar_constant(less.item(), b.dtype)


def _share(a: Any, b: Any) -> Any:
    """exp(a) / (exp(a) + exp(b)); a half where both are the same infinity."""
    return T.sigmoid(_finite(a) - _finite(b))


def _cosine(a: Any, b: Any, y: Any) -> Any:
    """a / y for y = hypot(a, b): 0 where both are 0; two infinities count as equal, as they do for arctan2."""
    infinite = T.isinf(a)
    there = T.sign(a) * T.switch(T.isinf(b), math.sqrt(0.5), 1.0)
    return T.switch(infinite, there, T.switch(infinite, 0, a) / _nonzero(y))


def _slope_of_arcsin(x: Any) -> Any:
    """1 / sqrt((1 - x) * (1 + x)); at the edges a term whose own derivative is infinite, and not inf * 0."""
    if x.type.kind == "c":
        return T.reciprocal(T.sqrt((1 - x) * (1 + x)))
    edge = T.eq(T.abs(x), 1)
    inner = T.switch(edge, 0, x)
    return T.switch(edge, T.reciprocal(1 - T.square(x)), T.reciprocal(T.sqrt((1 - inner) * (1 + inner))))


def _slope_of_log1mexp(x: Any) -> Any:
    """exp(x) / expm1(x) for x < 0; at 0, where the sign of a zero would count, the limit -inf.

    That has the derivative -inf, too: -inf - cbrt(x).
    """
    below = T.lt(x, 0)
    inner = T.switch(below, x, -1)
    return T.switch(below, T.exp(inner) / T.expm1(inner), -math.inf - T.cbrt(T.switch(below, -1, x)))


def _root_of_square_plus_one(x: Any) -> Any:
    return T.sqrt(T.square(x) + 1) if x.type.kind == "c" else T.hypot(x, 1)  # hypot cannot overflow


# --- ops of any number of operands


def _add(g: Any, y: Any, inputs: Sequence[Any]) -> list[Any]:
    return [g] * len(inputs)


def _mul(g: Any, y: Any, inputs: Sequence[Any]) -> list[Any]:
    """g times the product of the others, from the products before and after: linear in the number of operands."""
    after = [g]
    for i in reversed(inputs[1:]):
        after.append(after[-1] * i)
    results, before = [after[-1]], inputs[0]
    for position in range(1, len(inputs)):
        results.append(after[-1 - position] * before)
        before = before * inputs[position] if position + 1 < len(inputs) else before
    return results


def _extremum(g: Any, y: Any, inputs: Sequence[Any]) -> list[Any]:
    """Operands that reach the extremum share g equally."""
    if len(inputs) == 2:
        a, b = inputs
        tie = T.eq(a, b)
        return [T.switch(tie, 0.5 * g, T.switch(T.eq(i, y), g, 0)) for i in (a, b)]
    reached = [T.eq(i, y) for i in inputs]
    count = T.add(*(T.cast(r, y.dtype) for r in reached))
    return [T.switch(r, g / count, 0) for r in reached]


FOLDS: dict[str, Callable[[Any, Any, Sequence[Any]], list[Any]]] = {
    "add": _add, "mul": _mul, "maximum": _extremum, "minimum": _extremum,
}  # fmt: skip


# --- the vjp


def elementwise_vjp(node: Apply, g: Variable | None) -> Sequence[Variable | None]:
    """The cotangents of the operands of an elementwise node.

    None for constants, for bools and integers, which have no cotangent, and for operands whose derivative is zero
    wherever it is defined: explicit zeros would become NaN where a factor of the chain above is infinite.  Raises
    NoGradient, with the reason, where there is no derivative.
    """
    y = node.out
    wanted = [i.type.kind in "fc" and not isinstance(i, Constant) for i in node.inputs]
    if g is None or y.type.kind not in "fc" or not any(wanted) or node.op.name == "stop_gradient":
        return [None] * len(node.inputs)
    dtypes, _ = node.op.loop(tuple(i.dtype for i in node.inputs))  # type: ignore[attr-defined]
    inputs = [i if i.dtype == d else T.cast(i, d) for i, d in zip(node.inputs, dtypes, strict=True)]
    found = _cotangents(node, g, inputs, wanted)
    return [_conform(c, i) if w and c is not None else None for c, i, w in zip(found, node.inputs, wanted, strict=True)]


def _cotangents(node: Apply, g: Any, inputs: Sequence[Any], wanted: Sequence[bool]) -> Sequence[Any]:
    """The cotangents by the table, before shapes and dtypes are made those of the operands; None for zero."""
    name, y = node.op.name, node.out
    is_complex = any(i.type.kind == "c" for i in inputs)
    if is_complex and name in REASONS:
        raise NoGradient(f"{name} of complex numbers has no derivative: {REASONS[name]}")
    if name in FOLDS:
        return _through_conj(is_complex and name != "add", g, lambda g: FOLDS[name](g, y, inputs))
    rows = NOT_HOLOMORPHIC if is_complex and name in NOT_HOLOMORPHIC else ROWS
    if name not in rows:
        raise NoGradient(f"{name} of {describe(node.inputs[0])} has no derivative")
    partials = [p if w else None for p, w in zip(rows[name], wanted, strict=True)]
    holomorphic = is_complex and rows is ROWS and name not in _REAL_COEFFICIENTS
    return _through_conj(holomorphic, g, lambda g: [p and p(g, y, *inputs) for p in partials])


_REAL_COEFFICIENTS = {"sub", "neg", "switch", "fill", "identity", "cast"}
"""Linear ops whose rows multiply g by real numbers only: conj before and after would cancel."""


def _through_conj(needed: bool, g: Any, row: Callable[[Any], Sequence[Any]]) -> Sequence[Any]:
    return [c if c is None else T.conj(c) for c in row(T.conj(g))] if needed else row(g)


def _conform(cotangent: Any, operand: Variable) -> Variable:
    """The cotangent in the dtype and shape of the operand."""
    if cotangent.type.kind == "c" and operand.type.kind == "f":
        cotangent = T.real(cotangent)
    return T.cast(T.unbroadcast(cotangent, operand), operand.dtype)
