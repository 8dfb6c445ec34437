/* pow of float32 and float64: C without branches, which any compiler vectorizes.

   Within 0.6 ulp (float32, in float64) and 0.7 ulp (float64, by way of a logarithm in two parts), with all special cases
   of C99 (annex F), and as fast for them as for others.  The parts of float64 need fused multiply-adds: where the
   processor has none it is the C library's.  Polynomials are minimax in the relative error of what they stand for (Remez). */
#pragma once
#include "exponential.h"

#define ag_fma_f64 ag_fma_F /* as tools read them */
#define ag_bits_f64 ag_bits_F
#define ag_from_bits_f64 ag_from_bits_F

/* The special arguments of C99, where `power` is right for all others.  What the exponent alone decides is a number
   and no bool: a loop with one exponent computes it once, and gcc vectorizes no choice by a bool from outside the loop.
   The result is no choice, or gcc would move a comparison of it into a branch, which ends vectorization as well. */
INLINE F ag_special_powers_F(F power, F x, F y)
{
    const F half = (F)0.5 * y, inf = (F)__builtin_inf();
    const b8 whole = rint_F(y) == y, odd = whole & (rint_F(half) != half);
    const U always = -(U)(y == 0), sign = ag_bits_F((F)-0.0) & -(U)odd;
    const F one = ag_from_bits_F(ag_bits_F((F)1) | -(U)(y != y)); /* NaN for NaN, which no number equals */
    const F least = ag_from_bits_F(ag_bits_F(-inf) & -(U)whole);  /* 0 if numbers below 0 have no power */
    power = fabs_F(x) == one ? 1 : power;                         /* (+-1)^(+-inf): its logarithm would be 0 inf */
    power = (x != x) | ((x < least) & (x > -inf)) ? (F)__builtin_nan("") : power;
    const U is_one = always | -(U)(x == 1), signed_power = ag_bits_F(power) | (ag_bits_F(x) & sign);
    return ag_from_bits_F((signed_power & ~is_one) | (ag_bits_F((F)1) & is_one));
}

/* log2(1 + t) / t for sqrt(1/2) <= 1 + t <= sqrt(2): to 2^-35 */
#define LOG2_OF_F32_SERIES \
    0x1.71547652a1eacp+0, -0x1.715476565cd8ep-1, 0x1.ec709ebb8d7b6p-2, -0x1.715470981ef21p-2, 0x1.277651fe0cee9p-2, \
    -0x1.ec72b55f7dc4ap-3, 0x1.a63f43e952a22p-3, -0x1.714175d2ef0adp-3, 0x1.4529221261f6dp-3, -0x1.252f052672a09p-3, \
    0x1.28718ac206c0fp-3, -0x1.2489b33543900p-3, 0x1.3ceb88babb44ep-4

/* log2(a) of a float32, to 2^-35: a = 2^e (1 + t).  The exponent is read by way of a number near 2^52. */
INLINE f64 ag_log2_of_f32(f32 a)
{
    const u64 u = ag_bits_f64(a), e = (u + (0x3ff0000000000000u - 0x3fe6a09e667f3bcdu)) >> 52;
    const f64 t = ag_from_bits_f64(u - ((e - 1023) << 52)) - 1;
    POLYNOMIAL(f64, p, t, LOG2_OF_F32_SERIES);
    const f64 log2 = ag_fma_f64(p, t, ag_from_bits_f64(e | 0x4330000000000000u) - (0x1p52 + 1023));
    return a > 0 ? (a < __builtin_inff() ? log2 : a) : -__builtin_inf();
}

/* 2^r for -1/2 <= r <= 1/2: to 2^-29 */
#define EXP2_OF_F32_SERIES \
    0x1.0000000261125p+0, 0x1.62e430c7e235bp-1, 0x1.ebfbdadd34f9bp-3, 0x1.c6aed4bfb836dp-5, 0x1.3b2dbb5b738d1p-7, \
    0x1.5f45686894c2fp-10, 0x1.41d37ae75544ap-13

/* 2^z where z = y log2|x|; far beyond the ends of float32 any z will do. */
INLINE f32 ag_pow_f32(f32 x, f32 y)
{
    f64 z = y * ag_log2_of_f32(fabs_F(x));
    z = z < -200 ? -200 : z;
    z = z > 200 ? 200 : z;
    const f64 shifted = z + 0x1.8p52, r = z - (shifted - 0x1.8p52);
    POLYNOMIAL(f64, p, r, EXP2_OF_F32_SERIES);
    const f32 power = (f32)(p * ag_from_bits_f64((ag_bits_f64(shifted) + 1023) << 52));
    return ag_special_powers_F(power, x, y);
}

/* (atanh(s) / s - 1 - s^2 / 3) / s^4 in powers of s^2, for sqrt(1/2) <= (1 + s) / (1 - s) <= sqrt(2): to 2^-73 */
#define ATANH_PARTS_SERIES \
    0x1.9999999999996p-3, 0x1.2492492492f51p-3, 0x1.c71c71c596a15p-4, 0x1.745d18294e11cp-4, 0x1.3b1364cb42c71p-4, \
    0x1.11206ef190ceep-4, 0x1.de3d7761571f3p-5, 0x1.eac59de8953a2p-5

/* log_F(a) and, in *low, what it lacks, to 2^-66: a = 2^k m, and log_F(m) = 2 atanh(s) = 2 (s + v) for
   s = (m - 1) / (m + 1) */
INLINE f64 ag_log_parts_f64(f64 a, f64 *low)
{
    const b8 is_small = a < 0x1p-1022;
    const f64 b = is_small ? a * 0x1p54 : a;
    const u64 u = ag_bits_F(b), e = (u + (0x3ff0000000000000u - 0x3fe6a09e667f3bcdu)) >> 52;
    const f64 k = ag_from_bits_F(e | 0x4330000000000000u) - (is_small ? 0x1p52 + 1023 + 54 : 0x1p52 + 1023);
    const f64 m = ag_from_bits_F(u - ((e - 1023) << 52)), f = m - 1, d = m + 1, inverse = 1 / d;
    const f64 s = f * inverse, s_low = (ag_fma_F(-s, d, f) - s * (m - (d - 1))) * inverse;
    const f64 t = s * s, t_low = ag_fma_F(s, s, -t) + 2 * s * s_low;
    POLYNOMIAL(f64, p, t, ATANH_PARTS_SERIES);
    const f64 q = ag_fma_F(t, p, 1.0 / 3), q_low = ag_fma_F(t, p, 1.0 / 3 - q) + 0x1.5555555555555p-56;
    const f64 w = t * q, w_low = ag_fma_F(t, q, -w) + ag_fma_F(t, q_low, t_low * q);
    const f64 v = s * w, v_low = ag_fma_F(s, w, -v) + ag_fma_F(s, w_low, s_low * w);
    const f64 whole = k * 0x1.62e42feep-1, sum = ag_fma_F(2, s, whole), log = ag_fma_F(2, v, sum);
    const f64 lost = ag_fma_F(2, s, whole - sum) + ag_fma_F(2, v, sum - log);
    *low = lost + ag_fma_F(k, 0x1.a39ef35793c76p-33, 2 * (v_low + s_low));
    return log;
}

/* exp_F(z + rest) where z + rest = y log|x| */
INLINE f64 ag_pow_f64(f64 x, f64 y)
{
#if defined(__FP_FAST_FMA) || defined(__FMA__) || defined(__aarch64__)
    const f64 a = fabs_F(x), inf = __builtin_inf();
    f64 low;
    f64 log = ag_log_parts_f64(a, &low);
    log = a == 0 ? -inf : log;
    log = a == inf ? inf : log;
    f64 z = y * log, rest = ag_fma_F(y, log, -z) + y * low;
    rest = fabs_F(z) < 1000 ? rest : 0;
    z = z < -746 ? -746 : z;
    z = z > 710 ? 710 : z;
    const f64 shifted = ag_fma_F(z, 0x1.71547652b82fep+0, 0x1.8p52), k = shifted - 0x1.8p52;
    const f64 most = ag_fma_F(k, -0x1.62e42feep-1, z), tail = ag_fma_F(k, -0x1.a39ef35793c76p-33, rest);
    const f64 r = most + tail, lost = most - r + tail;
    POLYNOMIAL(f64, p, r, EXP_SERIES);
    const f64 sum = 1 + r, root = sum + (r - (sum - 1) + ag_fma_F(r2, p, lost)); /* exp_F(r + lost) */
    const u64 exponents = ag_bits_F(shifted) - 0x4338000000000000u + 2 * 1023u, first = exponents >> 1;
    const f64 power = root * ag_from_bits_F(first << 52) * ag_from_bits_F((exponents - first) << 52);
    return ag_special_powers_F(power, x, y);
#else
    return pow_F(x, y);
#endif
}
