"""Pooling of channels in blocks: the maximum or sum of every window of each channel, without a padded copy.

    max_pool{kernel=(k, l, 1)}(pad(x, -inf))   -->   blocked_pool{padding}(x)

Windows may reach over the border of x, where the C reads nothing.  The op comes from optdb/rules/blocks/layout.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np

from ...graph import Apply, Dim, Kind, TensorType, Variable, dims
from ...record import record
from ..core.backward import ByExpansion
from ..core.checks import describe, require_count
from ..core.namespace import T
from ..core.tensor import Lowered
from ..elementwise import costs
from ..elementwise.records import from_bfloat16, to_bfloat16
from ..elementwise.special import from_bfloat16 as widened
from ..elementwise.special import to_bfloat16 as rounded
from ..networks.pooling import MaxPool, SumPool
from ..shapes.windows import Lengths, Numbers, Windowed
from .blocked import Pads


@record(repr=False)
class BlockedPool(Windowed, ByExpansion, Lowered):
    """`blocked_pool(x)`: the maximum of each window of x within `padding`; NaN if the window has one.

    x: images, blocks, rows, columns, channels of a block, of float32 or float64.  `sums`: the sum instead.  Padding
    counts as -infinity, or as zeros in a sum.  Numbers are taken row by row.  `halves`: x and the result are the bits
    of bfloat16 numbers in uint16.
    """

    kernel: Numbers
    stride: Numbers
    dilation: Numbers
    padding: Pads
    sums: bool = False
    halves: bool = False
    name = "blocked_pool"
    picture: ClassVar[Kind] = Kind.REDUCTION
    operations: ClassVar[Callable[..., Any]] = costs.moving

    def infer(self, inputs: tuple[Variable, ...]) -> tuple[TensorType, ...]:
        require_count(self.name, inputs, 1)
        (x,) = inputs
        if self.halves and self.sums:
            raise ValueError(f"{self.name}: sums of bfloat16 numbers are not numbers of 16 bits")
        if x.ndim != 5 or x.dtype not in (("uint16",) if self.halves else ("float32", "float64")):
            wanted = "uint16" if self.halves else "float32 or float64"
            raise TypeError(f"{self.name} takes {wanted} of rank 5, got {describe(x)}")
        n, blocks, *_, size = x.type.shape
        return (x.type.with_shape((n, blocks, *self.positions(self._around(x.type.shape), self.kernel), size)),)

    def _around(self, shape: Sequence[int | None]) -> Lengths:
        """Return the rows and columns of x with the padding."""
        return tuple(None if n is None else n + sum(p) for n, p in zip(shape[2:4], self.padding, strict=True))

    def dims(self, node: Apply, inputs: Sequence[tuple[Dim, ...]]) -> tuple[tuple[Dim, ...], ...]:
        n, blocks, *along, size = inputs[0]
        lengths = [dims.add(length, sum(p)) for length, p in zip(along, self.padding, strict=True)]
        return ((n, blocks, *self.position_dims(lengths, self.kernel), size),)

    @property
    def _plain(self) -> MaxPool | SumPool:
        """Return the same pool without padding, over a last axis with windows of length 1."""
        kind = SumPool if self.sums else MaxPool
        return kind((*self.kernel, 1), (*self.stride, 1), (*self.dilation, 1))

    def evaluate(self, *values: np.ndarray) -> tuple[np.ndarray, ...]:
        pads = ((0, 0), (0, 0), *self.padding, (0, 0))
        x = widened(values[0]) if self.halves else values[0]
        (y,) = self._plain.evaluate(np.pad(x, pads, constant_values=0 if self.sums else -np.inf))
        return (rounded(y) if self.halves else y,)

    def expand(self, inputs: Sequence[Variable]) -> Variable:
        """Return the same by a padded copy."""
        (x,) = inputs
        pads = ((0, 0), (0, 0), *self.padding, (0, 0))
        x = from_bfloat16(x) if self.halves else x
        found: Variable = self._plain(T.pad(x, pads, constant_values=0.0 if self.sums else -np.inf))
        return to_bfloat16(found) if self.halves else found
