"""Older functions of windows: convolutions of plain images and of films, neighbourhoods put back, sparse blocks."""

from __future__ import annotations

from typing import Any

from .... import ops as T
from ..tensors.dtypes import upcast
from ..tensors.shapes import lengths
from ..tensors.variables import as_tensor_variable, wrap
from .windows import conv2d, conv3d


def signal_conv2d(
    input: Any, filters: Any, image_shape: Any = None, filter_shape: Any = None, border_mode: Any = "valid",
    subsample: Any = (1, 1), **options: Any,
) -> Any:  # fmt: skip
    """The convolution of one image or several with one filter or several, each with each; filters are flipped.

    The result has an axis for the images where there are several, and one for the filters.
    """
    x, w = as_tensor_variable(input), as_tensor_variable(filters)
    for role, v in (("input", x), ("filters", w)):
        if v.ndim not in (2, 3):
            raise TypeError(f"signal.conv.conv2d: {role} must have rank 2 or 3, got {v} of type {v.type}")
    images, kernels = (v.dimshuffle("x", "x", 0, 1) if v.ndim == 2 else v.dimshuffle(0, "x", 1, 2) for v in (x, w))
    found = conv2d(images, kernels, border_mode=border_mode, subsample=subsample).core
    place = tuple(slice(None) if v.ndim == 3 else 0 for v in (x, w))
    return wrap(found[place], x, w)


def conv3d2d(
    signals: Any, filters: Any, signals_shape: Any = None, filters_shape: Any = None, border_mode: Any = "valid"
) -> Any:
    """The convolution of films (film, time, channel, row, column) with filters in the same order."""
    films, kernels = (as_tensor_variable(v) for v in (signals, filters))
    order = (0, 2, 1, 3, 4)
    modes = border_mode if isinstance(border_mode, tuple) else (border_mode,) * 3
    if len(set(modes)) > 1:
        raise NotImplementedError(f"conv3d: border_mode is {border_mode!r}; use one for time, rows and columns")
    found = conv3d(films.dimshuffle(*order), kernels.dimshuffle(*order), border_mode=modes[0])
    return found.dimshuffle(*order)


def neibs2images(neibs: Any, neib_shape: Any, original_shape: Any, mode: str = "valid") -> Any:
    """The images of shape `original_shape` whose neighbourhoods without overlap are the rows of `neibs`."""
    if mode not in ("valid", "ignore_borders"):
        raise NotImplementedError(f"neibs2images: mode is {mode!r}; expected 'valid' or 'ignore_borders'")
    rows = as_tensor_variable(neibs)
    high, wide = (lengths(neib_shape)[n] for n in (0, 1))
    batch, channels, height, width = (lengths(original_shape)[n] for n in range(4))
    down, across = height // high, width // wide
    tiles = T.reshape(rows.core, (batch, channels, down, across, high, wide))
    whole = T.reshape(T.transpose(tiles, (0, 1, 2, 4, 3, 5)), (batch, channels, down * high, across * wide))
    if mode == "valid":
        return wrap(whole, rows)
    images = T.zeros((batch, channels, height, width), rows.dtype)
    return wrap(T.set_subtensor(images[:, :, : down * high, : across * wide], whole), rows)


def sparse_block_dot(W: Any, h: Any, inputIdx: Any, b: Any, outputIdx: Any) -> Any:
    """For each example the sum of its input blocks times the weights between them and its output blocks, plus biases.

    W: (input block, output block, size in, size out); h: (example, window, size in); b: (output block, size out);
    inputIdx, outputIdx: for each example the blocks of its windows.
    """
    w, x, bias = (as_tensor_variable(v) for v in (W, h, b))
    sources, targets = (as_tensor_variable(v) for v in (inputIdx, outputIdx))
    if x.ndim == 2:
        one = sparse_block_dot(w, x.dimshuffle("x", 0, 1), sources.dimshuffle("x", 0), bias, targets.dimshuffle("x", 0))
        return wrap(one.core[0], one)
    dtype = upcast(w.dtype, x.dtype)
    blocks = T.cast(w.core, dtype)[T.dimshuffle(sources.core, 0, 1, "x"), T.dimshuffle(targets.core, 0, "x", 1)]
    terms = T.mul(T.dimshuffle(T.cast(x.core, dtype), 0, 1, "x", 2, "x"), blocks)
    return wrap(T.add(T.sum(terms, axis=(1, 3)), bias.core[targets.core]), w, x)


BLOCKS = {"sparse_block_dot": sparse_block_dot}
