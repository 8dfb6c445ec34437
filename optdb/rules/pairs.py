"""Pairs of convolutions in blocks: a convolution and the kernel for each channel that reads it, in bands of rows.

MobileNets alternate products along channels with such kernels (Sandler et al. 2018), on images that no cache holds.
"""

from __future__ import annotations

from ...graph import Apply, Constant, Op, Variable
from ...ops.blocked import BlockedConvolution
from ...ops.convolution_pair import ConvolutionPair, bounds_of
from ...ops.fused_product import FusedProduct
from ..patterns import Users
from ..rule import Rule, node_rule
from .facts import Node, producer


def paired(node: Node, users: Users) -> Variable | None:
    """A kernel for each channel, and the convolution that nothing else reads, as one node."""
    second, first = _convolution(node), producer(node.inputs[0], BlockedConvolution, FusedProduct)
    if second is None or not second.own or second.tile or first is None or len(users(node.inputs[0])) > 1:
        return None
    op = _convolution(first)
    if op is None or op.own or op.tile or op.groups > 1 or op.size != second.size:
        return None
    inputs = (*first.inputs, *node.inputs[1:])
    return Apply(ConvolutionPair(first.op, node.op, len(first.inputs)), inputs).out


def _convolution(node: Node) -> BlockedConvolution | None:
    """The convolution with packed weights of a node which, after that, at most cuts its results off at constants."""
    op: Op = node.op
    if isinstance(op, FusedProduct):
        bounds, op = op.split(node.inputs)[1], op.product
        if bounds_of(node.op.graph) is None or not all(isinstance(v, Constant) for v in bounds):
            return None
    if not isinstance(op, BlockedConvolution) or not op.weights or len(node.outputs) > 1:
        return None
    return op


PAIRS: list[Rule] = [
    node_rule("local_convolution_pair", (BlockedConvolution, FusedProduct), paired, uses=True,
              formula="blocked_convolution(blocked_convolution(x, w, b), v, c) -> convolution_pair(x, w, b, v, c)"
                      "  for v a kernel a channel"),
]  # fmt: skip
