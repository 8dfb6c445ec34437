/* The representation of numbers: neighbours, exponents, bits; on the bits of floats, without branches where it matters. */
#pragma once
#include "float.h"

/* The next number after a towards b; beyond the largest number infinity. */
static inline F ag_nextafter_F(F a, F b)
{
    const U bits = ag_bits_F(a);
    const F away = ag_from_bits_F((a < b) == (a > 0) ? bits + 1 : bits - 1);
    const F other = a == 0 ? copysign_F(ag_from_bits_F(1), b) : away;
    return a != a || b != b ? a + b : a == b ? b : other;
}

/* The same for halves; of equal zeros the first, as npy_half_nextafter has it. */
static inline f16 ag_nextafter_f16(f16 a, f16 b)
{
    const f32 x = ag_f32_from_f16(a), y = ag_f32_from_f16(b);
    const f16 away = (f16)((x < y) == (x > 0) ? a + 1 : a - 1), other = x == 0 ? (f16)((b & 0x8000u) | 1) : away;
    return x != x || y != y ? ag_f16_from_f32(x + y) : x == y ? a : other;
}

/* The distance to the next greater number, as npy_half_spacing has it. */
static inline f16 ag_spacing_f16(f16 h)
{
    const f32 x = ag_f32_from_f16(h), above = ag_f32_from_f16(ag_nextafter_f16(h, 0x7c00u));
    return ag_f16_from_f32(x - x != 0 ? x - x : above - x);
}

/* The distance to the next number away from 0, with the sign of x. */
static inline F ag_spacing_F(F x)
{
    const F size = fabs_F(x), step = ag_from_bits_F(ag_bits_F(size) + 1) - size;
    return x - x != 0 ? x - x : x < 0 ? -step : step;
}

/* 2^k for an exponent of a normal number. */
INLINE F ag_power_of_2_F(i64 k)
{
    return ag_from_bits_F((U)(k + BIAS) << MANTISSA);
}

/* x * 2^n, rounded once.  On the way down a step leaves MANTISSA + 1 bits above the least normal number: what it makes
   subnormal becomes 0 by the next one. */
static inline F ag_ldexp_F(F x, i64 n)
{
    const i64 down = 1 - BIAS + MANTISSA + 1;
    F y = x;
    i64 k = n < 4 * -BIAS ? 4 * -BIAS : n > 4 * BIAS ? 4 * BIAS : n;
    for (i32 step = 0; step < 4 && k > BIAS; step++) y *= ag_power_of_2_F(BIAS), k -= BIAS;
    for (i32 step = 0; step < 4 && k < 1 - BIAS; step++) y *= ag_power_of_2_F(down), k -= down;
    return y * ag_power_of_2_F(k < 1 - BIAS ? 1 - BIAS : k);
}

/* x as a normal number of the same sign and bits: subnormal numbers times 2^(MANTISSA + 2). */
INLINE F ag_normal_F(F x)
{
    return fabs_F(x) < SMALLEST ? x * ag_power_of_2_F(MANTISSA + 2) : x;
}

/* Whether x has an exponent: it is neither 0, nor infinite, nor NaN. */
INLINE b8 ag_has_exponent_F(F x)
{
    return x != 0 && x - x == 0;
}

static inline F ag_frexp_mantissa_F(F x)
{
    const U bits = ag_bits_F(ag_normal_F(x)), field = (U)(2 * BIAS + 1) << MANTISSA;
    const F mantissa = ag_from_bits_F((bits & ~field) | (U)(BIAS - 1) << MANTISSA);
    return ag_has_exponent_F(x) ? mantissa : x;
}

static inline i32 ag_frexp_exponent_F(F x)
{
    const i32 raised = fabs_F(x) < SMALLEST ? MANTISSA + 2 : 0;
    const i32 field = (i32)(ag_bits_F(ag_normal_F(x)) >> MANTISSA) & (2 * BIAS + 1);
    return ag_has_exponent_F(x) ? field - (BIAS - 1) - raised : 0;
}

/* The 1 bits of a number without sign: Warren, Hacker's Delight (2003), figure 5-2. */
static inline u8 ag_ones(u64 x)
{
    x -= x >> 1 & 0x5555555555555555u;
    x = (x & 0x3333333333333333u) + (x >> 2 & 0x3333333333333333u);
    x = (x + (x >> 4)) & 0x0f0f0f0f0f0f0f0fu;
    return (u8)(x * 0x0101010101010101u >> 56);
}

static inline u8 ag_bitwise_count_I(I x)
{
    return ag_ones(x < 0 ? (u64)(U) - (U)x : (u64)x);
}

static inline u8 ag_bitwise_count_N(N x)
{
    return ag_ones(x);
}
