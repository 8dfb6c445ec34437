"""Images with channels in blocks as wide as a vector, and convolutions on them: the layout NCHWc.

    to_blocks{size}(x)          images, channels, rows, columns  -->  images, blocks, rows, columns, channels of a block
    from_blocks{channels}(x)    the way back; channels behind the last one are left out, others perhaps shuffled
    blocked_convolution{...}(x, w, b)        convolution(pad(x), w) + b in blocks, of x in blocks or as it is

A vector register holds the channels of one position, so rows of any length fill it, and zeros around x need no copy.
The ops come from the optimizer of optdb/rules/blocks/layout.py.  Constant weights lie in the order in which the C reads
them.
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
from ..core.tensor import Lowered, TensorOp, TensorVariable, as_tensor, constant
from ..elementwise import costs
from ..networks.convolution import Convolution
from ..networks.weights import (
    kernels_of_tiles,
    pack,
    pack_groups,
    pack_listed,
    pack_tiles,
    pack_within,
    shuffled,
    spread,
    unpack,
    unpack_groups,
    unpack_listed,
    unpack_tiles,
    unpack_within,
)
from ..shapes.lengths import lengths_of
from ..shapes.shape import DimShuffle, reshape
from ..shapes.windows import Lengths, Numbers, Windowed

IN_BLOCKS = (0, 1, 3, 4, 2)
"""Order of axes that puts split channels into blocks; `OF_BLOCKS` is its inverse."""
OF_BLOCKS = (0, 1, 4, 2, 3)
SWAP_GROUPS = (0, 2, 1, 3, 4)
"""Order of axes that transposes groups and channels within a group: the shuffle of ShuffleNet."""
MOST_LISTED = 2048
"""The most channels of a convolution by groups: grouped.c has a table of them on the stack."""
SPREAD = 16
"""Numbers of a block that one instruction spreads over its lanes: within.c."""
POSITIONS = (2, 3)
"""The axes of rows and columns, in both layouts."""


def _require_rank(op: TensorOp, inputs: tuple[Variable, ...], rank: int) -> TensorType:
    require_count(op.name, inputs, 1)
    if inputs[0].ndim != rank:
        raise TypeError(f"{op.name} takes a tensor of rank {rank}, got {describe(inputs[0])}")
    found: TensorType = inputs[0].type
    return found


@record(repr=False)
class ToBlocks(ByExpansion, Lowered):
    """`to_blocks(x)`: channels in blocks of `size`, the last one padded with zeros."""

    size: int
    name = "to_blocks"
    picture: ClassVar[Kind] = Kind.SHAPE
    operations: ClassVar[Callable[..., Any]] = costs.moving

    def infer(self, inputs: tuple[Variable, ...]) -> tuple[TensorType, ...]:
        kind = _require_rank(self, inputs, 4)
        n, channels, *positions = kind.shape
        blocks = None if channels is None else -(-channels // self.size)
        return (TensorType(kind.dtype, (n, blocks, *positions, self.size)),)

    def evaluate(self, *values: np.ndarray) -> tuple[np.ndarray, ...]:
        return (in_blocks(values[0], self.size),)

    def dims(self, node: Apply, inputs: Sequence[tuple[Dim, ...]]) -> tuple[tuple[Dim, ...], ...]:
        n, channels, *positions = inputs[0]
        return ((n, dims.floordiv(dims.add(channels, self.size - 1), self.size), *positions, self.size),)

    def expand(self, inputs: Sequence[Variable]) -> Variable:
        """Return the same by padding, `reshape` and `dimshuffle`."""
        (x,) = inputs
        n, channels, *positions = lengths_of(x)
        known = x.type.shape[1]
        if known is None or known % self.size:
            whole = T.mul(T.floor_div(T.add(channels, self.size - 1), self.size), self.size)
            x = T.pad(x, ((0, 0), (0, T.sub(whole, channels)), (0, 0), (0, 0)))
        blocks = T.floor_div(lengths_of(x)[1], self.size) if known is None else -(-known // self.size)
        return DimShuffle(IN_BLOCKS)(reshape(x, (n, blocks, self.size, *positions)))


@record(repr=False)
class FromBlocks(ByExpansion, Lowered):
    """`from_blocks(x)`: the first `channels` channels in the layout NCHW.

    `shuffle`: these stand in so many groups, of which the result takes one channel each in turn (a channel shuffle).
    """

    channels: int
    shuffle: int = 1
    name = "from_blocks"
    picture: ClassVar[Kind] = Kind.SHAPE
    operations: ClassVar[Callable[..., Any]] = costs.moving

    def infer(self, inputs: tuple[Variable, ...]) -> tuple[TensorType, ...]:
        kind = _require_rank(self, inputs, 5)
        if self.channels % self.shuffle:
            raise ValueError(f"{self.name}: {self.channels} channels do not form {self.shuffle} groups")
        n, blocks, *positions, size = kind.shape
        if blocks is not None and size is not None:
            self._require_fit(blocks, size)
        return (TensorType(kind.dtype, (n, self.channels, *positions)),)

    def _require_fit(self, blocks: int, size: int) -> None:
        if blocks != -(-self.channels // max(size, 1)):
            raise ValueError(f"{self.name}: {self.channels} channels do not fill {blocks} blocks of {size}")

    def evaluate(self, *values: np.ndarray) -> tuple[np.ndarray, ...]:
        self._require_fit(values[0].shape[1], values[0].shape[4])
        return (of_blocks(values[0], self.channels)[:, shuffled(self.channels, self.shuffle)],)

    def dims(self, node: Apply, inputs: Sequence[tuple[Dim, ...]]) -> tuple[tuple[Dim, ...], ...]:
        n, _, *positions, _ = inputs[0]
        return ((n, self.channels, *positions),)

    def expand(self, inputs: Sequence[Variable]) -> Variable:
        """Return the same by `dimshuffle`, `reshape` and a slice."""
        (x,) = inputs
        n, blocks, *positions, size = lengths_of(x)
        whole = reshape(DimShuffle(OF_BLOCKS)(x), (n, T.mul(blocks, size), *positions))
        *_, lanes = x.type.shape
        found = whole if lanes and self.channels % lanes == 0 else whole[:, : self.channels]
        if self.shuffle == 1:
            return found
        groups = reshape(found, (n, self.shuffle, self.channels // self.shuffle, *positions))
        return reshape(DimShuffle(SWAP_GROUPS)(groups), (n, self.channels, *positions))


def in_blocks(x: np.ndarray, size: int) -> np.ndarray:
    """Return the channels of NumPy's x in blocks."""
    n, channels, *positions = x.shape
    blocks = -(-channels // size)
    filled = np.zeros((n, blocks * size, *positions), x.dtype)
    filled[:, :channels] = x
    return np.ascontiguousarray(filled.reshape(n, blocks, size, *positions).transpose(IN_BLOCKS))


def of_blocks(x: np.ndarray, channels: int) -> np.ndarray:
    """Return the channels of NumPy's blocks x in the layout NCHW."""
    n, blocks, *positions, size = x.shape
    return np.ascontiguousarray(x.transpose(OF_BLOCKS).reshape(n, blocks * size, *positions)[:, :channels])


def fits_within(groups: int, outputs: int, each: int, size: int) -> bool:
    """Whether a block of `size` channels holds several groups of `each` channels and as many outputs."""
    return groups > 1 and outputs == groups * each and 1 < each < size == SPREAD and size % each == 0


Pads = tuple[tuple[int, int], ...]


@record(repr=False)
class BlockedConvolution(Windowed, ByExpansion, Lowered):
    """`blocked_convolution(x, w, b)`: the convolution of zero-padded x, plus a bias per output channel.

    x: images, channels, rows, columns, or in blocks.  w: the kernels of a convolution, or, where `weights` is their
    shape, a vector in the order of `pack`.  b: a number an output, with zeros up to a whole block.  The result is in
    blocks of `size`.  `own`: each channel has one kernel, and x is in blocks.  `panel`: blocks of outputs whose weights
    lie side by side.  `tile`: C computes so many rows and columns at once by Winograd's algorithm, and `weights` are
    those of winograd.py; 0: it computes each number for itself.  `groups`: as for a convolution, of channels that
    are shuffled before where `shuffle` is not 1 (see FromBlocks).
    """

    stride: Numbers
    dilation: Numbers
    padding: Pads
    size: int
    panel: int
    own: bool = False
    weights: Numbers = ()
    tile: int = 0
    groups: int = 1
    shuffle: int = 1
    name = "blocked_convolution"
    picture: ClassVar[Kind] = Kind.PRODUCT
    operations: ClassVar[Callable[..., Any]] = costs.windows

    def kernels(self, w: Variable) -> tuple[int | None, ...]:
        """Return the shape of the kernels: outputs, channels of each, rows, columns."""
        return self.weights or w.type.shape

    def infer(self, inputs: tuple[Variable, ...]) -> tuple[TensorType, ...]:
        require_count(self.name, inputs, 3)
        x, w, b = inputs
        if x.ndim not in (4, 5) or w.ndim != (1 if self.weights else 4) or b.ndim != 1:
            raise TypeError(f"{self.name} takes images, kernels and a vector, got {', '.join(map(describe, inputs))}")
        if not x.dtype == w.dtype == b.dtype or x.dtype not in ("float32", "float64"):
            raise TypeError(f"{self.name} takes float32 or float64, got {', '.join(map(describe, inputs))}")
        if x.ndim == 5 and x.type.shape[4] != self.size:
            raise TypeError(f"{self.name} takes blocks of {self.size} channels, got {describe(x)}")
        outputs, _, *kernel = self.kernels(w)
        blocks = None if outputs is None else -(-outputs // self.size)
        counts = self.positions(self._around(x.type.shape), kernel)
        return (TensorType(x.dtype, (x.type.shape[0], blocks, *counts, self.size)),)

    def _around(self, shape: Sequence[int | None]) -> Lengths:
        """Return the shape of x with its padding, without the axis of blocks."""
        lengths = [None if n is None else n + sum(p) for n, p in zip(shape[2:4], self.padding, strict=True)]
        return (shape[0], shape[1], *lengths)

    def dims(self, node: Apply, inputs: Sequence[tuple[Dim, ...]]) -> tuple[tuple[Dim, ...], ...]:
        x = inputs[0]
        kernel = self.weights or inputs[1]
        lengths = [dims.add(n, sum(p)) for n, p in zip(x[2:4], self.padding, strict=True)]
        blocks = dims.floordiv(dims.add(kernel[0], self.size - 1), self.size)
        return ((x[0], blocks, *self.position_dims(lengths, kernel[2:]), self.size),)

    def evaluate(self, *values: np.ndarray) -> tuple[np.ndarray, ...]:
        x, w, b = values
        if self.weights:
            w = self._unpacked(w, x.ndim == 5)
            w = kernels_of_tiles(w, self.tile) if self.tile else w
        channels = w.shape[0] if self.own else w.shape[1] * self.groups
        x = of_blocks(x, channels) if x.ndim == 5 else x
        x = x[:, shuffled(channels, self.shuffle)]
        plain = Convolution(self.stride, self.dilation, channels if self.own else self.groups)
        (y,) = plain.evaluate(np.pad(x, ((0, 0), (0, 0), *self.padding)), w)
        return (in_blocks(y + b[: w.shape[0], None, None], self.size),)

    def expand(self, inputs: Sequence[Variable]) -> Variable:
        """Return the same by a convolution in the layout NCHW."""
        x, w, b = inputs
        if self.weights:
            w = self._kernels_of(w, x.ndim == 5)
        outputs, each = (n or 0 for n in w.type.shape[:2])
        channels = outputs if self.own else each * self.groups
        x = FromBlocks(channels, self.shuffle)(x) if x.ndim == 5 else x
        around = T.pad(x, ((0, 0), (0, 0), *self.padding))
        y = Convolution(self.stride, self.dilation, channels if self.own else self.groups)(around, w)
        return ToBlocks(self.size)(T.add(y, DimShuffle(("x", 0, "x", "x"))(as_tensor(b)[:outputs])))

    def is_listed(self, weights: Sequence[int], in_blocks: bool) -> bool:
        """Whether grouped.c computes the groups: outputs or, for x `in_blocks`, channels are not whole blocks."""
        outputs, channels = weights[0] // self.groups, weights[1]
        parted = outputs % self.size != 0 or (in_blocks and channels % self.size != 0)
        return self.groups > 1 and (parted or self.shuffle > 1) and not self.is_within(weights, in_blocks)

    def is_within(self, weights: Sequence[int], in_blocks: bool) -> bool:
        """Whether within.c computes the groups: a block of channels holds several."""
        plain = in_blocks and not self.own and self.shuffle == 1
        return plain and fits_within(self.groups, weights[0], weights[1], self.size)

    def packed(self, w: np.ndarray, in_blocks: bool) -> np.ndarray:
        """Return kernels as a vector in the order in which the C reads them; `in_blocks`: x is."""
        if self.tile:
            return pack_tiles(w, self.size, self.panel, self.tile)
        if self.is_within(w.shape, in_blocks):
            return pack_within(w, self.size)
        if self.is_listed(w.shape, in_blocks):
            return pack_listed(w, self.groups, self.size, self.panel)
        if self.groups > 1:
            return pack_groups(w, self.groups, self.size, self.panel, in_blocks)
        return pack(w, self.size, self.panel, in_blocks, self.own)

    def _unpacked(self, w: np.ndarray, in_blocks: bool) -> np.ndarray:
        """Return the kernels, or their transforms for tiles, of a packed vector."""
        if self.tile:
            return unpack_tiles(w, self.weights, self.size, self.panel, self.tile)
        if self.is_within(self.weights, in_blocks):
            return unpack_within(w, self.weights, self.size)
        if self.is_listed(self.weights, in_blocks):
            return unpack_listed(w, self.weights, self.groups, self.size, self.panel)
        if self.groups > 1:
            return unpack_groups(w, self.weights, self.groups, self.size, self.panel, in_blocks)
        return unpack(w, self.weights, self.size, self.panel, in_blocks, self.own)

    def _kernels_of(self, w: Variable, in_blocks: bool) -> TensorVariable:
        """Return the kernels of a packed variable, as a gather of its elements."""
        places = self._unpacked(np.arange(w.type.shape[0] or 0, dtype="int64"), in_blocks)
        found = T.take(w, constant(places))
        if not self.tile:
            return found
        back = constant(spread(self.tile).astype(w.dtype))
        return T.einsum("ai,bj,ijoc->ocab", back, back, found)
