"""A kernel for devices: its body computes one element, for which each work item has indices of its own.

In a reduction a work group computes one element: its items fold every so many values each, then one another's in a
tree.
"""

from __future__ import annotations

from ...record import record
from .kernel import Kernel
from .loops import Const


@record
class Fold:
    """The reduction of a local of the body to one element of an output: from `identity`, by the operation `combine`."""

    output: int
    value: str
    identity: Const
    combine: str


@record
class WorkItems:
    """A kernel, the loops along which its outputs move, and those that a work group reduces."""

    kernel: Kernel
    kept: tuple[int, ...]
    reduced: tuple[int, ...] = ()
    folds: tuple[Fold, ...] = ()
