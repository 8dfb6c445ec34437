"""Lengths of values, and reshapes.

A length is computed from the lengths of inputs, never from the value whose length it is (what Theano calls ShapeOpt).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from ....graph import Dim, Variable, dims_of, same_shape
from ....ops.elementwise.records import Cast, Elementwise, add, to_bfloat16
from ....ops.reductions.reduce import Reduce
from ....ops.shapes.conditions import Check
from ....ops.shapes.lengths import MakeVector, Shape, ShapeI, dim_to_tensor, lengths_of, tensor_to_dim
from ....ops.shapes.shape import DimShuffle, Reshape
from ....ops.shapes.specify import CheckLengths, MaskedShape, SpecifyShape
from ...contract import relaxes
from ...patterns import Users, wilds
from ...rule import Rule, node_rule, rule
from ..facts import Node, Value, producer
from .lifting import lifted_over_elementwise

(x,) = wilds("x")


# --- lengths


def length_of(node: Node) -> Value | None:
    """Return the length of an axis of a computed value from the lengths of its operands."""
    (x,) = node.inputs
    axis = node.op.axis
    dim = dims_of(x)[axis]
    if not isinstance(dim, int) and dim.kind == "extent" and dim.args == (x, axis):
        return None
    return dim_to_tensor(dim)


def as_lengths(x: Variable) -> Value:
    """Return the shape as a vector of the lengths of the axes."""
    return MakeVector()(*lengths_of(x))


# --- reshape


def reshape_of_reshape(node: Node) -> Value | None:
    """Return the outer reshape alone."""
    made = producer(node.inputs[0], Reshape)
    return None if made is None else Reshape()(made.inputs[0], *node.inputs[1:])


def useless_reshape(node: Node) -> Value | None:
    """Return x if it has the requested lengths; a vector reshaped to a vector always has."""
    x = node.inputs[0]
    vectors = x.ndim == node.out.ndim == 1 and x.type.refines(node.out.type)
    return x if vectors or same_shape(x, node.out) else None


def reshape_to_dimshuffle(node: Node) -> Value | None:
    """Rewrite a reshape that only adds or drops axes of length 1 to a dimshuffle."""
    x = node.inputs[0]
    have, want = dims_of(x), dims_of(node.out)
    long = [axis for axis, dim in enumerate(have) if dim != 1]
    if [have[axis] for axis in long] != [dim for dim in want if dim != 1]:
        return None
    rest = iter(long)
    return DimShuffle(tuple("x" if dim == 1 else next(rest) for dim in want))(x)


def dimshuffle_in_reshape(node: Node) -> Value | None:
    """Return the reshape alone, if its operand only adds or drops axes of length 1."""
    made = producer(node.inputs[0], DimShuffle)
    return Reshape()(made.inputs[0], *node.inputs[1:]) if made is not None and _keeps_order(made.op) else None


def _keeps_order(op: DimShuffle) -> bool:
    kept = [o for o in op.order if isinstance(o, int)]
    return kept == sorted(kept)


def split_before_dimshuffle(node: Node) -> Value | None:
    """Split the axes of the operand first, if each axis of a permutation becomes one or several axes.

    A reshape of permuted axes copies; a split of axes in order does not.
    """
    made = producer(node.inputs[0], DimShuffle)
    if made is None or sorted(map(str, made.op.order)) != sorted(map(str, range(made.inputs[0].ndim))):
        return None
    runs = _split_axes(dims_of(made.out), dims_of(node.out))
    if runs is None or _keeps_order(made.op):
        return None
    places = [place for axis in range(made.inputs[0].ndim) for place in runs[made.op.order.index(axis)]]
    split = Reshape()(made.inputs[0], *(node.inputs[1 + place] for place in places))
    return DimShuffle(tuple(places.index(place) for place in range(len(places))))(split)


def _split_axes(have: Sequence[Dim], want: Sequence[Dim]) -> list[range] | None:
    """Return for each axis those that a reshape makes of it; None if one of them takes elements of several."""
    ends = [0]
    for dim in have:
        end = _end_of_split(dim, want, ends[-1])
        if end is None:
            return None
        ends.append(end)
    return [range(a, b) for a, b in pairwise(ends)] if ends[-1] == len(want) else None


def _end_of_split(dim: Dim, want: Sequence[Dim], at: int) -> int | None:
    """Return where the axes end that an axis becomes, of which the first is `at`; None if they do not fill it."""
    if at < len(want) and want[at] == dim:
        return at + 1
    size, end = 1, at
    while size != dim:
        step = want[end] if end < len(want) else None
        if not isinstance(dim, int) or not isinstance(step, int) or not 1 <= size * step <= dim:
            return None
        size, end = size * step, end + 1
    return end


def reshape_lifted(node: Node, users: Users) -> Value | None:
    """Reshape the operand of functions of one operand without other readers.

    Roundings to bfloat16 stay: what computes the operand writes half as many bytes.
    """
    result, *lengths = node.inputs
    return lifted_over_elementwise(result, None, users, _of_one_operand, lambda v, _: Reshape()(v, *lengths))


def _of_one_operand(made: Node, _: None) -> list[tuple[Variable, None]] | None:
    return [(made.inputs[0], None)] if len(made.inputs) == 1 and made.op != to_bfloat16 else None


def sum_of_elements(node: Node) -> Value | None:
    """Return the sum of the elements of a short vector as an addition."""
    made = producer(node.inputs[0], MakeVector)
    if node.op.scalar is not add or made is None or not 2 <= len(made.inputs) <= 8:
        return None
    return add(*made.inputs) if node.out.dtype == made.inputs[0].dtype else None


def useless_specify_shape(node: Node) -> Value | None:
    """Return x, which certainly has the lengths."""
    x, *lengths = node.inputs
    return x if tuple(map(tensor_to_dim, lengths)) == dims_of(x) else None


def useless_check_lengths(node: Node) -> Value | None:
    """Return the checks of lengths that are not certainly equal; x without any."""
    x, *lengths = node.inputs
    triples = list(zip(node.op.subjects, lengths[::2], lengths[1::2], strict=True))
    kept = [t for t in triples if tensor_to_dim(t[1]) != tensor_to_dim(t[2])]
    if len(kept) == len(triples):
        return None
    pairs = [n for _, *pair in kept for n in pair]
    return replace(node.op, subjects=tuple(subject for subject, *_ in kept))(x, *pairs) if kept else x


def useless_check(node: Node) -> Value | None:
    """Return x, whose condition is the constant true."""
    x, ok, *_ = node.inputs
    return x if getattr(ok, "data", False) else None


LENGTHS: list[Rule] = [
    rule("local_shape_to_shape_i", Shape()(x), as_lengths, contract=relaxes("errors"),
         formula="shape(x) -> make_vector(length of each axis of x)"),
    node_rule("local_shape_i_lift", ShapeI, length_of, contract=relaxes("errors"),
              formula="shape_i(f(x)) -> the length, from the lengths of x"),
]

IN_PLACE: list[Rule] = [
    node_rule("local_reshape_chain", Reshape, reshape_of_reshape, having=Reshape, contract=relaxes("errors"),
              formula="reshape(reshape(x, n), m) -> reshape(x, m)"),
    node_rule("local_useless_reshape", Reshape, useless_reshape, contract=relaxes("errors"),
              formula="reshape(x, lengths of x) -> x"),
    node_rule("local_reshape_to_dimshuffle", Reshape, reshape_to_dimshuffle,
              formula="reshape(x, 1, n) -> dimshuffle(x)  for x of length n"),
    node_rule("local_useless_dimshuffle_in_reshape", Reshape, dimshuffle_in_reshape, having=DimShuffle,
              formula="reshape(dimshuffle(x), n) -> reshape(x, n)  if no axis changes place"),
    node_rule("local_useless_specify_shape", (SpecifyShape, MaskedShape), useless_specify_shape,
              contract=relaxes("errors"),
              formula="specify_shape(x, lengths of x) -> x"),
    node_rule("local_useless_check_lengths", CheckLengths, useless_check_lengths,
              contract=relaxes("errors"),
              formula="check_lengths(x, n, n) -> x"),
    node_rule("local_useless_check", Check, useless_check, contract=relaxes("errors"),
              formula="check(x, true, n) -> x"),
    node_rule("local_sum_make_vector", Reduce, sum_of_elements, having=MakeVector,
              contract=relaxes("rounding", "signed zero"),
              formula="sum(make_vector(a, b, c)) -> a + b + c"),
]  # fmt: skip
"""Rules after which all that is computed stands where it stood."""

RESHAPES: list[Rule] = [
    *IN_PLACE,
    node_rule("local_split_before_dimshuffle", Reshape, split_before_dimshuffle, having=DimShuffle,
              formula="reshape(dimshuffle(x), n) -> dimshuffle(reshape(x, m))  if axes are split"),
    node_rule("local_reshape_lift", Reshape, reshape_lifted, having=(Elementwise, Cast), uses=True,
              formula="reshape(f(x), n) -> f(reshape(x, n))"),
]
