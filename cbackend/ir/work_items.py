"""A kernel for devices: its body computes one element; each work item has indices of its own.

In a reduction a work group computes one element: its items fold every so many values each, then one another's in a
tree.
"""

from __future__ import annotations

from ...record import record
from .kernel import Kernel
from .loops import Const, Expr, Local, ScalarOp


@record
class Fold:
    """The reduction of a local of the body to one element of an output: from `identity`, by the operation `combine`.

    A comparison as `combine` leaves the value for which it holds, and never a NaN.
    """

    output: int
    value: str
    identity: Const
    combine: str

    def with_value(self, other: Expr) -> Expr:
        """The local combined with another value."""
        dtype = self.identity.dtype
        total = Local(dtype, self.value)
        if self.combine == "gt":
            return ScalarOp("switch", dtype, (ScalarOp("gt", "bool", (other, total)), other, total))
        return ScalarOp(self.combine, dtype, (total, other))


@record
class WorkItems:
    """A kernel, the loops along which its outputs move, and those that a work group reduces."""

    kernel: Kernel
    kept: tuple[int, ...]
    reduced: tuple[int, ...] = ()
    folds: tuple[Fold, ...] = ()
