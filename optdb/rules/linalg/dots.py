"""Products of matrices: transposed, and of zeros.

What BLAS makes of them stands in blas.py.
"""

from __future__ import annotations

from ....graph import dims_of
from ....ops.core.tensor import constant
from ....ops.elementwise.records import add, mul, square
from ....ops.linalg.blas import Dot
from ....ops.reductions.reduce import Reduce
from ....ops.shapes.creation import Alloc
from ....ops.shapes.lengths import dim_to_tensor
from ....ops.shapes.shape import DimShuffle
from ...contract import relaxes
from ...patterns import Users
from ...rule import Rule, node_rule
from ..facts import Node, Value, is_float, is_integer, made_by, producer
from ..shapes.writing import is_zero


def transposed_dot(node: Node, users: Users) -> Value | None:
    """Rewrite the transpose of a matrix product without other readers as the product of the transposes."""
    product = node.inputs[0]
    if node.op.order != (1, 0) or not made_by(product, Dot) or len(users(product)) != 1:
        return None
    a, b = product.owner.inputs
    return Dot()(node.op(b), node.op(a)) if a.ndim == b.ndim == 2 else None


def _zeros(node: Node) -> Value | None:
    if not any(map(is_zero, node.inputs)):
        return None
    return Alloc()(constant(0, node.out.dtype), *map(dim_to_tensor, dims_of(node.out)))


def integer_zeros(node: Node) -> Value | None:
    """Return zeros of the shape of the product."""
    return _zeros(node) if is_integer(node.out) else None


def zeros(node: Node) -> Value | None:
    """Return zeros of the shape of the product, whatever values the other operand has."""
    return None if is_integer(node.out) else _zeros(node)


def dot_of_squares(node: Node) -> Value | None:
    """Rewrite sum((w[None, :, :] * g[:, None, :])**2) over the last two axes as a matrix times a vector."""
    made = producer(node.inputs[0], square) if node.op.scalar is add and node.op.axis == (1, 2) else None
    factors = None if made is None else producer(made.inputs[0], mul)
    if factors is None or len(factors.inputs) != 2 or not is_float(node.out):
        return None
    broadcast = {part.op.order: part.inputs[0] for part in (producer(f, DimShuffle) for f in factors.inputs) if part}
    w, g = broadcast.get(("x", 0, 1)), broadcast.get((0, "x", 1))
    if w is None or g is None or not w.dtype == g.dtype == node.out.dtype or dims_of(w)[1] != dims_of(g)[1]:
        return None
    return Dot()(square(g), Reduce(add, (0,))(square(w)))


DOTS: list[Rule] = [
    node_rule("local_lift_transpose_through_dot", DimShuffle, transposed_dot, having=Dot, uses=True,
              contract=relaxes("rounding"),
              formula="dot(x, y).T -> dot(y.T, x.T)"),
    node_rule("local_integer_0_dot_x", Dot, integer_zeros, contract=relaxes("errors"),
              formula="dot(0, x) -> zeros  for integers"),
]  # fmt: skip

UNSAFE: list[Rule] = [
    node_rule("local_0_dot_x", Dot, zeros, contract=relaxes("nan", "inf", "signed zero", "errors"),
              formula="dot(0, x) -> zeros"),
    # The sum of the squares of w may overflow where g makes the products small.
    node_rule("local_sumsqr2dot", Reduce, dot_of_squares, having=square,
              contract=relaxes("nan", "inf", "overflow", "underflow", "rounding", "signed zero"),
              formula="sum(square(w[None] * g[:, None]), axis=(1, 2)) -> dot(square(g), sum(square(w), axis=0))"),
]
