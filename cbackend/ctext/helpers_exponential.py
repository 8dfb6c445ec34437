"""exp, tanh, sigmoid, softplus and logaddexp of float32 and float64: C without branches, which any compiler vectorizes.

Within 3 ulp, right for NaN, infinities, zeros and subnormals, and as fast there as elsewhere: libmvec takes 3 to 30
times as long for a result that underflows, as softmax has them by the row.  A number has the same bits in a vector and
in the rest of a loop.  Polynomials are minimax in the relative error of the function (Remez).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from .helper import C_TYPES, Helper, instances, suffix

FLOATS = ("float32", "float64")

# (exp(r) - 1 - r) / r^2 on [-log(2) / 2, log(2) / 2]: expm1 to 2^-26 and to 2^-55; the lowest power first.
_EXPONENTIAL = {
    "float32": ("0.5", "0x1.5554ccp-3", "0x1.5556b8p-5", "0x1.12274cp-7", "0x1.6be46ep-10"),
    "float64": (
        "0x1.0000000000005p-1", "0x1.5555555555539p-3", "0x1.55555555522b7p-5", "0x1.1111111118faap-7",
        "0x1.6c16c17edbc4ap-10", "0x1.a01a017513c74p-13", "0x1.a019a76f068b2p-16", "0x1.71de880b9a45dp-19",
        "0x1.28a1e02ee5158p-22", "0x1.ae6b9d29257e6p-26",
    ),
}  # fmt: skip
# (atanh(s) / s - 1) / s^2 in powers of s^2 on [0, 1/9]: to 2^-27 and to 2^-59.
_LOGARITHM = {
    "float32": ("0x1.5555p-2", "0x1.99d27cp-3", "0x1.1eb618p-3", "0x1.1ef854p-3"),
    "float64": (
        "0x1.5555555555535p-2", "0x1.99999999a083ap-3", "0x1.2492492085a07p-3", "0x1.c71c741f7b477p-4",
        "0x1.745cb39d6d5b3p-4", "0x1.3b1de2ff3825ap-4", "0x1.10676a3e80607p-4", "0x1.efdd6c7a67f22p-5",
        "0x1.559ca707ff409p-5", "0x1.5c8a0fe55f2adp-4",
    ),
}  # fmt: skip


def _horner(name: str, variable: str, coefficients: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """C that declares `name`, the polynomial in `variable`, for each dtype."""
    return {dtype: steps(name, variable, dtype, numbers) for dtype, numbers in coefficients.items()}


def steps(name: str, variable: str, dtype: str, coefficients: Sequence[str]) -> str:
    """C that declares `name`, the polynomial in `variable`, the coefficient of the lowest power first."""
    *others, highest = (number + suffix(dtype) for number in coefficients)
    lines = [f"{C_TYPES[dtype]} {name} = {highest};"]
    lines += [f"{name} = ag_fma_{C_TYPES[dtype]}({name}, {variable}, {number});" for number in reversed(others)]
    return "\n    ".join(lines)


INLINE = "static inline __attribute__((always_inline))"
"""Without it gcc takes them for too long, calls them, and then the loop is not vectorized."""

_WORDS: Mapping[str, Mapping[str, str]] = {
    "inline": dict.fromkeys(FLOATS, INLINE),
    "U": {"float32": "u32", "float64": "u64"},
    "F": {"float32": "F", "float64": ""},
    "mantissa": {"float32": "23", "float64": "52"},
    "bias": {"float32": "127", "float64": "1023"},
    # numbers near this one are whole, and their low bits count
    "magic": {"float32": "0x1.8p23f", "float64": "0x1.8p52"},
    "magic_bits": {"float32": "0x4b400000", "float64": "0x4338000000000000"},
    "per_log2": {"float32": "0x1.715476p+0f", "float64": "0x1.71547652b82fep+0"},
    # log 2 in two parts, of which a whole number of 11 bits times the first is exact
    "log2": {"float32": "0x1.62e4p-1f", "float64": "0x1.62e42feep-1"},
    "log2_rest": {"float32": "0x1.7f7d1cp-20f", "float64": "0x1.a39ef35793c76p-33"},
    "least": {"float32": "-104.0f", "float64": "-746.0"},
    "most": {"float32": "89.0f", "float64": "710.0"},
    "exponential": _horner("p", "r", _EXPONENTIAL),
    "logarithm": _horner("p", "t", _LOGARITHM),
    "one_for_tanh": {"float32": "20.0f", "float64": "40.0"},
}


_FMA = Helper(
    "ag_fma_{T}",
    """\
/* a * b + c, rounded once where that costs no more. */
{inline} {T} ag_fma_{T}({T} a, {T} b, {T} c)
{
#if defined(__FP_FAST_FMA{F}) || defined(__FMA__) || defined(__aarch64__)
    return __builtin_fma{f}(a, b, c);
#else
    return a * b + c;
#endif
}
""",
)

_BITS = Helper(
    "ag_bits_{T}",
    """\
{inline} {U} ag_bits_{T}({T} x)
{
    union { {T} f; {U} u; } v;
    v.f = x;
    return v.u;
}
""",
)

_FROM_BITS = Helper(
    "ag_from_bits_{T}",
    """\
{inline} {T} ag_from_bits_{T}({U} x)
{
    union { {U} u; {T} f; } v;
    v.u = x;
    return v.f;
}
""",
)

_SMALL_EXPM1 = Helper(
    "ag_small_expm1_{T}",
    """\
/* exp(r) - 1 for r between -log(2) / 2 and log(2) / 2. */
{inline} {T} ag_small_expm1_{T}({T} r)
{
    {exponential}
    return ag_fma_{T}(r * r, p, r);
}
""",
)

_EXP_BELOW = Helper(
    "ag_exp_below_{T}",
    """\
/* exp(x) for x <= {most}: 2^k * exp(r) where k = round(x / log 2); two factors make up 2^k, so that a subnormal result
   is rounded once (W. J. Cody, W. Waite, "Software Manual for the Elementary Functions", 1980). */
{inline} {T} ag_exp_below_{T}({T} x)
{
    x = x < {least} ? {least} : x;
    const {T} shifted = ag_fma_{T}(x, {per_log2}, {magic}), k = shifted - {magic};
    const {T} r = ag_fma_{T}(k, -{log2_rest}, ag_fma_{T}(k, -{log2}, x));
    const {U} exponents = ag_bits_{T}(shifted) - {magic_bits}u + 2 * {bias}u, half = exponents >> 1;
    const {T} first = ag_from_bits_{T}(half << {mantissa});
    return (1 + ag_small_expm1_{T}(r)) * first * ag_from_bits_{T}((exponents - half) << {mantissa});
}
""",
)

_EXP = Helper(
    "ag_exp_{T}",
    """\
{inline} {T} ag_exp_{T}({T} x)
{
    const {T} y = ag_exp_below_{T}(x);
    return x > {most} ? __builtin_inf{f}() : y;
}
""",
)

_TANH = Helper(
    "ag_tanh_{T}",
    """\
/* e / (e + 2) where e = exp(2|x|) - 1 = 2^k * (exp(r) - 1) + (2^k - 1) */
{inline} {T} ag_tanh_{T}({T} x)
{
    {T} y = 2 * fabs{f}(x);
    y = y > {one_for_tanh} ? {one_for_tanh} : y;
    const {T} shifted = ag_fma_{T}(y, {per_log2}, {magic}), k = shifted - {magic};
    const {T} r = ag_fma_{T}(k, -{log2_rest}, ag_fma_{T}(k, -{log2}, y));
    const {T} power = ag_from_bits_{T}((ag_bits_{T}(shifted) - {magic_bits}u + {bias}u) << {mantissa});
    const {T} e = ag_fma_{T}(ag_small_expm1_{T}(r), power, power - 1);
    return copysign{f}(e / (e + 2), x);
}
""",
)

_SIGMOID = Helper(
    "ag_sigmoid_{T}",
    """\
{inline} {T} ag_sigmoid_{T}({T} x)
{
    const {T} e = ag_exp_below_{T}(-fabs{f}(x));
    return (x >= 0 ? 1 : e) / (1 + e);
}
""",
)

_LOG1P_EXP = Helper(
    "ag_log1p_exp_{T}",
    """\
/* log(1 + exp(x)) for x <= 0: 2 atanh(e / (e + 2)), where e = exp(x) */
{inline} {T} ag_log1p_exp_{T}({T} x)
{
    const {T} e = ag_exp_below_{T}(x), s = e / (e + 2), t = s * s;
    {logarithm}
    return 2 * ag_fma_{T}(s * t, p, s);
}
""",
)

_SOFTPLUS = Helper(
    "ag_softplus_{T}",
    """\
{inline} {T} ag_softplus_{T}({T} x)
{
    return (x > 0 ? x : 0) + ag_log1p_exp_{T}(-fabs{f}(x));
}
""",
)

_LOGADDEXP = Helper(
    "ag_logaddexp_{T}",
    """\
{inline} {T} ag_logaddexp_{T}({T} a, {T} b)
{
    const {T} apart = -fabs{f}(a - b);
    return a == b ? a + ({T})0x1.62e42fefa39efp-1 : apart <= 0 ? (a > b ? a : b) + ag_log1p_exp_{T}(apart) : apart;
}
""",
)

_PATTERNS = (
    _FMA, _BITS, _FROM_BITS, _SMALL_EXPM1, _EXP_BELOW, _EXP, _TANH, _SIGMOID, _LOG1P_EXP, _SOFTPLUS, _LOGADDEXP
)  # fmt: skip

EXPONENTIAL = [h for pattern in _PATTERNS for h in instances(pattern, FLOATS, **_WORDS)]
"""In an order in which each uses earlier ones alone."""
