"""Batch normalization, windows as rows, lengths of convolutions."""

from __future__ import annotations

from typing import Any

import numpy as np

from .... import ops as T
from ....ops.core.backward import pull_back
from ..tensors.elementwise import FUNCTIONS
from ..tensors.shapes import dimshuffle
from ..tensors.variables import TensorConstant, as_tensor_variable, wrap
from .windows import _around, _numbers, conv2d, conv3d


def batch_normalization(inputs: Any, gamma: Any, beta: Any, mean: Any, std: Any, mode: str = "low_mem") -> Any:
    """(inputs - mean) gamma / std + beta."""
    x, gamma, beta, mean, std = map(as_tensor_variable, (inputs, gamma, beta, mean, std))
    return (x - mean) * (gamma / std) + beta


def _axes(axes: Any, rank: int) -> tuple[int, ...]:
    """The axes that statistics go over: "per-activation", "spatial", or numbers."""
    if axes == "per-activation":
        return (0,)
    if axes == "spatial":
        return (0, *range(2, rank))
    several = (axes,) if isinstance(axes, (int, np.integer, str)) else tuple(axes)
    found = tuple(int(a) for a in several if not isinstance(a, str))
    if not found or any(not 0 <= a < rank for a in found):
        raise ValueError(f"batch normalization: axes is {axes!r}; expected 'per-activation', 'spatial' or axes")
    return found


def _parameter(value: Any, axes: tuple[int, ...], rank: int) -> Any:
    """A parameter of the rank of the inputs, of length 1 along the axes."""
    p = as_tensor_variable(value)
    if p.ndim == rank:
        return FUNCTIONS["addbroadcast"](p, *axes)
    own = iter(range(p.ndim))
    return dimshuffle(p, *("x" if n in axes else next(own) for n in range(rank)))


def batch_normalization_train(
    inputs: Any, gamma: Any, beta: Any, axes: Any = "per-activation", epsilon: float = 1e-4,
    running_average_factor: float = 0.1, running_mean: Any = None, running_var: Any = None,
) -> tuple[Any, ...]:  # fmt: skip
    """(normalized inputs, mean, 1 / deviation), then the new running mean and variance where old ones are given.

    Statistics have the rank of `gamma`: that of the inputs, or one axis for each that they do not go over.
    """
    x, gamma = as_tensor_variable(inputs), as_tensor_variable(gamma)
    over = _axes(axes, x.ndim)
    scale, shift = _parameter(gamma, over, x.ndim), _parameter(beta, over, x.ndim)
    mean, var = x.mean(axis=over, keepdims=True), x.var(axis=over, keepdims=True)
    inverse = FUNCTIONS["inv"](FUNCTIONS["sqrt"](var + epsilon))
    found = [(x - mean) * (scale * inverse) + shift, mean, inverse]
    keep = 1.0 - running_average_factor
    if running_mean is not None:
        found.append(_parameter(running_mean, over, x.ndim) * keep + mean * running_average_factor)
    if running_var is not None:
        count = FUNCTIONS["cast"](FUNCTIONS["prod"](x.shape) // FUNCTIONS["prod"](mean.shape), x.dtype)
        unbiased = var * (count / (count - 1.0))
        found.append(_parameter(running_var, over, x.ndim) * keep + unbiased * running_average_factor)
    if gamma.ndim != x.ndim:
        kept = [n for n in range(x.ndim) if n not in over]
        found[1:] = [dimshuffle(v, *kept) for v in found[1:]]
    return tuple(found)


def batch_normalization_test(
    inputs: Any, gamma: Any, beta: Any, mean: Any, var: Any, axes: Any = "per-activation", epsilon: float = 1e-4
) -> Any:
    """The inputs normalized with a mean and variance that are given."""
    x = as_tensor_variable(inputs)
    over = _axes(axes, x.ndim)
    scale, shift, centre, spread = (_parameter(p, over, x.ndim) for p in (gamma, beta, mean, var))
    return (x - centre) * (scale / FUNCTIONS["sqrt"](spread + epsilon)) + shift


def images2neibs(ten4: Any, neib_shape: Any, neib_step: Any = None, mode: str = "valid") -> Any:
    """A row for each window of each image and channel."""
    if mode not in ("valid", "ignore_borders"):
        raise NotImplementedError(f"images2neibs: mode is {mode!r}; expected 'valid' or 'ignore_borders'")
    x = as_tensor_variable(ten4)
    kernel = _numbers(neib_shape, 2, "images2neibs: neib_shape")
    steps = kernel if neib_step is None else _numbers(neib_step, 2, "images2neibs: neib_step")
    lengths = T.shape(x.core)
    counts = [(lengths[n + 2] - kernel[n]) // steps[n] + 1 for n in range(2)]
    reach = [(counts[n] - 1) * steps[n] + 1 for n in range(2)]
    parts = [
        x.core[:, :, i : i + reach[0] : steps[0], j : j + reach[1] : steps[1]]
        for i in range(kernel[0])
        for j in range(kernel[1])
    ]
    return wrap(T.reshape(T.stack(parts, -1), (-1, kernel[0] * kernel[1])), x)


def get_conv_output_shape(
    image_shape: Any, kernel_shape: Any, border_mode: Any, subsample: Any, filter_dilation: Any = None
) -> tuple[Any, ...]:
    """The shape of a convolution: (images, filters, lengths); None where a length is unknown."""
    axes = len(image_shape) - 2
    separate = (1,) * axes if filter_dilation is None else tuple(filter_dilation)
    steps = tuple(subsample)
    found: list[Any] = [_as_int(image_shape[0]), _as_int(kernel_shape[0])]
    for n in range(axes):
        length, kernel = _as_int(image_shape[n + 2]), _as_int(kernel_shape[n + len(kernel_shape) - axes])
        known = length is not None and kernel is not None
        found.append(_length(length, kernel, border_mode, n, steps[n], separate[n]) if known else None)
    return tuple(found)


def _as_int(n: Any) -> Any:
    return int(n.data) if isinstance(n, TensorConstant) else n


def _length(length: Any, kernel: Any, border: Any, axis: int, step: int, separate: int) -> Any:
    extent = (kernel - 1) * separate + 1
    if isinstance(border, str):
        around = {"valid": 0, "full": 2 * (extent - 1), "half": 2 * (extent // 2)}[border]
    else:
        pad = border if isinstance(border, (int, np.integer)) else border[axis]
        around = sum(pad) if isinstance(pad, (tuple, list)) else 2 * pad
    return (length + around - extent) // step + 1


def conv3d_grad_wrt_inputs(
    output_grad: Any, filters: Any, input_shape: Any, filter_shape: Any = None, border_mode: Any = "valid",
    subsample: Any = (1, 1, 1), filter_flip: bool = True, filter_dilation: Any = (1, 1, 1), num_groups: int = 1,
) -> Any:  # fmt: skip
    """The derivative of `conv3d` by its volumes."""
    g, w = as_tensor_variable(output_grad), as_tensor_variable(filters)
    shape = [g.shape[0], w.shape[1] * num_groups, *tuple(input_shape)[2:]]
    x = FUNCTIONS["zeros"](shape, g.dtype)
    y = conv3d(x, w, None, filter_shape, border_mode, subsample, filter_flip, filter_dilation, num_groups)
    return wrap(pull_back([y.core], [g.core], [x.core])[0], g)


def conv3d_grad_wrt_weights(
    input: Any, output_grad: Any, filter_shape: Any, input_shape: Any = None, border_mode: Any = "valid",
    subsample: Any = (1, 1, 1), filter_flip: bool = True, filter_dilation: Any = (1, 1, 1), num_groups: int = 1,
) -> Any:  # fmt: skip
    """The derivative of `conv3d` by its filters."""
    x, g = as_tensor_variable(input), as_tensor_variable(output_grad)
    w = FUNCTIONS["zeros"]([g.shape[1], x.shape[1] // num_groups, *tuple(filter_shape)[2:]], x.dtype)
    y = conv3d(x, w, input_shape, None, border_mode, subsample, filter_flip, filter_dilation, num_groups)
    return wrap(pull_back([y.core], [g.core], [w.core])[0], g)


def causal_conv1d(
    input: Any, filters: Any, filter_shape: Any, input_shape: Any = None, subsample: int = 1, filter_flip: bool = True,
    filter_dilation: int = 1, num_groups: int = 1, unshared: bool = False,
) -> Any:  # fmt: skip
    """The convolution along time (examples, channels, time) that reads no later times."""
    x, w = as_tensor_variable(input), as_tensor_variable(filters)
    before = ((_as_int(filter_shape[2]) - 1) * filter_dilation, 0)
    image, kernel = dimshuffle(x, 0, 1, 2, "x"), dimshuffle(w, 0, 1, 2, "x")
    how = ((before, 0), (subsample, 1), filter_flip, None, (filter_dilation, 1), num_groups)
    y = conv2d(image, kernel, None, None, *how)
    return y[:, :, :, 0]


def border_mode_to_pad(mode: Any, convdim: int, kshp: Any) -> Any:
    """The padding of each axis as pairs."""
    kernel = np.zeros(tuple(kshp)[-convdim:], np.int8)
    found = _around(mode, T.constant(kernel), (1,) * convdim, "border_mode_to_pad")
    return tuple(p if isinstance(p, tuple) else (p, p) for p in found)


BATCHES = {
    f.__name__: f for f in (batch_normalization, batch_normalization_train, batch_normalization_test)
}  # fmt: skip
CONVOLUTIONS = {
    f.__name__: f for f in (
        get_conv_output_shape, conv3d_grad_wrt_inputs, conv3d_grad_wrt_weights, causal_conv1d, border_mode_to_pad,
    )
}  # fmt: skip
