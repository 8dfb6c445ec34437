"""Products with sparse constant matrices, such as those of `ag.prune` with `structure="block"` or `"2:4"`.

    dot(x, w)    -->   sparse_dot(x, the vectors of w that are not all zero, starts, places)
    dot(x, w)    -->   sparse_columns(x, the blocks of w along the sum that are not all zero, starts, places)
    dot(x, w)    -->   two_of_four(x, two numbers of each four of w, their places)

A vector is one row of as many columns as a vector register holds.  Where enough of them are zero, those are neither
read nor multiplied.  For two of four the numbers of x are picked in registers.  Zeros left out change the order of the
sum and the sign of a zero, and nothing else: a row with an infinity or a NaN is multiplied by them too.
"""

from __future__ import annotations

import numpy as np

from ....graph import Constant, Variable
from ....ops.core.tensor import constant
from ....ops.linalg.blas import Dot, MatMul
from ....ops.lowered.sparse_columns import SparseColumns
from ....ops.lowered.sparse_dot import DTYPES, SparseDot
from ....ops.lowered.two_of_four import TwoOfFour, has_two_of_four
from ....targets.costs import ITEMS
from ....targets.current import current
from ....targets.target import Target
from ...contract import relaxes
from ...rule import Rule, node_rule
from ..facts import Node


def sparse_dot(node: Node) -> Variable | None:
    """Rewrite rows times a constant matrix with few nonzero vectors."""
    x, w = node.inputs
    if x.dtype not in DTYPES or w.dtype != x.dtype or not x.ndim or not isinstance(w, Constant) or w.ndim != 2:
        return None
    limits, lanes = current().limits.products, current().vector // ITEMS[x.dtype]
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


def sparse_columns(node: Node) -> Variable | None:
    """Rewrite rows times a constant matrix with few nonzero blocks along the summed axis."""
    x, w = node.inputs
    if x.dtype != "float32" or w.dtype != x.dtype or not x.ndim or not isinstance(w, Constant) or w.ndim != 2:
        return None
    target, (rows, columns) = current(), w.data.shape
    lanes, limits = target.vector // ITEMS[x.dtype], target.limits.products
    if not picks_in_registers(target) or rows < limits.column_rows or w.data.size < limits.sparse_numbers:
        return None
    share = limits.column_shares[any(n != 1 for n in x.type.shape[:-1])]
    if np.count_nonzero(w.data) > share * w.data.size:
        return None
    op = SparseColumns(rows, columns, lanes)
    vectors, starts, places = op.packed(w.data)
    if len(places) > share * op.blocks * columns:
        return None
    return op(x, *map(constant, (vectors, starts, places)))  # type: ignore[no-any-return]


def picks_in_registers(target: Target) -> bool:
    """Whether the target can select any element of a vector per lane; else 2:4 sparsity loses to a dense product."""
    return target.vector >= 32 and "avx2" in target.features


def two_of_four(node: Node) -> Variable | None:
    """Rewrite rows times a constant matrix with two zeros among each four numbers along the summed axis."""
    x, w = node.inputs
    if x.dtype != "float32" or w.dtype != x.dtype or not x.ndim or not isinstance(w, Constant) or w.ndim != 2:
        return None
    target, (rows, columns) = current(), w.data.shape
    lanes, least = target.vector // ITEMS[x.dtype], target.limits.products.two_of_four
    if not picks_in_registers(target) or rows < least[0] or w.data.size < least[1] or columns < lanes:
        return None
    if not has_two_of_four(w.data):
        return None
    op = TwoOfFour(rows, columns, lanes)
    return op(x, *map(constant, op.packed(w.data)))  # type: ignore[no-any-return]


SPARSE: list[Rule] = [
    node_rule("local_sparse_dot", (Dot, MatMul), sparse_dot, constants=True,
              contract=relaxes("rounding", "signed zero"),
              formula="dot(x, w) -> sparse_dot(x, vectors of w, starts, places)  for constant w of many zeros"),
    node_rule("local_sparse_columns", (Dot, MatMul), sparse_columns, constants=True,
              contract=relaxes("rounding", "signed zero"),
              formula="dot(x, w) -> sparse_columns(x, blocks of w, starts, places)  for constant w of many zeros"),
    node_rule("local_two_of_four", (Dot, MatMul), two_of_four, constants=True,
              contract=relaxes("rounding", "signed zero"),
              formula="dot(x, w) -> two_of_four(x, w, places)  for constant w with two zeros in each four"),
]  # fmt: skip
