"""The softmax family: recognized in elementwise code, and computed in logarithms if a logarithm follows."""

from __future__ import annotations

from collections.abc import Sequence

from ....graph import Variable, dims_of, same_shape
from ....ops.elementwise.records import add, cast, exp, fill, log, maximum, minimum, mul, sub, true_div
from ....ops.lowered.row_passes import Top, has_finite_top, terms_of
from ....ops.networks.functions import LogSoftmax, LogSumExp, Softmax
from ....ops.reductions.reduce import ArgReduce, Reduce
from ....ops.shapes.advanced_indexing import AdvancedSubtensor
from ....ops.shapes.indexing import Subtensor
from ....ops.shapes.shape import DimShuffle
from ...contract import relaxes, stabilizes
from ...patterns import Users, Wild, op_like
from ...rule import Rule, node_rule, rule
from ..facts import Node, Value, is_float, producer
from ..shapes.slicing import counts_through
from ..shapes.writing import READS, WRITES, is_zero, same_positions

x: Wild = Wild("x", is_float)
softmax, log_softmax = op_like(Softmax, "s"), op_like(LogSoftmax, "s")
position = op_like(ArgReduce, "arg", lambda op: op.axis is not None)


# --- sums along an axis that is kept


def keeps_axis(order: tuple[int | str, ...], axis: int, ndim: int) -> bool:
    """Whether the order puts back the axis of length 1 that a reduction along `axis` dropped from rank `ndim`."""
    return order == tuple("x" if k == axis else k - (k > axis) for k in range(ndim))


def shifted_by_maximum(v: Variable, axis: int) -> Variable | None:
    """Return x if v is x - max(x) along the axis; None otherwise."""
    difference = producer(v, sub)
    keep = None if difference is None else producer(difference.inputs[1], DimShuffle)
    top = None if keep is None else producer(keep.inputs[0], Reduce)
    if difference is None or keep is None or top is None:
        return None
    x = difference.inputs[0]
    found = top.op.scalar is maximum and top.op.axis == (axis,) and top.inputs[0] is x
    return x if found and keeps_axis(keep.op.order, axis, x.ndim) else None


def is_sum(node: Node) -> bool:
    return node.op.scalar is add and node.inputs[0].type.kind == "f"


def kept_sum(v: Variable) -> tuple[Variable, int] | None:
    """Return (x, axis) if v is the sum of x along one axis, which is kept."""
    keep = producer(v, DimShuffle)
    total = None if keep is None else producer(keep.inputs[0], Reduce)
    if keep is None or total is None or not is_sum(total) or len(total.op.axis) != 1:
        return None
    (axis,), (x,) = total.op.axis, total.inputs
    return (x, axis) if keeps_axis(keep.op.order, axis, x.ndim) else None


def sum_below(v: Variable) -> tuple[Node, Node | None] | None:
    """Return the sum of floats along axes that `v` is, and the node by which these are kept, or None for that."""
    keep = producer(v, DimShuffle)
    total = producer(v if keep is None else keep.inputs[0], Reduce)
    return None if total is None or not is_sum(total) or not total.op.axis else (total, keep)


def logsumexp_along(x: Value, axes: Sequence[int]) -> Value:
    """Return `logsumexp` along several axes, one after the other."""
    for axis in reversed(axes):
        x = LogSumExp(axis)(x)
    return x


# --- recognition


def exp_over_sum(node: Node) -> Value | None:
    """Rewrite exp(x) / sum(exp(x)) to a softmax."""
    above, found = producer(node.inputs[0], exp), kept_sum(node.inputs[1])
    if above is None or found is None:
        return None
    below, axis = producer(found[0], exp), found[1]
    same = below is not None and below.inputs[0] is above.inputs[0]
    return Softmax(axis, literal=True)(cast(above.inputs[0], node.out.dtype)) if same else None


def log_of_sum_of_exp(node: Node) -> Value | None:
    """Rewrite log(sum(exp(x))) to `logsumexp`, one axis after the other; reduced axes may be kept."""
    found = sum_below(node.inputs[0])
    total, keep = found or (None, None)
    terms = None if total is None else producer(total.inputs[0], exp)
    if total is None or terms is None or _is_below_top(terms.inputs[0]):
        return None
    if len(total.op.axis) == 1 and shifted_by_maximum(terms.inputs[0], *total.op.axis) is not None:
        return None  # the largest exponential is 1
    result = logsumexp_along(cast(terms.inputs[0], node.out.dtype), total.op.axis)
    return result if keep is None else keep.op(result)


def _is_below_top(x: Variable) -> bool:
    """Whether x is y - top(y), whose exponentials are summed directly; see `terms_of`."""
    difference = producer(x, sub)
    keep = None if difference is None else producer(difference.inputs[1], DimShuffle)
    top = None if keep is None else keep.inputs[0]
    for bound in (minimum, maximum):
        cut = None if top is None else producer(top, bound)
        top = top if cut is None else cut.inputs[0]
    return top is not None and producer(top, Top) is not None


def log_softmax_of_difference(node: Node) -> Value | None:
    """Rewrite x - logsumexp(x) to a log_softmax."""
    x, keep = node.inputs[0], producer(node.inputs[1], DimShuffle)
    total = None if keep is None else producer(keep.inputs[0], LogSumExp)
    if keep is None or total is None or total.inputs[0] is not x:
        return None
    axis = total.op.axis
    return LogSoftmax(axis, literal=True)(x) if keeps_axis(keep.op.order, axis, x.ndim) else None


def log_softmax_of_shifted(node: Node) -> Value | None:
    """Rewrite s - log(sum(exp(s))), with s = x - max(x), to the log_softmax of x."""
    s, logs = node.inputs[0], producer(node.inputs[1], log, DimShuffle)
    if logs is None:
        return None
    inside = producer(logs.inputs[0], DimShuffle if logs.op is log else log)
    total = None if inside is None else producer(inside.inputs[0], Reduce)
    if inside is None or total is None or not is_sum(total) or len(total.op.axis) != 1:
        return None
    (axis,), keep, terms = total.op.axis, inside if logs.op is log else logs, producer(total.inputs[0], exp)
    if terms is None or terms.inputs[0] is not s or not is_float(s) or not keeps_axis(keep.op.order, axis, s.ndim):
        return None
    x = shifted_by_maximum(s, axis)
    return None if x is None else LogSoftmax(axis)(x)


def softmax_of_shifted(node: Node) -> Value | None:
    """Rewrite a softmax of x - max(x), or its logarithm, to that of x."""
    x = shifted_by_maximum(node.inputs[0], node.op.axis)
    return None if x is None else type(node.op)(node.op.axis)(x)


# --- logarithms of a softmax


def log_of(op: Softmax) -> LogSoftmax:
    """Return the logarithm of a softmax as one op."""
    return LogSoftmax(op.axis, op.literal)


def log_of_picked(node: Node) -> Value | None:
    """Rewrite the logarithm of elements of a softmax to elements of the log_softmax."""
    picked = producer(node.inputs[0], *READS)
    probabilities = None if picked is None else producer(picked.inputs[0], Softmax)
    if picked is None or probabilities is None:
        return None
    return picked.op(log_of(probabilities.op)(*probabilities.inputs), *picked.inputs[1:])


def softmax_of_log(node: Node, users: Users) -> Value | None:
    """Rewrite exp(log_softmax(x)), if the logarithm has no other reader, to a softmax."""
    logs = producer(node.inputs[0], LogSoftmax)
    if logs is None or len(users(logs.out)) > 1:
        return None
    return Softmax(logs.op.axis, logs.op.literal)(*logs.inputs)


def softmax_beside_log(node: Node, users: Users) -> Value | None:
    """Rewrite a softmax to the exponential of a log_softmax of the same value: no second pass over the rows.

    The logarithm must serve others than an exponential, which a softmax serves better.
    """
    logs = log_of(node.op)
    known = (reader.out for reader, _ in users(node.inputs[0]) if reader is not None and reader.op == logs)
    serve = (v for v in known if any(reader is None or reader.op is not exp for reader, _ in users(v)))
    return next((exp(v) for v in serve), None)


def picked_from_logarithms(node: Node, users: Users) -> Value | None:
    """Compute only the picked elements of a log_softmax whose other readers undo the logarithm."""
    logs = producer(node.inputs[0], LogSoftmax)
    if logs is None or logs.out.ndim < 2 or logs.op.axis != logs.out.ndim - 1 or logs.out.dtype == "float16":
        return None
    readers = [reader for reader, position in users(logs.out) if position == 0]
    if len(readers) < len(users(logs.out)) or not all(map(_picks_or_undoes, readers)) or not _picks(node):
        return None
    (x,), (_, *within) = logs.inputs, node.inputs
    top, _, terms = terms_of(x, logs.op.axis, has_finite_top(logs.op))
    total = log(Reduce(add, (logs.op.axis,))(terms))
    of_rows = [_broadcast_against(i, within) for i in within[:-1]]
    return sub(sub(node.op(x, *within), _rows(top, of_rows)), _rows(total, of_rows))


def _rows(numbers: Variable, indices: Sequence[Variable]) -> Value:
    """Return numbers of rows; all of them, broadcast, for an index that names each row in turn."""
    like = counts_through(indices[0], dims_of(numbers)[0]) if len(indices) == 1 else None
    return AdvancedSubtensor(("a",) * len(indices))(numbers, *indices) if like is None else fill(like, numbers)


def _broadcast_against(index: Variable, others: Sequence[Variable]) -> Variable:
    """Return the index broadcast against the others: an index that broadcasts to length 0 reads nothing."""
    for other in others:
        index = index if same_shape(index, other) else fill(other, index)
    return index


def _picks(node: Node) -> bool:
    return isinstance(node.op, AdvancedSubtensor) and node.op.spec == ("a",) * node.inputs[0].ndim


def _picks_or_undoes(reader: Node | None) -> bool:
    return reader is not None and (reader.op is exp or _picks(reader))


# --- the gradient of a logarithm of a softmax: (g / y) * y is g, for y is never zero but by underflow


def grad_of_log_softmax(node: Node) -> Value | None:
    """Rewrite s - y * sum(s), with s = (g / y) * y and a softmax y, to g - y * sum(g), in either order."""
    s, product = node.inputs
    found = _from_either_side(s, product)
    if found is not None:
        return sub(*found)
    found = _from_either_side(product, s)
    return None if found is None else sub(found[1], found[0])


def _from_either_side(s: Variable, product: Variable) -> tuple[Value, Value] | None:
    """Return (g, y * sum(g)) if the arguments are s = (g / y) * y and y * sum(s)."""
    factors = producer(product, mul)
    if factors is None or len(factors.inputs) != 2:
        return None
    for y, total in (factors.inputs, factors.inputs[::-1]):
        softmax_node = producer(y, Softmax)
        if softmax_node is None or kept_sum(total) != (s, softmax_node.op.axis):
            continue
        g = _unscaled(s, y)
        if g is not None:
            g = g if same_shape(g, y) else fill(y, g)
            keep = total.owner
            return g, mul(y, keep.op(keep.inputs[0].owner.op(g)))
    return None


def _unscaled(s: Variable, y: Variable) -> Value | None:
    """Return g if s is (g / y) * y, or that for some elements and zero for others; None if neither matches."""
    factors = producer(s, mul)
    if factors is None or len(factors.inputs) != 2 or not any(i is y for i in factors.inputs):
        return None
    quotient = factors.inputs[1] if factors.inputs[0] is y else factors.inputs[0]
    division = producer(quotient, true_div)
    if division is not None:
        return division.inputs[0] if division.inputs[1] is y else None
    return _unscaled_write(quotient, y)


def _unscaled_write(quotients: Variable, y: Variable) -> Value | None:
    """Return g written to zeros if g / y[i] is written to position i of zeros."""
    write = producer(quotients, *WRITES)
    if write is None or not is_zero(write.inputs[0]):
        return None
    division = producer(write.inputs[1], true_div)
    picked = None if division is None else producer(division.inputs[1], *READS)
    if division is None or picked is None or picked.inputs[0] is not y or not same_positions(write, picked):
        return None
    return write.op(write.inputs[0], division.inputs[0], *write.inputs[2:])


DIFFERENCES: list[Rule] = [
    node_rule("local_log_softmax_from_logsumexp", sub, log_softmax_of_difference, having=DimShuffle,
              contract=stabilizes,
              formula="x - logsumexp(x) -> log_softmax(x)"),
]  # fmt: skip

RECOGNIZED: list[Rule] = [
    # Of a small probability x - max(x) may cost digits that exp(x) alone has: some ulp of nearly nothing.
    node_rule("local_softmax_stabilize", true_div, exp_over_sum, having=exp,
              contract=stabilizes | relaxes("rounding"),
              formula="exp(x) / sum(exp(x)) -> softmax(x)"),
    node_rule("local_log_sum_exp", log, log_of_sum_of_exp, having=(Reduce, DimShuffle), contract=stabilizes,
              formula="log(sum(exp(x))) -> logsumexp(x)"),
    *DIFFERENCES,
    node_rule("local_log_softmax_of_shifted", sub, log_softmax_of_shifted, having=(log, DimShuffle),
              contract=relaxes("rounding", "errors"),
              formula="s - log(sum(exp(s))) -> log_softmax(x)  for s = x - max(x)"),
    node_rule("local_softmax_of_shifted", (Softmax, LogSoftmax), softmax_of_shifted, having=sub,
              contract=relaxes("rounding", "errors"),
              formula="softmax(x - max(x)) -> softmax(x)"),
]  # fmt: skip

LOGARITHMS: list[Rule] = [
    rule("local_logsoftmax", log(softmax(x)), lambda x, s: log_of(s)(x), contract=stabilizes,
         formula="log(softmax(x)) -> log_softmax(x)"),
    node_rule("local_advanced_indexing_crossentropy_onehot", log, log_of_picked, having=(Subtensor, AdvancedSubtensor),
              contract=stabilizes, formula="log(softmax(x)[i, y]) -> log_softmax(x)[i, y]"),
    node_rule("local_logsoftmax_grad", sub, grad_of_log_softmax, having=mul, contract=stabilizes,
              formula="(g / y) * y - y * sum((g / y) * y) -> g - y * sum(g)  for y = softmax(x)"),
]  # fmt: skip

PICKED: list[Rule] = [
    node_rule("local_picked_log_softmax", AdvancedSubtensor, picked_from_logarithms, having=LogSoftmax, uses=True,
              contract=relaxes("rounding", "errors"),
              formula="log_softmax(x)[i, y] -> x[i, y] - max(x)[i] - log(sum(exp(x - max(x))))[i]"),
]  # fmt: skip
"""Rules of the end: picked elements need no rows of logarithms, whose other use is the gradient's exponential."""

BACK: list[Rule] = [
    node_rule("local_exp_log_softmax", exp, softmax_of_log, having=LogSoftmax, uses=True, contract=stabilizes,
              formula="exp(log_softmax(x)) -> softmax(x)"),
    node_rule("local_softmax_beside_log_softmax", Softmax, softmax_beside_log, uses=True, contract=relaxes("rounding"),
              formula="softmax(x), log_softmax(x) -> exp(log_softmax(x)), log_softmax(x)"),
]

UNSAFE: list[Rule] = [
    rule("local_argmax_of_softmax", position(softmax(x)), lambda x, arg: arg(x), when=lambda arg, s: arg.axis == s.axis,
         contract=relaxes("nan", "inf", "rounding"), formula="argmax(softmax(x)) -> argmax(x)"),
]
