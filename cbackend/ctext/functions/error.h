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
