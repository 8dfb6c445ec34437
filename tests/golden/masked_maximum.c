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

/* a if `set`, else b, without a branch. */
static inline f32 ag_chosen_f32(b8 set, f32 a, f32 b)
{
    const u32 other = ag_bits_f32(b);
    return ag_from_bits_f32(((ag_bits_f32(a) ^ other) & -(u32)set) ^ other);
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

/* Copies of n bools of x from `at` on, each as wide as the numbers beside it. */
__attribute__((noinline, unused)) static const u32 *ag_widened_in_u32(const u8 *x, i64 at, i64 stride, i64 n,
                                                                      u32 *copy)
{
    i64 i = 0;
    x += at;
    if (stride == 1) {
        for (; i + 64 <= n; i += 64)
            #pragma omp simd
            for (i64 k = 0; k < 64; k++) copy[i + k] = x[i + k];
        for (; i + 16 <= n; i += 16) {
#ifdef AG_WIDENED
            AG_WIDENED(x + i, copy + i);
#else
            #pragma omp simd
            for (i64 k = 0; k < 16; k++) copy[i + k] = x[i + k];
#endif
        }
    }
    for (; i < n; i++) copy[i] = x[i * stride];
    return copy;
}

/* y0 = max{axis=(1,)}(switch(x0, x1, x2)) */
static void k_6257f266be2d915d_short(i64 n0, i64 n1, f32 *restrict y0, i64 y0_s0, const u8 *x0, i64 x0_s0, i64 x0_s1,
    const f32 *x1, i64 x1_s0, i64 x1_s1, const f32 *x2, i64 x2_s1)
{
    for (i64 tile = 0; tile < n0; tile += 128) {
        const i64 rows = n0 - tile < 128 ? n0 - tile : 128;
        const i64 last = rows - 1;
        f32 y0_tile[128];
        u8 x0_tile[4096];
        f32 x1_tile[4096];
        for (i64 i1 = 0; i1 < n1; i1++) {
            const u8 *x0_1 = x0 + i1 * x0_s1;
            u8 *x0_tile_1 = x0_tile + i1 * 128;
            for (i64 i0 = 0; i0 < 128; i0++) {
                x0_tile_1[i0] = x0_1[(tile + (i0 < last ? i0 : last)) * x0_s0];
            }
        }
        for (i64 i1 = 0; i1 < n1; i1++) {
            const f32 *x1_1 = x1 + i1 * x1_s1;
            f32 *x1_tile_1 = x1_tile + i1 * 128;
            for (i64 i0 = 0; i0 < 128; i0++) {
                x1_tile_1[i0] = x1_1[(tile + (i0 < last ? i0 : last)) * x1_s0];
            }
        }
        f32 total0[128];
        i32 total1[128];
        #pragma omp simd
        for (i64 i0 = 0; i0 < 128; i0++) {
            total0[i0] = -__builtin_inff();
            total1[i0] = 0;
        }
        for (i64 i1 = 0; i1 < n1; i1++) {
            const u8 *x0_tile_1 = x0_tile + i1 * 128;
            const f32 *x1_tile_1 = x1_tile + i1 * 128;
            const f32 v2 = x2[i1 * x2_s1];
            #pragma omp simd
            for (i64 i0 = 0; i0 < 128; i0++) {
                const b8 v0 = x0_tile_1[i0];
                const f32 v1 = x1_tile_1[i0];
                const f32 v3 = ag_chosen_f32(v0, v1, v2);
                const i32 v4 = (i32)(v3 != v3);
                total0[i0] = v3 > total0[i0] ? v3 : total0[i0];
                total1[i0] = total1[i0] | v4;
            }
        }
        #pragma omp simd
        for (i64 i0 = 0; i0 < 128; i0++) {
            const f32 v5 = total1[i0] != 0 ? __builtin_nanf("") : total0[i0];
            y0_tile[i0] = v5;
        }
        for (i64 i0 = 0; i0 < rows; i0++) {
            y0[(tile + i0) * y0_s0] = y0_tile[i0];
        }
    }
}

static i32 k_6257f266be2d915d(i64 n0, i64 n1, f32 *restrict y0, i64 y0_s0, const u8 *x0, i64 x0_s0, i64 x0_s1, const f32 *x1,
    i64 x1_s0, i64 x1_s1, const f32 *x2, i64 x2_s1)
{
    if (n1 == 0) {
        return 2;
    }
    if (n1 < 32 && 15 < n0) {
        k_6257f266be2d915d_short(n0, n1, y0, y0_s0, x0, x0_s0, x0_s1, x1, x1_s0, x1_s1, x2, x2_s1);
    } else {
        for (i64 i0 = 0; i0 < n0; i0++) {
            const u8 *x0_0 = x0 + i0 * x0_s0;
            const f32 *x1_0 = x1 + i0 * x1_s0;
            f32 total0 = -__builtin_inff();
            i32 total1 = 0;
            for (i64 run = 0; run < n1; run += 1024) {
                const i64 run_end = run + 1024 < n1 ? run + 1024 : n1;
                u32 v0_run[1024];
                const u32 *v0_at = ag_widened_in_u32(x0_0, run * x0_s1, x0_s1, run_end - run, v0_run);
                f32 v1_run[1024];
                const f32 *v1_at = ag_run_in_f32(x1_0, run * x1_s1, x1_s1, run_end - run, v1_run);
                f32 v2_run[1024];
                const f32 *v2_at = ag_run_in_f32(x2, run * x2_s1, x2_s1, run_end - run, v2_run);
                #pragma omp simd reduction(max:total0) reduction(|:total1)
                for (i64 i1 = run; i1 < run_end; i1++) {
                    const b8 v0 = v0_at[i1 - run] != 0;
                    const f32 v1 = v1_at[i1 - run];
                    const f32 v2 = v2_at[i1 - run];
                    const f32 v3 = v0 ? v1 : v2;
                    const i32 v4 = (i32)(v3 != v3);
                    total0 = v3 > total0 ? v3 : total0;
                    total1 = total1 | v4;
                }
            }
            y0[i0 * y0_s0] = total1 != 0 ? __builtin_nanf("") : total0;
        }
    }
    return 0;
}
