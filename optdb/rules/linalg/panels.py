"""Constant weights of matrix products packed in panels at compile time: no call copies them.

Machine learning on one machine multiplies by the same weights in every call.  A product of few rows takes as long as
its weights are read; copied into panels first, they are read twice and written once.
"""

from __future__ import annotations

from ....graph import Apply, Constant, Op, Variable
from ....ops.core.tensor import constant
from ....ops.linalg.blas import Dot, Dot22
from ....ops.lowered.formats.panels import Panels
from ....ops.lowered.fused_product import FusedProduct
from ....ops.lowered.packed_product import PackedProduct
from ....ops.networks.weights import DEPTH
from ....targets.costs import ITEMS
from ....targets.current import current
from ....targets.target import width_of
from ...contract import relaxes
from ...rule import Rule, node_rule
from ..facts import Node

DTYPES = ("float32", "float64")
LITTLE = 64 * 64
"""Most numbers of a block of weights that a product reads in place: LITTLE in kernels/products/blocks.c."""


def in_panels(node: Node) -> tuple[Variable, ...] | None:
    """Pack the constant weights of a product, perhaps with an epilogue, into panels."""
    product = node.op.product if isinstance(node.op, FusedProduct) else node.op
    x, w, *others = node.inputs
    lanes = lanes_of(x.dtype)
    if not isinstance(product, (Dot, Dot22)) or not isinstance(w, Constant) or x.ndim != 2 or w.ndim != 2 or not lanes:
        return None
    k, n = w.data.shape
    if x.type.shape[0] == 1 or n < lanes or n * min(k, DEPTH) <= LITTLE:
        return None
    form = Panels(k, n, lanes)
    op: Op = PackedProduct(form)
    if isinstance(node.op, FusedProduct):
        op = FusedProduct(op, node.op.graph)
    return Apply(op, (x, *map(constant, form.packed(w.data)), *others)).outputs


def lanes_of(dtype: str) -> int:
    """Return the vector length of our own products on the current target; 0 if products use a BLAS."""
    target = current()
    if dtype not in DTYPES:
        return 0
    if target.arch != "x86_64":
        return target.vector // ITEMS[dtype]
    wide = width_of(target.features)
    return wide // ITEMS[dtype] if wide == 64 or {"avx2", "fma"} <= set(target.features) else 0


PANELS: list[Rule] = [
    node_rule(
        "local_weights_in_panels", (Dot, Dot22, FusedProduct), in_panels, constants=True, contract=relaxes("rounding"),
        formula="dot22(x, w) -> packed_dot(x, panels of w)  for constant w",
    ),
]  # fmt: skip
