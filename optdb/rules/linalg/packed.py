"""Products with constant matrices that a format of packed weights suits, such as those of `ag.prune`.

    dot(x, w)    -->   sparse_dot(x, the vectors of w that are not all zero, starts, places)
    dot(x, w)    -->   sparse_columns(x, the blocks of w along the sum that are not all zero, starts, places)
    dot(x, w)    -->   two_of_four(x, two numbers of each four of w, their places)

Each format says which matrices it takes (`of`), and the promises that its products do not keep: ops/lowered/formats.
Zeros left out change the order of the sum and the sign of a zero, and nothing else: a row with an infinity or a NaN is
multiplied by them too.

Dense weights are packed in panels at compile time: no call copies them.  A product of few rows takes as long as its
weights are read; copied into panels first, they are read twice and written once.
"""

from __future__ import annotations

from functools import partial

from ....graph import Apply, Constant, Op, Variable
from ....ops.core.tensor import own_constant
from ....ops.linalg.blas import Dot, Dot22, MatMul
from ....ops.lowered.formats import Format, PackedProduct, formats
from ....ops.lowered.formats.panels import Panels
from ....ops.lowered.fused_product import FusedProduct
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
    w, form = node.inputs[1], panels_of(node)
    if form is None or not isinstance(w, Constant):
        return None
    (panels,) = form.packed(w.data)
    return over_panels(node, form, own_constant(panels)).outputs


def over_panels(node: Node, form: Panels, panels: Variable) -> Apply:
    """Return a product, perhaps with an epilogue, that reads panels of its right operand."""
    op: Op = PackedProduct(form)
    if isinstance(node.op, FusedProduct):
        op = FusedProduct(op, node.op.graph)
    return Apply(op, (node.inputs[0], panels, *node.inputs[2:]), node.origin)


def panels_of(node: Node) -> Panels | None:
    """Return the panels of the right operand of a product; None if it is read in place or has open lengths."""
    product = node.op.product if isinstance(node.op, FusedProduct) else node.op
    if not isinstance(product, (Dot, Dot22)) or any(i.ndim != 2 for i in node.inputs[:2]):
        return None
    lengths = node.inputs[1].type.shape
    return None if None in lengths else panels_for(node.inputs[0], *lengths)


def panels_for(x: Variable, k: int, n: int) -> Panels | None:
    """Return the panels of a matrix of k x n that rows x are multiplied by; None if a product reads it in place."""
    lanes = lanes_of(x.dtype)
    if not lanes or x.type.shape[0] == 1 or n < lanes or n * min(k, DEPTH) <= LITTLE:
        return None
    return Panels(k, n, lanes, panel_vectors())


def lanes_of(dtype: str) -> int:
    """Return the vector length of our own products on the current target; 0 if products use a BLAS."""
    target = current()
    if dtype not in DTYPES:
        return 0
    if target.arch != "x86_64":
        return target.vector // ITEMS[dtype]
    wide = width_of(target.features)
    return wide // ITEMS[dtype] if wide == 64 or {"avx2", "fma"} <= set(target.features) else 0


def panel_vectors() -> int:
    """Return the vectors of a panel: VECTORS_OF_PANEL of kernels/packed/real/dense_panels.c."""
    return 4 if current().arch == "x86_64" and width_of(current().features) == 64 else 2


PANELS: list[Rule] = [
    node_rule(
        "local_weights_in_panels", (Dot, Dot22, FusedProduct), in_panels, constants=True, contract=relaxes("rounding"),
        formula="dot22(x, w) -> packed_dot(x, panels of w)  for constant w",
    ),
]  # fmt: skip


def packed(kind: type[Format], node: Node) -> Variable | None:
    """Rewrite rows times a constant matrix that the format takes."""
    x, w = node.inputs
    if x.dtype not in kind.dtypes or w.dtype != x.dtype or not x.ndim or not isinstance(w, Constant) or w.ndim != 2:
        return None
    found = kind.of(x.type, w.data)
    if found is None:
        return None
    form, stored = found
    return PackedProduct(form)(x, *map(own_constant, stored))


def packing() -> list[Rule]:
    """Return the rule of each format that takes constant matrices."""
    return [
        node_rule(
            kind.rule, (Dot, MatMul), partial(packed, kind), constants=True, contract=relaxes(*kind.relaxes),
            formula=kind.formula,
        )
        for kind in formats() if kind.rule
    ]  # fmt: skip
