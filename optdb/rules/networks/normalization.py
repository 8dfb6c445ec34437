"""Factors of products folded into constant weights, so that batch normalization takes no time in a call.

    convolution(x, w) * a          -->   convolution(x, w * a)
    (convolution(x, w) - m) / s    -->   convolution(x, w / s) - m / s
    (dot(x, w) + b) * a            -->   dot(x, w * a) + b * a

w and the others are constants, with one number a channel or column.  The new ones are computed while the function is
optimized, in float64.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

import numpy as np

from ....graph import Constant, Variable
from ....graph.provenance import inheriting, union
from ....ops.core.tensor import TensorConstant, constant
from ....ops.elementwise.records import add, mul, sub, true_div
from ....ops.linalg.blas import Dot, Dot22, MatMul
from ....ops.networks.convolution import Convolution
from ...contract import relaxes
from ...patterns import Users
from ...rule import Rule, node_rule
from ..facts import Node, is_float, producer

PRODUCTS = (Convolution, Dot, Dot22, MatMul)


def factor_folded(node: Node, users: Users) -> Variable | None:
    """Fold constant factors into the constant weights of a product, perhaps through constant shifts."""
    chain, value = _factors_of(node, users)
    shifted = producer(value, add, sub)
    place = _only(shifted.inputs) if shifted is not None else None
    inner = value if shifted is None or place is None else shifted.inputs[place]
    product = producer(inner, *PRODUCTS)
    if not chain or product is None or len(users(value)) != 1 or len(users(inner)) != 1:
        return None
    scale = _scale(chain, product)
    if scale is None or _is_multiplied(node, users, product):
        return None
    with inheriting(union(product.origin, node.origin)):
        made = _scaled(product, scale)
    if made is None or shifted is None or place is None:
        return made
    shifts = [s for i in shifted.inputs if i is not inner and (s := _times(i, product, scale)) is not None]
    if len(shifts) < len(shifted.inputs) - 1:
        return None
    if shifted.op is sub:
        return sub(shifts[0], made) if place else add(made, constant(-shifts[0].data))
    return add(made, *shifts)


def _factors_of(node: Node, users: Users) -> tuple[list[Node], Variable]:
    """Return the nodes that multiply or divide one value by constants, from `node` inwards, and that value."""
    chain: list[Node] = []
    value, at = node.out, producer(node.out, mul, true_div)
    while at is not None and _multiplies(at) and (not chain or len(users(value)) == 1):
        chain.append(at)
        (value,) = (i for i in at.inputs if not isinstance(i, Constant))
        at = producer(value, mul, true_div)
    return chain, value


def _multiplies(node: Node) -> bool:
    """Whether a node multiplies or divides one floating-point value by constants."""
    place = _only(node.inputs) if node.op in (mul, true_div) and is_float(node.out) else None
    return place is not None and (node.op is mul or place == 0)


def _is_multiplied(node: Node, users: Users, product: Node) -> bool:
    """Whether the only reader folds factors into the same weights, now or later: it takes both at once then."""
    readers = users(node.out)
    reader, place = readers[0] if len(readers) == 1 else (None, 0)
    if reader is None or reader.op not in (mul, true_div) or (reader.op is true_div and place):
        return False
    if _multiplies(reader):
        return _scale([reader], product) is not None
    others = [i for k, i in enumerate(reader.inputs) if k != place and not isinstance(i, Constant)]
    return all(i.owner is not None and all(isinstance(k, Constant) for k in i.owner.inputs) for i in others)


def shifts_merged(node: Node, users: Users) -> Variable | None:
    """Merge two constant shifts of a product with constant weights."""
    place = _only(node.inputs) if is_float(node.out) else None
    below = producer(node.inputs[place], add, sub) if place is not None else None
    inner = _only(below.inputs) if below is not None else None
    product = producer(below.inputs[inner], *PRODUCTS) if below is not None and inner is not None else None
    if place is None or below is None or inner is None or product is None:
        return None
    if not isinstance(product.inputs[1], Constant) or len(users(below.out)) != 1 or len(users(product.out)) != 1:
        return None
    sign, total = 1.0, np.zeros(1)
    for each, side in ((below, inner), (node, place)):
        values = [_by_channel(i, product) for k, i in enumerate(each.inputs) if k != side]  # type: ignore[arg-type]
        if any(v is None for v in values):
            return None
        if each.op is sub and side == 1:
            sign, total = -sign, -total
        total = total + sum(values) * (-1.0 if each.op is sub and side == 0 else 1.0)  # type: ignore[arg-type]
    shift = _constant(total, product, node.out.dtype)
    if shift is None:
        return None
    return add(product.out, shift) if sign > 0 else sub(shift, product.out)


def _only(operands: Sequence[Variable]) -> int | None:
    """Return the position of the only operand that is no constant."""
    found = [k for k, i in enumerate(operands) if not isinstance(i, Constant)]
    return found[0] if len(found) == 1 else None


def _channel_axis(product: Node) -> int:
    """Return the axis of the result along which the weights have their own rows."""
    return 1 if isinstance(product.op, Convolution) else product.out.ndim - 1


def _scale(chain: Sequence[Node], product: Node) -> np.ndarray | None:
    """Return the factor of each channel by all nodes of a chain, in float64; None if it differs along other axes."""
    total = np.ones(1)
    for node in chain:
        values = [_by_channel(i, product) for i in node.inputs if isinstance(i, Constant)]
        if any(v is None for v in values):
            return None
        with np.errstate(all="ignore"):
            total = reduce(np.multiply if node.op is mul else np.true_divide, values, total)  # type: ignore[arg-type]
    return total


def _by_channel(value: Constant, product: Node) -> np.ndarray | None:
    """Return a constant as one number, or one per channel, in float64; None if it varies along another axis."""
    axis = _channel_axis(product)
    shape = (1,) * (product.out.ndim - value.ndim) + value.data.shape
    if len(shape) != product.out.ndim or any(n != 1 for k, n in enumerate(shape) if k != axis):
        return None
    return value.data.astype("float64").reshape(-1)


def _scaled(product: Node, scale: np.ndarray) -> Variable | None:
    """Return the product with scaled weights; None if these are not constant, or leave the range of normal numbers."""
    x, weights = product.inputs[:2]
    if len(product.inputs) != 2 or not isinstance(weights, Constant) or weights.dtype != product.out.dtype:
        return None
    is_convolution = isinstance(product.op, Convolution)
    if weights.ndim < 2 or scale.size not in (1, weights.data.shape[0 if is_convolution else -1]):
        return None
    rows = scale.reshape(-1, *(1,) * (weights.ndim - 1)) if is_convolution else scale
    made = _rounded(weights.data.astype("float64") * rows, weights.dtype, weights.data != 0)
    return None if made is None else product.op(x, constant(made))  # type: ignore[no-any-return]


def _times(value: Variable, product: Node, scale: np.ndarray | None) -> TensorConstant | None:
    """Return an addend of each channel, scaled."""
    assert isinstance(value, Constant) and scale is not None
    numbers = _by_channel(value, product)
    return None if numbers is None else _constant(numbers * scale, product, value.dtype)


def _constant(numbers: np.ndarray, product: Node, dtype: str) -> TensorConstant | None:
    """Return a constant with one number per channel; None if one of them leaves the range of normal numbers."""
    made = _rounded(numbers, dtype, numbers != 0)
    if made is None:
        return None
    shape = [1] * product.out.ndim
    shape[_channel_axis(product)] = made.size
    return constant(made.reshape(shape))


def _rounded(values: np.ndarray, dtype: str, nonzero: np.ndarray) -> np.ndarray | None:
    """Return the numbers in a dtype; None if one is not finite, or loses bits as a subnormal."""
    with np.errstate(all="ignore"):
        made = values.astype(dtype)
    fits = np.isfinite(made).all() and (np.abs(made[nonzero]) >= np.finfo(dtype).tiny).all()
    return made if fits else None


FOLDED: list[Rule] = [
    node_rule(
        "local_fold_factor_into_weights", (mul, true_div), factor_folded, having=(*PRODUCTS, add, sub, mul, true_div),
        constants=True, uses=True,
        formula="(convolution(x, w) + b) * a -> convolution(x, w * a) + b * a  for constants w, a, b",
        contract=relaxes("rounding", "signed zero"),
    ),
    node_rule(
        "local_merge_shifts_of_product", (add, sub), shifts_merged, having=(add, sub), constants=True, uses=True,
        formula="convolution(x, w) + a - b -> convolution(x, w) + (a - b)  for constants w, a, b",
        contract=relaxes("rounding", "signed zero"),
    ),
]  # fmt: skip
