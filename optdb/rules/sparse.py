"""Products with constant matrices of many zeros, such as those of `ag.prune(..., structure="block")`.

    dot(x, w)    -->   sparse_dot(x, the vectors of w that are not all zero, starts, places)

A vector is one row of as many columns as a vector register holds.  Where enough of them are zero, those are neither
read nor multiplied.  Zeros that are left out change the order of the sum and the sign of a zero, and nothing else: a
row with an infinity or a NaN is multiplied by them too.
"""

from __future__ import annotations

import numpy as np

from ...graph import Constant, Variable
from ...ops.blas import Dot, MatMul
from ...ops.sparse_dot import DTYPES, SparseDot
from ...ops.tensor import constant
from ...targets.costs import ITEMS
from ...targets.current import current
from ..contract import relaxes
from ..rule import Rule, node_rule
from .facts import Node


def sparse_dot(node: Node) -> Variable | None:
    """Rows by a constant matrix of which few vectors are not zero."""
    x, w = node.inputs
    if x.dtype not in DTYPES or w.dtype != x.dtype or not x.ndim or not isinstance(w, Constant) or w.ndim != 2:
        return None
    limits, lanes = current().limits, current().vector // ITEMS[x.dtype]
    rows, columns = w.data.shape
    if lanes < 2 or w.data.size < limits.sparse_numbers or columns < lanes:
        return None
    if np.count_nonzero(w.data) > limits.sparse_share * w.data.size:
        return None
    op = SparseDot(rows, columns, lanes)
    vectors, starts, places = op.packed(w.data)
    if len(places) > limits.sparse_share * rows * op.panels:
        return None
    return op(x, *map(constant, (vectors, starts, places)))  # type: ignore[no-any-return]


SPARSE: list[Rule] = [
    node_rule("local_sparse_dot", (Dot, MatMul), sparse_dot, constants=True,
              contract=relaxes("rounding", "signed zero"),
              formula="dot(x, w) -> sparse_dot(x, vectors of w, starts, places)  for constant w of many zeros"),
]  # fmt: skip
