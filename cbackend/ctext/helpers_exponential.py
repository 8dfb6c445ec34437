"""exp and the functions made of it, of float32 and float64: C without branches, which any compiler vectorizes.

Within 3 ulp, right for NaN, infinities, zeros and subnormals, and as fast there as elsewhere: libmvec takes 3 to 30
times as long for a result that underflows, as softmax has them by the row.  A number has the same bits in a vector and
in the rest of a loop.  Polynomials are minimax in the relative error of the function (Remez).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

from .helper import C_TYPES, Helper, instances, suffix

FLOATS = ("float32", "float64")

# (exp(r) - 1 - r) / r^2 on [-log(2) / 2, log(2) / 2]: expm1 to 2^-26 and to 2^-55; the lowest power first.
EXPONENTIAL_SERIES = {
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


def horner(
    name: str, variable: str, coefficients: Mapping[str, Sequence[str]], squares: bool = True, last: int = 0
) -> dict[str, str]:
    """Return C that declares `name`, the polynomial in `variable`, for each dtype."""
    return {dtype: steps(name, variable, dtype, numbers, squares, last) for dtype, numbers in coefficients.items()}


def steps(
    name: str, variable: str, dtype: str, coefficients: Sequence[str], squares: bool = True, last: int = 0
) -> str:
    """Return C that declares `name`, the polynomial in `variable`; the coefficient of the lowest power comes first.

    A long one is summed in two or four chains: a chain waits four cycles for each of its steps, and the processor looks
    ahead over no more than three elements of a chain of twenty.  `squares`: whether to declare the powers of the
    variable that this takes.  `last`: coefficients that are added one by one behind the chains: sums of chains are
    rounded once more each, at the size of the polynomial.
    """
    numbers, c_type = [number + suffix(dtype) for number in coefficients[last:]], C_TYPES[dtype]
    chains = 1 if len(numbers) < LONG else 2 if len(numbers) < 2 * LONG else 4
    powers = [variable, f"{variable}2", f"{variable}4"][: chains.bit_length()]
    lines = [f"const {c_type} {y} = {x} * {x};" for x, y in pairwise(powers) if squares]
    for first in reversed(range(chains)):
        lines += _chain(_name(name, first), powers[-1], c_type, numbers[first::chains])
    for level, power in reversed(list(enumerate(powers[:-1]))):
        for first in range(1 << level):
            even, odd = _name(name, first), _name(name, first + (1 << level))
            lines.append(f"{even} = ag_fma_{c_type}({odd}, {power}, {even});")
    for number in reversed(coefficients[:last]):
        lines.append(f"{name} = ag_fma_{c_type}({name}, {variable}, {number}{suffix(dtype)});")
    return "\n    ".join(lines)


LONG = 6
"""Number of coefficients from which a polynomial is summed in two chains, even and odd powers; twice: four."""


def _name(name: str, first: int) -> str:
    """Return the name of the chain that begins with this power."""
    return f"{name}_{first}" if first else name


def _chain(name: str, variable: str, c_type: str, numbers: Sequence[str]) -> list[str]:
    """Return the statements of Horner's method."""
    *others, highest = numbers
    lines = [f"{c_type} {name} = {highest};"]
    return lines + [f"{name} = ag_fma_{c_type}({name}, {variable}, {number});" for number in reversed(others)]


INLINE = "static inline __attribute__((always_inline))"
"""Attribute that forces inlining: otherwise gcc calls these long functions, and loops are not vectorized."""

WORDS: Mapping[str, Mapping[str, str]] = {
    "inline": dict.fromkeys(FLOATS, INLINE),
    "U": {"float32": "u32", "float64": "u64"},
    "F": {"float32": "F", "float64": ""},
    "mantissa": {"float32": "23", "float64": "52"},
    "bias": {"float32": "127", "float64": "1023"},
    # numbers near this one are whole, and their low bits count
    "magic": {"float32": "0x1.8p23f", "float64": "0x1.8p52"},
    "magic_bits": {"float32": "0x4b400000", "float64": "0x4338000000000000"},
    # that number and the bias of exponents, once and twice: the bits of a sum, moved up, are those of a power of 2
    "biased": {"float32": "0x1.8000fep23f", "float64": "0x1.80000000003ffp52"},
    "twice_biased": {"float32": "0x1.8001fcp23f", "float64": "0x1.80000000007fep52"},
    "per_log2": {"float32": "0x1.715476p+0f", "float64": "0x1.71547652b82fep+0"},
    # log 2 in two parts, of which a whole number of 11 bits times the first is exact
    "log2": {"float32": "0x1.62e4p-1f", "float64": "0x1.62e42feep-1"},
    "log2_rest": {"float32": "0x1.7f7d1cp-20f", "float64": "0x1.a39ef35793c76p-33"},
    "least": {"float32": "-104.0f", "float64": "-746.0"},
    "most": {"float32": "89.0f", "float64": "710.0"},
    "exponential": horner("p", "r", EXPONENTIAL_SERIES),
    "logarithm": horner("p", "t", _LOGARITHM),
    # a number that may be multiplied by what an exponential is at -{one_for_tanh} and -{least}
    "less": {"float32": "0x1p-63f", "float64": "0x1p-127"},
    "biased_less": {"float32": "0x1.80008p23f", "float64": "0x1.8000000000380p52"},
    "one_for_tanh": {"float32": "20.0f", "float64": "40.0"},
    # beyond these numbers results no longer change, or have overflowed
    "least_of_exp2": {"float32": "-160.0f", "float64": "-1080.0"},
    "most_of_exp2": {"float32": "129.0f", "float64": "1025.0"},
    "least_of_expm1": {"float32": "-20.0f", "float64": "-40.0"},
    "most_of_sinh": {"float32": "89.6f", "float64": "710.6"},
    "ln2": {"float32": "0x1.62e430p-1f", "float64": "0x1.62e42fefa39efp-1"},
    # so small that x stands for x + x^2 / 2, and for x + x^3 / 6
    "tiny": {"float32": "0x1p-26f", "float64": "0x1p-55"},
    "small": {"float32": "0x1p-13f", "float64": "0x1p-28"},
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
    const {T} shifted = ag_fma_{T}(x, {per_log2}, {twice_biased}), k = shifted - {twice_biased};
    const {T} r = ag_fma_{T}(k, -{log2_rest}, ag_fma_{T}(k, -{log2}, x));
    const {U} exponents = ag_bits_{T}(shifted), half = exponents >> 1;
    const {T} first = ag_from_bits_{T}(half << {mantissa});
    return (1 + ag_small_expm1_{T}(r)) * first * ag_from_bits_{T}((exponents - half) << {mantissa});
}
""",
)

_EXP = Helper(
    "ag_exp_{T}",
    """\
/* exp({most}) is infinite */
{inline} {T} ag_exp_{T}({T} x)
{
    return ag_exp_below_{T}(x > {most} ? {most} : x);
}
""",
)

_EXP2 = Helper(
    "ag_exp2_{T}",
    """\
{inline} {T} ag_exp2_{T}({T} x)
{
    x = x < {least_of_exp2} ? {least_of_exp2} : x;
    x = x > {most_of_exp2} ? {most_of_exp2} : x;
    const {T} shifted = x + {twice_biased}, r = (x - (shifted - {twice_biased})) * {ln2};
    const {U} exponents = ag_bits_{T}(shifted), half = exponents >> 1;
    const {T} first = ag_from_bits_{T}(half << {mantissa});
    return (1 + ag_small_expm1_{T}(r)) * first * ag_from_bits_{T}((exponents - half) << {mantissa});
}
""",
)

_EXPM1_OF = Helper(
    "ag_expm1_of_{T}",
    """\
/* exp(x) - 1, where y is x cut to {least_of_expm1} and {most}: 2^k * (exp(r) - 1) + (2^k - 1), where 2^k may
   overflow and half of it does not */
{inline} {T} ag_expm1_of_{T}({T} x, {T} y)
{
    const {T} shifted = ag_fma_{T}(y, {per_log2}, {magic}), k = shifted - {magic};
    const {T} r = ag_fma_{T}(k, -{log2_rest}, ag_fma_{T}(k, -{log2}, y));
    const {T} half = ag_from_bits_{T}((ag_bits_{T}(shifted) - {magic_bits}u + ({bias}u - 1)) << {mantissa});
    const {T} result = 2 * ag_fma_{T}(ag_small_expm1_{T}(r), half, half - ({T})0.5);
    return fabs{f}(x) < {tiny} ? x : result;
}
""",
)

_EXPM1 = Helper(
    "ag_expm1_{T}",
    """\
{inline} {T} ag_expm1_{T}({T} x)
{
    const {T} y = x < {least_of_expm1} ? {least_of_expm1} : x;
    return ag_expm1_of_{T}(x, y > {most} ? {most} : y);
}
""",
)

_COSH = Helper(
    "ag_cosh_{T}",
    """\
/* q = exp(|x|) / 4 does not overflow where the result does not */
{inline} {T} ag_cosh_{T}({T} x)
{
    {T} y = fabs{f}(x);
    y = y > {most_of_sinh} ? {most_of_sinh} : y;
    const {T} shifted = ag_fma_{T}(y, {per_log2}, {magic}), k = shifted - {magic};
    const {T} r = ag_fma_{T}(k, -{log2_rest}, ag_fma_{T}(k, -{log2}, y));
    const {T} power = ag_from_bits_{T}((ag_bits_{T}(shifted) - {magic_bits}u + ({bias}u - 2)) << {mantissa});
    const {T} q = ag_fma_{T}(ag_small_expm1_{T}(r), power, power);
    return 2 * (q + ({T})0.0625 / q);
}
""",
)

_SINH = Helper(
    "ag_sinh_{T}",
    """\
/* (e + e / (e + 1)) / 2 where e = exp(|x|) - 1; q = e / 4 does not overflow where the result does not */
{inline} {T} ag_sinh_{T}({T} x)
{
    {T} y = fabs{f}(x);
    y = y > {most_of_sinh} ? {most_of_sinh} : y;
    const {T} shifted = ag_fma_{T}(y, {per_log2}, {magic}), k = shifted - {magic};
    const {T} r = ag_fma_{T}(k, -{log2_rest}, ag_fma_{T}(k, -{log2}, y));
    const {T} power = ag_from_bits_{T}((ag_bits_{T}(shifted) - {magic_bits}u + ({bias}u - 2)) << {mantissa});
    const {T} q = ag_fma_{T}(ag_small_expm1_{T}(r), power, power - ({T})0.25);
    y = copysign{f}(2 * (q + q / (4 * q + 1)), x);
    return fabs{f}(x) < {small} ? x : y;
}
""",
)

_TANH = Helper(
    "ag_tanh_{T}",
    """\
/* -e / (2 + e) where e = exp(-2|x|) - 1 = 2^k * (exp(r) - 1) + (2^k - 1): where |x| grows, the numerator never falls
   and the denominator never grows */
{inline} {T} ag_tanh_{T}({T} x)
{
    {T} y = -2 * fabs{f}(x);
    y = y < -{one_for_tanh} ? -{one_for_tanh} : y;
    const {T} shifted = ag_fma_{T}(y, {per_log2}, {biased}), k = shifted - {biased};
    const {T} r = ag_fma_{T}(k, -{log2_rest}, ag_fma_{T}(k, -{log2}, y));
    const {T} power = ag_from_bits_{T}(ag_bits_{T}(shifted) << {mantissa});
    const {T} e = ag_fma_{T}(ag_small_expm1_{T}(r), power, power - 1);
    return copysign{f}(e / (2 + e), x);
}
""",
)

_SIGMOID = Helper(
    "ag_sigmoid_{T}",
    """\
/* {less} / ({less} + {less} exp(-x)), in which nothing overflows */
{inline} {T} ag_sigmoid_{T}({T} x)
{
    {T} y = x > {one_for_tanh} ? -{one_for_tanh} : -x;
    y = y > -({least}) ? -({least}) : y;
    const {T} shifted = ag_fma_{T}(y, {per_log2}, {biased_less}), k = shifted - {biased_less};
    const {T} r = ag_fma_{T}(k, -{log2_rest}, ag_fma_{T}(k, -{log2}, y));
    const {T} power = ag_from_bits_{T}(ag_bits_{T}(shifted) << {mantissa});
    return {less} / ({less} + ag_fma_{T}(ag_small_expm1_{T}(r), power, power));
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
    _FMA, _BITS, _FROM_BITS, _SMALL_EXPM1, _EXP_BELOW, _EXP, _EXP2, _EXPM1_OF, _EXPM1, _COSH, _SINH, _TANH, _SIGMOID,
    _LOG1P_EXP, _SOFTPLUS, _LOGADDEXP,
)  # fmt: skip

EXPONENTIAL = [h for pattern in _PATTERNS for h in instances(pattern, FLOATS, **WORDS)]
"""The helpers, ordered so that each uses earlier ones only."""
