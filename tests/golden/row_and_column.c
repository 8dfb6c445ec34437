#ifndef AG_SIMD
#define AG_SIMD
#endif
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

AG_SIMD f64 exp(f64);

/* y0 = exp(x0) * x1; y1 = x0 > x1 */
static void k_4ee1818e267b1ef6(i64 n0, i64 n1, f64 *restrict y0, i64 y0_s0, i64 y0_s1, u8 *restrict y1, i64 y1_s0, i64 y1_s1,
    const f64 *x0, i64 x0_s0, const f64 *x1, i64 x1_s1)
{
    for (i64 i0 = 0; i0 < n0; i0++) {
        const f64 v0 = x0[i0 * x0_s0];
        const f64 v1 = exp(v0);
        f64 *y0_0 = y0 + i0 * y0_s0;
        u8 *y1_0 = y1 + i0 * y1_s0;
        if (x1_s1 == 1 && y0_s1 == 1 && y1_s1 == 1) {
            #pragma omp simd
            for (i64 i1 = 0; i1 < n1; i1++) {
                const f64 v2 = x1[i1];
                const f64 v3 = v1 * v2;
                const b8 v4 = v0 > v2;
                y0_0[i1] = v3;
                y1_0[i1] = v4;
            }
        } else {
            for (i64 i1 = 0; i1 < n1; i1++) {
                const f64 v2 = x1[i1 * x1_s1];
                const f64 v3 = v1 * v2;
                const b8 v4 = v0 > v2;
                y0_0[i1 * y0_s1] = v3;
                y1_0[i1 * y1_s1] = v4;
            }
        }
    }
}
