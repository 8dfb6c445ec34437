"""One value for many elements: `fill`, `alloc` and `broadcast_to`.

A broadcast operand of an elementwise op is carried outwards until it meets an operand that has the shape anyway; then
nothing of it is left.  Shapes are compared by their Dims: what might be broadcast at run time keeps its broadcasting.
"""

from __future__ import annotations

from collections.abc import Sequence

from ....graph import Variable, dims, dims_of, same_shape
from ....graph.dims import broadcast_dims
from ....ops.core.tensor import constant
from ....ops.elementwise.records import Cast, Elementwise, fill
from ....ops.linalg.blas import Dot, Dot22, MatMul
from ....ops.reductions.unbroadcasting import SumTo
from ....ops.shapes.advanced_indexing import AdvancedSubtensor
from ....ops.shapes.creation import Alloc
from ....ops.shapes.lengths import LENGTH, dim_to_tensor
from ....ops.shapes.shape import BroadcastTo, DimShuffle, Reshape
from ...contract import relaxes
from ...patterns import Users, Wild, wilds
from ...rule import Rule, node_rule, rule
from ..facts import Node, Value, number_of, producer

x, y, z = wilds("x y z")
scalar: Wild = Wild("y", lambda v: v.ndim == 0)
BROADCASTING = (Alloc, BroadcastTo)
"""Ops whose first input is a value and whose others are the lengths it is broadcast to."""
MOST_STEPS = 1000
"""Most operands that one application visits to find the shape that a value is filled to."""


def filled(v: Variable) -> Node | None:
    """The fill that makes v."""
    return producer(v, fill)


def broadcast_node(v: Variable) -> Node | None:
    """The alloc or broadcast_to that makes v."""
    return producer(v, *BROADCASTING)


def without_fill(v: Variable) -> Value:
    """The value that `fill(like, value)` broadcasts; v itself if it is no such node."""
    made = filled(v)
    return v if made is None else made.inputs[1]


def without_broadcast(v: Variable) -> Value:
    """The value under an alloc or a broadcast_to; v itself where there is none."""
    made = broadcast_node(v)
    return v if made is None else made.inputs[0]


def has_shape_of_result(node: Node, y: Variable) -> bool:
    """Whether y needs no broadcast."""
    return same_shape(node.out, y)


def broadcasts_alone(node: Node, x: Variable, z: Variable) -> bool:
    """Whether x broadcasts z to the shape of the result."""
    return broadcast_dims([dims_of(x), dims_of(z)]) == dims_of(node.out)


# --- fill


def fill_sunk(node: Node) -> Value | None:
    """Apply f to the values of fills, and fill the result."""
    if node.op is fill:
        return None
    likes = [made.inputs[0] for made in map(filled, node.inputs) if made is not None]
    return broadcast_by(likes, node.op(*map(without_fill, node.inputs)), node.out) if likes else None


def broadcast_by(likes: Sequence[Variable], value: Variable, whole: Variable) -> Value:
    """Return `value` filled along those of `likes` that it needs to get the shape of `whole`."""
    for like in likes:
        if same_shape(value, whole):
            return value
        if broadcast_dims([dims_of(like), dims_of(value)]) != dims_of(value):
            value = fill(like, value)
    return value


def fill_like_operand(node: Node) -> Value | None:
    """Fill along an operand of the same shape, so that `like` itself, read for its shape only, is not computed.

    A chain is climbed at once: a firing for each of its nodes would make as many.
    """
    like, value = node.inputs
    source = _of_same_shape(like)[-1]
    return fill(source, value) if source is not like else None


def _of_same_shape(like: Variable) -> list[Variable]:
    """Return `like`, an operand of the same shape of the op that makes it, one of that operand's, and so on."""
    chain = [like]
    for _ in range(MOST_STEPS):
        made = producer(chain[-1], Elementwise, Cast)
        above = [] if made is None else [i for i in made.inputs if same_shape(i, like)]
        if not above:
            break
        chain.append(above[0])
    return chain


def sum_to_lengths(node: Node, users: Users) -> Value | None:
    """Sum to lengths that are read from other values, where a product is computed for its shape alone."""
    x, like = node.inputs
    if not all(_reads_shape(user, place) for user, place in users(like)):  # most values are read
        return None
    chain = _of_same_shape(like)
    inside = {v.owner for v in chain}
    if producer(chain[-1], Dot, Dot22, MatMul) is None:
        return None
    if not all(user in inside or _reads_shape(user, place) for v in chain for user, place in users(v)):
        return None
    lengths = dims_of(chain[-1])
    if not all(_is_read_off(dim, chain[-1]) for dim in lengths):
        return None
    shape = BroadcastTo()(constant(0, like.dtype), *map(dim_to_tensor, lengths))
    return SumTo()(x, shape)


def _reads_shape(user: Node | None, place: int) -> bool:
    """Whether a reader reads no elements: the graph's outputs do, for which the node is None."""
    return user is not None and isinstance(user.op, SumTo) and place == 1


def fill_to_alloc(node: Node) -> Value | None:
    """Rewrite a fill to a broadcast to lengths that are read from inputs, so that `like` is not computed."""
    like, value = node.inputs
    lengths = dims_of(node.out)
    if not all(_is_read_off(dim, like) for dim in lengths):
        return None
    return Alloc()(value, *(dim_to_tensor(dim) for dim in lengths))


def _is_read_off(dim: dims.Dim, like: Variable) -> bool:
    """Whether the length is a number, or the length of an axis of another variable than `like`."""
    return isinstance(dim, int) or (dim.kind in ("extent", "value") and (dim.args[0] is not like or like.owner is None))


# --- alloc and broadcast_to


def useless_alloc(node: Node) -> Value | None:
    """Return the value if its shape is that of the result."""
    value = node.inputs[0]
    return value if same_shape(value, node.out) else None


def merged(node: Node) -> Value | None:
    """Return the outer broadcast alone."""
    value, *lengths = node.inputs
    inner = broadcast_node(value)
    return None if inner is None else node.op(inner.inputs[0], *lengths)


def alloc_lifted(node: Node) -> Value | None:
    """Apply a function of one operand before the operand is broadcast."""
    made = broadcast_node(node.inputs[0]) if len(node.inputs) == 1 else None
    return None if made is None else made.op(node.op(made.inputs[0]), *made.inputs[1:])


def elemwise_alloc(node: Node) -> Value | None:
    """Apply f to operands before they are broadcast, if others give the result its shape; else broadcast the result."""
    makers = [made for made in map(broadcast_node, node.inputs) if made is not None]
    if len(node.inputs) < 2 or not makers:
        return None
    result = node.op(*map(without_broadcast, node.inputs))
    if same_shape(result, node.out):
        return result
    whole = [made for made in makers if same_shape(made.out, node.out)]
    return whole[0].op(result, *whole[0].inputs[1:]) if whole else None


def dimshuffle_of_alloc(node: Node) -> Value | None:
    """Move the axes of a value before it is broadcast."""
    made, order = broadcast_node(node.inputs[0]), node.op.order
    if made is None:
        return None
    value, *lengths = made.inputs
    missing = len(lengths) - value.ndim
    own = tuple(o - missing if isinstance(o, int) and o >= missing else "x" for o in order)
    if any(axis not in own for axis in range(value.ndim) if value.type.shape[axis] != 1):
        return None
    moved = value if value.ndim == 0 else DimShuffle(own)(value)
    one = constant(1, LENGTH.dtype)
    return made.op(moved, *(lengths[o] if isinstance(o, int) else one for o in order))


def alloc_of_padded(node: Node) -> Value | None:
    """Return the value without leading axes of length 1, which broadcasting adds anyway."""
    value, *lengths = node.inputs
    made = producer(value, DimShuffle)
    if made is None:
        return None
    (x,) = made.inputs
    padding = len(made.op.order) - x.ndim
    padded = padding > 0 and made.op.order == (*("x",) * padding, *range(x.ndim))
    return node.op(x, *lengths) if padded else None


def reshape_of_alloc(node: Node) -> Value | None:
    """Reshape a broadcast number by other lengths."""
    made = broadcast_node(node.inputs[0])
    return None if made is None or made.inputs[0].ndim else made.op(made.inputs[0], *node.inputs[1:])


def alloc_of_constant(node: Node) -> Value | None:
    """Return a constant with equal elements as one number."""
    value, *lengths = node.inputs
    number = number_of(value)
    return node.op(constant(number), *lengths) if number is not None and value.ndim else None


def fill_like_picked(node: Node) -> Value | None:
    """Fill along indices instead of the elements they select: the shape is the same, and nothing is gathered."""
    picked = producer(node.inputs[0], AdvancedSubtensor)
    if picked is None or picked.op.spec != ("a",) * picked.inputs[0].ndim:
        return None
    like, *others = picked.inputs[1:]
    for index in others:
        like = fill(like, index)
    return fill(like, node.inputs[1])


FILLS: list[Rule] = [
    rule("local_useless_fill", fill(x, y), y, when=has_shape_of_result),
    rule("local_fill_of_fill", fill(fill(x, scalar), z), fill(x, z)),
    rule("local_fill_in_fill", fill(x, fill(y, z)), fill(x, z), when=broadcasts_alone),
    node_rule("local_fill_like_operand", fill, fill_like_operand, having=(Elementwise, Cast),
              formula="fill(f(x), y) -> fill(x, y)  if f keeps the shape of x"),
    node_rule("local_fill_like_picked", fill, fill_like_picked, having=AdvancedSubtensor, contract=relaxes("errors"),
              formula="fill(x[i, j], y) -> fill(fill(i, j), y)"),
    node_rule("local_fill_sink", (Elementwise, Cast), fill_sunk, having=fill, contract=relaxes("errors"),
              formula="f(fill(a, b), c) -> fill(a, f(b, c))"),
]  # fmt: skip

TO_ALLOC: list[Rule] = [
    node_rule("local_fill_to_alloc", fill, fill_to_alloc, contract=relaxes("errors"),
              formula="fill(x, y) -> alloc(y, lengths of x)"),
    node_rule("local_sum_to_lengths", SumTo, sum_to_lengths, having=(Elementwise, Cast, Dot, Dot22, MatMul), uses=True,
              contract=relaxes("errors"),
              formula="sum_to(x, dot(y, z)) -> sum_to(x, broadcast_to(0, n, m))  if nothing else reads dot(y, z)"),
]  # fmt: skip

ALLOCS: list[Rule] = [
    node_rule("local_useless_alloc", BROADCASTING, useless_alloc, formula="alloc(x, lengths of x) -> x"),
    node_rule("local_merge_alloc", BROADCASTING, merged, having=BROADCASTING, contract=relaxes("errors"),
              formula="alloc(alloc(x, n), m, n) -> alloc(x, m, n)"),
    node_rule("local_alloc_of_constant", BROADCASTING, alloc_of_constant,
              formula="alloc([c, c, ...], n) -> alloc(c, n)"),
    node_rule("local_alloc_dimshuffle", BROADCASTING, alloc_of_padded, having=DimShuffle,
              formula="alloc(dimshuffle{x, 0}(x), n, m) -> alloc(x, n, m)"),
    node_rule("local_dimshuffle_alloc", DimShuffle, dimshuffle_of_alloc, having=BROADCASTING,
              formula="dimshuffle(alloc(x, n, m)) -> alloc(dimshuffle(x), m, n)"),
    node_rule("local_reshape_alloc", Reshape, reshape_of_alloc, having=BROADCASTING, contract=relaxes("errors"),
              formula="reshape(alloc(scalar, n), m, k) -> alloc(scalar, m, k)"),
]  # fmt: skip

THROUGH: list[Rule] = [
    node_rule("local_alloc_unary", (Elementwise, Cast), alloc_lifted, having=BROADCASTING,
              formula="f(alloc(x, n)) -> alloc(f(x), n)"),
    node_rule("local_elemwise_alloc", Elementwise, elemwise_alloc, having=BROADCASTING, contract=relaxes("errors"),
              formula="f(alloc(x, n), y) -> f(x, y)"),
]
