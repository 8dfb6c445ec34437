/* Helpers that convert binary16 and bfloat16, stored as their bits, from and to wider floats; branch-free, so that they
   vectorize.

   After F. Giesen, "Half to float done quick" and its companion with rounding to nearest even; subnormals, infinities and
   NaN are right.  ag_widened_f16, ag_narrowed_f32 and ag_half_f32 are these or the processor's (half_forms.py). */
#pragma once
#include "element.h"

static inline f32 ag_f32_from_f16(f16 h)
{
    union { u32 u; f32 f; } v, small;
    const u32 exponent = h & 0x7c00u;
    v.u = ((u32)(h & 0x7fffu) << 13) + (112u << 23);
    small.u = v.u + (1u << 23);
    small.f -= 0x1p-14f;
    v.u = exponent == 0x7c00u ? v.u + (112u << 23) : exponent == 0 ? small.u : v.u;
    v.u |= (u32)(h & 0x8000u) << 16;
    return v.f;
}

static inline f16 ag_f16_from_f32(f32 x)
{
    union { u32 u; f32 f; } v, small;
    v.f = x;
    const u32 sign = v.u >> 31 << 31;
    v.u ^= sign;
    small.u = v.u;
    small.f += 0x1p-1f;
    const u32 subnormal = small.u - ((u32)126 << 23);
    const u32 normal = (v.u - ((u32)112 << 23) + ((u32)1 << 12) - 1 + ((v.u >> 13) & 1)) >> 13;
    const u32 infinite = v.u > (u32)255 << 23 ? 0x7e00u : 0x7c00u;
    const u32 finite = v.u < (u32)113 << 23 ? subnormal : normal;
    const u32 bits = v.u >= (u32)143 << 23 ? infinite : finite;
    return (f16)(bits | sign >> 16);
}

/* The nearest number of binary16: x + m - m, where m has ten binary digits left for x. */
static inline f32 ag_f32_as_f16(f32 x)
{
    union { u32 u; f32 f; } v, m;
    v.f = x;
    const u32 sign = v.u & 0x80000000u;
    v.u ^= sign;
    const u32 exponent = v.u & 0x7f800000u;
    const u32 least = exponent < (u32)113 << 23 ? (u32)113 << 23 : exponent;
    m.u = (least > (u32)143 << 23 ? (u32)143 << 23 : least) + ((u32)13 << 23);
    const f32 near = v.f + m.f - m.f;
    v.f = near > 65504.0f ? __builtin_inff() : near;
    v.u |= sign;
    return v.f;
}

static inline f16 ag_f16_from_f64(f64 x)
{
    union { u64 u; f64 f; } v, small;
    v.f = x;
    const u64 sign = v.u >> 63 << 63;
    v.u ^= sign;
    small.u = v.u;
    small.f += 0x1p28;
    const u64 subnormal = small.u - ((u64)1051 << 52);
    const u64 normal = (v.u - ((u64)1008 << 52) + ((u64)1 << 41) - 1 + ((v.u >> 42) & 1)) >> 42;
    const u64 infinite = v.u > (u64)2047 << 52 ? 0x7e00u : 0x7c00u;
    const u64 finite = v.u < (u64)1009 << 52 ? subnormal : normal;
    const u64 bits = v.u >= (u64)1039 << 52 ? infinite : finite;
    return (f16)(bits | sign >> 48);
}

/* The upper half of the bits, rounded to nearest, ties to even; a NaN stays one. */
static inline u16 ag_bfloat16_from_f32(f32 x)
{
    union { u32 u; f32 f; } v;
    v.f = x;
    const u32 rounded = (v.u + 0x7fffu + (v.u >> 16 & 1)) >> 16;
    return (u16)((v.u & 0x7fffffffu) > 0x7f800000u ? 0x7fc0u : rounded);
}
