"""Integer sums scaled without floats, as in TensorFlow Lite: a 31-bit multiplier and a shift.

    rounded(high(x * 2^max(shift, 0) * multiplier) / 2^max(-shift, 0))

`high(p)` is p / 2^31 rounded, halves upward; the division rounds halves away from zero.  Source: `gemmlowp`, Jacob and
Warden, fixedpoint.h (`SaturatingRoundingDoublingHighMul`, `RoundingDivideByPOT`), and TensorFlow Lite,
`MultiplyByQuantizedMultiplier` with two roundings; Jacob et al. (2018), section 2.2.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...graph import Apply, Constant, TensorType, Variable
from ...graph.types import dtype_name
from ...record import record
from ...record.spelling import counted
from ..core.checks import describe, normalize_axis, require_count
from ..core.namespace import T
from ..core.tensor import TensorVariable, as_tensor, constant
from ..core.typing import DTypeLike, TensorLike
from ..elementwise.pointwise import Broadcasting, broadcast_shapes
from .quantized import _zeros

__all__ = ["requantize"]

BITS = 31


def fixed_point(scale: float) -> tuple[int, int]:
    """Return the multiplier, from 2^30 to 2^31 - 1, and the shift of a positive number: m * 2^(shift - 31)."""
    mantissa, shift = math.frexp(scale)
    multiplier = math.floor(mantissa * (1 << BITS) + 0.5)
    if multiplier == 1 << BITS:
        multiplier, shift = multiplier >> 1, shift + 1
    return (0, 0) if shift < -BITS else (multiplier, shift)


def scale_by(x: np.ndarray, multiplier: np.ndarray, shift: np.ndarray) -> np.ndarray:
    """Sums in int32 times a multiplier and a power of two, by the formula above: int64."""
    right = np.maximum(-shift, 0)
    wide = (x.astype("int64") << np.maximum(shift, 0)).astype("int32").astype("int64")
    high = (wide * multiplier + (1 << (BITS - 1))) >> BITS
    mask = (np.int64(1) << right) - 1
    scaled: np.ndarray = (high >> right) + ((high & mask) > (mask >> 1) + (high < 0))
    return scaled


@record(repr=False)
class Requantize(Broadcasting):
    """`requantize{dtype}(sums, multiplier, shift, zero_point)`: int32, two of int64, and integers of `dtype`."""

    dtype: str
    name = "requantize"

    def infer(self, inputs: tuple[Variable, ...]) -> tuple[TensorType, ...]:
        require_count(self.name, inputs, 4)
        if [v.dtype for v in inputs] != ["int32", "int64", "int64", self.dtype]:
            message = ", ".join(map(describe, inputs))
            raise TypeError(f"requantize takes int32, two of int64 and zero points of {self.dtype}, got {message}")
        return (TensorType(self.dtype, broadcast_shapes([i.type.shape for i in inputs])),)

    def evaluate(self, *values: np.ndarray) -> tuple[np.ndarray, ...]:
        x, multiplier, shift, zero = values
        ends = np.iinfo(self.dtype)
        return (np.clip(scale_by(x, multiplier, shift) + zero, ends.min, ends.max).astype(self.dtype),)

    def expand(self, inputs: Sequence[Variable]) -> Variable:
        """The same by elementwise ops."""
        x, multiplier, shift, zero = inputs
        none, ends = constant(0, "int64"), np.iinfo(self.dtype)
        scaled = _divided(_high(x, multiplier, T.maximum(shift, none)), T.maximum(T.neg(shift), none))
        whole = T.add(scaled, T.cast(zero, "int64"))
        return T.cast(T.clip(whole, constant(ends.min, "int64"), constant(ends.max, "int64")), self.dtype)

    def vjp(self, node: Apply, cotangents: Sequence[Variable | None]) -> Sequence[Variable | None]:
        return [None] * 4


def _high(x: Any, multiplier: Any, left: Any) -> Any:
    """Return x * 2^left, in int32, times the multiplier, over 2^31, rounded."""
    wide = T.cast(T.cast(T.left_shift(T.cast(x, "int64"), left), "int32"), "int64")
    product = T.add(T.mul(wide, multiplier), constant(1 << (BITS - 1), "int64"))
    return T.right_shift(product, constant(BITS, "int64"))


def _divided(x: Any, right: Any) -> Any:
    """Return x over 2^right, halves rounded away from 0."""
    one = constant(1, "int64")
    mask = T.sub(T.left_shift(one, right), one)
    threshold = T.add(T.right_shift(mask, one), T.cast(T.lt(x, 0), "int64"))
    above = T.gt(T.bitwise_and(x, mask), threshold)
    return T.add(T.right_shift(x, right), T.cast(above, "int64"))


def requantize(
    sums: TensorLike, scale: Any, zero_point: TensorLike = 0, dtype: DTypeLike = "int8", axis: int | None = None
) -> TensorVariable:
    """Sums in int32 times a constant number, in 8 bits, by the fixed-point arithmetic of TensorFlow Lite.

    All is integers, so every machine gives the same bits.  `quantize` of the scaled sums rounds halves to even instead.

    Args:
        sums: Integers of int32, such as those of `matmul(..., out_dtype="int32")`.
        scale: A positive number below 2^30, or a vector of them along `axis`.
        zero_point: The integer that stands for 0.
        dtype: int8, uint8 or int16.
        axis: The axis of sums along which scales stand; None where there is one.

    Raises:
        TypeError: sums have not int32, or `dtype` is another.
        ValueError: a scale is not positive or too large, or a vector has not the length of the axis.
    """
    sums, name = as_tensor(sums), dtype_name(dtype)
    if sums.dtype != "int32" or name not in ("int8", "uint8", "int16"):
        raise TypeError(f"requantize takes int32 and gives int8, uint8 or int16, got {describe(sums)} and {name}")
    given = np.asarray(scale.data if isinstance(scale, Constant) else scale, "float64")
    if not ((given > 0) & (given < 2.0**30)).all():
        raise ValueError(f"requantize: scale must be positive and below 2^30, got {given}")
    multiplier, shift = map(constant, _broadcast_multipliers(given, sums, axis))
    return Requantize(name)(sums, multiplier, shift, _zeros("requantize", zero_point, name))


def _broadcast_multipliers(scale: np.ndarray, sums: TensorVariable, axis: int | None) -> tuple[np.ndarray, np.ndarray]:
    """Return multipliers and shifts that broadcast to the sums."""
    pairs = np.array([fixed_point(float(s)) for s in scale.reshape(-1)], "int64").reshape(-1, 2)
    if scale.ndim == 0:
        return pairs[0, 0], pairs[0, 1]
    if scale.ndim != 1 or axis is None:
        raise ValueError(f"requantize: scale must be a number, or a vector with axis= given, got rank {scale.ndim}")
    axis = normalize_axis(axis, sums.ndim, "requantize")
    if sums.type.shape[axis] not in (None, len(scale)):
        raise ValueError(
            f"requantize: scale has {counted(len(scale), 'number')}, but axis {axis} of {describe(sums)} differs"
        )
    shape = [-1 if k == axis else 1 for k in range(sums.ndim)]
    return pairs[:, 0].reshape(shape), pairs[:, 1].reshape(shape)
