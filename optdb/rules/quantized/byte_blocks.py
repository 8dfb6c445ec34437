"""Layout of byte convolutions in blocks of channels, and of byte products as rows of one block."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from .... import ops as T
from ....graph import Constant, Variable
from ....ops.core.tensor import constant, own_constant
from ....ops.lowered.blocked import FromBlocks, ToBlocks
from ....ops.lowered.byte_sums import BYTES, WORD, ByteConvolution
from ....ops.lowered.quantized_blocks import QuantizeInBlocks
from ....ops.networks.quantized import Quantize
from ....ops.shapes.shape import DimShuffle, reshape
from ....record import lazy
from ....targets.costs import ITEMS
from ....targets.current import current
from ...patterns import Users
from ...rule import Rule, node_rule
from ..blocks.channels import from_blocks
from ..facts import Node, producer

units: Any = lazy.module("....targets.units", __package__)


def bytes_in_blocks(node: Node) -> Variable | None:
    """Move a byte convolution with constant weights to blocks of channels; pack its weights in reading order."""
    op, (x, w, *numbers) = node.op, node.inputs[:6]
    more: Any = node.inputs[6] if len(node.inputs) > 6 else None
    if op.size or not all(isinstance(i, Constant) for i in (w, *numbers)):
        return None
    size, panel = current().vector // ITEMS["float32"], current().panel
    if not panel:
        return None
    laid = replace(op, size=size, panel=panel, weights=w.data.shape)
    outputs, channels = w.data.shape[:2]
    if w.data.shape[2:] == (1, 1) and x.type.shape[2:] == (1, 1) and channels % WORD == 0 and more is None:
        return _as_rows(laid, x, w, numbers)
    made = from_blocks(x)
    if op.own or made is not None or channels >= size:
        block = size
    else:
        block = -(-channels // WORD) * WORD
    inner = _in_whole_blocks(x, block) if made is None or made.inputs[0].type.shape[4] != block else made.inputs[0]
    if more is not None:
        around = from_blocks(more)
        same = around is not None and around.inputs[0].type.shape[4] == size
        more = around.inputs[0] if around is not None and same else _in_whole_blocks(more, size)
    laid = _for_tiles(laid, block)
    y = laid(inner, *_laid(laid, w, numbers, block), *(() if more is None else (more,)))
    return FromBlocks(outputs)(y)


def _in_whole_blocks(x: Variable, block: int) -> Variable:
    """Return x in blocks.  Zeros pad the last block, so that C always moves whole blocks."""
    channels, made = x.type.shape[1], (producer(x, Quantize) if block == WORD else None)
    if made is not None and channels is not None and _is_simple(made):
        return QuantizeInBlocks(made.op.dtype)(*made.inputs)
    if channels is not None and channels % block:
        x = T.pad(x, ((0, 0), (0, -channels % block), (0, 0), (0, 0)))
    return ToBlocks(block)(x)


def is_read_in_words(quantize: Node, users: Users) -> bool:
    """Return whether all readers of a quantize are convolutions of bytes that will read four channels as a word."""
    readers = [reader for reader, position in users(quantize.out) if position == 0 and reader is not None]
    fits = _is_simple(quantize) and len(readers) == len(users(quantize.out)) > 0
    return fits and all(isinstance(r.op, ByteConvolution) and _reads_words(r) for r in readers)


def _reads_words(node: Node) -> bool:
    x, w = node.inputs[:2]
    channels = x.type.shape[1]
    return not node.op.own and isinstance(w, Constant) and channels is not None and channels <= WORD


def _is_simple(quantize: Node) -> bool:
    """Return whether a quantize of float32 has one scale and one zero point, both scalars, for bytes."""
    x, scale, zero = quantize.inputs
    return x.dtype == "float32" and scale.ndim == zero.ndim == 0 and quantize.op.dtype in BYTES


def _for_tiles(op: ByteConvolution, block: int) -> ByteConvolution:
    """Return the op with weights in the order of tiles, if the target has them and sums are long enough for them."""
    target = current()
    channels, *kernel = op.weights[1:]
    is_long = channels * math.prod(kernel) >= target.limits.convolutions.tiled_depth
    if op.own or not is_long or not units.TILES.belongs_to(target):
        return op
    whole = -(-channels // block) * block
    return replace(op, panel=units.TILE_BLOCKS, chunk=min(units.TILE_BYTES, whole))


def _laid(op: ByteConvolution, w: Constant, numbers: Sequence[Any], block: int) -> list[Variable]:
    whole = -(-len(w.data) // op.size) * op.size
    filled = [np.zeros(whole, v.dtype) for v in numbers]
    for to, v in zip(filled, numbers, strict=True):
        to[: v.data.size] = v.data
    return [own_constant(op.packed(w.data, block)), *map(constant, filled)]


def _as_rows(op: ByteConvolution, x: Variable, w: Constant, numbers: Sequence[Any]) -> Variable:
    """Return the convolution of 1x1 images as rows of a matrix: all channels form one block, so nothing is moved."""
    outputs, channels = w.data.shape[:2]
    rows = DimShuffle((0, "x", "x", "x", 1))(DimShuffle((0, 1))(x))
    op = _for_tiles(op, channels)
    y = op(rows, *_laid(op, w, numbers, channels))
    if y.type.shape[1] == 1:
        return DimShuffle((0, 4, "x", "x"))(y if op.size == outputs else y[..., :outputs])  # type: ignore[index]
    whole = -(-outputs // op.size) * op.size
    matrix = reshape(DimShuffle((0, 1, 4))(y), (-1, whole))
    return DimShuffle((0, 1, "x", "x"))(matrix if whole == outputs else matrix[:, :outputs])


IN_BLOCKS: list[Rule] = [
    node_rule("local_bytes_in_blocks", ByteConvolution, bytes_in_blocks, having=(),
              formula="byte_convolution(x, w, ...) -> from_blocks(byte_convolution(to_blocks(x), packed w, ...))"),
]  # fmt: skip
