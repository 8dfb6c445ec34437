"""Logarithms and inverse hyperbolic functions of float32 and float64: C without branches, for any vectorizing compiler.

x = 2^k (1 + f).  The logarithm of 1 + f is a polynomial in f (float32), or in s^2 where s = f / (2 + f), so that
log(1 + f) = f - f^2 / 2 + s (f^2 / 2 + R(s^2)) (float64; P. T. P. Tang's form, as in fdlibm's e_log.c).  Inverse
hyperbolic functions are k log(2) + 2 atanh(s), where s stands for one quotient and not two.  Polynomials are minimax in
the relative error of the function (Remez).
"""

from __future__ import annotations

from .helper import Helper, instances
from .helpers_exponential import FLOATS, WORDS, horner

# (log(1 + f) - f) / f^2, then log2(1 + f) / f - 1 and log10(1 + f) / f - log10(e) for 2/3 <= 1 + f <= 4/3
_LOG_F32 = (
    "-0x1p-1", "0x1.555506p-2", "-0x1.000424p-2", "0x1.99d2f4p-3", "-0x1.53e806p-3", "0x1.1e955p-3", "-0x1.11aedp-3",
    "0x1.1fdeb4p-3", "-0x1.3bf28ap-4",
)  # fmt: skip
_LOG2_F32 = (
    "0x1.c551dap-2", "-0x1.715474p-1", "0x1.ec6f88p-2", "-0x1.715646p-2", "0x1.27bacep-2", "-0x1.ec28cap-3",
    "0x1.9a82dp-3", "-0x1.706398p-3", "0x1.ac95cep-3", "-0x1.5b879ap-3",
)  # fmt: skip
_LOG10_F32 = (
    "-0x1.20579ep-27", "-0x1.bcb78ep-3", "0x1.287a1p-3", "-0x1.bcd83cp-4", "0x1.63fe7ep-4", "-0x1.247948p-4",
    "0x1.f1711p-5", "-0x1.0bd12ap-4", "0x1.f4ebaep-5", "-0x1.8ef476p-8",
)  # fmt: skip
# R(s^2) / s^2 for sqrt(1/2) <= 1 + f <= sqrt(2): log to 2^-59
_LOG_F64 = (
    "0x1.5555555555592p-1", "0x1.999999997ff3fp-2", "0x1.24924941de95p-2", "0x1.c71c52169eac4p-3",
    "0x1.74663c7c50618p-3", "0x1.39a1f2ce0333bp-3", "0x1.2f03665411e58p-3",
)  # fmt: skip
# (atanh(s) / s - 1) / s^2 for |s| <= 0.2004: atanh to 2^-28 and 2^-62
_ATANH = {
    "float32": ("0x1.5555b4p-2", "0x1.992a86p-3", "0x1.36f134p-3"),
    "float64": (
        "0x1.555555555554fp-2", "0x1.999999999c19fp-3", "0x1.24924921e0f3ap-3", "0x1.c71c7493455d5p-4",
        "0x1.745c49f26ccc4p-4", "0x1.3b35e08f5e672p-4", "0x1.0dc96629f1a74p-4", "0x1.1b90e76d890dep-4",
    ),
}  # fmt: skip

_WORDS = {
    **WORDS,
    "smallest": {"float32": "0x1p-126f", "float64": "0x1p-1022"},
    "larger": {"float32": "0x1p24f", "float64": "0x1p54"},
    # 1 less the least 1 + f
    "offset": {"float32": "(0x3f800000u - 0x3f2aaaabu)", "float64": "(0x3ff0000000000000u - 0x3fe6a09e667f3bcdu)"},
    # an integer or-ed to these bits is added to this number
    "ulp_of_one": {"float32": "0x4b000000u", "float64": "0x4330000000000000u"},
    "one_ulp": {"float32": "0x1p23f", "float64": "0x1p52"},
    "unbiased": {"float32": "(0x1p23f + 127)", "float64": "(0x1p52 + 1023)"},
    "unbiased_half": {"float32": "(0x1p23f + 126)", "float64": "(0x1p52 + 1022)"},
    "unbiased_larger": {"float32": "(0x1p23f + 127 + 24)", "float64": "(0x1p52 + 1023 + 54)"},
    "huge": {"float32": "0x1p13f", "float64": "0x1p28"},
    "log": horner("p", "f", {"float32": _LOG_F32}) | horner("p", "t", {"float64": _LOG_F64}),
    "log2_of": horner("p", "f", {"float32": _LOG2_F32}),
    "atanh": horner("p", "t", _ATANH),
    "log10_of": horner("p", "f", {"float32": _LOG10_F32}),
}


def _of_scaled(name: str) -> str:
    """Return C of a whole logarithm: `x = 2^k (1 + f)`, then `name` of f and k, then special arguments."""
    return f"""\
{{inline}} {{T}} ag_{name}_{{T}}({{T}} x)
{{
    const b8 is_small = x < {{smallest}};
    const {{T}} a = is_small ? x * {{larger}} : x;
    const {{U}} u = ag_bits_{{T}}(a), e = (u + {{offset}}) >> {{mantissa}};
    const {{T}} k = ag_from_bits_{{T}}(e | {{ulp_of_one}}) - (is_small ? {{unbiased_larger}} : {{unbiased}});
    const {{T}} f = ag_from_bits_{{T}}(u - ((e - {{bias}}) << {{mantissa}})) - 1;
    return ag_log_special_{{T}}(x, ag_{name}_near_{{T}}(f, k));
}}
"""


_SPECIAL = Helper(
    "ag_log_special_{T}",
    """\
/* The logarithm of x, which is y if x is positive and finite. */
{inline} {T} ag_log_special_{T}({T} x, {T} y)
{
    y = x < __builtin_inf{f}() ? y : x;
    y = x < 0 ? __builtin_nan{f}("") : y;
    return x == 0 ? -__builtin_inf{f}() : y;
}
""",
)

_LOG_NEAR = {
    "float32": """\
/* log(2^k (1 + f)) for 2/3 <= 1 + f <= 4/3 */
{inline} f32 ag_log_near_f32(f32 f, f32 k)
{
    {log}
    return ag_fma_f32(k, {ln2}, ag_fma_f32(p, f * f, f));
}
""",
    "float64": """\
/* log(2^k (1 + f)) for sqrt(1/2) <= 1 + f <= sqrt(2) */
{inline} f64 ag_log_near_f64(f64 f, f64 k)
{
    const f64 s = f / (2 + f), t = s * s, half = 0.5 * f * f;
    {log}
    return ag_fma_f64(k, {log2}, f - half) + ag_fma_f64(s, ag_fma_f64(t, p, half), k * {log2_rest});
}
""",
}

_LOG2_NEAR = {
    "float32": """\
{inline} f32 ag_log2_near_f32(f32 f, f32 k)
{
    {log2_of}
    return ag_fma_f32(f, p, f) + k;
}
""",
    "float64": """\
/* The logarithm of 1 + f in two parts, the first of 21 bits, whose product with 21 bits of 1 / log(2) is exact. */
{inline} f64 ag_log2_near_f64(f64 f, f64 k)
{
    const f64 s = f / (2 + f), t = s * s, half = 0.5 * f * f;
    {log}
    const f64 high = ag_from_bits_f64(ag_bits_f64(f - half) & 0xffffffff00000000u);
    const f64 low = ag_fma_f64(s, ag_fma_f64(t, p, half), f - high - half);
    const f64 first = high * 0x1.71547p+0, sum = k + first, lost = k - sum + first;
    return sum + ag_fma_f64(low, 0x1.71547652b82fep+0, ag_fma_f64(high, 0x1.94ae0bf85ddf4p-22, lost));
}
""",
}

_LOG10_NEAR = {
    "float32": """\
{inline} f32 ag_log10_near_f32(f32 f, f32 k)
{
    {log10_of}
    return ag_fma_f32(k, 0x1.344p-2f, ag_fma_f32(f, 0x1.bcb7b2p-2f, ag_fma_f32(f, p, k * 0x1.3509f8p-18f)));
}
""",
    "float64": """\
{inline} f64 ag_log10_near_f64(f64 f, f64 k)
{
    const f64 s = f / (2 + f), t = s * s, half = 0.5 * f * f;
    {log}
    const f64 high = ag_from_bits_f64(ag_bits_f64(f - half) & 0xffffffff00000000u);
    const f64 low = ag_fma_f64(s, ag_fma_f64(t, p, half), f - high - half);
    const f64 first = high * 0x1.bcb7bp-2, whole = k * 0x1.34413509f6p-2, sum = whole + first;
    const f64 lost = ag_fma_f64(k, 0x1.9fef311f12b36p-42, whole - sum + first);
    return sum + ag_fma_f64(low, 0x1.bcb7b1526e50ep-2, ag_fma_f64(high, 0x1.526e50e32a6abp-26, lost));
}
""",
}

_LOG_OF_SUM = Helper(
    "ag_log_of_sum_{T}",
    """\
/* log(x + more) + ({unbiased} - unbiased) log(2), where more is 0 or 1, and the sum is at least twice the smallest
   normal number: 2^-k is added, so that nothing is lost */
{inline} {T} ag_log_of_sum_{T}({T} x, {T} more, {T} unbiased)
{
    const {T} sum = x + more;
    const {U} u = ag_bits_{T}(sum), e = (u + {offset}) >> {mantissa};
    const {T} k = ag_from_bits_{T}(e | {ulp_of_one}) - unbiased;
    const {T} scale = ag_from_bits_{T}((2 * {bias}u + 2 - e) << {mantissa}); /* 4 / 2^k, which is never subnormal */
    const {T} f = ag_fma_{T}(({T})0.25 * x, scale, ag_fma_{T}(({T})0.25 * more, scale, -1));
    return ag_log_special_{T}(sum, ag_log_near_{T}(f, k));
}
""",
)

_LOG_PLUS = Helper(
    "ag_log_plus_{T}",
    """\
{inline} {T} ag_log_plus_{T}({T} x, {T} more)
{
    return ag_log_of_sum_{T}(x, more, {unbiased});
}
""",
)

_LOG1P = Helper(
    "ag_log1p_{T}",
    """\
{inline} {T} ag_log1p_{T}({T} x)
{
    const {T} y = ag_log_plus_{T}(x, 1);
    return fabs{f}(x) < {tiny} ? x : y;
}
""",
)

# The switch at -log 2 is due to M. Maechler, "Accurately computing log(1 - exp(-|a|))".
_LOG1MEXP = Helper(
    "ag_log1mexp_{T}",
    """\
{inline} {T} ag_log1mexp_{T}({T} x)
{
    const b8 is_low = x < -{ln2};
    const {T} low = -ag_exp_below_{T}(x); /* both: a choice would be a branch */
    const {T} high = ag_expm1_of_{T}(x, x > {most} ? {most} : x) * -{larger};
    const {T} y = ag_log_of_sum_{T}(is_low ? low : high, is_low ? 1 : 0, is_low ? {unbiased} : {unbiased_larger});
    return (x < 0) & (-low < {tiny}) ? low : y;
}
""",
)

_ATANH_NEAR = Helper(
    "ag_atanh_near_{T}",
    """\
/* atanh(s) + k log(2) / 2 */
{inline} {T} ag_atanh_near_{T}({T} s, {T} k)
{
    const {T} t = s * s;
    {atanh}
    const {T} rest = ag_fma_{T}(s * t, p, k * (({T})0.5 * {log2_rest}));
    return ag_fma_{T}(k, ({T})0.5 * {log2}, s) + rest;
}
""",
)

_ASINH = Helper(
    "ag_asinh_{T}",
    """\
/* w = x + sqrt(1 + x^2) = 2^k (1 + s) / (1 - s); tanh(asinh(x) / 2) = x / (1 + sqrt(1 + x^2)) where k = 0 */
{inline} {T} ag_asinh_{T}({T} x)
{
    const {T} a = fabs{f}(x), square = ag_fma_{T}(a, a, 1), root = a > {huge} ? 0 : sqrt{f}(square), w = a + root;
    const {U} e = (ag_bits_{T}(w) + {offset}) >> {mantissa};
    const {T} k = ag_from_bits_{T}(e | {ulp_of_one}) - {unbiased} + (a > {huge} ? 1 : 0);
    const {T} scale = ag_from_bits_{T}((2 * {bias}u + 2 - e) << {mantissa}); /* 4 / 2^k, which is never subnormal */
    const {T} f = ag_fma_{T}(({T})0.25 * a, scale, ag_fma_{T}(({T})0.25 * root, scale, -1));
    const {T} s = (k == 0 ? a : f) / (k == 0 ? 1 + root : 2 + f);
    const {T} y = a < __builtin_inf{f}() ? 2 * ag_atanh_near_{T}(s, k) : a;
    return a < {small} ? x : copysign{f}(y, x);
}
""",
)

_ACOSH = Helper(
    "ag_acosh_{T}",
    """\
/* log1p(t + sqrt(2 t + t^2)) where t = x - 1, or log(2 x) for a huge x */
{inline} {T} ag_acosh_{T}({T} x)
{
    const {T} t = x - 1;
    const b8 is_huge = x > {huge};
    const {T} sum = is_huge ? x : t + sqrt{f}(t * (t + 2)), more = is_huge ? 0 : 1;
    const {T} y = ag_log_of_sum_{T}(sum, more, is_huge ? {unbiased_half} : {unbiased});
    return x < 1 ? __builtin_nan{f}("") : y;
}
""",
)

_ATANH_OF = Helper(
    "ag_atanh_{T}",
    """\
/* (1 + x) / (1 - x) = 2^k (1 + s) / (1 - s): the difference of bits is k to 0.6, and s is x where k = 0 */
{inline} {T} ag_atanh_{T}({T} x)
{
    const {T} a = fabs{f}(x);
    const {U} ratio = ag_bits_{T}(1 + a) - ag_bits_{T}(1 - a) + (({U})1 << ({mantissa} - 1));
    const {U} e = ratio >> {mantissa} << {mantissa};
    const {T} power = ag_from_bits_{T}(e + (({U}){bias} << {mantissa}));
    const {T} k = ag_from_bits_{T}(e >> {mantissa} | {ulp_of_one}) - {one_ulp};
    const b8 is_near = k < 10; /* where 1 + power is exact */
    const {T} less = is_near ? ag_fma_{T}(a, 1 + power, 1 - power) : ag_fma_{T}(-power, 1 - a, 1 + a);
    const {T} more = is_near ? ag_fma_{T}(a, 1 - power, 1 + power) : ag_fma_{T}(power, 1 - a, 1 + a);
    const {T} y = a == 1 ? __builtin_inf{f}() : ag_atanh_near_{T}(less / more, k);
    return a > 1 ? __builtin_nan{f}("") : copysign{f}(y, x);
}
""",
)


def _each(pattern: Helper | dict[str, Helper]) -> list[Helper]:
    """Return the helper for each dtype, from one pattern for all or one per dtype."""
    made: list[Helper] = []
    for dtype in FLOATS:
        words = {word: values for word, values in _WORDS.items() if dtype in values}
        made += instances(pattern[dtype] if isinstance(pattern, dict) else pattern, [dtype], **words)
    return made


def _near(name: str, texts: dict[str, str]) -> dict[str, Helper]:
    return {dtype: Helper(f"ag_{name}_near_{{T}}", text) for dtype, text in texts.items()}


_PATTERNS: tuple[Helper | dict[str, Helper], ...] = (
    _SPECIAL,
    _near("log", _LOG_NEAR),
    _near("log2", _LOG2_NEAR),
    _near("log10", _LOG10_NEAR),
    *(Helper(f"ag_{name}_{{T}}", _of_scaled(name)) for name in ("log", "log2", "log10")),
    *(_LOG_OF_SUM, _LOG_PLUS, _LOG1P, _LOG1MEXP, _ATANH_NEAR, _ASINH, _ACOSH, _ATANH_OF),
)

LOGARITHM = [helper for pattern in _PATTERNS for helper in _each(pattern)]
"""The helpers, ordered so that each uses earlier ones only."""
