"""Rules of special functions (`ops/special`): logarithms and complements without cancellation."""

from __future__ import annotations

from ....graph import Apply, same_shape
from ....ops.core.namespace import T
from ....ops.elementwise.records import log, neg, sub
from ....ops.special.function import SpecialFunction
from ...contract import stabilizes
from ...rule import Rule, node_rule
from ..facts import Value, is_float, is_number, producer


def log_of_ndtr(node: Apply) -> Value | None:
    """Rewrite the logarithm of the normal distribution function."""
    inner = producer(node.inputs[0], T.special.ndtr)
    return None if inner is None else T.special.log_ndtr(inner.inputs[0])


def one_minus_ndtr(node: Apply) -> Value | None:
    """Rewrite 1 less the normal distribution function."""
    one, y = node.inputs
    inner = producer(y, T.special.ndtr)
    if inner is None or not is_number(one, 1) or not is_float(inner.inputs[0]) or not same_shape(y, node.out):
        return None
    return T.special.ndtr(neg(inner.inputs[0])) if y.dtype == node.out.dtype else None


SPECIAL: list[Rule] = [
    node_rule("local_log_ndtr", log, log_of_ndtr, having=SpecialFunction, contract=stabilizes,
              formula="log(ndtr(x)) -> log_ndtr(x)"),
    node_rule("local_one_minus_ndtr", sub, one_minus_ndtr, having=SpecialFunction, contract=stabilizes,
              formula="1 - ndtr(x) -> ndtr(-x)"),
]  # fmt: skip
