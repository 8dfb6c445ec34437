#ifndef AG_SIMD
#define AG_SIMD
#endif
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

static inline i64 ag_pow_i64(i64 base, i64 exponent)
{
    u64 square = (u64)base, result = 1;
    for (u64 e = (u64)exponent; e != 0; e >>= 1) {
        result = e & 1 ? result * square : result;
        square *= square;
    }
    return (i64)result;
}

/* `rows` rows of `columns` elements of x from `at` on: where they lie if each row has stride 1, else copied. */
static const i64 *ag_tile_in_i64(const i64 *x, i64 at, i64 down, i64 along, i64 rows, i64 columns, i64 *copy)
{
    x += at;
    if (along == 1) return x;
    for (i64 i = 0; i < rows; i++) {
        i64 *const row = copy + i * columns;
        if (along == 0)
            for (i64 j = 0; j < columns; j++) row[j] = x[i * down];
        else if (along == -1)
            for (i64 j = 0; j < columns; j++) row[j] = x[i * down - j];
        else
            for (i64 j = 0; j < columns; j++) row[j] = x[i * down + j * along];
    }
    return copy;
}

/* Where elements of y from `at` on are computed: in their place if each row has stride 1, else in `copy`. */
static inline i64 *ag_tile_out_i64(i64 *y, i64 at, i64 along, i64 *copy)
{
    return along == 1 ? y + at : copy;
}

/* What was computed in `copy`, to where it belongs. */
static void ag_tile_back_i64(i64 *y, i64 at, i64 down, i64 along, i64 rows, i64 columns, const i64 *copy)
{
    y += at;
    for (i64 i = 0; i < rows; i++)
        for (i64 j = 0; j < columns; j++) y[i * down + j * along] = copy[i * columns + j];
}

/* y0 = pow(x0, x1) */
static i32 k_6181ad4736fbab74(i64 n0, i64 *restrict y0, i64 y0_s0, const i64 *x0, i64 x0_s0, const i64 *x1, i64 x1_s0)
{
    i32 failed = 0;
    i64 y0_copy[1024];
    i64 x0_copy[1024];
    i64 x1_copy[1024];
    const b8 whole = y0_s0 == 1 && x0_s0 == 1 && x1_s0 == 1;
    const i64 wide = whole ? n0 : 1024;
    for (i64 t0 = 0; t0 < n0; t0 += wide) {
        const i64 columns = wide < n0 - t0 ? wide : n0 - t0;
        i64 *y0_t = ag_tile_out_i64(y0, t0 * y0_s0, y0_s0, y0_copy);
        const i64 *x0_t = ag_tile_in_i64(x0, t0 * x0_s0, 0, x0_s0, 1, columns, x0_copy);
        const i64 *x1_t = ag_tile_in_i64(x1, t0 * x1_s0, 0, x1_s0, 1, columns, x1_copy);
        #pragma omp simd reduction(|:failed)
        for (i64 i0 = 0; i0 < columns; i0++) {
            const i64 v0 = x0_t[i0];
            const i64 v1 = x1_t[i0];
            failed = failed | (i32)(v1 < 0);
            const i64 v2 = ag_pow_i64(v0, v1);
            y0_t[i0] = v2;
        }
        if (y0_s0 != 1) {
            ag_tile_back_i64(y0, t0 * y0_s0, 0, y0_s0, 1, columns, y0_copy);
        }
    }
    return failed;
}
