"""Products, convolutions and tables of bytes: one call of the runtime each."""

from __future__ import annotations

import numpy as np

from ....graph import Apply
from ....ops.lowered.byte_sums import RESULTS, WORD, ByteConvolution, ByteProduct
from ....ops.lowered.byte_tables import ENTRIES, ByteSoftmax, LookUp
from ....ops.lowered.quantized_blocks import QuantizeInBlocks
from ...program.outcome import Outcome
from ...program.planner import Planner
from ...program.planners.batches import SUMMED, batch_of, batch_strides
from ...program.planners.block_layout import with_dense_lanes
from ...program.planners.windows import window_counts
from .spec import BYTE_PRODUCT, BYTE_SOFTMAX, BYTE_SUMS, LOOK_UP, QUANTIZE_WORDS

TABLE = "int8"
"""The dtype under which the runtime has them."""
KINDS = {dtype: max(k, 0) for dtype, k in zip(RESULTS, (0, 1, 2, 2), strict=True)}
"""AG_SUMS, AG_FLOATS or AG_BYTES of the runtime."""
FIXED = 3
"""AG_FIXED of the runtime."""

MORE = {"uint8": 0, "int8": 1, "float32": 2}
"""AG_UNSIGNED, AG_SIGNED or AG_REAL of the runtime."""


def plan_byte_product(p: Planner, node: Apply) -> None:
    """Plan one call for all matrices."""
    a, b = p.inputs_of(node)
    p.guard("equal", a.lengths[-1], b.lengths[-2], failure=Outcome.LENGTHS, axis=SUMMED)
    batch = batch_of(p, node, a, b)
    m, k, n = a.lengths[-2], a.lengths[-1], b.lengths[-1]
    result = p.result(node.out, (*batch, m, n))
    p.run(
        BYTE_PRODUCT, TABLE, batch=batch, m=m, n=n, k=k, a_signed=int(a.dtype == "int8"),
        b_signed=int(b.dtype == "int8"), a=a, a_strides=batch_strides(p, a, batch), b=b,
        b_strides=batch_strides(p, b, batch), c=result,
    )  # fmt: skip


def plan_byte_convolution(p: Planner, node: Apply) -> None:
    """Plan one call, for weights that are laid out."""
    op = node.op
    assert isinstance(op, ByteConvolution)
    x, w, start, totals, scale, bias, *others = p.inputs_of(node)
    more = p.packed(others[0]) if others else None
    x = with_dense_lanes(p, x)
    outputs = op.weights[0]
    channels = outputs if op.own else op.weights[1]
    size = node.inputs[0].type.shape[4] or 1
    p.guard("equal", x.lengths[1], -(-channels // size), failure=Outcome.LENGTHS, axis=1)
    around = tuple(p.sum((n, *pair)) for n, pair in zip(x.lengths[2:4], op.padding, strict=True))
    counts = window_counts(p, op, around, op.weights[2:])
    blocks = -(-outputs // op.size)
    lengths = (x.lengths[0], blocks, *counts, op.size)
    if more is not None:
        for axis, (have, want) in enumerate(zip(more.lengths, lengths, strict=True)):
            p.guard("equal", have, want, failure=Outcome.LENGTHS, axis=axis)
    result = p.result(node.out, lengths)
    image, step = p.strides(lengths)[:2]
    p.run(
        BYTE_SUMS, TABLE, images=x.lengths[0], in_blocks=x.lengths[1], block=x.lengths[4], blocks=blocks,
        out_block=op.size, outputs=blocks * op.size, panel=op.panel, chunk=op.chunk, own=int(op.own),
        is_signed=int(x.dtype == "int8"),
        around=op.around, kind=FIXED if op.fixed else KINDS[op.out], zero=op.zero, low=op.low, high=op.high,
        lengths=x.lengths[2:4], kernel=op.weights[2:], stride=op.stride, dilation=op.dilation,
        before=tuple(pair[0] for pair in op.padding), counts=counts, x=x, w=w, start=start, totals=totals, scale=scale,
        bias=bias, more=more, more_kind=MORE["uint8" if more is None else more.dtype],
        more_scale=float(np.float32(op.more_scale)), sum_scale=float(np.float32(op.sum_scale)), more_zero=op.more_zero,
        lower=op.lower, upper=op.upper, x_strides=x.strides[:4], y_strides=(image, step, op.size), y=result,
    )  # fmt: skip


def plan_look_up(p: Planner, node: Apply) -> None:
    """Plan one call for all elements."""
    x, table = map(p.packed, p.inputs_of(node))
    p.guard("equal", table.lengths[0], ENTRIES, failure=Outcome.LENGTHS, axis=0)
    result = p.result(node.out, x.lengths)
    p.run(LOOK_UP, TABLE, count=p.product(x.lengths), x=x, table=table, y=result)


def plan_quantize_in_blocks(p: Planner, node: Apply) -> None:
    """Plan one call for all images."""
    x, scale, zero = map(p.packed, p.inputs_of(node))
    images, channels, *positions = x.lengths
    known = node.inputs[0].type.shape[1] or 0
    p.guard("equal", channels, known, failure=Outcome.LENGTHS, axis=1)
    result = p.result(node.out, (images, -(-known // WORD), *positions, WORD))
    p.run(
        QUANTIZE_WORDS, TABLE, images=images, channels=channels, positions=p.product(positions),
        is_signed=int(node.out.dtype == "int8"), x=x, scale=scale, zero=zero, y=result,
    )  # fmt: skip


def plan_byte_softmax(p: Planner, node: Apply) -> None:
    """Plan one call for all rows."""
    op = node.op
    assert isinstance(op, ByteSoftmax)
    x, exponents = map(p.packed, p.inputs_of(node))
    p.guard("equal", exponents.lengths[0], ENTRIES, failure=Outcome.LENGTHS, axis=0)
    result = p.result(node.out, x.lengths)
    p.run(
        BYTE_SOFTMAX, TABLE, rows=p.product(x.lengths[:-1]), length=x.lengths[-1], is_signed=int(x.dtype == "int8"),
        zero=op.zero, low=op.low, high=op.high, scale=float(op.scale), x=x, exponents=exponents, y=result,
    )  # fmt: skip


PLANNERS = {
    ByteConvolution: plan_byte_convolution,
    ByteProduct: plan_byte_product,
    ByteSoftmax: plan_byte_softmax,
    LookUp: plan_look_up,
    QuantizeInBlocks: plan_quantize_in_blocks,
}
CONDITIONS = {ByteConvolution: lambda node: bool(node.op.weights)}
