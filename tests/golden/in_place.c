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

/* y0 = x0 + x1 */
static void k_76b6eec8a574b7a5(i64 n0, f64 *y0, i64 y0_s0, const f64 *x0, i64 x0_s0, const f64 *x1, i64 x1_s0)
{
    if (x0_s0 == 1 && x1_s0 == 1 && y0_s0 == 1) {
        #pragma omp simd
        for (i64 i0 = 0; i0 < n0; i0++) {
            const f64 v0 = x0[i0];
            const f64 v1 = x1[i0];
            const f64 v2 = v0 + v1;
            y0[i0] = v2;
        }
    } else {
        for (i64 i0 = 0; i0 < n0; i0++) {
            const f64 v0 = x0[i0 * x0_s0];
            const f64 v1 = x1[i0 * x1_s0];
            const f64 v2 = v0 + v1;
            y0[i0 * y0_s0] = v2;
        }
    }
}
