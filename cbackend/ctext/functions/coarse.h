/* Functions of float32 whose results are rounded to 8 bits: C without branches, which any compiler vectorizes. */
#pragma once
#include "error.h"

/* M, in powers of t */
#define COARSE_ERFC_SERIES \
    0x1.bbe1a2p-12f, 0x1.1e3e98p-2f, 0x1.5be2cap-2f, 0x1.0813dp-4f, 0x1.077c7ap-1f, -0x1.972214p-3f
/* 2^r for |r| <= 1/2: to 2^-18 */
#define COARSE_EXP2_SERIES \
    0x1.ffffe8p-1f, 0x1.62e0dcp-1f, 0x1.ec06dap-3f, 0x1.ca144p-5f, 0x1.3997d4p-7f

/* exp(-x^2) M(1 / (1 + 0.51 x)) for x >= 0, where M is a polynomial, minimax in the relative error: erfc(x) within 2^-15 of
   it, and 0 for results that are subnormal. */
INLINE f32 ag_coarse_erfc_f32(f32 x)
{
    f32 a = fabsf(x);
    a = a > 9.25f ? 9.25f : a;
    const f32 square = a * a, t = 1 / ag_fma_f32(0x1.047faep-1f, a, 1);
    POLYNOMIAL(f32, p, t, COARSE_ERFC_SERIES);
    const f32 shifted = ag_fma_f32(square, -0x1.715476p+0f, 0x1.8p+23f), k = shifted - 0x1.8p+23f;
    const f32 r = ag_fma_f32(square, -0x1.715476p+0f, -k);
    POLYNOMIAL(f32, q, r, COARSE_EXP2_SERIES);
    const f32 power = ag_from_bits_f32((ag_bits_f32(shifted) << 23) + 0x3f800000u);
    const f32 small = a >= 9.1875f ? 0 : p * (q * power);
    return x < 0 ? 2 - small : small;
}

/* Wider numbers have erfc itself. */
INLINE f64 ag_coarse_erfc_f64(f64 x) { return ag_erfc_f64(x); }
