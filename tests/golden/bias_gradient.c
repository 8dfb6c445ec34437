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

/* y0 = sum{axis=(0,)}(x0) */
static void k_7e2b3b5bdfdc5898(i64 n0, i64 n1, f32 *restrict y0, i64 y0_s1, const f32 *x0, i64 x0_s0, i64 x0_s1)
{
    for (i64 tile = 0; tile < n1; tile += 4096) {
        const i64 tile_end = tile + 4096 < n1 ? tile + 4096 : n1;
        f64 total0[4096];
        f32 part0[4096];
        #pragma omp simd
        for (i64 i1 = tile; i1 < tile_end; i1++) {
            total0[i1 - tile] = 0.0;
        }
        for (i64 rows = 0; rows < n0; rows += 128) {
            const i64 rows_end = rows + 128 < n0 ? rows + 128 : n0;
            #pragma omp simd
            for (i64 i1 = tile; i1 < tile_end; i1++) {
                part0[i1 - tile] = 0.0f;
            }
            for (i64 i0 = rows; i0 < rows + ((rows_end - rows) & -4); i0 += 4) {
                const f32 *x0_0 = x0 + i0 * x0_s0;
                const f32 *x0_0_u1 = x0 + (i0 + 1) * x0_s0;
                const f32 *x0_0_u2 = x0 + (i0 + 2) * x0_s0;
                const f32 *x0_0_u3 = x0 + (i0 + 3) * x0_s0;
                if (x0_s1 == 1) {
                    #pragma omp simd
                    for (i64 i1 = tile; i1 < tile_end; i1++) {
                        const f32 v0 = x0_0[i1];
                        const f32 v0_u1 = x0_0_u1[i1];
                        const f32 v0_u2 = x0_0_u2[i1];
                        const f32 v0_u3 = x0_0_u3[i1];
                        part0[i1 - tile] = part0[i1 - tile] + v0;
                        part0[i1 - tile] = part0[i1 - tile] + v0_u1;
                        part0[i1 - tile] = part0[i1 - tile] + v0_u2;
                        part0[i1 - tile] = part0[i1 - tile] + v0_u3;
                    }
                } else {
                    for (i64 i1 = tile; i1 < tile_end; i1++) {
                        const f32 v0 = x0_0[i1 * x0_s1];
                        const f32 v0_u1 = x0_0_u1[i1 * x0_s1];
                        const f32 v0_u2 = x0_0_u2[i1 * x0_s1];
                        const f32 v0_u3 = x0_0_u3[i1 * x0_s1];
                        part0[i1 - tile] = part0[i1 - tile] + v0;
                        part0[i1 - tile] = part0[i1 - tile] + v0_u1;
                        part0[i1 - tile] = part0[i1 - tile] + v0_u2;
                        part0[i1 - tile] = part0[i1 - tile] + v0_u3;
                    }
                }
            }
            for (i64 i0 = rows + ((rows_end - rows) & -4); i0 < rows_end; i0++) {
                const f32 *x0_0 = x0 + i0 * x0_s0;
                if (x0_s1 == 1) {
                    #pragma omp simd
                    for (i64 i1 = tile; i1 < tile_end; i1++) {
                        const f32 v0 = x0_0[i1];
                        part0[i1 - tile] = part0[i1 - tile] + v0;
                    }
                } else {
                    for (i64 i1 = tile; i1 < tile_end; i1++) {
                        const f32 v0 = x0_0[i1 * x0_s1];
                        part0[i1 - tile] = part0[i1 - tile] + v0;
                    }
                }
            }
            #pragma omp simd
            for (i64 i1 = tile; i1 < tile_end; i1++) {
                total0[i1 - tile] = total0[i1 - tile] + (f64)part0[i1 - tile];
            }
        }
        if (y0_s1 == 1) {
            #pragma omp simd
            for (i64 i1 = tile; i1 < tile_end; i1++) {
                y0[i1] = (f32)total0[i1 - tile];
            }
        } else {
            for (i64 i1 = tile; i1 < tile_end; i1++) {
                y0[i1 * y0_s1] = (f32)total0[i1 - tile];
            }
        }
    }
}
