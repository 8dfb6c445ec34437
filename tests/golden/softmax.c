#ifndef AG_SIMD
#define AG_SIMD
#endif
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
static void k_1d66e754b7f7f6bd(i64 n0, i64 n1, f32 *restrict y0, i64 y0_s0, i64 y0_s1, const f32 *x0, i64 x0_s0, i64 x0_s1)
{
    for (i64 i0 = 0; i0 < n0; i0++) {
        const f32 *x0_0 = x0 + i0 * x0_s0;
        f32 *y0_0 = y0 + i0 * y0_s0;
        f32 top = -__builtin_inff();
        if (x0_s1 == 1) {
            #pragma omp simd reduction(max:top)
            for (i64 i1 = 0; i1 < n1; i1++) {
                const f32 v0 = x0_0[i1];
                top = v0 > top ? v0 : top;
            }
        } else {
            for (i64 i1 = 0; i1 < n1; i1++) {
                const f32 v0 = x0_0[i1 * x0_s1];
                top = v0 > top ? v0 : top;
            }
        }
        const f32 shift = top;
        f64 total = 0.0;
        for (i64 block = 0; block < n1; block += 256) {
            const i64 block_end = block + 256 < n1 ? block + 256 : n1;
            f32 part = 0.0f;
            if (x0_s1 == 1 && y0_s1 == 1) {
                #pragma omp simd reduction(+:part)
                for (i64 i1 = block; i1 < block_end; i1++) {
                    const f32 v0 = x0_0[i1];
                    const f32 term = expf(v0 - shift);
                    part = part + term;
                    y0_0[i1] = term;
                }
            } else {
                for (i64 i1 = block; i1 < block_end; i1++) {
                    const f32 v0 = x0_0[i1 * x0_s1];
                    const f32 term = expf(v0 - shift);
                    part = part + term;
                    y0_0[i1 * y0_s1] = term;
                }
            }
            total = total + (f64)part;
        }
        const f32 scale = (f32)(1 / total);
        if (x0_s1 == 1 && y0_s1 == 1) {
            #pragma omp simd
            for (i64 i1 = 0; i1 < n1; i1++) {
                y0_0[i1] = y0_0[i1] * scale;
            }
        } else {
            for (i64 i1 = 0; i1 < n1; i1++) {
                y0_0[i1 * y0_s1] = y0_0[i1 * y0_s1] * scale;
            }
        }
    }
}
