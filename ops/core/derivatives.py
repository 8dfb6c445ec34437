"""Derivatives of elementwise ops: a record's row applied to a node, and formulas that several rows share.

A row has one entry an operand: a function of the cotangent g, the result y and the operands (in the dtypes that the
op computes in) that gives the cotangent of that operand; None where the derivative is zero wherever it is defined.
The row of an op of any number of operands is one function of g, y and the list of operands.

Complex numbers: the cotangent of z = a + ib for a real cost L is dL/da + i dL/db, so `z - rate * cotangent` descends.
For a holomorphic f that is g * conj(f'(z)), obtained from the row of the real case as conj(row(conj(g))).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...graph import Apply, Constant, NoGradient, Variable
from .checks import describe
from .namespace import T, classes
from .tensor import scalar_constant

Partial = Callable[..., Any]
Row = tuple["Partial | None", ...]
FoldRow = Callable[[Any, Any, Sequence[Any]], Sequence[Any]]

LN2, LN10 = math.log(2), math.log(10)
TWO_OVER_ROOT_PI = 2 / math.sqrt(math.pi)

# --- pieces of rows


def refuse_order(n: Any) -> Any:
    if _counts(n):
        return None
    raise NoGradient(f"polygamma has no derivative by its order, {describe(n)}, which is discrete; make it an integer")


def _counts(n: Any) -> bool:
    """Whether `n` is a constant or an integer, perhaps cast to a float."""
    cast = n.owner is not None and isinstance(n.owner.op, classes.Cast)
    return isinstance(n, Constant) or n.type.kind in "biu" or (cast and _counts(n.owner.inputs[0]))


def one_more(n: Any) -> Any:
    """Return n + 1; computed as an integer if `n` is a cast one."""
    if isinstance(n, Constant):
        return T.constant(n.data + 1)
    if n.type.kind == "f" and _counts(n):
        return T.cast(one_more(n.owner.inputs[0]), n.dtype)
    return n + 1


def finite(x: Any) -> Any:
    """Return `x` with the largest finite number of its dtype in place of an infinity.

    For functions that have reached their limit there: the factor x of a further derivative would give 0 * inf.
    """
    largest = float(np.finfo(x.dtype).max)
    return T.clip(x, -largest, largest) if x.type.kind == "f" else x


def _nonzero(x: Any) -> Any:
    return T.switch(T.eq(x, 0), 1, x)


def _both_zero(a: Any, b: Any) -> Any:
    return T.logical_and(T.eq(a, 0), T.eq(b, 0))


def is_flat(a: Any, b: Any) -> Any:
    """Return True where a ** b is 0 around b though log(a) is infinite: 0 ** b, inf ** -b, and also 0 ** 0."""
    zero = T.logical_and(T.eq(a, 0), T.ge(b, 0))
    if a.type.kind != "f" or b.type.kind != "f":
        return zero if b.type.kind != "c" else T.eq(a, 0)
    return T.logical_or(zero, T.logical_and(T.eq(a, math.inf), T.lt(b, 0)))


def slope_of_power(a: Any, b: Any) -> Any:
    """b * a ** (b - 1); 0 for 0 ** 0, and an infinite exponent does not meet a power of 0."""
    if isinstance(b, Constant):
        return b * (a if b.data.all() else T.switch(_both_zero(a, b), 1, a)) ** _one_less(b)
    return finite(b) * T.switch(_both_zero(a, b), 1, a) ** (b - 1)


def _one_less(b: Any) -> Any:
    if not isinstance(b, Constant):
        return b - 1
    less = b.data - 1
    return T.constant(less) if less.ndim else scalar_constant(less.item(), b.dtype)


def share(a: Any, b: Any) -> Any:
    """exp(a) / (exp(a) + exp(b)); a half where both are the same infinity."""
    return T.sigmoid(finite(a) - finite(b))


def cosine(a: Any, b: Any, y: Any) -> Any:
    """a / y for y = hypot(a, b): 0 where both are 0; two infinities count as equal, as they do for arctan2."""
    infinite = T.isinf(a)
    there = T.sign(a) * T.switch(T.isinf(b), math.sqrt(0.5), 1.0)
    return T.switch(infinite, there, T.switch(infinite, 0, a) / _nonzero(y))


def slope_of_arcsin(x: Any) -> Any:
    """1 / sqrt((1 - x) * (1 + x)); at the edges a term whose own derivative is infinite, and not inf * 0."""
    if x.type.kind == "c":
        return T.reciprocal(T.sqrt((1 - x) * (1 + x)))
    edge = T.eq(T.abs(x), 1)
    inner = T.switch(edge, 0, x)
    return T.switch(edge, T.reciprocal(1 - T.square(x)), T.reciprocal(T.sqrt((1 - inner) * (1 + inner))))


def slope_of_log1mexp(x: Any) -> Any:
    """exp(x) / expm1(x) for x < 0; at 0, where the sign of a zero would count, the limit -inf.

    That has the derivative -inf, too: -inf - cbrt(x).
    """
    below = T.lt(x, 0)
    inner = T.switch(below, x, -1)
    return T.switch(below, T.exp(inner) / T.expm1(inner), -math.inf - T.cbrt(T.switch(below, -1, x)))


def root_of_square_plus_one(x: Any) -> Any:
    return T.sqrt(T.square(x) + 1) if x.type.kind == "c" else T.hypot(x, 1)  # hypot cannot overflow


# --- ops of any number of operands


def of_add(g: Any, y: Any, inputs: Sequence[Any]) -> list[Any]:
    return [g] * len(inputs)


def of_mul(g: Any, y: Any, inputs: Sequence[Any]) -> list[Any]:
    """g times the product of the others, from the products before and after: linear in the number of operands."""
    after = [g]
    for i in reversed(inputs[1:]):
        after.append(after[-1] * i)
    results, before = [after[-1]], inputs[0]
    for position in range(1, len(inputs)):
        results.append(after[-1 - position] * before)
        before = before * inputs[position] if position + 1 < len(inputs) else before
    return results


def of_extremum(g: Any, y: Any, inputs: Sequence[Any]) -> list[Any]:
    """Return cotangents: operands that reach the extremum share g equally."""
    if len(inputs) == 2:
        a, b = inputs
        tie = T.eq(a, b)
        return [T.switch(tie, 0.5 * g, T.switch(T.eq(i, y), g, 0)) for i in (a, b)]
    reached = [T.eq(i, y) for i in inputs]
    count = T.add(*(T.cast(r, y.dtype) for r in reached))
    return [T.switch(r, g / count, 0) for r in reached]


# --- the vjp


def elementwise_vjp(node: Apply, g: Variable | None) -> Sequence[Variable | None]:
    """The cotangents of the operands of an elementwise node.

    None for constants, for bools and integers, which have no cotangent, and for operands whose derivative is zero
    wherever it is defined: explicit zeros would become NaN where a factor of the chain above is infinite.  Raises
    NoGradient, with the reason, where there is no derivative.
    """
    y = node.out
    wanted = [i.type.kind in "fc" and not isinstance(i, Constant) for i in node.inputs]
    if g is None or y.type.kind not in "fc" or not any(wanted):
        return [None] * len(node.inputs)
    dtypes, _ = node.op.loop(tuple(i.dtype for i in node.inputs))  # type: ignore[attr-defined]
    inputs = [i if i.dtype == d else T.cast(i, d) for i, d in zip(node.inputs, dtypes, strict=True)]
    masks, inner = _unmasked(g)
    found = [g if c is inner else _masked(c, masks) for c in _cotangents(node, inner, inputs, wanted)]
    return [_conform(c, i) if w and c is not None else None for c, i, w in zip(found, node.inputs, wanted, strict=True)]


Mask = tuple[Variable, bool]
"""A condition, and the value of it where a cotangent is 0."""

_LAYERS = 16
"""The number of masks, and of broadcasts above one, that are looked through."""


def _unmasked(g: Any) -> tuple[list[Mask], Any]:
    """Return the conditions that make parts of a cotangent 0, as `switch` sends it back, and what they select from.

    The derivative of a branch that is not taken may be infinite or NaN; so the masks go around it, not into it.
    """
    masks: list[Mask] = []
    for _ in range(_LAYERS):
        broadcasts, source = _below_broadcasts(g)
        mask = _mask_of(source)
        if mask is None:
            break
        *masked, inner = mask
        masks.append((_broadcast_again(masked[0], source.ndim, broadcasts), masked[1]))
        if inner is source:
            break
        g = _broadcast_again(inner, source.ndim, broadcasts)
    return masks, g


def _mask_of(source: Any) -> tuple[Any, bool, Any] | None:
    """Return the mask of a cotangent, and the cotangent without it; if it is a sum of masked ones, the sum."""
    if source.owner is not None and isinstance(source.owner.op, classes.SumTo):
        terms, like = source.owner.inputs
        mask = _mask_of_switch(terms)
        if mask is None:
            return None
        taken = T.fill(terms, T.logical_not(mask[0]) if mask[1] else mask[0])
        return T.ne(classes.SumTo()(T.cast(taken, "float64"), like), 0), False, source
    return _mask_of_switch(source)


def _mask_of_switch(source: Any) -> tuple[Any, bool, Any] | None:
    if source.owner is None or source.owner.op is not T.switch:
        return None
    condition, *branches = source.owner.inputs
    zeros = [isinstance(b, Constant) and not b.ndim and bool(b.data == 0) for b in branches]
    return None if zeros[0] == zeros[1] else (condition, zeros[0], branches[zeros[0]])


def _below_broadcasts(g: Any) -> tuple[list[Apply], Any]:
    """Return the broadcasts that made a cotangent, the last one first, and what they broadcast."""
    found: list[Apply] = []
    for _ in range(_LAYERS):
        if g.owner is None or not (g.owner.op is T.fill or isinstance(g.owner.op, classes.DimShuffle)):
            break
        found.append(g.owner)
        g = g.owner.inputs[-1]
    return found, g


def _broadcast_again(v: Any, ndim: int, broadcasts: Sequence[Apply]) -> Any:
    v = v if v.ndim == ndim else classes.DimShuffle((*"x" * (ndim - v.ndim), *range(v.ndim)))(v)
    for node in reversed(broadcasts):
        v = node.op(*node.inputs[:-1], v)
    return v


def where_read(g: Any, a: Any) -> Any:
    """Return the matrices `a` where their cotangents count, and identity matrices where masks make these 0.

    `g` has a number for each matrix.  A derivative that refuses a matrix then reads none of a branch not taken.
    """
    masks, _ = _unmasked(g)
    if masks:
        identity = T.eye(T.lengths_of(a)[-1], dtype=a.dtype)
    for condition, where in masks:
        there = T.expand_dims(condition, (-2, -1))
        a = T.switch(there, identity, a) if where else T.switch(there, a, identity)
    return a


def _masked(cotangent: Any, masks: Sequence[Mask]) -> Any:
    for condition, where in reversed(masks) if cotangent is not None else ():
        cotangent = T.switch(condition, 0, cotangent) if where else T.switch(condition, cotangent, 0)
    return cotangent


def _cotangents(node: Apply, g: Any, inputs: Sequence[Any], wanted: Sequence[bool]) -> Sequence[Any]:
    """Return the derivatives of the op's record, before they get shapes and dtypes of the operands; None for zero."""
    op: Any = node.op
    y, holomorphic = node.out, any(i.type.kind == "c" for i in inputs)
    if holomorphic and op.not_holomorphic:
        raise NoGradient(f"{op.name} of complex numbers has no derivative: {op.not_holomorphic}")
    row = op.derivative
    if holomorphic and op.complex_derivative is not None:
        row, holomorphic = op.complex_derivative, False
    if row is None:
        raise NoGradient(f"{op.name} of {describe(node.inputs[0])} has no derivative; {op.add_derivative()}")
    holomorphic = holomorphic and not op.real_slopes
    if callable(row):
        return _through_conj(holomorphic, g, lambda g: row(g, y, inputs))
    partials = [p if w else None for p, w in zip(row, wanted, strict=True)]
    return _through_conj(holomorphic, g, lambda g: [p and p(g, y, *inputs) for p in partials])


def _through_conj(needed: bool, g: Any, row: Callable[[Any], Sequence[Any]]) -> Sequence[Any]:
    return [c if c is None else T.conj(c) for c in row(T.conj(g))] if needed else row(g)


def _conform(cotangent: Any, operand: Variable) -> Variable:
    """Return the cotangent in the dtype and shape of the operand."""
    if cotangent.type.kind == "c" and operand.type.kind == "f":
        cotangent = T.real(cotangent)
    return T.cast(T.unbroadcast(cotangent, operand), operand.dtype)
