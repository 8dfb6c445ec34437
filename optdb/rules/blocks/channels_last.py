"""Images with channels last (NHWC) beside channels in blocks, without changes of layout between them.

    f(dimshuffle{0, 3, 1, 2}(x), c)          -->   dimshuffle{0, 3, 1, 2}(f(x, c))
    to_blocks(dimshuffle{0, 3, 1, 2}(x))     -->   dimshuffle{0, 3, 1, 2, 4}(reshape(x))       a view
    dimshuffle{0, 2, 3, 1}(from_blocks(x))   -->   reshape(dimshuffle{0, 2, 3, 1, 4}(x))       a copy of whole blocks
    sum{axis=1}(from_blocks(x))              -->   sum{axis=3}(reshape(dimshuffle(x)))         which reads that copy
    sum{axis=1}(dimshuffle{0, 3, 1, 2}(x))   -->   sum{axis=3}(x)

Layers on rows of channels (dense layers, normalization over channels) stand so between convolutions (Liu et al., "A
ConvNet for the 2020s", 2022): a convolution reads blocks of such rows through strides.
"""

from __future__ import annotations

from dataclasses import replace

from ....graph import Constant, Variable
from ....ops.core.tensor import constant
from ....ops.shapes.lengths import lengths_of
from ....ops.shapes.shape import DimShuffle, reshape
from ..facts import Node, producer
from .channels import from_blocks

CHANNELS_FIRST, CHANNELS_LAST = (0, 3, 1, 2), (0, 2, 3, 1)
"""Orders of axes from one layout to the other."""


def with_channels_last(v: Variable) -> Variable | None:
    """Return the images with channels last behind a value."""
    made = producer(v, DimShuffle)
    return made.inputs[0] if made is not None and made.op.order == CHANNELS_FIRST else None


def fills_blocks(v: Variable, size: int | None) -> bool:
    """Whether v are images with channels last that fill blocks of `size`."""
    inner = with_channels_last(v)
    channels = None if inner is None else inner.type.shape[3]
    return bool(channels and size and channels % size == 0)


def elementwise_on_channels_last(node: Node) -> Variable | None:
    """Apply an elementwise op before channels are moved first; other operands are numbers or one number a channel."""
    inner = [with_channels_last(i) for i in node.inputs]
    if all(i is None for i in inner) or node.out.ndim != 4:
        return None
    operands = [_last(v) if i is None else i for v, i in zip(node.inputs, inner, strict=True)]
    return None if any(o is None for o in operands) else DimShuffle(CHANNELS_FIRST)(node.op(*operands))


def _last(v: Variable) -> Variable | None:
    """Return an operand that is constant along channels, or along all other axes, with its channels last."""
    shape = (1,) * (4 - v.ndim) + v.type.shape
    if v.ndim == 0:
        return v
    if v.ndim == 4 and shape[1] == 1:
        n, one, rows, columns = lengths_of(v)
        return reshape(v, (n, rows, columns, one))
    if len(shape) != 4 or (shape[0], *shape[2:]) != (1, 1, 1):
        return None
    if isinstance(v, Constant):
        return constant(v.data.reshape(1, 1, 1, -1))
    return DimShuffle(("x", "x", "x", v.ndim - 3))(v) if v.ndim > 2 else None


def blocks_of_channels_last(node: Node) -> Variable | None:
    """View images with channels last as blocks."""
    if not fills_blocks(node.inputs[0], node.op.size):
        return None
    inner = with_channels_last(node.inputs[0])
    assert inner is not None
    n, rows, columns, _ = lengths_of(inner)
    parts = reshape(inner, (n, rows, columns, (inner.type.shape[3] or 0) // node.op.size, node.op.size))
    return DimShuffle((*CHANNELS_FIRST, 4))(parts)


def channels_last_of_blocks(node: Node) -> Variable | None:
    """Copy whole blocks where channels are moved last."""
    return _rows_of(node.inputs[0]) if node.op.order == CHANNELS_LAST else None


def channels_of_blocks_reduced(node: Node) -> Variable | None:
    """Reduce along the channels of blocks with these last."""
    rows = _rows_of(node.inputs[0]) if node.op.axis == (1,) else None
    return None if rows is None else replace(node.op, axis=(3,))(rows)


def channels_reduced(node: Node) -> Variable | None:
    """Reduce along channels where they are last."""
    rows = with_channels_last(node.inputs[0]) if node.op.axis == (1,) else None
    return None if rows is None else replace(node.op, axis=(3,))(rows)


def _rows_of(v: Variable) -> Variable | None:
    """Return the channels of blocks last; None if these are no blocks, or lanes lie beyond the last channel."""
    made = from_blocks(v)
    if made is None or made.op.channels % made.inputs[0].type.shape[4]:
        return None
    (blocks,) = made.inputs
    n, _, rows, columns, _ = lengths_of(blocks)
    return reshape(DimShuffle((*CHANNELS_LAST, 4))(blocks), (n, rows, columns, made.op.channels))
