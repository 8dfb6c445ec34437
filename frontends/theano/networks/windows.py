"""Convolutions and pools with Theano's borders, flips and arguments."""

from __future__ import annotations

from typing import Any

import numpy as np

from .... import ops as T
from ....graph import Constant, leaves
from ....ops.core.backward import pull_back
from ....ops.core.interpret import evaluate
from ....ops.core.shared import SharedVariable as CoreShared
from ....ops.networks.pooling import SumPool
from ....ops.shapes.specify import CheckLengths
from ....record.spelling import counted
from ..flags import config, warn_once
from ..tensors.dtypes import upcast
from ..tensors.shapes import length
from ..tensors.slopes import FullMaxPool
from ..tensors.variables import TensorConstant, Variable, as_tensor_variable, wrap

LETTERS = {1: "conv1d", 2: "conv2d", 3: "conv3d"}


def _numbers(value: Any, axes: int, what: str) -> tuple[int, ...]:
    """One integer for each axis, computed now if it reads only shared variables.  Raises TypeError for others."""
    value = _now(value)
    if isinstance(value, (int, np.integer)):
        value = (value,) * axes
    try:
        found = tuple(int(_now(n)) for n in value)
    except (TypeError, ValueError):
        expected = f"{axes} integers that are known when the graph is built"
        raise TypeError(f"{what} is {value!r}; expected {expected}") from None
    if len(found) != axes:
        raise ValueError(f"{what} is {value!r}; expected {axes} integers")
    return found


def _now(value: Any) -> Any:
    """The value of a variable that reads constants and shared variables alone, as numbers; others as they are."""
    if not isinstance(value, Variable):
        return value
    open_leaves = [v for v in leaves([value.core]) if not isinstance(v, (Constant, CoreShared))]
    return value if open_leaves else evaluate([value.core], {})[0].tolist()


def _held(x: Any, *given: tuple[Any, tuple[int, ...], str]) -> Any:
    """`x`; a call raises if shared variables have changed since the graph was built.

    `given`: what the program wrote, the numbers that it was at that time, and the name of the argument.
    """
    subjects: list[tuple[str, int]] = []
    numbers: list[Any] = []
    for value, now, what in given:
        vector = isinstance(value, Variable) and value.ndim
        several = value if isinstance(value, (list, tuple)) or vector else [value] * len(now)
        for axis, n in enumerate(now):
            one = several[axis]
            if isinstance(one, Variable) and not isinstance(one, TensorConstant):
                subjects.append((f"{what} was {n} when the graph was built", axis))
                numbers += [T.cast(one.core, "int64"), T.constant(n, "int64")]
    return CheckLengths(tuple(subjects), declared=False)(x, *numbers) if subjects else x


def _around(border: Any, kernel: Any, separate: tuple[int, ...], what: str) -> list[Any]:
    """The padding of each axis: an integer, a pair, or lengths of the kernel for "full" and "half"."""
    axes = len(separate)
    if border == "valid":
        return [0] * axes
    if border in ("full", "half"):
        reach = [(_known(kernel, n + kernel.ndim - axes) - 1) * separate[n] for n in range(axes)]
        return [(r if border == "full" else (r + 1) // 2) for r in reach]
    if isinstance(border, str):
        raise ValueError(f"{what}: border_mode is {border!r}; expected 'valid', 'full', 'half', integers or pairs")
    given = (border,) * axes if isinstance(border, (int, np.integer)) else tuple(border)
    if len(given) != axes:
        raise ValueError(f"{what}: border_mode is {border!r}; expected {axes} integers or pairs")
    return [tuple(map(int, p)) if isinstance(p, (tuple, list)) else int(p) for p in given]


def _known(kernel: Any, axis: int) -> Any:
    """The length of an axis of the kernels: an integer if it is known, else an int64 scalar."""
    known = kernel.type.shape[axis]
    return known if known is not None else T.shape(kernel)[axis]


def _padded(x: Any, around: list[Any]) -> Any:
    """`x` with zeros around its last axes."""
    pairs = [p if isinstance(p, tuple) else (p, p) for p in around]
    if all(isinstance(n, int) and not n for pair in pairs for n in pair):
        return x
    return T.pad(x, [(0, 0)] * (x.ndim - len(pairs)) + pairs)


def _promised(x: Any, shape: Any) -> Any:
    """`x` with the lengths of a hint that are integers."""
    if shape is None:
        return x
    given: list[Any] = [n.data if isinstance(n, TensorConstant) else n for n in shape]
    known = tuple(int(n) if isinstance(n, (int, np.integer, np.ndarray)) else None for n in given)
    promised: Any = known
    return x if len(known) != x.ndim or all(n is None for n in known) else T.specify_shape(x, promised)


def _without_batch(shape: Any) -> Any:
    """The hint for images without their number: the last batch of an epoch may be smaller."""
    return shape if shape is None or config.conv.assert_shape else (None, *tuple(shape)[1:])


def _convolved(
    axes: int, input: Any, filters: Any, input_shape: Any, filter_shape: Any, border_mode: Any, subsample: Any,
    filter_flip: bool, dilation: Any, num_groups: int, unshared: bool = False,
) -> Any:  # fmt: skip
    name = LETTERS[axes]
    if unshared:
        raise NotImplementedError(f"{name}: unshared=True has no kernel here; write it by T.tensordot over windows")
    x, w = as_tensor_variable(input), as_tensor_variable(filters)
    for role, given in (("input", x), ("filters", w)):
        if given.ndim != axes + 2:
            raise TypeError(f"{name}: {role} has {axes + 2} dimensions, got {given} of type {given.type}")
    dtype = upcast(x.dtype, w.dtype)
    separate = _numbers(dilation, axes, f"{name}: filter_dilation")
    kernel = T.cast(_promised(w.core, filter_shape), dtype)
    images = T.cast(_promised(x.core, _without_batch(input_shape)), dtype)
    image = _padded(images, _around(border_mode, kernel, separate, name))
    if filter_flip:
        kernel = kernel[(Ellipsis, *[slice(None, None, -1)] * axes)]
    steps = _numbers(subsample, axes, f"{name}: subsample")
    image = _held(image, (subsample, steps, f"{name}: subsample"), (dilation, separate, f"{name}: filter_dilation"))
    return wrap(getattr(T.nn, name)(image, kernel, None, steps, 0, separate, num_groups), x, w)


def conv2d(
    input: Any, filters: Any, input_shape: Any = None, filter_shape: Any = None, border_mode: Any = "valid",
    subsample: Any = (1, 1), filter_flip: bool = True, image_shape: Any = None, filter_dilation: Any = (1, 1),
    num_groups: int = 1, unshared: bool = False, **options: Any,
) -> Any:  # fmt: skip
    """The convolution of images (batch, channels, rows, columns); filters are flipped unless `filter_flip` is False.

    `border_mode`: "valid", "full", "half", an integer, or integers or pairs an axis.  The lengths of `filter_shape`,
    and those of `input_shape` behind the first, are promises.
    """
    for name in options:
        warn_once(f"conv2d.{name}", f"conv2d: {name} has no effect")
    shape = input_shape if input_shape is not None else image_shape
    return _convolved(
        2, input, filters, shape, filter_shape, border_mode, subsample, filter_flip, filter_dilation, num_groups,
        unshared,
    )  # fmt: skip


def conv3d(
    input: Any, filters: Any, input_shape: Any = None, filter_shape: Any = None, border_mode: Any = "valid",
    subsample: Any = (1, 1, 1), filter_flip: bool = True, filter_dilation: Any = (1, 1, 1), num_groups: int = 1,
) -> Any:  # fmt: skip
    """The convolution of volumes; see `conv2d`."""
    return _convolved(
        3, input, filters, input_shape, filter_shape, border_mode, subsample, filter_flip, filter_dilation, num_groups
    )


def conv2d_grad_wrt_inputs(
    output_grad: Any, filters: Any, input_shape: Any, filter_shape: Any = None, border_mode: Any = "valid",
    subsample: Any = (1, 1), filter_flip: bool = True, filter_dilation: Any = (1, 1), num_groups: int = 1,
    unshared: bool = False,
) -> Any:  # fmt: skip
    """The derivative of `conv2d` by its images, of shape `input_shape`; a transposed convolution."""
    g, w = as_tensor_variable(output_grad), as_tensor_variable(filters)
    lengths = [T.shape(g.core)[0], T.shape(w.core)[1], *(length(n) for n in tuple(input_shape)[2:])]
    image = wrap(T.zeros(tuple(lengths), upcast(g.dtype, w.dtype)))
    how = (border_mode, subsample, filter_flip, None, filter_dilation, num_groups, unshared)
    y = conv2d(image, w, None, filter_shape, *how)
    return _pulled(y, image, g)


def conv2d_grad_wrt_weights(
    input: Any, output_grad: Any, filter_shape: Any, input_shape: Any = None, border_mode: Any = "valid",
    subsample: Any = (1, 1), filter_flip: bool = True, filter_dilation: Any = (1, 1), num_groups: int = 1,
    unshared: bool = False,
) -> Any:  # fmt: skip
    """The derivative of `conv2d` by its filters, of shape `filter_shape`."""
    x, g = as_tensor_variable(input), as_tensor_variable(output_grad)
    lengths = [T.shape(g.core)[1], T.shape(x.core)[1], *(length(n) for n in tuple(filter_shape)[2:])]
    w = wrap(T.zeros(tuple(lengths), upcast(x.dtype, g.dtype)))
    how = (border_mode, subsample, filter_flip, None, filter_dilation, num_groups, unshared)
    y = conv2d(x, w, input_shape, None, *how)
    return _pulled(y, w, g)


def _pulled(y: Any, by: Any, g: Any) -> Any:
    (found,) = pull_back([y.core], [T.cast(g.core, y.dtype)], [by.core])
    return wrap(found, g)


def conv2d_transpose(
    input: Any, filters: Any, output_shape: Any, filter_shape: Any = None, border_mode: Any = "valid",
    input_dilation: Any = (1, 1), filter_flip: bool = True, filter_dilation: Any = (1, 1), num_groups: int = 1,
    unshared: bool = False,
) -> Any:  # fmt: skip
    """The transposed convolution to images of shape `output_shape`."""
    return conv2d_grad_wrt_inputs(
        input, filters, output_shape, filter_shape, border_mode, input_dilation, filter_flip, filter_dilation,
        num_groups, unshared,
    )  # fmt: skip


def separable_conv2d(
    input: Any, depthwise_filters: Any, pointwise_filters: Any, num_channels: int, input_shape: Any = None,
    depthwise_filter_shape: Any = None, pointwise_filter_shape: Any = None, border_mode: Any = "valid",
    subsample: Any = (1, 1), filter_flip: bool = True, filter_dilation: Any = (1, 1),
) -> Any:  # fmt: skip
    """A convolution of each channel by itself, then one of single pixels across channels."""
    deep = conv2d(
        input, depthwise_filters, input_shape, depthwise_filter_shape, border_mode, subsample, filter_flip, None,
        filter_dilation, num_channels,
    )  # fmt: skip
    return conv2d(deep, pointwise_filters, None, pointwise_filter_shape, "valid", (1, 1), filter_flip)


# --- pools


def pool_2d(
    input: Any, ws: Any = None, ignore_border: bool | None = None, stride: Any = None, pad: Any = (0, 0),
    mode: str = "max", ds: Any = None, st: Any = None, padding: Any = None,
) -> Any:  # fmt: skip
    """The maximum, sum or mean of windows over the last two axes.

    `ignore_border`: whether a window that hangs over the end is left out (False by default).  `mode`: "max", "sum",
    "average_inc_pad" or "average_exc_pad".
    """
    return _pooled(2, input, ws if ds is None else ds, ignore_border, stride if st is None else st,
                   pad if padding is None else padding, mode)  # fmt: skip


def pool_3d(
    input: Any, ws: Any = None, ignore_border: bool | None = None, stride: Any = None, pad: Any = (0, 0, 0),
    mode: str = "max", ds: Any = None, st: Any = None, padding: Any = None,
) -> Any:  # fmt: skip
    """The same over the last three axes."""
    return _pooled(3, input, ws if ds is None else ds, ignore_border, stride if st is None else st,
                   pad if padding is None else padding, mode)  # fmt: skip


def max_pool_2d(
    input: Any, ds: Any, ignore_border: bool = False, st: Any = None, padding: Any = (0, 0), mode: str = "max"
) -> Any:
    """`pool_2d` under its older name."""
    return pool_2d(input, ds, ignore_border, st, padding, mode)


def max_pool_2d_same_size(input: Any, patch_size: Any) -> Any:
    """The input with zeros in the place of all numbers that are not the largest of their patch."""
    x = as_tensor_variable(input)
    pooled = pool_2d(x, patch_size, True)
    marked: Any
    (marked,) = pull_back([T.sum(pooled.core)], [T.constant(1, x.dtype)], [x.core])
    return wrap(T.mul(x.core, T.cast(T.ne(marked, 0), x.dtype)), x)


def _pooled(axes: int, input: Any, ws: Any, ignore: Any, stride: Any, pad: Any, mode: str) -> Any:
    name = f"pool_{axes}d"
    if mode not in ("max", "sum", "average_inc_pad", "average_exc_pad"):
        raise ValueError(f"{name}: mode is {mode!r}; expected 'max', 'sum', 'average_inc_pad' or 'average_exc_pad'")
    x = as_tensor_variable(input)
    if x.ndim < axes:
        raise NotImplementedError(f"{name} takes at least {counted(axes, 'dimension')}, got {x} of type {x.type}")
    kernel = _numbers(ws, axes, f"{name}: ws")
    steps = kernel if stride is None else _numbers(stride, axes, f"{name}: stride")
    around = _numbers(pad, axes, f"{name}: pad")
    if any(around) and not ignore:
        raise NotImplementedError(f"{name}: pad works with ignore_border=True only")
    if any(p >= k for p, k in zip(around, kernel, strict=True)):
        raise NotImplementedError(f"{name}: pad is {around}; it is smaller than the window {kernel}")
    lengths = T.shape(x.core)
    image = x.core
    if x.ndim != axes + 2:
        image = T.reshape(image, (-1, 1, *(lengths[n] for n in range(x.ndim - axes, x.ndim))))
    written = ((ws, kernel, f"{name}: ws"), (kernel if stride is None else stride, steps, f"{name}: stride"))
    image = _held(image, *written, (pad, around, f"{name}: pad"))
    found = _windows(image, kernel, steps, around, bool(ignore), mode)
    if x.ndim != axes + 2:
        outer = [lengths[n] for n in range(x.ndim - axes)]
        inner = [T.shape(found)[n] for n in range(2, axes + 2)]
        found = T.reshape(found, (*outer, *inner))
    return wrap(found, x)


def _windows(x: Any, kernel: Any, steps: Any, around: Any, ignore: bool, mode: str) -> Any:
    axes = len(kernel)
    pairs: list[Any] = [(p, p) for p in around]
    if not ignore:
        pairs = [(0, _hanging(x, n + 2, kernel[n], steps[n])) for n in range(axes)]
    kind = FullMaxPool if mode == "max" else SumPool
    pool = kind(kernel, steps, (1,) * axes)
    full = [(0, 0), (0, 0), *pairs]
    plain = all(isinstance(n, int) and not n for pair in pairs for n in pair)
    lowest = -np.inf if x.dtype.startswith("float") else np.iinfo(x.dtype).min if mode == "max" else 0
    bordered = x if plain else T.pad(x, full, constant_values=lowest if mode == "max" else 0)
    found = pool(bordered)
    if mode in ("max", "sum"):
        return found
    if mode == "average_inc_pad" and ignore:
        return T.true_div(found, T.constant(float(np.prod(kernel)), x.dtype))
    counted = float(mode == "average_inc_pad")
    inside = T.pad(T.ones_like(x), [(0, 0), (0, 0), *[(p, p) for p in around]], constant_values=counted)
    return T.true_div(found, pool(T.pad(inside, full) if not ignore else inside))


def _hanging(x: Any, axis: int, kernel: int, step: int) -> Any:
    """The overhang of the last window beyond the end, if windows cover every element."""
    known = x.type.shape[axis]
    if known is not None:
        return max(_count(known, kernel, step) * step - step + kernel - known, 0)
    n = T.shape(x)[axis]
    count: Any
    if step >= kernel:
        count = (n - 1) // step + 1
    else:
        count = T.maximum((n - 1 - kernel) // step + 1, 0) + 1
    return T.maximum((count - 1) * step + kernel - n, 0)


def _count(n: int, kernel: int, step: int) -> int:
    """The number of windows along an axis."""
    return (n - 1) // step + 1 if step >= kernel else max((n - 1 - kernel) // step + 1, 0) + 1
