"""Products of bytes, of weights of 4 bits, of bfloat16, of sparse matrices, and convolutions: runtime calls."""

from __future__ import annotations

import numpy as np

from ...graph import Apply
from ...ops.lowered.bfloats import BfloatDot, PackedBfloatDot
from ...ops.lowered.byte_sums import RESULTS, WORD, ByteConvolution, ByteProduct
from ...ops.lowered.byte_tables import ENTRIES, ByteSoftmax, LookUp
from ...ops.lowered.nibbles import NibbleProduct
from ...ops.lowered.quantized_blocks import QuantizeInBlocks
from ...ops.lowered.sparse_columns import SparseColumns
from ...ops.lowered.sparse_dot import SparseDot
from ...ops.lowered.two_of_four import TwoOfFour
from ...targets.costs import ITEMS
from .outcome import Outcome
from .plan_blas import SUMMED, batch_of, batch_strides
from .plan_block_layout import with_dense_lanes
from .planner import Planner
from .program import Array, Table, Vector
from .windows import window_counts

TABLE = "int8"
"""The dtype under which the runtime has them."""
KINDS = {dtype: max(k, 0) for dtype, k in zip(RESULTS, (0, 1, 2, 2), strict=True)}
"""AG_SUMS, AG_FLOATS or AG_BYTES of the runtime."""
FIXED = 3
"""AG_FIXED of the runtime."""

MORE = {"uint8": 0, "int8": 1, "float32": 2}
"""AG_UNSIGNED, AG_SIGNED or AG_REAL of the runtime."""


def plan_byte_product(p: Planner, node: Apply) -> None:
    """One call for all matrices."""
    a, b = p.inputs_of(node)
    p.guard("equal", a.lengths[-1], b.lengths[-2], failure=Outcome.LENGTHS, axis=SUMMED)
    batch = batch_of(p, node, a, b)
    m, k, n = a.lengths[-2], a.lengths[-1], b.lengths[-1]
    result = p.result(node.out, (*batch, m, n))
    left, right = (Vector(batch_strides(p, x, batch)) for x in (a, b))
    signs = (int(a.dtype == "int8"), int(b.dtype == "int8"))
    p.products[TABLE] = None
    arguments = (Table(TABLE), len(batch), Vector(batch), m, n, k, *signs, a, left, b, right, result)
    p.call("multiply_bytes", arguments, (result,), (a, b), fallible=True)


def plan_byte_convolution(p: Planner, node: Apply) -> None:
    """One call, for weights that are laid out."""
    op = node.op
    assert isinstance(op, ByteConvolution)
    x, *others = p.inputs_of(node)
    more = p.packed(others.pop()) if len(others) > 5 else None
    x = with_dense_lanes(p, x)
    block, outputs = x.lengths[4], op.weights[0]
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
    kind = FIXED if op.fixed else KINDS[op.out]
    factors = (int(np.float32(v).view("int32")) for v in (op.more_scale, op.sum_scale))
    numbers = (
        x.lengths[0], x.lengths[1], block, blocks, op.size, blocks * op.size, op.panel, int(op.own),
        int(x.dtype == "int8"), op.around, kind, op.zero, op.low, op.high, *x.lengths[2:4], *op.weights[2:],
        *op.stride, *op.dilation, *(pair[0] for pair in op.padding), *counts,
        MORE["uint8" if more is None else more.dtype], *factors, op.more_zero, op.lower, op.upper,
    )  # fmt: skip
    strides = Vector(x.strides[:4]), Vector((image, step, op.size))
    arguments = (Table(TABLE), Vector(numbers), x, strides[0], *others, more or 0, strides[1], result)
    p.products[TABLE] = None
    p.call("sum_bytes", arguments, (result,), tuple(a for a in arguments[:-1] if isinstance(a, Array)))


def plan_look_up(p: Planner, node: Apply) -> None:
    """One call for all elements."""
    x, table = map(p.packed, p.inputs_of(node))
    p.guard("equal", table.lengths[0], ENTRIES, failure=Outcome.LENGTHS, axis=0)
    result = p.result(node.out, x.lengths)
    p.products[TABLE] = None
    p.call("look_up", (Table(TABLE), p.product(x.lengths), x, table, result), (result,), (x, table))


def plan_quantize_in_blocks(p: Planner, node: Apply) -> None:
    """Plan one call for all images."""
    x, scale, zero = map(p.packed, p.inputs_of(node))
    images, channels, *positions = x.lengths
    known = node.inputs[0].type.shape[1] or 0
    p.guard("equal", channels, known, failure=Outcome.LENGTHS, axis=1)
    result = p.result(node.out, (images, -(-known // WORD), *positions, WORD))
    numbers = images, channels, p.product(positions), int(node.out.dtype == "int8")
    p.products[TABLE] = None
    p.call("quantize_words", (Table(TABLE), *numbers, x, scale, zero, result), (result,), (x, scale, zero))


def plan_byte_softmax(p: Planner, node: Apply) -> None:
    """One call for all rows."""
    op = node.op
    assert isinstance(op, ByteSoftmax)
    x, exponents = map(p.packed, p.inputs_of(node))
    p.guard("equal", exponents.lengths[0], ENTRIES, failure=Outcome.LENGTHS, axis=0)
    result = p.result(node.out, x.lengths)
    bits = int(np.float64(op.scale).view("int64"))
    of = (p.product(x.lengths[:-1]), x.lengths[-1], int(x.dtype == "int8"), op.zero, op.low, op.high, bits)
    p.products[TABLE] = None
    p.call("byte_softmax_rows", (Table(TABLE), Vector(of), x, exponents, result), (result,), (x, exponents))


def plan_nibble_product(p: Planner, node: Apply) -> None:
    """One call for all rows."""
    op = node.op
    assert isinstance(op, NibbleProduct)
    x, w, scale, *zero = map(p.packed, p.inputs_of(node))
    p.guard("equal", x.lengths[-1], op.depth, failure=Outcome.LENGTHS, axis=SUMMED)
    result = p.result(node.out, (*x.lengths[:-1], op.outputs))
    p.products[TABLE] = None
    arguments = (
        Table(TABLE), p.product(x.lengths[:-1]), op.outputs, op.depth, op.block, op.blocks, x, w, scale,
        zero[0] if zero else 0, result,
    )  # fmt: skip
    p.call("multiply_nibbles", arguments, (result,), (x, w, scale, *zero), fallible=True)


def plan_sparse_dot(p: Planner, node: Apply) -> None:
    """One call for all rows."""
    op = node.op
    assert isinstance(op, SparseDot)
    x, w, starts, places = map(p.packed, p.inputs_of(node))
    p.guard("equal", x.lengths[-1], op.rows, failure=Outcome.LENGTHS, axis=SUMMED)
    result = p.result(node.out, (*x.lengths[:-1], op.columns))
    p.products[TABLE] = None
    numbers = (p.product(x.lengths[:-1]), op.columns, op.rows, ITEMS[node.out.dtype])
    arguments = (Table(TABLE), *numbers, x, w, starts, places, result)
    p.call("multiply_sparse", arguments, (result,), (x, w, starts, places), fallible=True)


def plan_sparse_columns(p: Planner, node: Apply) -> None:
    """One call for all rows."""
    op = node.op
    assert isinstance(op, SparseColumns)
    x, *others = map(p.packed, p.inputs_of(node))
    p.guard("equal", x.lengths[-1], op.rows, failure=Outcome.LENGTHS, axis=SUMMED)
    result = p.result(node.out, (*x.lengths[:-1], op.columns))
    p.products[TABLE] = None
    arguments = (Table(TABLE), p.product(x.lengths[:-1]), op.columns, op.rows, x, *others, result)
    p.call("multiply_columns", arguments, (result,), (x, *others), fallible=True)


def plan_two_of_four(p: Planner, node: Apply) -> None:
    """One call for all rows."""
    op = node.op
    assert isinstance(op, TwoOfFour)
    x, w, places = map(p.packed, p.inputs_of(node))
    p.guard("equal", x.lengths[-1], op.rows, failure=Outcome.LENGTHS, axis=SUMMED)
    result = p.result(node.out, (*x.lengths[:-1], op.columns))
    p.products[TABLE] = None
    arguments = (Table(TABLE), p.product(x.lengths[:-1]), op.columns, op.rows, x, w, places, result)
    p.call("multiply_two", arguments, (result,), (x, w, places), fallible=True)


def plan_bfloat_dot(p: Planner, node: Apply) -> None:
    """One call for all rows."""
    op = node.op
    assert isinstance(op, (BfloatDot, PackedBfloatDot))
    a, b = p.inputs_of(node)
    rows, columns = (op.rows, op.columns) if isinstance(op, PackedBfloatDot) else b.lengths
    p.guard("equal", a.lengths[-1], rows, failure=Outcome.LENGTHS, axis=SUMMED)
    result = p.result(node.out, (*a.lengths[:-1], columns))
    a = a if len(a.lengths) == 2 else p.packed(a)
    in_panels = isinstance(op, PackedBfloatDot)
    b = p.packed(b) if in_panels else b
    steps = Vector(a.strides if len(a.lengths) == 2 else (rows, 1)), Vector((0, 0) if in_panels else b.strides)
    bits = tuple(int(x.dtype == "uint16") for x in (a, b))
    p.products[TABLE] = None
    numbers = (p.product(a.lengths[:-1]), columns, rows, *bits, int(in_panels))
    arguments = (Table(TABLE), *numbers, a, steps[0], b, steps[1], result)
    p.call("multiply_bfloats", arguments, (result,), (a, b), fallible=True)


PLANNERS = {
    ByteConvolution: plan_byte_convolution,
    ByteProduct: plan_byte_product,
    ByteSoftmax: plan_byte_softmax,
    LookUp: plan_look_up,
    QuantizeInBlocks: plan_quantize_in_blocks,
    NibbleProduct: plan_nibble_product,
    SparseDot: plan_sparse_dot,
    SparseColumns: plan_sparse_columns,
    TwoOfFour: plan_two_of_four,
    BfloatDot: plan_bfloat_dot,
    PackedBfloatDot: plan_bfloat_dot,
}
CONDITIONS = {ByteConvolution: lambda node: bool(node.op.weights)}
