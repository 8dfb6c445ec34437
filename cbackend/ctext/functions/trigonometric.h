/* sin, cos and tan of float32 and float64: equal bits in a vector, in a remainder loop or alone.

   A number near 0 is reduced by parts of pi / 2 (W. J. Cody, W. Waite), one far away by the bits of 1 / pi that matter for
   it (M. H. Payne, R. N. Hanek, "Radian reduction for trigonometric functions", 1983); which of both is decided by the
   number itself.  Neither way has branches, but the second takes several times as long.  gcc on x86-64 vectorizes calls of
   functions that have vector forms: those check whether any of their lanes is far, and only then take the second way.
   Other compilers get both ways and a choice, which they vectorize.  Polynomials are minimax in the relative error of the
   function (Remez). */
#pragma once
#include "exponential.h"

#define fabs fabs_F /* as tools read them */
#define ag_sin_near_f64 ag_sin_near_F
#define ag_cos_near_f64 ag_cos_near_F
#define ag_tan_near_f64 ag_tan_near_F
#define ag_minus_right_F ag_minus_right_f32
#define ag_tangent_of_F ag_tangent_of_f32

INLINE f64 ag_u32_as_f64(u64 x)
{
    return ag_from_bits_F(x | 0x4330000000000000u) - 0x1p52;
}

/* The table: 32 zeros and the first 1,248 bits of 1 / pi. */

/* How far a far x is from the nearest multiple of pi / 2, and in *quarter that multiple modulo 4: x times 2 / pi modulo
   4, to 128 bits, is the sum of products of 32 bits of x and 32 bits of 1 / pi, from that bit on which counts as 1. */
INLINE f64 ag_far_f64(f64 x, u64 *quarter)
{
    static const u32 digits[] = {
        0x0, 0x517cc1b7, 0x27220a94, 0xfe13abe8, 0xfa9a6ee0, 0x6db14acc, 0x9e21c820, 0xff28b1d5, 0xef5de2b0, 0xdb92371d,
        0x2126e970, 0x03249775, 0x04e8c90e, 0x7f0ef58e, 0x5894d39f, 0x74411afa, 0x975da242, 0x74ce3813, 0x5a2fbf20,
        0x9cc8eb1c, 0xc1a99cfa, 0x4e422fc5, 0xdefc941d, 0x8ffc4bff, 0xef02cc07, 0xf79788c5, 0xad05368f, 0xb69b3f67,
        0x93e584db, 0xa7a31fb3, 0x4f2ff516, 0xba93dd63, 0xf5f2f8bd, 0x9e839cfb, 0xc5294975, 0x35fdafd8, 0x8fc6ae84,
        0x2b019823, 0x7e3db5d5, 0xf867de10,
    };
    const u64 bits = ag_bits_F(x) & ~((u64)1 << 63), exponent = bits >> 52, low32 = 0xffffffffu;
    const u64 from = exponent < 1044 ? 0 : exponent - 1044, at = from >> 5, shift = from & 31;
    const u64 m = (bits & 0xfffffffffffffu) | 0x10000000000000u, high = m >> 32, low = m & low32;
    const u64 d0 = digits[at], d1 = digits[at + 1], d2 = digits[at + 2], d3 = digits[at + 3], d4 = digits[at + 4];
    const u64 d5 = digits[at + 5], d6 = digits[at + 6];
    const u64 t0 = (d0 << 32 | d1) << shift >> 32, t1 = (d1 << 32 | d2) << shift >> 32;
    const u64 t2 = (d2 << 32 | d3) << shift >> 32, t3 = (d3 << 32 | d4) << shift >> 32;
    const u64 t4 = (d4 << 32 | d5) << shift >> 32, t5 = (d5 << 32 | d6) << shift >> 32;
    const u64 p1 = low * t1, p2 = low * t2, p3 = low * t3, q1 = high * t1, q2 = high * t2, q3 = high * t3;
    const u64 s3 = (p3 & low32) + (low * t4 >> 32) + (high * t4 & low32) + (high * t5 >> 32);
    const u64 s2 = (p2 & low32) + (p3 >> 32) + (q3 & low32) + (high * t4 >> 32) + (s3 >> 32);
    const u64 s1 = (p1 & low32) + (p2 >> 32) + (q2 & low32) + (q3 >> 32) + (s2 >> 32);
    const u64 s0 = low * t0 + (p1 >> 32) + (q1 & low32) + (q2 >> 32) + (s1 >> 32);
    const u64 whole = s0 << 32 | (s1 & low32), nearest = whole + ((u64)1 << 61);
    const u64 offset = whole - (nearest >> 62 << 62), is_below = -(offset >> 63);
    const u64 first = offset ^ is_below, rest = ((s2 & low32) << 32 | (s3 & low32)) ^ is_below;
    const f64 last = ag_u32_as_f64(rest >> 32) * 0x1p-94 + ag_u32_as_f64(rest & low32) * 0x1p-126;
    const f64 middle = ag_u32_as_f64(first & low32) * 0x1p-62 + last, most = ag_u32_as_f64(first >> 32) * 0x1p-30;
    const f64 turns = most + middle, error = middle - (turns - most);
    const f64 angle = turns * 0x1.921fb54442d18p+0;
    const f64 lost = ag_fma_F(turns, 0x1.1a62633145c07p-54, error * 0x1.921fb54442d18p+0);
    *quarter = nearest >> 62;
    return is_below ? -(angle + lost) : angle + lost;
}

/* x - k pi / 2, where k has at most 15 bits */
INLINE f32 ag_minus_right_f32(f32 x, f32 k)
{
#if defined(__FP_FAST_FMAF) || defined(__FMA__) || defined(__aarch64__)
    const f32 r = ag_fma_F(k, 0x1.777a5cp-25f, ag_fma_F(k, -0x1.921fb6p+0f, x));
    return ag_fma_F(k, 0x1.ee59dap-50f, r);
#else
    return (f32)(x - k * 0x1.921fb544p+0 - k * 0x1.0b4611a626331p-34);
#endif
}

/* x - k pi / 2, where k has at most 29 bits and a half; only the last difference and that which cancels most are
   rounded */
INLINE f64 ag_minus_right_f64(f64 x, f64 k)
{
#if defined(__FP_FAST_FMA) || defined(__FMA__) || defined(__aarch64__)
    const f64 r = ag_fma_F(k, -0x1.1a62633145c07p-54, ag_fma_F(k, -0x1.921fb54442d18p+0, x));
    return ag_fma_F(k, 0x1.f1976b7ed8fbcp-110, r);
#else
    const f64 r = x - k * 0x1.921fb4p+0 - k * 0x1.4442dp-24 - k * 0x1.846988p-48 - k * 0x1.8cc516p-72;
    return r - k * 0x1.01b839a25204ap-96;
#endif
}

/* sin(r + quarter pi / 2) for |r| <= pi / 4: for an odd quarter +-cos(r) = 1 - 2 sin(r / 2)^2, which is never above 1.
   Bit TOP of `sign` changes the sign; its others are 0. */
INLINE F ag_sine_of_F(F r, U quarter, U sign)
{
    const b8 even = quarter << TOP == 0; /* takes no constant in a vector */
    const F v = even ? r : (F)0.5 * r, s = v * v;
    POLYNOMIAL(F, p, s, SINE_SERIES);
    const F sine = ag_fma_F(v * s, p, v), y = even ? sine : ag_fma_F(sine + sine, -sine, 1);
    return ag_from_bits_F(ag_bits_F(y) ^ (quarter >> 1 << TOP ^ sign));
}

/* tan(r) for |r| <= pi / 4, or -1 / tan(r) if `odd` */
INLINE f32 ag_tangent_of_f32(f32 r, b8 odd)
{
    const f32 s = r * r;
    POLYNOMIAL(f32, p, s, TANGENT_SERIES);
    const f32 y = ag_fma_F(r * s, p, r);
    return (odd ? -1 : y) / (odd ? y : 1);
}

/* (cos(r) - 1 + r^2 / 2) / r^4 for |r| <= pi / 4: cos to 2^-63 */
#define COSINE_SERIES \
    0x1.555555555554bp-5, -0x1.6c16c16c15015p-10, 0x1.a01a019c8f2dcp-16, -0x1.27e4f7f199a48p-22, \
    0x1.1ee9dbd5e0714p-29, -0x1.8fa6889cce32fp-37

/* tan_F(r) for |r| <= pi / 4, or -1 / tan_F(r) if `odd` */
INLINE f64 ag_tangent_of_f64(f64 r, b8 odd)
{
    const f64 s = r * r;
    POLYNOMIAL(f64, p, s, SINE_SERIES);
    POLYNOMIAL_AGAIN(f64, q, s, COSINE_SERIES);
    const f64 sine = ag_fma_F(r * s, p, r), cosine = ag_fma_F(s, ag_fma_F(s, q, -0.5), 1);
    return (odd ? -cosine : sine) / (odd ? sine : cosine);
}

INLINE F ag_sin_near_F(F x)
{
    const F a = fabs_F(x), shifted = ag_fma_F(a, PER_RIGHT, WHOLE);
    const U sign = ag_bits_F(x) ^ ag_bits_F(a);
    return ag_sine_of_F(ag_minus_right_F(a, shifted - WHOLE), ag_bits_F(shifted), sign);
}

/* cos(x) = sin(x + pi / 2) */
INLINE F ag_cos_near_F(F x)
{
    const F a = fabs_F(x), shifted = ag_fma_F(a, PER_RIGHT, WHOLE_AND_ONE);
    return ag_sine_of_F(ag_minus_right_F(a, shifted - WHOLE_AND_ONE), ag_bits_F(shifted), 0);
}

INLINE F ag_tan_near_F(F x)
{
    const F a = fabs_F(x), shifted = ag_fma_F(a, PER_RIGHT, WHOLE), k = shifted - WHOLE;
    const F y = ag_tangent_of_F(ag_minus_right_F(a, k), (ag_bits_F(shifted) & 1) != 0);
    return ag_from_bits_F(ag_bits_F(y) ^ ag_bits_F(x) >> TOP << TOP);
}

INLINE f64 ag_sin_far_f64(f64 x)
{
    u64 quarter;
    const f64 r = ag_far_f64(x, &quarter);
    return ag_sine_of_F(r, quarter, ag_bits_F(x) >> 63 << 63);
}

INLINE f64 ag_cos_far_f64(f64 x)
{
    u64 quarter;
    const f64 r = ag_far_f64(x, &quarter);
    return ag_sine_of_F(r, quarter + 1, 0);
}

INLINE f64 ag_tan_far_f64(f64 x)
{
    u64 quarter;
    const f64 r = ag_far_f64(x, &quarter), y = ag_tangent_of_F(r, (quarter & 1) != 0);
    return ag_from_bits_F(ag_bits_F(y) ^ ag_bits_F(x) >> 63 << 63);
}

/* A float64 beyond the bound of float32 need not be far for a float64. */

INLINE f32 ag_sin_far_f32(f32 x)
{
    const f64 wide = x;
    return (f32)(fabs(wide) < 0x1p30 ? ag_sin_near_f64(wide) : ag_sin_far_f64(wide));
}

INLINE f32 ag_cos_far_f32(f32 x)
{
    const f64 wide = x;
    return (f32)(fabs(wide) < 0x1p30 ? ag_cos_near_f64(wide) : ag_cos_far_f64(wide));
}

INLINE f32 ag_tan_far_f32(f32 x)
{
    const f64 wide = x;
    return (f32)(fabs(wide) < 0x1p30 ? ag_tan_near_f64(wide) : ag_tan_far_f64(wide));
}
