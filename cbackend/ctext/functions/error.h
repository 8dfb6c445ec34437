/* erf and erfc of float32 and float64: C without branches, which any compiler vectorizes.

   For x >= 0, erf(x) = 1 - exp(-x G(x)).  erfc(x) = exp(-x^2) Q((x - c) / (x + c)) / (x + c) from NEAR on (after M. M. Shepherd,
   J. G. Laframboise, "Chebyshev approximation of (1 + 2 x) exp(x^2) erfc x in 0 <= x < inf", 1981), and below
   1 - (x + x Z(x^2)).  G, Q and Z are polynomials, minimax in the relative error of the function (Remez).
   Neighbours are in order: x G(x) is a number that rises with x, and a product whose error is less than its step. */
#pragma once
#include "exponential.h"

#define NEAR (F)0.8125

/* 1 - 2^k exp(r) = (1 - 2^k) - 2^k (exp(r) - 1) */
INLINE F ag_erf_F(F x)
{
    F a = fabs_F(x);
    a = a > ONE_FOR_ERF ? ONE_FOR_ERF : a;
    const F t = a - MIDDLE_OF_ERF;
    POLYNOMIAL(F, p, t, ERF_SERIES);
    const F y = -ag_fma_F(ERF_SLOPE, a, a * a * p), shifted = ag_fma_F(y, PER_LOG2, BIASED), k = shifted - BIASED;
    const F r = ag_fma_F(k, -LOG_2_LOW, ag_fma_F(k, -LOG_2_HIGH, y));
    const F power = ag_from_bits_F(ag_bits_F(shifted) << MANTISSA);
    return copysign_F(ag_fma_F(-ag_small_expm1_F(r), power, 1 - power), x);
}

/* The square is taken in two parts, the first of which is exact. */
INLINE F ag_erfc_F(F x)
{
    F a = fabs_F(x);
    a = a > ZERO_FOR_ERFC ? 1 : a;
    const F inverse = 1 / (a + MIDDLE), t = (a - MIDDLE) * inverse, square = a * a;
    POLYNOMIAL(F, q, t, ERFC_SERIES);
    POLYNOMIAL(F, z, square, ERF_NEAR_SERIES);
    const F high = ag_from_bits_F(ag_bits_F(a) & UPPER_HALF), low = (a - high) * (a + high);
    const F shifted = ag_fma_F(-square, PER_LOG2, TWICE_BIASED), k = shifted - TWICE_BIASED;
    const F r = ag_fma_F(k, -LOG_2_LOW, ag_fma_F(k, -LOG_2_HIGH, -high * high)) - low;
    const U exponents = ag_bits_F(shifted), half = exponents >> 1;
    const F scaled = q * inverse, part = ag_fma_F(ag_small_expm1_F(r), scaled, scaled);
    const F found = part * ag_from_bits_F(half << MANTISSA) * ag_from_bits_F((exponents - half) << MANTISSA);
    const F rest = ag_where_F(found, !(fabs_F(x) > ZERO_FOR_ERFC)), far = x < 0 ? 2 - rest : rest, near = 1 - ag_fma_F(x, z, x);
    return x != x ? x : a < NEAR ? near : far; /* a compiler may negate a NaN, or not: -x * y is one instruction */
}

/* R, in powers of t */
#define NORMAL_TAILS_SERIES \
    -0x1.e10008p-17f, 0x1.a999fep-3f, 0x1.a0a03cp-3f, 0x1.c07048p-3f, 0x1.ff484ap-5f, 0x1.99d88ap-2f, \
        -0x1.9b4474p-2f, 0x1.29f7ccp-1f, -0x1.5d3962p-2f, 0x1.15ecacp-4f
/* exp(r / 2) - 1 = (r / 2) + (r / 2)^2 P(r): EXP_SERIES in powers of r / 2 */
#define HALF_EXP_SERIES 0x1p-3f, 0x1.5554ccp-6f, 0x1.5556b8p-9f, 0x1.12274cp-12f, 0x1.6be46ep-16f

/* erfc(x / sqrt(2)) = exp(-x^2 / 2) R(1 / (1 + 0.26 x)) for x >= 0, where R is a polynomial, minimax in the relative error:
   within 5 ulp, without the division by sqrt(2), whose rounding comes out x^2 times as large. */
INLINE f32 ag_normal_tails_f32(f32 x)
{
    f32 a = fabsf(x);
    const i32 is = !(a > 0x1.c7003cp+3f);
    a = is ? a : 1;
    const f32 t = 1 / ag_fma_f32(0x1.0a3d7p-2f, a, 1);
    POLYNOMIAL(f32, p, t, NORMAL_TAILS_SERIES);
    const f32 high = ag_from_bits_f32(ag_bits_f32(a) & 0xfffff000u), low = (a - high) * (a + high), square = high * high;
    const f32 shifted = ag_fma_f32(square, -0x1.715476p-1f, 0x1.8001fcp23f), k = shifted - 0x1.8001fcp23f;
    const f32 r = ag_fma_f32(k, -0x1.7f7d1cp-19f, ag_fma_f32(k, -0x1.62e4p+0f, -square)) - low;
    POLYNOMIAL(f32, q, r, HALF_EXP_SERIES);
    const f32 part = ag_fma_f32(ag_fma_f32(r * r, q, 0.5f * r), p, p);
    const u32 exponents = ag_bits_f32(shifted), half = exponents >> 1;
    const f32 found = part * ag_from_bits_f32(half << 23) * ag_from_bits_f32((exponents - half) << 23);
    const f32 tail = ag_where_f32(found, is);
    return x < 0 ? 2 - tail : tail;
}

/* For wider numbers no rule makes it. */
INLINE f64 ag_normal_tails_f64(f64 x) { return ag_erfc_f64(x * 0x1.6a09e667f3bcdp-1); }
