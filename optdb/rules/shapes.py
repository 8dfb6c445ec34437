"""Lengths, and elements under other lengths.

A length is computed from the lengths of inputs, never from the value whose length it is (what Theano calls ShapeOpt).
"""

from __future__ import annotations

from ...graph import Apply, Variable, dims_of, same_shape
from ...ops.elementwise import Cast, Elementwise, add
from ...ops.lengths import MakeVector, Shape, ShapeI, dim_to_tensor, lengths_of
from ...ops.reduce import Reduce
from ...ops.shape import DimShuffle, Reshape
from ..contract import relaxes
from ..patterns import Users, wilds
from ..rule import Rule, node_rule, rule

(x,) = wilds("x")


# --- lengths


def length_of(node: Apply) -> Variable | None:
    """The length of an axis of a computed value, from the lengths of what it is computed from."""
    (x,) = node.inputs
    axis = node.op.axis  # type: ignore[attr-defined]
    dim = dims_of(x)[axis]
    if not isinstance(dim, int) and dim.kind == "extent" and dim.args == (x, axis):
        return None
    return dim_to_tensor(dim)


def as_lengths(x: Variable) -> Variable:
    """The shape as a vector of the lengths of the axes."""
    return MakeVector()(*lengths_of(x))  # type: ignore[no-any-return]


# --- reshape


def reshape_of_reshape(node: Apply) -> Variable | None:
    """The outer lengths alone."""
    below = node.inputs[0].owner
    return Reshape()(below.inputs[0], *node.inputs[1:]) if below is not None and isinstance(below.op, Reshape) else None


def useless_reshape(node: Apply) -> Variable | None:
    """x, where it has the lengths asked for; a vector reshaped to a vector cannot have others."""
    x = node.inputs[0]
    vectors = x.ndim == node.out.ndim == 1 and x.type.refines(node.out.type)
    return x if vectors or same_shape(x, node.out) else None


def reshape_to_dimshuffle(node: Apply) -> Variable | None:
    """A reshape that only adds or drops axes of length 1."""
    x = node.inputs[0]
    have, want = dims_of(x), dims_of(node.out)
    long = [axis for axis, dim in enumerate(have) if dim != 1]
    if [have[axis] for axis in long] != [dim for dim in want if dim != 1]:
        return None
    rest = iter(long)
    return DimShuffle(tuple("x" if dim == 1 else next(rest) for dim in want))(x)  # type: ignore[no-any-return]


def dimshuffle_in_reshape(node: Apply) -> Variable | None:
    """The reshape alone, where its operand only has axes of length 1 added or dropped."""
    below = node.inputs[0].owner
    if below is None or not isinstance(below.op, DimShuffle) or not _keeps_order(below.op):
        return None
    return Reshape()(below.inputs[0], *node.inputs[1:])  # type: ignore[no-any-return]


def _keeps_order(op: DimShuffle) -> bool:
    kept = [o for o in op.order if isinstance(o, int)]
    return kept == sorted(kept)


def reshape_lifted(node: Apply, users: Users) -> Variable | None:
    """A function of one operand that nobody else reads, computed after the operand is reshaped."""
    result, *lengths = node.inputs
    below = result.owner
    if below is None or not isinstance(below.op, (Elementwise, Cast)) or len(below.inputs) != 1 or len(users(result)) != 1:
        return None
    return below.op(Reshape()(below.inputs[0], *lengths))  # type: ignore[no-any-return]


def sum_of_elements(node: Apply) -> Variable | None:
    """The elements of a short vector, added."""
    below = node.inputs[0].owner
    if node.op.scalar is not add or below is None or not 2 <= len(below.inputs) <= 8:  # type: ignore[attr-defined]
        return None
    if node.out.dtype != below.inputs[0].dtype:
        return None
    return add(*below.inputs)  # type: ignore[no-any-return]


LENGTHS: list[Rule] = [
    rule("local_shape_to_shape_i", Shape()(x), as_lengths, formula="shape(x) -> make_vector(length of each axis of x)"),
    node_rule("local_shape_i_lift", ShapeI, length_of, formula="shape_i(f(x)) -> the length, from the lengths of x"),
]

RESHAPES: list[Rule] = [
    node_rule("local_reshape_chain", Reshape, reshape_of_reshape, having=Reshape, formula="reshape(reshape(x, n), m) -> reshape(x, m)"),
    node_rule("local_useless_reshape", Reshape, useless_reshape, formula="reshape(x, lengths of x) -> x"),
    node_rule("local_reshape_to_dimshuffle", Reshape, reshape_to_dimshuffle, formula="reshape(x, 1, n) -> dimshuffle(x)  for x of length n"),
    node_rule("local_useless_dimshuffle_in_reshape", Reshape, dimshuffle_in_reshape, having=DimShuffle,
              formula="reshape(dimshuffle(x), n) -> reshape(x, n)  if no axis changes place"),
    node_rule("local_reshape_lift", Reshape, reshape_lifted, having=(Elementwise, Cast), uses=True,
              formula="reshape(f(x), n) -> f(reshape(x, n))"),
    node_rule("local_sum_make_vector", Reduce, sum_of_elements, having=MakeVector, contract=relaxes("rounding", "signed zero"),
              formula="sum(make_vector(a, b, c)) -> a + b + c"),
]  # fmt: skip
