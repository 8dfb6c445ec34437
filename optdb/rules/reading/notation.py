"""Notation for readers: means, scalars before products of matrices, values without their checks."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ....graph import Constant, Variable, same_shape
from ....graph.dims import dims_of, product
from ....ops.core.tensor import constant
from ....ops.elementwise.records import (
    Cast,
    Pointwise,
    abs,
    clip,
    eq,
    exp,
    fill,
    ge,
    identity,
    le,
    maximum,
    minimum,
    mul,
    neg,
    pow,
    reciprocal,
    sqrt,
    square,
    switch,
    true_div,
)  # fmt: skip
from ....ops.linalg.blas import Dot, MatMul
from ....ops.lowered.phrases import Mean
from ....ops.networks.functions import LogSoftmax, Softmax
from ....ops.reductions.reduce import Reduce
from ....ops.shapes.conditions import Check
from ....ops.shapes.indexing import Subtensor
from ....ops.shapes.lengths import Shape, ShapeI, tensor_to_dim
from ....ops.shapes.shape import DimShuffle
from ....ops.shapes.specify import CheckLengths, MaskedShape, SpecifyShape
from ...contract import exact, relaxes
from ...patterns import Wild, wilds
from ...rule import Rule, node_rule, rule
from ..facts import Node, Value, constant_int, is_float, number_of, producer, uniform_x

x, y = wilds("x y", is_float)
z: Wild = Wild("z", is_float)


def spans_all(x: Variable, y: Variable, z: Variable) -> bool:
    """Whether bounds leave all finite numbers of the dtype of x as they are."""
    ends = np.finfo(x.type.numpy)
    return bool(number_of(y) == ends.min and number_of(z) == ends.max)


def uniform(node: Node, x: Variable, y: Variable) -> bool:
    """Whether both have one dtype."""
    return x.dtype == y.dtype


def mean(node: Node) -> Value | None:
    """Return sum(x, axis) / (number of elements) as mean(x, axis)."""
    total, count = node.inputs
    negative = producer(total, neg)
    summed = producer(total if negative is None else negative.inputs[0], Reduce)
    if summed is None or summed.op.name != "sum" or node.out.type.kind not in "fc" or total.dtype != node.out.dtype:
        return None
    lengths = product(dims_of(summed.inputs[0])[axis] for axis in summed.op.axis)
    if _length(count) != lengths:
        return None
    found = Mean(summed.op.axis)(summed.inputs[0])
    return found if negative is None else neg(found)


def _length(count: Variable) -> object:
    cast = producer(count, Cast)
    inner = count if cast is None else cast.inputs[0]
    if isinstance(inner, Constant):
        number = number_of(inner)
        return int(number) if number is not None and float(number).is_integer() else None
    return tensor_to_dim(inner) if inner.type.kind == "i" and inner.ndim == 0 else None


def scalar_before_product(node: Node) -> Value | None:
    """Return x @ (c * y) as c * (x @ y), for scalars c that multiply or divide an operand."""
    for position, operand in enumerate(node.inputs):
        scaled = producer(operand, mul, true_div, neg)
        if scaled is None or any(i.dtype != node.out.dtype for i in scaled.inputs):
            continue
        if scaled.op is neg:
            return neg(_with(node, position, scaled.inputs[0]))
        for k, factor in enumerate(scaled.inputs):
            rest = [i for n, i in enumerate(scaled.inputs) if n != k]
            if not _is_scalar(factor) or (scaled.op is true_div and k == 0):
                continue
            other = rest[0] if len(rest) == 1 else mul(*rest)
            if other.ndim != operand.ndim or not same_shape(other, operand):
                continue
            inner = _with(node, position, other)
            number = _as_scalar(factor)
            return true_div(inner, number) if scaled.op is true_div else mul(number, inner)
    return None


def _is_scalar(value: Variable) -> bool:
    return all(n == 1 for n in value.type.shape) and (value.ndim == 0 or _as_scalar(value) is not value)


def _as_scalar(value: Variable) -> Variable:
    """Return the scalar under axes of length 1."""
    if isinstance(value, Constant) and value.ndim and value.data.size == 1:
        return constant(value.data.reshape(()))
    made = value.owner
    while value.ndim and made is not None and len(made.inputs) == 1 and made.op.name == "dimshuffle":
        value = made.inputs[0]
        made = value.owner
    return value


def _with(node: Node, position: int, operand: Variable) -> Value:
    inputs: Sequence[Variable] = [*node.inputs[:position], operand, *node.inputs[position + 1 :]]
    return node.op(*inputs)


def length_of_shape(node: Node) -> Value | None:
    """Return shape(x)[k] as the length of axis k."""
    x, *index = node.inputs
    axis = constant_int(index[0]) if node.op.spec == ("i",) else None
    (of,) = x.owner.inputs
    return None if axis is None or not -of.ndim <= axis < of.ndim else ShapeI(axis % of.ndim)(of)


def of_numbers(node: Node) -> Value | None:
    """Return an elementwise op on numbers as a number."""
    if not all(isinstance(i, Constant) and i.data.size == 1 and not i.name for i in node.inputs) or not node.inputs:
        return None
    (value,) = node.op.evaluate(*(i.data for i in node.inputs))
    return constant(value)


def dimshuffle_of_fill(node: Node) -> Value | None:
    """Return dimshuffle(fill(x, c)) as fill(dimshuffle(x), c) for a scalar c."""
    like, value = node.inputs[0].owner.inputs
    scalar = _as_scalar(value)
    return None if scalar.ndim else fill(node.op(like), scalar)


def dimshuffle_of_multiple(node: Node) -> Value | None:
    """Return dimshuffle(c * x) as c * dimshuffle(x) for scalars c."""
    made = node.inputs[0].owner
    whole = [i for i in made.inputs if i.ndim]
    if len(whole) != 1 or (made.op is true_div and made.inputs[0] is not whole[0]) or "x" in node.inputs[0].type.shape:
        return None
    if whole[0].type.shape != node.inputs[0].type.shape or _is_scalar(whole[0]):
        return None
    moved = node.op(whole[0])
    return made.op(*(moved if i is whole[0] else i for i in made.inputs))


def bare(node: Node) -> Value | None:
    """Return the value that a check lets through."""
    return node.inputs[0] if node.inputs[0].type == node.out.type else None


def scalar_beside(node: Node) -> Value | None:
    """Return an elementwise op on scalars without the axes of length 1 that broadcasting gives them anyway."""
    found = [_as_scalar(i) if i.ndim and _is_scalar(i) else i for i in node.inputs]
    found[:1] = node.inputs[:1] if node.op is fill else found[:1]
    if all(a is b for a, b in zip(found, node.inputs, strict=True)):
        return None
    result = node.op(*found)
    if result.type == node.out.type:
        return result
    alone = all(i.ndim == 0 for i in found) and result.dtype == node.out.dtype
    return DimShuffle(("x",) * node.out.ndim)(result) if alone else None


_MOST_BELOW = 40
"""Most nodes below a choice in which its condition is looked for."""


def chosen_once(node: Node) -> Value | None:
    """Return a choice whose branches do not ask for its condition again: where(c, a, f(where(c, b, x)))."""
    condition, *branches = node.inputs
    found = [_known_choice(branch, condition, k) for k, branch in enumerate(branches)]
    return None if all(a is b for a, b in zip(found, branches, strict=True)) else node.op(condition, *found)


def _known_choice(branch: Variable, condition: Variable, position: int) -> Variable:
    """Return an elementwise value with choices by the condition replaced by their branch of that position."""
    images: dict[tuple[Variable, Variable], Variable] = {}
    stack = [(branch, condition)]
    while stack and len(images) < _MOST_BELOW:
        v, c = stack[-1]
        made = producer(v, Pointwise, DimShuffle)
        inside = _moved_alike(c, made)
        if made is None or inside is None or (v, c) in images:
            images.setdefault((v, c), v)
            stack.pop()
            continue
        if made.op is switch and made.inputs[0] is c and made.inputs[1 + position].type == v.type:
            made_of, below = None, [(made.inputs[1 + position], c)]
        else:
            made_of, below = made, [(i, inside) for i in made.inputs]
        missing = [key for key in below if key not in images]
        stack += missing
        if not missing:
            operands = [images[key] for key in below]
            images[v, c] = operands[0] if made_of is None else _over(made_of, operands)
            stack.pop()
    return images.get((branch, condition), branch)


def _moved_alike(condition: Variable, node: Node | None) -> Variable | None:
    """Return the condition for the operands of a node; None if the node moves axes in another way."""
    if node is None or not isinstance(node.op, DimShuffle):
        return condition
    moved = producer(condition, DimShuffle)
    return moved.inputs[0] if moved is not None and moved.op == node.op else None


def _over(node: Node, operands: Sequence[Variable]) -> Variable:
    """Return the output of a node for these operands: the old one if they are its own."""
    same = all(a is b for a, b in zip(operands, node.inputs, strict=True))
    return node.out if same else node.op(*operands)  # type: ignore[no-any-return]


def softmax_as_spelled(node: Node) -> Value | None:
    """Rewrite a softmax that stands for exp(x) / sum(exp(x)), or its logarithm, to the function of the vocabulary."""
    return type(node.op)(node.op.axis)(*node.inputs) if node.op.literal else None


def exp_of_log_softmax(node: Node) -> Value | None:
    """Rewrite exp(log_softmax(x))."""
    logarithm = producer(node.inputs[0], LogSoftmax)
    return None if logarithm is None else Softmax(logarithm.op.axis, logarithm.op.literal)(*logarithm.inputs)


def is_lowest(x: Variable, y: Variable) -> bool:
    """Whether no finite number of the dtype of x is less than y."""
    return bool(number_of(y) == np.finfo(x.type.numpy).min)


NOTATION: list[Rule] = [
    node_rule("local_mean", true_div, mean, having=(Reduce, neg), contract=relaxes("rounding"),
              formula="sum(x) / size(x) -> mean(x)"),
    rule("local_unguarded", clip(x, y, z), x, when=spans_all, contract=relaxes("inf"),
         formula="clip(x, -largest, largest) -> x"),
    node_rule("local_scalar_before_product", (Dot, MatMul), scalar_before_product, having=(mul, true_div, neg),
              contract=relaxes("rounding", "overflow", "underflow", "nan", "inf", "signed zero"),
              formula="x @ (c * y) -> c * (x @ y)  for a scalar c"),
    node_rule("local_length_of_shape", Subtensor, length_of_shape, having=Shape, formula="shape(x)[k] -> shape_i(x)"),
    node_rule("local_dimshuffle_of_fill", DimShuffle, dimshuffle_of_fill, having=fill,
              formula="dimshuffle(fill(x, c)) -> fill(dimshuffle(x), c)  for a scalar c"),
    node_rule("local_dimshuffle_of_multiple", DimShuffle, dimshuffle_of_multiple, having=(mul, true_div, neg),
              formula="dimshuffle(c * x) -> c * dimshuffle(x)  for a scalar c"),
    rule("local_is_maximum", eq(x, maximum(x, y)), ge(x, y), contract=relaxes("nan"), when=uniform),
    rule("local_is_minimum", eq(x, minimum(x, y)), le(x, y), contract=relaxes("nan"), when=uniform),
    node_rule("local_bare_value", (Check, CheckLengths, SpecifyShape, MaskedShape), bare, contract=relaxes("errors"),
              formula="check(x, condition) -> x"),
    node_rule("local_number", Pointwise, of_numbers, constants=True, formula="f(1, 2) -> 3"),
    node_rule("local_scalar_beside", Pointwise, scalar_beside,
              formula="dimshuffle(c) * x -> c * x  for a scalar c"),
    node_rule("local_chosen_once", switch, chosen_once, having=(Pointwise, DimShuffle),
              contract=relaxes("errors"),
              formula="where(c, a, f(where(c, b, x))) -> where(c, a, f(x))"),
    rule("local_guarded_root", switch(eq(x, 0), 0, sqrt(x)), sqrt(x), contract=relaxes("signed zero"), when=uniform_x,
         formula="where(x == 0, 0, sqrt(x)) -> sqrt(x)"),
    node_rule("local_softmax_as_spelled", (Softmax, LogSoftmax), softmax_as_spelled, contract=relaxes("nan", "inf"),
              formula="exp(x) / sum(exp(x)) -> softmax(x)"),
    node_rule("local_softmax_without_logarithm", exp, exp_of_log_softmax, having=LogSoftmax,
              contract=relaxes("rounding"), formula="exp(log_softmax(x)) -> softmax(x)"),
    rule("local_from_lowest", maximum(x, y), x, when=is_lowest, contract=relaxes("inf"),
         formula="maximum(x, -largest) -> x"),
    rule("local_copy", identity(x), x, contract=exact),
    rule("local_one_over", reciprocal(x), true_div(1, x), contract=relaxes("rounding")),
    rule("local_square_as_power", square(x), pow(x, 2), contract=relaxes("rounding")),
    rule("local_square_of_abs", square(abs(x)), pow(x, 2), contract=relaxes("rounding")),
]  # fmt: skip
