"""erf and erfc of float32 and float64: C without branches, which any compiler vectorizes.

For x >= 0, erf(x) = 1 - exp(-x G(x)), and erfc(x) = exp(-x^2) Q((x - c) / (x + c)) / (1 + 2 x) (M. M. Shepherd,
J. G. Laframboise, "Chebyshev approximation of (1 + 2 x) exp(x^2) erfc x in 0 <= x < inf", 1981).  G and Q are
polynomials, minimax in the relative error of the function (Remez); Q is such that erfc(0) is 1 exactly.
"""

from __future__ import annotations

from .helper import Helper, instances
from .helpers_exponential import FLOATS, WORDS, horner

_ERF = {
    "float32": (
        "0x1.20dd76p+0", "0x1.45f24ep-1", "0x1.a54a52p-4", "-0x1.40b16ep-6", "0x1.f73cd8p-11", "0x1.81f0bep-15",
        "0x1.704216p-11", "-0x1.089c16p-11", "0x1.2b9dd6p-13", "-0x1.fa5562p-17",
    ),
    "float64": (
        "0x1.20dd750429b6dp+0", "0x1.45f306dc9c8b9p-1", "0x1.a4f4e2a1adc7cp-4", "-0x1.396685922abeep-6",
        "-0x1.b6b697097a8e4p-13", "0x1.bca686feb395cp-10", "-0x1.3565c704884bbp-11", "0x1.b263cc0cbd93p-16",
        "0x1.0e591d19ad548p-14", "-0x1.f170e8517b1dep-16", "0x1.b96b0f0774f7dp-19", "0x1.905ff8782ee41p-19",
        "-0x1.fabe40b480c01p-20", "0x1.e516d54cb675bp-22", "0x1.1356295433efp-24", "-0x1.c125800679705p-24",
        "0x1.b22a9f6fc99e4p-25", "-0x1.12fa6bd2df1eap-26", "0x1.fede0c268a9d4p-29", "-0x1.6560691004917p-31",
        "0x1.76833546a4056p-34", "-0x1.1dcdc6900a09p-37", "0x1.2c14db25c9f94p-41", "-0x1.83248ef7e4896p-46",
        "0x1.cd8df398a1a5ep-52",
    ),
}  # fmt: skip
_ERFC = {
    "float32": (
        "0x1.46e80ep+0", "-0x1.7bf63ep-4", "-0x1.54079p-3", "0x1.4ffd66p-3", "-0x1.bc25eap-5", "-0x1.087e3cp-7",
        "0x1.1c1cep-7", "0x1.607e66p-10", "-0x1.4c10a8p-10", "-0x1.c49fd2p-12",
    ),
    "float64": (
        "0x1.40c522d7e4987p+0", "-0x1.15c084bb9e8e1p-3", "-0x1.85a15c58a9e57p-5", "0x1.098366a5b3f97p-3",
        "-0x1.e88b803a54bfbp-4", "0x1.17ca28780baefp-4", "-0x1.8574c40852d85p-6", "0x1.4b884e16fe4bdp-9",
        "0x1.ef1bdb213fc2ep-10", "-0x1.98db4bd3051ep-11", "-0x1.b911af12ab79fp-14", "0x1.0659d839bf662p-13",
        "0x1.4bf8ee6412b33p-18", "-0x1.5132b34cdfdb9p-16", "-0x1.85392016620fp-21", "0x1.d183387883ee9p-19",
        "0x1.73e7ec191cee3p-22", "-0x1.47f273edef0e1p-21", "-0x1.17da6b06f8574p-23", "0x1.9d2dcf4499132p-24",
        "0x1.2150d3f4a1ec3p-25", "-0x1.52f1b0acb8d6dp-27", "-0x1.464830a45d839p-28",
    ),
}  # fmt: skip

_WORDS = {
    **WORDS,
    "erf": horner("p", "a", _ERF, last=2),
    "erfc": horner("q", "t", _ERFC),
    "one_for_erf": {"float32": "4.0f", "float64": "5.95"},
    "zero_for_erfc": {"float32": "10.2f", "float64": "27.3"},
    "middle": {"float32": "2", "float64": "3"},
    "upper_half": {"float32": "0xfffff000u", "float64": "0xfffffffff8000000u"},
}

_ERF_OF = Helper(
    "ag_erf_{T}",
    """\
/* 1 - 2^k exp(r) = (1 - 2^k) - 2^k (exp(r) - 1) */
{inline} {T} ag_erf_{T}({T} x)
{
    {T} a = fabs{f}(x);
    a = a > {one_for_erf} ? {one_for_erf} : a;
    {erf}
    const {T} y = -a * p, shifted = ag_fma_{T}(y, {per_log2}, {biased}), k = shifted - {biased};
    const {T} r = ag_fma_{T}(k, -{log2_rest}, ag_fma_{T}(k, -{log2}, y));
    const {T} power = ag_from_bits_{T}(ag_bits_{T}(shifted) << {mantissa});
    return copysign{f}(ag_fma_{T}(-ag_small_expm1_{T}(r), power, 1 - power), x);
}
""",
)

_ERFC_OF = Helper(
    "ag_erfc_{T}",
    """\
/* The square is taken in two parts, the first of which is exact. */
{inline} {T} ag_erfc_{T}({T} x)
{
    {T} a = fabs{f}(x);
    a = a > {zero_for_erfc} ? {zero_for_erfc} : a;
    const {T} right = a + {middle}, slope = 1 + 2 * a, inverse = 1 / (right * slope);
    const {T} t = (a - {middle}) * (slope * inverse);
    {erfc}
    const {T} high = ag_from_bits_{T}(ag_bits_{T}(a) & {upper_half}), low = (a - high) * (a + high);
    const {T} shifted = ag_fma_{T}(-a * a, {per_log2}, {twice_biased}), k = shifted - {twice_biased};
    const {T} r = ag_fma_{T}(k, -{log2_rest}, ag_fma_{T}(k, -{log2}, -high * high)) - low;
    const {U} exponents = ag_bits_{T}(shifted), half = exponents >> 1;
    const {T} scaled = q * (right * inverse), part = ag_fma_{T}(ag_small_expm1_{T}(r), scaled, scaled);
    const {T} rest = part * ag_from_bits_{T}(half << {mantissa}) * ag_from_bits_{T}((exponents - half) << {mantissa});
    return x < 0 ? 2 - rest : rest;
}
""",
)

ERROR = [h for pattern in (_ERF_OF, _ERFC_OF) for h in instances(pattern, FLOATS, **_WORDS)]
