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

/* y0 = max{axis=(1,)}(x0); y1 = x0 * x1 */
static void k_ad94682a4b2a178a_short(i64 n0, i64 n1, f64 *restrict y0, i64 y0_s0, f64 *restrict y1, i64 y1_s0, i64 y1_s1,
    const f64 *x0, i64 x0_s0, i64 x0_s1, const f64 *x1, i64 x1_s0, i64 x1_s1)
{
    for (i64 tile = 0; tile < n0; tile += 64) {
        const i64 rows = n0 - tile < 64 ? n0 - tile : 64;
        const i64 last = rows - 1;
        f64 y0_tile[64];
        f64 y1_tile[1024];
        f64 x0_tile[1024];
        f64 x1_tile[1024];
        for (i64 i1 = 0; i1 < n1; i1++) {
            const f64 *x0_1 = x0 + i1 * x0_s1;
            f64 *x0_tile_1 = x0_tile + i1 * 64;
            for (i64 i0 = 0; i0 < 64; i0++) {
                x0_tile_1[i0] = x0_1[(tile + (i0 < last ? i0 : last)) * x0_s0];
            }
        }
        for (i64 i1 = 0; i1 < n1; i1++) {
            const f64 *x1_1 = x1 + i1 * x1_s1;
            f64 *x1_tile_1 = x1_tile + i1 * 64;
            for (i64 i0 = 0; i0 < 64; i0++) {
                x1_tile_1[i0] = x1_1[(tile + (i0 < last ? i0 : last)) * x1_s0];
            }
        }
        f64 total0[64];
        i64 total1[64];
        #pragma omp simd
        for (i64 i0 = 0; i0 < 64; i0++) {
            total0[i0] = -__builtin_inf();
            total1[i0] = 0;
        }
        for (i64 i1 = 0; i1 < n1; i1++) {
            const f64 *x0_tile_1 = x0_tile + i1 * 64;
            const f64 *x1_tile_1 = x1_tile + i1 * 64;
            f64 *y1_tile_1 = y1_tile + i1 * 64;
            #pragma omp simd
            for (i64 i0 = 0; i0 < 64; i0++) {
                const f64 v0 = x0_tile_1[i0];
                const i64 v1 = (i64)(v0 != v0);
                const f64 v2 = x1_tile_1[i0];
                const f64 v3 = v0 * v2;
                total0[i0] = v0 > total0[i0] ? v0 : total0[i0];
                total1[i0] = total1[i0] | v1;
                y1_tile_1[i0] = v3;
            }
        }
        #pragma omp simd
        for (i64 i0 = 0; i0 < 64; i0++) {
            const f64 v4 = total1[i0] != 0 ? __builtin_nan("") : total0[i0];
            y0_tile[i0] = v4;
        }
        for (i64 i0 = 0; i0 < rows; i0++) {
            y0[(tile + i0) * y0_s0] = y0_tile[i0];
        }
        for (i64 i1 = 0; i1 < n1; i1++) {
            f64 *y1_1 = y1 + i1 * y1_s1;
            const f64 *y1_tile_1 = y1_tile + i1 * 64;
            for (i64 i0 = 0; i0 < rows; i0++) {
                y1_1[(tile + i0) * y1_s0] = y1_tile_1[i0];
            }
        }
    }
}

static i32 k_ad94682a4b2a178a(i64 n0, i64 n1, f64 *restrict y0, i64 y0_s0, f64 *restrict y1, i64 y1_s0, i64 y1_s1,
    const f64 *x0, i64 x0_s0, i64 x0_s1, const f64 *x1, i64 x1_s0, i64 x1_s1)
{
    if (n1 == 0) {
        return 2;
    }
    if (n1 < 16 && 15 < n0) {
        k_ad94682a4b2a178a_short(n0, n1, y0, y0_s0, y1, y1_s0, y1_s1, x0, x0_s0, x0_s1, x1, x1_s0, x1_s1);
    } else {
        for (i64 i0 = 0; i0 < n0; i0++) {
            const f64 *x0_0 = x0 + i0 * x0_s0;
            const f64 *x1_0 = x1 + i0 * x1_s0;
            f64 *y1_0 = y1 + i0 * y1_s0;
            f64 total0 = -__builtin_inf();
            i64 total1 = 0;
            if (x0_s1 == 1 && x1_s1 == 1 && y1_s1 == 1) {
                #pragma omp simd reduction(max:total0) reduction(|:total1)
                for (i64 i1 = 0; i1 < n1; i1++) {
                    const f64 v0 = x0_0[i1];
                    const i64 v1 = (i64)(v0 != v0);
                    const f64 v2 = x1_0[i1];
                    const f64 v3 = v0 * v2;
                    total0 = v0 > total0 ? v0 : total0;
                    total1 = total1 | v1;
                    y1_0[i1] = v3;
                }
            } else {
                for (i64 i1 = 0; i1 < n1; i1++) {
                    const f64 v0 = x0_0[i1 * x0_s1];
                    const i64 v1 = (i64)(v0 != v0);
                    const f64 v2 = x1_0[i1 * x1_s1];
                    const f64 v3 = v0 * v2;
                    total0 = v0 > total0 ? v0 : total0;
                    total1 = total1 | v1;
                    y1_0[i1 * y1_s1] = v3;
                }
            }
            y0[i0 * y0_s0] = total1 != 0 ? __builtin_nan("") : total0;
        }
    }
    return 0;
}
