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

/* y0 = argmax{axis=(1,)}(x0) */
static void k_6203940f247b8091_short(i64 n0, i64 n1, i64 *restrict y0, i64 y0_s0, const f32 *x0, i64 x0_s0, i64 x0_s1)
{
    for (i64 tile = 0; tile < n0; tile += 64) {
        const i64 rows = n0 - tile < 64 ? n0 - tile : 64;
        const i64 last = rows - 1;
        i64 y0_tile[64];
        f32 x0_tile[4096];
        for (i64 i1 = 0; i1 < n1; i1++) {
            const f32 *x0_1 = x0 + i1 * x0_s1;
            f32 *x0_tile_1 = x0_tile + i1 * 64;
            for (i64 i0 = 0; i0 < 64; i0++) {
                x0_tile_1[i0] = x0_1[(tile + (i0 < last ? i0 : last)) * x0_s0];
            }
        }
        f32 best[64];
        i32 position[64];
        #pragma omp simd
        for (i64 i0 = 0; i0 < 64; i0++) {
            best[i0] = -__builtin_inff();
            position[i0] = 0;
        }
        for (i64 i1 = 0; i1 < n1; i1++) {
            const f32 *x0_tile_1 = x0_tile + i1 * 64;
            #pragma omp simd
            for (i64 i0 = 0; i0 < 64; i0++) {
                const f32 v0 = x0_tile_1[i0];
                const b8 better = (v0 > best[i0]) | ((v0 != v0) & !(best[i0] != best[i0]));
                best[i0] = better ? v0 : best[i0];
                position[i0] = better ? (i32)i1 : position[i0];
            }
        }
        #pragma omp simd
        for (i64 i0 = 0; i0 < 64; i0++) {
            y0_tile[i0] = (i64)position[i0];
        }
        for (i64 i0 = 0; i0 < rows; i0++) {
            y0[(tile + i0) * y0_s0] = y0_tile[i0];
        }
    }
}

static i32 k_6203940f247b8091(i64 n0, i64 n1, i64 *restrict y0, i64 y0_s0, const f32 *x0, i64 x0_s0, i64 x0_s1)
{
    if (n1 == 0) {
        return 2;
    }
    if (n1 < 64 && 15 < n0) {
        k_6203940f247b8091_short(n0, n1, y0, y0_s0, x0, x0_s0, x0_s1);
    } else {
        for (i64 i0 = 0; i0 < n0; i0++) {
            const f32 *x0_0 = x0 + i0 * x0_s0;
            const i64 size = n1 < 4096 ? 256 : 1024;
            f32 extremum = -__builtin_inff();
            i64 where = 0;
            for (i64 block = 0; block < n1; block += size) {
                const i64 block_end = block + size < n1 ? block + size : n1;
                f32 best0 = -__builtin_inff();
                i32 best1 = 0;
                if (x0_s1 == 1 && 31 < block_end - block) {
                    const i64 segment = (block_end - block + 127) / 128 * 32;
                    const i64 last = block_end - block - segment;
                    const i64 segment_u1 = segment < last ? segment : last;
                    const i64 segment_u2 = 2 * segment < last ? 2 * segment : last;
                    const i64 segment_u3 = 3 * segment < last ? 3 * segment : last;
                    #pragma omp simd reduction(max:best0) reduction(|:best1)
                    for (i64 i1 = block; i1 < block + segment; i1++) {
                        const f32 v0 = x0_0[i1];
                        const f32 v0_u1 = x0_0[i1 + segment_u1];
                        const f32 v0_u2 = x0_0[i1 + segment_u2];
                        const f32 v0_u3 = x0_0[i1 + segment_u3];
                        const f32 best0_b0 = v0_u1 > v0 ? v0_u1 : v0;
                        const f32 best0_b1 = v0_u3 > v0_u2 ? v0_u3 : v0_u2;
                        const f32 best0_b2 = best0_b1 > best0_b0 ? best0_b1 : best0_b0;
                        best0 = best0_b2 > best0 ? best0_b2 : best0;
                        best1 = best1 | (i32)(v0 != v0);
                        best1 = best1 | (i32)(v0_u1 != v0_u1);
                        best1 = best1 | (i32)(v0_u2 != v0_u2);
                        best1 = best1 | (i32)(v0_u3 != v0_u3);
                    }
                } else {
                    for (i64 i1 = block; i1 < block_end; i1++) {
                        const f32 v0 = x0_0[i1 * x0_s1];
                        best0 = v0 > best0 ? v0 : best0;
                        best1 = best1 | (i32)(v0 != v0);
                    }
                }
                const f32 found = best1 != 0 ? __builtin_nanf("") : best0;
                if ((found > extremum) | ((found != found) & !(extremum != extremum))) {
                    extremum = found;
                    where = block;
                }
            }
            const i64 where_end = where + size < n1 ? where + size : n1;
            i32 position = 1024;
            if (x0_s1 == 1) {
                #pragma omp simd reduction(min:position)
                for (i64 i1 = where; i1 < where_end; i1++) {
                    const f32 v0 = x0_0[i1];
                    const i32 here = (i32)(i1 - where);
                    const i32 found = ((v0 == extremum) | (v0 != v0)) ? here : 1024;
                    position = found < position ? found : position;
                }
            } else {
                for (i64 i1 = where; i1 < where_end; i1++) {
                    const f32 v0 = x0_0[i1 * x0_s1];
                    const i32 here = (i32)(i1 - where);
                    const i32 found = ((v0 == extremum) | (v0 != v0)) ? here : 1024;
                    position = found < position ? found : position;
                }
            }
            y0[i0 * y0_s0] = where + (i64)position;
        }
    }
    return 0;
}
