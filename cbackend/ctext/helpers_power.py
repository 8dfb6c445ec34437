"""pow of float32: C without branches, in float64, which any compiler vectorizes; that of float64 is the C library's.

Within 0.6 ulp, with all special cases of C99 (annex F), and as fast for them as for others: libmvec calls the scalar
function for each zero, negative or infinite base.  Polynomials are minimax in the relative error of what they stand
for (Remez).
"""

from __future__ import annotations

from .helper import Helper
from .helpers_exponential import INLINE, steps

# log2(1 + t) / t for sqrt(1/2) <= 1 + t <= sqrt(2): to 2^-35; the lowest power first.
_LOGARITHM = (
    "0x1.71547652a1eacp+0", "-0x1.715476565cd8ep-1", "0x1.ec709ebb8d7b6p-2", "-0x1.715470981ef21p-2",
    "0x1.277651fe0cee9p-2", "-0x1.ec72b55f7dc4ap-3", "0x1.a63f43e952a22p-3", "-0x1.714175d2ef0adp-3",
    "0x1.4529221261f6dp-3", "-0x1.252f052672a09p-3", "0x1.28718ac206c0fp-3", "-0x1.2489b33543900p-3",
    "0x1.3ceb88babb44ep-4",
)  # fmt: skip
# 2^r for -1/2 <= r <= 1/2: to 2^-29.
_POWER = (
    "0x1.0000000261125p+0", "0x1.62e430c7e235bp-1", "0x1.ebfbdadd34f9bp-3", "0x1.c6aed4bfb836dp-5",
    "0x1.3b2dbb5b738d1p-7", "0x1.5f45686894c2fp-10", "0x1.41d37ae75544ap-13",
)  # fmt: skip

_LOG2 = f"""\
/* log2(a) of a float32, to 2^-35: a = 2^e (1 + t).  The exponent is read by way of a number near 2^52. */
{INLINE} f64 ag_log2_of_f32(f32 a)
{{
    const u64 u = ag_bits_f64(a), e = (u + (0x3ff0000000000000u - 0x3fe6a09e667f3bcdu)) >> 52;
    const f64 t = ag_from_bits_f64(u - ((e - 1023) << 52)) - 1;
    {steps("p", "t", "float64", _LOGARITHM)}
    const f64 log2 = ag_fma_f64(p, t, ag_from_bits_f64(e | 0x4330000000000000u) - (0x1p52 + 1023));
    return a > 0 ? (a < __builtin_inff() ? log2 : a) : -__builtin_inf();
}}
"""

_POW = f"""\
/* 2^z where z = y log2|x|; far beyond the ends of float32 any z will do.  Then what C99 says of special arguments. */
{INLINE} f32 ag_pow_f32(f32 x, f32 y)
{{
    const f32 a = fabsf(x), half = 0.5f * y;
    f64 z = y * ag_log2_of_f32(a);
    z = z < -200 ? -200 : z;
    z = z > 200 ? 200 : z;
    const f64 shifted = z + 0x1.8p52, r = z - (shifted - 0x1.8p52);
    {steps("p", "r", "float64", _POWER)}
    f32 power = (f32)(p * ag_from_bits_f64((ag_bits_f64(shifted) + 1023) << 52));
    const b8 whole = rintf(y) == y, odd = whole & (rintf(half) != half);
    power = (a == 1) & (y == y) ? 1 : power; /* (+-1)^(+-inf): its logarithm would be 0 inf */
    power = (a != a) | ((x < 0) & (a < __builtin_inff()) & !whole) ? __builtin_nanf("") : power;
    power = odd ? copysignf(power, x) : power;
    return (y == 0) | (x == 1) ? 1 : power;
}}
"""

_POW_F64 = f"""\
{INLINE} f64 ag_pow_f64(f64 x, f64 y)
{{
    return pow(x, y);
}}
"""

POWER = [
    Helper("ag_log2_of_f32", _LOG2),
    Helper("ag_pow_f32", _POW),
    Helper("ag_pow_f64", _POW_F64),
]
"""In an order in which each uses earlier ones alone."""
