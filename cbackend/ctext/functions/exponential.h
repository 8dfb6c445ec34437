/* exp and the functions made of it, of float32 and float64: C without branches, which any compiler vectorizes.

   Within 3 ulp, right for NaN, infinities, zeros and subnormals, and as fast there as elsewhere, but for subnormals on
   Intel's processors: libmvec takes 3 to 30 times as long for a result that underflows, as softmax has them by the row.
   A multiplication or a division that underflows takes those processors 100 cycles, so results that are zero are chosen,
   not computed.  A number has the same bits in a vector and
   in the rest of a loop.  Polynomials are minimax in the relative error of the function (Remez). */
#pragma once
#include "library.h"

/* a * b + c, rounded once where that costs no more. */
INLINE F ag_fma_F(F a, F b, F c)
{
#if defined(FAST_FMA) || defined(__FMA__) || defined(__aarch64__)
    return FMA(a, b, c);
#else
    return a * b + c;
#endif
}

INLINE U ag_bits_F(F x)
{
    union { F f; U u; } v;
    v.f = x;
    return v.u;
}

INLINE F ag_from_bits_F(U x)
{
    union { U u; F f; } v;
    v.u = x;
    return v.f;
}

/* x, or 0 where `is` is 0, by its bits: a choice might become a branch. */
INLINE F ag_where_F(F x, i32 is)
{
    return ag_from_bits_F(ag_bits_F(x) & -(U)is);
}

/* exp(r) - 1 for r between -log(2) / 2 and log(2) / 2. */
INLINE F ag_small_expm1_F(F r)
{
    POLYNOMIAL(F, p, r, EXP_SERIES);
    return ag_fma_F(r * r, p, r);
}

/* exp(x) for x <= MOST: 2^k * exp(r) where k = round(x / log 2); two factors make up 2^k, so that a subnormal result
   is rounded once (W. J. Cody, W. Waite, "Software Manual for the Elementary Functions", 1980). */
INLINE F ag_exp_below_F(F x)
{
    const i32 is = !(x < LEAST);
    const F y = ag_where_F(x, is);
    const F shifted = ag_fma_F(y, PER_LOG2, TWICE_BIASED), k = shifted - TWICE_BIASED;
    const F r = ag_fma_F(k, -LOG_2_LOW, ag_fma_F(k, -LOG_2_HIGH, y));
    const U exponents = ag_bits_F(shifted), half = exponents >> 1;
    const F first = ag_from_bits_F(half << MANTISSA);
    const F result = (1 + ag_small_expm1_F(r)) * first * ag_from_bits_F((exponents - half) << MANTISSA);
    return ag_where_F(result, is);
}

/* exp(MOST) is infinite */
INLINE F ag_exp_F(F x)
{
    return ag_exp_below_F(x > MOST ? MOST : x);
}

INLINE F ag_exp2_F(F x)
{
    const i32 is = !(x < LEAST_OF_EXP2);
    F y = ag_where_F(x, is);
    y = y > MOST_OF_EXP2 ? MOST_OF_EXP2 : y;
    const F shifted = y + TWICE_BIASED, r = (y - (shifted - TWICE_BIASED)) * LOG_2;
    const U exponents = ag_bits_F(shifted), half = exponents >> 1;
    const F first = ag_from_bits_F(half << MANTISSA);
    const F result = (1 + ag_small_expm1_F(r)) * first * ag_from_bits_F((exponents - half) << MANTISSA);
    return ag_where_F(result, is);
}

/* exp(x) - 1, where y is x cut to LEAST_OF_EXPM1 and MOST: 2^k * (exp(r) - 1) + (2^k - 1), where 2^k may
   overflow and half of it does not */
INLINE F ag_expm1_of_F(F x, F y)
{
    const F shifted = ag_fma_F(y, PER_LOG2, WHOLE), k = shifted - WHOLE;
    const F r = ag_fma_F(k, -LOG_2_LOW, ag_fma_F(k, -LOG_2_HIGH, y));
    const F half = ag_from_bits_F((ag_bits_F(shifted) - WHOLE_BITS + (UNSIGNED_BIAS - 1)) << MANTISSA);
    const F result = 2 * ag_fma_F(ag_small_expm1_F(r), half, half - (F)0.5);
    return fabs_F(x) < TINY ? x : result;
}

INLINE F ag_expm1_F(F x)
{
    const F y = x < LEAST_OF_EXPM1 ? LEAST_OF_EXPM1 : x;
    return ag_expm1_of_F(x, y > MOST ? MOST : y);
}

/* q = exp(|x|) / 4 does not overflow where the result does not */
INLINE F ag_cosh_F(F x)
{
    F y = fabs_F(x);
    y = y > MOST_OF_SINH ? MOST_OF_SINH : y;
    const F shifted = ag_fma_F(y, PER_LOG2, WHOLE), k = shifted - WHOLE;
    const F r = ag_fma_F(k, -LOG_2_LOW, ag_fma_F(k, -LOG_2_HIGH, y));
    const F power = ag_from_bits_F((ag_bits_F(shifted) - WHOLE_BITS + (UNSIGNED_BIAS - 2)) << MANTISSA);
    const F q = ag_fma_F(ag_small_expm1_F(r), power, power);
    return 2 * (q + (F)0.0625 / q);
}

/* (e + e / (e + 1)) / 2 where e = exp(|x|) - 1; q = e / 4 does not overflow where the result does not */
INLINE F ag_sinh_F(F x)
{
    F y = fabs_F(x);
    y = y > MOST_OF_SINH ? MOST_OF_SINH : y;
    const F shifted = ag_fma_F(y, PER_LOG2, WHOLE), k = shifted - WHOLE;
    const F r = ag_fma_F(k, -LOG_2_LOW, ag_fma_F(k, -LOG_2_HIGH, y));
    const F power = ag_from_bits_F((ag_bits_F(shifted) - WHOLE_BITS + (UNSIGNED_BIAS - 2)) << MANTISSA);
    const F q = ag_fma_F(ag_small_expm1_F(r), power, power - (F)0.25);
    y = copysign_F(2 * (q + q / (4 * q + 1)), x);
    return fabs_F(x) < SMALL ? x : y;
}

/* -e / (2 + e) where e = exp(-2|x|) - 1 = 2^k * (exp(r) - 1) + (2^k - 1): where |x| grows, the numerator never falls
   and the denominator never grows */
INLINE F ag_tanh_F(F x)
{
    F y = -2 * fabs_F(x);
    y = y < -ONE_FOR_TANH ? -ONE_FOR_TANH : y;
    const F shifted = ag_fma_F(y, PER_LOG2, BIASED), k = shifted - BIASED;
    const F r = ag_fma_F(k, -LOG_2_LOW, ag_fma_F(k, -LOG_2_HIGH, y));
    const F power = ag_from_bits_F(ag_bits_F(shifted) << MANTISSA);
    const F e = ag_fma_F(ag_small_expm1_F(r), power, power - 1);
    return copysign_F(e / (2 + e), x);
}

/* LESS / (LESS + LESS exp(-x)), in which nothing overflows */
INLINE F ag_sigmoid_F(F x)
{
    F y = x > ONE_FOR_TANH ? -ONE_FOR_TANH : -x;
    const i32 is = !(x < LEAST);
    y = ag_where_F(y, is);
    const F shifted = ag_fma_F(y, PER_LOG2, BIASED_LESS), k = shifted - BIASED_LESS;
    const F r = ag_fma_F(k, -LOG_2_LOW, ag_fma_F(k, -LOG_2_HIGH, y));
    const F power = ag_from_bits_F(ag_bits_F(shifted) << MANTISSA);
    const F result = LESS / (LESS + ag_fma_F(ag_small_expm1_F(r), power, power));
    return ag_where_F(result, is);
}

/* 2 atanh(s / 2) for 0 <= s <= 2/3 */
INLINE F ag_twice_atanh_F(F s)
{
    const F t = s * ((F)0.25 * s);
    POLYNOMIAL(F, p, t, LOG1P_SERIES);
    return ag_fma_F(s * t, p, s);
}

/* log(1 + exp(x)) for x <= 0: 2 atanh(e / (e + 2)), where e = exp(x) */
INLINE F ag_log1p_exp_F(F x)
{
    const F e = ag_exp_below_F(x);
    return ag_twice_atanh_F(2 * e / (e + 2));
}

/* max(x, 0) + 2 atanh(1 / (1 + 2 e)), where e = exp(|x|): the quotient never rises where e grows, and from log(3) on it
   falls by less than x grows.  Between 0 and log(3) it is log(2) + 2 atanh((e - 1) / (e + 3)), of which nothing falls.
   All parts of a quotient are multiplied by LESS, so that nothing overflows. */
INLINE F ag_softplus_F(F x)
{
    F y = fabs_F(x);
    y = y > -(LEAST) ? ONE_FOR_TANH : y;
    const F shifted = ag_fma_F(y, PER_LOG2, BIASED_LESS), k = shifted - BIASED_LESS;
    const F r = ag_fma_F(k, -LOG_2_LOW, ag_fma_F(k, -LOG_2_HIGH, y));
    const F power = ag_from_bits_F(ag_bits_F(shifted) << MANTISSA);
    const F e = ag_fma_F(ag_small_expm1_F(r), power, power);
    const U plus = -(U)(x > 0), near = plus & -(U)(x < LOG_3);
    const F over = ag_fma_F(ag_from_bits_F(ag_bits_F(e) & near), 2, near ? -2 * LESS : LESS);
    const F under = e + (near ? 3 * LESS : (F)0.5 * LESS);
    const F result = (near ? LOG_2 : ag_from_bits_F(ag_bits_F(x) & plus)) + ag_twice_atanh_F(over / under);
    return ag_where_F(result, !(x < LEAST));
}

INLINE F ag_logaddexp_F(F a, F b)
{
    const F gap = -fabs_F(a - b);
    return a == b ? a + (F)0x1.62e42fefa39efp-1 : gap <= 0 ? (a > b ? a : b) + ag_log1p_exp_F(gap) : gap;
}
