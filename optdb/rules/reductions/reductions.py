"""Reductions of sums, products, broadcast values, joined values and axes of length 1.

The order in which a sum is added up is not specified, so sums may be regrouped (`relaxes("rounding")`).  Moving a
factor out of a floating-point sum may overflow where the sum itself did not, so the default mode does not do it.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import reduce

from ....graph import Dim, Variable, dims_of, same_shape
from ....ops.core.tensor import constant
from ....ops.elementwise.records import (
    Elementwise,
    add,
    cast,
    eq,
    logical_and,
    logical_or,
    maximum,
    minimum,
    mul,
    neg,
    switch,
    true_div,
)  # fmt: skip
from ....ops.reductions.reduce import ArgReduce, Reduce
from ....ops.reductions.unbroadcasting import SumTo, broadcast_axes, unbroadcast
from ....ops.shapes.creation import Alloc
from ....ops.shapes.indexing import Subtensor
from ....ops.shapes.joining import Join
from ....ops.shapes.lengths import dim_to_tensor
from ....ops.shapes.shape import BroadcastTo, DimShuffle
from ...contract import relaxes, stabilizes
from ...patterns import Wild, op_like
from ...rule import Rule, node_rule, rule
from ..facts import Node, Value, is_discrete, is_float, is_integer, not_complex, number_of, producer

BROADCASTING = (Alloc, BroadcastTo)

x: Wild = Wild("x")
float_x: Wild = Wild("x", is_float)
outer, inner = op_like(Reduce, "outer"), op_like(Reduce, "inner")
over_nothing = op_like(Reduce, "outer", lambda op: not op.axis)
total = op_like(Reduce, "r", lambda op: op.scalar is add)
extremum = op_like(Reduce, "extremum", lambda op: op.scalar in (maximum, minimum))
regrouped = relaxes("rounding")
FEW = 4
"""Elements up to this distance are copied in vectors.  Bits depend on it, so it is the same for all machines."""
STACKED = 32
"""Stacked values whose extremum is elementwise.  More than a few addends are added faster by the columns of a stack."""
FOLDS = (add, mul, maximum, minimum, logical_and, logical_or)


# --- axes


def reduce_of_reduce(x: Variable, outer: Reduce, inner: Reduce) -> Value | None:
    """Merge two reductions into one over the axes of both."""
    if outer.scalar is not inner.scalar or (outer.selects and not not_complex(x)) or outer.empty != inner.empty:
        return None  # of several complex NaNs the first is taken, in the order of the walk
    left = [axis for axis in range(x.ndim) if axis not in inner.axis]
    axes = tuple(sorted((*inner.axis, *(left[axis] for axis in outer.axis))))
    return replace(outer, axis=axes)(x)


def useless_reduce(node: Node, x: Variable, outer: Reduce) -> Value | None:
    """Return x if no axis is reduced."""
    if outer.scalar in (logical_and, logical_or) and x.dtype != "bool":
        return None
    return cast(x, node.out.dtype)


def without_ones(node: Node) -> Value | None:
    """Drop axes of length 1 and reduce the others."""
    (x,), op = node.inputs, node.op
    axes = op.axis
    if 1 not in x.type.shape:
        return None
    short = [axis for axis in axes if x.type.shape[axis] == 1]
    if not short or (op.scalar in (logical_and, logical_or) and x.dtype != "bool"):
        return None
    order = tuple(axis for axis in range(x.ndim) if axis not in short)
    rest = tuple(k for k, axis in enumerate(order) if axis in axes)
    dropped = DimShuffle(order)(cast(x, node.out.dtype))
    return replace(op, axis=rest)(dropped) if rest else dropped


def reduce_of_dimshuffle(node: Node) -> Value | None:
    """Reduce a value before its axes are moved, if those that stay keep their order."""
    made = producer(node.inputs[0], DimShuffle)
    if made is None or made.op.dropped(made.inputs[0].ndim):
        return None
    order, axes = made.op.order, node.op.axis
    kept = [o for axis, o in enumerate(order) if axis not in axes]
    if "x" in kept or kept != sorted(kept):
        return None
    gone = (order[axis] for axis in axes)
    return replace(node.op, axis=tuple(sorted(o for o in gone if o != "x")))(made.inputs[0])


# --- factors


def _broadcast_factor(factor: Variable, axes: Sequence[int], ndim: int) -> bool:
    """Whether an operand of a product of rank `ndim` certainly has length 1 along `axes`."""
    missing = ndim - factor.ndim
    return all(axis < missing or factor.type.shape[axis - missing] == 1 for axis in axes)


def _reduced_factor(factor: Variable, axes: Sequence[int], ndim: int) -> Value:
    """Return the operand without the reduced axes."""
    missing = ndim - factor.ndim
    kept = tuple(axis - missing for axis in range(ndim) if axis >= missing and axis not in axes)
    return factor if kept == tuple(range(factor.ndim)) else DimShuffle(kept)(factor)


def sum_of_product(node: Node) -> Value | None:
    """Move factors that are constant along the summed axes out of the sum."""
    product, axes = node.inputs[0], node.op.axis
    made = producer(product, mul) if node.op.scalar is add and product.dtype == node.out.dtype else None
    if made is None:
        return None
    factors = made.inputs
    outside = [f for f in factors if _broadcast_factor(f, axes, product.ndim) and f.dtype == product.dtype]
    inside = [f for f in factors if not any(f is o for o in outside)]
    if not outside or not inside:
        return None
    rest = inside[0] if len(inside) == 1 else mul(*inside)
    if not same_shape(rest, product) or rest.dtype != product.dtype:
        return None
    return mul(node.op(rest), *(_reduced_factor(f, axes, product.ndim) for f in outside))


def integer_sum_of_product(node: Node) -> Value | None:
    return sum_of_product(node) if is_integer(node.inputs[0]) else None


def float_sum_of_product(node: Node) -> Value | None:
    return sum_of_product(node) if is_float(node.inputs[0]) else None


def sum_of_quotient(node: Node) -> Value | None:
    """Move a divisor that is constant along the summed axes out of the sum."""
    quotient, axes = node.inputs[0], node.op.axis
    made = producer(quotient, true_div) if node.op.scalar is add and is_float(quotient) else None
    if made is None:
        return None
    above, below = made.inputs
    uniform = above.dtype == below.dtype == quotient.dtype
    if not uniform or not _broadcast_factor(below, axes, quotient.ndim) or not same_shape(above, quotient):
        return None
    return true_div(node.op(above), _reduced_factor(below, axes, quotient.ndim))


# --- broadcast and joined values


def reduce_of_alloc(node: Node) -> Value | None:
    """Reduce a broadcast value: n times the value for a sum, the value itself for an extremum."""
    (x,), op = node.inputs, node.op
    made = producer(x, *BROADCASTING)
    if made is None:
        return None
    value, *lengths = made.inputs
    axes = tuple(axis for axis in op.axis if _broadcast_factor(value, [axis], x.ndim))
    scale = _scaled(op, value, [dims_of(x)[axis] for axis in axes], node.out.dtype) if axes else None
    if scale is None:
        return None
    smaller = _reduced_factor(value, axes, x.ndim)
    left = [axis for axis in range(x.ndim) if axis not in axes]
    broadcast = made.op(scale(smaller), *(lengths[axis] for axis in left)) if left else scale(smaller)
    rest = tuple(k for k, axis in enumerate(left) if axis in op.axis)
    return replace(op, axis=rest)(broadcast) if rest else broadcast


def _scaled(op: Reduce, value: Variable, dims: Sequence[Dim], dtype: str) -> Callable[[Variable], Variable] | None:
    """Return the reduction of a value repeated as often as `dims` say; None if that may differ."""
    known = [dim for dim in dims if isinstance(dim, int)]
    seen = 0 not in known and len(known) == len(dims)
    if op.selects:
        fits = seen and (value.dtype == "bool" or op.scalar in (maximum, minimum))
        return (lambda v: v) if fits else None
    # 0 * inf is NaN where the sum of nothing is 0, and in complex numbers; float16 does not hold large counts.
    finite = is_discrete(value) or _is_finite_constant(value)
    if op.scalar is not add or dtype == "float16" or not (finite or (not_complex(value) and 0 not in known)):
        return None
    count = _count(dims, dtype)
    if seen or finite:
        return lambda v: mul(cast(v, dtype), count)
    return lambda v: switch(eq(count, 0), constant(0, dtype), mul(cast(v, dtype), count))


def _count(dims: Sequence[Dim], dtype: str) -> Value:
    """Return the product of the lengths, in `dtype`."""
    if all(isinstance(dim, int) for dim in dims):
        return constant(math.prod(dim for dim in dims if isinstance(dim, int)), dtype)
    count = dim_to_tensor(dims[0])
    for dim in dims[1:]:
        count = mul(count, dim_to_tensor(dim))
    return cast(count, dtype)


def _is_finite_constant(value: Variable) -> bool:
    number = number_of(value)
    return number is not None and math.isfinite(abs(number))


def reduce_of_stack(node: Node) -> Value | None:
    """Reduce along the axis of stacked values by the elementwise op on these values."""
    (x,), op = node.inputs, node.op
    made = producer(x, Join)
    if made is None or op.axis != (made.op.axis,) or node.out.dtype != x.dtype:
        return None
    if not 2 <= len(made.inputs) <= (STACKED if op.selects else 2 * FEW):
        return None
    (axis,) = op.axis
    if any(part.type.shape[axis] != 1 for part in made.inputs):
        return None
    order = tuple(k for k in range(x.ndim) if k != axis)
    parts = [_unstacked(part, order) for part in made.inputs]
    return reduce(op.scalar, dict.fromkeys(parts) if op.selects else parts)


def _unstacked(part: Variable, order: tuple[int, ...]) -> Value:
    """Return the part without the axis that it was stacked along."""
    made = producer(part, DimShuffle)
    if made is None:
        return DimShuffle(order)(part)
    (x,), placed = made.inputs, tuple(made.op.order[o] for o in order)
    return x if placed == tuple(range(x.ndim)) else DimShuffle(placed)(x)


# --- a few numbers each


def reduce_of_few(node: Node) -> Value | None:
    """Reduce short axes, the last among them, by the elementwise op on slices: vectors run along the axes that stay.

    Values that an elementwise op computes are left: their rows are reduced where they are computed.
    """
    (x,), op = node.inputs, node.op
    lengths = [dims_of(x)[axis] for axis in op.axis]
    known = [n for n in lengths if isinstance(n, int)]
    if len(known) < len(lengths) or x.ndim - 1 not in op.axis or len(op.axis) == x.ndim:
        return None
    if not (2 <= known[-1] <= FEW and 2 <= math.prod(known) <= 2 * FEW):
        return None
    if node.out.dtype == "float16" or op.scalar not in FOLDS or producer(x, Elementwise) is not None:
        return None
    spec = tuple("i" if axis in op.axis else "s000" for axis in range(x.ndim))
    places = itertools.product(*map(range, known))
    slices = [Subtensor(spec)(x, *(constant(k, "int64") for k in place)) for place in places]
    return reduce(op.scalar, [cast(part, node.out.dtype) for part in slices])


# --- extrema


def opposite_extremum(x: Variable, extremum: Reduce) -> Value:
    """Rewrite -max(-x) to min(x), and the reverse."""
    return replace(extremum, scalar=minimum if extremum.scalar is maximum else maximum)(x)


increasing = op_like(Elementwise, "f", lambda op: op.increasing)
position = op_like(ArgReduce, "arg")


def known_unbroadcast(node: Node) -> Value | None:
    """Rewrite a sum decided at run time to one over axes that are known by now."""
    _, all_known = broadcast_axes(*node.inputs)
    return unbroadcast(*node.inputs) if all_known else None


AXES: list[Rule] = [
    rule("local_op_of_op", outer(inner(x)), reduce_of_reduce, contract=regrouped, formula="sum(sum(x)) -> sum(x)"),
    rule("local_useless_reduce", over_nothing(x), useless_reduce, contract=relaxes("signed zero"),
         formula="sum{axis=()}(x) -> x"),
    node_rule("local_reduce_broadcastable", Reduce, without_ones, contract=relaxes("signed zero"),
              formula="sum(x over an axis of length 1) -> dimshuffle(x)"),
    node_rule("local_reduce_of_dimshuffle", Reduce, reduce_of_dimshuffle, having=DimShuffle, contract=regrouped,
              formula="sum(dimshuffle(x)) -> sum(x over the axes that stand there)"),
    node_rule("local_useless_sum_to", SumTo, known_unbroadcast, contract=relaxes("errors"),
              formula="sum_to(x, like) -> x or sum(x)"),
]  # fmt: skip

FACTORS: list[Rule] = [
    rule("local_sum_of_neg", total(neg(float_x)), lambda x, r: neg(r(x)), contract=relaxes("signed zero"),
         formula="sum(neg(x)) -> neg(sum(x))"),
    node_rule("local_integer_sum_mul_by_scalar", Reduce, integer_sum_of_product, having=mul,
              formula="sum(a * x) -> a * sum(x)"),
]

BROADCAST: list[Rule] = [
    node_rule("local_opt_alloc", Reduce, reduce_of_alloc, having=BROADCASTING,
              contract=stabilizes | relaxes("signed zero"),
              formula="sum(alloc(x, n)) -> n * x"),
    node_rule("local_reduce_join", Reduce, reduce_of_stack, having=Join,
              contract=relaxes("rounding", "signed zero", "errors"),
              formula="sum(stack([a, b])) -> a + b"),
]

EXTREMA: list[Rule] = [
    rule("local_max_to_min", neg(extremum(neg(float_x))), opposite_extremum, contract=relaxes("signed zero"),
         formula="neg(max(neg(x))) -> min(x)"),
]

FEW_EACH: list[Rule] = [
    node_rule("local_reduce_of_few", Reduce, reduce_of_few, contract=relaxes("rounding", "signed zero"),
              formula="sum(x over a last axis of 2 to 4) -> x[..., 0] + x[..., 1]"),
]  # fmt: skip

UNSAFE: list[Rule] = [
    node_rule("local_sum_mul_by_scalar", Reduce, float_sum_of_product, having=mul,
              contract=relaxes("nan", "rounding", "overflow"),  # a sum of nothing is 0, and 0 * inf is NaN
              formula="sum(a * x) -> a * sum(x)"),
    node_rule("local_sum_div_dimshuffle", Reduce, sum_of_quotient, having=true_div,
              contract=relaxes("nan", "rounding", "overflow"),  # likewise 0 / 0
              formula="sum(x / a) -> sum(x) / a"),
    # Positions show rounding: exp([800, 900]) is inf twice, so NumPy's argmax is 0, that of the operands 1.
    rule("local_argmax_pushdown", position(increasing(float_x)), position(float_x),
         contract=relaxes("rounding", "overflow", "underflow"), formula="argmax(exp(x)) -> argmax(x)"),
]
