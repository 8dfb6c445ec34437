"""Pooling axis by axis: the largest of a window is that of the largest of its rows."""

from __future__ import annotations

from ...graph import Variable
from ...ops.pooling import MaxPool
from ...targets.current import current
from ..contract import relaxes
from ..rule import Rule, node_rule
from .facts import Node


def by_axes(node: Node) -> Variable | None:
    """Windows of many positions along several axes: first along the first of these axes, then along the others."""
    op = node.op
    wide = [k for k, n in enumerate(op.kernel) if n > 1]
    positions = 1
    for n in op.kernel:
        positions *= n
    if len(wide) < 2 or positions <= current().limits.pooled:
        return None
    first = wide[0]
    alone = [tuple(n if k == first else 1 for k, n in enumerate(each)) for each in (op.kernel, op.stride, op.dilation)]
    rest = [tuple(1 if k == first else n for k, n in enumerate(each)) for each in (op.kernel, op.stride, op.dilation)]
    return MaxPool(*rest)(MaxPool(*alone)(node.inputs[0]))


BY_AXES: list[Rule] = [
    node_rule(
        "local_max_pool_by_axes", MaxPool, by_axes, contract=relaxes("signed zero"),
        formula="max_pool{kernel=(k, l)}(x) -> max_pool{kernel=(1, l)}(max_pool{kernel=(k, 1)}(x))",
    ),
]  # fmt: skip
