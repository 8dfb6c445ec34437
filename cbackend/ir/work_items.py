"""Kernels for devices: each work item has indices of its own, or a group of items works on the same outputs.

In a reduction, or a pass over rows, a group of items reduces some adjacent outputs.  Each item folds every so many
elements, and the items of an output fold one another's results in a tree.
"""

from __future__ import annotations

from ...record import record
from .kernel import Kernel
from .loops import Body, Const, Expr, Local, ScalarOp


@record
class Fold:
    """The reduction of the local `value` to `result`: from `identity`, by the operation `combine`.

    `name`: sum, prod, max, min, any, all or top.  A comparison as `combine` leaves the value for which it holds, and
    never a NaN.
    """

    name: str
    value: str
    result: str
    identity: Const
    combine: str

    @property
    def dtype(self) -> str:
        return self.identity.dtype

    def combined(self, total: Expr, other: Expr) -> Expr:
        """Return two values as one."""
        if self.combine == "gt":
            return ScalarOp("switch", self.dtype, (ScalarOp("gt", "bool", (other, total)), other, total))
        return ScalarOp(self.combine, self.dtype, (total, other))

    def with_value(self, other: Expr) -> Expr:
        """Return the local combined with another value."""
        return self.combined(Local(self.dtype, self.value), other)


@record
class Pass:
    """A traversal of the reduced loops: statements before it, those of an element, and its reductions."""

    once: Body
    body: Body
    folds: tuple[Fold, ...]


@record
class WorkItems:
    """A kernel and the loops along which its outputs move.

    Without `passes` an item runs the body of the kernel.  Otherwise a group runs the passes over the `reduced` loops,
    and one item of each output runs the `ending`.  `held`: (name, dtype) of arrays in registers, with one number for
    each element that an item visits.
    """

    kernel: Kernel
    kept: tuple[int, ...]
    reduced: tuple[int, ...] = ()
    passes: tuple[Pass, ...] = ()
    ending: Body = ()
    held: tuple[tuple[str, str], ...] = ()

    @property
    def words(self) -> int:
        """32-bit registers of an item for each element that it holds."""
        return sum(2 if dtype.endswith("64") else 1 for _, dtype in self.held)

    @property
    def folds(self) -> tuple[Fold, ...]:
        return tuple(f for p in self.passes for f in p.folds)


HELD_STEP = 4
"""The number of elements that an item holds in registers is a multiple of this."""


@record
class Groups:
    """The mapping of outputs and elements to the items of a group.

    Element j of an output belongs to lane j % `lanes`.  An item has every `along`-th lane of its output, each with an
    accumulator.  This order of additions depends on `lanes` alone.

    along = 4, across = 2       items 0 1 2 3 reduce output 0, items 4 5 6 7 output 1
    the same, adjacent          items 0 2 4 6 reduce output 0, items 1 3 5 7 output 1
    """

    lanes: int
    """Partial results of an output; a power of two, as are the next two."""
    along: int
    """Items that reduce one output; at most `lanes`."""
    across: int = 1
    """Outputs of a group, adjacent along the last loop of `kept`."""
    adjacent: bool = False
    """Whether the items of adjacent outputs are adjacent, for operands that are contiguous along the kept loop."""
    kept: tuple[int, ...] = ()
    """The kept loops; the last one is divided among groups of `across`."""
    loops: tuple[int, ...] = ()
    """The reduced loops of more than one step."""
    unroll: int = 8
    """Elements that an item reads at a time; a multiple of `sums`."""
    held: int = 0
    """Elements of an item, rounded up to a multiple of HELD_STEP, if it holds them in registers between passes.

    0: each pass reads them.
    """
    is_split: bool = False
    """Whether groups reduce parts of the elements to partial results."""
    is_narrow: bool = False
    """Whether positions of elements fit into 31 bits."""

    @property
    def items(self) -> int:
        return self.along * self.across

    @property
    def divided(self) -> tuple[int, ...]:
        """The loops by whose extents positions of 31 bits are divided: by a product and a shift, two arguments."""
        return self.loops[1:] if self.is_narrow else ()

    @property
    def sums(self) -> int:
        """Accumulators of an item."""
        return self.lanes // self.along

    @property
    def spacing(self) -> int:
        """The distance of adjacent items of an output."""
        return self.across if self.adjacent else 1
