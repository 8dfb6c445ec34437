"""The softmax family, recognized in what users write, and kept in logarithms where a logarithm is taken."""

from __future__ import annotations

from ...graph import Apply, Variable, same_shape
from ...ops.advanced_indexing import AdvancedIncSubtensor, AdvancedSubtensor
from ...ops.elementwise import add, exp, fill, log, mul, sub, true_div
from ...ops.indexing import IncSubtensor, Subtensor
from ...ops.nn import LogSoftmax, LogSumExp, Softmax
from ...ops.reduce import ArgReduce, Reduce
from ...ops.shape import DimShuffle
from ..contract import relaxes, stabilizes
from ..patterns import Users, Wild, op_like, same_value
from ..rule import Rule, node_rule, rule
from .facts import is_float, made_by
from .writing import is_zero

x = Wild("x", is_float)
softmax, log_softmax = op_like(Softmax, "s"), op_like(LogSoftmax, "s")
position = op_like(ArgReduce, "arg", lambda op: op.axis is not None)


# --- shapes of reduced values


def keeps_axis(order: tuple[int | str, ...], axis: int, ndim: int) -> bool:
    """Whether the order puts an axis of length 1 where a tensor of rank `ndim` was reduced along `axis`."""
    return order == tuple("x" if k == axis else k - (k > axis) for k in range(ndim))


def _sum_of(v: Variable) -> tuple[Variable, int] | None:
    """(x, axis) where v is the sum of x along one axis, which is kept."""
    if not made_by(v, DimShuffle):
        return None
    reduced, order = v.owner.inputs[0], v.owner.op.order  # type: ignore[union-attr]
    if not made_by(reduced, Reduce) or reduced.owner.op.scalar is not add or len(reduced.owner.op.axis) != 1:
        return None
    (axis,), (x,) = reduced.owner.op.axis, reduced.owner.inputs
    return (x, axis) if keeps_axis(order, axis, x.ndim) else None


# --- recognition


def exp_over_sum(node: Apply) -> Variable | None:
    """exp(x) / sum(exp(x)) as a softmax."""
    above, below = node.inputs
    found = _sum_of(below)
    if not made_by(above, exp) or found is None or above.type.kind != "f":
        return None
    total, axis = found
    same = total is above or (made_by(total, exp) and total.owner.inputs[0] is above.owner.inputs[0])  # type: ignore[union-attr]
    return Softmax(axis)(above.owner.inputs[0]) if same else None  # type: ignore[union-attr, no-any-return]


def log_of_sum_of_exp(node: Apply) -> Variable | None:
    """log(sum(exp(x))) by `logsumexp`, one axis after the other; reduced axes may be kept."""
    total = node.inputs[0]
    order = None
    if made_by(total, DimShuffle):
        order = total.owner.op.order  # type: ignore[union-attr]
        total = total.owner.inputs[0]  # type: ignore[union-attr]
    if not made_by(total, Reduce) or total.owner.op.scalar is not add or total.type.kind != "f":  # type: ignore[union-attr]
        return None
    (terms,), axes = total.owner.inputs, total.owner.op.axis  # type: ignore[union-attr]
    if not made_by(terms, exp) or not axes:
        return None
    result = terms.owner.inputs[0]  # type: ignore[union-attr]
    for axis in reversed(axes):
        result = LogSumExp(axis)(result)
    return result if order is None else DimShuffle(order)(result)  # type: ignore[no-any-return]


def log_softmax_of_difference(node: Apply) -> Variable | None:
    """x - logsumexp(x) as a log_softmax."""
    x, total = node.inputs
    if not made_by(total, DimShuffle):
        return None
    order, below = total.owner.op.order, total.owner.inputs[0]  # type: ignore[union-attr]
    if not made_by(below, LogSumExp) or below.owner.inputs[0] is not x:  # type: ignore[union-attr]
        return None
    axis = below.owner.op.axis  # type: ignore[union-attr]
    return LogSoftmax(axis)(x) if keeps_axis(order, axis, x.ndim) else None  # type: ignore[no-any-return]


# --- logarithms of a softmax


def log_of_picked(node: Apply) -> Variable | None:
    """The logarithm of elements of a softmax: elements of the log_softmax."""
    picked = node.inputs[0]
    if picked.owner is None or not isinstance(picked.owner.op, (Subtensor, AdvancedSubtensor)):
        return None
    probabilities, *indices = picked.owner.inputs
    if not made_by(probabilities, Softmax):
        return None
    logs = LogSoftmax(probabilities.owner.op.axis)(*probabilities.owner.inputs)  # type: ignore[union-attr]
    return picked.owner.op(logs, *indices)  # type: ignore[no-any-return]


def softmax_of_log(node: Apply, users: Users) -> Variable | None:
    """exp(log_softmax(x)), of which nobody reads the logarithm, as a softmax."""
    logs = node.inputs[0]
    if not made_by(logs, LogSoftmax) or len(users(logs)) != 1:
        return None
    return Softmax(logs.owner.op.axis)(*logs.owner.inputs)  # type: ignore[union-attr, no-any-return]


# --- the gradient of a logarithm of a softmax: (g / y) * y is g, for y is never zero but by underflow


def grad_of_log_softmax(node: Apply) -> Variable | None:
    """s - y * sum(s) for s = (g / y) * y and a softmax y: g - y * sum(g), in either order."""
    for s, product, turned in ((*node.inputs, False), (*reversed(node.inputs), True)):
        found = _weighted_sum(product, s)
        g = None if found is None else _unscaled(s, found[0])
        if found is None or g is None:
            continue
        y, total = found
        g = g if same_shape(g, y) else fill(y, g)
        pieces = (g, mul(y, _rebuilt(total, g)))
        return sub(*(reversed(pieces) if turned else pieces))  # type: ignore[no-any-return]
    return None


def _weighted_sum(product: Variable, s: Variable) -> tuple[Variable, Variable] | None:
    """(y, sum) where the product is a softmax y times the sum of s along its axis."""
    if not made_by(product, mul) or len(product.owner.inputs) != 2:  # type: ignore[union-attr]
        return None
    for y, total in (product.owner.inputs, product.owner.inputs[::-1]):  # type: ignore[union-attr]
        found = _sum_of(total)
        if made_by(y, Softmax) and found == (s, y.owner.op.axis):  # type: ignore[union-attr]
            return y, total
    return None


def _rebuilt(total: Variable, g: Variable) -> Variable:
    """The sum, of g."""
    keep, reduced = total.owner, total.owner.inputs[0].owner  # type: ignore[union-attr]
    return keep.op(reduced.op(g))  # type: ignore[union-attr, no-any-return]


def _unscaled(s: Variable, y: Variable) -> Variable | None:
    """g where s is (g / y) * y, or that for some elements and zero for the others; None for what is neither."""
    if not made_by(s, mul) or len(s.owner.inputs) != 2 or not any(i is y for i in s.owner.inputs):  # type: ignore[union-attr]
        return None
    (quotient,) = [i for i in s.owner.inputs if i is not y] or [y]  # type: ignore[union-attr]
    if made_by(quotient, true_div) and quotient.owner.inputs[1] is y:  # type: ignore[union-attr]
        return quotient.owner.inputs[0]  # type: ignore[union-attr, no-any-return]
    return _unscaled_write(quotient, y)


def _unscaled_write(write: Variable, y: Variable) -> Variable | None:
    """g written to zeros where `write` writes g / y[i] to position i of zeros."""
    node = write.owner
    if node is None or not isinstance(node.op, (IncSubtensor, AdvancedIncSubtensor)) or not is_zero(node.inputs[0]):
        return None
    zeros, quotient, *indices = node.inputs
    if not made_by(quotient, true_div):
        return None
    g, picked = quotient.owner.inputs  # type: ignore[union-attr]
    read = picked.owner
    if read is None or not isinstance(read.op, (Subtensor, AdvancedSubtensor)) or read.op.spec != node.op.spec:
        return None
    same = read.inputs[0] is y and all(same_value(a, b) for a, b in zip(read.inputs[1:], indices, strict=True))
    return node.op(zeros, g, *indices) if same else None  # type: ignore[no-any-return]


RECOGNIZED: list[Rule] = [
    node_rule("local_softmax_stabilize", true_div, exp_over_sum, having=exp, contract=stabilizes | relaxes("domain"),
              formula="exp(x) / sum(exp(x)) -> softmax(x)"),
    node_rule("local_log_sum_exp", log, log_of_sum_of_exp, having=(Reduce, DimShuffle), contract=stabilizes,
              formula="log(sum(exp(x))) -> logsumexp(x)"),
    node_rule("local_log_softmax_from_logsumexp", sub, log_softmax_of_difference, having=DimShuffle, contract=stabilizes,
              formula="x - logsumexp(x) -> log_softmax(x)"),
]  # fmt: skip

LOGARITHMS: list[Rule] = [
    rule("local_logsoftmax", log(softmax(x)), lambda x, s: LogSoftmax(s.axis)(x), contract=stabilizes,
         formula="log(softmax(x)) -> log_softmax(x)"),
    node_rule("local_advanced_indexing_crossentropy_onehot", log, log_of_picked, having=(Subtensor, AdvancedSubtensor),
              contract=stabilizes, formula="log(softmax(x)[i, y]) -> log_softmax(x)[i, y]"),
    node_rule("local_logsoftmax_grad", sub, grad_of_log_softmax, having=mul, contract=stabilizes,
              formula="(g / y) * y - y * sum((g / y) * y) -> g - y * sum(g)  for y = softmax(x)"),
]  # fmt: skip

BACK: list[Rule] = [
    node_rule("local_exp_log_softmax", exp, softmax_of_log, having=LogSoftmax, uses=True, contract=stabilizes,
              formula="exp(log_softmax(x)) -> softmax(x)"),
]

UNSAFE: list[Rule] = [
    rule("local_argmax_of_softmax", position(softmax(x)), lambda x, arg: arg(x), when=lambda arg, s: arg.axis == s.axis,
         contract=relaxes("nan", "inf", "rounding"), formula="argmax(softmax(x)) -> argmax(x)"),
]
