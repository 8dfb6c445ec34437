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

/* How many rows of so many elements make a tile. */
static inline i64 ag_tile_rows(i64 elements, i64 columns)
{
    return columns > 0 ? elements / columns : 1;
}

/* Whether the elements of a part lie closer together down its columns than along its rows. */
static inline b8 ag_is_transposed(i64 down, i64 along)
{
    return down && __builtin_llabs(along) > __builtin_llabs(down);
}

/* `rows` rows of `columns` elements of x from `at` on: where they lie if each row has stride 1, else copied. */
__attribute__((noinline, unused)) static const u8 *ag_tile_in_b8(const u8 *x, i64 at, i64 down, i64 along,
                                                                   i64 rows, i64 columns, u8 *copy)
{
    x += at;
    if (along == 1) return x;
#ifdef AG_TRANSPOSES
    if (down == 1 && rows >= 8 && columns >= 8) {
        ag_transpose(sizeof(u8), rows, columns, (char *)copy, columns, (const char *)x, along);
        return copy;
    }
#endif
    for (i64 i = 0; i < rows; i++) {
        u8 *const row = copy + i * columns;
        if (along == 0)
            for (i64 j = 0; j < columns; j++) row[j] = x[i * down];
        else if (along == -1)
            #pragma omp simd
            for (i64 j = 0; j < columns; j++) row[j] = x[i * down - j];
        else if (along == 2)
            #pragma omp simd
            for (i64 j = 0; j < columns; j++) row[j] = x[i * down + 2 * j];
        else if (along == 3)
            #pragma omp simd
            for (i64 j = 0; j < columns; j++) row[j] = x[i * down + 3 * j];
        else if (along == 4)
            #pragma omp simd
            for (i64 j = 0; j < columns; j++) row[j] = x[i * down + 4 * j];
        else
            for (i64 j = 0; j < columns; j++) row[j] = x[i * down + j * along];
    }
    return copy;
}

/* `rows` rows of `columns` elements of x from `at` on: where they lie if each row has stride 1, else copied. */
__attribute__((noinline, unused)) static const f32 *ag_tile_in_f32(const f32 *x, i64 at, i64 down, i64 along,
                                                                   i64 rows, i64 columns, f32 *copy)
{
    x += at;
    if (along == 1) return x;
#ifdef AG_TRANSPOSES
    if (down == 1 && rows >= 8 && columns >= 8) {
        ag_transpose(sizeof(f32), rows, columns, (char *)copy, columns, (const char *)x, along);
        return copy;
    }
#endif
    for (i64 i = 0; i < rows; i++) {
        f32 *const row = copy + i * columns;
        if (along == 0)
            for (i64 j = 0; j < columns; j++) row[j] = x[i * down];
        else if (along == -1)
            #pragma omp simd
            for (i64 j = 0; j < columns; j++) row[j] = x[i * down - j];
        else if (along == 2)
            #pragma omp simd
            for (i64 j = 0; j < columns; j++) row[j] = x[i * down + 2 * j];
        else if (along == 3)
            #pragma omp simd
            for (i64 j = 0; j < columns; j++) row[j] = x[i * down + 3 * j];
        else if (along == 4)
            #pragma omp simd
            for (i64 j = 0; j < columns; j++) row[j] = x[i * down + 4 * j];
        else
            for (i64 j = 0; j < columns; j++) row[j] = x[i * down + j * along];
    }
    return copy;
}

/* A copy of narrow rows, one behind the other. */
static inline __attribute__((always_inline)) void ag_packed_b8(const u8 *x, i64 down, i64 along, i64 rows, i64 columns, u8 *copy)
{
    for (i64 i = 0; i < rows; i++)
        for (i64 j = 0; j < columns; j++) copy[i * columns + j] = x[i * down + j * along];
}

/* A copy of narrow rows, one behind the other. */
static inline __attribute__((always_inline)) void ag_packed_f32(const f32 *x, i64 down, i64 along, i64 rows, i64 columns, f32 *copy)
{
    for (i64 i = 0; i < rows; i++)
        for (i64 j = 0; j < columns; j++) copy[i * columns + j] = x[i * down + j * along];
}

/* Narrow rows of x from `at` on, one behind the other: where they lie if there are no gaps, else copied. */
__attribute__((noinline, unused)) static const u8 *ag_packed_in_b8(const u8 *x, i64 at, i64 down, i64 along,
                                                                     i64 rows, i64 columns, u8 *copy)
{
    x += at;
    if (along == 1 && down == columns) return x;
    if (down == 0 && rows > 1) { /* equal rows: copy twice as many each time */
        const i64 count = rows * columns;
        ag_packed_b8(x, 0, along, 1, columns, copy);
        for (i64 done = columns; done < count; done *= 2)
            __builtin_memcpy(copy + done, copy, (done < count - done ? done : count - done) * sizeof(u8));
        return copy;
    }
    u8 *to = copy;
#ifdef AG_TRANSPOSES
    const i64 done = ag_shuffled(sizeof(u8), (const char *)x, down, along, rows, columns, (char *)copy);
    x += done * down, to += done * columns, rows -= done;
#endif
    if (columns == 2)
        ag_packed_b8(x, down, along, rows, 2, to);
    else if (columns == 3)
        ag_packed_b8(x, down, along, rows, 3, to);
    else if (columns == 4)
        ag_packed_b8(x, down, along, rows, 4, to);
    else
        ag_packed_b8(x, down, along, rows, columns, to);
    return copy;
}

/* Narrow rows of x from `at` on, one behind the other: where they lie if there are no gaps, else copied. */
__attribute__((noinline, unused)) static const f32 *ag_packed_in_f32(const f32 *x, i64 at, i64 down, i64 along,
                                                                     i64 rows, i64 columns, f32 *copy)
{
    x += at;
    if (along == 1 && down == columns) return x;
    if (down == 0 && rows > 1) { /* equal rows: copy twice as many each time */
        const i64 count = rows * columns;
        ag_packed_f32(x, 0, along, 1, columns, copy);
        for (i64 done = columns; done < count; done *= 2)
            __builtin_memcpy(copy + done, copy, (done < count - done ? done : count - done) * sizeof(f32));
        return copy;
    }
    f32 *to = copy;
#ifdef AG_TRANSPOSES
    const i64 done = ag_shuffled(sizeof(f32), (const char *)x, down, along, rows, columns, (char *)copy);
    x += done * down, to += done * columns, rows -= done;
#endif
    if (columns == 2)
        ag_packed_f32(x, down, along, rows, 2, to);
    else if (columns == 3)
        ag_packed_f32(x, down, along, rows, 3, to);
    else if (columns == 4)
        ag_packed_f32(x, down, along, rows, 4, to);
    else
        ag_packed_f32(x, down, along, rows, columns, to);
    return copy;
}

/* Where elements of y from `at` on are computed: in their place if each row has stride 1, else in `copy`. */
static inline f32 *ag_tile_out_f32(f32 *y, i64 at, i64 along, f32 *copy)
{
    return along == 1 ? y + at : copy;
}

/* The same for narrow rows. */
static inline f32 *ag_packed_out_f32(f32 *y, i64 at, i64 down, i64 along, i64 columns, f32 *copy)
{
    return along == 1 && down == columns ? y + at : copy;
}

/* Write the results in `copy` to their place. */
__attribute__((noinline, unused)) static void ag_tile_back_f32(f32 *y, i64 at, i64 down, i64 along, i64 rows,
                                                               i64 columns, const f32 *copy)
{
    y += at;
    for (i64 i = 0; i < rows; i++)
        for (i64 j = 0; j < columns; j++) y[i * down + j * along] = copy[i * columns + j];
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

/* y0 = switch(x0, exp(x1), x2) */
static void k_67d27618023b6398_rows(i64 n0, i64 n1, f32 *restrict y0, i64 y0_s0, i64 y0_s1, const u8 *x0, i64 x0_s0,
    i64 x0_s1, const f32 *x1, i64 x1_s0, i64 x1_s1, const f32 *x2, i64 x2_s1)
{
    (void)y0_s1;
    (void)x0_s1;
    (void)x1_s1;
    (void)x2_s1;
    for (i64 i0 = 0; i0 < n0; i0++) {
        const u8 *x0_0 = x0 + i0 * x0_s0;
        const f32 *x1_0 = x1 + i0 * x1_s0;
        f32 *y0_0 = y0 + i0 * y0_s0;
        for (i64 run = 0; run < n1; run += 4096) {
            const i64 run_end = run + 4096 < n1 ? run + 4096 : n1;
            u32 v0_run[4096];
            const u32 *v0_at = ag_widened_in_u32(x0_0, run, 1, run_end - run, v0_run);
            #pragma omp simd simdlen(16)
            for (i64 i1 = run; i1 < run_end; i1++) {
                const b8 v0 = v0_at[i1 - run] != 0;
                const f32 v1 = x1_0[i1];
                const f32 v2 = ag_exp_f32(v1);
                const f32 v3 = x2[i1];
                const f32 v4 = v0 ? v2 : v3;
                y0_0[i1] = v4;
            }
        }
    }
}

static void k_67d27618023b6398(i64 n0, i64 n1, f32 *restrict y0, i64 y0_s0, i64 y0_s1, const u8 *x0, i64 x0_s0, i64 x0_s1,
    const f32 *x1, i64 x1_s0, i64 x1_s1, const f32 *x2, i64 x2_s1)
{
    if (n1 < 16 && 15 < n0) {
        f32 y0_copy[1024];
        u8 x0_copy[1024];
        f32 x1_copy[1024];
        f32 x2_copy[1024];
        const i64 tall = ag_tile_rows(1024, n1) < n0 ? ag_tile_rows(1024, n1) : n0;
        const f32 *x2_t = ag_packed_in_f32(x2, 0, 0, x2_s1, tall, n1, x2_copy);
        for (i64 t0 = 0; t0 < n0; t0 += tall) {
            const i64 rows = tall < n0 - t0 ? tall : n0 - t0;
            const i64 elements = rows * n1;
            f32 *y0_t = ag_packed_out_f32(y0, t0 * y0_s0, y0_s0, y0_s1, n1, y0_copy);
            const u8 *x0_t = ag_packed_in_b8(x0, t0 * x0_s0, x0_s0, x0_s1, rows, n1, x0_copy);
            const f32 *x1_t = ag_packed_in_f32(x1, t0 * x1_s0, x1_s0, x1_s1, rows, n1, x1_copy);
            k_67d27618023b6398_rows(1, elements, y0_t, 0, 1, x0_t, 0, 1, x1_t, 0, 1, x2_t, 1);
            if (y0_s1 != 1 || y0_s0 != n1) {
                ag_tile_back_f32(y0, t0 * y0_s0, y0_s0, y0_s1, rows, n1, y0_copy);
            }
        }
    } else {
        const b8 whole = y0_s1 == 1 && x0_s1 == 1 && x1_s1 == 1 && x2_s1 == 1;
        if (whole) {
            k_67d27618023b6398_rows(n0, n1, y0, y0_s0, y0_s1, x0, x0_s0, x0_s1, x1, x1_s0, x1_s1, x2, x2_s1);
        } else {
            f32 y0_copy[1024];
            u8 x0_copy[1024];
            f32 x1_copy[1024];
            f32 x2_copy[1024];
            const b8 transposed = ag_is_transposed(y0_s0, y0_s1) || ag_is_transposed(x0_s0, x0_s1) || ag_is_transposed(x1_s0, x1_s1);
            const i64 wide = transposed ? 64 : 1024;
            const i64 tall = ag_tile_rows(1024, wide < n1 ? wide : n1);
            for (i64 t0 = 0; t0 < n0; t0 += tall) {
                const i64 rows = tall < n0 - t0 ? tall : n0 - t0;
                for (i64 t1 = 0; t1 < n1; t1 += wide) {
                    const i64 columns = wide < n1 - t1 ? wide : n1 - t1;
                    f32 *y0_t = ag_tile_out_f32(y0, t0 * y0_s0 + t1 * y0_s1, y0_s1, y0_copy);
                    const i64 y0_ts = y0_s1 == 1 ? y0_s0 : columns;
                    const u8 *x0_t = ag_tile_in_b8(x0, t0 * x0_s0 + t1 * x0_s1, x0_s0, x0_s1, rows, columns, x0_copy);
                    const i64 x0_ts = x0_s1 == 1 ? x0_s0 : columns;
                    const f32 *x1_t = ag_tile_in_f32(x1, t0 * x1_s0 + t1 * x1_s1, x1_s0, x1_s1, rows, columns, x1_copy);
                    const i64 x1_ts = x1_s1 == 1 ? x1_s0 : columns;
                    const f32 *x2_t = ag_tile_in_f32(x2, t1 * x2_s1, 0, x2_s1, 1, columns, x2_copy);
                    k_67d27618023b6398_rows(rows, columns, y0_t, y0_ts, 1, x0_t, x0_ts, 1, x1_t, x1_ts, 1, x2_t, 1);
                    if (y0_s1 != 1) {
                        ag_tile_back_f32(y0, t0 * y0_s0 + t1 * y0_s1, y0_s0, y0_s1, rows, columns, y0_copy);
                    }
                }
            }
        }
    }
}
