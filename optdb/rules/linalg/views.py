"""Reshapes and added axes of products moved behind the elementwise nodes that read them, which become epilogues.

    dimshuffle(dot22(x, w)) + b              -->   dimshuffle(dot22(x, w) + b)
    reshape(dot22(x, w), n) + b              -->   reshape(dot22(x, w) + b, n)
    tanh(reshape(convolution(x, w), n))      -->   reshape(tanh(convolution(x, w)), n)

A batch of one example adds axes of length 1.  A dense layer on stacks of rows reshapes them, and another layer flattens
images.  The elementwise nodes then run along the axes of the product, and become its epilogue; sums of bytes become
bytes.
"""

from __future__ import annotations

from collections.abc import Sequence

from ....graph import Constant, Op, Variable, dims_of
from ....ops.core.tensor import constant
from ....ops.elementwise.records import Pointwise
from ....ops.linalg.blas import Dot22
from ....ops.lowered.bfloat_dot import BfloatDot
from ....ops.lowered.byte_sums import ByteConvolution
from ....ops.lowered.formats import PackedProduct
from ....ops.networks.convolution import Convolution
from ....ops.networks.fixed_point import Requantize
from ....ops.networks.quantized import Dequantize, Quantize
from ....ops.shapes.lengths import dim_to_tensor
from ....ops.shapes.shape import DimShuffle, Reshape
from ...patterns import Users
from ...rule import Rule, node_rule
from ..facts import Node, producer

PRODUCTS = (BfloatDot, Dot22, PackedProduct)
DEEPEST = 8
"""Most elementwise nodes between a product and a view of it."""


# --- axes of length 1


def added_later(node: Node) -> Variable | None:
    """Compute an elementwise node without the axes that a dimshuffle of a product adds; add them to the result."""
    rank = node.out.ndim
    made = next((m for i in node.inputs if (m := _with_axes(i, rank)) is not None), None)
    if made is None:
        return None
    operands = [_without(i, made.op, rank) for i in node.inputs]
    if any(o is None for o in operands):
        return None
    return DimShuffle(made.op.order)(node.op(*operands))


def _with_axes(value: Variable, rank: int) -> Node | None:
    """Return the dimshuffle that only adds axes to a value computed from a product."""
    made = producer(value, DimShuffle)
    if made is None or value.ndim != rank:
        return None
    kept = [o for o in made.op.order if o != "x"]
    below = made.inputs[0]
    if len(kept) == rank or kept != list(range(below.ndim)):
        return None
    for _ in range(DEEPEST):
        if producer(below, *PRODUCTS) is not None:
            return made
        reader = producer(below, Pointwise)
        if reader is None:
            return None
        below = reader.inputs[0]
    return None


def _without(value: Variable, adds: DimShuffle, rank: int) -> Variable | None:
    """Return a value without the axes that are added to one of `rank`; None if their length may differ from 1."""
    made = producer(value, adds)
    if made is not None:
        return made.inputs[0]  # type: ignore[no-any-return]
    axes = [a - rank + value.ndim for a, o in enumerate(adds.order) if o == "x"]
    own = [a for a in axes if a >= 0]
    if any(value.type.shape[a] != 1 for a in own):
        return None
    if not own:
        return value
    if isinstance(value, Constant):
        return constant(value.data.squeeze(tuple(own)))
    return DimShuffle(tuple([a for a in range(value.ndim) if a not in own]))(value)


# --- reshapes


def reshaped_later(
    node: Node, users: Users, products: Sequence[type[Op]], *readers: type[Op]
) -> Variable | None:
    """Compute an elementwise node of a reshaped product before the reshape; None if another operand does not fit."""
    made = next((m for i in node.inputs if (m := _reshaped_product(i, users, products, readers)) is not None), None)
    if made is None or made.out.ndim != node.out.ndim:
        return None
    operands = [_before(i, made) for i in node.inputs]
    if any(o is None for o in operands):
        return None
    result, lengths = node.op(*operands), made.inputs[1:]
    if dims_of(result) != dims_of(made.inputs[0]):  # one column may become as many as the other operand has
        lengths = (*lengths[:-1], dim_to_tensor(dims_of(result)[1]))
    return made.op(result, *lengths)  # type: ignore[no-any-return]


def _reshaped_product(
    value: Variable, users: Users, products: Sequence[type[Op]], readers: Sequence[type[Op]]
) -> Node | None:
    """Return the reshape of a product, or of elementwise nodes of it, if only such nodes and reshapes read these."""

    def is_shared(v: Variable) -> bool:
        return any(reader is None or not isinstance(reader.op, (*readers, Reshape)) for reader, _ in users(v))

    made = producer(value, Reshape)
    if made is None or is_shared(value):
        return None
    waiting, looked_at = [made.inputs[0]], 0
    while waiting and looked_at < DEEPEST:
        below = waiting.pop()
        if is_shared(below):
            continue
        if producer(below, *products) is not None:
            return made
        reader = producer(below, *readers)
        if reader is not None:
            waiting += [i for i in reader.inputs if i.owner is not None and i.ndim == below.ndim]
            looked_at += 1
    return None


def _before(value: Variable, made: Node) -> Variable | None:
    """Return the operand for use before the reshape: a number, one number per column, or an operand reshaped alike."""
    whole = made.inputs[0]
    if value.ndim == 0:
        return value
    if all(n == 1 for n in value.type.shape):
        return _shuffled(value, ())
    if value.ndim <= made.out.ndim and _keeps_columns(made) and all(n == 1 for n in value.type.shape[:-1]):
        return _shuffled(value, ("x", value.ndim - 1, *["x"] * (whole.ndim - 2)))
    if dims_of(value) != dims_of(made.out):
        return None
    widened = producer(value, Dequantize)
    if widened is not None and all(v.ndim == 0 for v in widened.inputs[1:]):
        q = _before(widened.inputs[0], made)
        return None if q is None else widened.op(q, *widened.inputs[1:])
    alike = producer(value, Reshape)
    return alike.inputs[0] if alike is not None and dims_of(alike.inputs[0]) == dims_of(whole) else None


def _keeps_columns(made: Node) -> bool:
    """Whether the last axis is the second one of the operand, followed only by axes of length 1."""
    whole = made.inputs[0]
    return whole.ndim > 1 and dims_of(whole)[1:] == (dims_of(made.out)[-1], *[1] * (whole.ndim - 2))


def _shuffled(value: Variable, order: tuple[int | str, ...]) -> Variable:
    if isinstance(value, Constant):
        return constant(value.data.reshape([1 if isinstance(o, str) else value.data.shape[o] for o in order]))
    return DimShuffle(order)(value)


def of_product(node: Node, users: Users) -> Variable | None:
    return reshaped_later(node, users, PRODUCTS, Pointwise)


def of_convolution(node: Node, users: Users) -> Variable | None:
    return reshaped_later(node, users, (Convolution,), Pointwise)


def of_bytes(node: Node, users: Users) -> Variable | None:
    return reshaped_later(node, users, (ByteConvolution,), Pointwise, Quantize, Requantize)


OF_PRODUCTS: list[Rule] = [
    node_rule("local_axes_after_product", Pointwise, added_later, having=DimShuffle,
              formula="f(dimshuffle(dot22(x, w)), y) -> dimshuffle(f(dot22(x, w), dimshuffle(y)))  for added axes"),
    node_rule("local_reshape_after_product", Pointwise, of_product, having=Reshape, uses=True,
              formula="f(reshape(dot22(x, w), n), b) -> reshape(f(dot22(x, w), b), n)  for b along the last axis"),
]  # fmt: skip
OF_CONVOLUTIONS: list[Rule] = [
    node_rule("local_reshape_after_convolution", Pointwise, of_convolution, having=Reshape, uses=True,
              formula="f(reshape(convolution(x, w), n)) -> reshape(f(convolution(x, w)), n)"),
]  # fmt: skip
OF_BYTES: list[Rule] = [
    node_rule("local_reshape_after_bytes", (Pointwise, Quantize, Requantize), of_bytes, having=Reshape, uses=True,
              formula="f(reshape(byte_convolution(...), n), b) -> reshape(f(byte_convolution(...), b), n)"),
]  # fmt: skip
