"""Gradients of convolutions and of pools on channels in blocks.

kernel_gradient(pad(x), from_blocks(g))                  -->   blocked_kernel_gradient(x, g)
max_pool_gradient(from_blocks(x), from_blocks(y), g)     -->   from_blocks(max_pool_gradient(x, y, g))
"""

from __future__ import annotations

from dataclasses import replace

from ....graph import Variable
from ....ops.lowered.blocked import FromBlocks, ToBlocks
from ....ops.lowered.blocked_gradient import BlockedKernelGradient
from ....ops.networks.convolution import KernelGradient
from ....ops.networks.pooling import MaxPoolGradient
from ....ops.shapes.indexing import IncSubtensor
from ....targets.costs import ITEMS
from ....targets.current import current
from ...rule import Rule, node_rule
from ..facts import Node
from .channels import DTYPES, ROUNDED, from_blocks, in_any_order
from .parts import without_padding


def kernel_gradient_in_blocks(node: Node) -> Variable | None:
    """Compute the gradient of kernels on blocks, if the gradient of the results is in blocks."""
    op, made, shape = node.op, from_blocks(node.inputs[1]), node.out.type.shape
    if made is None or len(op.stride) != 2 or op.groups != 1 or None in shape or node.out.dtype not in DTYPES:
        return None
    size = made.inputs[0].type.shape[4]
    if size != current().vector // ITEMS[node.out.dtype] or shape[0] % size or 0 in shape:
        return None
    inner, padding = without_padding(node.inputs[0])
    blocks = from_blocks(inner)
    if blocks is not None and blocks.inputs[0].type.shape[4] == size:
        inner = blocks.inputs[0]
    return BlockedKernelGradient(op.stride, op.dilation, padding, shape)(inner, made.inputs[0])


def gradient_input_in_blocks(node: Node) -> Variable | None:
    """Read the blocks of the input of a gradient of kernels, and take padding with zeros into the op."""
    op, (x, g) = node.op, node.inputs
    inner, padding = without_padding(x)
    made = from_blocks(inner)
    if made is not None and made.inputs[0].type.shape[4] == g.type.shape[4]:
        inner = made.inputs[0]
    if inner is x:
        return None
    both = tuple((a + c, b + d) for (a, b), (c, d) in zip(op.padding, padding, strict=True))
    return replace(op, padding=both)(inner, g)  # type: ignore[no-any-return]


def pool_gradient_in_blocks(node: Node) -> Variable | None:
    """Compute the gradient of a pool on blocks, if its input and result are in blocks; copy `g` there if needed."""
    op, (x, y, g) = node.op, (in_any_order(i) for i in node.inputs)
    if x is None or y is None or len(op.kernel) != 2 or x.op != y.op:
        return None
    size, channels = x.inputs[0].type.shape[4], x.op.channels
    if y.inputs[0].type.shape[4] != size or (g is not None and (g.op != x.op or g.inputs[0].type.shape[4] != size)):
        return None
    if g is None and (x.op.shuffle > 1 or channels % size):
        return None
    of_lanes = MaxPoolGradient((*op.kernel, 1), (*op.stride, 1), (*op.dilation, 1))
    back = ToBlocks(size)(node.inputs[2]) if g is None else g.inputs[0]
    return x.op(of_lanes(x.inputs[0], y.inputs[0], back))  # type: ignore[no-any-return]


GRADIENTS: list[Rule] = [
    node_rule("local_kernel_gradient_in_blocks", KernelGradient, kernel_gradient_in_blocks, having=FromBlocks,
              contract=ROUNDED,
              formula="kernel_gradient(pad(x), from_blocks(g)) -> blocked_kernel_gradient(x, g)"),
    node_rule("local_gradient_input_in_blocks", BlockedKernelGradient, gradient_input_in_blocks,
              having=(FromBlocks, IncSubtensor),
              formula="blocked_kernel_gradient(pad(from_blocks(x)), g) -> blocked_kernel_gradient(x, g)"),
    node_rule("local_pool_gradient_in_blocks", MaxPoolGradient, pool_gradient_in_blocks, having=FromBlocks,
          formula="max_pool_gradient(from_blocks(x), from_blocks(y), g) -> from_blocks(max_pool_gradient(x, y, g))"),
]  # fmt: skip
