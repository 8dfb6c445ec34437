"""Rules of special functions (`ops/special`): logarithms and complements without cancellation."""

from __future__ import annotations

from ....graph import Apply, same_shape
from ....ops.core.namespace import T
from ....ops.elementwise.records import log, sub
from ....ops.special.function import SpecialFunction
from ...contract import stabilizes
from ...rule import Rule, node_rule
from ..facts import Value, is_number

_COMPLEMENTS = {"gammainc": "gammaincc", "gammaincc": "gammainc", "betainc": "betaincc", "betaincc": "betainc"}


def log_of_ndtr(node: Apply) -> Value | None:
    """Rewrite the logarithm of the normal distribution function."""
    inner = node.inputs[0].owner
    return T.special.log_ndtr(inner.inputs[0]) if inner is not None and inner.op.name == "ndtr" else None


def complement(node: Apply) -> Value | None:
    """Rewrite 1 less a distribution function."""
    one, y = node.inputs
    if y.owner is None or not is_number(one, 1) or y.dtype != node.out.dtype or not same_shape(y, node.out):
        return None
    if y.owner.op.name == "ndtr":
        return T.special.ndtr(-y.owner.inputs[0])  # type: ignore[operator]
    name = _COMPLEMENTS.get(y.owner.op.name)
    return None if name is None else getattr(T.special, name)(*y.owner.inputs)  # type: ignore[no-any-return]


SPECIAL: list[Rule] = [
    node_rule("local_log_ndtr", log, log_of_ndtr, having=SpecialFunction, contract=stabilizes,
              formula="log(ndtr(x)) -> log_ndtr(x)"),
    node_rule("local_one_minus_special", sub, complement, having=SpecialFunction, contract=stabilizes,
              formula="1 - gammainc(a, x) -> gammaincc(a, x), 1 - betainc(a, b, x) -> betaincc(a, b, x)"),
]  # fmt: skip
