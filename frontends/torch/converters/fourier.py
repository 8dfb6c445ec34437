"""Fourier transforms: one op of ATen for each pair of real and complex numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .... import ops as T
from ..dtypes import as_dtype
from ..symbols import lengths
from ..symbols import number as known
from ..table import Call, converter

ORDER = 1
"""Normalization by the square root of the number of elements; 2 is by that number, 0 is none."""


def _normalized(y: Any, size: Any, normalization: int, inverse: bool) -> Any:
    """Return a transform of NumPy's convention ("backward") in PyTorch's; `inverse` ones come divided by `size`."""
    size = as_dtype(size, y.dtype)
    if inverse:
        return y if normalization == 2 else y * (T.sqrt(size) if normalization == ORDER else size)
    return y if normalization == 0 else y / (T.sqrt(size) if normalization == ORDER else size)


def _count(x: Any, dims: Sequence[int], last: Any = None) -> Any:
    own, total = lengths(x), 1
    for d in dims:
        total = total * (own[d] if last is None or d != dims[-1] else last)
    return total


@converter("aten._fft_r2c")
def real_to_complex(call: Call, x: Any, dims: Sequence[int], normalization: int, onesided: bool) -> Any:
    axes = [d % x.ndim for d in dims]
    if not axes:
        return NotImplemented
    found = T.fft.rfftn(x, axes=axes) if onesided else T.fft.fftn(x, axes=axes)
    return as_dtype(_normalized(found, _count(x, axes), normalization, False), call.dtype)


@converter("aten._fft_c2c")
def complex_to_complex(call: Call, x: Any, dims: Sequence[int], normalization: int, forward: bool) -> Any:
    axes = [d % x.ndim for d in dims]
    if not axes:
        return x
    found = (T.fft.fftn if forward else T.fft.ifftn)(x, axes=axes)
    return as_dtype(_normalized(found, _count(x, axes), normalization, not forward), call.dtype)


@converter("aten._fft_c2r")
def complex_to_real(call: Call, x: Any, dims: Sequence[int], normalization: int, last: Any) -> Any:
    axes, last = [d % x.ndim for d in dims], known(last)
    own = lengths(x)
    sizes = [last if d == axes[-1] else own[d] for d in axes]
    found = T.fft.irfftn(x, sizes, axes=axes)
    return as_dtype(_normalized(found, _count(x, axes, last), normalization, True), call.dtype)
