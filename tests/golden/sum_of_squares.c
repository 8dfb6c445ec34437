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

/* Sums of 1, 2, 4, ... blocks: bit k of `count` says whether one of 2^k blocks waits on the stack (N. Higham, "The
accuracy of
   floating point summation", 1993). */
typedef struct ag_pairwise {
    f64 waiting[64];
    i64 count, depth;
} ag_pairwise;

static inline void ag_pairwise_start(ag_pairwise *sum)
{
    sum->count = sum->depth = 0;
}

static inline void ag_pairwise_add(ag_pairwise *sum, f64 block)
{
    for (i64 bits = sum->count++; bits & 1; bits >>= 1)
        block = sum->waiting[--sum->depth] + block;
    sum->waiting[sum->depth++] = block;
}

static inline f64 ag_pairwise_total(const ag_pairwise *sum)
{
    if (sum->depth == 0)
        return 0;
    f64 total = sum->waiting[sum->depth - 1];
    for (i64 k = sum->depth - 2; k >= 0; k--)
        total = sum->waiting[k] + total;
    return total;
}

static inline f64 ag_sum_of_8_f64(const f64 *lane)
{
    return ((lane[0] + lane[4]) + (lane[2] + lane[6])) + ((lane[1] + lane[5]) + (lane[3] + lane[7]));
}

/* A copy of n elements. */
__attribute__((noinline, unused)) static const f64 *ag_run_of_f64(const f64 *x, i64 stride, i64 n, f64 *copy)
{
    for (i64 i = 0; i < n; i++) copy[i] = x[i * stride];
    return copy;
}

/* n elements of x from `at` on: where they lie if the stride is 1, else copied. */
static inline const f64 *ag_run_in_f64(const f64 *x, i64 at, i64 stride, i64 n, f64 *copy)
{
    return stride == 1 ? x + at : ag_run_of_f64(x + at, stride, n, copy);
}

/* y0 = sum{axis=(1,)}(x0 * x0) */
static void k_c228e7de4d788b06_short(i64 n0, i64 n1, f64 *restrict y0, i64 y0_s0, const f64 *x0, i64 x0_s0, i64 x0_s1)
{
    for (i64 tile = 0; tile < n0; tile += 128) {
        const i64 rows = n0 - tile < 128 ? n0 - tile : 128;
        const i64 last = rows - 1;
        f64 y0_tile[128];
        f64 x0_tile[2048];
        for (i64 i1 = 0; i1 < n1; i1++) {
            const f64 *x0_1 = x0 + i1 * x0_s1;
            f64 *x0_tile_1 = x0_tile + i1 * 128;
            for (i64 i0 = 0; i0 < 128; i0++) {
                x0_tile_1[i0] = x0_1[(tile + (i0 < last ? i0 : last)) * x0_s0];
            }
        }
        f64 total0[128];
        #pragma omp simd
        for (i64 i0 = 0; i0 < 128; i0++) {
            total0[i0] = 0.0;
        }
        f64 part0_lanes[1152];
        for (i64 lane = 0; lane < (7 < n1 ? 8 : 0); lane++) {
            #pragma omp simd
            for (i64 i0 = 0; i0 < 128; i0++) {
                part0_lanes[lane * 128 + i0] = 0.0;
            }
        }
        #pragma omp simd
        for (i64 i0 = 0; i0 < 128; i0++) {
            part0_lanes[8 * 128 + i0] = 0.0;
        }
        for (i64 i1 = 0; i1 < n1; i1++) {
            const f64 *x0_tile_1 = x0_tile + i1 * 128;
            const i64 bulk8 = n1 & -8;
            const i64 lane8 = i1 < bulk8 ? (i1 & 7) : 8;
            #pragma omp simd
            for (i64 i0 = 0; i0 < 128; i0++) {
                const f64 v0 = x0_tile_1[i0];
                const f64 v1 = v0 * v0;
                part0_lanes[lane8 * 128 + i0] = part0_lanes[lane8 * 128 + i0] + v1;
            }
        }
        for (i64 lane = 0; lane < (7 < n1 ? 4 : 0); lane++) {
            #pragma omp simd
            for (i64 i0 = 0; i0 < 128; i0++) {
                part0_lanes[lane * 128 + i0] = part0_lanes[lane * 128 + i0] + part0_lanes[(lane + 4) * 128 + i0];
            }
        }
        for (i64 lane = 0; lane < (7 < n1 ? 2 : 0); lane++) {
            #pragma omp simd
            for (i64 i0 = 0; i0 < 128; i0++) {
                part0_lanes[lane * 128 + i0] = part0_lanes[lane * 128 + i0] + part0_lanes[(lane + 2) * 128 + i0];
            }
        }
        for (i64 lane = 0; lane < (7 < n1 ? 1 : 0); lane++) {
            #pragma omp simd
            for (i64 i0 = 0; i0 < 128; i0++) {
                part0_lanes[lane * 128 + i0] = part0_lanes[lane * 128 + i0] + part0_lanes[(lane + 1) * 128 + i0];
            }
        }
        for (i64 lane = 0; lane < (7 < n1 ? 1 : 0); lane++) {
            #pragma omp simd
            for (i64 i0 = 0; i0 < 128; i0++) {
                part0_lanes[8 * 128 + i0] = part0_lanes[8 * 128 + i0] + part0_lanes[lane * 128 + i0];
            }
        }
        #pragma omp simd
        for (i64 i0 = 0; i0 < 128; i0++) {
            total0[i0] = total0[i0] + (0.0 + part0_lanes[8 * 128 + i0]);
        }
        #pragma omp simd
        for (i64 i0 = 0; i0 < 128; i0++) {
            const f64 v2 = total0[i0];
            y0_tile[i0] = v2;
        }
        for (i64 i0 = 0; i0 < rows; i0++) {
            y0[(tile + i0) * y0_s0] = y0_tile[i0];
        }
    }
}

static void k_c228e7de4d788b06(i64 n0, i64 n1, f64 *restrict y0, i64 y0_s0, const f64 *x0, i64 x0_s0, i64 x0_s1)
{
    if (n1 < 16 && 15 < n0 && (n1 < 8 || x0_s1 != 1)) {
        k_c228e7de4d788b06_short(n0, n1, y0, y0_s0, x0, x0_s0, x0_s1);
    } else {
        for (i64 i0 = 0; i0 < n0; i0++) {
            const f64 *x0_0 = x0 + i0 * x0_s0;
            ag_pairwise total0;
            ag_pairwise_start(&total0);
            if (x0_s1 == 1) {
                for (i64 block = 0; block < n1; block += 128) {
                    const i64 block_end = block + 128 < n1 ? block + 128 : n1;
                    f64 part0 = 0.0;
                    const i64 bulk0 = block + ((block_end - block) & -8);
                    f64 part0_l0[9];
                    #pragma omp simd
                    for (i64 lane = 0; lane < 8; lane++) {
                        part0_l0[lane] = -0.0;
                    }
                    part0_l0[8] = -0.0;
                    for (i64 at0 = block; at0 < bulk0; at0 += 8) {
                        #pragma omp simd simdlen(8)
                        for (i64 lane = 0; lane < 8; lane++) {
                            const i64 i1 = at0 + lane;
                            const f64 v0 = x0_0[i1];
                            const f64 v1 = v0 * v0;
                            part0_l0[lane] = part0_l0[lane] + v1;
                        }
                    }
                    for (i64 i1 = bulk0; i1 < block_end; i1++) {
                        const f64 v0 = x0_0[i1];
                        const f64 v1 = v0 * v0;
                        part0_l0[8] = part0_l0[8] + v1;
                    }
                    part0 = part0 + (ag_sum_of_8_f64(part0_l0) + part0_l0[8]);
                    ag_pairwise_add(&total0, part0);
                }
            } else {
                for (i64 block = 0; block < n1; block += 128) {
                    const i64 block_end = block + 128 < n1 ? block + 128 : n1;
                    f64 part0 = 0.0;
                    f64 v0_run[128];
                    const f64 *v0_at = ag_run_in_f64(x0_0, block * x0_s1, x0_s1, block_end - block, v0_run);
                    const i64 bulk1 = block + ((block_end - block) & -8);
                    f64 part0_l1[9];
                    #pragma omp simd
                    for (i64 lane = 0; lane < 8; lane++) {
                        part0_l1[lane] = -0.0;
                    }
                    part0_l1[8] = -0.0;
                    for (i64 at1 = block; at1 < bulk1; at1 += 8) {
                        #pragma omp simd simdlen(8)
                        for (i64 lane = 0; lane < 8; lane++) {
                            const i64 i1 = at1 + lane;
                            const f64 v0 = v0_at[i1 - block];
                            const f64 v1 = v0 * v0;
                            part0_l1[lane] = part0_l1[lane] + v1;
                        }
                    }
                    for (i64 i1 = bulk1; i1 < block_end; i1++) {
                        const f64 v0 = v0_at[i1 - block];
                        const f64 v1 = v0 * v0;
                        part0_l1[8] = part0_l1[8] + v1;
                    }
                    part0 = part0 + (ag_sum_of_8_f64(part0_l1) + part0_l1[8]);
                    ag_pairwise_add(&total0, part0);
                }
            }
            y0[i0 * y0_s0] = ag_pairwise_total(&total0);
        }
    }
}
