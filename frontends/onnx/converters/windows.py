"""Convolutions and pooling."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from .... import ops as T
from ....graph import Variable
from ....ops.core.tensor import constant
from ....ops.networks.convolution import Convolution, padding_around
from ....ops.networks.patches import folded
from ....ops.networks.pooling import MaxPool, SumPool, first_maxima
from ....ops.networks.transposed import transposed
from ....ops.shapes.lengths import lengths_of
from ..reading.node import Node
from ..reading.table import converter
from ..reading.values import finfo_lowest, lengths, own_lengths, rounded_into, wide_dtype
from .elementwise import like


def around(
    node: Node, x: Variable, kernel: Sequence[int], strides: Sequence[int], dilations: Sequence[int]
) -> list[tuple[Any, Any]]:
    """How much is put before and after each axis."""
    axes, how = len(kernel), node.attr("auto_pad", "NOTSET")
    if how in ("NOTSET", ""):
        pads = node.attr("pads") or [0] * (2 * axes)
        return list(zip(pads[:axes], pads[axes:], strict=True))
    return padding_around(node.op, how, lengths_of(x)[2:], kernel, tuple(strides), tuple(dilations))


def _numbers(node: Node, name: str, axes: int) -> tuple[int, ...]:
    return tuple(node.attr(name) or [1] * axes)


def padded(x: Any, pairs: Sequence[tuple[Any, Any]], value: Any = 0) -> Any:
    """x with a number around its last axes."""
    if all(isinstance(n, int) and n == 0 for pair in pairs for n in pair):
        return x
    return T.pad(x, ((0, 0), (0, 0), *pairs), constant_values=constant(np.array(value, x.dtype)))


def convolved(node: Node, x: Any, w: Any) -> Any:
    """The convolution of a node without its bias."""
    axes = x.ndim - 2
    kernel = node.attr("kernel_shape") or list(w.type.shape[2:])
    if None in kernel and node.attr("auto_pad", "NOTSET") not in ("NOTSET", "VALID"):
        raise node.error("the lengths of the kernels must be known, since the padding depends on them")
    strides, dilations = _numbers(node, "strides", axes), _numbers(node, "dilations", axes)
    pairs = around(node, x, kernel, strides, dilations)
    return Convolution(strides, dilations, node.attr("group", 1))(padded(x, pairs), w)


def with_bias(y: Any, bias: Any) -> Any:
    """A number added to each channel."""
    return y if bias is None else y + T.reshape(bias, (1, -1, *(1,) * (y.ndim - 2)))


@converter("Conv")
def conv(node: Node, x: Any, w: Any, bias: Any = None) -> Any:
    return with_bias(convolved(node, x, w), bias)


@converter("ConvInteger")
def conv_integer(node: Node, x: Any, w: Any, x_zero: Any = None, w_zero: Any = None) -> Any:
    x, w = T.cast(x, "int32"), T.cast(w, "int32")
    x = x if x_zero is None else x - T.cast(x_zero, "int32")
    if w_zero is not None:
        zero = T.cast(w_zero, "int32")
        w = w - (zero if zero.ndim == 0 else T.reshape(zero, (-1, *(1,) * (w.ndim - 1))))
    return convolved(node, x, w)


@converter("ConvTranspose")
def conv_transpose(node: Node, x: Any, w: Any, bias: Any = None) -> Any:
    axes, groups = x.ndim - 2, node.attr("group", 1)
    kernel = node.attr("kernel_shape") or list(w.type.shape[2:])
    strides, dilations = _numbers(node, "strides", axes), _numbers(node, "dilations", axes)
    extra = node.attr("output_padding") or [0] * axes
    extents = [d * (k - 1) + 1 for d, k in zip(dilations, kernel, strict=True)]
    pads = _transposed_pads(node, x, strides, extents, extra)
    return transposed(x, w, strides, dilations, groups, pads, extra, bias)


def _transposed_pads(
    node: Node, x: Variable, strides: Sequence[int], extents: Sequence[int], extra: Sequence[int]
) -> list[tuple[int, int]]:
    axes, how, wanted = len(strides), node.attr("auto_pad", "NOTSET"), node.attr("output_shape")
    if wanted is None and how in ("NOTSET", "", "VALID"):
        pads = (node.attr("pads") if how != "VALID" else None) or [0] * (2 * axes)
        return list(zip(pads[:axes], pads[axes:], strict=True))
    found = []
    for k, (s, e, o) in enumerate(zip(strides, extents, extra, strict=True)):
        length = x.type.shape[2 + k]
        if length is None:
            raise node.error("the lengths of x must be known for this padding")
        size = wanted[-axes:][k] if wanted is not None else length * s
        total = s * (length - 1) + o + e - size
        small = total // 2
        found.append((total - small, small) if how != "SAME_UPPER" else (small, total - small))
    return found


# --- pooling


def _ceil_pads(
    node: Node, x: Variable, pairs: list[tuple[Any, Any]], kernel: Sequence[int], strides: Sequence[int],
    dilations: Sequence[int],
) -> list[tuple[Any, Any]]:  # fmt: skip
    """The padding, with the extra elements that a last window beyond the end needs."""
    if not node.attr("ceil_mode", 0):
        return pairs
    found = []
    for length, (a, b), k, s, d in zip(x.type.shape[2:], pairs, kernel, strides, dilations, strict=True):
        if length is None:
            raise node.error("ceil_mode needs lengths that are known when the model is read; give `shapes`")
        extent = d * (k - 1) + 1
        count = -(-(length + a + b - extent) // s) + 1
        if (count - 1) * s >= length + a:
            count -= 1
        found.append((a, max(b, (count - 1) * s + extent - length - a)))
    return found


def _window(node: Node, x: Variable) -> tuple[list[int], tuple[int, ...], tuple[int, ...], list[tuple[Any, Any]]]:
    kernel = node.need("kernel_shape")
    strides, dilations = _numbers(node, "strides", len(kernel)), _numbers(node, "dilations", len(kernel))
    return kernel, strides, dilations, around(node, x, kernel, strides, dilations)


@converter("MaxPool")
def max_pool(node: Node, x: Any) -> Any:
    kernel, strides, dilations, pairs = _window(node, x)
    pairs = _ceil_pads(node, x, pairs, kernel, strides, dilations)
    wide = padded(x, pairs, finfo_lowest(x.dtype))
    y = MaxPool(tuple(kernel), strides, dilations)(wide)
    if len(node.wanted) < 2 or not node.wanted[1]:
        return y
    return y, _indices(node, x, pairs, kernel, strides, dilations)


def _indices(
    node: Node, x: Variable, pairs: list[tuple[Any, Any]], kernel: Sequence[int], strides: Sequence[int],
    dilations: Sequence[int],
) -> Any:  # fmt: skip
    """Return the index of the maximum of each window in the flattened x."""
    own = own_lengths(x)
    order = list(range(x.ndim)) if not node.attr("storage_order", 0) else [0, 1, *range(x.ndim)[:1:-1]]
    number: Any = 0
    for axis in order:
        form = [1] * x.ndim
        form[axis] = -1
        number = number * own[axis] + T.reshape(T.arange(own[axis]), form)
    wide, numbers = padded(x, pairs, finfo_lowest(x.dtype)), padded(T.cast(number, "int64"), pairs, -1)
    _, found = first_maxima(MaxPool(tuple(kernel), tuple(strides), tuple(dilations)), wide, numbers)
    return found


@converter("AveragePool")
def average_pool(node: Node, x: Any) -> Any:
    """The mean of each window, summed in float32 or more."""
    return rounded_into(_averaged(node, T.cast(x, wide_dtype(x))), x.dtype)


def _averaged(node: Node, x: Any) -> Any:
    kernel, strides, dilations, pairs = _window(node, x)
    full = _ceil_pads(node, x, pairs, kernel, strides, dilations)
    pool = SumPool(tuple(kernel), strides, dilations)
    total = pool(padded(x, full))
    inside = pairs if node.attr("count_include_pad", 0) else [(0, 0)] * len(kernel)
    if full == inside:
        return total / like(math.prod(kernel), x)
    lengths = own_lengths(x)[2:]
    beyond = [(a - c, b - d) for (a, b), (c, d) in zip(full, inside, strict=True)]
    if all(isinstance(n, int) for n in lengths):  # known: computed here, not in each call
        within = np.ones([n + sum(pair) for n, pair in zip(lengths, inside, strict=True)], x.dtype)
        return total / T.constant(pool.evaluate(np.pad(within, beyond)[None, None])[0])
    ones = T.ones((1, 1, *lengths), x.dtype)
    return total / pool(padded(padded(ones, inside, 1), beyond))


@converter("LpPool")
def lp_pool(node: Node, x: Any) -> Any:
    dtype, x = x.dtype, T.cast(x, wide_dtype(x))
    kernel, strides, dilations, pairs = _window(node, x)
    full, p = _ceil_pads(node, x, pairs, kernel, strides, dilations), node.attr("p", 2)
    power = T.pow(T.abs(x), like(p, x))
    return rounded_into(T.pow(SumPool(tuple(kernel), strides, dilations)(padded(power, full)), like(1 / p, x)), dtype)


@converter("GlobalLpPool")
def global_lp_pool(node: Node, x: Any) -> Any:
    wide = T.cast(x, wide_dtype(x))
    p = like(node.attr("p", 2), wide)
    total = T.sum(T.pow(T.abs(wide), p), axis=tuple(range(2, x.ndim)), keepdims=True)
    return rounded_into(T.pow(total, like(1, wide) / p), x.dtype)


@converter("MaxUnpool")
def max_unpool(node: Node, x: Any, indices: Any, shape: Any = None) -> Any:
    """Write the elements of x into zeros at their positions before pooling."""
    kernel = node.need("kernel_shape")
    strides, pads = _numbers(node, "strides", len(kernel)), node.attr("pads") or [0] * (2 * len(kernel))
    own = own_lengths(x)
    inferred = [
        (n - 1) * s + k - pads[i] - pads[i + len(kernel)]
        for i, (n, s, k) in enumerate(zip(own[2:], strides, kernel, strict=True))
    ]
    plain: list[Any] = [*own[:2], *inferred]
    flat = T.set_subtensor(T.zeros((T.prod(T.stack(plain)),), x.dtype)[T.ravel(indices)], T.ravel(x))
    y = T.reshape(flat, plain)
    if shape is None:
        return y
    target = T.zeros([shape[k] for k in range(x.ndim)], x.dtype)
    return T.set_subtensor(target[tuple(slice(0, n) for n in plain)], y)


@converter("Col2Im")
def col2im(node: Node, x: Any, image: Any, block: Any) -> Any:
    """Blocks added up where they overlap."""
    kernel = lengths(block, node.error, "the shape of blocks")
    size = lengths(image, node.error, "the shape of the image")
    axes = len(kernel)
    strides, dilations = _numbers(node, "strides", axes), _numbers(node, "dilations", axes)
    pads = node.attr("pads") or [0] * (2 * axes)
    return folded(x, size, kernel, dilations, list(zip(pads[:axes], pads[axes:], strict=True)), strides)


@converter("CausalConvWithState")
def causal_conv_with_state(node: Node, x: Any, w: Any, bias: Any = None, past: Any = None) -> Any:
    """A causal depthwise convolution, and the last positions that it read."""
    before = w.type.shape[2]
    if before is None or w.type.shape[0] is None:
        raise node.error("the lengths of the kernels must be known")
    wide = padded(x, [(before - 1, 0)]) if past is None else T.concatenate([past, x], axis=2)
    y = with_bias(Convolution((1,), (1,), w.type.shape[0])(wide, w), bias)
    y = y * T.sigmoid(y) if node.attr("activation", "none") in ("silu", "swish") else y
    return y, wide[:, :, own_lengths(wide)[2] - (before - 1) :]


@converter("DeformConv")
def deform_conv(node: Node, x: Any, w: Any, offset: Any, bias: Any = None, mask: Any = None) -> Any:
    """A convolution whose kernels read x at computed places: samples by grid, then a product."""
    kernel = [int(n) for n in w.type.shape[2:]]
    axes, taps = len(kernel), math.prod(kernel)
    strides, dilations = _numbers(node, "strides", axes), _numbers(node, "dilations", axes)
    pads, groups = node.attr("pads") or [0] * (2 * axes), node.attr("offset_group", 1)
    n, channels, own, spots = own_lengths(x)[0], x.type.shape[1], own_lengths(x)[2:], own_lengths(offset)[2:]
    if axes != 2 or channels is None:
        raise node.error("takes images of two axes with a known number of channels")
    shift = T.reshape(offset, (n, groups, taps, axes, *spots))
    weights = None if mask is None else T.reshape(mask, (n, groups, taps, *spots))
    each, columns = channels // groups, []
    for k, position in enumerate(np.ndindex(*kernel)):
        parts = []
        for g in range(groups):
            places = []
            for a in range(axes):
                form = tuple(-1 if b == a else 1 for b in range(axes))
                first = T.reshape(T.arange(spots[a]) * strides[a] + (position[a] * dilations[a] - pads[a]), form)
                places.append(T.cast(first, x.dtype) + shift[:, g, k, a])
            part = sampled(x[:, g * each : (g + 1) * each], places, own)
            parts.append(part if weights is None else part * T.expand_dims(weights[:, g, k], 1))
        columns.append(parts[0] if groups == 1 else T.concatenate(parts, axis=1))
    stacked = T.stack(columns, axis=2)
    split = node.attr("group", 1)
    left = T.reshape(w, (split, -1, channels // split * taps))
    right = T.reshape(stacked, (n, split, channels // split * taps, -1))
    return with_bias(T.reshape(T.matmul(left, right), (n, -1, *spots)), bias)


def sampled(x: Any, places: Sequence[Any], own: Sequence[Any]) -> Any:
    """Bilinear samples of x (images, channels, height, width) at positions (images, ...); zero outside x."""
    firsts = [T.floor(p) for p in places]
    total: Any = 0
    rows = T.reshape(T.arange(own_lengths(x)[0]), (-1, 1, 1))
    last = T.moveaxis(x, 1, -1)
    for corner in np.ndindex(*(2,) * len(places)):
        weight: Any = 1
        inside: Any = True
        at = []
        for p, first, c, n in zip(places, firsts, corner, own, strict=True):
            spot = T.cast(first, "int64") + c
            weight = weight * (p - first if c else like(1, p) - (p - first))
            inside = T.logical_and(inside, T.logical_and(T.ge(spot, 0), T.lt(spot, n)))
            at.append(T.minimum(T.maximum(spot, 0), n - 1))
        total = total + T.expand_dims(T.where(inside, weight, like(0, x)), -1) * last[(rows, *at)]
    return T.moveaxis(total, -1, 1)


converter("GlobalAveragePool")(lambda node, x: T.mean(x, axis=tuple(range(2, x.ndim)), keepdims=True))
converter("GlobalMaxPool")(lambda node, x: T.max(x, axis=tuple(range(2, x.ndim)), keepdims=True))
