"""Convolutions with their transposes and derivatives, pooling, resampling."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from .... import ops as T
from ....ops.core.tensor import as_tensor, constant
from ....ops.networks.convolution import Convolution, KernelGradient, input_gradient
from ....ops.networks.pooling import MaxPool, SumPool
from ..dtypes import as_dtype
from ..symbols import lengths
from ..table import Call, converter
from .creation import filled
from .elementwise import number
from .reductions import for_sums
from .shapes import numbers, padded


def each(value: Any, axes: int) -> tuple[int, ...]:
    """Return one number an axis; PyTorch takes one for all of them."""
    several = list(value) if isinstance(value, (list, tuple)) else [value]
    return tuple(several * axes if len(several) == 1 else several)


def _around(pads: Sequence[Any]) -> list[tuple[Any, Any]]:
    return [(0, 0), (0, 0), *((p, p) for p in pads)]


def _with_bias(y: Any, bias: Any) -> Any:
    return y if bias is None else y + T.reshape(as_dtype(bias, y.dtype), (1, -1, *(1,) * (y.ndim - 2)))


@converter("aten.convolution", "aten.convolution_overrideable")
def convolution(
    call: Call, x: Any, w: Any, bias: Any, stride: Any, padding: Any, dilation: Any, transposed: bool,
    output_padding: Any, groups: int,
) -> Any:  # fmt: skip
    axes = w.ndim - 2
    one = x.ndim == axes + 1  # an image without a batch
    x = T.expand_dims(x, 0) if one else x
    stride, dilation, padding = (each(v, axes) for v in (stride, dilation, padding))
    dtype = call.dtype
    x, w = for_sums(x), for_sums(w)
    if transposed:
        y = _transposed(x, w, stride, padding, dilation, each(output_padding, axes), groups)
    else:
        y = Convolution(stride, dilation, groups)(padded(x, _around(padding)), w)
    y = as_dtype(_with_bias(y, bias), dtype)
    return y[0] if one else y


def _transposed(
    x: Any,
    w: Any,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    extra: Sequence[int],
    groups: int,
) -> Any:
    """Return the cotangent of the input of the convolution by w whose output is x."""
    op = Convolution(tuple(stride), tuple(dilation), groups)
    own, kernel = lengths(x), lengths(w)
    whole = [
        (n - 1) * s + d * (k - 1) + 1 + o
        for n, s, d, k, o in zip(own[2:], stride, dilation, kernel[2:], extra, strict=True)
    ]
    y = input_gradient(op, x, w, [as_tensor(n) for n in (own[0], kernel[1] * groups, *whole)])
    cut = tuple(slice(p, n - p) if p else slice(None) for n, p in zip(whole, padding, strict=True))
    return y[(slice(None), slice(None), *cut)]


@converter("aten.convolution_backward")
def convolution_backward(
    call: Call, g: Any, x: Any, w: Any, bias_sizes: Any, stride: Any, padding: Any, dilation: Any, transposed: bool,
    output_padding: Any, groups: int, wanted: Sequence[bool],
) -> Any:  # fmt: skip
    axes = w.ndim - 2
    if x.ndim != w.ndim:
        return NotImplemented
    stride, dilation, padding = (each(v, axes) for v in (stride, dilation, padding))
    op, back = Convolution(stride, dilation, groups), KernelGradient(stride, dilation, groups)
    dtype = x.dtype
    g, x, w = for_sums(g), for_sums(x), for_sums(w)
    kernel = T.lengths_of(w)[2:]
    if transposed:
        wide = padded(g, _around(padding))
        of_x = op(wide, w)
        own = tuple(slice(None, n) for n in lengths(x)[2:])
        of_x = of_x[(slice(None), slice(None), *own)]
        of_w = back(wide, x, *kernel)
    else:
        wide = padded(x, _around(padding))
        of_wide = input_gradient(op, g, w, T.lengths_of(wide))
        cut = tuple(slice(p, n + p) if p else slice(None) for n, p in zip(lengths(x)[2:], padding, strict=True))
        of_x = of_wide[(slice(None), slice(None), *cut)]
        of_w = back(wide, g, *kernel)
    of_bias = T.sum(g, axis=(0, *range(2, g.ndim)))
    return tuple(as_dtype(v, dtype) if k else None for v, k in zip((of_x, of_w, of_bias), wanted, strict=True))


# --- pooling


def _ceiled(length: int, k: int, s: int, p: int, d: int, ceil: bool) -> tuple[int, int]:
    """Return the number of windows, and what is put behind the axis for the last one."""
    reach = d * (k - 1) + 1
    free = length + 2 * p - reach
    count = (-(-free // s) if ceil else free // s) + 1
    if ceil and (count - 1) * s >= length + p:
        count -= 1
    return count, max((count - 1) * s + reach - length - 2 * p, 0)


def _window(x: Any, kernel: Any, stride: Any, padding: Any, dilation: Any, ceil: bool) -> Any:
    """Return kernel, stride, padding, dilation, and what goes around each axis; None for open lengths with `ceil`."""
    axes = len(kernel) if isinstance(kernel, (list, tuple)) else 1
    kernel, padding, dilation = each(kernel, axes), each(padding, axes), each(dilation, axes)
    stride = each(stride, axes) if stride not in (None, [], ()) else kernel
    around = []
    for n, k, s, p, d in zip(lengths(x)[-axes:], kernel, stride, padding, dilation, strict=True):
        if not ceil:
            around.append((p, p))
        elif not isinstance(n, int):
            return None
        else:
            around.append((p, p + _ceiled(n, k, s, p, d, True)[1]))
    return kernel, stride, padding, dilation, around


@converter("aten.max_pool2d_with_indices", "aten.max_pool3d_with_indices", "aten.max_pool2d", "aten.max_pool1d",
           "aten.max_pool3d", "aten.max_pool1d_with_indices")  # fmt: skip
def max_pool(
    call: Call, x: Any, kernel: Any, stride: Any = (), padding: Any = 0, dilation: Any = 1, ceil_mode: bool = False
) -> Any:
    axes = int(str(call.node.target).partition("max_pool")[2][0])
    found = _window(x, each(kernel, axes), stride, padding, dilation, ceil_mode)
    if found is None:
        return NotImplemented
    kernel, stride, _, dilation, around = found
    lowest = -math.inf if x.type.kind == "f" else np.iinfo(x.dtype).min
    pairs = [(0, 0)] * (x.ndim - axes) + around
    pool = MaxPool(kernel, stride, dilation)
    wide = padded(x, pairs, lowest)
    y = pool(wide)
    if "with_indices" not in str(call.node.target):
        return y
    return y, _places(x, wide, pool, pairs, axes)


def _places(x: Any, wide: Any, pool: MaxPool, pairs: Any, axes: int) -> Any:
    """Return the place of the maximum of each window among the positions of an image; the first of equal ones."""
    own = lengths(x)[-axes:]
    at: Any = 0
    for k in range(axes):
        form = [-1 if j == k else 1 for j in range(axes)]
        at = at * own[k] + T.reshape(T.arange(own[k]), form)
    at = padded(at, pairs[-axes:], -1)
    best: Any = None
    found: Any = None
    for (part, _), (place, _) in zip(pool.taps(wide), pool.taps(at), strict=True):
        better = (
            None
            if best is None
            else T.logical_or(T.gt(part, best), T.isnan(part))
            if x.type.kind == "f"
            else T.gt(part, best)
        )
        first = T.broadcast_to(place, lengths(part))
        found = first if better is None else T.where(better, first, found)
        best = part if better is None else T.where(better, part, best)
    return found


@converter("aten.max_pool2d_with_indices_backward", "aten.max_pool3d_with_indices_backward",
           "aten.adaptive_max_pool2d_backward", "aten.adaptive_max_pool3d_backward")  # fmt: skip
def max_pool_backward(call: Call, g: Any, x: Any, *args: Any, indices: Any = None) -> Any:
    """Add to the places that the pooling found, the last argument."""
    indices = args[-1] if indices is None else indices
    axes = int(str(call.node.target).partition("max_pool")[2][0])
    own = lengths(x)
    positions: Any = 1
    for n in own[-axes:]:
        positions = positions * n
    g, indices = (
        T.reshape(g, (-1, math.prod(lengths(g)[-axes:]))),
        T.reshape(indices, (-1, math.prod(lengths(g)[-axes:]))),
    )
    rows = T.expand_dims(T.arange(lengths(g)[0]), 1)
    zeros = filled([lengths(g)[0], positions], 0, g.dtype)
    return T.reshape(T.inc_subtensor(zeros[rows, indices], g), own)


@converter("aten.avg_pool1d", "aten.avg_pool2d", "aten.avg_pool3d")
def avg_pool(
    call: Call, x: Any, kernel: Any, stride: Any = (), padding: Any = 0, ceil_mode: bool = False,
    count_include_pad: bool = True, divisor_override: int | None = None,
) -> Any:  # fmt: skip
    axes = int(str(call.node.target).partition("avg_pool")[2][0])
    found = _window(x, each(kernel, axes), stride, padding, 1, ceil_mode)
    if found is None or x.type.kind != "f":
        return NotImplemented
    kernel, stride, padding, dilation, around = found
    wide = for_sums(x)
    pool = SumPool(kernel, stride, dilation)
    total = pool(padded(wide, [(0, 0)] * (x.ndim - axes) + around))
    return as_dtype(total / _divisor(x, wide, pool, padding, around, count_include_pad, divisor_override), call.dtype)


def _divisor(x: Any, wide: Any, pool: SumPool, padding: Any, around: Any, inclusive: bool, override: int | None) -> Any:
    """Return what sums are divided by: a number, or one for each window at the border."""
    if override is not None:
        return number(override, wide)
    same = all(pair == (p, p) for pair, p in zip(around, padding, strict=True))
    if same and (inclusive or not any(padding)):
        return number(math.prod(pool.kernel), wide)
    counts: Any = None
    own = lengths(x)[-len(padding) :]
    if not all(isinstance(n, int) for n in own):
        ones = filled(own, 1, wide.dtype)
        inside = padded(ones, [(p, p) for p in padding], 1 if inclusive else 0)
        return pool(padded(inside, [(0, b - p) for (_, b), p in zip(around, padding, strict=True)]))
    within = np.pad(np.ones(own, wide.dtype), [(p, p) for p in padding], constant_values=1 if inclusive else 0)
    whole = np.pad(within, [(0, b - p) for (_, b), p in zip(around, padding, strict=True)])
    counts = pool.evaluate(whole)[0]
    return constant(counts)


@converter("aten.avg_pool2d_backward", "aten.avg_pool3d_backward")
def avg_pool_backward(
    call: Call, g: Any, x: Any, kernel: Any, stride: Any, padding: Any, ceil_mode: bool, count_include_pad: bool,
    divisor_override: int | None,
) -> Any:  # fmt: skip
    axes = int(str(call.node.target).partition("avg_pool")[2][0])
    found = _window(x, each(kernel, axes), stride, padding, 1, ceil_mode)
    if found is None:
        return NotImplemented
    kernel, stride, padding, dilation, around = found
    pool, own = SumPool(kernel, stride, dilation), lengths(x)
    divided = g / _divisor(x, g, pool, padding, around, count_include_pad, divisor_override)
    before = [(0, 0)] * (x.ndim - axes)
    whole = [n + a + b for n, (a, b) in zip(own, [*before, *around], strict=True)]
    total = filled(whole, 0, g.dtype)
    for place in pool.places(T.lengths_of(g)):
        total = T.inc_subtensor(total[place], divided)
    cut = tuple(slice(a, a + n) for n, (a, _) in zip(own, [*before, *around], strict=True))
    return total[cut]


@converter("aten._adaptive_avg_pool2d", "aten.adaptive_avg_pool1d", "aten._adaptive_avg_pool3d",
           "aten.adaptive_avg_pool2d", "aten.adaptive_avg_pool3d")  # fmt: skip
def adaptive_avg_pool(call: Call, x: Any, size: Any) -> Any:
    axes = int(str(call.node.target).partition("avg_pool")[2][0])
    own, target = lengths(x)[-axes:], numbers(each(size, axes))
    wide, first = for_sums(x), x.ndim - axes
    if all(n == 1 for n in target):
        return as_dtype(T.mean(wide, axis=tuple(range(first, x.ndim)), keepdims=True), call.dtype)
    if not all(isinstance(n, int) for n in (*own, *target)) or 0 in own or x.type.kind != "f":
        return NotImplemented
    if all(n % t == 0 for n, t in zip(own, target, strict=True)):
        kernel = tuple(n // t for n, t in zip(own, target, strict=True))
        if math.prod(kernel) == 1:
            return x
        return as_dtype(SumPool(kernel, kernel, (1,) * axes)(wide) / number(math.prod(kernel), wide), call.dtype)
    for axis, (n, t) in enumerate(zip(own, target, strict=True), start=first):
        wide = T.moveaxis(T.matmul(T.moveaxis(wide, axis, -1), constant(_means(n, t).T.astype(wide.dtype))), -1, axis)
    return as_dtype(wide, call.dtype)


def _means(n: int, count: int) -> np.ndarray:
    """Return the matrix whose rows are the means of `count` windows that cover n positions."""
    matrix = np.zeros((count, n))
    for k in range(count):
        first, end = k * n // count, -(-(k + 1) * n // count)
        matrix[k, first:end] = 1 / (end - first)
    return matrix


@converter("aten._adaptive_avg_pool2d_backward")
def adaptive_avg_pool_backward(call: Call, g: Any, x: Any) -> Any:
    own, target = lengths(x)[-2:], lengths(g)[-2:]
    if not all(isinstance(n, int) for n in (*own, *target)):
        return NotImplemented
    for axis, (n, t) in zip((-2, -1), zip(own, target, strict=True), strict=True):
        matrix = constant(_means(n, t).astype(g.dtype))
        g = T.moveaxis(T.matmul(T.moveaxis(g, axis, -1), matrix), -1, axis)
    return g


@converter("aten.upsample_nearest1d_backward", "aten.upsample_nearest2d_backward", "aten.upsample_nearest3d_backward",
           "aten._upsample_nearest_exact1d_backward", "aten._upsample_nearest_exact2d_backward",
           "aten._upsample_nearest_exact3d_backward")  # fmt: skip
def nearest_backward(call: Call, g: Any, output_size: Any, input_size: Any, *scales: Any) -> Any:
    """Add each element to that of the image it was taken from."""
    own, wide = numbers(input_size), numbers(output_size)
    if not all(isinstance(n, int) for n in (*own[2:], *wide)):
        return NotImplemented
    shift = np.float32(0.5 if "exact" in str(call.node.target) else 0.0)
    given = [*scales, *(None,) * (len(wide) - len(scales))]
    taken = []
    for n, m, s in zip(own[2:], wide, given, strict=True):
        step = np.float32(1.0 / s if s else n / m)
        taken.append(np.minimum(np.floor((np.arange(m, dtype=np.float32) + shift) * step).astype(np.int64), n - 1))
    return _gathered_backward(g, own, taken)


@converter("aten.replication_pad1d_backward", "aten.replication_pad2d_backward", "aten.replication_pad3d_backward")
def replication_backward(call: Call, g: Any, x: Any, padding: Any) -> Any:
    """Add the elements of the border to those that they repeat."""
    own, pads = lengths(x), numbers(padding)
    axes = len(pads) // 2
    if not all(isinstance(n, int) for n in (*own[-axes:], *pads)):
        return NotImplemented
    around = [(pads[2 * k], pads[2 * k + 1]) for k in reversed(range(axes))]
    taken = [np.clip(np.arange(-a, n + b), 0, n - 1) for n, (a, b) in zip(own[-axes:], around, strict=True)]
    return _gathered_backward(g, own, taken)


def _gathered_backward(g: Any, own: Sequence[Any], taken: Sequence[np.ndarray]) -> Any:
    """Return the cotangent of x of `x[..., taken]`, an index for each of the last axes."""
    before = (slice(None),) * (len(own) - len(taken))
    forms = [[-1 if j == k else 1 for j in range(len(taken))] for k in range(len(taken))]
    places = tuple(constant(t.reshape(form)) for t, form in zip(taken, forms, strict=True))
    return T.inc_subtensor(filled(own, 0, g.dtype)[(*before, *places)], g)
