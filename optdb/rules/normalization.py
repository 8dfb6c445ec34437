"""Factors of the results of products folded into constant weights: batch normalization costs nothing in a call.

    convolution(x, w) * a          -->   convolution(x, w * a)
    (convolution(x, w) - m) / s    -->   convolution(x, w / s) - m / s
    (dot(x, w) + b) * a            -->   dot(x, w * a) + b * a

w and the others are constants, with one number a channel or column.  The new ones are computed while the function is
optimized, in float64.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...graph import Constant, Variable
from ...ops.blas import Dot, Dot22, MatMul
from ...ops.convolution import Convolution
from ...ops.elementwise import add, mul, sub, true_div
from ...ops.tensor import constant
from ..contract import relaxes
from ..patterns import Users
from ..rule import Rule, node_rule
from .facts import Node, is_float, producer

PRODUCTS = (Convolution, Dot, Dot22, MatMul)


def factor_folded(node: Node, users: Users) -> Variable | None:
    """A product with constant weights, perhaps shifted by constants, times or over constants."""
    if not is_float(node.out):
        return None
    factors = [i for i in node.inputs if isinstance(i, Constant)]
    others = [i for i in node.inputs if not isinstance(i, Constant)]
    if len(others) != 1 or (node.op is true_div and others[0] is not node.inputs[0]):
        return None
    shifted = producer(others[0], add, sub)
    place = _only(shifted.inputs) if shifted is not None else None
    inner = others[0] if shifted is None or place is None else shifted.inputs[place]
    product = producer(inner, *PRODUCTS)
    if product is None or len(users(others[0])) != 1 or len(users(inner)) != 1:
        return None
    scale = _scale(node, product, factors)
    made = None if scale is None else _scaled(product, scale)
    if made is None or shifted is None or place is None:
        return made
    shifts = [_times(i, product, scale) for i in shifted.inputs if i is not inner]
    if any(s is None for s in shifts):
        return None
    if shifted.op is sub:
        return sub(shifts[0], made) if place else add(made, constant(-shifts[0].data))  # type: ignore[union-attr]
    return add(made, *shifts)


def _only(operands: Sequence[Variable]) -> int | None:
    """The place of the only operand that is no constant."""
    found = [k for k, i in enumerate(operands) if not isinstance(i, Constant)]
    return found[0] if len(found) == 1 else None


def _channel_axis(product: Node) -> int:
    """The axis of the result along which the weights have rows of their own."""
    return 1 if isinstance(product.op, Convolution) else product.out.ndim - 1


def _scale(node: Node, product: Node, factors: Sequence[Constant]) -> np.ndarray | None:
    """What each channel is multiplied by, in float64; None where it differs along other axes."""
    values = [_by_channel(f, product) for f in factors]
    if any(v is None for v in values):
        return None
    with np.errstate(all="ignore"):
        return np.asarray(np.prod(values, axis=0) if node.op is mul else 1 / values[0])  # type: ignore[operator]


def _by_channel(value: Constant, product: Node) -> np.ndarray | None:
    """A constant as one number, or one a channel, in float64; None if it varies along another axis."""
    axis = _channel_axis(product)
    shape = (1,) * (product.out.ndim - value.ndim) + value.data.shape
    if len(shape) != product.out.ndim or any(n != 1 for k, n in enumerate(shape) if k != axis):
        return None
    return value.data.astype("float64").reshape(-1)


def _scaled(product: Node, scale: np.ndarray) -> Variable | None:
    """The product with scaled weights; None if these are not constant, or leave the range of normal numbers."""
    x, weights = product.inputs[:2]
    if len(product.inputs) != 2 or not isinstance(weights, Constant) or weights.dtype != product.out.dtype:
        return None
    is_convolution = isinstance(product.op, Convolution)
    if weights.ndim < 2 or scale.size not in (1, weights.data.shape[0 if is_convolution else -1]):
        return None
    rows = scale.reshape(-1, *(1,) * (weights.ndim - 1)) if is_convolution else scale
    made = _rounded(weights.data.astype("float64") * rows, weights.dtype, weights.data != 0)
    return None if made is None else product.op(x, constant(made))  # type: ignore[no-any-return]


def _times(value: Variable, product: Node, scale: np.ndarray | None) -> Variable | None:
    """A summand of each channel, scaled."""
    assert isinstance(value, Constant) and scale is not None
    numbers = _by_channel(value, product)
    if numbers is None:
        return None
    made = _rounded(numbers * scale, value.dtype, np.broadcast_to(numbers != 0, np.broadcast(numbers, scale).shape))
    if made is None:
        return None
    shape = [1] * product.out.ndim
    shape[_channel_axis(product)] = made.size
    return constant(made.reshape(shape))


def _rounded(values: np.ndarray, dtype: str, nonzero: np.ndarray) -> np.ndarray | None:
    """The numbers in a dtype; None if one of them is not finite, or loses bits since it is too small."""
    with np.errstate(all="ignore"):
        made = values.astype(dtype)
    fits = np.isfinite(made).all() and (np.abs(made[nonzero]) >= np.finfo(dtype).tiny).all()
    return made if fits else None


FOLDED: list[Rule] = [
    node_rule(
        "local_fold_factor_into_weights", (mul, true_div), factor_folded, having=(*PRODUCTS, add, sub), uses=True,
        formula="(convolution(x, w) + b) * a -> convolution(x, w * a) + b * a  for constants w, a, b",
        contract=relaxes("rounding", "signed zero"),
    ),
]  # fmt: skip
