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

/* a * b + c, rounded once where that costs no more. */
static inline __attribute__((always_inline)) f32 ag_fma_f32(f32 a, f32 b, f32 c)
{
#if defined(__FP_FAST_FMAF) || defined(__FMA__) || defined(__aarch64__)
    return __builtin_fmaf(a, b, c);
#else
    return a * b + c;
#endif
}

static inline __attribute__((always_inline)) u32 ag_bits_f32(f32 x)
{
    union { f32 f; u32 u; } v;
    v.f = x;
    return v.u;
}

static inline __attribute__((always_inline)) f32 ag_from_bits_f32(u32 x)
{
    union { u32 u; f32 f; } v;
    v.u = x;
    return v.f;
}

/* x, or 0 where `is` is 0, by its bits: a choice might become a branch. */
static inline __attribute__((always_inline)) f32 ag_where_f32(f32 x, i32 is)
{
    return ag_from_bits_f32(ag_bits_f32(x) & -(u32)is);
}

/* exp(r) - 1 for r between -log(2) / 2 and log(2) / 2. */
static inline __attribute__((always_inline)) f32 ag_small_expm1_f32(f32 r)
{
    f32 p = 0x1.6be46ep-10f;
    p = ag_fma_f32(p, r, 0x1.12274cp-7f);
    p = ag_fma_f32(p, r, 0x1.5556b8p-5f);
    p = ag_fma_f32(p, r, 0x1.5554ccp-3f);
    p = ag_fma_f32(p, r, 0.5f);
    return ag_fma_f32(r * r, p, r);
}

/* exp(x) for x <= 89.0f: 2^k * exp(r) where k = round(x / log 2); two factors make up 2^k, so that a subnormal result
   is rounded once (W. J. Cody, W. Waite, "Software Manual for the Elementary Functions", 1980). */
static inline __attribute__((always_inline)) f32 ag_exp_below_f32(f32 x)
{
    const i32 is = !(x < -104.0f);
    const f32 y = ag_where_f32(x, is);
    const f32 shifted = ag_fma_f32(y, 0x1.715476p+0f, 0x1.8001fcp23f), k = shifted - 0x1.8001fcp23f;
    const f32 r = ag_fma_f32(k, -0x1.7f7d1cp-20f, ag_fma_f32(k, -0x1.62e4p-1f, y));
    const u32 exponents = ag_bits_f32(shifted), half = exponents >> 1;
    const f32 first = ag_from_bits_f32(half << 23);
    const f32 result = (1 + ag_small_expm1_f32(r)) * first * ag_from_bits_f32((exponents - half) << 23);
    return ag_where_f32(result, is);
}

/* exp(89.0f) is infinite */
static inline __attribute__((always_inline)) f32 ag_exp_f32(f32 x)
{
    return ag_exp_below_f32(x > 89.0f ? 89.0f : x);
}

static inline f32 ag_sum_of_8_f32(const f32 *lane)
{
    return ((lane[0] + lane[4]) + (lane[2] + lane[6])) + ((lane[1] + lane[5]) + (lane[3] + lane[7]));
}

static inline f32 ag_sum_of_16_f32(const f32 *lane)
{
#if defined(__GNUC__) && !defined(__CUDACC__) /* halves of the register that the lanes lie in */
    typedef f32 eight __attribute__((vector_size(8 * sizeof(f32)), aligned(sizeof(f32)), may_alias));
    typedef f32 four __attribute__((vector_size(4 * sizeof(f32)), may_alias));
    const eight half = *(const eight *)lane + *(const eight *)(lane + 8);
    const four quarter = ((const four *)&half)[0] + ((const four *)&half)[1];
    return (quarter[0] + quarter[2]) + (quarter[1] + quarter[3]);
#else
    f32 half[8];
    for (i64 k = 0; k < 8; k++) half[k] = lane[k] + lane[k + 8];
    return ag_sum_of_8_f32(half);
#endif
}

/* Where elements of y from `at` on are computed: in their place if each row has stride 1, else in `copy`. */
static inline f32 *ag_tile_out_f32(f32 *y, i64 at, i64 along, f32 *copy)
{
    return along == 1 ? y + at : copy;
}

/* A copy of n elements. */
__attribute__((noinline, unused)) static const f32 *ag_run_of_f32(const f32 *x, i64 stride, i64 n, f32 *copy)
{
    for (i64 i = 0; i < n; i++) copy[i] = x[i * stride];
    return copy;
}

/* n elements of x from `at` on: where they lie if the stride is 1, else copied. */
static inline const f32 *ag_run_in_f32(const f32 *x, i64 at, i64 stride, i64 n, f32 *copy)
{
    return stride == 1 ? x + at : ag_run_of_f32(x + at, stride, n, copy);
}

/* Write the results in `copy` to their place. */
__attribute__((noinline, unused)) static void ag_run_back_f32(f32 *y, i64 at, i64 stride, i64 n, const f32 *copy)
{
    y += at;
    for (i64 i = 0; i < n; i++) y[i * stride] = copy[i];
}

/* y0 = softmax{axis=1}(x0) */
static void k_70ca89f3afb67723_short(i64 n0, i64 n1, f32 *restrict y0, i64 y0_s0, i64 y0_s1, const f32 *x0, i64 x0_s0,
    i64 x0_s1)
{
    for (i64 tile = 0; tile < n0; tile += 128) {
        const i64 rows = n0 - tile < 128 ? n0 - tile : 128;
        const i64 last = rows - 1;
        f32 y0_tile[4096];
        f32 x0_tile[4096];
        for (i64 i1 = 0; i1 < n1; i1++) {
            const f32 *x0_1 = x0 + i1 * x0_s1;
            f32 *x0_tile_1 = x0_tile + i1 * 128;
            for (i64 i0 = 0; i0 < 128; i0++) {
                x0_tile_1[i0] = x0_1[(tile + (i0 < last ? i0 : last)) * x0_s0];
            }
        }
        f32 total0[128];
        #pragma omp simd
        for (i64 i0 = 0; i0 < 128; i0++) {
            total0[i0] = -__builtin_inff();
        }
        for (i64 i1 = 0; i1 < n1; i1++) {
            const f32 *x0_tile_1 = x0_tile + i1 * 128;
            #pragma omp simd
            for (i64 i0 = 0; i0 < 128; i0++) {
                const f32 v0 = x0_tile_1[i0];
                total0[i0] = v0 > total0[i0] ? v0 : total0[i0];
            }
        }
        f64 total1[128];
        #pragma omp simd
        for (i64 i0 = 0; i0 < 128; i0++) {
            total1[i0] = 0.0;
        }
        f32 part1_lanes[2176];
        for (i64 lane = 0; lane < (15 < n1 ? 16 : 0); lane++) {
            #pragma omp simd
            for (i64 i0 = 0; i0 < 128; i0++) {
                part1_lanes[lane * 128 + i0] = 0.0f;
            }
        }
        #pragma omp simd
        for (i64 i0 = 0; i0 < 128; i0++) {
            part1_lanes[16 * 128 + i0] = 0.0f;
        }
        for (i64 i1 = 0; i1 < n1; i1++) {
            const f32 *x0_tile_1 = x0_tile + i1 * 128;
            f32 *y0_tile_1 = y0_tile + i1 * 128;
            const i64 bulk16 = n1 & -16;
            const i64 lane16 = i1 < bulk16 ? (i1 & 15) : 16;
            #pragma omp simd
            for (i64 i0 = 0; i0 < 128; i0++) {
                const f32 v1 = total0[i0];
                const f32 v2 = x0_tile_1[i0];
                const f32 v3 = v2 - v1;
                const f32 v4 = ag_exp_f32(v3);
                part1_lanes[lane16 * 128 + i0] = part1_lanes[lane16 * 128 + i0] + v4;
                y0_tile_1[i0] = v4;
            }
        }
        for (i64 lane = 0; lane < (15 < n1 ? 8 : 0); lane++) {
            #pragma omp simd
            for (i64 i0 = 0; i0 < 128; i0++) {
                part1_lanes[lane * 128 + i0] = part1_lanes[lane * 128 + i0] + part1_lanes[(lane + 8) * 128 + i0];
            }
        }
        for (i64 lane = 0; lane < (15 < n1 ? 4 : 0); lane++) {
            #pragma omp simd
            for (i64 i0 = 0; i0 < 128; i0++) {
                part1_lanes[lane * 128 + i0] = part1_lanes[lane * 128 + i0] + part1_lanes[(lane + 4) * 128 + i0];
            }
        }
        for (i64 lane = 0; lane < (15 < n1 ? 2 : 0); lane++) {
            #pragma omp simd
            for (i64 i0 = 0; i0 < 128; i0++) {
                part1_lanes[lane * 128 + i0] = part1_lanes[lane * 128 + i0] + part1_lanes[(lane + 2) * 128 + i0];
            }
        }
        for (i64 lane = 0; lane < (15 < n1 ? 1 : 0); lane++) {
            #pragma omp simd
            for (i64 i0 = 0; i0 < 128; i0++) {
                part1_lanes[lane * 128 + i0] = part1_lanes[lane * 128 + i0] + part1_lanes[(lane + 1) * 128 + i0];
            }
        }
        for (i64 lane = 0; lane < (15 < n1 ? 1 : 0); lane++) {
            #pragma omp simd
            for (i64 i0 = 0; i0 < 128; i0++) {
                part1_lanes[16 * 128 + i0] = part1_lanes[16 * 128 + i0] + part1_lanes[lane * 128 + i0];
            }
        }
        #pragma omp simd
        for (i64 i0 = 0; i0 < 128; i0++) {
            total1[i0] = total1[i0] + (f64)(0.0f + part1_lanes[16 * 128 + i0]);
        }
        f32 s0[128];
        #pragma omp simd
        for (i64 i0 = 0; i0 < 128; i0++) {
            const f32 v6 = (f32)total1[i0];
            const f32 v7 = 1 / v6;
            s0[i0] = v7;
        }
        for (i64 i1 = 0; i1 < n1; i1++) {
            f32 *y0_tile_1 = y0_tile + i1 * 128;
            #pragma omp simd
            for (i64 i0 = 0; i0 < 128; i0++) {
                const f32 v10 = s0[i0];
                const f32 v11 = y0_tile_1[i0];
                const f32 v12 = v11 * v10;
                y0_tile_1[i0] = v12;
            }
        }
        for (i64 i1 = 0; i1 < n1; i1++) {
            f32 *y0_1 = y0 + i1 * y0_s1;
            const f32 *y0_tile_1 = y0_tile + i1 * 128;
            for (i64 i0 = 0; i0 < rows; i0++) {
                y0_1[(tile + i0) * y0_s0] = y0_tile_1[i0];
            }
        }
    }
}

static void k_70ca89f3afb67723(i64 n0, i64 n1, f32 *restrict y0, i64 y0_s0, i64 y0_s1, const f32 *x0, i64 x0_s0, i64 x0_s1)
{
    if (n1 < 32 && 15 < n0) {
        k_70ca89f3afb67723_short(n0, n1, y0, y0_s0, y0_s1, x0, x0_s0, x0_s1);
    } else {
        for (i64 i0 = 0; i0 < n0; i0++) {
            const f32 *x0_0 = x0 + i0 * x0_s0;
            f32 total0 = -__builtin_inff();
            if (x0_s1 == 1 && 31 < n1) {
                const i64 segment = (n1 + 127) / 128 * 32;
                const i64 last = n1 - segment;
                const i64 segment_u1 = segment < last ? segment : last;
                const i64 segment_u2 = 2 * segment < last ? 2 * segment : last;
                const i64 segment_u3 = 3 * segment < last ? 3 * segment : last;
                #pragma omp simd reduction(max:total0)
                for (i64 i1 = 0; i1 < segment; i1++) {
                    const f32 v0 = x0_0[i1];
                    const f32 v0_u1 = x0_0[i1 + segment_u1];
                    const f32 v0_u2 = x0_0[i1 + segment_u2];
                    const f32 v0_u3 = x0_0[i1 + segment_u3];
                    const f32 total0_b0 = v0_u1 > v0 ? v0_u1 : v0;
                    const f32 total0_b1 = v0_u3 > v0_u2 ? v0_u3 : v0_u2;
                    const f32 total0_b2 = total0_b1 > total0_b0 ? total0_b1 : total0_b0;
                    total0 = total0_b2 > total0 ? total0_b2 : total0;
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
            for (i64 block = 0; block < n1; block += 128) {
                const i64 block_end = block + 128 < n1 ? block + 128 : n1;
                f32 part1 = 0.0f;
                f32 v1_run[128];
                const f32 *v1_at = ag_run_in_f32(x0_0, block * x0_s1, x0_s1, block_end - block, v1_run);
                f32 y0_0_run[128];
                f32 *y0_0_at = ag_tile_out_f32(y0_0, block * y0_s1, y0_s1, y0_0_run);
                const i64 bulk0 = block + ((block_end - block) & -16);
                f32 part1_l0[17];
                #pragma omp simd
                for (i64 lane = 0; lane < 16; lane++) {
                    part1_l0[lane] = -0.0f;
                }
                part1_l0[16] = -0.0f;
                for (i64 at0 = block; at0 < bulk0; at0 += 16) {
                    #pragma omp simd simdlen(16)
                    for (i64 lane = 0; lane < 16; lane++) {
                        const i64 i1 = at0 + lane;
                        const f32 v1 = v1_at[i1 - block];
                        const f32 v2 = v1 - r0;
                        const f32 v3 = ag_exp_f32(v2);
                        part1_l0[lane] = part1_l0[lane] + v3;
                        y0_0_at[i1 - block] = v3;
                    }
                }
                if (bulk0 < block_end) {
                    const i64 first_i1 = block < bulk0 ? block_end - 16 : block;
                    f32 v3_r[16];
                    #pragma omp simd simdlen(16)
                    for (i64 lane = 0; lane < block_end - first_i1; lane++) {
                        const i64 i1 = first_i1 + lane;
                        const f32 v1 = v1_at[i1 - block];
                        const f32 v2 = v1 - r0;
                        const f32 v3 = ag_exp_f32(v2);
                        v3_r[lane] = v3;
                    }
                    for (i64 i1 = bulk0; i1 < block_end; i1++) {
                        const f32 v3 = v3_r[i1 - first_i1];
                        part1_l0[16] = part1_l0[16] + v3;
                        y0_0_at[i1 - block] = v3;
                    }
                }
                part1 = part1 + (ag_sum_of_16_f32(part1_l0) + part1_l0[16]);
                if (y0_s1 != 1) {
                    ag_run_back_f32(y0_0, block * y0_s1, y0_s1, block_end - block, y0_0_run);
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
}
