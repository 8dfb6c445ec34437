"""Pools on channels in blocks: first as windows along rows and columns of the blocks, then as one op of C.

    max_pool(from_blocks(x))                    -->   from_blocks(max_pool(x))
    max_pool{kernel=(k, l, 1)}(pad(x, -inf))    -->   blocked_pool{padding}(x)
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ....graph import Variable
from ....ops.lowered.blocked_pool import BlockedPool
from ....ops.networks.pooling import MaxPool, SumPool
from ....targets.current import current
from ...patterns import Users
from ...rule import Rule, node_rule
from ..facts import Node, producer
from ..networks.pooling import POOLED
from .channels import DTYPES, ROUNDED, in_any_order
from .parts import without_filling


def pool_in_blocks(node: Node) -> Variable | None:
    """Pool blocks with windows along rows and columns that are one lane wide."""
    op, made = node.op, in_any_order(node.inputs[0])
    if made is None or len(op.kernel) != 2 or node.out.dtype not in POOLED[type(op)]:
        return None
    of_lanes = type(op)((*op.kernel, 1), (*op.stride, 1), (*op.dilation, 1))
    return made.op(of_lanes(made.inputs[0]))  # type: ignore[no-any-return]


def pool_of_blocks(node: Node, users: Users) -> Variable | None:
    """Pool blocks by one op of C; padding with the identity element becomes part of it."""
    op, (x,), sums = node.op, node.inputs, isinstance(node.op, SumPool)
    if len(op.kernel) != 3 or op.kernel[2] != 1 or op.stride[2] != 1 or x.ndim != 5 or node.out.dtype not in DTYPES:
        return None
    if not x.type.shape[4] or op.kernel == (1, 1, 1) or not current().panel:
        return None
    before = None if sums else producer(x, BlockedPool)
    if before is not None and _is_first_axis(before.op, op) and len(users(x)) == 1:
        kernel, stride, dilation = ((a[0], b[1]) for a, b in zip(_numbers(before.op), _numbers(op), strict=True))
        return BlockedPool(kernel, stride, dilation, before.op.padding)(*before.inputs)  # type: ignore[no-any-return]
    inner, padding = without_filling(x, 0 if sums else -np.inf)
    return BlockedPool(op.kernel[:2], op.stride[:2], op.dilation[:2], padding, sums)(inner)  # type: ignore[no-any-return]


def _numbers(op: Any) -> tuple[Any, ...]:
    return op.kernel, op.stride, op.dilation


def _is_first_axis(first: BlockedPool, second: MaxPool) -> bool:
    """Whether two pools take the maximum along rows, then along columns, over few positions in all."""
    apart = not first.sums and first.kernel[1] == first.stride[1] == second.kernel[0] == second.stride[0] == 1
    return apart and first.kernel[0] * second.kernel[1] <= current().limits.pools.positions


POOLS: list[Rule] = [
    node_rule("local_pool_of_blocks", (MaxPool, SumPool), pool_of_blocks, having=(), uses=True, contract=ROUNDED,
              formula="max_pool{kernel=(k, l, 1)}(pad(x, -inf)) -> blocked_pool{padding}(x)"),
]  # fmt: skip
