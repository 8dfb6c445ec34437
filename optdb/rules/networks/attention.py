"""Attention as one op, which never stores all scores.

    matmul(softmax(mask(scale * matmul(q, k))), v)    -->   attention(q, k, v, scale, mask)

Scores of n positions are n * n numbers for each head: written, read for their greatest, read for their exponentials,
and read for the second product.  The rule stands behind the derivatives, which keep the graph that users wrote.
"""

from __future__ import annotations

import functools
from dataclasses import replace
from typing import Any

import numpy as np

from ....graph import Constant, Variable
from ....ops.core.tensor import constant
from ....ops.elementwise.records import add, mul, switch, true_div
from ....ops.linalg.blas import Dot, Dot22, Dot22Scalar, MatMul
from ....ops.lowered.attention import DTYPES, Attention
from ....ops.networks.functions import Softmax
from ....ops.shapes.shape import DimShuffle, expand_dims
from ....record import record
from ...contract import relaxes
from ...patterns import Users
from ...rule import Rule, node_rule
from ..facts import Node, producer

PRODUCTS = (MatMul, Dot, Dot22)
LITTLE = 32 * 32
"""Most scores of a head for which the op is not worth it: they take 4 KiB in float32."""


@record
class _Scores:
    """The parts of scores, as arguments of `Attention`."""

    q: Variable
    k: Variable
    scale: Variable
    mask: str = ""
    masks: tuple[Variable, ...] = ()
    added: tuple[Variable, ...] = ()


def attention(node: Node, users: Users) -> Variable | None:
    """Rewrite a product whose left side is a softmax of scores without other readers."""
    shares, v = node.inputs
    softmax = producer(shares, Softmax)
    if softmax is None or shares.dtype not in DTYPES or min(shares.ndim, v.ndim) < 2:
        return None
    if softmax.op.axis != shares.ndim - 1 or len(users(shares)) > 1:
        return None
    found = _scores(softmax.inputs[0], users)
    if found is None or _is_little(shares):
        return None
    inputs = (found.q, found.k, v, found.scale, *found.masks, *found.added)
    made: Variable = Attention(found.mask, bool(found.added))(*inputs)
    return made if made.ndim == node.out.ndim else None


def _is_little(scores: Variable) -> bool:
    """Whether the scores of a head fit the fastest cache anyway."""
    m, n = scores.type.shape[-2:]
    return m == 1 or (m is not None and n is not None and m * n < LITTLE)


def _scores(v: Variable, users: Users) -> _Scores | None:
    """Return the parts of scale * (q @ k), perhaps masked, perhaps with one addend, or with constant ones."""
    constants: list[Constant] = []
    while (sums := producer(v, add)) is not None:
        others = [i for i in sums.inputs if not isinstance(i, Constant)]
        if len(users(v)) > 1:
            return None
        if len(others) != 1:
            break
        constants += [i for i in sums.inputs if isinstance(i, Constant)]
        v = others[0]
    if sums is None:
        found, added = _masked(v, users), _total(constants)
        if not constants or found is None:
            return found
        return None if added is None or added.dtype != v.dtype else replace(found, added=(_as_stack(added),))
    if len(sums.inputs) != 2 or constants:
        return None
    for scores, addend in (sums.inputs, sums.inputs[::-1]):
        found = _masked(scores, users)
        if found is not None and addend.dtype == v.dtype:
            return replace(found, added=(_as_stack(addend),))
    return None


def _total(addends: list[Constant]) -> Constant | None:
    """Return the sum of constants, as of a bias and the mask of windows; None if there is none, or it overflows."""
    if not addends:
        return None
    if len(addends) == 1:
        return addends[0]
    with np.errstate(all="ignore"):
        total = functools.reduce(np.add, (a.data for a in addends))
        overflows = np.isfinite(total) != functools.reduce(np.logical_and, (np.isfinite(a.data) for a in addends))
    return None if overflows.any() else constant(total)


def _masked(v: Variable, users: Users) -> _Scores | None:
    """Return the parts of scale * (q @ k), perhaps with a number where a mask says so."""
    choice = producer(v, switch)
    if choice is None:
        return _scaled(v, users)
    mask, *sides = choice.inputs
    for way, scores, other in (("keep", *sides), ("drop", *sides[::-1])):
        found, fill = _scaled(scores, users), _number(other)
        if found is not None and fill is not None and len(users(v)) == 1 and mask.dtype == "bool":
            return replace(found, mask=way, masks=(_as_stack(mask), fill)) if fill.dtype == v.dtype else None
    return None


def _scaled(v: Variable, users: Users) -> _Scores | None:
    """Return the parts of scale * (q @ k)."""
    scale: Variable = constant(1, v.dtype)
    if (found := producer(v, mul)) is not None and len(found.inputs) == 2:
        factor, inner = (_number(i) for i in found.inputs), found.inputs[::-1]
        pair = next(((f, i) for f, i in zip(factor, inner, strict=True) if f is not None), None)
        if pair is None:
            return None
        scale, inside = pair
    elif (found := producer(v, true_div)) is not None and (below := _number(found.inputs[1])) is not None:
        scale, inside = true_div(scale, below), found.inputs[0]
    else:
        inside = v
    product = producer(inside, *PRODUCTS, Dot22Scalar)
    if product is None or len(users(v)) > 1 or len(users(inside)) > 1 or min(i.ndim for i in product.inputs[:2]) < 2:
        return None
    if isinstance(product.op, Dot) and any(i.ndim != 2 for i in product.inputs):
        return None
    if isinstance(product.op, Dot22Scalar):
        scale = mul(scale, product.inputs[2])
    return _Scores(product.inputs[0], product.inputs[1], scale) if scale.dtype == v.dtype else None


def _number(v: Variable) -> Variable | None:
    """Return a number as a tensor of rank 0."""
    if v.ndim == 0:
        return v
    if isinstance(v, Constant):
        return constant(v.data.reshape(()), v.dtype) if v.data.size == 1 else None
    made = producer(v, DimShuffle)
    return made.inputs[0] if made is not None and made.inputs[0].ndim == 0 else None


def _as_stack(v: Variable) -> Any:
    return v if v.ndim >= 2 else expand_dims(v, tuple(range(2 - v.ndim)))


ATTENTION: list[Rule] = [
    node_rule(
        "local_attention", PRODUCTS, attention, having=Softmax, uses=True, contract=relaxes("rounding"),
        formula="matmul(softmax(mask(scale * matmul(q, k))), v) -> attention(q, k, v, scale, mask)",
    ),
]  # fmt: skip
