"""Fused pairs in blocks: a convolution and the depthwise convolution or pool that reads it, in blocks of rows.

MobileNets alternate products along channels with such kernels (Sandler et al. 2018), on images that no cache holds.
RegNets and ResNeXts have narrow groups in their place (Radosavovic et al. 2020).
"""

from __future__ import annotations

import math

from ....graph import Apply, Constant, Op, Variable
from ....ops.lowered.bfloat_convolution import BfloatConvolution
from ....ops.lowered.blocked import BlockedConvolution
from ....ops.lowered.blocked_pool import BlockedPool
from ....ops.lowered.convolution_pair import ConvolutionPair, Ending, bounds_of, ending_of
from ....ops.lowered.fused_product import FusedProduct
from ....targets.current import current
from ...patterns import Users
from ...rule import Rule, node_rule
from ..facts import Node, producer


def paired(node: Node, users: Users) -> Variable | None:
    """Fuse a depthwise convolution, groups within blocks or a pool with the convolution that it alone reads."""
    first = producer(node.inputs[0], BlockedConvolution, BfloatConvolution, FusedProduct)
    if first is None or not (_are_words(first, node) or _are_floats(first, node)) or len(users(node.inputs[0])) > 1:
        return None
    inputs = (*first.inputs, *node.inputs[1:])
    return Apply(ConvolutionPair(first.op, node.op, len(first.inputs)), inputs).out


def _are_floats(first: Node, node: Node) -> bool:
    """Whether a convolution and its reader are a pair of float numbers."""
    op, second = _convolution(first), _convolution(node)
    if second is None or not _is_own(second) or not isinstance(op, BlockedConvolution):
        return False
    if op.own or op.tile or op.groups > 1 or op.size != node.out.type.shape[4]:
        return False
    few = current().limits.convolutions.pooled_products
    return not isinstance(second, BlockedPool) or math.prod(op.weights[1:]) <= few


def _are_words(first: Node, node: Node) -> bool:
    """Whether a convolution by tiles and its reader, a kernel for each channel or a pool, are a pair of bfloat16."""
    (op, ending), (second, then) = _narrow(first), _narrow(node)
    if op is None or ending is None or not ending.rounded or ending.added is not None:
        return False
    if isinstance(node.op, BlockedPool):
        return node.op.halves and op.tile_words > 0 and op.groups == 1
    if second is None:
        return False
    is_ended = then is not None or second is node.op
    return is_ended and op.tile_words > 0 and op.groups == 1 and second.own and op.size == second.size


def _narrow(node: Node) -> tuple[BfloatConvolution | None, Ending | None]:
    """Return the convolution of bfloat16 numbers of a node, and what follows it if that is part of its call."""
    is_fused = isinstance(node.op, FusedProduct)
    op = node.op.product if is_fused else node.op
    ending = ending_of(node.op.graph) if is_fused else None
    return (op if isinstance(op, BfloatConvolution) and len(node.outputs) == 1 else None), ending


def _is_own(op: BlockedConvolution | BlockedPool) -> bool:
    """Whether each block of results depends on one block of channels, and no Winograd tiles are used."""
    return isinstance(op, BlockedPool) or (op.own and not op.tile) or op.is_within(op.weights, True)


def _convolution(node: Node) -> BlockedConvolution | BlockedPool | None:
    """Return the pool, or the convolution with packed weights, of a node, if all that follows is a constant clip."""
    op: Op = node.op
    if isinstance(op, FusedProduct):
        if not isinstance(op.product, (BlockedConvolution, BlockedPool)):
            return None
        bounds, op = op.split(node.inputs)[1], op.product
        if bounds_of(node.op.graph) is None or not all(isinstance(v, Constant) for v in bounds):
            return None
    if isinstance(op, BlockedPool):
        return op
    if not isinstance(op, BlockedConvolution) or not op.weights or len(node.outputs) > 1:
        return None
    return op


PAIRS: list[Rule] = [
    node_rule("local_convolution_pair", (BlockedConvolution, BfloatConvolution, BlockedPool, FusedProduct),
              paired, uses=True, having=(BlockedConvolution, FusedProduct),
              formula="blocked_convolution(blocked_convolution(x, w, b), v, c) -> convolution_pair(x, w, b, v, c)"
                      "  for v a kernel a channel or a group within a block, or a blocked_pool"),
]  # fmt: skip
