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

AG_SIMD f32 expf(f32);

/* y0 = softmax{axis=1}(x0) */
static void k_ad1511a5e6852022(i64 n0, i64 n1, f32 *restrict y0, i64 y0_s0, i64 y0_s1, const f32 *x0, i64 x0_s0, i64 x0_s1)
{
    for (i64 i0 = 0; i0 < n0; i0++) {
        const f32 *x0_0 = x0 + i0 * x0_s0;
        f32 total0 = -__builtin_inff();
        if (x0_s1 == 1) {
            #pragma omp simd reduction(max:total0)
            for (i64 i1 = 0; i1 < n1; i1++) {
                const f32 v0 = x0_0[i1];
                total0 = v0 > total0 ? v0 : total0;
            }
        } else {
            for (i64 i1 = 0; i1 < n1; i1++) {
                const f32 v0 = x0_0[i1 * x0_s1];
                total0 = v0 > total0 ? v0 : total0;
            }
        }
        const f32 r0 = total0;
        f32 *y0_0 = y0 + i0 * y0_s0;
        f64 total1 = 0.0;
        for (i64 block = 0; block < n1; block += 256) {
            const i64 block_end = block + 256 < n1 ? block + 256 : n1;
            f32 part1 = 0.0f;
            if (x0_s1 == 1 && y0_s1 == 1) {
                #pragma omp simd reduction(+:part1)
                for (i64 i1 = block; i1 < block_end; i1++) {
                    const f32 v1 = x0_0[i1];
                    const f32 v2 = v1 - r0;
                    const f32 v3 = expf(v2);
                    part1 = part1 + v3;
                    y0_0[i1] = v3;
                }
            } else {
                for (i64 i1 = block; i1 < block_end; i1++) {
                    const f32 v1 = x0_0[i1 * x0_s1];
                    const f32 v2 = v1 - r0;
                    const f32 v3 = expf(v2);
                    part1 = part1 + v3;
                    y0_0[i1 * y0_s1] = v3;
                }
            }
            total1 = total1 + (f64)part1;
        }
        const f32 r1 = (f32)total1;
        const f32 v5 = 1 / r1;
        if (y0_s1 == 1) {
            #pragma omp simd
            for (i64 i1 = 0; i1 < n1; i1++) {
                const f32 v4 = y0_0[i1];
                const f32 v6 = v4 * v5;
                y0_0[i1] = v6;
            }
        } else {
            for (i64 i1 = 0; i1 < n1; i1++) {
                const f32 v4 = y0_0[i1 * y0_s1];
                const f32 v6 = v4 * v5;
                y0_0[i1 * y0_s1] = v6;
            }
        }
    }
}
