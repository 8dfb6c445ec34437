"""Sums over decision trees: each row of a matrix goes down every tree, and the leaves that it reaches are added up.

    tree_fold{fold="add", ...}(x, feature, threshold, children, root, values)

The nodes of all trees are numbered from 0.  Node n sends a row to its first child where `x[row, feature[n]] <=
threshold[n]`, to its second one where it is greater, to the third one, if there are three, where it is NaN; with two,
NaN goes to the second.  A child, or a root, of -1 - k is leaf k, whose numbers are a row of `values`.  The op trusts
these arrays; the code that makes them checks them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np

from ...graph import Apply, Constant, Dim, Kind, NoGradient, TensorType, Variable
from ...record import record
from ..control.batching import Examples, Flags, require_shared
from ..core.checks import describe, require_count
from ..core.namespace import T
from ..core.tensor import TensorOp
from ..elementwise import costs

FOLDS = {"add": (np.add, 0.0), "maximum": (np.maximum, -np.inf), "minimum": (np.minimum, np.inf)}
"""How the leaves of a row are combined, and the identity elements."""


@record(repr=False)
class TreeFold(TensorOp):
    """`fold` over the trees of the values of leaves; float64[rows, outputs].

    `outputs`: numbers of a leaf.  `branches`: children of a node, 2 or 3.  `visits`: nodes that a row visits in all
    trees together, as far as it is known; it decides how rows are shared among threads.
    """

    fold: str
    outputs: int
    branches: int = 2
    visits: int = 1
    name = "tree_fold"
    picture: ClassVar[Kind] = Kind.OTHER
    operations: ClassVar[Callable[..., Any]] = costs.moving

    def infer(self, inputs: tuple[Variable, ...]) -> tuple[TensorType, ...]:
        require_count(self.name, inputs, 6)
        x, feature, threshold, children, root, values = inputs
        if x.ndim != 2 or x.dtype not in ("float32", "float64") or threshold.dtype != x.dtype:
            raise TypeError(f"{self.name}: expected a matrix of floats and thresholds of its dtype, got {describe(x)}")
        if any(v.dtype != "int32" for v in (feature, children, root)) or values.type.kind != "f":
            raise TypeError(f"{self.name}: expected nodes of int32 and values of floats")
        if self.fold not in FOLDS:
            raise ValueError(f"{self.name}: expected a fold of {', '.join(FOLDS)}, got {self.fold!r}")
        return (TensorType("float64", (x.type.shape[0], self.outputs)),)

    def dims(self, node: Apply, inputs: Sequence[tuple[Dim, ...]]) -> tuple[tuple[Dim, ...], ...]:
        return ((inputs[0][0], self.outputs),)

    def evaluate(self, *arrays: np.ndarray) -> tuple[np.ndarray, ...]:
        x, feature, threshold, children, root, values = arrays
        combine, start = FOLDS[self.fold]
        rows, table = np.arange(len(x)), values.reshape(-1, self.outputs).astype(np.float64)
        total = np.full((len(x), self.outputs), start)
        for first in root:
            place = np.full(len(x), first)
            going = rows[place >= 0]
            while going.size:
                at = place[going]
                number, limit = x[going, feature[at]], threshold[at]
                side = np.where(number <= limit, 0, 1)
                if self.branches == 3:
                    side = np.where(np.isnan(number), 2, side)
                place[going] = children[at * self.branches + side]
                going = going[place[going] >= 0]
            total = combine(total, table[-1 - place])
        return (total,)

    def vjp(self, node: Apply, cotangents: Sequence[Variable | None]) -> Sequence[Variable | None]:
        """A step function of x: its derivative is zero wherever there is one."""
        if not isinstance(node.inputs[5], Constant):
            raise NoGradient("the values of leaves have no derivative here; read the model with constant leaves")
        return [None] * len(node.inputs)

    def batching(self, node: Apply, inputs: list[Variable], flags: Flags, examples: Examples) -> Any:
        """Let the rows of all examples go down the trees together."""
        require_shared(flags[1:], "the trees")
        x: Any = inputs[0]
        count, rows, columns = T.lengths_of(x)
        flat = self(T.reshape(x, (count * rows, columns)), *inputs[1:])
        return T.reshape(flat, (count, rows, T.lengths_of(flat)[1]))
