#pragma GCC diagnostic ignored "-Wunknown-pragmas" /* omp simd, for compilers that were not told -fopenmp-simd */
typedef __INT8_TYPE__ i8;
typedef __INT16_TYPE__ i16;
typedef __INT32_TYPE__ i32;
typedef __INT64_TYPE__ i64;
typedef __UINT8_TYPE__ u8;
typedef __UINT16_TYPE__ u16;
typedef __UINT32_TYPE__ u32;
typedef __UINT64_TYPE__ u64;
typedef _Bool b8;
typedef u16 f16; /* the bits of an IEEE binary16; arithmetic is done in f32 */
typedef float f32;
typedef double f64;
typedef float _Complex c64;
typedef double _Complex c128;

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

/* y0 = x0 + x1 */
static void k_730fbc4fc132e659(i64 n0, f16 *restrict y0, i64 y0_s0, const f16 *x0, i64 x0_s0, const f16 *x1, i64 x1_s0)
{
    if (x0_s0 == 1 && x1_s0 == 1 && y0_s0 == 1) {
        #pragma omp simd
        for (i64 i0 = 0; i0 < n0; i0++) {
            const f16 v0 = x0[i0];
            const f16 v1 = x1[i0];
            const f32 v2 = ag_f32_from_f16(v0);
            const f32 v3 = ag_f32_from_f16(v1);
            const f32 v4 = v2 + v3;
            const f16 v5 = ag_f16_from_f32(v4);
            y0[i0] = v5;
        }
    } else {
        for (i64 i0 = 0; i0 < n0; i0++) {
            const f16 v0 = x0[i0 * x0_s0];
            const f16 v1 = x1[i0 * x1_s0];
            const f32 v2 = ag_f32_from_f16(v0);
            const f32 v3 = ag_f32_from_f16(v1);
            const f32 v4 = v2 + v3;
            const f16 v5 = ag_f16_from_f32(v4);
            y0[i0 * y0_s0] = v5;
        }
    }
}
