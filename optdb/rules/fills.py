"""One value for many elements: `fill`, `alloc` and `broadcast_to`.

A stretched operand of an elementwise op is carried outwards until it meets an operand that has the shape anyway; then
nothing of it is left.  Shapes are compared by their Dims, so a value that might be stretched at run time keeps its stretching.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...graph import Apply, Variable, dims, dims_of, same_shape
from ...graph.dims import broadcast_dims
from ...ops.creation import Alloc
from ...ops.elementwise import Cast, Elementwise, fill
from ...ops.lengths import LENGTH, dim_to_tensor, tensor_to_dim
from ...ops.shape import BroadcastTo, DimShuffle, Reshape
from ...ops.tensor import constant
from ..patterns import Wild, wilds
from ..rule import Rule, node_rule, rule
from .facts import made_by, number_of

x, y, z = wilds("x y z")
scalar = Wild("y", lambda v: v.ndim == 0)
STRETCHING = (Alloc, BroadcastTo)
"""Ops whose first input is a value and whose others are the lengths it is stretched to."""


def is_stretched(v: Variable) -> bool:
    return v.owner is not None and isinstance(v.owner.op, STRETCHING)


def without_stretching(v: Variable) -> Variable:
    """The value under a fill, an alloc or a broadcast_to; `v` itself where there is none."""
    if is_stretched(v):
        return v.owner.inputs[0]  # type: ignore[union-attr]
    return v.owner.inputs[1] if made_by(v, fill) else v  # type: ignore[union-attr]


def has_shape_of_result(node: Apply, y: Variable) -> bool:
    """Whether y needs no stretching."""
    return same_shape(node.out, y)


def stretches_alone(node: Apply, x: Variable, z: Variable) -> bool:
    """Whether x stretches z to the shape of the result."""
    return broadcast_dims([dims_of(x), dims_of(z)]) == dims_of(node.out)


# --- fill


def fill_sunk(node: Apply) -> Variable | None:
    """f on what the fills hold, filled afterwards: the engine does so where the result might be too small."""
    if node.op is fill:
        return None
    operands = [i.owner.inputs[1] if made_by(i, fill) else i for i in node.inputs]  # type: ignore[union-attr]
    if all(new is old for new, old in zip(operands, node.inputs, strict=True)):
        return None
    likes = [i.owner.inputs[0] for i in node.inputs if made_by(i, fill)]  # type: ignore[union-attr]
    return stretched_by(likes, node.op(*operands), node.out)


def stretched_by(likes: Sequence[Variable], value: Variable, whole: Variable) -> Variable:
    """The value filled along those of `likes` that it needs to get the shape of `whole`."""
    for like in likes:
        if same_shape(value, whole):
            return value
        if broadcast_dims([dims_of(like), dims_of(value)]) != dims_of(value):
            value = fill(like, value)
    return value


def fill_like_operand(node: Apply) -> Variable | None:
    """fill along an operand of the same shape: what was computed from it for its shape alone need not be computed."""
    like, value = node.inputs
    if like.owner is None or not isinstance(like.owner.op, (Elementwise, Cast)):
        return None
    operand = next((i for i in like.owner.inputs if same_shape(i, like)), None)
    return None if operand is None else fill(operand, value)  # type: ignore[no-any-return]


def fill_to_alloc(node: Apply) -> Variable | None:
    """The value stretched to lengths that are read off inputs: what gave the shape need not be computed."""
    like, value = node.inputs
    lengths = dims_of(node.out)
    if not all(_is_read_off(dim, like) for dim in lengths):
        return None
    return Alloc()(value, *(dim_to_tensor(dim) for dim in lengths))  # type: ignore[no-any-return]


def _is_read_off(dim: dims.Dim, like: Variable) -> bool:
    """Whether the length is a number, or that of an axis of something other than `like` itself."""
    return isinstance(dim, int) or (dim.kind in ("extent", "value") and (dim.args[0] is not like or like.owner is None))


# --- alloc and broadcast_to


def useless_alloc(node: Apply) -> Variable | None:
    """The value, where its shape is that of the result."""
    value = node.inputs[0]
    return value if same_shape(value, node.out) else None


def merged(node: Apply) -> Variable | None:
    """The outer stretching alone."""
    value, *lengths = node.inputs
    inner = without_stretching(value) if is_stretched(value) else value
    return None if inner is value else node.op(inner, *lengths)


def alloc_lifted(node: Apply) -> Variable | None:
    """A function of one operand computed before that is stretched."""
    operand = node.inputs[0]
    if len(node.inputs) > 1 or not is_stretched(operand):
        return None
    value, *lengths = operand.owner.inputs  # type: ignore[union-attr]
    return operand.owner.op(node.op(value), *lengths)  # type: ignore[union-attr, no-any-return]


def elemwise_alloc(node: Apply) -> Variable | None:
    """f on operands that are not stretched, where others give the result its shape; else stretched once, afterwards."""
    if len(node.inputs) < 2 or not any(map(is_stretched, node.inputs)):
        return None
    operands = [without_stretching(i) if is_stretched(i) else i for i in node.inputs]
    result = node.op(*operands)
    if same_shape(result, node.out):
        return result  # type: ignore[no-any-return]
    whole = next((i for i in node.inputs if is_stretched(i) and same_shape(i, node.out)), None)
    return None if whole is None else whole.owner.op(result, *whole.owner.inputs[1:])  # type: ignore[union-attr, no-any-return]


def dimshuffle_of_alloc(node: Apply) -> Variable | None:
    """A stretched value with its axes moved: the value moved, then stretched."""
    (x,) = node.inputs
    if not is_stretched(x):
        return None
    order = node.op.order  # type: ignore[attr-defined]
    value, *lengths = x.owner.inputs  # type: ignore[union-attr]
    missing = x.ndim - value.ndim
    own = tuple(o - missing if isinstance(o, int) and o >= missing else "x" for o in order)
    if any(axis not in own for axis in range(value.ndim) if value.type.shape[axis] != 1):
        return None
    moved = value if value.ndim == 0 else DimShuffle(own)(value)
    one = constant(1, LENGTH.dtype)
    return x.owner.op(moved, *(lengths[o] if isinstance(o, int) else one for o in order))  # type: ignore[union-attr, no-any-return]


def reshape_of_alloc(node: Apply) -> Variable | None:
    """A number under other lengths."""
    value = without_stretching(node.inputs[0])
    if not is_stretched(node.inputs[0]) or value.ndim:
        return None
    return node.inputs[0].owner.op(value, *node.inputs[1:])  # type: ignore[union-attr, no-any-return]


def alloc_of_constant(node: Apply) -> Variable | None:
    """A constant whose elements are one number, as that number."""
    value, *lengths = node.inputs
    number = number_of(value)
    return node.op(constant(number), *lengths) if number is not None and value.ndim else None


FILLS: list[Rule] = [
    rule("local_useless_fill", fill(x, y), y, when=has_shape_of_result),
    rule("local_fill_of_fill", fill(fill(x, scalar), z), fill(x, z)),
    rule("local_fill_in_fill", fill(x, fill(y, z)), fill(x, z), when=stretches_alone),
    node_rule("local_fill_like_operand", fill, fill_like_operand, having=(Elementwise, Cast),
              formula="fill(f(x), y) -> fill(x, y)  if f keeps the shape of x"),
    node_rule("local_fill_sink", (Elementwise, Cast), fill_sunk, having=fill, formula="f(fill(a, b), c) -> fill(a, f(b, c))"),
]  # fmt: skip

TO_ALLOC: list[Rule] = [
    node_rule("local_fill_to_alloc", fill, fill_to_alloc, formula="fill(x, y) -> alloc(y, lengths of x)"),
]

ALLOCS: list[Rule] = [
    node_rule("local_useless_alloc", STRETCHING, useless_alloc, formula="alloc(x, lengths of x) -> x"),
    node_rule("local_merge_alloc", STRETCHING, merged, having=STRETCHING, formula="alloc(alloc(x, n), m, n) -> alloc(x, m, n)"),
    node_rule("local_alloc_of_constant", STRETCHING, alloc_of_constant, formula="alloc([c, c, ...], n) -> alloc(c, n)"),
    node_rule("local_dimshuffle_alloc", DimShuffle, dimshuffle_of_alloc, having=STRETCHING,
              formula="dimshuffle(alloc(x, n, m)) -> alloc(dimshuffle(x), m, n)"),
    node_rule("local_reshape_alloc", Reshape, reshape_of_alloc, having=STRETCHING,
              formula="reshape(alloc(scalar, n), m, k) -> alloc(scalar, m, k)"),
]  # fmt: skip

THROUGH: list[Rule] = [
    node_rule("local_alloc_unary", (Elementwise, Cast), alloc_lifted, having=STRETCHING, formula="f(alloc(x, n)) -> alloc(f(x), n)"),
    node_rule("local_elemwise_alloc", Elementwise, elemwise_alloc, having=STRETCHING, formula="f(alloc(x, n), y) -> f(x, y)"),
]
