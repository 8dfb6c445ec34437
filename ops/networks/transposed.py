"""Transposed convolutions: the cotangent of a convolution's input, as a layer.

    conv_transpose(x, w)[n, o, p] = sum of w[c, o, k] x[n, c, j] over all j, k with j stride + k dilation - padding = p
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ..core.checks import describe
from ..core.namespace import T
from ..core.operands import in_joint_dtype
from ..core.tensor import TensorVariable, as_tensor
from ..core.typing import TensorLike
from ..shapes.lengths import int_or_scalar, lengths_of
from ..shapes.windows import numbers_an_axis
from .convolution import Convolution, _as_bias, _padded, flipped_kernels, input_gradient
from .patches import _product, folded

__all__ = ["conv_transpose1d", "conv_transpose2d", "conv_transpose3d"]
TO_POSITIONS = (0, 3, 4, 1, 5, 2)
"""Order of axes that puts parts of channels (images, down, across, channels, rows, columns) next to positions."""

FEWEST = 32
"""Most positions of an image for which a product takes less time than the convolutions of the phases of a stride."""


def conv_transpose1d(
    x: TensorLike, w: TensorLike, bias: TensorLike | None = None, stride: Any = 1, padding: Any = 0,
    output_padding: Any = 0, groups: int = 1, dilation: Any = 1,
) -> TensorVariable:  # fmt: skip
    """The transposed convolution of x (images, channels, length); see `conv_transpose2d`."""
    return _transposed("conv_transpose1d", 1, x, w, bias, stride, padding, output_padding, groups, dilation)


def conv_transpose2d(
    x: TensorLike, w: TensorLike, bias: TensorLike | None = None, stride: Any = 1, padding: Any = 0,
    output_padding: Any = 0, groups: int = 1, dilation: Any = 1,
) -> TensorVariable:  # fmt: skip
    """The transposed convolution of x (images, channels, height, width) and w (channels, outputs / groups, ...).

    The conventions are PyTorch's: each axis has (length - 1) stride - 2 padding + dilation (kernel - 1) + 1 +
    output_padding positions.  `stride`, `output_padding` and `dilation` are one integer or one an axis, known now; so
    is `padding`, of which each may be a pair (before, after).  `bias` is a number an output.  Raises TypeError for
    other ranks and bools, ValueError for channels that do not fit and an output padding that is not less than the
    stride or the dilation.
    """
    return _transposed("conv_transpose2d", 2, x, w, bias, stride, padding, output_padding, groups, dilation)


def conv_transpose3d(
    x: TensorLike, w: TensorLike, bias: TensorLike | None = None, stride: Any = 1, padding: Any = 0,
    output_padding: Any = 0, groups: int = 1, dilation: Any = 1,
) -> TensorVariable:  # fmt: skip
    """The transposed convolution of x (images, channels, depth, height, width); see `conv_transpose2d`."""
    return _transposed("conv_transpose3d", 3, x, w, bias, stride, padding, output_padding, groups, dilation)


def _transposed(
    name: str, axes: int, x: Any, w: Any, bias: Any, stride: Any, padding: Any, output_padding: Any, groups: Any,
    dilation: Any,
) -> TensorVariable:  # fmt: skip
    x, w, *biases = in_joint_dtype((x, w) if bias is None else (x, w, bias))
    parts = numbers_an_axis(groups, 1, name, "groups")[0]
    _require_operands(name, axes, x, w, parts)
    steps, dilations = (numbers_an_axis(v, axes, name, r) for v, r in ((stride, "stride"), (dilation, "dilation")))
    extra = numbers_an_axis(output_padding, axes, name, "output_padding", least=0)
    for o, s, d in zip(extra, steps, dilations, strict=True):
        if o >= max(s, d):
            raise ValueError(f"{name}: output_padding must be less than the stride or the dilation, got {extra} for "
                             f"{steps} and {dilations}")  # fmt: skip
    if isinstance(padding, (tuple, list)) and any(isinstance(p, (tuple, list)) for p in padding):
        pairs = [numbers_an_axis(p, 2, name, "padding", least=0) for p in padding]
        around = [(before, after) for before, after in pairs]
        if len(around) != axes:
            raise ValueError(f"{name}: padding has a number or pair for each of {axes} axes, got {padding}")
    else:
        around = [(p, p) for p in numbers_an_axis(padding, axes, name, "padding", least=0)]
    for axis, (n, k) in enumerate(zip(x.type.shape[2:], w.type.shape[2:], strict=True)):
        beyond = dilations[axis] * ((k or 1) - 1) + 1 + extra[axis] - sum(around[axis])
        if None not in (n, k) and (n - 1) * steps[axis] + beyond < 1:
            raise ValueError(f"{name}: no positions are left on axis {axis + 2}: padding is {around}, x {describe(x)}")
    for b in biases:
        _as_bias(name, b, w, parts)  # refuses other shapes
    y: TensorVariable = transposed(x, w, steps, dilations, parts, around, extra, *biases)
    return y


def _require_operands(name: str, axes: int, x: Any, w: Any, groups: int) -> None:
    for role, operand in (("x", x), ("w", w)):
        if operand.ndim != axes + 2:
            form = "(images, channels" if role == "x" else "(channels, outputs / groups"
            raise TypeError(f"{name}: {role} has rank {axes + 2}, {form}, ...), got {describe(operand)}")
        if operand.dtype == "bool":
            raise TypeError(f"{name} takes numbers, got {describe(operand)}; cast it")
    channels, own = x.type.shape[1], w.type.shape[0]
    if None not in (channels, own) and channels != own:
        raise ValueError(f"{name}: w has kernels for {own} channels, expected {channels}: x is {describe(x)}, w is "
                         f"{describe(w)}")  # fmt: skip
    if own is not None and own % groups:
        raise ValueError(f"{name}: groups is {groups}, and the {own} channels of {describe(w)} are no multiple")


def transposed(
    x: Any, w: Any, steps: Sequence[int], dilations: Sequence[int], groups: int, around: Sequence[tuple[Any, Any]],
    extra: Sequence[int], bias: Any = None,
) -> Any:  # fmt: skip
    """Return the transposed convolution, plus a bias per output, for checked arguments; `around` may be negative."""
    if groups == 1 and w.type.shape[2:] == tuple(steps) and len(steps) == 2 and max(dilations) == 1:
        return _by_positions(x, w, steps, [(-a, o - b) for (a, b), o in zip(around, extra, strict=True)], bias)
    y = _overlapping(x, w, steps, dilations, groups, around, extra)
    return y if bias is None else T.add(y, T.expand_dims(bias, tuple(range(1, x.ndim - 1))))


def _by_positions(x: Any, w: Any, steps: Sequence[int], pairs: Sequence[tuple[Any, Any]], bias: Any) -> Any:
    """Return the result for windows that do not meet: a product of channels, whose outputs become rows and columns."""
    (images, _, height, width), (down, across), outputs = lengths_of(x), steps, lengths_of(w)[1]
    kernels = T.reshape(T.transpose(w, (2, 3, 1, 0)), (T.mul(outputs, down * across), lengths_of(w)[0], 1, 1))
    y = Convolution((1, 1), (1, 1), 1)(x, kernels)
    grows = any(n > 0 for pair in pairs for n in pair)
    if bias is not None and not grows:
        y = T.add(y, T.expand_dims(T.concatenate([bias] * (down * across)), (1, 2)))
    separate = T.reshape(y, (images, down, across, outputs, height, width))
    whole = T.reshape(T.transpose(separate, TO_POSITIONS), (images, outputs, T.mul(height, down), T.mul(width, across)))
    whole = _resized(whole, pairs)
    return whole if bias is None or not grows else T.add(whole, T.expand_dims(bias, (1, 2)))


def _overlapping(
    x: Any, w: Any, steps: Sequence[int], dilations: Sequence[int], groups: int, around: Sequence[tuple[Any, Any]],
    extra: Sequence[int],
) -> Any:  # fmt: skip
    """Return the result for windows that may meet."""
    op = Convolution(tuple(steps), tuple(dilations), groups)
    known = w.type.shape[2:]
    if max(steps) == 1 and None not in known:
        reach = [d * (k - 1) for d, k in zip(dilations, known, strict=True)]
        pairs = [(r - a, r - b + o) for r, (a, b), o in zip(reach, around, extra, strict=True)]
        return op(_resized(x, pairs), flipped_kernels(op, w))
    spots, kernel = lengths_of(x)[2:], lengths_of(w)[2:]
    several = zip(spots, kernel, steps, dilations, strict=True)
    full = [int_or_scalar((n - 1) * s + d * (k - 1) + 1) for n, k, s, d in several]
    if None not in known and (max(dilations) > 1 or _are_few(x.type.shape[2:])):
        return _by_columns(x, w, steps, dilations, groups, full, around, extra)
    y = input_gradient(op, x, w, (lengths_of(x)[0], T.mul(lengths_of(w)[1], groups), *map(as_tensor, full)))
    return _resized(y, [(-a, o - b) for (a, b), o in zip(around, extra, strict=True)])


def _are_few(spots: Sequence[int | None]) -> bool:
    """Return whether one product for all kernel positions is faster than a convolution for each phase of the stride."""
    return None not in spots and math.prod(n or 0 for n in spots) <= FEWEST


def _by_columns(
    x: Any, w: Any, steps: Sequence[int], dilations: Sequence[int], groups: int, full: Sequence[Any],
    around: Sequence[tuple[Any, Any]], extra: Sequence[int],
) -> Any:  # fmt: skip
    """Return one product for each image and group, whose columns are added up where windows overlap."""
    kernel, (images, channels, *spots) = w.type.shape[2:], lengths_of(x)
    rows = T.reshape(w, (groups, T.floor_div(channels, groups), -1))
    parts = T.reshape(x, (images, groups, T.floor_div(channels, groups), _product(spots)))
    columns = T.matmul(T.swapaxes(rows, 1, 2), parts)
    joined = T.reshape(columns, (images, T.mul(T.mul(lengths_of(w)[1], groups), math.prod(kernel)), _product(spots)))
    cut = [(max(a, 0), max(b - o, 0)) for (a, b), o in zip(around, extra, strict=True)]
    size = [int_or_scalar(T.sub(n, a + b)) for n, (a, b) in zip(full, cut, strict=True)]
    y = folded(joined, size, kernel, dilations, cut, steps)
    return _resized(y, [(max(-a, 0), max(o - b, 0)) for (a, b), o in zip(around, extra, strict=True)])


def _resized(x: Any, pairs: Sequence[tuple[int, int]]) -> Any:
    """Return x with zeros before and after its last axes, or, where a number is negative, without elements."""
    x = _padded(x, [(max(a, 0), max(b, 0)) for a, b in pairs])
    cut = [slice(-a if a < 0 else None, b if b < 0 else None) for a, b in pairs]
    return x[(slice(None), slice(None), *cut)] if any(c != slice(None) for c in cut) else x
