"""Derivatives without the cases in which a formula does not hold: products with zeros, singular matrices."""

from __future__ import annotations

from collections.abc import Iterator

from ....graph import Apply, Variable
from ....ops.elementwise.records import Pointwise, eq, isinf, logical_or, mul, switch, true_div
from ....ops.linalg.determinants import Det
from ....ops.linalg.solving import Inverse
from ....ops.reductions.reduce import Reduce, with_kept_axes
from ....ops.shapes.shape import DimShuffle
from ...contract import relaxes
from ...rule import Rule, node_rule
from ..facts import Node, Value, number_of, producer

_MOST_BELOW = 60
"""Most nodes below a choice among which the formula is looked for."""


def product_over_factor(node: Node) -> Value | None:
    """Return the product of the other elements as prod(x) / x, where a choice among zeros and infinities guards it.

    The guarded quotient prod(p) / p tells it, p = where(x == 0 or isinf(x), 1, x).
    """
    condition, _, elsewhere = node.inputs
    infinite = producer(condition, isinf)
    if infinite is None:
        return None
    (x,) = infinite.inputs
    if x.dtype != node.out.dtype:  # a product of integers would overflow
        return None
    for made in _below(elsewhere):
        total = producer(_unmoved(made.inputs[0]), Reduce) if made.op is true_div else None
        if total is None or total.op.scalar is not mul or not _is_plain(made.inputs[1], x):
            continue
        if total.inputs[0] is made.inputs[1]:
            found = true_div(with_kept_axes(total.op(x), total.op.axis, x.ndim), x)
            return found if found.type == node.out.type else None
    return None


def _is_plain(p: Variable, x: Variable) -> bool:
    """Whether p is where(x == 0 or isinf(x), 1, x)."""
    chosen = producer(p, switch)
    if chosen is None or chosen.inputs[2] is not x or number_of(chosen.inputs[1]) != 1:
        return False
    return producer(chosen.inputs[0], logical_or) is not None


def _unmoved(v: Variable) -> Variable:
    """Return a value before it got axes of length 1."""
    moved = producer(v, DimShuffle)
    return v if moved is None else moved.inputs[0]


def _below(v: Variable) -> Iterator[Apply]:
    """Yield the elementwise nodes that a value is made of, some only where there are many."""
    stack, seen = [v], {v}
    while stack and len(seen) < _MOST_BELOW:
        made = producer(stack.pop(), Pointwise, DimShuffle, Inverse)
        if made is not None:
            yield made
            stack += (i for i in made.inputs if i not in seen)
            seen.update(made.inputs)


def _determined(condition: Variable) -> Variable | None:
    """Return the matrix of the condition det(matrix) == 0."""
    compared = producer(_unmoved(condition), eq)
    if compared is None or number_of(compared.inputs[1]) != 0:
        return None
    determinant = producer(_unmoved(compared.inputs[0]), Det)
    return None if determinant is None else determinant.inputs[0]


def inverse_of_regular(node: Node) -> Value | None:
    """Return inv(where(det(a) == 0, 1, a)) as inv(a)."""
    condition, _, a = node.inputs[0].owner.inputs
    return node.op(a) if a.dtype == node.out.dtype and _determined(condition) is a else None


def derivative_of_regular(node: Node) -> Value | None:
    """Return where(det(a) == 0, its cofactors, f(inv(a))) as f(inv(a))."""
    condition, _, regular = node.inputs
    a = _determined(condition)
    if a is None or regular.type != node.out.type:
        return None
    inverses = (made for made in _below(regular) if isinstance(made.op, Inverse))
    return regular if any(made.inputs[0] is a for made in inverses) else None


GUARDS: list[Rule] = [
    node_rule("local_product_over_factor", switch, product_over_factor, having=isinf,
              contract=relaxes("nan", "inf", "errors", "rounding", "overflow", "underflow"),
              formula="where(isinf(x), ..., prod(p) / p) -> prod(x) / x  for p = where(x == 0 or isinf(x), 1, x)"),
    node_rule("local_inverse_of_regular", Inverse, inverse_of_regular, having=switch,
              contract=relaxes("nan", "inf", "errors", "underflow"),
              formula="inv(where(det(x) == 0, eye, x)) -> inv(x)"),
    node_rule("local_derivative_of_regular", switch, derivative_of_regular,
              contract=relaxes("nan", "inf", "errors", "underflow"),
              formula="where(det(x) == 0, cofactors(x), inv(x)) -> inv(x)"),
]  # fmt: skip
