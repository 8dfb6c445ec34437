"""Dtypes of few bits: bfloat16, float8, float4, and integers of two and four bits.

A value of such a dtype is held exactly in the nearest dtype that C has: float32, int8 or uint8.  One rounding into the
narrow dtype follows each op that computes (`rounded`).  Bits appear in files, and `ml_dtypes` at a model's edges.

Sources: the ONNX specification, op `Cast`; OCP 8-bit Floating Point Specification and OCP Microscaling Formats, 2023.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from .... import ops as T
from ....graph import Variable
from ....ops.core.tensor import constant
from ....record import record


@record
class Format:
    """A narrow dtype: its names, its bits, and the dtype that holds its values."""

    name: str
    ml_name: str
    bits: int
    wide: str

    def given(self, array: Any, words: Any) -> Any:
        """An array that a user gives, in the dtype that holds its values; `words` are those of the call."""
        if not isinstance(array, np.ndarray | np.generic) or array.dtype.name != self.dtype.name:
            return array
        return array.astype(self.wide)

    def described(self, array: Any, words: Any) -> Any:
        """An array that a user gets."""
        return np.asarray(array).astype(self.dtype)

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of the package `ml_dtypes`, which arrays at the edges of models have."""
        import ml_dtypes

        return np.dtype(getattr(ml_dtypes, self.ml_name))  # type: ignore[no-any-return]

    def values(self, data: bytes, count: int) -> np.ndarray:
        """The numbers in the packed bytes of a tensor; the first of a byte lies in its low bits."""
        codes = np.frombuffer(data, "<u2" if self.bits == 16 else "u1")
        if self.bits < 8:
            shifts = np.arange(0, 8, self.bits, dtype=np.uint8)
            codes = ((codes[:, None] >> shifts) & (2**self.bits - 1)).reshape(-1)[:count]
        return _table(self)[codes]  # type: ignore[no-any-return]


@record
class Whole(Format):
    """Integers of two or four bits."""

    signed: bool

    def decoded(self) -> np.ndarray:
        codes = np.arange(2**self.bits)
        return np.where(codes >> (self.bits - 1), codes - 2**self.bits, codes) if self.signed else codes

    def rounded(self, x: Any, saturate: bool = True, mode: str = "") -> Any:
        """The low bits of x, fractions cut off."""
        whole = T.bitwise_and(T.cast(x, "int64"), constant(np.array(2**self.bits - 1)))
        if self.signed:
            sign = constant(np.array(2 ** (self.bits - 1)))
            whole = T.bitwise_xor(whole, sign) - sign
        return T.cast(whole, self.wide)

    def clipped(self, x: Any) -> Any:
        """x between the least and the largest number."""
        low = -(2 ** (self.bits - 1)) if self.signed else 0
        ends = (constant(np.array(end, x.dtype)) for end in (low, low + 2**self.bits - 1))
        return T.cast(T.clip(x, *ends), self.wide)


@record
class Float(Format):
    """Floats of `digits` stored binary digits; 2**`least` is the least normal number."""

    digits: int
    least: int
    largest: float
    infinite: bool
    signed_zero: bool

    def decoded(self) -> np.ndarray:
        codes = np.arange(2**self.bits)
        fraction, magnitude = codes % 2**self.digits, codes % 2 ** (self.bits - 1)
        exponent = magnitude >> self.digits
        sizes = np.ldexp(fraction / 2**self.digits + (exponent > 0), np.maximum(exponent, 1) - 1 + self.least)
        beyond = np.where((fraction == 0) & self.infinite, math.inf, math.nan)
        values = np.where(sizes > self.largest, beyond, sizes) * np.where(codes >> (self.bits - 1), -1.0, 1.0)
        return values if self.signed_zero else np.where((magnitude == 0) & (codes > 0), math.nan, values)

    def rounded(self, x: Any, saturate: bool = False, mode: str = "") -> Any:
        """The nearest number, the even one of two; beyond the largest: that one, or infinity, or NaN."""
        x = T.cast(x, "float64") if x.dtype != "float64" else x
        size = T.minimum(T.abs(x), _float64(4 * 2.0 ** math.frexp(self.largest)[1]))
        y = _nearest(size, self.digits, self.least)
        stays = (saturate and self.bits == 8) or not self._special
        over = self.largest if stays else math.inf if self.infinite else math.nan
        y = T.where(T.gt(y, _float64(self.largest)), _float64(over), y)
        signed = T.copysign(y, x)
        if not self.signed_zero:
            signed = T.where(T.eq(y, _float64(0)), _float64(0), signed)
        if not self._special:
            signed = T.where(T.isnan(x), _float64(-0.0), signed)
        return T.cast(signed, self.wide)

    @property
    def _special(self) -> bool:
        """Whether there is a NaN."""
        return self.bits > 4


@record
class Powers(Format):
    """Powers of two from 2**-127 to 2**127, and NaN: scales of blocks."""

    def decoded(self) -> np.ndarray:
        return np.append(np.ldexp(1.0, np.arange(255) - 127), math.nan)

    def rounded(self, x: Any, saturate: bool = True, mode: str = "up") -> Any:
        """The power of two below, above or nearest; the larger one of two that are as near."""
        x = T.cast(x, "float64")
        low, high = _float64(2.0**-127), _float64(2.0**127)
        size = T.maximum(T.minimum(T.abs(x), high * _float64(4)), low / _float64(4))
        near = _nearest(size, 0, -200)
        floor = T.where(T.gt(near, size), near / _float64(2), near)
        limit = {"down": 2.0, "up": 1.0, "nearest": 1.5}[mode]
        goes_up = T.gt(size, floor) if mode == "up" else T.ge(size, floor * _float64(limit))
        y = T.where(goes_up, floor * _float64(2), floor)
        if saturate:
            y = T.minimum(T.maximum(y, low), high)
        else:
            y = T.where(T.logical_or(T.lt(y, low), T.gt(y, high)), _float64(math.nan), y)
        return T.cast(T.where(T.isnan(x), x, y), self.wide)


def _float64(value: float) -> Any:
    return constant(np.array(value, "float64"))


def _nearest(size: Any, digits: int, least: int) -> Any:
    """float64 `size` >= 0 rounded to `digits` stored digits; below 2**least the step size stays constant.

    A shift of 2**(52 - digits) times the number has the last digit of the sum where the last digit of the result is.
    Of the shift only 26 digits are kept, so it is an even number of such steps and ties go to even.
    Source: T. J. Dekker, "A floating-point technique for extending the available precision", 1971.
    """
    wide = size * _float64(2.0**27 + 1)
    shift = T.maximum((wide - (wide - size)) * _float64(2.0 ** (52 - digits)), _float64(2.0 ** (52 - digits + least)))
    return (size + shift) - shift


@record
class Text(Format):
    """Strings, held as codes: see text.py."""

    def given(self, array: Any, words: Any) -> Any:
        return words.codes(array)

    def described(self, array: Any, words: Any) -> Any:
        return words.texts(np.asarray(array))

    def rounded(self, x: Any, saturate: bool = True, mode: str = "") -> Any:
        raise TypeError("a cast of numbers to strings is not supported")


FORMATS: dict[int, Any] = {
    8: Text("string", "string", 64, "int64"),
    16: Float("bfloat16", "bfloat16", 16, "float32", 7, -126, (2 - 2.0**-7) * 2.0**127, True, True),
    17: Float("float8e4m3fn", "float8_e4m3fn", 8, "float32", 3, -6, 448.0, False, True),
    18: Float("float8e4m3fnuz", "float8_e4m3fnuz", 8, "float32", 3, -7, 240.0, False, False),
    19: Float("float8e5m2", "float8_e5m2", 8, "float32", 2, -14, 57344.0, True, True),
    20: Float("float8e5m2fnuz", "float8_e5m2fnuz", 8, "float32", 2, -15, 57344.0, False, False),
    21: Whole("uint4", "uint4", 4, "uint8", False),
    22: Whole("int4", "int4", 4, "int8", True),
    23: Float("float4e2m1", "float4_e2m1fn", 4, "float32", 1, 0, 6.0, False, True),
    24: Powers("float8e8m0", "float8_e8m0fnu", 8, "float32"),
    25: Whole("uint2", "uint2", 2, "uint8", False),
    26: Whole("int2", "int2", 2, "int8", True),
}  # fmt: skip
"""The narrow dtypes, and that of strings, by their numbers in ONNX."""
TEXT: Text = FORMATS[8]
NUMBER_OF_FORMAT = {f: number for number, f in FORMATS.items()}


@cache
def _table(form: Any) -> np.ndarray:
    """The decoded number of each bit pattern."""
    return form.decoded().astype(form.wide)  # type: ignore[no-any-return]


class Narrow(NamedTuple):
    """A value, or a list of them, whose dtype is narrow: the numbers in the wide dtype."""

    value: Any
    form: Any


def value_of(item: Any) -> Any:
    """The value without its narrow dtype."""
    return item.value if isinstance(item, Narrow) else item


def format_of(item: Any) -> Any:
    """The narrow dtype of a value, None for all others."""
    return item.form if isinstance(item, Narrow) else None


def narrow(value: Any, form: Any) -> Any:
    """The value with its narrow dtype, if it has one."""
    return value if form is None or value is None else Narrow(value, form)


# --- the narrow dtypes of outputs

_ATTRIBUTES = ("to", "output_dtype", "dtype", "output_datatype")
_EXACT = frozenset({
    "Abs", "BitCast", "Cast", "CastLike", "Clip", "Compress", "Concat", "ConcatFromSequence", "Constant",
    "ConstantOfShape", "DepthToSpace", "Expand", "EyeLike", "Flatten", "Gather", "GatherElements", "GatherND",
    "Identity", "If", "Loop", "Max", "MaxPool", "Min", "Neg", "OneHot", "Optional", "OptionalGetElement", "Pad",
    "QuantizeLinear", "ReduceMax", "ReduceMin", "Relu", "Reshape", "ReverseSequence", "Scan", "ScatterElements",
    "ScatterND", "SequenceAt", "SequenceConstruct", "SequenceErase", "SequenceInsert", "SequenceMap", "Sign", "Slice",
    "SpaceToDepth", "Split", "SplitToSequence", "Squeeze", "Tile", "TopK", "Transpose", "Trilu", "Unique",
    "Unsqueeze", "Where",
})  # fmt: skip
"""Ops whose results need no rounding: they move numbers, choose among them, or round by themselves."""
_CONTAINERS = frozenset({
    "ConcatFromSequence", "Optional", "OptionalGetElement", "SequenceAt", "SequenceConstruct", "SequenceErase",
    "SequenceInsert", "SplitToSequence",
})  # fmt: skip
"""Ops between sequences or optional values and their elements, which have one dtype."""


def output_formats(node: Any, schema: Any) -> list[Any]:
    """The narrow dtype of each output of a node, None for all others; `schema` is its op in the standard, or None."""
    count = len(node.proto.output)
    if node.results is not None:
        found: list[Any] = node.results[1:] if node.op == "Loop" else node.results
        return [*found, *[None] * count][:count]
    described = next((node.attributes[name].i for name in _ATTRIBUTES if name in node.attributes), 0)
    tensor = node.attributes.get("value")
    described = tensor.t.data_type if tensor is not None and tensor.type == 4 else described
    if described:
        return [FORMATS.get(described)] * count
    if node.op == "DequantizeLinear":
        return [node.formats[1]]
    if schema is None or not any(node.formats):
        return [None] * count
    if node.op in _CONTAINERS:
        return [next(form for form in node.formats if form is not None)] * count
    types = {_formal(schema.inputs, k).type_str: form for k, form in enumerate(node.formats) if form is not None}
    return [types.get(_formal(schema.outputs, k).type_str) for k in range(count)]


def _formal(formals: Any, k: int) -> Any:
    return formals[min(k, len(formals) - 1)]


def settled(node: Any, value: Any, form: Any) -> tuple[Any, Any]:
    """The output of a node, rounded if the op computes, and its narrow dtype."""
    rounds = node.op not in _EXACT and node.results is None and isinstance(form, Float) and isinstance(value, Variable)
    return (form.rounded(value) if rounds else value), form
