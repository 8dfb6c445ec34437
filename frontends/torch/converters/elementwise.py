"""Elementwise ops: arithmetic, functions, comparisons, logic, activations.

PyTorch differs from NumPy: integers divided truly are of the default dtype of floats, Python numbers take the dtype of
tensors, `sign` of NaN is 0, shifts by negative numbers and powers with negative exponents have their own meaning.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch

from .... import ops as T
from ....ops.core.tensor import constant
from ..dtypes import as_dtype, in_dtype, name_of, promoted
from ..symbols import lengths
from ..table import CONVERTERS, Call, converter

FLOATS: dict[str, Callable[..., Any]] = {
    "sqrt": T.sqrt, "exp": T.exp, "exp2": T.exp2, "expm1": T.expm1, "log": T.log, "log2": T.log2, "log10": T.log10,
    "log1p": T.log1p, "sin": T.sin, "cos": T.cos, "tan": T.tan, "asin": T.arcsin, "acos": T.arccos, "atan": T.arctan,
    "sinh": T.sinh, "cosh": T.cosh, "tanh": T.tanh, "asinh": T.arcsinh, "acosh": T.arccosh, "atanh": T.arctanh,
    "erf": T.erf, "erfc": T.erfc, "digamma": T.digamma, "erfinv": T.special.erfinv,
    "special_i0e": T.special.i0e, "i0": T.special.i0, "special_i1": T.special.i1,
    "special_i1e": T.special.i1e, "special_erfcx": T.special.erfcx, "special_ndtri": T.special.ndtri,
    "special_log_ndtr": T.special.log_ndtr, "special_bessel_j0": T.special.j0, "special_bessel_j1": T.special.j1,
    "special_bessel_y0": T.special.y0, "special_bessel_y1": T.special.y1, "special_entr": T.special.entr,
    "atan2": T.arctan2, "special_zeta": T.special.zeta, "special_xlog1py": T.special.xlog1py, "xlogy": T.xlogy,
    "special_ndtr": T.special.ndtr, "igamma": T.special.gammainc, "igammac": T.special.gammaincc,
    "special_modified_bessel_i0": T.special.i0, "special_modified_bessel_i1": T.special.i1,
    "special_modified_bessel_k0": T.special.k0, "special_modified_bessel_k1": T.special.k1,
    "special_scaled_modified_bessel_k0": T.special.k0e, "special_scaled_modified_bessel_k1": T.special.k1e,
    "special_airy_ai": T.special.airyai,
    "lgamma": lambda x: T.gammaln(T.where(T.isneginf(x), T.abs(x), x)),  # inf at -inf, where SciPy's is -inf
    "rad2deg": T.rad2deg, "deg2rad": T.deg2rad, "copysign": T.copysign, "sinc": T.sinc,
}  # fmt: skip
"""Functions whose operands of integers become floats of the default dtype."""


def _heaviside(x: Any, middle: Any) -> Any:
    """Return the step function; it is 0 at NaN."""
    return T.where(T.eq(x, number(0, x)), middle, as_dtype(T.gt(x, number(0, x)), x.dtype))


PLAIN: dict[str, Callable[..., Any]] = {
    "maximum": T.maximum, "minimum": T.minimum, "fmax": T.fmax, "fmin": T.fmin, "bitwise_not": T.bitwise_not,
    "bitwise_and": T.bitwise_and, "bitwise_or": T.bitwise_or, "bitwise_xor": T.bitwise_xor, "hypot": T.hypot,
    "logaddexp2": T.logaddexp2, "gcd": T.gcd, "lcm": T.lcm,
    "heaviside": _heaviside, "fmod": T.fmod, "square": T.square, "positive": T.positive, "conj_physical": T.conj,
    "neg": T.neg,
}  # fmt: skip
"""Functions of operands in their common dtype."""

BOOLEANS: dict[str, Callable[..., Any]] = {
    "eq": T.eq, "ne": T.ne, "lt": T.lt, "le": T.le, "gt": T.gt, "ge": T.ge, "isnan": T.isnan, "isinf": T.isinf,
    "isfinite": T.isfinite, "logical_not": T.logical_not, "signbit": T.signbit, "isposinf": T.isposinf,
    "isneginf": T.isneginf,
}  # fmt: skip
"""Functions to truth values of operands in their common dtype."""

WHOLE: dict[str, Callable[..., Any]] = {"floor": T.floor, "ceil": T.ceil, "trunc": T.trunc, "fix": T.trunc}
"""Functions that leave integers as they are."""


def pointwise(kind: str, function: Callable[..., Any], wide_scalars: bool = False) -> Callable[..., Any]:
    """Return the converter of a function of operands; `kind` and `wide_scalars` say how they are promoted."""

    def convert(call: Call, *operands: Any) -> Any:
        values, _, _ = promoted(kind, operands, call.metas, wide_scalars)
        return as_dtype(function(*values), call.dtype)

    return convert


for _names, _kind in ((FLOATS, "INT_TO_FLOAT"), (PLAIN, "DEFAULT"), (BOOLEANS, "ALWAYS_BOOL")):
    for _name, _function in _names.items():
        CONVERTERS[f"aten.{_name}"] = pointwise(_kind, _function)


def number(value: Any, like: Any) -> Any:
    """Return a Python number, or a scalar, in the dtype of a value."""
    return as_dtype(value, like.dtype)


def sigmoid(x: Any) -> Any:
    """Return 1 / (1 + exp(-x)), of complex numbers too."""
    return T.sigmoid(x) if x.type.kind != "c" else number(1, x) / (number(1, x) + T.exp(-x))


CONVERTERS["aten.sigmoid"] = pointwise("INT_TO_FLOAT", sigmoid)


@converter("aten.nextafter")
def nextafter(call: Call, a: Any, b: Any) -> Any:
    return NotImplemented if call.value.dtype is torch.bfloat16 else pointwise("NO_OPMATH", T.nextafter)(call, a, b)


@converter("aten.logaddexp")
def logaddexp(call: Call, a: Any, b: Any) -> Any:
    return NotImplemented if call.dtype.startswith("complex") else pointwise("DEFAULT", T.logaddexp)(call, a, b)


def elementwise(*names: str, kind: str = "DEFAULT") -> Callable[..., Any]:
    """Register a function of promoted operands, which returns a value in any dtype, under names of ATen."""

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        for name in names:
            CONVERTERS[f"aten.{name}"] = pointwise(kind, function)
        return function

    return register


def _whole(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda call, x: x if x.type.kind in "iub" else function(x)


for _name, _function in WHOLE.items():
    CONVERTERS[f"aten.{_name}"] = _whole(_function)


# --- arithmetic


def _factor(call: Call, alpha: Any, dtype: str) -> Any:
    """Return the factor of an operand in the dtype of the computation; PyTorch rounds it to that of the result."""
    return as_dtype(in_dtype(alpha, call.value.dtype), dtype)


def _scaled(call: Call, function: Callable[..., Any], a: Any, b: Any, alpha: Any) -> Any:
    (a, b), dtype, _ = promoted("DEFAULT", (a, b), call.metas[:2])
    if not (isinstance(alpha, (int, float)) and alpha == 1):
        b = b * _factor(call, alpha, dtype)
    if dtype == "bool":
        return T.logical_or(a, b)
    return as_dtype(function(a, b), call.dtype)


@converter("aten.add.Tensor", "aten.add.Scalar")
def add(call: Call, a: Any, b: Any, alpha: Any = 1) -> Any:
    return _scaled(call, T.add, a, b, alpha)


@converter("aten.sub.Tensor", "aten.sub.Scalar")
def sub(call: Call, a: Any, b: Any, alpha: Any = 1) -> Any:
    return _scaled(call, T.sub, a, b, alpha)


@converter("aten.rsub.Tensor", "aten.rsub.Scalar")
def rsub(call: Call, a: Any, b: Any, alpha: Any = 1) -> Any:
    (a, b), dtype, _ = promoted("DEFAULT", (a, b), call.metas[:2])
    return as_dtype(b - a * _factor(call, alpha, dtype), call.dtype)


def mul(a: Any, b: Any) -> Any:
    return T.logical_and(a, b) if a.dtype == "bool" else T.mul(a, b)


for _name in ("Tensor", "Scalar"):
    CONVERTERS[f"aten.mul.{_name}"] = pointwise("DEFAULT", mul, wide_scalars=True)


@converter("aten.pow")
def power(call: Call, a: Any, b: Any) -> Any:
    """Integers with a negative exponent: 1 and -1 have inverses, other numbers give 0."""
    exponent = b
    (a, b), _, _ = promoted("DEFAULT", (a, b), call.metas)
    if a.type.kind != "i":
        if a.type.kind in "fc" and exponent == 2 and not hasattr(exponent, "type"):
            return as_dtype(T.square(a), call.dtype)
        return as_dtype(T.pow(a, b), call.dtype)
    zero, one = number(0, a), number(1, a)
    raised = T.pow(a, T.maximum(b, zero))
    odd = T.eq(T.bitwise_and(b, one), one)
    inverse = T.where(T.eq(a, one), one, T.where(T.eq(a, -one), T.where(odd, -one, one), zero))
    return as_dtype(T.where(T.lt(b, zero), inverse, raised), call.dtype)


@converter("aten.sgn", "aten.sign")
def sign(call: Call, x: Any) -> Any:
    """Return 0 for NaN."""
    if x.type.kind == "c":
        size = T.abs(x)
        return T.where(T.eq(size, number(0, size)), number(0, x), x / as_dtype(size, x.dtype))
    if x.type.kind in "ub":
        return as_dtype(T.ne(x, number(0, x)), x.dtype)
    zero = number(0, x)
    return as_dtype(T.gt(x, zero), x.dtype) - as_dtype(T.lt(x, zero), x.dtype)


@converter("aten.round")
def round_(call: Call, x: Any, decimals: int = 0) -> Any:
    if x.type.kind in "iub":
        return x
    if not decimals:
        return T.round(x)
    ten = number(float(10.0 ** abs(decimals)), x)
    return T.round(x * ten) / ten if decimals > 0 else T.round(x / ten) * ten


@elementwise("bitwise_left_shift", "__lshift__")
def left_shift(a: Any, b: Any) -> Any:
    """A shift by a negative number, or by as many bits as the dtype has, gives 0."""
    bits = number(8 * a.type.numpy.itemsize, b)
    outside = T.logical_or(T.lt(b, number(0, b)), T.ge(b, bits))
    return T.where(outside, number(0, a), T.left_shift(a, T.where(outside, number(0, b), b)))


@elementwise("bitwise_right_shift", "__rshift__")
def right_shift(a: Any, b: Any) -> Any:
    """A shift by a negative number, or by as many bits as the dtype has, leaves the sign bit alone."""
    most = 8 * a.type.numpy.itemsize - (1 if a.type.kind == "i" else 0)
    outside = T.logical_or(T.lt(b, number(0, b)), T.ge(b, number(most, b)))
    if a.type.kind == "i":
        return T.right_shift(a, T.where(outside, number(most, b), b))
    return T.where(outside, number(0, a), T.right_shift(a, T.where(outside, number(0, b), b)))


@converter("aten.logical_and", "aten.logical_or", "aten.logical_xor")
def logical(call: Call, a: Any, b: Any) -> Any:
    function = {"and": T.logical_and, "or": T.logical_or, "xor": T.logical_xor}[_base(call).partition("_")[2]]
    return function(as_dtype(a, "bool"), as_dtype(b, "bool"))


def _base(call: Call) -> str:
    """Return the name of the op without namespace and overload."""
    return str(call.node.target._schema.name).partition("::")[2]


@converter("aten.where.self", "aten.where.ScalarOther", "aten.where.ScalarSelf", "aten.where.Scalar")
def where(call: Call, condition: Any, a: Any, b: Any) -> Any:
    (a, b), _, _ = promoted("DEFAULT", (a, b), call.metas[1:])
    return as_dtype(T.where(as_dtype(condition, "bool"), a, b), call.dtype)


@converter("aten.clamp", "aten.clamp_min", "aten.clamp_max", "aten.clip")
def clamp(call: Call, x: Any, low: Any = None, high: Any = None, **named: Any) -> Any:
    if _base(call) == "clamp_max":
        low, high = None, low if high is None else high
    low, high = named.get("min", low), named.get("max", high)
    dtype = call.dtype
    x = as_dtype(x, dtype)
    x = x if low is None else T.maximum(x, as_dtype(low, dtype))
    return x if high is None else T.minimum(x, as_dtype(high, dtype))


@converter("aten.lerp")
def lerp(call: Call, a: Any, b: Any, weight: Any) -> Any:
    """Interpolate from the nearer end."""
    (a, b, weight), _, _ = promoted("DEFAULT", (a, b, weight), call.metas[:3], wide_scalars=True)
    near = T.lt(T.abs(weight), constant(np.array(0.5, T.abs(weight).dtype)))
    return as_dtype(T.where(near, a + weight * (b - a), b - (b - a) * (number(1, weight) - weight)), call.dtype)


@converter("aten.addcmul", "aten.addcdiv")
def addcmul(call: Call, x: Any, a: Any, b: Any, value: Any = 1) -> Any:
    kind = "DEFAULT" if _base(call) == "addcmul" else "INT_TO_FLOAT"
    (x, a, b), dtype, _ = promoted(kind, (x, a, b), call.metas[:3])
    part = a if value == 1 else as_dtype(value, dtype) * a
    return as_dtype(x + (part * b if _base(call) == "addcmul" else part / b), call.dtype)


@converter("prims.fma")
def fma(call: Call, a: Any, b: Any, c: Any) -> Any:
    """Multiply and add; Dynamo makes it of `lerp` and `addcmul`, whose product eager mode rounds as well."""
    dtype = call.dtype
    return as_dtype(a, dtype) * as_dtype(b, dtype) + as_dtype(c, dtype)


@converter("aten.logit", "aten.special_logit")
def logit(call: Call, x: Any, eps: float | None = None) -> Any:
    """The lower bound comes first where an `eps` beyond a half lets the bounds cross."""
    x = as_dtype(x, call.dtype)
    if eps is not None:
        low = number(eps, x)
        x = T.switch(T.lt(x, low), low, T.minimum(x, number(1 - eps, x)))
    return T.log(x / (number(1, x) - x))


@converter("aten.frexp")
def frexp(call: Call, x: Any) -> Any:
    mantissa, exponent = T.frexp(x)
    return mantissa, as_dtype(exponent, "int32")


@converter("aten.nan_to_num")
def nan_to_num(call: Call, x: Any, nan: Any = None, posinf: Any = None, neginf: Any = None) -> Any:
    if x.type.kind in "iub":
        return x
    if x.type.kind == "c":
        return NotImplemented
    info = torch.finfo(call.value.dtype)
    ends = (nan or 0.0, info.max if posinf is None else posinf, info.min if neginf is None else neginf)
    nan_value, high, low = (number(float(v), x) for v in ends)
    x = T.where(T.isnan(x), nan_value, x)
    return T.where(T.eq(x, number(math.inf, x)), high, T.where(T.eq(x, number(-math.inf, x)), low, x))


elementwise("reciprocal", kind="INT_TO_FLOAT")(lambda x: T.true_div(number(1, x), x))
elementwise("rsqrt", kind="INT_TO_FLOAT")(lambda x: T.true_div(number(1, x), T.sqrt(x)))
converter("aten.abs")(lambda call, x: x if x.type.kind in "ub" else as_dtype(T.abs(x), call.dtype))
elementwise("frac")(lambda x: x - T.trunc(x))
converter("aten.polygamma")(lambda call, n, x: T.polygamma(n, as_dtype(x, call.dtype)))


# --- complex numbers


@converter("aten.real", "aten.imag", "aten.angle")
def parts(call: Call, x: Any) -> Any:
    base = _base(call)
    if base == "angle":
        if x.type.kind == "c":
            return T.angle(x)
        x = as_dtype(x, call.dtype)
        angle = T.where(T.lt(x, number(0, x)), number(math.pi, x), number(0, x))
        return T.where(T.isnan(x), x, angle)
    return (T.real if base == "real" else T.imag)(x)


@converter("aten.conj", "aten._conj", "aten._conj_physical", "aten._conj_copy")
def conjugate(call: Call, x: Any) -> Any:
    return T.conj(x) if x.type.kind == "c" else x


def _complex(real: Any, imaginary: Any, dtype: str) -> Any:
    return as_dtype(real, dtype) + as_dtype(imaginary, dtype) * as_dtype(1j, dtype)


converter("aten._neg_view")(lambda call, x: T.neg(x))
converter("aten.resolve_conj", "aten.resolve_neg")(lambda call, x: x)
converter("aten.complex")(lambda call, real, imaginary: _complex(real, imaginary, call.dtype))
converter("aten.polar")(lambda call, size, angle: _complex(size * T.cos(angle), size * T.sin(angle), call.dtype))
converter("aten.view_as_real")(lambda call, x: T.stack([T.real(x), T.imag(x)], axis=-1))
converter("aten.view_as_complex")(lambda call, x: _complex(x[..., 0], x[..., 1], call.dtype))


# --- dtypes


@converter("aten._to_copy", "prims.convert_element_type", "aten.to.dtype")
def to_copy(call: Call, x: Any, *args: Any, **kwargs: Any) -> Any:
    return as_dtype(x, call.dtype)


@converter(
    "aten.clone", "aten.alias", "aten.detach", "aten.lift_fresh_copy", "aten.lift_fresh", "aten.contiguous",
    "prims.view_of", "aten._assert_tensor_metadata", "aten.alias_copy", "aten.detach_copy", "prims.clone",
)  # fmt: skip
def same(call: Call, x: Any, *args: Any, **kwargs: Any) -> Any:
    return x


@converter("aten.copy")
def copied(call: Call, x: Any, source: Any, non_blocking: bool = False) -> Any:
    source = as_dtype(source, x.dtype)
    return source if call.meta(0).shape == call.meta(1).shape else T.broadcast_to(source, lengths(x))


# --- activations


def _wide(call: Call, x: Any) -> Any:
    """Return x in the dtype in which PyTorch computes an activation: float32 for float16."""
    return as_dtype(x, "float32") if x.dtype == "float16" else as_dtype(x, call.dtype)


def activation(*names: str) -> Callable[..., Any]:
    """Register a function of x, in float32 or wider, and of numbers."""

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        def convert(call: Call, x: Any, *args: Any, **kwargs: Any) -> Any:
            return as_dtype(function(_wide(call, x), *args, **kwargs), call.dtype)

        for name in names:
            CONVERTERS[f"aten.{name}"] = convert
        return function

    return register


@activation("gelu")
def gelu(x: Any, approximate: str = "none") -> Any:
    if approximate == "tanh":
        inner = number(math.sqrt(2 / math.pi), x) * (x + number(0.044715, x) * x * x * x)
        return number(0.5, x) * x * (number(1, x) + T.tanh(inner))
    return number(0.5, x) * x * (number(1, x) + T.erf(x * number(math.sqrt(0.5), x)))


@activation("elu")
def elu(x: Any, alpha: float = 1, scale: float = 1, input_scale: float = 1) -> Any:
    below = T.expm1(x * number(input_scale, x)) * number(alpha, x)
    return T.where(T.gt(x, number(0, x)), x, below) * number(scale, x)


@converter("aten.hardtanh", "aten.relu6")
def hardtanh(call: Call, x: Any, low: float = -1, high: float = 1) -> Any:
    return T.minimum(T.maximum(x, number(low, x)), number(high, x))


@activation("softplus")
def softplus(x: Any, beta: float = 1, threshold: float = 20) -> Any:
    scaled = x * number(beta, x)
    return T.where(T.gt(scaled, number(threshold, x)), x, T.softplus(scaled) / number(beta, x))


def log_sigmoid(x: Any) -> Any:
    return -T.softplus(-x)


@converter("aten.log_sigmoid_forward")
def log_sigmoid_forward(call: Call, x: Any) -> Any:
    """Return the values, and exp(-|x|), which the backward pass reads."""
    wide = _wide(call, x)
    return as_dtype(log_sigmoid(wide), call.dtype), as_dtype(T.exp(-T.abs(wide)), call.dtypes[1])


@converter("aten._prelu_kernel", "aten.prelu")
def prelu(call: Call, x: Any, weight: Any) -> Any:
    if _base(call) == "prelu" and weight.ndim == 1 and x.ndim > 1:
        weight = T.reshape(weight, (1, -1, *(1,) * (x.ndim - 2)))
    elif _base(call) == "prelu" and weight.ndim == 1:
        weight = weight[0] if x.ndim == 0 else weight
    return T.where(T.gt(x, number(0, x)), x, weight * x)


@converter("aten.threshold")
def threshold(call: Call, x: Any, threshold: Any, value: Any) -> Any:
    return T.where(T.le(x, number(threshold, x)), number(value, x), x)


@converter("aten.sigmoid_backward")
def sigmoid_backward(call: Call, g: Any, y: Any) -> Any:
    return g * (number(1, y) - y) * y if y.type.kind != "c" else NotImplemented


@converter("aten.threshold_backward")
def threshold_backward(call: Call, g: Any, x: Any, threshold: Any) -> Any:
    return T.where(T.le(x, number(threshold, x)), number(0, g), g)


def default_float() -> str:
    """Return the name of PyTorch's default dtype."""
    return name_of(torch.get_default_dtype())


def every(values: Sequence[Any], dtype: str) -> list[Any]:
    """Return values in one dtype."""
    return [as_dtype(v, dtype) for v in values]


converter("aten.relu")(lambda call, x: T.maximum(x, number(0, x)))
activation("silu")(lambda x: x * sigmoid(x))
activation("mish")(lambda x: x * T.tanh(T.softplus(x)))
activation("leaky_relu")(lambda x, slope=0.01: T.where(T.gt(x, number(0, x)), x, x * number(slope, x)))
activation("hardsigmoid")(lambda x: T.minimum(T.maximum(x + number(3, x), number(0, x)), number(6, x)) / number(6, x))
activation("hardswish")(lambda x: x * T.minimum(T.maximum(x + number(3, x), number(0, x)), number(6, x)) / number(6, x))
converter("aten.tanh_backward")(lambda call, g, y: g * (number(1, y) - y * (T.conj(y) if y.type.kind == "c" else y)))
