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
static inline __attribute__((always_inline)) f64 ag_fma_f64(f64 a, f64 b, f64 c)
{
#if defined(__FP_FAST_FMA) || defined(__FMA__) || defined(__aarch64__)
    return __builtin_fma(a, b, c);
#else
    return a * b + c;
#endif
}

static inline __attribute__((always_inline)) u64 ag_bits_f64(f64 x)
{
    union { f64 f; u64 u; } v;
    v.f = x;
    return v.u;
}

static inline __attribute__((always_inline)) f64 ag_from_bits_f64(u64 x)
{
    union { u64 u; f64 f; } v;
    v.u = x;
    return v.f;
}

/* x, or 0 where `is` is 0, by its bits: a choice might become a branch. */
static inline __attribute__((always_inline)) f64 ag_where_f64(f64 x, i32 is)
{
    return ag_from_bits_f64(ag_bits_f64(x) & -(u64)is);
}

/* exp(r) - 1 for r between -log(2) / 2 and log(2) / 2. */
static inline __attribute__((always_inline)) f64 ag_small_expm1_f64(f64 r)
{
    const f64 r2 = r * r;
    f64 p_1 = 0x1.ae6b9d29257e6p-26;
    p_1 = ag_fma_f64(p_1, r2, 0x1.71de880b9a45dp-19);
    p_1 = ag_fma_f64(p_1, r2, 0x1.a01a017513c74p-13);
    p_1 = ag_fma_f64(p_1, r2, 0x1.1111111118faap-7);
    p_1 = ag_fma_f64(p_1, r2, 0x1.5555555555539p-3);
    f64 p = 0x1.28a1e02ee5158p-22;
    p = ag_fma_f64(p, r2, 0x1.a019a76f068b2p-16);
    p = ag_fma_f64(p, r2, 0x1.6c16c17edbc4ap-10);
    p = ag_fma_f64(p, r2, 0x1.55555555522b7p-5);
    p = ag_fma_f64(p, r2, 0x1.0000000000005p-1);
    p = ag_fma_f64(p_1, r, p);
    return ag_fma_f64(r * r, p, r);
}

/* exp(x) for x <= 710.0: 2^k * exp(r) where k = round(x / log 2); two factors make up 2^k, so that a subnormal result
   is rounded once (W. J. Cody, W. Waite, "Software Manual for the Elementary Functions", 1980). */
static inline __attribute__((always_inline)) f64 ag_exp_below_f64(f64 x)
{
    const i32 is = !(x < -746.0);
    const f64 y = ag_where_f64(x, is);
    const f64 shifted = ag_fma_f64(y, 0x1.71547652b82fep+0, 0x1.80000000007fep52), k = shifted - 0x1.80000000007fep52;
    const f64 r = ag_fma_f64(k, -0x1.a39ef35793c76p-33, ag_fma_f64(k, -0x1.62e42feep-1, y));
    const u64 exponents = ag_bits_f64(shifted), half = exponents >> 1;
    const f64 first = ag_from_bits_f64(half << 52);
    const f64 result = (1 + ag_small_expm1_f64(r)) * first * ag_from_bits_f64((exponents - half) << 52);
    return ag_where_f64(result, is);
}

/* exp(710.0) is infinite */
static inline __attribute__((always_inline)) f64 ag_exp_f64(f64 x)
{
    return ag_exp_below_f64(x > 710.0 ? 710.0 : x);
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
__attribute__((noinline, unused)) static const f64 *ag_tile_in_f64(const f64 *x, i64 at, i64 down, i64 along,
                                                                   i64 rows, i64 columns, f64 *copy)
{
    x += at;
    if (along == 1) return x;
#ifdef AG_TRANSPOSES
    if (down == 1 && rows >= 8 && columns >= 8) {
        ag_transpose(sizeof(f64), rows, columns, (char *)copy, columns, (const char *)x, along);
        return copy;
    }
#endif
    for (i64 i = 0; i < rows; i++) {
        f64 *const row = copy + i * columns;
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

/* Where elements of y from `at` on are computed: in their place if each row has stride 1, else in `copy`. */
static inline u8 *ag_tile_out_b8(u8 *y, i64 at, i64 along, u8 *copy)
{
    return along == 1 ? y + at : copy;
}

/* Where elements of y from `at` on are computed: in their place if each row has stride 1, else in `copy`. */
static inline f64 *ag_tile_out_f64(f64 *y, i64 at, i64 along, f64 *copy)
{
    return along == 1 ? y + at : copy;
}

/* Write the results in `copy` to their place. */
__attribute__((noinline, unused)) static void ag_tile_back_b8(u8 *y, i64 at, i64 down, i64 along, i64 rows,
                                                               i64 columns, const u8 *copy)
{
    y += at;
    for (i64 i = 0; i < rows; i++)
        for (i64 j = 0; j < columns; j++) y[i * down + j * along] = copy[i * columns + j];
}

/* Write the results in `copy` to their place. */
__attribute__((noinline, unused)) static void ag_tile_back_f64(f64 *y, i64 at, i64 down, i64 along, i64 rows,
                                                               i64 columns, const f64 *copy)
{
    y += at;
    for (i64 i = 0; i < rows; i++)
        for (i64 j = 0; j < columns; j++) y[i * down + j * along] = copy[i * columns + j];
}

/* y0 = exp(x0) * x1; y1 = x0 > x1 */
static void k_91a81b0089709e29_rows(i64 n0, i64 n1, f64 *restrict y0, i64 y0_s0, i64 y0_s1, u8 *restrict y1, i64 y1_s0,
    i64 y1_s1, const f64 *x0, i64 x0_s0, const f64 *x1, i64 x1_s1)
{
    (void)y0_s1;
    (void)y1_s1;
    (void)x1_s1;
    for (i64 i0 = 0; i0 < n0; i0++) {
        const f64 v0 = x0[i0 * x0_s0];
        const f64 v1 = ag_exp_f64(v0);
        f64 *y0_0 = y0 + i0 * y0_s0;
        u8 *y1_0 = y1 + i0 * y1_s0;
        #pragma omp simd
        for (i64 i1 = 0; i1 < n1; i1++) {
            const f64 v2 = x1[i1];
            const f64 v3 = v1 * v2;
            const b8 v4 = v0 > v2;
            y0_0[i1] = v3;
            y1_0[i1] = v4;
        }
    }
}

static void k_91a81b0089709e29(i64 n0, i64 n1, f64 *restrict y0, i64 y0_s0, i64 y0_s1, u8 *restrict y1, i64 y1_s0, i64 y1_s1,
    const f64 *x0, i64 x0_s0, const f64 *x1, i64 x1_s1)
{
    const b8 whole = y0_s1 == 1 && y1_s1 == 1 && x1_s1 == 1;
    if (whole) {
        k_91a81b0089709e29_rows(n0, n1, y0, y0_s0, y0_s1, y1, y1_s0, y1_s1, x0, x0_s0, x1, x1_s1);
    } else {
        f64 y0_copy[1024];
        u8 y1_copy[1024];
        f64 x1_copy[1024];
        const b8 transposed = ag_is_transposed(y0_s0, y0_s1) || ag_is_transposed(y1_s0, y1_s1);
        const i64 wide = transposed ? 64 : 1024;
        const i64 tall = ag_tile_rows(1024, wide < n1 ? wide : n1);
        for (i64 t0 = 0; t0 < n0; t0 += tall) {
            const i64 rows = tall < n0 - t0 ? tall : n0 - t0;
            for (i64 t1 = 0; t1 < n1; t1 += wide) {
                const i64 columns = wide < n1 - t1 ? wide : n1 - t1;
                f64 *y0_t = ag_tile_out_f64(y0, t0 * y0_s0 + t1 * y0_s1, y0_s1, y0_copy);
                const i64 y0_ts = y0_s1 == 1 ? y0_s0 : columns;
                u8 *y1_t = ag_tile_out_b8(y1, t0 * y1_s0 + t1 * y1_s1, y1_s1, y1_copy);
                const i64 y1_ts = y1_s1 == 1 ? y1_s0 : columns;
                const f64 *x0_t = x0 + t0 * x0_s0;
                const f64 *x1_t = ag_tile_in_f64(x1, t1 * x1_s1, 0, x1_s1, 1, columns, x1_copy);
                k_91a81b0089709e29_rows(rows, columns, y0_t, y0_ts, 1, y1_t, y1_ts, 1, x0_t, x0_s0, x1_t, 1);
                if (y0_s1 != 1) {
                    ag_tile_back_f64(y0, t0 * y0_s0 + t1 * y0_s1, y0_s0, y0_s1, rows, columns, y0_copy);
                }
                if (y1_s1 != 1) {
                    ag_tile_back_b8(y1, t0 * y1_s0 + t1 * y1_s1, y1_s0, y1_s1, rows, columns, y1_copy);
                }
            }
        }
    }
}
