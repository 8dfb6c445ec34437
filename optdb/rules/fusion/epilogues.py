"""Epilogue fusion: matrix products and convolutions with the elementwise group that alone reads them.

    relu(dot22(a, b) + c)             -->   fused_product{dot22, fn(p, c) -> relu(p + c)}(a, b, c)
    tanh(gemm(z, 1, x, y, 1))         -->   fused_product{dot22, fn(p, z) -> tanh(z + p)}(x, y, z)
    relu(convolution(x, w) + b)       -->   fused_product{convolution, fn(p, b) -> relu(p + b)}(x, w, b)
    relu(packed_bfloat_dot(x, w))     -->   fused_product{packed_bfloat_dot, fn(p) -> relu(p)}(x, w)

The group then works on a block of the product while that block is in the cache.  A group that contains a reduction
keeps loops of its own and stays separate; so does one that gives the new value of an input, since that may be
written over the old one.  Linear in the size of the graph.
"""

from __future__ import annotations

from typing import Any, ClassVar

from ....graph import Apply, Constant, FunctionGraph, GraphEditor, Op, Variable, union
from ....graph.dims import carry_dims
from ....ops.core.tensor import TensorVariable
from ....ops.elementwise.records import Elementwise, Pointwise, add, mul
from ....ops.linalg.blas import Dot, Dot22, Dot22Scalar, Gemm, MatMul
from ....ops.lowered.bfloat_dot import BfloatDot
from ....ops.lowered.blocked import BlockedConvolution
from ....ops.lowered.blocked_pool import BlockedPool
from ....ops.lowered.channel_sums import ChannelSums
from ....ops.lowered.formats import PackedProduct
from ....ops.lowered.fused import Fused
from ....ops.lowered.fused_product import FusedProduct
from ....ops.networks.convolution import Convolution
from ....ops.shapes.shape import DimShuffle
from ....record import lazy, record
from ....targets.current import current
from ...contract import Contract, relaxes
from ...optimizers import Optimizer, Result
from .as_one import profiled

narrow: Any = lazy.module("....ops.lowered.bfloat_convolution", __package__)
CONVOLUTIONS = (BlockedConvolution, BlockedPool, ChannelSums, Convolution)
PRODUCTS = (*CONVOLUTIONS, BfloatDot, Dot, Dot22, Dot22Scalar, Gemm, MatMul, PackedProduct)
DTYPES = ("float32", "float64")


@record(kw_only=True)
class EpilogueOptimizer(Optimizer):
    """Fuses each product with the one elementwise group that reads it."""

    contract: ClassVar[Contract | None] = relaxes("rounding")

    def optimize(self, graph: FunctionGraph, editor: GraphEditor) -> Result:
        return profiled(fuse_epilogues, graph, self.name, editor)


def fuse_epilogues(graph: FunctionGraph, by: str, editor: GraphEditor) -> FunctionGraph:
    """Return `graph` with each product fused into its only reader, if elementwise; call the editor once per pair."""
    updated = {graph.outputs[o] for _, o in graph.updates}
    known: dict[Variable, Variable] = {}
    met: dict[tuple[Op, Op, int], FusedProduct] = {}
    for node in graph.order:
        new = node.over(known)
        joins = isinstance(node.op, (Pointwise, Fused)) and _is_epilogue(node, updated)
        fused = _with_product(node, new, graph, met) if joins else None
        if fused is not None and editor.admit(by, node.outputs[0], fused.outputs[0]):
            for made, old in zip(fused.outputs, node.outputs, strict=True):
                made.name = old.name
                if made.type == old.type:
                    carry_dims((old,), (made,))
            new = fused
        if new is not node:
            known.update(zip(node.outputs, new.outputs, strict=True))
    return graph.with_images(known)


def _is_epilogue(node: Apply, updated: set[Variable]) -> bool:
    """Whether an elementwise node or a group computes its outputs element by element and may run block by block."""
    if not updated.isdisjoint(node.outputs) or node.op.fallible:
        return False
    inside = node.op.graph.order if isinstance(node.op, Fused) else (node,)
    return (
        all(isinstance(n.op, (Pointwise, DimShuffle)) for n in inside)
        and len(node.inputs) + len(node.outputs) <= current().limits.fusion.epilogue_arrays
        and len({o.ndim for o in node.outputs}) == 1
    )


def _with_product(
    node: Apply, new: Apply, graph: FunctionGraph, met: dict[tuple[Op, Op, int], FusedProduct]
) -> Apply | None:
    """Return `new`, an elementwise node on the images of the operands of `node`, fused with its first product.

    What a group becomes with a plain product depends on the ops alone, and is kept in `met`.
    """
    for position, operand in enumerate(node.inputs):
        product = new.inputs[position].owner
        if product is None or not _is_product(product, node) or graph.readings[operand] > 1:
            continue
        key = (product.op, new.op, position)
        op, outer = met.get(key), [i for k, i in enumerate(new.inputs) if k != position]
        if op is None:
            group, outer = _group(new, position)
            whole = product
            product, group, outer = _without_gemm(product, group, outer)
            op = FusedProduct(product.op, group)
            if product is whole and isinstance(new.op, Fused):
                met[key] = op
        return Apply(op, (*product.inputs, *outer), union(product.origin, node.origin))
    return None


def _is_product(product: Apply, reader: Apply) -> bool:
    op, kind = product.op, product.outputs[0].type
    if isinstance(op, (Elementwise, Fused)) or kind.dtype not in DTYPES:
        return False
    if not 2 <= len(kind.shape) == reader.outputs[0].ndim:
        return False
    if isinstance(op, (*CONVOLUTIONS, narrow.BfloatConvolution)):
        return True
    return isinstance(op, PRODUCTS) and 1 not in kind.shape


def _group(node: Apply, position: int) -> tuple[FunctionGraph, list[Variable]]:
    """Return the computation of `node` as a graph whose first input is operand `position`, and the other operands."""
    order = [position, *(k for k in range(len(node.inputs)) if k != position)]
    outer = [node.inputs[k] for k in order[1:]]
    if isinstance(node.op, Fused):
        inner = node.op.graph
        return FunctionGraph([inner.inputs[k] for k in order], inner.outputs), outer
    leaves = [TensorVariable(i.type, name=f"i{k}") for k, i in enumerate(node.inputs)]
    outputs = node.with_inputs(leaves).outputs
    for output in outputs:
        output.name = None
    return FunctionGraph([leaves[k] for k in order], outputs), outer


def _without_gemm(
    product: Apply, group: FunctionGraph, outer: list[Variable]
) -> tuple[Apply, FunctionGraph, list[Variable]]:
    """Return the sum of a gemm as part of the group, which reads the addend once without a copy."""
    if not isinstance(product.op, Gemm):
        return product, group, outer
    z, alpha, x, y, beta = product.inputs
    if not (isinstance(alpha, Constant) and isinstance(beta, Constant)) or beta.data == 0:
        return product, group, outer
    plain = Apply(Dot22(), (x, y), product.origin)
    addend, factor = TensorVariable(z.type), TensorVariable(plain.out.type)
    leaves: list[Variable] = [factor, *group.inputs[1:], addend]
    outer = [*outer, z]
    scaled: list[Variable] = []
    for value, scale in ((addend, beta), (factor, alpha)):
        if scale.data == 1:
            scaled.append(value)
            continue
        leaf = TensorVariable(scale.type)
        leaves.append(leaf)
        outer.append(scale)
        scaled.append(Apply(mul, (leaf, value), product.origin).out)
    total = Apply(add, tuple(scaled), product.origin).out
    outputs = Fused(group).expand((total, *group.inputs[1:]))
    return plain, FunctionGraph(leaves, outputs), outer
