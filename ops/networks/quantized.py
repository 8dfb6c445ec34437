"""Quantization: integers of few bits with scales and zero points, and conversion in both directions.

    quantize(x, scale, zero_point)      rint(x / scale) + zero_point, between the least and the largest integer
    dequantize(q, scale, zero_point)    (q - zero_point) * scale

Jacob et al., "Quantization and Training of Neural Networks for Efficient Integer-Arithmetic-Only Inference" (2018);
the arithmetic is that of ONNX.  To derivatives rounding is the identity (the straight-through estimator of Bengio,
Leonard and Courville, 2013), so networks train with quantized numbers in them, and so do scales (Esser et al., "Learned
Step Size Quantization", 2020).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, ClassVar

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
from ..shapes.shape import DimShuffle
from ..writing import code

__all__ = ["dequantize", "dynamic_quantize", "quantize"]

INTEGERS = ("int8", "uint8", "int16", "uint16", "int32")
NIBBLES = {"int4": ("int8", -8, 7), "uint4": ("uint8", 0, 15)}
"""4-bit dtypes: the dtype that stores one number, the least and the largest."""
FLOATS = ("float16", "float32", "float64")


def _wide(number: str, integer: str) -> str:
    """Return the dtype in which zero points are added: it holds all numbers of both."""
    return "float64" if number == "float64" or integer.endswith("32") else "float32"


def ends_of(dtype: str) -> tuple[int, int]:
    """The least and the largest integer."""
    if dtype in NIBBLES:
        return NIBBLES[dtype][1:]
    ends = np.iinfo(dtype)
    return int(ends.min), int(ends.max)


def held_in(dtype: str) -> str:
    """Return the dtype of tensors that store such integers."""
    return NIBBLES[dtype][0] if dtype in NIBBLES else dtype


class _Scaled(Broadcasting):
    """Base of both directions: a tensor, its scale and its zero point, which broadcast to it."""

    straight_through: ClassVar[bool] = True

    def _shapes(self, inputs: tuple[Variable, ...]) -> tuple[int | None, ...]:
        require_count(self.name, inputs, 3)
        x, *beside = inputs
        for v in beside:
            if v.ndim not in (0, x.ndim):
                raise ValueError(f"{self.name}: {describe(v)} must be a scalar or have the rank of {describe(x)}")
        return broadcast_shapes([i.type.shape for i in inputs])

    def expand(self, inputs: Sequence[Variable]) -> Variable:
        """The same by elementwise ops."""
        raise NotImplementedError


@record(repr=False)
class Quantize(_Scaled):
    """`quantize(x, scale, zero_point)`: integers of `dtype`, that of the zero point; 4-bit ones take 8 bits."""

    dtype: str
    name: ClassVar[str] = "quantize"  # type: ignore[misc]

    def infer(self, inputs: tuple[Variable, ...]) -> tuple[TensorType, ...]:
        shape = self._shapes(inputs)
        x, scale, zero = inputs
        held = held_in(self.dtype)
        if x.dtype not in FLOATS or scale.dtype != x.dtype or zero.dtype != held or held not in INTEGERS:
            kinds = ", ".join(map(describe, inputs))
            raise TypeError(f"quantize takes floats, scales of their dtype, zero points of {held}; got {kinds}")
        return (TensorType(held, shape),)

    def evaluate(self, *values: np.ndarray) -> tuple[np.ndarray, ...]:
        x, scale, zero = values
        wide, (least, most) = _wide(x.dtype.name, self.dtype), ends_of(self.dtype)
        with np.errstate(all="ignore"):
            whole = np.rint(x / scale).astype(wide) + zero.astype(wide)
            held = np.clip(np.where(np.isnan(whole), zero.astype(wide), whole), least, most)
        return (held.astype(held_in(self.dtype)),)

    def expand(self, inputs: Sequence[Variable]) -> Variable:
        x, scale, zero = inputs
        wide, (least, most) = _wide(x.dtype, self.dtype), ends_of(self.dtype)
        start = T.cast(zero, wide)
        whole = T.add(T.cast(T.rint(T.true_div(x, scale)), wide), start)
        held = T.minimum(T.maximum(whole, constant(least, wide)), constant(most, wide))
        return T.cast(T.switch(T.isnan(whole), start, held), held_in(self.dtype))

    def vjp(self, node: Apply, cotangents: Sequence[Variable | None]) -> Sequence[Variable | None]:
        (g,), (x, scale, zero) = cotangents, node.inputs
        if g is None:
            return [None, None, None]
        wide, (least, most) = _wide(x.dtype, self.dtype), ends_of(self.dtype)
        whole = T.add(T.cast(T.true_div(x, scale), wide), T.cast(zero, wide))
        inside = T.logical_and(T.ge(whole, least), T.le(whole, most))
        through = T.switch(inside, T.true_div(T.cast(g, x.dtype), scale), constant(0, x.dtype))
        return [through, T.unbroadcast(T.neg(T.mul(through, T.true_div(x, scale))), scale), None]

    def code(self, output: Variable, speaker: code.Speaker, /) -> code.Code:
        """`quantize(x, scale, zero_point)` for one scale of all elements."""
        assert output.owner is not None
        inputs = output.owner.inputs
        if speaker.numpy or any(i.ndim for i in inputs[1:]):
            return code.of_class(self, output, speaker)
        options = {"dtype": self.dtype}
        return speaker.call("quantize", *speaker.texts(inputs), **options)


@record(repr=False)
class Dequantize(_Scaled):
    """`dequantize(q, scale, zero_point)`: numbers of the dtype of the scale."""

    name: ClassVar[str] = "dequantize"  # type: ignore[misc]

    def infer(self, inputs: tuple[Variable, ...]) -> tuple[TensorType, ...]:
        shape = self._shapes(inputs)
        q, scale, zero = inputs
        if q.dtype not in INTEGERS or zero.dtype != q.dtype or scale.dtype not in FLOATS:
            kinds = ", ".join(map(describe, inputs))
            raise TypeError(f"dequantize takes integers, scales that are floats, zero points of one dtype; got {kinds}")
        return (TensorType(scale.dtype, shape),)

    def evaluate(self, *values: np.ndarray) -> tuple[np.ndarray, ...]:
        q, scale, zero = values
        wide = _wide(scale.dtype.name, q.dtype.name)
        with np.errstate(all="ignore"):
            return (((q.astype(wide) - zero.astype(wide)) * scale.astype(wide)).astype(scale.dtype),)

    def expand(self, inputs: Sequence[Variable]) -> Variable:
        q, scale, zero = inputs
        wide = _wide(scale.dtype, q.dtype)
        return T.cast(T.mul(T.sub(T.cast(q, wide), T.cast(zero, wide)), T.cast(scale, wide)), scale.dtype)

    def vjp(self, node: Apply, cotangents: Sequence[Variable | None]) -> Sequence[Variable | None]:
        (g,), (q, scale, zero) = cotangents, node.inputs
        if g is None:
            return [None, None, None]
        separate = self.expand((q, T.fill(scale, constant(1, scale.dtype)), zero))
        return [T.mul(g, scale), T.unbroadcast(T.mul(g, separate), scale), None]

    def code(self, output: Variable, speaker: code.Speaker, /) -> code.Code:
        """`dequantize(x, scale, zero_point)` for one scale of all elements."""
        assert output.owner is not None
        inputs = output.owner.inputs
        if speaker.numpy or any(i.ndim for i in inputs[1:]):
            return code.of_class(self, output, speaker)
        return speaker.call("dequantize", *speaker.texts(inputs))


# --- what users call


def quantize(
    x: TensorLike, scale: TensorLike, zero_point: TensorLike = 0, dtype: DTypeLike = "uint8", axis: int | None = None,
    block: int | None = None,
) -> TensorVariable:  # fmt: skip
    """`x` in integers: rint(x / scale) + zero_point, halves to even, cut off at the ends of `dtype`.

    NaN becomes the zero point.  To derivatives it is x / scale within the ends and constant beyond.

    Args:
        x: Floats, of any shape.
        scale: A positive number, or a vector with one for each position along `axis`.
        zero_point: The integer that stands for 0, or a vector of them.
        dtype: int8, uint8, int16, uint16 or int32; or "int4" or "uint4", and then the result has int8 or uint8.
        axis: The axis of x along which scales and zero points stand; None where they are scalars.
        block: How many neighbours along `axis` share a scale.  Scales, and zero points but for a scalar, have the rank
            of x then, and one position a block along `axis`; the last block may be shorter.

    Raises:
        TypeError: x has no floats, or `dtype` is another.
        ValueError: a constant scale is not positive and finite, a constant zero point does not fit into `dtype`, or a
            vector has not the length of the axis.
    """
    x, name = as_tensor(x), dtype if isinstance(dtype, str) and dtype in NIBBLES else dtype_name(dtype)
    if x.dtype not in FLOATS:
        raise TypeError(f"quantize: x must have floats, got {describe(x)}")
    if name not in INTEGERS and name not in NIBBLES:
        raise TypeError(f"quantize: dtype must be one of {', '.join((*INTEGERS, *NIBBLES))}, got {name}")
    steps, zeros = _pair("quantize", _scales("quantize", scale, x.dtype), _zeros("quantize", zero_point, name))
    steps = _beside("quantize", "scale", steps, x, axis, block)
    zeros = _beside("quantize", "zero_point", zeros, x, axis, block)
    return Quantize(name)(x, steps, zeros)


def dequantize(
    q: TensorLike, scale: TensorLike, zero_point: TensorLike = 0, axis: int | None = None, block: int | None = None
) -> TensorVariable:
    """The numbers of quantized integers: (q - zero_point) * scale, in the dtype of the scale (float32 for a number).

    Constant integers of 4 bits stay two to a byte if a product with float32 is all that reads the numbers.

    Args:
        q: Integers of int8, uint8, int16, uint16 or int32, of any shape.
        scale, zero_point, axis, block: As for `quantize`.

    Raises:
        TypeError: q has no such integers.
        ValueError: as for `quantize`.
    """
    q = as_tensor(q)
    if q.dtype not in INTEGERS:
        raise TypeError(f"dequantize: q must have integers of {', '.join(INTEGERS)}, got {describe(q)}")
    steps = _scales("dequantize", scale, getattr(scale, "dtype", "float32"))
    steps, zeros = _pair("dequantize", steps, _zeros("dequantize", zero_point, q.dtype))
    beside = (("scale", steps), ("zero_point", zeros))
    steps, zeros = (_beside("dequantize", role, v, q, axis, block) for role, v in beside)
    return Dequantize()(q, steps, zeros)


Quantized = tuple[TensorVariable, TensorVariable, TensorVariable]
"""Integers, their scale, their zero point."""


def dynamic_quantize(x: TensorLike, dtype: DTypeLike = "uint8") -> Quantized:
    """`x` in integers that span its own numbers and 0: the integers, their scale and their zero point.

    scale = (max(x, 0) - min(x, 0)) / (largest - least integer), and 1 where all numbers are 0.

    Args:
        x: Floats, not empty.
        dtype: int8 or uint8.

    Raises:
        TypeError: x has no floats, or `dtype` is another.
    """
    x, name = as_tensor(x), dtype_name(dtype)
    if x.dtype not in FLOATS or name not in ("int8", "uint8"):
        raise TypeError(f"dynamic_quantize takes floats and int8 or uint8, got {describe(x)} and {name}")
    ends = np.iinfo(name)
    low, high = T.minimum(T.min(x), 0), T.maximum(T.max(x), 0)
    span = T.true_div(T.sub(high, low), constant(ends.max - ends.min, x.dtype))
    scale = T.switch(T.eq(span, 0), constant(1, x.dtype), span)
    zero = T.cast(T.clip(T.rint(T.sub(constant(ends.min, x.dtype), T.true_div(low, scale))), ends.min, ends.max), name)
    return quantize(x, scale, zero, name), scale, zero


def _scales(what: str, scale: Any, dtype: Any) -> TensorVariable:
    found = as_tensor(scale) if isinstance(scale, Variable) else constant(scale, dtype_name(dtype))
    if found.dtype not in FLOATS:
        raise TypeError(f"{what}: scale must be a float, got {describe(found)}")
    if isinstance(found, Constant) and not (np.isfinite(found.data).all() and (found.data > 0).all()):
        wrong = next(float(n) for n in found.data.reshape(-1) if not (n > 0 and math.isfinite(n)))
        raise ValueError(f"{what}: scale must be positive and finite, got {wrong}")
    return found if dtype is None or found.dtype == dtype_name(dtype) else T.cast(found, dtype_name(dtype))


def _zeros(what: str, zero: Any, dtype: str) -> TensorVariable:
    held, (least, most) = held_in(dtype), ends_of(dtype)
    if isinstance(zero, Variable) and not isinstance(zero, Constant):
        if zero.dtype != held:
            raise TypeError(f"{what}: zero_point must have the dtype {held} of the integers, got {describe(zero)}")
        return as_tensor(zero)
    given = np.asarray(zero.data if isinstance(zero, Constant) else zero)
    if given.dtype.kind not in "iu" or (given.size and not (least <= given.min() and given.max() <= most)):
        raise ValueError(f"{what}: zero_point must be integers from {least} to {most} for {dtype}, got {zero}")
    return constant(given.astype(held))


def _pair(what: str, scale: TensorVariable, zero: TensorVariable) -> tuple[TensorVariable, TensorVariable]:
    """Return scale and zero point.  Raises ValueError for vectors of different known lengths."""
    n, m = (v.type.shape[0] if v.ndim == 1 else None for v in (scale, zero))
    if n is not None and m is not None and n != m:
        raise ValueError(
            f"{what}: scale has {counted(n, 'number')} and zero_point has {m}; expected equal numbers of both"
        )
    return scale, zero


def _beside(
    what: str, role: str, v: TensorVariable, x: Variable, axis: int | None, block: int | None
) -> TensorVariable:
    """Return a scalar as it is; a vector along its axis of x; block values repeated for their positions."""
    if v.ndim == 0:
        return v
    if block is not None:
        return _of_blocks(what, role, v, x, axis, block)
    if v.ndim != 1 or axis is None:
        raise ValueError(f"{what}: {role} must be a scalar, or a vector with axis= given, got {describe(v)}")
    axis = normalize_axis(axis, x.ndim, what)
    length, known = v.type.shape[0], x.type.shape[axis]
    if length is not None and known is not None and length != known:
        raise ValueError(
            f"{what}: {role} has {counted(length, 'number')}, but axis {axis} of {describe(x)} has {known} positions"
        )
    return DimShuffle(tuple(0 if k == axis else "x" for k in range(x.ndim)))(v)


def _of_blocks(
    what: str, role: str, v: TensorVariable, x: Variable, axis: int | None, block: int
) -> TensorVariable:
    """Return the value of each block for all of its positions along the axis."""
    if not isinstance(block, int) or block < 1 or axis is None:
        raise ValueError(f"{what}: block must be a positive integer with axis= given, got {block!r} and axis={axis}")
    axis = normalize_axis(axis, x.ndim, what)
    wanted = [None if n is None else -(-n // block) if k == axis else n for k, n in enumerate(x.type.shape)]
    fits = v.ndim == x.ndim and all(
        None in (n, m) or n == m or (n == 1 and k != axis)
        for k, (n, m) in enumerate(zip(v.type.shape, wanted, strict=True))
    )
    if not fits:
        raise ValueError(f"{what}: {role} must have the shape {tuple(wanted)} for blocks of {block}, got {describe(v)}")
    return spread(v, x, axis, block)


def spread(v: Variable, x: Variable, axis: int, block: int) -> TensorVariable:
    """Return block values along an axis, each repeated for the positions of its block in x."""
    length = x.type.shape[axis]
    if isinstance(v, Constant) and length is not None:
        wide = np.repeat(v.data, block, axis=axis)
        return constant(np.ascontiguousarray(wide[(*(slice(None),) * axis, slice(0, length))]))
    cut = slice(0, T.shape(x)[axis])
    return T.repeat(v, block, axis=axis)[(*(slice(None),) * axis, cut)]  # type: ignore[no-any-return]
