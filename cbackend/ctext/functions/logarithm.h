/* Logarithms and inverse hyperbolic functions of float32 and float64: C without branches, for any vectorizing compiler.

   x = 2^k (1 + f).  The logarithm of 1 + f is a polynomial in f (float32), or in s^2 where s = f / (2 + f), so that
   log(1 + f) = f - f^2 / 2 + s (f^2 / 2 + R(s^2)) (float64; P. T. P. Tang's form, as in fdlibm's e_log.c).  Inverse
   hyperbolic functions are k log(2) + 2 atanh(s), where s stands for one quotient and not two.  Polynomials are minimax in
   the relative error of the function (Remez). */
#pragma once
#include "exponential.h"

#define ag_log_near_F ag_log_near_f32 /* as tools read them */
#define ag_log1p_near_F ag_log1p_near_f32
#define ag_log2_near_F ag_log2_near_f32
#define ag_log10_near_F ag_log10_near_f32

/* The logarithm of x, which is y if x is positive and finite. */
INLINE F ag_log_special_F(F x, F y)
{
    y = x < INFINITY ? y : x;
    y = x < 0 ? NAN : y;
    return x == 0 ? -INFINITY : y;
}

/* log(2^k (1 + f)) for 2/3 <= 1 + f <= 4/3 */
INLINE f32 ag_log_near_f32(f32 f, f32 k)
{
    POLYNOMIAL(f32, p, f, LOG_SERIES);
    return ag_fma_F(k, LOG_2, ag_fma_F(p, f * f, f));
}

/* log_F(2^k (1 + f)) for sqrt_F(1/2) <= 1 + f <= sqrt_F(2) */
INLINE f64 ag_log_near_f64(f64 f, f64 k)
{
    const f64 s = f / (2 + f), t = s * s, half = 0.5 * f * f;
    POLYNOMIAL(f64, p, t, LOG_SERIES);
    return ag_fma_F(k, LOG_2_HIGH, f - half) + ag_fma_F(s, ag_fma_F(t, p, half), k * LOG_2_LOW);
}

/* The same where numbers f lie closer than those of 1 + f: one term is taken from f, and its error is less than their
   distance, so that neighbours are in order. */
INLINE f32 ag_log1p_near_f32(f32 f, f32 k)
{
    return ag_log_near_f32(f, k);
}

INLINE f64 ag_log1p_near_f64(f64 f, f64 k)
{
    const f64 s = f / (2 + f), t = s * s, half = 0.5 * f * f;
    POLYNOMIAL(f64, p, t, LOG_SERIES);
    return ag_fma_F(k, LOG_2_HIGH, f - (half - ag_fma_F(s, ag_fma_F(t, p, half), k * LOG_2_LOW)));
}

INLINE f32 ag_log2_near_f32(f32 f, f32 k)
{
    POLYNOMIAL(f32, p, f, LOG2_SERIES);
    return ag_fma_F(f, p, f) + k;
}

/* The logarithm of 1 + f in two parts, the first of 21 bits, whose product with 21 bits of 1 / log_F(2) is exact. */
INLINE f64 ag_log2_near_f64(f64 f, f64 k)
{
    const f64 s = f / (2 + f), t = s * s, half = 0.5 * f * f;
    POLYNOMIAL(f64, p, t, LOG_SERIES);
    const f64 high = ag_from_bits_F(ag_bits_F(f - half) & 0xffffffff00000000u);
    const f64 low = ag_fma_F(s, ag_fma_F(t, p, half), f - high - half);
    const f64 first = high * 0x1.71547p+0, sum = k + first, lost = k - sum + first;
    return sum + ag_fma_F(low, 0x1.71547652b82fep+0, ag_fma_F(high, 0x1.94ae0bf85ddf4p-22, lost));
}

INLINE f32 ag_log10_near_f32(f32 f, f32 k)
{
    POLYNOMIAL(f32, p, f, LOG10_SERIES);
    return ag_fma_F(k, 0x1.344p-2f, ag_fma_F(f, 0x1.bcb7b2p-2f, ag_fma_F(f, p, k * 0x1.3509f8p-18f)));
}

INLINE f64 ag_log10_near_f64(f64 f, f64 k)
{
    const f64 s = f / (2 + f), t = s * s, half = 0.5 * f * f;
    POLYNOMIAL(f64, p, t, LOG_SERIES);
    const f64 high = ag_from_bits_F(ag_bits_F(f - half) & 0xffffffff00000000u);
    const f64 low = ag_fma_F(s, ag_fma_F(t, p, half), f - high - half);
    const f64 first = high * 0x1.bcb7bp-2, whole = k * 0x1.34413509f6p-2, sum = whole + first;
    const f64 lost = ag_fma_F(k, 0x1.9fef311f12b36p-42, whole - sum + first);
    return sum + ag_fma_F(low, 0x1.bcb7b1526e50ep-2, ag_fma_F(high, 0x1.526e50e32a6abp-26, lost));
}

INLINE F ag_log_F(F x)
{
    const b8 is_small = x < SMALLEST;
    const F a = is_small ? x * LARGER : x;
    const U u = ag_bits_F(a), e = (u + OFFSET) >> MANTISSA;
    const F k = ag_from_bits_F(e | ULP_OF_ONE) - (is_small ? UNBIASED_LARGER : UNBIASED);
    const F f = ag_from_bits_F(u - ((e - BIAS) << MANTISSA)) - 1;
    return ag_log_special_F(x, ag_log_near_F(f, k));
}

INLINE F ag_log2_F(F x)
{
    const b8 is_small = x < SMALLEST;
    const F a = is_small ? x * LARGER : x;
    const U u = ag_bits_F(a), e = (u + OFFSET) >> MANTISSA;
    const F k = ag_from_bits_F(e | ULP_OF_ONE) - (is_small ? UNBIASED_LARGER : UNBIASED);
    const F f = ag_from_bits_F(u - ((e - BIAS) << MANTISSA)) - 1;
    return ag_log_special_F(x, ag_log2_near_F(f, k));
}

INLINE F ag_log10_F(F x)
{
    const b8 is_small = x < SMALLEST;
    const F a = is_small ? x * LARGER : x;
    const U u = ag_bits_F(a), e = (u + OFFSET) >> MANTISSA;
    const F k = ag_from_bits_F(e | ULP_OF_ONE) - (is_small ? UNBIASED_LARGER : UNBIASED);
    const F f = ag_from_bits_F(u - ((e - BIAS) << MANTISSA)) - 1;
    return ag_log_special_F(x, ag_log10_near_F(f, k));
}

/* log(x + more) + (UNBIASED - unbiased) log(2), where more is 0 or 1, and the sum is at least twice the smallest
   normal number: 2^-k is added, so that nothing is lost */
INLINE F ag_log_of_sum_F(F x, F more, F unbiased)
{
    const F sum = x + more;
    const U u = ag_bits_F(sum), e = (u + OFFSET) >> MANTISSA;
    const F k = ag_from_bits_F(e | ULP_OF_ONE) - unbiased;
    const F scale = ag_from_bits_F((2 * UNSIGNED_BIAS + 2 - e) << MANTISSA); /* 4 / 2^k, which is never subnormal */
    const F f = ag_fma_F((F)0.25 * x, scale, ag_fma_F((F)0.25 * more, scale, -1));
    return ag_log_special_F(sum, ag_log1p_near_F(f, k));
}

INLINE F ag_log_plus_F(F x, F more)
{
    return ag_log_of_sum_F(x, more, UNBIASED);
}

INLINE F ag_log1p_F(F x)
{
    const F y = ag_log_plus_F(x, 1);
    return fabs_F(x) < TINY ? x : y;
}

/* The switch at -log 2 is due to M. Maechler, "Accurately computing log(1 - exp(-|a|))". */

INLINE F ag_log1mexp_F(F x)
{
    const b8 is_low = x < -LOG_2;
    const F low = -ag_exp_below_F(x); /* both: a choice would be a branch */
    const F high = ag_expm1_of_F(x, x > MOST ? MOST : x) * -LARGER;
    const F y = ag_log_of_sum_F(is_low ? low : high, is_low ? 1 : 0, is_low ? UNBIASED : UNBIASED_LARGER);
    return (x < 0) & (-low < TINY) ? low : y;
}

/* atanh(s) + k log(2) / 2 */
INLINE F ag_atanh_near_F(F s, F k)
{
    const F t = s * s;
    POLYNOMIAL(F, p, t, ATANH_SERIES);
    const F rest = ag_fma_F(s * t, p, k * ((F)0.5 * LOG_2_LOW));
    return ag_fma_F(k, (F)0.5 * LOG_2_HIGH, s) + rest;
}

/* w = a + sqrt(1 + a^2) = 2^k (1 + f), where 1 + f = (1 + s) / (1 - s).  For k = 0, s = tanh(asinh(a) / 2)
   = a / (1 + sqrt(1 + a^2)) and 2 s = a - a s^2; else 2 s = f - f^2 / 2 + s f^2 / 2: a term is added to a number that
   rises with a. */
INLINE F ag_asinh_F(F x)
{
    const F a = fabs_F(x), square = ag_fma_F(a, a, 1), root = a > HUGE ? 0 : sqrt_F(square), w = a + root;
    const U e = (ag_bits_F(w) + OFFSET) >> MANTISSA;
    const F k = ag_from_bits_F(e | ULP_OF_ONE) - UNBIASED + (a > HUGE ? 1 : 0);
    const F scale = ag_from_bits_F((2 * UNSIGNED_BIAS + 2 - e) << MANTISSA); /* 4 / 2^k, which is never subnormal */
    const F f = ag_fma_F((F)0.25 * a, scale, ag_fma_F((F)0.25 * root, scale, -1)), n = k == 0 ? a : f;
    const F s = n / (k == 0 ? 1 + root : 2 + f), t = s * s, half = (F)0.5 * n, less = half * (k == 0 ? t : half);
    POLYNOMIAL(F, p, t, ATANH_SERIES);
    const F more = ag_fma_F(s, ag_fma_F(t, p, k == 0 ? 0 : less), k * ((F)0.5 * LOG_2_LOW));
    const F y = a < INFINITY ? 2 * ag_fma_F(k, (F)0.5 * LOG_2_HIGH, half - (less - more)) : a;
    return a < SMALL ? x : copysign_F(y, x);
}

/* log1p(t + sqrt(2 t + t^2)) where t = x - 1, or log(2 x) for a huge x */
INLINE F ag_acosh_F(F x)
{
    const F t = x - 1;
    const b8 is_huge = x > HUGE;
    const F sum = is_huge ? x : t + sqrt_F(t * (t + 2)), more = is_huge ? 0 : 1;
    const F y = ag_log_of_sum_F(sum, more, is_huge ? UNBIASED_HALF : UNBIASED);
    return x < 1 ? NAN : y;
}

/* (1 + x) / (1 - x) = 2^k (1 + s) / (1 - s): the difference of bits is k to 0.6, and s is x where k = 0 */
INLINE F ag_atanh_F(F x)
{
    const F a = fabs_F(x);
    const U ratio = ag_bits_F(1 + a) - ag_bits_F(1 - a) + ((U)1 << (MANTISSA - 1));
    const U e = ratio >> MANTISSA << MANTISSA;
    const F power = ag_from_bits_F(e + ((U)BIAS << MANTISSA));
    const F k = ag_from_bits_F(e >> MANTISSA | ULP_OF_ONE) - ONE_ULP;
    const b8 is_near = k < 10; /* where 1 + power is exact */
    const F less = is_near ? ag_fma_F(a, 1 + power, 1 - power) : ag_fma_F(-power, 1 - a, 1 + a);
    const F more = is_near ? ag_fma_F(a, 1 - power, 1 + power) : ag_fma_F(power, 1 - a, 1 + a);
    const F y = a == 1 ? INFINITY : ag_atanh_near_F(less / more, k);
    return a > 1 ? NAN : copysign_F(y, x);
}
