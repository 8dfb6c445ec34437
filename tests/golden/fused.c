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

AG_SIMD f64 sin(f64);

/* y0 = ((exp(x0) * x1) + sin(x0)) - (x1 / float64(3.0)) */
static void k_58eafd05fc2d9fd5(i64 n0, i64 n1, f64 *restrict y0, i64 y0_s0, i64 y0_s1, const f64 *x0, i64 x0_s0, i64 x0_s1,
    const f64 *x1, i64 x1_s0, i64 x1_s1)
{
    if (n1 == 1) {
        n1 = n0;
        y0_s1 = y0_s0;
        x0_s1 = x0_s0;
        x1_s1 = x1_s0;
        n0 = 1;
    } else if (y0_s0 == n1 * y0_s1 && x0_s0 == n1 * x0_s1 && x1_s0 == n1 * x1_s1) {
        n1 = n0 * n1;
        n0 = 1;
    }
    for (i64 i0 = 0; i0 < n0; i0++) {
        const f64 *x0_0 = x0 + i0 * x0_s0;
        const f64 *x1_0 = x1 + i0 * x1_s0;
        f64 *y0_0 = y0 + i0 * y0_s0;
        if (x0_s1 == 1 && x1_s1 == 1 && y0_s1 == 1) {
            #pragma omp simd
            for (i64 i1 = 0; i1 < n1; i1++) {
                const f64 v0 = x0_0[i1];
                const f64 v1 = exp(v0);
                const f64 v2 = x1_0[i1];
                const f64 v3 = v1 * v2;
                const f64 v4 = sin(v0);
                const f64 v5 = v3 + v4;
                const f64 v6 = v2 / 3.0;
                const f64 v7 = v5 - v6;
                y0_0[i1] = v7;
            }
        } else {
            for (i64 run = 0; run < n1; run += 512) {
                const i64 run_end = run + 512 < n1 ? run + 512 : n1;
                f64 v0_run[512];
                f64 v2_run[512];
                f64 y0_0_run[512];
                for (i64 i1 = run; i1 < run_end; i1++) {
                    v0_run[i1 - run] = x0_0[i1 * x0_s1];
                }
                for (i64 i1 = run; i1 < run_end; i1++) {
                    v2_run[i1 - run] = x1_0[i1 * x1_s1];
                }
                #pragma omp simd
                for (i64 i1 = run; i1 < run_end; i1++) {
                    const f64 v0 = v0_run[i1 - run];
                    const f64 v1 = exp(v0);
                    const f64 v2 = v2_run[i1 - run];
                    const f64 v3 = v1 * v2;
                    const f64 v4 = sin(v0);
                    const f64 v5 = v3 + v4;
                    const f64 v6 = v2 / 3.0;
                    const f64 v7 = v5 - v6;
                    y0_0_run[i1 - run] = v7;
                }
                for (i64 i1 = run; i1 < run_end; i1++) {
                    y0_0[i1 * y0_s1] = y0_0_run[i1 - run];
                }
            }
        }
    }
}
