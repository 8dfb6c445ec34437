"""Products and convolutions of 8-bit integers, summed exactly in 32 bits.

    byte_product(a, b)                                             a @ b in int32
    byte_convolution{...}(x, w, start, totals, scale, bias)        what becomes of the sums of windows of x times w:

        s = start + sums                                           int32
        f = s * scale + bias                                       float32
        q = minimum(maximum(rint(r + (more - more_zero) * more_scale) + zero, low), high)        int8, uint8
            with r = f, or rint(minimum(maximum(f, lower), upper)) * sum_scale if that is not 0
    q = minimum(maximum(round(s * scale * 2^(bias - 31)) + zero, low), high)   int8, uint8, if `fixed`

Sums of integers wrap around, as NumPy's do.  The ops come from the rules of optdb/rules/quantized/byte_sums.py, which
take quantization apart: with x = (q - z) s the product of x and weights is s times that of q, less z times the sums of
the weights, which are constants.  Jacob et al. (2018); see quantized.py.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np

from ...graph import Apply, Dim, Kind, TensorType, Variable, dims
from ...record import record
from ..core.backward import ByExpansion
from ..core.checks import describe, require_count
from ..core.namespace import T, classes
from ..core.tensor import Lowered, as_tensor, constant
from ..elementwise import costs
from ..elementwise.pointwise import broadcast_shapes
from ..elementwise.records import cast
from ..networks.convolution import Convolution
from ..networks.fixed_point import scale_by
from ..networks.weights import panels_of
from ..shapes.shape import DimShuffle
from ..shapes.windows import Numbers, Windowed
from .blocked import FromBlocks, Pads, ToBlocks, in_blocks, of_blocks

BYTES = ("int8", "uint8")
RESULTS = ("int32", "float32", *BYTES)
WORD = 4
"""Channels that are multiplied and added at once."""


@record(repr=False)
class ByteProduct(Lowered):
    """`byte_product(a, b)`: matrices of int8 or uint8, each its own, multiplied in int32; leading axes broadcast."""

    name = "byte_product"
    picture: ClassVar[Kind] = Kind.PRODUCT
    tiled_format = "int8"
    operations: ClassVar[Callable[..., Any]] = costs.product

    def infer(self, inputs: tuple[Variable, ...]) -> tuple[TensorType, ...]:
        require_count(self.name, inputs, 2)
        a, b = inputs
        if min(a.ndim, b.ndim) < 2 or not {a.dtype, b.dtype} <= set(BYTES):
            raise TypeError(f"{self.name} takes matrices of int8 or uint8, got {describe(a)} and {describe(b)}")
        n, m = a.type.shape[-1], b.type.shape[-2]
        if None not in (n, m) and n != m:
            raise ValueError(f"{self.name}: {describe(a)} and {describe(b)} differ where they are summed: {n} and {m}")
        batch = broadcast_shapes([a.type.shape[:-2], b.type.shape[:-2]])
        return (TensorType("int32", (*batch, a.type.shape[-2], b.type.shape[-1])),)

    def evaluate(self, *values: np.ndarray) -> tuple[np.ndarray, ...]:
        a, b = (v.astype("int32") for v in values)
        return (np.matmul(a, b),)

    def dims(self, node: Apply, inputs: Sequence[tuple[Dim, ...]]) -> tuple[tuple[Dim, ...], ...]:
        found: tuple[tuple[Dim, ...], ...] = classes.MatMul().dims(node, inputs)
        return found

    def expand(self, inputs: Sequence[Variable]) -> Variable:
        """Return the same by a matrix product of int32."""
        a, b = (cast(v, "int32") for v in inputs)
        return T.matmul(a, b)

    def vjp(self, node: Apply, cotangents: Sequence[Variable | None]) -> Sequence[Variable | None]:
        return [None, None]


@record(repr=False)
class ByteConvolution(Windowed, ByExpansion, Lowered):
    """`byte_convolution(x, w, start, totals, scale, bias[, more])`: see the module.

    x: images, channels, rows, columns, of int8 or uint8, or in blocks of a multiple of 4 channels; `around` lies beyond
    its borders.  w: int8 kernels, or, where `weights` is their shape, a vector in the order of `packed`.  start, totals
    (the sums of each output's weights): int32; scale, bias: float32, or int32 if `fixed`: multipliers and shifts, which
    `requantize` applies (see fixed_point.py).  Where weights are laid out they fill whole blocks.
    `more`: numbers of int8, uint8 or float32 like the result, of bytes less `more_zero`.  With a `sum_scale`, bytes are
    added to sums that become integers before, between `lower` and `upper`.  The result is of `out`; it is in blocks of
    `size` where that is not 0.  `own`: each channel has one kernel.  `panel`: blocks of outputs whose weights lie side
    by side.  `chunk`: channels whose weights at a position lie side by side, for tiles of AMX; 0: those of a block.
    """

    stride: Numbers
    dilation: Numbers
    padding: Pads
    around: int = 0
    own: bool = False
    out: str = "float32"
    zero: int = 0
    low: int = 0
    high: int = 255
    more_scale: float = 0.0
    sum_scale: float = 0.0
    more_zero: int = 0
    lower: int = 0
    upper: int = 0
    fixed: bool = False
    size: int = 0
    panel: int = 1
    chunk: int = 0
    weights: Numbers = ()
    name = "byte_convolution"
    picture: ClassVar[Kind] = Kind.PRODUCT
    operations: ClassVar[Callable[..., Any]] = costs.windows

    @property
    def tiled_format(self) -> str:
        """The numbers that tiles multiply; empty: none."""
        return "int8" if self.chunk else ""

    def kernels(self, w: Variable) -> tuple[int | None, ...]:
        """Return the shape of the kernels: outputs, channels of each, rows, columns."""
        return self.weights or w.type.shape

    def infer(self, inputs: tuple[Variable, ...]) -> tuple[TensorType, ...]:
        if len(inputs) not in (6, 7):
            raise TypeError(f"{self.name} takes 6 inputs, or 7 with more, got {len(inputs)}")
        x, w, *numbers = inputs
        dtypes = [v.dtype for v in numbers[:4]]
        ending = "int32" if self.fixed else "float32"
        if x.dtype not in BYTES or w.dtype != "int8" or dtypes != ["int32", "int32", ending, ending]:
            raise TypeError(f"{self.name} takes bytes, weights and sums, got {', '.join(map(describe, inputs))}")
        if (self.sum_scale or self.more_zero) and (len(numbers) < 5 or numbers[4].dtype not in BYTES):
            raise TypeError(f"{self.name} takes more of int8 or uint8 with a sum_scale or more_zero")
        if x.ndim not in (4, 5) or w.ndim != (1 if self.weights else 4) or (x.ndim == 5) != bool(self.size):
            raise TypeError(f"{self.name} takes images and kernels, got {describe(x)} and {describe(w)}")
        if x.ndim == 5 and (x.type.shape[4] is None or x.type.shape[4] % WORD):
            raise TypeError(f"{self.name} takes blocks of a multiple of {WORD} channels, got {describe(x)}")
        outputs, _, *kernel = self.kernels(w)
        along = [None if n is None else n + sum(p) for n, p in zip(x.type.shape[2:4], self.padding, strict=True)]
        counts = self.positions((x.type.shape[0], x.type.shape[1], *along), kernel)
        if not self.size:
            return (TensorType(self.out, (x.type.shape[0], outputs, *counts)),)
        blocks = None if outputs is None else -(-outputs // self.size)
        return (TensorType(self.out, (x.type.shape[0], blocks, *counts, self.size)),)

    def dims(self, node: Apply, inputs: Sequence[tuple[Dim, ...]]) -> tuple[tuple[Dim, ...], ...]:
        x = inputs[0]
        kernel = self.weights or inputs[1]
        along = [dims.add(n, sum(p)) for n, p in zip(x[2:4], self.padding, strict=True)]
        counts = self.position_dims(along, kernel[2:])
        if not self.size:
            return ((x[0], kernel[0], *counts),)
        return ((x[0], dims.floordiv(dims.add(kernel[0], self.size - 1), self.size), *counts, self.size),)

    def evaluate(self, *values: np.ndarray) -> tuple[np.ndarray, ...]:
        x, w, start, _, scale, bias, *more = values
        if self.weights:
            w = self.unpacked(w, x.shape[4])
        outputs = w.shape[0]
        channels = outputs if self.own else w.shape[1]
        if x.ndim == 5:
            x, more = of_blocks(x, channels), [of_blocks(v, outputs) for v in more]
        around = np.pad(x, ((0, 0), (0, 0), *self.padding), constant_values=np.array(self.around).astype(x.dtype))
        plain = Convolution(self.stride, self.dilation, channels if self.own else 1)
        (sums,) = plain.evaluate(around.astype("float64"), w.astype("float64"))  # exact below 2^53
        y = self.finished(sums.astype("int64"), start[:outputs], scale[:outputs], bias[:outputs], more)
        return (in_blocks(y, self.size) if self.size else y,)

    def finished(
        self, sums: np.ndarray, start: np.ndarray, scale: np.ndarray, bias: np.ndarray, more: Sequence[np.ndarray]
    ) -> np.ndarray:
        """Return the result computed from the sums."""
        along = (slice(None), None, None)
        whole: np.ndarray = (sums + start[along]).astype("int32")
        if self.out == "int32":
            return whole
        if self.fixed:
            scaled = scale_by(whole, scale[along].astype("int64"), bias[along].astype("int64"))
            return np.clip(scaled + self.zero, self.low, self.high).astype(self.out)  # type: ignore[no-any-return]
        f = whole.astype("float32") * scale[along] + bias[along]
        if self.out == "float32":
            return f  # type: ignore[no-any-return]
        if self.sum_scale:
            f = np.rint(np.clip(f, np.float32(self.lower), np.float32(self.upper))) * np.float32(self.sum_scale)
        for v in more:
            f = f + (v.astype("float32") - np.float32(self.more_zero)) * np.float32(self.more_scale)
        held = np.clip(f, np.float32(self.low - self.zero), np.float32(self.high - self.zero))
        return (np.rint(held).astype("int32") + self.zero).astype(self.out)  # type: ignore[no-any-return]

    def expand(self, inputs: Sequence[Variable]) -> Variable:
        """Return the same by an int32 convolution in the layout NCHW, and elementwise ops."""
        x, w, start, _, scale, bias, *more = inputs
        if self.weights:
            places = self.unpacked(np.arange(w.type.shape[0] or 0, dtype="int64"), x.type.shape[4] or WORD)
            w = T.take(w, constant(places))
        outputs, each = (n or 0 for n in w.type.shape[:2])
        channels = outputs if self.own else each
        if x.ndim == 5:
            x, more = FromBlocks(channels)(x), [FromBlocks(outputs)(v) for v in more]
        number = constant(np.array(self.around).astype(x.dtype))
        around = T.pad(x, ((0, 0), (0, 0), *self.padding), constant_values=number)
        plain = Convolution(self.stride, self.dilation, channels if self.own else 1)
        y = T.add(plain(cast(around, "int32"), cast(w, "int32")), _beside_channels(start, outputs))
        if self.fixed:
            numbers = (cast(_beside_channels(v, outputs), "int64") for v in (scale, bias))
            y = classes.Requantize(self.out)(y, *numbers, constant(self.zero, self.out))
            y = T.clip(y, constant(self.low, self.out), constant(self.high, self.out))
            return ToBlocks(self.size)(y) if self.size else y
        if self.out != "int32":
            y = T.add(T.mul(cast(y, "float32"), _beside_channels(scale, outputs)), _beside_channels(bias, outputs))
        if self.out in BYTES:
            if self.sum_scale:
                lower, upper = (constant(n, "float32") for n in (self.lower, self.upper))
                y = T.mul(T.rint(T.clip(y, lower, upper)), constant(self.sum_scale, "float32"))
            for v in more:
                v = cast(v, "float32")
                v = T.sub(v, constant(self.more_zero, "float32")) if self.more_zero else v
                y = T.add(y, T.mul(v, constant(self.more_scale, "float32")))
            low, high = (constant(n - self.zero, "float32") for n in (self.low, self.high))
            y = cast(T.add(cast(T.rint(T.clip(y, low, high)), "int32"), constant(self.zero, "int32")), self.out)
        return ToBlocks(self.size)(y) if self.size else y

    # --- weights in the order of kernels/quantized/bytes.c
    def packed(self, w: np.ndarray, block: int) -> np.ndarray:
        """Return kernels as a vector: panels, chunks or blocks, rows, columns, words, outputs, channels of a word.

        `own`: blocks, rows, columns, channels.  Zeros fill the last blocks and chunks.
        """
        outputs, channels, *kernel = w.shape
        whole = -(-outputs // self.size) * self.size
        if self.own:
            filled = np.zeros((whole, *kernel), w.dtype)
            filled[:outputs] = w[:, 0]
            return filled.reshape(-1, self.size, *kernel).transpose(0, 2, 3, 1).reshape(-1)
        piece = self.chunk or block
        depth = -(-channels // piece) * piece
        filled = np.zeros((whole, depth, *kernel), w.dtype)
        filled[:outputs, :channels] = w
        found, first = [], 0
        for width in panels_of(whole // self.size, self.panel):
            part = filled[first : first + width * self.size]
            first += width * self.size
            separate = part.reshape(len(part), depth // piece, piece // WORD, WORD, *kernel)
            found.append(separate.transpose(1, 4, 5, 2, 0, 3).reshape(-1))
        return np.concatenate(found)

    def unpacked(self, w: np.ndarray, block: int) -> np.ndarray:
        """Return the kernels of `packed`."""
        outputs, channels, *kernel = self.weights
        whole = -(-outputs // self.size) * self.size
        if self.own:
            return w.reshape(-1, *kernel, self.size).transpose(0, 3, 1, 2).reshape(whole, 1, *kernel)[:outputs]
        piece = self.chunk or block
        depth, first, at = -(-channels // piece) * piece, 0, 0
        filled = np.zeros((whole, depth, *kernel), w.dtype)
        for width in panels_of(whole // self.size, self.panel):
            rows = width * self.size
            part = w[at : at + rows * depth * math.prod(kernel)]
            separate = part.reshape(depth // piece, *kernel, piece // WORD, rows, WORD).transpose(4, 0, 3, 5, 1, 2)
            filled[first : first + rows] = separate.reshape(rows, depth, *kernel)
            first, at = first + rows, at + part.size
        return filled[:outputs, :channels]


def _beside_channels(v: Variable, outputs: int) -> Variable:
    """Return a number for each output as images, channels, rows, columns."""
    return DimShuffle(("x", 0, "x", "x"))(as_tensor(v)[:outputs])
