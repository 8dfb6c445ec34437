"""Sums of neighbouring channels in blocks, as in local response normalization.

    channel_sums{channels, before, behind}(x)[c]  =  x[c - before] + ... + x[c] + ... + x[c + behind]

Channels before the first and behind the last one count as zeros.  The op comes from optdb/rules/blocks/neighbours.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np

from ...graph import Apply, Dim, Kind, TensorType, Variable
from ...record import record
from ..core.backward import ByExpansion
from ..core.checks import describe, require_count
from ..core.namespace import T
from ..core.tensor import Lowered
from ..elementwise import costs
from .blocked import FromBlocks, ToBlocks, in_blocks, of_blocks


@record(repr=False)
class ChannelSums(ByExpansion, Lowered):
    """The sum of each channel of x with the `before` channels before it and the `behind` ones after it.

    x: images, blocks, rows, columns, channels of a block, of float32 or float64.  `channels`: how many there are;
    lanes behind the last one hold any numbers, in x and in the result.
    """

    channels: int
    before: int
    behind: int
    name = "channel_sums"
    picture: ClassVar[Kind] = Kind.REDUCTION
    operations: ClassVar[Callable[..., Any]] = costs.moving

    def __post_init__(self) -> None:
        if min(self.before, self.behind) < 0 or self.channels < 1:
            raise ValueError(f"{self.name}: counts of channels must not be negative, got {self.parameters()}")

    def infer(self, inputs: tuple[Variable, ...]) -> tuple[TensorType, ...]:
        require_count(self.name, inputs, 1)
        (x,) = inputs
        if x.ndim != 5 or x.dtype not in ("float32", "float64"):
            raise TypeError(f"{self.name} takes float32 or float64 of rank 5, got {describe(x)}")
        FromBlocks(self.channels).infer(inputs)  # whether the channels fill the blocks
        return (x.type,)

    def dims(self, node: Apply, inputs: Sequence[tuple[Dim, ...]]) -> tuple[tuple[Dim, ...], ...]:
        return (inputs[0],)

    def evaluate(self, *values: np.ndarray) -> tuple[np.ndarray, ...]:
        (x,) = values
        each = of_blocks(x, self.channels)
        around = np.pad(each, ((0, 0), (self.before, self.behind), (0, 0), (0, 0)))
        total = around[:, : self.channels].copy()
        with np.errstate(all="ignore"):
            for k in range(1, self.before + self.behind + 1):
                total += around[:, k : k + self.channels]
        return (in_blocks(total, x.shape[4]),)

    def expand(self, inputs: Sequence[Variable]) -> Variable:
        """Return the same by slices of padded channels in the layout NCHW."""
        (x,) = inputs
        around = T.pad(FromBlocks(self.channels)(x), ((0, 0), (self.before, self.behind), (0, 0), (0, 0)))
        parts = [around[:, k : k + self.channels] for k in range(self.before + self.behind + 1)]
        size = x.type.shape[4]
        if size is None:
            raise TypeError(f"{self.name}: the channels of a block are known to be expanded, got {describe(x)}")
        return ToBlocks(size)(T.add(*parts) if len(parts) > 1 else parts[0])
