"""Convolutions of bfloat16 numbers in blocks of channels: `bfloat_convolution{...}(x, w, b)`.

x are bits of such numbers in uint16, w those of the kernels in the order of `packed`, b float32, and so are sums and
the result.  Two channels form a word: the product of the second one is added first, then that of the first one, with a
rounding each, as in bfloat_dot.py.  The rule of optdb/rules/quantized/bfloats.py makes the op of blocked convolutions
(blocked.py); its C is that of kernels/convolutions/words.c.
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
from ..core.tensor import Lowered, constant
from ..elementwise import costs
from ..elementwise.records import from_bfloat16
from ..elementwise.special import from_bfloat16 as widened
from ..networks.weights import pack_listed, pack_within, panels_of, unpack, unpack_listed, unpack_within
from ..shapes.windows import Numbers, Windowed
from .blocked import BlockedConvolution, Pads

IMAGE_WORDS, GROUP_WORDS = 2, 8
"""Words of the up to four channels of an image, and of a block that holds several groups."""


@record(repr=False)
class BfloatConvolution(Windowed, ByExpansion, Lowered):
    """`bfloat_convolution(x, w, b)`: the convolution of zero-padded x in blocks of `size`, plus a bias per output.

    `weights`: the shape of the kernels: outputs, channels of each (an even number), rows, columns.  `panel`: blocks of
    outputs whose weights lie side by side.  `groups`: as for a convolution.  `own`: each channel has one kernel, of
    float32 numbers.  `tile_words`: 0, or sums have the order of the tiles of AMX, see convolutions/tiles.c: of
    16 words of channels each, of GROUP_WORDS where a block holds several groups, or of rows of the kernel,
    IMAGE_WORDS a position, where x is images of few channels.
    """

    stride: Numbers
    dilation: Numbers
    padding: Pads
    size: int
    panel: int
    weights: Numbers
    groups: int = 1
    own: bool = False
    tile_words: int = 0
    name = "bfloat_convolution"
    picture: ClassVar[Kind] = Kind.PRODUCT
    operations: ClassVar[Callable[..., Any]] = costs.windows

    @property
    def tiled_format(self) -> str:
        """The numbers that tiles multiply; empty: none."""
        return "bfloat16" if self.tile_words else ""

    @property
    def plain(self) -> BlockedConvolution:
        """The same convolution of float32, whose kernels are not packed."""
        return BlockedConvolution(
            self.stride, self.dilation, self.padding, self.size, self.panel, self.own, groups=self.groups
        )  # fmt: skip

    @property
    def is_listed(self) -> bool:
        """Whether a table lists the channels of groups."""
        return self.plain.is_listed(self.weights, True)

    @property
    def is_within(self) -> bool:
        """Whether a block holds several groups."""
        return self.plain.is_within(self.weights, True)

    def kernels(self, w: Variable) -> tuple[int, ...]:
        """Return the shape of the kernels."""
        return self.weights

    def infer(self, inputs: tuple[Variable, ...]) -> tuple[TensorType, ...]:
        require_count(self.name, inputs, 3)
        x, w, b = inputs
        is_image = self.tile_words == IMAGE_WORDS
        in_blocks = x.ndim == 5 and x.type.shape[4] == self.size
        fits = (x.ndim == 4 if is_image else in_blocks) and w.ndim == b.ndim == 1
        kernels = "float32" if self.own else "uint16"
        is_odd = not (self.own or is_image) and self.weights[1] % 2
        if not fits or (x.dtype, w.dtype, b.dtype) != ("uint16", kernels, "float32") or is_odd:
            images = "images of uint16" + ("" if is_image else f" in blocks of {self.size}")
            wanted = f"{images}, a vector of {kernels}, one of float32, and even channels"
            raise TypeError(f"{self.name} takes {wanted}; got {', '.join(map(describe, inputs))}")
        lengths = [None if n is None else n + sum(p) for n, p in zip(x.type.shape[2:4], self.padding, strict=True)]
        counts = self.positions((*x.type.shape[:2], *lengths), self.weights[2:])
        return (TensorType("float32", (x.type.shape[0], -(-self.weights[0] // self.size), *counts, self.size)),)

    def dims(self, node: Apply, inputs: Sequence[tuple[Dim, ...]]) -> tuple[tuple[Dim, ...], ...]:
        return self.plain.dims(node, (inputs[0], self.weights, inputs[2]))

    def evaluate(self, *values: np.ndarray) -> tuple[np.ndarray, ...]:
        x, w, b = values
        with np.errstate(all="ignore"):
            kernels = self.unpacked(w)
            return self.plain.evaluate(widened(x), kernels if self.own else widened(kernels), b)

    def expand(self, inputs: Sequence[Variable]) -> Variable:
        """Return the same by a convolution of float32."""
        x, w, b = inputs
        w = T.take(w, constant(self.unpacked(np.arange(w.type.shape[0] or 0))))
        found: Variable = self.plain(from_bfloat16(x), w if self.own else from_bfloat16(w), b)
        return found

    def packed(self, bits: np.ndarray) -> np.ndarray:
        """Return kernels in the order in which the C reads them, zeros behind the last output.

        Groups, panels of outputs, blocks of channels, rows, columns, pairs of channels, outputs, the two of a pair.
        With `tile_words`, the blocks of channels are so many words, with zeros behind the last channel; where a block
        holds several groups, with zeros between them.
        Kernels for each channel, and those of listed groups, have the order of blocked.py, the latter with pairs in
        the place of channels.  Groups within a block: blocks, pairs, rows, columns, outputs, the two of a pair.
        """
        if self.own:
            return self.plain.packed(bits, True)
        if self.is_within and not self.tile_words:
            return np.stack([pack_within(bits[:, k::2], self.size) for k in (0, 1)], axis=-1).reshape(-1)
        if self.is_listed:
            halves = [pack_listed(bits[:, k::2], self.groups, self.size, self.panel) for k in (0, 1)]
            return np.stack(halves, axis=-1).reshape(-1)
        found: np.ndarray = np.append(bits.reshape(-1), np.zeros(1, bits.dtype))[self._places()]
        return found

    def unpacked(self, w: np.ndarray) -> np.ndarray:
        """Return the kernels of `packed`."""
        outputs, channels, *kernel = self.weights
        if self.own:
            return unpack(w, self.weights, self.size, self.panel, True, True)
        half = (outputs, channels // 2, *kernel)
        if self.is_within and not self.tile_words:
            return np.stack([unpack_within(w[k::2], half, self.size) for k in (0, 1)], axis=2).reshape(self.weights)
        if self.is_listed:
            pair = [unpack_listed(w[k::2], half, self.groups, self.size, self.panel) for k in (0, 1)]
            return np.stack(pair, axis=2).reshape(self.weights)
        places = self._places()
        found = np.empty(int(np.prod(self.weights)) + 1, w.dtype)
        found[places] = w
        return found[:-1].reshape(self.weights)

    def _places(self) -> np.ndarray:
        """Return the place of each packed number among the kernels; that behind the last one holds a zero."""
        outputs, channels, *kernel = self.weights
        each, size, found = outputs // self.groups, self.size, []
        at_once = 2 * self.tile_words or size
        nothing = int(np.prod(self.weights))
        numbers = np.arange(nothing).reshape(outputs, channels, *kernel)
        blocks = -(-each // size)
        if self.tile_words == GROUP_WORDS:
            blocks, stored = 1, size
            filled = np.full((-(-outputs // size), size, size, *kernel), nothing)
            for o in range(outputs):
                first = o % size // channels * channels
                filled[o // size, o % size, first : first + channels] = numbers[o]
        else:
            stored = -(-channels // at_once) * at_once if self.tile_words else channels
            filled = np.full((self.groups, blocks * size, stored, *kernel), nothing)
            filled[:, :each, :channels] = numbers.reshape(self.groups, each, channels, *kernel)
        for group in filled:
            first = 0
            for width in panels_of(blocks, self.panel):
                rows = group[first * size : (first + width) * size]
                first += width
                for c in range(0, stored, at_once):
                    part = rows[:, c : c + at_once]
                    pairs = part.reshape(len(part), part.shape[1] // 2, 2, *kernel)
                    found.append(pairs.transpose(3, 4, 1, 0, 2).reshape(-1))
        return np.concatenate(found)
