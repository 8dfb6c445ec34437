"""Products with constant matrices that a format of packed weights suits, such as those of `ag.prune`.

    dot(x, w)    -->   sparse_dot(x, the vectors of w that are not all zero, starts, places)
    dot(x, w)    -->   sparse_columns(x, the blocks of w along the sum that are not all zero, starts, places)
    dot(x, w)    -->   two_of_four(x, two numbers of each four of w, their places)

Each format says which matrices it takes (`of`), and the promises that its products do not keep: ops/lowered/formats.
Zeros left out change the order of the sum and the sign of a zero, and nothing else: a row with an infinity or a NaN is
multiplied by them too.
"""

from __future__ import annotations

from functools import partial

from ....graph import Constant, Variable
from ....ops.core.tensor import constant
from ....ops.linalg.blas import Dot, MatMul
from ....ops.lowered.formats import formats
from ....ops.lowered.formats.format import Format
from ....ops.lowered.packed_product import PackedProduct
from ...contract import relaxes
from ...rule import Rule, node_rule
from ..facts import Node


def packed(kind: type[Format], node: Node) -> Variable | None:
    """Rewrite rows times a constant matrix that the format takes."""
    x, w = node.inputs
    if x.dtype not in kind.dtypes or w.dtype != x.dtype or not x.ndim or not isinstance(w, Constant) or w.ndim != 2:
        return None
    found = kind.of(x.type, w.data)
    if found is None:
        return None
    form, stored = found
    return PackedProduct(form)(x, *map(constant, stored))


def packing() -> list[Rule]:
    """Return the rule of each format that takes constant matrices."""
    return [
        node_rule(
            kind.rule, (Dot, MatMul), partial(packed, kind), constants=True, contract=relaxes(*kind.relaxes),
            formula=kind.formula,
        )
        for kind in formats() if kind.rule
    ]  # fmt: skip
